// SPDX-License-Identifier: Apache-2.0
// Ring kernels in loop form: taking, holding, ending in any order, and how a main's life is the ring kernel's.
#include "tests/ring/ring_test.h"

enum { MOST = 64 };

// What a test tells its main, and what main tells back.
struct loop {
    uint32_t most;   // of each take
    uint64_t linger; // likewise
    uint32_t go;     // main goes on when this is as high as it wants
    uint32_t step;   // how far main is
    uint32_t taken, more;
    slr_delivery held[MOST];
    slr_status status, returns;
    slr_address other;
};

static void reach(struct loop *l, uint32_t step)
{
    __atomic_store_n(&l->step, step, __ATOMIC_RELEASE);
}
static void allow(struct loop *l, uint32_t go)
{
    __atomic_store_n(&l->go, go, __ATOMIC_RELEASE);
}

static uint32_t value_of(const slr_delivery *delivery)
{
    return ((const struct message *)delivery->message)->value;
}

static slr_status reply_and_end(const slr_delivery *delivery)
{
    slr_status status = slr_reply_to(delivery, delivery->message, delivery->bytes);
    return status == SLR_OK ? slr_done(delivery) : status;
}

static slr_ring_desc describe_loop(const char *name, slr_main *body, struct loop *l)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.main = body;
    desc.user = l;
    desc.message_bytes = sizeof(struct message);
    desc.reply_bytes = sizeof(struct message);
    return desc;
}

static slr_status echo(void *user, slr_context *context)
{
    struct loop *l = user;
    slr_status status;
    while ((status = slr_take(context, l->held, l->most, l->linger, LONG, &l->taken)) == SLR_OK)
        for (uint32_t k = 0; k < l->taken && status == SLR_OK; ++k)
            status = reply_and_end(&l->held[k]);
    return status == SLR_END ? SLR_OK : status;
}

// ---- taking and ending ----------------------------------------------------------------------------------------------

static slr_status end_backwards(void *user, slr_context *context)
{
    struct loop *l = user;
    l->status = slr_take(context, l->held, 8, LONG, LONG, &l->taken);
    for (uint32_t k = l->taken; k-- > 0;)
        reply_and_end(&l->held[k]);
    return slr_take(context, l->held, 8, 0, LONG, &l->taken) == SLR_END ? SLR_OK : SLR_INTERNAL;
}

static void replies_come_in_the_order_in_which_messages_are_ended(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    slr_ring_desc desc = describe_loop("backwards", end_backwards, &l);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 8; ++i)
        must(send_value(port, address_of(ring, 0), i, LONG));
    for (uint32_t i = 8; i-- > 0;) {
        uint32_t value;
        must(receive_value(port, &value, LONG));
        assert_int_equal(value, i);
    }
    must(slr_ring_close_input(ring));
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    uint32_t value;
    gives(receive_value(port, &value, LONG), END);
    assert_int_equal(stats_of(ring).handled, 8);
    assert_int_equal(stats_of(ring).replied, 8);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// Holds the first message, ends all that come after it, and the first at END.
static slr_status keep_the_first(void *user, slr_context *context)
{
    struct loop *l = user;
    slr_delivery first, next;
    slr_status status = slr_take(context, &first, 1, 0, LONG, &l->taken);
    while (status == SLR_OK && (status = slr_take(context, &next, 1, 0, LONG, &l->taken)) == SLR_OK)
        status = reply_and_end(&next);
    return status == SLR_END ? reply_and_end(&first) : status;
}

