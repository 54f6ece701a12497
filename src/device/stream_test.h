// SPDX-License-Identifier: Apache-2.0
// What the tests of streams and of events share: the devices, and a host function that waits until it is let go.
#ifndef SLRI_DEVICE_STREAM_TEST_H
#define SLRI_DEVICE_STREAM_TEST_H

#include "device/device_test.h"

#include "base/futex.h"
#include "base/thread.h"

static const char *const devices[] = {"cpu?threads=2", "null", "opencl:0", "cuda:0"};
#define EACH_DEVICE(i) EACH_HERE(i, devices)
// Those that store what they are given, in memory of each kind; and work while the caller goes on.
static const char *const storing[] = {
    "cpu?threads=2",         "opencl:0", "opencl:0?memory=coarse", "opencl:0?memory=host",
    "opencl:0?memory=plain", "cuda:0",   "cuda:0?memory=mapped"};
#define EACH_STORING(i) EACH_HERE(i, storing)

static inline slr_stream *make_stream(slr_device *device)
{
    slr_stream *stream = NULL;
    must(slr_stream_create(device, NULL, &stream));
    return stream;
}

// A host function that waits until it is let go.
struct gate {
    uint32_t entered, open; // atomic; `open` is a futex
};

static inline void hold_up(void *user, slr_status status)
{
    struct gate *gate = user;
    (void)status;
    __atomic_store_n(&gate->entered, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&gate->open, __ATOMIC_ACQUIRE))
        slri_futex_wait(&gate->open, 0, SLRI_FOREVER);
}

static inline void open_gate(struct gate *gate)
{
    __atomic_store_n(&gate->open, 1, __ATOMIC_RELEASE);
    slri_futex_wake(&gate->open, UINT32_MAX);
}

static inline void await(const uint32_t *flag)
{
    uint64_t deadline_ns = slri_deadline_after(LONG);
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) {
        holds(!slri_passed(deadline_ns));
        slri_yield();
    }
}

#endif
