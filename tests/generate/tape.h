// SPDX-License-Identifier: Apache-2.0
/// The choices that a program is made of, as a list of numbers. A program is made again from its list; a shorter list,
/// or one with smaller numbers, makes a smaller program, which is how one that fails is cut down.
#ifndef GENERATE_TAPE_H
#define GENERATE_TAPE_H

#include <stdbool.h>
#include <stdint.h>

enum { TAPE_ROOM = 8192, TAPE_SPANS = 2048 };

/// The choices of one statement or expression: what can be taken out without moving the meaning of the rest.
typedef struct span {
    uint16_t first, end;
    bool is_statement;
} span;

typedef struct tape {
    uint16_t choice[TAPE_ROOM];
    uint32_t length, at;
    uint64_t random;
    bool records; ///< draws new choices; else reads those it has, and 0 behind the last
    span span[TAPE_SPANS];
    uint32_t spans; ///< noted since the beginning
} tape;

/// An empty tape that draws from a seed.
void tape_seed(tape *t, uint64_t seed);

/// Begins again with the choices that it has.
void tape_rewind(tape *t);

/// A number below `most` (at least 1). 0 is always the simplest of what there is to choose from.
uint32_t tape_pick(tape *t, uint32_t most);

/// Notes that what began at choice `first` ends here.
void tape_note(tape *t, uint32_t first, bool is_statement);

#endif
