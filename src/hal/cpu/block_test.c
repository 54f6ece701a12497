// SPDX-License-Identifier: Apache-2.0
// __ring_block__ handlers compiled and interpreted: state, replies, sends, buffers and faults are the same, whatever
// the fuel is.
#include "hal/cpu/library_test.h"
#include "lang/compile_test.h"
#include "run/interpreter.h"

#include <stdlib.h>

enum { WORDS = 256, REPLIES = 64, OUTS = 64 };

struct in {
    int n, v[WORDS];
};

// What one call may touch. Equal bytes on both engines.
struct memory {
    long long state[WORDS];
    int buffer[WORDS];
    long long reply[REPLIES];
    unsigned char out[OUTS][16];
};

struct way {
    struct memory memory;
    struct slri_call call;
    struct slri_out outlet[2];
    uint32_t fault;
};

struct kit {
    struct slri_module *module;
    struct slri_cpu_library *library;
    slri_handler *compiled;
    struct slri_interp *interp;
    struct slri_interp_thread *block;
};

#define HEAD                                                                                                           \
    "struct in { int n; int v[256]; }; struct state { long long w[256]; }; struct out { int a; };\n"                   \
    "__ring_block__ void __launch_bounds__(THREADS) h(struct state *s, const struct in *in, int *buf, int k,\n"        \
    "                                                 ring_to(struct out) to) {\n"                                     \
    "  int t = threadIdx.x, x = in->v[t & 255]; (void)x; (void)k; (void)buf; (void)s;\n"

static struct kit open_kit(const char *text, int threads)
{
    char whole[8192];
    struct kit kit = {0};
    snprintf(whole, sizeof whole, "#define THREADS %d\n%s", threads, text);
    kit.module = compile_text(whole);
    if (slri_cpu_compile(kit.module, &kit.library) != SLR_OK)
        fail_msg("%s\n%s", slr_error_message(), text);
    const struct slri_entry *entry = &kit.module->entry[kit.module->entries - 1];
    assert_int_equal(slri_cpu_library_symbol(kit.library, entry->name, &kit.compiled), SLR_OK);
    assert_int_equal(slri_interp_create(kit.module, &kit.interp), SLR_OK);
    assert_int_equal(slri_interp_thread_create(kit.interp, kit.module->entries - 1, &kit.block), SLR_OK);
    return kit;
}

static void close_kit(struct kit *kit)
{
    slri_interp_thread_destroy(kit->block);
    slri_interp_destroy(kit->interp);
    slri_cpu_library_close(kit->library);
    slri_module_destroy(kit->module);
}

static void handle(struct way *w, slri_handler *handler, void *self, const struct in *in, uint64_t fuel)
{
    static int k = 3;
    const struct slri_bound bound[3] = {{w->memory.buffer, sizeof w->memory.buffer}, {&k, sizeof k}, {NULL, 0}};
    w->outlet[0] = w->outlet[1] = (struct slri_out){0};
    struct slri_out out[3] = {{0}, {0}, {w->memory.out[0], 16, OUTS, 0}};
    w->call = (struct slri_call){.state = w->memory.state,
                                 .message = in,
                                 .bound = bound,
                                 .reply_base = (unsigned char *)w->memory.reply,
                                 .reply_mask = REPLIES - 1,
                                 .reply_stride = 8,
                                 .reply_bytes = 8,
                                 .max_replies = REPLIES,
                                 .instance = 9,
                                 .fuel = fuel,
                                 .out = out};
    w->fault = handler(self, &w->call);
    w->outlet[0] = out[2];
}

static void fill(struct way *w, struct in *in, int seed)
{
    memset(w, 0, sizeof *w);
    in->n = 100 + seed;
    for (int i = 0; i < WORDS; i++) {
        in->v[i] = (i * 37 + seed * 11) % 101 - 20;
        w->memory.buffer[i] = i * seed;
        w->memory.state[i] = i + seed;
    }
}

