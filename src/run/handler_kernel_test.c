// SPDX-License-Identifier: Apache-2.0
// A handler and the kernel that is made of it for batches, both interpreted: what they leave is the same, bit for bit.
#include "lang/compile_test.h"
#include "run/batch_test.h"

enum { MESSAGES = 12, INSTANCES = 4, BUFFER = 8, FUEL = 1000 };

#define TYPES                                                                                                          \
    "struct in { int a, b; };\nstruct st { int sum, count; unsigned char last[5]; };\n"                                \
    "struct out { int value; unsigned instance; };\nstruct far { short s; double d; };\n"

#define BLOCK "__ring_block__ __launch_bounds__(64) void h("

struct in {
    int32_t a, b;
};

struct setup {
    struct in message[MESSAGES];
    uint32_t messages, max_replies, max_sends;
    uint64_t fuel;
    bool stops, one_chain; // one_chain: all messages in one, whatever their instance
    bool has_initial;
};

// One way of handling all messages, and what it leaves.
struct way {
    struct batch_layout layout;
    unsigned char states[INSTANCES * 64];
    int32_t buffer[BUFFER];
    uint16_t small;
    bool flag;
    struct slri_bound bound[6];
};

static const unsigned char initial_state[64] = {9, 0, 0, 0, 8, 0, 0, 0, 1, 2, 3, 4, 5};

static uint32_t instance_of(uint32_t message)
{
    return message * 7 % INSTANCES;
}

static void begin_states(struct way *way, const struct setup *setup)
{
    memset(way->states, 0, sizeof way->states);
    for (uint32_t i = 0; i < INSTANCES && setup->has_initial; i++)
        memcpy(way->states + (size_t)i * way->layout.state_stride, initial_state, way->layout.state_bytes);
}

// As slri_relaunch_pack does it: the messages of an instance are a chain.
static void put_messages(struct way *way, const struct setup *setup)
{
    uint32_t last[INSTANCES], *chain = (uint32_t *)(void *)way->layout.in;
    for (uint32_t i = 0; i < INSTANCES; i++)
        last[i] = RL_END;
    way->layout.chains = 0;
    for (uint32_t k = 0; k < setup->messages; k++) {
        uint32_t instance = instance_of(k), *message = batch_message(&way->layout, k);
        uint32_t before = setup->one_chain ? (k ? k - 1 : RL_END) : last[instance];
        message[RL_INSTANCE] = 100 + instance;
        message[RL_STATE] = instance;
        message[RL_NEXT] = RL_END;
        message[RL_RECORD] = k * way->layout.result_stride;
        memcpy((unsigned char *)message + RL_PAYLOAD, &setup->message[k], sizeof setup->message[k]);
        if (before == RL_END)
            chain[way->layout.chains++] = batch_place(&way->layout, k);
        else
            batch_message(&way->layout, before)[RL_NEXT] = batch_place(&way->layout, k);
        last[instance] = k;
    }
}

static void begin_way(struct way *way, const struct slri_entry *handler, const struct setup *setup)
{
    *way = (struct way){.small = 0xff01, .flag = true};
    for (int i = 0; i < BUFFER; i++)
        way->buffer[i] = 10 * i;
    const struct slri_bound all[] = {
        {way->buffer, sizeof way->buffer}, {&way->small, sizeof way->small}, {&way->flag, sizeof way->flag}};
    for (uint32_t i = 0, next = 0; i < handler->bindings; i++)
        if (!handler->binding[i].is_outlet)
            way->bound[i] = all[next++];
    way->layout = (struct batch_layout){.messages = setup->messages,
                                        .max_replies = setup->max_replies,
                                        .max_sends = setup->max_sends,
                                        .fuel = setup->fuel ? setup->fuel : FUEL,
                                        .stops = setup->stops,
                                        .initial = setup->has_initial ? initial_state : NULL,
                                        .bound = way->bound};
    batch_lay_out(&way->layout, handler);
    begin_states(way, setup);
    put_messages(way, setup);
}

// ---- message by message --------------------------------------------------------------------------------------------

static void handle_one(struct way *way, const struct slri_entry *handler, struct slri_interp_thread *thread, uint32_t k,
                       const struct setup *setup)
{
    const struct batch_layout *l = &way->layout;
    uint32_t *message = batch_message(l, k), *result = batch_result(l, k);
    unsigned char *record = (unsigned char *)result, *state = way->states + (size_t)message[RL_STATE] * l->state_stride;
    struct slri_out out[6] = {{0}};
    for (uint32_t i = 0; i < handler->bindings; i++)
        out[i] = (struct slri_out){record + batch_sent_at(l, handler, i), batch_sent_stride(&handler->binding[i]),
                                   l->max_sends, 0};
    struct slri_call call = {.state = handler->state ? state : NULL,
                             .message = (unsigned char *)message + RL_PAYLOAD,
                             .bound = way->bound,
                             .reply_base = record + l->replies_at,
                             .reply_mask = UINT32_MAX,
                             .reply_stride = l->reply_stride,
                             .max_replies = l->max_replies,
                             .instance = message[RL_INSTANCE],
                             .fuel = l->fuel,
                             .out = out};
    result[RL_FAULT] = slri_interp_handler(thread, &call);
    result[RL_FILE] = call.fault_file;
    result[RL_LINE] = call.fault_line;
    result[RL_REPLIES] = call.replies;
    for (uint32_t i = 0; i < handler->bindings; i++)
        if (handler->binding[i].is_outlet)
            result[RL_SENT(i)] = out[i].count;
    if (result[RL_FAULT] == SLRI_FAULT_NONE || !handler->state)
        return;
    memset(state, 0, l->state_bytes);
    if (setup->has_initial)
        memcpy(state, initial_state, l->state_bytes);
}

