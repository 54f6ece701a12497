// SPDX-License-Identifier: Apache-2.0
// In front of the Vulkan that is here: a library that passes calls on, counts those that may fail and what is alive,
// fails one of them, shows several queues where there is one, and leaves barriers out. A test that has it loaded, by
// SLIPRING_VULKAN_LIB, reaches these words by its function fake_vulkan_words().
#ifndef TESTS_FAKES_FAKE_VULKAN_H
#define TESTS_FAKES_FAKE_VULKAN_H

#include <stdint.h>

struct fake_vulkan {
    uint32_t calls;       // that can fail, so far
    uint32_t fail_at;     // the number of the call that fails, from 1; 0: none
    int32_t result;       // with which VkResult; VK_TIMEOUT (2) is for waits alone
    uint32_t fail_wait;   // 1: the next wait with a timeout fails so; then 0
    const char *failed;   // the name of the call that failed, or NULL
    int32_t live;         // objects not yet destroyed
    uint32_t astray;      // calls that destroy what has no device; they are not passed on
    uint32_t barriers;    // recorded, with
    uint32_t ranges;      // ranges that were named,
    uint32_t wide;        // those over all memory,
    uint32_t stages;      // and all stages of them
    uint64_t first, last; // sizes of the ranges: the least and the greatest
    uint32_t queues;      // that each family has, all of them the driver's first; 0: as the driver says
    uint32_t holds;       // 1: the next submission to the last of them waits, at most 1 s, for one to the first; then 2
    uint32_t overtaken;   // by such a one
};

#endif
