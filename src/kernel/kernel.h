// SPDX-License-Identifier: Apache-2.0
// The front end's one door: source text in, a module of checked IR out, or diagnostics.
#ifndef SLRI_KERNEL_KERNEL_H
#define SLRI_KERNEL_KERNEL_H

#include "kernel/ir.h"

#include <slipring/status.h>

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

// Preprocesses, parses, checks and lowers. On SLR_COMPILE the thread's error message holds every diagnostic
// ("ward.cu:12:9: error SLR-K012: ..." with the source line, a caret and advice) and closes with their number.
// `#include <slipring/device.h>` is built in. The module is the caller's: slri_module_destroy.
slr_status slri_kernel_compile(const struct slri_source *source, struct slri_module **out);
void slri_module_destroy(struct slri_module *module); // NULL is fine

// The entry of that name, or NULL. `name` NULL: the only one, or NULL if there are several.
const struct slri_entry *slri_module_entry(const struct slri_module *module, const char *name);

// Whether a kernel may be launched so: blocks, threads a block, bytes of `extern __shared__` memory. Errors: INVALID.
slr_status slri_kernel_check_shape(const struct slri_entry *entry, const uint32_t grid[3], const uint32_t block[3],
                                   uint64_t dynamic_shared);

// Whether a thread of a kernel may divide an integer by zero, fail an assertion or trap: then the emitters for devices
// have it told where. Errors: NO_MEMORY.
slr_status slri_kernel_may_fault(const struct slri_module *module, const struct slri_entry *entry, bool *out);

#endif
