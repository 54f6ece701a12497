// SPDX-License-Identifier: Apache-2.0
// The values of a folder of records: a file each, with a checksum and a revision.
#include "cluster/log_local.h"

#include "base/append.h"
#include "base/folder.h"
#include "base/status.h"
#include "cluster/sum.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct value_head {
    uint64_t revision, bytes, sum;
} value_head;

static uint64_t value_sum(const value_head *head, const void *value)
{
    slri_sum sum = slri_sum_begin(head->revision);
    slri_sum_add(&sum, &head->bytes, sizeof head->bytes);
    slri_sum_add(&sum, value, head->bytes);
    return slri_sum_end(&sum);
}

slr_status slri_local_get(slri_log *log, const char *key, void *value, size_t capacity, size_t *bytes,
                          uint64_t *revision)
{
    slri_local *local = (slri_local *)log;
    char *content;
    size_t length;
    value_head head;
    SLRI_TRY(slri_folder_read(local->folder, key, sizeof head + SLRI_LOG_VALUE_MAX, false, &content, &length));
    bool right = length >= sizeof head;
    if (right)
        memcpy(&head, content, sizeof head);
    right = right && head.bytes == length - sizeof head && head.bytes <= capacity &&
            head.sum == value_sum(&head, content + sizeof head);
    if (right) {
        memcpy(value, content + sizeof head, head.bytes);
        *bytes = head.bytes;
        *revision = head.revision;
    }
    free(content);
    if (right)
        return SLR_OK;
    char what[256];
    snprintf(what, sizeof what, "%s: its length or checksum is wrong", key);
    slri_local_note_damage(local, what);
    return SLRI_FAIL(INVALID, "%s/%s. Restore the folder from a copy, or begin with an empty one",
                     slri_folder_path(local->folder), what);
}

slr_status slri_local_cas(slri_log *log, const char *key, uint64_t *revision, const void *value, size_t bytes)
{
    slri_local *local = (slri_local *)log;
    struct {
        value_head head;
        unsigned char value[SLRI_LOG_VALUE_MAX];
    } file;
    size_t length;
    uint64_t now = 0;
    slr_status status = slri_local_get(log, key, file.value, sizeof file.value, &length, &now);
    if (status != SLR_OK && status != SLR_NOT_FOUND)
        return status;
    if (now != *revision)
        return SLRI_FAIL(WRONG_STATE, "%s/%s has revision %" PRIu64 ", not %" PRIu64 ": another writer?",
                         slri_folder_path(local->folder), key, now, *revision);
    file.head = (value_head){.revision = now + 1, .bytes = bytes};
    memcpy(file.value, value, bytes);
    file.head.sum = value_sum(&file.head, file.value);
    if (slri_local_is_synced(local)) // what it stands for comes first, and then it is there for good
        SLRI_TRY(slri_append_replace(slri_folder_path(local->folder), key, &file, sizeof file.head + bytes));
    else
        SLRI_TRY(slri_folder_write(local->folder, key, &file, sizeof file.head + bytes));
    *revision = now + 1;
    return SLR_OK;
}
