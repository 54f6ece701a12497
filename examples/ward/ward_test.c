// SPDX-License-Identifier: Apache-2.0
// The detector as plain C against the reference beats, and the score by which that is judged.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plain.h"
#include "score.h"

#define RECORDING 108000
#define MOST_BEATS 1000
#define TAIL (2 * WARD_RATE_HZ) // what follows, so that the last beats are decided on; a multiple of WARD_SAMPLES

static long recording[RECORDING];
static long reference[MOST_BEATS];
static size_t reference_count;

struct beats {
    struct beat all[MOST_BEATS];
    unsigned at[MOST_BEATS];
    size_t count;
    size_t alarms;
};

static size_t read_column(const char *path, long *values, size_t most)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char line[64];
    size_t count = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (count < most && fgets(line, sizeof line, file))
        values[count++] = strtol(line, NULL, 10);
    fclose(file);
    return count;
}

static int read_files(void **state)
{
    (void)state;
    assert_int_equal(read_column(WARD_DIR "/mitdb-208-excerpt.csv", recording, RECORDING), RECORDING);
    reference_count = read_column(WARD_DIR "/reference-beats.csv", reference, MOST_BEATS);
    assert_true(reference_count > 400);
    return 0;
}

static void keep(struct beats *beats, const struct beat *beat)
{
    assert_true(beats->count < MOST_BEATS);
    beats->all[beats->count] = *beat;
    beats->at[beats->count++] = beat->at;
    beats->alarms += beat->alarm;
}

// Runs the detector over `count` samples, then over a flat tail; keeps the beats before the tail.
static void detect_beats(const long *adc, size_t count, struct beats *beats)
{
    struct patient *patient = calloc(1, ward_plain_state_bytes());
    assert_non_null(patient);
    memset(beats, 0, sizeof *beats);
    for (size_t start = 0; start < count + TAIL; start += WARD_SAMPLES) {
        struct samples message;
        struct beat beat;
        for (size_t i = 0; i < WARD_SAMPLES; i++)
            message.adc[i] = (short)adc[start + i < count ? start + i : count - 1];
        int replies = ward_plain(patient, &message, &beat);
        assert_in_range(replies, 0, 1);
        if (replies == 1 && beat.at < count)
            keep(beats, &beat);
    }
    free(patient);
}

// The recording, begun at `offset` and carried on from its start; and its reference beats.
static void turn(size_t offset, long *adc, unsigned *expected)
{
    for (size_t i = 0; i < RECORDING; i++)
        adc[i] = recording[(offset + i) % RECORDING];
    size_t first = 0;
    while (first < reference_count && (size_t)reference[first] < offset)
        first++;
    for (size_t i = 0; i < reference_count; i++) {
        size_t at = (size_t)reference[(first + i) % reference_count];
        expected[i] = (unsigned)((at + RECORDING - offset) % RECORDING);
    }
}

static struct ward_score score_from(size_t offset, struct beats *beats)
{
    static long adc[RECORDING];
    static unsigned expected[MOST_BEATS];
    turn(offset, adc, expected);
    detect_beats(adc, RECORDING, beats);
    return ward_score_beats(beats->at, beats->count, expected, reference_count);
}

static void finds_the_reference_beats_of_the_recording(void **state)
{
    (void)state;
    struct beats beats;
    struct ward_score score = score_from(0, &beats);
    print_message("%zu found, %zu missed, %zu extra, f1 %.4f, %zu alarms\n", score.tp, score.fn, score.fp, score.f1,
                  beats.alarms);
    assert_true(score.f1 >= 0.97);
}

static void finds_them_from_wherever_the_recording_is_begun(void **state)
{
    (void)state;
    struct beats beats;
    for (size_t offset = 757; offset < RECORDING; offset += 7570)
        assert_true(score_from(offset, &beats).f1 >= 0.97);
}

static void beats_come_in_order_with_the_interval_between_them(void **state)
{
    (void)state;
    struct beats beats;
    score_from(0, &beats);
    assert_true(beats.all[0].rr_s == 0.0f);
    for (size_t i = 1; i < beats.count; i++) {
        unsigned interval = beats.at[i] - beats.at[i - 1];
        assert_in_range(interval, 72, RECORDING);
        assert_true(beats.all[i].rr_s == (float)interval / 360.0f);
    }
}

