// SPDX-License-Identifier: Apache-2.0
// Ring kernels on a device for as long as one likes: random launches, pauses, snapshots, failures, ordinary kernels,
// rests in which groups end, and terminations with messages under way. Nothing is lost or told twice, and what the
// process holds does not grow.
#include "gpu.h"

#include "base/thread.h"
#include "../stress/footprint.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG (60 * SECOND) // of waits that are to succeed
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

struct message {
    uint32_t value, port;
};

struct world {
    slr_device *device;
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *buffer;
    uint32_t launches, random, names;
    uint64_t messages, lives;
    struct resident {
        slr_ring *ring; // NULL: none
        slr_port *port;
        slr_address to;
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
    must(slr_ring_create(w->device, &desc, &r->ring));
    must(slr_ring_launch(r->ring));
    must(slr_ring_activate(r->ring, LONG));
    must(slr_port_open(w->device, &r->port));
    must(slr_ring_get_address(r->ring, 0, &r->to));
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
        slr_status status = slr_send_with(r->port, r->to, &message, sizeof message, &options, 0);
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
    holds(stats.accepted == stats.handled + stats.faulted + stats.dropped + stats.undelivered + stats.in_doubt);
    holds(stats.accepted == r->sent && stats.undelivered == back && stats.pending == 0);
    receive(r, r->sent - back);
    w->messages += stats.accepted;
    ++w->lives;
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

// Without those that kernels which stay are on a device that is simulated: they end some time behind their last words.
static uint32_t threads_of(struct world *w)
{
    bool parked = slr_device_park(w->device, LONG) == SLR_OK;
    uint32_t threads = entries_of("/proc/self/task"), before = threads + 1;
    for (uint64_t deadline = slri_deadline_after(LONG); before != threads && !slri_passed(deadline);) {
        slri_sleep_ns(50 * MS);
        before = threads;
        threads = entries_of("/proc/self/task");
    }
    if (parked)
        must(slr_device_resume(w->device));
    return threads;
}

static void open_world(struct world *w, const char *device)
{
    w->random = SEED;
    must(slr_device_open(device, NULL, &w->device));
    must(slr_program_from_text(w->device, "soak.cu", source, NULL, &w->program));
    must(slr_program_get_kernel(w->program, "add_one", &w->kernel));
    must(slr_stream_create(w->device, NULL, &w->stream));
    must(slr_buffer_create(w->device, 32 * 4, &w->buffer));
}

static void close_world(struct world *w)
{
    uint32_t words[32];
    must(slr_stream_finish(w->stream, LONG));
    must(slr_buffer_read(w->buffer, 0, words, sizeof words));
    for (uint32_t i = 0; i < 32; ++i)
        holds(words[i] == w->launches);
    slr_buffer_destroy(w->buffer);
    slr_stream_destroy(w->stream);
    slr_kernel_destroy(w->kernel);
    slr_program_destroy(w->program);
    slr_device_close(w->device);
}

int gpu_soak(const char *device, uint64_t seconds)
{
    struct world *w = calloc(1, sizeof *w);
    slr_device *look;
    if (slr_device_open(device, NULL, &look) != SLR_OK) {
        fprintf(stderr, "%s\n", slr_error_message());
        free(w);
        return GPU_NO_DEVICE;
    }
    slr_device_close(look);
    open_world(w, device);
    play(w, seconds * SECOND / 3); // makes what stays: threads, groups, chunks of memory
    uint32_t threads = threads_of(w), descriptors = entries_of("/proc/self/fd");
    uint64_t bytes = resident_bytes();
    play(w, seconds * SECOND * 2 / 3);
    slr_device_info info; // with kernels made: whether driver and calculator agree on their blocks
    must(slr_device_get_info(w->device, &info));
    uint32_t last_threads = threads_of(w), last_descriptors = entries_of("/proc/self/fd");
    printf("{\"seconds\": %llu, \"messages\": %llu, \"ring_kernels\": %llu, \"launches\": %u,\n"
           " \"threads\": [%u, %u], \"descriptors\": [%u, %u], \"resident_bytes\": [%llu, %llu],\n"
           " \"features\": \"%s\"\n}\n",
           (unsigned long long)seconds, (unsigned long long)w->messages, (unsigned long long)w->lives, w->launches,
           threads, last_threads, descriptors, last_descriptors, (unsigned long long)bytes,
           (unsigned long long)resident_bytes(), info.features);
    // Pools start a thread when one is first short, and drivers open what they need late; what leaked would be
    // hundreds.
    holds(last_threads <= threads + 4);
    holds(last_descriptors <= descriptors + 4);
    close_world(w);
    free(w);
    return GPU_DONE;
}
