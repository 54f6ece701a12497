// SPDX-License-Identifier: Apache-2.0
// The file around the functions: which are needed and what they are given, structs, tables, entries.
#include "emit/device/emit_device.h"
#include "base/status.h"
#include "emit/device/faults.h"

#include <string.h>

// ---- roots ---------------------------------------------------------------------------------------------------------

enum { BIT_STATE, BIT_MESSAGE, BIT_DYNAMIC, BIT_GLOBAL, BITS_FIXED };

static uint32_t most_bindings(const struct slri_module *module)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < module->entries; i++)
        most = module->entry[i].bindings > most ? module->entry[i].bindings : most;
    return most;
}

uint32_t slri_d_root_bits(const struct slri_d_emitter *e)
{
    return BITS_FIXED + most_bindings(e->c.module) + e->c.module->shareds;
}

uint32_t slri_d_root_bit(const struct slri_d_emitter *e, struct slri_root root)
{
    switch (root.kind) {
    case SLRI_ROOT_STATE:
        return BIT_STATE;
    case SLRI_ROOT_MESSAGE:
        return BIT_MESSAGE;
    case SLRI_ROOT_DYNAMIC:
        return BIT_DYNAMIC;
    case SLRI_ROOT_GLOBAL:
        return e->dialect->gives_globals ? BIT_GLOBAL : UINT32_MAX;
    case SLRI_ROOT_BINDING:
        return BITS_FIXED + root.index;
    case SLRI_ROOT_SHARED:
        return BITS_FIXED + most_bindings(e->c.module) + root.index;
    default:
        return UINT32_MAX;
    }
}

struct slri_root slri_d_root_of(const struct slri_d_emitter *e, uint32_t bit)
{
    static const enum slri_root_kind fixed[] = {SLRI_ROOT_STATE, SLRI_ROOT_MESSAGE, SLRI_ROOT_DYNAMIC,
                                                SLRI_ROOT_GLOBAL};
    uint32_t bindings = most_bindings(e->c.module);
    if (bit < BITS_FIXED)
        return (struct slri_root){fixed[bit], 0};
    if (bit < BITS_FIXED + bindings)
        return (struct slri_root){SLRI_ROOT_BINDING, bit - BITS_FIXED};
    return (struct slri_root){SLRI_ROOT_SHARED, bit - BITS_FIXED - bindings};
}

bool slri_d_uses(const struct slri_d_emitter *e, const struct slri_d_function *function, uint32_t bit)
{
    (void)e;
    return function->roots[bit / 64] >> bit % 64 & 1;
}

static void note_root(struct slri_d_emitter *e, struct slri_d_function *function, struct slri_root root)
{
    uint32_t bit = slri_d_root_bit(e, root);
    if (bit != UINT32_MAX)
        function->roots[bit / 64] |= UINT64_C(1) << bit % 64;
}

struct notes {
    struct slri_d_emitter *e;
    struct slri_d_function *function;
};

static bool notes_roots(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    struct notes *notes = user;
    note_root(notes->e, notes->function, in->root);
    note_root(notes->e, notes->function, in->root2);
    for (uint32_t i = 0; i < in->args; i++)
        note_root(notes->e, notes->function, in->arg[i].root);
    if (in->op == SLRI_OP_SEND)
        note_root(notes->e, notes->function, (struct slri_root){SLRI_ROOT_BINDING, slri_sent_outlet(in)});
    if (in->op != SLRI_OP_CALL)
        return false;
    const struct slri_d_function *callee = slri_d_traits(notes->e, in->callee);
    for (uint32_t word = 0; word < notes->e->root_words; word++)
        notes->function->roots[word] |= callee->roots[word];
    return false;
}

enum slri_root_kind slri_d_space(struct slri_d_emitter *e, struct slri_root root)
{
    const struct slri_entry *entry = slri_d_traits(e, e->c.function)->entry;
    bool by_value = root.kind == SLRI_ROOT_BINDING && !entry->binding[root.index].is_buffer;
    if (by_value)
        return e->dialect->gives_constants ? SLRI_ROOT_CONST : SLRI_ROOT_LOCAL;
    return root.kind;
}

