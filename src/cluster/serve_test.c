// SPDX-License-Identifier: Apache-2.0
// Durable ring kernels: crashes are copies of the folder at some moment, which is what a kill leaves.
#define _GNU_SOURCE

#include <slipring/devices.h>
#include <slipring/serve.h>

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/inotify.h>
#endif

#include <cmocka.h>

#define LONG 60000000000u
enum { KEYS = 7, PRODUCER = 5, FAULT = 666 };

struct message {
    uint64_t value;
    uint32_t fault, pad;
};
struct total {
    uint64_t count, sum;
};

static char base[64];
static slr_device *device, *second_device; // names are unique in one device
static uint32_t times;                     // what the handler multiplies with: other code, the same layouts

static slr_status add(void *user, const slr_delivery *delivery)
{
    struct total *total = delivery->state;
    struct message message;
    (void)user;
    memcpy(&message, delivery->message, sizeof message);
    if (message.fault == FAULT)
        return SLR_INVALID;
    total->count++;
    total->sum += message.value * times;
    return slr_reply_to(delivery, total, sizeof *total);
}

static int set_up(void **state)
{
    (void)state;
    times = 1;
    snprintf(base, sizeof base, "/tmp/slipring-serve-XXXXXX");
    return mkdtemp(base) && slr_device_open("cpu?threads=2", NULL, &device) == SLR_OK &&
                   slr_device_open("cpu?threads=1", NULL, &second_device) == SLR_OK
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    slr_device_close(device);
    slr_device_close(second_device);
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    return system(command);
}

static void must(slr_status status)
{
    if (status != SLR_OK)
        fail_msg("%s: %s", slr_status_name(status), slr_error_message());
}

static void refuses(slr_status status, slr_status expected, const char *says)
{
    assert_int_equal(status, expected);
    if (!strstr(slr_error_message(), says))
        fail_msg("'%s' is not in: %s", says, slr_error_message());
}

static slr_ring_desc describe(void)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "totals";
    desc.on_message = add;
    desc.message_bytes = sizeof(struct message);
    desc.state_bytes = sizeof(struct total);
    desc.reply_bytes = sizeof(struct total);
    desc.keys = SLR_KEYS_U64;
    desc.instances = 100;
    desc.queue_size = 64;
    return desc;
}

static const char *place_of(const char *name)
{
    static char place[128];
    snprintf(place, sizeof place, "local:%s/%s", base, name);
    return place;
}

static slr_status try_serve(slr_device *on, const char *name, const slr_ring_desc *ring, slr_server **server)
{
    slr_serve_desc desc = SLR_SERVE_DESC_INIT;
    desc.place = place_of(name);
    desc.sync = SLR_SYNC_NEVER;
    desc.snapshot_ns = UINT64_MAX; // when a test says so
    desc.frame_messages = 5;
    desc.full_every = 3;
    return slr_serve(on, ring, &desc, server);
}

static slr_server *serve_on(slr_device *on, const char *name)
{
    slr_server *server = NULL;
    slr_ring_desc ring = describe();
    must(try_serve(on, name, &ring, &server));
    return server;
}

static slr_server *serve(const char *name)
{
    return serve_on(device, name);
}

// What a kill leaves: all that was written.
static void copy_folder(const char *from, const char *to)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s/%s' && cp -rp '%s/%s' '%s/%s'", base, to, base, from, base, to);
    assert_int_equal(system(command), 0);
}

static slr_status send_number(slr_server *server, uint64_t number)
{
    struct message message = {.value = number * 3};
    return slr_server_send(server, PRODUCER, number, slr_key_u64(number % KEYS), &message, sizeof message, LONG);
}

static slr_server_stats stats_of(slr_server *server)
{
    slr_server_stats stats;
    must(slr_server_get_stats(server, &stats));
    assert_int_equal(stats.accepted, stats.handled + stats.faulted + stats.pending);
    return stats;
}

// Outputs so far: of each key 1, 2, 3... in order.
struct outputs {
    uint64_t count[KEYS], all, last;
};

static void take_outputs(slr_server *server, struct outputs *outputs)
{
    slr_output output;
    struct total total;
    while (slr_server_receive(server, &output, &total, sizeof total, 0) == SLR_OK) {
        assert_int_equal(output.sequence, outputs->last + 1);
        assert_int_equal(total.count, outputs->count[output.key.number] + 1);
        outputs->count[output.key.number]++;
        outputs->last = output.sequence;
        outputs->all++;
    }
}

static void check_states(slr_server *server, uint64_t messages)
{
    struct total total, expected[KEYS] = {{0}};
    for (uint64_t n = 1; n <= messages; ++n) {
        expected[n % KEYS].count++;
        expected[n % KEYS].sum += n * 3;
    }
    for (uint64_t key = 0; key < KEYS; ++key) {
        must(slr_server_get_state(server, slr_key_u64(key), &total, sizeof total, LONG));
        assert_int_equal(total.count, expected[key].count);
        assert_int_equal(total.sum, expected[key].sum);
    }
}

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

typedef struct letters {
    uint32_t count;
    uint64_t sequence, message, value;
    char reason[192];
} letters;

static void keep_letter(void *user, const slr_place_letter *letter)
{
    letters *letters = user;
    struct message message;
    assert_int_equal(letter->bytes, sizeof message);
    memcpy(&message, letter->payload, sizeof message);
    letters->count++;
    letters->sequence = letter->sequence;
    letters->message = letter->message;
    letters->value = message.value;
    snprintf(letters->reason, sizeof letters->reason, "%s", letter->reason);
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
        cmocka_unit_test_setup_teardown(a_dead_letter_that_is_damaged_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dead_letters_are_read_beside_a_busy_server, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_fault_fails_does_not_depend_on_the_batch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_process_and_one_server_have_a_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_accepts_nothing_and_loses_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_policy_and_sort_of_key_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_that_a_power_cut_took_come_again_with_their_outputs, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(many_keys_come_back_from_several_parts_and_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_file_is_damage_wherever_it_is_looked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_missing_file_is_damage_before_the_first_snapshot_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_holds_something_else_is_named_as_that, set_up, tear_down),
#ifdef __linux__
        cmocka_unit_test_setup_teardown(a_folder_in_use_is_looked_at_until_it_is_whole, set_up, tear_down),
#endif
        cmocka_unit_test_setup_teardown(a_backup_without_the_right_to_write_is_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_calls_say_what_is_wrong, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
