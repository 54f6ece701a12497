// SPDX-License-Identifier: Apache-2.0
// What the front end is given: a file or a text, and how it is to be read.
#ifndef SLRI_LANG_TEXT_SOURCE_H
#define SLRI_LANG_TEXT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct slri_source {
    const char *path;          // read from here when `text` is NULL; in diagnostics and for #include "..." beside it
    const char *text;          // or NULL
    const char *const *define; // "NAME" or "NAME=VALUE"
    uint32_t defines;
    const char *const *include; // folders searched after the source's own
    uint32_t includes;
    bool is_emitted;    // slri_emit_cuda wrote the text: words that no user may write are known in it
    uint32_t cuda_arch; // __CUDA_ARCH__, where `define` has none: of a CUDA device 900 for 9.0; 0: SLRI_CUDA_ARCH
};

// What files see on devices that are not CUDA's: 8.0, where the language's warp reductions and bfloat16 began.
#define SLRI_CUDA_ARCH 800

// include.c: whether `define` gives the macro, with a value or without.
bool slri_source_defines(const struct slri_source *source, const char *name);

#endif
