// SPDX-License-Identifier: Apache-2.0
/// Supervision: failed ring kernels are restarted, together with those that depend on them, and not for ever.
/// Contract: docs/contract/failure.md.
///
/// A supervisor has children in the order in which they were added: ring kernels, or supervisors. When a child fails,
/// some children are restarted, as the strategy says; when that has been done max_restarts times within window_ns, the
/// supervisor fails instead, with all its children, and its own supervisor, if it has one, takes that for the failure
/// of a child. One thread a tree, woken by the failure.
#ifndef SLIPRING_SUPERVISOR_H
#define SLIPRING_SUPERVISOR_H

#include <slipring/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_supervisor slr_supervisor;

/// Which children are restarted when one has failed. Those that have not failed are first made to, the last added
/// first; then all are restarted, the first added first.
typedef enum slr_strategy {
    SLR_ONE_FOR_ONE = 1, ///< that one (the default)
    SLR_ONE_FOR_ALL = 2, ///< all
    SLR_REST_FOR_ONE = 3 ///< that one and those added after it
} slr_strategy;

typedef enum slr_supervised_event {
    SLR_SUPERVISED_RESTARTED = 1, ///< this ring kernel is running again
    SLR_SUPERVISED_REFUSED = 2,   ///< its restart failed; `status` says why. It is tried again, and counted again
    SLR_SUPERVISED_GAVE_UP = 3    ///< the supervisor has failed; `ring` is NULL
} slr_supervised_event;

/// What a supervisor did. Borrowed for the length of the call.
typedef struct slr_supervised {
    slr_supervised_event event;
    slr_status status;
    slr_ring *ring;
    slr_supervisor *supervisor; ///< whose child it is, or which gave up
} slr_supervised;
/// Called on the tree's thread, with no lock held; it must not call slr_supervisor_destroy.
typedef void slr_on_supervised(void *user, const slr_supervised *supervised);

typedef struct slr_supervisor_desc {
    uint32_t struct_size;
    uint32_t strategy;           ///< an slr_strategy; default SLR_ONE_FOR_ONE
    uint32_t max_restarts;       ///< within window_ns, 1 to 65,536; default 3. What one failure restarts counts as one
    uint32_t restart_from;       ///< an slr_restart_from; default SLR_RESTART_INITIAL
    uint64_t window_ns;          ///< default 5 s
    uint64_t restart_timeout_ns; ///< of each ring kernel's restart; default 1 s
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
    uint64_t restarts; ///< failures of a child that this supervisor has answered with restarts, tries included
    uint32_t failed;   ///< 1: it has given up, and stays so until its own supervisor restarts it
    uint32_t children;
} slr_supervisor_stats;

/// Threads: any.  Blocks: no.  Owns: the caller gets the supervisor: slr_supervisor_destroy, or a supervisor that it is
/// added to.  Errors: INVALID (a field out of range: names it), NO_MEMORY.
SLR_API slr_status slr_supervisor_create(const slr_supervisor_desc *desc, slr_supervisor **out);

/// Adds a ring kernel, which is held until the supervisor is destroyed and stays the caller's; one that has terminated
/// is passed over. It may have failed already. Threads: one at a time a tree, before the start.  Blocks: no.  Errors:
/// INVALID (has a supervisor already; NULL), WRONG_STATE (started), NO_MEMORY.
SLR_API slr_status slr_supervisor_add_ring(slr_supervisor *supervisor, slr_ring *ring);

/// Adds a supervisor, which from then on belongs to this one.
/// Threads: one at a time a tree, before the start.  Blocks: no.  Errors: INVALID (has a supervisor already; itself;
/// NULL), WRONG_STATE (started), NO_MEMORY.
SLR_API slr_status slr_supervisor_add_supervisor(slr_supervisor *supervisor, slr_supervisor *child);

/// Starts the tree's thread. Of the root only, once.
/// Threads: any.  Blocks: no.  Errors: WRONG_STATE (started; not the root), SYSTEM.
SLR_API slr_status slr_supervisor_start(slr_supervisor *root);

/// Waits until this supervisor, or any above it, has given up.
/// Threads: any.  Blocks: until the deadline.  Errors: TIMEOUT, INVALID (NULL).
SLR_API slr_status slr_supervisor_wait_failed(slr_supervisor *supervisor, uint64_t timeout_ns);

/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_supervisor_get_stats(slr_supervisor *supervisor, slr_supervisor_stats *out);

/// Ends the tree's thread and frees the whole tree; the ring kernels stay as they are. Before their devices are closed.
/// NULL is fine.  Threads: any, once; of the root only.  Blocks: until a restart in progress has ended.
SLR_API void slr_supervisor_destroy(slr_supervisor *root);

#ifdef __cplusplus
}
#endif
#endif
