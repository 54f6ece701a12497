// SPDX-License-Identifier: Apache-2.0
/// What a service tells systemd (sd_notify(3)): a datagram to the socket that NOTIFY_SOCKET names. Without that
/// variable, or where there is no such thing, nothing is told.
#ifndef NOTIFY_H
#define NOTIFY_H

/// One line a variable: "READY=1\nSTATUS=serving".
void notify_say(const char *text);

/// That the service reads its file again; READY=1 ends that.
void notify_reloading(void);

/// That the service goes on: with WATCHDOG_USEC, three times in that time. Call it often.
void notify_alive(void);

#endif
