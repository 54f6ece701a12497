// SPDX-License-Identifier: Apache-2.0
// In front of the wgpu-native that FAKE_WEBGPU_REAL names: a library that passes calls on, counts those that may fail
// and what is alive, fails one of them, loses the device, and gives adapters another backend. A test that has it
// loaded, by SLIPRING_WEBGPU_LIB, reaches these words by its function fake_webgpu_words().
#ifndef TESTS_FAKES_FAKE_WEBGPU_H
#define TESTS_FAKES_FAKE_WEBGPU_H

#include <stdint.h>

struct fake_webgpu {
    uint32_t calls;        // that can fail, so far
    uint32_t polls, waits; // polls of a device, not among `calls`; those of them that may last
    uint32_t fail_at;      // the number of the call that fails, from 1; 0: none
    uint32_t error;        // with which WGPUErrorType; 0: the device is lost
    const char *failed;    // the name of the call that failed, or NULL
    int32_t live;          // objects not yet released
    uint32_t backend;      // 0, or what adapters say theirs is
    uint32_t version;      // 0, or what wgpuGetVersion gives
    int32_t limits_words;  // so many more of limits are written: -1, 0 or 1
    const char *fail_name; // NULL, or the next call of that name fails
    char source[8192];     // of the newest shader module, cut to that
    uint64_t pass_ticks;   // 0, or how far apart passes seem to begin; each then lasts for half of that
    const char *words;     // of which the library then says this; NULL: the name
};

#endif
