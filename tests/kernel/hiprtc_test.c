// SPDX-License-Identifier: Apache-2.0
// Emitted text through HIPRTC, which needs no GPU: kernels, handlers, and what runs handlers in batches. Where HIPRTC
// is not found the test is skipped, and CTest says so.
#include "base/file.h"
#include "emit/cuda/emit_cuda.h"
#include "emit/cuda/math_kernel_test.h"
#include "ir/pass/handler_kernel.h"
#include "hal/cuda/vendor.h"
#include "hal/cuda/waves.h"
#include "lang/kernel.h"

#include <glob.h>
#include <slipring/occupancy.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SKIPPED 77
#define ONE_OF 4       // files is compiled, unless all are asked for;
#define ONE_CASE_OF 24 // and of the cases of the conformance suite

static const char *const wanted[] = {"gfx90a", "gfx1030", "gfx1100"}; // waves of 64, of 32, of 32
static const char *target[3];
static uint32_t targets, turn;
static bool all; // every file for every target; else some files, each for one of them in turn
static const struct slri_nvrtc *hiprtc;

// HIPRTC 5.2 ends the process on a target that it does not know: so another one asks. hiprtc_clang.c, as the library
// that SLIPRING_HIPRTC_LIB names, knows all three.
static bool is_known(const char *architecture)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const struct slri_nvrtc *nvrtc;
        char *code;
        size_t bytes;
        close(STDERR_FILENO);
        _exit(slri_vendor_hip.load_compiler(&nvrtc) == SLR_OK &&
                      slri_nvrtc_compile(nvrtc, "k", "extern \"C\" __global__ void k(int *p) { *p = 1; }\n",
                                         nvrtc->options, architecture, &code, &bytes) == SLR_OK
                  ? 0
                  : 1);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// NULL: slipring refuses it.
static struct slri_module *read_module(const char *path, const char *text)
{
    static const char *const folders[] = {SLIPRING_SOURCE_DIR "/src", SLIPRING_SOURCE_DIR "/include"};
    struct slri_source source = {.path = path, .text = text, .include = folders, .includes = 2};
    struct slri_module *module = NULL;
    return slri_kernel_compile(&source, &module) == SLR_OK ? module : NULL;
}

// ---- what the code says of its kernels ------------------------------------------------------------------------------
//
// The compiler's metadata beside what slipring reads in the descriptors. A kernel's record is a map whose keys are in
// the order of the alphabet.

static const unsigned char *find_in(const unsigned char *from, const unsigned char *end, const char *text,
                                    size_t length)
{
    for (; from + length <= end; ++from)
        if (memcmp(from, text, length) == 0)
            return from;
    return NULL;
}

static uint32_t number_at(const unsigned char *at)
{
    return *at < 0x80    ? *at
           : *at == 0xcc ? at[1]
           : *at == 0xcd ? (uint32_t)at[1] << 8 | at[2]
                         : (uint32_t)at[1] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 8 | at[4];
}

// The last one before `limit`, or the first one behind `from`.
static uint32_t number_before(const unsigned char *from, const unsigned char *limit, const char *key)
{
    const unsigned char *last = NULL, *at = from;
    const size_t length = strlen(key);
    while ((at = find_in(at, limit, key, length)) != NULL)
        last = at++;
    assert_non_null(last);
    return number_at(last + length);
}

static uint32_t number_behind(const unsigned char *from, const unsigned char *limit, const char *key)
{
    const unsigned char *at = find_in(from, limit, key, strlen(key));
    assert_non_null(at);
    return number_at(at + strlen(key));
}

static uint32_t checked, compiled, refused;

static uint32_t up(uint32_t value, uint32_t to)
{
    return value == 0 ? to : (value + to - 1) / to * to;
}

