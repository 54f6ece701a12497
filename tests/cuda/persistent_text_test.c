// SPDX-License-Identifier: Apache-2.0
// The kernel that stays, and that of a dispatch, through NVRTC: they compile for each capability, and what they take of
// a multiprocessor is read from their machine code. Where NVRTC is not found the test is skipped, and CTest says so.
#include "tests/kernel/nvrtc.h"
#include "hal/cuda/cubin.h"
#include "hal/cuda/nvrtc.h"
#include "abi/relaunch.h"
#include "emit/cuda/emit_cuda.h"
#include "hal/cuda/resident_text.h"
#include "ir/pass/handler_kernel.h"
#include "base/clock.h"
#include "base/status.h"
#include "lang/kernel.h"

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

static const char many[] =
    "struct message { unsigned at, n; };\n"
    "struct sum { float sum; unsigned count; };\n"
    "__ring_batch__ void many(struct sum *self, const struct message *in, unsigned n, const float *table)\n"
    "{\n"
    "    for (unsigned i = 0; i < n; ++i) self->sum += table[in[i].at] / in[n - 1 - i].n;\n"
    "    self->count += n;\n"
    "    for (unsigned i = n; i-- > 0;) ring_reply_to(i, self);\n"
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

// Fewer threads than a warp has.
static const char few[] = "struct message { unsigned value; };\n"
                          "__ring_block__ __launch_bounds__(8) void few(const struct message *in)\n"
                          "{\n"
                          "    struct message out = {in->value * blockDim.x};\n"
                          "    if (threadIdx.x == 7) ring_reply(&out);\n"
                          "}\n";

// As much shared memory as one may have that stays.
static const char large[] = "struct message { unsigned value[64]; };\n"
                            "__ring_block__ __launch_bounds__(256) void large(const struct message *in)\n"
                            "{\n"
                            "    __shared__ unsigned all[10240];\n"
                            "    for (unsigned i = threadIdx.x; i < 10240; i += blockDim.x)\n"
                            "        all[i] = in->value[i & 63] + all[10239 - i];\n"
                            "    __syncthreads();\n"
                            "    struct message out = *in;\n"
                            "    out.value[5] = all[threadIdx.x * 40];\n"
                            "    if (__syncthreads_or(out.value[5] > 9)) ring_reply(&out);\n"
                            "}\n";

// The kernel of batched launches that is made of a handler.
static slr_status put_batch(const struct slri_module *module, const struct slri_entry *entry, slri_text *out)
{
    struct slri_module *made = NULL;
    slr_status status = slri_handler_kernel(module, entry, &made);
    if (status == SLR_OK)
        status = slri_emit_cuda(made, made->entry, out);
    slri_module_destroy(made);
    return status;
}

// What stands around a handler.
static const struct around {
    slr_status (*put)(const struct slri_module *module, const struct slri_entry *entry, slri_text *out);
    const char *kernel; // NULL: none, it is to be linked
    const char *const *const option;
} handled = {slri_cuda_put_stay_handler, NULL, slri_cuda_stay_options},
  staying = {slri_cuda_put_stay_block, SLRI_CU_STAY, slri_nvrtc_options},
  batch_of_sums = {put_batch, "sums", slri_nvrtc_options}, batch_of_sends = {put_batch, "sends", slri_nvrtc_options},
  batch_of_blocks = {put_batch, "block", slri_nvrtc_options};

struct code {
    char *cubin;
    size_t bytes;
    double took_ms;
};

// False: it does not know the capability.
static bool compile_text(const slri_text *text, const char *const *options, unsigned capability, struct code *out)
{
    char arch[40];
    const char *option[8] = {arch};
    int count = 1, error;
    nvrtc_program *program;
    snprintf(arch, sizeof arch, "--gpu-architecture=sm_%u", capability);
    while (*options)
        option[count++] = *options++;
    assert_int_equal(nvrtc.create(&program, slri_text_view(text), "handler.cu", 0, NULL, NULL), 0);
    uint64_t began_ns = slri_now_ns();
    error = nvrtc.compile(program, count, option);
    *out = (struct code){.took_ms = (double)(slri_now_ns() - began_ns) * 1e-6};
    if (error != 0 && error != UNKNOWN_OPTION) {
        char log[8000] = "";
        size_t bytes = 0;
        if (nvrtc.log_size(program, &bytes) == 0 && bytes <= sizeof log)
            nvrtc.log(program, log);
        fail_msg("sm_%u: %s", capability, log);
    }
    if (error == 0) {
        assert_int_equal(nvrtc.cubin_size(program, &out->bytes), 0);
        out->cubin = malloc(out->bytes);
        assert_int_equal(nvrtc.cubin(program, out->cubin), 0);
    }
    nvrtc.destroy(&program);
    return error == 0;
}

static void read_resources(const char *name, const char *kernel, const struct code *code, slr_resources *out)
{
    assert_int_equal(slri_cubin_read(code->cubin, code->bytes, kernel, out), SLR_OK);
    print_message(
        "%s, %s, sm_%u: %u registers, %u B of stack, %u spills, %u B shared, %u B of code; compiled in %.0f ms\n", name,
        kernel, out->capability, out->registers, out->stack_bytes, out->spills, out->shared_bytes, out->code_bytes,
        code->took_ms);
}

static bool compile_handler(const char *source, const struct around *around, unsigned capability, struct code *out)
{
    struct slri_source from = {.path = "handler.cu", .text = source};
    struct slri_module *module = NULL;
    slri_text text = SLRI_TEXT_INIT;
    assert_int_equal(slri_kernel_compile(&from, &module), SLR_OK);
    assert_int_equal(around->put(module, &module->entry[0], &text), SLR_OK);
    bool known = compile_text(&text, around->option, capability, out);
    slri_text_free(&text);
    slri_module_destroy(module);
    return known;
}

