// SPDX-License-Identifier: Apache-2.0
#include "ir/matrix.h"

#include "base/status.h"

static const struct slri_instr *find_matrix(const struct slri_block *block)
{
    const struct slri_instr *found = NULL;
    for (uint32_t i = 0; block && i < block->count && !found; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (in->op == SLRI_OP_WARP && slri_warp_is_matrix(in->imm))
            return in;
        if (in->op == SLRI_OP_CALL && (in->callee->uses & SLRI_USES_MATRIX))
            found = find_matrix(in->callee->body);
        for (int part = 0; part < 3 && !found; part++)
            found = find_matrix(in->body[part]);
        for (uint32_t k = 0; k < in->cases && !found; k++)
            found = find_matrix(in->match[k].body);
    }
    return found;
}

slr_status slri_matrix_refuse(const struct slri_module *module, const struct slri_entry *entry, const char *why)
{
    for (uint32_t i = 0; i < module->entries; i++) {
        const struct slri_entry *each = &module->entry[i];
        if ((entry && entry != each) || !each->function || !(each->function->uses & SLRI_USES_MATRIX))
            continue;
        const struct slri_instr *in = find_matrix(each->function->body);
        return SLRI_FAIL(UNSUPPORTED,
                         "%s:%u: %s is done by tensor cores of NVIDIA's GPUs, and %s; slr_ops_matmul runs "
                         "everywhere",
                         module->file[in->where.file], in->where.line, slri_warp_functions[in->imm].name, why);
    }
    return SLR_OK;
}