static void check_takes(const char *architecture, const char *code, size_t bytes, const char *kernel)
{
    const unsigned char *from = (const unsigned char *)code, *end = from + bytes;
    const bool is_90a = strcmp(architecture, "gfx90a") == 0;
    const uint32_t granule = is_90a ? 8 : strcmp(architecture, "gfx1100") == 0 ? 24 : 16;
    struct slri_wave_takes takes;
    char symbol[300];
    const size_t length = strlen(kernel) + 3;
    assert_int_equal(slri_waves_read(architecture, code, bytes, kernel, &takes), SLR_OK);
    snprintf(symbol, sizeof symbol, "\247.symbol%s%c%s.kd", length < 32 ? "" : "\331",
             (char)(length < 32 ? 0xa0 + length : length), kernel);
    const unsigned char *record = find_in(from, end, symbol, strlen(symbol));
    assert_non_null(record);
    assert_int_equal(takes.lanes, number_behind(record, end, ".wavefront_size"));
    assert_int_equal(takes.lanes, is_90a ? 64 : 32);
    assert_int_equal(takes.vectors, up(number_behind(record, end, ".vgpr_count"), granule));
    assert_int_equal(takes.scalars, is_90a ? up(number_before(from, record, ".sgpr_count"), 16) : 0);
    assert_int_equal(takes.shared_bytes, number_before(from, record, ".group_segment_fixed_size"));
    assert_int_equal(takes.private_bytes, number_before(from, record, ".private_segment_fixed_size"));
    ++checked;
}

static void check_kernels(const char *architecture, const char *code, size_t bytes, const struct slri_module *module)
{
    for (uint32_t i = 0; module && i < module->entries; i++)
        if (module->entry[i].kind == SLRI_ENTRY_KERNEL)
            check_takes(architecture, code, bytes, module->entry[i].name);
}

// ---- compiling -----------------------------------------------------------------------------------------------------

// `module`: whose kernels are in it, or NULL. Of the next targets. Frees the text.
static uint32_t failures(const char *name, const struct slri_module *module, slr_status status, slri_text *text,
                         uint32_t most)
{
    uint32_t count = 0;
    if (status == SLR_UNSUPPORTED && strstr(slr_error_message(), "tensor cores")) {
        most = 0;
        ++refused;
    } else {
        assert_int_equal(status, SLR_OK);
    }
    for (uint32_t i = 0; i < most; i++) {
        char *code = NULL;
        size_t bytes = 0;
        const char *architecture = target[turn++ % targets];
        if (slri_nvrtc_compile(hiprtc, name, slri_text_view(text), hiprtc->options, architecture, &code, &bytes) !=
            SLR_OK) {
            print_error("%s for %s: %.2000s\n", name, architecture, slr_error_message());
            ++count;
        } else {
            assert_memory_equal(code, "\177ELF", 4);
            check_kernels(architecture, code, bytes, module);
            ++compiled;
        }
        free(code);
    }
    slri_text_free(text);
    return count;
}

static uint32_t failures_of_batch(const char *path, const struct slri_module *module, const struct slri_entry *entry,
                                  uint32_t most)
{
    slri_text text = SLRI_TEXT_INIT;
    struct slri_module *made = NULL;
    assert_int_equal(slri_handler_kernel(module, entry, &made), SLR_OK);
    uint32_t count = failures(path, made, slri_emit_hip(made, made->entry, &text), &text, most);
    slri_module_destroy(made);
    return count;
}

static uint32_t failures_of_module(const char *path, struct slri_module *module)
{
    const uint32_t most = all ? targets : 1;
    slri_text text = SLRI_TEXT_INIT;
    uint32_t count = failures(path, module, slri_emit_hip(module, NULL, &text), &text, most);
    for (uint32_t i = 0; i < module->entries; i++)
        if (module->entry[i].kind != SLRI_ENTRY_KERNEL)
            count += failures_of_batch(path, module, &module->entry[i], most);
    slri_module_destroy(module);
    return count;
}

static uint32_t failures_of_file(const char *path, const char *content)
{
    struct slri_module *module = read_module(path, content);
    if (!module)
        print_error("%s\n", slr_error_message());
    assert_non_null(module);
    return failures_of_module(path, module);
}

static uint32_t failures_of_files(const char *pattern, uint32_t one_of)
{
    glob_t found;
    uint32_t count = 0;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i += all ? 1 : one_of)
        count += failures_of_file(found.gl_pathv[i], NULL);
    globfree(&found);
    return count;
}

static void what_is_emitted_compiles_for_amds_gpus(void **state)
{
    (void)state;
    uint32_t count = failures_of_files(SLIPRING_SOURCE_DIR "/examples/*/*.cu", ONE_OF);
    count += failures_of_files(SLIPRING_SOURCE_DIR "/tests/*/*.cu", ONE_OF);
    assert_int_equal(count, 0);
    assert_int_equal(refused, 0);
}

// ---- the conformance suite: each case is a section of a file, behind a line that begins with "//: "
// ------------------

