// SPDX-License-Identifier: Apache-2.0
// What is written as SPIR-V: spirv-val and spirv-as judge it where they are installed. The suite on Vulkan runs it.
#include "emit/spirv/spirv.h"
#include "emit/spirv/words.h"
#include "ir/pass/handler_kernel.h"
#include "lang/kernel.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ALL ((1u << SLRI_SPIRV_FEATURES) - 1)
#define ALL_CONTROLS 63u

static char folder[] = "/tmp/slipring_spirv_XXXXXX";
static char module_path[64], text_path[64];

static bool is_there(const char *tool)
{
    char command[64];
    snprintf(command, sizeof command, "command -v %s > /dev/null", tool);
    return system(command) == 0;
}

static bool is_valid(const uint32_t *word, size_t words)
{
    char command[256];
    FILE *file = fopen(module_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(word, sizeof *word, words, file), words);
    fclose(file);
    snprintf(command, sizeof command, "spirv-val --target-env vulkan1.2 %s > %s 2>&1", module_path, text_path);
    return system(command) == 0;
}

static void say_why(const char *path, const char *name)
{
    char line[512] = "";
    FILE *file = fopen(text_path, "r");
    if (file && !fgets(line, sizeof line, file))
        line[0] = 0;
    if (file)
        fclose(file);
    print_error("%s: %s: %s\n", path, name, line);
}

static struct slri_module *compile(const char *path, const char *text)
{
    static const char *const folders[] = {SLIPRING_SOURCE_DIR "/src", SLIPRING_SOURCE_DIR "/include"};
    struct slri_source source = {.path = path, .text = text, .include = folders, .includes = 2};
    struct slri_module *module = NULL;
    return slri_kernel_compile(&source, &module) == SLR_OK ? module : NULL;
}

static struct slri_spirv written(const struct slri_module *module, const struct slri_spirv_options *options)
{
    struct slri_spirv made;
    if (slri_emit_spirv(module, &module->entry[0], options, &made) != SLR_OK)
        fail_msg("%s", slr_error_message());
    return made;
}

// ---- every kernel --------------------------------------------------------------------------------------------------

struct tally {
    const char *path;
    uint32_t has, valid, refused, bad;
};

static void judge_entry(struct tally *t, const struct slri_module *module, const struct slri_entry *entry)
{
    const struct slri_spirv_options options = {.has = t->has, .float_controls = ALL_CONTROLS};
    struct slri_spirv made;
    if (slri_emit_spirv(module, entry, &options, &made) != SLR_OK) {
        if (!strstr(slr_error_message(), ".cu:") && !strstr(slr_error_message(), ".h>:"))
            fail_msg("%s", slr_error_message());
        t->refused++;
        return;
    }
    // What a device with such subgroups gets differs only where a warp is one.
    bool is_known = t->has & SLRI_SPIRV_SUBGROUPS_OF_32 && !(made.needs & SLRI_SPIRV_SUBGROUPS_OF_32);
    bool valid = is_known || is_valid(made.word, made.words);
    if (!valid)
        say_why(t->path, entry->name);
    t->valid += valid;
    t->bad += !valid;
    slri_spirv_free(&made);
}

// A `__ring__` handler is judged as the kernel of its batched launches.
static void judge(struct tally *t, const char *text)
{
    struct slri_module *module = compile(t->path, text);
    for (uint32_t i = 0; module && i < module->entries; i++) {
        struct slri_module *made = NULL;
        const struct slri_entry *entry = &module->entry[i];
        if (entry->kind == SLRI_ENTRY_KERNEL)
            judge_entry(t, module, entry);
        else if (entry->kind == SLRI_ENTRY_RING && slri_handler_kernel(module, entry, &made) == SLR_OK)
            judge_entry(t, made, &made->entry[0]);
        if (made)
            slri_module_destroy(made);
    }
    if (module)
        slri_module_destroy(module);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 18);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 18) - 1, file) > 0);
    fclose(file);
    return text;
}

