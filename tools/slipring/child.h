// SPDX-License-Identifier: Apache-2.0
/// Another program, waited for.
#ifndef CHILD_H
#define CHILD_H

/// Runs argv[0], which is looked up in PATH, up to NULL. Gives its exit code; -1: it cannot be run, which errno
/// explains. A program that a signal has ended gives 128 and its number.
int spawn_and_wait(char *const argv[]);

#endif
