// SPDX-License-Identifier: Apache-2.0
// macOS shows no GPU as a file: drivers are asked.
#include "base/gpu_node.h"

slr_status slri_check_gpu_node(bool automatic, const char *library_variable)
{
    (void)automatic, (void)library_variable;
    return SLR_OK;
}
