// SPDX-License-Identifier: Apache-2.0
/// This header has the status codes, and the functions that give the text of the last error. Contract:
/// docs/contract/status.md.
#ifndef SLIPRING_STATUS_H
#define SLIPRING_STATUS_H

#include <slipring/api.h>

#include <stddef.h>
#include <stdint.h>

/// Every function that can fail returns a status code. The integers of the status codes are the same on the host and on
/// devices, and never change.
typedef int32_t slr_status;

/// X(name, integer, meaning) lists each code with its meaning. In the meanings, a ring kernel is a message handler, and
/// its mailbox is its queue of messages.
#define SLR_STATUS_LIST(X)                                                                                             \
    X(OK, 0, "done")                                                                                                   \
    X(INVALID, 1, "an argument is outside its range or of the wrong size")                                             \
    X(NOT_FOUND, 2, "no file, device, ring kernel or binding of that name")                                            \
    X(WRONG_STATE, 3, "the object is in a state in which this call makes no sense")                                    \
    X(UNSUPPORTED, 4, "this device cannot do that")                                                                    \
    X(COMPILE, 5, "the kernel source was refused; the message holds the diagnostics")                                  \
    X(LAYOUT, 6, "host and kernel disagree on a size or an offset")                                                    \
    X(FULL, 7, "no credit: the mailbox is full and its policy is to reject, or the call was not to wait")              \
    X(TIMEOUT, 8, "the deadline passed first")                                                                         \
    X(END, 9, "no more replies will come: the ring kernel has ended")                                                  \
    X(CLOSED, 10, "the ring kernel's input has been closed")                                                           \
    X(RING_DEAD, 11, "the address is stale: its ring kernel was terminated or destroyed")                              \
    X(RING_FAILED, 12, "the ring kernel has failed")                                                                   \
    X(HANDLER_FAULT, 13, "the handler faulted on this message; the instance was reset")                                \
    X(NO_DEVICE, 14, "the device is not there or cannot run here; the message says why")                               \
    X(NO_MEMORY, 15, "out of memory")                                                                                  \
    X(DEVICE_LOST, 16, "the device is gone")                                                                           \
    X(SYSTEM, 17, "the operating system refused; the message holds its reason")                                        \
    X(INTERNAL, 18, "a defect in slipring: please report the message")                                                 \
    X(DROPPED, 19, "the mailbox was full and its policy dropped this message")

enum {
#define SLR_STATUS_ENUM(name, integer, meaning) SLR_##name = integer,
    SLR_STATUS_LIST(SLR_STATUS_ENUM)
#undef SLR_STATUS_ENUM
};

#ifdef __cplusplus
extern "C" {
#endif

/// Returns the name of a code, such as "SLR_FULL", or "SLR_?" for an integer that is not a code. slr_status_name never
/// returns NULL.
/// Threads: any.  Blocks: no.  Owns: nothing (static text).
SLR_API const char *slr_status_name(slr_status status);

/// Returns the meaning of a code in a few words. slr_status_meaning never returns NULL.
/// Threads: any.  Blocks: no.  Owns: nothing (static text).
SLR_API const char *slr_status_meaning(slr_status status);

/// Returns the last error message of the calling thread: what failed, where, and what to do. The result of
/// slr_error_message is never NULL; the text is empty before the first error. The error message is valid until the
/// thread's next call that fails. The error message is always printable, even if it quotes sources, files or drivers:
/// see slr_text_printable.
/// Threads: any.  Blocks: no.  Owns: nothing; the library keeps one text per thread.
SLR_API const char *slr_error_message(void);

/// Makes text from an unknown source, such as names of kernels, files and devices, safe for a terminal.
/// slr_text_printable writes the result and a NUL to `out`, which has room for `room` bytes. If `out` is NULL and
/// `room` is 0, slr_text_printable writes nothing. slr_text_printable returns the length of the whole result without
/// the NUL. If the length of the result is `room` or more, `out` holds the part that fits. Each byte of three kinds
/// becomes \xNN: control characters (C0 except tab and line feed, DEL, C1), characters that change the direction of
/// text, and bytes that are not UTF-8. slr_text_printable copies all other bytes unchanged.
/// Threads: any.  Blocks: no.  Owns: nothing.
SLR_API size_t slr_text_printable(const char *text, size_t bytes, char *out, size_t room);

#ifdef __cplusplus
}
#endif
#endif
