// SPDX-License-Identifier: Apache-2.0
#include "engine/cache.h"
#include "base/file.h"
#include "base/status.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/thread.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
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
#ifdef _WIN32
    skip(); // folders have no modes there
#endif
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
#ifndef _WIN32 // where folders have no modes
    assert_int_equal(about.st_mode & 0777, 0700);
#endif
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
    expect_private("every user can write to the folder");
}

static void a_folder_that_its_group_can_write_is_not_used(void **state)
{
    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, 0770), 0);
    expect_private("the group can write to the folder");
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
    expect_private("other users may rename files in");
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
    expect_private("is a file, not a folder");
}

static void without_any_folder_there_are_no_entries_and_the_reason_names_both(void **state)
{
    slri_cache cache;
    char *content, described[600];
    size_t bytes;
    (void)state;
    write_file(folder, "a file");
    setenv("TMPDIR", "/nowhere", 1);
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    assert_null(cache.folder);
    assert_non_null(strstr(cache.why_private, folder));
    assert_non_null(strstr(cache.why_private, "/nowhere"));
    assert_int_equal(slri_cache_publish(&cache, KEY, ".so", "x", 1, ""), SLR_SYSTEM);
    assert_int_equal(slri_cache_read(&cache, KEY, ".so", &content, &bytes), SLR_NOT_FOUND);
    assert_int_equal(slri_cache_find(&cache, KEY, ".so", &content), SLR_NOT_FOUND);
    slri_cache_close(&cache);
    slri_cache_describe(described, sizeof described);
    assert_ptr_equal(strstr(described, "none: the user's cache folder is not used: "), described);
    assert_non_null(strstr(described, "/nowhere"));
}

// ---- made once, bounded --------------------------------------------------------------------------------------------

static struct slri_cache_counts counts_of(const slri_cache *cache)
{
    struct slri_cache_counts counts;
    assert_int_equal(slri_cache_counts(cache->in, &counts), SLR_OK);
    return counts;
}

// One who wants the entry KEY. Making takes longer than all need to come.
struct wanting {
    slri_thread thread;
    slri_cache cache;
    bool was_cached;
    slr_status status;
};
static uint32_t made; // atomic, relaxed: a count

static slr_status find_it(void *user)
{
    struct wanting *w = user;
    char *content;
    size_t bytes;
    SLRI_TRY(slri_cache_read(&w->cache, KEY, ".so", &content, &bytes));
    free(content);
    return SLR_OK;
}

static slr_status make_it(void *user)
{
    struct wanting *w = user;
    __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
    slri_sleep_ns(200000000);
    return slri_cache_publish(&w->cache, KEY, ".so", "code", 4, "one\n\n");
}

static void want(void *user)
{
    struct wanting *w = user;
    const struct slri_cache_maker maker = {find_it, make_it, w, NULL};
    w->status = slri_cache_open(&w->cache);
    if (w->status == SLR_OK)
        w->status = slri_cache_find_or_make(&w->cache, KEY, &maker, &w->was_cached);
    slri_cache_close(&w->cache);
}

static void eight_threads_that_want_one_entry_make_it_once(void **state)
{
    (void)state;
    static struct wanting w[8];
    slri_cache cache;
    int cached = 0;
    made = 0;
    for (int i = 0; i < 8; i++)
        assert_int_equal(slri_thread_start(&w[i].thread, "wants", want, &w[i]), SLR_OK);
    for (int i = 0; i < 8; i++) {
        slri_thread_join(&w[i].thread);
        assert_int_equal(w[i].status, SLR_OK);
        cached += w[i].was_cached;
    }
    assert_int_equal(made, 1);
    assert_int_equal(cached, 7);
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    struct slri_cache_counts counts = counts_of(&cache);
    assert_int_equal(counts.hits, 7);
    assert_int_equal(counts.misses, 1);
    assert_int_equal(counts.stores, 1);
    slri_cache_close(&cache);
}

// Each child ends with 1 where it has made it, else 0.
static pid_t fork_wanting(void)
{
    fflush(NULL);
    pid_t child = fork();
    if (child != 0)
        return child;
    static struct wanting w;
    want(&w);
    _exit(w.status != SLR_OK ? 2 : !w.was_cached);
}

