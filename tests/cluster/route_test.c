// SPDX-License-Identifier: Apache-2.0
// Routes between ring kernels of different devices: order, counts that add up, a destination that is full or ends.
#include "tests/cluster/cluster.h"
#include "tests/ring/ring_test.h"

enum { COUNT = 2000, PATIENTS = 7 };

static const char source[] =
    "struct message { unsigned value, port; };\n"
    "struct last { unsigned value; };\n"
    "__ring__ void adds(struct last *self, const struct message *in)\n"
    "{ struct message out = {in->value + 1u, in->port}; self->value = in->value; ring_reply(&out); }\n";

struct ends {
    slr_device *device[2];
    slr_program *program;
    slr_ring *ring[2];
    struct handler seen; // by the second
    slr_port *port;
};

static void begin(struct ends *e, const char *first, const slr_ring_desc *second)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    *e = (struct ends){0};
    must(slr_device_open(first, NULL, &e->device[0]));
    must(slr_device_open("cpu?threads=1", NULL, &e->device[1]));
    must(slr_program_from_text(e->device[0], "adds.cu", source, NULL, &e->program));
    desc.program = e->program;
    desc.instances = PATIENTS;
    must(slr_ring_create(e->device[0], &desc, &e->ring[0]));
    slr_ring_desc to = describe_ring("notes", &e->seen);
    to.instances = second->instances;
    to.keys = second->keys;
    to.queue_size = second->queue_size;
    to.message_bytes = second->message_bytes ? second->message_bytes : to.message_bytes;
    must(slr_ring_create(e->device[1], &to, &e->ring[1]));
    for (int i = 0; i < 2; ++i) {
        must(slr_ring_launch(e->ring[i]));
        must(slr_ring_activate(e->ring[i], LONG));
    }
    must(slr_port_open(e->device[0], &e->port));
}

static void end(struct ends *e)
{
    slr_port_close(e->port);
    slr_ring_destroy(e->ring[0]);
    slr_ring_destroy(e->ring[1]);
    slr_program_destroy(e->program);
    slr_device_close(e->device[0]);
    slr_device_close(e->device[1]);
}

static void send_values(struct ends *e, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; ++i) {
        slr_address to;
        must(slr_ring_get_address(e->ring[0], i % PATIENTS, &to));
        must(slr_send(e->port, to, &(struct message){i, i % PATIENTS}, sizeof(struct message), LONG));
    }
}

static void replies_cross_in_order_and_the_counts_add_up(void **state)
{
    static const char *const firsts[] = {"cpu?threads=1", "cpu?unified=0&threads=2", "opencl:0"};
    (void)state;
    for (uint32_t k = 0; k < 3; ++k) {
        if (strstr(firsts[k], "opencl") && !is_here("opencl:0"))
            continue;
        static struct ends e;
        slr_cluster_route *route;
        slr_cluster_route_stats stats;
        slr_cluster_route_desc desc = SLR_CLUSTER_ROUTE_DESC_INIT;
        desc.close_with_source = 1;
        begin(&e, firsts[k], &(slr_ring_desc){.instances = PATIENTS});
        must(slr_cluster_route_create(e.ring[0], e.ring[1], &desc, &route));
        send_values(&e, 0, COUNT);
        must(slr_ring_close_input(e.ring[0]));
        must(slr_ring_wait(e.ring[1], SLR_RING_TERMINATED, LONG)); // closed when the source had ended
        assert_int_equal(noted(&e.seen), COUNT);
        uint32_t next[PATIENTS];
        for (uint32_t i = 0; i < PATIENTS; ++i)
            next[i] = i + 1;
        for (uint32_t i = 0; i < COUNT; ++i) { // each patient's in order, at the instance that replied
            uint32_t patient = e.seen.note[i].port;
            assert_int_equal(e.seen.instance[i], patient);
            assert_int_equal(e.seen.note[i].value, next[patient]);
            next[patient] += PATIENTS;
        }
        must(slr_cluster_route_get_stats(route, &stats));
        assert_int_equal(stats.received, COUNT);
        assert_int_equal(stats.sent, COUNT);
        assert_int_equal(stats.unrouted, 0);
        assert_int_equal(stats_of(e.ring[0]).routed, stats.received);
        assert_int_equal(stats_of(e.ring[1]).accepted, stats.sent);
        slr_cluster_route_destroy(route, LONG, NULL);
        end(&e);
    }
}

