// SPDX-License-Identifier: Apache-2.0
// Copies of buffers' bytes in the memory of devices that launch kernels on them. The buffer's own memory, at home,
// always has the newest bytes once all that was submitted is done: what a kernel writes away is brought home behind it.
// So a copy may be dropped at any time that nothing uses it.
#ifndef SLRI_DEVICE_AWAY_H
#define SLRI_DEVICE_AWAY_H

#include "device/peer.h"

#include <slipring/kernel.h>

struct slri_away {
    struct slri_away *next;     // of the same buffer
    struct slri_link of_device; // of the device that has it
    slr_buffer *root, *copy;    // the copy is held
    struct slri_range range;    // of the buffer
    struct slri_validity valid; // of the range: SLRI_AT_HOST is at home, SLRI_AT_DEVICE is here
};

// Under the queues' lock: the range is written at home.
void slri_away_written(slr_buffer *root, struct slri_range range);

void slri_away_drop_of(slr_buffer *root);   // of a buffer that goes
void slri_away_drop_on(slr_device *device); // of a device that closes or is opened again

// Launches a kernel some of whose buffers are not near; slr_launch but for that.
bool slri_away_has_far(const slr_kernel *kernel, const slr_arg *args, uint32_t count);
slr_status slri_away_launch(slr_stream *stream, slr_kernel *kernel, const slr_shape *shape, const slr_arg *args,
                            uint32_t count, slr_point *out);

#endif