// Both engines on one message. Of a fault only that there is one, and that it is `fault` unless that is NONE.
static void compare(struct kit *kit, const char *name, int threads, int seed, uint64_t fuel, uint32_t *fault)
{
    static struct way compiled, interpreted;
    struct in in;
    fill(&compiled, &in, seed);
    fill(&interpreted, &in, seed);
    handle(&compiled, kit->compiled, NULL, &in, fuel);
    handle(&interpreted, slri_interp_handler, kit->block, &in, fuel);
    *fault = compiled.fault;
    if (compiled.fault != interpreted.fault)
        fail_msg("%s, %d threads, fuel %llu: fault %u at line %u compiled, %u at line %u interpreted", name, threads,
                 (unsigned long long)fuel, compiled.fault, compiled.call.fault_line, interpreted.fault,
                 interpreted.call.fault_line);
    if (compiled.fault != SLRI_FAULT_NONE) {
        assert_int_not_equal(compiled.call.fault_line, 0);
        return;
    }
    if (memcmp(&compiled.memory, &interpreted.memory, sizeof compiled.memory) != 0 ||
        compiled.call.replies != interpreted.call.replies || compiled.outlet[0].count != interpreted.outlet[0].count)
        fail_msg("%s, %d threads: not the same memory, or replies %u and %u", name, threads, compiled.call.replies,
                 interpreted.call.replies);
    if (compiled.call.fuel != interpreted.call.fuel)
        fail_msg("%s, %d threads: fuel left %llu compiled, %llu interpreted", name, threads,
                 (unsigned long long)compiled.call.fuel, (unsigned long long)interpreted.call.fuel);
}

static const int sizes[] = {1, 32, 33, 256};
#define FUEL 100000

// The fuel that it takes, found by halving: with less it is a fault, on both.
static void compare_fuel(struct kit *kit, const char *name, int threads)
{
    uint64_t low = 0, high = FUEL;
    uint32_t fault;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        compare(kit, name, threads, 1, middle, &fault);
        if (fault == SLRI_FAULT_NONE)
            high = middle;
        else
            low = middle;
        assert_true(fault == SLRI_FAULT_NONE || fault == SLRI_FAULT_FUEL);
    }
}

static void run(const char *name, const char *text, uint32_t wanted)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct kit kit = open_kit(text, sizes[i]);
        for (int seed = 1; seed < 4; seed++) {
            uint32_t fault;
            compare(&kit, name, sizes[i], seed, FUEL, &fault);
            if (fault != wanted)
                fail_msg("%s, %d threads: fault %u, not %u", name, sizes[i], fault, wanted);
        }
        if (wanted == SLRI_FAULT_NONE)
            compare_fuel(&kit, name, sizes[i]);
        close_kit(&kit);
    }
}

