// SPDX-License-Identifier: Apache-2.0
/// Running a program (the C compiler) without a shell, with its output captured and its time bounded.
#ifndef SLRI_BASE_PROCESS_H
#define SLRI_BASE_PROCESS_H

#include <slipring/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct slri_process_result {
    int exit_code;       // or 128 + the signal that ended it, as a shell says it
    char *output;        // stdout and stderr in the order written, NUL-terminated; the caller's to free()
    size_t output_bytes; // without the NUL
    bool truncated;      // there was more than the limit
} slri_process_result;

/// How long a program may run.
typedef struct slri_process_limit {
    uint64_t deadline_ns;
    const uint32_t *cancel; // another thread sets it; NULL: nobody does
    /// On a loaded machine a good program may take very long. Behind the deadline it goes on for `more_ns`, as long as
    /// it works: a process of it runs, or waits for a core or a disk. All of them together have `cpu_ns` of processor
    /// time. Where that cannot be seen it ends at its deadline; on Linux it can.
    uint64_t more_ns, cpu_ns;
} slri_process_limit;

/// Runs `argv` (NULL-terminated; argv[0] is a path, or a name looked up on PATH) with our environment (a
/// fixed one where ours is not trusted: environment.h) and an empty stdin. Reads all output and keeps the first
/// `limit_bytes`. A program past its limit, or still running some 20 ms after `*cancel` was set, is killed with its
/// children and reaped. OK means that it ran to its end, whatever its exit code. Errors: NOT_FOUND (no such program),
/// TIMEOUT, WRONG_STATE (cancelled), SYSTEM, NO_MEMORY.
slr_status slri_process_run_within(const char *const argv[], const slri_process_limit *limit, size_t limit_bytes,
                                   slri_process_result *out);

/// Likewise, until the deadline however loaded the machine is.
static inline slr_status slri_process_run(const char *const argv[], uint64_t deadline_ns, const uint32_t *cancel,
                                          size_t limit_bytes, slri_process_result *out)
{
    const slri_process_limit limit = {.deadline_ns = deadline_ns, .cancel = cancel};
    return slri_process_run_within(argv, &limit, limit_bytes, out);
}

/// Where `name` is: itself if it holds a slash and can be executed, else the first such file on PATH. The caller's to
/// free(). Errors: NOT_FOUND, NO_MEMORY.
slr_status slri_process_find(const char *name, char **path);

#endif
