// SPDX-License-Identifier: Apache-2.0
#include "notify.h"

#include "clock.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

// Who listens may be slow, or stopped: a sign of life is left out then, and the rest waits for some seconds.
static void tell(const char *text, int flags)
{
    static const struct timeval patience = {.tv_sec = 5};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("NOTIFY_SOCKET");
    size_t length = path != NULL ? strlen(path) : 0;
    if (length < 2 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') // a name that no file has
        address.sun_path[0] = '\0';
    int descriptor = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (descriptor < 0)
        return;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    (void)!sendto(descriptor, text, strlen(text), flags, (struct sockaddr *)&address,
                  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(descriptor);
}

void notify_say(const char *text)
{
    tell(text, 0);
}

void notify_reloading(void)
{
    char text[96];
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_ns() / 1000);
    notify_say(text);
}

void notify_alive(void)
{
    static uint64_t told_ns;
    const char *limit = getenv("WATCHDOG_USEC");
    uint64_t limit_ns = limit != NULL ? 1000 * strtoull(limit, NULL, 10) : 0;
    if (limit_ns == 0 || clock_ns() - told_ns < limit_ns / 3)
        return;
    told_ns = clock_ns();
    tell("WATCHDOG=1", MSG_DONTWAIT);
}
