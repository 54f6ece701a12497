// SPDX-License-Identifier: Apache-2.0
// The kernel around a handler: a thread goes through a chain of messages, calls the handler on each and writes its
// record.
#include "ir/pass/handler_kernel.h"

#include "abi/handler.h"
#include "abi/mailbox_layout.h"
#include "abi/relaunch.h"
#include "base/status.h"
#include "ir/pass/level.h"
#include "ir/pass/lower.h"
#include "ir/type.h"

#include <stdio.h>
#include <string.h>

// ---- a record ------------------------------------------------------------------------------------------------------

static slri_reg to_wide(struct slri_lowering *l, slri_reg word)
{
    return slri_lower_convert(l, SLRI_U64, word);
}

static slri_reg add_bytes(struct slri_lowering *l, slri_reg offset, uint64_t bytes)
{
    return bytes == 0 ? offset : slri_lower_op(l, SLRI_OP_ADD, SLRI_I64, offset, slri_lower_const(l, SLRI_I64, bytes));
}

void slri_lower_put_word(struct slri_lowering *l, slri_reg record, uint32_t word, slri_reg value)
{
    slri_lower_store(l, SLRI_U32, slri_lower_root(SLRI_BATCH_RESULTS), add_bytes(l, record, UINT64_C(4) * word), value);
}

static slri_reg word_of_call(struct slri_lowering *l, uint32_t word)
{
    return slri_lower_convert(l, SLRI_U32, slri_lower_get(l, word));
}

// ---- a message -----------------------------------------------------------------------------------------------------

slri_reg slri_lower_word_of(struct slri_lowering *l, slri_reg at, uint32_t word)
{
    return slri_lower_load(l, SLRI_U32, slri_lower_root(SLRI_BATCH_IN), add_bytes(l, at, UINT64_C(4) * word));
}

// Of the message in hand, in a kernel that stays.
slri_reg slri_lower_stay_word(struct slri_lowering *l, uint32_t word)
{
    slri_reg at = slri_lower_const(l, SLRI_I64, UINT64_C(4) * word);
    return slri_lower_load(l, SLRI_U32, slri_lower_root(SLRI_STAY_RECORD), at);
}

// Of a message.
static slri_reg whole_fuel(struct slri_lowering *l)
{
    return slri_lower_load(l, SLRI_U64, slri_lower_root(SLRI_BATCH_CONSTANTS),
                           slri_lower_const(l, SLRI_I64, UINT64_C(4) * RL_FUEL));
}

void slri_lower_begin_call(struct slri_lowering *l, const struct slri_lower_message *m, slri_reg fuel)
{
    slri_reg none = slri_lower_const(l, SLRI_U64, 0);
    slri_lower_put(l, SLRI_CALL_FUEL, fuel);
    for (uint32_t word = SLRI_CALL_FAULT; word <= SLRI_CALL_LINE; word++)
        slri_lower_put(l, word, none);
    if (l->handler->function->uses & SLRI_USES_INSTANCE)
        slri_lower_put(l, SLRI_CALL_INSTANCE,
                       to_wide(l, slri_lower_word_of(l, m->at, l->around ? MB_INSTANCE : RL_INSTANCE)));
    if (l->handler->state) {
        slri_reg state = l->around ? slri_lower_stay_word(l, SLRI_STAY_STATE) : slri_lower_word_of(l, m->at, RL_STATE);
        slri_reg stride = slri_lower_const(l, SLRI_U64, RL_STATE_STRIDE(l->handler->state->bytes));
        slri_lower_put(l, SLRI_CALL_STATE, slri_lower_op(l, SLRI_OP_MUL, SLRI_U64, to_wide(l, state), stride));
    }
    slri_lower_put(l, SLRI_CALL_MESSAGE, to_wide(l, add_bytes(l, m->at, RL_PAYLOAD)));
    slri_lower_put(l, SLRI_CALL_RECORD, to_wide(l, m->record));
    if (l->is_block) {
        slri_lower_put(l, SLRI_CALL_TURNS, fuel);
        return;
    }
    slri_lower_put(l, SLRI_CALL_REPLIES, none);
    for (uint32_t i = 0; i < l->handler->bindings; i++)
        if (l->handler->binding[i].is_outlet)
            slri_lower_put(l, SLRI_CALL_SENT + i, none);
}

