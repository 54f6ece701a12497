// SPDX-License-Identifier: Apache-2.0
// A kqueue with one event of the user's: poll() finds its descriptor readable while that is triggered.
#include "base/event.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/event.h>
#include <unistd.h>

static int change(int fd, unsigned short flags, unsigned fields)
{
    struct kevent one;
    EV_SET(&one, 1, EVFILT_USER, flags, fields, 0, NULL);
    return kevent(fd, &one, 1, NULL, 0, NULL);
}

slr_status slri_event_create(slri_event *event)
{
    int fd = kqueue();
    if (fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || change(fd, EV_ADD, 0) != 0) {
        slr_status status = SLRI_FAIL(SYSTEM, "no event descriptor: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    event->fd = fd;
    return SLR_OK;
}

void slri_event_signal(slri_event *event)
{
    (void)change(event->fd, 0, NOTE_TRIGGER);
}

// Added anew it is not triggered.
void slri_event_clear(slri_event *event)
{
    (void)change(event->fd, EV_DELETE, 0);
    (void)change(event->fd, EV_ADD, 0);
}

void slri_event_close(slri_event *event)
{
    if (event->fd >= 0)
        close(event->fd);
    event->fd = -1;
}
