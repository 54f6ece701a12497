// SPDX-License-Identifier: Apache-2.0
// Ports with many connections: marks, turns, ends, failures, and that the work for one message does not grow with them.
#include "tests/ring/ring_test.h"
#include "ring/ring.h"

enum { MANY = 300 };

static struct handler h;

static slr_ring_desc describe(uint32_t replies)
{
    h = (struct handler){.replies = replies};
    slr_ring_desc desc = describe_ring("?", &h);
    desc.queue_size = 64;
    return desc;
}

static void start_many(slr_device *device, slr_ring_desc *desc, slr_ring **ring, uint32_t count)
{
    char name[32];
    for (uint32_t i = 0; i < count; ++i) {
        snprintf(name, sizeof name, "many-%u", i);
        desc->name = name;
        ring[i] = start_ring(device, desc);
    }
}

static void destroy_many(slr_ring **ring, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i)
        slr_ring_destroy(ring[i]);
}

// Waits until every connection of the port that has replies is in its turn, and takes none of them.
static void wait_until_all_are_ready(slr_port *port)
{
    uint64_t deadline = slri_deadline_after(LONG);
    for (uint32_t ready = 0; ready != port->connections;) {
        if (slri_passed(deadline))
            fail_msg("%u of %u connections are marked after 60 s", ready, port->connections);
        slri_sleep_ns(100000);
        slri_marks_take(port);
        ready = 0;
        for (uint32_t i = 0; i < port->connections; ++i)
            ready += slri_is_linked(&port->connection[i]->turn);
    }
}

// ---- replies -------------------------------------------------------------------------------------------------------

static void each_reply_of_hundreds_is_found_once(void **state)
{
    (void)state;
    enum { EACH = 3 };
    static uint32_t got[MANY][EACH];
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe(1);
    slr_ring *ring[MANY];
    start_many(device, &desc, ring, MANY);
    slr_port *port = open_port(device);
    for (uint32_t k = 0; k < EACH; ++k)
        for (uint32_t i = 0; i < MANY; ++i)
            must(send_value(port, address_of(ring[i], 0), i * EACH + k, LONG));
    memset(got, 0, sizeof got);
    for (uint32_t n = 0; n < MANY * EACH; ++n) {
        slr_reply reply;
        struct message message;
        must(slr_receive(port, &reply, &message, sizeof message, LONG));
        uint32_t i = message.value / EACH, k = message.value % EACH;
        assert_in_range(i, 0, MANY - 1);
        assert_int_equal(reply.from.slot, ring[i]->slot);
        assert_int_equal(++got[i][k], 1);
        assert_true(k == 0 || got[i][k - 1] == 1); // in order, each ring kernel's
    }
    uint32_t value;
    gives(receive_value(port, &value, MS), TIMEOUT);
    slr_port_close(port);
    destroy_many(ring, MANY);
    slr_device_close(device);
}

// Replies that come while the port still looks at each connection are there when it begins to use marks.
static void what_came_before_the_port_had_many_is_found(void **state)
{
    (void)state;
    enum { COUNT = SLRI_FEW_CONNECTIONS + 1 };
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe(1);
    slr_ring *ring[COUNT];
    start_many(device, &desc, ring, COUNT);
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_false(port->is_marked);
        must(send_value(port, address_of(ring[i], 0), i, LONG));
        if (i + 1 < COUNT)
            wait_handled(ring[i], 1);
    }
    assert_true(port->is_marked);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < COUNT; ++i) {
        uint32_t value;
        must(receive_value(port, &value, LONG));
        sum |= 1u << value;
    }
    assert_int_equal(sum, (1u << COUNT) - 1);
    slr_port_close(port);
    destroy_many(ring, COUNT);
    slr_device_close(device);
}

