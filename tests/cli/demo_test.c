// SPDX-License-Identifier: Apache-2.0
// `slipring demo ward` as the built program; its parts are tested beside it.
#include "tests/cli/shell.h"

static int set_up(void **state)
{
    (void)state;
    return shell_begin();
}

// The head is printed before the first part begins, whose first second sends nothing to the ring kernel.
static void a_signal_in_the_first_part_ends_it_early(void **state)
{
    (void)state;
    gives("\"$S\" demo ward --patients 10 --seconds 3 >out 2>err & "
          "for i in $(seq 2000); do grep -q recording out && break; sleep 0.01; done; kill -INT $!; wait $!; echo $?; "
          "cat err; grep -c OTHER out",
          1, "130\n0\n"); // 1 is grep's
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_in_the_first_part_ends_it_early),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
