// SPDX-License-Identifier: Apache-2.0
#define WIN32_LEAN_AND_MEAN
#include "base/windows/error.h"

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>

const char *slri_windows_words(char words[SLRI_WINDOWS_WORDS])
{
    const DWORD code = GetLastError();
    DWORD length = FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, code, 0, words,
                                  SLRI_WINDOWS_WORDS, NULL);
    while (length > 0 && strchr(" .\r\n", words[length - 1]))
        length--;
    words[length] = '\0';
    if (length == 0)
        snprintf(words, SLRI_WINDOWS_WORDS, "Windows' error %lu", code);
    SetLastError(code);
    return words;
}

slr_status slri_windows_refused(const char *what, const char *name)
{
    char words[SLRI_WINDOWS_WORDS];
    const DWORD code = GetLastError();
    const bool is_absent = code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND || code == ERROR_INVALID_NAME;
    return slri_fail(is_absent ? SLR_NOT_FOUND : SLR_SYSTEM, "cannot %s %s: %s", what, name, slri_windows_words(words));
}
