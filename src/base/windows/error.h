// SPDX-License-Identifier: Apache-2.0
/// What Windows says of the last call of this thread that failed.
#ifndef SLRI_BASE_WINDOWS_ERROR_H
#define SLRI_BASE_WINDOWS_ERROR_H

#include <slipring/status.h>

enum { SLRI_WINDOWS_WORDS = 200 };

/// Windows' words for GetLastError(), without the end of line. Returns `words`.
const char *slri_windows_words(char words[SLRI_WINDOWS_WORDS]);

/// "cannot WHAT NAME: WORDS". NOT_FOUND where no such file or folder is there, else SYSTEM.
slr_status slri_windows_refused(const char *what, const char *name);

#endif
