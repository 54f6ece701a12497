// SPDX-License-Identifier: Apache-2.0
// The only place that reads the environment.
#include "base/environment.h"

#include "base/system.h"

#include <stdlib.h>

static uint32_t distrusted; // atomic, relaxed: a test sets it before it begins
static uint32_t was_empty;  // atomic, relaxed: nothing is read on its strength

void slri_environment_distrust(bool distrust)
{
    __atomic_store_n(&distrusted, distrust, __ATOMIC_RELAXED);
}

bool slri_environment_is_trusted(void)
{
    return !slri_system_gives_more_rights() && !__atomic_load_n(&distrusted, __ATOMIC_RELAXED);
}

const char *slri_environment(const char *name)
{
    return slri_environment_is_trusted() ? getenv(name) : NULL;
}

bool slri_environment_allows_vendors(void)
{
    if (slri_environment_is_trusted())
        return true;
    if (slri_system_environment_is_empty())
        __atomic_store_n(&was_empty, 1, __ATOMIC_RELAXED); // later it may hold what we have set
    return __atomic_load_n(&was_empty, __ATOMIC_RELAXED);
}

const char *slri_environment_of_vendor(const char *name)
{
    return getenv(name);
}

bool slri_environment_default(const char *name, const char *value)
{
    return !getenv(name) && slri_system_set_variable(name, value);
}
