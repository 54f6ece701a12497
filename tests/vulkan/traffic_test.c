// SPDX-License-Identifier: Apache-2.0
// A persistent ring kernel on Vulkan polls one word while it has one port, and takes messages straight from there
// (engine/device/stay.h). Here is what may come in between: another port, several replies or none, a fault, a command,
// and the loss of the device. Only where a kernel can stay.
#define _POSIX_C_SOURCE 200809L
#include "tests/ring/ring_test.h"
#include "tests/vulkan/vulkan_test.h"

#include <pthread.h>
#include <vulkan/vulkan_core.h>

// `value`: the low byte says how often it is answered; `port`: turns that it takes. More than three answers: a fault.
static const char source[] = "struct message { unsigned value, port; };\n"
                             "struct count { unsigned handled, sum; };\n"
                             "__ring__ void answers(struct count *self, const struct message *in)\n"
                             "{\n"
                             "    for (unsigned i = 0u; i < in->port; i++)\n"
                             "        self->sum = self->sum * 5u + i;\n"
                             "    self->handled += 1u;\n"
                             "    struct message out = {in->value, self->handled};\n"
                             "    for (unsigned i = 0u; i < (in->value & 255u); i++)\n"
                             "        ring_reply(&out);\n"
                             "}\n";

struct bench {
    slr_device *device;
    slr_program *program;
    slr_ring_desc desc;
    slr_ring *ring;
    slr_port *port;
};

static void set_up(struct bench *b, uint32_t max_replies, uint32_t queue_size)
{
    *b = (struct bench){.desc = SLR_RING_DESC_INIT};
    must(slr_device_open("vulkan:0?ring=persistent", NULL, &b->device));
    must(slr_program_from_text(b->device, "answers.cu", source, NULL, &b->program));
    b->desc.handler = "answers";
    b->desc.program = b->program;
    b->desc.max_replies = max_replies;
    b->desc.queue_size = queue_size;
    b->desc.max_ports = 4;
    b->ring = start_ring(b->device, &b->desc);
    assert_int_equal(stats_of(b->ring).mode, SLR_RING_PERSISTENT);
    b->port = open_port(b->device);
}

static void tear_down(struct bench *b)
{
    slr_port_close(b->port);
    slr_ring_destroy(b->ring);
    slr_program_destroy(b->program);
    slr_device_close(b->device);
    assert_int_equal(vulkan->live, 0);
}

// Message number k, which is answered `replies` times.
static uint32_t numbered(uint32_t k, uint32_t replies)
{
    return k << 8 | replies;
}

static void send_slow(slr_port *port, const slr_ring *ring, uint32_t value, uint32_t turns, uint32_t priority)
{
    const struct message message = {value, turns};
    const slr_send_options options = {.priority = SLR_PRIORITY(priority)};
    must(slr_send_with(port, address_of(ring, 0), &message, sizeof message, &options, LONG));
}

static struct message receive(slr_port *port)
{
    slr_reply reply;
    struct message message = {0};
    must(slr_receive(port, &reply, &message, sizeof message, LONG));
    assert_int_equal(reply.status, SLR_OK);
    return message;
}

static void ask(struct bench *b, uint32_t k, uint32_t handled)
{
    send_slow(b->port, b->ring, numbered(k, 1), 0, 128);
    const struct message reply = receive(b->port);
    assert_int_equal(reply.value, numbered(k, 1));
    assert_int_equal(reply.port, handled);
}

// While a message is handled, a port is opened; its message is sent first, and is the more urgent one. So it goes
// first, although the next one shows in the lane that the kernel polls.
static void a_port_opened_meanwhile_goes_first_if_it_is_more_urgent(void **state)
{
    enum { ROUNDS = 10, SLOW = 4000000 };
    struct bench b;
    uint32_t handled = 0;
    (void)state;
    set_up(&b, 1, 16);
    for (uint32_t round = 0; round < ROUNDS; ++round) {
        for (uint32_t k = 0; k < 50; ++k)
            ask(&b, k, ++handled);
        send_slow(b.port, b.ring, numbered(1, 1), SLOW, 128);
        slr_port *urgent = open_port(b.device);
        send_slow(urgent, b.ring, numbered(2, 1), 0, 255);
        send_slow(b.port, b.ring, numbered(3, 1), 0, 128);
        const uint32_t first = receive(b.port).port, second = receive(b.port).port, went = receive(urgent).port;
        assert_int_equal(first + second + went, 3 * handled + 6);
        assert_true(went < second);
        handled += 3;
        slr_port_close(urgent);
    }
    tear_down(&b);
}