// A case of the suite begins with a line "//: name".
static void judge_cases(struct tally *t)
{
    char *text = read_file(t->path);
    for (char *at = strstr(text, "\n//: "); at;) {
        char *next = strstr(at + 1, "\n//: ");
        if (next)
            *next = 0;
        judge(t, at + 1);
        if (next)
            *next = '\n';
        at = next;
    }
    free(text);
}

static struct tally judge_all(uint32_t has)
{
    static const char *const patterns[] = {SLIPRING_SOURCE_DIR "/examples/*/*.cu", SLIPRING_SOURCE_DIR "/tests/*/*.cu",
                                           SLIPRING_SOURCE_DIR "/tests/cts/kernels/*.cu"};
    struct tally t = {.has = has};
    for (size_t p = 0; p < 3; p++) {
        glob_t found;
        assert_int_equal(glob(patterns[p], 0, NULL, &found), 0);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            t.path = found.gl_pathv[i];
            if (p == 2)
                judge_cases(&t);
            else
                judge(&t, NULL);
        }
        globfree(&found);
    }
    return t;
}

static void every_kernel_of_the_tree_and_of_the_suite_is_valid(void **state)
{
    (void)state;
    if (!is_there("spirv-val"))
        skip();
    struct tally t = judge_all(ALL & ~(uint32_t)SLRI_SPIRV_SUBGROUPS_OF_32);
    assert_int_equal(t.bad, 0);
    assert_true(t.valid > 300);
    assert_true(t.refused < 8); // barriers that not all threads reach
    struct tally subgroups = judge_all(ALL);
    assert_int_equal(subgroups.bad, 0);
    assert_int_equal(subgroups.valid, t.valid);
}

static void what_a_small_device_gets_is_valid_too(void **state)
{
    (void)state;
    if (!is_there("spirv-val"))
        skip();
    struct tally t = judge_all(0);
    assert_int_equal(t.bad, 0);
    assert_in_range(t.valid, 250, 1000); // words, and a few doubles by integers
    assert_true(t.refused > 20);
    t = judge_all(SLRI_SPIRV_INT64 | SLRI_SPIRV_INT8 | SLRI_SPIRV_INT16 | SLRI_SPIRV_STORAGE8 | SLRI_SPIRV_STORAGE16);
    assert_int_equal(t.bad, 0);
    assert_in_range(t.valid, 250, 1000); // by address, with doubles by integers
}

// ---- the interface -------------------------------------------------------------------------------------------------

static void arguments_lie_where_the_header_says(void **state)
{
    (void)state;
    struct slri_module *module = compile("k.cu", "struct pair { int a; short b; };\n__device__ int counter;\n"
                                                 "__global__ void k(char c, const float *x, struct pair p, double d)\n"
                                                 "{\n    extern __shared__ int room[];\n    room[0] = c / p.a;\n"
                                                 "    if (x) counter = room[0];\n    printf(\"%f\", d);\n}\n");
    struct slri_arguments facts;
    const struct slri_entry *entry = &module->entry[0];
    assert_int_equal(slri_arguments_find(module, entry, &facts), SLR_OK);
    const uint32_t at[] = {0, 8, 16, 24};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(slri_argument(entry, i), at[i]);
    assert_int_equal(facts.globals, 32);
    assert_int_equal(facts.printed, 40);
    assert_int_equal(facts.faulted, 48);
    assert_int_equal(facts.bytes, 56);
    assert_true(facts.has_dynamic);
    slri_module_destroy(module);
    module = compile("k.cu", "__global__ void k(int *x) { x[0] = 1; }\n");
    assert_int_equal(slri_arguments_find(module, &module->entry[0], &facts), SLR_OK);
    assert_int_equal(facts.globals, SLRI_ARGUMENT_NONE);
    assert_int_equal(facts.printed, SLRI_ARGUMENT_NONE);
    assert_int_equal(facts.faulted, SLRI_ARGUMENT_NONE);
    assert_int_equal(facts.bytes, 8);
    assert_false(facts.has_dynamic);
    slri_module_destroy(module);
}

