// SPDX-License-Identifier: Apache-2.0
// Publish and subscribe: names, wildcards, either order, ends.
#include "tests/ring/ring_test.h"

static slr_status echo(void *user, const slr_delivery *delivery)
{
    (void)user;
    return slr_reply_to(delivery, delivery->message, delivery->bytes);
}

static slr_ring *start_publisher(slr_device *device, const char *name)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.on_message = echo;
    desc.message_bytes = desc.reply_bytes = sizeof(struct message);
    return start_ring(device, &desc);
}

static slr_ring *start_reader(slr_device *device, const char *name, struct handler *h)
{
    slr_ring_desc desc = describe_ring(name, h);
    return start_ring(device, &desc);
}

static void publish_value(slr_port *port, slr_topic *topic, uint32_t value, uint32_t readers)
{
    struct message message = {.value = value};
    uint32_t accepted = 99;
    must(slr_publish(port, topic, &message, sizeof message, LONG, &accepted));
    assert_int_equal(accepted, readers);
}

static void wildcards_choose_whole_parts(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *topic;
        uint32_t matches;
    } cases[] = {
        {"ward.7.alarms", "ward.7.alarms", 1},
        {"ward.7.alarms", "ward.7.alarm", 0},
        {"ward.7", "ward.7.alarms", 0},
        {"ward.7.alarms", "ward.7", 0},
        {"ward.*.alarms", "ward.7.alarms", 1},
        {"ward.*.alarms", "ward.alarms", 0},
        {"ward.*.alarms", "ward.7.8.alarms", 0},
        {"*", "ward", 1},
        {"*", "ward.7", 0},
        {"ward.*", "ward", 0},
        {"ward.#", "ward.7.alarms", 1},
        {"ward.#", "ward", 1},
        {"ward.#", "wards.7", 0},
        {"#", "ward.7", 1},
        {"*.*", "ward.7", 1},
        {"*.7.#", "ward.7", 1},
        {"*.7.#", "ward.8.7", 0},
        {"wa", "ward", 0},
    };
    slr_device *device = open_device("cpu?threads=1");
    slr_port *port = open_port(device);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct handler h = {0};
        slr_ring *ring = start_reader(device, "reader", &h);
        slr_topic *topic;
        must(slr_topic_open(device, cases[i].topic, &topic));
        must(slr_subscribe(ring, cases[i].pattern));
        publish_value(port, topic, 1, cases[i].matches);
        must(slr_ring_terminate(ring, LONG, NULL, NULL, NULL));
        assert_int_equal(noted(&h), cases[i].matches);
        publish_value(port, topic, 2, 0); // it has ended
        slr_ring_destroy(ring);
        publish_value(port, topic, 3, 0);
        slr_topic_close(topic);
    }
    slr_port_close(port);
    slr_device_close(device);
}

static void ring_kernels_publish_to_who_subscribed_before_and_behind(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    struct handler early = {0}, late = {0}, other = {0};
    slr_ring *one = start_publisher(device, "one"), *two = start_publisher(device, "two");
    slr_ring *before = start_reader(device, "before", &early), *behind = start_reader(device, "behind", &late);
    slr_ring *elsewhere = start_reader(device, "elsewhere", &other);
    must(slr_subscribe(before, "ward.*.alarms"));
    must(slr_subscribe(elsewhere, "room.#"));
    must(slr_advertise(one, "ward.7.alarms"));
    must(slr_advertise(two, "ward.8.alarms"));
    must(slr_subscribe(behind, "ward.8.#"));
    must(slr_subscribe(behind, "#")); // matches twice; each message comes once
    slr_port *port = open_port(device);
    for (uint32_t i = 0; i < 100; ++i)
        must(send_value(port, address_of(i % 2 ? two : one, 0), i, LONG));
    wait_until_is(&early.count, 100);
    wait_until_is(&late.count, 100);
    slr_topic *topic;
    must(slr_topic_open(device, "ward.9.alarms", &topic));
    publish_value(port, topic, 100, 2);
    wait_until_is(&early.count, 101);
    wait_until_is(&late.count, 101);
    assert_int_equal(noted(&other), 0);
    wait_handled(one, 50);
    assert_int_equal(stats_of(one).routed, 100); // 50 messages to two
    slr_topic_close(topic);
    slr_port_close(port);
    slr_ring *all[] = {before, one, two, behind, elsewhere};
    for (size_t i = 0; i < 5; ++i)
        slr_ring_destroy(all[i]);
    slr_device_close(device);
}

