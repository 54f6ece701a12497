// SPDX-License-Identifier: Apache-2.0
// Calls of `__ring_batch__` handlers: messages of any size, of several senders and instances, lie one behind the other,
// and a call that faults counts as many faults as it has messages.
#include "tests/ring/ring_test.h"

#define HANDLER(name, bytes, step)                                                                                     \
    "struct " name " { unsigned char byte[" #bytes "]; };\n"                                                           \
    "__ring_batch__ void " name "(struct seen *self, const struct " name " *in, unsigned n)\n"                         \
    "{\n"                                                                                                              \
    "    self->calls += 1u;\n"                                                                                         \
    "    for (unsigned i = n; i-- > 0u;) {\n"                                                                          \
    "        struct place out = {0, i, n, self->calls};\n"                                                             \
    "        for (unsigned k = 0; k < " #bytes "u; k += " #step "u) out.hash = out.hash * 31u + in[i].byte[k];\n"      \
    "        ring_reply_to(i, &out);\n"                                                                                \
    "    }\n"                                                                                                          \
    "}\n"

static const char source[] =
    "struct seen { unsigned calls; };\n"
    "struct place { unsigned hash, at, of, calls; };\n" HANDLER("odd", 5, 1) HANDLER("page", 300, 1)
        HANDLER("large", 5000, 16) "struct task { unsigned value, port; };\n"
                                   "__ring_batch__ void divides(const struct task *in, int n)\n"
                                   "{\n"
                                   "    for (int i = 0; i < n; i++) {\n"
                                   "        struct task out = {100u / in[i].value, 0};\n"
                                   "        ring_reply_to(i, &out);\n"
                                   "    }\n"
                                   "}\n";

struct place {
    uint32_t hash, at, of, calls;
};

struct bench {
    slr_device *device;
    slr_program *program;
    slr_ring *ring;
    slr_port *port[2];
};

static slr_ring_desc begin(struct bench *b, const char *handler)
{
    *b = (struct bench){.device = open_device("cpu")};
    must(slr_program_from_text(b->device, "calls.cu", source, NULL, &b->program));
    for (int p = 0; p < 2; ++p)
        b->port[p] = open_port(b->device);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = b->program;
    desc.handler = handler;
    return desc;
}

static void end(struct bench *b)
{
    slr_ring_destroy(b->ring);
    for (int p = 0; p < 2; ++p)
        slr_port_close(b->port[p]);
    slr_program_destroy(b->program);
    slr_device_close(b->device);
}

// ---- messages ------------------------------------------------------------------------------------------------------

enum { MESSAGES = 480, INSTANCES = 24, MOST = 5000 }; // more instances than a device has shards

static unsigned char byte_at(uint32_t message, uint32_t k)
{
    return (unsigned char)(message * 37u + k * (k + 3u));
}

// Of large messages each 16th byte: a call has up to 128 of them, and some drivers of Vulkan end a thread's loops after
// 65,535 turns.
static uint32_t hash_of(uint32_t message, uint32_t bytes)
{
    uint32_t hash = 0;
    for (uint32_t k = 0; k < bytes; k += bytes == MOST ? 16 : 1)
        hash = hash * 31 + byte_at(message, k);
    return hash;
}

// Message i goes through port i % 2 to instance i / 2 % INSTANCES: each instance has some of both, and in a
// port its messages are no neighbours: only an owner that sorts its batch finds several for a call.
static void send_all(struct bench *b, uint32_t bytes)
{
    static unsigned char message[MOST];
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        const slr_send_options options = {.correlation = i + 1};
        for (uint32_t k = 0; k < bytes; ++k)
            message[k] = byte_at(i, k);
        must(slr_send_with(b->port[i % 2], address_of(b->ring, i / 2 % INSTANCES), message, bytes, &options, LONG));
    }
}

// What a call has got from a port is a part of it, in its order.
static void check_place(const struct place *place, struct place *before)
{
    assert_true(place->at < place->of && place->of <= MESSAGES / INSTANCES);
    if (place->calls == before->calls) {
        assert_true(place->at > before->at);
        assert_int_equal(place->of, before->of);
    } else {
        assert_true(place->calls > before->calls);
    }
    *before = *place;
}

static void use_messages(const char *handler, uint32_t bytes, uint32_t stamps)
{
    struct bench b;
    slr_ring_desc desc = begin(&b, handler);
    desc.instances = INSTANCES;
    desc.queue_size = 512;
    desc.max_ports = 2;
    desc.time_stamps = stamps;
    b.ring = launch_ring(b.device, &desc);
    send_all(&b, bytes);
    must(slr_ring_activate(b.ring, LONG));
    uint32_t together = 0;
    for (uint32_t p = 0; p < 2; ++p) {
        struct place before[INSTANCES] = {{0}};
        uint32_t last[INSTANCES] = {0};
        for (uint32_t n = 0; n < MESSAGES / 2; ++n) {
            slr_reply reply;
            struct place place;
            must(slr_receive(b.port[p], &reply, &place, sizeof place, LONG));
            must(reply.status);
            const uint32_t message = reply.correlation - 1, of = reply.from.instance;
            assert_true(message < MESSAGES && message % 2 == p && message / 2 % INSTANCES == of);
            assert_true(reply.correlation > last[of]);
            assert_int_equal(place.hash, hash_of(message, bytes));
            check_place(&place, &before[of]);
            last[of] = reply.correlation;
            together += place.of > 1;
        }
    }
    const slr_ring_stats stats = stats_when_pending(b.ring, 0);
    assert_int_equal(stats.handled, MESSAGES);
    assert_int_equal(stats.replied, MESSAGES);
    assert_true(together != 0 || bytes == MOST);
    check_sum(&stats);
    end(&b);
}

static void messages_of_any_size_lie_one_behind_the_other(void **state)
{
    (void)state;
    for (uint32_t stamps = 0; stamps < 2; ++stamps) {
        use_messages("odd", 5, stamps);
        use_messages("page", 300, stamps);
        use_messages("large", MOST, stamps);
    }
}

// ---- faults --------------------------------------------------------------------------------------------------------

// Two faults are within the limit. The call has three messages, so there are three.
static void call_that_faults_counts_each_of_its_messages(void **state)
{
    (void)state;
    static const uint32_t value[] = {1, 2, 0};
    struct bench b;
    slr_ring_desc desc = begin(&b, "divides");
    desc.fault_policy = SLR_FAULT_LIMIT;
    desc.fault_limit = 2;
    desc.fault_window_ns = LONG;
    b.ring = launch_ring(b.device, &desc);
    for (int i = 0; i < 3; ++i)
        must(send_value(b.port[0], address_of(b.ring, 0), value[i], LONG));
    must(slr_ring_activate(b.ring, LONG));
    must(slr_ring_wait(b.ring, SLR_RING_IN_FAILURE, LONG));
    assert_int_equal(stats_of(b.ring).faulted, 3);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_any_size_lie_one_behind_the_other),
        cmocka_unit_test(call_that_faults_counts_each_of_its_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
