// SPDX-License-Identifier: Apache-2.0
// The network of examples/beats: what it learns from, in which types, and its weights in a ring kernel.
#include "demo/train.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EPOCHS = 1, HALF = 1, FAINT_SCALED = 3, FAINT_UNSCALED = 4 };

static demo_record *record;
static demo_sets sets;
static slr_device *device;

static int open_all(void **state)
{
    (void)state;
    record = demo_record_make();
    demo_sets_make(record, &sets);
    return slr_device_open("cpu?threads=1", NULL, &device) == SLR_OK ? 0 : -1;
}

static int close_all(void **state)
{
    (void)state;
    slr_device_close(device);
    free(record);
    return 0;
}

static beats_result *trained(int way, uint32_t epochs, uint32_t seed)
{
    beats_result *result = calloc(1, sizeof *result);
    slr_status status = demo_train(device, record, &sets, way, epochs, seed, result);
    if (status != SLR_OK)
        fail_msg("training failed: %s", slr_error_message());
    return result;
}

static void drop(beats_result *result)
{
    beats_result_free(result);
    free(result);
}

static void a_beat_is_premature_if_it_comes_earlier_than_nine_tenths_of_what_follows(void **state)
{
    (void)state;
    assert_true(beats_premature(1000, 1089, 1189));
    assert_false(beats_premature(1000, 1090, 1190));
    assert_false(beats_premature(1000, 1300, 1400));
}

static void the_test_beats_are_later_than_the_ones_to_learn_from(void **state)
{
    (void)state;
    assert_int_equal(sets.train.count, 359);
    assert_int_equal(sets.test.count, 142);
    assert_true(sets.train.at[358] < 75600 && sets.test.at[0] >= 75600);
    unsigned premature = 0;
    for (size_t i = 0; i < sets.test.count; i++)
        premature += sets.test.premature[i];
    assert_int_equal(premature, 32);
    beats_set none; // a beat without a neighbour, or without its window, is none
    beats_set_make((const unsigned[]){40, 51, 400, 700, 990}, 5, 1000, 0, 1000, &none);
    assert_int_equal(none.count, 2);
    assert_int_equal(none.at[0], 400);
}

static void half_learns_what_float_learns(void **state)
{
    (void)state;
    beats_result *floats = trained(BEATS_WAY_FLOAT, EPOCHS, 1), *half = trained(HALF, EPOCHS, 1);
    print_message("accuracy: float %.4f, half %.4f\n", floats->tested.accuracy, half->tested.accuracy);
    assert_int_equal(floats->tested.premature + floats->tested.normal, 3 * 142);
    assert_true(floats->tested.accuracy > 0.95 && floats->trained.accuracy > 0.93);
    assert_true(fabs(half->tested.accuracy - floats->tested.accuracy) <= 0.005);
    assert_true(half->tensor_bytes < floats->tensor_bytes * 7 / 10);
    float first = 0, last = 0;
    for (uint32_t i = 0; i < 10; i++)
        first += floats->loss[i], last += floats->loss[floats->steps - 1 - i];
    assert_true(last < first * 3 / 4);
    drop(floats);
    drop(half);
}

static void a_faint_loss_trains_half_with_scaling_and_not_without(void **state)
{
    (void)state;
    beats_result *with = trained(FAINT_SCALED, EPOCHS, 1), *without = trained(FAINT_UNSCALED, EPOCHS, 1);
    print_message("accuracy: scaled %.4f, not scaled %.4f\n", with->tested.accuracy, without->tested.accuracy);
    assert_true(with->tested.accuracy > 0.95);
    assert_int_equal(without->tested.missed, without->tested.premature); // all are taken for normal
    assert_string_equal(with->advice, "");
    assert_int_equal(with->halves, 1234);
    assert_true(with->zeros < 617);
    assert_non_null(strstr(without->advice, "the loss is not scaled"));
    assert_int_equal(without->zeros, 1234);
    drop(with);
    drop(without);
}

static void one_seed_gives_the_same_weights_and_another_gives_others(void **state)
{
    (void)state;
    beats_result *first = trained(BEATS_WAY_FLOAT, 1, 7), *again = trained(BEATS_WAY_FLOAT, 1, 7);
    beats_result *other = trained(BEATS_WAY_FLOAT, 1, 8);
    for (int i = 0; i < BEATS_PARAMETERS; i++) {
        size_t bytes = beats_parameter_sizes[i] * sizeof(float);
        assert_memory_equal(first->weights[i], again->weights[i], bytes);
        assert_memory_not_equal(first->weights[i], other->weights[i], bytes);
    }
    drop(first);
    drop(again);
    drop(other);
}

// Every beat of the test is found, 20 samples late at most: what the ring kernel says of it is what the network said.
static void the_trained_weights_classify_in_a_ring_kernel(void **state)
{
    (void)state;
    demo *demo = calloc(1, sizeof *demo);
    demo_beats *found = calloc(2, sizeof *found);
    demo->record = record, demo->device = device;
    for (size_t i = 0; i < record->reference_count; i++)
        found[0].all[found[0].count++].at = record->reference[i]; // patient 0 begins where the recording does
    found[1].all[found[1].count++].at = 0;
    assert_true(demo_classify(demo, found, 2));
    assert_int_equal(demo->kinds.beats, 503 + (demo_offset(1) >= BEATS_BEFORE));
    assert_int_equal(demo->kinds.compared, 142);
    double accuracy = 1.0 - (double)(demo->kinds.missed + demo->kinds.alarms) / 142.0;
    print_message("accuracy: network %.4f, ring kernel %.4f\n", demo->kinds.accuracy, accuracy);
    assert_true(fabs(accuracy - demo->kinds.accuracy) < 0.015); // the network is asked at three places of each beat
    free(found);
    free(demo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_beat_is_premature_if_it_comes_earlier_than_nine_tenths_of_what_follows),
        cmocka_unit_test(the_test_beats_are_later_than_the_ones_to_learn_from),
        cmocka_unit_test(half_learns_what_float_learns),
        cmocka_unit_test(a_faint_loss_trains_half_with_scaling_and_not_without),
        cmocka_unit_test(one_seed_gives_the_same_weights_and_another_gives_others),
        cmocka_unit_test(the_trained_weights_classify_in_a_ring_kernel),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
