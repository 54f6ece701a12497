// SPDX-License-Identifier: Apache-2.0
// The file of what was tuned, in a cache folder of the test's own.
#include "tune/record.h"

#include "base/folder.h"
#include "base/status.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[300];
static const struct slri_tuned_place place = {"cpu", "a \"model\" \\ of 2\tcores", "cc 12", "avx"};

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/slipring-tuned-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    return setenv("SLIPRING_CACHE_DIR", folder, 1);
}

static int tear_down(void **state)
{
    slri_folder *opened;
    (void)state;
    if (slri_folder_open(folder, &opened) != SLR_OK)
        return -1;
    slri_folder_discard(opened);
    return 0;
}

static struct slri_tuned_record make(const char *kernel, uint64_t n)
{
    struct slri_tuned_record record = {.threads = {n, 2, 1},
                                       .block = {64, 4, 1},
                                       .vector_width = 8,
                                       .is_exact = true,
                                       .default_ps = 12345678901234u,
                                       .tuned_ps = 777,
                                       .speedup_permille = 1403,
                                       .low_permille = 1100,
                                       .high_permille = 1900,
                                       .evaluations = 12};
    snprintf(record.source, sizeof record.source, "0123456789abcdef0123456789abcdef");
    snprintf(record.kernel, sizeof record.kernel, "%s", kernel);
    snprintf(record.defines, sizeof record.defines, "TILE=16 ROWS=-2");
    snprintf(record.metric, sizeof record.metric, "time");
    return record;
}

struct found {
    struct slri_tuned_record last;
    uint32_t count, current;
};

static void note(void *user, const struct slri_tuned_record *record, bool is_current)
{
    struct found *found = user;
    found->last = *record;
    ++found->count;
    found->current += is_current;
}

static struct found look(const struct slri_tuned_place *where)
{
    struct found found = {.count = 0};
    slr_status status = slri_tuned_visit(where, note, &found);
    assert_true(status == SLR_OK || status == SLR_NOT_FOUND);
    return found;
}

static void what_is_kept_is_found_as_it_was(void **state)
{
    (void)state;
    struct slri_tuned_record record = make("matmul", 18446744073709551615u);
    assert_int_equal(slri_tuned_keep(&place, &record), SLR_OK);
    struct found found = look(&place);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.current, 1);
    assert_memory_equal(&found.last, &record, sizeof record);
}

static void another_driver_or_compiler_is_not_current_and_another_device_not_there(void **state)
{
    (void)state;
    struct slri_tuned_record record = make("matmul", 1024);
    struct slri_tuned_place other = place;
    assert_int_equal(slri_tuned_keep(&place, &record), SLR_OK);
    snprintf(other.driver, sizeof other.driver, "avx2");
    assert_int_equal(look(&other).count, 1);
    assert_int_equal(look(&other).current, 0);
    other = place;
    snprintf(other.compiler, sizeof other.compiler, "cc 13");
    assert_int_equal(look(&other).current, 0);
    other = place;
    snprintf(other.device, sizeof other.device, "cuda:0");
    assert_int_equal(look(&other).count, 0);
    other = place;
    snprintf(other.model, sizeof other.model, "another one");
    assert_int_equal(look(&other).count, 0);
}

static void a_record_replaces_the_one_for_the_same_problem_only(void **state)
{
    (void)state;
    struct slri_tuned_record first = make("matmul", 1024), second = make("matmul", 2048), again = first;
    assert_int_equal(slri_tuned_keep(&place, &first), SLR_OK);
    assert_int_equal(slri_tuned_keep(&place, &second), SLR_OK);
    again.tuned_ps = 5;
    assert_int_equal(slri_tuned_keep(&place, &again), SLR_OK);
    struct found found = look(&place);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.last.tuned_ps, 5);
    assert_int_equal(found.last.threads[0], 1024);
}

static struct slri_tuned_place with_driver(int number)
{
    struct slri_tuned_place made = place;
    snprintf(made.driver, sizeof made.driver, "driver %d", number);
    return made;
}

static struct slri_tuned_record current;

static void note_current(void *user, const struct slri_tuned_record *record, bool is_current)
{
    *(uint32_t *)user += is_current;
    current = is_current ? *record : current;
}

// 0: the place has none.
static uint64_t tuned_ps_at(const struct slri_tuned_place *where)
{
    uint32_t count = 0;
    assert_int_equal(slri_tuned_visit(where, note_current, &count), SLR_OK);
    assert_true(count <= 1);
    return count ? current.tuned_ps : 0;
}

static void keep_with(const struct slri_tuned_place *where, struct slri_tuned_record record, uint64_t tuned_ps)
{
    record.tuned_ps = tuned_ps;
    assert_int_equal(slri_tuned_keep(where, &record), SLR_OK);
}

