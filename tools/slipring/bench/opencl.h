// SPDX-License-Identifier: Apache-2.0
/// The OpenCL that is installed, as a peer: opened when it is there, never linked. It runs the same kernels, whose text
/// becomes OpenCL C by a few substitutions, or is written by hand (bench/kernels/hand) where that is not enough.
#ifndef BENCH_OPENCL_H
#define BENCH_OPENCL_H

#include "kernel_cases.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct opencl opencl;
typedef struct opencl_kernel opencl_kernel;

/// NULL where there is none; `why` then says so. `one_core`: on a part of the device with one compute unit.
opencl *opencl_open(bool one_core, const char **why);
void opencl_close(opencl *cl);

/// The case's kernel with its buffers, filled. NULL: it does not build there; `why` says so.
opencl_kernel *opencl_prepare(opencl *cl, const kernel_case *what, int n, const char **why);
bool opencl_run(opencl_kernel *kernel); ///< and waits

/// Memory of the host's that a kernel uses where it lies.
typedef struct opencl_shared {
    void *memory;
    size_t bytes;
} opencl_shared;

/// A kernel of OpenCL C for one work-item, whose first `buffers` parameters are these. NULL: it does not build there.
opencl_kernel *opencl_prepare_text(opencl *cl, const char *text, const char *name, const opencl_shared *shared,
                                   unsigned buffers, const char **why);
/// Launches it with these values behind the buffers, for so many work-items in groups; opencl_finish waits.
bool opencl_begin(opencl_kernel *kernel, const uint32_t *values, unsigned count, size_t items, size_t group);
bool opencl_finish(opencl_kernel *kernel);
void opencl_release(opencl_kernel *kernel);

#endif
