// SPDX-License-Identifier: Apache-2.0
/// Kernels in GLSL by hand (bench/kernels/glsl), compiled by the glslang that is installed and run by Vulkan called
/// directly, as a peer on a Vulkan device.
#ifndef BENCH_GLSL_H
#define BENCH_GLSL_H

#include "kernel_cases.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct glsl_kernel glsl_kernel;

extern const size_t glsl_count; ///< kernels that there are in GLSL
bool glsl_has(const kernel_case *what);

/// The case's kernel with its buffers, filled, at its large size. `device`: "vulkan:N". NULL: it cannot be made; `why`
/// says so.
glsl_kernel *glsl_prepare(const char *device, const kernel_case *what, const char **why);
bool glsl_run(glsl_kernel *kernel); ///< and waits
const void *glsl_memory(const glsl_kernel *kernel, unsigned buffer);
void glsl_release(glsl_kernel *kernel); ///< NULL is fine

#endif
