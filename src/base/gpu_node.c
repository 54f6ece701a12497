// SPDX-License-Identifier: Apache-2.0
#include "base/gpu_node.h"

#include "base/environment.h"
#include "base/file.h"
#include "base/status.h"

#include <stddef.h>

// A driver that finds none there is one for the host's cores, and starting such a driver takes as long as a compiler's
// libraries take to load.
slr_status slri_check_gpu_node(bool automatic, const char *library_variable)
{
    static const char *const nodes[] = {"/dev/dri",      "/dev/kfd",   "/dev/nvidiactl", "/dev/dxg",
                                        "/dev/kgsl-3d0", "/dev/mali0", "/dev/pvr_sync"};
    const char *named = slri_environment(library_variable);
    if (!automatic || (named && *named))
        return SLR_OK;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; ++i)
        if (slri_file_is_there(nodes[i]))
            return SLR_OK;
    return SLRI_FAIL(NO_DEVICE, "no GPU among /dev");
}
