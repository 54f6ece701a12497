// SPDX-License-Identifier: Apache-2.0
// Modules, entries and specialised functions.
#include "lang/check/advice.h"
#include "lang/lower/lower.h"
#include "lang/check/skip.h"

#include <string.h>

// ---- names and lists -----------------------------------------------------------------------------------------------

static void add_name(struct slri_lowering *all, struct slri_names *names, const char *name)
{
    if (!slri_names_add(names, all->region, name))
        slri_unit_give_up(all->unit, SLR_NO_MEMORY);
}

// "name", then "name__1" and so on: a C identifier that no other function has. Numbers are not tried twice: what is
// taken stays so.
static const char *name_special(struct slri_lowering *all, struct slri_func *func)
{
    const char *name = func->name;
    bool taken = slri_names_have(&all->named, name);
    while (taken) {
        name = slri_unit_format(all->unit, "%s__%u", func->name, ++func->last_number);
        taken = slri_names_have(&all->named, name) || slri_names_have(&all->sources, name);
    }
    return name;
}

static void add_function(struct slri_lowering *all, struct slri_function *function)
{
    struct slri_module *module = all->module;
    if (module->functions == all->function_room) {
        all->function_room = all->function_room ? 2 * all->function_room : 8;
        struct slri_function **larger = slri_unit_take(all->unit, all->function_room * sizeof *larger);
        if (module->functions)
            memcpy(larger, module->function, module->functions * sizeof *larger);
        module->function = larger;
    }
    module->function[module->functions++] = function;
    add_name(all, &all->named, function->name);
}

// ---- bodies --------------------------------------------------------------------------------------------------------

static struct slri_body begin_body(struct slri_lowering *all, struct slri_func *func, struct slri_special *special)
{
    struct slri_body body = {.all = all, .unit = all->unit, .func = func, .special = special};
    body.ir = slri_unit_take(all->unit, sizeof *body.ir);
    body.ir->where = func->where;
    body.ir->removed_from = func->removed_from;
    body.ir->removed_to = func->removed_to;
    body.variable = slri_unit_take(all->unit, (func->variables + 1) * sizeof *body.variable);
    body.ir->body = body.block = slri_emit_block(&body);
    special->ir = body.ir;
    special->next = func->special;
    func->special = special;
    return body;
}

static void end_body(struct slri_body *body, struct slri_func *func)
{
    uint32_t errors = slri_report_errors(body->unit->front);
    body->ir->name = name_special(body->all, func);
    func->is_lowering = true;
    slri_lower_list(body, func->body);
    func->is_lowering = false;
    body->special->is_broken = slri_report_errors(body->unit->front) > errors;
    if (!body->special->is_broken)
        add_function(body->all, body->ir);
}

// ---- functions -----------------------------------------------------------------------------------------------------

static bool same_key(const struct slri_key *a, const struct slri_key *b)
{
    return a->root.kind == b->root.kind && a->root.index == b->root.index && a->bytes == b->bytes &&
           a->valid == b->valid && a->same_as == b->same_as;
}

static struct slri_special *find_special(const struct slri_func *func, const struct slri_key *key)
{
    for (struct slri_special *at = func->special; at; at = at->next) {
        uint32_t same = 0;
        while (same < func->params && same_key(&at->key[same], &key[same]))
            same++;
        if (same == func->params)
            return at;
    }
    return NULL;
}

static slri_reg add_param(struct slri_body *body, const char *name, enum slri_kind kind, uint64_t memory_bytes)
{
    slri_reg reg = slri_emit_reg(body, kind, name);
    struct slri_param *param = &body->ir->param[body->ir->params++];
    *param = (struct slri_param){.name = name, .reg = reg, .is_memory = memory_bytes != 0, .bytes = memory_bytes};
    return reg;
}

static const char *root_name(struct slri_body *body, const struct slri_symbol *symbol, const struct slri_key *key)
{
    if (key->root.kind == SLRI_ROOT_STATE)
        return "the state";
    if (key->root.kind == SLRI_ROOT_MESSAGE)
        return slri_root_is_messages(key->root) ? "the messages" : "the message";
    return slri_unit_format(body->unit, "what '%s' points into", symbol->name);
}

