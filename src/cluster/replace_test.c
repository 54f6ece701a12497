// SPDX-License-Identifier: Apache-2.0
// Handlers that are replaced while messages come.
#define _GNU_SOURCE

#include <slipring/devices.h>
#include <slipring/serve.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define LONG 60000000000u
enum { KEYS = 5, PRODUCER = 5, MARK = 777 };

struct message {
    uint64_t value;
};
struct total {
    uint64_t count, sum;
};

static char base[64];
static slr_device *device;

static slr_status add_times(const slr_delivery *delivery, uint64_t times)
{
    struct total *total = delivery->state;
    struct message message;
    memcpy(&message, delivery->message, sizeof message);
    total->count++;
    total->sum += message.value * times;
    return slr_reply_to(delivery, total, sizeof *total);
}

static slr_status add(void *user, const slr_delivery *delivery)
{
    (void)user;
    return add_times(delivery, 1);
}

static slr_status add_twice(void *user, const slr_delivery *delivery)
{
    (void)user;
    return add_times(delivery, 2);
}

static slr_status add_but_one(void *user, const slr_delivery *delivery)
{
    struct message message;
    (void)user;
    memcpy(&message, delivery->message, sizeof message);
    return message.value == MARK ? SLR_INVALID : add_times(delivery, 1);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "/tmp/slipring-replace-XXXXXX");
    return mkdtemp(base) && slr_device_open("cpu?threads=2", NULL, &device) == SLR_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    slr_device_close(device);
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    return system(command);
}

static void must(slr_status status)
{
    if (status != SLR_OK)
        fail_msg("%s: %s", slr_status_name(status), slr_error_message());
}

static slr_ring_desc describe(slr_on_message *handler)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "totals";
    desc.on_message = handler;
    desc.message_bytes = sizeof(struct message);
    desc.state_bytes = desc.reply_bytes = sizeof(struct total);
    desc.keys = SLR_KEYS_U64;
    desc.instances = 100;
    desc.queue_size = 64;
    return desc;
}

static slr_server *serve(slr_on_message *handler)
{
    slr_server *server = NULL;
    char place[96];
    slr_ring_desc ring = describe(handler);
    slr_serve_desc desc = SLR_SERVE_DESC_INIT;
    snprintf(place, sizeof place, "local:%s/one", base);
    desc.place = place;
    desc.sync = SLR_SYNC_NEVER;
    desc.snapshot_ns = UINT64_MAX;
    desc.frame_messages = 7;
    must(slr_serve(device, &ring, &desc, &server));
    return server;
}

static void send_value(slr_server *server, uint64_t key, uint64_t value)
{
    struct message message = {value};
    must(slr_server_send(server, PRODUCER, 0, slr_key_u64(key), &message, sizeof message, LONG));
}

static slr_status replace(slr_server *server, slr_on_message *handler)
{
    slr_ring_desc ring = describe(handler);
    return slr_server_replace(server, &ring, LONG);
}

static slr_server_stats stats_of(slr_server *server)
{
    slr_server_stats stats;
    must(slr_server_get_stats(server, &stats));
    assert_int_equal(stats.accepted, stats.handled + stats.faulted + stats.pending);
    return stats;
}

static void expect_state(slr_server *server, uint64_t key, uint64_t count, uint64_t sum)
{
    struct total total;
    must(slr_server_get_state(server, slr_key_u64(key), &total, sizeof total, LONG));
    assert_int_equal(total.count, count);
    assert_int_equal(total.sum, sum);
}

// Each output once, and of each key in order.
static void expect_outputs(slr_server *server, uint64_t count)
{
    uint64_t of_key[KEYS] = {0}, all = 0;
    slr_output output;
    struct total total;
    while (slr_server_receive(server, &output, &total, sizeof total, 0) == SLR_OK) {
        assert_int_equal(output.status, SLR_OK);
        assert_int_equal(output.sequence, ++all);
        assert_int_equal(total.count, ++of_key[output.key.number]);
    }
    assert_int_equal(all, count);
}

static void new_code_handles_what_comes_after_it(void **state)
{
    (void)state;
    slr_server *server = serve(add);
    for (uint64_t i = 0; i < 100; ++i)
        send_value(server, i % KEYS, 1);
    must(replace(server, add_twice));
    for (uint64_t i = 0; i < 50; ++i)
        send_value(server, i % KEYS, 1);
    must(slr_server_settle(server, LONG));
    for (uint64_t key = 0; key < KEYS; ++key)
        expect_state(server, key, 30, 20 + 2 * 10);
    slr_server_stats stats = stats_of(server);
    assert_int_equal(stats.replaced, 1);
    assert_int_equal(stats.handled, 150);
    expect_outputs(server, 150);
    must(slr_server_close(server, LONG));
    server = serve(add_twice);
    expect_state(server, 0, 30, 40);
    must(slr_server_close(server, LONG));
}

