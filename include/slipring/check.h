// SPDX-License-Identifier: Apache-2.0
/// Finds the defects of a kernel without a GPU, by running the kernel in an interpreter. docs/contract/checker.md lists
/// the checks and the meaning of each code.
///
///     slr_check *check;
///     slr_kernel_check(kernel, NULL, &check); // the checker chooses shape and arguments
///     for (uint32_t i = 0; slr_check_get_finding(check, i, &finding) == SLR_OK; i++)
///         printf("%s:%u: SLR-C%03u: %s\n", finding.at.file, finding.at.line, finding.code, finding.message);
#ifndef SLIPRING_CHECK_H
#define SLIPRING_CHECK_H

#include <slipring/kernel.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The object slr_check holds the result of a check: the findings in a kernel, and the launches that the checker ran.
typedef struct slr_check slr_check;

/// The struct slr_check_argument gives the value of one argument of the kernel. The checker chooses the value of each
/// argument that the caller does not give.
typedef struct slr_check_argument {
    uint32_t parameter; ///< the parameter's index, from 0
    uint8_t is_unset;   ///< 1: the buffer's contents are uninitialised, and a read of them is a finding
    /// The field `arg` is the argument's value, in the form that slr_launch takes. The checker works on a copy of a
    /// buffer's contents. If the argument's kind is 0, the checker chooses the value, and `is_unset` still applies.
    slr_arg arg;
} slr_check_argument;

typedef struct slr_check_desc {
    uint32_t struct_size;
    uint32_t grid[3], block[3]; ///< 0: the checker chooses
    uint32_t shared_bytes;      ///< size of `extern __shared__` memory; 0: the checker chooses
    const slr_check_argument *arguments;
    uint32_t argument_count;
    uint64_t fuel;         ///< limit on loop iterations per thread (0 means 1,000,000)
    uint64_t steps;        ///< limit on instructions per launch, all threads together (0 means 200 million)
    uint64_t memory_bytes; ///< limit on the size of all generated buffers of a launch (0 means 1 GiB)
    uint64_t messages;     ///< messages per launch of a handler, 1 to 1,000,000 (0 means 600); ignored for a kernel
} slr_check_desc;
#ifdef __cplusplus
static inline slr_check_desc slr_check_desc_init(void)
{
    slr_check_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_CHECK_DESC_INIT slr_check_desc_init()
#else
#define SLR_CHECK_DESC_INIT                                                                                            \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_check_desc)                                                                \
    }
#endif

typedef enum slr_check_level {
    SLR_CHECK_ERROR = 1, ///< undefined behaviour in CUDA
    SLR_CHECK_WARNING,   ///< the language leaves the behaviour open, or the code is correct only for some launches
    SLR_CHECK_NOTE       ///< correct, but could be faster
} slr_check_level;

/// The struct slr_check_place names a place in the source, and the first thread of the checked launch that reached this
/// place.
typedef struct slr_check_place {
    const char *file; ///< NULL: no place
    uint32_t line, column;
    uint32_t block[3], thread[3];
} slr_check_place;

/// A finding is a defect or a remark that the checker reports. The checker reports each kind of defect at most once for
/// the same two source lines. The texts of a finding live as long as the check.
typedef struct slr_check_finding {
    uint32_t code;    ///< 10 for SLR-C010
    uint32_t level;   ///< slr_check_level
    const char *name; ///< the code's name: "shared-race"
    const char *message, *advice;
    slr_check_place at;
    slr_check_place other; ///< place of the other access of a race, or of the barrier at which another thread waits
    uint64_t count;        ///< number of occurrences
    uint32_t launch;       ///< index of the first launch with this finding, for slr_check_get_launch
    /// If values that the checker generated may have caused a warning, `give` names the options of the command line
    /// that set real values, such as "--arg n=..., --block ...". With real values, the checker may report an error
    /// instead of the warning. For findings without generated values, `give` is NULL.
    const char *give;
} slr_check_finding;

/// The struct slr_check_launch describes a launch of the kernel that the checker ran.
typedef struct slr_check_launch {
    uint32_t grid[3], block[3], shared_bytes;
    uint64_t instructions;        ///< executed by all threads together
    const char *const *arguments; ///< one per parameter: "n = 1000", "x = float[1000], random"
    const uint8_t *generated;     ///< one per parameter: 1 if the checker generated the argument
    uint32_t argument_count;
    /// The field `from` names the launch in the file's host code that the checker imitated, such as "line 42:
    /// scale<<<2, 256>>>(x, n)". If the checker imitated no launch, `from` is NULL.
    const char *from;
} slr_check_launch;

/// The struct slr_check_line counts what a GPU would do for one line of the source: instructions, accesses to memory
/// and branches of warps (groups of 32 threads). The counts cover only the first launch that the checker ran.
typedef struct slr_check_line {
    const char *file;
    uint32_t line;
    uint64_t steps, lanes;                     ///< warp instructions; sum of their active lanes, at most 32 each
    uint64_t requests, sectors, least_sectors; ///< warp accesses to buffers; 32-byte sectors moved, and sectors needed
    uint64_t shared_requests, passes,
        least_passes;          ///< warp accesses to shared memory; passes over its banks, and passes needed
    uint64_t branches, splits; ///< warp branches, and branches that diverged
} slr_check_line;

