// SPDX-License-Identifier: Apache-2.0
// A page has no C compiler: kernels and handlers are interpreted.
#include "hal/cpu/compiler.h"

#include "base/status.h"

#include <stddef.h>

const char *const slri_cpu_flags[] = {NULL};

slr_status slri_cpu_find_compiler(struct slri_cpu_compiler *out)
{
    (void)out;
    return SLRI_FAIL(NOT_FOUND, "a page has no C compiler");
}

slr_status slri_cpu_run_compiler(const struct slri_cpu_compiler *compiler, const char *source, const char *output,
                                 const char *const *more, const uint32_t *cancel)
{
    (void)compiler, (void)source, (void)more, (void)cancel;
    return SLRI_FAIL(NOT_FOUND, "no compiler to make %s: a page has none", output);
}
