// SPDX-License-Identifier: Apache-2.0
// Functions of a warp and threads that meet in diverged flow, compiled and interpreted: equal bits, or both a fault.
// Every function over blocks of 1 to 1,024 threads with any argument, over some sizes without.
#include "engines.h"

#define MOST_WORDS 65536
static uint32_t words = MOST_WORDS;

// clang-format off
#define HEAD \
    "__global__ void k(const int *in, int *out, int n) {\n" \
    "  int tx = threadIdx.x, threads = blockDim.x * blockDim.y * blockDim.z;\n" \
    "  int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + tx, lane = t & 31;\n" \
    "  int i = blockIdx.x * threads + t, at = i * 24;\n" \
    "  int x = in[i]; (void)x; (void)lane; (void)at; (void)n;\n"

struct text {
    const char *name, *text;
    int fails; // a fault on both engines
};

static const struct text functions[] = {
    {"shuffles of all types", HEAD
     "float f = x * 0.5f; double d = x * 0.25; unsigned u = x * 3u; long long l = (long long)x << 20; unsigned long long v = l ^ u;\n"
     "out[at++] = __shfl_sync(~0u, x, 5);\n out[at++] = __shfl_sync(~0u, x, lane * 7, 8);\n"
     "out[at++] = __float_as_int(__shfl_up_sync(~0u, f, 3));\n out[at++] = __float_as_int(__shfl_down_sync(~0u, f, 9, 16));\n"
     "out[at++] = (int)__shfl_xor_sync(~0u, u, 13);\n out[at++] = (int)(__shfl_down_sync(~0u, l, lane & 7, 32) >> 16);\n"
     "out[at++] = (int)(__shfl_up_sync(~0u, v, 1, 4) >> 8);\n out[at++] = (int)(__shfl_xor_sync(~0u, d, 1, 2) * 4);\n"
     "out[at++] = __shfl_sync(~0u, (long long)tx * 3, 2) == 6;\n out[at++] = (int)(__shfl_xor_sync(~0u, (unsigned long long)t << 40, 1) >> 33);\n out[at++] = __shfl_up_sync(~0u, tx, n & 7);\n"
     "out[at++] = __shfl_down_sync(~0u, x, -1);\n out[at++] = __shfl_xor_sync(~0u, x, 40);\n out[at++] = __shfl_sync(~0u, x, -3, 16);\n"
     "for (int w = 1; w <= 32; w *= 2) out[at++] = __shfl_sync(~0u, x, x, w) ^ __shfl_down_sync(~0u, x, w / 2, w);\n}\n", 0},
    {"votes, matches, reductions", HEAD
     "unsigned m = lane < 16 ? 0xffffu : 0xffff0000u;\n"
     "out[at++] = (int)__ballot_sync(~0u, x > 0);\n out[at++] = __all_sync(~0u, t < 40);\n out[at++] = __any_sync(~0u, t == 33);\n"
     "out[at++] = (int)__match_any_sync(~0u, x & 3);\n out[at++] = (int)__match_any_sync(~0u, (double)(x & 1) - 0.0);\n"
     "out[at++] = __reduce_add_sync(~0u, x);\n out[at++] = (int)__reduce_add_sync(~0u, (unsigned)x);\n"
     "out[at++] = __reduce_min_sync(~0u, x);\n out[at++] = __reduce_max_sync(~0u, x);\n out[at++] = (int)__reduce_max_sync(~0u, (unsigned)x);\n"
     "out[at++] = (int)__reduce_and_sync(~0u, (unsigned)x | 0xff);\n out[at++] = (int)__reduce_or_sync(~0u, (unsigned)x);\n"
     "out[at++] = (int)__reduce_xor_sync(~0u, (unsigned)x);\n out[at++] = (int)__activemask();\n __syncwarp();\n"
     "out[at++] = (int)__ballot_sync(m, x & 1);\n out[at++] = __reduce_add_sync(m, x & 255);\n out[at++] = __shfl_xor_sync(m, x, 3);\n"
     "out[at++] = __any_sync(m, lane == 20);\n out[at++] = __all_sync(m, lane > 15);\n out[at++] = (int)__match_any_sync(m, x & 1);\n}\n", 0},
    {"some take part", HEAD
     "int v = -1; unsigned odd = __ballot_sync(~0u, lane & 1);\n"
     "if (lane & 1) { v = __shfl_down_sync(odd, x, 2); v ^= __popc(__activemask()); } else v = __reduce_add_sync(~odd, x & 15);\n"
     "out[at++] = v;\n unsigned low = __ballot_sync(~0u, (x & 7) < 3);\n"
     "if ((x & 7) < 3) { int leader = __ffs(low) - 1; v = __shfl_sync(low, x, leader);\n"
     "  if (lane == leader) { __syncwarp(1u << leader); v++; } __syncwarp(low); out[at + 1] = __shfl_xor_sync(low, v, 1); }\n"
     "out[at] = v;\n}\n", 0},
};

