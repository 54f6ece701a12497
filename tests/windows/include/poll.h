// SPDX-License-Identifier: Apache-2.0
// poll() for one descriptor of slr_port_get_fd, which on Windows is the handle of an event object.
#ifndef TESTS_WINDOWS_POLL_H
#define TESTS_WINDOWS_POLL_H

#include <stdint.h>

#define POLLIN 1

struct pollfd {
    int fd;
    short events, revents;
};

__declspec(dllimport) unsigned long __stdcall WaitForSingleObject(void *handle, unsigned long milliseconds);

static inline int poll(struct pollfd *one, unsigned count, int timeout_ms)
{
    int ready = count == 1 && WaitForSingleObject((void *)(intptr_t)one->fd, (unsigned long)timeout_ms) == 0;
    one->revents = ready ? POLLIN : 0;
    return ready;
}

#endif