static void handle_chains(struct way *way, const struct slri_module *module, const struct setup *setup)
{
    struct slri_interp *interp;
    struct slri_interp_thread *thread;
    assert_int_equal(slri_interp_create(module, &interp), SLR_OK);
    assert_int_equal(slri_interp_thread_create(interp, 0, &thread), SLR_OK);
    const uint32_t *first = (const uint32_t *)(const void *)way->layout.in;
    for (uint32_t chain = 0; chain < way->layout.chains; chain++) {
        bool stopped = false;
        for (uint32_t at = first[chain]; at != RL_END;) {
            const uint32_t k = (at - way->layout.messages_at) / way->layout.message_stride;
            at = batch_message(&way->layout, k)[RL_NEXT];
            uint32_t *result = batch_result(&way->layout, k);
            if (stopped) {
                result[RL_FAULT] = RL_NOT_RUN;
                continue;
            }
            handle_one(way, module->entry, thread, k, setup);
            stopped = setup->stops && result[RL_FAULT] != SLRI_FAULT_NONE;
        }
    }
    slri_interp_thread_destroy(thread);
    slri_interp_destroy(interp);
}

// ---- both ----------------------------------------------------------------------------------------------------------

// The faults that all messages had, both ways; `way` (or NULL) takes what is left: batch_free(&way->layout).
static void expect_same(const char *text, const struct setup *setup, uint32_t faults[MESSAGES], struct way *left)
{
    struct slri_module *module = compile_text(text);
    static struct way apart, together;
    struct batch batch;
    if (batch_open(&batch, module, module->entry) != SLR_OK)
        fail_msg("%s\n%s", slr_error_message(), text);
    begin_way(&apart, module->entry, setup);
    begin_way(&together, module->entry, setup);
    handle_chains(&apart, module, setup);
    assert_int_equal(batch_run(&batch, &together.layout, together.states, sizeof together.states), SLRI_FAULT_NONE);
    for (uint32_t k = 0; k < setup->messages; k++) {
        const uint32_t *a = batch_result(&apart.layout, k), *b = batch_result(&together.layout, k);
        // What a block does behind a fault is discarded: its other threads go on to their end.
        const bool is_discarded = module->entry->kind == SLRI_ENTRY_BLOCK && a[RL_FAULT] && a[RL_FAULT] != RL_NOT_RUN;
        if (memcmp(a, b, is_discarded ? sizeof *a * (RL_LINE + 1) : apart.layout.result_stride) != 0)
            fail_msg("message %u: fault %u at %u:%u and %u at %u:%u, %u and %u replies\n%s", k, a[RL_FAULT], a[RL_FILE],
                     a[RL_LINE], b[RL_FAULT], b[RL_FILE], b[RL_LINE], a[RL_REPLIES], b[RL_REPLIES], text);
        faults[k] = b[RL_FAULT];
    }
    assert_memory_equal(apart.states, together.states, sizeof apart.states);
    assert_memory_equal(apart.buffer, together.buffer, sizeof apart.buffer);
    batch_free(&apart.layout);
    if (left)
        *left = together;
    else
        batch_free(&together.layout);
    batch_close(&batch);
    slri_module_destroy(module);
}

// ---- tests ---------------------------------------------------------------------------------------------------------

static const struct setup twelve = {
    .message = {{1, 2}, {2, 0}, {3, 1}, {4, 4}, {5, -1}, {6, 6}, {7, 7}, {8, 1}, {9, 9}, {-1, 3}, {11, 5}, {12, 12}},
    .messages = MESSAGES,
    .max_replies = 2,
    .max_sends = 2};