static void new_code_that_faults_is_taken_back(void **state)
{
    (void)state;
    slr_server *server = serve(add);
    for (uint64_t i = 0; i < 33; ++i)
        send_value(server, i % KEYS, 1);
    must(replace(server, add_but_one));
    for (uint64_t i = 0; i < 20; ++i)
        send_value(server, i % KEYS, 1);
    must(slr_server_settle(server, LONG)); // so that outputs of the new code are stored
    for (uint64_t i = 0; i < 20; ++i)
        send_value(server, i % KEYS, i == 11 ? MARK : 1);
    must(slr_server_settle(server, LONG));
    slr_server_stats stats = stats_of(server);
    assert_int_equal(stats.rolled_back, 1);
    assert_int_equal(stats.faulted, 0);
    assert_int_equal(stats.handled, 73);
    assert_int_equal(stats.differing, 0);
    expect_outputs(server, 73);
    expect_state(server, 1, 15, 14 + MARK);
    must(slr_server_snapshot(server, LONG));
    send_value(server, 0, 1);
    must(slr_server_close(server, LONG));
    server = serve(add);
    expect_state(server, 1, 15, 14 + MARK);
    assert_int_equal(stats_of(server).handled, 74);
    must(slr_server_close(server, LONG));
}

static void new_code_that_came_through_a_snapshot_stays(void **state)
{
    (void)state;
    slr_server *server = serve(add);
    send_value(server, 0, 1);
    must(replace(server, add_but_one));
    send_value(server, 0, 1);
    assert_int_equal(replace(server, add), SLR_OK); // a snapshot ends the trial, and another one may begin
    must(replace(server, add_but_one));
    send_value(server, 0, 1);
    must(slr_server_snapshot(server, LONG));
    send_value(server, 0, MARK);
    must(slr_server_settle(server, LONG));
    slr_server_stats stats = stats_of(server);
    assert_int_equal(stats.rolled_back, 0);
    assert_int_equal(stats.faulted, 1);
    assert_int_equal(stats.handled, 3);
    must(slr_server_close(server, LONG));
}

// Faults on each message.
static slr_status refuse(void *user, const slr_delivery *delivery)
{
    (void)user;
    (void)delivery;
    return SLR_INVALID;
}

// What has had no message is not proven, however often it is replaced.
static void code_that_had_no_message_is_not_gone_back_to(void **state)
{
    (void)state;
    slr_server *server = serve(add);
    for (uint64_t i = 0; i < 10; ++i)
        send_value(server, 0, 1);
    must(replace(server, refuse));
    must(slr_server_snapshot(server, LONG)); // of nothing
    must(replace(server, refuse));
    must(replace(server, add_but_one));
    for (uint64_t i = 0; i < 10; ++i)
        send_value(server, 0, i == 3 ? MARK : 1);
    must(slr_server_settle(server, LONG));
    slr_server_stats stats = stats_of(server);
    assert_int_equal(stats.replaced, 3);
    assert_int_equal(stats.rolled_back, 1);
    assert_int_equal(stats.faulted, 0);
    expect_state(server, 0, 20, 19 + MARK);
    expect_outputs(server, 20);
    must(slr_server_close(server, LONG));
}

// Messages that were sent before the second replacement are the first one's trial, also where they were not flushed.
static void code_that_faults_as_it_is_replaced_is_taken_back_first(void **state)
{
    (void)state;
    slr_server *server = serve(add);
    must(replace(server, refuse));
    send_value(server, 0, 1);
    must(replace(server, add_twice));
    send_value(server, 0, 1);
    must(slr_server_settle(server, LONG));
    assert_int_equal(stats_of(server).rolled_back, 1);
    assert_int_equal(stats_of(server).faulted, 0);
    expect_state(server, 0, 2, 3);
    must(slr_server_close(server, LONG));
}

static void another_layout_is_refused_and_the_old_code_goes_on(void **state)
{
    (void)state;
    slr_server *server = serve(add);
    slr_ring_desc ring = describe(add_twice);
    ring.state_bytes = 24;
    send_value(server, 0, 1);
    assert_int_equal(slr_server_replace(server, &ring, LONG), SLR_LAYOUT);
    assert_non_null(strstr(slr_error_message(), "states of 16 B"));
    send_value(server, 0, 1);
    must(slr_server_settle(server, LONG));
    expect_state(server, 0, 2, 2);
    assert_int_equal(stats_of(server).replaced, 0);
    assert_int_equal(slr_server_replace(NULL, &ring, 0), SLR_INVALID);
    must(slr_server_close(server, LONG));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(new_code_handles_what_comes_after_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(new_code_that_faults_is_taken_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(new_code_that_came_through_a_snapshot_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(code_that_had_no_message_is_not_gone_back_to, set_up, tear_down),
        cmocka_unit_test_setup_teardown(code_that_faults_as_it_is_replaced_is_taken_back_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_layout_is_refused_and_the_old_code_goes_on, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
