// SPDX-License-Identifier: Apache-2.0
// `__global__` kernels compiled and interpreted, through the public API, over many shapes of block: equal bits in every
// buffer. What is written here is what compilers of blocks get wrong: indices that wrap, conditions that part a block,
// values that live across barriers, loops whose counters differ, two and three dimensions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <slipring/slipring.h>

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define ELEMENTS 4096 // of each of the two buffers

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        if ((call) != SLR_OK)                                                                                          \
            fail_msg("%s:%d: %s", __FILE__, __LINE__, slr_error_message());                                            \
    } while (0)

static int all_shapes; // with any argument; else some of them for each kernel, and quickly compiled

struct engine {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *in, *out;
    int32_t result[ELEMENTS];
};

static void open_engine(struct engine *e, const char *spec, const char *text)
{
    static int32_t values[ELEMENTS];
    uint32_t random = 12345;
    for (int i = 0; i < ELEMENTS; i++) {
        random = random * 1664525u + 1013904223u;
        values[i] = (int32_t)(random >> 8) - (1 << 23);
    }
    CHECK(slr_device_open(spec, NULL, &e->device));
    CHECK(slr_stream_default(e->device, &e->stream));
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.optimize = all_shapes ? 2 : 1;
    CHECK(slr_program_from_text(e->device, "agreement.cu", text, &desc, &e->program));
    CHECK(slr_program_get_kernel(e->program, NULL, &e->kernel));
    CHECK(slr_buffer_create(e->device, sizeof values, &e->in));
    CHECK(slr_buffer_create(e->device, sizeof values, &e->out));
    CHECK(slr_buffer_write(e->in, 0, values, sizeof values));
}

static void close_engine(struct engine *e)
{
    slr_buffer_destroy(e->in);
    slr_buffer_destroy(e->out);
    slr_kernel_destroy(e->kernel);
    slr_program_destroy(e->program);
    slr_device_close(e->device);
}

static void run(struct engine *e, slr_shape shape, int n)
{
    uint32_t pattern = 0xabababab;
    CHECK(slr_stream_fill(e->stream, e->out, 0, ELEMENTS * 4, &pattern, 4, NULL));
    CHECK(SLR_LAUNCH(e->stream, e->kernel, shape, e->in, e->out, n));
    CHECK(slr_stream_finish(e->stream, 60 * SECOND));
    CHECK(slr_buffer_read(e->out, 0, e->result, sizeof e->result));
}

static const slr_shape shapes[] = {
    {{0}, {64, 1, 1}, {3, 1, 1}, 0, 0},  {{0}, {1, 1, 1}, {5, 1, 1}, 0, 0},   {{0}, {37, 1, 1}, {2, 1, 1}, 0, 1},
    {{0}, {256, 1, 1}, {2, 1, 1}, 0, 4}, {{0}, {16, 16, 1}, {2, 2, 1}, 0, 0}, {{0}, {8, 4, 2}, {2, 1, 2}, 0, 8},
    {{0}, {1, 32, 1}, {1, 2, 1}, 0, 0},  {{0}, {5, 3, 1}, {3, 2, 1}, 0, 16},
};

static const int sizes[] = {0, 1, 63, 100, 1000};

// clang-format off
#define HEAD "__global__ void k(const int *in, int *out, int n) {\n"
#define PLACE \
    "  int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;\n" \
    "  int t = (tz * blockDim.y + ty) * blockDim.x + tx, threads = blockDim.x * blockDim.y * blockDim.z;\n" \
    "  int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, i = b * threads + t;\n"