static void replies_and_states_are_those_of_the_handler(void **unused)
{
    (void)unused;
    uint32_t faults[MESSAGES];
    struct way left;
    expect_same(TYPES "__device__ int twice(const struct in *m, struct st *s) { s->count++; return 2 * m->a; }\n"
                      "__ring__ void h(struct st *s, const struct in *m) {\n"
                      "s->sum += twice(m, s); s->last[m->b & 3] = (unsigned char)m->a;\n"
                      "struct out o; o.value = s->sum; o.instance = ring_instance(); ring_reply(&o);\n"
                      "if (m->a & 1) { o.value = -1; ring_reply(&o); } }",
                &twelve, faults, &left);
    for (int k = 0; k < MESSAGES; k++)
        assert_int_equal(faults[k], SLRI_FAULT_NONE);
    const uint32_t *last = batch_result(&left.layout, 8); // message 8 is the third of instance 0: 2 * (1 + 5 + 9)
    const uint32_t *reply = (const uint32_t *)(const void *)((const unsigned char *)last + left.layout.replies_at);
    assert_int_equal(last[RL_REPLIES], 2);
    assert_int_equal(reply[0], 30);
    assert_int_equal(reply[1], 100);
    assert_int_equal(reply[left.layout.reply_stride / 4], UINT32_MAX);
    batch_free(&left.layout);
}

static void a_fault_ends_a_message_alone_and_its_state_begins_anew(void **unused)
{
    (void)unused;
    uint32_t faults[MESSAGES];
    struct setup setup = twelve;
    static const char text[] = TYPES "__ring__ void h(struct st *s, const struct in *m) {\n"
                                     "s->sum += m->a;\nint q = 100 / m->b;\ns->last[m->a] = 1;\n"
                                     "struct out o; o.value = q; ring_reply(&o); }";
    for (int has_initial = 0; has_initial < 2; has_initial++) {
        setup.has_initial = has_initial;
        expect_same(text, &setup, faults, NULL);
        assert_int_equal(faults[0], SLRI_FAULT_NONE);
        assert_int_equal(faults[1], SLRI_FAULT_DIVIDE);
        assert_int_equal(faults[4], SLRI_FAULT_INDEX);
        assert_int_equal(faults[9], SLRI_FAULT_INDEX);
    }
}

static void a_chain_stops_at_a_fault_where_the_host_asks_for_it(void **unused)
{
    (void)unused;
    uint32_t faults[MESSAGES];
    struct setup setup = twelve;
    static const char text[] = TYPES "__ring__ void h(struct st *s, const struct in *m) {\n"
                                     "s->sum += 10 / m->b; __trap(); }";
    setup.stops = setup.one_chain = true;
    expect_same(text, &setup, faults, NULL);
    assert_int_equal(faults[0], SLRI_FAULT_TRAP);
    for (int k = 1; k < MESSAGES; k++)
        assert_int_equal(faults[k], RL_NOT_RUN);
    setup.stops = false;
    expect_same(text, &setup, faults, NULL);
    assert_int_equal(faults[1], SLRI_FAULT_DIVIDE);
    assert_int_equal(faults[11], SLRI_FAULT_TRAP);
}

static void what_is_sent_is_that_of_the_handler(void **unused)
{
    (void)unused;
    uint32_t faults[MESSAGES];
    struct way left;
    expect_same(TYPES "__device__ void pass(ring_to(struct far) to, int a) {\n"
                      "struct far f; f.s = (short)a; f.d = a * 0.5; ring_send_at(to, 40 + a, &f); }\n"
                      "__ring__ void h(const struct in *m, ring_to(struct far) to, ring_to(struct out) out) {\n"
                      "for (int i = 0; i < m->b; i++) pass(to, i);\n"
                      "struct out o; o.value = m->a; o.instance = 3; ring_send(out, &o); }",
                &twelve, faults, &left);
    assert_int_equal(faults[0], SLRI_FAULT_NONE);
    assert_int_equal(faults[3], SLRI_FAULT_SENDS);
    const uint32_t *first = batch_result(&left.layout, 0), *third = batch_result(&left.layout, 3);
    assert_int_equal(first[RL_SENT(0)], 2);
    assert_int_equal(first[RL_SENT(1)], 1);
    assert_int_equal(third[RL_SENT(0)], 2);
    assert_int_equal(third[RL_SENT(1)], 0);
    batch_free(&left.layout);
}

static void replies_past_the_most_are_a_fault(void **unused)
{
    (void)unused;
    uint32_t faults[MESSAGES];
    expect_same(TYPES "__ring__ void h(const struct in *m) { for (int i = 0; i < m->b; i++) ring_reply(&i); }", &twelve,
                faults, NULL);
    assert_int_equal(faults[0], SLRI_FAULT_NONE);
    assert_int_equal(faults[3], SLRI_FAULT_REPLIES);
}

static void accesses_outside_a_buffer_are_a_fault_before_they_happen(void **unused)
{
    (void)unused;
    uint32_t faults[MESSAGES];
    struct setup setup = twelve;
    setup.one_chain = true; // they share the buffer
    expect_same(TYPES "__ring__ void h(const struct in *m, int *data, unsigned short x, bool flag) {\n"
                      "data[m->a] += flag ? x : 1; data[0]++; atomicAdd(&data[m->b & 7], 1); }",
                &setup, faults, NULL);
    assert_int_equal(faults[6], SLRI_FAULT_NONE);
    assert_int_equal(faults[7], SLRI_FAULT_ACCESS);
    assert_int_equal(faults[9], SLRI_FAULT_ACCESS);
}

