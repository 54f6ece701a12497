// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <process.h>
#include <stdint.h>

int spawn_and_wait(char *const argv[])
{
    return (int)_spawnvp(_P_WAIT, argv[0], (const char *const *)argv);
}
