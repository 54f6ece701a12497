// SPDX-License-Identifier: Apache-2.0
/// The OpenCL that is installed, as a peer: opened when it is there, never linked. It runs the same kernels, whose text
/// becomes OpenCL C by a few substitutions.
#ifndef BENCH_OPENCL_H
#define BENCH_OPENCL_H

#include "kernel_cases.h"

#include <stdbool.h>

typedef struct opencl opencl;
typedef struct opencl_kernel opencl_kernel;

/// NULL where there is none; `why` then says so. `one_core`: on a part of the device with one compute unit.
opencl *opencl_open(bool one_core, const char **why);
void opencl_close(opencl *cl);

/// The case's kernel with its buffers, filled. NULL: it does not build there; `why` says so.
opencl_kernel *opencl_prepare(opencl *cl, const kernel_case *what, int n, const char **why);
bool opencl_run(opencl_kernel *kernel); ///< and waits
void opencl_release(opencl_kernel *kernel);

#endif
