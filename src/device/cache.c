// SPDX-License-Identifier: Apache-2.0
// The cache of compiled kernels, for who looks at it.
#include "engine/cache.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"

#include <slipring/cache.h>

#include <stdlib.h>
#include <string.h>

struct visit {
    const slri_folder *folder;
    slr_cache_visitor *visit;
    void *user;
    slr_status status; // the first failure
};

// Ends the first line of `text` there; gives what comes behind it.
static char *cut_line(char *text)
{
    char *end = text + strcspn(text, "\n");
    if (*end == '\0')
        return end;
    *end = '\0';
    return end + 1;
}

static void tell(void *user, const slri_cache_item *item)
{
    struct visit *visit = user;
    slri_text text = SLRI_TEXT_INIT;
    slri_text_puts(&text, item->label);
    char *label = slri_text_take(&text);
    if (!label) {
        visit->status = SLRI_FAIL(NO_MEMORY, "no memory to look at %s", item->name);
        return;
    }
    char *source = cut_line(label), *detail = cut_line(source);
    slr_cache_entry entry = {.name = item->name,
                             .kernel = label,
                             .source = source,
                             .detail = detail,
                             .bytes = item->bytes,
                             .age_s = item->age_s,
                             .is_whole = item->is_whole};
    if (visit->visit(visit->user, &entry) != 0) {
        slr_status status = slri_folder_delete(visit->folder, item->name);
        visit->status = visit->status == SLR_OK ? status : visit->status;
    }
    free(label);
}

slr_status slr_cache_get_folder(char *out, size_t bytes)
{
    char *folder, *canonical;
    if (!out)
        return SLRI_FAIL(INVALID, "slr_cache_get_folder: out is NULL");
    SLRI_TRY(slri_cache_folder(&folder));
    if (slri_path_canonical(folder, &canonical) == SLR_OK) { // else nobody has made it yet
        free(folder);
        folder = canonical;
    }
    size_t length = strlen(folder);
    slr_status status = SLR_OK;
    if (length < bytes)
        memcpy(out, folder, length + 1);
    else
        status = SLRI_FAIL(INVALID, "slr_cache_get_folder: %s needs %zu bytes, but got %zu", folder, length + 1, bytes);
    free(folder);
    return status;
}

static slr_status open_folder(slri_folder **out)
{
    char *path;
    SLRI_TRY(slri_cache_folder(&path));
    slr_status status = slri_folder_open(path, out);
    free(path);
    return status;
}

slr_status slr_cache_visit(slr_cache_visitor *visit, void *user)
{
    struct visit all = {.visit = visit, .user = user};
    slri_folder *folder = NULL;
    if (!visit)
        return SLRI_FAIL(INVALID, "slr_cache_visit: visit is NULL");
    SLRI_TRY(open_folder(&folder));
    all.folder = folder;
    slr_status status = slri_cache_visit(folder, tell, &all);
    slri_folder_close(folder);
    return status == SLR_OK ? all.status : status;
}

// ---- bounds and counts ---------------------------------------------------------------------------------------------

static void add_up(void *user, const slri_folder_item *item)
{
    slr_cache_info *info = user;
    if (!slri_cache_is_entry(item->name))
        return;
    info->entries++;
    info->bytes += item->bytes;
}

static slr_status look(const slri_folder *folder, slr_cache_info *out)
{
    struct slri_cache_counts counts;
    SLRI_TRY(slri_folder_list(folder, add_up, out));
    SLRI_TRY(slri_cache_counts(folder, &counts));
    out->hits = counts.hits;
    out->misses = counts.misses;
    out->stores = counts.stores;
    out->evicted = counts.evicted;
    out->evicted_bytes = counts.evicted_bytes;
    return SLR_OK;
}

slr_status slr_cache_get_info_sized(slr_cache_info *out, size_t bytes)
{
    slr_cache_info info = {0};
    struct slri_cache_limits limits;
    slri_folder *folder = NULL;
    if (!out)
        return SLRI_FAIL(INVALID, "slr_cache_get_info: out is NULL");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_cache_info, bytes));
    SLRI_TRY(slri_cache_limits_get(&limits));
    info.limit_bytes = limits.bytes;
    info.limit_unused_s = limits.unused_s;
    SLRI_TRY(open_folder(&folder));
    slr_status status = look(folder, &info);
    slri_folder_close(folder);
    return status == SLR_OK ? SLRI_GIVE_REPORT(slr_cache_info, out, bytes, &info) : status;
}

slr_status(slr_cache_get_info)(slr_cache_info *out)
{
    return slr_cache_get_info_sized(out, SLRI_FIRST_slr_cache_info);
}

slr_status slr_cache_prune(uint64_t bytes, uint64_t unused_s, uint64_t *removed, uint64_t *removed_bytes)
{
    const struct slri_cache_limits limits = {bytes, unused_s};
    struct slri_cache_pruned pruned = {0};
    slri_folder *folder = NULL;
    SLRI_TRY(open_folder(&folder));
    slr_status status = slri_cache_prune(folder, &limits, NULL, &pruned);
    slri_folder_close(folder);
    if (removed)
        *removed = pruned.entries;
    if (removed_bytes)
        *removed_bytes = pruned.bytes;
    return status;
}