static void what_the_device_lacks_is_refused_with_place_and_advice(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t lacks;
        const char *place, *words, *advice;
    } list[] = {
        {"__global__ void k(double *x)\n{\n    atomicAdd(x, 1.0);\n}\n", SLRI_SPIRV_FLOAT64, "k.cu:3:", "shaderFloat64",
         "use float"},
        {"__global__ void k(float *x)\n{\n    x[0] = x[1];\n    x[0] = sinf(x[1]);\n}\n", SLRI_SPIRV_FLOAT64,
         "k.cu:4:", "'sinf'", "exact in float"},
        {"__global__ void k(unsigned long long *x)\n{\n    atomicAdd(x, 1ull);\n}\n", SLRI_SPIRV_INT64,
         "k.cu:3:", "words of 32 bits", "two words and a lock"},
        {"__global__ void k(char *x)\n{\n    x[0] = 1;\n}\n", SLRI_SPIRV_STORAGE8, "k.cu:3:", "storageBuffer8BitAccess",
         "arrays of int"},
        {"__global__ void k(short *x)\n{\n    x[0] = 1;\n}\n", SLRI_SPIRV_STORAGE16,
         "k.cu:3:", "storageBuffer16BitAccess", "arrays of int"},
        {"__global__ void k(unsigned long long *x)\n{\n    atomicAdd(x, 1ull);\n}\n", SLRI_SPIRV_ATOMICS64,
         "k.cu:3:", "shaderBufferInt64Atomics", "32-bit ones"},
        {"__global__ void k(int *x)\n{\n    __shared__ unsigned long long s;\n    atomicAdd(&s, 1ull);\n}\n",
         SLRI_SPIRV_SHARED_ATOMICS64, "k.cu:4:", "shaderSharedInt64Atomics", "32-bit ones"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        struct slri_module *module = compile("k.cu", list[i].text);
        struct slri_spirv_options options = {.has = ALL & ~list[i].lacks};
        struct slri_spirv made;
        assert_int_equal(slri_emit_spirv(module, &module->entry[0], &options, &made), SLR_UNSUPPORTED);
        assert_null(made.word);
        assert_non_null(strstr(slr_error_message(), list[i].place));
        assert_non_null(strstr(slr_error_message(), list[i].words));
        assert_non_null(strstr(slr_error_message(), list[i].advice));
        options.has = ALL;
        assert_int_equal(slri_emit_spirv(module, &module->entry[0], &options, &made), SLR_OK);
        assert_true(made.needs & list[i].lacks);
        slri_spirv_free(&made);
        slri_module_destroy(module);
    }
}

static void handlers_are_refused_and_their_kernels_are_not(void **state)
{
    (void)state;
    struct slri_module *module = compile("h.cu", "struct m { int v; };\n__ring__ void h(const struct m *in)\n{\n"
                                                 "    struct m out = {in->v + 1};\n    ring_reply(&out);\n}\n");
    struct slri_spirv made;
    assert_int_equal(slri_emit_spirv(module, &module->entry[0], NULL, &made), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "'h' is a handler"));
    slri_module_destroy(module);
}

// ---- the text ------------------------------------------------------------------------------------------------------

static const char several[] =
    "__global__ void k(float *f, double *d, unsigned long long *u, int n)\n{\n    int i = threadIdx.x;\n"
    "    switch (u[i]) { case 5: f[i] = 1e-40f; break; case 6: d[i] = 0.1; default: f[i] += -0.0f; }\n"
    "    __shared__ int s[32];\n    s[i] = n;\n    __syncthreads();\n    atomicAdd(&u[1], (unsigned long long)s[0]);\n"
    "    printf(\"%d\", i);\n}\n";

