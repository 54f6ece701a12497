// SPDX-License-Identifier: Apache-2.0
// Ring kernels, persistent or as SLIPRING_SOAK_DEVICE says, for as long as one likes (SLIPRING_SOAK_S seconds; 3):
// random launches, pauses, snapshots, failures, ordinary kernels, rests in which groups end, and terminations with
// messages under way. Nothing is lost or told twice, and what the process holds does not grow.
#include "ring/ring_test.h"

#include "base/thread.h"

#include <dirent.h>

#define SPEC "opencl:0?ring=persistent"
#define SEED 20u
enum { RINGS = 9, INSTANCES = 5, POISONED = 0xdead };

static const char source[] = "struct message { unsigned value, port; };\n"
                             "struct count { unsigned one, other; };\n"
                             "__ring__ void counts(struct count *self, const struct message *in)\n"
                             "{\n"
                             "    self->one += 1;\n"
                             "    self->other += 7u / (in->value == 0xdeadu ? 0u : 1u);\n"
                             "    struct message out = {in->value ^ in->port, self->one};\n"
                             "    ring_reply(&out);\n"
                             "}\n"
                             "__ring__ void sums(struct count *self, const struct message *in)\n"
                             "{\n"
                             "    for (unsigned i = 0; i < (in->value & 1023u); ++i) self->one = self->one * 5u + i;\n"
                             "    struct message out = {in->value ^ in->port, self->one};\n"
                             "    ring_reply(&out);\n"
                             "}\n"
                             "__global__ void add_one(unsigned *to) { to[threadIdx.x] += 1u; }\n";

struct world {
    slr_device *device;
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *buffer;
    uint32_t launches, random, names;
    struct resident {
        slr_ring *ring; // NULL: none
        slr_port *port;
        uint64_t sent, received; // of this port; every message is answered, be it by a notice
        bool poisons, paused;
    } resident[RINGS];
};

static uint32_t pick(struct world *w, uint32_t below)
{
    w->random = w->random * 1664525u + 1013904223u;
    return (w->random >> 8) % below;
}

static void begin(struct world *w, struct resident *r)
{
    char name[32];
    snprintf(name, sizeof name, "soak%u", w->names++);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.program = w->program;
    desc.handler = pick(w, 2) ? "counts" : "sums";
    desc.instances = 1 + pick(w, INSTANCES);
    desc.queue_size = 1u << pick(w, 9);
    *r = (struct resident){.poisons = desc.handler[0] == 'c' && pick(w, 3) == 0};
    if (r->poisons)
        desc.fault_policy = SLR_FAULT_FAIL;
    r->ring = launch_ring(w->device, &desc);
    must(slr_ring_activate(r->ring, LONG));
    r->port = open_port(w->device);
}

// Of one failure a sender and a receiver may be told. It may have come behind a pause, and then it is paused again.
static void revive(struct resident *r)
{
    if (slr_ring_get_state(r->ring) == SLR_RING_IN_FAILURE)
        must(slr_ring_restart(r->ring, SLR_RESTART_INITIAL, LONG));
    if (slr_ring_get_state(r->ring) == SLR_RING_PAUSED)
        must(slr_ring_reactivate(r->ring, LONG));
}

// Takes what has come, or as much as there will be.
static void receive(struct resident *r, uint64_t until)
{
    while (r->received < until) {
        slr_reply head;
        struct message answer;
        slr_status status = slr_receive(r->port, &head, &answer, sizeof answer, LONG);
        if (status == SLR_RING_FAILED) {
            revive(r);
            continue;
        }
        must(status);
        if (head.status == SLR_OK)
            holds(answer.value == (head.correlation ^ 77u));
        else
            holds(head.status == SLR_HANDLER_FAULT && r->poisons);
        ++r->received;
    }
}

static void send_some(struct world *w, struct resident *r)
{
    uint32_t messages = 1 + pick(w, 300);
    for (uint32_t i = 0; i < messages; ++i) {
        uint32_t value = r->poisons && pick(w, 2000) == 0 ? POISONED : 1 + pick(w, 5000);
        struct message message = {value, 77};
        slr_send_options options = {.correlation = value, .priority = SLR_PRIORITY(pick(w, 3))};
        slr_address to = address_of(r->ring, 0);
        slr_status status = slr_send_with(r->port, to, &message, sizeof message, &options, 0);
        if (status == SLR_RING_FAILED) {
            revive(r);
            continue;
        }
        if (status == SLR_FULL)
            break;
        must(status);
        ++r->sent;
    }
}

