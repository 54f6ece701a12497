// SPDX-License-Identifier: Apache-2.0
// The search, over made-up costs.
#include "tune/search.h"

#include "tune/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { JOURNAL = 4096 };

struct world {
    struct slri_space space;
    double (*cost)(const uint32_t *choice);
    uint64_t tried[JOURNAL];
    uint32_t count, limit; // `limit`: the time is over after so many; 0: never
};

static double cost_at(const struct world *world, uint64_t code)
{
    uint32_t choice[SLRI_SPACE_DIMENSIONS];
    slri_space_decode(&world->space, code, choice);
    return world->cost(choice);
}

static bool allows_all(void *user, uint64_t code)
{
    (void)user;
    (void)code;
    return true;
}

static bool allows_even(void *user, uint64_t code)
{
    (void)user;
    return code % 2 == 0;
}

static slr_tune_state try_it(void *user, struct slri_trial *trial)
{
    struct world *world = user;
    assert_true(world->count < JOURNAL);
    world->tried[world->count++] = trial->code;
    trial->cost = cost_at(world, trial->code);
    return trial->cost > 0 ? SLR_TUNE_MEASURED : SLR_TUNE_WRONG;
}

static bool is_over(void *user)
{
    const struct world *world = user;
    return world->limit && world->count >= world->limit;
}

// A model that is off by up to a factor of 2, by the code.
static double predict_roughly(void *user, uint64_t code)
{
    uint64_t state = code;
    return cost_at(user, code) * exp2((double)slri_tune_pick(&state, 1001) / 1000 - 0.5);
}

static struct slri_search_desc describe(struct world *world, slr_tune_strategy strategy)
{
    return (struct slri_search_desc){.space = world->space,
                                     .strategy = strategy,
                                     .seed = 1,
                                     .user = world,
                                     .allows = allows_all,
                                     .tries = try_it,
                                     .is_over = is_over};
}

// Value 1 of the first dimension computes nothing: it looks fast, and is wrong. Value 2 is the best.
static double shirker(const uint32_t *choice)
{
    return choice[0] == 1 ? -1.0 : choice[0] == 2 ? 10.0 : 50.0 + choice[2];
}

static double predict_the_shirker(void *user, uint64_t code)
{
    uint32_t choice[SLRI_SPACE_DIMENSIONS];
    const struct world *world = user;
    slri_space_decode(&world->space, code, choice);
    return choice[0] == 1 ? 1 : 100;
}

// Two macros and twelve blocks. Block 5 is wrong with the default's macro, block 7 is the best with that.
static double picky(const uint32_t *choice)
{
    return choice[0] != 0 ? 50.0 : choice[1] == 5 ? -1.0 : choice[1] == 7 ? 10.0 : 40.0;
}

static double predict_the_picky(void *user, uint64_t code)
{
    uint32_t choice[SLRI_SPACE_DIMENSIONS];
    const struct world *world = user;
    slri_space_decode(&world->space, code, choice);
    return choice[0] != 0 ? 100 : choice[1] == 5 ? 1 : choice[1] == 7 ? 2 : 200;
}

// The valley's floor is at (7, 3, 5).
static double valley(const uint32_t *choice)
{
    double x = choice[0] - 7.0, y = choice[1] - 3.0, z = choice[2] - 5.0;
    return 1 + x * x + 2 * y * y + 3 * z * z;
}

static struct world valley_world(void)
{
    return (struct world){.space = {3, {10, 8, 9}}, .cost = valley};
}

static double least_of(const struct slri_search *search)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < search->trials; i++)
        if (search->trial[i].state == SLR_TUNE_MEASURED && search->trial[i].cost < least)
            least = search->trial[i].cost;
    return least;
}

static double run_once(struct world *world, const struct slri_search_desc *desc)
{
    struct slri_search search;
    assert_int_equal(slri_search_run(desc, &search), SLR_OK);
    assert_int_equal(search.evaluations, world->count);
    double least = least_of(&search);
    slri_search_free(&search);
    return least;
}

