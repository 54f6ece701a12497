// SPDX-License-Identifier: Apache-2.0
// Random chains of kernels: a recorded graph fused, against the same graph as it was recorded. Bit for bit, in every
// buffer that the program holds. `tests_fuse_chains_test 5000 0` plays that many on the first device.
#include "device/device_test.h"

#include <math.h>

enum { N = 300, BUFFERS = 6, MOST_KERNELS = 7, GRID = 3, BLOCK = 128 };

static unsigned long chains[3] = {150, 20, 12}; // on the devices below
static const char *const specs[] = {"cpu?engine=interpreted", "cpu?engine=compiled", "opencl:0"};

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % limit);
}

// Bodies for one element. p, q: what is read; r: what is written, or changed; s: a number. Buffers 0 to 3 are of
// floats, 4 of ints, 5 of shorts; a body is for the types of its buffers.
static const struct {
    const char *text;
    char types[4]; // of p, q and r: f, i, h; -: it is not used
} bodies[] = {
    {"r[i] = s * p[i] + q[i];", "fff"},
    {"r[i] = p[i] < 0 ? -p[i] : p[i] * p[i];", "f-f"},
    {"r[i] += p[i];", "f-f"},
    {"if (p[i] > s) r[i] = q[i];", "fff"},
    {"if (p[i] > q[i]) { r[i] = p[i]; } else { r[i] = q[i]; r[i] = r[i] / 2; }", "fff"},
    {"float v = p[i]; for (int k = 0; k < 3; ++k) v = v * 0.5f + (float)k; r[i] = v;", "f-f"},
    {"float v = p[i], w; w = v + 1; v = w * v; r[i] = v - w;", "f-f"},
    {"r[i] = twice(p[i]) - twice(q[i]) * s;", "fff"},
    {"r[i] = p[i] > 100 ? 100 : p[i] < -100 ? -100 : (int)p[i];", "f-i"},
    {"r[i] = (float)(p[i] % 7) + q[i];", "iff"},
    {"r[i] = p[i] * 3 + i;", "i-i"},
    {"r[i] = (p[i] ^ 21) << (i & 3);", "i-i"},
    {"r[i] = p[i] + (int)threadIdx.x;", "i-h"},
    {"r[i]--; if (r[i] < 0 && p[i] > 0) r[i] = 77;", "i-h"},
    {"switch (p[i] & 3) { case 0: r[i] = 1; break; case 1: r[i] = 2; default: r[i] = r[i] + 5; }", "h-i"},
    {"int k = 0; do { k += 3; } while (k < p[i] % 10); r[i] = k;", "i-i"},
    {"int k = 0; while (k < 9) { k++; if (k == 4) continue; if (p[i] + k > 50) break; } r[i] = k;", "i-i"},
    {"r[i] = fminf(fmaxf(p[i], -2), q[i]);", "fff"},
    {"unsigned u = (unsigned)p[i]; u = u * 2654435761u; r[i] = (int)(u >> 7);", "i-i"},
    {"double d = p[i]; d = d / 3 + 1e-3; r[i] = (float)d;", "f-f"},
    {"bool b = p[i] > 0 && q[i] > 0 || p[i] < -5; r[i] = b ? p[i] : q[i];", "fff"},
    {"long long w = p[i]; w = w * 1000003 - i; r[i] = (int)(w % 1009);", "i-i"},
    {"float w = p[i] * 2 + (r[i] = q[i]); r[i] = w - r[i];", "fff"},
    {"r[i] = r[i]-- * 2 + p[i];", "i-i"},
    {"float a = p[i], b; b = a * 2 + (a = q[i]); r[i] = a + b;", "fff"},
    {"r[i] = p[(i + 1) % n] - q[0];", "fff"},
};
enum { BODIES = sizeof bodies / sizeof *bodies };

struct launch {
    uint32_t body, buffer[3];
    float number;
};

struct chain {
    struct launch launch[MOST_KERNELS];
    uint32_t launches;
    bool strides; // grid-stride loops, and fewer threads than elements
    bool is_dropped[BUFFERS];
};

static uint32_t buffer_of_type(char type)
{
    return type == 'f' ? random_below(4) : type == 'i' ? 4 : 5;
}

