// SPDX-License-Identifier: Apache-2.0
/// A reference from a message to a payload. Kernel sources and host programs may share a header of messages that uses
/// it. Built into slipring's front end. Contract: docs/contract/references.md.
#ifndef SLIPRING_RING_SLICE_H
#define SLIPRING_RING_SLICE_H

/// Bytes of a buffer, as a field of a message or a reply. All zero: no payload.
struct ring_slice {
    unsigned long long offset; ///< in bytes, from the beginning of the bound buffer
    unsigned long long bytes;
    unsigned
        owner; ///< 0, or the buffer whose ownership moves with the message: from slr_slice_own. Copied, never computed
    unsigned turn; ///< likewise: counts the transfers of that buffer
};

/// In a handler: the slice's first element in the parameter `buffer`, a pointer to elements, and the number of its
/// elements.
#define ring_slice_data(buffer, slice) ((buffer) + (slice).offset / sizeof *(buffer))
#define ring_slice_count(buffer, slice) ((slice).bytes / sizeof *(buffer))

#endif