static const struct {
    const char *name, *text;
} kernels[] = {
    {"index", HEAD PLACE "if (i < n) out[i] = in[i] + 1;\n}\n"},
    {"early return", HEAD PLACE "if (i >= n) return;\n out[i] = in[i] * 3;\n if (i & 1) out[i] += 5;\n}\n"},
    {"two conditions", HEAD PLACE "if (i > 3 && i < n - 3) out[i] = in[i - 3] + in[i + 3];\n"
                                  "if (tx == 0 || ty == 2) out[i + 2048] = ty;\n}\n"},
    {"chains", HEAD PLACE
     "if (tx > 0 && tx < 7 && ty > 0 && ty < 3) out[i] = in[i] * (int)(gridDim.x + 3 * blockIdx.x + blockDim.y);\n"
     "if (tx == 0 && ty == 0 && tz == 0) out[b + 2048] = gridDim.y * 100 + blockIdx.y;\n"
     "if (tx == 1 || ty == 1 || b == 1) out[i + 1024] = i; else out[i + 1024] = -b;\n"
     "int both = tx > 1 && ty > 0;\n if (both && in[i] > 0 && i < n) out[i + 3000] = both;\n}\n"},
    {"either returns", HEAD PLACE "if (i >= n || tx < 1) return;\n out[i] = in[i];\n}\n"},
    {"barrier", HEAD "__shared__ int s[512];\n" PLACE
     "s[t] = in[i];\n __syncthreads();\n out[i] = s[threads - 1 - t] - s[(t + 1) % threads];\n}\n"},
    {"tree", HEAD "__shared__ int s[512];\n" PLACE
     "s[t] = i < n ? in[i] : 7;\n __syncthreads();\n"
     "for (int step = threads / 2; step > 0; step >>= 1) {\n"
     "  if (t < step) s[t] += s[t + step];\n  __syncthreads();\n}\n"
     "if (t == 0) out[b] = s[0];\n}\n"},
    {"private across barriers", HEAD "__shared__ int s[512];\n" PLACE
     "int a = in[i], c = a ^ t;\n for (int r = 0; r < 5; r++) {\n"
     "  s[t] = a + r;\n  __syncthreads();\n  a += s[(t + r) % threads] * 3;\n  c = c * 5 + a;\n  __syncthreads();\n}\n"
     "out[i] = a ^ c;\n}\n"},
    {"scan", HEAD "__shared__ int s[2][512];\n" PLACE
     "int from = 0;\n s[0][t] = in[i];\n __syncthreads();\n"
     "for (int d = 1; d < threads; d *= 2) {\n"
     "  if (t >= d) s[1 - from][t] = s[from][t] + s[from][t - d];\n  else s[1 - from][t] = s[from][t];\n"
     "  from = 1 - from;\n  __syncthreads();\n}\n out[i] = s[from][t];\n}\n"},
    {"divergent loops", HEAD PLACE
     "int x = in[i] & 15, sum = 0;\n while (x > 0) { sum += x * x; x -= 1 + (tx & 1); if (sum > 300) break; }\n"
     "for (int q = 0; q < 8; q++) { if (q == (t & 7)) continue; sum = sum * 3 + q; }\n out[i] = sum;\n}\n"},
    {"grid stride", HEAD PLACE
     "int all = threads * gridDim.x * gridDim.y * gridDim.z;\n"
     "for (int q = i; q < n; q += all) out[q] = in[q] - q;\n}\n"},
    {"rows", HEAD PLACE
     "if (ty > 0) { int m = ty * 100; for (int q = 0; q < ty; q++) m += in[q + tx]; out[i] = m; }\n"
     "else if (tx < 3) out[i] = -tx;\n}\n"},
    {"wrapping index", HEAD PLACE
     "unsigned w = (unsigned)tx + 4294967290u + (unsigned)(i - tx);\n out[i] = in[w % 4096u] ^ (int)w;\n"
     "unsigned long long far = (unsigned long long)w;\n if (far < 4000000000ull) out[i] += in[(w + 7u) % 4096u];\n}\n"},
    {"signed wrap", HEAD PLACE
     "int w = tx + 2147483640;\n if (w < 0) out[i] = w; else out[i] = (int)((long long)w * 3 % 1000);\n}\n"},
    {"backwards", HEAD PLACE "int r = threads - 1 - t;\n if (r >= 2) out[b * threads + r] = in[r] + t;\n}\n"},
    {"strided", HEAD PLACE "int q = i * 3;\n if (q < 4096) out[q] = in[(tx << 2) & 4095];\n}\n"},
    {"local arrays", HEAD "__shared__ int s[512];\n" PLACE
     "int a[4];\n for (int q = 0; q < 4; q++) a[q] = in[i] + q * tx;\n s[t] = a[t & 3];\n __syncthreads();\n"
     "a[1] += s[threads - 1 - t];\n out[i] = a[0] + a[1] * 2 + a[2] * 3 + a[3] * 4;\n}\n"},
    {"device functions", "__device__ int twice(int x) { return x > 9 ? x * 2 : threadIdx.x; }\n"
     "__device__ void put(int *to, int at, int x) { to[at] = twice(x) + blockIdx.x; }\n"
     HEAD PLACE "put(out, i, in[i]);\n}\n"},
    {"barrier in a function", "__device__ int turn(int *s, int t, int threads, int x) {\n"
     "  s[t] = x;\n  __syncthreads();\n  int y = s[(t + 1) % threads];\n  __syncthreads();\n  return y;\n}\n"
     HEAD "__shared__ int s[512];\n" PLACE "int y = turn(s, t, threads, in[i]);\n"
     "out[i] = turn(s, t, threads, y + tx) - y;\n}\n"},
    {"counting barriers", HEAD PLACE
     "int many = __syncthreads_count(in[i] > 0), all = __syncthreads_and(t >= 0), any = __syncthreads_or(t == 999);\n"
     "out[i] = many * 4 + all * 2 + any;\n}\n"},
    {"uniform branches", HEAD "__shared__ int s[512];\n" PLACE
     "int v = tx;\n if (blockIdx.x & 1) { s[t] = in[i]; __syncthreads(); v += s[threads - 1 - t]; }\n"
     "else v -= n;\n __syncthreads();\n switch (n % 3) { case 0: v *= 2; break; case 1: s[t] = v; __syncthreads(); v = s[threads / 2];\n"
     "default: v ^= 1; }\n out[i] = v;\n}\n"},
    {"return in a loop", HEAD PLACE
     "for (int q = 0; q < 9; q++) { if (in[i] % (q + 2) == 0) { out[i] = q; return; } }\n out[i] = -1;\n}\n"},
    {"parameter changed", HEAD PLACE "n -= tx;\n if (n > 0) out[i] = n;\n}\n"},
    {"division", HEAD PLACE "out[i] = in[i] / (tx + 1) + in[i] % (ty + 1) + (i >> 1) / 3;\n}\n"},
    {"floats", HEAD PLACE "float x = (float)in[i] * 0.37f + (float)tx, y = sqrtf(fabsf(x)) - expf(-(float)ty);\n"
     "double z = (double)x * y + 1e-3;\n out[i] = (int)(y * 100.0f) ^ (int)(z * 7.0);\n}\n"},
    {"histogram", HEAD "__shared__ int bins[32];\n" PLACE
     "if (t < 32) bins[t] = 0;\n __syncthreads();\n atomicAdd(&bins[in[i] & 31], 1);\n __syncthreads();\n"
     "if (t < 32) atomicAdd(&out[64 + t], bins[t]);\n}\n"},
    {"late values", HEAD PLACE
     "int v = 0, u = 1;\n for (int q = 0; q < 4; q++) { out[i] = v + u; v = u + tx; u = u * 2 + q; }\n"
     "out[(i + 2048) & 4095] = u - v;\n}\n"},
    {"uniform load behind a store", HEAD PLACE "out[i] = i;\n if (threads == 1) out[i] += out[b];\n}\n"},
};
// clang-format on

