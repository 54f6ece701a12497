// SPDX-License-Identifier: Apache-2.0
// Calls: a sender that waits for the reply of a worker on another machine.
#define _GNU_SOURCE

#include "tests/cluster/remote.h"

static uint64_t last_input(slri_nats *nats, uint32_t partition)
{
    char stream[SLRI_NATS_SUBJECT];
    uint64_t first, last, bytes;
    slri_nats_stream_name(nats, SLRI_LOG_IN, partition, stream);
    return slri_nats_stream_state(nats, stream, &first, &last, &bytes) == SLR_OK ? last : 0;
}

static void a_call_gets_the_reply_of_its_own_message(void **state)
{
    (void)state;
    turning turning;
    slr_sender_stats stats;
    struct total total;
    uint64_t sum[KEYS] = {0};
    begin_turning(&turning, work(device, 0));
    slr_sender *sender = open_sender(0), *other = open_sender(0);
    for (uint64_t i = 0; i < 3 * KEYS; ++i) {
        uint64_t key = i % KEYS, count = 2 * (i / KEYS) + 2;
        struct message before = {key, i};
        // What was sent before is handled before, and another sender's call gets its own reply.
        must(slr_sender_send(sender, slr_key_u64(key), &before, sizeof before, LONG));
        must(call(i % 2 ? sender : other, key, 1000 + i, &total, LONG));
        sum[key] = (sum[key] * 31 + (i % 2 ? i : 1000 + i));
        if (i % 2) {
            sum[key] = sum[key] * 31 + 1000 + i;
            assert_int_equal(total.count, count);
            assert_int_equal(total.sum, sum[key]);
        } else {
            must(slr_sender_flush(sender, LONG));
            sum[key] = sum[key] * 31 + i;
        }
        assert_int_equal(total.key, key);
    }
    must(slr_sender_flush(sender, LONG));
    must(slr_sender_get_stats(sender, &stats));
    assert_int_equal(stats.sent, 3 * KEYS + 3 * KEYS / 2);
    assert_int_equal(stats.accepted, stats.sent);
    must(slr_sender_close(sender, LONG));
    must(slr_sender_close(other, LONG));
    expect_outputs(6 * KEYS); // before the worker ends: the last message may not have been handled yet
    end_turning(&turning);
}

static void a_call_tells_of_a_fault(void **state)
{
    (void)state;
    turning turning;
    struct total total;
    slr_worker *worker = NULL;
    slr_ring_desc ring = describe(add_but_one);
    must(try_work(device, &ring, 0, &worker));
    begin_turning(&turning, worker);
    slr_sender *sender = open_sender(0);
    must(call(sender, 3, 1, &total, LONG));
    refuses(call(sender, 3, MARK, &total, LONG), SLR_HANDLER_FAULT, "dead letters");
    must(call(sender, 4, 2, &total, LONG));
    assert_int_equal(total.count, 1);
    refuses(slr_sender_call(sender, slr_key_u64(3), &total, sizeof(struct message), &total, 3, LONG), SLR_INVALID,
            "replies of 24 B, not of 3 B");
    must(slr_sender_close(sender, LONG));
    end_turning(&turning);
}

static slr_status say_nothing(void *user, const slr_delivery *delivery)
{
    (void)user;
    (void)delivery;
    return SLR_OK;
}

static void a_call_of_a_handler_without_a_reply_ends(void **state)
{
    (void)state;
    turning turning;
    struct total total;
    slr_worker *worker = NULL;
    slr_ring_desc ring = describe(say_nothing);
    must(try_work(device, &ring, 0, &worker));
    begin_turning(&turning, worker);
    slr_sender *sender = open_sender(0);
    refuses(call(sender, 3, 1, &total, LONG), SLR_END, "gave no reply");
    must(slr_sender_close(sender, LONG));
    end_turning(&turning);
}

// Nobody handles it before the deadline. Its reply comes later, and the next call does not take it for its own.
static void a_late_reply_is_not_taken_for_another(void **state)
{
    (void)state;
    turning turning;
    struct total total;
    slr_worker *worker = work(device, 0);
    slr_sender *sender = open_sender(7);
    refuses(call(sender, 3, 1, &total, 1), SLR_TIMEOUT, "");
    refuses(call(sender, 3, 2, &total, 3000000000), SLR_TIMEOUT, "will be among the outputs"); // accepted by then
    begin_turning(&turning, worker);
    must(call(sender, 3, 3, &total, LONG));
    assert_int_equal(total.count, 3);
    must(slr_sender_close(sender, LONG));
    end_turning(&turning);
    sender = open_sender(7);
    refuses(call(sender, 3, 1, &total, LONG), SLR_WRONG_STATE, "was accepted before");
    must(slr_sender_close(sender, LONG));
}

