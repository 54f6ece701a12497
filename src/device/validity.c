// SPDX-License-Identifier: Apache-2.0
// A sorted array of spans: few in practice, so each change may look at all of them.
#include "device/validity.h"

#include "base/alloc.h"
#include "base/status.h"

#include <string.h>

// Bytes that are moved along rather than start another transfer. Only to the device: on the host others may be reading
// them.
#define GAP 65536u

slr_status slri_validity_reserve(struct slri_validity *validity, const slr_allocator *allocator, uint32_t changes)
{
    uint32_t need = validity->spans + 1 + 2 * changes; // a change splits two spans at most
    if (need > validity->room) {
        uint32_t room = need < 8 ? 8 : 2 * need;
        struct slri_stretch *span = slri_alloc(allocator, room * sizeof *span);
        if (!span)
            return SLRI_FAIL(NO_MEMORY, "no memory for a buffer's record of %u ranges", room);
        if (validity->spans != 0)
            memcpy(span, validity->span, validity->spans * sizeof *span);
        slri_free(allocator, validity->span, validity->room * sizeof *span);
        validity->span = span;
        validity->room = room;
    }
    if (validity->spans == 0) {
        validity->span[0] = (struct slri_stretch){0, SLRI_AT_BOTH};
        validity->spans = 1;
    }
    return SLR_OK;
}

void slri_validity_free(struct slri_validity *validity, const slr_allocator *allocator)
{
    slri_free(allocator, validity->span, validity->room * sizeof *validity->span);
}

static uint64_t end_of(const struct slri_validity *validity, uint32_t i)
{
    return i + 1 < validity->spans ? validity->span[i + 1].begin : validity->bytes;
}

// The span that begins at `at`, splitting the one that holds it; the number of spans at the buffer's end.
static uint32_t split(struct slri_validity *validity, uint64_t at)
{
    uint32_t i = 0;
    while (i < validity->spans && end_of(validity, i) <= at)
        ++i;
    if (i == validity->spans || validity->span[i].begin == at)
        return i;
    memmove(&validity->span[i + 1], &validity->span[i], (validity->spans - i) * sizeof *validity->span);
    ++validity->spans;
    validity->span[i + 1].begin = at;
    return i + 1;
}

static void join_equals(struct slri_validity *validity)
{
    uint32_t kept = 1;
    for (uint32_t i = 1; i < validity->spans; ++i)
        if (validity->span[i].valid != validity->span[kept - 1].valid)
            validity->span[kept++] = validity->span[i];
    validity->spans = kept;
}

static void change(struct slri_validity *validity, struct slri_range range, uint32_t keep, uint32_t place)
{
    if (range.begin == range.end)
        return;
    uint32_t first = split(validity, range.begin), behind = split(validity, range.end);
    for (uint32_t i = first; i < behind; ++i)
        validity->span[i].valid = (validity->span[i].valid & keep) | place;
    join_equals(validity);
}

void slri_validity_written(struct slri_validity *validity, struct slri_range range, uint32_t place)
{
    change(validity, range, 0, place);
}

void slri_validity_moved(struct slri_validity *validity, struct slri_range range, uint32_t place)
{
    change(validity, range, SLRI_AT_BOTH, place);
}

void slri_validity_all(struct slri_validity *validity, uint32_t valid)
{
    validity->span[0] = (struct slri_stretch){0, valid};
    validity->spans = 1;
}

bool slri_validity_missing(const struct slri_validity *validity, struct slri_range range, uint32_t place,
                           struct slri_range *run)
{
    bool found = false;
    uint64_t gap = place == SLRI_AT_DEVICE ? GAP : 0;
    for (uint32_t i = 0; i < validity->spans; ++i) {
        uint64_t begin = validity->span[i].begin > range.begin ? validity->span[i].begin : range.begin;
        uint64_t end = end_of(validity, i) < range.end ? end_of(validity, i) : range.end;
        uint32_t valid = validity->span[i].valid;
        if (begin >= end || (valid & place && !found))
            continue;
        // Bytes that are valid here alone may not be moved over.
        if (found && (valid == place || begin - run->end > gap))
            break;
        if (valid & place)
            continue;
        run->begin = found ? run->begin : begin;
        run->end = end;
        found = true;
    }
    return found;
}
