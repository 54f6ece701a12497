// SPDX-License-Identifier: Apache-2.0
// The module and the functions around the instructions.
#include "ir/pass/words.h"
#include "base/round.h"
#include "base/status.h"
#include "ir/pass/words_internal.h"
#include "ir/type.h"

#include <string.h>

// ---- types ---------------------------------------------------------------------------------------------------------

static uint64_t whole_words(const struct slri_words *w, uint64_t bytes)
{
    return w->options.all_widths ? bytes : slri_round_up(bytes, 4);
}

static const struct slri_type *words_of(struct slri_words *w, const struct slri_type *type)
{
    if (w->options.all_widths)
        return type;
    const struct slri_type *made = slri_type_array(w->types, w->word_type, whole_words(w, type->bytes) / 4);
    w->l.out_of_memory |= !made;
    return made ? made : type;
}

// A value given at launch is a struct of words: a kernel reads a struct through its root.
static const struct slri_type *struct_of(struct slri_words *w, const struct slri_type *type)
{
    if (w->options.all_widths && type->kind == SLRI_STRUCT)
        return type;
    struct slri_type *made = slri_type_struct(w->types, "slri_words");
    struct slri_field *field = slri_region_take(w->l.region, sizeof *field);
    w->l.out_of_memory |= !made || !field;
    if (!made || !field)
        return type;
    *field = (struct slri_field){.name = "word", .type = words_of(w, type)};
    slri_type_complete(made, field, 1);
    return made;
}

// ---- roots ---------------------------------------------------------------------------------------------------------

struct slri_root slri_words_place(const struct slri_words *w, struct slri_root root)
{
    if (root.kind == SLRI_ROOT_PARAM)
        root.index = w->now->param[root.index];
    return root;
}

// The last local of a function that has it; slri_words_function leaves room for it.
struct slri_root slri_words_high_local(struct slri_words *w)
{
    struct slri_function *made = w->l.function;
    if (!w->has_high_local) {
        const struct slri_type *word = slri_type_array(w->types, w->word_type, 1);
        w->l.out_of_memory |= !word;
        if (word)
            made->local[made->locals++] = (struct slri_local){.name = "slri_high", .type = word};
        w->has_high_local = true;
    }
    return (struct slri_root){SLRI_ROOT_LOCAL, made->locals - 1};
}

// ---- functions -----------------------------------------------------------------------------------------------------

static void add_param(struct slri_words *w, const char *name, slri_reg reg, uint64_t bytes)
{
    struct slri_function *made = w->l.function;
    if (made->param)
        made->param[made->params++] =
            (struct slri_param){.name = name, .reg = reg, .is_memory = bytes != 0, .bytes = bytes};
}

static void add_memory_param(struct slri_words *w, const struct slri_param *param)
{
    add_param(w, param->name, slri_lower_reg(&w->l, SLRI_I64), whole_words(w, param->bytes));
    if (w->l.function->param)
        w->l.function->param[w->l.function->params - 1].is_common = param->is_common;
}

static void make_param(struct slri_words *w, uint32_t index)
{
    const struct slri_param *param = &w->source->param[index];
    struct slri_words_reg *at = &w->now->reg[param->reg];
    const enum slri_kind kind = w->source->reg_kind[param->reg];
    const bool is_wide = slri_words_is_wide(w, kind);
    if (w->now->param)
        w->now->param[index] = w->l.function->params;
    if (param->is_memory)
        add_memory_param(w, param);
    at->is.low = slri_words_of(w, slri_lower_variable(&w->l, is_wide ? SLRI_U32 : kind, param->name));
    add_param(w, param->name, at->is.low.reg, 0);
    if (is_wide && at->high) {
        at->is.high = slri_words_of(w, slri_lower_variable(&w->l, SLRI_U32, param->name));
        add_param(w, param->name, at->is.high.reg, 0);
    }
    at->is_made = at->is_fixed = true;
}

static void make_signature(struct slri_words *w)
{
    struct slri_function *made = w->l.function;
    const struct slri_function *source = w->source;
    made->param = slri_region_take(w->l.region, (3 * (size_t)source->params + 1) * sizeof *made->param);
    made->local = slri_region_take(w->l.region, ((size_t)source->locals + 1) * sizeof *made->local);
    w->now->param = slri_region_take(w->l.region, ((size_t)source->params + 1) * sizeof *w->now->param);
    w->l.out_of_memory |= !made->param || !made->local || !w->now->param;
    for (uint32_t i = 0; i < source->params; i++)
        make_param(w, i);
    made->result = source->result;
    if (slri_words_is_wide(w, source->result)) {
        made->result = SLRI_U32;
        w->now->high_param = made->params;
        add_param(w, "slri_high", slri_lower_reg(&w->l, SLRI_I64), 4);
    }
    for (uint32_t i = 0; made->local && i < source->locals; i++)
        made->local[made->locals++] =
            (struct slri_local){.name = source->local[i].name, .type = words_of(w, source->local[i].type)};
}

