// SPDX-License-Identifier: Apache-2.0
// Launches, before they are submitted.
#include "observe/launch.h"

#include "base/alloc.h"
#include "base/forks.h"
#include "base/thread.h"
#include "device/kernel.h"
#include "observe/observe.h"

#include <string.h>

static slri_mutex lock = SLRI_MUTEX_INIT; // adding
SLRI_RENEW_IN_CHILD(renew_lock, &lock, NULL)

static uint64_t mix(uint64_t key, uint64_t word)
{
    key = (key ^ word) * 0x9e3779b97f4a7c15u;
    return key ^ key >> 29;
}

static uint64_t key_of(const struct slri_count_launch *launch)
{
    uint64_t key = 1;
    for (uint32_t i = 0; i < 3; ++i)
        key = mix(key, (uint64_t)launch->grid[i] << 32 | launch->block[i]);
    for (uint32_t i = 0; i < launch->entry->bindings; ++i) {
        const struct slri_bound *bound = &launch->bound[i];
        key = mix(key, bound->bytes);
        if (launch->entry->binding[i].is_buffer)
            continue;
        for (uint64_t at = 0; at < bound->bytes; at += 8) {
            uint64_t word = 0;
            memcpy(&word, (const char *)bound->data + at, bound->bytes - at < 8 ? bound->bytes - at : 8);
            key = mix(key, word);
        }
    }
    return key;
}

static const struct slri_launch_count *find_launch(const struct slri_row *row, uint64_t key, uint32_t *there)
{
    // Acquire: what it says was written before it came into the list.
    const struct slri_launch_count *each = __atomic_load_n(&row->launches, __ATOMIC_ACQUIRE);
    for (*there = 0; each && each->key != key; each = each->next)
        ++*there;
    return each;
}

static void add_launch(struct slri_row *row, const struct slri_count_launch *launch, uint64_t key)
{
    struct slri_launch_count *made = slri_alloc(NULL, sizeof *made);
    if (!made)
        return;
    made->key = key;
    made->blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    made->threads = made->blocks * launch->block[0] * launch->block[1] * launch->block[2];
    slri_count(launch, &made->count);
    made->next = row->launches;
    __atomic_store_n(&row->launches, made, __ATOMIC_RELEASE);
}

const struct slri_launch_count *slri_note_launch(slr_kernel *kernel, const uint32_t *grid, const uint32_t *block,
                                                 const struct slri_bound *bound)
{
    const struct slri_count_launch launch = {kernel->program->module, kernel->entry, grid, block, bound, {0}};
    struct slri_row *row = slri_row_of_kernel(kernel);
    uint32_t there;
    if (!row || launch.module->raw) // what it does is not known
        return NULL;
    uint64_t key = key_of(&launch);
    const struct slri_launch_count *found = find_launch(row, key, &there);
    if (found || there >= SLRI_LAUNCH_COUNTS)
        return found;
    slri_mutex_lock(&lock);
    found = find_launch(row, key, &there);
    if (!found && there < SLRI_LAUNCH_COUNTS) {
        add_launch(row, &launch, key);
        found = find_launch(row, key, &there);
    }
    slri_mutex_unlock(&lock);
    return found;
}
