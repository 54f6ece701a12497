// SPDX-License-Identifier: Apache-2.0
/// SIGINT and SIGTERM as a request to end: the first one is only noted, a second one ends the program at once. SIGPIPE
/// becomes an error of write().
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <stdbool.h>

/// From now on. Threads that are started before interrupt_deliver do not get the signals.
void interrupt_note(void);

/// Lets the calling thread have the signals.
void interrupt_deliver(void);

/// Whether one has come.
bool interrupted(void);

/// A descriptor for poll(2) that is readable once one has come.
int interrupt_descriptor(void);

#endif
