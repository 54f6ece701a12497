// SPDX-License-Identifier: Apache-2.0
// The floors in CUDA C++ (bench/kernels/cuda), by the driver. Flags and messages lie in pinned memory of the host's.
#include "bench/bare.h"

#include "bench/cuda.h"
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
    [BARE_ECHO] = {"echo", true, 1, 1},         [BARE_RELAYED] = {"relayed", true, 2, 1},
    [BARE_HANDOVER] = {"handover", true, 2, 1}, [BARE_READER] = {"reader", true, 1, 32},
    [BARE_ONCE] = {"once", false, 1, 1},        [BARE_ADDER] = {"adder", false, 0, 125},
};

typedef struct prepared {
    cuda *cu;
    cuda_module *module;
    cuda_kernel kernel;
    struct shape shape;
    cuda_pointer in, out;
    struct once { // of BARE_ONCE: what its ways need
        latency_slot *ins, *outs, pageable;
        cuda_pointer own_in, own_out;
        cuda_graph graph;
    } once;
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
    if (p == NULL)
        return;
    cuda_drop_graph(p->cu, p->once.graph);
    if (p->once.own_in != 0)
        cuda_give_own(p->cu, p->once.own_in);
    if (p->once.own_out != 0)
        cuda_give_own(p->cu, p->once.own_out);
    cuda_unload(p->cu, p->module);
    free(p);
}

static bool launch_one(const prepared *p, cuda_kernel kernel, cuda_pointer in, cuda_pointer out, uint32_t number)
{
    static const uint32_t one[] = {1, 1};
    void *arguments[] = {&in, &out, &number};
    return cuda_launch(p->cu, kernel, one, one, arguments);
}

// A graph's arguments stay, so its kernel finds the number in front of the first slot's message.
static bool prepare_ways(prepared *p, void *const memory[2])
{
    struct once *o = &p->once;
    cuda_kernel next = cuda_find(p->cu, p->module, "next");
    o->ins = memory[0];
    o->outs = memory[1];
    o->own_in = cuda_take_own(p->cu, LATENCY_SLOTS * sizeof *o->ins);
    o->own_out = cuda_take_own(p->cu, LATENCY_SLOTS * sizeof *o->outs);
    if (next == NULL || o->own_in == 0 || o->own_out == 0 || !cuda_record(p->cu))
        return false;
    bool recorded = launch_one(p, next, p->in, p->out, 0);
    o->graph = cuda_recorded(p->cu);
    return recorded && o->graph != NULL;
}

static void *prepare(void *api, enum bare_kernel kernel, void *const memory[2], const size_t bytes[2], const char **why)
{
    prepared *p = memory_take(1, sizeof *p);
    (void)bytes; // the driver knows
    *p = (prepared){.cu = api, .shape = shapes[kernel]};
    p->module = p->shape.stays ? cuda_compile(api, cuda_embedded_bare_stays_cu, "bare_stays.cu", why)
                               : cuda_compile(api, cuda_embedded_bare_launched_cu, "bare_launched.cu", why);
    if (p->module != NULL) {
        *why = "the driver does not find the kernel, or the memory, or records no graph";
        p->kernel = cuda_find(api, p->module, p->shape.name);
        p->in = cuda_seen(api, memory[0]);
        p->out = cuda_seen(api, memory[1]);
        if (p->kernel != NULL && p->in != 0 && p->out != 0 && (kernel != BARE_ONCE || prepare_ways(p, memory)))
            return p;
    }
    release(p);
    return NULL;
}

static bool handle_by_copies(prepared *p, uint32_t number, bool waits)
{
    const uint32_t place = number % LATENCY_SLOTS;
    const size_t at = place * sizeof(latency_slot), bytes = sizeof(latency_slot);
    struct once *o = &p->once;
    latency_slot *in = waits ? &o->pageable : &o->ins[place], *out = waits ? &o->pageable : &o->outs[place];
    if (waits)
        o->pageable = o->ins[place];
    bool fine = cuda_copy_in(p->cu, o->own_in + at, in, bytes, waits) &&
                launch_one(p, p->kernel, o->own_in, o->own_out, number) &&
                cuda_copy_out(p->cu, out, o->own_out + at, bytes, waits) && cuda_finish(p->cu);
    if (waits)
        o->outs[place] = o->pageable;
    return fine;
}

static bool handle(void *kernel, enum bare_way way, uint32_t number)
{
    prepared *p = kernel;
    if (way != BARE_BY_GRAPH)
        return handle_by_copies(p, number, way == BARE_BY_COPIES);
    p->once.ins[0].unused[0] = number;
    return cuda_launch_graph(p->cu, p->once.graph) && cuda_finish(p->cu);
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

const struct bare_api bare_cuda = {"CUDA C++", true, open, close, take, give, prepare, launch, finish, handle, release};