// In a loop's test, its step and its body, in a function's and in the handler's.
static void faults_in_loops_leave_them(void **unused)
{
    (void)unused;
    static const char *const bodies[] = {
        "for (int i = 0; 10 / (m->b - i) < 100 && i < 9; i++) s->sum += i;",
        "for (int i = 0; i < 9; i += 10 / (m->b - i)) s->sum += i;",
        "for (int i = 0; i < 9; i++) { if (i == m->a) continue; s->sum += 10 / (m->b - i); }",
        "int i = 0; do { s->last[i & 1 ? i : 0] = 1; if (i == m->a) break; i += s->last[m->b & 7]; s->count++; } "
        "while (i < m->b / (m->a - 3) + 4);",
        "for (int i = 0; i < m->a; i++) for (int k = i; k < m->b; k++) { if (k == 4) return; s->last[k]++; }",
        "for (int i = 0; div(m, i) < 90 && i < 5; i++) s->sum++;",
        "for (;;) { s->sum++; if (s->sum > m->a * 5) break; switch (m->b) { case 1: s->last[m->a]++; case 4: continue; "
        "case 6: return; default: s->count += 7 % (m->b - s->sum); } }",
        "int i = 0; while (i < 5 && (i != 3 || 7 / (m->b - 3) < 100)) i++; s->sum = i;",
    };
    uint32_t faults[MESSAGES], seen[SLRI_FAULT_TRAP + 1] = {0};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 TYPES "__device__ int div(const struct in *m, int i) { return 10 / (m->b - i); }\n"
                       "__ring__ void h(struct st *s, const struct in *m) {\n%s\ns->count += 100; }",
                 bodies[i]);
        expect_same(text, &twelve, faults, NULL);
        for (int k = 0; k < MESSAGES; k++)
            seen[faults[k]]++;
    }
    assert_true(seen[SLRI_FAULT_NONE] > 10);
    assert_true(seen[SLRI_FAULT_DIVIDE] > 10);
    assert_true(seen[SLRI_FAULT_INDEX] > 1);
}

// Fuel is paid at once, or edge by edge, and runs out at the same one.
static void fuel_runs_out_where_the_handlers_does(void **unused)
{
    (void)unused;
    static const char *const loops[] = {
        "for (int i = 0; i < 5; i++) s->sum += i;",
        "for (int i = m->b; i >= -3; i -= 2) s->sum += i;",
        "for (unsigned i = 1; i <= 9u; i += 4) s->sum += i;",
        "for (long long i = 0; i < m->a; i += 3) { if (i == 3) continue; s->sum += (int)i; }",
        "for (int i = 2147483640; i <= 2147483646; i += 2) s->sum += i;", // wraps: for ever
        "int i = 0; do { s->sum += i; } while (++i < m->b);",
        "for (int i = 0; i < 3; i++) for (int k = 0; k < m->b; k++) s->sum += k * i;",
        "for (int i = 0; i < 3; i++) step(s, m->b);",
        "for (int i = 0; i < 5; i++) { s->sum += i; if (s->sum == m->a) break; }",
        // Nests: paid at once, and not.
        "for (int i = 0; i < 3; i++) for (int k = 1; k < 4; k++) { s->sum += k * i; s->count++; }",
        "int n = m->a & 3; for (int i = 0; i < n; i++) { int f = m->b - 1; for (int k = 7; k >= f + n; k -= 2) s->sum "
        "+= k; }",
        "for (int i = 0; i < 2; i++) { for (int k = 0; k < 2; k++) for (int j = 0; j <= m->b; j++) s->sum += j;\n"
        "for (unsigned k = 0; k < 3u; k++) s->sum ^= (int)k; if (i == 1) s->count++; }",
        "for (int i = 0; i < 4; i++) for (int k = i; k < 4; k++) s->sum += k;",
        "for (int i = 0; i < 4; i++) for (int k = 0; k < i; k++) s->sum += k;",
        "for (int i = 0; i < 4; i++) { if (i == m->b) continue; for (int k = 0; k < 3; k++) s->sum += k; }",
        "for (int i = 0; i < 4; i++) { for (int k = 0; k < 3; k++) { if (k == m->b) continue; s->sum += k; } }",
        "for (int i = 0; i < 4; i++) { if (i != m->b) for (int k = 0; k < 3; k++) s->sum += k; }",
        "for (int i = 0; i < 4; i++) for (int k = 0; k < 3; k++) if (s->sum++ == m->a) break;",
        "for (int i = 0; i < 4; i++) { int n = 2; if (i == m->b) n = 3; for (int k = 0; k < n; k++) s->sum += k; }",
        "int n = 1; for (int i = 0; i < 3; i++) { for (int k = 0; k < n; k++) s->sum += k; n = 2; }",
        "for (int i = 0; i < 3; i++) for (int k = 0; k < s->count; k++) s->sum += k;",
        "for (int i = 0; i < 2; i++) for (int k = 2147483640; k <= 2147483646; k += 2) s->sum += i;",
        "for (int i = 0; i < 2; i++) for (int k = 0; k < 2000000000; k++) s->sum += i;",
        "for (int i = 0; i < 3; i++) { switch (m->b) { case 1: for (int k = 0; k < 3; k++) s->sum += k; } }",
        "for (int i = 0; i < 3; i++) for (int k = 0; k < 3; k++) { if (s->sum > 40) return; s->sum += k; }",
        "for (int i = 0; i < 3; i++) { int k = 0; do s->sum += k; while (++k < 3); }",
    };
    uint32_t faults[MESSAGES], out_of_fuel = 0, done = 0;
    struct setup setup = twelve;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        for (setup.fuel = 1; setup.fuel < 24; setup.fuel++) {
            char text[1024];
            snprintf(text, sizeof text,
                     TYPES "__device__ void step(struct st *s, int n) { for (int k = 0; k < n; k++) s->sum ^= k; }\n"
                           "__ring__ void h(struct st *s, const struct in *m) {\n%s\nfor (int z = 0; z < 2; z++)\n"
                           "s->count++; }",
                     loops[i]);
            expect_same(text, &setup, faults, NULL);
            for (int k = 0; k < MESSAGES; k++) {
                assert_true(faults[k] == SLRI_FAULT_NONE || faults[k] == SLRI_FAULT_FUEL);
                out_of_fuel += faults[k] == SLRI_FAULT_FUEL;
                done += faults[k] == SLRI_FAULT_NONE;
            }
        }
    assert_true(out_of_fuel > 500 && done > 500);
}

