// SPDX-License-Identifier: Apache-2.0
// Threads that share memory: interleaved by a seeded schedule, and on native threads at once.
#include "base/thread.h"
#include "run/interpreter_test.h"

enum { ITEMS = 200, SCHEDULES = 200, NATIVE_ROUNDS = 20000 };

static const struct slri_root BUFFER = {SLRI_ROOT_BINDING, 0};

static struct slri_instr *emit_atomic(struct kit *kit, enum slri_op op, enum slri_kind kind, uint8_t order,
                                      slri_reg offset)
{
    struct slri_instr *in = kit_emit(kit, op, kind);
    in->root = BUFFER;
    in->a = offset;
    in->order = order;
    in->scope = SLRI_SCOPE_SYSTEM;
    return in;
}

// while (atomic_load(word 0) != value) ;
static void emit_wait(struct kit *kit, slri_reg value)
{
    struct slri_instr loop = {.do_while = false};
    struct slri_block *outer = kit_into(kit, &loop.body[0]);
    slri_reg zero = kit_const(kit, SLRI_I64, 0), seen = kit_reg(kit, SLRI_I32);
    emit_atomic(kit, SLRI_OP_ATOMIC_LOAD, SLRI_I32, SLRI_ACQUIRE, zero)->dst = seen;
    loop.a = kit_op(kit, SLRI_OP_NE, SLRI_I32, seen, value);
    kit_into(kit, &loop.body[1]);
    kit->block = outer;
    struct slri_instr *in = kit_emit(kit, SLRI_OP_LOOP, SLRI_VOID);
    in->a = loop.a;
    memcpy(in->body, loop.body, sizeof in->body);
}

static void emit_publish(struct kit *kit, slri_reg value)
{
    slri_reg zero = kit_const(kit, SLRI_I64, 0);
    emit_atomic(kit, SLRI_OP_ATOMIC_STORE, SLRI_I32, SLRI_RELEASE, zero)->b = value;
}

// For each i from 1: wait for word 0 to be 0, word 1 = 3 i, word 0 = i.
static void write_producer(struct kit *kit)
{
    kit_open(kit);
    kit_handler(kit);
    kit_buffer(kit);
    slri_reg n = kit_load(kit, SLRI_I32, MESSAGE, 0);
    struct kit_counted c = kit_begin_counted(kit, n);
    emit_wait(kit, kit_i32(kit, 0));
    slri_reg next = kit_op(kit, SLRI_OP_ADD, SLRI_I32, c.i, kit_i32(kit, 1));
    kit_store(kit, SLRI_I32, BUFFER, 4, kit_op(kit, SLRI_OP_MUL, SLRI_I32, next, kit_i32(kit, 3)));
    emit_publish(kit, next);
    kit_end_counted(kit, &c);
}

// For each i from 1: wait for word 0 to be i, add word 1 to a sum in the state, word 0 = 0.
static void write_consumer(struct kit *kit)
{
    kit_open(kit);
    kit_handler(kit);
    kit_buffer(kit);
    slri_reg n = kit_load(kit, SLRI_I32, MESSAGE, 0), sum = kit_reg(kit, SLRI_I32);
    struct kit_counted c = kit_begin_counted(kit, n);
    emit_wait(kit, kit_op(kit, SLRI_OP_ADD, SLRI_I32, c.i, kit_i32(kit, 1)));
    kit_add(kit, sum, kit_load(kit, SLRI_I32, BUFFER, 4));
    emit_publish(kit, kit_i32(kit, 0));
    kit_end_counted(kit, &c);
    kit_store(kit, SLRI_I32, STATE, 0, sum);
}

