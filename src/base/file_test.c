// SPDX-License-Identifier: Apache-2.0
// Files and folders, below one temporary folder.
#define _GNU_SOURCE
#include "base/file.h"

#include "base/environment.h"
#include "base/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[] = "/tmp/slipring-file-test-XXXXXX";

static const char *below_root(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static unsigned entries(const char *folder)
{
    unsigned count = 0;
    DIR *open_folder = opendir(folder);
    assert_non_null(open_folder);
    for (const struct dirent *entry; (entry = readdir(open_folder)) != NULL;)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(open_folder);
    return count;
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    const char content[] = "ring\0kernel"; // with a NUL inside and one at its end
    char *back = NULL;
    size_t bytes = 0;
    assert_int_equal(slri_file_write_atomic(below_root("back"), content, sizeof content), SLR_OK);
    assert_int_equal(slri_file_read(below_root("back"), sizeof content, &back, &bytes), SLR_OK);
    assert_int_equal(bytes, sizeof content);
    assert_memory_equal(back, content, sizeof content);
    assert_int_equal(back[bytes], 0);
    free(back);
}

static void empty_file_is_an_empty_string(void **state)
{
    (void)state;
    char *back = NULL;
    assert_int_equal(slri_file_write_atomic(below_root("empty"), NULL, 0), SLR_OK);
    assert_int_equal(slri_file_read(below_root("empty"), 0, &back, NULL), SLR_OK);
    assert_string_equal(back, "");
    free(back);
}

static void file_over_its_limit_is_refused_by_name(void **state)
{
    (void)state;
    char *back = NULL;
    assert_int_equal(slri_file_write_atomic(below_root("long"), "12345", 5), SLR_OK);
    assert_int_equal(slri_file_read(below_root("long"), 4, &back, NULL), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "/long"));
    assert_non_null(strstr(slr_error_message(), "4 bytes"));
    assert_null(back);
}

static void limit_holds_for_a_file_of_several_reads(void **state)
{
    (void)state;
    static const char content[40000];
    char *back = NULL;
    size_t bytes = 0;
    assert_int_equal(slri_file_write_atomic(below_root("long"), content, sizeof content), SLR_OK);
    assert_int_equal(slri_file_read(below_root("long"), sizeof content - 1, &back, &bytes), SLR_INVALID);
    assert_null(back);
    assert_int_equal(slri_file_read(below_root("long"), sizeof content, &back, &bytes), SLR_OK);
    assert_int_equal(bytes, sizeof content);
    free(back);
}

static void missing_file_and_folder_are_told_apart(void **state)
{
    (void)state;
    char *back = NULL;
    assert_int_equal(slri_file_read(below_root("missing"), 100, &back, NULL), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "/missing"));
    assert_int_equal(slri_file_read(root, 100, &back, NULL), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "folder"));
    assert_null(back);
}

static void file_that_does_not_say_its_size_is_read_to_its_end(void **state)
{
    (void)state;
    char *back = NULL;
    size_t bytes = 0;
    assert_int_equal(slri_file_read("/proc/self/maps", 1 << 20, &back, &bytes), SLR_OK);
    assert_true(bytes > 100);
    assert_int_equal(back[bytes - 1], '\n');
    free(back);
}

static void write_into_a_missing_folder_names_it_and_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(slri_file_write_atomic(below_root("no/such"), "x", 1), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "/no/"));
    unsigned before = entries(root);
    assert_int_equal(mkdir(below_root("occupied"), 0700), 0);
    assert_int_equal(slri_file_write_atomic(below_root("occupied"), "x", 1), SLR_SYSTEM); // a folder has this name
    assert_int_equal(entries(root), before + 1);
}

enum { REWRITES = 300, SHARED_BYTES = 20000 };

struct rewriter {
    char letter;
    const char *path;
};

