// SPDX-License-Identifier: Apache-2.0
/// Waiting for input and replies at once: one file a system (wait.c, windows/wait.c).
#ifndef RUN_WAIT_H
#define RUN_WAIT_H

#include <stdbool.h>

/// Returns when `input` can be read without waiting, when `interrupt` (interrupt_descriptor) or `port`
/// (slr_port_get_fd; -1: none) is ready, or after `patience_ms` (-1: never). True: it is the input.
bool wait_for_any(int input, int interrupt, int port, int patience_ms);

#endif