static void what_is_wrong_is_not_tried_with_every_block(void **state)
{
    (void)state;
    struct world world = {.space = {3, {3, 2, 12}}, .cost = shirker};
    struct slri_search_desc desc = describe(&world, SLR_TUNE_MODEL);
    uint32_t choice[SLRI_SPACE_DIMENSIONS], wrong = 0;
    desc.macros = 2;
    desc.predicts = predict_the_shirker;
    desc.evaluations = 12;
    assert_true(run_once(&world, &desc) == 10);
    for (uint32_t i = 0; i < world.count; i++) {
        slri_space_decode(&world.space, world.tried[i], choice);
        wrong += choice[0] == 1;
    }
    assert_int_equal(wrong, 1);
    desc.evaluations = 72; // at last
    world.count = 0;
    (void)run_once(&world, &desc);
    assert_int_equal(world.count, 72);
}

static void macros_that_were_right_are_not_doubted_for_one_block(void **state)
{
    (void)state;
    struct world world = {.space = {2, {2, 12}}, .cost = picky};
    struct slri_search_desc desc = describe(&world, SLR_TUNE_MODEL);
    desc.macros = 1;
    desc.predicts = predict_the_picky;
    desc.evaluations = 4;
    assert_true(run_once(&world, &desc) == 10);
}

static void codes_and_choices_are_one_to_one(void **state)
{
    (void)state;
    const struct slri_space space = {3, {3, 4, 5}};
    assert_int_equal(slri_space_count(&space), 60);
    for (uint64_t code = 0; code < 60; code++) {
        uint32_t choice[SLRI_SPACE_DIMENSIONS];
        slri_space_decode(&space, code, choice);
        assert_true(choice[0] < 3 && choice[1] < 4 && choice[2] < 5);
        assert_int_equal(slri_space_encode(&space, choice), code);
    }
    struct slri_space large = {.dimensions = 16};
    for (uint32_t i = 0; i < 16; i++)
        large.size[i] = 64;
    assert_true(slri_space_count(&large) == UINT64_MAX);
}

static void exhaustive_tries_each_once_and_the_default_first(void **state)
{
    (void)state;
    struct world world = valley_world();
    struct slri_search_desc desc = describe(&world, SLR_TUNE_EXHAUSTIVE);
    bool seen[720] = {false};
    desc.start = 123;
    assert_true(run_once(&world, &desc) == 1);
    assert_int_equal(world.count, 720);
    assert_int_equal(world.tried[0], 123);
    for (uint32_t i = 0; i < world.count; i++) {
        assert_false(seen[world.tried[i]]);
        seen[world.tried[i]] = true;
    }
}

static void what_is_not_allowed_is_not_tried_except_the_default(void **state)
{
    (void)state;
    struct world world = valley_world();
    struct slri_search_desc desc = describe(&world, SLR_TUNE_EXHAUSTIVE);
    desc.start = 5;
    desc.allows = allows_even;
    (void)run_once(&world, &desc);
    assert_int_equal(world.count, 361);
    for (uint32_t i = 1; i < world.count; i++)
        assert_int_equal(world.tried[i] % 2, 0);
}

static void every_strategy_keeps_the_budget(void **state)
{
    (void)state;
    const slr_tune_strategy all[] = {SLR_TUNE_MODEL, SLR_TUNE_EXHAUSTIVE, SLR_TUNE_RANDOM, SLR_TUNE_LOCAL};
    for (size_t i = 0; i < 4; i++) {
        struct world world = valley_world();
        struct slri_search_desc desc = describe(&world, all[i]);
        desc.evaluations = 17;
        (void)run_once(&world, &desc);
        assert_int_equal(world.count, 17);
        world = valley_world();
        desc.evaluations = 100;
        world.limit = 5;
        (void)run_once(&world, &desc);
        assert_int_equal(world.count, 5);
    }
}

