// SPDX-License-Identifier: Apache-2.0
// The program's side of NVTX, version 3, which is a header and no library: a tool puts the path of its library into
// NVTX_INJECTION64_PATH; the program loads it and calls its InitializeInjectionNvtx2 with a function that gives tables;
// in the table of module 1 are the addresses of the program's function pointers, which the tool sets. Ours has two
// entries that are used. Nothing is loaded that the variable does not name.
#include "observe/nvtx.h"

#include "base/dl.h"
#include "base/environment.h"
#include "base/forks.h"
#include "base/thread.h"

#include <stdlib.h>

#define EXPORT_CALLBACKS 1u // numbers of the interface
#define MODULE_CORE 1u
#define CORE_RANGE_PUSH_A 9u
#define CORE_RANGE_POP 11u
#define CORE_FUNCTIONS 16u

typedef int get_table(uint32_t module, slri_function ***table, unsigned *functions);
typedef const void *get_export(uint32_t number);
typedef int initialize(get_export *get);

static slri_mutex lock = SLRI_MUTEX_INIT;
SLRI_RENEW_IN_CHILD(renew_lock, &lock, NULL)
static uint32_t looked; // atomic
static struct slri_nvtx found;
static slri_function function[CORE_FUNCTIONS]; // of the tool
static slri_function *table_of_core[CORE_FUNCTIONS + 1];

static int table_of(uint32_t module, slri_function ***table, unsigned *functions)
{
    if (module != MODULE_CORE)
        return 0;
    for (unsigned i = 1; i < CORE_FUNCTIONS; ++i)
        table_of_core[i] = &function[i];
    if (table)
        *table = table_of_core;
    if (functions)
        *functions = CORE_FUNCTIONS;
    return 1;
}

static const void *export_of(uint32_t number)
{
    static const struct {
        size_t bytes;
        get_table *get;
    } callbacks = {sizeof callbacks, table_of};
    return number == EXPORT_CALLBACKS ? &callbacks : NULL;
}

// A library that is not there, or will not: then there is no tool. It stays loaded.
static void find_nvtx(void)
{
    const char *path = slri_environment(sizeof(void *) == 8 ? "NVTX_INJECTION64_PATH" : "NVTX_INJECTION32_PATH");
    slri_dl *library;
    slri_function start;
    if (!path || *path == '\0' || slri_dl_open(path, &library) != SLR_OK)
        return;
    if (slri_dl_function(library, "InitializeInjectionNvtx2", &start) != SLR_OK || !((initialize *)start)(export_of)) {
        slri_dl_close(library);
        return;
    }
    if (!function[CORE_RANGE_PUSH_A] || !function[CORE_RANGE_POP])
        return;
    found.push = (int (*)(const char *))function[CORE_RANGE_PUSH_A];
    found.pop = (int (*)(void))function[CORE_RANGE_POP];
}

const struct slri_nvtx *slri_nvtx(void)
{
    if (__builtin_expect(!__atomic_load_n(&looked, __ATOMIC_ACQUIRE), 0)) { // what was found
        slri_mutex_lock(&lock);
        if (!looked)
            find_nvtx();
        __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
        slri_mutex_unlock(&lock);
    }
    return &found;
}
