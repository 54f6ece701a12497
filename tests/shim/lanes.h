// SPDX-License-Identifier: Apache-2.0
// Runs blocks of an image: each lane is a fibre, a block's fibres share a thread of the host.
#ifndef TESTS_SHIM_LANES_H
#define TESTS_SHIM_LANES_H

#include "tests/shim/calls.h"

#include <stdbool.h>
#include <stdint.h>

struct shim_image; // image.h

enum shim_end { SHIM_DONE, SHIM_TRAPPED, SHIM_ACCESS, SHIM_WRONG, SHIM_STOPPED };

struct shim_launch {
    const struct shim_image *image;
    void (*kernel)(void **parameter); // by shim_image_kernel()
    void **parameter;
    struct shim_dim grid, block;
    bool (*goes_on)(void *user); // asked where lanes wait; NULL: yes
    void *user;
};

// One block, in this thread.
enum shim_end shim_run_block(const struct shim_launch *launch, uint32_t block);
// All of them, a few at once. The first end that is not DONE.
enum shim_end shim_run(const struct shim_launch *launch);

extern const struct shim_calls shim_calls;

#endif
