// SPDX-License-Identifier: Apache-2.0
// What `slipring bench` measures beside on CUDA, CUDA C++ by hand, through NVRTC: it compiles for each capability.
// Where NVRTC is not found the test is skipped, and CTest says so.
#include "tests/kernel/nvrtc.h"

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

int main(void)
{
    if (!nvrtc_is_here(&nvrtc))
        return NVRTC_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floors_by_hand_compile_for_every_capability),
        cmocka_unit_test(example_kernels_are_cuda_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
