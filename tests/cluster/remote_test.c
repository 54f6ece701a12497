// SPDX-License-Identifier: Apache-2.0
// Names that machines share, with one NATS server of this test. Workers take their turns in the test's own thread.
#define _GNU_SOURCE

#include "tests/cluster/remote.h"

#include "base/clock.h"

static void messages_come_once_and_outputs_in_order_of_their_key(void **state)
{
    (void)state;
    slr_worker *worker = work(device, 0);
    slr_sender *sender = open_sender(0);
    send_range(sender, 0, 1000);
    turn_until(worker, 1000);
    must(slr_sender_close(sender, LONG));
    must(slr_worker_close(worker, LONG));
    expect_outputs(1000);
    slr_remote_info info;
    slr_remote_desc remote = where();
    must(slr_remote_get_info(&remote, &info));
    assert_int_equal(info.messages, 1000);
    assert_int_equal(info.states, KEYS);
    assert_int_equal(info.waiting, 0);
    assert_int_equal(info.owned, 0);
    assert_int_equal(info.workers, 0);
    assert_string_equal(info.handler, "totals");
}

static void a_sender_that_begins_again_doubles_nothing(void **state)
{
    (void)state;
    slr_worker *worker = work(device, 0);
    slr_sender *sender = open_sender(5);
    slr_sender_stats stats;
    send_range(sender, 0, 300);
    must(slr_sender_close(sender, 0));
    turn_until(worker, 300); // of some partitions a snapshot says it, of others the stream
    sender = open_sender(5);
    send_range(sender, 0, 500);
    must(slr_sender_get_stats(sender, &stats));
    assert_int_equal(stats.skipped, 300);
    assert_int_equal(stats.accepted, 200);
    must(slr_sender_close(sender, 0));
    turn_until(worker, 500);
    assert_int_equal(stats_of(worker).handled, 500);
    must(slr_worker_close(worker, LONG));
    expect_outputs(500);
}

static void a_full_partition_refuses_and_loses_nothing(void **state)
{
    (void)state;
    slr_worker *worker = work(device, 2); // frames
    slr_sender *sender = open_sender(0);
    slr_status status = SLR_OK;
    uint64_t sent = 0;
    for (; status == SLR_OK && sent < 100000; sent += status == SLR_OK) {
        struct message message = {sent % KEYS, sent};
        status = slr_sender_send(sender, slr_key_u64(message.key), &message, sizeof message, 20000000);
    }
    assert_int_equal(status, SLR_FULL);
    assert_int_equal(slr_sender_flush(sender, 0), SLR_FULL);
    do
        must(slr_worker_turn(worker, 1000000));
    while ((status = slr_sender_flush(sender, 1000000)) != SLR_OK);
    turn_until(worker, sent);
    must(slr_sender_close(sender, 0));
    must(slr_worker_close(worker, LONG));
    expect_outputs(sent);
}

static void workers_share_partitions_and_take_over(void **state)
{
    (void)state;
    slr_device *other;
    must(slr_device_open("cpu?threads=1", NULL, &other));
    slr_worker *one = work(device, 0);
    while (stats_of(one).owned < PARTITIONS)
        must(slr_worker_turn(one, 1000000));
    slr_worker *two = work(other, 0);
    while (stats_of(two).owned == 0 || stats_of(one).owned + stats_of(two).owned < PARTITIONS) {
        must(slr_worker_turn(one, 1000000));
        must(slr_worker_turn(two, 1000000));
    }
    slr_sender *sender = open_sender(0);
    send_range(sender, 0, 400);
    while (stats_of(one).handled + stats_of(two).handled < 400) {
        must(slr_worker_turn(one, 1000000));
        must(slr_worker_turn(two, 1000000));
    }
    assert_int_equal(stats_of(one).lost + stats_of(two).lost, 0);
    assert_true(stats_of(one).drained > 0);
    const uint64_t of_one = stats_of(one).handled;
    must(slr_worker_close(one, LONG)); // in peace: what it had is free at once
    send_range(sender, 400, 600);
    while (stats_of(two).owned < PARTITIONS || of_one + stats_of(two).handled < 600)
        must(slr_worker_turn(two, 1000000));
    must(slr_sender_close(sender, LONG));
    must(slr_worker_close(two, LONG));
    slr_device_close(other);
    expect_outputs(600);
}