static bool compile(const char *source, const struct around *around, unsigned capability, slr_resources *out)
{
    struct code code;
    if (!compile_handler(source, around, capability, &code))
        return false;
    read_resources("handler", around->kernel, &code, out);
    free(code.cubin);
    return true;
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

// ---- kernels that stay: two files, linked --------------------------------------------------------------------------

// By the toolkit's linker, where it is here: NULL elsewhere. The driver's is the same.
struct linker {
    int (*create)(void **link, uint32_t options, const char **option);
    int (*add)(void *link, int type, const void *data, size_t bytes, const char *name);
    int (*complete)(void *link);
    int (*size)(void *link, size_t *bytes);
    int (*take)(void *link, void *cubin);
    int (*destroy)(void **link);
};

static bool open_linker(struct linker *out)
{
    static const char *const places[] = {"libnvJitLink.so.13", "libnvJitLink.so.12",
                                         "/usr/local/cuda/lib64/libnvJitLink.so"};
    static const char *const names[] = {"nvJitLinkCreate",         "nvJitLinkAddData",
                                        "nvJitLinkComplete",       "nvJitLinkGetLinkedCubinSize",
                                        "nvJitLinkGetLinkedCubin", "nvJitLinkDestroy"};
    void *library = NULL, **slot = (void **)out;
    for (size_t i = 0; i < sizeof places / sizeof *places && !library; ++i)
        library = dlopen(places[i], RTLD_NOW);
    for (size_t i = 0; library && i < sizeof names / sizeof *names; ++i)
        if (!(slot[i] = dlsym(library, names[i])))
            return false;
    return library != NULL;
}

#define LINK_CUBIN 1

static void link_both(const struct linker *linker, unsigned capability, const struct code *kernel,
                      const struct code *handler, struct code *out)
{
    char arch[24];
    const char *option[] = {arch};
    void *link;
    snprintf(arch, sizeof arch, "-arch=sm_%u", capability);
    uint64_t began_ns = slri_now_ns();
    assert_int_equal(linker->create(&link, 1, option), 0);
    assert_int_equal(linker->add(link, LINK_CUBIN, kernel->cubin, kernel->bytes, "kernel"), 0);
    assert_int_equal(linker->add(link, LINK_CUBIN, handler->cubin, handler->bytes, "handler"), 0);
    assert_int_equal(linker->complete(link), 0);
    assert_int_equal(linker->size(link, &out->bytes), 0);
    out->cubin = malloc(out->bytes);
    assert_int_equal(linker->take(link, out->cubin), 0);
    linker->destroy(&link);
    out->took_ms = (double)(slri_now_ns() - began_ns) * 1e-6 + handler->took_ms;
}

static void check_kernel(const char *name, unsigned capability, uint32_t registers, const struct code *code)
{
    slr_resources takes;
    read_resources(name, SLRI_CU_STAY, code, &takes);
    assert_int_equal(takes.capability, capability);
    assert_int_equal(takes.most_threads, 32);
    assert_true(takes.spills == 0 || takes.spills == SLR_RESOURCE_UNKNOWN);
    assert_in_range(takes.stack_bytes, 0, 256); // of functions that are not inlined, off most messages' way
    assert_true(takes.registers <= registers);
}

// Whatever handler is linked to it, it spills nothing: all that it calls is in it, but for the handler.
static void kernel_that_stays_spills_nothing_and_takes_few_registers(void **state)
{
    (void)state;
    static const char *const sources[] = {echo, sums, sends, many}, *const names[] = {"echo", "sums", "sends", "many"};
    struct linker linker;
    bool links = open_linker(&linker);
    slri_text text = SLRI_TEXT_INIT;
    uint32_t known = 0;
    assert_int_equal(slri_cuda_put_stay(&text), SLR_OK);
    for (uint32_t i = 0; i < CAPABILITIES; ++i) {
        struct code kernel, handler, linked;
        if (!compile_text(&text, slri_cuda_stay_options, capabilities[i], &kernel))
            continue;
        check_kernel("kernel", capabilities[i], 128, &kernel); // one warp a block: there are enough
        for (uint32_t k = 0; k < sizeof sources / sizeof *sources; ++k) {
            assert_true(compile_handler(sources[k], &handled, capabilities[i], &handler));
            if (links) {
                link_both(&linker, capabilities[i], &kernel, &handler, &linked);
                check_kernel(names[k], capabilities[i], k != 0 ? 255 : 128, &linked);
                free(linked.cubin);
            }
            free(handler.cubin);
        }
        free(kernel.cubin);
        ++known;
    }
    slri_text_free(&text);
    assert_true(known >= 5); // 10.0 and 12.0 came with CUDA 12.8
}

static void kernel_of_blocks_that_stays_compiles_for_each_capability(void **state)
{
    (void)state;
    compiles_for_each(few, &staying, 32);
    compiles_for_each(large, &staying, 256);
}

// ---- kernels of dispatches -----------------------------------------------------------------------------------------

static void kernel_of_a_dispatch_compiles_for_each_capability(void **state)
{
    (void)state;
    compiles_for_each(sums, &batch_of_sums, 32);
    compiles_for_each(sends, &batch_of_sends, 32);
    compiles_for_each(block, &batch_of_blocks, 64);
}

int main(void)
{
    if (!nvrtc_is_here(&nvrtc))
        return NVRTC_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_that_stays_spills_nothing_and_takes_few_registers),
        cmocka_unit_test(kernel_of_blocks_that_stays_compiles_for_each_capability),
        cmocka_unit_test(kernel_of_a_dispatch_compiles_for_each_capability),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