// It may have the lane of the closed one, with the same word to poll. What that one sent last is handled, before or
// behind its own messages, and answered to nobody.
static void a_port_behind_a_closed_one_gets_its_own_replies(void **state)
{
    struct bench b;
    uint32_t sent = 0;
    (void)state;
    set_up(&b, 1, 16);
    for (uint32_t round = 0; round < 50; ++round) {
        for (uint32_t k = 0; k < 5; ++k, ++sent) {
            send_slow(b.port, b.ring, numbered(sent, 1), 0, 128);
            assert_int_equal(receive(b.port).value, numbered(sent, 1));
        }
        if (round % 2 != 0)
            send_slow(b.port, b.ring, numbered(sent++, 1), 0, 128);
        slr_port_close(b.port);
        b.port = open_port(b.device);
    }
    assert_int_equal(stats_when_pending(b.ring, 0).handled, sent);
    tear_down(&b);
}

// 0 to `most` replies, alone and many at once, with none read until all are sent.
static void answer_so_often(uint32_t most)
{
    enum { COUNT = 300, AT_ONCE = 12 };
    struct bench b;
    uint32_t asked = 0, replies = 0;
    set_up(&b, most, 16);
    for (uint32_t k = 0; k < COUNT; k += AT_ONCE) {
        const uint32_t at_once = k % (2 * AT_ONCE) == 0 ? AT_ONCE : 1;
        for (uint32_t i = 0; i < at_once; ++i) {
            send_slow(b.port, b.ring, numbered(k + i, (k + i) % (most + 1)), 0, 128);
            replies += (k + i) % (most + 1);
        }
        for (uint32_t i = 0; i < at_once; ++i) {
            ++asked;
            for (uint32_t n = 0; n < (k + i) % (most + 1); ++n) {
                const struct message reply = receive(b.port);
                assert_int_equal(reply.value, numbered(k + i, (k + i) % (most + 1)));
                assert_int_equal(reply.port, asked);
            }
        }
    }
    const slr_ring_stats stats = stats_when_pending(b.ring, 0);
    assert_int_equal(stats.handled, asked);
    assert_int_equal(stats.replied, replies);
    assert_int_equal(stats.faulted, 0);
    tear_down(&b);
}

static void each_message_has_as_many_replies_as_it_asks_for(void **state)
{
    (void)state;
    for (uint32_t most = 1; most <= 3; ++most)
        answer_so_often(most);
}

// Handlers that never reply have no reply lanes.
static void messages_without_replies_are_counted_once(void **state)
{
    enum { COUNT = 2000 };
    struct bench b;
    (void)state;
    set_up(&b, 0, 16);
    for (uint32_t k = 0; k < COUNT; ++k)
        send_slow(b.port, b.ring, numbered(k, 0), 0, 128);
    const slr_ring_stats stats = stats_when_pending(b.ring, 0);
    assert_int_equal(stats.handled, COUNT);
    assert_int_equal(stats.replied, 0);
    tear_down(&b);
}

// Each seventh message faults, alone and among others. The state begins anew behind it, and nothing else changes.
static void a_fault_in_the_midst_leaves_the_others_as_they_are(void **state)
{
    enum { COUNT = 210 };
    struct bench b;
    uint32_t faults = 0;
    (void)state;
    set_up(&b, 1, 16);
    for (uint32_t k = 0, at_once; k < COUNT; k += at_once) {
        at_once = k % 2 == 0 ? 1 : 9;
        for (uint32_t i = k; i < k + at_once; ++i)
            send_slow(b.port, b.ring, numbered(i, i % 7 == 6 ? 2 : 1), 0, 128);
        for (uint32_t i = k; i < k + at_once; ++i) {
            slr_reply reply;
            struct message message = {0};
            must(slr_receive(b.port, &reply, &message, sizeof message, LONG));
            assert_int_equal(reply.status, i % 7 == 6 ? SLR_HANDLER_FAULT : SLR_OK);
            faults += i % 7 == 6;
            if (i % 7 != 6)
                assert_int_equal(message.value, numbered(i, 1));
            if (i % 7 != 6)
                assert_int_equal(message.port, i % 7 + 1);
        }
    }
    const slr_ring_stats stats = stats_when_pending(b.ring, 0);
    assert_int_equal(stats.faulted, faults);
    assert_int_equal(stats.handled, stats.accepted - faults);
    tear_down(&b);
}

