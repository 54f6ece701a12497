// SPDX-License-Identifier: Apache-2.0
// Linux's eventfd.
#define _GNU_SOURCE
#include "base/event.h"

#include "base/status.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

slr_status slri_event_create(slri_event *event)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        return SLRI_FAIL(SYSTEM, "no event descriptor: %s", strerror(errno));
    event->fd = fd;
    return SLR_OK;
}

void slri_event_signal(slri_event *event)
{
    // Fails only when 2^64 - 2 signals are pending, and then it is readable already.
    (void)eventfd_write(event->fd, 1);
}

void slri_event_clear(slri_event *event)
{
    eventfd_t signals;
    (void)eventfd_read(event->fd, &signals); // nothing to read is fine: it is clear
}

void slri_event_close(slri_event *event)
{
    if (event->fd >= 0)
        close(event->fd);
    event->fd = -1;
}