static uint32_t case_number, cases;

// NULL: the last one.
static char *failures_of_case(char *at, const char *path, uint32_t *count)
{
    char *text = strchr(at, '\n'), *next = text ? strstr(text, "\n//: ") : NULL;
    assert_non_null(text);
    if (next)
        *next = '\0';
    struct slri_module *module = read_module(path, text); // some are about what slipring refuses
    const bool is_matrix = module && module->entries > 0 && strstr(path, "/matrix.cu");
    cases += module != NULL;
    if (module && (all || is_matrix || case_number++ % ONE_CASE_OF == 0)) {
        const uint32_t before = refused;
        *count += failures_of_module(path, module);
        assert_int_equal(refused - before, is_matrix); // those, and nothing else
    } else {
        slri_module_destroy(module);
    }
    return next ? next + 1 : NULL;
}

static void the_conformance_suite_compiles_for_amds_gpus(void **state)
{
    glob_t found;
    uint32_t count = 0;
    (void)state;
    assert_int_equal(glob(SLIPRING_SOURCE_DIR "/tests/cts/kernels/*.cu", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *content = NULL;
        assert_int_equal(slri_file_read(found.gl_pathv[i], 1 << 20, &content, NULL), SLR_OK);
        for (char *at = strstr(content, "\n//: "); at;)
            at = failures_of_case(at + (*at == '\n'), found.gl_pathv[i], &count);
        free(content);
    }
    globfree(&found);
    assert_true(checked > 10);
    assert_true(cases > 250);
    assert_int_equal(count, 0);
}

static void every_math_function_is_hips(void **state)
{
    (void)state;
    struct slri_text text = SLRI_TEXT_INIT;
    put_math_kernel(&text);
    assert_int_equal(failures_of_file("math.cu", slri_text_view(&text)), 0);
    slri_text_free(&text);
}

static void handlers_of_blocks_compile_as_batches(void **state)
{
    static const char text[] = "struct message { unsigned value; };\n"
                               "__ring_block__ __launch_bounds__(128) void few(const struct message *in)\n"
                               "{\n"
                               "    __shared__ unsigned all[128];\n"
                               "    all[threadIdx.x] = in->value;\n"
                               "    __syncthreads();\n"
                               "    struct message out = {all[(threadIdx.x + 1) & 127]};\n"
                               "    if (__syncthreads_and(out.value != 0) && threadIdx.x == 7) ring_reply(&out);\n"
                               "}\n";
    (void)state;
    assert_int_equal(failures_of_file("blocks.cu", text), 0);
}

static void blocks_on_a_unit_are_counted_by_granules(void **state)
{
    static const struct {
        const char *architecture;
        struct slri_wave_takes takes;
        uint32_t threads, dynamic, blocks, limits;
    } rows[] = {
        {"gfx90a:xnack-", {64, 64, 32, 0, 0}, 256, 0, 8, SLR_LIMITED_BY_WARPS | SLR_LIMITED_BY_REGISTERS},
        {"gfx90a", {64, 128, 32, 0, 0}, 256, 0, 4, SLR_LIMITED_BY_REGISTERS},
        {"gfx90a", {64, 8, 112, 0, 0}, 1024, 0, 1, SLR_LIMITED_BY_REGISTERS}, // the scalars': 7 waves, and not 8
        {"gfx90a", {64, 8, 16, 19969, 0}, 64, 0, 3, SLR_LIMITED_BY_SHARED},   // 20,480 of 65,536
        {"gfx90a", {64, 8, 16, 0, 0}, 64, 32768, 2, SLR_LIMITED_BY_SHARED},
        {"gfx906",
         {64, 24, 16, 0, 0},
         64,
         0,
         40,
         SLR_LIMITED_BY_WARPS | SLR_LIMITED_BY_REGISTERS | SLR_LIMITED_BY_BLOCKS},
        {"gfx1030", {32, 64, 0, 0, 0}, 256, 0, 8, SLR_LIMITED_BY_WARPS | SLR_LIMITED_BY_REGISTERS},
        {"gfx1030", {32, 80, 0, 0, 0}, 256, 0, 6, SLR_LIMITED_BY_REGISTERS},
        {"gfx1030", {64, 80, 0, 0, 0}, 256, 0, 6, SLR_LIMITED_BY_REGISTERS},
        {"gfx1100", {32, 144, 0, 0, 0}, 32, 0, 40, SLR_LIMITED_BY_REGISTERS},
    };
    struct slri_wave_fits fits;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(
            slri_waves_count(rows[i].architecture, &rows[i].takes, rows[i].threads, rows[i].dynamic, &fits), SLR_OK);
        if (fits.blocks != rows[i].blocks || fits.limits != rows[i].limits)
            fail_msg("row %zu: %u blocks by %u, not %u by %u", i, fits.blocks, fits.limits, rows[i].blocks,
                     rows[i].limits);
    }
    assert_int_equal(slri_waves_count("gfx1250", &rows[0].takes, 64, 0, &fits), SLR_UNSUPPORTED);
}

