// SPDX-License-Identifier: Apache-2.0
// Durable ring kernels: crashes are copies of the folder at some moment, which is what a kill leaves.
#define _GNU_SOURCE
#include "cluster/serve_test.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

static void after_a_crash_at_any_message_nothing_is_lost_or_doubled(void **state)
{
    (void)state;
    enum { MESSAGES = 120 };
    slr_server *server = serve("one");
    for (uint64_t crash = 1; crash <= MESSAGES; ++crash) {
        must(send_number(server, crash));
        if (crash % 17 == 0)
            must(slr_server_snapshot(server, LONG));
        if (crash % 5 == 0)
            must(slr_server_settle(server, LONG)); // so that some outputs are stored, and others are not
        if (crash % 3 != 0)
            continue;
        copy_folder("one", "copy");
        slr_server *again = serve_on(second_device, "copy");
        uint64_t accepted;
        struct outputs outputs = {{0}, 0, 0};
        must(slr_server_get_producer(again, PRODUCER, &accepted));
        assert_true(accepted <= crash && accepted + 5 > crash); // but for a frame that was not full
        for (uint64_t n = 1; n <= MESSAGES; ++n)
            must(send_number(again, n));
        must(slr_server_settle(again, LONG));
        take_outputs(again, &outputs);
        assert_int_equal(outputs.all, MESSAGES);
        check_states(again, MESSAGES);
        slr_server_stats stats = stats_of(again);
        assert_int_equal(stats.accepted, MESSAGES);
        assert_int_equal(stats.repeated, accepted);
        assert_int_equal(stats.pending, 0);
        assert_int_equal(stats.differing, 0);
        must(slr_server_close(again, LONG));
    }
    must(slr_server_close(server, LONG));
}

static void a_snapshot_shortens_what_is_handled_again(void **state)
{
    (void)state;
    slr_server *server = serve("one");
    for (uint64_t n = 1; n <= 100; ++n) {
        must(send_number(server, n));
        if (n % 10 == 0)
            must(slr_server_snapshot(server, LONG)); // full ones and those of changes
    }
    for (uint64_t n = 101; n <= 105; ++n)
        must(send_number(server, n));
    assert_int_equal(stats_of(server).snapshots, 10);
    copy_folder("one", "copy");
    must(slr_server_close(server, LONG));
    server = serve("copy");
    assert_int_equal(stats_of(server).replayed, 5);
    must(slr_server_settle(server, LONG));
    check_states(server, 105);
    must(slr_server_close(server, LONG));
    server = serve("copy"); // closed: nothing is left to do
    assert_int_equal(stats_of(server).replayed, 0);
    check_states(server, 105);
    must(slr_server_close(server, LONG));
}

static void outputs_that_were_released_do_not_come_again(void **state)
{
    (void)state;
    slr_server *server = serve("one");
    struct outputs outputs = {{0}, 0, 0};
    uint64_t note = 77, seen = 0;
    for (uint64_t n = 1; n <= 50; ++n)
        must(send_number(server, n));
    must(slr_server_settle(server, LONG));
    refuses(slr_server_release(server, 1, NULL, 0), SLR_INVALID, "output 1 is not between 0 and 0");
    take_outputs(server, &outputs);
    must(slr_server_release(server, outputs.last, &note, sizeof note));
    for (uint64_t n = 51; n <= 60; ++n)
        must(send_number(server, n));
    must(slr_server_settle(server, LONG));
    copy_folder("one", "copy"); // nobody has received the last ten
    must(slr_server_close(server, LONG));
    server = serve("copy");
    must(slr_server_get_note(server, &seen, sizeof seen));
    assert_int_equal(seen, note);
    take_outputs(server, &outputs);
    assert_int_equal(outputs.all, 60);
    must(slr_server_close(server, LONG));
}