// ---- under load ----------------------------------------------------------------------------------------------------

enum { MOST = 1u << 20 };

// Sends numbered messages until it is refused, and reads replies. What became of each: `seen`.
struct load {
    struct bench *b;
    uint8_t *seen;     // how often each number was answered or given back
    uint32_t sent;     // accepted
    uint32_t answered; // in order
    uint32_t most;     // to send; 0: MOST
    uint32_t turns;    // that each takes
    uint32_t wrong;    // replies that were not the next one's
    bool stops;        // atomic
};

static void take_reply(struct load *load, uint64_t timeout_ns)
{
    uint32_t handled_before = load->answered;
    slr_reply reply;
    struct message message = {0};
    if (slr_receive(load->b->port, &reply, &message, sizeof message, timeout_ns) != SLR_OK)
        return;
    load->answered += 1;
    if (reply.status != SLR_OK || message.value >> 8 != handled_before || message.port != handled_before + 1)
        load->wrong += 1;
    else
        load->seen[message.value >> 8] += 1;
}

static void *send_all(void *of)
{
    struct load *load = of;
    while (!__atomic_load_n(&load->stops, __ATOMIC_ACQUIRE) && load->sent < (load->most ? load->most : MOST)) {
        const struct message message = {numbered(load->sent, 1), load->turns};
        const slr_status status =
            slr_send(load->b->port, address_of(load->b->ring, 0), &message, sizeof message, 1000000);
        if (status == SLR_OK)
            load->sent += 1;
        else if (status != SLR_TIMEOUT)
            break;
        take_reply(load, load->sent - load->answered >= 12 ? 1000000 : 0);
    }
    return NULL;
}

static void give_back(void *user, const slr_undelivered *undelivered)
{
    struct load *load = user;
    struct message message;
    memcpy(&message, undelivered->message, sizeof message);
    load->seen[message.value >> 8] += 1;
}

static void begin_load(struct load *load, struct bench *b, pthread_t *thread)
{
    load->b = b;
    load->seen = calloc(MOST, 1);
    assert_non_null(load->seen);
    assert_int_equal(pthread_create(thread, NULL, send_all, load), 0);
}

// Each that was accepted has been answered or given back, and once.
static void check_load(struct load *load, const slr_ring_stats *stats)
{
    uint32_t once = 0;
    while (load->answered < stats->handled && !load->wrong) {
        const uint32_t before = load->answered;
        take_reply(load, LONG);
        assert_int_equal(load->answered, before + 1);
    }
    assert_int_equal(load->wrong, 0);
    for (uint32_t k = 0; k < MOST; ++k) {
        assert_int_equal(load->seen[k], k < load->sent ? 1 : 0);
        once += load->seen[k];
    }
    assert_int_equal(stats->accepted, once);
    assert_int_equal(stats->handled + stats->undelivered, once);
    assert_int_equal(stats->in_doubt, 0);
    assert_int_equal(stats->pending, 0);
    free(load->seen);
}

static void a_pause_under_load_holds_all_back_and_loses_none(void **state)
{
    struct bench b;
    struct load load = {0};
    slr_ring_stats stats;
    pthread_t thread;
    (void)state;
    set_up(&b, 1, 16);
    begin_load(&load, &b, &thread);
    for (int round = 0; round < 30; ++round) {
        slri_sleep_ns(2000000);
        must(slr_ring_deactivate(b.ring, LONG));
        const uint64_t handled = stats_of(b.ring).handled;
        slri_sleep_ns(round % 10 == 0 ? 60000000 : 1000000); // the kernel may end
        assert_int_equal(stats_of(b.ring).handled, handled);
        must(slr_ring_reactivate(b.ring, LONG));
    }
    __atomic_store_n(&load.stops, true, __ATOMIC_RELEASE);
    assert_int_equal(pthread_join(thread, NULL), 0);
    must(slr_ring_terminate(b.ring, LONG, give_back, &load, &stats));
    assert_int_equal(stats.undelivered, 0);
    assert_true(load.sent > 100);
    check_load(&load, &stats);
    tear_down(&b);
}

