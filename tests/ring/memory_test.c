// SPDX-License-Identifier: Apache-2.0
// What mailboxes take: few mappings for many ring kernels, little memory for idle ones, and of large messages no more
// than there are ports for.
#include "base/share.h"
#include "tests/ring/ring_test.h"
#include "ring/ring.h"

#include <stdio.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { RINGS = 1000, IS_PLAIN = 0 };
#else
enum { RINGS = 20000, IS_PLAIN = 1 };
#endif
enum { PORTS = 100 };

// Lines of /proc/self/maps, and the bytes of them that may be written.
static unsigned count_mappings(uint64_t *writable)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[512], mode[8];
    unsigned lines = 0;
    unsigned long long from, to;
    *writable = 0;
    for (; fgets(line, sizeof line, maps); ++lines)
        if (sscanf(line, "%llx-%llx %7s", &from, &to, mode) == 3 && mode[1] == 'w')
            *writable += to - from;
    fclose(maps);
    return lines;
}

static uint64_t resident_bytes(void)
{
    unsigned long long kib = 0;
    FILE *rollup = fopen("/proc/self/smaps_rollup", "r");
    assert_non_null(rollup);
    for (char line[512]; fgets(line, sizeof line, rollup) && sscanf(line, "Rss: %llu", &kib) != 1;)
        ;
    fclose(rollup);
    return kib * 1024;
}

// ---- many ring kernels ---------------------------------------------------------------------------------------------

struct note {
    uint32_t word[16];
};

static slr_status answer(void *user, const slr_delivery *delivery)
{
    (void)user;
    if (delivery->state)
        ++*(uint32_t *)delivery->state;
    return slr_reply_to(delivery, delivery->message, delivery->bytes);
}

static slr_ring *start_small(slr_device *device, uint32_t number)
{
    char name[32];
    snprintf(name, sizeof name, "small-%u", number);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.on_message = answer;
    desc.message_bytes = desc.reply_bytes = sizeof(struct note);
    desc.state_bytes = 16;
    desc.queue_size = 4;
    desc.max_ports = 1;
    return start_ring(device, &desc);
}

static void call(slr_port *port, slr_ring *ring, uint32_t value)
{
    struct note to = {.word = {[3] = value}}, back = {0};
    must(slr_call(port, address_of(ring, 0), &to, sizeof to, &back, sizeof back, LONG));
    assert_int_equal(back.word[3], value);
}

static void many_ring_kernels_share_mappings_and_pages(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring **ring = malloc(RINGS * sizeof(slr_ring *));
    slr_port *port[PORTS];
    for (uint32_t i = 0; i < PORTS; ++i)
        port[i] = open_port(device);
    struct slri_share_count before = slri_share_counted();
    uint64_t writable, resident = resident_bytes(), started;
    unsigned mappings = count_mappings(&writable);
    for (uint32_t i = 0; i < RINGS; ++i)
        ring[i] = start_small(device, i);
    started = (resident_bytes() - resident) / RINGS;
    for (uint32_t i = 0; i < RINGS; ++i)
        call(port[i / (RINGS / PORTS)], ring[i], i);
    struct slri_share_count now = slri_share_counted();
    resident = (resident_bytes() - resident) / RINGS;
    mappings = count_mappings(&writable) - mappings;
    print_message(
        "%u ring kernels: %u lines of maps, %llu shared mappings, %llu B of them each, resident %llu B each when "
        "started, %llu B behind a call\n",
        RINGS, mappings, (unsigned long long)(now.mappings - before.mappings),
        (unsigned long long)((now.bytes - before.bytes) / RINGS), (unsigned long long)started,
        (unsigned long long)resident);
    if (IS_PLAIN) {
        assert_in_range(now.mappings - before.mappings, 1, 16);
        assert_in_range(mappings, 0, 100); // ours, and those of malloc
        assert_in_range(resident, 1, 4096);
    }
    for (uint32_t i = 0; i < RINGS; i += 2) // every other one's memory goes to another, and is as new
        slr_ring_destroy(ring[i]);
    for (uint32_t i = 0; i < RINGS; i += 2)
        ring[i] = start_small(device, i);
    for (uint32_t i = 0; i < RINGS; ++i)
        call(port[i / (RINGS / PORTS)], ring[i], i + 1);
    for (uint32_t i = 0; i < RINGS; ++i) {
        uint32_t calls[4] = {0};
        must(slr_ring_snapshot(ring[i], 0, calls, sizeof calls, LONG));
        assert_int_equal(calls[0], 1 + i % 2);
    }
    for (uint32_t i = 0; i < PORTS; ++i)
        slr_port_close(port[i]);
    for (uint32_t i = 0; i < RINGS; ++i)
        slr_ring_destroy(ring[i]);
    assert_int_equal(slri_share_counted().things, before.things);
    assert_int_equal(slri_share_counted().mappings, before.mappings);
    free(ring);
    slr_device_close(device);
}