static const struct text patterns[] = {
    {"block reduction", "__device__ int warp_sum(int v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(~0u, v, o); return v; }\n"
     "__device__ int block_sum(int v, int t, int threads) {\n __shared__ int part[32];\n int warp = t / warpSize;\n v = warp_sum(v);\n"
     " if (t % warpSize == 0) part[warp] = v;\n __syncthreads();\n v = t < (threads + 31) / 32 ? part[t] : 0;\n if (warp == 0) v = warp_sum(v);\n return v; }\n"
     HEAD "int v = block_sum(i < n ? x : 0, t, threads);\n if (t == 0) out[blockIdx.x] = v;\n out[100 + i] = v;\n}\n", 0},
    {"early return", HEAD "if (i >= n) return;\n for (int o = 16; o > 0; o /= 2) x += __shfl_xor_sync(~0u, x, o);\n out[i] = x;\n}\n", 0},
    {"first warp", HEAD "if (t < 32) { int v = in[t];\n for (int o = 1; o < 32; o *= 2) { int u = __shfl_up_sync(~0u, v, o); if (lane >= o) v += u; }\n out[i] = v; }\n"
     "else out[i] = -x;\n}\n", 0},
    {"trips differ", HEAD "int v = 0, left = x & 15;\n while (__any_sync(~0u, left > 0)) { v += __shfl_xor_sync(~0u, left, 1); left -= left > 0; if (v > 200) v -= 100; }\n out[i] = v;\n}\n", 0},
    {"masks of those who stay", HEAD "int v = 0; unsigned m = ~0u;\n for (int q = 0; q < 40; q++) {\n m = __ballot_sync(m, q < (x & 31));\n if (q >= (x & 31)) break;\n"
     " v += __popc(m) + __shfl_sync(m, q + lane, __ffs(m) - 1);\n if (v & 1) continue;\n v += 3; }\n out[i] = v;\n}\n", 0},
    {"active in a loop", HEAD "int v = 0;\n for (int q = 0; q < lane; q++) v += __popc(__activemask()) * q;\n out[i] = v;\n}\n", 0},
    {"switch", HEAD "int v = 0, s = x & 3; unsigned m0 = __ballot_sync(~0u, s == 0), m1 = __ballot_sync(~0u, s == 1 || s == 0), m3 = __ballot_sync(~0u, s == 3);\n"
     "switch (s) { case 0: v = __shfl_sync(m0, x, __ffs(m0) - 1);\n case 1: v += __reduce_add_sync(m1, 7); break;\n case 3: v = __popc(__ballot_sync(m3, 1)); break;\n default: v = -5; }\n"
     "out[i] = v;\n}\n", 0},
    {"return in a loop", HEAD "__shared__ int s[1024];\n"
     "for (int q = 0; q < 6; q++) {\n s[t] = x + q;\n __syncthreads();\n if (q == 3 && n > 50) { out[i] = s[(t + 1) % threads]; return; }\n __syncthreads(); }\n out[i] = -x;\n}\n", 0},
    {"some return in a loop", HEAD "int sum = 0;\n for (int q = 0; q < 8; q++) {\n if ((x & 7) == q) { out[i] = sum; return; }\n sum += __syncthreads_count(x & 8);\n"
     " sum ^= __shfl_down_sync(~0u, sum + lane, 1); }\n out[i] = sum + 1000;\n}\n", 0},
    {"barrier of all though nobody knows", HEAD "__shared__ int go;\n int turns = 0;\n if (t == 0) go = n & 7;\n __syncthreads();\n"
     "int mine = go + (x & 0);\n while (mine > 0) { __syncthreads(); mine--; turns += __syncthreads_or(x & 1); }\n out[i] = turns;\n}\n", 0},
    {"function that returns early", "__device__ int f(int *s, int t, int threads, int n, int x) { int a[3]; a[t % 3] = x;\n if (n < 5) return -1;\n s[t] = x;\n __syncthreads();\n x = s[threads - 1 - t];\n"
     " if (n > 500) { __syncthreads(); return x + 1 + a[0]; }\n __syncthreads();\n return x - a[1]; }\n"
     HEAD "__shared__ int s[1024];\n int v = f(s, t, threads, n, x);\n v += f(s, t, threads, n + 3, v);\n out[i] = v;\n}\n", 0},
    {"syncwarp orders shared memory", HEAD "__shared__ int s[1024];\n s[t] = x;\n __syncwarp();\n int v = s[(t ^ 1) < threads ? (t ^ 1) : t];\n __syncwarp();\n s[t] = v * 3;\n __syncwarp();\n out[i] = s[t & ~1];\n}\n", 0},
    {"own lane left out", HEAD "out[i] = __shfl_sync(0xfffffffeu, x, 1);\n}\n", 1},
    {"masks that differ", HEAD "out[i] = __shfl_sync(lane == 0 ? ~0u : 0xfffffffeu | (1u << lane), x, 1);\n}\n", 1},
    {"no width", HEAD "out[i] = __shfl_sync(~0u, x, 1, n | 3);\n}\n", 1},
    {"late lanes", HEAD "int v = 0;\n if (lane & 1) v = __shfl_sync(~0u, x, 1);\n __syncwarp();\n out[i] = v;\n}\n", 1},
    {"diverged barrier", HEAD "if (t & 1) __syncthreads();\n out[i] = x;\n __syncthreads();\n}\n", 1},
};
// clang-format on