static void repeated_numbers_are_skipped_and_gaps_refused(void **state)
{
    (void)state;
    slr_server *server = serve("one");
    struct message other = {.value = 1};
    must(send_number(server, 1));
    must(send_number(server, 1));
    must(send_number(server, 2));
    refuses(send_number(server, 4), SLR_INVALID, "sends message 4, but its next one is 3");
    must(slr_server_send(server, PRODUCER, 0, slr_key_u64(1), &other, sizeof other, LONG)); // the next one
    must(slr_server_send(server, 9, 1, slr_key_u64(1), &other, sizeof other, LONG));        // of somebody else
    must(slr_server_flush(server, LONG));
    assert_int_equal(stats_of(server).accepted, 4);
    must(send_number(server, 1)); // two of them again, in turns
    must(slr_server_send(server, 9, 1, slr_key_u64(1), &other, sizeof other, LONG));
    must(send_number(server, 2));
    must(send_number(server, 1));
    must(send_number(server, 2));
    refuses(send_number(server, 3), SLR_INVALID, "the first 3 messages are not those that were accepted before");
    must(slr_server_close(server, LONG));
}

static slr_status send_equal(slr_server *server, uint64_t number, uint64_t key)
{
    const struct message message = {.value = 7};
    return slr_server_send(server, PRODUCER, number, slr_key_u64(key), &message, sizeof message, LONG);
}

// `before` had equal messages for keys 1 and 2.
static void refuses_other_keys(slr_device *on, const char *before)
{
    slr_server *server = serve_on(on, before);
    must(send_equal(server, 1, 1));
    must(send_equal(server, 2, 2));
    must(send_equal(server, 1, 2)); // both are known
    refuses(send_equal(server, 2, 1), SLR_INVALID, "but for other keys");
    must(send_equal(server, 1, 1));
    refuses(send_equal(server, 2, 3), SLR_INVALID, "but for other keys");
    assert_int_equal(stats_of(server).keys, 2); // a key that is refused gets no instance
    must(slr_server_close(server, LONG));
}

static void repeated_messages_must_be_for_the_same_keys(void **state)
{
    (void)state;
    slr_server *server = serve("one");
    must(send_equal(server, 1, 1));
    must(send_equal(server, 2, 2));
    must(slr_server_settle(server, LONG));
    copy_folder("one", "killed"); // without a snapshot: the messages are read again
    must(slr_server_close(server, LONG));
    refuses_other_keys(device, "one");
    refuses_other_keys(second_device, "killed");
}

static void another_layout_is_refused(void **state)
{
    (void)state;
    slr_server *server = serve("one");
    slr_ring_desc ring = describe();
    must(send_number(server, 1));
    must(slr_server_close(server, LONG));
    ring.state_bytes += 8;
    refuses(try_serve(device, "one", &ring, &server), SLR_LAYOUT, "states of 16 B");
    ring = describe();
    ring.keys = 0;
    refuses(
        try_serve(device, "one", &ring, &server), SLR_LAYOUT,
        "was begun with keys that are numbers, and now slr_ring_desc.keys (--key) says no keys: give the same keys");
    assert_null(strstr(slr_error_message(), "local:"));
    ring = describe();
    ring.instances = 1;
    must(slr_server_close(serve("two"), LONG));
    server = serve("two");
    must(send_number(server, 1));
    must(send_number(server, 2));
    copy_folder("two", "snapshot");
    must(slr_server_flush(server, LONG));
    copy_folder("two", "messages");
    must(slr_server_close(server, LONG));
    refuses(try_serve(device, "two", &ring, &server), SLR_INVALID,
            "holds 2 keys, and slr_ring_desc.instances (--instances) allows 1");
    refuses(try_serve(device, "messages", &ring, &server), SLR_INVALID,
            "is for instance 1, counted from 0, and slr_ring_desc.instances (--instances) allows 1");
    ring = describe();
    ring.name = "others";
    refuses(try_serve(device, "one", &ring, &server), SLR_LAYOUT, "handler 'totals', not of 'others'");
    server = serve("one"); // and nothing was changed by that
    assert_int_equal(stats_of(server).accepted, 1);
    must(slr_server_close(server, LONG));
}

static void other_code_goes_on_with_the_states_that_are_there(void **state)
{
    (void)state;
    struct total total;
    slr_server *server = serve("one");
    must(send_number(server, 1));
    must(slr_server_settle(server, LONG));
    copy_folder("one", "copy");
    must(slr_server_close(server, LONG));
    times = 2;
    server = serve("one");
    must(send_number(server, 2));
    must(slr_server_settle(server, LONG));
    must(slr_server_get_state(server, slr_key_u64(1), &total, sizeof total, LONG));
    assert_int_equal(total.sum, 3); // from the snapshot
    must(slr_server_get_state(server, slr_key_u64(2), &total, sizeof total, LONG));
    assert_int_equal(total.sum, 12);
    must(slr_server_close(server, LONG));
    server = serve("copy"); // not closed: the message is handled again, by the new code
    struct outputs outputs = {{0}, 0, 0};
    take_outputs(server, &outputs);
    must(slr_server_settle(server, LONG));
    assert_int_equal(outputs.all, 1);
    assert_int_equal(stats_of(server).differing, 1);
    must(slr_server_close(server, LONG));
}

