// SPDX-License-Identifier: Apache-2.0
// MSL: the table of its spellings, and how a kernel begins.
#include "emit/msl/emit_msl.h"
#include "base/status.h"
#include "emit/device/spaces.h"
#include "emit/msl/check.h"
#include "ir/matrix.h"
#include "ir/pass/level.h"

extern const char slri_embedded_slr_msl_h[];
extern const char slri_embedded_slr_msl_more_h[];

struct msl_emitter { // the emitter first
    struct slri_d_emitter e;
    const uint32_t *block;
    struct slri_arguments arguments;
};

static const struct msl_emitter *of(const struct slri_d_emitter *e)
{
    return (const struct msl_emitter *)e;
}

// ---- the argument block --------------------------------------------------------------------------------------------

// What lies between the last value and the next is named, so that the compiler adds nothing of its own.
static void put_gap(struct slri_d_emitter *e, uint32_t from, uint32_t to)
{
    if (from < to)
        slri_text_printf(e->c.out, "    uchar gap%u[%u];\n", from, to - from);
}

// Gives where the next begins.
static uint32_t put_member(struct slri_d_emitter *e, const struct slri_entry *entry, uint32_t index)
{
    const struct slri_binding_info *binding = &entry->binding[index];
    slri_d_put(e, "    ");
    if (binding->is_buffer)
        slri_d_put(e, "SLRI_SPACE_G uchar *");
    else if (binding->type->kind == SLRI_STRUCT)
        slri_text_printf(e->c.out, "struct slri_given_%u ", index);
    else
        slri_text_printf(e->c.out, "%s ", e->dialect->kind[binding->type->kind]);
    slri_text_printf(e->c.out, "b%u; // %s\n", index, binding->name);
    return slri_argument(entry, index) + (binding->is_buffer ? 8 : (uint32_t)binding->type->bytes);
}

// Its parameters are called by number: the words of address spaces are what many a source calls them.
static void put_block(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    const struct msl_emitter *m = of(e);
    const uint32_t place[] = {m->arguments.globals, m->arguments.printed, m->arguments.faulted};
    static const char *const name[] = {"uchar *globals", "uint *printed", "uint *faulted"};
    const uint32_t align = slri_d_put_given_structs(e, entry, "slri_given") > 8 ? 16 : 8;
    uint32_t at = 0;
    slri_d_put(e, "struct slri_arguments {\n");
    for (uint32_t i = 0; i < entry->bindings; i++) {
        put_gap(e, at, slri_argument(entry, i));
        at = put_member(e, entry, i);
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (place[i] == SLRI_ARGUMENT_NONE)
            continue;
        put_gap(e, at, place[i]);
        slri_text_printf(e->c.out, "    SLRI_SPACE_G %s;\n", name[i]);
        at = place[i] + 8;
    }
    const uint32_t bytes = (m->arguments.bytes + align - 1) / align * align;
    put_gap(e, at, bytes);
    slri_text_printf(e->c.out, "};\nstatic_assert(sizeof(slri_arguments) == %u, \"the argument block\");\n", bytes);
}

// ---- the kernel ----------------------------------------------------------------------------------------------------

static void put_entry(struct slri_d_emitter *e, const struct slri_entry *entry)
{
    const struct msl_emitter *m = of(e);
    put_block(e, entry);
    if (m->block)
        slri_text_printf(e->c.out, "[[kernel, max_total_threads_per_threadgroup(%u)]] ",
                         m->block[0] * m->block[1] * m->block[2]);
    else
        slri_d_put(e, "[[kernel]] ");
    slri_text_printf(e->c.out,
                     "void " SLRI_MSL_KERNEL_PREFIX "%s(constant slri_arguments &slri_given [[buffer(0)]],\n"
                     "    %smetal::uint3 slri_thread [[thread_position_in_threadgroup]],\n"
                     "    metal::uint3 slri_block [[threadgroup_position_in_grid]],\n"
                     "    metal::uint3 slri_size [[threads_per_threadgroup]],\n"
                     "    metal::uint3 slri_grid [[threadgroups_per_grid]],\n"
                     "    uint slri_lane [[thread_index_in_simdgroup]])\n{\n"
                     "    const slri_place slri_at = {slri_thread, slri_block, slri_size, slri_grid, slri_lane};\n",
                     entry->name,
                     m->arguments.has_dynamic ? "threadgroup uchar *slri_dynamic [[threadgroup(0)]],\n    " : "");
    if (m->arguments.globals != SLRI_ARGUMENT_NONE)
        slri_d_put(e, "    SLRI_SPACE_G uchar *slri_globals = slri_given.globals;\n");
    if (m->arguments.printed != SLRI_ARGUMENT_NONE)
        slri_d_put(e, "    SLRI_SPACE_G uint *slri_printed = slri_given.printed;\n");
    if (m->arguments.faulted != SLRI_ARGUMENT_NONE)
        slri_d_put(e, "    SLRI_SPACE_G uint *slri_faulted = slri_given.faulted;\n");
    slri_d_put_shared(e, entry);
    if (entry->function->uses & SLRI_USES_BARRIER)
        slri_d_put(e, "    threadgroup uint slri_votes[1];\n");
}