static void connection_with_many_replies_does_not_keep_others_waiting(void **state)
{
    (void)state;
    enum { COUNT = 20, OF_FIRST = 60 };
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe(1);
    slr_ring *ring[COUNT];
    start_many(device, &desc, ring, COUNT);
    slr_port *port = open_port(device);
    for (uint32_t k = 0; k < OF_FIRST; ++k)
        must(send_value(port, address_of(ring[0], 0), 0, LONG));
    for (uint32_t i = 1; i < COUNT; ++i)
        must(send_value(port, address_of(ring[i], 0), i, LONG));
    for (uint32_t i = 0; i < COUNT; ++i)
        wait_handled(ring[i], i == 0 ? OF_FIRST : 1);
    wait_until_all_are_ready(port);
    uint32_t others = 0;
    for (uint32_t n = 0; n < COUNT; ++n) { // one turn of each
        uint32_t value;
        must(receive_value(port, &value, LONG));
        others += value != 0;
    }
    assert_int_equal(others, COUNT - 1);
    slr_port_close(port);
    destroy_many(ring, COUNT);
    slr_device_close(device);
}

static void late_replies_among_many_are_discarded(void **state)
{
    (void)state;
    enum { COUNT = 12 };
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe(1);
    slr_ring *ring[COUNT];
    start_many(device, &desc, ring, COUNT);
    slr_port *port = open_port(device);
    struct message message = {.value = 1}, reply;
    for (uint32_t i = 0; i < COUNT; ++i)
        must(slr_call(port, address_of(ring[i], 0), &message, sizeof message, &reply, sizeof reply, LONG));
    hold(&h, 1);
    for (uint32_t i = 0; i < COUNT; ++i)
        gives(slr_call(port, address_of(ring[i], 0), &message, sizeof message, &reply, sizeof reply, MS), TIMEOUT);
    hold(&h, 0);
    for (uint32_t i = 0; i < COUNT; ++i)
        wait_handled(ring[i], 2);
    must(send_value(port, address_of(ring[0], 0), 7, LONG));
    uint32_t value;
    must(receive_value(port, &value, LONG));
    assert_int_equal(value, 7);
    gives(receive_value(port, &value, 10 * MS), TIMEOUT);
    slr_port_close(port);
    destroy_many(ring, COUNT);
    slr_device_close(device);
}

// ---- ends and failures ---------------------------------------------------------------------------------------------

static void ends_of_many_are_told_once_after_the_last_reply(void **state)
{
    (void)state;
    enum { COUNT = 60, EACH = 2 };
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe(1);
    slr_ring *ring[COUNT];
    start_many(device, &desc, ring, COUNT);
    slr_port *port = open_port(device);
    uint32_t replies[COUNT] = {0}, ends[COUNT] = {0};
    for (uint32_t i = 0; i < COUNT * EACH; ++i)
        must(send_value(port, address_of(ring[i % COUNT], 0), i % COUNT, LONG));
    for (uint32_t i = 0; i < COUNT; ++i)
        must(slr_ring_close_input(ring[i]));
    for (uint32_t n = 0; n < COUNT * (EACH + 1); ++n) {
        slr_reply reply;
        struct message message;
        slr_status status = slr_receive(port, &reply, &message, sizeof message, LONG);
        uint32_t i = 0;
        while (i < COUNT && ring[i]->slot != reply.from.slot)
            ++i;
        assert_in_range(i, 0, COUNT - 1);
        if (status == SLR_OK) {
            ++replies[i];
            assert_int_equal(ends[i], 0);
            continue;
        }
        assert_int_equal(status, SLR_END);
        assert_int_equal(replies[i], EACH);
        assert_int_equal(++ends[i], 1);
    }
    assert_int_equal(port->connections, 0);
    slr_reply reply;
    refuses(slr_receive(port, &reply, NULL, 0, 0), END, "every ring kernel that this port has used has ended");
    slr_port_close(port);
    destroy_many(ring, COUNT);
    slr_device_close(device);
}

