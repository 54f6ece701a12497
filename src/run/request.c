// SPDX-License-Identifier: Apache-2.0
#include "run/request.h"

#include "ir/ir.h"

#include <stdlib.h>

#define WORD_BYTES 4

static int compare_access(const void *left, const void *right)
{
    const struct slri_lane_access *a = left, *b = right;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

uint64_t slri_request_sectors(struct slri_lane_access *access, uint32_t count, uint64_t *least)
{
    uint64_t sectors = 0, bytes = 0, next_sector = 0, next_byte = 0;
    qsort(access, count, sizeof *access, compare_access);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t end = access[i].offset + access[i].bytes, from = access[i].offset;
        uint64_t first = from / SLRI_SECTOR_BYTES, last = (end - 1) / SLRI_SECTOR_BYTES;
        first = first < next_sector ? next_sector : first;
        if (last >= first) {
            sectors += last - first + 1;
            next_sector = last + 1;
        }
        from = from < next_byte ? next_byte : from;
        if (end > from) {
            bytes += end - from;
            next_byte = end;
        }
    }
    *least = (bytes + SLRI_SECTOR_BYTES - 1) / SLRI_SECTOR_BYTES;
    return sectors;
}

// Passes for lanes that are served together: as many as the busiest bank has different words.
static uint32_t count_passes(const struct slri_lane_access *access, uint32_t count)
{
    uint64_t word[SLRI_BANKS][SLRI_WARP_THREADS * 4];
    uint32_t words[SLRI_BANKS] = {0}, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t end = access[i].offset + access[i].bytes;
        for (uint64_t at = access[i].offset / WORD_BYTES; at * WORD_BYTES < end; at++) {
            uint32_t bank = (uint32_t)(at % SLRI_BANKS), known = 0;
            while (known < words[bank] && word[bank][known] != at)
                known++;
            if (known == words[bank] && known < SLRI_WARP_THREADS * 4)
                word[bank][words[bank]++] = at;
            most = words[bank] > most ? words[bank] : most;
        }
    }
    return most;
}

uint64_t slri_request_passes(const struct slri_lane_access *access, uint32_t count, uint64_t *least)
{
    uint64_t bytes = access[0].bytes, passes = 0;
    uint32_t together = bytes <= 4 ? SLRI_WARP_THREADS : bytes <= 8 ? SLRI_WARP_THREADS / 2 : SLRI_WARP_THREADS / 4;
    for (uint32_t first = 0; first < count; first += together)
        passes += count_passes(access + first, count - first < together ? count - first : together);
    *least = (count + together - 1) / together;
    return passes;
}