static void processes_that_want_one_entry_make_it_once(void **state)
{
    (void)state;
    pid_t child[6];
    int sum = 0;
    for (int i = 0; i < 6; i++)
        assert_true((child[i] = fork_wanting()) > 0);
    for (int i = 0; i < 6; i++) {
        int end;
        assert_int_equal(waitpid(child[i], &end, 0), child[i]);
        assert_true(WIFEXITED(end) && WEXITSTATUS(end) < 2);
        sum += WEXITSTATUS(end);
    }
    assert_int_equal(sum, 1);
}

static slr_status never_ends(void *user)
{
    int tell = *(int *)user;
    (void)!write(tell, "x", 1);
    pause();
    return SLR_SYSTEM;
}

static slr_status finds_nothing(void *user)
{
    (void)user;
    return SLR_NOT_FOUND;
}

static void a_maker_that_is_killed_is_waited_for_no_longer(void **state)
{
    (void)state;
    int ends[2], end;
    char byte;
    struct wanting w = {0};
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool was_cached;
        const struct slri_cache_maker maker = {finds_nothing, never_ends, &ends[1], NULL};
        if (slri_cache_open(&w.cache) == SLR_OK)
            slri_cache_find_or_make(&w.cache, KEY, &maker, &was_cached);
        _exit(1);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1); // it holds the lock
    made = 0;
    assert_int_equal(slri_thread_start(&w.thread, "wants", want, &w), SLR_OK);
    slri_sleep_ns(50000000);
    assert_int_equal(__atomic_load_n(&made, __ATOMIC_RELAXED), 0);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &end, 0), child);
    slri_thread_join(&w.thread);
    assert_int_equal(w.status, SLR_OK);
    assert_int_equal(made, 1);
    close(ends[0]);
    close(ends[1]);
}

static void who_waits_may_be_told_to_stop_and_has_a_deadline(void **state)
{
    (void)state;
    slri_cache cache;
    int held, lock;
    uint32_t cancel = 1;
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    assert_int_equal(slri_folder_lock(cache.in, ".shared", 7, 0, NULL, &held), SLR_OK);
    assert_int_equal(slri_folder_lock(cache.in, ".shared", 7, slri_deadline_after(5000000), NULL, &lock), SLR_TIMEOUT);
    assert_int_equal(slri_folder_lock(cache.in, ".shared", 7, UINT64_MAX, &cancel, &lock), SLR_WRONG_STATE);
    assert_int_equal(slri_folder_lock(cache.in, ".shared", 8, 0, NULL, &lock), SLR_OK); // another number
    slri_folder_unlock(lock, 8);
    slri_folder_unlock(held, 7);
    assert_int_equal(slri_folder_lock(cache.in, ".shared", 7, 0, NULL, &lock), SLR_OK);
    slri_folder_unlock(lock, 7);
    slri_cache_close(&cache);
}

static void set_use(const char *key, int64_t ago_s)
{
    const struct timespec times[2] = {{.tv_sec = time(NULL) - ago_s}, {.tv_sec = time(NULL) - ago_s}};
    assert_int_equal(utimensat(AT_FDCWD, entry_of(key), times, 0), 0);
}

static const char *key_of(int i)
{
    static char key[SLRI_HASH_HEX_BYTES];
    snprintf(key, sizeof key, "%032x", i);
    return key;
}

static void a_store_removes_what_was_not_used_for_longest(void **state)
{
    (void)state;
    slri_cache cache;
    char big[3000];
    memset(big, 'x', sizeof big);
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(slri_cache_publish(&cache, key_of(i), ".so", big, sizeof big, ""), SLR_OK);
        set_use(key_of(i), 100 - i);
    }
    char *content;
    size_t bytes;
    assert_int_equal(slri_cache_read(&cache, key_of(0), ".so", &content, &bytes), SLR_OK); // used now
    free(content);
    setenv("SLIPRING_CACHE_BYTES", "10K", 1);
    assert_int_equal(slri_cache_publish(&cache, key_of(9), ".so", big, sizeof big, ""), SLR_OK);
    const bool stays[] = {true, false, false, true};
    for (int i = 0; i < 4; i++)
        assert_int_equal(access(entry_of(key_of(i)), F_OK) == 0, stays[i]);
    assert_int_equal(access(entry_of(key_of(9)), F_OK), 0);
    struct slri_cache_counts counts = counts_of(&cache);
    assert_int_equal(counts.evicted, 2);
    assert_int_equal(counts.stores, 5);
    assert_true(counts.evicted_bytes > 2 * sizeof big && counts.evicted_bytes < 2 * sizeof big + 500);
    setenv("SLIPRING_CACHE_BYTES", "1", 1); // what was just stored stays all the same
    assert_int_equal(slri_cache_publish(&cache, key_of(8), ".so", big, sizeof big, ""), SLR_OK);
    assert_int_equal(access(entry_of(key_of(8)), F_OK), 0);
    assert_int_not_equal(access(entry_of(key_of(9)), F_OK), 0);
    unsetenv("SLIPRING_CACHE_BYTES");
    slri_cache_close(&cache);
}