static bool put_extra(struct slri_d_emitter *e, const struct slri_function *function, const char *before, bool takes)
{
    const uint32_t uses = function->uses;
    const struct slri_d_extra extra[] = {
        {uses & SLRI_USES_PRINT, "SLRI_SPACE_G uint *", "slri_printed"},
        {slri_d_traits(e, function)->may_fault, "SLRI_SPACE_G uint *", "slri_faulted"},
        {uses & SLRI_USES_BARRIER, "threadgroup uint *", "slri_votes"},
        {uses & (SLRI_USES_PLACE | SLRI_USES_BARRIER | SLRI_USES_WARP), "thread const slri_place &", "slri_at"}};
    return slri_d_put_extras(e, extra, sizeof extra / sizeof *extra, before, takes);
}

static void put_convert(struct slri_d_emitter *e, const struct slri_instr *in)
{
    if (in->kind == SLRI_F64)
        slri_d_spell(e, in, "$dslri_double($a)");
    else
        slri_d_put_convert(e, in);
}

// ---- the table -----------------------------------------------------------------------------------------------------

static const char *const none[] = {NULL}; // no name of the source is in the text, but with a number

static const struct slri_dialect msl = {
    SLRI_D_SPACES,
    .kind[SLRI_F64] = "ulong",
    .double_is_bits = true,
    .convert = put_convert,
    SLRI_D_SPACE_NAMES("SLRI_SPACE_G ", "constant ", "thread ", "threadgroup "),
    .builtin = {"slri_at.thread_at.x", "slri_at.thread_at.y", "slri_at.thread_at.z", "slri_at.block_at.x",
                "slri_at.block_at.y", "slri_at.block_at.z", "slri_at.block_size.x", "slri_at.block_size.y",
                "slri_at.block_size.z", "slri_at.grid_size.x", "slri_at.grid_size.y", "slri_at.grid_size.z"},
    .given = "slri_given.b",
    .reserved = none,
    .extra = put_extra,
    .warp = slri_d_put_warp,
    .entry = put_entry,
    .gives_constants = true,
};

// ---- the text ------------------------------------------------------------------------------------------------------

static slr_status put_text(struct msl_emitter *m, const struct slri_module *module, const struct slri_entry *entry,
                           const struct slri_msl_facts *facts, struct slri_text *out)
{
    m->arguments = facts->arguments;
    slri_text_printf(out, "// %s of %s, for Metal 3.%u\n", entry->name, module->name, facts->version & 0xffff);
    slri_text_puts(out, "#include <metal_stdlib>\n");
    slri_text_puts(out, facts->version == SLRI_MSL_3_2 ? "#define SLRI_COHERENT\n" : "");
    slri_text_puts(out, slri_embedded_slr_msl_h);
    slri_text_puts(out, slri_embedded_slr_spaces_h);
    slri_text_puts(out, slri_embedded_slr_msl_more_h);
    slri_text_puts(out, "#line 1 \"slipring: emitted\"\n");
    return slri_d_file(&m->e, module, entry, &msl, out);
}

slr_status slri_emit_msl(const struct slri_module *module, const struct slri_entry *kernel,
                         const struct slri_msl_options *options, struct slri_text *out)
{
    static const struct slri_msl_options all = {0};
    const struct slri_msl_options *how = options ? options : &all;
    struct msl_emitter m = {.block = how->block};
    struct slri_msl_facts facts;
    SLRI_TRY(slri_matrix_refuse(module, kernel, "Metal's are of another form"));
    SLRI_TRY(slri_msl_check(module, kernel, how->version ? how->version : SLRI_MSL_3_2));
    SLRI_TRY(slri_msl_facts(module, kernel, &facts));
    struct slri_region *region = slri_region_create();
    const struct slri_module *level = NULL;
    const struct slri_entry *entry = NULL;
    slr_status status = region ? slri_level(module, kernel, region, &level, &entry)
                               : SLRI_FAIL(NO_MEMORY, "no memory to emit %s", kernel->name);
    if (status == SLR_OK)
        status = put_text(&m, level, entry, &facts, out);
    slri_region_destroy(region);
    return status;
}
