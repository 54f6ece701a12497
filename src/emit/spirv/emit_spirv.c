// SPDX-License-Identifier: Apache-2.0
// The module around a kernel's functions: what it is given, its memory, its sections in their order.
#include "base/status.h"
#include "emit/spirv/internal.h"
#include "lang/library.h"
#include "ir/pass/exits.h"
#include "ir/pass/level.h"
#include "ir/pass/linked.h"
#include "ir/pass/select.h"
#include "ir/pass/words.h"
#include "ir/matrix.h"

#include <stdlib.h>
#include <stddef.h>
#include <string.h>

// ---- the module's own ----------------------------------------------------------------------------------------------

static uint32_t spec_op(struct slri_s *s, enum slri_w_op op, uint32_t a, uint32_t b)
{
    uint32_t id = slri_w_id(&s->w);
    SLRI_W(&s->w, &s->w.globals, SpecConstantOp, slri_s_uint(s, 4), id, op, a, b);
    return id;
}

static uint32_t spec_constant(struct slri_s *s, enum slri_spirv_spec number, uint32_t value)
{
    const uint32_t id = slri_w_id(&s->w);
    SLRI_W(&s->w, &s->w.globals, SpecConstant, slri_s_uint(s, 4), id, value);
    SLRI_W(&s->w, &s->w.decorations, Decorate, id, SLRI_DECORATION_SpecId, number);
    return id;
}

// One that the device gives each thread.
static uint32_t input(struct slri_s *s, uint32_t type, uint32_t builtin)
{
    const uint32_t id = slri_s_variable(s, SLRI_STORAGE_Input, type, 0);
    SLRI_W(&s->w, &s->w.decorations, Decorate, id, SLRI_DECORATION_BuiltIn, builtin);
    return id;
}

static void declare_block(struct slri_s *s)
{
    _Static_assert(offsetof(struct slri_spirv_push, first) == 20 && offsetof(struct slri_spirv_push, ended) == 24 &&
                       offsetof(struct slri_spirv_push, argument) == SLRI_SPIRV_PUSHED_AT &&
                       sizeof(struct slri_spirv_push) == SLRI_SPIRV_PUSH_BYTES,
                   "the members as they are declared here");
    uint32_t u32 = slri_s_uint(s, 4), address = slri_s_address(s);
    uint32_t vector = SLRI_W_ONCE(&s->w, TypeVector, 0, u32, 3);
    uint32_t member[32] = {address, u32, u32, u32, u32, address, u32, u32}, offset[32] = {0, 8, 12, 16, 20, 24, 32, 36};
    uint32_t members = s->options.tells_ended_loops ? 8 : 5;
    s->pushed = members;
    for (uint32_t at = 0; at + 4 <= s->facts.bytes && SLRI_SPIRV_PUSHED_AT + at < SLRI_SPIRV_PUSH_BYTES; at += 4) {
        member[members] = u32;
        offset[members++] = SLRI_SPIRV_PUSHED_AT + at;
    }
    uint32_t push = slri_w_once(&s->w, SLRI_W_TypeStruct, 0, member, members);
    SLRI_W(&s->w, &s->w.decorations, Decorate, push, SLRI_DECORATION_Block);
    for (uint32_t i = 0; i < members; i++)
        SLRI_W(&s->w, &s->w.decorations, MemberDecorate, push, i, SLRI_DECORATION_Offset, offset[i]);
    s->push = slri_s_variable(s, SLRI_STORAGE_PushConstant, push, 0);
    for (uint32_t i = 0; i < 3; i++)
        s->block_size[i] = spec_constant(s, SLRI_SPIRV_BLOCK_X + i, 1);
    uint32_t size = slri_w_id(&s->w);
    SLRI_W(&s->w, &s->w.globals, SpecConstantComposite, vector, size, s->block_size[0], s->block_size[1],
           s->block_size[2]);
    SLRI_W(&s->w, &s->w.decorations, Decorate, size, SLRI_DECORATION_BuiltIn, SLRI_BUILTIN_WorkgroupSize);
    s->workgroup_id = input(s, vector, SLRI_BUILTIN_WorkgroupId);
    s->local_id = input(s, vector, SLRI_BUILTIN_LocalInvocationId);
}

