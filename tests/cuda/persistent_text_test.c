// SPDX-License-Identifier: Apache-2.0
// The kernel that stays, and that of a dispatch, through NVRTC: they compile for each capability, and what they take of
// a multiprocessor is read from their machine code. Where NVRTC is not found the test is skipped, and CTest says so.
#include "tests/kernel/nvrtc.h"
#include "backend/cuda/cubin.h"
#include "backend/cuda/relaunch_text.h"
#include "backend/cuda/resident_text.h"
#include "base/clock.h"
#include "base/status.h"
#include "kernel/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define UNKNOWN_OPTION 5 // NVRTC: it knows no such capability yet

static const unsigned capabilities[] = {75, 80, 86, 89, 90, 100, 120};
enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };
static struct nvrtc nvrtc;

static const char echo[] = "struct message { unsigned word[16]; };\n"
                           "__ring__ void echo(const struct message *in) { ring_reply(in); }\n";
static const char sums[] =
    "struct message { unsigned at, n; };\n"
    "struct sum { float sum; unsigned count; };\n"
    "__ring__ void sums(struct sum *self, const struct message *in, const float *table, float scale)\n"
    "{\n"
    "    for (unsigned i = 0; i < in->n; ++i) self->sum += table[in->at + i] * scale;\n"
    "    self->count += 100u / in->n;\n"
    "    ring_reply(self);\n"
    "}\n";

static const char sends[] =
    "struct message { unsigned at, n; };\n"
    "__ring__ void sends(const struct message *in, unsigned *table, ring_to(struct message) next, float scale)\n"
    "{\n"
    "    table[in->at] = (unsigned)(scale * in->n);\n"
    "    ring_send(next, in);\n"
    "}\n";

// All that threads of a block do together, in loops too, and all that may fault.
static const char block[] =
    "struct message { unsigned n, value[64]; };\n"
    "struct sum { unsigned sum; };\n"
    "__device__ unsigned warp_sum(unsigned v)\n"
    "{\n"
    "    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);\n"
    "    return v;\n"
    "}\n"
    "__ring_block__ __launch_bounds__(64) void block(struct sum *self, const struct message *in, unsigned *table,\n"
    "                                               ring_to(struct sum) next)\n"
    "{\n"
    "    __shared__ unsigned part[2], all[64];\n"
    "    unsigned mine = 0, t = threadIdx.x, any;\n"
    "    for (unsigned i = t; i < in->n; i += blockDim.x) mine += in->value[i] / table[i];\n"
    "    for (unsigned step = 32; step > 0; step >>= 1) {\n"
    "        all[t] = mine;\n"
    "        __syncthreads();\n"
    "        mine += all[(t + step) & 63];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    do any = __syncthreads_or(mine++ & 7); while (any);\n"
    "    mine = warp_sum(mine);\n"
    "    if (t % 32 == 0) part[t / 32] = mine;\n"
    "    if (__syncthreads_and(mine) + __syncthreads_count(mine > 9) + blockIdx.x == 0) return;\n"
    "    if (t == 0) { self->sum += part[0] + part[1]; ring_reply(self); ring_send(next, self); }\n"
    "}\n";

// What stands around a handler.
static const struct around {
    slr_status (*put)(const struct slri_module *module, const struct slri_entry *entry, slri_text *out);
    const char *kernel;
} staying = {slri_cuda_put_resident, SLRI_CU_STAY}, dispatched = {slri_cuda_put_relaunch, SLRI_CU_RELAUNCH};

// False: it does not know the capability.
static bool compile(const char *source, const struct around *around, unsigned capability, slr_resources *out)
{
    struct slri_source from = {.path = "handler.cu", .text = source};
    struct slri_module *module = NULL;
    slri_text text = SLRI_TEXT_INIT;
    char arch[40], *cubin;
    const char *option[] = {arch, "--fmad=false", "--std=c++17"};
    nvrtc_program *program;
    size_t bytes = 0;
    snprintf(arch, sizeof arch, "--gpu-architecture=sm_%u", capability);
    assert_int_equal(slri_kernel_compile(&from, &module), SLR_OK);
    assert_int_equal(around->put(module, &module->entry[0], &text), SLR_OK);
    assert_int_equal(nvrtc.create(&program, slri_text_view(&text), "handler.cu", 0, NULL, NULL), 0);
    uint64_t began_ns = slri_now_ns();
    int error = nvrtc.compile(program, 3, option);
    uint64_t took_ns = slri_now_ns() - began_ns;
    if (error != 0 && error != UNKNOWN_OPTION) {
        char log[8000] = "";
        if (nvrtc.log_size(program, &bytes) == 0 && bytes <= sizeof log)
            nvrtc.log(program, log);
        fail_msg("sm_%u: %s", capability, log);
    }
    if (error == 0) {
        assert_int_equal(nvrtc.cubin_size(program, &bytes), 0);
        cubin = malloc(bytes);
        assert_int_equal(nvrtc.cubin(program, cubin), 0);
        assert_int_equal(slri_cubin_read(cubin, bytes, around->kernel, out), SLR_OK);
        print_message(
            "%s, %s, sm_%u: %u registers, %u B of stack, %u spills, %u B shared, %u B of code; compiled in %.0f ms\n",
            module->entry[0].name, around->kernel, capability, out->registers, out->stack_bytes, out->spills,
            out->shared_bytes, out->code_bytes, (double)took_ns * 1e-6);
        free(cubin);
    }
    nvrtc.destroy(&program);
    slri_text_free(&text);
    slri_module_destroy(module);
    return error == 0;
}

static void compiles_for_each(const char *source, const struct around *around, uint32_t threads)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < CAPABILITIES; ++i) {
        slr_resources takes;
        if (!compile(source, around, capabilities[i], &takes))
            continue;
        assert_int_equal(takes.capability, capabilities[i]);
        assert_int_equal(takes.most_threads, threads);
        ++known;
    }
    assert_true(known >= 5); // 10.0 and 12.0 came with CUDA 12.8
}

static void kernel_that_stays_compiles_for_each_capability(void **state)
{
    (void)state;
    compiles_for_each(sums, &staying, 32);
}

static void kernel_of_a_dispatch_compiles_for_each_capability(void **state)
{
    (void)state;
    compiles_for_each(sums, &dispatched, 32);
    compiles_for_each(sends, &dispatched, 32);
    compiles_for_each(block, &dispatched, 64);
}

static void echo_spills_nothing_and_takes_few_registers(void **state)
{
    (void)state;
    slr_resources takes;
    assert_true(compile(echo, &staying, 90, &takes));
    assert_true(takes.spills == 0 || takes.spills == SLR_RESOURCE_UNKNOWN);
    assert_int_equal(takes.stack_bytes, 0);
    assert_true(takes.registers <= 64);
}

int main(void)
{
    if (!nvrtc_is_here(&nvrtc))
        return NVRTC_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_that_stays_compiles_for_each_capability),
        cmocka_unit_test(kernel_of_a_dispatch_compiles_for_each_capability),
        cmocka_unit_test(echo_spills_nothing_and_takes_few_registers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
