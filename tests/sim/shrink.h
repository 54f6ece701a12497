// SPDX-License-Identifier: Apache-2.0
// Playing many programs, each batch in a process of its own, and cutting a failing one down.
#ifndef TESTS_SIM_SHRINK_H
#define TESTS_SIM_SHRINK_H

#include "program.h"

enum { WHY_BYTES = 512 };

/// Plays and judges one program in a process of its own, so that a crash or a hang is an answer too. True: as it should
/// be; else `why`.
bool try_program(const struct program *program, char why[WHY_BYTES]);

/// The same with what happened printed, here and not apart.
void show_program(const struct program *program);

/// Plays seeds first to first + count - 1, twice each where `twice`, to see that they do the same again. Gives the
/// first that fails, or first + count.
uint64_t try_seeds(uint64_t first, uint64_t count, bool twice, char why[WHY_BYTES]);

/// Cuts a failing program down while it fails in the same way. Gives how many programs were played.
uint32_t shrink(struct program *program, char why[WHY_BYTES]);

#endif