// Blots out the QRS complex at `at` by a line across it.
static void blot_out(long *adc, size_t at)
{
    long from = adc[at - 41], to = adc[at + 60];
    for (size_t i = 0; i <= 100; i++)
        adc[at - 41 + i] = from + (to - from) * (long)i / 101;
}

static void a_beat_that_never_came_raises_the_alarm_on_the_next(void **state)
{
    (void)state;
    static long adc[RECORDING];
    struct beats beats;
    memcpy(adc, recording, sizeof adc);
    detect_beats(adc, 10000, &beats);
    assert_int_equal(beats.alarms, 0);

    blot_out(adc, (size_t)reference[20]);
    detect_beats(adc, 10000, &beats);
    assert_int_equal(beats.alarms, 1);
    for (size_t i = 0; i < beats.count; i++)
        assert_int_equal(beats.all[i].alarm, beats.at[i] == (unsigned)reference[21]);
}

static void a_popping_electrode_does_not_hide_the_beats_after_it(void **state)
{
    (void)state;
    static long adc[RECORDING];
    static unsigned expected[MOST_BEATS];
    struct beats beats;
    turn(0, adc, expected);
    for (size_t i = 40000; i < 40200; i++)
        adc[i] += 8000;
    detect_beats(adc, RECORDING, &beats);
    assert_true(ward_score_beats(beats.at, beats.count, expected, reference_count).f1 >= 0.97);
}

// A drawn heart: triangles on a flat line, the first QRS complex at FIRST, HEARTBEATS of them PERIOD samples apart.
enum {
    FIRST = 150,
    PERIOD = 300,
    HEARTBEATS = 40,
    DRAWN = FIRST + HEARTBEATS * PERIOD,
    QRS_HEIGHT = 300,
    QRS_WIDTH = 12
};

static void draw(long *adc, size_t at, size_t width, long height)
{
    for (size_t i = 0; i <= width; i++) {
        long part = height * (long)(width - i) / (long)width;
        adc[at + i] += part;
        adc[at - i] += i > 0 ? part : 0;
    }
}

static void draw_heart(long *adc)
{
    memset(adc, 0, DRAWN * sizeof *adc);
    for (size_t i = 0; i < HEARTBEATS; i++)
        draw(adc, FIRST + i * PERIOD, QRS_WIDTH, QRS_HEIGHT);
}

static void assert_every_beat_is_found_once(const struct beats *beats)
{
    assert_int_equal(beats->count, HEARTBEATS);
    assert_int_equal(beats->alarms, 0);
    for (size_t i = 0; i < HEARTBEATS; i++)
        assert_int_equal(beats->at[i], FIRST + i * PERIOD);
}

static void a_tall_t_wave_is_no_beat(void **state)
{
    (void)state;
    static long adc[DRAWN];
    struct beats beats;
    draw_heart(adc);
    for (size_t i = 0; i < HEARTBEATS; i++)
        draw(adc, FIRST + 110 + i * PERIOD, 35, QRS_HEIGHT);
    detect_beats(adc, DRAWN, &beats);
    assert_every_beat_is_found_once(&beats);
}

static void a_weak_beat_is_found_by_searching_back(void **state)
{
    (void)state;
    static long adc[DRAWN];
    struct beats beats;
    draw_heart(adc);
    draw(adc, FIRST + 30 * PERIOD, QRS_WIDTH, -QRS_HEIGHT * 58 / 100);
    detect_beats(adc, DRAWN, &beats);
    assert_every_beat_is_found_once(&beats);
}

static void a_weak_hump_between_regular_beats_is_no_beat(void **state)
{
    (void)state;
    static long adc[DRAWN];
    struct beats beats;
    draw_heart(adc);
    for (size_t i = 20; i < HEARTBEATS; i++)
        draw(adc, FIRST + 140 + i * PERIOD, QRS_WIDTH, QRS_HEIGHT * 42 / 100);
    detect_beats(adc, DRAWN, &beats);
    assert_every_beat_is_found_once(&beats);
}

