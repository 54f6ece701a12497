// SPDX-License-Identifier: Apache-2.0
// NVRTC, opened at run time: by SLIPRING_NVRTC_LIB, by its usual names, or where the toolkit or its wheel puts it. For
// benchmarks and tests that compile CUDA C++ of their own; the library has its own way, which finds less.
#ifndef SLIPRING_BENCH_NVRTC_H
#define SLIPRING_BENCH_NVRTC_H

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct nvrtc_program nvrtc_program;
struct nvrtc {
    int (*create)(nvrtc_program **out, const char *text, const char *name, int headers, const char *const *header,
                  const char *const *include);
    int (*compile)(nvrtc_program *program, int options, const char *const *option);
    int (*log_size)(nvrtc_program *program, size_t *out);
    int (*log)(nvrtc_program *program, char *out);
    int (*cubin_size)(nvrtc_program *program, size_t *out);
    int (*cubin)(nvrtc_program *program, char *out);
    int (*destroy)(nvrtc_program **program);
    // NULL: it is simulated.
    int (*ptx_size)(nvrtc_program *program, size_t *out);
    int (*ptx)(nvrtc_program *program, char *out);
};

static inline void *nvrtc_find(void)
{
    static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"};
    static const char *const places[] = {
        "/usr/local/cuda*/lib*/libnvrtc.so.1[23]",
        "/usr/local/lib/python3*/*-packages/nvidia/*/lib/libnvrtc.so.1[23]",
        "/usr/lib/python3*/*-packages/nvidia/*/lib/libnvrtc.so.1[23]",
    };
    const char *given = getenv("SLIPRING_NVRTC_LIB");
    if (given && *given)
        return dlopen(given, RTLD_NOW);
    void *lib = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !lib; i++)
        lib = dlopen(names[i], RTLD_NOW);
    for (size_t i = 0; i < sizeof places / sizeof *places && !lib; i++) {
        glob_t found;
        if (glob(places[i], 0, NULL, &found) == 0)
            lib = dlopen(found.gl_pathv[0], RTLD_NOW);
        globfree(&found);
    }
    return lib;
}

static inline bool nvrtc_open(struct nvrtc *out)
{
    void *lib = nvrtc_find();
    const struct {
        void *slot;
        const char *name;
    } symbols[] = {
        {&out->create, "nvrtcCreateProgram"},       {&out->compile, "nvrtcCompileProgram"},
        {&out->log_size, "nvrtcGetProgramLogSize"}, {&out->log, "nvrtcGetProgramLog"},
        {&out->cubin_size, "nvrtcGetCUBINSize"},    {&out->cubin, "nvrtcGetCUBIN"},
        {&out->destroy, "nvrtcDestroyProgram"},
    };
    for (size_t i = 0; lib && i < sizeof symbols / sizeof *symbols; i++) {
        *(void **)symbols[i].slot = dlsym(lib, symbols[i].name);
        if (!*(void **)symbols[i].slot)
            return false;
    }
    *(void **)(void *)&out->ptx_size = lib ? dlsym(lib, "nvrtcGetPTXSize") : NULL;
    *(void **)(void *)&out->ptx = lib ? dlsym(lib, "nvrtcGetPTX") : NULL;
    return lib != NULL;
}

#endif