static void the_assembly_is_the_same_words(void **state)
{
    (void)state;
    if (!is_there("spirv-as"))
        skip();
    const struct slri_spirv_options options = {.has = ALL, .float_controls = ALL_CONTROLS};
    struct slri_module *module = compile("k.cu", several);
    struct slri_spirv made = written(module, &options);
    struct slri_text text = SLRI_TEXT_INIT;
    slri_spirv_disassemble(made.word, made.words, &text);
    FILE *file = fopen(text_path, "w");
    assert_non_null(file);
    fputs(slri_text_view(&text), file);
    fclose(file);
    char command[256];
    snprintf(command, sizeof command, "spirv-as --preserve-numeric-ids --target-env spv1.5 %s -o %s", text_path,
             module_path);
    assert_int_equal(system(command), 0);
    uint32_t *again = calloc(made.words + 1, sizeof *again);
    file = fopen(module_path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(again, sizeof *again, made.words + 1, file), made.words);
    fclose(file);
    assert_memory_equal(again + 5, made.word + 5, (made.words - 5) * sizeof *again); // the head names the tool
    free(again);
    slri_text_free(&text);
    slri_spirv_free(&made);
    slri_module_destroy(module);
}

static void expect(const char *text, const struct slri_spirv_options *options, const char *const *wanted,
                   const char *unwanted)
{
    struct slri_module *module = compile("k.cu", text);
    struct slri_spirv made = written(module, options);
    struct slri_text out = SLRI_TEXT_INIT;
    slri_spirv_disassemble(made.word, made.words, &out);
    for (; *wanted; wanted++)
        if (!strstr(slri_text_view(&out), *wanted))
            fail_msg("no '%s' in\n%s", *wanted, slri_text_view(&out));
    if (unwanted && strstr(slri_text_view(&out), unwanted))
        fail_msg("'%s' in\n%s", unwanted, slri_text_view(&out));
    slri_text_free(&out);
    slri_spirv_free(&made);
    slri_module_destroy(module);
}

static void lines_orders_and_controls_are_in_it(void **state)
{
    (void)state;
    const struct slri_spirv_options some = {.has = ALL,
                                            .float_controls = SLRI_SPIRV_ROUND_EVEN_32 | SLRI_SPIRV_DENORM_PRESERVE_64};
    static const char *const plain[] = {"\"k.cu\"",           "OpLine %2 3 ",           "NoContraction",
                                        "RoundingModeRTE 32", "OpEntryPoint GLCompute", NULL};
    expect("__global__ void k(float *x)\n{\n    x[0] = x[1] * x[2] + x[3];\n}\n", &some, plain, "DenormPreserve");
    // Acquire and release, with buffers and the workgroup, made available and visible; the whole device's.
    static const char *const fenced[] = {"OpAtomicIAdd", "OpConstant %5 24904\n", "VulkanMemoryModelDeviceScope", NULL};
    expect("__global__ void k(int *x)\n{\n    x[0] = 1;\n    __threadfence();\n    x[1] = 2;\n}\n", &some, fenced,
           "OpControlBarrier");
    static const char *const block[] = {"OpAtomicIAdd", NULL};
    expect("__global__ void k(int *x)\n{\n    x[0] = 1;\n    __threadfence_block();\n    x[1] = 2;\n}\n", &some, block,
           "VulkanMemoryModelDeviceScope");
    static const char *const warp[] = {"GroupNonUniformShuffle", NULL};
    static const char shuffle[] = "__global__ void k(int *x)\n{\n    x[threadIdx.x] = "
                                  "__shfl_sync(0xffffffff, x[0], 3);\n}\n";
    expect(shuffle, &some, warp, NULL);
    static const char *const shared[] = {"OpControlBarrier", NULL};
    const struct slri_spirv_options none = {.has = ALL & ~(uint32_t)SLRI_SPIRV_SUBGROUPS_OF_32};
    expect(shuffle, &none, shared, "GroupNonUniform");
}

static void words_name_nothing_of_64_bits(void **state)
{
    (void)state;
    static const char text[] =
        "__global__ void k(char *c, const long long *l, double *d, unsigned short h)\n{\n"
        "    int i = threadIdx.x;\n    c[i] = (char)(l[i] / 3 + h);\n    d[i] = d[i] * 0.5;\n}\n";
    const struct slri_spirv_options none = {.has = 0}, small = {.has = ALL & ~(uint32_t)SLRI_SPIRV_FLOAT64};
    static const char *const wanted[] = {"OpTypeRuntimeArray", "OpAtomicCompareExchange", "OpUMulExtended", NULL};
    static const char *const others[] = {"OpConvertUToPtr", "OpTypeInt 64", NULL};
    expect(text, &none, wanted, "OpTypeInt 64");
    expect(text, &none, wanted, "OpCapability Int64");
    expect(text, &small, others, "Float64");
    static const char print[] = "__global__ void k(const long long *l, float f)\n{\n"
                                "    printf(\"%lld %d %f\", l[0], (int)f, f);\n}\n";
    static const char *const record[] = {"OpTypeRuntimeArray", "OpAtomicCompareExchange", NULL};
    expect(print, &none, record, "OpTypeInt 64");
    expect(print, &small, others, "Float64");
}

