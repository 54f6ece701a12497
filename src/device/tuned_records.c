// SPDX-License-Identifier: Apache-2.0
// The records of a device, as its file has them: read again when the file has changed. So a program that is loaded
// where nothing was tuned costs a look at a file that is not there.
#include "base/alloc.h"
#include "base/file.h"
#include "base/forks.h"
#include "base/status.h"
#include "base/thread.h"
#include "device/kernel.h"

#include <stdlib.h>
#include <string.h>

struct slri_tuned_known {
    struct slri_tuned_place place;
    char *path;
    bool is_read;
    slri_file_identity identity; // when it was read
    struct slri_tuned_record *record;
    uint32_t records, room;
    bool out_of_memory;
};

static slri_mutex lock = SLRI_MUTEX_INIT; // of what all devices know
SLRI_RENEW_IN_CHILD(renew_lock, &lock, NULL)

static void clear_known(struct slri_tuned_known *known)
{
    slri_free(NULL, known->record, known->room * sizeof *known->record);
    known->record = NULL;
    known->records = known->room = 0;
    known->is_read = known->out_of_memory = false;
}

static slr_status make_known(slr_device *device, struct slri_tuned_known **out)
{
    struct slri_tuned_known *known = slri_alloc(NULL, sizeof *known);
    if (!known)
        return SLRI_FAIL(NO_MEMORY, "no memory for what was tuned");
    *known = (struct slri_tuned_known){.path = NULL};
    slri_tuned_place(device, &known->place);
    slr_status status = slri_tuned_path(&known->place, &known->path);
    if (status != SLR_OK) {
        slri_free(NULL, known, sizeof *known);
        return status;
    }
    *out = known;
    return SLR_OK;
}

static void add_known(void *user, const struct slri_tuned_record *record, bool is_current)
{
    struct slri_tuned_known *known = user;
    if (!is_current)
        return;
    if (known->records == known->room) {
        uint32_t room = known->room ? 2 * known->room : 16;
        struct slri_tuned_record *grown = slri_alloc(NULL, room * sizeof *grown);
        if (!grown) {
            known->out_of_memory = true;
            return;
        }
        if (known->records)
            memcpy(grown, known->record, known->records * sizeof *grown);
        slri_free(NULL, known->record, known->room * sizeof *known->record);
        known->record = grown;
        known->room = room;
    }
    known->record[known->records++] = *record;
}

// What changes while it is read has another identity the next time.
static void read_again(struct slri_tuned_known *known)
{
    slri_file_identity now = {0};
    bool is_there = slri_file_identify(known->path, &now);
    if (known->is_read && memcmp(&now, &known->identity, sizeof now) == 0)
        return;
    clear_known(known);
    known->identity = now;
    known->is_read =
        !is_there || (slri_tuned_visit(&known->place, add_known, known) == SLR_OK && !known->out_of_memory);
}

static slr_status copy_records(const struct slri_tuned_known *known, const char *source, struct slri_tuned_record **out,
                               uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < known->records; i++)
        *count += strcmp(known->record[i].source, source) == 0;
    *out = *count ? slri_alloc(NULL, *count * sizeof **out) : NULL;
    if (*count && !*out)
        return SLRI_FAIL(NO_MEMORY, "no memory for what was tuned");
    for (uint32_t i = 0, to = 0; i < known->records && to < *count; i++)
        if (strcmp(known->record[i].source, source) == 0)
            (*out)[to++] = known->record[i];
    return SLR_OK;
}

slr_status slri_tuned_records(slr_device *device, const char *source, struct slri_tuned_record **out, uint32_t *count)
{
    slr_status status = SLR_OK;
    slri_mutex_lock(&lock);
    if (!device->tuned)
        status = make_known(device, &device->tuned);
    if (status == SLR_OK) {
        read_again(device->tuned);
        status = copy_records(device->tuned, source, out, count);
    }
    slri_mutex_unlock(&lock);
    return status;
}

void slri_tuned_records_free(slr_device *device)
{
    if (!device->tuned)
        return;
    clear_known(device->tuned);
    free(device->tuned->path);
    slri_free(NULL, device->tuned, sizeof *device->tuned);
    device->tuned = NULL;
}