static int all_sizes;

static void compare(const struct text *text, const slr_shape *shapes, size_t count)
{
    static const int sizes[] = {3, 100, 1000};
    struct engine c = {0}, r = {0};
    engine_open(&c, "cpu?engine=compiled", text->text, words, 1);
    engine_open(&r, "cpu?engine=interpreted", text->text, words, 1);
    for (size_t s = 0; s < count; s++)
        for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
            slr_status compiled = engine_try(&c, shapes[s], sizes[z]),
                       interpreted = engine_try(&r, shapes[s], sizes[z]);
            if (compiled != interpreted || (compiled == SLR_OK) == text->fails)
                fail_msg("%s, %u x %u, n = %d: %s compiled, %s interpreted: %s", text->name, shapes[s].block[0],
                         shapes[s].block[1], sizes[z], slr_status_name(compiled), slr_status_name(interpreted),
                         slr_error_message());
            if (text->fails) { // a stream that has failed stays so
                engine_close(&c), engine_close(&r);
                return;
            }
            for (uint32_t i = 0; i < words; i++)
                if (c.result[i] != r.result[i])
                    fail_msg("%s, %u x %u, n = %d: element %u is %d compiled, %d interpreted", text->name,
                             shapes[s].block[0], shapes[s].block[1], sizes[z], i, c.result[i], r.result[i]);
        }
    engine_close(&c);
    engine_close(&r);
}

static void functions_agree(void **state)
{
    static const uint32_t some[] = {33};
    // Without vectors compiling takes a third of the time.
    slr_shape *shapes = calloc(1024, sizeof *shapes);
    uint32_t count = all_sizes ? 1024 : sizeof some / sizeof *some;
    for (uint32_t i = 0; i < count; i++)
        shapes[i] =
            (slr_shape){.block = {all_sizes ? i + 1 : some[i], 1, 1}, .grid = {2, 1, 1}, .vector_width = !all_sizes};
    compare(*state, shapes, count);
    free(shapes);
}

static void patterns_agree(void **state)
{
    static const slr_shape shapes[] = {
        {{0}, {77, 1, 1}, {2, 1, 1}, 0, 1},  {{0}, {8, 6, 2}, {2, 1, 1}, 0, 1},    {{0}, {64, 1, 1}, {3, 1, 1}, 0, 0},
        {{0}, {20, 13, 1}, {2, 1, 1}, 0, 0}, {{0}, {1024, 1, 1}, {2, 1, 1}, 0, 0}, {{0}, {1, 40, 1}, {1, 1, 1}, 0, 0},
        {{0}, {31, 1, 1}, {1, 1, 1}, 0, 0},
    };
    size_t one = (size_t)((const struct text *)*state - patterns) % 2;
    compare(*state, all_sizes ? shapes : shapes + one, all_sizes ? sizeof shapes / sizeof *shapes : 1);
}

int main(int argc, char **argv)
{
    (void)argv;
    all_sizes = argc > 1;
    words = all_sizes ? MOST_WORDS : 8192;
    enum { FUNCTIONS = sizeof functions / sizeof *functions, PATTERNS = sizeof patterns / sizeof *patterns };
    static struct CMUnitTest tests[FUNCTIONS + PATTERNS];
    for (int i = 0; i < FUNCTIONS; i++)
        tests[i] = (struct CMUnitTest){functions[i].name, functions_agree, NULL, NULL, (void *)&functions[i]};
    for (int i = 0; i < PATTERNS; i++)
        tests[FUNCTIONS + i] = (struct CMUnitTest){patterns[i].name, patterns_agree, NULL, NULL, (void *)&patterns[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