// A driver takes it for +0, whatever the other factor is.
static void what_is_made_of_a_written_zero_is_not_left_to_the_driver(void **state)
{
    (void)state;
    const struct slri_spirv_options all = {.has = ALL};
    static const char *const computed[] = {"OpUGreaterThanEqual", "OpBitwiseAnd", NULL}, *const product[] = {"OpFMul",
                                                                                                             NULL};
    expect("__global__ void k(float *x)\n{\n    x[0] = x[1] * 0.0f;\n}\n", &all, computed, "OpFMul");
    expect("__global__ void k(double *x)\n{\n    x[0] = -0.0 * x[1];\n}\n", &all, computed, "OpFMul");
    expect("__global__ void k(float *x)\n{\n    x[0] = x[1] * 2.0f;\n}\n", &all, product, "OpBitwiseXor");
    static const char *const quotient[] = {"OpFDiv", NULL};
    expect("__global__ void k(double *x)\n{\n    x[0] = 0.0 / x[1];\n}\n", &all, computed, "OpFDiv");
    expect("__global__ void k(double *x)\n{\n    x[0] = 2.0 / x[1];\n}\n", &all, quotient, "OpBitwiseXor");
}

// A quotient and a root are what integers make of the driver's; two subnormals are not compared as they are.
static void floats_do_not_rely_on_what_vulkan_leaves_open(void **state)
{
    (void)state;
    const struct slri_spirv_options keeps = {.has = ALL, .float_controls = SLRI_SPIRV_DENORM_PRESERVE_32};
    const struct slri_spirv_options flushes = {.has = ALL}, soft = {.has = ALL & ~(uint32_t)SLRI_SPIRV_FLOAT64};
    static const char *const rounded[] = {"FindUMsb", "OpIMul", "OpFDiv", NULL};
    static const char *const root[] = {"FindUMsb", "OpIMul", " Sqrt ", NULL}, *const quarter[] = {" 0x1.000000p-2\n",
                                                                                                  NULL};
    static const char *const both[] = {"OpShiftRightArithmetic", "OpSLessThan", "OpSelect", "OpFOrdLessThan", NULL};
    static const char *const plain[] = {"OpFOrdLessThan", NULL}, *const bits[] = {"OpINotEqual", "OpFUnordNotEqual",
                                                                                  NULL};
    static const char quotient[] = "__global__ void k(float *x)\n{\n    x[0] = x[1] / x[2];\n}\n";
    static const char less[] = "__global__ void k(float *x, int *y)\n{\n    y[0] = x[1] < x[2];\n}\n";
    expect(quotient, &keeps, rounded, NULL);
    expect(quotient, &flushes, rounded, NULL);
    expect(quotient, &soft, rounded, NULL);
    expect("__global__ void k(float *x)\n{\n    x[0] = sqrtf(x[1]);\n}\n", &keeps, root, NULL);
    expect("__global__ void k(float *x)\n{\n    x[0] = sqrtf(x[1]);\n}\n", &soft, root, NULL);
    expect("__global__ void k(float *x)\n{\n    x[0] = x[1] / 4.0f;\n}\n", &keeps, quarter, NULL);
    expect(less, &keeps, both, NULL);
    expect(less, &flushes, both, NULL);
    expect("__global__ void k(float *x, int *y)\n{\n    y[0] = x[1] < 2.0f;\n}\n", &keeps, plain, "OpSLessThan");
    expect("__global__ void k(float *x, int *y)\n{\n    y[0] = (bool)x[1];\n}\n", &keeps, bits, NULL);
    static const char *const half[] = {"OpUGreaterThan", NULL}; // a sum of floats may be rounded to zero
    expect("#include <cuda_fp16.h>\n__global__ void k(float *x, __half *y)\n{\n    y[0] = (__half)x[1];\n}\n", &keeps,
           half, "OpFAdd");
}

