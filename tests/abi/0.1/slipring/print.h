// SPDX-License-Identifier: Apache-2.0
/// What is told to who wants to see what kernels print. Contract: docs/contract/launch.md.
#ifndef SLIPRING_PRINT_H
#define SLIPRING_PRINT_H

#include <slipring/api.h>

#include <stddef.h>
#include <stdint.h>

typedef struct slr_print {
    const char *kernel; ///< its name
    const char *text;   ///< what one printf wrote, terminated
    size_t bytes;       ///< of it
    uint64_t lost;      ///< printfs of this launch that there was no room for; then there is no text
} slr_print;

/// Called by the stream's thread, once a printf, before the launch is done. `print` and its texts are borrowed for the
/// call's length. It must not wait for the stream.
typedef void slr_on_print(void *user, const slr_print *print);

#endif