// A pointer parameter, or the copy of a struct, which lies whole at the start of its memory.
static void begin_memory_param(struct slri_body *body, const struct slri_symbol *symbol, const struct slri_key *key,
                               uint32_t index)
{
    bool is_struct = symbol->type->kind == SLRI_STRUCT, is_own = key->root.kind == SLRI_ROOT_PARAM;
    bool is_alias = is_own && key->same_as != UINT32_MAX;
    struct slri_variable *variable = &body->variable[symbol->index];
    struct slri_ref ref = {.root = key->root, .bytes = key->bytes, .name = root_name(body, symbol, key)};
    if (is_own) // parameters keep their order; the result of a function that returns a struct comes before them
        ref.root.index = (is_alias ? key->same_as : index) + (body->ir->params - index);
    slri_reg reg = add_param(body, symbol->name, SLRI_I64, is_own && !is_alias ? key->bytes : 0);
    *variable = (struct slri_variable){.is_made = true, .reg = reg, .has_root = true};
    variable->at = slri_address_of(ref, symbol->assignments && !is_struct ? 0 : key->valid);
    variable->at.base = is_struct ? SLRI_NO_REG : reg;
}

static void begin_scalar_param(struct slri_body *body, const struct slri_symbol *symbol)
{
    slri_reg reg = add_param(body, symbol->name, symbol->type->kind, 0);
    if (slri_in_register(symbol)) {
        body->variable[symbol->index] = (struct slri_variable){.is_made = true, .reg = reg};
        return;
    }
    struct slri_address at = slri_variable_of(body, symbol)->at;
    slri_emit_store(body, at, symbol->type->kind, reg, symbol->where);
}

static void begin_params(struct slri_body *body, const struct slri_func *func, const struct slri_key *key)
{
    body->ir->param = slri_unit_take(body->unit, (func->params + 2) * sizeof *body->ir->param);
    if (func->result->kind == SLRI_STRUCT)
        add_param(body, "result", SLRI_I64, func->result->bytes);
    for (uint32_t i = 0; i < func->params; i++) {
        const struct slri_symbol *symbol = func->param[i];
        if (slri_type_is_scalar(symbol->type))
            begin_scalar_param(body, symbol);
        else
            begin_memory_param(body, symbol, &key[i], i);
    }
}

static enum slri_kind result_kind(const struct slri_type *type)
{
    if (type->kind == SLRI_POINTER)
        return SLRI_I64;
    return slri_type_is_scalar(type) ? slri_kind_in_register(type->kind) : SLRI_VOID;
}

struct slri_special *slri_specialise(struct slri_lowering *all, struct slri_func *func, const struct slri_key *key)
{
    struct slri_special *special = find_special(func, key);
    if (special)
        return special;
    if (func->special && ++all->specials > SLRI_MODULE_MAX_SPECIALS) { // they can double with each call on the way
        SLRI_ERROR(all->unit, func->where, KERNEL_TOO_LARGE,
                   "functions are called with more than %u combinations of pointers", SLRI_MODULE_MAX_SPECIALS);
        slri_unit_give_up(all->unit, SLR_OK);
    }
    special = slri_unit_take(all->unit, sizeof *special);
    special->key = slri_unit_take(all->unit, (func->params + 1) * sizeof *key);
    if (func->params)
        memcpy(special->key, key, func->params * sizeof *key);
    struct slri_body body = begin_body(all, func, special);
    body.ir->result = result_kind(func->result);
    begin_params(&body, func, special->key);
    end_body(&body, func);
    return special;
}

// ---- entries -------------------------------------------------------------------------------------------------------

static void begin_fixed(struct slri_body *body, const struct slri_symbol *symbol, struct slri_root root,
                        const char *name)
{
    uint64_t bytes = symbol->type->of->bytes, objects = slri_root_is_messages(root) ? SLRI_BATCH_MESSAGES : 1;
    struct slri_ref ref = {.root = root, .bytes = objects * bytes, .name = name};
    struct slri_variable *variable = slri_variable_of(body, symbol);
    if (symbol->assignments)
        slri_emit_move(body, variable->reg, slri_emit_const(body, SLRI_I64, 0, symbol->where), symbol->where);
    variable->has_root = true;
    variable->at = slri_address_of(ref, symbol->assignments ? 0 : bytes);
    variable->at.base = symbol->assignments ? variable->reg : SLRI_NO_REG;
}