void slri_lower_call_handler(struct slri_lowering *l)
{
    const uint32_t args = l->is_block ? 2 : 1;
    struct slri_arg *arg = slri_region_take(l->region, 2 * sizeof *arg);
    l->out_of_memory |= arg == NULL;
    for (uint32_t i = 0; arg && i < args; i++)
        arg[i] = (struct slri_arg){slri_lower_const(l, SLRI_I64, 0), i == 0 ? l->call : l->common};
    struct slri_instr *call = slri_lower_append(l, SLRI_OP_CALL, SLRI_VOID);
    call->callee = l->made[l->handler->function->index];
    call->arg = arg;
    call->args = arg ? args : 0;
}

// ---- a state that begins anew --------------------------------------------------------------------------------------

// What is at byte `i` of it, from the constants, or 0.
static void put_initial(struct slri_lowering *l, enum slri_kind kind, slri_reg initial, slri_reg state, slri_reg i)
{
    const enum slri_kind in_register = slri_kind_in_register(kind);
    slri_reg value = slri_lower_variable(l, in_register, "value"), none = slri_lower_const(l, SLRI_U32, 0);
    slri_lower_set_const(l, value, in_register, 0);
    struct slri_block *behind = slri_lower_if(l, slri_lower_op(l, SLRI_OP_NE, SLRI_U32, initial, none), NULL);
    slri_reg at = slri_lower_convert(l, SLRI_I64, slri_lower_op(l, SLRI_OP_ADD, SLRI_U32, initial, i));
    slri_reg word = slri_lower_load(l, kind, slri_lower_root(SLRI_BATCH_CONSTANTS), at);
    slri_lower_set(l, value, SLRI_OP_MOVE, in_register, word, SLRI_NO_REG);
    l->block = behind;
    at = slri_lower_op(l, SLRI_OP_ADD, SLRI_I64, state, slri_lower_convert(l, SLRI_I64, i));
    slri_lower_store(l, kind, slri_lower_root(SLRI_BATCH_STATES), at, value);
}

// By whole words where it is of these.
void slri_lower_reset_state(struct slri_lowering *l)
{
    const uint32_t width = l->handler->state->bytes % 4 == 0 ? 4 : 1;
    slri_reg bytes = slri_lower_constant(l, RL_STATE_BYTES), initial = slri_lower_constant(l, RL_INITIAL_AT);
    slri_reg state = slri_lower_convert(l, SLRI_I64, slri_lower_get(l, SLRI_CALL_STATE));
    slri_reg i = slri_lower_variable(l, SLRI_U32, "i"), step = slri_lower_const(l, SLRI_U32, width);
    slri_lower_set_const(l, i, SLRI_U32, 0);
    struct slri_block *behind = slri_lower_for(l, i, bytes, step);
    put_initial(l, width == 4 ? SLRI_U32 : SLRI_U8, initial, state, i);
    l->block = behind;
}

// ---- the kernel ----------------------------------------------------------------------------------------------------

slri_reg slri_lower_clock(struct slri_lowering *l)
{
    slri_reg dst = slri_lower_reg(l, SLRI_U64);
    slri_lower_append(l, SLRI_OP_CLOCK, SLRI_U64)->dst = dst;
    return dst;
}

void slri_lower_ticks(struct slri_lowering *l, slri_reg record, slri_reg began)
{
    slri_reg took = slri_lower_op(l, SLRI_OP_SUB, SLRI_U64, slri_lower_clock(l), began);
    slri_reg most = slri_lower_const(l, SLRI_U64, RL_MOST_TICKS);
    struct slri_block *behind = slri_lower_if(l, slri_lower_op(l, SLRI_OP_GT, SLRI_U64, took, most), NULL);
    slri_lower_set(l, took, SLRI_OP_MOVE, SLRI_U64, most, SLRI_NO_REG);
    l->block = behind;
    slri_lower_put_word(l, record, RL_TICKS, slri_lower_convert(l, SLRI_U32, took));
}