static void the_choice_of_another_driver_or_compiler_stays(void **state)
{
    (void)state;
    const struct slri_tuned_record record = make("matmul", 1024);
    struct slri_tuned_place driver = with_driver(1), compiler = place;
    snprintf(compiler.compiler, sizeof compiler.compiler, "cc 13");
    keep_with(&place, record, 5);
    keep_with(&driver, record, 6);
    keep_with(&compiler, record, 7);
    keep_with(&driver, record, 8); // in place of its own
    assert_int_equal(tuned_ps_at(&place), 5);
    assert_int_equal(tuned_ps_at(&driver), 8);
    assert_int_equal(tuned_ps_at(&compiler), 7);
    assert_int_equal(look(&place).count, 3);
}

static void of_one_problem_the_newest_four_choices_stay(void **state)
{
    (void)state;
    struct slri_tuned_place where[9];
    for (int i = 0; i < 9; i++) {
        where[i] = with_driver(i);
        keep_with(&where[i], make("matmul", 1024), 10 + (uint64_t)i);
        if (i == 0)
            keep_with(&where[i], make("matmul", 2048), 99); // has one choice
        if (i == 7)
            keep_with(&where[5], make("matmul", 1024), 50); // new again
    }
    assert_int_equal(look(&where[0]).count, 5);
    for (int i = 0; i < 9; i++)
        assert_int_equal(tuned_ps_at(&where[i]), i == 0 ? 99 : i == 5 ? 50 : i >= 6 ? 10 + i : 0);
}

static void write_line(const char *line)
{
    char path[600];
    DIR *opened = opendir(folder);
    const struct dirent *entry;
    while ((entry = readdir(opened)))
        if (strncmp(entry->d_name, "tuned-", 6) == 0) {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            FILE *file = fopen(path, "a");
            fputs(line, file);
            fclose(file);
        }
    closedir(opened);
}

static void a_damaged_line_is_passed_over(void **state)
{
    (void)state;
    struct slri_tuned_record record = make("matmul", 1024), other = make("reduce", 1);
    assert_int_equal(slri_tuned_keep(&place, &record), SLR_OK);
    write_line("{\"source\": \"0123\", \"kernel\": \"x\n{}\n\nnonsense\n{\"source\": 7}\n");
    assert_int_equal(look(&place).count, 1);
    assert_int_equal(slri_tuned_keep(&place, &other), SLR_OK); // and goes with the next writing
    assert_int_equal(look(&place).count, 2);
}

static char *read_tuned(char path[600], size_t *bytes)
{
    DIR *opened = opendir(folder);
    const struct dirent *entry;
    char *text = NULL;
    while (!text && (entry = readdir(opened)))
        if (strncmp(entry->d_name, "tuned-", 6) == 0) {
            snprintf(path, 600, "%s/%s", folder, entry->d_name);
            FILE *file = fopen(path, "rb");
            text = calloc(1, 65536);
            *bytes = fread(text, 1, 65535, file);
            fclose(file);
        }
    closedir(opened);
    assert_non_null(text);
    return text;
}

static void write_tuned(const char *path, const char *text, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    fwrite(text, 1, bytes, file);
    fclose(file);
}

// "block": [16, 16, 1] may become [96, 16, 1], which reads as well as before, and which no launch takes.
static void a_line_of_which_one_byte_has_changed_is_passed_over(void **state)
{
    (void)state;
    char path[600];
    size_t bytes;
    struct slri_tuned_record record = make("matmul", 1024);
    assert_int_equal(slri_tuned_keep(&place, &record), SLR_OK);
    char *text = read_tuned(path, &bytes);
    for (size_t i = 0; i + 1 < bytes; i++) { // the newline at the end may be missing
        static const char others[] = {'0', '9', '"', ' ', '\n', '\0'};
        for (size_t k = 0; k < sizeof others; k++) {
            const char was = text[i];
            if (was == others[k])
                continue;
            text[i] = others[k];
            write_tuned(path, text, bytes);
            if (look(&place).count != 0)
                fail_msg("byte %zu: %.*s", i, (int)bytes, text);
            text[i] = was;
        }
    }
    write_tuned(path, text, bytes);
    assert_int_equal(look(&place).count, 1);
    free(text);
}

// As another version of the library has it.
static void change_version(char *line, size_t bytes)
{
    static const char before[] = ", \"check\": \"";
    char hex[SLRI_HASH_HEX_BYTES], *version = strstr(line, "\"version\": \"") + strlen("\"version\": \"");
    char *check = strstr(line, before);
    slri_hash hash;
    *version = '9';
    slri_hash_init(&hash);
    slri_hash_field(&hash, line, (size_t)(check - line));
    slri_hash_hex(&hash, hex);
    assert_true(check + strlen(before) + strlen(hex) < line + bytes);
    memcpy(check + strlen(before), hex, strlen(hex));
}

