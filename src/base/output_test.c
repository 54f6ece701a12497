// SPDX-License-Identifier: Apache-2.0
// What a user names stays what it is: a device, a pipe, a link, a file with two names.
#define _GNU_SOURCE
#include "base/output.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static char root[] = "/tmp/slipring-output-test-XXXXXX";

static const char *below_root(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void expect_content(const char *name, const char *expected)
{
    char *back;
    assert_int_equal(slri_file_read(below_root(name), 1000, &back, NULL), SLR_OK);
    assert_string_equal(back, expected);
    free(back);
}

static mode_t mode_of(const char *path)
{
    struct stat about;
    assert_int_equal(lstat(path, &about), 0);
    return about.st_mode;
}

static void plain_file_is_replaced_whole_and_keeps_its_permissions(void **state)
{
    (void)state;
    slri_file_identity before, after;
    assert_int_equal(slri_output_write(below_root("plain"), "one", 3), SLR_OK);
    assert_int_equal(chmod(below_root("plain"), 0600), 0);
    assert_true(slri_file_identify(below_root("plain"), &before));
    assert_int_equal(slri_output_write(below_root("plain"), "other", 5), SLR_OK);
    assert_true(slri_file_identify(below_root("plain"), &after));
    assert_true(before.inode != after.inode);
    assert_int_equal(mode_of(below_root("plain")) & 0777, 0600);
    expect_content("plain", "other");
}

static void device_stays_a_device(void **state)
{
    (void)state;
    const char *device = "/dev/null";
    if (geteuid() == 0 && mknod(below_root("null"), S_IFCHR | 0666, makedev(1, 3)) == 0)
        device = below_root("null"); // where a defect breaks nothing but this
    else if (geteuid() == 0)
        skip(); // root may replace the machine's own
    FILE *stream;
    int opened = open(device, O_WRONLY | O_CLOEXEC);
    if (opened >= 0) { // a file system may be mounted without devices
        close(opened);
        assert_int_equal(slri_output_write(device, "text", 4), SLR_OK);
        assert_int_equal(slri_output_stream(device, &stream), SLR_OK);
        fclose(stream);
    } else {
        assert_int_equal(slri_output_write(device, "text", 4), SLR_SYSTEM);
    }
    assert_true(S_ISCHR(mode_of(device)));
}

static void link_stays_and_what_it_names_is_written(void **state)
{
    (void)state;
    assert_int_equal(slri_output_write(below_root("target"), "before", 6), SLR_OK);
    assert_int_equal(symlink("target", below_root("link")), 0);
    assert_int_equal(slri_output_write(below_root("link"), "text", 4), SLR_OK);
    assert_true(S_ISLNK(mode_of(below_root("link"))));
    expect_content("target", "text");
    assert_int_equal(symlink("new", below_root("dangling")), 0);
    assert_int_equal(slri_output_write(below_root("dangling"), "made", 4), SLR_OK);
    expect_content("new", "made");
}

static void file_with_two_names_keeps_both(void **state)
{
    (void)state;
    assert_int_equal(slri_output_write(below_root("one"), "before", 6), SLR_OK);
    assert_int_equal(link(below_root("one"), below_root("two")), 0);
    assert_int_equal(slri_output_write(below_root("one"), "text", 4), SLR_OK);
    expect_content("two", "text");
}

static void pipe_that_nobody_reads_refuses_at_once(void **state)
{
    (void)state;
    FILE *stream;
    assert_int_equal(mkfifo(below_root("pipe"), 0600), 0);
    assert_int_equal(slri_output_write(below_root("pipe"), "text", 4), SLR_SYSTEM);
    assert_non_null(strstr(slr_error_message(), "/pipe"));
    assert_non_null(strstr(slr_error_message(), "no reader"));
    assert_int_equal(slri_output_stream(below_root("pipe"), &stream), SLR_SYSTEM);
    assert_true(S_ISFIFO(mode_of(below_root("pipe"))));
}

static void pipe_that_is_read_gets_the_text(void **state)
{
    (void)state;
    char got[8] = "";
    int reader = open(below_root("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    assert_int_equal(slri_output_write(below_root("pipe"), "text", 4), SLR_OK);
    assert_int_equal(read(reader, got, sizeof got), 4);
    assert_string_equal(got, "text");
    close(reader);
    assert_true(S_ISFIFO(mode_of(below_root("pipe"))));
}

static void folder_that_is_missing_is_named(void **state)
{
    (void)state;
    FILE *stream;
    assert_int_equal(slri_output_write(below_root("no/such"), "x", 1), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "/no/"));
    assert_int_equal(slri_output_stream(below_root("no/such"), &stream), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "/no/such"));
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
        cmocka_unit_test(plain_file_is_replaced_whole_and_keeps_its_permissions),
        cmocka_unit_test(device_stays_a_device),
        cmocka_unit_test(link_stays_and_what_it_names_is_written),
        cmocka_unit_test(file_with_two_names_keeps_both),
        cmocka_unit_test(pipe_that_nobody_reads_refuses_at_once),
        cmocka_unit_test(pipe_that_is_read_gets_the_text),
        cmocka_unit_test(folder_that_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
