// SPDX-License-Identifier: Apache-2.0
// Cubins of two generations of NVRTC, read beside what ptxas -v said when they were made, and damaged ones. They are
// where the fuzzer begins, tests/fuzz/corpus/cubin; both have the kernels `small` and `tight` (--maxrregcount=16).
#include "hal/cuda/cubin.h"
#include "base/file.h"
#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER SLIPRING_SOURCE_DIR "/tests/fuzz/corpus/cubin/"
#define UNKNOWN SLR_RESOURCE_UNKNOWN

static const struct {
    const char *file;
    slr_resources small, tight;
} seen[] = {
    {"nvrtc12_sm75.cubin",
     {0, 0, 75, 12, 0, UNKNOWN, 400, 392, 24, 1, 64, 384},
     {0, 0, 75, 24, 24, UNKNOWN, 0, 380, 12, 1, 0, 1920}},
    {"nvrtc13_sm75.cubin",
     {0, 0, 75, 12, 0, 0, 400, 392, 24, 1, 64, 384},
     {0, 0, 75, 24, 24, 14, 0, 380, 12, 1, 0, 1920}},
    {"nvrtc12_sm90.cubin",
     {0, 0, 90, 11, 0, UNKNOWN, 400, 568, 24, 1, 64, 640},
     {0, 0, 90, 24, 40, UNKNOWN, 0, 556, 12, 1, 0, 3712}},
    {"nvrtc13_sm90.cubin",
     {0, 0, 90, 11, 0, 0, 400, 568, 24, 1, 64, 640},
     {0, 0, 90, 24, 40, 21, 0, 556, 12, 1, 0, 3712}},
    {"nvrtc13_sm120.cubin",
     {0, 0, 120, 11, 0, 0, 400, 936, 24, 1, 64, 640},
     {0, 0, 120, 24, 40, 21, 0, 924, 12, 1, 0, 2944}},
};
enum { FILES = sizeof seen / sizeof *seen };

static char *load(const char *name, size_t *bytes)
{
    char path[400], *data;
    snprintf(path, sizeof path, FOLDER "%s", name);
    assert_int_equal(slri_file_read(path, 1 << 20, &data, bytes), SLR_OK);
    return data;
}

static void same(const char *file, const char *kernel, const char *data, size_t bytes, const slr_resources *expected)
{
    slr_resources r = {0};
    assert_int_equal(slri_cubin_read(data, bytes, kernel, &r), SLR_OK);
    const uint32_t *is = (const uint32_t *)&r, *should = (const uint32_t *)expected;
    for (size_t i = 0; i < sizeof r / sizeof *is; i++)
        if (is[i] != should[i])
            fail_msg("%s, %s: number %zu is %u, not %u", file, kernel, i, is[i], should[i]);
}

static void what_a_kernel_takes_is_read_as_ptxas_said_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        size_t bytes;
        char *data = load(seen[i].file, &bytes);
        same(seen[i].file, "small", data, bytes, &seen[i].small);
        same(seen[i].file, "tight", data, bytes, &seen[i].tight);
        free(data);
    }
}

static void what_is_not_there_is_said(void **state)
{
    (void)state;
    size_t bytes;
    char *data = load("nvrtc13_sm90.cubin", &bytes);
    slr_resources r = {.registers = 7};
    assert_int_equal(slri_cubin_read(data, bytes, "smal", &r), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "no kernel smal"));
    assert_int_equal(slri_cubin_read("fake cubin", 10, "small", &r), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "small has an unknown layout"));
    data[8] = 9; // a layout that is not known yet
    assert_int_equal(slri_cubin_read(data, bytes, "small", &r), SLR_UNSUPPORTED);
    assert_int_equal(r.registers, 7); // nothing is written where it fails
    free(data);
}

// Each length, in memory of that length, so that a sanitizer sees who reads behind it.
static void cut_off_file_is_refused_or_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < FILES; i++) {
        size_t bytes;
        char *data = load(seen[i].file, &bytes);
        for (size_t length = 0; length < bytes; length++) {
            slr_resources r;
            char *part = malloc(length + 1);
            memcpy(part + 1, data, length); // aligned to nothing
            slr_status status = slri_cubin_read(part + 1, length, "tight", &r);
            assert_true(status == SLR_OK || status == SLR_NOT_FOUND || status == SLR_UNSUPPORTED);
            if (status == SLR_OK) // what is at the end of the file are segments, which nobody reads
                assert_int_equal(r.registers, 24);
            free(part);
        }
        free(data);
    }
}

static void changed_byte_is_read_within_the_file(void **state)
{
    (void)state;
    static const unsigned char values[] = {0x00, 0x7f, 0xff};
    size_t bytes;
    char *data = load("nvrtc13_sm90.cubin", &bytes), *copy = malloc(bytes);
    for (size_t at = 0; at < bytes; at++)
        for (size_t i = 0; i < sizeof values; i++) {
            slr_resources r;
            memcpy(copy, data, bytes);
            copy[at] = (char)values[i];
            if (slri_cubin_read(copy, bytes, "tight", &r) != SLR_OK)
                assert_true(slr_error_message()[0] != '\0');
        }
    free(copy);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_kernel_takes_is_read_as_ptxas_said_it),
        cmocka_unit_test(what_is_not_there_is_said),
        cmocka_unit_test(cut_off_file_is_refused_or_the_same),
        cmocka_unit_test(changed_byte_is_read_within_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