// Copies leave 64-bit atomics in shared memory their array of 8 bytes. Copies between buffers of bytes are of words.
static void copies_take_what_the_memory_allows(void **state)
{
    (void)state;
    const struct slri_spirv_options all = {.has = ALL};
    static const char *const atomic[] = {"Int64Atomics", "OpAtomicIAdd", NULL};
    expect("struct s { unsigned long long a; int b, c; };\n"
           "__global__ void k(struct s *out)\n{\n    __shared__ struct s s[3];\n    atomicAdd(&s[0].a, 3ull);\n"
           "    struct s t = s[0];\n    s[2] = t;\n    out[0] = s[2];\n}\n",
           &all, atomic, NULL);
    expect("struct q { unsigned long long v[2]; };\n"
           "__global__ void k(struct q *out, int n)\n{\n    extern __shared__ unsigned long long d[];\n"
           "    atomicAdd(&d[0], 3ull);\n    *(struct q *)&d[2] = *(struct q *)&d[n];\n"
           "    out[0] = *(struct q *)&d[2];\n}\n",
           &all, atomic, NULL);
    static const char *const words[] = {"OpLoad", NULL};
    static const char bytes[] =
        "struct m { int v[24]; };\n__global__ void k(char *to, short *from)\n{\n"
        "    *(struct m *)(to + 96 * threadIdx.x) = *(struct m *)(from + 48 * threadIdx.x);\n}\n";
    expect(bytes, &all, words, "OpTypeInt 8");
    expect(bytes, &all, words, "OpTypeInt 16");
}

static void only_a_kernel_with_a_loop_tells_of_ended_loops(void **state)
{
    (void)state;
    const struct slri_spirv_options tells = {.has = ALL, .tells_ended_loops = true};
    static const char *const straight[] = {"OpReturn", NULL}, *const loop[] = {"OpLoopMerge", "OpFunctionCall", NULL};
    expect("__global__ void k(float *x)\n{\n    x[0] = 1.0f;\n}\n", &tells, straight, "OpLoopMerge");
    expect("__global__ void k(float *x, int n)\n{\n    for (int i = 0; i < n; ++i)\n        x[i] = 1.0f;\n}\n", &tells,
           loop, NULL);
}

// The last one lies behind what the push block takes: it alone is read from the argument block.
static void arguments_are_pushed_as_far_as_they_fit(void **state)
{
    (void)state;
    const struct slri_spirv_options all = {.has = ALL};
    static const char *const pushed[] = {"Offset 40", "Offset 52", NULL}, *const read[] = {"NonPrivatePointer 8",
                                                                                           "Offset 124", NULL};
    expect("__global__ void k(float *x, int n)\n{\n    x[n] = 1.0f;\n}\n", &all, pushed, "NonPrivatePointer 8");
    expect(
        "__global__ void k(float *a, float *b, float *c, float *d, float *e, float *f, float *g, float *h, float *i,\n"
        "                  float *j, float *x, float *y)\n{\n    y[0] = a[0];\n}\n",
        &all, read, "Offset 128");
}

