// SPDX-License-Identifier: Apache-2.0
/// The usual way to have another thread do something: a mutex, two condition variables, one item at a time. What a ring
/// kernel is compared with.
#ifndef HANDOFF_H
#define HANDOFF_H

typedef struct handoff handoff;

/// Starts a thread that calls work(context, item) for each item handed to it. NULL: no thread to be had.
handoff *handoff_start(void (*work)(void *context, void *item), void *context);

/// Hands one item over and waits until the thread has done its work.
void handoff_do(handoff *handoff, void *item);

/// NULL is fine.
void handoff_stop(handoff *handoff);

#endif
