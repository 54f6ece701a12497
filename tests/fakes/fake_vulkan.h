// SPDX-License-Identifier: Apache-2.0
// In front of the Vulkan that is here: a library that passes calls on, counts those that may fail and what is alive,
// fails one of them, and leaves barriers out. A test that has it loaded, by SLIPRING_VULKAN_LIB, reaches these words by
// its function fake_vulkan_words().
#ifndef TESTS_FAKES_FAKE_VULKAN_H
#define TESTS_FAKES_FAKE_VULKAN_H

#include <stdint.h>

struct fake_vulkan {
    uint32_t calls;       // that can fail, so far
    uint32_t fail_at;     // the number of the call that fails, from 1; 0: none
    int32_t result;       // with which VkResult; VK_TIMEOUT (2) is for waits alone
    const char *failed;   // the name of the call that failed, or NULL
    int32_t live;         // objects not yet destroyed
    uint32_t barriers;    // recorded, with
    uint32_t ranges;      // ranges that were named,
    uint32_t wide;        // those over all memory,
    uint32_t stages;      // and all stages of them
    uint64_t first, last; // sizes of the ranges: the least and the greatest
};

#endif
