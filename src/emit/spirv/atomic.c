// SPDX-License-Identifier: Apache-2.0
// Atomics and fences, by Vulkan's memory model: what releases makes available, what acquires makes visible, in buffers
// and in shared memory. Its scopes end at the device, so that the system's is the device's.
//
// It has no sequential consistency. A fence that asks for it adds 0 to a word that all threads of the launch have, the
// first of its arguments: of two such one comes first, and who comes second sees all that the first has written. An
// operation that asks for it stands between two such fences.
#include "emit/spirv/internal.h"

uint32_t slri_s_scope(struct slri_s *s, enum slri_scope scope)
{
    if (scope == SLRI_SCOPE_BLOCK)
        return slri_s_u32(s, SLRI_SCOPE_IN_WORKGROUP);
    if (!(s->options.has & SLRI_SPIRV_DEVICE_SCOPE))
        return slri_s_u32(s, SLRI_SCOPE_IN_QUEUE);
    slri_w_capability(&s->w, SLRI_CAP_VulkanMemoryModelDeviceScope);
    s->needs |= SLRI_SPIRV_DEVICE_SCOPE;
    return slri_s_u32(s, SLRI_SCOPE_IN_DEVICE);
}

uint32_t slri_s_semantics(struct slri_s *s, bool acquires, bool releases)
{
    if (!acquires && !releases)
        return slri_s_u32(s, 0);
    uint32_t order = acquires && releases ? SLRI_SEMANTICS_ACQ_REL
                     : acquires           ? SLRI_SEMANTICS_ACQUIRE
                                          : SLRI_SEMANTICS_RELEASE;
    return slri_s_u32(s, order | SLRI_SEMANTICS_MEMORY | (acquires ? SLRI_SEMANTICS_VISIBLE : 0) |
                             (releases ? SLRI_SEMANTICS_AVAILABLE : 0));
}

static bool acquires(const struct slri_instr *in)
{
    return in->order == SLRI_ACQUIRE || in->order >= SLRI_ACQ_REL;
}

static bool releases(const struct slri_instr *in)
{
    return in->order >= SLRI_RELEASE;
}

static void put_fence(struct slri_s *s, const struct slri_instr *in)
{
    if (in->order == SLRI_SEQ_CST) {
        struct slri_s_place word = slri_s_place_at(s, slri_s_arguments(s));
        SLRI_MAKE(s, AtomicIAdd, slri_s_uint(s, 4), slri_s_reference(s, &word, 4),
                  slri_s_scope(s, (enum slri_scope)in->scope), slri_s_semantics(s, true, true), slri_s_u32(s, 0));
    } else if (in->order != SLRI_RELAXED)
        SLRI_DO(s, MemoryBarrier, slri_s_scope(s, (enum slri_scope)in->scope),
                slri_s_semantics(s, acquires(in), releases(in)));
}

// ---- operations ----------------------------------------------------------------------------------------------------

struct atomic {
    const struct slri_instr *in;
    uint32_t at, bytes, type, scope, semantics; // type: the integer's
};

static uint32_t exchange(struct slri_s *s, const struct atomic *a, uint32_t old, uint32_t put)
{
    uint32_t failed = slri_s_semantics(s, acquires(a->in), false);
    return SLRI_MAKE(s, AtomicCompareExchange, a->type, a->at, a->scope, a->semantics, failed, put, old);
}

static uint32_t combined(struct slri_s *s, const struct slri_instr *in, uint32_t type, uint32_t seen, uint32_t b)
{
    uint32_t boolean = slri_s_bool(s), one = slri_s_u32(s, 1), zero = slri_s_u32(s, 0);
    if (slri_kind_is_float(in->kind)) {
        uint32_t real = slri_s_type(s, in->kind), a = SLRI_MAKE(s, Bitcast, real, seen);
        uint32_t sum = in->imm == SLRI_RMW_ADD ? SLRI_MAKE(s, FAdd, real, a, b) : SLRI_MAKE(s, FSub, real, a, b);
        return SLRI_MAKE(s, Bitcast, type, sum);
    }
    if (in->imm == SLRI_RMW_INCREMENT) {
        uint32_t more = SLRI_MAKE(s, IAdd, type, seen, one);
        return SLRI_MAKE(s, Select, type, SLRI_MAKE(s, UGreaterThanEqual, boolean, seen, b), zero, more);
    }
    uint32_t less = SLRI_MAKE(s, ISub, type, seen, one);
    uint32_t above = SLRI_MAKE(s, UGreaterThan, boolean, seen, b);
    above = SLRI_MAKE(s, LogicalOr, boolean, above, SLRI_MAKE(s, IEqual, boolean, seen, zero));
    return SLRI_MAKE(s, Select, type, above, b, less);
}

// What SPIR-V has no instruction for: until nobody has come between.
static uint32_t by_exchange(struct slri_s *s, const struct atomic *a, uint32_t b)
{
    uint32_t seen = slri_s_own(s, a->type, 0), boolean = slri_s_bool(s);
    const struct slri_s_loop loop = slri_s_loop(s);
    SLRI_DO(s, Store, seen, SLRI_MAKE(s, AtomicLoad, a->type, a->at, a->scope, slri_s_u32(s, 0)));
    slri_s_begin_loop(s, &loop);
    uint32_t old = SLRI_MAKE(s, Load, a->type, seen);
    uint32_t was = exchange(s, a, old, combined(s, a->in, a->type, old, b));
    SLRI_DO(s, Store, seen, was);
    SLRI_DO(s, BranchConditional, SLRI_MAKE(s, IEqual, boolean, was, old), loop.merge, loop.next);
    slri_s_begin(s, loop.next);
    slri_s_branch(s, loop.header);
    slri_s_begin(s, loop.merge);
    return SLRI_MAKE(s, Load, a->type, seen);
}

