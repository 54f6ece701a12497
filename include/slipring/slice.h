// SPDX-License-Identifier: Apache-2.0
/// With a zero-copy payload, a message to a ring kernel (a message handler with states) refers to bytes of a buffer,
/// and slipring does not copy these bytes. The ownership of the buffer may move with the message. Contract:
/// docs/contract/references.md.
#ifndef SLIPRING_SLICE_H
#define SLIPRING_SLICE_H

#include <slipring/buffer.h>
#include <slipring/ring_slice.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A slice names bytes of a buffer, as a field of a message or a reply. <slipring/ring_slice.h> describes the members.
typedef struct ring_slice slr_slice;

/// slr_reference describes a field of type slr_slice of a message or a reply, for slr_ring_desc.references.
typedef struct slr_reference {
    const char *field;   ///< the field's name, for error messages
    uint64_t offset;     ///< offset in bytes of the slr_slice in the message or reply; a multiple of 8
    const char *binding; ///< the handler's parameter with the buffer; NULL for a host handler, which has none
    uint32_t in_reply;   ///< 1: the field belongs to the reply; 0: the field belongs to the message
    uint32_t owns;       ///< 1: ownership of a buffer may move with the field's slice; 0: the slice only names bytes
} slr_reference;
#define SLR_MOST_REFERENCES 16

/// Makes an slr_reference for a field of a message, for example SLR_REFERENCE(struct frame, pixels, "frames", 0).
#define SLR_REFERENCE(type, field, binding, owns)                                                                      \
    {                                                                                                                  \
#field, offsetof(type, field), binding, 0, owns                                                                \
    }
/// Makes an slr_reference for a field of a reply, with the same arguments as SLR_REFERENCE.
#define SLR_REFERENCE_IN_REPLY(type, field, binding, owns)                                                             \
    {                                                                                                                  \
#field, offsetof(type, field), binding, 1, owns                                                                \
    }

/// Makes a slice of all of `buffer`, so that a message can carry the buffer's ownership. `within` is the buffer that
/// contains `buffer` and that is bound to the ring kernel (passed to its handler): `buffer` is a slice of `within`
/// (slr_buffer_slice), or comes from a pool that divides `within`. For a host handler `within` is NULL, because a host
/// handler accepts any buffer.
///
/// The caller owns the buffer until a message with the slice is accepted. After the send of a slice with ownership, the
/// library owns the buffer, and the caller must no longer use the buffer's handle. If a send is refused, the caller
/// still owns the buffer.
///
/// Threads: any; one at a time per buffer.  Blocks: the first call for a buffer waits while another thread makes the
/// first call for another buffer of the device.
/// Owns: nothing.  Errors: INVALID (a NULL argument; `buffer` is not in `within`), WRONG_STATE (a message already owns
/// the buffer), NO_MEMORY.
SLR_API slr_status slr_slice_own(slr_buffer *within, slr_buffer *buffer, slr_slice *out);

/// Gives the buffer whose ownership moves with a message or with a reply, by the slice in this message or reply. The
/// caller may use the buffer until the handler returns, or until a call of slr_slice_take takes the buffer. The caller
/// must have received the slice in a message (as a handler) or in a reply (from a port).
///
/// Threads: any.  Blocks: no.  Owns: nothing; the library still owns the buffer.
/// Errors: INVALID (a NULL argument; a slice without an owner), NOT_FOUND (the buffer has been released or taken).
SLR_API slr_status slr_slice_get(slr_device *device, const slr_slice *slice, slr_buffer **out);

/// Takes the buffer of a slice: after the call the caller owns the buffer, and the buffer no longer moves with the
/// message. A program takes the buffer of a reply before the port receives its next reply, and the buffer of a message
/// while the message's handler runs, or in slr_on_undelivered.
/// Threads: any; if several threads try to take the buffer, one succeeds.  Blocks: no.
/// Owns: the caller gets the buffer, and frees it by slr_buffer_destroy.  Errors: those of slr_slice_get.
SLR_API slr_status slr_slice_take(slr_device *device, const slr_slice *slice, slr_buffer **out);

#ifdef __cplusplus
}
#endif
#endif