// ---- a partition that another worker is to get ---------------------------------------------------------------------

enum { SLOW_MESSAGES = 4000, SLOW_US = 400 }; // together longer than one try to give a partition away

static uint32_t slow_calls; // atomic: of the handler

static slr_status add_slowly(void *user, const slr_delivery *delivery)
{
    (void)user;
    __atomic_add_fetch(&slow_calls, 1, __ATOMIC_RELAXED); // read once all is handled
    usleep(SLOW_US);
    return count(delivery);
}

static slr_worker *work_slowly(slr_device *on)
{
    slr_worker *worker;
    slr_worker_desc desc = SLR_WORKER_DESC_INIT;
    slr_remote_desc remote = where();
    slr_ring_desc ring = describe(add_slowly);
    ring.queue_size = SLOW_MESSAGES;
    desc.partitions = PARTITIONS;
    desc.lease_ns = LONG;
    desc.snapshot_ns = 100 * LONG; // none but for giving away
    must(slr_worker_open(on, &ring, &remote, &desc, &worker));
    return worker;
}

static void a_worker_with_slow_handlers_gives_its_share_away_and_nothing_is_handled_again(void **state)
{
    (void)state;
    slr_device *other;
    slow_calls = 0;
    must(slr_device_open("cpu?threads=1", NULL, &other));
    slr_worker *one = work_slowly(device);
    while (stats_of(one).owned < PARTITIONS)
        must(slr_worker_turn(one, 1000000));
    slr_sender *sender = open_sender(0);
    send_range(sender, 0, SLOW_MESSAGES);
    while (stats_of(one).records == 0 || __atomic_load_n(&slow_calls, __ATOMIC_RELAXED) == 0)
        must(slr_worker_turn(one, 1000000));
    slr_worker *two = work_slowly(other);
    while (stats_of(one).drained == 0 || stats_of(one).handled + stats_of(two).handled < SLOW_MESSAGES) {
        must(slr_worker_turn(one, 1000000));
        must(slr_worker_turn(two, 1000000));
    }
    assert_int_equal(slow_calls, SLOW_MESSAGES);
    must(slr_sender_close(sender, LONG));
    must(slr_worker_close(one, LONG));
    must(slr_worker_close(two, LONG));
    slr_device_close(other);
    expect_outputs(SLOW_MESSAGES);
}

static void records_that_are_no_frames_are_refused(void **state)
{
    (void)state;
    slr_worker *worker = work(device, 0);
    slr_remote_desc remote = where();
    slri_nats *nats;
    natsMsg *reply;
    char subject[SLRI_NATS_SUBJECT];
    unsigned char junk[600];
    slri_manifest manifest;
    must(slri_nats_open(&remote, &nats));
    must(slri_manifest_read(nats, &manifest));
    slri_frame_shape shape = slri_manifest_shape(&manifest);
    slri_frame_head head = slri_frame_head_of(&shape, SLRI_FRAME_SENT);
    head.first = head.number = 1;
    head.extra = SLR_KEYS_U64;
    head.count = 1000000; // more than there is
    memset(junk, 0xff, sizeof junk);
    slri_nats_stream_subject(nats, SLRI_LOG_IN, 1, subject);
    for (uint32_t i = 0; i < 4; ++i) {
        memcpy(junk, &head, i > 1 ? sizeof head : 4);
        head.layout += i == 2; // of another handler
        must(slri_nats_request(nats, subject, NULL, NULL, junk, i == 0 ? 0 : sizeof junk, &reply));
        nats->api->natsMsg_Destroy(reply);
    }
    slri_nats_close(nats);
    slr_sender *sender = open_sender(0);
    send_range(sender, 0, 200);
    turn_until(worker, 200);
    assert_int_equal(stats_of(worker).refused, 4);
    must(slr_sender_close(sender, LONG));
    must(slr_worker_close(worker, LONG));
    expect_outputs(200);
}

