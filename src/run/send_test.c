// SPDX-License-Identifier: Apache-2.0
// Outlets and ring_send in the front end: what is refused, what comes of the rest, and the same source as plain C. What
// becomes of the messages: src/ring/ring_send_test.c.
#include "lang/compile_test.h"

#define TYPES "struct in { int a; }; struct out { int b; float c; };\n"
#define H(body) TYPES "__ring__ void h(const struct in *m, ring_to(struct out) to) {\nstruct out o;\n" body "\n}"

static void outlets_that_are_wrong_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        unsigned code;
        const char *words;
    } list[] = {
        {TYPES "__ring__ void h(const struct in *m, ^^ring_to(int) to) { }", SLRI_K_BAD_OUTLET, "ring_to of int"},
        {"struct in { int a; }; struct far;\n__ring__ void h(const struct in *m, ^^ring_to(struct far) to) { }",
         SLRI_K_BAD_OUTLET, "struct far"},
        {TYPES "__ring__ void h(const struct in *m, ring_to ^^struct out to) { }", SLRI_K_UNEXPECTED_TOKEN,
         "after ring_to"},
        {TYPES "__ring__ void h(ring_to(struct out) ^^to, const struct in *m) { }", SLRI_K_BAD_STATE_PARAMETER,
         "ring_to(struct out)"},
        {TYPES "__global__ void k(ring_to(struct out) ^^to) { }", SLRI_K_BAD_KERNEL_PARAMETER, "ring_to(struct out)"},
        {TYPES "struct s { ring_to(struct out) ^^to; };\n__ring__ void h(const struct in *m) { }",
         SLRI_K_POINTER_IN_MEMORY, "ring_to(struct out)"},
        {H("ring_send(^^m, &o);"), SLRI_K_BAD_SEND, "not a const struct in *"},
        {H("ring_send(^^1, &o);"), SLRI_K_BAD_SEND, "not a int"},
        {H("ring_send(to, ^^m);"), SLRI_K_BAD_SEND, "a pointer to a struct out, not by a const struct in *"},
        {H("ring_send(to, ^^o);"), SLRI_K_BAD_SEND, "not by a struct out"},
        {H("ring_send(to, ^^to);"), SLRI_K_BAD_SEND, "not by a ring_to(struct out)"},
        {H("^^ring_send(to);"), SLRI_K_WRONG_ARGUMENT_COUNT, "ring_send"},
        {H("^^ring_send_at(to, &o);"), SLRI_K_WRONG_ARGUMENT_COUNT, "ring_send_at"},
        {H("ring_send_at(to, ^^&o, &o);"), SLRI_K_WRONG_TYPE, "the instance of ring_send_at"},
        {H("struct out *p = ^^(struct out *)to;"), SLRI_K_POINTER_CAST, "from ring_to(struct out) to struct out *"},
        {H("o = ^^*to;"), SLRI_K_INCOMPLETE_TYPE, ""},
        {H("o.b = to^^->b;"), SLRI_K_INCOMPLETE_TYPE, "struct ring_to"},
    };
    size_t right = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        right += is_marked(list[i].text, list[i].code, list[i].words);
    assert_int_equal(right, sizeof list / sizeof *list);
}

static void two_outlets_are_not_chosen_between_at_run_time(void **unused)
{
    (void)unused;
    assert_true(is_marked(TYPES "__ring__ void h(const struct in *m, ring_to(struct out) a, ring_to(struct out) b) {\n"
                                "struct out o; ring_send(m->a ^^? a : b, &o); }",
                          SLRI_K_POINTER_ROOTS_DIFFER, "'?:'"));
}

static void outlets_pass_through_functions_and_variables(void **unused)
{
    (void)unused;
    assert_accepted(TYPES
                    "__device__ void uncalled(ring_to(struct out) to) { struct out o; ring_send(to, &o); }\n"
                    "__device__ void twice(ring_to(struct out) to, const struct out *o) "
                    "{ ring_send(to, o); ring_send_at(to, 3, o); }\n"
                    "__ring__ void h(const struct in *m, float *x, ring_to(struct out) a, ring_to(struct out) b) {\n"
                    "struct out o; ring_to(struct out) c = b; twice(a, &o); twice(c, &o); }");
}

static const struct slri_instr *find_send(const struct slri_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (block->instr[i].op == SLRI_OP_SEND)
            return &block->instr[i];
    fail_msg("no SEND");
    return NULL;
}

static void a_send_names_its_outlet_and_size_and_is_held_to_them(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_text(TYPES "__ring__ void h(const struct in *m, int n, ring_to(struct out) to)"
                                                    "{ struct out o; o.b = n; ring_send(to, &o); }");
    const struct slri_entry *entry = &module->entry[0];
    assert_true(entry->binding[1].is_outlet && !entry->binding[0].is_outlet);
    struct slri_instr *send = (struct slri_instr *)find_send(entry->function->body);
    assert_int_equal(slri_sent_bytes(send), 8);
    assert_int_equal(slri_sent_outlet(send), 1);
    assert_null(slri_module_verify(module));
    uint64_t right = send->imm;
    send->imm = right - (UINT64_C(1) << 32);
    assert_non_null(strstr(slri_module_verify(module), "no outlet 0"));
    send->imm = right + 4;
    assert_non_null(strstr(slri_module_verify(module), "messages of another size"));
    send->imm = right;
    slri_module_destroy(module);
}

// ---- the same words in a host compiler
// --------------------------------------------------------------------------------

struct in {
    int a;
};
struct out {
    int b;
    float c;
};

static struct {
    const void *outlet;
    unsigned instance;
    struct out message;
    size_t bytes;
} sent;

static void slr_host_send(const void *outlet, unsigned instance, const void *message, size_t bytes)
{
    sent.outlet = outlet;
    sent.instance = instance;
    sent.bytes = bytes;
    memcpy(&sent.message, message, sizeof sent.message);
}

#include <slipring/device.h>

__ring__ static void both(const struct in *m, ring_to(struct out) to)
{
    struct out o = {m->a, 0.5f};
    if (m->a > 9)
        ring_send_at(to, 7, &o);
    else
        ring_send(to, &o);
}

static void a_host_compiler_reads_the_same_source(void **unused)
{
    (void)unused;
    struct out outlet;
    both(&(struct in){10}, &outlet);
    assert_true(sent.outlet == &outlet && sent.instance == 7 && sent.bytes == sizeof outlet && sent.message.b == 10);
    both(&(struct in){3}, &outlet);
    assert_true(sent.instance == SLRI_OWN_INSTANCE && sent.message.b == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outlets_that_are_wrong_are_refused),
        cmocka_unit_test(two_outlets_are_not_chosen_between_at_run_time),
        cmocka_unit_test(outlets_pass_through_functions_and_variables),
        cmocka_unit_test(a_send_names_its_outlet_and_size_and_is_held_to_them),
        cmocka_unit_test(a_host_compiler_reads_the_same_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
