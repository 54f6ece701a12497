// SPDX-License-Identifier: Apache-2.0
/// Runs a module's IR, one instruction at a time: the oracle of every backend's tests, what runs where there is no C
/// compiler, and a checker (an access outside any root is a fault here, not only outside a bound buffer).
#ifndef SLRI_RUN_INTERPRETER_H
#define SLRI_RUN_INTERPRETER_H

#include "abi/handler.h"
#include "ir/ir.h"

#include <slipring/status.h>

/// A module made ready to run. Never changes once created, so any number of threads may share it.
struct slri_interp;

/// One thread of execution: a program counter, registers and a stack. It is advanced by whoever holds it, so that one
/// caller can interleave many; one at a time may step it.
struct slri_interp_thread;

/// WAITING: at a barrier, which whoever runs the block lifts (grid.h).
enum slri_progress { SLRI_RUNNING, SLRI_DONE, SLRI_FAULTED, SLRI_WAITING };

/// Prepares every function of `module`, which must outlive it. The module must be one that slri_module_verify accepts.
/// Errors: UNSUPPORTED (a function needs more stack than there is; it is named), NO_MEMORY.
slr_status slri_interp_create(const struct slri_module *module, struct slri_interp **out);

/// The same of what one entry calls, for who runs no other: thousands of kernels may be in a file. The module must have
/// been through slri_module_verify.
slr_status slri_interp_create_entry(const struct slri_module *module, const struct slri_entry *entry,
                                    struct slri_interp **out);
void slri_interp_destroy(struct slri_interp *interp); // after its threads; NULL is fine

/// A thread for calls of the module's entry number `entry`. Nothing after this allocates. Of a `__ring_block__` handler
/// it is the whole block, which slri_interp_handler runs, and nothing else does. Errors: INVALID (no such entry),
/// UNSUPPORTED (a kernel: see grid.h), NO_MEMORY.
slr_status slri_interp_thread_create(const struct slri_interp *interp, uint32_t entry, struct slri_interp_thread **out);
void slri_interp_thread_destroy(struct slri_interp_thread *thread); // NULL is fine, and so is one that is running

/// Sets the thread to the entry's first instruction. `call` is used until the thread is done, faulted or started anew.
/// Registers, and memory that the handler does not initialise, begin as zero, so that every run is the same.
void slri_interp_thread_start(struct slri_interp_thread *thread, struct slri_call *call);

/// Runs at most `n` instructions; `done` (or NULL) takes how many were. A fault stops before it has any effect, and its
/// place is in the call's fault_file and fault_line. A thread that is done, faulted or not started stays as it is.
enum slri_progress slri_interp_step(struct slri_interp_thread *thread, uint64_t n, uint64_t *done);

/// Why the last call stopped early: an enum slri_fault, NONE unless FAULTED.
uint32_t slri_interp_fault(const struct slri_interp_thread *thread);

/// A slri_handler whose `self` is a thread: starts it and runs it to its end.
uint32_t slri_interp_handler(void *self, struct slri_call *call);

#endif
