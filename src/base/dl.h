// SPDX-License-Identifier: Apache-2.0
/// Shared libraries: compiled kernels, and vendors' drivers that may or may not be installed.
#ifndef SLRI_BASE_DL_H
#define SLRI_BASE_DL_H

#include "base/text.h"
#include "base/thread.h"

#include <slipring/status.h>

typedef struct slri_dl slri_dl;
/// Any function; cast it to its own type. (ISO C converts between function pointers, not from void *.)
typedef void (*slri_function)(void);

/// Opens with all symbols bound now and visible to this library only. `path` without a slash is looked up by the
/// loader. Errors: NOT_FOUND (the loader's reason is in the message).
slr_status slri_dl_open(const char *path, slri_dl **out);

/// In a page: what stands before the key of code that was built ahead, as a path; and whether there is any.
#define SLRI_DL_BUILT "built:"
bool slri_dl_has_built(void);

/// Opens what the environment's `variable` names, where it is set; else the first of `places`, up to NULL, that can be
/// opened. `*path` is then which. Not where the environment is a stranger's (environment.h). Errors: `status`, with the
/// loader's reason for what was asked for or the first place, for which `hint` says more.
slr_status slri_dl_open_first(slr_status status, const char *variable, const char *const *places, const char *hint,
                              slri_dl **out, const char **path);

/// Errors: NOT_FOUND (names the symbol).
slr_status slri_dl_function(slri_dl *library, const char *name, slri_function *out);

/// What the calling thread calls for a function that slri_dl_function gave. In a page with threads each of them has a
/// table of functions of its own, and code that was built ahead comes into it when the thread first calls it.
#if defined(__EMSCRIPTEN_PTHREADS__)
#define SLRI_DL_IS_BY_THREAD 1
slri_function slri_dl_here(slri_function function);
#else
#define SLRI_DL_IS_BY_THREAD 0
static inline slri_function slri_dl_here(slri_function function)
{
    return function;
}
#endif

/// For a loader of many functions: NULL where there is none of that name, which `missing` (may be NULL) then lists.
slri_function slri_dl_find(slri_dl *library, const char *name, slri_text *missing);
/// OK where nothing is missing; else `status`, and a message: "`path` is no `kind`: it lacks `missing`". Frees that.
slr_status slri_dl_all_found(slr_status status, const char *path, const char *kind, slri_text *missing);

/// A vendor's library, which stays once it is there.
struct slri_dl_vendor {
    const char *variable, *const places[8], *hint; // of slri_dl_open_first
    slr_status absent;                             // its `status`
    /// Finds the functions, and starts the library. Where it fails, that is closed, unless it may still run (`stays`).
    slr_status (*start)(slri_dl *library, const char *path);
    slri_mutex lock; // of the next
    bool is_loaded, stays, is_loading;
    bool is_half;   // this process is a child, by fork(), of one that was loading it
    uint32_t forks; // base/forks.h: of the process whose threads use the lock
};
/// Opens and starts it, unless an earlier call gave OK: one thread at a time. Errors: `absent` (also in a child, by
/// fork(), of a process that was loading it: nobody can say what had been done), those of `start`.
slr_status slri_dl_load(struct slri_dl_vendor *vendor);

/// The file whose code lies at `address`, and how far from where its first byte is mapped. False: none is known.
bool slri_dl_find_place(const void *address, char *path, size_t bytes, uint64_t *offset);

/// NULL is fine. Nothing of the library may be running or be called afterwards.
void slri_dl_close(slri_dl *library);

#endif