static void the_choice_of_another_version_of_the_library_stays(void **state)
{
    (void)state;
    char path[600];
    size_t bytes;
    keep_with(&place, make("matmul", 1024), 5);
    char *text = read_tuned(path, &bytes);
    change_version(text, bytes);
    write_tuned(path, text, bytes);
    free(text);
    assert_int_equal(look(&place).count, 1);
    assert_int_equal(look(&place).current, 0);
    keep_with(&place, make("matmul", 1024), 6);
    assert_int_equal(look(&place).count, 2);
    assert_int_equal(tuned_ps_at(&place), 6);
}

struct full {
    uint32_t oldest, fillers, newest;
};

static void note_full(void *user, const struct slri_tuned_record *record, bool is_current)
{
    struct full *full = user;
    (void)is_current;
    full->oldest += strcmp(record->kernel, "oldest") == 0;
    full->fillers += strcmp(record->kernel, "filler") == 0;
    full->newest += strcmp(record->kernel, "newest") == 0;
}

// Else the file would be too long to be read, and the next choice would replace it.
static void of_a_full_file_the_oldest_lines_go(void **state)
{
    (void)state;
    enum { LIMIT = 8 << 20 };
    char path[600];
    size_t bytes;
    keep_with(&place, make("oldest", 1), 1);
    keep_with(&place, make("filler", 1), 1);
    char *text = read_tuned(path, &bytes);
    const char *filler = strchr(text, '\n') + 1;
    const uint32_t fillers = (uint32_t)((LIMIT - bytes) / strlen(filler));
    FILE *file = fopen(path, "ab");
    for (uint32_t i = 0; i < fillers; i++)
        fputs(filler, file);
    fclose(file);
    free(text);
    for (uint32_t i = 1; i <= 2; i++) {
        struct full full = {0};
        keep_with(&place, make("newest", i), 1);
        assert_int_equal(slri_tuned_visit(&place, note_full, &full), SLR_OK);
        assert_int_equal(full.oldest, 0);
        assert_int_equal(full.newest, i);
        assert_true(full.fillers >= fillers - 2);
    }
}

static void zeros_in_the_file_hide_no_other_line(void **state)
{
    (void)state;
    char path[600];
    size_t bytes;
    struct slri_tuned_record first = make("matmul", 1024), second = make("matmul", 2048);
    assert_int_equal(slri_tuned_keep(&place, &first), SLR_OK);
    assert_int_equal(slri_tuned_keep(&place, &second), SLR_OK);
    char *text = read_tuned(path, &bytes);
    memset(text + 8, 0, 64);
    write_tuned(path, text, bytes);
    struct found found = look(&place);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.last.threads[0], 2048);
    free(text);
}

static void processes_that_write_at_once_lose_nothing(void **state)
{
    enum { PROCESSES = 4, RECORDS = 25 };
    (void)state;
    for (int p = 0; p < PROCESSES; p++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child > 0)
            continue;
        slr_status status = SLR_OK;
        for (uint64_t i = 0; i < RECORDS && status == SLR_OK; i++) {
            struct slri_tuned_record record = make("matmul", (uint64_t)p * RECORDS + i);
            status = slri_tuned_keep(&place, &record);
        }
        _exit(status == SLR_OK ? 0 : 1);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int code;
        assert_true(wait(&code) > 0);
        assert_int_equal(code, 0);
    }
    assert_int_equal(look(&place).count, PROCESSES * RECORDS);
}

static void count_all(void *user, const struct slri_tuned_place *where, const struct slri_tuned_record *record)
{
    assert_string_equal(record->kernel, "matmul");
    *(uint32_t *)user += strcmp(where->device, "cuda:0") == 0 ? 100 : 1;
}

static void all_devices_are_visited(void **state)
{
    (void)state;
    struct slri_tuned_record record = make("matmul", 1024);
    struct slri_tuned_place other = place;
    uint32_t count = 0;
    snprintf(other.device, sizeof other.device, "cuda:0");
    assert_int_equal(slri_tuned_keep(&place, &record), SLR_OK);
    assert_int_equal(slri_tuned_keep(&other, &record), SLR_OK);
    assert_int_equal(slri_tuned_visit_all(count_all, &count), SLR_OK);
    assert_int_equal(count, 101);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(what_is_kept_is_found_as_it_was),
        CASE(another_driver_or_compiler_is_not_current_and_another_device_not_there),
        CASE(a_record_replaces_the_one_for_the_same_problem_only),
        CASE(the_choice_of_another_driver_or_compiler_stays),
        CASE(of_one_problem_the_newest_four_choices_stay),
        CASE(a_damaged_line_is_passed_over),
        CASE(a_line_of_which_one_byte_has_changed_is_passed_over),
        CASE(the_choice_of_another_version_of_the_library_stays),
        CASE(of_a_full_file_the_oldest_lines_go),
        CASE(zeros_in_the_file_hide_no_other_line),
        CASE(processes_that_write_at_once_lose_nothing),
        CASE(all_devices_are_visited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