// Adds 1 to the U64 at 8 with read-modify-write, and 1 to the I32 at 16 by compare-and-swap until it succeeds, n times.
static void write_counter(struct kit *kit)
{
    kit_open(kit);
    kit_handler(kit);
    kit_buffer(kit);
    slri_reg n = kit_load(kit, SLRI_I32, MESSAGE, 0), one = kit_i32(kit, 1), old = kit_reg(kit, SLRI_I32);
    slri_reg guess = kit_reg(kit, SLRI_I32), wider = kit_const(kit, SLRI_U64, 1), old_wide = kit_reg(kit, SLRI_U64);
    struct kit_counted c = kit_begin_counted(kit, n);
    slri_reg at = kit_const(kit, SLRI_I64, 8);
    struct slri_instr *in = emit_atomic(kit, SLRI_OP_ATOMIC_RMW, SLRI_U64, SLRI_RELAXED, at);
    in->dst = old_wide;
    in->b = wider;
    in->imm = SLRI_RMW_ADD;
    struct slri_instr loop = {.do_while = true};
    struct slri_block *outer = kit_into(kit, &loop.body[1]);
    kit_move(kit, guess, old);
    at = kit_const(kit, SLRI_I64, 16);
    slri_reg next = kit_op(kit, SLRI_OP_ADD, SLRI_I32, guess, one);
    in = emit_atomic(kit, SLRI_OP_ATOMIC_CAS, SLRI_I32, SLRI_ACQ_REL, at);
    in->dst = old;
    in->b = guess;
    in->c = next;
    kit_into(kit, &loop.body[0]);
    loop.a = kit_op(kit, SLRI_OP_NE, SLRI_I32, old, guess);
    kit->block = outer;
    in = kit_emit(kit, SLRI_OP_LOOP, SLRI_VOID);
    in->do_while = true;
    in->a = loop.a;
    memcpy(in->body, loop.body, sizeof in->body);
    kit_end_counted(kit, &c);
}

// ---- two parties ----------------------------------------------------------------------------------------------------

struct party {
    struct kit kit;
    struct slri_interp *interp;
    struct slri_interp_thread *thread;
    struct slri_call call;
    struct slri_bound bound;
    int32_t message[MESSAGE_BYTES / 4];
    int32_t state[STATE_BYTES / 4];
    uint32_t fault;
};

static void open_party(struct party *party, void (*write)(struct kit *), int32_t items, uint64_t *memory)
{
    *party = (struct party){.message = {items}, .bound = {memory, 24}};
    write(&party->kit);
    kit_prepare(&party->kit, &party->interp, &party->thread);
    party->call = (struct slri_call){
        .state = party->state, .message = party->message, .bound = &party->bound, .fuel = UINT64_MAX};
}

static void close_party(struct party *party)
{
    slri_interp_thread_destroy(party->thread);
    slri_interp_destroy(party->interp);
    kit_close(&party->kit);
}

static uint64_t next_random(uint64_t *seed) // xorshift64, Marsaglia 2003
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void interleave(struct party party[2], uint64_t seed)
{
    enum slri_progress progress[2] = {SLRI_RUNNING, SLRI_RUNNING};
    slri_interp_thread_start(party[0].thread, &party[0].call);
    slri_interp_thread_start(party[1].thread, &party[1].call);
    while (progress[0] == SLRI_RUNNING || progress[1] == SLRI_RUNNING) {
        uint64_t random = next_random(&seed), who = random & 1;
        progress[who] = slri_interp_step(party[who].thread, 1 + (random >> 8) % 7, NULL);
    }
    assert_int_equal(progress[0], SLRI_DONE);
    assert_int_equal(progress[1], SLRI_DONE);
}

static void run_native(void *arg)
{
    struct party *party = arg;
    party->fault = slri_interp_handler(party->thread, &party->call);
}