static void end_call(struct slri_lowering *l, const struct slri_lower_message *m, slri_reg stopped)
{
    slri_reg fault = word_of_call(l, SLRI_CALL_FAULT), none = slri_lower_const(l, SLRI_U32, SLRI_FAULT_NONE);
    slri_lower_put_word(l, m->record, RL_FAULT, fault);
    slri_lower_put_word(l, m->record, RL_REPLIES, word_of_call(l, SLRI_CALL_REPLIES));
    for (uint32_t i = 0; i < l->handler->bindings; i++)
        if (l->handler->binding[i].is_outlet)
            slri_lower_put_word(l, m->record, RL_SENT(i), word_of_call(l, SLRI_CALL_SENT + i));
    struct slri_block *behind = slri_lower_if(l, slri_lower_op(l, SLRI_OP_NE, SLRI_U32, fault, none), NULL);
    slri_lower_put_word(l, m->record, RL_FILE, word_of_call(l, SLRI_CALL_FILE));
    slri_lower_put_word(l, m->record, RL_LINE, word_of_call(l, SLRI_CALL_LINE));
    if (l->handler->state)
        slri_lower_reset_state(l);
    slri_lower_set(l, stopped, SLRI_OP_MOVE, SLRI_U32, slri_lower_constant(l, RL_STOPS), SLRI_NO_REG);
    l->block = behind;
}

static void call_once(struct slri_lowering *l, const struct slri_lower_message *m, slri_reg fuel, slri_reg stopped)
{
    slri_lower_begin_call(l, m, fuel);
    slri_reg began = slri_lower_clock(l);
    slri_lower_call_handler(l);
    slri_lower_ticks(l, m->record, began);
    end_call(l, m, stopped);
}

static void handle_message(struct slri_lowering *l, slri_reg at, slri_reg fuel, slri_reg stopped)
{
    slri_reg none = slri_lower_const(l, SLRI_U32, 0);
    struct slri_lower_message m = {.at = slri_lower_convert(l, SLRI_I64, at)};
    m.record = l->is_batch ? m.at
               : l->around ? slri_lower_const(l, SLRI_I64, SLRI_STAY_RECORD_AT)
                           : slri_lower_convert(l, SLRI_I64, slri_lower_word_of(l, m.at, RL_RECORD));
    slri_reg next = l->around ? slri_lower_const(l, SLRI_U32, RL_END) : slri_lower_word_of(l, m.at, RL_NEXT);
    slri_lower_set(l, at, SLRI_OP_MOVE, SLRI_U32, next, SLRI_NO_REG);
    struct slri_block *handles;
    struct slri_block *behind = slri_lower_if(l, slri_lower_op(l, SLRI_OP_NE, SLRI_U32, stopped, none), &handles);
    if (l->is_block)
        slri_lower_if_first(l);
    if (l->is_batch)
        slri_lower_batch_not_run(l, m.at);
    else
        slri_lower_put_word(l, m.record, RL_FAULT, slri_lower_const(l, SLRI_U32, RL_NOT_RUN));
    l->block = handles;
    if (l->is_block)
        slri_lower_block_message(l, &m, fuel, stopped);
    else if (l->is_batch)
        slri_lower_batch(l, m.at, fuel, stopped);
    else
        call_once(l, &m, fuel, stopped);
    l->block = behind;
}

slri_reg slri_lower_builtin(struct slri_lowering *l, enum slri_builtin which)
{
    slri_reg dst = slri_lower_reg(l, SLRI_U32);
    struct slri_instr *in = slri_lower_append(l, SLRI_OP_BUILTIN, SLRI_U32);
    in->dst = dst;
    in->imm = which;
    return dst;
}

// Of this thread, or of the block.
static slri_reg number_of_chain(struct slri_lowering *l)
{
    slri_reg block = slri_lower_builtin(l, SLRI_BUILTIN_BLOCK_X);
    if (l->is_block)
        return block;
    slri_reg before = slri_lower_op(l, SLRI_OP_MUL, SLRI_U32, block, slri_lower_builtin(l, SLRI_BUILTIN_BLOCK_DIM_X));
    return slri_lower_op(l, SLRI_OP_ADD, SLRI_U32, before, slri_lower_builtin(l, SLRI_BUILTIN_THREAD_X));
}

