// SPDX-License-Identifier: Apache-2.0
// Ring kernels over several devices: who owns an instance or a key, replies, counts that add up, the end.
#include "tests/cluster/cluster.h"

enum { DEVICES = 3, INSTANCES = 10, KEYS = 200, EACH = 5 };

#define THREE "cpu?threads=1,cpu?threads=1,cpu?threads=1"

struct message {
    uint32_t value, kind;
};

static const char counts_cu[] = "struct message { unsigned value, kind; };\n"
                                "struct count { unsigned handled; };\n"
                                "__ring__ void counts(struct count *self, const struct message *in)\n"
                                "{\n"
                                "    self->handled += 1u;\n"
                                "    struct message out = {in->value, self->handled};\n"
                                "    ring_reply(&out);\n"
                                "}\n";

struct spread {
    struct fixture f;
    slr_cluster_ring *ring;
    slr_cluster_port *port;
};

static struct spread begin(const char *names, uint32_t keys, uint32_t instances)
{
    struct spread s = {.f = fixture_of(names, counts_cu)};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.instances = instances;
    desc.keys = keys;
    must(slr_cluster_ring_create(s.f.cluster, &desc, s.f.program, &s.ring));
    must(slr_cluster_ring_activate(s.ring, LONG));
    must(slr_cluster_port_open(s.ring, &s.port));
    return s;
}

static void end(struct spread *s)
{
    slr_cluster_port_close(s->port);
    slr_cluster_ring_destroy(s->ring);
    fixture_end(&s->f);
}

static slr_ring_stats stats_of(slr_cluster_ring *ring)
{
    slr_ring_stats stats;
    must(slr_cluster_ring_get_stats(ring, &stats));
    return stats;
}

// A message is counted behind its reply, and before it is no longer pending.
static slr_ring_stats stats_at_rest(slr_cluster_ring *ring)
{
    slr_ring_stats stats = stats_of(ring);
    for (uint64_t deadline = slri_deadline_after(LONG); stats.pending != 0 && !slri_passed(deadline);)
        stats = stats_of(ring);
    return stats;
}

static void instances_are_shared_out_and_each_replies_by_its_own_number(void **state)
{
    (void)state;
    struct spread s = begin(THREE, 0, INSTANCES);
    static const uint32_t first[] = {0, 4, 7};
    uint32_t device, local, seen[INSTANCES] = {0};
    for (uint32_t i = 0; i < INSTANCES; ++i) {
        must(slr_cluster_ring_find(s.ring, i, &device, &local));
        assert_int_equal(device, i < 4 ? 0 : i < 7 ? 1 : 2);
        assert_int_equal(local, i - first[device]);
    }
    for (uint32_t k = 0; k < EACH; ++k)
        for (uint32_t i = 0; i < INSTANCES; ++i)
            must(slr_cluster_send(s.port, i, &(struct message){100 * i, 0}, sizeof(struct message), NULL, LONG));
    for (uint32_t k = 0; k < EACH * INSTANCES; ++k) {
        struct message got;
        slr_reply reply;
        uint32_t instance;
        must(slr_cluster_receive(s.port, &reply, &device, &instance, &got, sizeof got, LONG));
        assert_int_equal(got.value, 100 * instance);
        assert_int_equal(got.kind, ++seen[instance]); // each in its order
        assert_int_equal(device, instance < 4 ? 0 : instance < 7 ? 1 : 2);
    }
    refuses(slr_cluster_send(s.port, INSTANCES, &(struct message){0}, sizeof(struct message), NULL, LONG), INVALID,
            "instance 10 of 10 on 3 devices");
    refuses(slr_cluster_send_key(s.port, slr_key_u64(1), &(struct message){0}, sizeof(struct message), NULL, LONG),
            INVALID, "has no keys");
    slr_ring_stats stats = stats_at_rest(s.ring);
    assert_int_equal(stats.accepted, EACH * INSTANCES);
    assert_int_equal(stats.handled, EACH * INSTANCES);
    assert_int_equal(stats.replied, EACH * INSTANCES);
    assert_int_equal(stats.state, SLR_RING_ACTIVE);
    end(&s);
}

