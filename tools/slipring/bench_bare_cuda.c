// SPDX-License-Identifier: Apache-2.0
// The floors in CUDA C++ (bench/kernels/cuda), by the driver. Flags and messages lie in pinned memory of the host's.
#include "bench_bare.h"

#include "bench_cuda.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

extern const char cuda_embedded_bare_stays_cu[], cuda_embedded_bare_launched_cu[];
_Static_assert(LATENCY_SLOTS == 256 && BATCH_SLOTS == 1024 && BENCH_BATCH == 32, "the texts have them as numbers");

static const struct shape {
    const char *name;
    bool stays;
    uint32_t blocks, threads; // 0 blocks: as many as it takes
} shapes[BARE_KERNELS] = {
    [BARE_ECHO] = {"echo", true, 1, 1},      [BARE_RELAYED] = {"relayed", true, 2, 1},
    [BARE_READER] = {"reader", true, 1, 32}, [BARE_ONCE] = {"once", false, 1, 1},
    [BARE_ADDER] = {"adder", false, 0, 125},
};

typedef struct prepared {
    cuda *cu;
    cuda_module *module;
    cuda_kernel kernel;
    struct shape shape;
    cuda_pointer in, out;
} prepared;

static void *open(const char *device, const char **why)
{
    return cuda_open(device, why);
}

static void close(void *api)
{
    cuda_close(api);
}

static void *take(void *api, size_t bytes)
{
    return cuda_take(api, bytes);
}

static void give(void *api, void *memory)
{
    cuda_give(api, memory);
}

static void release(void *kernel)
{
    prepared *p = kernel;
    if (p != NULL)
        cuda_unload(p->cu, p->module);
    free(p);
}

static void *prepare(void *api, enum bare_kernel kernel, void *const memory[2], const size_t bytes[2], const char **why)
{
    prepared *p = memory_take(1, sizeof *p);
    (void)bytes; // the driver knows
    *p = (prepared){.cu = api, .shape = shapes[kernel]};
    p->module = p->shape.stays ? cuda_compile(api, cuda_embedded_bare_stays_cu, "bare_stays.cu", why)
                               : cuda_compile(api, cuda_embedded_bare_launched_cu, "bare_launched.cu", why);
    if (p->module != NULL) {
        *why = "the driver does not find the kernel, or the memory";
        p->kernel = cuda_find(api, p->module, p->shape.name);
        p->in = cuda_seen(api, memory[0]);
        p->out = cuda_seen(api, memory[1]);
        if (p->kernel != NULL && p->in != 0 && p->out != 0)
            return p;
    }
    release(p);
    return NULL;
}

static bool launch(void *kernel, const uint32_t *values, unsigned count, uint32_t messages)
{
    prepared *p = kernel;
    uint32_t value[2] = {0};
    void *arguments[] = {&p->in, &p->out, &value[0], &value[1]};
    if (count > 0)
        memcpy(value, values, count * sizeof *value);
    const uint32_t blocks[] = {p->shape.blocks != 0 ? p->shape.blocks : messages / p->shape.threads, 1};
    return cuda_launch(p->cu, p->kernel, blocks, (uint32_t[]){p->shape.threads, 1}, arguments);
}

static bool finish(void *kernel)
{
    return cuda_finish(((prepared *)kernel)->cu);
}

const struct bare_api bare_cuda = {"CUDA C++", true, open, close, take, give, prepare, launch, finish, release};
