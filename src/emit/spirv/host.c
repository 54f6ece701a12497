// SPDX-License-Identifier: Apache-2.0
// What a kernel tells the host: its first fault, and what it prints (engine/printed.h).
#include "emit/spirv/internal.h"

// The first thread's is told; its thread goes on.
static void write_fault(struct slri_s *s)
{
    uint32_t u32 = slri_s_uint(s, 4), zero = slri_s_u32(s, 0);
    const uint32_t type[4] = {slri_s_type(s, SLRI_VOID), u32, u32, u32};
    uint32_t param[3];
    s->fault_function = slri_w_id(&s->w);
    slri_s_begin_function(s, s->fault_function, type, 4, param);
    uint32_t to = slri_s_given_address(s, s->facts.faulted);
    struct slri_s_place place = slri_s_place_at(to, 0), file = slri_s_place_at(to, 4), line = slri_s_place_at(to, 8);
    uint32_t was = SLRI_MAKE(s, AtomicCompareExchange, u32, slri_s_reference(s, &place, 4),
                             slri_s_scope(s, SLRI_SCOPE_DEVICE), zero, zero, param[0], zero);
    uint32_t merge = slri_s_if(s, SLRI_MAKE(s, IEqual, slri_s_bool(s), was, zero));
    slri_s_store_bits(s, &file, 4, param[1]);
    slri_s_store_bits(s, &line, 4, param[2]);
    slri_s_end_if(s, merge);
    slri_s_finish_function(s);
}

// A byte of what the kernel prints, by its distance from the head.
static struct slri_s_place printed_at(struct slri_s *s, uint32_t to, uint32_t offset)
{
    if (!s->words)
        offset = SLRI_MAKE(s, UConvert, slri_s_uint(s, 8), offset);
    return (struct slri_s_place){.address = to, .offset = offset};
}

// Takes room for a record: gives how far its values lie behind the head, or 0.
static void write_print(struct slri_s *s)
{
    uint32_t u32 = slri_s_uint(s, 4), boolean = slri_s_bool(s), zero = slri_s_u32(s, 0);
    const uint32_t type[3] = {u32, u32, u32};
    uint32_t param[2];
    s->print_function = slri_w_id(&s->w);
    slri_s_begin_function(s, s->print_function, type, 3, param);
    uint32_t result = slri_s_own(s, u32, zero), seen = slri_s_own(s, u32, 0);
    uint32_t to = slri_s_given_address(s, s->facts.printed);
    struct slri_s_place used = slri_s_place_at(to, 0), lost = slri_s_place_at(to, 4), room = slri_s_place_at(to, 8);
    uint32_t heard = slri_s_if(s, slri_s_is_address(s, to));
    uint32_t words = SLRI_MAKE(s, IAdd, u32, param[1], slri_s_u32(s, 1));
    SLRI_DO(s, Store, seen, slri_s_update(s, SLRI_W_AtomicIAdd, &used, SLRI_SCOPE_DEVICE, zero));
    const struct slri_s_loop loop = slri_s_loop(s);
    slri_s_begin_loop(s, &loop);
    uint32_t at = SLRI_MAKE(s, Load, u32, seen);
    uint32_t left = SLRI_MAKE(s, ISub, u32, slri_s_load_bits(s, &room, 4), at);
    uint32_t full = slri_s_if(s, SLRI_MAKE(s, UGreaterThan, boolean, words, left));
    slri_s_update(s, SLRI_W_AtomicIAdd, &lost, SLRI_SCOPE_DEVICE, slri_s_u32(s, 1));
    slri_s_branch(s, loop.merge);
    slri_s_begin(s, full);
    uint32_t was = SLRI_MAKE(s, AtomicCompareExchange, u32, slri_s_reference(s, &used, 4),
                             slri_s_scope(s, SLRI_SCOPE_DEVICE), zero, zero, SLRI_MAKE(s, IAdd, u32, at, words), at);
    SLRI_DO(s, Store, seen, was);
    uint32_t again = slri_s_if(s, SLRI_MAKE(s, IEqual, boolean, was, at));
    uint32_t bytes = SLRI_MAKE(s, ShiftLeftLogical, u32, at, slri_s_u32(s, 3));
    struct slri_s_place record = printed_at(s, to, bytes), format = slri_s_behind(&record, 16),
                        values = slri_s_behind(&record, 20);
    slri_s_store_bits(s, &format, 4, param[0]);
    slri_s_store_bits(s, &values, 4, param[1]);
    SLRI_DO(s, Store, result, SLRI_MAKE(s, IAdd, u32, bytes, slri_s_u32(s, 24)));
    slri_s_branch(s, loop.merge);
    slri_s_begin(s, again);
    slri_s_branch(s, loop.next);
    slri_s_begin(s, loop.next);
    slri_s_branch(s, loop.header);
    slri_s_begin(s, loop.merge);
    slri_s_end_if(s, heard);
    slri_s_return(s, SLRI_MAKE(s, Load, u32, result));
    slri_s_finish_function(s);
}

void slri_s_host_functions(struct slri_s *s)
{
    if (s->facts.faulted != SLRI_ARGUMENT_NONE)
        write_fault(s);
    if (s->facts.printed != SLRI_ARGUMENT_NONE)
        write_print(s);
}

void slri_s_fault(struct slri_s *s, const struct slri_instr *in)
{
    if (s->fault_function)
        SLRI_MAKE(s, FunctionCall, slri_s_type(s, SLRI_VOID), s->fault_function, slri_s_u32(s, (uint32_t)in->imm),
                  slri_s_u32(s, in->where.file), slri_s_u32(s, in->where.line));
}

// Each value is two words.
void slri_s_print(struct slri_s *s, const struct slri_instr *in)
{
    uint32_t at = SLRI_MAKE(s, FunctionCall, slri_s_uint(s, 4), s->print_function, slri_s_u32(s, (uint32_t)in->imm),
                            slri_s_u32(s, in->args / 2));
    uint32_t merge = slri_s_if(s, SLRI_MAKE(s, INotEqual, slri_s_bool(s), at, slri_s_u32(s, 0)));
    uint32_t to = slri_s_given_address(s, s->facts.printed);
    struct slri_s_place place = printed_at(s, to, at);
    for (uint32_t i = 0; i < in->args; i++) {
        struct slri_s_place value = slri_s_behind(&place, UINT64_C(4) * i);
        slri_s_store_bits(s, &value, 4, slri_s_get(s, in->arg[i].reg));
    }
    slri_s_end_if(s, merge);
}
