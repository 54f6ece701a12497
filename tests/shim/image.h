// SPDX-License-Identifier: Apache-2.0
// Texts for NVRTC, HIPRTC and Metal as shared objects: compiled by the host's C++ compiler, kept in a folder, loaded.
#ifndef TESTS_SHIM_IMAGE_H
#define TESTS_SHIM_IMAGE_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

#define SHIM_CLOCK_AHEAD_NS 7777000000000u // of the host's

struct shim_image;
typedef void shim_kernel(void **parameter);

// SLIPRING_FAKE_CUDA_BY=text.
bool shim_is_on(void);

// The lanes of a wave of HIP's: SLIPRING_FAKE_HIP_WAVE, or 64.
unsigned shim_hip_wave(void);

struct shim_text {
    const char *text;
    const char *const *kernel; // that are in it; of MSL all are found
    size_t kernels;
};

// Whether pointers into wrong address spaces of MSL are found: by clang++, where there is one.
bool shim_checks_spaces(void);

// Compiles a text, or finds it compiled. False: `complaint`, to free().
bool shim_compile(const struct shim_text *text, char **complaint);

// Links texts and loads them: each image has its own variables. NULL: said on stderr.
struct shim_image *shim_image_load(const struct shim_text *text, size_t texts);
void shim_image_unload(struct shim_image *image);                                 // NULL is fine
shim_kernel *shim_image_kernel(const struct shim_image *image, const char *name); // NULL: there is none

// This thread's part of the image's shared memory, filled with what no kernel may rely on.
unsigned char *shim_image_spoil_shared(const struct shim_image *image, size_t *bytes);

// What is compiled of a text: its inline PTX as calls, arrays of dynamic shared memory defined.
void shim_rewrite(const char *text, slri_text *out);

#endif
