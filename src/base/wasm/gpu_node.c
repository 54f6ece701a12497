// SPDX-License-Identifier: Apache-2.0
// A page asks for its GPU by WebGPU, which no file shows.
#include "base/gpu_node.h"

#include <stddef.h>

const char *slri_no_gpu_node(const char *library_variable)
{
    (void)library_variable;
    return NULL;
}
