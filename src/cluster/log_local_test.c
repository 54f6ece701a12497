// SPDX-License-Identifier: Apache-2.0
// The log on files: what comes back, what is cut off, what is refused, and whose it is.
#define _GNU_SOURCE
#include "cluster/log_folder_test.h"
#include "cluster/log_local.h"
#include "cluster/sum.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { RECORDS = 6 };

static slr_status open_as(slri_log **log, enum slri_log_sync sync, uint64_t segment_bytes)
{
    slri_log_desc desc = {
        .place = folder, .sync = sync, .sync_interval_ns = 1000000, .segment_bytes = segment_bytes, .on_damage = note};
    return slri_log_local.open(&desc, log);
}

static slri_log *open_log(void)
{
    slri_log *log = NULL;
    assert_int_equal(open_as(&log, SLRI_LOG_SYNC_NEVER, 0), SLR_OK);
    return log;
}

enum { ROW_BYTES = 16 };

// Each third one ends with rows.
static bool has_rows(uint64_t n)
{
    return n % 3 == 0;
}

// Bytes of record n: not all end on a multiple of 8.
static size_t bytes_of(uint64_t n)
{
    return 8 + (has_rows(n) ? n % 4 * ROW_BYTES : n % 10 * 5);
}

static slr_status append(slri_log *log, uint64_t n)
{
    unsigned char bytes[64];
    for (uint32_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = (unsigned char)(n * 31 + i);
    slri_append_part parts[] = {{bytes, 8}, {bytes + 8, bytes_of(n) - 8}};
    if (!has_rows(n))
        return slri_log_local.append(log, SLRI_LOG_IN, n - 1, parts, 2);
    const uint32_t rows = (uint32_t)parts[1].bytes / ROW_BYTES;
    const slri_log_rows sum = {ROW_BYTES, slri_rows_add(0, parts[1].data, rows, ROW_BYTES)};
    return slri_log_local.append_rows(log, SLRI_LOG_IN, n - 1, parts, 2, &sum);
}

static slr_status check(void *user, const slri_log_record *record)
{
    uint64_t *seen = user;
    const unsigned char *bytes = record->data;
    assert_int_equal(record->sequence, *seen + 1);
    assert_int_equal(record->bytes, bytes_of(record->sequence));
    for (uint32_t i = 0; i < record->bytes; ++i)
        assert_int_equal(bytes[i], (unsigned char)(record->sequence * 31 + i));
    ++*seen;
    return SLR_OK;
}

static uint64_t count_from(slri_log *log, uint64_t first)
{
    uint64_t seen = first - 1;
    assert_int_equal(slri_log_local.read_from(log, SLRI_LOG_IN, first, check, &seen), SLR_OK);
    return seen;
}

static uint64_t last_of(slri_log *log)
{
    uint64_t first, last;
    slri_log_local.last(log, SLRI_LOG_IN, &first, &last);
    return last;
}

static void path_of(char path[128])
{
    snprintf(path, 128, "%s/in-%020d.log", folder, 1);
}

static size_t load(unsigned char *bytes, size_t room)
{
    char path[128];
    path_of(path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t count = fread(bytes, 1, room, file);
    fclose(file);
    return count;
}

static void store(const unsigned char *bytes, size_t count)
{
    char path[128];
    path_of(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
    assert_int_equal(chmod(path, 0600), 0);
}

static size_t write_records(unsigned char *bytes, size_t room)
{
    slri_log *log = open_log();
    for (uint64_t n = 1; n <= RECORDS; ++n)
        assert_int_equal(append(log, n), SLR_OK);
    slri_log_local.close(log);
    return load(bytes, room);
}

// Where record n ends in the file; 0: the head.
static size_t end_of(uint64_t n)
{
    size_t end = sizeof(slri_segment_head);
    for (uint64_t i = 1; i <= n; ++i)
        end += sizeof(slri_record_head) + (bytes_of(i) + 7) / 8 * 8;
    return end;
}

static void records_come_back_in_order(void **state)
{
    (void)state;
    for (int sync = SLRI_LOG_SYNC_ALWAYS; sync <= SLRI_LOG_SYNC_NEVER; ++sync) {
        slri_log *log;
        assert_int_equal(open_as(&log, (enum slri_log_sync)sync, 0), SLR_OK);
        uint64_t from = last_of(log);
        for (uint64_t n = from + 1; n <= from + 3; ++n)
            assert_int_equal(append(log, n), SLR_OK);
        assert_int_equal(slri_log_local.sync(log, SLRI_LOG_IN), SLR_OK);
        assert_int_equal(append(log, from + 3), SLR_WRONG_STATE); // behind another record than the last one
        assert_int_equal(count_from(log, 1), from + 3);
        assert_int_equal(count_from(log, from + 2), from + 3);
        slri_log_local.close(log);
    }
    assert_int_equal(damages, 0);
}

static slr_status check_long(void *user, const slri_log_record *record)
{
    uint64_t *seen = user;
    assert_int_equal(record->sequence, ++*seen);
    for (uint32_t i = 0; i < record->bytes; ++i)
        assert_int_equal(((const unsigned char *)record->data)[i], (unsigned char)*seen);
    return SLR_OK;
}

// Frames that fill 64 KiB begin at multiples of that, after fillers that a reader skips.
static void long_records_begin_at_pieces_of_a_file(void **state)
{
    enum { PIECE = 1 << 16, LONG = PIECE - 128, ROOM = 4 * PIECE };
    (void)state;
    static unsigned char bytes[LONG], file[ROOM];
    slri_log *log = open_log();
    for (uint64_t n = 1; n <= 3; ++n) {
        const slri_append_part part = {memset(bytes, (int)n, LONG), LONG};
        assert_int_equal(slri_log_local.append(log, SLRI_LOG_IN, n - 1, &part, 1), SLR_OK);
    }
    slri_log_local.close(log);
    assert_int_equal(load(file, ROOM), ROOM);
    for (uint64_t n = 1; n <= 3; ++n)
        assert_memory_equal(file + n * PIECE + sizeof(slri_record_head), memset(bytes, (int)n, LONG), LONG);
    store(file, ROOM - PIECE); // the last one is cut off, the others are whole
    log = open_log();
    uint64_t seen = 0;
    assert_int_equal(slri_log_local.read_from(log, SLRI_LOG_IN, 1, check_long, &seen), SLR_OK);
    assert_int_equal(seen, 2);
    slri_log_local.close(log);
    assert_int_equal(damages, 0);
}

static void a_purge_frees_whole_files_and_keeps_the_rest(void **state)
{
    (void)state;
    slri_log *log;
    uint64_t first, last;
    assert_int_equal(open_as(&log, SLRI_LOG_SYNC_NEVER, 64), SLR_OK); // a record or two a file
    for (uint64_t n = 1; n <= 9; ++n)
        assert_int_equal(append(log, n), SLR_OK);
    uint64_t before = slri_log_local.size(log, SLRI_LOG_IN);
    assert_int_equal(slri_log_local.purge(log, SLRI_LOG_IN, 5), SLR_OK);
    slri_log_local.last(log, SLRI_LOG_IN, &first, &last);
    assert_in_range(first, 2, 6);
    assert_int_equal(last, 9);
    assert_true(slri_log_local.size(log, SLRI_LOG_IN) < before);
    assert_int_equal(count_from(log, 6), 9);
    assert_int_equal(slri_log_local.purge(log, SLRI_LOG_IN, 9), SLR_OK);
    slri_log_local.close(log);
    assert_int_equal(open_as(&log, SLRI_LOG_SYNC_NEVER, 64), SLR_OK);
    assert_int_equal(last_of(log), 9); // the next number is kept, with no record left
    assert_int_equal(append(log, 10), SLR_OK);
    slri_log_local.close(log);
}

static void a_cut_takes_the_end_away(void **state)
{
    (void)state;
    slri_log *log;
    assert_int_equal(open_as(&log, SLRI_LOG_SYNC_NEVER, 100), SLR_OK);
    for (uint64_t n = 1; n <= 9; ++n)
        assert_int_equal(append(log, n), SLR_OK);
    for (uint64_t last = 8; last >= 2; --last) {
        assert_int_equal(slri_log_local.cut(log, SLRI_LOG_IN, last), SLR_OK);
        assert_int_equal(count_from(log, 1), last);
    }
    assert_int_equal(append(log, 3), SLR_OK);
    assert_int_equal(slri_log_local.cut(log, SLRI_LOG_IN, 20), SLR_OK); // goes on behind what is not there
    assert_int_equal(append(log, 21), SLR_OK);
    slri_log_local.close(log);
    log = open_log();
    assert_int_equal(count_from(log, 21), 21);
    slri_log_local.close(log);
}

static void a_file_that_ends_at_any_byte_loses_only_its_last_write(void **state)
{
    (void)state;
    unsigned char bytes[4096];
    size_t count = write_records(bytes, sizeof bytes);
    assert_int_equal(count, end_of(RECORDS));
    for (size_t length = 0; length <= count; ++length) {
        uint64_t whole = 0;
        while (whole < RECORDS && end_of(whole + 1) <= length)
            ++whole;
        bool at_border = length >= end_of(0) && length == end_of(whole);
        damages = 0;
        store(bytes, length);
        slri_log *log = open_log();
        assert_int_equal(last_of(log), whole);
        assert_int_equal(damages, at_border ? 0 : 1);
        if (!at_border)
            assert_non_null(strstr(damage, "were removed"));
        assert_int_equal(append(log, whole + 1), SLR_OK); // and it goes on from there
        slri_log_local.close(log);
        damages = 0;
        log = open_log();
        assert_int_equal(count_from(log, 1), whole + 1);
        assert_int_equal(damages, 0);
        slri_log_local.close(log);
    }
}

static void a_changed_byte_is_cut_off_at_the_end_and_refused_before(void **state)
{
    (void)state;
    unsigned char bytes[4096];
    size_t count = write_records(bytes, sizeof bytes);
    for (size_t at = 0; at < count; ++at) {
        slri_log *log = NULL;
        damages = 0;
        bytes[at] ^= 0x10;
        store(bytes, count);
        slr_status status = open_as(&log, SLRI_LOG_SYNC_NEVER, 0);
        bytes[at] ^= 0x10;
        bool is_padding = false; // behind a record, where nothing counts
        for (uint64_t n = 1; n <= RECORDS; ++n)
            is_padding |= at >= end_of(n - 1) + sizeof(slri_record_head) + bytes_of(n) && at < end_of(n);
        if (is_padding) {
            assert_int_equal(status, SLR_OK);
            assert_int_equal(last_of(log), RECORDS);
        } else if (at >= end_of(RECORDS - 1)) {
            assert_int_equal(status, SLR_OK);
            assert_int_equal(last_of(log), RECORDS - 1);
            assert_int_equal(damages, 1);
        } else {
            assert_int_equal(status, SLR_INVALID);
            assert_int_equal(damages, 1);
            assert_non_null(strstr(slr_error_message(), "in-00000000000000000001.log: damage at byte"));
        }
        if (log)
            slri_log_local.close(log);
    }
}

static void values_are_set_only_over_the_revision_that_was_seen(void **state)
{
    (void)state;
    slri_log *log = open_log();
    char value[16];
    size_t bytes;
    uint64_t revision;
    assert_int_equal(slri_log_local.get(log, "head", value, sizeof value, &bytes, &revision), SLR_NOT_FOUND);
    assert_int_equal(slri_log_local.cas(log, "head", &(uint64_t){1}, "no", 3), SLR_WRONG_STATE);
    assert_int_equal(slri_log_local.cas(log, "head", &(uint64_t){0}, "one", 4), SLR_OK);
    assert_int_equal(slri_log_local.cas(log, "head", &(uint64_t){0}, "no", 3), SLR_WRONG_STATE);
    assert_int_equal(slri_log_local.cas(log, "head", &(uint64_t){1}, "two", 4), SLR_OK);
    assert_int_equal(slri_log_local.get(log, "head", value, sizeof value, &bytes, &revision), SLR_OK);
    assert_int_equal(revision, 2);
    assert_string_equal(value, "two");
    slri_log_local.close(log);
}

static void a_changed_value_is_refused(void **state)
{
    (void)state;
    char path[128];
    slri_log *log = open_log();
    char value[16];
    size_t bytes;
    uint64_t revision;
    assert_int_equal(slri_log_local.cas(log, "head", &(uint64_t){0}, "value", 6), SLR_OK);
    snprintf(path, sizeof path, "%s/head", folder);
    for (off_t at = 0; at < 30; ++at) {
        unsigned char byte;
        int file = open(path, O_RDWR);
        assert_int_equal(pread(file, &byte, 1, at), 1);
        byte ^= 1;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
        assert_int_equal(slri_log_local.get(log, "head", value, sizeof value, &bytes, &revision), SLR_INVALID);
        byte ^= 1;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
        close(file);
    }
    assert_int_equal(slri_log_local.get(log, "head", value, sizeof value, &bytes, &revision), SLR_OK);
    slri_log_local.close(log);
}

static void a_folder_has_one_process_until_that_ends(void **state)
{
    (void)state;
    int ready[2];
    char byte = 0, name[32];
    slri_log *log = NULL;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        log = open_log();
        (void)!append(log, 1);
        (void)!write(ready[1], &byte, 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(open_as(&log, SLRI_LOG_SYNC_NEVER, 0), SLR_WRONG_STATE);
    snprintf(name, sizeof name, "process %ld", (long)child);
    assert_non_null(strstr(slr_error_message(), name));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    log = open_log(); // nothing is left of the lease
    assert_int_equal(last_of(log), 1);
    slri_log_local.close(log);
    close(ready[0]);
    close(ready[1]);
}

static void a_full_disk_refuses_the_record_and_keeps_the_others(void **state)
{
    (void)state;
    struct rlimit limit = {4096, RLIM_INFINITY};
    slri_log *log = open_log();
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    uint64_t n = 1;
    slr_status status;
    unsigned char bytes[600] = {0};
    slri_append_part part = {bytes, sizeof bytes};
    while ((status = slri_log_local.append(log, SLRI_LOG_OUT, n - 1, &part, 1)) == SLR_OK)
        ++n;
    assert_int_equal(status, SLR_SYSTEM);
    assert_non_null(strstr(slr_error_message(), "cannot write"));
    assert_int_equal(n, 7);
    limit.rlim_cur = RLIM_INFINITY;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(slri_log_local.append(log, SLRI_LOG_OUT, n - 1, &part, 1), SLR_OK); // room again
    slri_log_local.close(log);
    log = open_log();
    uint64_t first, last;
    slri_log_local.last(log, SLRI_LOG_OUT, &first, &last);
    assert_int_equal(last, 7);
    assert_int_equal(damages, 0);
    slri_log_local.close(log);
}

// The newest of several files: those that are left follow each other.
static void a_missing_newest_file_is_named(void **state)
{
    (void)state;
    char path[128], name[64];
    slri_log *log;
    assert_int_equal(open_as(&log, SLRI_LOG_SYNC_NEVER, 100), SLR_OK); // a file for each two records or so
    for (uint64_t n = 1; n <= 9; ++n)
        assert_int_equal(append(log, n), SLR_OK);
    slri_log_local.close(log);
    uint64_t newest = 9;
    for (; newest > 1; --newest) {
        snprintf(name, sizeof name, "in-%020d.log is missing", (int)newest);
        snprintf(path, sizeof path, "%s/in-%020d.log", folder, (int)newest);
        if (remove(path) == 0)
            break;
    }
    assert_true(newest > 1);
    assert_int_equal(open_as(&log, SLRI_LOG_SYNC_NEVER, 100), SLR_INVALID);
    assert_string_equal(damage, name);
    assert_non_null(strstr(slr_error_message(), name));
    snprintf(path, sizeof path, "%s/newest", folder); // without the note nobody knows of it
    assert_int_equal(remove(path), 0);
    assert_int_equal(open_as(&log, SLRI_LOG_SYNC_NEVER, 100), SLR_OK);
    assert_int_equal(last_of(log), newest - 1);
    slri_log_local.close(log);
}

// A power cut may leave an empty file, which is there: the log begins where its name says, and no file is missing.
static void a_file_without_a_head_begins_again(void **state)
{
    (void)state;
    slri_log *log = open_log();
    for (uint64_t n = 1; n <= RECORDS; ++n)
        assert_int_equal(append(log, n), SLR_OK);
    assert_int_equal(slri_log_local.cut(log, SLRI_LOG_IN, 20), SLR_OK); // the only file begins with record 21
    slri_log_local.close(log);
    char path[128];
    snprintf(path, sizeof path, "%s/in-%020d.log", folder, 21);
    assert_int_equal(truncate(path, 0), 0);
    for (int time = 0; time < 2; ++time) {
        log = open_log();
        assert_int_equal(damages, 1); // the first time alone
        assert_int_equal(last_of(log), 20);
        assert_true(slri_log_local.size(log, SLRI_LOG_IN) > 0);
        slri_log_local.close(log);
    }
    log = open_log();
    assert_int_equal(append(log, 21), SLR_OK);
    slri_log_local.close(log);
}

static void put_at(const char *name, int is_file)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = is_file ? open(path, O_WRONLY | O_CREAT | O_EXCL, 0600) : mkdir(path, 0700);
    assert_true(fd >= 0);
    if (is_file)
        close(fd);
}

static bool is_there(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void name_in(char name[64], int first)
{
    snprintf(name, 64, "in-%020d.log", first);
}

// A purge that begins a new file on a full disk leaves nothing behind: the records go on in the one before.
static void a_purge_on_a_full_disk_leaves_a_sound_folder(void **state)
{
    (void)state;
    struct rlimit limit = {16, RLIM_INFINITY};
    char name[64];
    slri_log *log;
    name_in(name, 4);
    assert_int_equal(open_as(&log, SLRI_LOG_SYNC_NEVER, 200), SLR_OK);
    for (uint64_t n = 1; n <= 3; ++n)
        assert_int_equal(append(log, n), SLR_OK);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const slr_status status = slri_log_local.purge(log, SLRI_LOG_IN, 3);
    limit.rlim_cur = RLIM_INFINITY;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(status, SLR_SYSTEM);
    assert_false(is_there(name));
    assert_int_equal(append(log, 4), SLR_OK);
    slri_log_local.close(log);
    log = open_log();
    assert_int_equal(damages, 0);
    assert_int_equal(count_from(log, 1), 4);
    slri_log_local.close(log);
}

// Where what failed to begin cannot go either, no record goes on in the file before it.
static void a_file_that_cannot_begin_nor_go_stops_the_log(void **state)
{
    (void)state;
    char name[64], path[128];
    slri_log *log;
    name_in(name, 4);
    assert_int_equal(open_as(&log, SLRI_LOG_SYNC_NEVER, 200), SLR_OK);
    for (uint64_t n = 1; n <= 3; ++n)
        assert_int_equal(append(log, n), SLR_OK);
    put_at(name, 0);
    assert_int_equal(slri_log_local.purge(log, SLRI_LOG_IN, 3), SLR_SYSTEM);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(append(log, 4), SLR_SYSTEM);
    slri_log_local.close(log);
    log = open_log();
    assert_int_equal(count_from(log, 1), 3);
    slri_log_local.close(log);
}

// As a full disk left it in older versions: at the end, and where the next file was begun later.
static void an_empty_file_whose_records_are_in_the_one_before_goes(void **state)
{
    (void)state;
    char name[64], path[128];
    for (int later = 0; later < 2; ++later) {
        const int first = later ? 14 : 4, last = first + 1;
        slri_log *log;
        assert_int_equal(open_as(&log, SLRI_LOG_SYNC_NEVER, 4096), SLR_OK);
        for (uint64_t n = last_of(log) + 1; n <= (uint64_t)last; ++n)
            assert_int_equal(append(log, n), SLR_OK);
        if (later) {
            slri_log_local.close(log);
            assert_int_equal(open_as(&log, SLRI_LOG_SYNC_NEVER, 100), SLR_OK);
            assert_int_equal(append(log, (uint64_t)last + 1), SLR_OK); // begins a file
        }
        slri_log_local.close(log);
        name_in(name, first);
        put_at(name, 1);
        slri_log_desc desc = {.place = folder, .reads_only = 1, .on_damage = note};
        assert_int_equal(slri_log_local.open(&desc, &log), SLR_OK);
        assert_int_equal(count_from(log, 1), last + later);
        slri_log_local.close(log);
        assert_true(is_there(name)); // a reader changes nothing
        log = open_log();
        assert_int_equal(count_from(log, 1), last + later);
        assert_int_equal(damages, 0);
        assert_false(is_there(name));
        slri_log_local.close(log);
    }
    for (int first = 1; first <= 4; first += 3) { // the file before it was purged since
        name_in(name, first);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        (void)remove(path);
    }
    put_at(name, 1);
    slri_log *log = open_log();
    assert_int_equal(count_from(log, 16), 16);
    assert_int_equal(damages, 0);
    assert_false(is_there(name));
    slri_log_local.close(log);
}

// A folder in the way of the new name stops a cut in its middle, as a kill might. A file is left, so that the log is
// no missing one, and the cut can be made again.
static void a_cut_that_stops_leaves_a_file(void **state)
{
    (void)state;
    char name[64], path[128];
    for (int down = 0; down < 2; ++down) {
        const int last = down ? 4 : 20, files = down ? 30 : 3;
        slri_log *log;
        assert_int_equal(open_as(&log, down ? SLRI_LOG_SYNC_ALWAYS : SLRI_LOG_SYNC_NEVER, 100), SLR_OK);
        if (down)
            assert_int_equal(slri_log_local.cut(log, SLRI_LOG_IN, 27), SLR_OK);
        for (uint64_t n = last_of(log) + 1; n <= (uint64_t)files; ++n)
            assert_int_equal(append(log, n), SLR_OK);
        name_in(name, last + 1);
        put_at(name, 0);
        assert_int_not_equal(slri_log_local.cut(log, SLRI_LOG_IN, (uint64_t)last), SLR_OK);
        assert_int_not_equal(append(log, last_of(log) + 1), SLR_OK);
        slri_log_local.close(log);
        snprintf(path, sizeof path, "%s/%s", folder, name);
        assert_int_equal(rmdir(path), 0);
        log = open_log();
        assert_true(slri_log_local.size(log, SLRI_LOG_IN) > 0);
        assert_int_equal(slri_log_local.cut(log, SLRI_LOG_IN, (uint64_t)last), SLR_OK);
        slri_log_local.close(log);
        log = open_log();
        assert_int_equal(last_of(log), last);
        assert_true(slri_log_local.size(log, SLRI_LOG_IN) > 0);
        slri_log_local.close(log);
    }
}

static void a_reader_changes_nothing(void **state)
{
    (void)state;
    unsigned char bytes[4096], after[4096];
    size_t count = write_records(bytes, sizeof bytes) - 3;
    slri_log_desc desc = {.place = folder, .reads_only = 1, .on_damage = note};
    slri_log *log, *owner;
    store(bytes, count);
    assert_int_equal(slri_log_local.open(&desc, &log), SLR_OK);
    assert_int_equal(damages, 1);
    assert_int_equal(last_of(log), RECORDS - 1);
    assert_int_equal(count_from(log, 1), RECORDS - 1);
    assert_int_equal(load(after, sizeof after), count);
    owner = open_log(); // a reader takes no lease
    slri_log_local.close(owner);
    slri_log_local.close(log);
    desc.place = "/tmp/slipring-log-none";
    assert_int_equal(slri_log_local.open(&desc, &log), SLR_NOT_FOUND);
}

// The reader of a folder in use tries again: to it, NOT_FOUND would say that there is no folder.
static void a_file_that_was_purged_since_it_was_found_is_no_missing_folder(void **state)
{
    (void)state;
    slri_log *log = open_log();
    char *content;
    size_t bytes;
    assert_int_equal(slri_local_read_file((const slri_local *)log, SLRI_LOG_IN, 7, &content, &bytes), SLR_SYSTEM);
    slri_log_local.close(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_come_back_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_records_begin_at_pieces_of_a_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_purge_frees_whole_files_and_keeps_the_rest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_takes_the_end_away, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_ends_at_any_byte_loses_only_its_last_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_changed_byte_is_cut_off_at_the_end_and_refused_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_are_set_only_over_the_revision_that_was_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_changed_value_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_has_one_process_until_that_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_refuses_the_record_and_keeps_the_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_purge_on_a_full_disk_leaves_a_sound_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_begin_nor_go_stops_the_log, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_file_whose_records_are_in_the_one_before_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_that_stops_leaves_a_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reader_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_newest_file_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_without_a_head_begins_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_was_purged_since_it_was_found_is_no_missing_folder, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
