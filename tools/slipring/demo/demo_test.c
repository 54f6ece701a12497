// SPDX-License-Identifier: Apache-2.0
// What the demo feeds its patients and how it judges them; without a ring kernel.
#include "demo/demo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static demo_record *record;

static int open_record(void **state)
{
    (void)state;
    record = demo_record_make();
    return 0;
}

static int close_record(void **state)
{
    (void)state;
    free(record);
    return 0;
}

static void the_recording_is_carried_on_from_its_start(void **state)
{
    (void)state;
    assert_int_equal(record->adc[0], 975); // the first rows of the file
    assert_int_equal(record->adc[1], 981);
    assert_memory_equal(record->adc, record->adc + DEMO_SAMPLES, WARD_SAMPLES * sizeof *record->adc);
    assert_int_equal(record->reference_count, 503);
    assert_int_equal(record->reference[0], 125);
}

static void each_patient_begins_elsewhere_and_sees_all_of_it(void **state)
{
    (void)state;
    static unsigned char begun[DEMO_SAMPLES];
    for (uint32_t patient = 0; patient < DEMO_MOST_PATIENTS; patient++)
        assert_int_equal(begun[demo_offset(patient)]++, 0);
    assert_int_equal(demo_offset(0), 0);
    for (uint64_t number = 0; number < 2 * DEMO_MESSAGES; number++) {
        const struct samples *message = demo_message(record, 99, number);
        size_t at = (demo_offset(99) + number * WARD_SAMPLES) % DEMO_SAMPLES;
        assert_int_equal(message->adc[0], record->adc[at]);
        assert_int_equal(message->adc[WARD_SAMPLES - 1], record->adc[(at + WARD_SAMPLES - 1) % DEMO_SAMPLES]);
    }
}

static void the_source_stands_alone(void **state)
{
    (void)state;
    char *source = demo_source_make();
    assert_null(strstr(source, "#include \"ward.h\""));
    assert_non_null(strstr(source, "struct samples {"));
    assert_non_null(strstr(source, "__ring__ void detect("));
    assert_non_null(strstr(source, "#include <slipring/device.h>"));
    free(source);
}

static void the_reference_is_turned_to_where_the_patient_begins(void **state)
{
    (void)state;
    static demo_beats beats;
    for (uint32_t patient = 0; patient < 200; patient += 50) {
        beats.count = 0;
        for (size_t at = 0; at < DEMO_SAMPLES; at++) {
            unsigned there = (unsigned)((at + demo_offset(patient)) % DEMO_SAMPLES);
            for (size_t i = 0; i < record->reference_count; i++) {
                if (record->reference[i] == there)
                    beats.all[beats.count++].at = (unsigned)at;
            }
        }
        struct ward_score score = demo_score(record, patient, &beats);
        assert_int_equal(score.tp, 503);
        assert_int_equal(score.fp + score.fn, 0);
    }
}

static void a_heart_rate_is_the_mean_of_eight_intervals(void **state)
{
    (void)state;
    demo_hearts hearts;
    demo_hearts_open(&hearts, 2);
    demo_hearts_take(&hearts, 1, &(struct beat){.at = 10});
    for (int i = 0; i < 7; i++)
        demo_hearts_take(&hearts, 1, &(struct beat){.rr_s = 1.0f});
    assert_true(hearts.slowest == 0.0f);
    demo_hearts_take(&hearts, 1, &(struct beat){.rr_s = 1.0f, .alarm = 1});
    assert_true(hearts.slowest == 60.0f && hearts.fastest == 60.0f);
    for (int i = 0; i < 8; i++)
        demo_hearts_take(&hearts, 1, &(struct beat){.rr_s = 0.5f});
    assert_true(hearts.slowest == 60.0f && hearts.fastest == 120.0f);
    assert_int_equal(hearts.beats, 17);
    assert_int_equal(hearts.alarms, 1);
    demo_hearts_close(&hearts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_recording_is_carried_on_from_its_start),
        cmocka_unit_test(each_patient_begins_elsewhere_and_sees_all_of_it),
        cmocka_unit_test(the_source_stands_alone),
        cmocka_unit_test(the_reference_is_turned_to_where_the_patient_begins),
        cmocka_unit_test(a_heart_rate_is_the_mean_of_eight_intervals),
    };
    return cmocka_run_group_tests(tests, open_record, close_record);
}
