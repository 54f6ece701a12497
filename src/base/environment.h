// SPDX-License-Identifier: Apache-2.0
/// The process's environment. No other file of slipring calls getenv (scripts/check-layers.sh looks).
///
/// Some programs run with more rights than their caller has: set-user-id, set-group-id, or with file capabilities.
/// Linux says so (AT_SECURE). Their environment is a stranger's, and nothing in it is believed (SECURITY.md).
#ifndef SLRI_BASE_ENVIRONMENT_H
#define SLRI_BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

/// The variable's value; NULL where it is not set, or the environment is not trusted.
const char *slri_environment(const char *name);

/// False in a program that runs with more rights than its caller has.
bool slri_environment_is_trusted(void);

/// A variable that a vendor's library reads by itself, whatever we think of it: only to tell what that library saw.
const char *slri_environment_of_vendor(const char *name);

/// Whether a vendor's library may be loaded: those read the environment as they please, and load what it names. Yes
/// where it is trusted, or where the program had emptied it (clearenv) when this was first asked.
bool slri_environment_allows_vendors(void);

/// Sets a variable that is not set, where a vendor's library can be told something in no other way. True: it was set by
/// this call. Not while another thread of the application looks at the environment: C has no lock for it.
bool slri_environment_default(const char *name, const char *value);

/// For tests: from now on as in a program with more rights than its caller has, or (false) as things are.
void slri_environment_distrust(bool distrust);

#endif