static void make_chain(struct chain *chain)
{
    chain->strides = random_below(3) == 0;
    chain->launches = 2 + random_below(MOST_KERNELS - 1);
    for (uint32_t i = 0; i < chain->launches; ++i) {
        struct launch *launch = &chain->launch[i];
        launch->body = random_below(random_below(8) ? BODIES - 1 : BODIES); // neighbours' elements are rare
        for (int k = 0; k < 3; ++k)
            launch->buffer[k] = buffer_of_type(bodies[launch->body].types[k]);
        if (launch->body == BODIES - 1) // no thread writes what another reads
            for (int k = 0; k < 3; ++k)
                launch->buffer[k] = (launch->buffer[2] + (k == 2 ? 0 : 1 + (uint32_t)k)) % 4;
        launch->number = (float)random_below(100) / 9 - 5;
    }
    for (uint32_t k = 0; k < BUFFERS; ++k)
        chain->is_dropped[k] = random_below(3) == 0;
}

// Two kernels for each body: one element a thread, in one of two forms, and a grid-stride loop.
static void write_kernels(char *text, size_t room)
{
    static const char *const frames[] = {
        "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { %s } }\n",
        "int i = threadIdx.x + blockDim.x * blockIdx.x; if (i >= n) return; %s }\n",
        "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { %s } }\n",
    };
    size_t at = (size_t)snprintf(text, room, "__device__ float twice(float x) { float y = x; y += x; return y; }\n");
    for (uint32_t f = 0; f < 2 * BODIES; ++f) {
        uint32_t k = f / 2;
        static const char *const names[] = {"p", "q", "r"};
        at += (size_t)snprintf(text + at, room - at, "__global__ void %c%u(", f % 2 ? 's' : 'k', k);
        for (int b = 0; b < 3; ++b) {
            char type = bodies[k].types[b];
            if (type != '-')
                at += (size_t)snprintf(text + at, room - at, "%s%s *%s, ", b < 2 ? "const " : "",
                                       type == 'f'   ? "float"
                                       : type == 'i' ? "int"
                                                     : "short",
                                       names[b]);
        }
        at += (size_t)snprintf(text + at, room - at, "float s, int n) { ");
        at += (size_t)snprintf(text + at, room - at, frames[f % 2 ? 2 : k % 2], bodies[k].text);
    }
    assert_true(at < room);
}

static slr_buffer *make_buffer(slr_device *device, uint32_t number)
{
    unsigned char bytes[N * 4];
    slr_buffer *buffer;
    for (int i = 0; i < N; ++i) {
        float f = i % 97 == 0 ? (float)NAN : (float)((i * 37 + (int)number * 11) % 201 - 100) / 7;
        int32_t n = (i * 7919 + 13) % 400 - 200;
        int16_t h = (int16_t)(n * 91);
        if (number < 4)
            memcpy(bytes + 4 * i, &f, 4);
        else if (number == 4)
            memcpy(bytes + 4 * i, &n, 4);
        else
            memcpy(bytes + 2 * i, &h, 2);
    }
    must(slr_buffer_create(device, sizeof bytes, &buffer));
    must(slr_buffer_write(buffer, 0, bytes, sizeof bytes));
    return buffer;
}

static void record(slr_stream *stream, slr_program *program, const struct chain *chain, slr_buffer *const *buffer)
{
    for (uint32_t i = 0; i < chain->launches; ++i) {
        const struct launch *launch = &chain->launch[i];
        char name[16];
        slr_kernel *kernel;
        slr_arg args[5];
        uint32_t count = 0;
        snprintf(name, sizeof name, "%c%u", chain->strides ? 's' : 'k', launch->body);
        must(slr_program_get_kernel(program, name, &kernel));
        for (int k = 0; k < 3; ++k)
            if (bodies[launch->body].types[k] != '-')
                args[count++] = slr_arg_buffer(buffer[launch->buffer[k]]);
        args[count++] = slr_arg_float((double)launch->number);
        args[count++] = slr_arg_signed(N);
        must(slr_launch(stream, kernel, SLR_GRID(chain->strides ? 1 : GRID, BLOCK, 0), args, count, NULL));
        slr_kernel_destroy(kernel);
    }
}

