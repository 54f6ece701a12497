// SPDX-License-Identifier: Apache-2.0
// Calls of the driver that do not return while kernels stay. A thread that makes calls in a device's context has a
// place there, and each call notes in it that it has begun and that it has returned: two stores, and no look at a
// clock. One thread a device, the watchdog, looks at the places while kernels stay. For a call that has not returned
// for long it parks them: if that was what the call waited for, it returns now.
#ifndef SLRI_HAL_CUDA_STALL_H
#define SLRI_HAL_CUDA_STALL_H

#include "hal/cuda/api.h"
#include "base/thread.h"
#include "engine/resident.h"

#include <stdbool.h>

// Threads that may be in calls of one device at a time and are watched: 16 of streams (SLRI_CU_MOST_STREAM_THREADS),
// the poller, that of relaunched ring kernels, and the application's.
#define SLRI_CU_PLACES 64

enum slri_cu_call {
    SLRI_CU_NO_CALL,
#define SLRI_CU_NUMBER(result, name, parameters, arguments) SLRI_CU_CALL_##name,
    SLRI_CU_REQUIRED(SLRI_CU_NUMBER) SLRI_CU_OPTIONAL(SLRI_CU_NUMBER)
#undef SLRI_CU_NUMBER
        SLRI_CU_CALL_LIBRARY, // one of a library, which makes calls of the driver that nobody sees
    SLRI_CU_CALLS
};

struct slri_cu_place {
    uint64_t call;               // atomic; its thread's: how many it has begun << 8 | an slri_cu_call
    struct slri_cu_place *outer; // that the thread had before
    uint32_t taken;              // atomic
    unsigned char padding[44];   // a cache line
};

struct slri_cu_watch {
    struct slri_cu_place place[SLRI_CU_PLACES];
    struct slri_residents *residents;
    uint64_t limit_ns; // 0: nobody watches
    slri_thread thread;
    bool started;
    uint32_t rings; // futex
    uint32_t stop;
    uint32_t stalls[SLRI_CU_CALLS]; // atomic: calls that kernels were parked for, by name
    struct {                        // the watchdog's: what it has seen in each place, and since when
        uint64_t call, since_ns;
        bool counted, let_be;
    } seen[SLRI_CU_PLACES];
};

// calls.c: the table that the backend calls by: `found`, each of its functions with the two stores around it.
void slri_cu_watched(const struct slri_cu *found, struct slri_cu *out);
// The calling thread's calls are of that device from here on, until it leaves; they nest. Never fails: a thread that
// finds no place is not watched.
void slri_cu_watch_enter(struct slri_cu_watch *watch);
void slri_cu_watch_leave(void);
// Around calls of a library, which is watched as one call of the driver is. They do not nest.
void slri_cu_library_begin(void);
void slri_cu_library_end(void);

// stall.c. `watch` is all zero but for `residents` and `limit_ns`. Errors: SYSTEM (no thread).
slr_status slri_cu_watch_start(struct slri_cu_watch *watch); // once or more; one thread at a time
void slri_cu_watch_stop(struct slri_cu_watch *watch);        // also one that was never started
void slri_cu_watch_ring(struct slri_cu_watch *watch);        // a kernel is about to stay
// "cuMemAlloc_v2 3, cuStreamQuery 1", or "". Gives the sum.
uint32_t slri_cu_watch_describe(const struct slri_cu_watch *watch, char *out, size_t room);

#endif