// clang-format off
static const struct {
    const char *name, *text;
    uint32_t fault;
} handlers[] = {
    {"tree of sums", HEAD
     "  __shared__ int part[THREADS];\n  int v = 0;\n  for (int i = t; i < in->n; i += blockDim.x) v += in->v[i & 255];\n"
     "  part[t] = v;\n  __syncthreads();\n"
     "  for (int half = (THREADS + 1) / 2, n = THREADS; n > 1; n = half, half = (half + 1) / 2) {\n"
     "    if (t < n - half) part[t] += part[t + half];\n    __syncthreads();\n  }\n"
     "  if (t == 0) { s->w[0] += part[0]; long long r = s->w[0] + k; ring_reply(&r); buf[ring_instance()]++; }\n}\n", 0},
    {"warp sums in a device function",
     "__device__ int warp_sum(int v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o); return v; }\n"
     HEAD "  int v = warp_sum(x), odd = __ballot_sync(0xffffffff, x & 1);\n"
     "  if (t % 32 == 0) s->w[t / 32] += v ^ odd;\n}\n", 0},
    {"all reply and send in order", HEAD
     "  if (t < 50) { long long r = t * 1000 + x; ring_reply(&r); }\n  __syncthreads();\n"
     "  struct out o; o.a = x; if (t % 5 == 0 && t < 200) ring_send_at(to, t, &o);\n}\n", 0},
    {"loops that trip apart", HEAD
     "  long long v = 0;\n  for (int i = 0; i < (x & 15); i++) { v += i * x; if (v > 300) break; }\n"
     "  int turns = x & 7; while (__syncthreads_or(turns > 0)) { if (turns > 0) { v++; turns--; } }\n"
     "  do { v ^= turns++; } while (turns < (x & 3));\n  if (t < 256) s->w[t] = v;\n}\n", 0},
    {"loops of all threads", HEAD
     "  __shared__ int a[256];\n  for (int i = t; i < 256; i += THREADS) a[i] = in->v[i];\n  __syncthreads();\n  long long v = 0;\n"
     "  for (int i = 0; i < 16; i++) { v += a[(i * k) & 255] * x; if (i == in->n - 90) continue; for (int j = 0; j < k; j++) v ^= j; }\n"
     "  if (t < in->n) for (int i = 0; i < 5; i++) v += i;\n  s->w[t & 255] = THREADS <= 256 ? v : 0;\n}\n", 0},
    {"early returns around barriers", HEAD
     "  __shared__ int a[THREADS];\n  if (t >= in->n) return;\n  a[t] = x;\n  __syncthreads();\n"
     "  for (int i = 0; i < 6; i++) { if (x == i) return; __syncthreads(); s->w[t & 255] += a[t] * i; }\n}\n", 0},
    {"faults in functions stay away",
     "__device__ int pick(const int *w, int i, int d) { int v = w[i & 255]; for (int j = 0; j < (i & 3); j++) v += w[j]; return v / d; }\n"
     HEAD "  s->w[t & 255] = pick(in->v, t * 3, (x & 7) + 1);\n  buf[(t * 7) & 255] = (int)(s->w[t & 255] % ((x & 3) + 1));\n}\n", 0},
    {"a sum of 64 bits, taken as unsigned", HEAD
     "  long long d = in->n * 3000000000ll - t; unsigned long long u = d; s->w[t & 255] = (long long)(u ^ (u + 5));\n}\n", 0},
    {"shared memory begins as zero", HEAD
     "  __shared__ int a[300]; s->w[t & 255] += a[t % 300] + a[299];\n  __syncthreads(); a[t % 300] = 7;\n}\n", 0},
    {"one thread divides by zero", HEAD "  s->w[t & 255] = 100 / (t - in->n % 1);\n}\n", SLRI_FAULT_DIVIDE},
    {"an index of one", HEAD "  __shared__ int a[300]; a[t == 0 ? in->n * 10 : t & 255] = x; __syncthreads(); s->w[0] = a[0];\n}\n", SLRI_FAULT_INDEX},
    {"all at a buffer's end", HEAD "  s->w[0] = buf[in->n * 100];\n}\n", SLRI_FAULT_ACCESS},
    {"a function at a buffer's end", "__device__ void put(int *p, int i) { p[i] = i; }\n" HEAD "  put(buf, t == 0 ? -1 : t & 255);\n}\n", SLRI_FAULT_ACCESS},
    {"more replies than there is room for", HEAD "  for (int i = 0; i < 65; i++) if (t == 0) { long long r = i; ring_reply(&r); }\n}\n", SLRI_FAULT_REPLIES},
    {"more sends", HEAD "  struct out o; o.a = 1; for (int i = 0; i < 65; i++) ring_send(to, &o);\n}\n", SLRI_FAULT_SENDS},
    {"a loop without end", HEAD "  while (in->n) s->w[t & 255]++;\n}\n", SLRI_FAULT_FUEL},
    {"a loop without end around a barrier", HEAD "  while (in->n) { s->w[t & 255]++; __syncthreads(); }\n}\n", SLRI_FAULT_FUEL},
    {"a loop without end of some", HEAD "  int i = 0; while (i < 10 || t == 0) { i += t != 0; __syncwarp(1u << (t & 31)); }\n}\n", SLRI_FAULT_FUEL},
};
// clang-format on

static void both_engines_agree(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        run(handlers[i].name, handlers[i].text, handlers[i].fault);
}

