// SPDX-License-Identifier: Apache-2.0
// The contest, over made-up samples.
#include "tune/contest.h"

#include "base/status.h"
#include "tune/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct field {
    double cost[SLRI_CONTENDERS], noise; // a sample is up to that part above its cost
    double drift;                        // and all of them by that part more each round
    double every_other;                  // and every second of all samples by that part
    uint64_t size[SLRI_CONTENDERS], random;
    uint32_t samples, over_after; // of all; 0: never over
    uint32_t repeats;             // 0: 5
};

static slr_status take(void *user, uint32_t contender, double *cost)
{
    struct field *field = user;
    double part = (double)slri_tune_pick(&field->random, 1001) / 1000;
    *cost = field->cost[contender] * (1 + field->noise * part) * (1 + field->drift * ++field->samples);
    *cost *= field->samples % 2 ? 1 + field->every_other : 1;
    return SLR_OK;
}

static uint64_t size_of(void *user, uint32_t contender)
{
    return ((const struct field *)user)->size[contender];
}

static bool is_over(void *user)
{
    const struct field *field = user;
    return field->over_after && field->samples >= field->over_after;
}

static struct slri_contest hold(struct field *field, uint32_t contenders)
{
    const struct slri_contest_desc desc = {.contenders = contenders,
                                           .repeats = field->repeats ? field->repeats : 5,
                                           .most = 40,
                                           .quantile = 0.5,
                                           .seed = 1,
                                           .user = field,
                                           .sample = take,
                                           .size = size_of,
                                           .is_over = is_over};
    struct slri_contest out;
    assert_int_equal(slri_contest_run(&desc, &out), SLR_OK);
    return out;
}

static void the_least_cost_wins(void **state)
{
    (void)state;
    struct field field = {.cost = {10, 8, 9}, .size = {128, 256, 512}};
    struct slri_contest out = hold(&field, 3);
    assert_int_equal(out.winner, 1);
    assert_true(out.speedup == 1.25 && out.low == 1.25 && out.high == 1.25);
    assert_true(out.cost[0] == 10 && out.cost[1] == 8);
}

static void of_two_that_cost_the_same_the_smaller_one_wins(void **state)
{
    (void)state;
    struct field field = {.cost = {10, 8, 8}, .size = {128, 512, 256}};
    assert_int_equal(hold(&field, 3).winner, 2);
    field = (struct field){.cost = {10, 8, 8}, .size = {128, 256, 512}};
    assert_int_equal(hold(&field, 3).winner, 1);
}

static void what_is_not_faster_beyond_doubt_does_not_win(void **state)
{
    (void)state;
    struct field equal = {.cost = {10, 10}}, slower = {.cost = {10, 11}}, alone = {.cost = {10}};
    assert_int_equal(hold(&equal, 2).winner, 0);
    assert_int_equal(hold(&slower, 2).winner, 0);
    assert_true(hold(&slower, 2).speedup < 1);
    assert_int_equal(hold(&alone, 1).winner, 0);
    uint32_t wins = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct field noisy = {.cost = {10, 10}, .noise = 1, .random = seed * 77};
        wins += hold(&noisy, 2).winner;
    }
    assert_true(wins <= 15); // 2.5 % are to be expected
}

// The one of seven that was the fastest by chance is not measured by that chance.
static void the_luckiest_of_eight_equal_ones_does_not_win(void **state)
{
    (void)state;
    uint32_t wins = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct field noisy = {.cost = {10, 10, 10, 10, 10, 10, 10, 10}, .noise = 1, .random = seed * 77};
        wins += hold(&noisy, 8).winner != 0;
    }
    assert_true(wins <= 20); // 2.5 %, 10, are to be expected
}

static void a_real_difference_is_found_in_noise(void **state)
{
    (void)state;
    uint32_t wins = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct field noisy = {.cost = {10, 7, 9, 12, 13, 11, 15, 14}, .noise = 0.5, .random = seed * 77};
        wins += hold(&noisy, 8).winner == 1;
    }
    assert_true(wins >= 45);
}