static void rewrite(void *arg)
{
    const struct rewriter *rewriter = arg;
    char content[SHARED_BYTES];
    memset(content, rewriter->letter, sizeof content);
    for (int i = 0; i < REWRITES; i++)
        slri_file_write_atomic(rewriter->path, content, sizeof content);
}

static void reader_sees_one_writers_file_or_the_others_never_a_mixture(void **state)
{
    (void)state;
    // Static: an assertion that fails leaves this function while the writers go on.
    static char path[sizeof root + 16];
    static struct rewriter a = {'a', path}, b = {'b', path};
    static slri_thread writers[2];
    snprintf(path, sizeof path, "%s/shared", root);
    rewrite(&b); // so that there is a file from the start
    assert_int_equal(slri_thread_start(&writers[0], "writer a", rewrite, &a), SLR_OK);
    assert_int_equal(slri_thread_start(&writers[1], "writer b", rewrite, &b), SLR_OK);
    for (int i = 0; i < REWRITES; i++) {
        char *back = NULL;
        size_t bytes = 0;
        assert_int_equal(slri_file_read(path, 1 << 20, &back, &bytes), SLR_OK);
        assert_int_equal(bytes, SHARED_BYTES);
        assert_int_equal(strspn(back, back[0] == 'a' ? "a" : "b"), SHARED_BYTES);
        free(back);
        for (int j = 0; j < 20; j++) // cheaper than a read, so that it falls between two steps of a writer more often
            assert_true(slri_file_identify(path, NULL));
    }
    slri_thread_join(&writers[0]);
    slri_thread_join(&writers[1]);
}

static void temporary_names_differ_and_keep_their_suffix(void **state)
{
    (void)state;
    char *one = NULL, *other = NULL;
    assert_int_equal(slri_file_temporary_name(root, ".so", &one), SLR_OK);
    assert_int_equal(slri_file_temporary_name(root, ".so", &other), SLR_OK);
    assert_string_not_equal(one, other);
    assert_memory_equal(one, root, strlen(root));
    assert_string_equal(one + strlen(one) - 3, ".so");
    assert_false(slri_file_identify(one, NULL));
    free(one);
    free(other);
}

// The names of a process that runs, and of one that has ended.
static void what_a_process_that_ended_left_behind_is_known(void **state)
{
    (void)state;
    char *ours = NULL, theirs[128] = "";
    int ends[2];
    assert_int_equal(slri_file_temporary_name(root, "", &ours), SLR_OK);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        char *name;
        if (slri_file_temporary_name(root, ".c", &name) == SLR_OK && write(ends[1], name, strlen(name)) > 0)
            _exit(0);
        _exit(1);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(read(ends[0], theirs, sizeof theirs - 1) > 0);
    const char *name = ours + strlen(root) + 1;
    assert_false(slri_file_is_left_behind(name, 0));
    assert_false(slri_file_is_left_behind(name, 600));
    assert_true(slri_file_is_left_behind(name, 601)); // no compiler is given so long
    assert_true(slri_file_is_left_behind(theirs + strlen(root) + 1, 0));
    assert_false(slri_file_is_left_behind(".tmp-1-2-3", 0)); // another machine's, or an older version's
    assert_true(slri_file_is_left_behind(".tmp-1-2-3", 601));
    assert_false(slri_file_is_left_behind("notes.txt", 100000));
    close(ends[0]);
    close(ends[1]);
    free(ours);
}

static void identity_changes_when_a_file_is_replaced(void **state)
{
    (void)state;
    slri_file_identity before, after;
    assert_false(slri_file_identify(below_root("identity"), &before));
    assert_false(slri_file_identify(root, &before)); // a folder is no file
    assert_int_equal(slri_file_write_atomic(below_root("identity"), "1", 1), SLR_OK);
    assert_true(slri_file_identify(below_root("identity"), &before));
    assert_int_equal(before.bytes, 1);
    assert_int_equal(slri_file_write_atomic(below_root("other"), "1", 1), SLR_OK);
    assert_int_equal(slri_file_rename(below_root("other"), below_root("identity")), SLR_OK);
    assert_true(slri_file_identify(below_root("identity"), &after));
    assert_true(after.inode != before.inode);
    assert_true(after.mtime_ns > 1600000000000000000);
    assert_int_equal(slri_file_rename(below_root("other"), below_root("identity")), SLR_SYSTEM);
    assert_non_null(strstr(slr_error_message(), "/other"));
}