static void a_store_removes_what_is_too_old_and_what_dead_writers_left(void **state)
{
    (void)state;
    slri_cache cache;
    char left[400], busy[400], notes[400];
    assert_int_equal(slri_cache_open(&cache), SLR_OK);
    publish(&cache, key_of(1), "code");
    publish(&cache, key_of(2), "code");
    set_use(key_of(1), 91 * 86400);
    set_use(key_of(2), 89 * 86400);
    snprintf(left, sizeof left, "%s/.tmp-00000000-1-0-0.so", folder); // of no machine's that is known: by its age
    snprintf(notes, sizeof notes, "%s/notes", folder);
    write_file(left, "half");
    write_file(notes, "mine");
    const struct timespec old[2] = {{.tv_sec = time(NULL) - 700}, {.tv_sec = time(NULL) - 700}};
    assert_int_equal(utimensat(AT_FDCWD, left, old, 0), 0);
    char *name;
    assert_int_equal(slri_file_temporary_name(folder, ".so", &name), SLR_OK);
    snprintf(busy, sizeof busy, "%s", name);
    free(name);
    write_file(busy, "half");
    publish(&cache, key_of(3), "code");
    assert_int_not_equal(access(entry_of(key_of(1)), F_OK), 0);
    assert_int_equal(access(entry_of(key_of(2)), F_OK), 0);
    assert_int_not_equal(access(left, F_OK), 0);
    assert_int_equal(access(busy, F_OK), 0);
    assert_int_equal(access(notes, F_OK), 0);
    assert_int_equal(counts_of(&cache).evicted, 1);
    slri_cache_close(&cache);
}

static void limits_are_read_from_an_environment_that_is_trusted(void **state)
{
    (void)state;
    struct slri_cache_limits limits;
    setenv("SLIPRING_CACHE_BYTES", "3M", 1);
    setenv("SLIPRING_CACHE_DAYS", "0", 1);
    assert_int_equal(slri_cache_limits_get(&limits), SLR_OK);
    assert_int_equal(limits.bytes, 3 << 20);
    assert_true(limits.unused_s == UINT64_MAX);
    slri_environment_distrust(true);
    assert_int_equal(slri_cache_limits_get(&limits), SLR_OK);
    slri_environment_distrust(false);
    assert_int_equal(limits.bytes, 1 << 30);
    assert_int_equal(limits.unused_s, 90 * 86400);
    static const char *const wrong[] = {"3X", "M", "-1", "3MM", " 3", "99999999999999999999", "999999999999999G"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("SLIPRING_CACHE_BYTES", wrong[i], 1);
        assert_int_equal(slri_cache_limits_get(&limits), SLR_INVALID);
        assert_non_null(strstr(slr_error_message(), "SLIPRING_CACHE_BYTES is '"));
        assert_int_equal(limits.bytes, 1 << 30);
    }
    unsetenv("SLIPRING_CACHE_BYTES");
    setenv("SLIPRING_CACHE_DAYS", "3M", 1);
    assert_int_equal(slri_cache_limits_get(&limits), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "SLIPRING_CACHE_DAYS is '3M'"));
    unsetenv("SLIPRING_CACHE_DAYS");
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
        CASE(without_any_folder_there_are_no_entries_and_the_reason_names_both),
        CASE(eight_threads_that_want_one_entry_make_it_once),
        CASE(processes_that_want_one_entry_make_it_once),
        CASE(a_maker_that_is_killed_is_waited_for_no_longer),
        CASE(who_waits_may_be_told_to_stop_and_has_a_deadline),
        CASE(a_store_removes_what_was_not_used_for_longest),
        CASE(a_store_removes_what_is_too_old_and_what_dead_writers_left),
        CASE(limits_are_read_from_an_environment_that_is_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