// What an address becomes: a pointer to words, as many as one likes.
static void declare_words(struct slri_s *s)
{
    uint32_t all = slri_w_id(&s->w), array = SLRI_W_ONCE(&s->w, TypeRuntimeArray, 0, slri_s_uint(s, 4));
    SLRI_W(&s->w, &s->w.decorations, Decorate, array, SLRI_DECORATION_ArrayStride, 4);
    SLRI_W(&s->w, &s->w.globals, TypeStruct, all, array);
    SLRI_W(&s->w, &s->w.decorations, Decorate, all, SLRI_DECORATION_Block);
    SLRI_W(&s->w, &s->w.decorations, MemberDecorate, all, 0, SLRI_DECORATION_Offset, 0);
    s->all_words = slri_s_pointer(s, SLRI_STORAGE_PhysicalStorageBuffer, all);
}

// Words that threads give one another are as many as the block needs.
static uint32_t lanes_of_block(struct slri_s *s)
{
    uint32_t threads = spec_op(s, SLRI_W_IMul, s->block_size[0], s->block_size[1]);
    threads = spec_op(s, SLRI_W_IMul, threads, s->block_size[2]);
    return spec_op(s, SLRI_W_IAdd, spec_op(s, SLRI_W_IMul, threads, slri_s_u32(s, 2)), slri_s_u32(s, 64));
}

static void declare_shared(struct slri_s *s)
{
    for (uint32_t i = 0; i < s->module->shareds; i++) {
        if (!slri_entry_has_shared(s->entry, i))
            continue;
        const struct slri_shared *shared = &s->module->shared[i];
        struct slri_s_array *array = &s->shared[i];
        const bool is_lanes = strcmp(shared->name, SLRI_BLOCK_LANES) == 0 && shared->type->bytes > 4;
        const uint32_t length = slri_s_length(s, array, shared->type->bytes);
        slri_s_declare(s, array, SLRI_STORAGE_Workgroup, is_lanes ? lanes_of_block(s) : slri_s_u32(s, length), 0);
        s->shared_bytes += (uint64_t)length * array->element;
    }
    if (s->facts.has_dynamic) {
        const uint32_t words = spec_constant(s, SLRI_SPIRV_DYNAMIC_WORDS, 4),
                       of_word = slri_s_length(s, &s->dynamic, 4);
        const uint32_t length = s->dynamic.element == 8 ? spec_op(s, SLRI_W_UDiv, words, slri_s_u32(s, 2))
                                : of_word > 1           ? spec_op(s, SLRI_W_IMul, words, slri_s_u32(s, of_word))
                                                        : words;
        slri_s_declare(s, &s->dynamic, SLRI_STORAGE_Workgroup, length, 0);
    }
}

// ---- the file ------------------------------------------------------------------------------------------------------

// Of each control first the bit for floats, then that for doubles.
static void ask_float_controls(struct slri_s *s, uint32_t main)
{
    static const struct {
        uint32_t bit, capability, mode;
    } controls[] = {{SLRI_SPIRV_DENORM_PRESERVE_32, SLRI_CAP_DenormPreserve, SLRI_MODE_DenormPreserve},
                    {SLRI_SPIRV_ZERO_INF_NAN_32, SLRI_CAP_SignedZeroInfNanPreserve, SLRI_MODE_SignedZeroInfNanPreserve},
                    {SLRI_SPIRV_ROUND_EVEN_32, SLRI_CAP_RoundingModeRTE, SLRI_MODE_RoundingModeRTE}};
    const uint32_t widths = s->needs & SLRI_SPIRV_FLOAT64 ? 2 : 1;
    for (uint32_t i = 0; i < widths * (sizeof controls / sizeof *controls); i++) {
        const uint32_t control = i / widths, is_double = i % widths;
        if (!(s->options.float_controls & controls[control].bit << is_double))
            continue;
        slri_w_capability(&s->w, controls[control].capability);
        SLRI_W(&s->w, &s->w.modes, ExecutionMode, main, controls[control].mode, is_double ? 64 : 32);
    }
}

