// SPDX-License-Identifier: Apache-2.0
#include "hal/cuda/sharing.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool slri_cu_is_wsl(const char *release_path)
{
    char *release;
    if (slri_file_read(release_path, 4096, &release, NULL) != SLR_OK)
        return false;
    bool is_wsl = strstr(release, "microsoft") || strstr(release, "Microsoft"); // "5.15.90.1-microsoft-standard-WSL2"
    free(release);
    return is_wsl;
}

bool slri_cu_unwise(const struct slri_cu_sharing *sharing, char *out, size_t room)
{
    *out = '\0';
    if (sharing->is_wsl)
        snprintf(out, room, "the GPU is behind Windows (WSL2), where host writes arrive late");
    else if (sharing->is_mps)
        snprintf(out, room, "MPS shares the GPU with other processes without a reservation");
    else if (sharing->is_virtual)
        snprintf(out, room, "the GPU is virtual and time-sliced with others");
    else if (sharing->others != 0)
        snprintf(out, room, "%u other process%s share%s the GPU", sharing->others, sharing->others > 1 ? "es" : "",
                 sharing->others > 1 ? "" : "s");
    return *out != '\0';
}
