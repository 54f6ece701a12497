// SPDX-License-Identifier: Apache-2.0
// Setting variables is POSIX, not C.
#define _POSIX_C_SOURCE 200809L
#include "base/environment.h"

#include <stdlib.h>

bool slri_environment_default(const char *name, const char *value)
{
    return !getenv(name) && setenv(name, value, 0) == 0;
}