static void a_key_is_on_one_device_and_all_devices_have_some(void **state)
{
    (void)state;
    struct spread s = begin(THREE, SLR_KEYS_U64, 3 * KEYS);
    uint32_t of_device[DEVICES] = {0}, device, again;
    for (uint32_t k = 0; k < EACH; ++k)
        for (uint64_t key = 0; key < KEYS; ++key) {
            struct message got;
            must(slr_cluster_call_key(s.port, slr_key_u64(key), &(struct message){(uint32_t)key, 0}, sizeof got, &got,
                                      sizeof got, LONG));
            assert_int_equal(got.value, key);
            assert_int_equal(got.kind, k + 1); // the same instance each time
        }
    for (uint64_t key = 0; key < KEYS; ++key) {
        slr_ring *ring;
        must(slr_cluster_ring_find_key(s.ring, slr_key_u64(key), &device));
        must(slr_cluster_ring_find_key(s.ring, slr_key_u64(key), &again));
        assert_int_equal(device, again);
        ++of_device[device];
        for (uint32_t i = 0; i < DEVICES; ++i) { // it is there, and nowhere else
            must(slr_cluster_ring_get(s.ring, i, &ring));
            uint32_t instance;
            assert_int_equal(slr_ring_find_key(ring, slr_key_u64(key), &instance) == SLR_OK, i == device);
        }
    }
    for (uint32_t i = 0; i < DEVICES; ++i)
        assert_in_range(of_device[i], KEYS / 5, KEYS / 2);
    slr_ring_stats stats = stats_at_rest(s.ring);
    assert_int_equal(stats.keys, KEYS);
    assert_int_equal(stats.handled, KEYS * EACH);
    refuses(slr_cluster_ring_find(s.ring, 0, &device, NULL), INVALID, "has keys");
    end(&s);
}

static void text_keys_and_memories_apart_work_too(void **state)
{
    (void)state;
    struct spread s = begin("cpu?unified=0&threads=1,cpu?threads=1", SLR_KEYS_TEXT, 100);
    struct message got;
    must(slr_cluster_call_key(s.port, slr_key_text("bed 7", 5), &(struct message){7, 0}, sizeof got, &got, sizeof got,
                              LONG));
    must(slr_cluster_call_key(s.port, slr_key_text("bed 7", 5), &(struct message){7, 0}, sizeof got, &got, sizeof got,
                              LONG));
    assert_int_equal(got.kind, 2);
    end(&s);
}

static void what_was_accepted_is_handled_before_the_end_and_then_it_has_ended(void **state)
{
    (void)state;
    struct spread s = begin(THREE, 0, INSTANCES);
    slr_reply reply;
    struct message got;
    refuses(slr_cluster_receive(s.port, &reply, NULL, NULL, &got, sizeof got, 1), TIMEOUT, "3 devices");
    for (uint32_t i = 0; i < INSTANCES; ++i)
        must(slr_cluster_send(s.port, i, &(struct message){i, 0}, sizeof got, NULL, LONG));
    must(slr_cluster_ring_drain(s.ring, LONG));
    gives(slr_cluster_send(s.port, 0, &(struct message){0}, sizeof got, NULL, LONG), RING_DEAD);
    for (uint32_t i = 0; i < INSTANCES; ++i)
        must(slr_cluster_receive(s.port, &reply, NULL, NULL, &got, sizeof got, LONG));
    gives(slr_cluster_receive(s.port, &reply, NULL, NULL, &got, sizeof got, LONG), END);
    gives(slr_cluster_receive(s.port, &reply, NULL, NULL, &got, sizeof got, LONG), END);
    slr_ring_stats stats = stats_of(s.ring);
    assert_int_equal(stats.state, SLR_RING_TERMINATED);
    assert_int_equal(stats.accepted, INSTANCES);
    assert_int_equal(stats.handled, INSTANCES);
    assert_int_equal(stats.pending, 0);
    end(&s);
}

static void fewer_instances_than_devices_are_refused(void **state)
{
    (void)state;
    struct fixture f = fixture_of(THREE, counts_cu);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_cluster_ring *ring;
    desc.instances = 2;
    refuses(slr_cluster_ring_create(f.cluster, &desc, f.program, &ring), INVALID, "2 instances on 3 devices");
    desc.instances = 0; // one each
    must(slr_cluster_ring_create(f.cluster, &desc, f.program, &ring));
    must(slr_cluster_ring_find(ring, 2, NULL, NULL));
    gives(slr_cluster_ring_find(ring, 3, NULL, NULL), INVALID);
    slr_cluster_ring_destroy(ring);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances_are_shared_out_and_each_replies_by_its_own_number),
        cmocka_unit_test(a_key_is_on_one_device_and_all_devices_have_some),
        cmocka_unit_test(text_keys_and_memories_apart_work_too),
        cmocka_unit_test(what_was_accepted_is_handled_before_the_end_and_then_it_has_ended),
        cmocka_unit_test(fewer_instances_than_devices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
