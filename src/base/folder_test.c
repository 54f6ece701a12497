// SPDX-License-Identifier: Apache-2.0
// Which folders and files are trusted, and which are not. Owners are looked at where the test is root.
#define _GNU_SOURCE
#include "base/folder.h"

#include "base/environment.h"
#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534, OTHER = 65533 };

static char root[] = "/tmp/slipring-folder-test-XXXXXX";

static const char *below_root(const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void expect_opened(const char *name, const char *leads_to)
{
    slri_folder *folder;
    if (slri_folder_open(below_root(name), &folder) != SLR_OK)
        fail_msg("%s", slr_error_message());
    assert_string_equal(slri_folder_path(folder), below_root(leads_to));
    slri_folder_close(folder);
}

static void expect_refused(const char *name, const char *why, const char *names)
{
    slri_folder *folder = NULL;
    assert_int_equal(slri_folder_open(below_root(name), &folder), SLR_SYSTEM);
    if (!strstr(slr_error_message(), why) || !strstr(slr_error_message(), names))
        fail_msg("\"%s\" does not hold \"%s\" and \"%s\"", slr_error_message(), why, names);
    assert_null(folder);
}

static void make(const char *name, mode_t mode)
{
    assert_int_equal(mkdir(below_root(name), 0700), 0);
    assert_int_equal(chmod(below_root(name), mode), 0);
}

// A group that is not the user's own.
static void give_group(const char *name)
{
    if (geteuid() == 0)
        assert_int_equal(chown(below_root(name), 0, OTHER), 0);
}

static void what_is_missing_is_made_for_this_user_only(void **state)
{
    (void)state;
    struct stat about;
    expect_opened("one//two/./three/../three/", "one/two/three");
    expect_opened("one/two/three", "one/two/three"); // there already
    assert_int_equal(stat(below_root("one/two"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    assert_int_equal(slri_file_write_atomic(below_root("one/file"), "1", 1), SLR_OK);
    expect_refused("one/file/four", "is a file, not a folder", "one/file");
}

static void relative_path_begins_here(void **state)
{
    (void)state;
    slri_folder *folder;
    assert_int_equal(chdir(root), 0);
    assert_int_equal(slri_folder_open("relative/path", &folder), SLR_OK);
    assert_int_equal(chdir("/"), 0);
    assert_string_equal(slri_folder_path(folder), below_root("relative/path"));
    slri_folder_close(folder);
    assert_int_equal(slri_folder_open("/", &folder), SLR_SYSTEM);
}

static void folder_that_others_may_write_is_refused(void **state)
{
    (void)state;
    make("everybodys", 0777);
    expect_refused("everybodys", "every user can write to the folder", "everybodys");
    make("sticky", 01777);
    expect_refused("sticky", "every user can write to the folder", "sticky");
    make("groups", 0770);
    give_group("groups");
    expect_refused("groups", "the group can write to the folder", "groups");
}

static void folder_of_another_user_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    make("theirs", 0700);
    assert_int_equal(chown(below_root("theirs"), NOBODY, NOBODY), 0);
    expect_refused("theirs", "belongs to another user", "theirs");
    expect_refused("theirs/ours", "belongs to another user", "theirs");
}

static void way_through_a_folder_that_others_may_write_is_refused(void **state)
{
    (void)state;
    make("open", 0777);
    make("open/ours", 0700);
    expect_refused("open/ours", "other users may rename files in", "open");
    make("shared", 0775);
    give_group("shared");
    if (geteuid() == 0)
        expect_refused("shared/ours", "other users may rename files in", "shared");
    make("like_tmp", 01777); // there nobody else may
    make("like_tmp/ours", 0700);
    expect_opened("like_tmp/ours", "like_tmp/ours");
}

static void links_lead_on_where_only_we_could_have_made_them(void **state)
{
    (void)state;
    make("target", 0700);
    assert_int_equal(symlink("target", below_root("link")), 0);
    expect_opened("link", "target");
    expect_opened("link/../target/below", "target/below");
    assert_int_equal(symlink(below_root("link"), below_root("absolute")), 0);
    expect_opened("absolute", "target");
    assert_int_equal(symlink("loop", below_root("loop")), 0);
    expect_refused("loop", "is broken", "loop");
    if (geteuid() != 0)
        return;
    make("tmp", 01777);
    assert_int_equal(symlink(below_root("target"), below_root("tmp/planted")), 0);
    assert_int_equal(lchown(below_root("tmp/planted"), NOBODY, NOBODY), 0);
    expect_refused("tmp/planted", "belongs to another user", "tmp/planted");
}

static slri_folder *open_folder(const char *name)
{
    slri_folder *folder;
    assert_int_equal(slri_folder_open(below_root(name), &folder), SLR_OK);
    return folder;
}

static void file_comes_back_and_is_ours_alone(void **state)
{
    (void)state;
    slri_folder *folder = open_folder("files");
    struct stat about;
    char *content;
    size_t bytes;
    mode_t was = umask(0);
    assert_int_equal(slri_folder_write(folder, "file", "te\0xt", 5), SLR_OK);
    umask(was);
    assert_int_equal(stat(below_root("files/file"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(slri_folder_read(folder, "file", 5, false, &content, &bytes), SLR_OK);
    assert_int_equal(bytes, 5);
    assert_memory_equal(content, "te\0xt", 6);
    free(content);
    assert_int_equal(slri_folder_read(folder, "file", 4, false, &content, &bytes), SLR_INVALID);
    assert_int_equal(slri_folder_read(folder, "none", 4, false, &content, &bytes), SLR_NOT_FOUND);
    assert_int_equal(slri_folder_delete(folder, "file"), SLR_OK);
    assert_int_equal(slri_folder_delete(folder, "file"), SLR_OK);
    slri_folder_close(folder);
}

static void expect_unused(const slri_folder *folder, const char *name, const char *why)
{
    char *content;
    size_t bytes;
    assert_int_equal(slri_folder_read(folder, name, 100, true, &content, &bytes), SLR_NOT_FOUND);
    if (!strstr(slr_error_message(), why))
        fail_msg("\"%s\" does not hold \"%s\"", slr_error_message(), why);
}

static void file_that_another_user_may_have_written_is_not_read(void **state)
{
    (void)state;
    slri_folder *folder = open_folder("mixed");
    const char *path = below_root("mixed/file");
    assert_int_equal(slri_folder_write(folder, "file", "text", 4), SLR_OK);
    assert_int_equal(chmod(path, 0620), 0);
    expect_unused(folder, "file", "other users may have written it");
    assert_int_equal(chmod(path, 0602), 0);
    expect_unused(folder, "file", "other users may have written it");
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(symlink("file", below_root("mixed/link")), 0);
    expect_unused(folder, "link", "it is a link");
    assert_int_equal(mkfifo(below_root("mixed/pipe"), 0600), 0);
    expect_unused(folder, "pipe", "other users may have written it"); // and nobody waits for its writer
    if (geteuid() == 0) {
        assert_int_equal(chown(path, NOBODY, NOBODY), 0);
        expect_unused(folder, "file", "other users may have written it");
    }
    slri_folder_close(folder);
}

// What was opened stays what is used, wherever its name leads later.
static void folder_that_is_swapped_stays_the_one_that_was_opened(void **state)
{
    (void)state;
    slri_folder *folder = open_folder("first");
    char *content;
    assert_int_equal(slri_folder_write(folder, "file", "first", 5), SLR_OK);
    make("second", 0700);
    assert_int_equal(slri_file_write_atomic(below_root("second/file"), "second", 6), SLR_OK);
    assert_int_equal(rename(below_root("first"), below_root("away")), 0);
    assert_int_equal(rename(below_root("second"), below_root("first")), 0);
    assert_int_equal(slri_folder_read(folder, "file", 100, false, &content, NULL), SLR_OK);
    assert_string_equal(content, "first");
    free(content);
    assert_int_equal(slri_folder_write(folder, "other", "x", 1), SLR_OK);
    assert_int_equal(access(below_root("away/other"), F_OK), 0);
    slri_folder_close(folder);
}

static void folder_that_was_removed_says_so(void **state)
{
    (void)state;
    slri_folder *folder = open_folder("removed");
    assert_int_equal(rmdir(below_root("removed")), 0);
    assert_int_equal(slri_folder_write(folder, "file", "x", 1), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "/removed"));
    slri_folder_close(folder);
}

static void full_disk_leaves_nothing_behind(void **state)
{
    (void)state;
    static char large[1 << 20];
    if (geteuid() != 0)
        skip();
    make("small", 0700);
    char command[256];
    snprintf(command, sizeof command, "mount -t tmpfs -o size=64k,mode=700 none %s 2>/dev/null", below_root("small"));
    if (system(command) != 0)
        skip(); // not in this container
    slri_folder *folder = open_folder("small");
    slr_status status = slri_folder_write(folder, "file", large, sizeof large);
    bool named = strstr(slr_error_message(), "file: No space left") != NULL;
    int left = rmdir(below_root("small/file")) == 0 || access(below_root("small/file"), F_OK) == 0;
    slri_folder_close(folder);
    snprintf(command, sizeof command, "ls -A %s | grep -q . && touch %s; umount %s", below_root("small"),
             below_root("left"), below_root("small"));
    assert_int_equal(system(command), 0);
    assert_int_equal(status, SLR_SYSTEM);
    assert_true(named);
    assert_false(left);
    assert_int_not_equal(access(below_root("left"), F_OK), 0);
}

struct seen {
    int files;
    slri_folder_item last;
};

static void see(void *user, const slri_folder_item *item)
{
    struct seen *seen = user;
    seen->files++;
    seen->last = *item;
}

static void list_tells_age_and_use(void **state)
{
    (void)state;
    slri_folder *folder = open_folder("list");
    struct timespec times[2] = {{0}};
    struct seen seen = {0};
    char *content;
    make("list/folder", 0700);
    assert_int_equal(slri_folder_write(folder, "file", "text", 4), SLR_OK);
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[1] = times[0];
    times[0].tv_sec -= 5000; // used
    times[1].tv_sec -= 9000; // written
    assert_int_equal(utimensat(AT_FDCWD, below_root("list/file"), times, 0), 0);
    assert_int_equal(slri_folder_read(folder, "file", 100, false, &content, NULL), SLR_OK);
    free(content);
    assert_int_equal(slri_folder_list(folder, see, &seen), SLR_OK);
    assert_int_equal(seen.files, 1); // a folder is no file
    assert_int_equal(seen.last.bytes, 4);
    assert_true(seen.last.is_ours);
    assert_true(seen.last.age_s >= 9000 && seen.last.age_s < 10000);
    assert_true(seen.last.unused_s >= 5000 && seen.last.unused_s < 6000); // to look is no use
    assert_int_equal(slri_folder_read(folder, "file", 100, true, &content, NULL), SLR_OK);
    free(content);
    assert_int_equal(slri_folder_list(folder, see, &seen), SLR_OK);
    assert_true(seen.last.age_s >= 9000);
    assert_true(seen.last.unused_s < 1000);
    slri_folder_close(folder);
}

static void private_folder_goes_with_its_files(void **state)
{
    (void)state;
    slri_folder *folder;
    struct stat about;
    char path[256], was[256] = "";
    const char *tmp = getenv("TMPDIR");
    if (tmp)
        snprintf(was, sizeof was, "%s", tmp);
    make("private", 0700);
    setenv("TMPDIR", below_root("private"), 1);
    assert_int_equal(slri_folder_open_private(&folder), SLR_OK);
    snprintf(path, sizeof path, "%s", slri_folder_path(folder));
    assert_memory_equal(path, below_root("private"), strlen(root) + 8);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    assert_int_equal(slri_folder_write(folder, "file", "x", 1), SLR_OK);
    slri_folder_discard(folder);
    assert_int_not_equal(stat(path, &about), 0);
    assert_int_equal(chmod(below_root("private"), 0777), 0);
    assert_int_equal(slri_folder_open_private(&folder), SLR_SYSTEM);
    assert_non_null(strstr(slr_error_message(), "other users may rename files in"));
    if (*was)
        setenv("TMPDIR", was, 1);
    else
        unsetenv("TMPDIR");
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
        cmocka_unit_test(what_is_missing_is_made_for_this_user_only),
        cmocka_unit_test(relative_path_begins_here),
        cmocka_unit_test(folder_that_others_may_write_is_refused),
        cmocka_unit_test(folder_of_another_user_is_refused),
        cmocka_unit_test(way_through_a_folder_that_others_may_write_is_refused),
        cmocka_unit_test(links_lead_on_where_only_we_could_have_made_them),
        cmocka_unit_test(file_comes_back_and_is_ours_alone),
        cmocka_unit_test(file_that_another_user_may_have_written_is_not_read),
        cmocka_unit_test(folder_that_is_swapped_stays_the_one_that_was_opened),
        cmocka_unit_test(folder_that_was_removed_says_so),
        cmocka_unit_test(full_disk_leaves_nothing_behind),
        cmocka_unit_test(list_tells_age_and_use),
        cmocka_unit_test(private_folder_goes_with_its_files),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