static void a_full_destination_makes_the_source_wait_and_nothing_is_lost(void **state)
{
    static struct ends e;
    slr_cluster_route *route;
    slr_cluster_route_stats stats;
    (void)state;
    begin(&e, "cpu?threads=1", &(slr_ring_desc){.instances = PATIENTS, .queue_size = 2});
    must(slr_cluster_route_create(e.ring[0], e.ring[1], NULL, &route));
    hold(&e.seen, 1);
    send_values(&e, 0, 100);
    wait_until_is(&e.seen.inside, 1);
    assert_true(stats_of(e.ring[1]).accepted <= 3);
    hold(&e.seen, 0);
    wait_until_is(&e.seen.count, 100);
    slr_cluster_route_destroy(route, LONG, &stats);
    assert_int_equal(stats.sent, 100);
    assert_int_equal(stats.unrouted, 0);
    end(&e);
}

static void a_destination_that_has_ended_leaves_replies_unrouted_and_counted(void **state)
{
    static struct ends e;
    slr_cluster_route *route;
    slr_cluster_route_stats stats;
    (void)state;
    begin(&e, "cpu?threads=1", &(slr_ring_desc){.instances = PATIENTS - 1});
    refuses(slr_cluster_route_create(
                e.ring[0], e.ring[1],
                &(slr_cluster_route_desc){.struct_size = sizeof(slr_cluster_route_desc), .instance_at = 6}, &route),
            INVALID, "instance_at lies outside the reply of 8 bytes");
    must(slr_cluster_route_create(e.ring[0], e.ring[1], NULL, &route));
    send_values(&e, 0, 2 * PATIENTS); // the last instance has no counterpart
    wait_until_is(&e.seen.count, 2 * (PATIENTS - 1));
    must(slr_ring_terminate(e.ring[1], 0, NULL, NULL, NULL));
    send_values(&e, 0, PATIENTS);
    must(slr_ring_close_input(e.ring[0]));
    must(slr_ring_wait(e.ring[0], SLR_RING_TERMINATED, LONG));
    slr_cluster_route_destroy(route, LONG, &stats);
    assert_int_equal(stats.received, 3 * PATIENTS);
    assert_int_equal(stats.sent, 2 * (PATIENTS - 1));
    assert_int_equal(stats.unrouted, PATIENTS + 2);
    end(&e);
}

static void a_key_in_the_reply_names_the_destination(void **state)
{
    static struct ends e;
    slr_cluster_route *route;
    slr_cluster_route_desc desc = SLR_CLUSTER_ROUTE_DESC_INIT;
    (void)state;
    begin(&e, "cpu?threads=1", &(slr_ring_desc){.instances = 50, .keys = SLR_KEYS_U64});
    refuses(slr_cluster_route_create(e.ring[0], e.ring[1], NULL, &route), INVALID, "key_at is for destinations");
    desc.key_at = 1; // value and port as one number
    must(slr_cluster_route_create(e.ring[0], e.ring[1], &desc, &route));
    send_values(&e, 0, 20);
    wait_until_is(&e.seen.count, 20);
    assert_int_equal(stats_of(e.ring[1]).keys, 20);
    slr_cluster_route_destroy(route, LONG, NULL);
    end(&e);
}

static void a_reply_of_another_size_is_no_message(void **state)
{
    static struct ends e;
    slr_cluster_route *route;
    (void)state;
    begin(&e, "cpu?threads=1", &(slr_ring_desc){.message_bytes = 16});
    refuses(slr_cluster_route_create(e.ring[0], e.ring[1], NULL, &route), LAYOUT,
            "has 8 B, a message of 'notes' has 16");
    refuses(slr_cluster_route_create(e.ring[1], e.ring[0], NULL, &route), INVALID, "never replies");
    end(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_cross_in_order_and_the_counts_add_up),
        cmocka_unit_test(a_full_destination_makes_the_source_wait_and_nothing_is_lost),
        cmocka_unit_test(a_destination_that_has_ended_leaves_replies_unrouted_and_counted),
        cmocka_unit_test(a_key_in_the_reply_names_the_destination),
        cmocka_unit_test(a_reply_of_another_size_is_no_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