// The bytes of all buffers that are held. Gives the launches that were left.
static slr_fusion_info run_chain(slr_device *device, slr_stream *stream, slr_program *program,
                                 const struct chain *chain, bool fuses, unsigned char bytes[BUFFERS][N * 4],
                                 char *source, size_t room)
{
    slr_buffer *buffer[BUFFERS];
    slr_graph *graph;
    slr_fusion_info info = {.launches = chain->launches};
    for (uint32_t k = 0; k < BUFFERS; ++k)
        buffer[k] = make_buffer(device, k);
    must(slr_graph_create(device, &graph));
    must(slr_graph_begin(graph, stream));
    record(stream, program, chain, buffer);
    must(slr_graph_end(graph));
    for (uint32_t k = 0; k < BUFFERS; ++k)
        if (chain->is_dropped[k]) {
            slr_buffer_destroy(buffer[k]);
            buffer[k] = NULL;
        }
    if (fuses)
        must(slr_graph_fuse(graph, &info));
    snprintf(source, room, "%s\n%s", fuses ? info.source : "", fuses ? info.why_not : "");
    if (fuses && strstr(info.why_not, "cannot be"))
        fail_msg("%s", info.why_not);
    for (int i = 0; i < 2; ++i)
        must(slr_graph_launch(graph, stream, NULL, 0, NULL));
    must(slr_stream_finish(stream, LONG));
    for (uint32_t k = 0; k < BUFFERS; ++k) {
        if (buffer[k])
            must(slr_buffer_read(buffer[k], 0, bytes[k], N * 4));
        slr_buffer_destroy(buffer[k]);
    }
    slr_graph_destroy(graph);
    return info;
}

static void compare(const struct chain *chain, unsigned char got[BUFFERS][N * 4], unsigned char want[BUFFERS][N * 4],
                    const char *source)
{
    for (uint32_t k = 0; k < BUFFERS; ++k)
        for (uint32_t i = 0; i < N * 4 && !chain->is_dropped[k]; ++i)
            if (got[k][i] != want[k][i])
                fail_msg("byte %u of buffer %u is %02x, not %02x:\n%s", i, k, got[k][i], want[k][i], source);
}

static void play(uint32_t which)
{
    static char text[32768], source[65536];
    static unsigned char got[BUFFERS][N * 4], want[BUFFERS][N * 4];
    unsigned long before = 0, after = 0;
    if (!is_here(specs[which]) || (which && SANITIZED) || !chains[which])
        return;
    slr_device *device = open_device(specs[which]);
    slr_stream *stream;
    slr_program *program;
    must(slr_stream_create(device, NULL, &stream));
    write_kernels(text, sizeof text);
    must(slr_program_from_text(device, "chains.cu", text, NULL, &program));
    random_state = 26 + which;
    for (unsigned long i = 0; i < chains[which]; ++i) {
        struct chain chain;
        char unused[4];
        make_chain(&chain);
        run_chain(device, stream, program, &chain, false, want, unused, sizeof unused);
        slr_fusion_info info = run_chain(device, stream, program, &chain, true, got, source, sizeof source);
        compare(&chain, got, want, source);
        before += chain.launches;
        after += info.launches;
    }
    assert_true(after * 2 < before + before / 2); // most are joined
    slr_program_destroy(program);
    slr_stream_destroy(stream);
    slr_device_close(device);
}

static void interpreted_chains_give_what_they_gave_unfused(void **state)
{
    (void)state;
    play(0);
}

static void compiled_chains_give_what_they_gave_unfused(void **state)
{
    (void)state;
    play(1);
}

static void opencl_chains_give_what_they_gave_unfused(void **state)
{
    (void)state;
    play(2);
}

int main(int argc, char **argv)
{
    for (int i = 0; argc >= 2 && i < 3; ++i)
        chains[i] = argc == 3 && atoi(argv[2]) != i ? 0 : strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpreted_chains_give_what_they_gave_unfused),
        cmocka_unit_test(compiled_chains_give_what_they_gave_unfused),
        cmocka_unit_test(opencl_chains_give_what_they_gave_unfused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
