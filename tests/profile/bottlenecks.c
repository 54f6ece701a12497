// SPDX-License-Identifier: Apache-2.0
// bottlenecks RULE yes|no: a program that has one bottleneck, or does the same work without it. What each is for
// `slipring profile` to say.
#include "try.h"

#include <stdbool.h>
#include <string.h>

// Each thread takes `rounds` steps.
static const char source[] = "__global__ void work(float *x, int rounds)\n"
                             "{\n"
                             "    float v = x[threadIdx.x];\n"
                             "    for (int i = 0; i < rounds; ++i)\n"
                             "        v = v * 0.5f + 1.0f;\n"
                             "    x[threadIdx.x] = v;\n"
                             "}\n";

enum { THREADS = 64, LONG_ROUNDS = 200, BIG = 1 << 20 };

static slr_device *device;
static slr_stream *stream;
static slr_kernel *kernel;
static slr_buffer *buffer;
static float host[BIG];

static void launch(uint32_t blocks, int rounds)
{
    TRY(SLR_LAUNCH(stream, kernel, SLR_GRID(blocks, THREADS, 0), buffer, rounds));
}

static void finish(void)
{
    TRY(slr_stream_finish(stream, 60 * SECOND));
}

// ---- one a rule ----------------------------------------------------------------------------------------------------

static void transfer_bound(bool bad)
{
    for (int i = 0; i < 20; ++i) {
        TRY(slr_buffer_write(buffer, 0, host, bad ? sizeof host : 256));
        launch(4, bad ? 1 : LONG_ROUNDS);
        TRY(slr_buffer_read(buffer, 0, host, bad ? sizeof host : 256));
    }
}

static void launch_bound(bool bad)
{
    for (int i = 0; i < (bad ? 200 : 4); ++i)
        launch(bad ? 1 : 50, bad ? 4 : LONG_ROUNDS);
    finish();
}

static void low_utilisation(bool bad)
{
    for (int i = 0; i < 5; ++i)
        launch(bad ? 1 : 16, bad ? 16 * LONG_ROUNDS : LONG_ROUNDS);
    finish();
}

static slr_status slow(void *user, const slr_delivery *delivery)
{
    (void)user, (void)delivery;
    for (volatile int i = 0; i < 20000; ++i)
        continue;
    return SLR_OK;
}

static void queue_too_small(bool bad)
{
    slr_ring *ring;
    slr_address to;
    uint32_t word = 0;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "slow";
    desc.on_message = slow;
    desc.message_bytes = sizeof word;
    desc.queue_size = bad ? 4 : 1024;
    TRY(slr_ring_create(device, &desc, &ring));
    TRY(slr_ring_launch(ring));
    TRY(slr_ring_activate(ring, SECOND));
    TRY(slr_ring_get_address(ring, 0, &to));
    for (int i = 0; i < 500; ++i)
        TRY(slr_send(NULL, to, &word, sizeof word, 10 * SECOND));
    TRY(slr_ring_close_input(ring));
    TRY(slr_ring_wait(ring, SLR_RING_TERMINATED, 60 * SECOND));
    slr_ring_destroy(ring);
}

static void stalls(bool bad)
{
    for (int i = 0; i < 150; ++i) {
        launch(1, LONG_ROUNDS);
        if (bad)
            finish();
    }
    finish();
}

static void allocations(bool bad)
{
    for (int i = 0; i < 150; ++i) {
        slr_buffer *own = buffer;
        if (bad)
            TRY(slr_buffer_create(device, THREADS * sizeof(float), &own));
        TRY(SLR_LAUNCH(stream, kernel, SLR_GRID(1, THREADS, 0), own, 4));
        if (bad)
            slr_buffer_destroy(own);
    }
    finish();
}

static const struct {
    const char *name;
    void (*run)(bool bad);
} rules[] = {
    {"transfer-bound", transfer_bound},   {"launch-bound", launch_bound},     {"low utilisation", low_utilisation},
    {"queue too small", queue_too_small}, {"synchronisation stalls", stalls}, {"allocation in a loop", allocations},
};

int main(int argc, char **argv)
{
    slr_program *program;
    TRY(slr_device_open("cpu?engine=interpreted&threads=2&unified=0", NULL, &device));
    TRY(slr_stream_default(device, &stream));
    TRY(slr_program_from_text(device, "work.cu", source, NULL, &program));
    TRY(slr_program_get_kernel(program, NULL, &kernel));
    TRY(slr_buffer_create(device, sizeof host, &buffer));
    for (size_t i = 0; i < sizeof rules / sizeof *rules && argc == 3; ++i)
        if (strcmp(rules[i].name, argv[1]) == 0)
            rules[i].run(strcmp(argv[2], "yes") == 0);
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_device_close(device);
    return 0;
}
