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
          "await 'grep -q recording out'; kill -INT $!; wait $!; echo $?; "
          "cat err; grep -c OTHER out",
          1, "130\n0\n"); // 1 is grep's
}

static void beats_are_learned_and_the_page_says_what_json_says(void **state)
{
    (void)state;
    gives("\"$S\" demo beats --device cpu?threads=1 --epochs 1 --report page.html --json >out.json && "
          "grep -o '\"name\": \"[a-z0-9_]*\"' out.json; grep -c '{{data}}' page.html; "
          "grep -o 'f16_faint_unscaled' page.html | head -1",
          0,
          "\"name\": \"f32\"\n\"name\": \"f16\"\n\"name\": \"bf16\"\n\"name\": \"f16_faint_scaled\"\n"
          "\"name\": \"f16_faint_unscaled\"\n0\nf16_faint_unscaled\n");
    gives("\"$S\" demo beats --epochs 201 2>&1 | head -1; \"$S\" demo hearts 2>&1 | head -1", 0,
          "slipring demo: --epochs: '201' is not a number from 1 to 200\n"
          "slipring demo: no demo 'hearts'; there are: ward, beats\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_in_the_first_part_ends_it_early),
        cmocka_unit_test(beats_are_learned_and_the_page_says_what_json_says),
    };
    return cmocka_run_group_tests(tests, set_up, shell_end);
}
