// SPDX-License-Identifier: Apache-2.0
// What a kernel of a program does.
#include "base/status.h"
#include "device/kernel.h"
#include "kernel/tally.h"
#include "kernel/kernel.h"

slr_status slr_program_explain(const slr_program *program, const char *name, slr_explanation *out)
{
    if (!program || !name || !out)
        return SLRI_FAIL(INVALID, "slr_program_explain: %s is NULL", !program ? "program" : !name ? "name" : "out");
    const struct slri_entry *entry = slri_module_entry(program->module, name);
    if (!entry)
        return SLRI_FAIL(NOT_FOUND, "'%s' has no kernel and no handler '%s'", program->module->name, name);
    return slri_tally(program->module, entry, out);
}