static void assemble(struct slri_s *s, uint32_t main, struct slri_spirv *out)
{
    struct slri_w *w = &s->w;
    struct slri_w_part all = {0};
    const uint32_t before[2] = {SLRI_EXECUTION_GLCompute, main};
    ask_float_controls(s, main);
    SLRI_W(w, &w->modes, ExecutionMode, main, SLRI_MODE_LocalSize, 1, 1, 1); // WorkgroupSize has the last word
    slri_w_add(w, &all, w->capabilities.word, w->capabilities.count);
    slri_w_put_text(w, &all, SLRI_W_ExtInstImport, &s->glsl, 1, "GLSL.std.450", NULL);
    SLRI_W(w, &all, MemoryModel, SLRI_ADDRESSING_PhysicalStorageBuffer64, SLRI_MODEL_Vulkan);
    slri_w_put_text(w, &all, SLRI_W_EntryPoint, before, 2, s->entry->name, &w->interface);
    const struct slri_w_part *rest[] = {&w->modes, &w->strings, &w->decorations, &w->globals, &w->functions};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        slri_w_add(w, &all, rest[i]->word, rest[i]->count);
    const uint32_t head[5] = {0x07230203, 0x00010500, 0, w->next + 1, 0};
    out->words = all.count + 5;
    out->word = malloc(out->words * sizeof *out->word);
    w->out_of_memory |= !out->word;
    if (out->word) {
        memcpy(out->word, head, sizeof head);
        memcpy(out->word + 5, all.word, all.count * sizeof *out->word);
    }
    free(all.word);
}

static void prepare(struct slri_s *s)
{
    const struct slri_module *m = s->module;
    s->file = slri_s_take(s, m->files, sizeof *s->file);
    s->base = slri_s_take(s, s->entry->bindings + (size_t)1, sizeof *s->base);
    s->pointer = slri_s_take(s, s->entry->bindings + (size_t)1, sizeof *s->pointer);
    s->shared = slri_s_take(s, m->shareds, sizeof *s->shared);
    s->constant = slri_s_take(s, m->constants, sizeof *s->constant);
    s->local = slri_s_take(s, m->functions, sizeof *s->local);
    s->param = slri_s_take(s, m->functions, sizeof *s->param);
    s->function_id = slri_s_take(s, m->functions, sizeof *s->function_id);
    s->glsl = slri_w_id(&s->w);
    for (uint32_t i = 0; s->file && i < m->files; i++) {
        s->file[i] = slri_w_id(&s->w);
        slri_w_put_text(&s->w, &s->w.strings, SLRI_W_String, &s->file[i], 1, m->file[i], NULL);
    }
    for (uint32_t i = 0; !s->w.out_of_memory && i < m->functions; i++) {
        s->function_id[i] = slri_w_id(&s->w);
        s->local[i] = slri_s_take(s, m->function[i]->locals, sizeof **s->local);
        s->param[i] = slri_s_take(s, m->function[i]->params, sizeof **s->param);
    }
    s->literal = slri_assigned_given(s->scratch, m, s->entry);
    s->w.out_of_memory |= !s->literal;
}

static void write_module(struct slri_s *s, struct slri_spirv *out)
{
    const uint32_t always[] = {SLRI_CAP_Shader, SLRI_CAP_VulkanMemoryModel, SLRI_CAP_PhysicalStorageBufferAddresses};
    prepare(s);
    if (s->w.out_of_memory)
        return;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        slri_w_capability(&s->w, always[i]);
    if (s->words)
        declare_words(s);
    else
        slri_w_capability(&s->w, SLRI_CAP_Int64);
    s->needs |= s->words ? 0 : SLRI_SPIRV_INT64;
    slri_s_find_uses(s);
    declare_block(s);
    declare_shared(s);
    for (uint32_t i = 0; i < s->module->functions; i++)
        slri_s_function(s, i);
    const uint32_t kernel = s->function_id[s->entry->function->index];
    assemble(s, s->options.tells_ended_loops && s->has_loop ? slri_s_ended_loops(s, kernel) : kernel, out);
}

