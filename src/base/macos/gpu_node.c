// SPDX-License-Identifier: Apache-2.0
// macOS shows no GPU as a file: drivers are asked.
#include "base/gpu_node.h"

#include <stddef.h>

const char *slri_no_gpu_node(const char *library_variable)
{
    (void)library_variable;
    return NULL;
}
