// SPDX-License-Identifier: Apache-2.0
// `slipring bench latency`, of large payloads: a frame of 1 MiB is made, handled and answered; by reference, where it
// lies in a buffer that is bound, and by copy, where it lies in the message.
#include "bench/bench.h"

#include "bench/ring.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20, WORDS = BYTES / 8, FRAMES = 4, ROUNDS = 24 };

static const char source[] = "#include <slipring/ring_slice.h>\n"
                             "struct look { struct ring_slice frame; };\n"
                             "struct whole { unsigned long word[131072]; };\n"
                             "struct answer { unsigned long sum; };\n"
                             "__ring__ void look_at(const struct look *in, const unsigned long *frames)\n"
                             "{\n"
                             "    const unsigned long *frame = ring_slice_data(frames, in->frame);\n"
                             "    struct answer out = {0};\n"
                             "    for (unsigned i = 0; i < 131072; i += 8)\n"
                             "        out.sum += frame[i];\n"
                             "    ring_reply(&out);\n"
                             "}\n"
                             "__ring__ void take_whole(const struct whole *in)\n"
                             "{\n"
                             "    struct answer out = {0};\n"
                             "    for (unsigned i = 0; i < 131072; i += 8)\n"
                             "        out.sum += in->word[i];\n"
                             "    ring_reply(&out);\n"
                             "}\n";

typedef struct payload {
    bench *bench;
    bench_ring ring;
    slr_buffer *frames;
    bool copies;
    unsigned number;
    unsigned char *frame, *copy; // of the sender; what memcpy copies it to
    double times[ROUNDS];
} payload;

// The sum that the handlers make of a frame filled with the byte.
static uint64_t sum_of(unsigned byte)
{
    return WORDS / 8 * (byte * UINT64_C(0x0101010101010101));
}

static slr_status by_reference(payload *p, unsigned byte, uint64_t *sum)
{
    slr_slice slice = {.offset = (uint64_t)(p->number % FRAMES) * BYTES, .bytes = BYTES};
    void *frame;
    slr_status status = slr_buffer_map(p->frames, slice.offset, BYTES, SLR_MAP_DISCARD, BENCH_TIMEOUT_NS, &frame);
    if (status != SLR_OK)
        return status;
    memset(frame, (int)byte, BYTES);
    status = slr_buffer_unmap(p->frames, frame);
    return status == SLR_OK
               ? slr_call(p->ring.port, p->ring.to, &slice, sizeof slice, sum, sizeof *sum, BENCH_TIMEOUT_NS)
               : status;
}

static slr_status by_copy(payload *p, unsigned byte, uint64_t *sum)
{
    memset(p->frame, (int)byte, BYTES);
    return slr_call(p->ring.port, p->ring.to, p->frame, BYTES, sum, sizeof *sum, BENCH_TIMEOUT_NS);
}

static bool ring_slice(void *context, double *figures)
{
    payload *p = context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        unsigned byte = p->number % 251;
        uint64_t sum = 0, start = clock_ns();
        slr_status status = p->copies ? by_copy(p, byte, &sum) : by_reference(p, byte, &sum);
        if (status != SLR_OK) {
            say_failure(status, "a frame of 1 MiB");
            return false;
        }
        p->times[i] = (double)(clock_ns() - start);
        if (sum != sum_of(byte)) {
            say("a frame of 1 MiB: the reply is wrong");
            return false;
        }
        p->number++;
    }
    measure_sort(p->times, ROUNDS);
    figures[0] = measure_quantile(p->times, ROUNDS, 0.5) / 1000;
    return true;
}

// Made as the frames are, then copied once, by the calling thread.
static bool copy_slice(void *context, double *figures)
{
    payload *p = context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t start = clock_ns();
        memset(p->frame, (int)i, BYTES);
        memcpy(p->copy, p->frame, BYTES);
        __asm__ volatile("" : : "r"(p->copy) : "memory"); // it is read, as far as the compiler knows
        p->times[i] = (double)(clock_ns() - start);
    }
    measure_sort(p->times, ROUNDS);
    figures[0] = measure_quantile(p->times, ROUNDS, 0.5) / 1000;
    return true;
}

static slr_status open_ring(payload *p)
{
    const slr_binding binding = {.name = "frames", .buffer = p->frames};
    const slr_reference reference = {.field = "frame", .binding = "frames"};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_status status = slr_program_from_text(p->bench->device, "payload.cu", source, NULL, &p->ring.program);
    if (status != SLR_OK)
        return status;
    desc.program = p->ring.program;
    desc.handler = p->copies ? "take_whole" : "look_at";
    desc.bindings = &binding;
    desc.binding_count = desc.reference_count = p->copies ? 0 : 1;
    desc.references = &reference;
    desc.queue_size = FRAMES;
    desc.max_ports = 1;
    return bench_ring_start(p->bench, &desc, &p->ring);
}

static bool measure(payload *p)
{
    return bench_measure(
        p->bench,
        &(bench_case){
            .name = p->copies ? "payload_1MiB_copy" : "payload_1MiB_reference",
            .unit = "us",
            .stats = {"median"},
            .method =
                p->copies
                    ? "The time of slr_call with a message of 1 MiB: the caller fills the message by memset, and the "
                      "handler reads a word of each cache line and replies. Floor: one thread fills as many bytes by "
                      "memset and copies them once by memcpy."
                    : "The time of slr_call with a slice of 1 MiB of a bound buffer: the caller maps the buffer, fills "
                      "the slice by memset and unmaps the buffer, and the handler reads a word of each cache line and "
                      "replies. Floor: one thread fills as many bytes by memset and copies them once by memcpy.",
            .pair = {.value = ring_slice, .floor = copy_slice, .value_context = p, .floor_context = p, .figures = 1}});
}

static bool run(payload *p)
{
    const char *name = p->copies ? "payload_1MiB_copy" : "payload_1MiB_reference";
    if (!bench_wants(p->bench, name))
        return true;
    slr_status status = slr_buffer_create(p->bench->device, FRAMES * BYTES, &p->frames);
    status = status == SLR_OK ? open_ring(p) : status;
    if (status == SLR_UNSUPPORTED || status == SLR_INVALID) // a message of 1 MiB may be more than the device takes
        say("%s: not on this device: %s", name, slr_error_message());
    else if (status != SLR_OK)
        say_failure(status, name);
    bool fine = status == SLR_UNSUPPORTED || status == SLR_INVALID || (status == SLR_OK && measure(p));
    bench_ring_close(&p->ring);
    slr_buffer_destroy(p->frames);
    return fine;
}

bool bench_payload(bench *bench)
{
    bool fine = true;
    unsigned char *memory = bench_lines(2 * BYTES);
    for (unsigned copies = 0; copies < 2 && fine; copies++) {
        payload *p = memory_take(1, sizeof *p);
        *p = (payload){.bench = bench, .copies = copies != 0, .frame = memory, .copy = memory + BYTES};
        fine = run(p);
        free(p);
    }
    free(memory);
    return fine;
}
