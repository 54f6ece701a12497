// SPDX-License-Identifier: Apache-2.0
/// Sleeping on a word of memory until somebody changes it; within one process.
#ifndef SLRI_BASE_FUTEX_H
#define SLRI_BASE_FUTEX_H

#include <stdint.h>

/// Sleeps while `*word` is `expected`. Returns when woken, when the word differs, when interrupted, or past the
/// absolute deadline (SLRI_FOREVER: none): look at the word again in every case.
void slri_futex_wait(uint32_t *word, uint32_t expected, uint64_t deadline_ns);

/// Wakes at most `how_many` of those asleep on `word`. Change the word first.
void slri_futex_wake(uint32_t *word, unsigned how_many);

#endif
