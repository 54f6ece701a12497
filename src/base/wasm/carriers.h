// SPDX-License-Identifier: Apache-2.0
/// Threads of a page, where it has them. A browser starts a thread only while the page's event loop runs, and
/// slipring's calls do not return to it: so all threads are there before the first call, and carry one body after the
/// other.
#ifndef SLRI_BASE_CARRIERS_H
#define SLRI_BASE_CARRIERS_H

#include <pthread.h>
#include <stdint.h>

/// Once, from the page's own thread, before anything else of slipring: starts `carriers` threads, and says how many
/// cores slipring takes the machine to have. Gives how many threads it could have.
/// slipring.mjs calls it.
uint32_t slri_carriers_begin(uint32_t cores, uint32_t carriers);

uint32_t slri_carriers_cores(void);

/// Runs a body on a carrier that is free. 0, or EAGAIN: all carry something.
int slri_carriers_run(pthread_t *handle, void *(*body)(void *), void *arg);
void slri_carriers_join(pthread_t handle);
void slri_carriers_detach_self(void);

/// thread_end.c: calls what was noted for the calling thread, whose body has ended.
void slri_thread_end_now(void);

#endif
