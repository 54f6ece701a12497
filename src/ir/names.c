// SPDX-License-Identifier: Apache-2.0
#include "ir/names.h"

#include <string.h>

enum { FIRST_ROOM = 64 };

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u; // FNV-1a
    while (*name)
        hash = (hash ^ (unsigned char)*name++) * 16777619u;
    return hash ^ hash >> 16;
}

// The name's slot, or the free one where it would stand. There is a free one: a quarter of them, at least.
static const char **slot_of(struct slri_names *names, const char *name)
{
    for (uint32_t at = hash_of(name);; at++) {
        const char **slot = &names->slot[at & (names->room - 1)];
        names->compared++;
        if (!*slot || strcmp(*slot, name) == 0)
            return slot;
    }
}

bool slri_names_have(struct slri_names *names, const char *name)
{
    return names->room && *slot_of(names, name);
}

static bool grow_table(struct slri_names *names, struct slri_region *region)
{
    struct slri_names larger = {.room = names->room ? 2 * names->room : FIRST_ROOM, .count = names->count};
    larger.slot = slri_region_take(region, larger.room * sizeof *larger.slot);
    if (!larger.slot)
        return false;
    for (uint32_t i = 0; i < names->room; i++)
        if (names->slot[i])
            *slot_of(&larger, names->slot[i]) = names->slot[i];
    larger.compared += names->compared;
    *names = larger;
    return true;
}

bool slri_names_add(struct slri_names *names, struct slri_region *region, const char *name)
{
    if (names->count >= names->room - names->room / 4 && !grow_table(names, region))
        return false;
    const char **slot = slot_of(names, name);
    names->count += !*slot;
    *slot = *slot ? *slot : name;
    return true;
}