static void failures_of_many_are_told_once(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe(1);
    slr_ring *ring[COUNT];
    start_many(device, &desc, ring, COUNT);
    slr_port *port = open_port(device);
    uint32_t told[COUNT] = {0}, value;
    for (uint32_t i = 0; i < COUNT; ++i) {
        must(send_value(port, address_of(ring[i], 0), i, LONG));
        must(receive_value(port, &value, LONG));
    }
    for (uint32_t i = 0; i < COUNT; i += 2)
        assert_true(slri_ring_fail(ring[i], "by a test"));
    for (uint32_t n = 0; n < COUNT / 2; ++n) {
        slr_reply reply;
        struct message message;
        gives(slr_receive(port, &reply, &message, sizeof message, LONG), RING_FAILED);
        for (uint32_t i = 0; i < COUNT; ++i)
            told[i] += ring[i]->slot == reply.from.slot;
    }
    for (uint32_t i = 0; i < COUNT; ++i)
        assert_int_equal(told[i], i % 2 == 0);
    gives(receive_value(port, &value, MS), TIMEOUT);
    struct message message = {.value = 1}, reply;
    gives(slr_call(port, address_of(ring[0], 0), &message, sizeof message, &reply, sizeof reply, LONG), RING_FAILED);
    must(slr_ring_restart(ring[0], SLR_RESTART_INITIAL, LONG));
    must(slr_call(port, address_of(ring[0], 0), &message, sizeof message, &reply, sizeof reply, LONG));
    slr_port_close(port);
    destroy_many(ring, COUNT);
    slr_device_close(device);
}

static void failure_of_one_among_many_is_told_after_its_replies(void **state)
{
    (void)state;
    enum { COUNT = 30, EACH = 3 };
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe(1);
    slr_ring *ring[COUNT];
    start_many(device, &desc, ring, COUNT);
    slr_port *port = open_port(device);
    uint32_t replies[COUNT] = {0}, failures = 0;
    for (uint32_t i = 0; i < COUNT * EACH; ++i)
        must(send_value(port, address_of(ring[i % COUNT], 0), i % COUNT, LONG));
    for (uint32_t i = 0; i < COUNT; ++i)
        wait_handled(ring[i], EACH);
    for (uint32_t i = 0; i < COUNT; ++i)
        holds(slri_ring_fail(ring[i], "by a test"));
    for (uint32_t n = 0; n < COUNT * (EACH + 1); ++n) {
        slr_reply reply;
        struct message message;
        slr_status status = slr_receive(port, &reply, &message, sizeof message, LONG);
        uint32_t i = 0;
        while (i < COUNT && ring[i]->slot != reply.from.slot)
            ++i;
        assert_in_range(i, 0, COUNT - 1);
        replies[i] += status == SLR_OK;
        failures += status == SLR_RING_FAILED;
        assert_true(status == SLR_OK || replies[i] == EACH);
    }
    assert_int_equal(failures, COUNT);
    slr_port_close(port);
    destroy_many(ring, COUNT);
    slr_device_close(device);
}

// The table from slots to connections keeps the others when some go.
static void connections_are_found_when_others_have_gone(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe(1);
    slr_ring *ring[MANY];
    start_many(device, &desc, ring, MANY);
    slr_port *port = open_port(device);
    uint32_t value, ended = 0;
    for (uint32_t i = 0; i < MANY; ++i) {
        must(send_value(port, address_of(ring[i], 0), i, LONG));
        must(receive_value(port, &value, LONG));
    }
    for (uint32_t i = 0; i < MANY; i += 3, ++ended)
        must(slr_ring_terminate(ring[i], LONG, NULL, NULL, NULL));
    for (uint32_t n = 0; n < ended; ++n)
        gives(receive_value(port, &value, LONG), END);
    assert_int_equal(port->connections, MANY - ended);
    for (uint32_t i = 0; i < MANY; ++i) {
        const struct slri_connection *c = slri_connection_of(port, address_of(ring[i], 0));
        assert_true(i % 3 == 0 ? c == NULL : c && c->ring == ring[i]);
        assert_true(!c || port->connection[c->at] == c);
    }
    slr_port_close(port);
    destroy_many(ring, MANY);
    slr_device_close(device);
}

// ---- lifetime ------------------------------------------------------------------------------------------------------