// Only where there are threads to miss.
static void a_barrier_that_some_miss_is_a_fault(void **unused)
{
    (void)unused;
    static const char text[] = HEAD "  if (x & 1) __syncthreads(); else { s->w[0] = 1; __syncthreads(); }\n}\n";
    struct kit kit = open_kit(text, 64);
    uint32_t fault;
    compare(&kit, "barriers", 64, 1, FUEL, &fault);
    assert_int_equal(fault, SLRI_FAULT_BARRIER);
    close_kit(&kit);
    kit = open_kit(HEAD "  if (x & 1) __syncwarp(); else s->w[0] += __shfl_sync(~0u, x, 0);\n}\n", 64);
    compare(&kit, "warps", 64, 1, FUEL, &fault);
    assert_int_equal(fault, SLRI_FAULT_WARP);
    close_kit(&kit);
}

// Several handlers of both sorts, and a kernel, in one file, that call one function.
static void handlers_of_both_sorts_share_a_file(void **unused)
{
    (void)unused;
    static const char text[] =
        "struct in { int n; int v[256]; }; struct state { long long w[256]; };\n"
        "__device__ int twice(const int *v, int i) { return 2 * v[i & 255] + __clz(i); }\n"
        "__device__ int place(void) { return threadIdx.x * 3 + blockDim.x; }\n"
        "__ring__ void one(struct state *s, const struct in *in) { s->w[1] = twice(in->v, in->n); }\n"
        "__ring_block__ void few(struct state *s, const struct in *in) { s->w[threadIdx.x] = twice(in->v, threadIdx.x) "
        "+ place(); }\n"
        "__global__ void g(int *p) { p[threadIdx.x] = twice(p, place()); }\n"
        "__ring_block__ void __launch_bounds__(100) many(struct state *s, const struct in *in) {\n"
        "  int v = twice(in->v, threadIdx.x) + place(); s->w[threadIdx.x] = __reduce_add_sync(~0u, v) + "
        "__shfl_xor_sync(~0u, v, 1); }\n";
    struct kit kit = open_kit(text, 1);
    struct in in;
    uint32_t fault;
    compare(&kit, "many", 100, 1, FUEL, &fault);
    assert_int_equal(fault, SLRI_FAULT_NONE);
    static const char *const names[] = {"one", "few"};
    for (uint32_t i = 0; i < 2; i++) {
        static struct way compiled, interpreted;
        struct slri_interp_thread *thread;
        slri_handler *handler;
        assert_int_equal(slri_cpu_library_symbol(kit.library, names[i], &handler), SLR_OK);
        assert_int_equal(slri_interp_thread_create(kit.interp, i, &thread), SLR_OK);
        fill(&compiled, &in, 2);
        fill(&interpreted, &in, 2);
        handle(&compiled, handler, NULL, &in, FUEL);
        handle(&interpreted, slri_interp_handler, thread, &in, FUEL);
        assert_int_equal(compiled.fault, SLRI_FAULT_NONE);
        assert_memory_equal(&compiled.memory, &interpreted.memory, sizeof compiled.memory);
        slri_interp_thread_destroy(thread);
    }
    close_kit(&kit);
}

static void what_cannot_be_compiled_is_named(void **unused)
{
    (void)unused;
    struct slri_cpu_library *library = NULL;
    struct slri_module *module = compile_text(
        "struct in { int n; };\n"
        "__device__ int f(int n) { for (int i = 0; i < n; i++) { if (i == 3) return i; __syncthreads(); } return 0; }\n"
        "struct state { int w; };\n"
        "__ring_block__ void h(struct state *s, const struct in *in) { int v = f(in->n); if (threadIdx.x == 0) s->w = "
        "v; }\n");
    assert_int_equal(slri_cpu_compile(module, &library), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "t.cu:2"));
    assert_null(library);
    slri_module_destroy(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_engines_agree),
        cmocka_unit_test(a_barrier_that_some_miss_is_a_fault),
        cmocka_unit_test(handlers_of_both_sorts_share_a_file),
        cmocka_unit_test(what_cannot_be_compiled_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
