// SPDX-License-Identifier: Apache-2.0
// Entries that are made once, and how often one was found.
#include "base/clock.h"
#include "base/status.h"
#include "engine/cache.h"

#include <stdlib.h>

#define SHARED ".shared"     // the file with counts and locks
#define WAIT_NS 65000000000u // a compiler is killed after 60 s

slr_status slri_cache_counts(const slri_folder *folder, struct slri_cache_counts *out)
{
    uint64_t sum[5];
    SLRI_TRY(slri_folder_sums(folder, SHARED, sum, 5));
    *out = (struct slri_cache_counts){sum[0], sum[1], sum[2], sum[3], sum[4]};
    return SLR_OK;
}

// Counts are for people: one that cannot be kept fails nothing.
void slri_cache_count(const slri_folder *folder, const struct slri_cache_counts *add)
{
    const uint64_t sum[5] = {add->hits, add->misses, add->stores, add->evicted, add->evicted_bytes};
    (void)slri_folder_add(folder, SHARED, sum, 5);
}

static void count(const slri_cache *cache, bool is_hit)
{
    if (cache->in)
        slri_cache_count(cache->in, &(struct slri_cache_counts){.hits = is_hit, .misses = !is_hit});
}

// Nobody else makes it now: it was not there when this was first asked, and may be by now.
static slr_status find_again_or_make(slri_cache *cache, const struct slri_cache_maker *maker, bool *was_cached)
{
    slr_status status = maker->find(maker->user);
    *was_cached = status == SLR_OK;
    if (status == SLR_NOT_FOUND)
        status = maker->make(maker->user);
    if (status == SLR_OK)
        count(cache, *was_cached);
    return status;
}

slr_status slri_cache_find_or_make(slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES],
                                   const struct slri_cache_maker *maker, bool *was_cached)
{
    char first[9] = {key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7]};
    const uint32_t number = (uint32_t)strtoul(first, NULL, 16); // another key's, once in 2^31: that waits for nothing
    int lock;
    slr_status status = maker->find(maker->user);
    *was_cached = status == SLR_OK;
    if (status == SLR_OK)
        count(cache, true);
    if (status != SLR_NOT_FOUND)
        return status;
    status = cache->in ? slri_folder_lock(cache->in, SHARED, number, slri_deadline_after(WAIT_NS), maker->cancel, &lock)
                       : SLR_SYSTEM;
    if (status == SLR_WRONG_STATE)
        return status;
    bool is_locked = status == SLR_OK; // else two may make it: that costs time alone
    status = find_again_or_make(cache, maker, was_cached);
    if (is_locked)
        slri_folder_unlock(lock, number);
    return status;
}
