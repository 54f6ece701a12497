// SPDX-License-Identifier: Apache-2.0
// A page runs no programs: it has no C compiler, and kernels are interpreted.
#include "base/process.h"

#include "base/status.h"

slr_status slri_process_run_within(const char *const argv[], const slri_process_limit *limit, size_t limit_bytes,
                                   slri_process_result *out)
{
    (void)limit, (void)limit_bytes, (void)out;
    return SLRI_FAIL(NOT_FOUND, "cannot run %s: a page runs no programs", argv[0]);
}

slr_status slri_process_find(const char *name, char **path)
{
    (void)path;
    return SLRI_FAIL(NOT_FOUND, "there is no %s: a page runs no programs", name);
}
