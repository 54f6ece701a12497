// SPDX-License-Identifier: Apache-2.0
// Emitted CUDA C through NVRTC, which needs no GPU. Where NVRTC is not found the test is skipped, and CTest says so.
#include "tests/kernel/nvrtc.h"
#include "base/status.h"
#include "emit/cuda/emit_cuda.h"
#include "lang/compile_file_test.h"
#include "emit/cuda/math_kernel_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const unsigned capabilities[] = {75, 80, 90, 120};
enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities };
static struct nvrtc nvrtc;
static bool all; // every file for every one; else each for one of them in turn
static uint32_t turn;

static uint32_t complaints(const char *path, const char *text)
{
    struct slri_module *module = compile(path, text);
    struct slri_text emitted = SLRI_TEXT_INIT;
    uint32_t count = 0;
    assert_int_equal(slri_emit_cuda(module, NULL, &emitted), SLR_OK);
    turn++;
    for (uint32_t i = 0; i < (all ? CAPABILITIES : 1) && count == 0; i++) {
        unsigned capability = capabilities[(turn + i) % CAPABILITIES];
        char *said = nvrtc_complaint(&nvrtc, slri_text_view(&emitted), capability, NULL);
        const char *error = said ? strstr(said, "error") : NULL;
        if (said)
            print_error("%s for sm_%u: %.2000s\n", path, capability, error ? error : said);
        count += said != NULL;
        free(said);
    }
    slri_text_free(&emitted);
    slri_module_destroy(module);
    return count;
}

static uint32_t complaints_of_files(const char *pattern)
{
    glob_t found;
    uint32_t count = 0;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        count += complaints(found.gl_pathv[i], NULL);
    globfree(&found);
    return count;
}

static void what_is_emitted_compiles_for_every_architecture(void **state)
{
    (void)state;
    uint32_t count = complaints_of_files(SLIPRING_SOURCE_DIR "/examples/*/*.cu");
    count += complaints_of_files(SLIPRING_SOURCE_DIR "/tests/*/*.cu");
    assert_int_equal(count, 0);
}

static void every_math_function_is_cudas(void **state)
{
    (void)state;
    struct slri_text text = SLRI_TEXT_INIT;
    put_math_kernel(&text);
    assert_int_equal(complaints("math.cu", slri_text_view(&text)), 0);
    slri_text_free(&text);
}

// Emitted text is right C++, so that only a word that NVRTC has not can show where its messages point.
static void messages_point_at_the_users_line(void **state)
{
    (void)state;
    struct slri_module *module = compile("users.cu", "\n\n__global__ void k(float *p)\n{\n    p[0] = expf(p[1]);\n}\n");
    struct slri_text emitted = SLRI_TEXT_INIT;
    assert_int_equal(slri_emit_cuda(module, NULL, &emitted), SLR_OK);
    static const char *const without[] = {"--define-macro=expf=unknown_word", NULL};
    char *said = nvrtc_complaint(&nvrtc, slri_text_view(&emitted), 90, without);
    assert_non_null(said);
    assert_non_null(strstr(said, "users.cu(5): error"));
    free(said);
    slri_text_free(&emitted);
    slri_module_destroy(module);
}

// With `all`: every file for every architecture.
int main(int argc, char **argv)
{
    all = argc == 2 && strcmp(argv[1], "all") == 0;
    if (!nvrtc_is_here(&nvrtc))
        return NVRTC_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_emitted_compiles_for_every_architecture),
        cmocka_unit_test(every_math_function_is_cudas),
        cmocka_unit_test(messages_point_at_the_users_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