static void note_undelivered(void *user, const slr_undelivered *message)
{
    (void)message;
    ++*(uint64_t *)user;
}

// With what is under way: it is handled, or handed back, where there is no room for its replies at the latest.
static void end(struct world *w, struct resident *r)
{
    uint64_t back = 0;
    slr_ring_stats stats;
    slr_status status = slr_ring_terminate(r->ring, pick(w, 2) * 20 * MS, note_undelivered, &back, &stats);
    must(status);
    check_sum(&stats);
    holds(stats.accepted == r->sent && stats.undelivered == back && stats.pending == 0);
    receive(r, r->sent - back);
    slr_port_close(r->port);
    slr_ring_destroy(r->ring);
    r->ring = NULL;
}

static void change(struct world *w, struct resident *r)
{
    uint32_t pair[2];
    switch (pick(w, 6)) {
    case 0:
        if (slr_ring_get_state(r->ring) == SLR_RING_ACTIVE && slr_ring_deactivate(r->ring, LONG) == SLR_OK) {
            must(slr_ring_snapshot(r->ring, 0, pair, sizeof pair, LONG));
            slr_ring_reactivate(r->ring, LONG); // it may have failed meanwhile
        }
        break;
    case 1:
        must(slr_ring_snapshot(r->ring, 0, pair, sizeof pair, LONG));
        break;
    case 2:
        must(slr_ring_restore(r->ring, 0, NULL, 0, LONG));
        break;
    case 3:
        for (int i = 0; i < 5; ++i, ++w->launches)
            must(SLR_LAUNCH(w->stream, w->kernel, slr_shape_1d_blocks(32, 32), w->buffer));
        break;
    case 4:
        must(slr_stream_finish(w->stream, LONG));
        break;
    default:
        if (pick(w, 20) == 0)
            slri_sleep_ns(120 * MS); // groups end
        else
            receive(r, r->sent);
    }
}

static uint32_t entries_of(const char *folder)
{
    uint32_t entries = 0;
    DIR *open = opendir(folder);
    while (open && readdir(open))
        ++entries;
    if (open)
        closedir(open);
    return entries;
}

static void play(struct world *w, uint64_t ns)
{
    uint64_t deadline = slri_deadline_after(ns);
    while (!slri_passed(deadline)) {
        struct resident *r = &w->resident[pick(w, RINGS)];
        if (!r->ring)
            begin(w, r);
        send_some(w, r);
        change(w, r);
        if (pick(w, 25) == 0)
            end(w, r);
    }
    for (uint32_t i = 0; i < RINGS; ++i)
        if (w->resident[i].ring)
            end(w, &w->resident[i]);
}

static void nothing_is_lost_and_nothing_grows(void **state)
{
    (void)state;
    if (SANITIZED || !is_here("opencl:0"))
        skip();
    const char *asked = getenv("SLIPRING_SOAK_S");
    uint64_t seconds = asked ? strtoull(asked, NULL, 10) : 3;
    struct world *w = calloc(1, sizeof *w);
    w->random = SEED;
    const char *device = getenv("SLIPRING_SOAK_DEVICE");
    must(slr_device_open(device ? device : SPEC, NULL, &w->device));
    slr_device_info info;
    must(slr_device_get_info(w->device, &info));
    if (!device && strstr(info.features, "groups_that_stay=0 "))
        skip();
    must(slr_program_from_text(w->device, "soak.cu", source, NULL, &w->program));
    must(slr_program_get_kernel(w->program, "add_one", &w->kernel));
    must(slr_stream_create(w->device, NULL, &w->stream));
    must(slr_buffer_create(w->device, 32 * 4, &w->buffer));
    play(w, seconds * SECOND / 3); // makes what stays: threads, groups, chunks of memory
    uint32_t threads = entries_of("/proc/self/task"), descriptors = entries_of("/proc/self/fd");
    play(w, seconds * SECOND * 2 / 3);
    // Pools start a thread when one is first short; what leaked would be hundreds.
    assert_in_range(entries_of("/proc/self/task"), 1, threads + 4);
    assert_int_equal(entries_of("/proc/self/fd"), descriptors);
    must(slr_stream_finish(w->stream, LONG));
    uint32_t words[32];
    must(slr_buffer_read(w->buffer, 0, words, sizeof words));
    for (uint32_t i = 0; i < 32; ++i)
        assert_int_equal(words[i], w->launches);
    slr_buffer_destroy(w->buffer);
    slr_stream_destroy(w->stream);
    slr_kernel_destroy(w->kernel);
    slr_program_destroy(w->program);
    slr_device_close(w->device);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_and_nothing_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
