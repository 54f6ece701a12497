// SPDX-License-Identifier: Apache-2.0
/// A line that says what long work is at, on a terminal's standard error, once the verb has run for two seconds. Where
/// standard error is no terminal nothing is shown.
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

/// Before a call that may take long: "TEXT, 12 s" is shown, and counts on, until progress_end. A thread does; so
/// nothing may be said or printed in between. One at a time.
void progress_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// Takes the line away.
void progress_end(void);

/// For work that comes back often enough to say so itself, and whose time a thread would disturb: shows the line where
/// it is due, four times a second at most. progress_end takes it away.
void progress_step(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