static void a_message_that_faults_is_a_dead_letter_once(void **state)
{
    (void)state;
    slr_server *server = serve("one");
    struct message bad = {.fault = FAULT};
    slr_output output;
    struct total total;
    must(send_number(server, 1));
    must(slr_server_send(server, PRODUCER, 2, slr_key_u64(1), &bad, sizeof bad, LONG));
    must(slr_server_settle(server, LONG));
    must(slr_server_receive(server, &output, &total, sizeof total, 0));
    assert_int_equal(output.status, SLR_OK);
    must(slr_server_receive(server, &output, &total, sizeof total, 0));
    assert_int_equal(output.status, SLR_HANDLER_FAULT);
    assert_int_equal(output.message, 2);
    assert_non_null(strstr(slr_server_get_fault(server), "the host function returned an error"));
    assert_int_equal(stats_of(server).faulted, 1);
    copy_folder("one", "copy");
    must(slr_server_close(server, LONG));
    server = serve("copy"); // it is handled again, and faults again
    must(slr_server_settle(server, LONG));
    must(slr_server_receive(server, &output, &total, sizeof total, 0));
    assert_int_equal(slr_server_receive(server, &output, &total, sizeof total, 0), SLR_TIMEOUT);
    assert_int_equal(stats_of(server).faulted, 1);
    must(slr_server_close(server, LONG));
    slr_place_info info;
    must(slr_place_get_info(place_of("copy"), &info));
    assert_int_equal(info.dead, 1);
    assert_int_equal(info.accepted, 2);
    assert_int_equal(info.position, 2);
    assert_int_equal(info.damages, 0);
}

// Its notice ends with its process, whether it was received or not.
static void a_message_that_faulted_is_read_back_after_a_kill(void **state)
{
    (void)state;
    letters letters = {0};
    slr_output output;
    struct total total;
    slr_server *server = serve("one");
    refuses(slr_place_visit_letters(place_of("none"), 0, keep_letter, &letters), SLR_NOT_FOUND, "there is no folder");
    refuses(slr_place_visit_letters(NULL, 0, keep_letter, &letters), SLR_INVALID, "place is NULL");
    refuses(slr_place_visit_letters(place_of("one"), 0, NULL, NULL), SLR_INVALID, "visit is NULL");
    for (uint64_t n = 1; n <= 12; ++n) {
        struct message message = {.value = n, .fault = n % 5 == 0 ? FAULT : 0};
        must(slr_server_send(server, PRODUCER, 0, slr_key_u64(1), &message, sizeof message, LONG)); // in order
    }
    must(slr_server_settle(server, LONG));
    must(slr_place_visit_letters(place_of("one"), 0, keep_letter, &letters)); // while it is in use
    assert_int_equal(letters.count, 2);
    copy_folder("one", "copy");
    must(slr_server_close(server, LONG));
    server = serve("copy");
    must(slr_server_settle(server, LONG));
    while (slr_server_receive(server, &output, &total, sizeof total, 0) == SLR_OK)
        assert_int_equal(output.status, SLR_OK); // no notice
    must(slr_place_visit_letters(place_of("copy"), 1, keep_letter, &letters));
    assert_int_equal(letters.count, 3); // the second one again
    assert_int_equal(letters.sequence, 2);
    assert_int_equal(letters.message, 10);
    assert_int_equal(letters.value, 10);
    assert_non_null(strstr(letters.reason, "the host function returned an error"));
    must(slr_place_visit_letters(place_of("copy"), 2, keep_letter, &letters));
    assert_int_equal(letters.count, 3);
    must(slr_server_close(server, LONG));
}

typedef struct reader {
    char place[128];
    uint32_t stop; // atomic
    uint32_t failed;
    char why[256]; // of the last call that failed
} reader;

static void count_letter(void *user, const slr_place_letter *letter)
{
    (void)letter;
    ++*(uint32_t *)user;
}

