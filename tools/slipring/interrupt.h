// SPDX-License-Identifier: Apache-2.0
/// SIGINT and SIGTERM as a request to end: the first one is only noted, a second one ends the program at once. SIGPIPE
/// and SIGXFSZ become errors of write().
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/// From now on. Threads that are started before interrupt_deliver do not get the signals.
void interrupt_note(void);

/// Calls `handler` at each SIGHUP. Windows has no such signal: there it is never called.
void interrupt_on_hangup(void (*handler)(int number));

/// Lets the calling thread have the signals.
void interrupt_deliver(void);

/// Whether one has come, and when: nanoseconds of clock_ns, 0 before.
bool interrupted(void);
uint64_t interrupt_ns(void);

/// The exit code of a program that the signal has ended: 130 for SIGINT, 143 for SIGTERM.
int interrupt_exit_code(void);

/// Whether the signal asked for an orderly end: SIGTERM.
bool interrupt_is_orderly(void);

/// A descriptor for poll(2) that is readable once one has come.
int interrupt_descriptor(void);

#endif