static void a_space_smaller_than_the_budget_is_tried_whole(void **state)
{
    (void)state;
    const slr_tune_strategy all[] = {SLR_TUNE_MODEL, SLR_TUNE_EXHAUSTIVE, SLR_TUNE_RANDOM, SLR_TUNE_LOCAL};
    for (size_t i = 0; i < 4; i++) {
        struct world world = {.space = {3, {2, 2, 2}}, .cost = valley};
        struct slri_search_desc desc = describe(&world, all[i]);
        (void)run_once(&world, &desc);
        assert_int_equal(world.count, 8);
    }
}

static void the_same_seed_tries_the_same_and_another_one_something_else(void **state)
{
    (void)state;
    struct world a = valley_world(), b = valley_world(), c = valley_world();
    struct slri_search_desc desc = describe(&a, SLR_TUNE_RANDOM);
    (void)run_once(&a, &desc);
    desc = describe(&b, SLR_TUNE_RANDOM);
    (void)run_once(&b, &desc);
    desc = describe(&c, SLR_TUNE_RANDOM);
    desc.seed = 2;
    (void)run_once(&c, &desc);
    assert_int_equal(a.count, 72); // a tenth
    assert_memory_equal(a.tried, b.tried, sizeof a.tried);
    assert_memory_not_equal(a.tried, c.tried, sizeof a.tried);
}

static void local_search_walks_down_to_the_floor(void **state)
{
    (void)state;
    struct world world = valley_world();
    struct slri_search_desc desc = describe(&world, SLR_TUNE_LOCAL);
    desc.evaluations = 90;
    assert_true(run_once(&world, &desc) == 1);
}

// Costs that factors of the dimensions make, as tiles and blocks do, with one combination that is wrong.
static double product(const uint32_t *choice)
{
    static const double a[] = {4, 2, 1, 1.5, 3}, b[] = {1.2, 1, 2.5, 6}, c[] = {3, 1.4, 1, 1.1};
    if (choice[0] == 2 && choice[1] == 1 && choice[2] == 2)
        return 0;
    return a[choice[0]] * b[choice[1]] * c[choice[2]];
}

static void the_model_finds_nearly_the_best_in_a_tenth_of_the_space(void **state)
{
    (void)state;
    for (int predicts = 0; predicts < 2; predicts++) {
        struct world world = {.space = {3, {5, 4, 4}}, .cost = product};
        struct slri_search_desc desc = describe(&world, SLR_TUNE_MODEL);
        desc.predicts = predicts ? predict_roughly : NULL;
        desc.evaluations = predicts ? 8 : 20; // without predictions it learns from nothing
        double least = run_once(&world, &desc);
        assert_true(least >= 1.1 && 1.1 / least >= 0.9);
    }
}

// All candidates are alike, except a fast one, at (3, 2, 3).
static double hidden(const uint32_t *choice)
{
    return choice[0] == 3 && choice[1] == 2 && choice[2] == 3 ? 0.7 : 2;
}

// It puts a slow neighbour of the fast candidate first, and the fast one second.
static double predict_with_one_error(void *user, uint64_t code)
{
    const struct world *world = user;
    uint32_t choice[SLRI_SPACE_DIMENSIONS];
    slri_space_decode(&world->space, code, choice);
    double a = 3.0 - choice[0], b = fabs(3.0 - choice[1]), c = 3.0 - choice[2];
    if (code == 0)
        return 2; // the default
    return a + b + c == 0 ? 1 : world->cost(choice) < 1 ? 1.05 : 1.1 + 0.05 * (a + b + c);
}

static void one_slow_candidate_does_not_keep_the_search_from_its_neighbours(void **state)
{
    (void)state;
    struct world world = {.space = {3, {4, 6, 4}}, .cost = hidden};
    struct slri_search_desc desc = describe(&world, SLR_TUNE_MODEL);
    desc.predicts = predict_with_one_error;
    desc.evaluations = 3;
    assert_true(run_once(&world, &desc) < 1);
}

