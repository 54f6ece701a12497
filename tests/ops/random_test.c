// SPDX-License-Identifier: Apache-2.0
// Random cases of all operations, forward and backward, of each type, beside references in double. Without arguments a
// few of each; `--thorough [CASES [DEVICE]]` does so many on the device (5,000, cpu).
#include "tests/ops/random.h"

#include <string.h>

static void check_cases(const char *spec, uint32_t cases, bool tells)
{
    struct random_ops r;
    open_random(spec, &r);
    for (uint32_t i = 0; i < cases; ++i) {
        if (tells && i % 500 < RANDOM_MODES)
            print_message("%s: case %u of %u, %s\n", spec, i, cases, random_kinds[random_kind_of(i)].name);
        check_random(&r, i);
    }
    close_random(&r);
}

static uint32_t thorough_cases; // 0: a few
static const char *thorough_device = "cpu";

static void random_cases_of_all_operations_are_those_of_double(void **state)
{
    (void)state;
    if (thorough_cases != 0) {
        check_cases(thorough_device, thorough_cases, true);
        return;
    }
    EACH_HERE(i, specs)
    check_cases(specs[i], RANDOM_MODES * RANDOM_KINDS * 3, false);
}

int main(int count, char **argument)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_cases_of_all_operations_are_those_of_double)};
    if (count > 1 && strcmp(argument[1], "--thorough") == 0) {
        thorough_cases = count > 2 ? (uint32_t)strtoul(argument[2], NULL, 10) : 5000;
        thorough_device = count > 3 ? argument[3] : "cpu";
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
