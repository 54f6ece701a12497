// SPDX-License-Identifier: Apache-2.0
// slr_fuse: a list of operations to a kernel.
#include "base/sized.h"
#include "base/status.h"
#include "fuse/fuse.h"
#include "fuse/ops.h"

#include <stdlib.h>
#include <string.h>

static bool is_identifier(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t length = strlen(name);
    return length && length < 128 && strchr(letters, name[0]) &&
           strspn(name + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == length - 1;
}

slr_status slri_fused_check_name(const char *name)
{
    return is_identifier(name)
               ? SLR_OK
               : SLRI_FAIL(INVALID, "the fused kernel's name is '%s', which is no name of a function", name);
}

slr_status slri_fused_compile(slr_device *device, const char *name, const struct slri_text *source, slr_kernel **out,
                              const char **kept)
{
    slr_program *program;
    if (source->out_of_memory)
        return SLRI_FAIL(NO_MEMORY, "no memory for the source of a fused kernel");
    SLRI_TRY(slr_program_from_text(device, name, slri_text_view(source), NULL, &program));
    *kept = slri_region_text(program->region, source->data, source->length);
    slr_status status = *kept ? slr_program_get_kernel(program, name, out)
                              : SLRI_FAIL(NO_MEMORY, "no memory for the source of a fused kernel");
    slr_program_destroy(program); // the kernel keeps it
    return status;
}

static slr_status fuse(slr_device *device, const slr_fusion_desc *desc, struct slri_ops *ops, slr_kernel **out,
                       slr_fusion_info *info)
{
    SLRI_TRY(slri_ops_resolve(desc, ops));
    slri_ops_count(ops, info);
    struct slri_text source = SLRI_TEXT_INIT;
    slri_ops_write(ops, &source);
    slr_status status = slri_fused_compile(device, ops->name, &source, out, &info->source);
    info->why_not = "";
    slri_text_free(&source);
    return status;
}

slr_status slr_fuse_sized(slr_device *device, const slr_fusion_desc *desc, slr_kernel **out, slr_fusion_info *info,
                          size_t bytes)
{
    slr_fusion_desc whole;
    slr_fusion_info report;
    if (!device || !desc || !out)
        return SLRI_FAIL(INVALID, "slr_fuse: %s is NULL", !device ? "device" : desc ? "out" : "desc");
    SLRI_TRY(SLRI_TAKE_DESC(slr_fusion_desc, &whole, desc));
    SLRI_TRY(info ? SLRI_CHECK_REPORT(slr_fusion_info, bytes) : SLR_OK);
    struct slri_ops *ops = calloc(1, sizeof *ops);
    if (!ops)
        return SLRI_FAIL(NO_MEMORY, "no memory to fuse %u operations", whole.op_count);
    slr_status status = fuse(device, &whole, ops, out, &report);
    free(ops);
    return status == SLR_OK && info ? SLRI_GIVE_REPORT(slr_fusion_info, info, bytes, &report) : status;
}

slr_status(slr_fuse)(slr_device *device, const slr_fusion_desc *desc, slr_kernel **out, slr_fusion_info *info)
{
    return slr_fuse_sized(device, desc, out, info, SLRI_FIRST_slr_fusion_info);
}
