// SPDX-License-Identifier: Apache-2.0
// Files of the log that are no longer needed become the next ones. What they held before never comes back.
#define _GNU_SOURCE
#include "cluster/log_folder_test.h"
#include "cluster/segment.h"
#include "cluster/sum.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { OLD = 2, OLD_BYTES = 96, NEW_BYTES = 40, SEGMENT = 256, ROOM = 4096 };

static slr_status try_open(slri_log **log)
{
    slri_log_desc desc = {.place = folder, .sync = SLRI_LOG_SYNC_NEVER, .segment_bytes = SEGMENT, .on_damage = note};
    damages = 0;
    return slri_log_local.open(&desc, log);
}

static slri_log *open_log(void)
{
    slri_log *log = NULL;
    assert_int_equal(try_open(&log), SLR_OK);
    return log;
}

static void append(slri_log *log, uint64_t n, size_t size)
{
    unsigned char bytes[OLD_BYTES];
    slri_append_part part = {bytes, size};
    memset(bytes, (int)n, sizeof bytes);
    const slri_log_rows rows = {8, slri_rows_add(0, bytes, (uint32_t)size / 8, 8)};
    slr_status status = n % 2 ? slri_log_local.append_rows(log, SLRI_LOG_IN, n - 1, &part, 1, &rows)
                              : slri_log_local.append(log, SLRI_LOG_IN, n - 1, &part, 1);
    assert_int_equal(status, SLR_OK);
}

static slr_status check(void *user, const slri_log_record *record)
{
    uint64_t *last = user;
    const unsigned char *bytes = record->data;
    assert_int_equal(record->sequence, ++*last);
    for (size_t i = 0; i < record->bytes; ++i)
        assert_int_equal(bytes[i], (unsigned char)*last);
    return SLR_OK;
}

// The last record, after those from the stream's first on were read.
static uint64_t read_all(slri_log *log)
{
    uint64_t first, last;
    slri_log_local.last(log, SLRI_LOG_IN, &first, &last);
    uint64_t seen = first - 1;
    assert_int_equal(slri_log_local.read_from(log, SLRI_LOG_IN, first, check, &seen), SLR_OK);
    assert_int_equal(seen, last);
    return last;
}

static void path_of(char path[128], uint64_t first)
{
    snprintf(path, 128, "%s/in-%020llu.log", folder, (unsigned long long)first);
}

static ino_t inode_of(const char *path)
{
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_ino;
}