static void run_both_natively(struct party party[2])
{
    slri_thread native[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(slri_thread_start(&native[i], "party", run_native, &party[i]), 0);
    for (int i = 0; i < 2; i++)
        slri_thread_join(&native[i]);
    assert_int_equal(party[0].fault, SLRI_FAULT_NONE);
    assert_int_equal(party[1].fault, SLRI_FAULT_NONE);
}

static void a_flag_word_passes_every_item_in_every_interleaving(void **unused)
{
    uint64_t memory[3] = {0};
    struct party party[2];
    (void)unused;
    open_party(&party[0], write_producer, ITEMS, memory);
    open_party(&party[1], write_consumer, ITEMS, memory);
    for (uint64_t seed = 1; seed <= SCHEDULES; seed++) {
        party[1].state[0] = 0;
        interleave(party, seed);
        assert_int_equal(party[1].state[0], 3 * ITEMS * (ITEMS + 1) / 2);
    }
    close_party(&party[0]);
    close_party(&party[1]);
}

static void counters_are_exact_in_every_interleaving(void **unused)
{
    uint64_t memory[3] = {0};
    struct party party[2];
    (void)unused;
    open_party(&party[0], write_counter, ITEMS, memory);
    open_party(&party[1], write_counter, ITEMS, memory);
    for (uint64_t seed = 1; seed <= SCHEDULES; seed++) {
        memset(memory, 0, sizeof memory);
        interleave(party, seed);
        assert_int_equal(memory[1], 2 * ITEMS);
        assert_int_equal(memory[2], 2 * ITEMS);
    }
    close_party(&party[0]);
    close_party(&party[1]);
}

static void native_threads_pass_items_and_count_exactly(void **unused)
{
    uint64_t memory[3] = {0};
    struct party party[2];
    (void)unused;
    open_party(&party[0], write_producer, ITEMS, memory);
    open_party(&party[1], write_consumer, ITEMS, memory);
    run_both_natively(party);
    assert_int_equal(party[1].state[0], 3 * ITEMS * (ITEMS + 1) / 2);
    close_party(&party[0]);
    close_party(&party[1]);

    open_party(&party[0], write_counter, NATIVE_ROUNDS, memory);
    open_party(&party[1], write_counter, NATIVE_ROUNDS, memory);
    run_both_natively(party);
    assert_int_equal(memory[1], 2 * NATIVE_ROUNDS);
    assert_int_equal(memory[2], 2 * NATIVE_ROUNDS);
    close_party(&party[0]);
    close_party(&party[1]);
}

// ---- what each read-modify-write leaves -----------------------------------------------------------------------------

static void check_rmw(enum slri_kind kind, enum slri_rmw rmw, uint8_t order, union slri_scalar old, union slri_scalar b,
                      union slri_scalar wanted)
{
    struct kit kit;
    kit_open(&kit);
    kit_handler(&kit);
    slri_reg at = kit_const(&kit, SLRI_I64, 8), operand = kit_load(&kit, kind, MESSAGE, 0), dst = kit_reg(&kit, kind);
    struct slri_instr *in = kit_emit(&kit, SLRI_OP_ATOMIC_RMW, kind);
    in->root = STATE;
    in->a = at;
    in->b = operand;
    in->dst = dst;
    in->imm = rmw;
    in->order = order;
    kit_store(&kit, kind, STATE, 16, dst);
    union slri_scalar state[STATE_BYTES / 8] = {{0}}, message[MESSAGE_BYTES / 8] = {b};
    state[1] = old;
    assert_int_equal(kit_handle(&kit, state, message), SLRI_FAULT_NONE);
    assert_memory_equal(&state[1], &wanted, slri_kind_bytes(kind));
    assert_memory_equal(&state[2], &old, slri_kind_bytes(kind));
    kit_close(&kit);
}

#define I(value) ((union slri_scalar){.i64 = (value)})
#define F(value) ((union slri_scalar){.f32 = (value)})
#define D(value) ((union slri_scalar){.f64 = (value)})

static void read_modify_write_gives_the_old_value_and_leaves_the_new(void **unused)
{
    (void)unused;
    for (uint8_t order = SLRI_RELAXED; order <= SLRI_SEQ_CST; order++) {
        for (int kind = SLRI_I32; kind <= SLRI_U64; kind++) {
            enum slri_kind k = (enum slri_kind)kind;
            bool is_signed = slri_kind_is_signed(k);
            check_rmw(k, SLRI_RMW_ADD, order, I(-1), I(3), I(2));
            check_rmw(k, SLRI_RMW_SUB, order, I(2), I(3), I(-1));
            check_rmw(k, SLRI_RMW_AND, order, I(12), I(-7), I(8));
            check_rmw(k, SLRI_RMW_OR, order, I(12), I(3), I(15));
            check_rmw(k, SLRI_RMW_XOR, order, I(12), I(10), I(6));
            check_rmw(k, SLRI_RMW_MIN, order, I(-4), I(3), is_signed ? I(-4) : I(3));
            check_rmw(k, SLRI_RMW_MAX, order, I(-4), I(3), is_signed ? I(3) : I(-4));
            check_rmw(k, SLRI_RMW_EXCHANGE, order, I(-4), I(3), I(3));
        }
    }
    check_rmw(SLRI_F32, SLRI_RMW_ADD, SLRI_RELAXED, F(1.5f), F(-4.0f), F(-2.5f));
    check_rmw(SLRI_F32, SLRI_RMW_MAX, SLRI_RELAXED, F(1.5f), F(-4.0f), F(1.5f));
    check_rmw(SLRI_F64, SLRI_RMW_SUB, SLRI_RELAXED, D(1.5), D(-4.0), D(5.5));
    check_rmw(SLRI_F64, SLRI_RMW_EXCHANGE, SLRI_RELAXED, D(1.5), D(-4.0), D(-4.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flag_word_passes_every_item_in_every_interleaving),
        cmocka_unit_test(counters_are_exact_in_every_interleaving),
        cmocka_unit_test(native_threads_pass_items_and_count_exactly),
        cmocka_unit_test(read_modify_write_gives_the_old_value_and_leaves_the_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
