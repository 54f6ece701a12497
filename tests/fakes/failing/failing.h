// SPDX-License-Identifier: Apache-2.0
// A backend that is another one, but for one call of one slot, which fails. It counts what is alive.
#ifndef TESTS_FAKES_FAILING_FAILING_H
#define TESTS_FAKES_FAILING_FAILING_H

#include "hal/hal.h"

// The slots that give a status, but for one that only reports: metrics; and those of groups of persistent kernels,
// which the engine calls by a table of their own.
#define FAILING_SLOTS(X)                                                                                               \
    X(probe)                                                                                                           \
    X(open)                                                                                                            \
    X(facts)                                                                                                           \
    X(memory_create)                                                                                                   \
    X(encode)                                                                                                          \
    X(wait)                                                                                                            \
    X(queue_create)                                                                                                    \
    X(reopen)                                                                                                          \
    X(list_create)                                                                                                     \
    X(code_write)                                                                                                      \
    X(code_build)                                                                                                      \
    X(code_load)                                                                                                       \
    X(code_kernel)                                                                                                     \
    X(kernel_use)

#define FAILING_GROUP_SLOTS(X)                                                                                         \
    X(plan)                                                                                                            \
    X(make)                                                                                                            \
    X(launch)

enum failing_slot {
#define FAILING_ENUM(slot) FAILING_##slot,
    FAILING_SLOTS(FAILING_ENUM) FAILING_GROUP_SLOTS(FAILING_ENUM)
#undef FAILING_ENUM
        FAILING_COUNT
};
extern const char *const failing_name[FAILING_COUNT];

struct failing {
    const struct slri_backend *inner;
    const struct slri_resident_ops *inner_groups; // NULL: a device of it has no persistent kernels
    enum failing_slot slot;                       // whose call of the number fail_at, from 1, fails; 0: none
    uint32_t fail_at;
    slr_status status; // with which; DEVICE_LOST: and the device is lost
    struct slri_loss *loss;
    uint32_t calls[FAILING_COUNT]; // atomic, as all that follows
    uint32_t has_failed;
    // What has been made and not been given back: devices, queues, lists, loaded code and kernels, pieces of memory.
    uint32_t live;
    uint64_t live_bytes;
};
extern struct failing failing;
extern struct slri_backend slri_backend_failing;

#define FAILING_WORD "planted"

// From now on "failing:0" is a device of `inner`, of which nothing is open.
void failing_begin(const struct slri_backend *inner, enum failing_slot slot, uint32_t fail_at, slr_status status);

bool failing_has(const struct slri_backend *inner, enum failing_slot slot); // whether it has that slot

#endif
