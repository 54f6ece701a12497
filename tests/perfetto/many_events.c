// SPDX-License-Identifier: Apache-2.0
// many_events ROUNDS TRACE PROFILE: some of everything that a trace shows, about 130 events a round; writes the trace
// and the profiler's rows.
#include "../profile/try.h"

enum { FILLS = 100, COPIES = 8, LAUNCHES = 4, MESSAGES = 4, THREADS = 64, BYTES = 4096 };

// They have room for all, so that nothing is dropped.
enum { EVENTS_PER_THREAD = 1 << 20 };

static const char source[] = "#include <slipring/device.h>\n"
                             "struct text { unsigned value; };\n"
                             "__ring__ void twice(const struct text *in)\n"
                             "{\n"
                             "    struct text out = {2 * in->value};\n"
                             "    ring_reply(&out);\n"
                             "}\n"
                             "__global__ void work(float *x, int rounds)\n"
                             "{\n"
                             "    for (int i = 0; i < rounds; ++i)\n"
                             "        x[threadIdx.x] = x[threadIdx.x] * 0.5f + 1.0f;\n"
                             "}\n";

static slr_device *device;
static slr_stream *recorded, *launched;
static slr_buffer *filled, *copied;
static slr_graph *list;
static slr_program *program;
static slr_kernel *kernel;
static slr_ring *ring;
static slr_port *port;
static slr_address address;

static void record(void)
{
    static const char zero;
    TRY(slr_graph_create(device, &list));
    TRY(slr_graph_begin(list, recorded));
    for (int i = 0; i < FILLS; ++i)
        TRY(slr_stream_fill(recorded, filled, 0, BYTES / 16, &zero, sizeof zero, NULL));
    TRY(slr_graph_end(list));
}

static void start_ring(void)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    desc.handler = "twice";
    desc.latency_every = 1;
    TRY(slr_ring_create(device, &desc, &ring));
    TRY(slr_ring_launch(ring));
    TRY(slr_ring_activate(ring, SECOND));
    TRY(slr_ring_get_address(ring, 0, &address));
    TRY(slr_port_open(device, &port));
}

static void open_all(void)
{
    TRY(slr_device_open("cpu", NULL, &device));
    TRY(slr_stream_create(device, NULL, &recorded));
    TRY(slr_stream_create(device, NULL, &launched));
    TRY(slr_buffer_create(device, BYTES, &filled));
    TRY(slr_buffer_create(device, BYTES, &copied));
    TRY(slr_program_from_text(device, "many.cu", source, NULL, &program));
    TRY(slr_program_get_kernel(program, "work", &kernel));
    record();
    start_ring();
}

static void play_round(int number)
{
    static char host[BYTES];
    slr_buffer *other;
    slr_region_begin(number % 2 ? "odd \"round\"" : "even round");
    TRY(slr_graph_launch(list, recorded, NULL, 0, NULL));
    TRY(slr_buffer_create(device, BYTES, &other));
    for (int i = 0; i < COPIES; ++i) {
        TRY(slr_buffer_write(other, 0, host, BYTES / COPIES * (size_t)(i + 1)));
        TRY(slr_buffer_read(other, 0, host, BYTES / 2));
    }
    for (int i = 0; i < LAUNCHES; ++i)
        TRY(SLR_LAUNCH(launched, kernel, SLR_GRID(1, THREADS, 0), copied, 10));
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        uint32_t answer;
        TRY(slr_call(port, address, &i, sizeof i, &answer, sizeof answer, 60 * SECOND));
    }
    slr_buffer_destroy(other);
    TRY(slr_stream_finish(recorded, 60 * SECOND));
    TRY(slr_stream_finish(launched, 60 * SECOND));
    slr_region_end();
}

static void close_all(void)
{
    slr_port_close(port);
    TRY(slr_ring_terminate(ring, SECOND, NULL, NULL, NULL));
    slr_ring_destroy(ring);
    slr_graph_destroy(list);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_buffer_destroy(filled);
    slr_buffer_destroy(copied);
    slr_stream_destroy(recorded);
    slr_stream_destroy(launched);
    slr_device_close(device);
}

int main(int argc, char **argv)
{
    slr_trace_desc desc = SLR_TRACE_DESC_INIT;
    slr_trace_stats stats;
    if (argc != 4) {
        fputs("usage: many_events ROUNDS TRACE PROFILE\n", stderr);
        return 2;
    }
    int rounds = atoi(argv[1]);
    desc.events_per_thread = EVENTS_PER_THREAD;
    TRY(slr_trace_start(argv[2], &desc));
    TRY(slr_profile_start());
    open_all();
    for (int i = 0; i < rounds; ++i)
        play_round(i);
    close_all(); // nothing is under way any more
    slr_profile_stop();
    TRY(slr_trace_stop(&stats));
    TRY(slr_profile_write(argv[3]));
    printf("%llu events, %llu dropped\n", (unsigned long long)stats.events, (unsigned long long)stats.dropped);
    return stats.dropped != 0;
}
