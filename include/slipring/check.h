// SPDX-License-Identifier: Apache-2.0
/// The checker finds defects of a kernel without a GPU: it runs the kernel in slipring's interpreter.
/// docs/contract/checker.md lists the checks, and explains the code of each kind of defect (such as SLR-C010).
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
    uint32_t parameter; ///< the index of the kernel's parameter that gets this argument, from 0
    uint8_t is_unset;   ///< 1: the buffer has no initial contents: a read of bytes that the kernel has not written is a
                        ///< finding
    /// The field `arg` is the argument's value, in the form that slr_launch takes. If the argument is a buffer, the
    /// checker works on a copy of the buffer's contents. If `arg.kind` is 0, the checker chooses the value, and
    /// `is_unset` still applies.
    slr_arg arg;
} slr_check_argument;

/// slr_check_desc has the options of a check. A zero in any field means that the checker chooses the value, or takes
/// the default that the field's comment gives.
typedef struct slr_check_desc {
    uint32_t struct_size;
    /// `grid`: blocks of the launch along x, y and z; `block`: threads per block along x, y and z.
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;               ///< size of the `extern __shared__` memory per block, in bytes
    const slr_check_argument *arguments; ///< the arguments that the program gives, in any order; may be NULL
    uint32_t argument_count;
    uint64_t fuel;         ///< limit on loop iterations of one thread in a launch (0 means 1,000,000)
    uint64_t steps;        ///< limit on instructions of all threads of a launch together (0 means 200 million)
    uint64_t memory_bytes; ///< limit on the total size of the buffers that the checker generates for a launch (0 means
                           ///< 1 GiB)
    uint64_t messages;     ///< for slr_handler_check: number of messages per launch, 1 to 1,000,000 (0 means 600)
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

/// slr_check_level says how serious a finding is.
typedef enum slr_check_level {
    SLR_CHECK_ERROR = 1, ///< the kernel has undefined behaviour by the rules of CUDA
    SLR_CHECK_WARNING,   ///< the language leaves the behaviour open, or the code is correct only for some launches
    SLR_CHECK_NOTE       ///< the code is correct, but could be faster
} slr_check_level;

/// The struct slr_check_place names a place in the source. `block` and `thread` are the indices of the first thread of
/// the checked launch that reached this place.
typedef struct slr_check_place {
    const char *file; ///< name of the source file; NULL: the struct names no place
    uint32_t line, column;
    uint32_t block[3], thread[3];
} slr_check_place;

/// A finding is a defect or a remark that the checker reports. The checker reports each kind of defect at most once for
/// the same two source lines. The texts of a finding live as long as the check.
typedef struct slr_check_finding {
    uint32_t code;                ///< the number of the finding's code: 10 for SLR-C010
    uint32_t level;               ///< an slr_check_level
    const char *name;             ///< the name of the finding's code, such as "shared-race"
    const char *message, *advice; ///< `message`: what is wrong; `advice`: how to repair it
    slr_check_place at;           ///< place of the defect
    /// `other` is the place of the other access of a race, or of the barrier at which another thread waits. For all
    /// other findings, `other` names no place.
    slr_check_place other;
    uint64_t count;  ///< how often the finding occurred
    uint32_t launch; ///< index of the first launch with this finding, as slr_check_get_launch takes it
    /// If values that the checker generated may have caused the finding, and the finding is a warning, `give` names
    /// options of the command `slipring kernel check` that set real values, such as "--arg n=..., --block ...". With
    /// real values, the checker may report an error instead of the warning. If no generated value may have caused the
    /// finding, `give` is NULL.
    const char *give;
} slr_check_finding;

/// The struct slr_check_launch describes a launch of the kernel that the checker ran.
typedef struct slr_check_launch {
    uint32_t grid[3], block[3], shared_bytes;
    uint64_t instructions;        ///< number of instructions that all threads executed together
    const char *const *arguments; ///< a text for each parameter: "n = 1000", "x = float[1000], random"
    /// A flag for each parameter: 1 if the checker generated the argument, 0 if the program gave it.
    const uint8_t *generated;
    uint32_t argument_count;
    /// The checker may imitate a launch that it finds in the host code of the source file. The field `from` names the
    /// imitated launch, such as "line 42: scale<<<2, 256>>>(x, n)". If the checker imitated no launch, `from` is NULL.
    const char *from;
} slr_check_launch;

/// The struct slr_check_line counts what a GPU would do for one line of the source: instructions, accesses to memory
/// and branches of warps (groups of 32 threads). The counts cover only the first launch that the checker ran.
typedef struct slr_check_line {
    const char *file;
    uint32_t line;
    /// `steps` is the number of instructions that warps executed. `lanes` is the number of threads that were active in
    /// these instructions: for each instruction, 1 to 32.
    uint64_t steps, lanes;
    /// `requests` is the number of accesses of warps to buffers. `sectors` is the number of sectors (pieces of 32
    /// bytes) that these accesses moved, and `least_sectors` the least possible number.
    uint64_t requests, sectors, least_sectors;
    /// `shared_requests` is the number of accesses of warps to shared memory. `passes` is the number of passes over the
    /// banks of shared memory that these accesses took, and `least_passes` the least possible number.
    uint64_t shared_requests, passes, least_passes;
    /// `branches` is the number of branches that warps executed. `splits` is the number of branches at which the
    /// threads of a warp took different sides.
    uint64_t branches, splits;
} slr_check_line;

/// slr_check_info has the kernel's name, and the numbers of findings and launches in a check.
typedef struct slr_check_info {
    const char *kernel;
    uint32_t findings, errors, warnings, notes, launches; ///< findings = errors + warnings + notes
} slr_check_info;

/// Runs a kernel in slipring's interpreter, once or twice, and stores the findings in a new slr_check object. If the
/// checker chose the sizes (integer arguments such as `n`), and the kernel compares the index of a thread with one of
/// these sizes, the checker runs the kernel a second time. In the second run, the sizes are not multiples of the block
/// size. slr_kernel_check returns SLR_OK even if the kernel has defects. `desc` may be NULL.
///
/// Threads: any.  Blocks: while the kernel runs; `desc->fuel` and `desc->steps` limit the run.
/// Owns: the check keeps the kernel alive; the caller frees the check by slr_check_destroy.
/// Errors: INVALID (a NULL argument; an impossible grid or block; an argument that slr_launch refuses; the generated
///   buffers exceed `memory_bytes`: the error message names the buffer that does not fit), UNSUPPORTED (the kernel
///   needs more stack than the interpreter has), NO_MEMORY.
SLR_API slr_status slr_kernel_check(slr_kernel *kernel, const slr_check_desc *desc, slr_check **out);

/// Checks a handler, which begins with `__ring__`, `__ring_block__` or `__ring_batch__`, as slr_kernel_check checks a
/// kernel. If `name` is NULL, slr_handler_check checks the only handler of the program. The checker runs the handler in
/// three launches with generated messages: zeros in the first launch, random values in the second, and the smallest and
/// largest values of each type in the third. The handler's messages go to two instances, whose states start as zero
/// bytes. The checker reports a fault that depends on the messages' values as an error if both zeros and random values
/// cause the fault, and otherwise as a warning. `desc` may be NULL. A handler has a fixed shape of threads, so
/// slr_handler_check ignores `grid` and `block`. In a check of a handler, the index 0 of slr_check_argument.parameter
/// means the handler's first parameter after the message.
///
/// Threads: any.  Blocks: while the handler runs; the limits are `fuel` (per message, 0: 100,000) and `steps` (per
/// launch, 0: 16 million).
/// Owns: the check keeps the program alive; the caller frees the check by slr_check_destroy.
/// Errors: NOT_FOUND (no such handler, or no name and several handlers), and those of slr_kernel_check.
SLR_API slr_status slr_handler_check(slr_program *program, const char *name, const slr_check_desc *desc,
                                     slr_check **out);

/// Releases the check. If `check` is NULL, slr_check_destroy does nothing.
/// Threads: any, once for each check.  Blocks: no.
SLR_API void slr_check_destroy(slr_check *check);

/// Gives the kernel's name, and the numbers of findings and launches.
/// Threads: any.  Blocks: no.  Owns: the check owns all texts in `out`.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_check_get_info(const slr_check *check, slr_check_info *out);

/// The macro slr_check_get_info calls slr_check_get_info_sized with sizeof(slr_check_info) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_check_get_info_sized(const slr_check *check, slr_check_info *out, size_t bytes);
#define slr_check_get_info(check, out) slr_check_get_info_sized((check), (out), sizeof(slr_check_info))

/// Gives the finding with the index `index`. Findings are sorted by file and line. The first finding has the index 0.
/// Threads: any.  Blocks: no.  Owns: the check owns all texts in `out`.  Errors: NOT_FOUND (`index` is past the last
/// finding), INVALID (a NULL argument).
SLR_API slr_status slr_check_get_finding(const slr_check *check, uint32_t index, slr_check_finding *out);

/// The macro slr_check_get_finding calls slr_check_get_finding_sized with sizeof(slr_check_finding) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_check_get_finding_sized(const slr_check *check, uint32_t index, slr_check_finding *out,
                                               size_t bytes);
