// SPDX-License-Identifier: Apache-2.0
// A handler in a kernel that stays (ir/pass/handler_kernel.h), interpreted: each call of the kernel's own function
// handles the message whose slot it names, with its state, its bindings and its record. Its replies lie in two slots.
#include "abi/mailbox_layout.h"
#include "run/batch_test.h"
#include "run/grid_test.h"

enum { SLOT = 8, MESSAGES = 3, STATES = 2, REPLIES = 64 };

// Notes of each message its fault, its replies and the first word of the first.
static const char around[] =
    "__device__ void slr_handle(unsigned *R) { R[16] = 0u; }\n"
    "__device__ unsigned adds(unsigned a) { return a + 1u; }\n"
    "__global__ void stays(unsigned *S, unsigned *R, unsigned *states, const unsigned *C, unsigned nothing,\n"
    "                      unsigned *P, unsigned *table)\n"
    "{\n"
    "    for (unsigned k = 0u; k < P[0]; ++k) {\n"
    "        R[0] = P[1u + k];\n"
    "        R[1] = S[P[1u + k] + 2u] & 1u;\n"
    "        R[6] = 64u * 4u; R[7] = k;\n"
    "        slr_handle(R);\n"
    "        table[3u * k] = R[16]; table[3u * k + 1u] = R[19]; table[3u * k + 2u] = S[64u + (k & 1u) * 4u];\n"
    "    }\n"
    "    table[3u * P[0]] = adds(table[3u * P[0]]);\n"
    "}\n";

// It has a function of the same name as one of those, divides, and reads a buffer and a number.
static const char handler[] =
    "struct in { unsigned value, divisor; };\nstruct st { unsigned sum; };\nstruct out { unsigned value, instance; };\n"
    "__device__ unsigned adds(unsigned a, unsigned b) { return a + b; }\n"
    "__ring__ void h(struct st *self, const struct in *in, const unsigned *table, unsigned more)\n"
    "{\n"
    "    self->sum = adds(self->sum, in->value / in->divisor);\n"
    "    struct out out = {self->sum + table[1] + more, ring_instance()};\n"
    "    ring_reply(&out);\n"
    "}\n"
    "__ring_block__ void __launch_bounds__(4) b(struct st *self, const struct in *in)\n"
    "{\n"
    "    __shared__ unsigned sum;\n"
    "    atomicAdd(&sum, in->value + threadIdx.x);\n"
    "    __syncthreads();\n"
    "    struct out out = {sum, ring_instance()};\n"
    "    if (threadIdx.x == 3u) ring_reply(&out);\n"
    "}\n";

struct played {
    uint32_t S[REPLIES + 8], R[64], states[STATES * 4], P[8], table[16];
    unsigned char constants[256];
};