static void what_terminate_under_load_leaves_is_given_back_once(void **state)
{
    for (uint32_t round = 0; round < 4; ++round) {
        struct bench b;
        struct load load = {.turns = round % 2 * 20000};
        slr_ring_stats stats;
        pthread_t thread;
        (void)state;
        set_up(&b, 1, 16);
        begin_load(&load, &b, &thread);
        slri_sleep_ns(20000000);
        must(slr_ring_close_input(b.ring));
        assert_int_equal(pthread_join(thread, NULL), 0);
        must(slr_ring_terminate(b.ring, 0, give_back, &load, &stats));
        check_load(&load, &stats);
        tear_down(&b);
    }
}

// The driver says so when the kernel has ended, which it does some time behind the last message that it could handle.
static void lose_device(struct bench *b)
{
    uint32_t words[16] = {0};
    slr_buffer *buffer;
    must(slr_buffer_create(b->device, sizeof words, &buffer));
    vulkan->failed = NULL;
    vulkan->result = VK_ERROR_DEVICE_LOST;
    vulkan->calls = 0;
    __atomic_store_n(&vulkan->fail_at, 1, __ATOMIC_RELEASE);
    gives(slr_buffer_write(buffer, 0, words, sizeof words), DEVICE_LOST);
    __atomic_store_n(&vulkan->fail_at, 0, __ATOMIC_RELEASE);
    slr_buffer_destroy(buffer);
}

static void a_loss_under_load_loses_no_message(void **state)
{
    struct bench b;
    struct load load = {.most = 20000};
    slr_ring_stats stats;
    pthread_t thread;
    (void)state;
    set_up(&b, 1, 16);
    begin_load(&load, &b, &thread);
    lose_device(&b);
    __atomic_store_n(&load.stops, true, __ATOMIC_RELEASE);
    assert_int_equal(pthread_join(thread, NULL), 0);
    must(slr_ring_terminate(b.ring, 0, give_back, &load, &stats));
    assert_true(load.sent > 0);
    check_load(&load, &stats);
    tear_down(&b);
}

// There is room for 16 replies, so the messages behind those wait for their reader when the device is lost.
static void what_waits_for_room_at_a_loss_is_given_back_once(void **state)
{
    enum { ASKED = 100, SENT = 26, FIT = 16 };
    struct bench b;
    struct load load = {.b = &b, .seen = calloc(MOST, 1)};
    slr_ring_stats stats;
    (void)state;
    assert_non_null(load.seen);
    set_up(&b, 1, FIT);
    for (; load.sent < ASKED + SENT; ++load.sent) {
        send_slow(b.port, b.ring, numbered(load.sent, 1), 0, 128);
        if (load.sent < ASKED)
            take_reply(&load, LONG);
    }
    lose_device(&b);
    must(slr_ring_terminate(b.ring, 0, give_back, &load, &stats));
    assert_int_equal(stats.handled, ASKED + FIT);
    assert_int_equal(stats.undelivered, SENT - FIT);
    check_load(&load, &stats);
    tear_down(&b);
}

// Whether a kernel can stay on the Vulkan that is here.
static bool one_can_stay(void)
{
    slr_device *device;
    slr_device_info info;
    must(slr_device_open("vulkan:0?ring=persistent", NULL, &device));
    must(slr_device_get_info(device, &info));
    slr_device_close(device);
    return strstr(info.features, "persistent_groups=1") != NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_port_opened_meanwhile_goes_first_if_it_is_more_urgent),
        cmocka_unit_test(a_port_behind_a_closed_one_gets_its_own_replies),
        cmocka_unit_test(each_message_has_as_many_replies_as_it_asks_for),
        cmocka_unit_test(messages_without_replies_are_counted_once),
        cmocka_unit_test(a_fault_in_the_midst_leaves_the_others_as_they_are),
        cmocka_unit_test(a_pause_under_load_holds_all_back_and_loses_none),
        cmocka_unit_test(what_terminate_under_load_leaves_is_given_back_once),
        cmocka_unit_test(a_loss_under_load_loses_no_message),
        cmocka_unit_test(what_waits_for_room_at_a_loss_is_given_back_once),
    };
    return load_vulkan() && one_can_stay() ? cmocka_run_group_tests(tests, NULL, NULL) : NO_VULKAN;
}