static bool has_op(const struct slri_block *block, enum slri_op op)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (in->op == op || has_op(in->body[0], op) || has_op(in->body[1], op) || has_op(in->body[2], op))
            return true;
    }
    return false;
}

// A loop within a loop that writes only what the source writes: no fuel.
static bool has_free_nest(const struct slri_block *block, bool in_loop)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        bool is_free = in->op == SLRI_OP_LOOP && !has_op(in->body[1], SLRI_OP_STORE);
        if ((is_free && in_loop) || has_free_nest(in->body[0], is_free) || has_free_nest(in->body[1], is_free))
            return true;
    }
    return false;
}

static void loops_within_loops_pay_their_fuel_once(void **unused)
{
    (void)unused;
    static const struct {
        const char *loops;
        bool once;
    } cases[] = {
        {"for (int i = 0; i < 3; i++) for (int k = 0; k < m->b; k++) sum += k * i;", true},
        {"for (int i = 0; i < m->a; i++) { int n = m->b * 2; for (int k = n; k > 0; k--) sum += k; }", true},
        {"for (int i = 0; i < 3; i++) for (int k = i; k < 4; k++) sum += k;", false},
        {"for (int i = 0; i < 3; i++) if (i != m->b) for (int k = 0; k < 3; k++) sum += k;", false},
        {"for (int i = 0; i < 3; i++) { if (i == m->b) continue; for (int k = 0; k < 3; k++) sum += k; }", false},
        {"for (int i = 0; i < 3; i++) for (int k = 0; k < 3; k++) { sum += k; if (sum > 4) break; }", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int block = 0; block < 2; block++) {
            char text[512];
            snprintf(text, sizeof text,
                     TYPES "%sconst struct in *m) { int sum = 0; %s\nint all = sum; ring_reply(&all); }",
                     block ? BLOCK : "__ring__ void h(", cases[i].loops);
            struct slri_module *module = compile_text(text), *made = NULL;
            assert_int_equal(slri_handler_kernel(module, module->entry, &made), SLR_OK);
            bool once = false;
            for (uint32_t k = 0; k < made->functions; k++)
                once |= has_free_nest(made->function[k]->body, false);
            if (once != cases[i].once)
                fail_msg("%s: %d", cases[i].loops, once);
            slri_module_destroy(made);
            slri_module_destroy(module);
        }
}

static void loops_of_a_few_turns_are_written_out(void **unused)
{
    (void)unused;
    static const struct {
        const char *body;
        bool has_loop;
    } cases[] = {
        {"for (int i = 0; i < 5; i++) s->sum += m->a + i;", false},
        {"for (int i = 20; i >= 2; i -= 3) { if (i & 1) s->sum += i; else s->count ^= i; }", false},
        {"for (unsigned i = 1; i < 16u; i++) { int k = m->b; s->sum += k * 3; }", false},
        {"for (int i = 0; i < 17; i++) s->sum += i;", true},
        {"for (int i = 0; i < m->a; i++) s->sum += i;", true},
        {"for (int i = 0; i < 3; i++) s->sum += 10 / m->b;", true}, // a fault, which may come before that of the fuel
        {"for (int i = 0; i < 3; i++) data[i] += m->a;", true},     // outlasts it
        {"for (int i = 0; i < 3; i++) ring_reply(&i);", true},
        {"for (int i = 0; i < 3; i++) { if (i == m->a) continue; s->sum += i; }", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        uint32_t faults[MESSAGES], out_of_fuel = 0;
        struct setup setup = twelve;
        setup.max_replies = 4;
        setup.one_chain = true; // they share the buffer
        snprintf(text, sizeof text, TYPES "__ring__ void h(struct st *s, const struct in *m, int *data) { %s }",
                 cases[i].body);
        for (setup.fuel = 1; setup.fuel < 20; setup.fuel++) {
            expect_same(text, &setup, faults, NULL);
            out_of_fuel += faults[0] == SLRI_FAULT_FUEL;
        }
        assert_in_range(out_of_fuel, 1, 18);
        struct slri_module *module = compile_text(text), *made = NULL;
        assert_int_equal(slri_handler_kernel(module, module->entry, &made), SLR_OK);
        if (has_op(made->function[0]->body, SLRI_OP_LOOP) != cases[i].has_loop)
            fail_msg("%s", cases[i].body);
        slri_module_destroy(made);
        slri_module_destroy(module);
    }
}

// Whether a loop has an access to the states.
static bool loops_over_states(const struct slri_block *block, bool in_loop)
{
    bool found = false;
    for (uint32_t i = 0; block && i < block->count && !found; i++) {
        const struct slri_instr *in = &block->instr[i];
        found = in_loop && in->root.kind == SLRI_ROOT_BINDING && in->root.index == SLRI_BATCH_STATES;
        for (int part = 0; part < 3; part++)
            found |= loops_over_states(in->body[part], in_loop || in->op == SLRI_OP_LOOP);
        for (uint32_t k = 0; k < in->cases; k++)
            found |= loops_over_states(in->match[k].body, in_loop);
    }
    return found;
}

static void a_loop_keeps_words_of_the_state_in_registers(void **unused)
{
    (void)unused;
    static const struct {
        const char *body;
        bool keeps;
        uint32_t fault; // of message 4, whose b is -1
    } cases[] = {
        {"for (int i = 0; i < 50; i++) s->sum += m->a + i;", true, 0},
        {"for (int i = 0; i < m->a; i++) { s->sum += i; if (s->sum > 40) break; s->count++; }", true, 0},
        {"for (int i = 0; i < m->a; i++) for (int k = 0; k < i; k++) { s->sum += k; if (s->count == 3) continue;\n"
         "s->count = k; }",
         true, 0},
        {"for (int i = 0; i < 4; i++) { s->sum += 7; s->count += 100 / (m->b + 1); }", true, SLRI_FAULT_DIVIDE},
        {"while (1) { s->sum++; if (s->sum % 7 == m->a % 7) break; }", true, 0},
        // What leaves in the midst, is of another width, or not known before it runs, stays in memory.
        {"for (int i = 0; i < m->a; i++) { s->sum += i; if (i == 3) return; }", false, 0},
        {"for (int i = 0; i < m->a; i++) { s->sum += 7; s->last[1]++; }", false, 0},
        {"for (int i = 0; i < m->a; i++) { s->count += i; s->last[(i + m->a) & 3] += s->count; }", false, 0},
        {"for (int i = 0; i < m->a; i++) { s->count += i; struct st t = *s; t.sum++; *s = t; }", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        uint32_t faults[MESSAGES];
        struct setup setup = twelve;
        snprintf(text, sizeof text, TYPES "__ring__ void h(struct st *s, const struct in *m) { %s }", cases[i].body);
        setup.has_initial = i % 2;
        expect_same(text, &setup, faults, NULL);
        assert_int_equal(faults[4], cases[i].fault);
        struct slri_module *module = compile_text(text), *made = NULL;
        assert_int_equal(slri_handler_kernel(module, module->entry, &made), SLR_OK);
        if (loops_over_states(made->function[0]->body, false) == cases[i].keeps)
            fail_msg("%s", cases[i].body);
        slri_module_destroy(made);
        slri_module_destroy(module);
    }
}

static void nothing_that_only_handlers_have_is_left(void **unused)
{
    (void)unused;
    static const enum slri_op gone[] = {SLRI_OP_REPLY, SLRI_OP_SEND, SLRI_OP_INSTANCE, SLRI_OP_INDEX, SLRI_OP_TRAP};
    struct slri_module *module = compile_text(
        TYPES "__ring__ void h(struct st *s, const struct in *m, ring_to(struct out) to) {\n"
              "struct out o; o.value = (int)ring_instance(); ring_send(to, &o); s->last[m->a]++; ring_reply(&m->a);\n"
              "if (m->b) __trap(); }");
    struct slri_module *made = NULL;
    assert_int_equal(slri_handler_kernel(module, module->entry, &made), SLR_OK);
    assert_int_equal(made->entries, 1);
    assert_int_equal(made->entry->kind, SLRI_ENTRY_KERNEL);
    assert_string_equal(made->entry->name, "h");
    for (uint32_t i = 0; i < made->functions; i++)
        for (size_t k = 0; k < sizeof gone / sizeof *gone; k++)
            assert_false(has_op(made->function[i]->body, gone[k]));
    assert_true(has_op(module->function[module->functions - 1]->body, SLRI_OP_REPLY));
    slri_module_destroy(made);
    slri_module_destroy(module);
}

// ---- blocks --------------------------------------------------------------------------------------------------------

static void a_block_leaves_what_the_handler_does(void **unused)
{
    (void)unused;
    static const char *const bodies[] = {
        // Barriers, shared memory that is zero at first, loops in which they meet, and a reply of one thread.
        "__shared__ int part[64]; part[t] += m->a * t; __syncthreads();\n"
        "for (int half = 32; half > 0; half /= 2) { if (t < half) part[t] += part[t + half]; __syncthreads(); }\n"
        "if (t == 0) { s->sum += part[0]; s->count++; struct out o = {s->sum, ring_instance()}; ring_reply(&o); }",
        // Returned threads, before a barrier and behind it.
        "__shared__ int sum; if (t >= 40 + m->b) return; atomicAdd(&sum, t); __syncthreads(); if (t) return;\n"
        "s->sum += sum; struct out o = {sum, blockIdx.x * 100 + gridDim.x * 10 + blockDim.x}; ring_reply(&o);",
        // Warps, some of whose lanes are elsewhere.
        "unsigned mask = __ballot_sync(0xffffffffu, t % 3 != 0); int v = t * m->a; if (t % 3) v = add(mask, v); if (t "
        "== 31 + m->b % 2) { s->sum += v; struct out o = {v, 3};\n"
        "ring_reply(&o); }",
        // A loop of each thread, then one of all, by what the first gave.
        "int n = 0; while ((1 << n) < m->a + 2) n++; __shared__ int x[64]; x[t] = t;\n"
        "for (int i = 0; i < n; i++) { int y = x[(t + 1) % 64]; __syncthreads(); x[t] = y + i; __syncthreads(); }\n"
        "if (t == 9) { s->last[m->b & 3] = (unsigned char)x[9]; struct out o = {x[9], 9u}; ring_reply(&o); }",
        // Votes.
        "int c = __syncthreads_count(t < m->a), o_ = __syncthreads_or(t == m->b), a_ = __syncthreads_and(t < 64 + "
        "m->b);\n"
        "if (t == 63) { struct out o = {c * 100 + o_ * 10 + a_, 0}; ring_reply(&o); s->sum += c; }",
    };
    uint32_t faults[MESSAGES];
    struct setup setup = twelve;
    setup.fuel = 100000;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 TYPES "__device__ int add(unsigned mask, int v) { for (int o = 16; o > 0; o >>= 1)\n"
                       "v += __shfl_xor_sync(mask, v, o); return v; }\n" BLOCK
                       "struct st *s, const struct in *m) { int t = threadIdx.x;\n%s }",
                 bodies[i]);
        expect_same(text, &setup, faults, NULL);
        for (int k = 0; k < MESSAGES; k++)
            if (faults[k])
                fail_msg("body %zu message %d fault %u", i, k, faults[k]);
    }
}

static void a_fault_of_a_thread_is_the_blocks(void **unused)
{
    (void)unused;
    static const struct {
        const char *body;
        uint32_t fault;
    } cases[] = {
        {"__shared__ int a[64]; a[t] = 10 / (t - m->a); __syncthreads(); s->last[0] = 1;", SLRI_FAULT_DIVIDE},
        {"s->last[t == 33 ? m->b : 0] = 1; __syncthreads();", SLRI_FAULT_INDEX},
        {"int x = data[m->a + (t == 5)]; __syncthreads(); if (t == 3) s->sum = x;", SLRI_FAULT_ACCESS},
        {"if (t == m->a) __trap(); for (int i = 0; i < 3; i++) __syncthreads();", SLRI_FAULT_TRAP},
        {"if (t < m->b) ring_reply(&m->a); __syncthreads();", SLRI_FAULT_REPLIES},
        // Who has a fault takes the loop as often as the others, or they would wait for it.
        {"int n = 0, q = 0; for (int i = 0; i < 6; i++) { n++; q += 9 / (m->a + i - t); } if (n > 5) __syncthreads();\n"
         "int c = __syncthreads_count(q); if (t == 0) s->sum = c;",
         SLRI_FAULT_DIVIDE},
    };
    uint32_t faults[MESSAGES];
    struct setup setup = twelve;
    setup.fuel = 100000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int stops = 0; stops < 2; stops++) {
            char text[1024];
            uint32_t seen = 0;
            setup.stops = setup.one_chain = stops;
            snprintf(text, sizeof text,
                     TYPES BLOCK "struct st *s, const struct in *m, int *data) {\n"
                                 "int t = threadIdx.x; if (t == 99) data[0] = 1;\n%s }",
                     cases[i].body);
            expect_same(text, &setup, faults, NULL);
            for (int k = 0; k < MESSAGES; k++) {
                assert_true(faults[k] == SLRI_FAULT_NONE || faults[k] == cases[i].fault || faults[k] == RL_NOT_RUN);
                seen += faults[k] == cases[i].fault;
            }
            assert_true(stops ? seen == 1 : seen > 0);
        }
}

