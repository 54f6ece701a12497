// SPDX-License-Identifier: Apache-2.0
// The CPU's identity.
#include "base/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static void identity_is_a_model_and_a_hash_and_does_not_change(void **state)
{
    (void)state;
    char one[SLRI_CPU_IDENTITY_BYTES], other[SLRI_CPU_IDENTITY_BYTES];
    slri_cpu_identity(one);
    slri_cpu_identity(other);
    assert_string_equal(one, other);
    const char *hash = strrchr(one, '#');
    assert_non_null(hash);
    assert_int_equal(strspn(hash + 1, "0123456789abcdef"), 32);
    assert_int_equal(strlen(hash + 1), 32);
    // The hash of nothing would mean that no line of flags was read.
    assert_string_not_equal(hash + 1, "a3817f04ba25a8e66df67214c7550293");
    assert_true(hash - one > 1 && hash[-1] == ' ');
}

static void memory_that_is_available_is_some_of_the_machines(void **state)
{
    (void)state;
    uint64_t available = slri_cpu_memory_available();
    assert_true(available > 0);
    assert_true(available == UINT64_MAX || available <= slri_cpu_memory_bytes());
}

static void vectors_and_caches_are_the_machines(void **state)
{
    (void)state;
    uint32_t lanes = slri_cpu_lanes();
    assert_true(lanes == 1 || lanes == 4 || lanes == 8 || lanes == 16);
    uint64_t first = slri_cpu_cache_bytes(1), second = slri_cpu_cache_bytes(2);
    assert_true(first % 1024 == 0 && second % 1024 == 0);
    assert_true(first == 0 || second == 0 || first < second);
    assert_int_equal(slri_cpu_cache_bytes(9), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_and_caches_are_the_machines),
        cmocka_unit_test(identity_is_a_model_and_a_hash_and_does_not_change),
        cmocka_unit_test(memory_that_is_available_is_some_of_the_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