// ---- functions that are needed -------------------------------------------------------------------------------------

struct slri_d_function *slri_d_traits(struct slri_d_emitter *e, const struct slri_function *function)
{
    for (uint32_t i = 0; i < e->c.module->functions; i++)
        if (e->c.module->function[i] == function)
            return &e->functions[i];
    return &e->functions[0]; // not in a verified module
}

static bool marks_callees(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    struct notes *notes = user;
    if (in->op != SLRI_OP_CALL)
        return false;
    struct slri_d_function *callee = slri_d_traits(notes->e, in->callee);
    callee->is_used = true;
    callee->in_handler |= notes->function->in_handler;
    callee->entry = callee->entry ? callee->entry : notes->function->entry;
    return false;
}

static bool find_functions(struct slri_d_emitter *e)
{
    const struct slri_module *module = e->c.module;
    e->root_words = slri_d_root_bits(e) / 64 + 1;
    e->functions = slri_region_take(e->c.scratch, (module->functions + 1) * sizeof *e->functions);
    uint64_t *words = slri_region_take(e->c.scratch, (module->functions + 1) * e->root_words * sizeof *words);
    if (!e->functions || !words)
        return false;
    for (uint32_t i = 0; i < module->functions; i++)
        e->functions[i].roots = words + (size_t)i * e->root_words;
    for (uint32_t i = 0; i < module->entries; i++) {
        const struct slri_entry *entry = &module->entry[i];
        struct slri_d_function *function = slri_d_traits(e, entry->function);
        function->entry = entry;
        function->is_used = !e->only || e->only == entry;
        function->in_handler = entry->kind != SLRI_ENTRY_KERNEL;
    }
    for (uint32_t i = module->functions; i-- > 0;) { // callers before callees
        struct notes notes = {e, &e->functions[i]};
        if (e->functions[i].is_used)
            slri_c_any(&e->c, module->function[i]->body, marks_callees, &notes);
    }
    for (uint32_t i = 0; i < module->functions; i++) {
        struct notes notes = {e, &e->functions[i]};
        slri_c_any(&e->c, module->function[i]->body, notes_roots, &notes);
    }
    return true;
}

static bool finds_faults(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    struct slri_d_emitter *e = user;
    return slri_d_may_fault(e, in) || (in->op == SLRI_OP_CALL && slri_d_traits(e, in->callee)->may_fault);
}

static bool find_faults(struct slri_d_emitter *e)
{
    for (uint32_t i = 0; i < e->c.module->functions; i++) { // callees before callers
        if (!e->functions[i].is_used)
            continue;
        if (!slri_d_enter(e, i))
            return false;
        e->functions[i].may_fault = slri_c_any(&e->c, e->c.function->body, finds_faults, e);
    }
    return true;
}

bool slri_d_begin(struct slri_d_emitter *e, const struct slri_module *module, const struct slri_entry *entry,
                  const struct slri_dialect *dialect)
{
    e->c.module = module;
    e->c.scratch = slri_region_create();
    e->only = entry;
    e->dialect = dialect;
    return e->c.scratch && find_functions(e) && find_faults(e);
}

slr_status slri_kernel_may_fault(const struct slri_module *module, const struct slri_entry *entry, bool *out)
{
    static const struct slri_dialect any = {0}; // how it is spelled changes nothing
    struct slri_d_emitter e = {0};
    bool begun = slri_d_begin(&e, module, entry, &any);
    if (begun)
        *out = slri_d_traits(&e, entry->function)->may_fault;
    slri_region_destroy(e.c.scratch);
    return begun ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory to emit %s", entry->name);
}

// ---- names ---------------------------------------------------------------------------------------------------------

static bool ends_like_a_register(const char *name, const char *mark)
{
    for (const char *at = strstr(name, mark); at; at = strstr(at + 1, mark)) {
        const char *rest = at + strlen(mark);
        if (*rest && strspn(rest, "0123456789LP") == strlen(rest))
            return true;
    }
    return false;
}

