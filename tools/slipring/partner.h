// SPDX-License-Identifier: Apache-2.0
/// Two cores for a measurement: the caller on one, a partner thread on the other, which sleeps unless it is given a
/// job.
#ifndef PARTNER_H
#define PARTNER_H

#include <stdbool.h>

typedef struct partner partner;

/// Pins the calling thread to the first core that it may use, and starts a thread on the second one. NULL where there
/// is only one core, or no thread to be had.
partner *partner_start(void);

/// Ends the thread and gives the caller all its cores back. NULL is fine.
void partner_stop(partner *partner);

/// The core of the caller, and the other one.
int partner_caller_core(const partner *partner);
int partner_other_core(const partner *partner);

/// Moves the calling thread to the other core, so that threads and processes that it starts inherit that; or back.
void partner_move_caller(partner *partner, bool to_other);

/// Lets the calling thread run on all cores again, for what it starts now; partner_move_caller(partner, false) ends
/// that.
void partner_free_caller(partner *partner);

/// Has the partner run `job(context)`; partner_join waits, spinning, until it has returned.
void partner_run(partner *partner, void (*job)(void *context), void *context);
void partner_join(partner *partner);

/// How far apart the two cores are: a cache line there and back, in nanoseconds; the median of some batches.
double partner_probe_ns(partner *partner);

#endif
