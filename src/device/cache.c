// SPDX-License-Identifier: Apache-2.0
// The cache of compiled kernels, for who looks at it.
#include "kernel/cache.h"
#include "base/file.h"
#include "base/folder.h"
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
        status = SLRI_FAIL(INVALID, "slr_cache_get_folder: %s takes %zu bytes, and %zu were given", folder, length + 1,
                           bytes);
    free(folder);
    return status;
}

slr_status slr_cache_visit(slr_cache_visitor *visit, void *user)
{
    struct visit all = {.visit = visit, .user = user};
    char *path;
    slri_folder *folder = NULL;
    if (!visit)
        return SLRI_FAIL(INVALID, "slr_cache_visit: visit is NULL");
    SLRI_TRY(slri_cache_folder(&path));
    slr_status status = slri_folder_open(path, &folder);
    free(path);
    SLRI_TRY(status);
    all.folder = folder;
    status = slri_cache_visit(folder, tell, &all);
    slri_folder_close(folder);
    return status == SLR_OK ? all.status : status;
}
