// SPDX-License-Identifier: Apache-2.0
/// Whether this machine has a GPU, before a driver is started.
#ifndef SLRI_BASE_GPU_NODE_H
#define SLRI_BASE_GPU_NODE_H

#include <slipring/status.h>

#include <stdbool.h>

/// NO_DEVICE where "auto" asks (`automatic`) and no GPU can be here: Linux shows each as a file under /dev. OK, too,
/// where `library_variable` of the environment names a library: its user wants it asked.
slr_status slri_check_gpu_node(bool automatic, const char *library_variable);

#endif