static void begin_buffer(struct slri_body *body, const struct slri_symbol *symbol, uint32_t index,
                         struct slri_binding_info *out)
{
    struct slri_variable *variable = slri_variable_of(body, symbol);
    struct slri_ref ref = {.root = {SLRI_ROOT_BINDING, index}, .bytes = SLRI_UNBOUNDED};
    ref.name = slri_unit_format(body->unit, "the binding '%s'", symbol->name);
    variable->has_root = true;
    variable->at = slri_address_of(ref, SLRI_UNBOUNDED);
    variable->at.base = symbol->assignments ? variable->reg : SLRI_NO_REG;
    *out = (struct slri_binding_info){.name = symbol->name, .is_buffer = true, .is_const = symbol->type->is_const};
    out->is_restrict = symbol->is_restrict;
    out->is_outlet = slri_type_is_outlet(symbol->type);
    out->type = out->is_outlet ? symbol->type->of->of : symbol->type->of;
    out->reg = variable->reg;
}

static void begin_given(struct slri_body *body, const struct slri_symbol *symbol, struct slri_binding_info *out)
{
    *out = (struct slri_binding_info){.name = symbol->name, .type = symbol->type};
    if (slri_in_register(symbol)) {
        out->reg = slri_variable_of(body, symbol)->reg;
        return;
    }
    out->reg = slri_emit_reg(body, symbol->type->kind, symbol->name);
    slri_emit_store(body, slri_variable_of(body, symbol)->at, symbol->type->kind, out->reg, symbol->where);
}

// The messages, and how many there are.
static void begin_batch(struct slri_body *body, const struct slri_func *func, uint32_t message)
{
    const struct slri_symbol *symbol = func->param[message + 1];
    const enum slri_kind kind = symbol->type->kind;
    begin_fixed(body, func->param[message], (struct slri_root){SLRI_ROOT_MESSAGE, SLRI_MESSAGES}, "the messages");
    if (body->unit->front->source->is_emitted) // which does not read it
        return;
    slri_reg count = slri_emit_messages(body, symbol->where);
    if (kind != SLRI_U32)
        count = slri_emit_convert(body, count, SLRI_U32, kind, symbol->where);
    struct slri_variable *variable = slri_variable_of(body, symbol);
    if (!slri_in_register(symbol)) {
        slri_emit_store(body, variable->at, kind, count, symbol->where);
        return;
    }
    slri_emit_move(body, variable->reg, count, symbol->where);
    variable->is_messages = variable->is_ranged = symbol->assignments == 0;
    variable->least = 1;
    variable->most = SLRI_BATCH_MESSAGES;
}

static void begin_entry(struct slri_body *body, const struct slri_func *func, struct slri_entry *entry)
{
    entry->kind = func->is_block ? SLRI_ENTRY_BLOCK : func->is_batch ? SLRI_ENTRY_BATCH : SLRI_ENTRY_RING;
    if (func->is_block)
        entry->max_threads = func->max_threads ? func->max_threads : SLRI_RING_BLOCK_THREADS;
    uint32_t message = slri_handler_message(func), first = slri_handler_bindings_at(func);
    if (message == 1) {
        entry->state = func->param[0]->type->of;
        entry->state_name = func->param[0]->name;
        begin_fixed(body, func->param[0], (struct slri_root){SLRI_ROOT_STATE, 0}, "the state");
    }
    entry->message = func->param[message]->type->of;
    entry->message_name = func->param[message]->name;
    if (func->is_batch)
        begin_batch(body, func, message);
    else
        begin_fixed(body, func->param[message], (struct slri_root){SLRI_ROOT_MESSAGE, 0}, "the message");
    entry->bindings = func->params - first;
    entry->binding = slri_unit_take(body->unit, (entry->bindings + 1) * sizeof *entry->binding);
    for (uint32_t i = 0; i < entry->bindings; i++) {
        const struct slri_symbol *symbol = func->param[first + i];
        if (symbol->type->kind == SLRI_POINTER)
            begin_buffer(body, symbol, i, &entry->binding[i]);
        else
            begin_given(body, symbol, &entry->binding[i]);
    }
}

