// SPDX-License-Identifier: Apache-2.0
// What `slipring bench` measures beside on CUDA, CUDA C++ by hand, through NVRTC: it compiles for each capability.
// Where NVRTC is not found the test is skipped, and CTest says so.
#include "tests/kernel/nvrtc.h"

#include "base/text.h"
#include "emit/cuda/emit_cuda.h"
#include "ir/ir.h"
#include "lang/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const unsigned capabilities[] = {75, 80, 86, 89, 90, 100, 120};
enum { CAPABILITIES = sizeof capabilities / sizeof *capabilities, MOST_BYTES = 65536 };
static struct nvrtc nvrtc;

static void read_all(const char *path, char *out)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    out[fread(out, 1, MOST_BYTES - 1, file)] = '\0';
    fclose(file);
}

static void compile_all(const char *pattern, unsigned least, bool for_each)
{
    static char text[MOST_BYTES];
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= least);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        read_all(found.gl_pathv[i], text);
        for (size_t k = 0; k < (for_each ? CAPABILITIES : 1); k++) {
            unsigned capability = capabilities[(i + k) % CAPABILITIES];
            char *said = nvrtc_complaint(&nvrtc, text, capability, NULL);
            if (said && !strstr(said, "invalid value for --gpu-architecture")) // a later NVRTC knows it
                fail_msg("%s for sm_%u: %.2000s", found.gl_pathv[i], capability, said);
            free(said);
        }
    }
    globfree(&found);
}

static void floors_by_hand_compile_for_every_capability(void **state)
{
    (void)state;
    compile_all(SLIPRING_SOURCE_DIR "/bench/kernels/cuda/*.cu", 6, true);
}

static void example_kernels_are_cuda_as_they_are(void **state)
{
    (void)state;
    compile_all(SLIPRING_SOURCE_DIR "/examples/kernels/*.cu", 15, false); // each for one of them in turn
}

// What NVRTC makes of a text as slipring emits it, to free().
static char *ptx_of(const char *path)
{
    static const char *const options[] = {"--gpu-architecture=compute_90", "--fmad=false", "--std=c++17"};
    struct slri_source source = {.path = path};
    struct slri_module *module = NULL;
    struct slri_text text = SLRI_TEXT_INIT;
    nvrtc_program *program;
    size_t bytes = 0;
    assert_int_equal(slri_kernel_compile(&source, &module), SLR_OK);
    assert_int_equal(slri_emit_cuda(module, NULL, &text), SLR_OK);
    assert_int_equal(nvrtc.create(&program, slri_text_view(&text), "hand.cu", 0, NULL, NULL), 0);
    assert_int_equal(nvrtc.compile(program, 3, options), 0);
    assert_int_equal(nvrtc.ptx_size(program, &bytes), 0);
    char *ptx = malloc(bytes);
    assert_int_equal(nvrtc.ptx(program, ptx), 0);
    nvrtc.destroy(&program);
    slri_text_free(&text);
    slri_module_destroy(module);
    return ptx;
}

static void vectors_by_hand_are_moved_whole(void **state)
{
    (void)state;
    char *saxpy = ptx_of(SLIPRING_SOURCE_DIR "/bench/kernels/cuda/saxpy.cu");
    char *matmul = ptx_of(SLIPRING_SOURCE_DIR "/bench/kernels/cuda/matmul.cu");
    assert_non_null(strstr(saxpy, "ld.global.v4"));
    assert_non_null(strstr(saxpy, "st.global.v4"));
    assert_non_null(strstr(matmul, "ld.shared.v4"));
    assert_non_null(strstr(matmul, "st.global.v4"));
    assert_null(strstr(saxpy, ".global.u8"));
    assert_null(strstr(matmul, ".global.u8"));
    free(saxpy);
    free(matmul);
}

// Else each goes by way of a generic address, and gives a result that nobody wants.
static void relaxed_atomics_know_where_they_are(void **state)
{
    (void)state;
    char *histogram = ptx_of(SLIPRING_SOURCE_DIR "/examples/kernels/histogram.cu");
    assert_non_null(strstr(histogram, "atom.shared.add"));
    assert_non_null(strstr(histogram, "atom.global.add"));
    free(histogram);
}

int main(void)
{
    if (!nvrtc_is_here(&nvrtc))
        return NVRTC_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floors_by_hand_compile_for_every_capability),
        cmocka_unit_test(example_kernels_are_cuda_as_they_are),
        cmocka_unit_test(vectors_by_hand_are_moved_whole),
        cmocka_unit_test(relaxed_atomics_know_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