// Their headers are those of the server's own answers, which end a request or say that nobody is there.
static void records_whose_headers_lie_are_refused(void **state)
{
    (void)state;
    static const char *const lies[] = {"100", "404", "408", "409", "503"};
    enum { LIES = sizeof lies / sizeof *lies };
    slr_worker *worker = work(device, 0);
    slr_remote_desc remote = where();
    slri_nats *nats;
    natsMsg *reply;
    char subject[SLRI_NATS_SUBJECT];
    must(slri_nats_open(&remote, &nats));
    for (uint32_t i = 0; i < 2 * LIES; ++i) {
        slri_nats_stream_subject(nats, SLRI_LOG_IN, i % PARTITIONS, subject);
        must(slri_nats_request(nats, subject, "Status", lies[i % LIES], "x", i / LIES, &reply));
        nats->api->natsMsg_Destroy(reply);
    }
    slri_nats_close(nats);
    slr_sender *sender = open_sender(5); // it reads them as well
    send_range(sender, 0, 200);
    for (uint32_t turns = 0; turns < 20000 && stats_of(worker).handled < 200; ++turns)
        must(slr_worker_turn(worker, 1000000));
    assert_int_equal(stats_of(worker).handled, 200);
    assert_int_equal(stats_of(worker).refused, 2 * LIES);
    must(slr_sender_close(sender, LONG));
    must(slr_worker_close(worker, LONG));
    expect_outputs(200);
}

// A frame with one key that is too long would be refused as a whole, after it was accepted.
static void keys_that_no_worker_takes_are_not_sent(void **state)
{
    (void)state;
    char long_key[62];
    slr_worker *worker, *second;
    slr_ring_desc ring = describe(add);
    struct message message = {0, 0};
    memset(long_key, 'k', sizeof long_key);
    ring.keys = SLR_KEYS_TEXT;
    must(try_work(device, &ring, 0, &worker));
    ring.key_bytes = 100; // the first worker's 60 hold
    must(try_work(device, &ring, 0, &second));
    must(slr_worker_close(second, LONG));
    slr_sender *sender = open_sender(0);
    refuses(slr_sender_send(sender, slr_key_text(long_key, 61), &message, sizeof message, 0), SLR_INVALID,
            "at most 60 B");
    must(slr_sender_send(sender, slr_key_text(long_key, 60), &message, sizeof message, 0));
    must(slr_sender_close(sender, LONG));
    turn_until(worker, 1);
    assert_int_equal(stats_of(worker).refused, 0);
    must(slr_worker_close(worker, LONG));
}

static void instances_that_are_not_there_are_not_sent(void **state)
{
    (void)state;
    slr_worker *worker;
    slr_ring_desc ring = describe(add);
    struct message message = {0, 0};
    ring.keys = 0;
    must(try_work(device, &ring, 0, &worker));
    slr_sender *sender = open_sender(0);
    refuses(slr_sender_send(sender, slr_key_u64(100), &message, sizeof message, 0), SLR_INVALID, "instances 0 to 99");
    must(slr_sender_send(sender, slr_key_u64(99), &message, sizeof message, 0));
    must(slr_sender_close(sender, LONG));
    turn_until(worker, 1);
    must(slr_worker_close(worker, LONG));
}

// The ring kernel has no instance for a third key: the partition fails, is opened again, and fails.
static void a_partition_that_fails_is_tried_ever_less_often(void **state)
{
    (void)state;
    slr_worker *worker;
    slr_ring_desc ring = describe(add);
    ring.instances = 2;
    must(try_work(device, &ring, 0, &worker));
    slr_sender *sender = open_sender(0);
    send_range(sender, 0, KEYS);
    must(slr_sender_close(sender, LONG));
    uint64_t begin_ns = slri_now_ns(), took_ns, tries = 1;
    do {
        must(slr_worker_turn(worker, 1000000));
        took_ns = slri_now_ns() - begin_ns;
    } while (took_ns < 3000000000u || stats_of(worker).lost == 0);
    for (uint64_t at_ns = 300000000; at_ns <= took_ns; at_ns = 2 * at_ns + 300000000) // 0.3, 0.9 and 2.1 s
        ++tries;
    assert_in_range(stats_of(worker).lost, 1, PARTITIONS * tries);
    assert_non_null(strstr(stats_of(worker).problem, "allows no more"));
    must(slr_worker_close(worker, LONG));
}