// Each thread has an equal part, for the loops that all take alike and once more for the others.
static void fuel_of_a_block_runs_out(void **unused)
{
    (void)unused;
    static const char *const loops[] = {
        "for (int i = 0; i < m->a; i++) __syncthreads();",
        "for (int i = 0; i < m->a; i++) s->last[0] = 1;",
        "unsigned x = t; while (x % 97 != (unsigned)m->b + 3) x = x * 5 + 7; s->last[1] = (unsigned char)x;",
        "for (;;) { if (__syncthreads_or(t == 1000)) break; }",
        "int n = 0; while (n < t) n += m->a - m->a; __syncthreads();",
    };
    uint32_t faults[MESSAGES], seen = 0;
    struct setup setup = twelve;
    setup.fuel = 64;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        char text[1024];
        snprintf(text, sizeof text, TYPES BLOCK "struct st *s, const struct in *m) { int t = threadIdx.x;\n%s }",
                 loops[i]);
        struct slri_module *module = compile_text(text);
        struct batch batch;
        struct way way;
        assert_int_equal(batch_open(&batch, module, module->entry), SLR_OK);
        begin_way(&way, module->entry, &setup);
        assert_int_equal(batch_run(&batch, &way.layout, way.states, sizeof way.states), SLRI_FAULT_NONE);
        for (uint32_t k = 0; k < setup.messages; k++) {
            faults[k] = batch_result(&way.layout, k)[RL_FAULT];
            assert_true(faults[k] == SLRI_FAULT_NONE || faults[k] == SLRI_FAULT_FUEL);
            seen += faults[k] == SLRI_FAULT_FUEL;
        }
        assert_true(i >= 2 || (faults[9] == SLRI_FAULT_NONE && faults[1] == SLRI_FAULT_FUEL)); // of -1 and of 2 turns
        assert_true(i != 3 || faults[0] == SLRI_FAULT_FUEL);
        batch_free(&way.layout);
        batch_close(&batch);
        slri_module_destroy(module);
    }
    assert_true(seen > 30);
}

