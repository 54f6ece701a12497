// SPDX-License-Identifier: Apache-2.0
/// Who owns a file, and who may change it, by its access control list.
#ifndef SLRI_BASE_WINDOWS_RIGHTS_H
#define SLRI_BASE_WINDOWS_RIGHTS_H

#include <stdbool.h>

/// What others than the user and the system must not be able to do.
enum slri_windows_right {
    SLRI_WINDOWS_CHANGE, // write to it, or make files in it
    SLRI_WINDOWS_RENAME  // rename or remove it, or what lies in it
};

enum slri_windows_owner {
    SLRI_WINDOWS_OURS,     // the user's, an administrator's or the system's, and no one else may
    SLRI_WINDOWS_OTHERS,   // another user's
    SLRI_WINDOWS_WRITABLE, // another may
    SLRI_WINDOWS_UNKNOWN   // Windows does not say; GetLastError()
};

/// Threads: any.
enum slri_windows_owner slri_windows_owner(const char *path, enum slri_windows_right right);

/// Makes a folder that this user, administrators and the system alone may open. False and GetLastError().
bool slri_windows_make_private(const char *path);

#endif