// A struct that the kernel only reads stays where the launch put it; else each thread has a copy.
static void begin_given_struct(struct slri_body *body, const struct slri_symbol *symbol, uint32_t index,
                               struct slri_binding_info *out)
{
    struct slri_ref ref = {.root = {SLRI_ROOT_BINDING, index}, .bytes = symbol->type->bytes};
    ref.name = slri_unit_format(body->unit, "the parameter '%s'", symbol->name);
    struct slri_address given = slri_address_of(ref, ref.bytes);
    *out = (struct slri_binding_info){.name = symbol->name, .type = symbol->type, .reg = SLRI_NO_REG};
    if (symbol->is_changed || symbol->address_taken)
        slri_emit_copy(body, slri_variable_of(body, symbol)->at, given, ref.bytes, symbol->type->align, symbol->where);
    else
        body->variable[symbol->index] = (struct slri_variable){.is_made = true, .reg = SLRI_NO_REG, .at = given};
}

static void begin_kernel(struct slri_body *body, const struct slri_func *func, struct slri_entry *entry)
{
    entry->kind = SLRI_ENTRY_KERNEL;
    entry->max_threads = func->max_threads;
    entry->min_blocks = func->min_blocks;
    entry->bindings = func->params;
    entry->binding = slri_unit_take(body->unit, (func->params + 1) * sizeof *entry->binding);
    for (uint32_t i = 0; i < func->params; i++) {
        const struct slri_symbol *symbol = func->param[i];
        if (symbol->type->kind == SLRI_POINTER)
            begin_buffer(body, symbol, i, &entry->binding[i]);
        else if (symbol->type->kind == SLRI_STRUCT)
            begin_given_struct(body, symbol, i, &entry->binding[i]);
        else
            begin_given(body, symbol, &entry->binding[i]);
    }
}

static void lower_entry(struct slri_lowering *all, struct slri_func *func, struct slri_entry *entry)
{
    struct slri_special *special = slri_unit_take(all->unit, sizeof *special);
    struct slri_body body = begin_body(all, func, special);
    if (func->is_kernel)
        begin_kernel(&body, func, entry);
    else
        begin_entry(&body, func, entry);
    end_body(&body, func);
    entry->name = func->name;
    entry->function = body.ir;
    entry->reply = special->reply;
}

// ---- the module ----------------------------------------------------------------------------------------------------

// A function that no handler calls is lowered all the same, with pointers into memory of which nothing is known, so
// that what is wrong in it is said; then it is left out.
static void try_uncalled(struct slri_lowering *all, struct slri_func *func)
{
    uint32_t functions = all->module->functions;
    struct slri_key *key = slri_unit_take(all->unit, (func->params + 1) * sizeof *key);
    for (uint32_t i = 0; i < func->params; i++)
        if (!slri_type_is_scalar(func->param[i]->type))
            key[i] = (struct slri_key){.root = {SLRI_ROOT_PARAM, 0}, .bytes = SLRI_UNBOUNDED, .same_as = UINT32_MAX};
    struct slri_reported *reported = all->reported;
    uint32_t errors = slri_report_errors(all->unit->front);
    all->unit->is_trying = all->unit->is_foreign;
    slri_specialise(all, func, key);
    all->unit->is_trying = false;
    if (slri_skip_function(all->unit, func, errors))
        all->reported = reported;
    slri_unit_after_error(all->unit);
    all->module->functions = functions;
}

static bool is_entry(const struct slri_func *func)
{
    return (func->is_ring || func->is_kernel) && func->is_defined && !func->is_left_out;
}

// The next entry of the module; one with an error leaves no trace but in the list of what was skipped.
struct trial {
    struct slri_func *func;
    struct slri_reported *reported;
    uint32_t errors;
};

static struct trial begin_trial(struct slri_lowering *all, struct slri_func *func)
{
    all->unit->is_trying = all->unit->is_foreign;
    return (struct trial){func, all->reported, slri_report_errors(all->unit->front)};
}