// Ports are closed while owners mark them, and ring kernels go while their connections are marked.
static void ports_close_while_owners_mark(void **state)
{
    (void)state;
    enum { COUNT = 8, TURNS = 150 };
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe(1);
    desc.max_ports = 4;
    slr_ring *ring[COUNT];
    start_many(device, &desc, ring, COUNT);
    for (uint32_t turn = 0; turn < TURNS; ++turn) {
        slr_port *port = open_port(device);
        for (uint32_t k = 0; k < 4; ++k)
            for (uint32_t i = 0; i < COUNT; ++i)
                must(send_value(port, address_of(ring[i], 0), k, LONG));
        uint32_t value;
        for (uint32_t k = 0; k < turn % 5; ++k)
            must(receive_value(port, &value, LONG));
        if (turn % 10 == 9) { // one goes before its port, and one is there in its place
            uint32_t i = turn % COUNT;
            char name[32];
            slr_ring_destroy(ring[i]);
            snprintf(name, sizeof name, "many-%u", i);
            desc.name = name;
            ring[i] = start_ring(device, &desc);
        }
        slr_port_close(port);
    }
    destroy_many(ring, COUNT);
    slr_device_close(device);
}

// A shard that sleeps for want of reply room is woken by a port that has taken replies of many others since.
static void blocked_shards_of_many_go_on(void **state)
{
    (void)state;
    enum { COUNT = 10, EACH = 300 };
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe(4);
    slr_ring *ring[COUNT];
    start_many(device, &desc, ring, COUNT);
    slr_port *port = open_port(device);
    uint32_t sent = 0, got = 0, value;
    while (got < COUNT * EACH * 4) {
        while (sent < COUNT * EACH && send_value(port, address_of(ring[sent % COUNT], 0), sent, 0) == SLR_OK)
            ++sent;
        if (sent % 7 == 0)
            slri_sleep_ns(300000); // so that they do fall asleep
        for (uint32_t k = 0; k < 40 && got < sent * 4; ++k, ++got)
            must(receive_value(port, &value, LONG));
    }
    slr_port_close(port);
    destroy_many(ring, COUNT);
    slr_device_close(device);
}

// ---- work ----------------------------------------------------------------------------------------------------------

static uint64_t looks_of_calls(slr_port *port, slr_ring **ring, uint32_t count, uint32_t calls)
{
    uint64_t before = port->looks;
    for (uint32_t n = 0; n < calls; ++n) {
        struct message message = {.value = n}, reply;
        must(slr_call(port, address_of(ring[n * 7 % count], 0), &message, sizeof message, &reply, sizeof reply, LONG));
        assert_int_equal(reply.value, n);
    }
    return port->looks - before;
}

static void work_of_a_call_does_not_grow_with_connections(void **state)
{
    (void)state;
    enum { CALLS = 600 };
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe(1);
    slr_ring *ring[MANY];
    start_many(device, &desc, ring, MANY);
    slr_port *port = open_port(device);
    looks_of_calls(port, ring, 10, 10); // connects
    assert_true(port->is_marked);
    uint64_t of_few = looks_of_calls(port, ring, 10, CALLS);
    looks_of_calls(port, ring, MANY, MANY);
    assert_int_equal(port->connections, MANY);
    uint64_t of_many = looks_of_calls(port, ring, MANY, CALLS);
    // One finds the reply; one, behind the next mark of anybody, that there is none more. At least one each: it counts.
    assert_in_range(of_few, CALLS, 3 * CALLS);
    assert_in_range(of_many, CALLS, 3 * CALLS);
    slr_port_close(port);
    destroy_many(ring, MANY);
    slr_device_close(device);
}

struct pump {
    slr_port *port;
    slr_address to;
    uint32_t stop;
};

static void pump(void *arg)
{
    struct pump *pump = arg;
    struct message messages[32] = {{0}};
    while (!__atomic_load_n(&pump->stop, __ATOMIC_RELAXED))
        must(slr_send_many(pump->port, pump->to, NULL, messages, sizeof *messages, 32, LONG, NULL));
}

