// SPDX-License-Identifier: Apache-2.0
#include "kernel/cache.h"
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define KEY "0123456789abcdef0123456789abcdef"
#define OTHER "f123456789abcdef0123456789abcdef"

// A new folder in which the test's cache ("cache") and temporary files ("tmp") are.
static char root[256], folder[300], temporary[300], staged[300];

static void write_file(const char *path, const char *text)
{
    assert_int_equal(slri_file_write_atomic(path, text, strlen(text)), SLR_OK);
}

static int set_up(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/slipring-cache-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(root))
        return -1;
    snprintf(folder, sizeof folder, "%s/cache", root);
    snprintf(temporary, sizeof temporary, "%s/tmp", root);
    snprintf(staged, sizeof staged, "%s/staged", root);
    setenv("SLIPRING_CACHE_DIR", folder, 1);
    setenv("TMPDIR", temporary, 1);
    return mkdir(temporary, 0700);
}

static int tear_down(void **state)
{
    char command[400];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    setenv("TMPDIR", "/tmp", 1);
    return system(command);
}

static void publish(slri_cache *cache, const char *key, const char *text)
{
    write_file(staged, text);
    assert_int_equal(slri_cache_publish_file(cache, key, ".so", staged, "one\nfile.cu\nhow"), SLR_OK);
}

static char *entry_of(const char *key)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s.so", folder, key);
    return path;
}

static void an_entry_is_found_again_and_begins_with_its_content(void **state)
{
    slri_cache cache;
    char *path, *content;
    size_t bytes;
    (void)state;
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    assert_null(cache.why_private);
    assert_string_equal(cache.folder, folder);
    assert_int_equal(slri_cache_find(&cache, KEY, ".so", &path), SLR_NOT_FOUND);
    publish(&cache, KEY, "machine code");
    assert_int_equal(slri_cache_find(&cache, KEY, ".so", &path), SLR_OK);
    assert_string_equal(path, entry_of(KEY));
    assert_int_equal(slri_file_read(path, 1000, &content, &bytes), SLR_OK);
    assert_int_equal(bytes, 12 + 15 + 64);
    assert_memory_equal(content, "machine code", 12);
    free(content);
    free(path);
    slri_cache_close(&cache);
    assert_true(slri_file_identify(entry_of(KEY), NULL));
}

static void bytes_make_the_entry_that_a_file_of_them_makes(void **state)
{
    slri_cache cache;
    char *of_file, *of_bytes;
    size_t length[2];
    (void)state;
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    publish(&cache, KEY, "machine code");
    assert_int_equal(slri_file_read(entry_of(KEY), 1000, &of_file, &length[0]), SLR_OK);
    assert_int_equal(slri_file_remove(entry_of(KEY)), SLR_OK);
    assert_int_equal(slri_cache_publish(&cache, KEY, ".so", "machine code", 12, "one\nfile.cu\nhow"), SLR_OK);
    assert_int_equal(slri_file_read(entry_of(KEY), 1000, &of_bytes, &length[1]), SLR_OK);
    assert_int_equal(length[0], length[1]);
    assert_memory_equal(of_file, of_bytes, length[0]);
    free(of_file);
    free(of_bytes);
    slri_cache_close(&cache);
}

// Each byte in turn: content, magic, size, digest and padding.
static void a_changed_byte_makes_a_miss(void **state)
{
    slri_cache cache;
    char *path, *content;
    size_t bytes;
    (void)state;
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    publish(&cache, KEY, "machine code");
    assert_int_equal(slri_file_read(entry_of(KEY), 1000, &content, &bytes), SLR_OK);
    for (size_t i = 0; i < bytes; i++) {
        content[i] ^= 4;
        assert_int_equal(slri_file_write_atomic(entry_of(KEY), content, bytes), SLR_OK);
        assert_int_equal(slri_cache_find(&cache, KEY, ".so", &path), SLR_NOT_FOUND);
        content[i] ^= 4;
    }
    for (size_t kept = 0; kept < bytes; kept += 7) {
        assert_int_equal(slri_file_write_atomic(entry_of(KEY), content, kept), SLR_OK);
        assert_int_equal(slri_cache_find(&cache, KEY, ".so", &path), SLR_NOT_FOUND);
    }
    publish(&cache, KEY, "machine code");
    assert_int_equal(slri_cache_find(&cache, KEY, ".so", &path), SLR_OK);
    free(path);
    free(content);
    slri_cache_close(&cache);
}

static void an_entry_under_another_key_is_a_miss(void **state)
{
    slri_cache cache;
    char *path, from[400];
    (void)state;
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    publish(&cache, KEY, "machine code");
    snprintf(from, sizeof from, "%s", entry_of(KEY));
    assert_int_equal(slri_file_rename(from, entry_of(OTHER)), SLR_OK);
    assert_int_equal(slri_cache_find(&cache, OTHER, ".so", &path), SLR_NOT_FOUND);
    slri_cache_close(&cache);
}

struct counted {
    int whole, damaged;
    char label[64];
};

static void count(void *user, const slri_cache_item *item)
{
    struct counted *counted = user;
    counted->whole += item->is_whole;
    counted->damaged += !item->is_whole;
    if (item->is_whole)
        snprintf(counted->label, sizeof counted->label, "%s", item->label);
}