static void begin_entry(struct slri_words *w, struct slri_entry *entry);

static bool make_function(struct slri_words *w, uint32_t index, struct slri_entry *entry)
{
    struct slri_function *made = slri_region_take(w->l.region, sizeof *made);
    w->source = w->l.from->function[index];
    w->now = &w->functions[index];
    if (!made)
        return false;
    made->name = w->source->name;
    made->where = w->source->where;
    made->uses = w->source->uses;
    made->body = slri_lower_block(&w->l);
    w->now->made = w->l.function = made;
    w->l.block = made->body;
    w->l.where = w->source->where;
    w->has_high_local = false;
    make_signature(w);
    if (w->source == w->kernel->function)
        begin_entry(w, entry);
    if (!w->l.out_of_memory)
        slri_words_block(w, w->source->body);
    return !w->l.out_of_memory;
}

// ---- the entry -----------------------------------------------------------------------------------------------------

static bool stays_scalar(const struct slri_words *w, enum slri_kind kind)
{
    return kind == slri_kind_in_register(kind) && (w->options.all_widths || slri_kind_bytes(kind) == 4);
}

// A buffer's offset is 0 until the kernel moves it.
static void begin_buffer(struct slri_words *w, slri_reg reg)
{
    w->first_fresh = w->l.function->regs;
    slri_words_write(w, reg, slri_words_literal(w, SLRI_I64, 0));
}

static void begin_value(struct slri_words *w, const struct slri_binding_info *from, struct slri_binding_info *binding,
                        uint32_t index)
{
    struct slri_words_reg *at = &w->now->reg[from->reg];
    const enum slri_kind kind = from->type->kind;
    if (stays_scalar(w, kind)) {
        binding->reg = slri_lower_variable(&w->l, kind, from->name);
        at->is.low = slri_words_of(w, binding->reg);
        at->is_made = at->is_fixed = true;
        return;
    }
    binding->type = struct_of(w, from->type);
    binding->reg = SLRI_NO_REG;
    if (kind == SLRI_F64 && !w->options.doubles) // refused where it is used
        return;
    w->first_fresh = w->l.function->regs;
    struct slri_instr load = {
        .op = SLRI_OP_LOAD, .kind = kind, .where = w->l.where, .dst = from->reg, .root = {SLRI_ROOT_BINDING, index}};
    slri_words_load_at(w, &load, slri_words_u32(0));
}

static void begin_entry(struct slri_words *w, struct slri_entry *entry)
{
    for (uint32_t i = 0; i < w->kernel->bindings; i++) {
        const struct slri_binding_info *from = &w->kernel->binding[i];
        struct slri_binding_info *binding = &entry->binding[i];
        if (from->is_buffer) {
            binding->reg = slri_lower_reg(&w->l, SLRI_I64);
            if (from->reg != SLRI_NO_REG)
                begin_buffer(w, from->reg);
        } else if (from->reg != SLRI_NO_REG) {
            begin_value(w, from, binding, i);
        } else {
            binding->type = struct_of(w, from->type);
        }
    }
}

// Objects of the block, each at a multiple of its alignment and of a word.
static void place_shared(struct slri_words *w, struct slri_entry *entry)
{
    uint64_t at = 0;
    entry->shared_offset = slri_region_take(w->l.region, (entry->shareds + (size_t)1) * sizeof *entry->shared_offset);
    w->l.out_of_memory |= !entry->shared_offset;
    for (uint32_t i = 0; entry->shared_offset && i < entry->shareds; i++) {
        const struct slri_type *type = w->l.from->shared[entry->shared_first + i].type;
        entry->shared_offset[i] = UINT64_MAX;
        if (w->kernel->shared_offset[i] == UINT64_MAX)
            continue;
        at = slri_round_up(at, type->align > 4 ? type->align : 4);
        entry->shared_offset[i] = at;
        at += whole_words(w, type->bytes);
    }
    entry->shared_bytes = at;
}

static struct slri_entry *make_entry(struct slri_words *w)
{
    struct slri_entry *entry = slri_region_take(w->l.region, sizeof *entry);
    size_t room = (w->kernel->bindings + (size_t)SLRI_WORDS_BUFFERS) * sizeof *entry->binding;
    struct slri_binding_info *binding = slri_region_take(w->l.region, room);
    if (!entry || !binding)
        return NULL;
    *entry = *w->kernel;
    if (entry->bindings)
        memcpy(binding, entry->binding, entry->bindings * sizeof *binding);
    entry->binding = binding;
    for (uint32_t i = 0; w->options.tells && i < SLRI_WORDS_BUFFERS; i++)
        binding[entry->bindings++] =
            (struct slri_binding_info){.name = i == SLRI_WORDS_FAULTED ? "slri_faulted" : "slri_printed",
                                       .is_buffer = true,
                                       .type = w->word_type,
                                       .reg = SLRI_NO_REG};
    place_shared(w, entry);
    return entry;
}

