// SPDX-License-Identifier: Apache-2.0
// Durable ring kernels whose folder is damaged, cut off, in use, or another's.
#define _GNU_SOURCE
#include "cluster/serve_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/inotify.h>
#endif

// Damage is named, and no letter comes twice however often the place is read.
static void a_dead_letter_that_is_damaged_is_refused(void **state)
{
    (void)state;
    letters letters = {0};
    char command[256];
    slr_server *server = serve("one");
    for (uint64_t n = 1; n <= 3; ++n) {
        struct message message = {.value = n, .fault = FAULT};
        must(slr_server_send(server, PRODUCER, 0, slr_key_u64(n), &message, sizeof message, LONG));
    }
    must(slr_server_close(server, LONG));
    must(slr_place_visit_letters(place_of("one"), 0, keep_letter, &letters));
    assert_int_equal(letters.count, 3);
    snprintf(command, sizeof command, "printf X | dd of='%s/one/dead-%020d.log' bs=1 seek=%d conv=notrunc 2>/dev/null",
             base, 1, 32 + 32 + 48 + 20); // in the first letter's reason
    assert_int_equal(system(command), 0);
    letters.count = 0;
    refuses(slr_place_visit_letters(place_of("one"), 0, keep_letter, &letters), SLR_INVALID,
            "dead-00000000000000000001.log");
    assert_int_equal(letters.count, 0);
}

// The last bytes of a file that holds the first records of a log.
static void cut_file(const char *name, const char *log, long bytes)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s/%s-%020d.log", base, name, log, 1);
    FILE *file = fopen(path, "rb+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal(ftruncate(fileno(file), ftell(file) - bytes), 0);
    fclose(file);
}

static void messages_that_a_power_cut_took_come_again_with_their_outputs(void **state)
{
    (void)state;
    uint64_t accepted;
    struct outputs outputs = {{0}, 0, 0};
    slr_server *server = serve("one");
    for (uint64_t n = 1; n <= 20; ++n)
        must(send_number(server, n));
    must(slr_server_snapshot(server, LONG));
    for (uint64_t n = 21; n <= 40; ++n)
        must(send_number(server, n));
    must(slr_server_settle(server, LONG));
    copy_folder("one", "copy");
    copy_folder("one", "released");
    copy_folder("one", "outputs");
    cut_file("copy", "in", 30); // a part of the last frame of five, whose outputs are there
    slr_server *again = serve_on(second_device, "copy");
    must(slr_server_get_producer(again, PRODUCER, &accepted));
    assert_int_equal(accepted, 35);
    assert_non_null(strstr(stats_of(again).damage, "are a write that was cut off"));
    for (uint64_t n = 1; n <= 60; ++n)
        must(send_number(again, n));
    must(slr_server_settle(again, LONG));
    take_outputs(again, &outputs);
    assert_int_equal(outputs.all, 60);
    check_states(again, 60);
    must(slr_server_close(again, LONG));
    must(slr_server_close(server, LONG));

    // Outputs that somebody has cannot be made again: the folder is refused.
    memset(&outputs, 0, sizeof outputs);
    server = serve("released");
    must(slr_server_settle(server, LONG));
    take_outputs(server, &outputs);
    must(slr_server_release(server, outputs.last, NULL, 0));
    copy_folder("released", "copy");
    must(slr_server_close(server, LONG));
    cut_file("copy", "in", 30);
    slr_ring_desc ring = describe();
    refuses(try_serve(device, "copy", &ring, &server), SLR_INVALID, "outputs that were released are missing");

    // Outputs that nobody has received are made again.
    memset(&outputs, 0, sizeof outputs);
    cut_file("outputs", "out", 30);
    server = serve("outputs");
    must(slr_server_settle(server, LONG));
    take_outputs(server, &outputs);
    assert_int_equal(outputs.all, 40);
    check_states(server, 40);
    must(slr_server_close(server, LONG));
}

// A file that is missing is named, by slr_serve and by slr_place_get_info alike, and nothing is changed.
static void a_missing_file_is_damage_wherever_it_is_looked_for(void **state)
{
    (void)state;
    static const char *const patterns[] = {"in-*.log", "out-*.log", "snap-*.log", "dead-*.log", "head"};
    static const char *const says[] = {"in-00000000000000000001.log is missing",
                                       "out-00000000000000000001.log is missing",
                                       "snap-00000000000000000001.log is missing",
                                       "dead-00000000000000000001.log is missing", "there are records, but no head"};
    slr_ring_desc ring = describe();
    slr_place_info info;
    struct message faulty = {.fault = FAULT};
    slr_server *server = serve("one"), *again;
    for (uint64_t n = 1; n <= 20; ++n)
        must(send_number(server, n));
    must(slr_server_snapshot(server, LONG));
    must(slr_server_send(server, PRODUCER, 0, slr_key_u64(1), &faulty, sizeof faulty, LONG));
    for (uint64_t n = 22; n <= 40; ++n)
        must(send_number(server, n));
    must(slr_server_settle(server, LONG));
    copy_folder("one", "base");
    must(slr_server_close(server, LONG));
    must(slr_place_get_info(place_of("base"), &info));
    assert_int_equal(info.damages, 0);
    assert_int_equal(info.is_usable, 1);
    for (uint32_t note = 0; note < 2; ++note) { // with the note of the newest files, and where that is lost, too
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i) {
            char command[256];
            if (note == 1 && i == 3) // since the snapshot: nothing else knows of it
                continue;
            copy_folder("base", "copy");
            snprintf(command, sizeof command, "cd '%s/copy' && rm %s %s", base, patterns[i], note ? "newest" : "");
            assert_int_equal(system(command), 0);
            must(slr_place_get_info(place_of("copy"), &info));
            if (info.is_usable || info.damages == 0)
                fail_msg("%s: nothing is missed", patterns[i]);
            refuses(try_serve(device, "copy", &ring, &again), SLR_INVALID, note && i < 4 ? "missing" : says[i]);
        }
    }
    must(slr_server_close(serve("base"), LONG)); // whole
}

