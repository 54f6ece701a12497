// SPDX-License-Identifier: Apache-2.0
/// Runs a kernel's grid in the interpreter: every thread of a block is a program counter, registers and a stack of its
/// own, advanced in turns, so that a kernel which spins on another thread of its block goes on.
#ifndef SLRI_RUN_GRID_H
#define SLRI_RUN_GRID_H

#include "abi/handler.h"
#include "run/flatten.h"
#include "run/interpreter.h"

/// What sees every instruction before it is done, for checkers. `watch` is called with the thread that is about to do
/// `code`, whose place is flat->where[code - flat->code]; slri_watch_access says what memory it will touch. All but
/// `step` may be NULL.
struct slri_watch {
    void *user;
    void (*step)(void *user, const struct slri_interp_thread *thread, const struct slri_code *code);
    void (*lift)(void *user, uint64_t block, const struct slri_code *barrier); ///< a barrier is lifted
    void (*open)(void *user, uint64_t block);                                  ///< before a block's first step
    void (*close)(void *user, uint64_t block);                                 ///< all its threads have ended
    /// A function of a warp is done for the `lanes` of the warp that begins at thread `first`.
    void (*warp)(void *user, uint64_t block, uint32_t first, uint32_t lanes, const struct slri_code *code);
    /// With `lockstep`: these lanes take their next step, `code`, as one.
    void (*together)(void *user, uint64_t block, uint32_t first, uint32_t lanes, const struct slri_code *code);
    /// A thread has an ACCESS, INDEX or DIVIDE fault at `code`. True: it goes on as if the result were 0.
    bool (*fault)(void *user, const struct slri_interp_thread *thread, const struct slri_code *code, uint32_t fault);
};

struct slri_grid {
    uint32_t entry;               ///< of the module, a kernel
    uint32_t grid[3], block[3];   ///< in blocks, in threads
    uint64_t dynamic_shared;      ///< bytes of `extern __shared__` memory
    const struct slri_bound *arg; ///< one for each of the entry's bindings: a buffer, or where a value lies
    uint32_t args;
    uint64_t fuel;         ///< loop iterations that each thread may take
    uint64_t limit;        ///< instructions that all threads together may take, about (0: no limit); else FUEL
    bool lockstep;         ///< the lanes of a warp that stand at one instruction take it together, as on a GPU
    uint64_t seed;         ///< 0: threads take turns in order. Else which is next, and for how long, is drawn from it
    uint32_t resident;     ///< blocks that run side by side (0: 1); the others wait for one of them to end
    uint64_t first, count; ///< blocks to run, in order of x, then y, then z; count 0: all from `first` on
    const struct slri_watch *watch; ///< or NULL
    /// What a kernel prints, a printf at a time, in the order in which they are done: which of the module's formats,
    /// and a value for each of its conversions. NULL: it is lost.
    void (*print)(void *user, uint32_t format, const union slri_scalar *value, uint32_t count);
    void *user;
    unsigned char *global; ///< the module's variables; NULL: they begin anew
};

struct slri_grid_place {
    uint32_t block[3], thread[3];
    struct slri_where where;
};

/// How a grid ended. A fault ends all of it; what its threads wrote before stays written.
struct slri_grid_end {
    uint32_t fault; ///< enum slri_fault
    struct slri_grid_place at;
    uint64_t index, size;         ///< of an INDEX or ACCESS fault, as in abi/handler.h
    struct slri_grid_place other; ///< of a BARRIER or WARP fault: a thread that waits elsewhere; where.line 0: none
    uint64_t instructions;        ///< done by all threads together
    uint64_t missed;              ///< barriers that were lifted though some thread of the block had ended already
};

/// Threads: any; one call a grid, or one a range of its blocks. Blocks: while it runs. Shared memory begins as zero
/// with seed 0, and as bytes drawn from any other seed. Errors: INVALID (no such kernel; a grid, block or shared size
/// that no launch may have; arguments that are missing or of the wrong size), NO_MEMORY. A fault is no error: it is in
/// `end`.
slr_status slri_interpret_grid(const struct slri_interp *interp, const struct slri_grid *grid,
                               struct slri_grid_end *end);

/// The same rules on a launch, for whoever launches without the interpreter. Errors: INVALID.
slr_status slri_grid_check(const struct slri_module *module, const struct slri_grid *grid);

#define SLRI_GRID_MAX_SHARED_BYTES 232448 ///< static and dynamic together: what the largest CUDA devices have

struct slri_access {
    struct slri_root root; ///< BINDING, SHARED, DYNAMIC, GLOBAL, CONST, STATE or MESSAGE; LOCAL: private memory
    uint64_t offset, bytes;
    bool is_write, is_atomic; ///< an atomic read-modify-write is both
};

/// What `code` will touch when `thread` does it: 0, 1 or 2 (a copy: first what is written) accesses. An access outside
/// its root is listed all the same.
uint32_t slri_watch_access(const struct slri_interp_thread *thread, const struct slri_code *code,
                           struct slri_access out[2]);

/// The thread's registers at this step, its place (by enum slri_builtin) and its number in its block.
const union slri_scalar *slri_watch_registers(const struct slri_interp_thread *thread);
const uint32_t *slri_watch_builtins(const struct slri_interp_thread *thread);
uint32_t slri_watch_number(const struct slri_interp_thread *thread);

// Whether a kernel may be launched so: blocks, threads a block, bytes of `extern __shared__` memory. Errors: INVALID.
slr_status slri_kernel_check_shape(const struct slri_entry *entry, const uint32_t grid[3], const uint32_t block[3],
                                   uint64_t dynamic_shared);

#endif