// ---- the module ----------------------------------------------------------------------------------------------------

static const unsigned char *padded(struct slri_words *w, const unsigned char *data, uint64_t bytes)
{
    if (!data || whole_words(w, bytes) == bytes)
        return data;
    unsigned char *made = slri_region_take(w->l.region, whole_words(w, bytes));
    w->l.out_of_memory |= !made;
    if (made)
        memcpy(made, data, bytes);
    return made;
}

static void make_tables(struct slri_words *w, struct slri_module *module)
{
    const struct slri_module *from = w->l.from;
    module->constant = slri_region_take(w->l.region, (from->constants + (size_t)1) * sizeof *module->constant);
    module->shared = slri_region_take(w->l.region, (from->shareds + (size_t)1) * sizeof *module->shared);
    module->global = slri_region_take(w->l.region, (from->globals + (size_t)1) * sizeof *module->global);
    w->l.out_of_memory |= !module->constant || !module->shared || !module->global;
    for (uint32_t i = 0; module->constant && i < from->constants; i++) {
        module->constant[i] = from->constant[i];
        module->constant[i].data = padded(w, from->constant[i].data, from->constant[i].type->bytes);
        module->constant[i].type = words_of(w, from->constant[i].type);
    }
    for (uint32_t i = 0; module->shared && i < from->shareds; i++) {
        module->shared[i] = from->shared[i];
        module->shared[i].type = words_of(w, from->shared[i].type);
    }
    for (uint32_t i = 0; module->global && i < from->globals; i++) {
        module->global[i] = from->global[i];
        module->global[i].data = padded(w, from->global[i].data, from->global[i].type->bytes);
        module->global[i].type = words_of(w, from->global[i].type);
    }
    module->global_bytes = whole_words(w, from->global_bytes);
}

static bool make_functions(struct slri_words *w, struct slri_module *module, struct slri_entry *entry)
{
    module->functions = 0;
    module->function = slri_region_take(w->l.region, (w->l.from->functions + (size_t)1) * sizeof *module->function);
    if (!module->function)
        return false;
    for (uint32_t i = 0; i < w->l.from->functions; i++) {
        if (!w->functions[i].is_needed)
            continue;
        if (!make_function(w, i, entry))
            return false;
        module->function[module->functions++] = w->functions[i].made;
        if (w->l.from->function[i] == w->kernel->function)
            entry->function = w->functions[i].made;
    }
    return true;
}

static bool make_words_module(struct slri_words *w, struct slri_module **out)
{
    w->types = slri_types_create(w->l.region);
    struct slri_module *module = slri_region_take(w->l.region, sizeof *module);
    if (!w->types || !module || !slri_words_find(w))
        return false;
    w->word_type = slri_type_of(w->types, SLRI_U32);
    struct slri_entry *entry = w->word_type ? make_entry(w) : NULL;
    if (!entry)
        return false;
    *module = *w->l.from;
    module->region = w->l.region;
    module->entry = entry;
    module->entries = 1;
    module->skippeds = module->launches = 0;
    make_tables(w, module);
    *out = module;
    return make_functions(w, module, entry) && !w->l.out_of_memory;
}

static slr_status verified(struct slri_module *module, const char *name)
{
    const char *broken = slri_module_verify(module);
    return broken ? SLRI_FAIL(INTERNAL, "the words of the kernel '%s': %s", name, broken) : SLR_OK;
}

slr_status slri_words_kernel(const struct slri_module *module, const struct slri_entry *kernel,
                             const struct slri_words_options *options, struct slri_module **out)
{
    struct slri_words w = {.kernel = kernel, .l = {.from = module}};
    struct slri_module *made = NULL;
    if (kernel->kind != SLRI_ENTRY_KERNEL || module->raw)
        return SLRI_FAIL(UNSUPPORTED, "'%s' of %s is no __global__ kernel", kernel->name, module->name);
    if (options)
        w.options = *options;
    w.options.doubles |= w.options.all_widths;
    w.l.region = slri_region_create();
    slr_status status = w.l.region && make_words_module(&w, &made) ? w.refused : w.refused ? w.refused : SLR_NO_MEMORY;
    if (status == SLR_NO_MEMORY)
        status = SLRI_FAIL(NO_MEMORY, "no memory for the words of the kernel '%s'", kernel->name);
    if (status == SLR_OK)
        status = verified(made, kernel->name);
    if (status == SLR_OK)
        *out = made;
    else
        slri_region_destroy(w.l.region);
    return status;
}
