// SPDX-License-Identifier: Apache-2.0
#include "bench_bare_opencl.h"

#include "bench_opencl.h"
#include "memory.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bare_opencl {
    opencl *cl;
    opencl_kernel *kernel;
    uint32_t count; // of an adder
};

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

bool bare_opencl_is(const bench *bench)
{
    return strncmp(bench->info.name, "opencl", 6) == 0;
}

static bare_opencl *open(const char *name, const opencl_shared shared[2])
{
    const char *why;
    bare_opencl *bare = memory_take(1, sizeof *bare);
    bare->cl = opencl_open(false, &why);
    bare->kernel = bare->cl != NULL ? opencl_prepare_text(bare->cl, text, name, shared, 2, &why) : NULL;
    if (bare->kernel != NULL)
        return bare;
    say("the floor on OpenCL: %s", why);
    bare_opencl_close(bare);
    return NULL;
}

bare_opencl *bare_opencl_echo(latency_slot *in, latency_slot *out)
{
    const size_t bytes = LATENCY_SLOTS * sizeof *in;
    return open("echo", (opencl_shared[]){{in, bytes}, {out, bytes}});
}

bare_opencl *bare_opencl_reader(batch_queue *queue, uint32_t *sum)
{
    return open("reader", (opencl_shared[]){{queue, sizeof *queue}, {sum, sizeof *sum}});
}

bare_opencl *bare_opencl_adder(const bench_message *messages, uint32_t *sums, uint32_t count)
{
    const size_t bytes = count * sizeof *messages;
    bare_opencl *bare = open("adder", (opencl_shared[]){{(void *)(uintptr_t)messages, bytes}, {sums, count * 4}});
    if (bare != NULL)
        bare->count = count;
    return bare;
}

bool bare_opencl_add(bare_opencl *bare)
{
    if (opencl_launch(bare->kernel, bare->count, 8))
        return bare_opencl_wait(bare);
    say("the floor on OpenCL: it is not launched");
    return false;
}

void bare_opencl_close(bare_opencl *bare)
{
    if (bare == NULL)
        return;
    opencl_release(bare->kernel);
    opencl_close(bare->cl);
    free(bare);
}

static bool begin(bare_opencl *bare, uint32_t first, uint32_t end)
{
    if (opencl_begin(bare->kernel, (uint32_t[]){first, end}, 2))
        return true;
    say("the floor on OpenCL: it is not launched");
    return false;
}

bool bare_opencl_start(bare_opencl *bare, uint32_t first, uint32_t end)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    return begin(bare, first, end);
}

bool bare_opencl_wait(bare_opencl *bare)
{
    if (opencl_finish(bare->kernel))
        return true;
    say("the floor on OpenCL: it has failed");
    return false;
}

bool bare_opencl_launch(bare_opencl *bare, uint32_t number)
{
    return begin(bare, number, number + 1) && bare_opencl_wait(bare);
}
