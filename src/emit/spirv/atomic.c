// SPDX-License-Identifier: Apache-2.0
// Atomics and fences, by Vulkan's memory model: what releases makes available, what acquires makes visible, in buffers
// and in shared memory. Its scopes end at the device, so that the system's is the device's.
//
// It has no sequential consistency. A fence that asks for it adds 0 to a word that all threads of the launch have, the
// first of its arguments: of two such one comes first, and who comes second sees all that the first has written. An
// operation that asks for it stands between two such fences.
#include "emit/spirv/internal.h"

static uint32_t scope_of(struct slri_s *s, enum slri_scope scope)
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

void slri_s_fence(struct slri_s *s, const struct slri_instr *in)
{
    if (in->order == SLRI_SEQ_CST) {
        const struct slri_s_place word = {.address = slri_s_arguments(s)};
        SLRI_MAKE(s, AtomicIAdd, slri_s_uint(s, 4), slri_s_reference(s, &word, 4),
                  scope_of(s, (enum slri_scope)in->scope), slri_s_semantics(s, true, true), slri_s_u32(s, 0));
    } else if (in->order != SLRI_RELAXED)
        SLRI_DO(s, MemoryBarrier, scope_of(s, (enum slri_scope)in->scope),
                slri_s_semantics(s, acquires(in), releases(in)));
}

// ---- operations ----------------------------------------------------------------------------------------------------

static enum slri_w_op op_of(const struct slri_instr *in)
{
    static const enum slri_w_op op[][2] = {// of unsigned, of signed
                                           [SLRI_RMW_ADD] = {SLRI_W_AtomicIAdd, SLRI_W_AtomicIAdd},
                                           [SLRI_RMW_SUB] = {SLRI_W_AtomicISub, SLRI_W_AtomicISub},
                                           [SLRI_RMW_AND] = {SLRI_W_AtomicAnd, SLRI_W_AtomicAnd},
                                           [SLRI_RMW_OR] = {SLRI_W_AtomicOr, SLRI_W_AtomicOr},
                                           [SLRI_RMW_XOR] = {SLRI_W_AtomicXor, SLRI_W_AtomicXor},
                                           [SLRI_RMW_MIN] = {SLRI_W_AtomicUMin, SLRI_W_AtomicSMin},
                                           [SLRI_RMW_MAX] = {SLRI_W_AtomicUMax, SLRI_W_AtomicSMax},
                                           [SLRI_RMW_EXCHANGE] = {SLRI_W_AtomicExchange, SLRI_W_AtomicExchange}};
    return in->op == SLRI_OP_ATOMIC_LOAD  ? SLRI_W_AtomicLoad
           : in->op == SLRI_OP_ATOMIC_CAS ? SLRI_W_AtomicCompareExchange
                                          : op[in->imm][slri_kind_is_signed(in->kind)];
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

static void put_operation(struct slri_s *s, const struct slri_instr *in, uint32_t at)
{
    const bool stores = in->op == SLRI_OP_ATOMIC_STORE, loads = in->op == SLRI_OP_ATOMIC_LOAD;
    const uint32_t type = slri_s_type(s, in->kind), scope = scope_of(s, (enum slri_scope)in->scope);
    uint32_t operand[6] = {at, scope, slri_s_semantics(s, acquires(in) && !stores, releases(in) && !loads)}, count = 3;
    uint32_t b = loads ? 0 : slri_s_get(s, in->b);
    if (in->op == SLRI_OP_ATOMIC_CAS) {
        operand[count++] = slri_s_semantics(s, acquires(in), false);
        operand[count++] = slri_s_get(s, in->c);
    }
    if (!loads)
        operand[count++] = b;
    if (stores)
        slri_w_put(&s->w, &s->w.code, SLRI_W_AtomicStore, operand, count);
    else
        slri_s_set(s, in->dst, slri_s_make(s, op_of(in), type, operand, count));
}

void slri_s_atomic(struct slri_s *s, const struct slri_instr *in)
{
    struct slri_s_place place = slri_s_place(s, in);
    if (!may_be_atomic(s, in, &place))
        return;
    if (in->order == SLRI_SEQ_CST)
        slri_s_fence(s, in);
    put_operation(s, in, slri_s_reference(s, &place, slri_kind_bytes(in->kind)));
    if (in->order == SLRI_SEQ_CST)
        slri_s_fence(s, in);
}
