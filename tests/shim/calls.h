// SPDX-License-Identifier: Apache-2.0
// What an image (device.h, compiled with a text) calls, and what a lane sees of its launch. Read as C and as C++.
#ifndef TESTS_SHIM_CALLS_H
#define TESTS_SHIM_CALLS_H

#include <stddef.h>

struct shim_dim {
    unsigned x, y, z;
};

struct shim_seen { // by a lane: CUDA's four variables
    struct shim_dim threadIdx, blockIdx, blockDim, gridDim;
};

typedef unsigned long long shim_word;

enum shim_vote { SHIM_SYNC, SHIM_COUNT, SHIM_AND, SHIM_OR };

struct shim_calls {
    const struct shim_seen *(*here)(void);
    // Comes to the block's barrier; gives what the votes of those who came make. `site`: where in the text the call
    // stands; lanes of one warp must be at the same one. 0: an instruction that is not .aligned, of which that is not
    // asked.
    unsigned (*meet)(enum shim_vote vote, unsigned site, unsigned mine);
    // Comes to a function of the warp; gives the values of the 32 lanes, and which of them take part.
    const shim_word *(*warp)(unsigned site, unsigned mask, shim_word mine, unsigned *part);
    unsigned (*active)(unsigned site); // __activemask
    // Of HIP: what this lane calls next stands at that place of the text. Then: comes to an instruction of its wave of
    // `lanes`; gives the values, and which lanes are there too: at that place, when no lane can go on without.
    void (*place)(unsigned site);
    const shim_word *(*wave)(unsigned site, unsigned lanes, shim_word mine, shim_word *part);
    void (*end_wave)(unsigned lanes); // all of them end. Does not return
    // Atomic operations, before which others may go on. `order` as the compiler's builtins have it.
    void (*load)(int order);
    void (*store)(void *to, const void *value, unsigned bytes, int order);
    int (*swap)(void *word, void *was, const void *value, unsigned bytes, int order); // as compare_exchange
    void (*fence)(int order);
    void (*plain)(void *at, size_t bytes); // before a store that is none of them
    void (*pause)(void);                   // others go on
    void (*end)(int traps);                // of this lane; of the launch, too, where it traps. Does not return
    void (*wrong)(const char *what);       // likewise, and says why
    shim_word (*clock_ns)(void);
    void (*math)(unsigned id, const shim_word *argument, shim_word *result); // ir/math/functions.h
    int (*print)(const char *format, ...);
};

#endif