static void visit_tells_whole_entries_from_damaged_ones_and_passes_over_what_is_not_ours(void **state)
{
    slri_cache cache;
    struct counted counted = {0};
    char path[400];
    (void)state;
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    publish(&cache, KEY, "machine code");
    write_file(entry_of(OTHER), "half");
    snprintf(path, sizeof path, "%s/notes.txt", folder);
    write_file(path, "the user's");
    snprintf(path, sizeof path, "%s/.tmp-1-2-3", folder); // being written
    write_file(path, "");
    assert_int_equal(slri_cache_visit(cache.in, count, &counted), SLR_OK);
    assert_int_equal(counted.whole, 1);
    assert_int_equal(counted.damaged, 1);
    assert_string_equal(counted.label, "one\nfile.cu\nhow");
    slri_cache_close(&cache);
}

static void a_key_that_is_not_hexadecimal_is_refused(void **state)
{
    static const char *const bad[] = {"../../../../../etc/passwd0000000", "0123456789ABCDEF0123456789abcdef", "", "0"};
    slri_cache cache;
    char *path;
    (void)state;
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(slri_cache_find(&cache, bad[i], ".so", &path), SLR_INTERNAL);
    slri_cache_close(&cache);
}

static void the_folder_is_made_for_this_user_alone(void **state)
{
    slri_cache cache;
    struct stat about;
    (void)state;
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    assert_int_equal(stat(folder, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    slri_cache_close(&cache);
}

// Opens the cache, which must be private for a reason that holds `reason`, uses it, and sees it gone.
static void expect_private(const char *reason)
{
    slri_cache cache;
    struct stat about;
    char *path, was[400];
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    assert_non_null(cache.why_private);
    if (!strstr(cache.why_private, reason))
        fail_msg("\"%s\" does not hold \"%s\"", cache.why_private, reason);
    snprintf(was, sizeof was, "%s", cache.folder);
    assert_int_equal(strncmp(was, temporary, strlen(temporary)), 0);
    assert_int_equal(stat(was, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    publish(&cache, KEY, "machine code");
    assert_int_equal(slri_cache_find(&cache, KEY, ".so", &path), SLR_OK);
    free(path);
    slri_cache_close(&cache);
    assert_int_not_equal(stat(was, &about), 0);
    assert_false(slri_file_identify(entry_of(KEY), NULL));
}

static void a_folder_that_everybody_can_write_is_not_used(void **state)
{
    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    expect_private("can be written by everybody");
}

static void a_folder_that_its_group_can_write_is_not_used(void **state)
{
    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, 0770), 0);
    expect_private("can be written by its group");
}

static void a_folder_below_one_that_everybody_can_write_is_not_used(void **state)
{
    char below[320];
    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    snprintf(below, sizeof below, "%s/mine", folder);
    assert_int_equal(mkdir(below, 0700), 0);
    setenv("SLIPRING_CACHE_DIR", below, 1);
    expect_private("other users may rename what lies in");
}

// Whole by every check of its content, which anybody can compute.
static void an_entry_that_another_user_may_have_written_is_a_miss(void **state)
{
    slri_cache cache;
    struct counted counted = {0};
    char *path;
    (void)state;
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    publish(&cache, KEY, "machine code");
    assert_int_equal(chmod(entry_of(KEY), 0660), 0);
    assert_int_equal(slri_cache_find(&cache, KEY, ".so", &path), SLR_NOT_FOUND);
    assert_int_equal(slri_cache_visit(cache.in, count, &counted), SLR_OK);
    assert_int_equal(counted.damaged, 1);
    assert_int_equal(chmod(entry_of(KEY), 0600), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(entry_of(KEY), 65534, 65534), 0);
        assert_int_equal(slri_cache_find(&cache, KEY, ".so", &path), SLR_NOT_FOUND);
    }
    publish(&cache, KEY, "machine code"); // in its place
    assert_int_equal(slri_cache_find(&cache, KEY, ".so", &path), SLR_OK);
    free(path);
    slri_cache_close(&cache);
}

static void a_folder_of_another_user_is_not_used(void **state)
{
    (void)state;
    if (geteuid() == 0) {
        assert_int_equal(mkdir(folder, 0700), 0);
        assert_int_equal(chown(folder, 65534, 65534), 0);
    } else {
        setenv("SLIPRING_CACHE_DIR", "/", 1);
    }
    expect_private("belongs to another user");
}

static void a_folder_that_cannot_be_made_is_replaced(void **state)
{
    (void)state;
    write_file(folder, "a file");
    expect_private("cannot make the folder");
}

static void without_any_folder_the_reason_names_both(void **state)
{
    slri_cache cache;
    (void)state;
    write_file(folder, "a file");
    setenv("TMPDIR", "/nowhere", 1);
    assert_int_equal(slri_cache_open(&cache), SLR_SYSTEM);
    assert_non_null(strstr(slr_error_message(), folder));
    assert_non_null(strstr(slr_error_message(), "/nowhere:"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_entry_is_found_again_and_begins_with_its_content),
        CASE(bytes_make_the_entry_that_a_file_of_them_makes),
        CASE(a_changed_byte_makes_a_miss),
        CASE(an_entry_under_another_key_is_a_miss),
        CASE(visit_tells_whole_entries_from_damaged_ones_and_passes_over_what_is_not_ours),
        CASE(a_key_that_is_not_hexadecimal_is_refused),
        CASE(the_folder_is_made_for_this_user_alone),
        CASE(a_folder_that_everybody_can_write_is_not_used),
        CASE(a_folder_that_its_group_can_write_is_not_used),
        CASE(a_folder_below_one_that_everybody_can_write_is_not_used),
        CASE(an_entry_that_another_user_may_have_written_is_a_miss),
        CASE(a_folder_of_another_user_is_not_used),
        CASE(a_folder_that_cannot_be_made_is_replaced),
        CASE(without_any_folder_the_reason_names_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