// What a worker that has lost its partitions has handled since their snapshots is handled again.
static void messages_that_are_handled_again_are_counted_once(void **state)
{
    (void)state;
    slr_worker_desc desc = SLR_WORKER_DESC_INIT;
    slr_remote_desc remote = where();
    slr_ring_desc ring = describe(add);
    slr_worker *worker;
    desc.partitions = PARTITIONS;
    desc.snapshot_ns = 100 * LONG;
    must(slr_worker_open(device, &ring, &remote, &desc, &worker));
    slr_sender *sender = open_sender(0);
    send_range(sender, 0, 200);
    turn_until(worker, 200);
    give_to_a_stranger();
    while (stats_of(worker).lost < PARTITIONS || stats_of(worker).owned < PARTITIONS)
        must(slr_worker_turn(worker, 1000000));
    send_range(sender, 200, 300);
    turn_until(worker, 300);
    must(slr_sender_close(sender, LONG));
    for (uint32_t i = 0; i < 100; ++i)
        must(slr_worker_turn(worker, 1000000));
    assert_int_equal(stats_of(worker).handled, 300);
    must(slr_worker_close(worker, LONG));
    expect_outputs(300);
}

// The last record of a partition's outputs once more, as a worker stores it that did not hear of the one between.
static slr_status append_again(void *user, const slri_log_record *record)
{
    slri_nats *nats = user;
    natsMsg *reply;
    char subject[SLRI_NATS_SUBJECT];
    slri_nats_stream_subject(nats, SLRI_LOG_OUT, 0, subject);
    must(slri_nats_request(nats, subject, NULL, NULL, record->data, record->bytes, &reply));
    nats->api->natsMsg_Destroy(reply);
    return SLR_OK;
}

static void append_last_output_again(void)
{
    slr_remote_desc remote = where();
    char stream[SLRI_NATS_SUBJECT];
    uint64_t first, last, bytes;
    slri_nats *nats;
    must(slri_nats_open(&remote, &nats));
    slri_nats_stream_name(nats, SLRI_LOG_OUT, 0, stream);
    must(slri_nats_stream_state(nats, stream, &first, &last, &bytes));
    must(slri_nats_read(nats, stream, last, last, append_again, nats));
    slri_nats_close(nats);
}

static void an_output_that_follows_none_does_not_count(void **state)
{
    (void)state;
    slr_remote_desc remote = where();
    slr_remote_info info = {.messages = 0};
    slr_receiver *receiver;
    slr_output output;
    struct total total;
    slr_worker *worker = work(device, 0);
    slr_sender *sender = open_sender(0);
    for (uint64_t turn = 0; turn < 3; ++turn) {
        if (turn > 0)
            append_last_output_again();
        send_range(sender, 200 * turn, 200 * (turn + 1));
        while (info.messages < 200 * (turn + 1)) { // with their snapshots
            must(slr_worker_turn(worker, 1000000));
            must(slr_remote_get_info(&remote, &info));
        }
    }
    assert_in_range(stats_of(worker).lost, 2, 10); // its log, each time
    must(slr_sender_close(sender, LONG));
    must(slr_worker_close(worker, LONG));
    append_last_output_again(); // behind the last snapshot
    expect_outputs(600);
    must(slr_receiver_open(&remote, &receiver));
    for (uint64_t i = 0; i < 600; ++i)
        must(slr_receiver_receive(receiver, &output, NULL, &total, sizeof total, LONG));
    must(slr_receiver_release(receiver));
    slr_receiver_close(receiver);
    must(slr_receiver_open(&remote, &receiver));
    refuses(slr_receiver_receive(receiver, &output, NULL, &total, sizeof total, 50000000), SLR_TIMEOUT, "no output");
    slr_receiver_close(receiver);
}

// ---- many senders --------------------------------------------------------------------------------------------------

