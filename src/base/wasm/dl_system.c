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

// What the page has added, and functions of it that were asked for; both stay. built.js reads the first.
struct shared {
    const void *bytes;
    uint32_t count;
    struct shared *next;
};
struct built {
    struct built *next;
    uint32_t number;
    char name[];
};

static struct shared *first_shared; // written by the page's own thread
static struct built *last_built;    // under the lock
static slri_mutex lock = SLRI_MUTEX_INIT;
static uint32_t found; // functions

// built.js
extern int slri_js_has_built(const struct shared *first, const char *key);
extern int slri_js_has_function(const struct shared *first, const char *name);
extern slri_function slri_js_find_built(const struct shared *first, uint32_t number, const char *name);

// Acquire: the bytes.
static const struct shared *read_shared(void)
{
    return __atomic_load_n(&first_shared, __ATOMIC_ACQUIRE);
}

// Code that was added, which goes to the end of the list. False: there is no memory.
EMSCRIPTEN_KEEPALIVE bool slri_dl_share(const void *bytes, uint32_t count)
{
    struct shared **place = &first_shared, *one = malloc(sizeof *one);
    if (!one)
        return false;
    *one = (struct shared){bytes, count, NULL};
    while (*place)
        place = &(*place)->next;
    __atomic_store_n(place, one, __ATOMIC_RELEASE);
    return true;
}

EMSCRIPTEN_KEEPALIVE uint32_t slri_dl_built_found(void)
{
    return __atomic_load_n(&found, __ATOMIC_RELAXED);
}

bool slri_dl_has_built(void)
{
    return slri_js_has_built(read_shared(), NULL) != 0;
}

slr_status slri_dl_open(const char *path, slri_dl **out)
{
    const size_t before = sizeof SLRI_DL_BUILT - 1;
    if (strncmp(path, SLRI_DL_BUILT, before) != 0)
        return SLRI_FAIL(NOT_FOUND, "cannot load %s: a page has no libraries of the system", path);
    if (strlen(path) != before + KEY_BYTES || !slri_js_has_built(read_shared(), path + before))
        return SLRI_FAIL(NOT_FOUND, "no code was built ahead with the key of %s", path);
    slri_dl *library = malloc(sizeof *library);
    if (!library)
        return SLRI_FAIL(NO_MEMORY, "no memory for a library");
    memcpy(library->key, path + before, sizeof library->key);
    *out = library;
    return SLR_OK;
}

// The entry of a function of that name; NULL: no memory for a new one.
static struct built *note_built(const char *name)
{
    struct built *one = last_built;
    while (one && strcmp(one->name, name) != 0)
        one = one->next;
    if (one)
        return one;
    one = malloc(sizeof *one + strlen(name) + 1);
    if (!one)
        return NULL;
    one->next = last_built;
    one->number = last_built ? last_built->number + 1 : 0;
    strcpy(one->name, name);
    return last_built = one;
}

#if SLRI_DL_IS_BY_THREAD

// What stands for the function is its entry here.
static slri_function function_of(struct built *built)
{
    return (slri_function)(uintptr_t)built;
}

slri_function slri_dl_here(slri_function function)
{
    const struct built *built = (const struct built *)(uintptr_t)function;
    return slri_js_find_built(read_shared(), built->number, built->name);
}

#else

static slri_function function_of(struct built *built)
{
    return slri_js_find_built(read_shared(), built->number, built->name);
}

#endif

static slr_status find_function(const char *name, slri_function *out)
{
    if (!slri_js_has_function(read_shared(), name))
        return SLRI_FAIL(NOT_FOUND, "no symbol %s in the code that was built ahead", name);
    slri_mutex_lock(&lock);
    struct built *built = note_built(name);
    slri_mutex_unlock(&lock);
    if (!built)
        return SLRI_FAIL(NO_MEMORY, "no memory for %s", name);
    *out = function_of(built);
    __atomic_fetch_add(&found, 1, __ATOMIC_RELAXED);
    return SLR_OK;
}

slr_status slri_dl_function(slri_dl *library, const char *name, slri_function *out)
{
    slri_text whole = SLRI_TEXT_INIT;
    slri_text_printf(&whole, "%s_%s", name, library->key);
    slr_status status = find_function(slri_text_view(&whole), out);
    slri_text_free(&whole);
    return status;
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
