// SPDX-License-Identifier: Apache-2.0
/// The process's environment, where a vendor's library can be told something in no other way.
#ifndef SLRI_BASE_ENVIRONMENT_H
#define SLRI_BASE_ENVIRONMENT_H

#include <stdbool.h>

/// Sets a variable that is not set. True: it was set by this call. Not while another thread of the application looks at
/// the environment: C has no lock for it.
bool slri_environment_default(const char *name, const char *value);

#endif
