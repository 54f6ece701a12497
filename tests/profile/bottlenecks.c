// SPDX-License-Identifier: Apache-2.0
// bottlenecks RULE yes|no [DEVICE]: a program that has one bottleneck, or does the same work without it. What each is
// for `slipring profile` to say.
#include "try.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

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
        launch(4, bad ? 1 : 250 * LONG_ROUNDS);
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

enum { MESSAGES = 2000 };

// Sends them to a slow handler. `before`: so many before it begins, which then are in the mailbox however the threads
// take turns.
static void send_all(uint32_t queue_size, uint32_t latency_every, int before)
{
    slr_ring *ring;
    slr_address to;
    uint32_t word = 0;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "slow";
    desc.on_message = slow;
    desc.message_bytes = sizeof word;
    desc.queue_size = queue_size;
    desc.latency_every = latency_every;
    TRY(slr_ring_create(device, &desc, &ring));
    TRY(slr_ring_launch(ring));
    TRY(slr_ring_get_address(ring, 0, &to));
    for (int i = 0; i < MESSAGES; ++i) {
        if (i == before)
            TRY(slr_ring_activate(ring, 60 * SECOND));
        TRY(slr_send(NULL, to, &word, sizeof word, 60 * SECOND));
    }
    if (before == MESSAGES)
        TRY(slr_ring_activate(ring, 60 * SECOND));
    TRY(slr_ring_close_input(ring));
    TRY(slr_ring_wait(ring, SLR_RING_TERMINATED, 60 * SECOND));
    slr_ring_destroy(ring);
}

static void queue_too_small(bool bad)
{
    send_all(bad ? 4 : 2 * MESSAGES, 0, 0);
}

static void rest(uint64_t ns)
{
    const struct timespec pause = {(time_t)(ns / SECOND), (long)(ns % SECOND)};
    nanosleep(&pause, NULL);
}

static uint32_t waits_begun; // atomic

// On a machine with much else to do a short kernel is over before the host gets to wait for it: that is no wait.
static void await_the_hosts_wait(void *number, slr_status status)
{
    (void)status;
    while (__atomic_load_n(&waits_begun, __ATOMIC_RELAXED) < (uintptr_t)number)
        rest(100000);
    rest(1000000);
}

