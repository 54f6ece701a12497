// SPDX-License-Identifier: Apache-2.0
// Windows cannot wait for a pipe: it is looked at from time to time, and the others are waited for meanwhile.
#define WIN32_LEAN_AND_MEAN
#include "run/wait.h"

#include <io.h>
#include <stdint.h>
#include <windows.h>

enum { LOOK_MS = 5 };

// A file is always ready, and so is a console's line, for which read() waits itself.
static bool is_ready(HANDLE input)
{
    DWORD there = 0;
    if (GetFileType(input) != FILE_TYPE_PIPE)
        return true;
    return !PeekNamedPipe(input, NULL, 0, NULL, &there, NULL) || there != 0; // refused: its writer has gone
}

bool wait_for_any(int input, int interrupt, int port, int patience_ms)
{
    HANDLE from = (HANDLE)_get_osfhandle(input), events[2];
    DWORD count = 0;
    if (interrupt >= 0)
        events[count++] = (HANDLE)(intptr_t)interrupt;
    if (port >= 0)
        events[count++] = (HANDLE)(intptr_t)port;
    for (int waited_ms = 0;; waited_ms += LOOK_MS) {
        if (is_ready(from))
            return true;
        if (patience_ms >= 0 && waited_ms >= patience_ms)
            return false;
        if (count == 0)
            Sleep(LOOK_MS);
        else if (WaitForMultipleObjects(count, events, FALSE, LOOK_MS) != WAIT_TIMEOUT)
            return false;
    }
}