// One message from each of `count` senders, whose names begin with `name_of_first`, to the partition of key 0.
static void send_from_many(uint64_t name_of_first, uint64_t sender_count)
{
    slr_remote_desc remote = where();
    slri_nats *nats;
    natsMsg *reply;
    slri_manifest manifest;
    char subject[SLRI_NATS_SUBJECT];
    struct {
        slri_frame_head head;
        uint64_t key;
        struct message message;
    } frame = {.key = 0};
    must(slri_nats_open(&remote, &nats));
    must(slri_manifest_read(nats, &manifest));
    slri_frame_shape shape = slri_manifest_shape(&manifest);
    slr_key key = slr_key_u64(0);
    slri_nats_stream_subject(nats, SLRI_LOG_IN, slri_partition_of(&manifest, &key), subject);
    for (uint64_t i = 0; i < sender_count; ++i) {
        frame.head = slri_frame_head_of(&shape, SLRI_FRAME_SENT);
        frame.head.producer = name_of_first + i;
        frame.head.first = frame.head.number = frame.head.count = 1;
        frame.head.extra = SLR_KEYS_U64;
        must(slri_nats_request(nats, subject, NULL, NULL, &frame, sizeof frame, &reply));
        nats->api->natsMsg_Destroy(reply);
    }
    slri_nats_close(nats);
}

// Each message is handled, or counted as one that was not.
static void turn_until_seen(slr_worker *worker, uint64_t messages)
{
    for (slr_worker_stats stats = stats_of(worker); stats.handled + stats.gaps + stats.repeated < messages;
         stats = stats_of(worker))
        must(slr_worker_turn(worker, 1000000));
}

static void a_sender_goes_on_behind_a_thousand_others(void **state)
{
    (void)state;
    enum { OTHERS = SLRI_HEAD_PRODUCERS + 10 };
    slr_worker *worker = work(device, 0);
    slr_sender *sender = open_sender(0), *named = open_sender(5);
    slr_sender_stats stats;
    send_range(sender, 0, 200);
    send_range(named, 0, 300);
    send_from_many(SLRI_PRODUCER_ONCE + 1, OTHERS);
    send_range(sender, 200, 300); // it was forgotten
    turn_until_seen(worker, 600 + OTHERS);
    assert_int_equal(stats_of(worker).gaps, 0);
    assert_int_equal(stats_of(worker).repeated, 0);
    must(slr_sender_close(named, 0));
    named = open_sender(5); // it was not
    send_range(named, 0, 500);
    must(slr_sender_get_stats(named, &stats));
    assert_int_equal(stats.skipped, 300);
    turn_until_seen(worker, 800 + OTHERS);
    must(slr_sender_close(named, 0));
    must(slr_sender_close(sender, 0));
    assert_int_equal(stats_of(worker).handled, 800 + OTHERS);
    must(slr_worker_close(worker, LONG));
}

static void more_numbered_senders_than_can_be_known_are_refused(void **state)
{
    (void)state;
    slr_remote_desc remote = where();
    slr_sender_desc desc = SLR_SENDER_DESC_INIT;
    slr_worker *worker = work(device, 0);
    slr_sender *sender;
    send_from_many(1000, SLRI_HEAD_NAMED);
    turn_until_seen(worker, SLRI_HEAD_NAMED);
    must(slr_worker_close(worker, LONG));
    desc.producer = 999;
    refuses(slr_sender_open(&remote, &desc, &sender), SLR_FULL, "512 producers");
    desc.producer = UINT64_MAX;
    refuses(slr_sender_open(&remote, &desc, &sender), SLR_INVALID, "2^63");
    must(slr_sender_close(open_sender(1000), 0)); // known
    must(slr_sender_close(open_sender(0), 0));    // without a number
}

static void another_layout_is_refused(void **state)
{
    (void)state;
    slr_worker *worker = work(device, 0), *second;
    slr_ring_desc ring = describe(add);
    ring.state_bytes = 64;
    refuses(try_work(device, &ring, 0, &second), SLR_LAYOUT, "states of 24 B");
    assert_int_equal(slr_worker_replace(worker, &ring, LONG), SLR_LAYOUT);
    slr_sender *sender = open_sender(0);
    struct message message = {0, 0};
    refuses(slr_sender_send(sender, slr_key_u64(0), &message, 3, 0), SLR_INVALID, "messages of 16 B, not of 3 B");
    refuses(slr_sender_send(sender, slr_key_text("a", 1), &message, sizeof message, 0), SLR_INVALID, "numbers");
    must(slr_sender_close(sender, 0));
    must(slr_worker_close(worker, LONG));
}

