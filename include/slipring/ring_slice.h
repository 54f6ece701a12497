// SPDX-License-Identifier: Apache-2.0
/// A slice is a field of a message that refers to the message's payload (its large data) in a buffer. Kernel sources
/// and host programs may share a header of messages that uses struct ring_slice. slipring's compiler has
/// <slipring/ring_slice.h> built in. Contract: docs/contract/references.md.
#ifndef SLIPRING_RING_SLICE_H
#define SLIPRING_RING_SLICE_H

/// A struct ring_slice names bytes of a buffer, as a field of a message or a reply. If all members are zero, the slice
/// has no payload.
struct ring_slice {
    unsigned long long offset; ///< where the payload begins, in bytes from the beginning of the handler's buffer
    unsigned long long bytes;
    /// If the ownership of a buffer moves with the slice, `owner` identifies this buffer; otherwise `owner` is 0.
    /// slr_slice_own sets the member `owner`. A program may copy `owner` but must never compute it.
    unsigned owner;
    unsigned turn; ///< the number of times that the buffer has changed its owner. A program may copy `turn` but must
                   ///< never compute it
};

/// The functions ring_slice_data and ring_slice_count are for handlers. ring_slice_data gives a pointer to the slice's
/// first element in the parameter `buffer`. ring_slice_count gives the number of elements in the slice.
#define ring_slice_data(buffer, slice) ((buffer) + (slice).offset / sizeof *(buffer))
#define ring_slice_count(buffer, slice) ((slice).bytes / sizeof *(buffer))

#endif