static void a_call_waits_until_a_worker_comes(void **state)
{
    (void)state;
    turning turning;
    pthread_t thread;
    slr_remote_info info;
    slr_remote_desc remote = where();
    must(slr_worker_close(work(device, 0), LONG)); // nobody serves the name
    waiting_call waiting = {.sender = open_sender(0), .key = 3};
    assert_int_equal(pthread_create(&thread, NULL, call_once, &waiting), 0);
    do
        must(slr_remote_get_info(&remote, &info));
    while (info.waiting == 0);
    begin_turning(&turning, work(device, 0));
    pthread_join(thread, NULL);
    assert_int_equal(waiting.status, SLR_OK);
    assert_int_equal(waiting.total.count, 1);
    must(slr_sender_close(waiting.sender, LONG));
    end_turning(&turning);
    expect_outputs(1);
}

// What a short answer comes with, made up: as if another worker's output had been refused, or stored. `hex`: instead of
// the answer.
static void tell(const slri_nats *nats, uint64_t producer, const slri_remote_answer *of, const char *hex,
                 const char *text)
{
    struct total total = {.key = 3, .count = MARK, .sum = MARK};
    unsigned char bytes[sizeof *of + sizeof total];
    char answer[SLRI_NATS_ANSWER], who[24], subject[SLRI_NATS_SUBJECT + SLRI_NATS_ANSWER];
    memcpy(bytes, of, sizeof *of);
    memcpy(bytes + sizeof *of, &total, sizeof total);
    slri_nats_put_answer(bytes, sizeof bytes, answer);
    snprintf(who, sizeof who, "%016llx", (unsigned long long)producer);
    slri_nats_told_subject(nats, who, 5, hex ? hex : answer, subject);
    assert_int_equal(nats->api->natsConnection_Publish(nats->connection, subject, text, (int)strlen(text)), 0);
}

// One that the server has refused is no reply, nor is one of another message, or what is no answer at all.
static void an_answer_counts_with_the_servers_word_alone(void **state)
{
    static const char *const stored = "{\"stream\":\"s\",\"seq\":1}";
    static const char *const refused =
        "{\"error\":{\"code\":400,\"err_code\":10071,\"description\":\"wrong last sequence: 1\"}}";
    (void)state;
    turning turning;
    pthread_t calling;
    slri_nats *nats;
    slr_remote_desc remote = where();
    slr_worker *worker = work(device, 0);
    must(slri_nats_connect(&remote, &nats));
    waiting_call caller = {.sender = open_sender(7), .key = 3};
    uint32_t partition = 0;
    refuses(call(caller.sender, 3, 1, &caller.total, 3000000000), SLR_TIMEOUT, "will be among the outputs");
    while (partition < PARTITIONS && last_input(nats, partition) == 0)
        partition++;
    assert_int_equal(pthread_create(&calling, NULL, call_once, &caller), 0);
    while (last_input(nats, partition) < 2) // it waits
        usleep(10000);
    const slri_remote_answer right = {.number = 2, .partition = partition},
                             late = {.number = 1, .partition = partition};
    const slri_remote_answer elsewhere = {.number = 2, .partition = partition + 1};
    tell(nats, 7, &right, NULL, refused);
    tell(nats, 7, &late, NULL, stored);
    tell(nats, 7, &elsewhere, NULL, stored);
    tell(nats, 7, &right, "abc", stored);
    tell(nats, 7, &right, "0x", stored);
    tell(nats, 7, &right, "0a0b", stored);
    usleep(300000);
    begin_turning(&turning, worker);
    pthread_join(calling, NULL);
    must(caller.status);
    assert_int_equal(caller.total.count, 2);
    assert_int_not_equal(caller.total.sum, MARK);

    // So a stored one would have been taken.
    stop_turning(&turning);
    assert_int_equal(pthread_create(&calling, NULL, call_once, &caller), 0);
    while (last_input(nats, partition) < 3)
        usleep(10000);
    const slri_remote_answer third = {.number = 3, .partition = partition};
    tell(nats, 7, &third, NULL, stored);
    pthread_join(calling, NULL);
    must(caller.status);
    assert_int_equal(caller.total.sum, MARK);
    must(slr_sender_close(caller.sender, LONG));
    must(slr_worker_close(turning.worker, LONG));
    slri_nats_close(nats);
}