static void a_handler_is_replaced_and_taken_back_where_it_faults(void **state)
{
    (void)state;
    slr_worker *worker = work(device, 0);
    slr_sender *sender = open_sender(0);
    slr_ring_desc ring = describe(add_but_one);
    send_range(sender, 0, 200);
    turn_until(worker, 200);
    must(slr_worker_replace(worker, &ring, LONG));
    assert_int_equal(stats_of(worker).replaced, 1);
    send_range(sender, MARK, MARK + 1); // faults, and is handled by the one before
    while (stats_of(worker).rolled_back == 0)
        must(slr_worker_turn(worker, 1000000));
    send_range(sender, 200, 300);
    turn_until(worker, 301);
    assert_int_equal(stats_of(worker).faulted, 0);
    must(slr_sender_close(sender, 0));
    must(slr_worker_close(worker, LONG));
    expect_outputs(301);
}

// ---- no server -----------------------------------------------------------------------------------------------------

// The manifest of a name, on a server of this test alone.
static slr_worker *work_at(const nats_servers *own, slr_remote_desc *remote)
{
    slr_worker_desc desc = SLR_WORKER_DESC_INIT;
    slr_ring_desc ring = describe(add);
    slr_worker *worker = NULL;
    *remote = where();
    remote->servers = own->list;
    remote->timeout_ns = 3000000000;
    desc.partitions = PARTITIONS;
    must(slr_worker_open(device, &ring, remote, &desc, &worker));
    return worker;
}

// More than libnats keeps while there is no server: 8 MiB.
static void what_is_sent_without_a_server_waits_for_it(void **state)
{
    (void)state;
    enum { MESSAGES = 420000, BYTES = 24 };
    nats_servers own;
    slr_remote_desc remote;
    slr_sender_desc desc = SLR_SENDER_DESC_INIT;
    slr_sender_stats stats;
    slr_sender *sender;
    assert_true(nats_open(&own, 1, NULL));
    must(slr_worker_close(work_at(&own, &remote), LONG));
    desc.frame_bytes = 1 << 19;
    desc.in_flight = (uint64_t)2 * MESSAGES * BYTES;
    must(slr_sender_open(&remote, &desc, &sender));
    nats_kill(&own, 0);
    for (uint64_t i = 0; i < MESSAGES; ++i) {
        struct message message = {i % KEYS, i};
        must(slr_sender_send(sender, slr_key_u64(message.key), &message, sizeof message, 0));
    }
    assert_int_equal(slr_sender_flush(sender, 20000000), SLR_TIMEOUT);
    assert_true(nats_start(&own, 0, NULL));
    must(slr_sender_flush(sender, LONG));
    must(slr_sender_get_stats(sender, &stats));
    assert_int_equal(stats.accepted, MESSAGES);
    must(slr_sender_close(sender, 0));
    nats_close(&own);
}

static void partitions_are_not_handed_over_without_a_server(void **state)
{
    (void)state;
    nats_servers own;
    slr_remote_desc remote;
    assert_true(nats_open(&own, 1, NULL));
    for (uint32_t is_gone = 0; is_gone < 2; ++is_gone) {
        slr_worker *worker = work_at(&own, &remote);
        while (stats_of(worker).owned < PARTITIONS)
            must(slr_worker_turn(worker, 1000000));
        if (is_gone)
            nats_kill(&own, 0);
        slr_status status = slr_worker_close(worker, LONG);
        assert_true(is_gone ? status == SLR_TIMEOUT || status == SLR_SYSTEM : status == SLR_OK);
    }
    nats_close(&own);
}

// ---- the most partitions -------------------------------------------------------------------------------------------

static void count_value(void *user, const slri_nats_value *value)
{
    (void)value;
    ++*(uint32_t *)user;
}