static slri_reg first_of(struct slri_lowering *l, slri_reg chain)
{
    if (l->around)
        return slri_lower_op(l, SLRI_OP_MUL, SLRI_U32, slri_lower_stay_word(l, SLRI_STAY_SLOT),
                             slri_lower_const(l, SLRI_U32, 4));
    slri_reg at = slri_lower_op(l, SLRI_OP_MUL, SLRI_I64, slri_lower_convert(l, SLRI_I64, chain),
                                slri_lower_const(l, SLRI_I64, 4));
    return slri_lower_load(l, SLRI_U32, slri_lower_root(SLRI_BATCH_IN), at);
}

// Where the first message of the chain lies, or RL_END; and the fuel of each thread for a message. No memory need be
// there where there is no chain.
static slri_reg find_first(struct slri_lowering *l, slri_reg chains, slri_reg fuel)
{
    slri_reg chain = number_of_chain(l);
    slri_lower_set_const(l, fuel, SLRI_U64, 0);
    slri_reg at = slri_lower_variable(l, SLRI_U32, "at");
    slri_lower_set_const(l, at, SLRI_U32, RL_END);
    struct slri_block *behind = slri_lower_if(l, slri_lower_op(l, SLRI_OP_LT, SLRI_U32, chain, chains), NULL);
    slri_reg first = first_of(l, chain);
    slri_lower_set(l, at, SLRI_OP_MOVE, SLRI_U32, first, SLRI_NO_REG);
    slri_reg share = l->is_block ? slri_lower_block_fuel(l, whole_fuel(l)) : whole_fuel(l);
    slri_lower_set(l, fuel, SLRI_OP_MOVE, SLRI_U64, share, SLRI_NO_REG);
    l->block = behind;
    return at;
}

// In a kernel that stays a call handles one message: no loop, of which there are drivers that run a turn too many, with
// no thread in it.
static void write_one(struct slri_lowering *l)
{
    const struct slri_lower_message m = {.at = slri_lower_convert(l, SLRI_I64, first_of(l, SLRI_NO_REG)),
                                         .record = slri_lower_const(l, SLRI_I64, SLRI_STAY_RECORD_AT)};
    slri_reg stopped = slri_lower_variable(l, SLRI_U32, "stopped");
    slri_lower_set_const(l, stopped, SLRI_U32, 0);
    call_once(l, &m, whole_fuel(l), stopped);
}

static void write_kernel(struct slri_lowering *l, slri_reg chains)
{
    slri_reg fuel = slri_lower_variable(l, SLRI_U64, "fuel"), at = find_first(l, chains, fuel);
    slri_reg stopped = slri_lower_variable(l, SLRI_U32, "stopped");
    slri_reg end = slri_lower_const(l, SLRI_U32, RL_END);
    slri_lower_set_const(l, stopped, SLRI_U32, 0);
    struct slri_block *behind = l->block, *test = slri_lower_block(l), *body = slri_lower_block(l);
    l->block = test;
    slri_reg goes = slri_lower_op(l, SLRI_OP_NE, SLRI_U32, at, end);
    l->block = body;
    handle_message(l, at, fuel, stopped);
    l->block = behind;
    struct slri_instr *loop = slri_lower_append(l, SLRI_OP_LOOP, SLRI_VOID);
    loop->a = goes;
    loop->body[0] = test;
    loop->body[1] = body;
}

// A name that no function has.
static const char *choose_name(const struct slri_lowering *l)
{
    char name[24];
    bool is_taken = true;
    for (unsigned number = 0; is_taken; number++) {
        snprintf(name, sizeof name, "batch_%u", number);
        is_taken = false;
        for (uint32_t i = 0; i < l->from->functions; i++)
            is_taken |= strcmp(l->from->function[i]->name, name) == 0;
    }
    return slri_region_text(l->region, name, strlen(name));
}