// Of the default size a call touches a page of its lane, and one of its reply lane.
static void those_of_the_default_size_take_few_pages(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    slr_device *device = open_device("cpu");
    slr_port *port = open_port(device);
    slr_ring *ring[COUNT];
    slr_ring_destroy(start_small(device, 0)); // the workers' stacks are there
    uint64_t before = resident_bytes(), started, called;
    for (uint32_t i = 0; i < COUNT; ++i) {
        char name[32];
        snprintf(name, sizeof name, "default-%u", i);
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        desc.name = name;
        desc.on_message = answer;
        desc.message_bytes = desc.reply_bytes = sizeof(struct note);
        desc.state_bytes = 16;
        ring[i] = start_ring(device, &desc);
    }
    started = (resident_bytes() - before) / COUNT;
    for (uint32_t i = 0; i < COUNT; ++i)
        call(port, ring[i], i);
    called = (resident_bytes() - before) / COUNT;
    print_message("of the default size: resident %llu B each when started, %llu B behind a call\n",
                  (unsigned long long)started, (unsigned long long)called);
    if (IS_PLAIN) {
        assert_in_range(started, 1, 4096);
        assert_in_range(called, 1, 14000);
    }
    slr_port_close(port);
    for (uint32_t i = 0; i < COUNT; ++i)
        slr_ring_destroy(ring[i]);
    slr_device_close(device);
}

// ---- as documented -------------------------------------------------------------------------------------------------