// A parameter keeps its name, which no register may have.
static const char *choose_mark(const struct slri_module *module)
{
    static const char *const marks[] = {"_", "__r", "__rr", "__rrr"};
    for (size_t m = 0; m + 1 < sizeof marks / sizeof *marks; m++) {
        bool is_free = true;
        for (uint32_t i = 0; i < module->entries; i++)
            for (uint32_t k = 0; k < module->entry[i].bindings; k++)
                is_free &= !ends_like_a_register(module->entry[i].binding[k].name, marks[m]);
        if (is_free)
            return marks[m];
    }
    return marks[3];
}

static bool has_field(const struct slri_type *type, const char *name)
{
    bool found = type->name && strcmp(type->name, name) == 0;
    for (uint32_t i = 0; i < type->fields; i++)
        found |= strcmp(type->field[i].name, name) == 0;
    return found;
}

static bool is_named(const struct slri_d_emitter *e, const char *name)
{
    bool found = false;
    for (uint32_t i = 0; i < e->declareds; i++)
        found |= has_field(e->declared[i], name);
    for (uint32_t i = 0; i < e->c.module->entries; i++)
        for (uint32_t k = 0; k < e->c.module->entry[i].bindings; k++)
            found |= strcmp(e->c.module->entry[i].binding[k].name, name) == 0;
    return found;
}

// Names of the source that are words of the target get another one, unseen by whoever reads the text as C.
static void put_reserved(struct slri_d_emitter *e)
{
    for (const char *const *name = e->dialect->reserved; *name; name++)
        if (is_named(e, *name))
            slri_text_printf(e->c.out, "#ifndef __SLIPRING__\n#define %s slri_name_%s\n#endif\n", *name, *name);
}

// ---- tables --------------------------------------------------------------------------------------------------------

// As numbers as wide as the table is aligned: C's initialisers would spell floats and padding anew.
static void put_constant(struct slri_d_emitter *e, uint32_t index)
{
    const struct slri_const *constant = &e->c.module->constant[index];
    uint32_t width = constant->type->align > 8 ? 8 : constant->type->align;
    enum slri_kind kind = width == 8 ? SLRI_U64 : width == 4 ? SLRI_U32 : width == 2 ? SLRI_U16 : SLRI_U8;
    slri_text_printf(e->c.out, "// %s\n%sSLRI_ALIGNED_16 %s slri_c%u[%llu] = {", constant->name,
                     e->dialect->space[SLRI_ROOT_CONST], e->dialect->kind[kind], index,
                     (unsigned long long)((constant->type->bytes + width - 1) / width));
    for (uint64_t at = 0; at < constant->type->bytes; at += width) {
        uint64_t value = 0, left = constant->type->bytes - at;
        memcpy(&value, constant->data + at, left < width ? left : width);
        slri_text_printf(e->c.out, "%s%llu%s,", at / width % 16 == 0 ? "\n    " : " ", (unsigned long long)value,
                         width == 8   ? e->dialect->suffix_u64
                         : width == 4 ? "u"
                                      : "");
    }
    slri_d_put(e, "\n};\n");
}

static bool names_constant(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    uint32_t index = *(uint32_t *)user;
    bool found = (in->root.kind == SLRI_ROOT_CONST && in->root.index == index) ||
                 (in->root2.kind == SLRI_ROOT_CONST && in->root2.index == index);
    for (uint32_t i = 0; i < in->args; i++)
        found |= in->arg[i].root.kind == SLRI_ROOT_CONST && in->arg[i].root.index == index;
    return found;
}

static void put_constants(struct slri_d_emitter *e)
{
    for (uint32_t i = 0; i < e->c.module->constants; i++) {
        bool is_used = false;
        for (uint32_t k = 0; k < e->c.module->functions && !is_used; k++)
            is_used = e->functions[k].is_used && slri_c_any(&e->c, e->c.module->function[k]->body, names_constant, &i);
        if (is_used)
            put_constant(e, i);
    }
}

// ---- variables of the program --------------------------------------------------------------------------------------

static uint64_t global_word(const struct slri_global *global, uint64_t at, uint32_t width)
{
    uint64_t value = 0, left = global->type->bytes - at;
    memcpy(&value, global->data + at, left < width ? left : width);
    return value;
}

