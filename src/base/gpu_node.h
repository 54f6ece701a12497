// SPDX-License-Identifier: Apache-2.0
/// Whether this machine has a GPU, before a driver is started.
#ifndef SLRI_BASE_GPU_NODE_H
#define SLRI_BASE_GPU_NODE_H

/// NULL, or why no GPU can be here: Linux shows each as a file under /dev. NULL, too, where `library_variable` of the
/// environment names a library: its user wants it asked.
const char *slri_no_gpu_node(const char *library_variable);

#endif