static bool is_there(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

// Old records fill a file, which is purged; then OLD + 1 begins the file again. `path`: of that file.
static slri_log *reuse(char path[128])
{
    char old[128];
    slri_log *log = open_log();
    for (uint64_t n = 1; n <= OLD; ++n)
        append(log, n, OLD_BYTES);
    path_of(old, 1);
    ino_t before = inode_of(old);
    assert_int_equal(slri_log_local.purge(log, SLRI_LOG_IN, OLD), SLR_OK); // begins a new file
    assert_true(is_there("in-spare-0.log"));
    append(log, OLD + 1, OLD_BYTES);
    append(log, OLD + 2, OLD_BYTES); // fills it
    append(log, OLD + 3, NEW_BYTES);
    path_of(path, OLD + 3);
    assert_int_equal(inode_of(path), before);
    return log;
}

static size_t load(const char *path, unsigned char *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t count = fread(bytes, 1, ROOM, file);
    fclose(file);
    return count;
}

static void store(const char *path, const unsigned char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
    assert_int_equal(chmod(path, 0600), 0);
}

static void a_file_that_is_not_needed_any_more_is_written_again(void **state)
{
    (void)state;
    char path[128];
    slri_log *log = reuse(path);
    assert_int_equal(read_all(log), OLD + 3);
    append(log, OLD + 4, NEW_BYTES);
    slri_log_local.close(log);
    log = open_log();
    assert_int_equal(read_all(log), OLD + 4);
    append(log, OLD + 5, NEW_BYTES); // goes on where it stood, though the file is longer
    slri_log_local.close(log);
    log = open_log();
    assert_int_equal(read_all(log), OLD + 5);
    assert_int_equal(damages, 0);
    slri_log_local.close(log);
}

// Negative twin: of a write that was cut off anywhere, nothing counts, and what the file held before does not either.
static void a_write_that_was_cut_off_brings_no_old_record_back(void **state)
{
    (void)state;
    char path[128];
    unsigned char before[ROOM], after[ROOM], torn[ROOM];
    slri_log *log = reuse(path);
    size_t count = load(path, before);
    append(log, OLD + 4, NEW_BYTES);
    slri_log_local.close(log);
    assert_int_equal(load(path, after), count);
    size_t from = 0, to = count;
    while (before[from] == after[from])
        ++from;
    while (before[to - 1] == after[to - 1])
        --to;
    assert_true(to - from > NEW_BYTES);
    uint32_t named = 0;
    for (size_t cut = from; cut <= to; ++cut) {
        memcpy(torn, after, cut);
        memcpy(torn + cut, before + cut, count - cut);
        store(path, torn, count);
        log = open_log();
        const uint64_t last = read_all(log);
        assert_in_range(last, OLD + 3, OLD + 4);
        assert_int_equal(damages, cut == from || cut == to ? 0 : 1);
        named += damages;
        append(log, last + 1, NEW_BYTES);
        slri_log_local.close(log);
        log = open_log();
        assert_int_equal(read_all(log), last + 1);
        assert_int_equal(damages, 0);
        slri_log_local.close(log);
    }
    assert_int_equal(named, to - from - 1);
}

static void damage_in_a_file_that_is_written_again_is_named(void **state)
{
    (void)state;
    char path[128];
    unsigned char bytes[ROOM];
    slri_log *log = reuse(path);
    append(log, OLD + 4, NEW_BYTES);
    slri_log_local.close(log);
    size_t count = load(path, bytes);
    const size_t first = sizeof(slri_segment_head), record = sizeof(slri_record_head) + NEW_BYTES;
    for (size_t at = 0; at < first + 2 * record + sizeof(slri_record_head); ++at) {
        bytes[at] ^= 0x10;
        store(path, bytes, count);
        slr_status status = try_open(&log);
        bytes[at] ^= 0x10;
        assert_int_equal(damages, 1);
        assert_int_equal(status, at < first + record ? SLR_INVALID : SLR_OK);
        if (status != SLR_OK)
            continue;
        assert_int_equal(read_all(log), at < first + 2 * record ? OLD + 3 : OLD + 4);
        slri_log_local.close(log);
    }
}

static void files_that_wait_go_with_a_cut_and_with_the_process(void **state)
{
    (void)state;
    slri_log *log = open_log();
    for (uint64_t n = 1; n <= OLD; ++n)
        append(log, n, OLD_BYTES);
    assert_int_equal(slri_log_local.purge(log, SLRI_LOG_IN, OLD), SLR_OK);
    assert_true(is_there("in-spare-0.log"));
    assert_int_equal(slri_log_local.cut(log, SLRI_LOG_IN, 0), SLR_OK);
    assert_false(is_there("in-spare-0.log"));
    for (uint64_t n = 1; n <= OLD; ++n) // the same numbers again
        append(log, n, NEW_BYTES);
    assert_int_equal(read_all(log), OLD);
    for (uint64_t n = OLD + 1; n <= 100; ++n)
        append(log, n, OLD_BYTES);
    assert_int_equal(slri_log_local.purge(log, SLRI_LOG_IN, 90), SLR_OK);
    assert_true(is_there("in-spare-3.log"));
    assert_false(is_there("in-spare-4.log")); // enough of them
    slri_log_local.close(log);
    log = open_log();
    assert_false(is_there("in-spare-0.log"));
    assert_int_equal(read_all(log), 100);
    slri_log_local.close(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_that_is_not_needed_any_more_is_written_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_write_that_was_cut_off_brings_no_old_record_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_in_a_file_that_is_written_again_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_wait_go_with_a_cut_and_with_the_process, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