static void what_a_block_cannot_have_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *body, *words;
    } cases[] = {
        {"\nif ((int)threadIdx.x < m->a)\n__syncthreads();", ":7: "},
        {"__shared__ char most[49152]; most[threadIdx.x] = 1;", "has 49152 B of __shared__ objects"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, TYPES BLOCK "const struct in *m) {%s }", cases[i].body);
        struct slri_module *module = compile_text(text), *made = NULL;
        assert_int_equal(slri_handler_kernel(module, module->entry, &made), SLR_UNSUPPORTED);
        assert_non_null(strstr(slr_error_message(), cases[i].words));
        assert_null(made);
        slri_module_destroy(module);
    }
}

static void what_is_no_handler_is_refused(void **unused)
{
    (void)unused;
    struct slri_module *module = compile_text("__global__ void k(int *x) { x[threadIdx.x] = 1; }"), *made = NULL;
    assert_int_equal(slri_handler_kernel(module, module->entry, &made), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), module->entry->name));
    assert_null(made);
    slri_module_destroy(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_and_states_are_those_of_the_handler),
        cmocka_unit_test(a_fault_ends_a_message_alone_and_its_state_begins_anew),
        cmocka_unit_test(a_chain_stops_at_a_fault_where_the_host_asks_for_it),
        cmocka_unit_test(what_is_sent_is_that_of_the_handler),
        cmocka_unit_test(replies_past_the_most_are_a_fault),
        cmocka_unit_test(accesses_outside_a_buffer_are_a_fault_before_they_happen),
        cmocka_unit_test(faults_in_loops_leave_them),
        cmocka_unit_test(fuel_runs_out_where_the_handlers_does),
        cmocka_unit_test(loops_within_loops_pay_their_fuel_once),
        cmocka_unit_test(loops_of_a_few_turns_are_written_out),
        cmocka_unit_test(a_loop_keeps_words_of_the_state_in_registers),
        cmocka_unit_test(nothing_that_only_handlers_have_is_left),
        cmocka_unit_test(a_block_leaves_what_the_handler_does),
        cmocka_unit_test(a_fault_of_a_thread_is_the_blocks),
        cmocka_unit_test(fuel_of_a_block_runs_out),
        cmocka_unit_test(what_a_block_cannot_have_is_refused),
        cmocka_unit_test(what_is_no_handler_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
