// SPDX-License-Identifier: Apache-2.0
// A Metal without a device, and the Objective-C runtime below it. It counts references, has autorelease pools, and says
// what is wrong with a call; kernels run on the host's cores, by a stand-in for Metal's library. A test that names it
// by SLIPRING_METAL_LIB reaches these words by fake_metal_words(). What is left or wrong when the process ends is
// written out, and the process exits with 97.
#ifndef TESTS_FAKES_METAL_FAKE_METAL_H
#define TESTS_FAKES_METAL_FAKE_METAL_H

#include <stdint.h>

struct fake_metal {
    uint32_t calls;         // that can fail, so far
    uint32_t fail_at;       // the number of the call that fails, from 1; 0: none
    uint32_t error;         // 0: it gives nothing, for want of memory; 1: with it the device is lost
    uint32_t lost;          // atomic: the device is, until it is found again
    const char *failed;     // the selector of the call that failed, or NULL
    const char *fail_name;  // NULL, or the next call of that name fails
    const char *words;      // what an NSError then says; NULL: its own words
    int32_t live;           // objects that are not deallocated, but devices
    uint32_t wrong;         // calls that Metal or the runtime does not allow
    char first_wrong[256];  // the first of them, in words
    uint32_t hangs;         // atomic: command buffers begin no more
    uint32_t meeting;       // of so many encoders, which must be open at once before any goes on; 0: none waits
    uint32_t encoders_open; // atomic
    uint32_t most_open;     // encoders that were open at once
    uint32_t compiled;      // texts that were compiled for a pipeline that no archive had
    uint32_t forgets;       // archives that are read hold no pipeline, as behind another system's
    uint32_t system_major;  // of macOS; 0: 15
    uint32_t width;         // lanes of a simdgroup that pipelines say; 0: 32
    uint32_t is_apart;      // the device has memory of its own
};

#endif
