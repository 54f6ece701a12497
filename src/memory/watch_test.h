// SPDX-License-Identifier: Apache-2.0
// For tests of what is told of a device's memory: keeps the last eight events.
#ifndef SLRI_MEMORY_WATCH_TEST_H
#define SLRI_MEMORY_WATCH_TEST_H

#include <slipring/memory_event.h>

struct watch {
    slr_memory_event event[8];
    int events;
};

static inline void watch(void *user, const slr_memory_event *event)
{
    struct watch *watch = user;
    watch->event[watch->events++ % 8] = *event;
}

#endif
