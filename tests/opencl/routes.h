// SPDX-License-Identifier: Apache-2.0
// What the tests of routes between ring kernels that never return share: handlers, a device, stages.
#ifndef SLIPRING_TESTS_ROUTES_H
#define SLIPRING_TESTS_ROUTES_H

#include "tests/ring/route_test.h"
#include "tests/opencl/staying.h"

#include "ring/ring.h"

// A stage marks what passes with its bit and counts it. 0xdead faults; 0xbeef runs for as many turns as `port` says.
// `twice` replies twice, to the instance that the value names, too. `forks` sends even values one way, others another.
static const char source[] =
    "struct message { unsigned value, port; };\n"
    "struct count { unsigned count, last; };\n"
    "__ring__ void stage(struct count *self, const struct message *in, unsigned bit)\n"
    "{\n"
    "    self->count += 1;\n"
    "    for (unsigned i = 0; i < (in->value == 0xbeefu ? in->port : 0u); ++i) self->last ^= i * self->count;\n"
    "    self->last = in->value / (in->value == 0xdeadu ? 0u : 1u);\n"
    "    struct message out = {in->value, in->port | bit};\n"
    "    ring_reply(&out);\n"
    "}\n"
    "__ring__ void twice(const struct message *in)\n"
    "{\n"
    "    struct message first = {in->value, in->value % 5u}, second = {in->value, in->value % 7u};\n"
    "    ring_reply(&first);\n"
    "    ring_reply(&second);\n"
    "}\n"
    "__ring__ void forks(const struct message *in, ring_to(struct message) even, ring_to(struct message) odd)\n"
    "{\n"
    "    struct message out = {in->value, 1u};\n"
    "    if (in->value % 2u) ring_send_at(odd, in->value % 3u, &out); else ring_send(even, &out);\n"
    "    if (in->value == 0xbadu) { unsigned none = in->value - 0xbadu; out.value /= none; ring_reply(&out); }\n"
    "    if (in->value % 4u == 0u) ring_reply(&out);\n"
    "}\n";

enum { MOST_STAGES = 4 };

static struct bench { // a device, the program, what stages are bound to
    slr_device *device;
    slr_program *program;
    uint32_t bit[MOST_STAGES];
    slr_binding binding[MOST_STAGES];
} bench;

// Skips where there is no OpenCL, or none on which a kernel can stay.
static inline int set_up(void **state)
{
    (void)state;
    const char *instead = getenv("SLIPRING_TEST_RING_DEVICE"), *spec = instead ? instead : "opencl:0?ring=persistent";
    bench = (struct bench){0};
    setenv("POCL_MAX_PTHREAD_COUNT", "26", 0); // so many groups stay there that ring kernels have several shards
    if ((SANITIZED && !instead) || !is_here(spec))
        return 0;
    bench.device = open_where_kernels_stay(spec);
    if (!bench.device)
        return 0;
    must(slr_program_from_text(bench.device, "routes.cu", source, NULL, &bench.program));
    for (uint32_t i = 0; i < MOST_STAGES; ++i) {
        bench.bit[i] = 1u << i;
        bench.binding[i] = (slr_binding){.name = "bit", .scalar = &bench.bit[i], .bytes = sizeof bench.bit[i]};
    }
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    if (!bench.device)
        return 0;
    slr_program_destroy(bench.program);
    slr_device_close(bench.device);
    return 0;
}

static inline slr_ring_desc describe_handler(const char *name, const char *handler, uint32_t queue_size)
{
    if (!bench.device)
        skip();
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.program = bench.program;
    desc.handler = handler;
    desc.queue_size = queue_size;
    return desc;
}

static inline slr_ring_desc describe(const char *name, uint32_t i, uint32_t queue_size)
{
    slr_ring_desc desc = describe_handler(name, "stage", queue_size);
    desc.bindings = &bench.binding[i];
    desc.binding_count = 1;
    return desc;
}

static inline slr_ring *start(const char *name, uint32_t i, uint32_t queue_size)
{
    slr_ring_desc desc = describe(name, i, queue_size);
    slr_ring *ring = start_ring(bench.device, &desc);
    assert_int_equal(stats_of(ring).mode, SLR_RING_PERSISTENT);
    return ring;
}

static inline void end(slr_ring *ring, uint64_t handled)
{
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, LONG, NULL, NULL, &stats));
    check_sum(&stats);
    assert_int_equal(stats.handled, handled);
    assert_int_equal(stats.pending, 0);
    slr_ring_destroy(ring);
}

static inline void send_some(slr_port *port, slr_ring *to, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; ++i)
        must(send_value(port, address_of(to, i % to->instances), i, LONG));
}

static inline uint32_t count_in(slr_ring *ring, uint32_t instance)
{
    uint32_t pair[2];
    must(slr_ring_snapshot(ring, instance, pair, sizeof pair, LONG));
    return pair[0];
}
static inline slr_ring *start_with(const char *name, const char *handler, uint32_t instances, uint32_t max_replies)
{
    slr_ring_desc desc = describe_handler(name, handler, 512);
    desc.bindings = strcmp(handler, "stage") == 0 ? &bench.binding[0] : NULL;
    desc.binding_count = desc.bindings != NULL;
    desc.instances = instances;
    desc.max_replies = max_replies;
    desc.max_sends = 2;
    return start_ring(bench.device, &desc);
}

#endif