static void compiled_and_interpreted_agree(void **state)
{
    int which = *(int *)*state;
    struct engine compiled = {0}, interpreted = {0};
    open_engine(&compiled, "cpu?engine=compiled", kernels[which].text);
    open_engine(&interpreted, "cpu?engine=interpreted", kernels[which].text);
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    for (size_t s = (size_t)which % (all_shapes ? 1 : 3); s < SHAPES; s += all_shapes ? 1 : 3)
        for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
            run(&compiled, shapes[s], sizes[z]);
            run(&interpreted, shapes[s], sizes[z]);
            for (int i = 0; i < ELEMENTS; i++)
                if (compiled.result[i] != interpreted.result[i])
                    fail_msg("%s, shape %zu, n = %d: element %d is %d compiled, %d interpreted", kernels[which].name, s,
                             sizes[z], i, compiled.result[i], interpreted.result[i]);
        }
    close_engine(&compiled);
    close_engine(&interpreted);
}

int main(int argc, char **argv)
{
    (void)argv;
    all_shapes = argc > 1;
    enum { COUNT = sizeof kernels / sizeof *kernels };
    static int number[COUNT];
    static struct CMUnitTest tests[COUNT];
    for (int i = 0; i < COUNT; i++) {
        number[i] = i;
        tests[i] = (struct CMUnitTest){kernels[i].name, compiled_and_interpreted_agree, NULL, NULL, &number[i]};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