static void names_that_are_none_and_readers_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    struct handler h = {0};
    slr_ring *one = start_publisher(device, "one"), *reader, *created;
    slr_ring_desc desc = describe_ring("small", &h);
    desc.message_bytes = 4;
    reader = start_ring(device, &desc);
    desc.name = "created";
    must(slr_ring_create(device, &desc, &created));
    slr_topic *topic;
    refuses(slr_topic_open(device, "a..b", &topic), INVALID, "topic 'a..b'");
    refuses(slr_topic_open(device, "a.*", &topic), INVALID, "without `*` and `#`");
    refuses(slr_topic_open(device, "", &topic), INVALID, "none of them empty");
    refuses(slr_subscribe(reader, "a.b*"), INVALID, "`*` is a whole part");
    refuses(slr_subscribe(reader, "#.b"), INVALID, "`#` the last one");
    refuses(slr_subscribe(NULL, "a"), INVALID, "the ring kernel is NULL");
    refuses(slr_subscribe(created, "a"), WRONG_STATE, "'created' is created");
    must(slr_subscribe(reader, "a"));
    refuses(slr_advertise(one, "a"), LAYOUT, "a message of 'small' has 4 B");
    must(slr_topic_open(device, "a", &topic));
    slr_port *port = open_port(device);
    struct message message = {0};
    uint32_t accepted = 9;
    refuses(slr_publish(port, topic, &message, sizeof message, 0, &accepted), INVALID, "its messages have 4 B");
    assert_int_equal(accepted, 0);
    slr_topic_close(topic);
    slr_topic_close(NULL);
    slr_port_close(port);
    slr_ring_destroy(one);
    slr_ring_destroy(reader);
    slr_ring_destroy(created);
    slr_device_close(device);
}

// ---- failure -------------------------------------------------------------------------------------------------------

static uint32_t seen; // by `fragile`; atomic

static slr_status fail_at_0(void *user, const slr_delivery *delivery)
{
    const struct message *message = delivery->message;
    (void)user;
    if (message->value == 0)
        return SLR_INVALID;
    __atomic_fetch_add(&seen, 1, __ATOMIC_RELEASE);
    return SLR_OK;
}

static slr_ring *start_fragile(slr_device *device)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "fragile";
    desc.on_message = fail_at_0;
    desc.message_bytes = sizeof(struct message);
    desc.fault_policy = SLR_FAULT_FAIL;
    return start_ring(device, &desc);
}

// While it has failed others subscribe, advertise, and publish: after its restart it gets what all of them publish.
static void subscriber_that_failed_keeps_its_subscription(void **state)
{
    (void)state;
    struct handler h = {0};
    slr_topic *topic;
    struct message message = {0};
    slr_device *device = open_device("cpu");
    slr_ring *fragile = start_fragile(device), *other = start_reader(device, "other", &h);
    slr_ring *publisher = start_publisher(device, "publisher");
    slr_port *port = open_port(device);
    seen = 0;
    must(slr_topic_open(device, "a", &topic));
    must(slr_subscribe(fragile, "a"));
    publish_value(port, topic, 0, 1);
    must(slr_ring_wait(fragile, SLR_RING_IN_FAILURE, LONG));
    must(slr_subscribe(other, "a"));
    must(slr_advertise(publisher, "a"));
    gives(slr_publish(port, topic, &message, sizeof message, LONG, NULL), RING_FAILED); // and the other has it
    must(slr_ring_restart(fragile, SLR_RESTART_INITIAL, LONG));
    for (uint32_t value = 1; value <= 10; ++value)
        publish_value(port, topic, value, 2);
    wait_handled(fragile, 10);
    for (uint32_t value = 1; value <= 10; ++value) {
        message.value = value;
        must(slr_send(NULL, address_of(publisher, 0), &message, sizeof message, LONG));
    }
    wait_handled(fragile, 20);
    assert_int_equal(__atomic_load_n(&seen, __ATOMIC_ACQUIRE), 20);
    slr_topic_close(topic);
    slr_port_close(port);
    slr_ring_destroy(publisher);
    slr_ring_destroy(fragile);
    slr_ring_destroy(other);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wildcards_choose_whole_parts),
        cmocka_unit_test(ring_kernels_publish_to_who_subscribed_before_and_behind),
        cmocka_unit_test(subscriber_that_failed_keeps_its_subscription),
        cmocka_unit_test(names_that_are_none_and_readers_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
