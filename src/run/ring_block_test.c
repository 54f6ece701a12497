// SPDX-License-Identifier: Apache-2.0
// __ring_block__ handlers: a whole block works on one message, with its state, its replies and its faults.
#include "lang/compile_test.h"

#include "run/interpreter.h"

struct in {
    int n, values[256];
};
struct state {
    int64_t total; // a kernel's long
};

#define TEXT                                                                                                           \
    "struct in { int n; int values[256]; }; struct state { long total; };\n"                                           \
    "__device__ int warp_sum(int v) {\n"                                                                               \
    "    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);\n"                                  \
    "    return v;\n}\n"                                                                                               \
    "__ring_block__ void __launch_bounds__(96) sum(struct state *self, const struct in *in, int *seen) {\n"            \
    "    __shared__ int part[3];\n"                                                                                    \
    "    int v = 0;\n"                                                                                                 \
    "    for (int i = threadIdx.x; i < in->n; i += blockDim.x) v += in->values[i];\n"                                  \
    "    v = warp_sum(v);\n"                                                                                           \
    "    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;\n"                                                     \
    "    __syncthreads();\n"                                                                                           \
    "    if (threadIdx.x == 0) {\n"                                                                                    \
    "        self->total += part[0] + part[1] + part[2];\n"                                                            \
    "        long answer = self->total; ring_reply(&answer); seen[ring_instance()]++;\n"                               \
    "    }\n}\n"                                                                                                       \
    "__ring_block__ void wrong(const struct in *in) {\n"                                                               \
    "    if (in->values[threadIdx.x]) __syncthreads(); else __syncwarp();\n}\n"

struct kit {
    struct slri_module *module;
    struct slri_interp *interp;
    struct slri_interp_thread *block;
};

static struct kit begin(const char *text, uint32_t entry)
{
    struct kit kit = {.module = compile_text(text)};
    assert_int_equal(slri_interp_create(kit.module, &kit.interp), SLR_OK);
    assert_int_equal(slri_interp_thread_create(kit.interp, entry, &kit.block), SLR_OK);
    return kit;
}

static void end(struct kit *kit)
{
    slri_interp_thread_destroy(kit->block);
    slri_interp_destroy(kit->interp);
    slri_module_destroy(kit->module);
}

static void a_block_handles_message_after_message(void **unused)
{
    (void)unused;
    struct kit kit = begin(TEXT, 0);
    struct in in = {.n = 200};
    struct state state = {1000};
    int seen[4] = {0};
    int64_t reply[4] = {0};
    for (int i = 0; i < in.n; i++)
        in.values[i] = i;
    struct slri_bound bound = {seen, sizeof seen};
    for (int64_t n = 1; n < 4; n++) {
        struct slri_call call = {.state = &state, .message = &in, .bound = &bound, .max_replies = 1, .fuel = 100000};
        call.reply_base = (unsigned char *)reply;
        call.reply_mask = 3;
        call.reply_stride = call.reply_bytes = 8;
        call.instance = 2;
        assert_int_equal(slri_interp_handler(kit.block, &call), SLRI_FAULT_NONE);
        assert_int_equal(call.replies, 1);
        assert_int_equal(reply[0], 1000 + n * 19900);
        assert_int_equal(seen[2], n);
    }
    assert_int_equal(kit.module->entry[0].kind, SLRI_ENTRY_BLOCK);
    assert_int_equal(kit.module->entry[0].max_threads, 96);
    assert_int_equal(kit.module->entry[1].max_threads, SLRI_RING_BLOCK_THREADS);
    end(&kit);
}

static void a_fault_says_where_and_the_next_message_is_handled(void **unused)
{
    (void)unused;
    struct kit kit = begin(TEXT, 1);
    struct in in = {.values = {1}};
    struct slri_call call = {.message = &in, .fuel = 1000};
    assert_int_equal(slri_interp_handler(kit.block, &call), SLRI_FAULT_WARP);
    assert_int_equal(call.fault_line, 19);
    in.values[0] = 0;
    assert_int_equal(slri_interp_handler(kit.block, &call), SLRI_FAULT_NONE);
    end(&kit);
    kit = begin(TEXT, 0);
    struct state state = {0};
    int seen[4] = {0};
    struct slri_bound bound = {seen, sizeof seen};
    struct slri_call little = {.state = &state, .message = &in, .bound = &bound, .max_replies = 1, .fuel = 50};
    assert_int_equal(slri_interp_handler(kit.block, &little), SLRI_FAULT_FUEL); // the block's threads share it
    end(&kit);
}

static void what_a_block_has_not_is_refused(void **unused)
{
    (void)unused;
    static const char head[] = "struct in { int a; };\n";
    char text[512];
    snprintf(text, sizeof text, "%s__ring_block__ void h(const struct in *m) { printf(^^\"%%s\", m->a); }", head);
    assert_true(is_marked(text, SLRI_K_BAD_PRINT, "'%s' is not known here"));
    snprintf(text, sizeof text, "%s^^__ring_block__ void __launch_bounds__(2000) h(const struct in *m) { }", head);
    assert_true(is_marked(text, SLRI_K_VALUE_OUT_OF_RANGE, "a block of 2000 threads"));
    snprintf(text, sizeof text, "%s__ring_block__ void ^^h(void) { }", head);
    assert_true(is_marked(text, SLRI_K_BAD_MESSAGE_PARAMETER, "has no message"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_handles_message_after_message),
        cmocka_unit_test(a_fault_says_where_and_the_next_message_is_handled),
        cmocka_unit_test(what_a_block_has_not_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
