// SPDX-License-Identifier: Apache-2.0
// How a handler is called on the CPU: one message, one call; of a `__ring_batch__` handler one call for many messages.
// The same for a compiled handler, an interpreted one and a host function. Plain layout: emitted C repeats it word for
// word (kernel/emit_c embeds this file).
#ifndef SLRI_ABI_HANDLER_H
#define SLRI_ABI_HANDLER_H

#include <stdint.h>

// Reasons why a handler stopped early. X(name, integer, text)
#define SLRI_FAULT_LIST(X)                                                                                             \
    X(NONE, 0, "none")                                                                                                 \
    X(DIVIDE, 1, "integer division by zero")                                                                           \
    X(INDEX, 2, "index outside its array")                                                                             \
    X(ACCESS, 3, "access outside a bound buffer")                                                                      \
    X(FUEL, 4, "out of fuel: too many loop iterations for one message")                                                \
    X(REPLIES, 5, "more replies than the ring kernel's max_replies")                                                   \
    X(STATUS, 6, "the host function returned an error")                                                                \
    X(OVERRUN, 7, "the handler ran past handler_timeout_ns and was abandoned")                                         \
    X(BARRIER, 8, "a barrier that some threads of the block do not reach")                                             \
    X(SENDS, 9, "more messages through one output channel than the ring kernel's max_sends")                           \
    X(WARP, 10, "a warp function that some threads of its mask do not reach, or whose mask lacks its caller")          \
    X(ASSERT, 11, "an assertion failed")                                                                               \
    X(TRAP, 12, "__trap()")

enum slri_fault {
#define SLRI_FAULT_ENUM(name, integer, text) SLRI_FAULT_##name = integer,
    SLRI_FAULT_LIST(SLRI_FAULT_ENUM)
#undef SLRI_FAULT_ENUM
};

struct slri_bound {
    void *data;     // the buffer, or where the scalar lies
    uint64_t bytes; // of the buffer, or of the scalar
};

// What one message's handler has sent through one outlet: message n lies at base + n * stride, the instance that it is
// for first (or UINT32_MAX: the handler's own), then, SLRI_OUT_HEAD bytes on, its bytes. `base` and `stride` are
// multiples of 8.
#define SLRI_OUT_HEAD 8
struct slri_out {
    unsigned char *base;
    uint32_t stride, most, count;
};

struct slri_prints; // abi/prints.h

struct slri_call {
    void *state;         // the instance's, or NULL
    const void *message; // aligned to 8
    const struct slri_bound *bound;
    // Replies go into slots of a power-of-two ring: reply n of this call is the `reply_bytes` bytes at
    // reply_base + ((reply_at + n) & reply_mask) * reply_stride, both multiples of 8. `replies` counts those written;
    // at most max_replies.
    unsigned char *reply_base;
    uint32_t reply_at, reply_mask, reply_stride, reply_bytes;
    uint32_t max_replies, replies;
    uint32_t instance;
    uint32_t fault_file, fault_line; // where, when the result is not SLRI_FAULT_NONE (0: unknown)
    // Of a `__ring_batch__` handler: how many messages it is given. They lie one behind the other from `message` on,
    // and it is given the first of as many of these structs, of which each has a message's replies. Here and at `fault`
    // are gaps: threads of blocks on a GPU have one each of this struct, and little shared memory.
    uint32_t messages;
    uint64_t fuel;        // loop back edges that this message may take
    struct slri_out *out; // by the parameters behind the message, those that are outlets; NULL without any
    // More of a fault, where whoever ran the handler knows it; else 0. Of INDEX: which element of how many. Of ACCESS:
    // the offset, signed, of how many bytes.
    uint32_t fault_column;
    uint32_t fault; // of many messages in one call: an enum slri_fault, which whoever made the call leaves here
    uint64_t fault_index, fault_size;
    struct slri_prints *prints; // NULL: nobody hears what it prints
};

typedef uint32_t slri_handler(void *self, struct slri_call *call); // an enum slri_fault

#endif
