// SPDX-License-Identifier: Apache-2.0
// mimalloc is opened, not linked: linked, it would replace malloc in the whole program.
#include "bench/allocators.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

allocator allocator_libc(void)
{
    return (allocator){"malloc", malloc, free};
}

bool allocator_mimalloc(allocator *out)
{
    static const char *const names[] = {"libmimalloc.so.2", "libmimalloc.so.3", "libmimalloc.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    void *take = dlsym(library, "mi_malloc"), *give = dlsym(library, "mi_free");
    if (take == NULL || give == NULL)
        return false;
    *out = (allocator){.name = "mimalloc"};
    // ISO C has no conversion from an object pointer to a function pointer; POSIX has their bits equal.
    memcpy(&out->take, &take, sizeof take);
    memcpy(&out->give, &give, sizeof give);
    return true;
}