// Before the first snapshot, the head knows of no record.
static void a_missing_file_is_damage_before_the_first_snapshot_too(void **state)
{
    (void)state;
    char command[256];
    slr_place_info info;
    slr_ring_desc ring = describe();
    slr_server *server = serve("one");
    for (uint64_t n = 1; n <= 20; ++n)
        must(send_number(server, n));
    must(slr_server_settle(server, LONG));
    copy_folder("one", "copy");
    must(slr_server_close(server, LONG));
    snprintf(command, sizeof command, "rm '%s'/copy/in-*.log", base);
    assert_int_equal(system(command), 0);
    must(slr_place_get_info(place_of("copy"), &info));
    assert_int_equal(info.is_usable, 0);
    refuses(try_serve(device, "copy", &ring, &server), SLR_INVALID, "in-00000000000000000001.log is missing");
}

static void a_folder_that_holds_something_else_is_named_as_that(void **state)
{
    (void)state;
    char command[256];
    slr_place_info info;
    snprintf(command, sizeof command, "mkdir '%s/other' && echo x > '%s/other/x'", base, base);
    assert_int_equal(system(command), 0);
    refuses(slr_place_get_info(place_of("other"), &info), SLR_NOT_FOUND, "holds no durable ring kernel");
}

#ifdef __linux__
struct returning {
    int watch; // of the file that each try reads first
    char from[128], to[128];
};

// From the third try on the file is back.
static void *bring_back(void *user)
{
    const struct returning *returning = user;
    char events[4096];
    for (int opened = 0; opened < 3;) {
        const ssize_t bytes = read(returning->watch, events, sizeof(struct inotify_event));
        if (bytes <= 0)
            return NULL;
        opened++;
    }
    (void)rename(returning->from, returning->to);
    return NULL;
}

// As its process purges and begins files again and again: no try finds all of them at first.
static void a_folder_in_use_is_looked_at_until_it_is_whole(void **state)
{
    (void)state;
    char newest[128];
    slr_place_info info;
    struct returning returning = {.watch = inotify_init1(IN_CLOEXEC)};
    pthread_t thread;
    slr_server *server = serve("one");
    for (uint64_t n = 1; n <= 9; ++n)
        must(send_number(server, n));
    must(slr_server_close(server, LONG));
    snprintf(newest, sizeof newest, "%s/one/newest", base);
    snprintf(returning.from, sizeof returning.from, "%s/away", base);
    snprintf(returning.to, sizeof returning.to, "%s/one/in-%020d.log", base, 1);
    assert_int_equal(rename(returning.to, returning.from), 0);
    assert_true(returning.watch >= 0 && inotify_add_watch(returning.watch, newest, IN_CLOSE_NOWRITE) >= 0);
    assert_int_equal(pthread_create(&thread, NULL, bring_back, &returning), 0);
    must(slr_place_get_info(place_of("one"), &info));
    for (int i = 0; i < 3; ++i) { // so that the thread ends, however few the tries were
        FILE *file = fopen(newest, "rb");
        assert_non_null(file);
        fclose(file);
        usleep(1000);
    }
    pthread_join(thread, NULL);
    close(returning.watch);
    assert_int_equal(info.is_usable, 1);
    assert_int_equal(info.damages, 0);
    assert_int_equal(info.accepted, 9);
}
#endif

static void a_backup_without_the_right_to_write_is_checked(void **state)
{
    (void)state;
    char command[256], path[128];
    slr_place_info info;
    slr_server *server = serve("one");
    must(send_number(server, 1));
    must(slr_server_close(server, LONG));
    // Root may write anywhere: then it is another user's folder, and this process acts for that one.
    const bool is_root = geteuid() == 0;
    snprintf(command, sizeof command,
             is_root ? "chmod 711 '%s' && cd '%s' && chown -R 65534 one && chmod 500 one"
                     : "cd '%s' && cd '%s' && chmod 500 one",
             base, base);
    assert_int_equal(system(command), 0);
    if (is_root)
        assert_int_equal(seteuid(65534), 0);
    snprintf(path, sizeof path, "%s/one", base);
    const bool may_write = faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
    slr_status status = slr_place_get_info(place_of("one"), &info);
    if (is_root)
        assert_int_equal(seteuid(0), 0);
    snprintf(command, sizeof command, "chmod 700 '%s/one'", base);
    assert_int_equal(system(command), 0);
    assert_false(may_write);
    must(status);
    assert_int_equal(info.is_usable, 1);
    assert_int_equal(info.accepted, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_dead_letter_that_is_damaged_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_that_a_power_cut_took_come_again_with_their_outputs, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_missing_file_is_damage_wherever_it_is_looked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_file_is_damage_before_the_first_snapshot_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_holds_something_else_is_named_as_that, set_up, tear_down),
#ifdef __linux__
        cmocka_unit_test_setup_teardown(a_folder_in_use_is_looked_at_until_it_is_whole, set_up, tear_down),
#endif
        cmocka_unit_test_setup_teardown(a_backup_without_the_right_to_write_is_checked, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
