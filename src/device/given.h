// SPDX-License-Identifier: Apache-2.0
// Buffers that were given away with messages: who holds each of them now. One word a buffer says it, and every change
// of hands is one exchange of that word: so a buffer has one owner at a time, and who comes too late learns it.
#ifndef SLRI_DEVICE_GIVEN_H
#define SLRI_DEVICE_GIVEN_H

#include "device/device.h"

#include <slipring/slice.h>

// A holder: the user (0), a message that a ring kernel has accepted, or a reply of its to one of its ports.
enum { SLRI_GIVEN_MESSAGE = 1, SLRI_GIVEN_REPLY = 2 };
#define SLRI_GIVEN_MOST_RINGS (1u << 22)
static inline uint32_t slri_given_holder(uint32_t kind, uint32_t ring, uint32_t port)
{
    return kind << 30 | ring << 8 | port;
}

// A number for a ring kernel, as holders name it; until it is given back, nobody else's.
slr_status slri_given_enter_ring(slr_device *device, uint32_t *out);
void slri_given_leave_ring(slr_device *device, uint32_t ring);

// What a slice names its owner by. Errors: WRONG_STATE (it is with a message), NO_MEMORY.
slr_status slri_given_note(slr_buffer *buffer, slr_slice *out);
void slri_given_forget(slr_buffer *buffer); // it is about to be freed
void slri_given_free(slr_device *device);

// The buffer that the slice names, if it is with `holder`; else NULL. No lock. The first is for who may not hold it.
slr_buffer *slri_given_find(const slr_device *device, const slr_slice *slice, uint32_t holder);
bool slri_given_move(const slr_device *device, const slr_slice *slice, uint32_t from, uint32_t to);
// Lets go of the buffer, to its pool or for good, if it is with `holder`.
void slri_given_drop(const slr_device *device, const slr_slice *slice, uint32_t holder);
// The same for all whose holder is `holder` in the bits of `mask`.
void slri_given_sweep(const slr_device *device, uint32_t holder, uint32_t mask);

#endif