static uint64_t round_to(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

// docs/contract/memory.md.
static uint64_t documented_bytes(const slr_ring_desc *desc, uint64_t shards)
{
    uint64_t m = round_to(16 + desc->message_bytes, 16), r = round_to(16 + desc->reply_bytes, 16), q = 1;
    while (q < desc->queue_size)
        q *= 2;
    uint64_t states = (desc->instances + shards - 1) / shards * round_to(desc->state_bytes, 16);
    uint64_t port = 3 * 1024 + q * (m + r + 1);
    return 1024 + shards * (33 * 1024 + states + desc->queue_size * (m + 8) + desc->max_ports * port);
}

static slr_status ignore(void *user, const slr_delivery *delivery)
{
    (void)user;
    (void)delivery;
    return SLR_OK;
}

// All that may be used when all ports have come.
static void check_documented(slr_device *device, slr_ring_desc desc)
{
    desc.name = "documented";
    desc.on_message = ignore;
    uint64_t before = slri_share_counted().bytes;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port[MB_MAX_PORTS];
    unsigned char *message = calloc(1, desc.message_bytes);
    for (uint32_t i = 0; i < desc.max_ports; ++i) {
        port[i] = open_port(device);
        must(slr_send(port[i], address_of(ring, 0), message, desc.message_bytes, LONG));
    }
    uint64_t counted = slri_share_counted().bytes - before, documented = documented_bytes(&desc, ring->shards);
    print_message("queue %u, message %u, reply %u, ports %u, instances %u, state %u: counted %llu, documented %llu\n",
                  desc.queue_size, desc.message_bytes, desc.reply_bytes, desc.max_ports, desc.instances,
                  desc.state_bytes, (unsigned long long)counted, (unsigned long long)documented);
    assert_in_range(counted, documented * 7 / 10, documented);
    for (uint32_t i = 0; i < desc.max_ports; ++i)
        slr_port_close(port[i]);
    free(message);
    slr_ring_destroy(ring);
}

static void memory_is_as_documented(void **state)
{
    (void)state;
    static const struct {
        uint32_t queue, message, reply, ports, instances, state;
    } of[] = {{4, 64, 64, 1, 1, 16},       {1, 1, 1, 1, 1, 0},           {4096, 64, 64, 64, 1, 16},
              {4096, 4, 4, 8, 1, 4},       {100, 1000, 0, 3, 1, 0},      {1000, 16, 4000, 5, 1, 100},
              {64, 48, 48, 16, 1000, 40},  {7, 5, 100000, 2, 3, 100000}, {1u << 16, 100, 100, 2, 1, 0},
              {2, 200, 200, 256, 100, 200}};
    slr_device *device = open_device("cpu");
    for (size_t i = 0; i < sizeof of / sizeof of[0]; ++i) {
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        desc.queue_size = of[i].queue;
        desc.message_bytes = of[i].message;
        desc.reply_bytes = of[i].reply;
        desc.max_ports = of[i].ports;
        desc.instances = of[i].instances;
        desc.state_bytes = of[i].state;
        check_documented(device, desc);
    }
    slr_device_close(device);
}

// ---- large messages ------------------------------------------------------------------------------------------------

static slr_status echo_ends(void *user, const slr_delivery *delivery)
{
    (void)user;
    const unsigned char *message = delivery->message;
    return message[0] == message[delivery->bytes - 1] ? slr_reply_to(delivery, message, delivery->bytes) : SLR_INVALID;
}

// A lane, a reply lane and a pool are memory; the other ports' lanes are not, until these come.
static void check_large(slr_device *device, uint32_t bytes, uint32_t overflow)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "large";
    desc.on_message = echo_ends;
    desc.message_bytes = desc.reply_bytes = bytes;
    desc.queue_size = 4;
    desc.overflow = overflow;
    uint64_t before, launched, called, again;
    count_mappings(&before);
    slr_ring *ring = start_ring(device, &desc);
    count_mappings(&launched);
    slr_port *port = open_port(device), *other = open_port(device);
    unsigned char *message = calloc(1, bytes), *reply = calloc(1, bytes);
    count_mappings(&called);
    uint64_t slots = overflow >= SLR_OVERFLOW_DROP_OLDEST ? 8 : 4;
    assert_in_range(launched - before, 1, (slots + 1) * (bytes + 64ull) + (2 << 20)); // the pool
    for (uint32_t turn = 0; turn < 9; ++turn) {
        message[0] = message[bytes - 1] = (unsigned char)(turn + 1);
        must(slr_call(turn % 2 ? other : port, address_of(ring, 0), message, bytes, reply, bytes, LONG));
        assert_int_equal(reply[0], turn + 1);
        assert_int_equal(reply[bytes - 1], turn + 1);
    }
    count_mappings(&again);
    assert_in_range(again - called, 1, 2 * 2 * slots * (bytes + 64ull) + (2 << 20)); // two ports' lanes, there and back
    free(message);
    free(reply);
    slr_port_close(port);
    slr_port_close(other);
    slr_ring_destroy(ring);
}

static void large_messages_take_the_memory_of_the_ports_that_came(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring *small = start_small(device, 0); // the workers' stacks are there, and mappings that others share
    static const uint32_t overflow[] = {SLR_OVERFLOW_BLOCK, SLR_OVERFLOW_REJECT, SLR_OVERFLOW_DROP_OLDEST,
                                        SLR_OVERFLOW_DROP_LOWEST};
    for (uint32_t i = 0; i < 4; ++i) {
        check_large(device, 1 << 20, overflow[i]);
        if (IS_PLAIN || i == 0)
            check_large(device, 16 << 20, overflow[i]);
    }
    slr_ring_destroy(small);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_ring_kernels_share_mappings_and_pages),
        cmocka_unit_test(those_of_the_default_size_take_few_pages),
        cmocka_unit_test(memory_is_as_documented),
        cmocka_unit_test(large_messages_take_the_memory_of_the_ports_that_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
