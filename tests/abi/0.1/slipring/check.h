// SPDX-License-Identifier: Apache-2.0
/// Checking a kernel without a GPU: runs it in the interpreter and says what is wrong with it. What is looked for, and
/// what each number means: docs/contract/checker.md.
///
///     slr_check *check;
///     slr_kernel_check(kernel, NULL, &check); // shape and arguments are chosen
///     for (uint32_t i = 0; slr_check_get_finding(check, i, &finding) == SLR_OK; i++)
///         printf("%s:%u: SLR-C%03u: %s\n", finding.at.file, finding.at.line, finding.code, finding.message);
#ifndef SLIPRING_CHECK_H
#define SLIPRING_CHECK_H

#include <slipring/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What was found in a kernel, and with which launches.
typedef struct slr_check slr_check;

/// One argument that is given; the others are generated.
typedef struct slr_check_argument {
    uint32_t parameter; ///< counts from 0
    uint8_t is_unset;   ///< of a buffer: nothing has been written to it, so that reading it is a finding
    slr_arg arg;        ///< as for slr_launch; a buffer's contents are copied. Of kind 0: generated, but `is_unset`
} slr_check_argument;

typedef struct slr_check_desc {
    uint32_t struct_size;
    uint32_t grid[3], block[3]; ///< 0: chosen
    uint32_t shared_bytes;      ///< of `extern __shared__` memory; 0: chosen
    const slr_check_argument *arguments;
    uint32_t argument_count;
    uint64_t fuel;  ///< loop iterations a thread may take (0: 1,000,000)
    uint64_t steps; ///< instructions that all threads of a launch may take (0: 200 million)
} slr_check_desc;

#define SLR_CHECK_DESC_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(slr_check_desc), {0, 0, 0}, {0, 0, 0}, 0, 0, 0, 0, 0                                                    \
    }

typedef enum slr_check_level {
    SLR_CHECK_ERROR = 1, ///< what CUDA leaves undefined
    SLR_CHECK_WARNING,   ///< what the language does not promise, or what the launch must provide
    SLR_CHECK_NOTE       ///< right, and could be faster
} slr_check_level;

/// A place in the source, and the first thread that was met there.
typedef struct slr_check_place {
    const char *file; ///< NULL: nowhere
    uint32_t line, column;
    uint32_t block[3], thread[3];
} slr_check_place;

/// One finding for each kind and pair of lines. The text lives as long as the check.
typedef struct slr_check_finding {
    uint32_t code;    ///< 10 for SLR-C010
    uint32_t level;   ///< slr_check_level
    const char *name; ///< of its code: "shared-race"
    const char *message, *advice;
    slr_check_place at;
    slr_check_place other; ///< the other access of a race, or another thread's barrier
    uint64_t count;        ///< how often it was met
    uint32_t launch;       ///< in which launch first: slr_check_get_launch
} slr_check_finding;

/// A launch that was checked.
typedef struct slr_check_launch {
    uint32_t grid[3], block[3], shared_bytes;
    uint64_t instructions;        ///< done by all threads together
    const char *const *arguments; ///< one a parameter: "n = 1000", "x = float[1000], random"
    const uint8_t *generated;     ///< one a parameter: nobody gave it
    uint32_t argument_count;
} slr_check_launch;

/// What a GPU's memory and warps make of a source line in the first launch.
typedef struct slr_check_line {
    const char *file;
    uint32_t line;
    uint64_t steps, lanes; ///< instructions of warps, and lanes that were active in them: 32 a step at best
    uint64_t requests, sectors, least_sectors; ///< of warps to buffers; sectors of 32 bytes moved, and those needed
    uint64_t shared_requests, passes, least_passes; ///< of warps to shared memory; passes over its banks
    uint64_t branches, splits;                      ///< of warps; those after which lanes went both ways
} slr_check_line;

typedef struct slr_check_info {
    const char *kernel;
    uint32_t findings, errors, warnings, notes, launches;
} slr_check_info;

/// Runs a kernel in the interpreter, once or (where sizes are generated and the kernel tests its index against one)
/// twice, the second time with sizes that are no multiple of the block. What it finds is no error of this call.
/// `desc` may be NULL.
///
/// Threads: any.  Blocks: while it runs; `fuel` and `steps` bound that.  Owns: the caller gets the check, which holds
/// the kernel: slr_check_destroy.
/// Errors: INVALID (NULL; a shape that cannot be, an argument as in slr_launch: the message names it), UNSUPPORTED (it
/// needs more stack than the interpreter has), NO_MEMORY.
SLR_API slr_status slr_kernel_check(slr_kernel *kernel, const slr_check_desc *desc, slr_check **out);

/// NULL is fine. Threads: any, once.  Blocks: no.
SLR_API void slr_check_destroy(slr_check *check);

/// Threads: any.  Blocks: no.  Owns: the check's.  Errors: INVALID (NULL).
SLR_API slr_status slr_check_get_info(const slr_check *check, slr_check_info *out);

/// In the order of files and lines; `index` counts from 0.
/// Threads: any.  Blocks: no.  Owns: the check's.  Errors: NOT_FOUND (index past the last), INVALID (NULL).
SLR_API slr_status slr_check_get_finding(const slr_check *check, uint32_t index, slr_check_finding *out);

/// Likewise, in the order in which they ran.
SLR_API slr_status slr_check_get_launch(const slr_check *check, uint32_t index, slr_check_launch *out);

/// Likewise, in the order of files and lines: those that touch memory or branch.
SLR_API slr_status slr_check_get_line(const slr_check *check, uint32_t index, slr_check_line *out);

#ifdef __cplusplus
}
#endif
#endif