static void a_held_message_stays_as_it_is_while_its_lane_is_used_again_and_again(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    slr_ring_desc desc = describe_loop("keep", keep_the_first, &l);
    desc.queue_size = 4;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    must(send_value(port, address_of(ring, 0), 4711, LONG));
    uint32_t value;
    for (uint32_t i = 0; i < 1000; ++i) {
        must(send_value(port, address_of(ring, 0), i, LONG));
        must(receive_value(port, &value, LONG));
        assert_int_equal(value, i);
    }
    assert_int_equal(stats_when_pending(ring, 1).pending, 1);
    must(slr_ring_close_input(ring));
    must(receive_value(port, &value, LONG));
    assert_int_equal(value, 4711);
    gives(receive_value(port, &value, LONG), END);
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static slr_status hold_all_that_comes(void *user, slr_context *context)
{
    struct loop *l = user;
    l->status = slr_take(context, l->held, 4, 0, LONG, &l->taken);
    reach(l, 1);
    wait_until_is(&l->go, 1);
    l->status = slr_take(context, l->held + l->taken, MOST - l->taken, 0, 10 * MS, &l->more);
    reach(l, 2);
    wait_until_is(&l->go, 2);
    for (uint32_t k = 0; k < l->taken; ++k)
        reply_and_end(&l->held[k]);
    return slr_take(context, l->held, 1, 0, LONG, &l->taken) == SLR_END ? SLR_OK : SLR_INTERNAL;
}

static void held_messages_count_against_the_queue_size(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    slr_ring_desc desc = describe_loop("credits", hold_all_that_comes, &l);
    desc.queue_size = 4;
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 4; ++i)
        must(send_value(port, address_of(ring, 0), i, 0));
    must(slr_ring_activate(ring, LONG));
    wait_until_is(&l.step, 1);
    assert_int_equal(l.status, SLR_OK);
    assert_int_equal(l.taken, 4); // all that was there, without lingering
    gives(send_value(port, address_of(ring, 0), 4, 0), FULL);
    allow(&l, 1);
    wait_until_is(&l.step, 2);
    assert_int_equal(l.status, SLR_TIMEOUT);
    allow(&l, 2);
    must(send_value(port, address_of(ring, 0), 4, LONG));
    must(slr_ring_terminate(ring, 0, NULL, NULL, NULL));
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void highest_priority_is_taken_first(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    l.most = 1;
    slr_ring_desc desc = describe_loop("priorities", echo, &l);
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    static const uint32_t priorities[] = {3, 200, 3, 255, 0, 200};
    static const uint32_t order[] = {3, 1, 5, 0, 2, 4};
    for (uint32_t i = 0; i < 6; ++i)
        must(send_at(port, address_of(ring, 0), i, priorities[i]));
    must(slr_ring_activate(ring, LONG));
    for (uint32_t i = 0; i < 6; ++i) {
        uint32_t value;
        must(receive_value(port, &value, LONG));
        assert_int_equal(value, order[i]);
    }
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static slr_status misuse(void *user, slr_context *context)
{
    struct loop *l = user;
    slr_take(context, l->held, 1, 0, LONG, &l->taken);
    const slr_delivery *d = &l->held[0];
    struct message message = {0};
    l->taken = 7;
    refuses(slr_take(context, l->held, 0, 0, 0, &l->taken), INVALID, "most is 0");
    assert_int_equal(l->taken, 0); // whoever does not look at the status takes nothing
    refuses(slr_take(NULL, l->held, 1, 0, 0, &l->taken), INVALID, "context is NULL");
    assert_int_equal(d->bytes, sizeof message);
    assert_int_equal(d->priority, 7);
    assert_int_equal(d->correlation, 99);
    refuses(slr_fail(d, SLR_OK), INVALID, "status is SLR_OK");
    must(slr_reply_to(d, &message, sizeof message));
    refuses(slr_reply_to(d, &message, sizeof message), INVALID, "max_replies (1)");
    must(slr_done(d));
    refuses(slr_done(d), INVALID, "no longer holds the message");
    refuses(slr_fail(d, SLR_INVALID), INVALID, "no longer holds the message");
    refuses(slr_reply_to(d, &message, sizeof message), INVALID, "no longer holds the message");
    refuses(slr_done(NULL), INVALID, "NULL");
    reach(l, 1);
    return SLR_OK;
}

static void a_message_ends_once(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    slr_ring_desc desc = describe_loop("once", misuse, &l);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    struct message message = {.value = 1};
    slr_send_options options = {.priority = SLR_PRIORITY(7), .correlation = 99};
    must(slr_send_with(port, address_of(ring, 0), &message, sizeof message, &options, LONG));
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG)); // main returned, and nothing was left
    assert_int_equal(l.step, 1);
    slr_ring_stats stats = stats_of(ring);
    assert_int_equal(stats.handled, 1);
    assert_int_equal(stats.replied, 1);
    check_sum(&stats);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// Counts in its instance's state; every third message faults.
static slr_status count_and_fail(void *user, slr_context *context)
{
    struct loop *l = user;
    slr_status status;
    while ((status = slr_take(context, l->held, 1, 0, LONG, &l->taken)) == SLR_OK) {
        uint32_t *count = l->held[0].state;
        ++*count;
        struct message reply = {.value = *count, .port = l->held[0].instance};
        must(slr_reply_to(&l->held[0], &reply, sizeof reply));
        must(*count == 13 ? slr_fail(&l->held[0], SLR_NOT_FOUND) : slr_done(&l->held[0]));
    }
    return status == SLR_END ? SLR_OK : status;
}

static void a_failed_message_resets_its_instance_and_tells_its_sender(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    static const uint32_t ten = 10;
    slr_ring_desc desc = describe_loop("faults", count_and_fail, &l);
    desc.instances = 2;
    desc.state_bytes = sizeof ten;
    desc.initial_state = &ten;
    slr_ring *ring = start_ring(device, &desc);
    static const uint32_t expected[] = {11, 12, 0, 11};
    for (uint32_t i = 0; i < 4; ++i) {
        struct message message = {0};
        slr_status status =
            slr_call(NULL, address_of(ring, 1), &message, sizeof message, &message, sizeof message, LONG);
        assert_int_equal(status, expected[i] ? SLR_OK : SLR_HANDLER_FAULT);
        assert_int_equal(message.value, expected[i]);
        assert_int_equal(message.port, expected[i] ? 1 : 0);
    }
    slr_ring_stats stats = stats_when_pending(ring, 0);
    assert_int_equal(stats.faulted, 1);
    assert_int_equal(stats.handled, 3);
    assert_string_equal(stats.last_fault, "instance 1: the host function returned an error: SLR_NOT_FOUND");
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- reply room, and ports that close -------------------------------------------------------------------------------

static void a_port_that_does_not_receive_blocks_only_itself(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    l.most = MOST;
    slr_ring_desc desc = describe_loop("room", echo, &l);
    desc.queue_size = 64; // and as many reply slots
    slr_ring *ring = start_ring(device, &desc);
    slr_address to = address_of(ring, 0);
    slr_port *deaf = open_port(device), *port = open_port(device);
    for (uint32_t i = 0; i < 80; ++i)
        must(send_value(deaf, to, i, LONG)); // the last 16 find no room for their replies
    uint32_t value;
    for (uint32_t i = 0; i < 200; ++i) {
        must(send_value(port, to, i, LONG));
        must(receive_value(port, &value, LONG));
        assert_int_equal(value, i);
    }
    assert_int_equal(stats_when_pending(ring, 16).pending, 16);
    slri_sleep_ns(5 * MS); // main sleeps by now, and wakes for the room alone
    for (uint32_t i = 0; i < 80; ++i) {
        must(receive_value(deaf, &value, LONG));
        assert_int_equal(value, i);
    }
    slr_port_close(deaf);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// Holds one message until told, then ends it and goes on.
static slr_status hold_one(void *user, slr_context *context)
{
    struct loop *l = user;
    slr_take(context, l->held, 1, 0, LONG, &l->taken);
    reach(l, 1);
    while (__atomic_load_n(&l->go, __ATOMIC_ACQUIRE) == 0)
        slr_take(context, l->held + 1, 1, 0, MS, &l->taken);
    reply_and_end(&l->held[0]);
    l->most = 1;
    return echo(user, context);
}

static void a_closed_port_keeps_its_place_while_its_message_is_held(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    slr_ring_desc desc = describe_loop("places", hold_one, &l);
    desc.max_ports = 1;
    slr_ring *ring = start_ring(device, &desc);
    slr_address to = address_of(ring, 0);
    slr_port *first = open_port(device), *second = open_port(device);
    must(send_value(first, to, 1, LONG));
    wait_until_is(&l.step, 1);
    slr_port_close(first);
    refuses(send_value(second, to, 2, 150 * MS), TIMEOUT,
            "all max_ports = 1 places are in use; 1 belong to closed ports");
    allow(&l, 1);
    must(send_value(second, to, 2, LONG));
    uint32_t value;
    must(receive_value(second, &value, LONG));
    assert_int_equal(value, 2); // and not the reply to the first port's
    gives(receive_value(second, &value, 10 * MS), TIMEOUT);
    slr_port_close(second);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- the life of a main ---------------------------------------------------------------------------------------------

static slr_status watch_a_pause(void *user, slr_context *context)
{
    struct loop *l = user;
    while (slr_is_active(context))
        slri_sleep_ns(100000);
    reach(l, 1);
    l->status = slr_take(context, l->held, 1, 0, 5 * MS, &l->taken);
    slr_status again = slr_wait_until_active(context, 0);
    l->returns = again;
    reach(l, 2);
    if (slr_wait_until_active(context, LONG) != SLR_OK || !slr_is_active(context))
        return SLR_INTERNAL;
    l->most = MOST;
    return echo(user, context);
}

static void nothing_is_taken_while_paused_and_main_is_told(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    slr_ring_desc desc = describe_loop("pause", watch_a_pause, &l);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    must(slr_ring_deactivate(ring, LONG));
    for (uint32_t i = 0; i < 20; ++i)
        must(send_value(port, address_of(ring, 0), i, 0));
    wait_until_is(&l.step, 2);
    assert_int_equal(l.status, SLR_TIMEOUT);
    assert_int_equal(l.returns, SLR_TIMEOUT);
    slri_sleep_ns(5 * MS); // main sleeps by now
    assert_int_equal(stats_of(ring).pending, 20);
    must(slr_ring_reactivate(ring, LONG));
    for (uint32_t i = 0; i < 20; ++i) {
        uint32_t value;
        must(receive_value(port, &value, LONG));
        assert_int_equal(value, i);
    }
    must(slr_ring_deactivate(ring, LONG)); // main sleeps in slr_take
    must(slr_ring_close_input(ring));      // which ends the pause
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

struct returned {
    uint32_t count;
    uint32_t times[16];
};

static void note_returned(void *user, const slr_undelivered *undelivered)
{
    struct returned *r = user;
    ++r->count;
    ++r->times[((const struct message *)undelivered->message)->value];
}

static void expect_each_once(const struct returned *r, uint32_t from, uint32_t to)
{
    assert_int_equal(r->count, to - from);
    for (uint32_t i = from; i < to; ++i)
        assert_int_equal(r->times[i], 1);
}

// Takes five, replies to two of them, and works until it should terminate; then it ends one more.
static slr_status work_until_told(void *user, slr_context *context)
{
    struct loop *l = user;
    l->status = slr_take(context, l->held, 5, LONG, LONG, &l->taken);
    reply_and_end(&l->held[0]);
    slr_reply_to(&l->held[1], l->held[1].message, l->held[1].bytes); // and not ended: never sent
    reach(l, 1);
    while (!slr_should_terminate(context))
        slri_sleep_ns(100000);
    l->status = slr_take(context, l->held + 5, 1, 0, LONG, &l->taken);
    return slr_done(&l->held[2]);
}

static void at_the_deadline_main_is_told_and_what_it_holds_is_handed_back(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    slr_ring_desc desc = describe_loop("deadline", work_until_told, &l);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 8; ++i)
        must(send_value(port, address_of(ring, 0), i, LONG));
    wait_until_is(&l.step, 1);
    struct returned returned = {0};
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, 5 * MS, note_returned, &returned, &stats));
    assert_int_equal(l.status, SLR_END);
    assert_int_equal(returned.times[1], 1);
    returned.times[2] = 1; // was ended
    ++returned.count;
    expect_each_once(&returned, 1, 8);
    assert_int_equal(stats.handled, 2);
    assert_int_equal(stats.undelivered, 6);
    assert_int_equal(stats.replied, 1);
    assert_int_equal(stats.pending, 0);
    assert_int_equal(stats.state, SLR_RING_TERMINATED);
    check_sum(&stats);
    uint32_t value;
    must(receive_value(port, &value, LONG));
    assert_int_equal(value, 0);
    gives(receive_value(port, &value, LONG), END);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// Ends one message, holds one, and returns.
static slr_status leave_early(void *user, slr_context *context)
{
    struct loop *l = user;
    l->status = slr_take(context, l->held, 2, LONG, LONG, &l->taken);
    slr_done(&l->held[0]);
    return l->returns;
}

static void expect_failure(slr_status returns, const char *why)
{
    slr_device *device = open_device("cpu");
    static struct loop l;
    l = (struct loop){.returns = returns};
    slr_ring_desc desc = describe_loop("early", leave_early, &l);
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    slr_address to = address_of(ring, 0);
    for (uint32_t i = 0; i < 4; ++i)
        must(send_value(port, to, i, LONG));
    must(slr_ring_activate(ring, LONG));
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    slr_ring_stats stats = stats_of(ring);
    assert_int_equal(stats.handled, 1);
    assert_int_equal(stats.pending, 3);
    check_sum(&stats);
    assert_string_equal(stats.last_fault, why);
    gives(send_value(port, to, 5, LONG), RING_FAILED);
    struct returned returned = {0};
    must(slr_ring_terminate(ring, 0, note_returned, &returned, &stats));
    expect_each_once(&returned, 1, 4);
    assert_int_equal(stats.undelivered, 3);
    assert_int_equal(stats.state, SLR_RING_TERMINATED);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void a_main_that_leaves_messages_behind_has_failed_and_they_can_be_had_back(void **state)
{
    (void)state;
    expect_failure(SLR_OK, "main returned before all of its messages had ended");
    expect_failure(SLR_NO_MEMORY, "main returned SLR_NO_MEMORY");
}

static slr_status return_at_once(void *user, slr_context *context)
{
    (void)context;
    return ((struct loop *)user)->returns;
}

static void a_main_that_leaves_nothing_behind_has_terminated(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    slr_ring_desc desc = describe_loop("brief", return_at_once, &l);
    slr_ring *ring = start_ring(device, &desc);
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    gives(send_value(NULL, address_of(ring, 0), 1, 0), RING_DEAD);
    slr_ring_destroy(ring);
    l.returns = SLR_SYSTEM;
    ring = start_ring(device, &desc);
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    assert_string_equal(stats_of(ring).last_fault, "main returned SLR_SYSTEM");
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// Deaf to everything until it is let go.
static slr_status sleep_on(void *user, slr_context *context)
{
    struct loop *l = user;
    l->status = slr_take(context, l->held, 1, 0, LONG, &l->taken);
    reach(l, 1);
    wait_until_is(&l->go, 1);
    return slr_should_terminate(context) ? SLR_OK : SLR_INTERNAL;
}

static void a_main_that_does_not_return_gives_a_timeout_and_keeps_what_it_can_touch(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    slr_ring_desc desc = describe_loop("zombie", sleep_on, &l);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    must(send_value(port, address_of(ring, 0), 0, LONG));
    wait_until_is(&l.step, 1);
    struct returned returned = {0};
    refuses(slr_ring_terminate(ring, 0, note_returned, &returned, NULL), TIMEOUT, "'zombie'");
    assert_int_equal(returned.count, 0); // main has it still
    assert_int_equal(value_of(&l.held[0]), 0);
    allow(&l, 1);
    must(slr_ring_terminate(ring, LONG, note_returned, &returned, NULL));
    expect_each_once(&returned, 0, 1);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- its own port ---------------------------------------------------------------------------------------------------

// Answers each message with what another ring kernel says to it.
static slr_status ask_another(void *user, slr_context *context)
{
    struct loop *l = user;
    slr_port *port, *same;
    must(slr_context_port(context, &port));
    must(slr_context_port(context, &same));
    if (port != same)
        return SLR_INTERNAL;
    slr_status status;
    while ((status = slr_take(context, l->held, 1, 0, LONG, &l->taken)) == SLR_OK) {
        struct message message = {.value = value_of(&l->held[0]) + 1};
        must(slr_call(port, l->other, &message, sizeof message, &message, sizeof message, LONG));
        must(slr_reply_to(&l->held[0], &message, sizeof message));
        must(slr_done(&l->held[0]));
    }
    return status == SLR_END ? SLR_OK : status;
}

static void a_loop_sends_to_others_through_its_own_port(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct handler h;
    h = (struct handler){.replies = 1};
    slr_ring_desc other_desc = describe_ring("other", &h);
    slr_ring *other = start_ring(device, &other_desc);
    static struct loop l;
    l.other = address_of(other, 0);
    slr_ring_desc desc = describe_loop("asks", ask_another, &l);
    slr_ring *ring = start_ring(device, &desc);
    for (uint32_t i = 0; i < 10; ++i) {
        struct message message = {.value = i};
        must(slr_call(NULL, address_of(ring, 0), &message, sizeof message, &message, sizeof message, LONG));
        assert_int_equal(message.value, i + 1);
    }
    assert_int_equal(noted(&h), 10);
    slr_ring_destroy(ring); // closes the port
    slr_ring_destroy(other);
    slr_device_close(device);
}

// ---- all together ---------------------------------------------------------------------------------------------------

enum { SENDERS = 4, EACH = 20000 };

// Holds up to MOST messages and ends a random one whenever it has taken something; two replies each.
static slr_status end_at_random(void *user, slr_context *context)
{
    struct loop *l = user;
    uint32_t held = 0, seed = 1;
    for (;;) {
        seed = seed * 1664525 + 1013904223;
        uint32_t room = MOST - held, want = 1 + (seed >> 16) % 7;
        slr_status status =
            room ? slr_take(context, l->held + held, want < room ? want : room, 0, held ? 0 : LONG, &l->taken)
                 : SLR_TIMEOUT;
        if (status == SLR_OK)
            held += l->taken;
        if (status == SLR_END && held == 0)
            return SLR_OK;
        for (uint32_t n = status == SLR_OK ? l->taken - 1 : held; n > 0; --n) {
            seed = seed * 1664525 + 1013904223;
            uint32_t k = (seed >> 8) % held;
            must(slr_reply_to(&l->held[k], l->held[k].message, l->held[k].bytes));
            must(reply_and_end(&l->held[k]));
            l->held[k] = l->held[--held];
        }
    }
}

struct sender {
    slr_device *device;
    slr_address to;
    uint32_t number;
    slri_thread thread;
};

static void send_and_check(void *arg)
{
    struct sender *s = arg;
    slr_port *port = open_port(s->device);
    unsigned char *times = calloc(EACH, 1);
    uint32_t sent = 0, received = 0;
    while (received < 2 * EACH) {
        struct message message = {.value = sent, .port = s->number};
        if (sent < EACH && slr_send(port, s->to, &message, sizeof message, 0) == SLR_OK) {
            ++sent;
            continue;
        }
        slr_reply reply;
        slr_status status = slr_receive(port, &reply, &message, sizeof message, MS); // the others may have filled it
        if (status == SLR_TIMEOUT)
            continue;
        must(status);
        assert_int_equal(message.port, s->number);
        ++times[message.value];
        ++received;
    }
    for (uint32_t i = 0; i < EACH; ++i)
        assert_int_equal(times[i], 2);
    free(times);
    slr_port_close(port);
}

static void many_senders_get_every_reply_twice_from_a_loop_that_ends_at_random(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    slr_ring_desc desc = describe_loop("random", end_at_random, &l);
    desc.queue_size = 100;
    desc.max_replies = 2;
    slr_ring *ring = start_ring(device, &desc);
    struct sender sender[SENDERS];
    for (uint32_t i = 0; i < SENDERS; ++i) {
        sender[i] = (struct sender){.device = device, .to = address_of(ring, 0), .number = i};
        start_thread(&sender[i].thread, send_and_check, &sender[i]);
    }
    for (uint32_t i = 0; i < SENDERS; ++i)
        slri_thread_join(&sender[i].thread);
    must(slr_ring_close_input(ring));
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    slr_ring_stats stats = stats_of(ring);
    assert_int_equal(stats.accepted, SENDERS * EACH);
    assert_int_equal(stats.handled, SENDERS * EACH);
    assert_int_equal(stats.replied, 2 * SENDERS * EACH);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void a_description_has_one_sort_of_handler(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static struct loop l;
    slr_ring *ring;
    slr_ring_desc desc = describe_loop("sorts", echo, &l);
    desc.on_message = note_message;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "not several");
    desc.on_message = NULL;
    desc.linger_ns = 1;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "slr_take");
    desc.main = NULL;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "not none");
    slr_device_close(device);
}

static const char held_source[] = "#include \"abi/held.h\"\n"
                                  "struct take { unsigned most; };\n"
                                  "struct taken { unsigned held, over; };\n"
                                  "__ring__ void step(const struct take *in, unsigned *S, unsigned *P)\n"
                                  "{\n"
                                  "    struct taken taken;\n"
                                  "    mb_word control = mb_hear(S, P);\n"
                                  "    P[MBP_MOST] = in->most;\n"
                                  "    taken.held = mb_hold(S, P);\n"
                                  "    taken.over = mb_all_taken(S, P, control);\n"
                                  "    mb_copy_reply(S, P, 0u, 0u, P, 1u);\n"
                                  "    mb_end_held(S, P, 0u, 1u, 1u, 0u);\n"
                                  "    ring_reply(&taken);\n"
                                  "}\n";

static void what_holds_messages_is_in_the_kernel_subset(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?engine=interpreted");
    static const char *const paths[] = {SLIPRING_SOURCE_DIR "/src"};
    slr_program_desc desc = {.struct_size = sizeof desc, .include_paths = paths, .include_path_count = 1};
    slr_program *program;
    must(slr_program_from_text(device, "held.cu", held_source, &desc, &program));
    slr_program_destroy(program);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_come_in_the_order_in_which_messages_are_ended),
        cmocka_unit_test(a_held_message_stays_as_it_is_while_its_lane_is_used_again_and_again),
        cmocka_unit_test(held_messages_count_against_the_queue_size),
        cmocka_unit_test(highest_priority_is_taken_first),
        cmocka_unit_test(a_message_ends_once),
        cmocka_unit_test(a_failed_message_resets_its_instance_and_tells_its_sender),
        cmocka_unit_test(a_port_that_does_not_receive_blocks_only_itself),
        cmocka_unit_test(a_closed_port_keeps_its_place_while_its_message_is_held),
        cmocka_unit_test(nothing_is_taken_while_paused_and_main_is_told),
        cmocka_unit_test(at_the_deadline_main_is_told_and_what_it_holds_is_handed_back),
        cmocka_unit_test(a_main_that_leaves_messages_behind_has_failed_and_they_can_be_had_back),
        cmocka_unit_test(a_main_that_leaves_nothing_behind_has_terminated),
        cmocka_unit_test(a_main_that_does_not_return_gives_a_timeout_and_keeps_what_it_can_touch),
        cmocka_unit_test(a_loop_sends_to_others_through_its_own_port),
        cmocka_unit_test(many_senders_get_every_reply_twice_from_a_loop_that_ends_at_random),
        cmocka_unit_test(a_description_has_one_sort_of_handler),
        cmocka_unit_test(what_holds_messages_is_in_the_kernel_subset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
