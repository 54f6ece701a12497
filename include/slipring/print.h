// SPDX-License-Identifier: Apache-2.0
/// This header describes how a program gets the output of printf in kernels and in handlers (functions that handle the
/// messages of a ring kernel). Contract: docs/contract/launch.md.
#ifndef SLIPRING_PRINT_H
#define SLIPRING_PRINT_H

#include <slipring/api.h>

#include <stddef.h>
#include <stdint.h>

typedef struct slr_print {
    const char *kernel; ///< the kernel's or handler's name
    const char *text;   ///< output of one call of printf, with a final NUL
    size_t bytes;       ///< length of the text without the NUL
    /// The field `lost` is the number of printf calls whose text was lost because there was no room for the text.
    /// slipring reports lost printf calls in a separate call of the print function; the slr_print of that call has no
    /// text. For a kernel, `lost` counts the lost calls of one launch. For a handler, `lost` counts the lost calls of
    /// its ring kernel since the last report.
    uint64_t lost;
    const char *ring;  ///< the name of the ring kernel whose handler called printf; NULL: a kernel called printf
    uint32_t instance; ///< for a handler: the number of the instance (state) whose message the handler handled
    uint32_t thread;   ///< for a `__ring_block__` handler: the thread's number in the block
} slr_print;

/// slr_on_print is the type of the program's print function, slr_device_desc.on_print. slipring calls the print
/// function once for each call of printf. For a kernel, the stream's thread calls the print function before the launch
/// completes. For a handler, a thread of the ring kernel calls the print function soon after the printf, in order for
/// each instance (docs/contract/launch.md). `print` and its text are valid only while the print function runs. The
/// print function must not wait for the stream that called it, and must not end or destroy the ring kernel. Several
/// streams and ring kernels may call the print function at the same time.
typedef void slr_on_print(void *user, const slr_print *print);

#endif
