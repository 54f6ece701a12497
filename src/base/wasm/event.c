// SPDX-License-Identifier: Apache-2.0
// A page has no descriptor that becomes readable: its event loop asks for replies.
#include "base/event.h"

#include "base/status.h"

slr_status slri_event_create(slri_event *event)
{
    event->fd = -1;
    return SLRI_FAIL(UNSUPPORTED, "no event descriptor: WebAssembly has no poll(); receive with a deadline instead");
}

void slri_event_signal(slri_event *event)
{
    (void)event;
}

void slri_event_clear(slri_event *event)
{
    (void)event;
}

void slri_event_close(slri_event *event)
{
    event->fd = -1;
}