static void an_artefact_while_learning_does_not_hide_the_beats_after_it(void **state)
{
    (void)state;
    static long adc[DRAWN];
    struct beats beats;
    draw_heart(adc);
    draw(adc, FIRST + PERIOD, QRS_WIDTH, 30 * QRS_HEIGHT);
    detect_beats(adc, DRAWN, &beats);
    assert_every_beat_is_found_once(&beats);
}

static void a_flat_line_has_no_beats_and_teaches_nothing(void **state)
{
    (void)state;
    enum { FLAT = 3600 };
    static long adc[FLAT + DRAWN];
    struct beats beats;
    detect_beats(adc, FLAT, &beats);
    assert_int_equal(beats.count, 0);

    draw_heart(adc + FLAT);
    for (size_t i = 0; i < HEARTBEATS; i++)
        draw(adc, FLAT + FIRST + 150 + i * PERIOD, QRS_WIDTH, QRS_HEIGHT / 8);
    detect_beats(adc, FLAT + DRAWN, &beats);
    assert_int_equal(beats.count, HEARTBEATS);
    assert_int_equal(beats.at[0], FLAT + FIRST);
}

static void score_counts_what_was_missed_and_what_is_extra(void **state)
{
    (void)state;
    const unsigned beats[] = {100, 300, 500, 700};
    const unsigned without_300[] = {100, 500, 700};
    struct ward_score same = ward_score_beats(beats, 4, beats, 4);
    struct ward_score missed = ward_score_beats(without_300, 3, beats, 4);
    struct ward_score extra = ward_score_beats(beats, 4, without_300, 3);
    assert_int_equal(same.tp, 4);
    assert_true(same.f1 == 1.0);
    assert_true(missed.tp == 3 && missed.fp == 0 && missed.fn == 1);
    assert_true(extra.tp == 3 && extra.fp == 1 && extra.fn == 0);
    assert_true(missed.f1 == 6.0 / 7.0 && extra.f1 == 6.0 / 7.0);
}

static void score_takes_a_shift_of_27_samples_and_no_more(void **state)
{
    (void)state;
    const unsigned reference_beats[] = {100, 300};
    const unsigned near_enough[] = {73, 327};
    const unsigned too_far[] = {72, 328};
    struct ward_score taken = ward_score_beats(near_enough, 2, reference_beats, 2);
    struct ward_score refused = ward_score_beats(too_far, 2, reference_beats, 2);
    assert_true(taken.tp == 2 && taken.fp == 0 && taken.fn == 0);
    assert_true(refused.tp == 0 && refused.fp == 2 && refused.fn == 2 && refused.f1 == 0.0);
}

static void score_matches_a_beat_once(void **state)
{
    (void)state;
    const unsigned one[] = {100};
    const unsigned twice[] = {95, 105};
    struct ward_score score = ward_score_beats(twice, 2, one, 1);
    assert_true(score.tp == 1 && score.fp == 1 && score.fn == 0);
    assert_true(ward_score_beats(NULL, 0, NULL, 0).f1 == 1.0);
    assert_true(ward_score_beats(NULL, 0, one, 1).f1 == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_reference_beats_of_the_recording),
        cmocka_unit_test(finds_them_from_wherever_the_recording_is_begun),
        cmocka_unit_test(beats_come_in_order_with_the_interval_between_them),
        cmocka_unit_test(a_beat_that_never_came_raises_the_alarm_on_the_next),
        cmocka_unit_test(a_popping_electrode_does_not_hide_the_beats_after_it),
        cmocka_unit_test(a_tall_t_wave_is_no_beat),
        cmocka_unit_test(a_weak_beat_is_found_by_searching_back),
        cmocka_unit_test(a_weak_hump_between_regular_beats_is_no_beat),
        cmocka_unit_test(an_artefact_while_learning_does_not_hide_the_beats_after_it),
        cmocka_unit_test(a_flat_line_has_no_beats_and_teaches_nothing),
        cmocka_unit_test(score_counts_what_was_missed_and_what_is_extra),
        cmocka_unit_test(score_takes_a_shift_of_27_samples_and_no_more),
        cmocka_unit_test(score_matches_a_beat_once),
    };
    return cmocka_run_group_tests(tests, read_files, NULL);
}
