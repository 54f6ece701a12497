// SPDX-License-Identifier: Apache-2.0
// Long records of the log on files begin and end with pages; what fills the gaps is no record.
#define _GNU_SOURCE
#include "cluster/log_folder_test.h"
#include "cluster/segment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { RECORDS = 9, LONG_BYTES = 65400, SHORT_BYTES = 40 };

static char path[128];

static int begin(void **state)
{
    if (set_up(state) != 0)
        return -1;
    snprintf(path, sizeof path, "%s/in-%020d.log", folder, 1);
    return 0;
}

static slr_status try_open(slri_log **log)
{
    slri_log_desc desc = {.place = folder, .sync = SLRI_LOG_SYNC_NEVER, .on_damage = note};
    return slri_log_local.open(&desc, log);
}

static slri_log *open_log(void)
{
    slri_log *log = NULL;
    assert_int_equal(try_open(&log), SLR_OK);
    return log;
}

// Each third one is short.
static size_t bytes_of(uint64_t n)
{
    return n % 3 == 0 ? SHORT_BYTES : LONG_BYTES;
}

static void append(slri_log *log, uint64_t n)
{
    static unsigned char bytes[LONG_BYTES];
    memset(bytes, (int)n, sizeof bytes);
    slri_append_part part = {bytes, bytes_of(n)};
    assert_int_equal(slri_log_local.append(log, SLRI_LOG_IN, n - 1, &part, 1), SLR_OK);
}

static slr_status check(void *user, const slri_log_record *record)
{
    uint64_t *seen = user;
    const unsigned char *bytes = record->data;
    assert_int_equal(record->sequence, ++*seen);
    assert_int_equal(record->bytes, bytes_of(*seen));
    assert_int_equal(bytes[0], *seen);
    assert_int_equal(bytes[record->bytes - 1], *seen);
    return SLR_OK;
}

static uint64_t count(slri_log *log)
{
    uint64_t seen = 0;
    assert_int_equal(slri_log_local.read_from(log, SLRI_LOG_IN, 1, check, &seen), SLR_OK);
    return seen;
}

static off_t length(void)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_size;
}

static void long_records_end_with_a_page_and_short_ones_do_not(void **state)
{
    (void)state;
    slri_log *log = open_log();
    for (uint64_t n = 1; n <= RECORDS; ++n) {
        append(log, n);
        assert_int_equal(length() % SLRI_SEGMENT_PAGE == 0, n % 3 != 0);
    }
    assert_int_equal(count(log), RECORDS);
    slri_log_local.close(log);
    log = open_log();
    assert_int_equal(count(log), RECORDS);
    assert_int_equal(damages, 0);
    slri_log_local.close(log);
}

static void a_cut_goes_to_the_end_of_any_record(void **state)
{
    (void)state;
    for (uint64_t last = RECORDS - 1; last > 0; --last) {
        slri_log *log = open_log();
        for (uint64_t n = 1 + count(log); n <= RECORDS; ++n)
            append(log, n);
        assert_int_equal(slri_log_local.cut(log, SLRI_LOG_IN, last), SLR_OK);
        assert_int_equal(count(log), last);
        append(log, last + 1);
        slri_log_local.close(log);
        log = open_log();
        assert_int_equal(count(log), last + 1);
        slri_log_local.close(log);
    }
    assert_int_equal(damages, 0);
}

// Of the second record, whose filler is the end of the file.
static void a_filler_that_was_cut_off_takes_no_record(void **state)
{
    (void)state;
    slri_log *log = open_log();
    append(log, 1);
    append(log, 2);
    slri_log_local.close(log);
    off_t whole = length();
    for (off_t bytes = 1; bytes < 64; bytes += 7) {
        assert_int_equal(truncate(path, whole - bytes), 0);
        log = open_log();
        assert_int_equal(count(log), 2);
        slri_log_local.close(log);
    }
    assert_true(damages > 0);
}

static void put_byte(long at, int byte)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, file), byte);
    assert_int_equal(fclose(file), 0);
}

// Negative twin: in its length, and in its zeros. No record is read past it.
static void damage_in_a_filler_is_named(void **state)
{
    (void)state;
    slri_log *log = open_log();
    append(log, 1);
    append(log, 2);
    slri_log_local.close(log);
    put_byte(1000, 1);
    assert_int_equal(try_open(&log), SLR_INVALID);
    assert_int_equal(damages, 1);
    put_byte(1000, 0);
    assert_int_equal(try_open(&log), SLR_OK);
    slri_log_local.close(log);
    put_byte(sizeof(slri_segment_head) + 4, 0x55);
    assert_int_equal(try_open(&log), SLR_INVALID);
    assert_int_equal(damages, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(long_records_end_with_a_page_and_short_ones_do_not, begin, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_goes_to_the_end_of_any_record, begin, tear_down),
        cmocka_unit_test_setup_teardown(a_filler_that_was_cut_off_takes_no_record, begin, tear_down),
        cmocka_unit_test_setup_teardown(damage_in_a_filler_is_named, begin, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