static uint32_t put_rmw(struct slri_s *s, const struct atomic *a)
{
    const struct slri_instr *in = a->in;
    bool is_float = slri_kind_is_float(in->kind), is_signed = slri_kind_is_signed(in->kind);
    static const enum slri_w_op direct[] = {
        [SLRI_RMW_ADD] = SLRI_W_AtomicIAdd, [SLRI_RMW_SUB] = SLRI_W_AtomicISub,
        [SLRI_RMW_AND] = SLRI_W_AtomicAnd,  [SLRI_RMW_OR] = SLRI_W_AtomicOr,
        [SLRI_RMW_XOR] = SLRI_W_AtomicXor,  [SLRI_RMW_MIN] = SLRI_W_AtomicUMin,
        [SLRI_RMW_MAX] = SLRI_W_AtomicUMax, [SLRI_RMW_EXCHANGE] = SLRI_W_AtomicExchange};
    uint32_t b = slri_s_get(s, in->b);
    if (in->imm >= SLRI_RMW_INCREMENT || (is_float && in->imm != SLRI_RMW_EXCHANGE))
        return by_exchange(s, a, b);
    b = slri_s_as_bits(s, in->kind, b);
    enum slri_w_op op = direct[in->imm];
    if (is_signed && in->imm == SLRI_RMW_MIN)
        op = SLRI_W_AtomicSMin;
    if (is_signed && in->imm == SLRI_RMW_MAX)
        op = SLRI_W_AtomicSMax;
    const uint32_t operand[4] = {a->at, a->scope, a->semantics, b};
    return slri_s_make(s, op, a->type, operand, 4);
}

static bool may_be_atomic(struct slri_s *s, const struct slri_instr *in, const struct slri_s_place *place)
{
    uint32_t bytes = slri_kind_bytes(in->kind);
    if (!place->address && place->array.element != bytes) {
        slri_s_refuse(s, in, "this memory has accesses narrower than its 64-bit atomics",
                      "give the atomics a shared array of their own");
        return false;
    }
    if (bytes != 8)
        return true;
    slri_w_capability(&s->w, SLRI_CAP_Int64Atomics);
    return slri_s_need(s, place->address ? SLRI_SPIRV_ATOMICS64_BIT : SLRI_SPIRV_SHARED_ATOMICS64_BIT, in);
}

static uint32_t put_operation(struct slri_s *s, const struct atomic *a)
{
    switch (a->in->op) {
    case SLRI_OP_ATOMIC_LOAD:
        return SLRI_MAKE(s, AtomicLoad, a->type, a->at, a->scope, slri_s_semantics(s, acquires(a->in), false));
    case SLRI_OP_ATOMIC_STORE: {
        uint32_t value = slri_s_as_bits(s, a->in->kind, slri_s_get(s, a->in->b));
        SLRI_DO(s, AtomicStore, a->at, a->scope, slri_s_semantics(s, false, releases(a->in)), value);
        return 0;
    }
    case SLRI_OP_ATOMIC_CAS: {
        uint32_t old = slri_s_as_bits(s, a->in->kind, slri_s_get(s, a->in->b));
        uint32_t put = slri_s_as_bits(s, a->in->kind, slri_s_get(s, a->in->c));
        return exchange(s, a, old, put);
    }
    default:
        return put_rmw(s, a);
    }
}

uint32_t slri_s_update(struct slri_s *s, enum slri_w_op op, const struct slri_s_place *place, enum slri_scope scope,
                       uint32_t value)
{
    const uint32_t operand[4] = {slri_s_reference(s, place, 4), slri_s_scope(s, scope), slri_s_u32(s, 0), value};
    return slri_s_make(s, op, slri_s_uint(s, 4), operand, 4);
}

void slri_s_atomic(struct slri_s *s, const struct slri_instr *in)
{
    if (in->op == SLRI_OP_FENCE) {
        put_fence(s, in);
        return;
    }
    struct slri_s_place place = slri_s_place(s, in, in->root, in->a);
    if (!may_be_atomic(s, in, &place))
        return;
    struct atomic a = {.in = in, .bytes = slri_kind_bytes(in->kind)};
    a.at = slri_s_reference(s, &place, a.bytes);
    a.type = slri_s_uint(s, a.bytes);
    a.scope = slri_s_scope(s, (enum slri_scope)in->scope);
    a.semantics = slri_s_semantics(s, acquires(in), releases(in));
    if (in->order == SLRI_SEQ_CST)
        put_fence(s, in);
    uint32_t result = put_operation(s, &a);
    if (in->order == SLRI_SEQ_CST)
        put_fence(s, in);
    if (in->dst != SLRI_NO_REG && result)
        slri_s_set(s, in->dst, slri_s_of_bits(s, in->kind, result));
}
