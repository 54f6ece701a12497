// SPDX-License-Identifier: Apache-2.0
// What the host's C++ compiler compiles of a text in MSL, against metal/metal_stdlib.
#ifndef TESTS_SHIM_METAL_H
#define TESTS_SHIM_METAL_H

#include "base/text.h"

#include <stdbool.h>

bool shim_is_metal(const char *text);

// Attributes, which are `[[...]]`, go; threadgroup memory in a function becomes SHIM_SHARED; and for each kernel a
// function shim_kernel_NAME(void **parameter) follows, which gives it buffer n as parameter[n], memory of a
// threadgroup, and its place.
void shim_rewrite_metal(const char *text, slri_text *out);

#endif
