// SPDX-License-Identifier: Apache-2.0
// Programs as text: which emitter, of what.
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include "device/kernel.h"
#include "emit/c/emit_c.h"
#include "emit/c/kernel.h"
#include "emit/cuda/emit_cuda.h"
#include "emit/msl/emit_msl.h"
#include "emit/opencl/emit_opencl.h"
#include "emit/spirv/spirv.h"
#include "emit/wgsl/emit_wgsl.h"
#include "ir/pass/handler_kernel.h"
#include "run/grid.h"

#include <slipring/emit.h>

#include <string.h>

static bool has_kernels(const struct slri_module *module)
{
    for (uint32_t i = 0; i < module->entries; i++)
        if (module->entry[i].kind == SLRI_ENTRY_KERNEL)
            return true;
    return false;
}

static slr_status emit_c(const struct slri_module *module, const struct slri_entry *entry, const slr_emit_desc *desc,
                         struct slri_text *out)
{
    if (!entry && module->entries == 1)
        entry = &module->entry[0];
    if (!entry && has_kernels(module))
        return SLRI_FAIL(INVALID, "C needs the name of one kernel; there are %u in '%s'", module->entries,
                         module->name);
    if (!entry || entry->kind != SLRI_ENTRY_KERNEL) {
        SLRI_TRY(slri_emit_c(module, out));
        return desc->linked ? slri_emit_c_link(module, NULL, out) : SLR_OK;
    }
    bool is_given = desc->block[0] != 0;
    uint32_t block[3] = {256, 1, 1}, grid[3] = {1, 1, 1};
    for (int i = 0; i < 3 && is_given; i++)
        block[i] = desc->block[i] ? desc->block[i] : 1;
    if (!is_given && entry->max_threads && entry->max_threads < block[0])
        block[0] = entry->max_threads;
    SLRI_TRY(slri_kernel_check_shape(entry, grid, block, 0));
    SLRI_TRY(slri_emit_c_kernel(module, entry, block, out));
    return desc->linked ? slri_emit_c_link(module, entry, out) : SLR_OK;
}

// The shape of all launches, or NULL.
static const uint32_t *block_of(const slr_emit_desc *desc, uint32_t block[3])
{
    for (int i = 0; i < 3; i++)
        block[i] = desc->block[i] ? desc->block[i] : 1;
    return desc->block[0] ? block : NULL;
}

static slr_status emit_opencl(const struct slri_module *module, const struct slri_entry *entry,
                              const slr_emit_desc *desc, struct slri_text *out)
{
    uint32_t block[3];
    struct slri_opencl_options options = {.block = block_of(desc, block)};
    return slri_emit_opencl(module, entry, &options, out);
}

// The one that is named, or the only one.
static slr_status one_kernel(const struct slri_module *module, const char *language, const struct slri_entry **entry)
{
    if (!*entry && module->entries == 1)
        *entry = &module->entry[0];
    return *entry ? SLR_OK
                  : SLRI_FAIL(INVALID, "%s needs the name of one kernel; there are %u in '%s'", language,
                              module->entries, module->name);
}

static slr_status emit_spirv(const struct slri_module *module, const struct slri_entry *entry,
                             const slr_emit_desc *desc, struct slri_text *out)
{
    struct slri_spirv made;
    SLRI_TRY(one_kernel(module, "SPIR-V", &entry));
    SLRI_TRY(slri_emit_spirv(module, entry, NULL, &made));
    if (desc->binary)
        slri_text_append(out, (const char *)made.word, made.words * sizeof *made.word);
    else
        slri_spirv_disassemble(made.word, made.words, out);
    slri_spirv_free(&made);
    return out->out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory to emit %s", entry->name) : SLR_OK;
}

static slr_status emit_wgsl(const struct slri_module *module, const struct slri_entry *entry, const slr_emit_desc *desc,
                            struct slri_text *out)
{
    uint32_t block[3];
    struct slri_wgsl_options options = {.block = block_of(desc, block)};
    SLRI_TRY(one_kernel(module, "WGSL", &entry));
    return slri_emit_wgsl(module, entry, &options, out);
}