static void all_owners_of_the_most_partitions_are_seen(void **state)
{
    (void)state;
    slr_remote_desc remote = where();
    slri_nats *nats;
    uint32_t owners = 0, workers = 0;
    must(slri_nats_open(&remote, &nats));
    must(slri_nats_make_values(nats));
    for (uint32_t i = 0; i <= SLRI_NAME_PARTITIONS; ++i) {
        char key[32];
        uint64_t revision = 0;
        snprintf(key, sizeof key, i < SLRI_NAME_PARTITIONS ? "owner.%u" : "worker.%u", i);
        must(slri_nats_cas(nats, key, &revision, "w", 1));
    }
    must(slri_nats_values(nats, "owner.*", count_value, &owners));
    must(slri_nats_values(nats, "worker.*", count_value, &workers));
    assert_int_equal(owners, SLRI_NAME_PARTITIONS);
    assert_int_equal(workers, 1);
    assert_int_equal(slri_nats_values(nats, "*.*", count_value, &workers), SLR_SYSTEM); // one too many
    slri_nats_close(nats);
}

// ---- who we are ----------------------------------------------------------------------------------------------------

static void secrets_and_strangers_are_refused(void **state)
{
    (void)state;
    slr_sender *sender;
    slr_remote_desc remote = where();
    refuses(slr_sender_open(&remote, NULL, &sender), SLR_NOT_FOUND, "nobody has served");
    remote.servers = "nats://me:secret@127.0.0.1:4222";
    refuses(slr_sender_open(&remote, NULL, &sender), SLR_INVALID, "put them into a file");
    assert_null(strstr(slr_error_message(), "secret"));
    remote.servers = "nats://192.0.2.1:4222";
    refuses(slr_sender_open(&remote, NULL, &sender), SLR_INVALID, "nothing says who we are");
    remote.servers = "http://localhost";
    refuses(slr_sender_open(&remote, NULL, &sender), SLR_INVALID, "is not nats://HOST:PORT");
    remote = where();
    remote.name = "a.b";
    refuses(slr_sender_open(&remote, NULL, &sender), SLR_INVALID, "letters, digits");
    remote = where();
    remote.credentials = "/nowhere/at/all";
    assert_int_not_equal(slr_sender_open(&remote, NULL, &sender), SLR_OK);
}

static void an_nkey_of_a_file_opens_a_guarded_server(void **state)
{
    (void)state;
    char configuration[96], key[96], text[256];
    slr_remote_desc remote = where();
    slr_remote_info info;
    nats_servers guarded;
    snprintf(configuration, sizeof configuration, "%s/guarded.conf", servers.folder);
    snprintf(key, sizeof key, "%s/nkey", servers.folder);
    snprintf(text, sizeof text, "authorization: { users: [ { nkey: %s } ] }\n", NKEY_PUBLIC);
    write_file(configuration, text);
    snprintf(text, sizeof text, "%s\n%s\n", NKEY_PUBLIC, NKEY_SEED);
    write_file(key, text);
    assert_true(nats_open(&guarded, 1, configuration));
    remote.servers = guarded.list;
    refuses(slr_remote_get_info(&remote, &info), SLR_SYSTEM, "no connection");
    remote.nkey = key;
    refuses(slr_remote_get_info(&remote, &info), SLR_NOT_FOUND, "nobody has served"); // it was let in
    write_file(key, NKEY_SEED);
    refuses(slr_remote_get_info(&remote, &info), SLR_INVALID, "public NKey");
    assert_null(strstr(slr_error_message(), NKEY_SEED));
    nats_close(&guarded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(messages_come_once_and_outputs_in_order_of_their_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sender_that_begins_again_doubles_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_partition_refuses_and_loses_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(workers_share_partitions_and_take_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_worker_with_slow_handlers_gives_its_share_away_and_nothing_is_handled_again,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(records_that_are_no_frames_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_output_that_follows_none_does_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(records_whose_headers_lie_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_that_no_worker_takes_are_not_sent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(instances_that_are_not_there_are_not_sent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_partition_that_fails_is_tried_ever_less_often, set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_that_are_handled_again_are_counted_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_sender_goes_on_behind_a_thousand_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_numbered_senders_than_can_be_known_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_layout_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_handler_is_replaced_and_taken_back_where_it_faults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_sent_without_a_server_waits_for_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(partitions_are_not_handed_over_without_a_server, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_owners_of_the_most_partitions_are_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(secrets_and_strangers_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_nkey_of_a_file_opens_a_guarded_server, set_up, tear_down),
    };
    RUN_WITH_SERVER(tests);
}