// As drivers pay for each instruction that they translate.
static void what_is_known_is_not_computed(void **state)
{
    (void)state;
    const struct slri_spirv_options none = {.has = 0};
    static const char *const number[] = {"OpIAdd", "OpAccessChain", NULL}, *const parts[] = {"OpShiftRightLogical",
                                                                                             NULL};
    // The word's number, of an offset that is a sum and a product by 4; a part of a word needs its place.
    expect("__global__ void k(unsigned *a, unsigned i) { a[i + 1u] = 5u; }\n", &none, number, "OpShiftRightLogical");
    expect("__global__ void k(unsigned char *a, unsigned i) { a[i + 1u] = 5u; }\n", &none, parts, NULL);
    // A parameter that all calls give one literal, and one that they do not.
    static const char same[] = "__device__ void put(unsigned *a, unsigned by) { a[threadIdx.x] = threadIdx.x + by; }\n"
                               "__global__ void k(unsigned *a) { put(a, 0u); put(a, 0u); }\n";
    static const char other[] = "__device__ void put(unsigned *a, unsigned by) { a[threadIdx.x] = threadIdx.x + by; }\n"
                                "__global__ void k(unsigned *a) { put(a, 0u); put(a, 7u); }\n";
    static const char *const called[] = {"OpFunctionCall", NULL}, *const sum[] = {"OpIAdd", NULL};
    expect(same, &none, called, "OpIAdd");
    expect(other, &none, sum, NULL);
    // A comparison that only a branch asks for is no number; one that is stored is.
    static const char *const branch[] = {"OpBranchConditional", NULL}, *const select[] = {"OpSelect", NULL};
    expect("__global__ void k(unsigned *a, unsigned i) { if (i < 3u) a[0] = 1u; }\n", &none, branch, "OpSelect ");
    expect("__global__ void k(int *a, unsigned i) { a[0] = i < 3u; }\n", &none, select, NULL);
}

static uint32_t count(const char *text, uint32_t op)
{
    const struct slri_spirv_options none = {.has = 0};
    struct slri_module *module = compile("k.cu", text);
    struct slri_spirv made = written(module, &none);
    uint32_t found = 0;
    assert_true(!is_there("spirv-val") || is_valid(made.word, made.words));
    for (size_t at = 5; at < made.words; at += made.word[at] >> 16)
        found += (made.word[at] & 0xffff) == op;
    slri_spirv_free(&made);
    slri_module_destroy(module);
    return found;
}

static uint32_t count_stores(const char *text)
{
    return count(text, SLRI_W_Store);
}

// Those that touch memory stay.
static void short_branches_are_selects(void **state)
{
    (void)state;
    static const char text[] = "__global__ void k(float *a, long long *b, float v)\n"
                               "{ float x = a[0]; long long y = b[0];\n"
                               "  if (v > 0.5f) x = x * 1.5f + 1.0f; else x = x - 0.25f;\n"
                               "  if (v > 1.5f) { x = -x; y = y * 3; } else y = y - 1;\n"
                               "  if (v > 2.5f) a[1] = x; else a[2] = x;\n"
                               "  a[3] = x; b[1] = y; }\n";
    assert_int_equal(count(text, SLRI_W_SelectionMerge), 1);
}

// Those of a variable that is stored again behind it, with no load and no branch between.
static void store_that_another_overwrites_is_left_out(void **state)
{
    (void)state;
    static const char once[] = "__global__ void k(unsigned *a, unsigned n)\n"
                               "{ unsigned x = a[0]; while (x < n) { x = x * 3u; } a[1] = x; }\n";
    static const char more[] =
        "__global__ void k(unsigned *a, unsigned n)\n"
        "{ unsigned x = a[0]; while (x < n) { x = x * 3u; x = x + a[2]; x = x ^ n; } a[1] = x; }\n";
    static const char between[] = "__global__ void k(unsigned *a, unsigned n)\n"
                                  "{ unsigned x = a[0]; while (x < n) { x = x * 3u; if (n > a[2]) a[3] = x;"
                                  " x = x ^ n; } a[1] = x; }\n";
    assert_int_equal(count_stores(more), count_stores(once));
    assert_int_equal(count_stores(between), count_stores(once) + 2); // that of a[3], and of x before the branch
}

// ---- spirv-val sees ------------------------------------------------------------------------------------------------

// The first instruction with that opcode.
static size_t find(const struct slri_spirv *made, uint32_t op)
{
    size_t at = 5;
    while (at < made->words && (made->word[at] & 0xffff) != op)
        at += made->word[at] >> 16;
    assert_true(at < made->words);
    return at;
}

