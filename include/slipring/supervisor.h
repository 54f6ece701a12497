// SPDX-License-Identifier: Apache-2.0
/// A supervisor restarts failed ring kernels (message handlers with states), and the ring kernels that depend on them,
/// a limited number of times.
/// Contract: docs/contract/failure.md.
///
/// A supervisor's children are ring kernels or other supervisors, in the order in which the program added them. After a
/// child's failure, the supervisor restarts the children that the strategy selects. If a child fails once more after
/// max_restarts restarts within window_ns, the supervisor itself fails with all its children. If a supervisor fails,
/// the supervisor to which it belongs treats the failure as the failure of a child. Each tree of supervisors has one
/// thread, which sleeps until a failure.
#ifndef SLIPRING_SUPERVISOR_H
#define SLIPRING_SUPERVISOR_H

#include <slipring/ring.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_supervisor slr_supervisor;

/// The strategy says which children the supervisor restarts after a child's failure. Before the supervisor restarts the
/// selected children, it makes those selected children fail that have not failed, the last added child first. When all
/// children that the strategy selects have failed, the supervisor restarts them, and begins with the first added child.
typedef enum slr_strategy {
    SLR_ONE_FOR_ONE = 1, ///< only the failed child (the default)
    SLR_ONE_FOR_ALL = 2, ///< all children
    SLR_REST_FOR_ONE = 3 ///< the failed child and all children added after it
} slr_strategy;

typedef enum slr_supervised_event {
    SLR_SUPERVISED_RESTARTED = 1, ///< the supervisor has restarted the ring kernel `ring`
    /// The restart of the ring kernel `ring` failed with the error `status`. The supervisor tries again, which counts
    /// as another restart.
    SLR_SUPERVISED_REFUSED = 2,
    SLR_SUPERVISED_GAVE_UP = 3 ///< the supervisor has failed; `ring` is NULL
} slr_supervised_event;

/// slr_supervised describes an action of a supervisor, such as a restart. The struct slr_supervised is valid only until
/// slr_on_supervised returns.
typedef struct slr_supervised {
    slr_supervised_event event;
    slr_status status;
    slr_ring *ring;
    slr_supervisor *supervisor; ///< the supervisor to which `ring` belongs, or the supervisor that gave up
} slr_supervised;
/// The supervisor's thread calls slr_on_supervised. slipring holds no lock during this call. slr_on_supervised must not
/// call slr_supervisor_destroy.
typedef void slr_on_supervised(void *user, const slr_supervised *supervised);

typedef struct slr_supervisor_desc {
    uint32_t struct_size;
    uint32_t strategy; ///< an slr_strategy; default SLR_ONE_FOR_ONE
    /// The most restarts within window_ns, 1 to 65,536; default 3. If one failure makes the supervisor restart several
    /// children, this counts as one restart.
    uint32_t max_restarts;
    uint32_t restart_from;       ///< an slr_restart_from; default SLR_RESTART_INITIAL
    uint64_t window_ns;          ///< the time in which the supervisor counts restarts for max_restarts; default 5 s
    uint64_t restart_timeout_ns; ///< time limit for the restart of one ring kernel; default 1 s
    slr_on_supervised *on_event; ///< called after each action of the supervisor; may be NULL
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
    /// Number of failures of children after which the supervisor restarted children; each repeated try of a restart
    /// counts, too.
    uint64_t restarts;
    /// 1: the supervisor has given up and restarts no child, until the supervisor above it restarts it.
    uint32_t failed;
    uint32_t children;
} slr_supervisor_stats;

/// Makes a supervisor without children. `desc` may be NULL.
/// Threads: any.  Blocks: no.
/// Owns: the caller frees the supervisor by slr_supervisor_destroy, or passes the supervisor to another supervisor by
/// slr_supervisor_add_supervisor.
/// Errors: INVALID (a field out of range: the error message names the field), NO_MEMORY.
SLR_API slr_status slr_supervisor_create(const slr_supervisor_desc *desc, slr_supervisor **out);

/// Adds a ring kernel to the supervisor; the ring kernel may already have failed. The supervisor uses the ring kernel
/// until slr_supervisor_destroy; the caller still owns the ring kernel. The supervisor skips a ring kernel that has
/// terminated.
/// Threads: any, but only one at a time for each tree of supervisors, and before slr_supervisor_start.  Blocks: no.
/// Errors: INVALID (the ring kernel has a supervisor already; a NULL argument), WRONG_STATE (the supervisor has
///   started), NO_MEMORY.
SLR_API slr_status slr_supervisor_add_ring(slr_supervisor *supervisor, slr_ring *ring);

/// Adds the supervisor `child`, which then belongs to `supervisor`.
/// Threads: any, but only one at a time for each tree of supervisors, and before slr_supervisor_start.  Blocks: no.
/// Errors: INVALID (`child` has a supervisor already, or is `supervisor`; a NULL argument), WRONG_STATE (the supervisor
///   has started), NO_MEMORY.
SLR_API slr_status slr_supervisor_add_supervisor(slr_supervisor *supervisor, slr_supervisor *child);

/// Starts the thread of a tree of supervisors. The program calls slr_supervisor_start once, for the root of the tree.
/// Threads: any.  Blocks: no.  Errors: WRONG_STATE (the supervisor has started, or is not the root), SYSTEM.
SLR_API slr_status slr_supervisor_start(slr_supervisor *root);

/// Waits until the supervisor, or a supervisor above it in the tree, has failed.
/// Threads: any.  Blocks: for at most `timeout_ns`.  Errors: TIMEOUT, INVALID (a NULL argument).
SLR_API slr_status slr_supervisor_wait_failed(slr_supervisor *supervisor, uint64_t timeout_ns);

/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_supervisor_get_stats(slr_supervisor *supervisor, slr_supervisor_stats *out);

/// The macro slr_supervisor_get_stats calls slr_supervisor_get_stats_sized with `sizeof(slr_supervisor_stats)` as
/// `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_supervisor_get_stats_sized(slr_supervisor *supervisor, slr_supervisor_stats *out, size_t bytes);
#define slr_supervisor_get_stats(supervisor, out)                                                                      \
    slr_supervisor_get_stats_sized((supervisor), (out), sizeof(slr_supervisor_stats))

/// Stops the thread of the tree, and frees all supervisors of the tree. The ring kernels remain as they are. The
/// program calls slr_supervisor_destroy before it closes the devices of the ring kernels. If `root` is NULL,
/// slr_supervisor_destroy does nothing.
/// Threads: any thread, once, and only for the root of a tree.  Blocks: until a restart in progress has ended.
SLR_API void slr_supervisor_destroy(slr_supervisor *root);

#ifdef __cplusplus
}
#endif
#endif