// Level, linked with the libraries, and made of words where the device has no others. A kernel that needs none of this
// is copied all the same.
static slr_status make_kernel(struct slri_s *s, const struct slri_module *module, const struct slri_entry *entry,
                              struct slri_module **linked, struct slri_module **words)
{
    const struct slri_words_options options = {
        .all_widths = !s->words, .tells = true, .faults = s->facts.faulted != SLRI_ARGUMENT_NONE};
    const bool has_doubles = !s->words && s->options.has & SLRI_SPIRV_FLOAT64;
    const struct slri_linked_libraries libraries = {
        .get = {[SLRI_LINKED_MATH] = slri_math_library,
                [SLRI_LINKED_SOFT] = has_doubles ? NULL : slri_soft_library,
                [SLRI_LINKED_BLOCK] = s->subgroups ? slri_block_library_of_subgroups : slri_block_library}};
    SLRI_TRY(slri_level(module, entry, s->scratch, &module, &entry));
    SLRI_TRY(slri_linked_kernel(module, entry, &libraries, linked));
    if (!slri_select(*linked))
        return SLRI_FAIL(NO_MEMORY, "no memory for a kernel of SPIR-V");
    SLRI_TRY(slri_words_kernel(*linked, (*linked)->entry, &options, words));
    return slri_exits(*words) ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a kernel of SPIR-V");
}

static slr_status write_kernel(struct slri_s *s, const struct slri_module *module, const struct slri_entry *entry,
                               struct slri_spirv *out)
{
    struct slri_module *linked = NULL, *words = NULL;
    s->refused = make_kernel(s, module, entry, &linked, &words);
    s->module = words;
    if (s->refused == SLR_OK) {
        s->entry = s->module->entry;
        write_module(s, out);
    }
    slri_module_destroy(words);
    slri_module_destroy(linked);
    return s->refused == SLR_OK && s->w.out_of_memory ? SLR_NO_MEMORY : s->refused;
}

slr_status slri_emit_spirv(const struct slri_module *module, const struct slri_entry *entry,
                           const struct slri_spirv_options *options, struct slri_spirv *out)
{
    static const struct slri_spirv_options all = {.has = (1u << SLRI_SPIRV_FEATURES) - 1 - SLRI_SPIRV_SUBGROUPS_OF_32};
    struct slri_s s = {.given = entry, .options = options ? *options : all};
    *out = (struct slri_spirv){0};
    if (entry->kind != SLRI_ENTRY_KERNEL)
        return SLRI_FAIL(UNSUPPORTED,
                         "%s: '%s' is a handler; SPIR-V is written of kernels, and of the kernel of a "
                         "handler's batched launches",
                         module->name, entry->name);
    SLRI_TRY(slri_matrix_refuse(module, entry, "SPIR-V is written without them"));
    SLRI_TRY(slri_arguments_find(module, entry, &s.facts));
    s.subgroups = s.options.has & SLRI_SPIRV_SUBGROUPS_OF_32;
    s.words = !(s.options.has & SLRI_SPIRV_INT64);
    s.scratch = slri_region_create();
    slr_status status = s.scratch ? write_kernel(&s, module, entry, out) : SLR_NO_MEMORY;
    if (status == SLR_NO_MEMORY)
        status = SLRI_FAIL(NO_MEMORY, "no memory to emit %s", entry->name);
    slri_w_destroy(&s.w);
    slri_region_destroy(s.scratch);
    out->needs = s.needs;
    out->shared_bytes = s.shared_bytes;
    if (status != SLR_OK)
        slri_spirv_free(out);
    return status;
}

void slri_spirv_free(struct slri_spirv *spirv)
{
    free(spirv->word);
    *spirv = (struct slri_spirv){0};
}