static bool make_kernel(struct slri_lowering *l, struct slri_types *types, slri_reg *chains)
{
    const struct slri_type *word = slri_type_of(types, SLRI_U64);
    struct slri_function *made = slri_region_take(l->region, sizeof *made);
    struct slri_local *call = slri_region_take(l->region, 2 * sizeof *call);
    if (!made || !call)
        return false;
    call[0] = (struct slri_local){"slri_call", slri_type_array(types, word, l->call_bytes / sizeof(uint64_t))};
    if (l->is_block)
        call[1] = (struct slri_local){"slri_common", slri_type_array(types, word, l->common_bytes / sizeof(uint64_t))};
    *made = (struct slri_function){.name = choose_name(l),
                                   .where = l->handler->function->where,
                                   .local = call,
                                   .locals = l->is_block ? 2 : 1,
                                   .body = slri_block_create(l->region),
                                   .uses = SLRI_USES_PLACE | l->made[l->handler->function->index]->uses};
    if (!made->name || !made->body || !call[0].type || (l->is_block && !call[1].type))
        return false;
    if (l->is_block)
        made->uses |= SLRI_USES_BARRIER | SLRI_USES_SHARED;
    l->source = NULL;
    l->function = made;
    l->block = made->body;
    l->where = made->where;
    l->call = (struct slri_root){SLRI_ROOT_LOCAL, 0};
    l->common = (struct slri_root){SLRI_ROOT_LOCAL, 1};
    *chains = slri_lower_reg(l, SLRI_U32);
    if (l->around)
        slri_lower_set_const(l, *chains, SLRI_U32, 1);
    if (l->around && !l->is_block && !l->is_batch)
        write_one(l);
    else
        write_kernel(l, *chains);
    return !l->out_of_memory;
}

// ---- the module ----------------------------------------------------------------------------------------------------

static const struct slri_binding_info own_bindings[SLRI_BATCH_BUFFERS] = {
    [SLRI_BATCH_IN] = {.name = "slri_in", .is_buffer = true, .is_const = true, .is_restrict = true, .reg = SLRI_NO_REG},
    [SLRI_BATCH_RESULTS] = {.name = "slri_results", .is_buffer = true, .is_restrict = true, .reg = SLRI_NO_REG},
    [SLRI_BATCH_STATES] = {.name = "slri_states", .is_buffer = true, .is_restrict = true, .reg = SLRI_NO_REG},
    [SLRI_BATCH_CONSTANTS] =
        {.name = "slri_constants", .is_buffer = true, .is_const = true, .is_restrict = true, .reg = SLRI_NO_REG},
    [SLRI_BATCH_CHAINS] = {.name = "slri_chains"},
};

static uint32_t make_bindings(struct slri_lowering *l, struct slri_types *types, struct slri_binding_info *out)
{
    uint32_t count = l->around ? SLRI_STAY_BUFFERS : SLRI_BATCH_BUFFERS;
    for (uint32_t i = 0; i < count; i++) {
        out[i] = l->around ? l->around->entry->binding[i] : own_bindings[i];
        out[i].type = l->around ? out[i].type : slri_type_of(types, SLRI_U32);
    }
    for (uint32_t i = 0; i < l->handler->bindings; i++) {
        const struct slri_binding_info *binding = &l->handler->binding[i];
        if (!binding->is_buffer || binding->is_outlet)
            continue;
        l->binding[i] = count;
        out[count] = *binding;
        out[count++].reg = SLRI_NO_REG;
    }
    return count;
}

static bool make_module(struct slri_lowering *l, struct slri_module **out)
{
    struct slri_module *module = slri_region_take(l->region, sizeof *module);
    struct slri_entry *entry = slri_region_take(l->region, sizeof *entry);
    struct slri_types *types = slri_types_create(l->region);
    uint32_t most = SLRI_STAY_BUFFERS + l->handler->bindings;
    uint32_t functions = l->from->functions + 1 + (l->around ? l->around->functions : 0);
    struct slri_binding_info *binding = slri_region_take(l->region, most * sizeof *binding);
    l->made = slri_region_take(l->region, (l->from->functions + 1) * sizeof *l->made);
    l->binding = slri_region_take(l->region, most * sizeof *l->binding);
    slri_reg chains;
    if (!module || !entry || !types || !binding || !l->made || !l->binding)
        return false;
    uint32_t bindings = make_bindings(l, types, binding);
    if (!slri_lower_functions(l) || !make_kernel(l, types, &chains))
        return false;
    if (!l->around)
        binding[SLRI_BATCH_CHAINS].reg = chains;
    *entry = (struct slri_entry){.name = l->handler->name,
                                 .kind = SLRI_ENTRY_KERNEL,
                                 .function = l->function,
                                 .binding = binding,
                                 .bindings = bindings,
                                 .max_threads = slri_batch_threads(l->handler)};
    *module = *l->from;
    module->region = l->region;
    module->entry = entry;
    module->entries = 1;
    module->skippeds = module->launches = 0;
    module->functions = 0;
    module->function = slri_region_take(l->region, functions * sizeof *module->function);
    for (uint32_t i = 0; module->function && i < l->from->functions; i++)
        if (l->made[i])
            module->function[module->functions++] = l->made[i];
    if (module->function)
        module->function[module->functions++] = l->function;
    *out = module;
    return module->function != NULL && (!l->around || slri_lower_around(l, module, entry)) &&
           (!l->is_block || slri_lower_block_shared(l, types, module, entry));
}

