// SPDX-License-Identifier: Apache-2.0
// The cache's bounds: how large it may be, and for how long an entry stays that nobody uses.
#include "base/environment.h"
#include "base/status.h"
#include "engine/cache.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_BYTES (UINT64_C(1) << 30)
#define DEFAULT_DAYS 90u
#define DAY_S 86400u

// A whole number, with K, M or G (powers of 1,024) where `takes_unit`. False: it is none, or too large.
static bool parse(const char *text, bool takes_unit, uint64_t *out)
{
    static const char units[] = "KMG";
    uint64_t number = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18)
        return false;
    for (size_t i = 0; i < digits; i++)
        number = 10 * number + (uint64_t)(text[i] - '0');
    const char *unit = text[digits] && takes_unit ? strchr(units, text[digits]) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    *out = number << shift;
    return text[digits + (unit ? 1 : 0)] == '\0' && *out >> shift == number;
}

static uint64_t or_none(uint64_t number, uint64_t of)
{
    return number == 0 || number > UINT64_MAX / of ? UINT64_MAX : number * of;
}

slr_status slri_cache_limits_get(struct slri_cache_limits *out)
{
    const char *bytes = slri_environment("SLIPRING_CACHE_BYTES"), *days = slri_environment("SLIPRING_CACHE_DAYS");
    uint64_t number;
    *out = (struct slri_cache_limits){DEFAULT_BYTES, (uint64_t)DEFAULT_DAYS * DAY_S};
    slr_status status = SLR_OK;
    if (bytes && *bytes && !parse(bytes, true, &number))
        status = SLRI_FAIL(INVALID, "SLIPRING_CACHE_BYTES is '%s': a number of bytes, or one with K, M or G", bytes);
    else if (bytes && *bytes)
        out->bytes = or_none(number, 1);
    if (days && *days && !parse(days, false, &number))
        status = SLRI_FAIL(INVALID, "SLIPRING_CACHE_DAYS is '%s': a whole number of days", days);
    else if (days && *days)
        out->unused_s = or_none(number, DAY_S);
    return status;
}

// ---- pruning -------------------------------------------------------------------------------------------------------

struct file {
    char name[SLRI_CACHE_NAME_BYTES];
    uint64_t bytes;
    int64_t used_ns;
};

struct pruning {
    const slri_folder *folder;
    const struct slri_cache_limits *limits;
    const char *spare;
    struct file *file; // entries that stay so far
    size_t files, room;
    uint64_t bytes;
    struct slri_cache_pruned removed;
    slr_status status; // the first failure
};

static void remove_entry(struct pruning *p, const char *name, uint64_t bytes)
{
    slr_status status = slri_folder_delete(p->folder, name);
    p->status = p->status == SLR_OK ? status : p->status;
    if (status != SLR_OK)
        return;
    p->removed.entries++;
    p->removed.bytes += bytes;
}

static void note_entry(struct pruning *p, const slri_folder_item *item)
{
    if (p->files == p->room) {
        size_t room = p->room ? 2 * p->room : 64;
        struct file *larger = realloc(p->file, room * sizeof *larger);
        if (!larger) {
            p->status = SLRI_FAIL(NO_MEMORY, "no memory to prune %s", slri_folder_path(p->folder));
            return;
        }
        p->file = larger;
        p->room = room;
    }
    struct file *file = &p->file[p->files++];
    *file = (struct file){.bytes = item->bytes, .used_ns = item->used_ns};
    memcpy(file->name, item->name, strlen(item->name) + 1);
    p->bytes += item->bytes;
}

static void look_at(void *user, const slri_folder_item *item)
{
    struct pruning *p = user;
    if (item->is_left_behind) {
        p->removed.temporaries += slri_folder_delete(p->folder, item->name) == SLR_OK;
        return;
    }
    if (!slri_cache_is_entry(item->name) || strlen(item->name) >= SLRI_CACHE_NAME_BYTES)
        return;
    bool is_spared = p->spare && strcmp(item->name, p->spare) == 0;
    if (item->unused_s > p->limits->unused_s && !is_spared)
        remove_entry(p, item->name, item->bytes);
    else
        note_entry(p, item);
}

static int by_use(const void *a, const void *b)
{
    const struct file *x = a, *y = b;
    return x->used_ns != y->used_ns ? (x->used_ns > y->used_ns ? 1 : -1) : strcmp(x->name, y->name);
}

static void remove_oldest(struct pruning *p)
{
    if (p->bytes <= p->limits->bytes)
        return;
    qsort(p->file, p->files, sizeof *p->file, by_use);
    for (size_t i = 0; i < p->files && p->bytes > p->limits->bytes; i++) {
        if (p->spare && strcmp(p->file[i].name, p->spare) == 0)
            continue;
        p->bytes -= p->file[i].bytes;
        remove_entry(p, p->file[i].name, p->file[i].bytes);
    }
}

slr_status slri_cache_prune(const slri_folder *folder, const struct slri_cache_limits *limits, const char *spare,
                            struct slri_cache_pruned *out)
{
    struct pruning p = {.folder = folder, .limits = limits, .spare = spare, .status = SLR_OK};
    slr_status status = slri_folder_list(folder, look_at, &p);
    if (status == SLR_OK)
        remove_oldest(&p);
    free(p.file);
    if (p.removed.entries)
        slri_cache_count(folder,
                         &(struct slri_cache_counts){.evicted = p.removed.entries, .evicted_bytes = p.removed.bytes});
    if (out)
        *out = p.removed;
    return status == SLR_OK ? p.status : status;
}
