// SPDX-License-Identifier: Apache-2.0
// An event object of Windows that stays set until it is cleared. Windows keeps handles below 2^31, for programs of 32
// bits, so that one fits the int that the interface has.
#define WIN32_LEAN_AND_MEAN
#include "base/event.h"

#include "base/status.h"
#include "base/windows/error.h"

#include <stdint.h>
#include <windows.h>

static HANDLE event_handle(const slri_event *event)
{
    return (HANDLE)(intptr_t)event->fd;
}

slr_status slri_event_create(slri_event *event)
{
    char words[SLRI_WINDOWS_WORDS];
    HANDLE handle = CreateEventA(NULL, TRUE, FALSE, NULL);
    if (!handle)
        return SLRI_FAIL(SYSTEM, "no event object: %s", slri_windows_words(words));
    event->fd = (int)(intptr_t)handle;
    return SLR_OK;
}

void slri_event_signal(slri_event *event)
{
    SetEvent(event_handle(event));
}

void slri_event_clear(slri_event *event)
{
    ResetEvent(event_handle(event));
}

void slri_event_close(slri_event *event)
{
    if (event->fd >= 0)
        CloseHandle(event_handle(event));
    event->fd = -1;
}
