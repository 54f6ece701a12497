// SPDX-License-Identifier: Apache-2.0
/// `slipring kernel fuse --ops`: operations by their names.
#ifndef KERNEL_FUSE_H
#define KERNEL_FUSE_H

#include <slipring/fuse.h>

/// "add,multiply,relu" to steps, to free(). -1, or the exit code that a mistake makes.
int fuse_take_operations(const char *text, slr_fusion_step **steps, uint32_t *count);

/// "float" and its like. The same result.
int fuse_take_dtype(const char *text, slr_scalar *out);

#endif
