// SPDX-License-Identifier: Apache-2.0
/// What the tools say to people, on standard error, and how a status becomes an exit code.
#ifndef SAY_H
#define SAY_H

#include <slipring/status.h>

#include <stddef.h>

/// Prints "slipring VERB: MESSAGE" and a line feed to standard error, control characters spelled; above the line of
/// progress, where there is one.
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// As printf, for what people read: names and texts of strangers in it have their control characters spelled
/// (slr_text_printable). Not for data.
void say_out(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// The verb that the messages begin with; "" before one is known.
void say_as(const char *verb);

/// A line on a terminal that is written over and over. "" takes it away.
void say_progress(const char *line);

/// Says what a library call that gave `status` was for and why it failed; the exit code that this makes.
int say_failure(slr_status status, const char *what);

/// Says that the command line is wrong and where help is; EXIT_USAGE.
int say_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// Says that there is no `what` of that name, and which there are: `count` names, the first at `first`, each `stride`
/// bytes behind the one before. "" is one that is missing. EXIT_USAGE.
int say_unknown(const char *what, const char *name, const char *const *first, size_t stride, size_t count);

/// Says what getopt_long returned ':' or '?' for; EXIT_USAGE.
int say_refused_option(int option, char **argv);

/// Prints "slipring VERSION" to standard output, and the library's version where that is another one.
void say_version(void);

#endif
