// SPDX-License-Identifier: Apache-2.0
// A page loads no libraries of the system, but code that `slipring build` has made and slipring.mjs has put there: by
// the key behind its functions' names (emit/c/emit_c.h).
#include "base/dl.h"

#include "base/hash.h"
#include "base/status.h"

#include <emscripten.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES (SLRI_HASH_HEX_BYTES - 1)

struct slri_dl {
    char key[SLRI_HASH_HEX_BYTES];
};

EM_JS(int, has_built, (const char *key), {
    const built = Module["built"];
    return built && (key ? built.has(UTF8ToString(key)) : built.size > 0) ? 1 : 0;
})

// A place in the table of functions; 0: there is no such function.
EM_JS(int, find_built, (const char *key, const char *name), {
    const found = Module["built"].get(UTF8ToString(key))[UTF8ToString(name)];
    if (found && !found.slriPlace) {
        found.slriPlace = wasmTable.length;
        wasmTable.grow(1);
        wasmTable.set(found.slriPlace, found);
    }
    Module["builtFound"] = (Module["builtFound"] || 0) + (found ? 1 : 0);
    return found ? found.slriPlace : 0;
})

bool slri_dl_has_built(void)
{
    return has_built(NULL) != 0;
}

slr_status slri_dl_open(const char *path, slri_dl **out)
{
    const size_t before = sizeof SLRI_DL_BUILT - 1;
    if (strncmp(path, SLRI_DL_BUILT, before) != 0)
        return SLRI_FAIL(NOT_FOUND, "cannot load %s: a page has no libraries of the system", path);
    if (strlen(path) != before + KEY_BYTES || !has_built(path + before))
        return SLRI_FAIL(NOT_FOUND, "no code was built ahead with the key of %s", path);
    slri_dl *library = malloc(sizeof *library);
    if (!library)
        return SLRI_FAIL(NO_MEMORY, "no memory for a library");
    memcpy(library->key, path + before, sizeof library->key);
    *out = library;
    return SLR_OK;
}

slr_status slri_dl_function(slri_dl *library, const char *name, slri_function *out)
{
    slri_text whole = SLRI_TEXT_INIT;
    slri_text_printf(&whole, "%s_%s", name, library->key);
    *out = (slri_function)(uintptr_t)find_built(library->key, slri_text_view(&whole));
    slri_text_free(&whole);
    return *out ? SLR_OK : SLRI_FAIL(NOT_FOUND, "no symbol %s in the code that was built ahead", name);
}

bool slri_dl_find_place(const void *address, char *path, size_t bytes, uint64_t *offset) // code has no address there
{
    (void)address, (void)path, (void)bytes, (void)offset;
    return false;
}

void slri_dl_close(slri_dl *library)
{
    free(library);
}
