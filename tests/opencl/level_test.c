// SPDX-License-Identifier: Apache-2.0
// Handlers of a block whose threads part where OpenCL makes all of them wait, on whatever OpenCL is here: they reply
// what the interpreter does, and fault where it does. Each stands for what drivers once made something else of.
#include "device/device_test.h"

#include <stdlib.h>
#include <string.h>

static const char source[] = "struct message { unsigned value; };\n"
                             // Some return before the others meet: what these know of it must not pass the barrier.
                             "__ring_block__ void __launch_bounds__(96) early(const struct message *in)\n"
                             "{\n"
                             "    __shared__ unsigned sum;\n"
                             "    unsigned v = in->value * threadIdx.x;\n"
                             "    if (threadIdx.x >= 40) { atomicAdd(&sum, v); return; }\n"
                             "    __syncthreads();\n"
                             "    struct message out = {sum};\n"
                             "    if (threadIdx.x == 0) ring_reply(&out);\n"
                             "}\n"
                             // All return, or the rest of a warp goes on.
                             "__ring_block__ void __launch_bounds__(96) rest(const struct message *in)\n"
                             "{\n"
                             "    struct message out = {in->value};\n"
                             "    if (threadIdx.x == 95 && in->value % 2 == 0) ring_reply(&out);\n"
                             "    if (threadIdx.x >= 16 * in->value || in->value % 2 == 0) return;\n"
                             "    out.value = __shfl_sync(__activemask(), in->value * threadIdx.x, 9);\n"
                             "    if (threadIdx.x == 0) ring_reply(&out);\n"
                             "}\n"
                             // Warps leave the loop one by one; by its end or by a jump.
                             "__ring_block__ void __launch_bounds__(96) leaves(const struct message *in)\n"
                             "{\n"
                             "    __shared__ unsigned sum;\n"
                             "    unsigned v = in->value * threadIdx.x, n = 0;\n"
                             "    for (;;) {\n"
                             "        v = v / 2 + __shfl_xor_sync(0xffffffffu, v, 1) / 4;\n"
                             "        if (__all_sync(0xffffffffu, v < 100) || ++n > 40) break;\n"
                             "    }\n"
                             "    atomicAdd(&sum, n);\n"
                             "    __syncthreads();\n"
                             "    struct message out = {sum};\n"
                             "    if (threadIdx.x == 0) ring_reply(&out);\n"
                             "}\n"
                             // Only its fuel ends the loop, which comes back to its head from two places.
                             "__ring_block__ void __launch_bounds__(64) turns(const struct message *in)\n"
                             "{\n"
                             "    unsigned v = in->value;\n"
                             "    if (threadIdx.x < 32)\n"
                             "        while (v > 4) {\n"
                             "            unsigned w = __shfl_xor_sync(0xffffffffu, v, 1);\n"
                             "            if (w == 8) w = 7 / (w - 8);\n"
                             "            v = w;\n"
                             "        }\n"
                             "    struct message out = {v};\n"
                             "    if (threadIdx.x == 0) ring_reply(&out);\n"
                             "}\n";

enum { MESSAGES = 9 };
struct outcome {
    slr_status status[MESSAGES];
    uint32_t reply[MESSAGES];
};

static void play(const char *spec, const char *handler, struct outcome *out)
{
    slr_device *device;
    slr_program *program;
    slr_ring *ring;
    slr_address to;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    memset(out, 0, sizeof *out);
    must(slr_device_open(spec, NULL, &device));
    must(slr_program_from_text(device, "level.cu", source, NULL, &program));
    desc.name = desc.handler = handler;
    desc.program = program;
    desc.fuel = 64 * 200;
    must(slr_ring_create(device, &desc, &ring));
    must(slr_ring_launch(ring));
    must(slr_ring_activate(ring, LONG));
    must(slr_ring_get_address(ring, 0, &to));
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        uint32_t value = i + 1;
        out->status[i] = slr_call(NULL, to, &value, sizeof value, &out->reply[i], sizeof value, LONG);
    }
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    slr_device_close(device);
}

static void handler_gives_what_the_interpreter_gives(void **state)
{
    static const char *const specs[] = {"opencl:0?ring=relaunch", "opencl:0?ring=persistent"};
    const char *handler = *state;
    struct outcome wanted, got;
    if (SANITIZED || !is_here(specs[0]))
        skip();
    play("cpu?engine=interpreted", handler, &wanted);
    size_t modes = strcmp(handler, "turns") == 0 ? 2 : 1; // drivers take seconds to compile a kernel that stays
    for (size_t k = 0; k < modes; ++k) {
        play(specs[k], handler, &got);
        for (uint32_t i = 0; i < MESSAGES; ++i)
            if (got.status[i] != wanted.status[i] || got.reply[i] != wanted.reply[i])
                fail_msg("%s, message %u: %s and %u, not %s and %u", specs[k], i, slr_status_name(got.status[i]),
                         got.reply[i], slr_status_name(wanted.status[i]), wanted.reply[i]);
    }
    if (strcmp(handler, "turns") == 0) { // it comes to what it is about
        assert_int_equal(wanted.status[3], SLR_OK);
        assert_int_equal(wanted.status[6], SLR_HANDLER_FAULT);
    }
}

int main(void)
{
    static const char *const handlers[] = {"early", "rest", "leaves", "turns"};
    struct CMUnitTest tests[4];
    for (size_t i = 0; i < 4; ++i)
        tests[i] = (struct CMUnitTest){handlers[i], handler_gives_what_the_interpreter_gives, NULL, NULL,
                                       (void *)(uintptr_t)handlers[i]};
    return _cmocka_run_group_tests("level", tests, 4, NULL, NULL);
}
