// SPDX-License-Identifier: Apache-2.0
/// Supervision: automatic, limited restarts of failed ring kernels and of those that depend on them.
/// Contract: docs/contract/failure.md.
///
/// A supervisor has children, ordered by their addition: ring kernels or supervisors. After a child's failure it
/// restarts the children that the strategy selects. After max_restarts restarts within window_ns, the supervisor itself
/// fails with all its children. Its own supervisor, if any, treats that as the failure of a child. Each tree has one
/// thread, which failures wake.
#ifndef SLIPRING_SUPERVISOR_H
#define SLIPRING_SUPERVISOR_H

#include <slipring/ring.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_supervisor slr_supervisor;

/// Which children are restarted after a failure. First the selected ones that have not failed are made to fail, the
/// last added first. Then all selected ones are restarted, the first added first.
typedef enum slr_strategy {
    SLR_ONE_FOR_ONE = 1, ///< the failed one (the default)
    SLR_ONE_FOR_ALL = 2, ///< all
    SLR_REST_FOR_ONE = 3 ///< the failed one and those added after it
} slr_strategy;

typedef enum slr_supervised_event {
    SLR_SUPERVISED_RESTARTED = 1, ///< this ring kernel is running again
    SLR_SUPERVISED_REFUSED = 2,   ///< its restart failed, and `status` gives the reason. Retried, and counted again
    SLR_SUPERVISED_GAVE_UP = 3    ///< the supervisor has failed; `ring` is NULL
} slr_supervised_event;

/// An action of a supervisor. Borrowed for the length of the call.
typedef struct slr_supervised {
    slr_supervised_event event;
    slr_status status;
    slr_ring *ring;
    slr_supervisor *supervisor; ///< the parent of `ring`, or the supervisor that gave up
} slr_supervised;
/// Called on the supervisor's thread; slipring holds no lock during the call. It must not call slr_supervisor_destroy.
typedef void slr_on_supervised(void *user, const slr_supervised *supervised);

typedef struct slr_supervisor_desc {
    uint32_t struct_size;
    uint32_t strategy;     ///< an slr_strategy; default SLR_ONE_FOR_ONE
    uint32_t max_restarts; ///< within window_ns, 1 to 65,536; default 3. All restarts for one failure count as one
    uint32_t restart_from; ///< an slr_restart_from; default SLR_RESTART_INITIAL
    uint64_t window_ns;    ///< default 5 s
    uint64_t restart_timeout_ns; ///< limit on each ring kernel's restart; default 1 s
    slr_on_supervised *on_event; ///< may be NULL
    void *user;
} slr_supervisor_desc;
#ifdef __cplusplus
static inline slr_supervisor_desc slr_supervisor_desc_init(void)
{
    slr_supervisor_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_SUPERVISOR_DESC_INIT slr_supervisor_desc_init()
#else
#define SLR_SUPERVISOR_DESC_INIT                                                                                       \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_supervisor_desc)                                                           \
    }
#endif

typedef struct slr_supervisor_stats {
    uint64_t restarts; ///< failures of a child that led to restarts, retries included
    uint32_t failed;   ///< 1: it has given up. It remains so until its own supervisor restarts it
    uint32_t children;
} slr_supervisor_stats;

/// Makes a supervisor. `desc` may be NULL.
/// Threads: any.  Blocks: no.
/// Owns: the caller gets the supervisor: slr_supervisor_destroy, or slr_supervisor_add_supervisor to another.
/// Errors: INVALID (a field out of range: names it), NO_MEMORY.
SLR_API slr_status slr_supervisor_create(const slr_supervisor_desc *desc, slr_supervisor **out);

/// Adds a ring kernel, which may already have failed. The supervisor holds it until destroyed; the caller still owns
/// it. A terminated ring kernel is skipped.
/// Threads: one at a time per tree, before the start.  Blocks: no.
/// Errors: INVALID (the ring kernel has a supervisor already; NULL), WRONG_STATE (started), NO_MEMORY.
SLR_API slr_status slr_supervisor_add_ring(slr_supervisor *supervisor, slr_ring *ring);

/// Adds a supervisor, which then belongs to this one.
/// Threads: one at a time per tree, before the start.  Blocks: no.
/// Errors: INVALID (`child` has a supervisor already, or is `supervisor`; NULL), WRONG_STATE (started), NO_MEMORY.
SLR_API slr_status slr_supervisor_add_supervisor(slr_supervisor *supervisor, slr_supervisor *child);

/// Starts the tree's thread. Only for the root, once.
/// Threads: any.  Blocks: no.  Errors: WRONG_STATE (started; not the root), SYSTEM.
SLR_API slr_status slr_supervisor_start(slr_supervisor *root);

/// Waits until this supervisor, or one above it, has given up.
/// Threads: any.  Blocks: until the deadline.  Errors: TIMEOUT, INVALID (NULL).
SLR_API slr_status slr_supervisor_wait_failed(slr_supervisor *supervisor, uint64_t timeout_ns);

/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_supervisor_get_stats(slr_supervisor *supervisor, slr_supervisor_stats *out);

/// The macro slr_supervisor_get_stats calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_supervisor_get_stats_sized(slr_supervisor *supervisor, slr_supervisor_stats *out, size_t bytes);
#define slr_supervisor_get_stats(supervisor, out)                                                                      \
    slr_supervisor_get_stats_sized((supervisor), (out), sizeof(slr_supervisor_stats))

/// Stops the tree's thread and frees the whole tree; the ring kernels do not change. Call this function before the
/// devices of the ring kernels are closed. NULL does nothing.
/// Threads: any, once; only for the root.  Blocks: until a restart in progress has ended.
SLR_API void slr_supervisor_destroy(slr_supervisor *root);

#ifdef __cplusplus
}
#endif
#endif