// The messages: value and divisor of each, in slots from the second on; their instances are 4, 5, 6.
static void play(const char *name, const uint32_t (*message)[2], uint32_t messages, uint32_t threads, struct played *p)
{
    static const uint32_t buffer[4] = {100, 200, 300, 400};
    struct slri_module *of = compile_text(handler), *text = compile_text(around), *made;
    const struct slri_entry *entry = slri_module_entry(of, name);
    struct slri_interp *interp;
    struct slri_grid_end end;
    uint32_t more = 7, nothing = 9;
    const struct slri_bound bound[] = {{(void *)(uintptr_t)buffer, sizeof buffer}, {&more, sizeof more}};
    assert_non_null(entry);
    *p = (struct played){.P = {messages}};
    for (uint32_t k = 0; k < messages; k++) {
        uint32_t *slot = &p->S[(k + 1) * SLOT];
        p->P[1 + k] = (k + 1) * SLOT;
        slot[MB_INSTANCE] = 4 + k;
        memcpy(slot + MB_PAYLOAD, message[k], sizeof message[k]);
    }
    struct batch_layout l = {.max_replies = 1, .state_bytes = 4, .state_stride = 16, .fuel = 1000, .bound = bound};
    l.reply_stride = 16;
    l.constants = p->constants;
    batch_put_constants(&l, entry);
    memcpy(p->constants + 4 * RL_REPLY_MASK, &(uint32_t){1}, 4);
    if (slri_handler_stay(of, entry, text, &made) != SLR_OK)
        fail_msg("%s", slr_error_message());
    assert_int_equal(made->entries, 1);
    assert_string_equal(made->entry->name, name);
    assert_int_equal(made->entry->bindings, SLRI_STAY_BUFFERS + (entry->bindings != 0));
    assert_int_equal(slri_interp_create(made, &interp), SLR_OK);
    const struct slri_bound arg[] = {{p->S, sizeof p->S},           {p->R, sizeof p->R},
                                     {p->states, sizeof p->states}, {p->constants, sizeof p->constants},
                                     {&nothing, sizeof nothing},    {p->P, sizeof p->P},
                                     {p->table, sizeof p->table},   bound[0]};
    const struct slri_grid grid = {
        .grid = {1, 1, 1}, .block = {threads, 1, 1}, .fuel = 10000, .arg = arg, .args = made->entry->bindings};
    if (slri_interpret_grid(interp, &grid, &end) != SLR_OK)
        fail_msg("%s", slr_error_message());
    assert_int_equal(end.fault, SLRI_FAULT_NONE);
    slri_interp_destroy(interp);
    slri_module_destroy(made);
    slri_module_destroy(text);
    slri_module_destroy(of);
}

static void each_call_handles_the_message_that_is_named(void **state)
{
    static const uint32_t message[MESSAGES][2] = {{20, 2}, {30, 3}, {40, 4}};
    struct played p;
    (void)state;
    play("h", message, MESSAGES, 1, &p);
    const uint32_t expected[] = {0, 1, 10 + 200 + 7, 0, 1, 10 + 200 + 7, 0, 1, 20 + 200 + 7, 1};
    assert_memory_equal(p.table, expected, sizeof expected);
    assert_int_equal(p.states[0], 20); // of instances 4 and 6, whose state is the first
    assert_int_equal(p.states[4], 10);
    assert_int_equal(p.S[REPLIES + 1], 6); // who replied last, and who before
    assert_int_equal(p.S[REPLIES + 4 + 1], 5);
}

static void a_fault_is_in_the_record_and_its_state_begins_anew(void **state)
{
    static const uint32_t message[MESSAGES][2] = {{20, 2}, {30, 3}, {40, 0}};
    struct played p;
    (void)state;
    play("h", message, MESSAGES, 1, &p);
    assert_int_equal(p.table[3], 0);
    assert_int_equal(p.table[6], SLRI_FAULT_DIVIDE);
    assert_int_equal(p.table[7], 0);
    assert_int_equal(p.states[0], 0);
    assert_int_equal(p.states[4], 10);
}

static void a_block_handles_a_message_together(void **state)
{
    static const uint32_t message[1][2] = {{20, 2}};
    struct played p;
    (void)state;
    play("b", message, 1, 4, &p);
    assert_int_equal(p.table[0], 0);
    assert_int_equal(p.table[1], 1);
    assert_int_equal(p.table[2], 4 * 20 + 6);
}

static void a_kernel_is_no_handler(void **state)
{
    struct slri_module *of = compile_text("__global__ void k(unsigned *a) { a[0] = 1u; }\n"), *made;
    struct slri_module *text = compile_text(around);
    (void)state;
    assert_int_equal(slri_handler_stay(of, of->entry, text, &made), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "is no handler"));
    slri_module_destroy(text);
    slri_module_destroy(of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_handles_the_message_that_is_named),
        cmocka_unit_test(a_fault_is_in_the_record_and_its_state_begins_anew),
        cmocka_unit_test(a_block_handles_a_message_together),
        cmocka_unit_test(a_kernel_is_no_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