static slr_status reply_long(void *user, const slr_delivery *delivery)
{
    const struct message *message = delivery->message;
    unsigned char reply[2 * SLRI_TOLD_ANSWER];
    memset(reply, (int)message->value, sizeof reply);
    return slr_reply_to(delivery, reply, *(const uint32_t *)user);
}

static void get_replies_of(uint32_t bytes)
{
    turning turning;
    slr_worker *worker = NULL;
    slr_ring_desc ring = describe(reply_long);
    unsigned char reply[2 * SLRI_TOLD_ANSWER], expected[2 * SLRI_TOLD_ANSWER];
    ring.reply_bytes = bytes;
    ring.user = &bytes;
    must(try_work(device, &ring, 0, &worker));
    begin_turning(&turning, worker);
    slr_sender *sender = open_sender(0);
    for (uint64_t i = 1; i <= 20; ++i) {
        struct message message = {i % KEYS, i};
        memset(expected, (int)i, sizeof expected);
        must(slr_sender_call(sender, slr_key_u64(message.key), &message, sizeof message, reply, bytes, LONG));
        assert_memory_equal(reply, expected, bytes);
    }
    must(slr_sender_close(sender, LONG));
    end_turning(&turning);
}

static void the_longest_short_reply_comes(void **state)
{
    (void)state;
    get_replies_of(SLRI_TOLD_ANSWER - sizeof(slri_remote_answer));
}

static void the_shortest_long_reply_comes(void **state)
{
    (void)state;
    get_replies_of(SLRI_TOLD_ANSWER - sizeof(slri_remote_answer) + 8);
}

static void an_answer_is_the_last_part_of_a_subject(void **state)
{
    (void)state;
    unsigned char bytes[SLRI_TOLD_ANSWER], out[SLRI_TOLD_ANSWER];
    char text[SLRI_NATS_ANSWER + 2];
    for (uint32_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = (unsigned char)(i * 7);
    for (size_t count = 1; count <= sizeof bytes; count += 73) {
        slri_nats_put_answer(bytes, count, text);
        assert_int_equal(strlen(text), 2 * count);
        assert_int_equal(slri_nats_get_answer(text, out), count);
        assert_memory_equal(bytes, out, count);
        text[2 * count - 1] = '\0';
        assert_int_equal(slri_nats_get_answer(text, out), 0); // half a byte
    }
    slri_nats_put_answer(bytes, 0, text);
    assert_string_equal(text, "-");
    assert_int_equal(slri_nats_get_answer(text, out), 0);
    assert_int_equal(slri_nats_get_answer("0g", out), 0);
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    text[SLRI_NATS_ANSWER] = '\0';
    assert_int_equal(slri_nats_get_answer(text, out), 0); // a byte too many
}

static void a_reply_is_stored_before_its_caller_has_it(void **state)
{
    (void)state;
    turning turning;
    struct total total;
    slri_nats *nats;
    slri_manifest manifest;
    slr_key key = slr_key_u64(3);
    slr_remote_desc remote = where();
    begin_turning(&turning, work(device, 0));
    slr_sender *sender = open_sender(0);
    must(slri_nats_open(&remote, &nats));
    must(slri_manifest_read(nats, &manifest));
    for (uint64_t i = 1; i <= 50; ++i) {
        must(call(sender, 3, i, &total, LONG));
        assert_int_equal(total.count, i);
        assert_int_equal(last_output(nats, slri_partition_of(&manifest, &key)), i);
    }
    slri_nats_close(nats);
    must(slr_sender_close(sender, LONG));
    end_turning(&turning);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_gets_the_reply_of_its_own_message, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_call_tells_of_a_fault, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_call_of_a_handler_without_a_reply_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_reply_is_not_taken_for_another, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_call_waits_until_a_worker_comes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_answer_counts_with_the_servers_word_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_longest_short_reply_comes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_shortest_long_reply_comes, set_up, tear_down),
        cmocka_unit_test(an_answer_is_the_last_part_of_a_subject),
        cmocka_unit_test_setup_teardown(a_reply_is_stored_before_its_caller_has_it, set_up, tear_down),
    };
    RUN_WITH_SERVER(tests);
}