static void code_that_is_none_or_damaged_is_refused(void **state)
{
    static const char text[] = "extern \"C\" __global__ void k(int *p) { *p = 1; }\n";
    struct slri_wave_takes takes;
    char *code = NULL;
    size_t bytes = 0;
    (void)state;
    assert_int_equal(slri_nvrtc_compile(hiprtc, "k", text, hiprtc->options, "gfx90a", &code, &bytes), SLR_OK);
    assert_int_equal(slri_waves_read("gfx90a", code, bytes, "k", &takes), SLR_OK);
    assert_int_equal(slri_waves_read("gfx90a", code, bytes, "k2", &takes), SLR_NOT_FOUND);
    assert_int_equal(slri_waves_read("sm_90", code, bytes, "k", &takes), SLR_UNSUPPORTED);
    for (size_t length = 0; length < bytes; length++) { // its sections are listed at its end
        char *part = malloc(length ? length : 1);
        memcpy(part, code, length);
        assert_int_not_equal(slri_waves_read("gfx90a", part, length, "k", &takes), SLR_OK);
        free(part);
    }
    for (size_t at = 0; at < bytes; at++) { // whatever it says, nothing beyond it is read
        code[at] ^= (char)0xff;
        (void)slri_waves_read("gfx90a", code, bytes, "k", &takes);
        code[at] ^= (char)0xff;
    }
    free(code);
}

// The twin of all of them.
static void text_without_the_words_for_hip_is_refused(void **state)
{
    (void)state;
    struct slri_module *module =
        read_module("users.cu", "__global__ void k(unsigned *p)\n{\n    p[0] = __shfl_sync(~0u, p[1], 3);\n}\n");
    slri_text text = SLRI_TEXT_INIT;
    char *code = NULL;
    size_t bytes = 0;
    assert_int_equal(slri_emit_cuda(module, NULL, &text), SLR_OK);
    assert_int_equal(slri_nvrtc_compile(hiprtc, "k", slri_text_view(&text), hiprtc->options, target[0], &code, &bytes),
                     SLR_COMPILE);
    assert_non_null(strstr(slr_error_message(), "HIPRTC"));
    assert_non_null(strstr(slr_error_message(), "error:"));
    slri_text_free(&text);
    slri_module_destroy(module);
}

// With `all`: every file for every target, or for the one that is named behind.
int main(int argc, char **argv)
{
    all = argc >= 2 && strcmp(argv[1], "all") == 0;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    puts("skipped: HIPRTC does not run under sanitizers");
    return SKIPPED;
#endif
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (argc == 3 && strcmp(argv[2], wanted[i]) != 0)
            continue;
        else if (is_known(wanted[i]))
            target[targets++] = wanted[i];
        else
            printf("HIPRTC does not compile for %s\n", wanted[i]);
    if (targets == 0 || slri_vendor_hip.load_compiler(&hiprtc) != SLR_OK) {
        puts("skipped: no HIPRTC here (SLIPRING_HIPRTC_LIB says where it is)");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_emitted_compiles_for_amds_gpus),
        cmocka_unit_test(the_conformance_suite_compiles_for_amds_gpus),
        cmocka_unit_test(every_math_function_is_hips),
        cmocka_unit_test(handlers_of_blocks_compile_as_batches),
        cmocka_unit_test(blocks_on_a_unit_are_counted_by_granules),
        cmocka_unit_test(code_that_is_none_or_damaged_is_refused),
        cmocka_unit_test(text_without_the_words_for_hip_is_refused),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    printf("HIPRTC compiled %u texts; %u kernels are as their metadata says\n", compiled, checked);
    return failed;
}