static slr_status take_a_while(void *user, const slr_delivery *delivery)
{
    (void)user, (void)delivery;
    uint64_t until = slri_now_ns() + 5000;
    while (!slri_passed(until))
        ;
    return SLR_OK;
}

// A worker passes over every shard that is awake at each message of one that always works.
static void shard_that_always_works_lets_others_sleep(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    slr_ring_desc desc = describe(1);
    desc.name = "idle";
    slr_ring *idle = start_ring(device, &desc);
    desc = describe(0);
    desc.name = "busy";
    desc.on_message = take_a_while;
    desc.queue_size = 4096; // 20 ms of work
    slr_ring *busy = start_ring(device, &desc);
    struct pump p = {.port = open_port(device), .to = address_of(busy, 0)};
    slr_port *port = open_port(device);
    slri_thread thread;
    start_thread(&thread, pump, &p);
    while (stats_of(busy).handled < 100)
        slri_sleep_ns(100000);
    for (uint32_t i = 0; i < 5; ++i) { // it handles a message, and falls asleep again
        must(send_value(port, address_of(idle, 0), i, LONG));
        uint64_t deadline = slri_deadline_after(LONG);
        while (stats_of(idle).handled <= i || __atomic_load_n(&idle->shard[0].asleep, __ATOMIC_ACQUIRE) == 0) {
            if (slri_passed(deadline))
                fail_msg("awake 60 s after its last message");
            slri_sleep_ns(100000);
        }
    }
    __atomic_store_n(&p.stop, 1, __ATOMIC_RELAXED);
    slri_thread_join(&thread);
    slr_port_close(p.port);
    slr_port_close(port);
    slr_ring_destroy(busy);
    slr_ring_destroy(idle);
    slr_device_close(device);
}

// ---- names ---------------------------------------------------------------------------------------------------------

static void names_of_many_are_found_and_used_again(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe(0);
    slr_ring *ring[MANY];
    char name[32];
    slr_address address;
    for (uint32_t round = 0; round < 2; ++round) {
        for (uint32_t i = 0; i < MANY; ++i) {
            if (round == 1 && i % 2 == 0)
                continue; // still there
            snprintf(name, sizeof name, "name-%u", i);
            desc.name = name;
            must(slr_ring_create(device, &desc, &ring[i]));
        }
        for (uint32_t i = 0; i < MANY; ++i) {
            snprintf(name, sizeof name, "name-%u", i);
            must(slr_ring_find(device, name, &address));
            assert_int_equal(address.slot, ring[i]->slot);
            assert_int_equal(address.generation, ring[i]->generation);
            slr_ring *second;
            desc.name = name;
            refuses(slr_ring_create(device, &desc, &second), INVALID, "has a ring kernel named");
        }
        for (uint32_t i = 1; i < MANY && round == 0; i += 2) {
            slr_ring_destroy(ring[i]);
            snprintf(name, sizeof name, "name-%u", i);
            gives(slr_ring_find(device, name, &address), NOT_FOUND);
        }
    }
    assert_in_range(device->ring->slots, MANY, 2 * MANY); // slots were used again
    destroy_many(ring, MANY);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reply_of_hundreds_is_found_once),
        cmocka_unit_test(what_came_before_the_port_had_many_is_found),
        cmocka_unit_test(connection_with_many_replies_does_not_keep_others_waiting),
        cmocka_unit_test(late_replies_among_many_are_discarded),
        cmocka_unit_test(ends_of_many_are_told_once_after_the_last_reply),
        cmocka_unit_test(failures_of_many_are_told_once),
        cmocka_unit_test(failure_of_one_among_many_is_told_after_its_replies),
        cmocka_unit_test(connections_are_found_when_others_have_gone),
        cmocka_unit_test(ports_close_while_owners_mark),
        cmocka_unit_test(blocked_shards_of_many_go_on),
        cmocka_unit_test(work_of_a_call_does_not_grow_with_connections),
        cmocka_unit_test(shard_that_always_works_lets_others_sleep),
        cmocka_unit_test(names_of_many_are_found_and_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