#define slr_check_get_finding(check, index, out)                                                                       \
    slr_check_get_finding_sized((check), (index), (out), sizeof(slr_check_finding))

/// Gives the launch with the index `index`. The launches of a check have the order in which the checker ran them; the
/// first launch has the index 0.
/// Threads, Blocks, Owns, Errors: as for slr_check_get_finding.
SLR_API slr_status slr_check_get_launch(const slr_check *check, uint32_t index, slr_check_launch *out);

/// The macro slr_check_get_launch calls slr_check_get_launch_sized with sizeof(slr_check_launch) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_check_get_launch_sized(const slr_check *check, uint32_t index, slr_check_launch *out,
                                              size_t bytes);
#define slr_check_get_launch(check, index, out)                                                                        \
    slr_check_get_launch_sized((check), (index), (out), sizeof(slr_check_launch))

/// Gives the counts of one source line. Only lines with accesses to memory or with branches have counts; `index` counts
/// these lines from 0, in the order of file and line number.
/// Threads, Blocks, Owns, Errors: as for slr_check_get_finding.
SLR_API slr_status slr_check_get_line(const slr_check *check, uint32_t index, slr_check_line *out);

/// The macro slr_check_get_line calls slr_check_get_line_sized with sizeof(slr_check_line) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_check_get_line_sized(const slr_check *check, uint32_t index, slr_check_line *out, size_t bytes);
#define slr_check_get_line(check, index, out) slr_check_get_line_sized((check), (index), (out), sizeof(slr_check_line))

#ifdef __cplusplus
}
#endif
#endif