static void a_machine_that_slows_down_does_not_decide(void **state)
{
    (void)state;
    struct field field = {.cost = {10, 9}, .drift = 0.2}; // tenfold at the end
    assert_int_equal(hold(&field, 2).winner, 1);
    field = (struct field){.cost = {9, 10}, .drift = 0.2};
    assert_int_equal(hold(&field, 2).winner, 0);
}

// Contender 0 is the default, so that the slow samples of a fixed order would make a contender of the same cost win.
static void a_machine_whose_every_other_launch_is_slow_does_not_decide(void **state)
{
    (void)state;
    for (uint32_t contenders = 2; contenders <= 8; contenders++) {
        struct field field = {.cost = {10, 10, 10, 10, 10, 10, 10, 10}, .every_other = 0.5};
        assert_int_equal(hold(&field, contenders).winner, 0);
    }
}

static void time_that_is_over_ends_it_behind_a_round(void **state)
{
    (void)state;
    struct field field = {.cost = {10, 8}, .over_after = 1};
    assert_int_equal(hold(&field, 2).winner, 1);
    assert_int_equal(field.samples, 10); // five of each
}

static void too_few_samples_prove_nothing(void **state)
{
    (void)state;
    for (uint32_t repeats = 1; repeats <= 5; repeats++) {
        struct field field = {.cost = {10, 8}, .over_after = 1, .repeats = repeats};
        struct slri_contest out = hold(&field, 2);
        assert_int_equal(out.winner, repeats == 5);
        assert_int_equal(out.best, 1);
        assert_true(out.speedup == 1.25);
        for (uint64_t seed = 0; seed < 100 && repeats < 5; seed++) {
            struct field noisy = {.cost = {10, 10, 10, 10, 10, 10, 10, 10}, .noise = 1, .random = seed * 77};
            noisy.over_after = 1;
            noisy.repeats = repeats;
            assert_int_equal(hold(&noisy, 8).winner, 0);
        }
    }
    struct field patient = {.cost = {10, 8}, .over_after = 9, .repeats = 1}; // five of each
    assert_int_equal(hold(&patient, 2).winner, 1);
}

static void a_cost_of_nothing_is_refused(void **state)
{
    (void)state;
    struct field field = {.cost = {10, 0}};
    const struct slri_contest_desc desc = {.contenders = 2,
                                           .repeats = 5,
                                           .most = 25,
                                           .quantile = 0.5,
                                           .user = &field,
                                           .sample = take,
                                           .size = size_of,
                                           .is_over = is_over};
    struct slri_contest out;
    assert_int_equal(slri_contest_run(&desc, &out), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "a cost of 0"));
}

static void a_tail_is_compared_as_a_tail(void **state)
{
    (void)state;
    double value[] = {1, 2, 3, 4, 5};
    assert_true(slri_quantile_of(value, 5, 0.5) == 3);
    assert_true(slri_quantile_of(value, 5, 1) == 5);
    double other[] = {4, 1, 3, 2};
    assert_true(slri_quantile_of(other, 4, 0.5) == 2.5);
    double one[] = {7};
    assert_true(slri_quantile_of(one, 1, 0.99) == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_cost_wins),
        cmocka_unit_test(of_two_that_cost_the_same_the_smaller_one_wins),
        cmocka_unit_test(what_is_not_faster_beyond_doubt_does_not_win),
        cmocka_unit_test(the_luckiest_of_eight_equal_ones_does_not_win),
        cmocka_unit_test(a_real_difference_is_found_in_noise),
        cmocka_unit_test(a_machine_that_slows_down_does_not_decide),
        cmocka_unit_test(a_machine_whose_every_other_launch_is_slow_does_not_decide),
        cmocka_unit_test(time_that_is_over_ends_it_behind_a_round),
        cmocka_unit_test(too_few_samples_prove_nothing),
        cmocka_unit_test(a_cost_of_nothing_is_refused),
        cmocka_unit_test(a_tail_is_compared_as_a_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