static void end_trial(struct slri_lowering *all, const struct trial *trial)
{
    all->unit->is_trying = false;
    if (slri_skip_function(all->unit, trial->func, trial->errors))
        all->reported = trial->reported;
    else
        all->source[all->module->entries++] = trial->func;
    slri_unit_after_error(all->unit);
}

static void try_entry(struct slri_lowering *all, struct slri_func *func)
{
    const struct trial trial = begin_trial(all, func);
    struct slri_entry *entry = &all->module->entry[all->module->entries];
    *entry = (struct slri_entry){0};
    lower_entry(all, func, entry);
    end_trial(all, &trial);
}

// What is wrong with an entry and only shows in the whole of what it calls.
static void reflect(struct slri_lowering *all)
{
    struct slri_module *module = all->module;
    const uint32_t lowered = module->entries;
    uint32_t *user = slri_unit_take(all->unit, (all->unit->shareds + 1) * sizeof *user);
    slri_reflect(all);
    slri_find_diverging(all);
    module->entries = 0;
    for (uint32_t i = 0; i < lowered; i++) {
        const struct trial trial = begin_trial(all, all->source[i]);
        struct slri_entry *entry = &module->entry[module->entries];
        *entry = module->entry[i];
        slri_reflect_entry(all, entry, user);
        end_trial(all, &trial);
    }
    if (module->entries < lowered)
        slri_forget_uncalled(all);
}

static uint32_t count_entries(const struct slri_unit *unit)
{
    uint32_t count = 0;
    for (const struct slri_func *func = unit->functions; func; func = func->next)
        count += is_entry(func);
    return count;
}

enum { LEFT_OUT_NAMED = 4 }; // kernels, in one message, which is no longer than that

static void report_no_entry(struct slri_unit *unit)
{
    const char *left_out = "";
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < unit->skippeds; i++)
        if (unit->skipped[i].is_kernel && ++kernels <= LEFT_OUT_NAMED)
            left_out = slri_unit_format(unit, "%s; %s '%s' was skipped (%s)", left_out, unit->skipped[i].what,
                                        unit->skipped[i].name, unit->skipped[i].why);
    if (kernels > LEFT_OUT_NAMED)
        left_out = slri_unit_format(unit, "%s; and %u more were skipped", left_out, kernels - LEFT_OUT_NAMED);
    SLRI_ERROR(unit, ((struct slri_where){0, 1, 1}), NO_HANDLER,
               "no __ring__ handler and no __global__ kernel in this source%s", left_out);
    for (const struct slri_symbol *at = unit->scope; at; at = at->in_scope)
        if (at->kind == SLRI_SYMBOL_LEFT_OUT && at->left_out_code == SLRI_K_HOST_CODE)
            SLRI_ADVISE(unit, slri_unit_format(unit, "write __ring__ or __global__ in front of '%s' in line %u",
                                               at->name, at->where.line));
}

void slri_lower_unit(struct slri_unit *unit, struct slri_module *module)
{
    struct slri_lowering all = {.unit = unit, .region = unit->region, .module = module};
    uint32_t entries = count_entries(unit);
    if (entries == 0) {
        report_no_entry(unit);
        return;
    }
    module->entry = slri_unit_take(unit, entries * sizeof *module->entry);
    all.source = slri_unit_take(unit, entries * sizeof(struct slri_func *));
    for (const struct slri_func *func = unit->functions; func; func = func->next)
        add_name(&all, &all.sources, func->name);
    for (struct slri_func *func = unit->functions; func; func = func->next)
        if (is_entry(func))
            try_entry(&all, func);
    for (struct slri_func *func = unit->functions; func; func = func->next)
        if (!func->special && func->is_defined && !func->is_left_out)
            try_uncalled(&all, func);
    module->constant = unit->constant;
    module->constants = unit->constants;
    module->shared = unit->shared;
    module->shareds = unit->shareds;
    module->global = unit->global;
    module->globals = unit->globals;
    module->global_bytes = unit->global_bytes;
    module->format = unit->format;
    module->formats = unit->formats;
    reflect(&all);
    if (module->entries == 0 && slri_report_errors(unit->front) == 0)
        report_no_entry(unit);
    slri_list_emptied(&all);
    module->skipped = unit->skipped;
    module->skippeds = unit->skippeds;
}
