// SPDX-License-Identifier: Apache-2.0
// The floors in OpenCL C, on the first device that there is.
#include "bench/bare.h"

#include "bench/opencl.h"

#include <stdlib.h>

// Device scope: the widest that PoCL's compiler takes, and its groups are threads of this process.
static const char text[] =
    "#define LOOK(at) atomic_load_explicit((volatile __global atomic_uint *)(at), memory_order_acquire, \\\n"
    "    memory_scope_device)\n"
    "#define PUBLISH(at, value) atomic_store_explicit((volatile __global atomic_uint *)(at), value, \\\n"
    "    memory_order_release, memory_scope_device)\n"
    "struct slot { uint sequence, unused[3], word[16]; };\n"
    "__kernel void echo(__global struct slot *ins, __global struct slot *outs, uint begin, uint end)\n"
    "{\n"
    "    for (uint i = begin; i != end; i++) {\n"
    "        __global struct slot *in = &ins[i % 256], *out = &outs[i % 256];\n"
    "        while (LOOK(&in->sequence) != i + 1)\n"
    "            for (volatile int k = 0; k < 4; k++) ;\n"
    "        for (int k = 0; k < 16; k++) out->word[k] = in->word[k] + 1;\n"
    "        PUBLISH(&out->sequence, i + 1);\n"
    "    }\n"
    "}\n"
    "__kernel void once(__global struct slot *ins, __global struct slot *outs, uint i)\n"
    "{\n"
    "    for (int k = 0; k < 16; k++) outs[i % 256].word[k] = ins[i % 256].word[k] + 1;\n"
    "}\n"
    "__kernel void reader(__global uint *queue, __global uint *total, uint begin, uint end)\n"
    "{\n"
    "    uint at = begin, sum = *total;\n"
    "    while (at != end) {\n"
    "        uint written = LOOK(queue);\n"
    "        for (; at != written; at++) {\n"
    "            const __global uint *word = queue + 64 + at % 1024 * 16;\n"
    "            for (int k = 0; k < 16; k++) sum += word[k];\n"
    "            if ((at + 1) % 32 == 0) PUBLISH(queue + 32, at + 1);\n"
    "        }\n"
    "    }\n"
    "    *total = sum;\n"
    "}\n"
    "__kernel void adder(__global const uint *messages, __global uint *sums)\n"
    "{\n"
    "    const __global uint *word = messages + get_global_id(0) * 16;\n"
    "    uint sum = 0;\n"
    "    for (int k = 0; k < 16; k++) sum += word[k];\n"
    "    sums[get_global_id(0)] += sum;\n"
    "}\n";
_Static_assert(LATENCY_SLOTS == 256 && BATCH_SLOTS == 1024 && BENCH_BATCH == 32, "the text has them as numbers");

static const char *const names[BARE_KERNELS] = {
    [BARE_ECHO] = "echo", [BARE_READER] = "reader", [BARE_ONCE] = "once", [BARE_ADDER] = "adder"};

static void *open(const char *device, const char **why)
{
    (void)device;
    return opencl_open(false, why);
}

static void close(void *api)
{
    opencl_close(api);
}

static void *take(void *api, size_t bytes)
{
    (void)api;
    return bench_lines(bytes);
}

static void give(void *api, void *memory)
{
    (void)api;
    free(memory);
}

static void *prepare(void *api, enum bare_kernel kernel, void *const memory[2], const size_t bytes[2], const char **why)
{
    *why = "there is none in OpenCL C";
    if (names[kernel] == NULL)
        return NULL;
    const opencl_shared shared[] = {{memory[0], bytes[0]}, {memory[1], bytes[1]}};
    return opencl_prepare_text(api, text, names[kernel], shared, 2, why);
}

static bool launch(void *kernel, const uint32_t *values, unsigned count, uint32_t messages)
{
    return opencl_begin(kernel, values, count, messages, messages % 8 == 0 ? 8 : 1);
}

static bool finish(void *kernel)
{
    return opencl_finish(kernel);
}

static void release(void *kernel)
{
    opencl_release(kernel);
}

const struct bare_api bare_opencl = {"OpenCL", false, open, close, take, give, prepare, launch, finish, NULL, release};