static void stalls(bool bad)
{
    for (uint32_t i = 1; i <= 150; ++i) {
        if (bad)
            TRY(slr_stream_call(stream, await_the_hosts_wait, (void *)(uintptr_t)i, NULL));
        launch(1, LONG_ROUNDS);
        __atomic_store_n(&waits_begun, i, __ATOMIC_RELAXED);
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

// The same work, recorded.
static void launch_loop(bool bad)
{
    slr_graph *graph;
    TRY(slr_graph_create(device, &graph));
    if (!bad)
        TRY(slr_graph_begin(graph, stream));
    for (int i = 0; i < (bad ? 1200 : 200); ++i)
        launch(1, 4);
    if (!bad) {
        TRY(slr_graph_end(graph));
        for (int i = 0; i < 6; ++i)
            TRY(slr_graph_launch(graph, stream, NULL, 0, NULL));
    }
    finish();
    slr_graph_destroy(graph);
}

static void unpinned(bool bad)
{
    slr_buffer *own;
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    desc.bytes = sizeof host;
    desc.pinned = !bad;
    TRY(slr_buffer_create_with(device, &desc, &own));
    for (int i = 0; i < 10; ++i) {
        TRY(slr_buffer_write(own, 0, host, sizeof host));
        TRY(SLR_LAUNCH(stream, kernel, SLR_GRID(1, THREADS, 0), own, 1));
        TRY(slr_buffer_read(own, 0, host, sizeof host));
    }
    slr_buffer_destroy(own);
}

// ---- rules of networks ---------------------------------------------------------------------------------------------

static void loss_scaling(bool bad)
{
    enum { N = 256 };
    slr_ops *ops;
    slr_scaler *scaler;
    slr_buffer *memory[3], *floats;
    TRY(slr_ops_create(device, NULL, &ops));
    TRY(slr_scaler_create(ops, NULL, &scaler));
    for (int i = 0; i < 3; ++i)
        TRY(slr_buffer_create(device, N * 2, &memory[i]));
    TRY(slr_buffer_create(device, N * 4, &floats));
    slr_tensor x = slr_tensor_1d(SLR_F16, memory[0], N), dy = slr_tensor_1d(SLR_F16, memory[1], N),
               dx = slr_tensor_1d(SLR_F16, memory[2], N), to = slr_tensor_1d(SLR_F32, floats, N);
    for (int i = 0; i < 10; ++i) {
        TRY(slr_ops_activation_backward(ops, stream, SLR_RELU, &x, &dy, &dx, NULL));
        if (!bad)
            TRY(slr_scaler_unscale(scaler, stream, &dx, &to, NULL));
    }
    finish();
    for (int i = 0; i < 3; ++i)
        slr_buffer_destroy(memory[i]);
    slr_buffer_destroy(floats);
    slr_scaler_destroy(scaler);
    slr_ops_destroy(ops);
}

static void deterministic(bool bad)
{
    enum { N = 256 };
    slr_ops *ops;
    slr_buffer *memory[3];
    slr_tensor tensors[3];
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    desc.choice = SLR_CHOICE_BENCHMARK;
    desc.deterministic = bad;
    TRY(slr_ops_create(device, &desc, &ops));
    for (int i = 0; i < 3; ++i) {
        TRY(slr_buffer_create(device, N * N * 4, &memory[i]));
        tensors[i] = slr_tensor_2d(SLR_F32, memory[i], N, N);
    }
    slr_matmul_desc product = SLR_MATMUL_DESC_INIT;
    product.a = &tensors[0], product.b = &tensors[1], product.c = &tensors[2];
    TRY(slr_ops_matmul(ops, stream, &product, NULL));
    finish();
    for (int i = 0; i < 3; ++i)
        slr_buffer_destroy(memory[i]);
    slr_ops_destroy(ops);
}

// ---- rules of order, on any device ---------------------------------------------------------------------------------

static void transfers_in_loop(bool bad)
{
    for (int i = 0; i < 60; ++i) {
        if (bad || i == 0)
            TRY(slr_buffer_write(buffer, 0, host, 4096));
        launch(4, LONG_ROUNDS);
        if (bad || i == 59)
            TRY(slr_buffer_read(buffer, 0, host, 4096));
    }
}

static uint64_t began_ns;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

// For 16 blocks to take about 4 ms, on whatever device this is.
static int long_rounds(void)
{
    uint64_t took = UINT64_MAX;
    for (int i = 0; i < 3; ++i) {
        uint64_t from = now_ns();
        launch(16, 1000);
        finish();
        took = now_ns() - from < took ? now_ns() - from : took;
    }
    uint64_t rounds = 1000 * UINT64_C(4000000) / took;
    return rounds < 100 ? 100 : rounds > 1000000 ? 1000000 : (int)rounds;
}

static void contention(bool bad)
{
    const int rounds = long_rounds();
    enum { STREAMS = 6 };
    slr_stream *streams[STREAMS];
    for (int i = 0; i < STREAMS; ++i)
        TRY(slr_stream_create(device, NULL, &streams[i]));
    // As long as all that went before, compiling too: the rule is about a share of the whole run.
    const uint64_t until_ns = 2 * now_ns() - began_ns;
    do {
        for (int k = 0; k < 10 * STREAMS; ++k)
            TRY(SLR_LAUNCH(streams[bad ? k % STREAMS : 0], kernel, SLR_GRID(16, THREADS, 0), buffer, rounds));
        for (int i = 0; i < STREAMS; ++i)
            TRY(slr_stream_finish(streams[i], 60 * SECOND));
    } while (now_ns() < until_ns);
    for (int i = 0; i < STREAMS; ++i)
        slr_stream_destroy(streams[i]);
}

static void oversubscription(bool bad)
{
    slr_stream *streams[20];
    uint32_t count = bad ? 20 : 2;
    for (uint32_t i = 0; i < count; ++i) {
        TRY(slr_stream_create(device, NULL, &streams[i]));
        TRY(SLR_LAUNCH(streams[i], kernel, SLR_GRID(4, THREADS, 0), buffer, LONG_ROUNDS));
    }
    for (uint32_t i = 0; i < count; ++i) {
        TRY(slr_stream_finish(streams[i], 60 * SECOND));
        slr_stream_destroy(streams[i]);
    }
}

// The host rests three times as long as each launch took, on whatever machine, and 10 ms at least.
static void device_idle(bool bad)
{
    const int rounds = bad ? 1 : long_rounds();
    const uint64_t until = now_ns() + 1200000000;
    for (int i = 0; bad ? i < 30 : now_ns() < until; ++i) {
        const uint64_t from = now_ns();
        for (int k = 0; k < (bad ? 1 : 8); ++k)
            launch(16, rounds);
        finish();
        const uint64_t took = now_ns() - from;
        if (bad)
            rest(3 * took > 10000000 ? 3 * took : 10000000);
    }
}

static void fragmented(bool bad)
{
    enum { PIECES = 16, PIECE = 4096 };
    slr_heap *heap;
    slr_span spans[PIECES], large;
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    desc.max_bytes = desc.chunk_bytes = PIECES * PIECE;
    TRY(slr_heap_create(device, &desc, &heap));
    for (int i = 0; i < PIECES; ++i)
        TRY(slr_heap_take(heap, PIECE, 0, &spans[i]));
    for (int i = 0; i < PIECES; ++i)
        if (bad ? i % 2 == 0 : i < PIECES / 2)
            TRY(slr_heap_give(heap, &spans[i]));
    bool refused = slr_heap_take(heap, 4 * PIECE, 0, &large) != SLR_OK;
    if (!refused)
        TRY(slr_heap_give(heap, &large));
    for (int i = 0; i < PIECES; ++i)
        if (bad ? i % 2 != 0 : i >= PIECES / 2)
            TRY(slr_heap_give(heap, &spans[i]));
    slr_heap_destroy(heap);
    launch(1, 1);
    finish();
}

static void queue_too_large(bool bad)
{
    send_all(bad ? 2 * MESSAGES : 8, 1, bad ? MESSAGES : 0);
}

// Senders find both full: the one holds a backlog of old messages, the other is short.
static void full_mailbox(bool is_deep)
{
    send_all(is_deep ? 1024 : 4, 1, 0);
}

// Each block shape is compiled by itself.
static void compiling(bool bad)
{
    (void)bad; // whether the cache has it is the caller's
    for (uint32_t block = 32; block <= 256; block += 32)
        TRY(SLR_LAUNCH(stream, kernel, SLR_GRID(1, block, 0), buffer, 1));
    finish();
}

// ---- rules of the source: a file of kernels that the report finds again --------------------------------------------

static const char rules_source[] =
    "__global__ void straight(const float *x, float *y, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = x[i] * 2.0f;\n"
    "}\n"
    "__global__ void clamped(const float *x, float *y, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = x[i] > 1.0f ? 1.0f : x[i];\n"
    "}\n"
    "__global__ void strided(const float *x, float *y, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n / 3) y[i] = x[3 * i] + x[i];\n" // one access of three: the line as a whole is not
    "}\n"
    "__global__ void columns(const float *x, float *y)\n"
    "{\n"
    "    __shared__ float tile[32][32];\n"
    "    int t = threadIdx.x % 32, w = threadIdx.x / 32;\n"
    "    for (int k = 0; k < 32; k += 8) tile[k + w][t] = x[(k + w) * 32 + t];\n"
    "    __syncthreads();\n"
    "    for (int k = 0; k < 32; k += 8) y[blockIdx.x * 1024 + (k + w) * 32 + t] = tile[t][k + w];\n"
    "}\n"
    "__global__ void padded(const float *x, float *y)\n"
    "{\n"
    "    __shared__ float tile[32][33];\n"
    "    int t = threadIdx.x % 32, w = threadIdx.x / 32;\n"
    "    for (int k = 0; k < 32; k += 8) tile[k + w][t] = x[(k + w) * 32 + t];\n"
    "    __syncthreads();\n"
    "    for (int k = 0; k < 32; k += 8) y[blockIdx.x * 1024 + (k + w) * 32 + t] = tile[t][k + w];\n"
    "}\n"
    "__global__ void apart(const float *x, float *y, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= n) return;\n"
    "    float v = x[i];\n"
    "    if (i % 2) for (int k = 0; k < 50; ++k) v = v * 0.5f + x[i]; else for (int k = 0; k < 50; ++k) v -= x[i];\n"
    "    y[i] = v;\n"
    "}\n";

static slr_program *rules_program;

static slr_kernel *rule_kernel(const char *name)
{
    slr_kernel *found;
    if (!rules_program) {
        FILE *file = fopen("rules.cu", "w");
        if (!file || fputs(rules_source, file) < 0 || fclose(file) != 0)
            exit(1);
        TRY(slr_program_load(device, "rules.cu", NULL, &rules_program));
    }
    TRY(slr_program_get_kernel(rules_program, name, &found));
    return found;
}

static void run_rule(const char *name, slr_shape shape, bool takes_n)
{
    slr_buffer *in, *out;
    slr_kernel *own = rule_kernel(name);
    TRY(slr_buffer_create(device, sizeof host, &in));
    TRY(slr_buffer_create(device, sizeof host, &out));
    for (int i = 0; i < 10; ++i)
        TRY(takes_n ? SLR_LAUNCH(stream, own, shape, in, out, BIG) : SLR_LAUNCH(stream, own, shape, in, out));
    finish();
    slr_buffer_destroy(in);
    slr_buffer_destroy(out);
    slr_kernel_destroy(own);
}

static void strided_access(bool bad)
{
    run_rule(bad ? "strided" : "straight", SLR_1D_BLOCKS(BIG, 256), true);
}

static void bank_conflicts(bool bad)
{
    run_rule(bad ? "columns" : "padded", SLR_GRID(BIG / 1024, 256, 0), false);
}

static void divergence(bool bad)
{
    run_rule(bad ? "apart" : "straight", SLR_1D_BLOCKS(BIG, 256), true);
}

static void low_occupancy(bool bad)
{
    run_rule("straight", SLR_1D_BLOCKS(BIG, bad ? 4 : 256), true);
}

static void fusable(bool bad)
{
    slr_buffer *x, *y;
    slr_kernel *first = rule_kernel("straight"), *second = rule_kernel("clamped");
    TRY(slr_buffer_create(device, sizeof host, &x));
    TRY(slr_buffer_create(device, sizeof host, &y));
    for (int i = 0; i < 60; ++i) {
        bool is_first = bad ? i % 2 == 0 : i < 30;
        TRY(SLR_LAUNCH(stream, is_first ? first : second, SLR_1D(BIG), is_first ? x : y, is_first ? y : x, BIG));
    }
    finish();
    slr_buffer_destroy(x);
    slr_buffer_destroy(y);
    slr_kernel_destroy(first);
    slr_kernel_destroy(second);
}

// The same kernel there and on a second device.
static void two_devices(bool bad)
{
    slr_device *other;
    slr_program *program;
    slr_kernel *same;
    slr_stream *second;
    slr_buffer *its;
    launch(16, 10);
    finish();
    if (!bad)
        return;
    TRY(slr_device_open("cpu?engine=interpreted", NULL, &other));
    TRY(slr_stream_default(other, &second));
    TRY(slr_program_from_text(other, "work.cu", source, NULL, &program));
    TRY(slr_program_get_kernel(program, NULL, &same));
    TRY(slr_buffer_create(other, sizeof host, &its));
    TRY(SLR_LAUNCH(second, same, SLR_GRID(16, THREADS, 0), its, 10));
    TRY(slr_stream_finish(second, 60 * SECOND));
    slr_buffer_destroy(its);
    slr_kernel_destroy(same);
    slr_program_destroy(program);
    slr_device_close(other);
}

static const struct {
    const char *name;
    void (*run)(bool bad);
} rules[] = {
    {"transfer-bound", transfer_bound},
    {"launch-bound", launch_bound},
    {"tight launch loop", launch_loop},
    {"unpinned transfers", unpinned},
    {"missing loss scaling", loss_scaling},
    {"deterministic mode without reason", deterministic},
    {"low utilisation", low_utilisation},
    {"queue too small", queue_too_small},
    {"synchronisation stalls", stalls},
    {"allocation in a loop", allocations},
    {"transfers in a loop", transfers_in_loop},
    {"contention", contention},
    {"oversubscription", oversubscription},
    {"device idle", device_idle},
    {"two devices", two_devices},
    {"fragmented heap", fragmented},
    {"queue too large", queue_too_large},
    {"full mailbox", full_mailbox},
    {"compiling", compiling},
    {"strided access", strided_access},
    {"bank conflicts", bank_conflicts},
    {"divergence", divergence},
    {"low occupancy", low_occupancy},
    {"kernels that could be one", fusable},
};

int main(int argc, char **argv)
{
    began_ns = now_ns();
    slr_program *program;
    TRY(slr_device_open(argc > 3 ? argv[3] : "cpu?engine=interpreted&threads=2&unified=0", NULL, &device));
    TRY(slr_stream_default(device, &stream));
    TRY(slr_program_from_text(device, "work.cu", source, NULL, &program));
    TRY(slr_program_get_kernel(program, NULL, &kernel));
    TRY(slr_buffer_create(device, sizeof host, &buffer));
    for (size_t i = 0; i < sizeof rules / sizeof *rules && argc >= 3; ++i)
        if (strcmp(rules[i].name, argv[1]) == 0)
            rules[i].run(strcmp(argv[2], "yes") == 0);
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_program_destroy(rules_program);
    slr_device_close(device);
    return 0;
}