static void put_global(struct slri_d_emitter *e, uint32_t index)
{
    const struct slri_global *global = &e->c.module->global[index];
    uint32_t width = global->type->align > 8 ? 8 : global->type->align;
    struct slri_text name = SLRI_TEXT_INIT;
    slri_text_printf(&name, "slri_g%u", index);
    slri_text_printf(e->c.out, "// %s\n%s", global->name, global->is_constant ? "__constant__ " : "__device__ ");
    slri_d_words(e, global->type, slri_text_view(&name));
    e->c.out->out_of_memory |= name.out_of_memory;
    slri_text_free(&name);
    slri_d_put(e, global->data ? " = {" : "");
    for (uint64_t at = 0; global->data && at < global->type->bytes; at += width)
        slri_text_printf(e->c.out, "%s%llu%s,", at / width % 16 == 0 ? "\n    " : " ",
                         (unsigned long long)global_word(global, at, width), width == 8 ? e->dialect->suffix_u64 : "");
    slri_d_put(e, global->data ? "\n};\n" : ";\n");
}

// Read again they are variables, one behind the other as in the module: all, so that each lies where it lay. For the
// target's compiler they lie in the program's memory, which functions are given.
static void put_globals(struct slri_d_emitter *e)
{
    const struct slri_module *module = e->c.module;
    bool any = false;
    for (uint32_t i = 0; i < module->functions; i++)
        any |= e->functions[i].is_used && module->function[i]->uses & SLRI_USES_GLOBAL;
    if (e->dialect->gives_globals || !any)
        return;
    slri_d_put(e, "#ifdef __SLIPRING__\n");
    for (uint32_t i = 0; i < module->globals; i++)
        put_global(e, i);
    slri_d_put(e, "#else\n");
    for (uint32_t i = 0; i < module->globals; i++)
        slri_text_printf(e->c.out, "#define slri_g%u (slri_globals + %llu)\n", i,
                         (unsigned long long)module->global[i].offset);
    slri_d_put(e, "#endif\n");
}

// ---- the file ------------------------------------------------------------------------------------------------------

static void put_entries_end(struct slri_d_emitter *e)
{
    for (uint32_t i = 0; e->dialect->wrapper && i < e->c.module->entries; i++) {
        const struct slri_entry *entry = &e->c.module->entry[i];
        if (entry->kind != SLRI_ENTRY_KERNEL && (!e->only || e->only == entry))
            e->dialect->wrapper(e, entry);
    }
}

slr_status slri_d_check_prints(const struct slri_module *module, const struct slri_entry *entry)
{
    for (uint32_t i = 0; i < module->entries; i++) {
        const struct slri_entry *each = &module->entry[i];
        if (each->kind != SLRI_ENTRY_KERNEL && (!entry || entry == each) && (each->function->uses & SLRI_USES_PRINT))
            return SLRI_FAIL(UNSUPPORTED,
                             "%s: the handler '%s' calls printf, which is not supported in handlers on a device",
                             module->name, each->name);
    }
    return SLR_OK;
}

slr_status slri_d_file(struct slri_d_emitter *e, const struct slri_module *module, const struct slri_entry *entry,
                       const struct slri_dialect *dialect, struct slri_text *out)
{
    out->out_of_memory |= !slri_d_begin(e, module, entry, dialect);
    e->c.out = out;
    e->mark = choose_mark(module);
    if (!out->out_of_memory) {
        struct slri_text structs = SLRI_TEXT_INIT; // what they are called is known behind them
        e->c.out = &structs;
        if (!dialect->words)
            slri_d_types(e);
        e->c.out = out;
        put_reserved(e);
        slri_text_append(out, slri_text_view(&structs), structs.length);
        out->out_of_memory |= structs.out_of_memory;
        slri_text_free(&structs);
        put_constants(e);
        put_globals(e);
        for (uint32_t i = 0; i < module->functions; i++)
            if (e->functions[i].is_used)
                slri_d_function(e, i);
        put_entries_end(e);
    }
    slri_region_destroy(e->c.scratch);
    return out->out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory to emit %s", module->name) : SLR_OK;
}