// A block's threads are to come to each place where they wait, before there are faults.
static slr_status begin_block(struct slri_lowering *l)
{
    const struct slri_module *level;
    const struct slri_entry *entry;
    const uint64_t shared = l->handler->shared_bytes, most = SLRI_SHARED_MAX_BYTES - slri_lower_block_bytes(l->handler);
    if (shared > most)
        return SLRI_FAIL(UNSUPPORTED,
                         "'%s' has %llu B of __shared__ objects; in batches a __ring_block__ handler has at most %llu",
                         l->handler->name, (unsigned long long)shared, (unsigned long long)most);
    SLRI_TRY(slri_level(l->from, l->handler, l->region, &level, &entry));
    l->from = level;
    l->handler = entry;
    l->uniform = slri_uniform_create(level, entry, l->region);
    l->is_block = true;
    l->threads = slri_batch_threads(entry);
    l->call_bytes = SLRI_CALL_INSTANCE * sizeof(uint64_t);
    l->common_bytes = (SLRI_CALL_TURNS + 1 - SLRI_CALL_INSTANCE) * sizeof(uint64_t);
    return l->uniform ? SLR_OK : SLR_NO_MEMORY;
}

static slr_status lower_handler(const struct slri_module *module, const struct slri_entry *handler,
                                struct slri_module *around, struct slri_module **out)
{
    struct slri_lowering l = {.from = module,
                              .handler = handler,
                              .around = around,
                              .is_batch = handler->kind == SLRI_ENTRY_BATCH,
                              .region = slri_region_create()};
    struct slri_module *made = NULL;
    if (handler->kind == SLRI_ENTRY_KERNEL || module->raw) {
        slri_region_destroy(l.region);
        return SLRI_FAIL(UNSUPPORTED, "'%s' of %s is no handler", handler->name, module->name);
    }
    if (handler->function->uses & SLRI_USES_PRINT) {
        slri_region_destroy(l.region);
        return SLRI_FAIL(UNSUPPORTED,
                         "%s: the handler '%s' calls printf, which is not supported in handlers on a device",
                         module->name, handler->name);
    }
    l.call_bytes = (SLRI_CALL_SENT + (uint64_t)handler->bindings) * sizeof(uint64_t);
    slr_status status = l.region ? SLR_OK : SLR_NO_MEMORY;
    if (status == SLR_OK && handler->kind == SLRI_ENTRY_BLOCK)
        status = begin_block(&l);
    if (status == SLR_OK && !make_module(&l, &made))
        status = SLR_NO_MEMORY;
    if (status != SLR_OK) {
        slri_region_destroy(l.region);
        return status != SLR_NO_MEMORY
                   ? status
                   : SLRI_FAIL(NO_MEMORY, "no memory to make a kernel of the handler '%s'", handler->name);
    }
    const char *broken = slri_module_verify(made);
    status = broken ? SLRI_FAIL(INTERNAL, "the kernel of the handler '%s': %s", handler->name, broken) : SLR_OK;
    if (broken)
        slri_module_destroy(made);
    else
        *out = made;
    return status;
}

slr_status slri_handler_kernel(const struct slri_module *module, const struct slri_entry *handler,
                               struct slri_module **out)
{
    return lower_handler(module, handler, NULL, out);
}

slr_status slri_handler_stay(const struct slri_module *module, const struct slri_entry *handler,
                             struct slri_module *around, struct slri_module **out)
{
    return lower_handler(module, handler, around, out);
}
