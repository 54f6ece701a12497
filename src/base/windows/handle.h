// SPDX-License-Identifier: Apache-2.0
/// Files that others may rename and remove while they are open, as on POSIX.
#ifndef SLRI_BASE_WINDOWS_HANDLE_H
#define SLRI_BASE_WINDOWS_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum slri_windows_how {
    SLRI_WINDOWS_READ,   // one that is there
    SLRI_WINDOWS_NEW,    // for writing; one that is there refuses
    SLRI_WINDOWS_EITHER, // for reading and writing; made where it is missing
    SLRI_WINDOWS_EMPTY   // for writing, from the start
};

/// A descriptor of the C library, of bytes as they are; -1 and GetLastError() where that is refused. What children
/// start with it has not.
int slri_windows_open(const char *path, enum slri_windows_how how);

/// A HANDLE, of a descriptor of the C library.
void *slri_windows_handle(int fd);

/// In the place of what is there; waits up to a second for others that have it open. False and GetLastError().
bool slri_windows_rename(const char *from, const char *to);

/// The same path with `/` between its names, absolute, and without `.` and `..`; NULL and GetLastError(). The caller's
/// to free().
char *slri_windows_full(const char *path);

/// When a file was written or used, in nanoseconds since 1970.
int64_t slri_windows_time_ns(uint32_t high, uint32_t low);

#endif