static void removing_twice_is_fine(void **state)
{
    (void)state;
    assert_int_equal(slri_file_write_atomic(below_root("gone"), "1", 1), SLR_OK);
    assert_int_equal(slri_file_remove(below_root("gone")), SLR_OK);
    assert_false(slri_file_identify(below_root("gone"), NULL));
    assert_int_equal(slri_file_remove(below_root("gone")), SLR_OK);
}

static void canonical_path_has_no_links_and_dots(void **state)
{
    (void)state;
    char *path = NULL;
    assert_int_equal(mkdir(below_root("real"), 0700), 0);
    assert_int_equal(slri_file_write_atomic(below_root("real/file"), "1", 1), SLR_OK);
    assert_int_equal(symlink("real", below_root("link")), 0);
    assert_int_equal(slri_path_canonical(below_root("link/../link/./file"), &path), SLR_OK);
    assert_string_equal(path, below_root("real/file"));
    free(path);
    path = NULL;
    assert_int_equal(slri_path_canonical(below_root("link/nothing"), &path), SLR_NOT_FOUND);
    assert_int_equal(slri_path_canonical(below_root("link/file/nothing"), &path), SLR_NOT_FOUND);
    assert_null(path);
}

static void expect_cache_folder(const char *own, const char *xdg, const char *home, const char *expected)
{
    char *path = NULL;
    setenv("SLIPRING_CACHE_DIR", own, 1);
    setenv("XDG_CACHE_HOME", xdg, 1);
    setenv("HOME", home, 1);
    assert_int_equal(slri_cache_folder(&path), SLR_OK);
    assert_string_equal(path, expected);
    free(path);
}

static void cache_folder_is_our_variables_then_xdgs_then_homes(void **state)
{
    (void)state;
    expect_cache_folder("/own", "/xdg", "/home/u", "/own");
    expect_cache_folder("own", "/xdg", "/home/u", "own");
    expect_cache_folder("", "/xdg", "/home/u", "/xdg/slipring");
    expect_cache_folder("", "relative", "/home/u", "/home/u/.cache/slipring");
    char *path = NULL;
    slri_environment_distrust(true);
    assert_int_equal(slri_cache_folder(&path), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "more rights"));
    slri_environment_distrust(false);
    unsetenv("HOME");
    unsetenv("LOCALAPPDATA");
    assert_int_equal(slri_cache_folder(&path), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "SLIPRING_CACHE_DIR"));
    assert_null(path);
}

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(empty_file_is_an_empty_string),
        cmocka_unit_test(file_over_its_limit_is_refused_by_name),
        cmocka_unit_test(limit_holds_for_a_file_of_several_reads),
        cmocka_unit_test(missing_file_and_folder_are_told_apart),
        cmocka_unit_test(file_that_does_not_say_its_size_is_read_to_its_end),
        cmocka_unit_test(write_into_a_missing_folder_names_it_and_leaves_nothing),
        cmocka_unit_test(reader_sees_one_writers_file_or_the_others_never_a_mixture),
        cmocka_unit_test(temporary_names_differ_and_keep_their_suffix),
        cmocka_unit_test(identity_changes_when_a_file_is_replaced),
        cmocka_unit_test(removing_twice_is_fine),
        cmocka_unit_test(what_a_process_that_ended_left_behind_is_known),
        cmocka_unit_test(canonical_path_has_no_links_and_dots),
        cmocka_unit_test(cache_folder_is_our_variables_then_xdgs_then_homes),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