// A model says that all cost the same; (2, 6) costs less than the default, all else more.
static double lone(const uint32_t *choice)
{
    return choice[0] == 2 && choice[1] == 6 ? 1 : choice[0] == 8 && choice[1] == 0 ? 1.1 : 1.2;
}

static double predict_lone(void *user, uint64_t code)
{
    return cost_at(user, code) == 1 ? 0.9 : 1;
}

static void neighbours_of_the_best_are_tried_first(void **state)
{
    (void)state;
    static const uint32_t neighbours[4][2] = {{1, 6}, {3, 6}, {2, 5}, {2, 7}};
    struct world world = {.space = {2, {9, 9}}, .cost = lone};
    struct slri_search_desc desc = describe(&world, SLR_TUNE_MODEL);
    desc.start = slri_space_encode(&world.space, (const uint32_t[]){8, 0});
    desc.predicts = predict_lone;
    desc.evaluations = 6;
    (void)run_once(&world, &desc);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t found = 0;
        for (uint32_t at = 2; at < 6; at++)
            found += world.tried[at] == slri_space_encode(&world.space, neighbours[i]);
        assert_int_equal(found, 1);
    }
}

static double predict_some(void *user, uint64_t code)
{
    return code == 7 ? INFINITY : code % 2 ? NAN : predict_roughly(user, code);
}

static void what_cannot_be_comes_last_and_what_is_unknown_in_between(void **state)
{
    (void)state;
    struct world world = valley_world();
    struct slri_search_desc desc = describe(&world, SLR_TUNE_MODEL);
    struct slri_search search;
    desc.predicts = predict_some;
    desc.evaluations = 40;
    assert_int_equal(slri_search_run(&desc, &search), SLR_OK);
    assert_true(search.trial[1].predicted > 1 && search.trial[1].predicted < 400);
    assert_int_equal(search.trial[7].state, 0);
    assert_true(least_of(&search) < 10);
    slri_search_free(&search);
}

static void a_very_large_space_is_drawn_from_and_holds_the_default(void **state)
{
    (void)state;
    struct world world = {.space = {8, {64, 64, 64, 64, 64, 64, 64, 64}}, .cost = valley};
    struct slri_search_desc desc = describe(&world, SLR_TUNE_MODEL);
    struct slri_search search;
    desc.start = 99999999999u;
    desc.evaluations = 20;
    assert_int_equal(slri_search_run(&desc, &search), SLR_OK);
    assert_true(search.trials > 1000 && search.trials <= SLRI_SEARCH_CANDIDATES);
    assert_int_equal(world.count, 20);
    assert_true(world.tried[0] == desc.start);
    assert_true(slri_search_find(&search, desc.start)->state == SLR_TUNE_MEASURED);
    slri_search_free(&search);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_and_choices_are_one_to_one),
        cmocka_unit_test(exhaustive_tries_each_once_and_the_default_first),
        cmocka_unit_test(what_is_not_allowed_is_not_tried_except_the_default),
        cmocka_unit_test(every_strategy_keeps_the_budget),
        cmocka_unit_test(a_space_smaller_than_the_budget_is_tried_whole),
        cmocka_unit_test(the_same_seed_tries_the_same_and_another_one_something_else),
        cmocka_unit_test(local_search_walks_down_to_the_floor),
        cmocka_unit_test(the_model_finds_nearly_the_best_in_a_tenth_of_the_space),
        cmocka_unit_test(one_slow_candidate_does_not_keep_the_search_from_its_neighbours),
        cmocka_unit_test(neighbours_of_the_best_are_tried_first),
        cmocka_unit_test(what_is_wrong_is_not_tried_with_every_block),
        cmocka_unit_test(macros_that_were_right_are_not_doubted_for_one_block),
        cmocka_unit_test(what_cannot_be_comes_last_and_what_is_unknown_in_between),
        cmocka_unit_test(a_very_large_space_is_drawn_from_and_holds_the_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