static slr_status emit_msl(const struct slri_module *module, const struct slri_entry *entry, const slr_emit_desc *desc,
                           struct slri_text *out)
{
    uint32_t block[3];
    struct slri_msl_options options = {.block = block_of(desc, block)};
    SLRI_TRY(one_kernel(module, "MSL", &entry));
    return slri_emit_msl(module, entry, &options, out);
}

static slr_status emit(const struct slri_module *module, const struct slri_entry *entry, const slr_emit_desc *desc,
                       struct slri_text *out)
{
    switch (desc->language) {
    case SLR_LANGUAGE_C:
        return emit_c(module, entry, desc, out);
    case SLR_LANGUAGE_CUDA:
        return slri_emit_cuda(module, entry, out);
    case SLR_LANGUAGE_HIP:
        return slri_emit_hip(module, entry, out);
    case SLR_LANGUAGE_OPENCL:
        return emit_opencl(module, entry, desc, out);
    case SLR_LANGUAGE_SPIRV:
        return emit_spirv(module, entry, desc, out);
    case SLR_LANGUAGE_WGSL:
        return emit_wgsl(module, entry, desc, out);
    case SLR_LANGUAGE_MSL:
        return emit_msl(module, entry, desc, out);
    default:
        return SLRI_FAIL(INVALID, "slr_emit_desc.language is %d, which is not an slr_language", (int)desc->language);
    }
}

// The kernel of the handler's batched launches.
static slr_status emit_batched(const struct slri_module *module, const struct slri_entry *handler,
                               const slr_emit_desc *desc, struct slri_text *out)
{
    struct slri_module *made = NULL;
    if (!handler)
        return SLRI_FAIL(INVALID, "slr_emit_desc.name is NULL; batched needs the name of a handler");
    SLRI_TRY(slri_handler_kernel(module, handler, &made));
    slr_emit_desc whole = *desc;
    if (whole.block[0] == 0)
        whole.block[0] = slri_batch_threads(handler);
    slr_status status = emit(made, made->entry, &whole, out);
    slri_module_destroy(made);
    return status;
}

static slr_status check_emit(const slr_program *program, const slr_emit_desc *desc, const char *text, size_t room,
                             const size_t *needed)
{
    if (!program || !desc || !needed || (room && !text))
        return SLRI_FAIL(INVALID, "slr_program_emit: %s is NULL",
                         !program  ? "program"
                         : !desc   ? "desc"
                         : !needed ? "needed"
                                   : "text");
    return SLR_OK;
}

slr_status slr_program_emit(const slr_program *program, const slr_emit_desc *desc, char *text, size_t room,
                            size_t *needed)
{
    slr_emit_desc whole;
    SLRI_TRY(check_emit(program, desc, text, room, needed));
    SLRI_TRY(SLRI_TAKE_DESC(slr_emit_desc, &whole, desc));
    const struct slri_entry *entry = whole.name ? slri_module_entry(program->module, whole.name) : NULL;
    if (whole.name && !entry)
        return slri_module_no_entry(program->module, whole.name);
    if (whole.binary && whole.language != SLR_LANGUAGE_SPIRV)
        return SLRI_FAIL(INVALID, "slr_emit_desc.binary is for SLR_LANGUAGE_SPIRV; the other languages are text");
    if (whole.linked && whole.language != SLR_LANGUAGE_C)
        return SLRI_FAIL(INVALID, "slr_emit_desc.linked is for SLR_LANGUAGE_C; the other languages export no symbols");
    if (program->module->raw)
        return SLRI_FAIL(UNSUPPORTED, "'%s' is a raw source, which slipring does not read", program->module->name);
    struct slri_text made = SLRI_TEXT_INIT;
    slr_status status = whole.batched ? emit_batched(program->module, entry, &whole, &made)
                                      : emit(program->module, entry, &whole, &made);
    if (status == SLR_OK) {
        *needed = made.length + (whole.binary ? 0 : 1);
        if (*needed <= room)
            memcpy(text, slri_text_view(&made), *needed);
    }
    slri_text_free(&made);
    return status;
}