// A function that passes its caller's bytes on before it reads them itself: all three know of the same array.
static void bytes_that_are_passed_on_and_then_read_have_one_type(void **state)
{
    (void)state;
    static const char text[] = "__device__ int f(const char *p, int x) { return x; }\n"
                               "__device__ int g(const char *p, int x) { return f(p, x) + p[x]; }\n"
                               "__global__ void k(int *out) {\n"
                               "  char a[3] = {1, 2, 3}; out[threadIdx.x] = g(a, 1); }\n";
    struct slri_module *module = compile("k.cu", text);
    struct slri_spirv made = written(module, NULL);
    assert_true(made.needs & SLRI_SPIRV_INT8); // so the array is of bytes
    assert_true(!is_there("spirv-val") || is_valid(made.word, made.words));
    slri_spirv_free(&made);
    slri_module_destroy(module);
}

static void a_writer_that_errs_is_caught(void **state)
{
    (void)state;
    if (!is_there("spirv-val"))
        skip();
    struct slri_module *module = compile("k.cu", several);
    struct slri_spirv good = written(module, NULL);
    assert_true(is_valid(good.word, good.words));
    // Which instruction, which of its words, and what is added to it. Word 0: the instruction is left out.
    static const struct {
        uint32_t op, word, add;
    } mutants[] = {{SLRI_W_SelectionMerge, 0, 0}, {SLRI_W_LoopMerge, 0, 0}, {SLRI_W_TypeInt, 0, 0},
                   {SLRI_W_Store, 2, 1},          {SLRI_W_IAdd, 1, 1},      {SLRI_W_ControlBarrier, 3, 1},
                   {SLRI_W_AtomicIAdd, 1, 1},     {SLRI_W_Branch, 1, 1},    {SLRI_W_ConvertUToPtr, 1, 1},
                   {SLRI_W_Return, 0, 0},         {SLRI_W_Variable, 3, 1},  {SLRI_W_MemoryModel, 2, UINT32_MAX}};
    uint32_t *word = malloc(good.words * sizeof *word);
    assert_non_null(word);
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        size_t at = find(&good, mutants[i].op), size = good.word[at] >> 16, words = good.words;
        memcpy(word, good.word, good.words * sizeof *word);
        if (mutants[i].word) {
            word[at + mutants[i].word] += mutants[i].add;
        } else {
            words -= size;
            memmove(word + at, word + at + size, (words - at) * sizeof *word);
        }
        if (is_valid(word, words))
            fail_msg("mutant %zu was valid", i);
    }
    free(word);
    slri_spirv_free(&good);
    slri_module_destroy(module);
}

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(module_path, sizeof module_path, "%s/k.spv", folder);
    snprintf(text_path, sizeof text_path, "%s/k.spvasm", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unlink(module_path);
    unlink(text_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_of_the_tree_and_of_the_suite_is_valid),
        cmocka_unit_test(what_a_small_device_gets_is_valid_too),
        cmocka_unit_test(words_name_nothing_of_64_bits),
        cmocka_unit_test(arguments_lie_where_the_header_says),
        cmocka_unit_test(what_the_device_lacks_is_refused_with_place_and_advice),
        cmocka_unit_test(handlers_are_refused_and_their_kernels_are_not),
        cmocka_unit_test(the_assembly_is_the_same_words),
        cmocka_unit_test(lines_orders_and_controls_are_in_it),
        cmocka_unit_test(what_is_made_of_a_written_zero_is_not_left_to_the_driver),
        cmocka_unit_test(floats_do_not_rely_on_what_vulkan_leaves_open),
        cmocka_unit_test(copies_take_what_the_memory_allows),
        cmocka_unit_test(only_a_kernel_with_a_loop_tells_of_ended_loops),
        cmocka_unit_test(arguments_are_pushed_as_far_as_they_fit),
        cmocka_unit_test(what_is_known_is_not_computed),
        cmocka_unit_test(store_that_another_overwrites_is_left_out),
        cmocka_unit_test(short_branches_are_selects),
        cmocka_unit_test(bytes_that_are_passed_on_and_then_read_have_one_type),
        cmocka_unit_test(a_writer_that_errs_is_caught),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
