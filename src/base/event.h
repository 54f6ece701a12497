// SPDX-License-Identifier: Apache-2.0
/// A descriptor that poll() finds readable from signal to clear: what an application's event loop waits on.
#ifndef SLRI_BASE_EVENT_H
#define SLRI_BASE_EVENT_H

#include <slipring/status.h>

typedef struct slri_event {
    int fd;
} slri_event;

/// Errors: SYSTEM (out of descriptors).
slr_status slri_event_create(slri_event *event);

/// Makes the descriptor readable; any number of signals count as one. Never blocks.
void slri_event_signal(slri_event *event);

/// Makes it unreadable until the next signal. Never blocks.
void slri_event_clear(slri_event *event);

/// Closes the descriptor. Closing twice is fine.
void slri_event_close(slri_event *event);

#endif