static void *read_again_and_again(void *user)
{
    reader *reader = user;
    while (__atomic_load_n(&reader->stop, __ATOMIC_ACQUIRE) == 0) {
        uint32_t count = 0;
        if (slr_place_visit_letters(reader->place, 0, count_letter, &count) == SLR_OK && count == 1)
            continue;
        reader->failed++;
        snprintf(reader->why, sizeof reader->why, "%u letters; %.200s", count, slr_error_message());
    }
    return NULL;
}

// Its server begins files and purges others meanwhile.
static void dead_letters_are_read_beside_a_busy_server(void **state)
{
    (void)state;
    reader reader = {.stop = 0};
    pthread_t thread;
    struct message bad = {.fault = FAULT};
    slr_server *server = serve("one");
    snprintf(reader.place, sizeof reader.place, "%s", place_of("one"));
    must(slr_server_send(server, PRODUCER, 0, slr_key_u64(1), &bad, sizeof bad, LONG));
    must(slr_server_snapshot(server, LONG));
    assert_int_equal(pthread_create(&thread, NULL, read_again_and_again, &reader), 0);
    for (uint64_t n = 2; n <= 300; ++n) {
        must(send_number(server, n));
        must(slr_server_snapshot(server, LONG));
    }
    __atomic_store_n(&reader.stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    if (reader.failed > 0)
        fail_msg("%u calls failed: %s", reader.failed, reader.why);
    must(slr_server_close(server, LONG));
}

// ---- a batch handler -----------------------------------------------------------------------------------------------

static slr_server *serve_batches(slr_device *on, const char *name, slr_program **program)
{
    static const char source[] =
        "struct message { unsigned long value; unsigned fault, pad; };\n"
        "struct total { unsigned long count, sum; };\n"
        "__ring_batch__ void totals(struct total *self, const struct message *in, unsigned n)\n"
        "{\n"
        "    for (unsigned i = 0; i < n; i++) {\n"
        "        self->count += 1u;\n"
        "        self->sum += in[i].value / (in[i].fault == 666u ? 0u : 1u);\n"
        "        ring_reply_to(i, self);\n"
        "    }\n"
        "}\n";
    slr_server *server = NULL;
    slr_ring_desc ring = SLR_RING_DESC_INIT;
    must(slr_program_from_text(on, "totals.cu", source, NULL, program));
    ring.program = *program;
    ring.handler = "totals";
    ring.keys = SLR_KEYS_U64;
    ring.instances = 100;
    ring.queue_size = 64;
    must(try_serve(on, name, &ring, &server));
    return server;
}

static void end_batches(slr_server *server, slr_program *program)
{
    must(slr_server_close(server, LONG));
    slr_program_destroy(program);
}

static void send_batch(slr_server *server, uint64_t first, uint64_t faulty)
{
    for (uint64_t n = first; n < first + 3; ++n) {
        const struct message message = {.value = n, .fault = n == faulty ? FAULT : 0};
        must(slr_server_send(server, PRODUCER, n, slr_key_u64(1), &message, sizeof message, LONG));
    }
    must(slr_server_flush(server, LONG));
    must(slr_server_settle(server, LONG));
}

// Messages that came apart come together when they are handled again: what fails is the one message all the same.
static void what_a_fault_fails_does_not_depend_on_the_batch(void **state)
{
    (void)state;
    slr_program *program, *second;
    slr_server *server = serve_batches(device, "one", &program);
    send_batch(server, 1, 0);
    send_batch(server, 4, 5);
    slr_server_stats stats = stats_of(server);
    assert_int_equal(stats.handled, 5);
    assert_int_equal(stats.faulted, 1);
    copy_folder("one", "copy");
    slr_server *again = serve_batches(second_device, "copy", &second);
    must(slr_server_settle(again, LONG));
    stats = stats_of(again);
    assert_int_equal(stats.replayed, 6);
    assert_int_equal(stats.handled, 5);
    assert_int_equal(stats.faulted, 1);
    assert_int_equal(stats.differing, 0);
    assert_int_equal(stats.outputs, 5);
    struct total total;
    must(slr_server_get_state(again, slr_key_u64(1), &total, sizeof total, LONG));
    assert_int_equal(total.count, 1); // behind the fault it began anew
    assert_int_equal(total.sum, 6);
    end_batches(again, second);
    end_batches(server, program);
}

static void one_process_and_one_server_have_a_place(void **state)
{
    (void)state;
    slr_server *server = serve("one"), *second;
    slr_ring_desc ring = describe();
    refuses(try_serve(second_device, "one", &ring, &second), SLR_WRONG_STATE, "is in use by this process: close the ");
    must(slr_server_close(server, LONG));
    server = serve("one");
    must(slr_server_close(server, LONG));
}

static void a_full_disk_accepts_nothing_and_loses_nothing(void **state)
{
    (void)state;
    struct rlimit limit = {8192, RLIM_INFINITY};
    struct outputs outputs = {{0}, 0, 0};
    slr_server *server = serve("one");
    uint64_t sent = 0;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    slr_status status = SLR_OK;
    while (status == SLR_OK && sent < 10000) {
        status = send_number(server, sent + 1);
        sent += status == SLR_OK;
    }
    assert_int_equal(status, SLR_SYSTEM);
    copy_folder("one", "copy"); // and a kill
    limit.rlim_cur = RLIM_INFINITY;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    must(slr_server_flush(server, LONG)); // room again
    for (uint64_t n = 1; n <= sent + 10; ++n)
        must(send_number(server, n));
    must(slr_server_settle(server, LONG));
    take_outputs(server, &outputs);
    assert_int_equal(outputs.all, sent + 10);
    check_states(server, sent + 10);
    must(slr_server_close(server, LONG));
    memset(&outputs, 0, sizeof outputs);
    server = serve("copy");
    for (uint64_t n = 1; n <= sent + 10; ++n)
        must(send_number(server, n));
    must(slr_server_settle(server, LONG));
    take_outputs(server, &outputs);
    assert_int_equal(outputs.all, sent + 10);
    check_states(server, sent + 10);
    must(slr_server_close(server, LONG));
}

static void every_policy_and_sort_of_key_goes_on(void **state)
{
    (void)state;
    for (uint32_t sync = SLR_SYNC_INTERVAL; sync <= SLR_SYNC_NEVER; ++sync) {
        for (uint32_t keys = 0; keys <= SLR_KEYS_TEXT; ++keys) {
            char name[32];
            uint64_t expected = 0;
            snprintf(name, sizeof name, "p%u-%u", sync, keys);
            for (uint32_t round = 0; round < 3; ++round) {
                slr_ring_desc ring = describe();
                slr_serve_desc desc = SLR_SERVE_DESC_INIT;
                slr_server *server;
                struct message message = {.value = 1};
                struct total total;
                slr_key key = keys == SLR_KEYS_TEXT ? slr_key_text("anna", 4) : slr_key_u64(3);
                ring.keys = keys;
                desc.place = place_of(name);
                desc.sync = sync;
                desc.snapshot_messages = 4;
                must(slr_serve(device, &ring, &desc, &server));
                for (uint32_t i = 0; i < 10; ++i, ++expected) {
                    must(slr_server_send(server, 1, 0, key, &message, sizeof message, LONG));
                    must(slr_server_flush(server, LONG));
                }
                must(slr_server_settle(server, LONG));
                must(slr_server_get_state(server, key, &total, sizeof total, LONG));
                assert_int_equal(total.sum, expected);
                assert_true(stats_of(server).snapshots >= 2);
                must(slr_server_close(server, LONG));
            }
        }
    }
}

static slr_server *serve_texts(const char *name)
{
    slr_ring_desc ring = describe();
    slr_server *server;
    ring.keys = SLR_KEYS_TEXT;
    ring.key_bytes = 200;
    ring.instances = 30000;
    ring.queue_size = 4096;
    must(try_serve(device, name, &ring, &server));
    return server;
}

static slr_key text_key(uint32_t number)
{
    static char text[200];
    memset(text, 'a' + (int)(number % 26), sizeof text);
    int bytes = snprintf(text, sizeof text, "%u", number);
    text[bytes] = '-';
    return slr_key_text(text, 20 + number % 180);
}

static void many_keys_come_back_from_several_parts_and_files(void **state)
{
    (void)state;
    enum { TEXTS = 12000 };
    slr_server *server = serve_texts("texts");
    struct total total;
    slr_key key;
    for (uint32_t round = 1; round <= 4; ++round) {
        for (uint32_t i = 0; i < TEXTS; i += round) { // all, then a part of them
            struct message message = {.value = i};
            must(slr_server_send(server, 1, 0, text_key(i), &message, sizeof message, LONG));
            slr_output output;
            while (slr_server_receive(server, &output, &total, sizeof total, 0) == SLR_OK)
                assert_int_equal(output.status, SLR_OK);
        }
        must(slr_server_snapshot(server, LONG)); // full, two of changes, full
        slr_place_info info;
        must(slr_place_get_info(place_of("texts"), &info));
        assert_int_equal(info.states, TEXTS);
        assert_int_equal(info.damages, 0);
        copy_folder("texts", "copy");
        must(slr_server_close(server, LONG));
        server = serve_texts("copy");
        assert_int_equal(stats_of(server).keys, TEXTS);
        assert_int_equal(stats_of(server).replayed, 0);
        for (uint32_t i = 0; i < TEXTS; i += 97) {
            uint64_t count = 0;
            for (uint32_t r = 1; r <= round; ++r)
                count += i % r == 0;
            must(slr_server_get_state(server, text_key(i), &total, sizeof total, LONG));
            assert_int_equal(total.count, count);
            assert_int_equal(total.sum, count * i);
            must(slr_server_get_key(server, i, &key));
            assert_int_equal(key.bytes, text_key(i).bytes);
            assert_memory_equal(key.text, text_key(i).text, key.bytes);
        }
        must(slr_server_close(server, LONG));
        server = serve_texts("texts");
    }
    must(slr_server_close(server, LONG));
}

static void wrong_calls_say_what_is_wrong(void **state)
{
    (void)state;
    slr_server *server;
    slr_serve_desc desc = SLR_SERVE_DESC_INIT;
    slr_ring_desc ring = describe();
    struct message message = {0};
    slr_output output;
    slr_place_info info;
    refuses(slr_serve(device, &ring, &desc, &server), SLR_INVALID, "place is NULL: it must be local:FOLDER");
    desc.place = "nats:x";
    refuses(slr_serve(device, &ring, &desc, &server), SLR_INVALID, "place 'nats:x' is not local:FOLDER");
    desc.place = place_of("one");
    desc.sync = 9;
    refuses(slr_serve(device, &ring, &desc, &server), SLR_INVALID, "9 is no slr_sync");
    desc.sync = 0;
    ring.overflow = SLR_OVERFLOW_DROP_OLDEST;
    refuses(slr_serve(device, &ring, &desc, &server), SLR_UNSUPPORTED, "drops no message");
    ring = describe();
    ring.key_limit = SLR_KEY_LIMIT_EVICT_IDLE;
    refuses(slr_serve(device, &ring, &desc, &server), SLR_UNSUPPORTED, "EVICT_IDLE drops states");
    refuses(slr_place_get_info(place_of("none"), &info), SLR_NOT_FOUND, "there is no folder");
    ring = describe();
    ring.instances = 1;
    must(slr_serve(device, &ring, &desc, &server));
    refuses(slr_server_send(server, 1, 0, slr_key_u64(1), &message, 3, 0), SLR_INVALID, "messages of 16 B, not of 3 B");
    must(slr_server_send(server, 1, 0, slr_key_u64(1), &message, sizeof message, 0));
    refuses(slr_server_send(server, 1, 0, slr_key_u64(2), &message, sizeof message, 0), SLR_FULL, "has 1 keys");
    must(slr_server_settle(server, LONG));
    refuses(slr_server_receive(server, &output, &message, 3, 0), SLR_INVALID, "room for 3 B");
    must(slr_server_close(server, LONG));
    must(slr_server_close(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(after_a_crash_at_any_message_nothing_is_lost_or_doubled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_snapshot_shortens_what_is_handled_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outputs_that_were_released_do_not_come_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(repeated_numbers_are_skipped_and_gaps_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(repeated_messages_must_be_for_the_same_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_layout_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_code_goes_on_with_the_states_that_are_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_message_that_faults_is_a_dead_letter_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_message_that_faulted_is_read_back_after_a_kill, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dead_letters_are_read_beside_a_busy_server, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_fault_fails_does_not_depend_on_the_batch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_process_and_one_server_have_a_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_accepts_nothing_and_loses_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_policy_and_sort_of_key_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_keys_come_back_from_several_parts_and_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_calls_say_what_is_wrong, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