typedef struct slr_check_info {
    const char *kernel;
    uint32_t findings, errors, warnings, notes, launches;
} slr_check_info;

/// Runs a kernel in slipring's interpreter, once or twice, and reports its defects. If the checker chose the sizes and
/// the kernel compares its index with a size, the checker runs the kernel a second time. In the second run, the sizes
/// are not multiples of the block size. slr_kernel_check does not fail because of a finding. `desc` may be NULL.
///
/// Threads: any.  Blocks: while the kernel runs; `fuel` and `steps` limit the run.
/// Owns: the check keeps the kernel alive; the caller frees the check by slr_check_destroy.
/// Errors: INVALID (a NULL argument; an impossible shape; an argument that slr_launch refuses; the generated buffers
///   exceed `memory_bytes`: the error message names the buffer that does not fit), UNSUPPORTED (the kernel needs more
///   stack than the interpreter has), NO_MEMORY.
SLR_API slr_status slr_kernel_check(slr_kernel *kernel, const slr_check_desc *desc, slr_check **out);

/// Checks a handler, which begins with `__ring__`, `__ring_block__` or `__ring_batch__`, as slr_kernel_check checks a
/// kernel. If `name` is NULL, slr_handler_check checks the only handler of the program. The checker sends generated
/// messages to the handler in three launches: zeros, random values, and the smallest and largest values of each type.
/// The handler's messages go to two instances, whose states start as zero bytes. The checker reports a fault that
/// depends on the messages' values as an error if both zeros and random values cause the fault, and otherwise as a
/// warning. `desc` may be NULL. A handler has a fixed shape of threads, so slr_handler_check ignores `grid` and
/// `block`. In a check of a handler, parameter 0 is the first parameter after the message.
///
/// Threads: any.  Blocks: while the handler runs; the limits are `fuel` (per message, 0: 100,000) and `steps` (per
/// launch, 0: 16 million).
/// Owns: the check keeps the program alive; the caller frees the check by slr_check_destroy.
/// Errors: NOT_FOUND (no such handler, or no name and several handlers), and those of slr_kernel_check.
SLR_API slr_status slr_handler_check(slr_program *program, const char *name, const slr_check_desc *desc,
                                     slr_check **out);

/// Releases the check. If `check` is NULL, slr_check_destroy does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_check_destroy(slr_check *check);

/// Threads: any.  Blocks: no.  Owns: the check owns all texts in `out`.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_check_get_info(const slr_check *check, slr_check_info *out);

/// The macro slr_check_get_info calls slr_check_get_info_sized with the struct's size as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_check_get_info_sized(const slr_check *check, slr_check_info *out, size_t bytes);
#define slr_check_get_info(check, out) slr_check_get_info_sized((check), (out), sizeof(slr_check_info))

/// Gives the finding with the index `index`. Findings are sorted by file and line. The first finding has the index 0.
/// Threads: any.  Blocks: no.  Owns: the check owns all texts in `out`.  Errors: NOT_FOUND (`index` is past the last
/// finding), INVALID (a NULL argument).
SLR_API slr_status slr_check_get_finding(const slr_check *check, uint32_t index, slr_check_finding *out);

/// The macro slr_check_get_finding calls slr_check_get_finding_sized with the struct's size as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_check_get_finding_sized(const slr_check *check, uint32_t index, slr_check_finding *out,
                                               size_t bytes);
#define slr_check_get_finding(check, index, out)                                                                       \
    slr_check_get_finding_sized((check), (index), (out), sizeof(slr_check_finding))

/// Gives a launch that the checker ran. The launch with the index 0 is the launch that the checker ran first.
/// Threads, Blocks, Owns, Errors: as for slr_check_get_finding.
SLR_API slr_status slr_check_get_launch(const slr_check *check, uint32_t index, slr_check_launch *out);

/// The macro slr_check_get_launch calls slr_check_get_launch_sized with the struct's size as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_check_get_launch_sized(const slr_check *check, uint32_t index, slr_check_launch *out,
                                              size_t bytes);
#define slr_check_get_launch(check, index, out)                                                                        \
    slr_check_get_launch_sized((check), (index), (out), sizeof(slr_check_launch))

/// Gives the counts for a source line with accesses to memory or branches; `index` counts these lines from 0. The
/// source lines are sorted by file and line number.
/// Threads, Blocks, Owns, Errors: as for slr_check_get_finding.
SLR_API slr_status slr_check_get_line(const slr_check *check, uint32_t index, slr_check_line *out);

/// The macro slr_check_get_line calls slr_check_get_line_sized with the struct's size as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_check_get_line_sized(const slr_check *check, uint32_t index, slr_check_line *out, size_t bytes);
#define slr_check_get_line(check, index, out) slr_check_get_line_sized((check), (index), (out), sizeof(slr_check_line))

#ifdef __cplusplus
}
#endif
#endif
