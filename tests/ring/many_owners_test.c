// SPDX-License-Identifier: Apache-2.0
// Every sort of owner marks the connections of a port that has many: those of routes to it, those that drop, mains.
#include "tests/ring/ring_test.h"
#include "ring/ring.h"

enum { COUNT = 8 };
_Static_assert(COUNT > SLRI_FEW_CONNECTIONS, "so that the port uses marks");

static struct handler h;
static slr_ring *ring[COUNT];

static void name_ring(slr_ring_desc *desc, char name[32], uint32_t i)
{
    snprintf(name, 32, "many-%u", i);
    desc->name = name;
}

static void end(slr_port *port, slr_device *device)
{
    slr_port_close(port);
    for (uint32_t i = 0; i < COUNT; ++i)
        slr_ring_destroy(ring[i]);
    slr_device_close(device);
}

// Receives one from each ring kernel, of that status.
static void receive_one_of_each(slr_port *port, slr_status status)
{
    uint32_t seen = 0;
    assert_true(port->is_marked);
    for (uint32_t n = 0; n < COUNT; ++n) {
        slr_reply reply;
        struct message message;
        must(slr_receive(port, &reply, &message, sizeof message, LONG));
        assert_int_equal(reply.status, status);
        for (uint32_t i = 0; i < COUNT; ++i)
            seen |= (uint32_t)(ring[i]->slot == reply.from.slot) << i;
    }
    assert_int_equal(seen, (1u << COUNT) - 1);
    uint32_t value;
    gives(receive_value(port, &value, MS), TIMEOUT);
}

static void routes_to_a_port_with_many_mark(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_port *port = open_port(device), *other = open_port(device);
    h = (struct handler){.replies = 1};
    for (uint32_t i = 0; i < COUNT; ++i) {
        char name[32];
        slr_ring_desc desc = describe_ring("", &h);
        name_ring(&desc, name, i);
        ring[i] = start_ring(device, &desc);
        must(slr_route_to_port(ring[i], port, NULL));
    }
    for (uint32_t turn = 0; turn < 3; ++turn) { // the port has looked at all, and nobody marks it but the routes
        for (uint32_t i = 0; i < COUNT; ++i)
            must(send_value(other, address_of(ring[i], 0), turn, LONG));
        receive_one_of_each(port, SLR_OK);
    }
    slr_port_close(other);
    end(port, device);
}

// `runs`: by their owners, paused; else by the sender, for they are only launched.
static void check_drops(bool runs)
{
    slr_device *device = open_device("cpu");
    slr_port *port = open_port(device);
    h = (struct handler){.replies = 1};
    for (uint32_t i = 0; i < COUNT; ++i) {
        char name[32];
        slr_ring_desc desc = describe_ring("", &h);
        name_ring(&desc, name, i);
        desc.queue_size = 2;
        desc.overflow = SLR_OVERFLOW_DROP_OLDEST;
        ring[i] = launch_ring(device, &desc);
        if (runs) {
            must(slr_ring_activate(ring[i], LONG));
            must(slr_ring_deactivate(ring[i], LONG));
        }
        for (uint32_t k = 0; k < 2; ++k)
            must(send_value(port, address_of(ring[i], 0), k, LONG));
    }
    uint32_t value;
    gives(receive_value(port, &value, MS), TIMEOUT); // its look at all is over
    for (uint32_t i = 0; i < COUNT; ++i)
        must(send_value(port, address_of(ring[i], 0), 2, LONG));
    receive_one_of_each(port, SLR_DROPPED);
    end(port, device);
}

static void notices_of_what_many_drop_are_marked(void **state)
{
    (void)state;
    check_drops(true);
}

static void notices_of_many_that_are_only_launched_are_marked(void **state)
{
    (void)state;
    check_drops(false);
}

static slr_status echo(void *user, slr_context *context)
{
    (void)user;
    slr_delivery held;
    uint32_t taken;
    slr_status status;
    while ((status = slr_take(context, &held, 1, 0, LONG, &taken)) == SLR_OK) {
        status = slr_reply_to(&held, held.message, held.bytes);
        if (status == SLR_OK)
            status = slr_done(&held);
        if (status != SLR_OK)
            return status;
    }
    return status == SLR_END ? SLR_OK : status;
}

static void mains_mark(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < COUNT; ++i) {
        char name[32];
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        name_ring(&desc, name, i);
        desc.main = echo;
        desc.message_bytes = desc.reply_bytes = sizeof(struct message);
        ring[i] = start_ring(device, &desc);
    }
    for (uint32_t turn = 0; turn < 3; ++turn) {
        for (uint32_t i = 0; i < COUNT; ++i)
            must(send_value(port, address_of(ring[i], 0), turn, LONG));
        receive_one_of_each(port, SLR_OK);
    }
    for (uint32_t i = 0; i < COUNT; ++i)
        must(slr_ring_terminate(ring[i], LONG, NULL, NULL, NULL));
    uint32_t value;
    for (uint32_t i = 0; i < COUNT; ++i)
        gives(receive_value(port, &value, LONG), END);
    assert_int_equal(port->connections, 0);
    end(port, device);
}

// Each caller of the shared port has its own answer, and nobody waits for one that was marked for another.
static slr_device *shared_device;
static void call_all(void *arg)
{
    uint32_t first = *(const uint32_t *)arg;
    for (uint32_t n = 0; n < 200; ++n) {
        struct message message = {.value = first + n}, reply = {0};
        must(slr_call(NULL, address_of(ring[n % COUNT], 0), &message, sizeof message, &reply, sizeof reply, LONG));
        holds(reply.value == first + n);
    }
}

static void callers_of_the_shared_port_have_their_own_answers(void **state)
{
    (void)state;
    shared_device = open_device("cpu");
    h = (struct handler){.replies = 1};
    for (uint32_t i = 0; i < COUNT; ++i) {
        char name[32];
        slr_ring_desc desc = describe_ring("", &h);
        name_ring(&desc, name, i);
        ring[i] = start_ring(shared_device, &desc);
    }
    slri_thread thread[3];
    static const uint32_t first[3] = {0, 1000, 2000};
    for (uint32_t i = 0; i < 3; ++i)
        start_thread(&thread[i], call_all, (void *)(uintptr_t)&first[i]);
    for (uint32_t i = 0; i < 3; ++i)
        slri_thread_join(&thread[i]);
    end(NULL, shared_device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_to_a_port_with_many_mark),
        cmocka_unit_test(notices_of_what_many_drop_are_marked),
        cmocka_unit_test(notices_of_many_that_are_only_launched_are_marked),
        cmocka_unit_test(mains_mark),
        cmocka_unit_test(callers_of_the_shared_port_have_their_own_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
