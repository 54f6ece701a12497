// SPDX-License-Identifier: Apache-2.0
/// A program under test: through the front end, compiled together with others, and run both ways.
#ifndef GENERATE_SUBJECT_H
#define GENERATE_SUBJECT_H

#include "maker.h"

#include "abi/handler.h"
#include "abi/launch.h"
#include "base/dl.h"
#include "run/interpreter.h"
#include "ir/ir.h"

enum { WHY_BYTES = 1500, AS_CUDA = 3, AS_WORDS = 4, AS_METAL = 5, AS_DEVICE = 6 };

typedef enum verdict {
    AGREES = 1,
    REFUSED, ///< by the front end or the emitter, with a diagnostic: `why`
    DIFFERS, ///< or anything else that must not be: `why`
} verdict;

typedef struct subject {
    uint64_t seed;
    unsigned number; ///< of its names
    tape tape;
    program program;
    struct slri_module *module; ///< NULL: refused
    slri_text emitted;
    struct shim_image *image; ///< its CUDA C, or NULL
    bool as_words;            ///< run as words of 32 bits, in place of its C
    verdict verdict;
    char why[WHY_BYTES];
} subject;

/// No subnormal number is given to programs: some devices take it for 0.
extern bool subjects_are_normal;

/// Programs have no doubles.
extern bool subjects_are_floats;

/// And run as Metal's text (tests/shim) in place of their C.
extern bool subjects_are_metal;

/// Makes the program of the tape anew and takes it as far as emitted C. `verdict` is 0 where it can be run.
void subject_make(subject *s, kind kind);

/// Runs it both ways and sets the verdict. Without a library, its CUDA C (tests/shim) in place of its C; `as_words`:
/// what src/ir/pass/words.h makes of it, interpreted.
void subject_run(subject *s, slri_dl *library);

void subject_free(subject *s);

/// Compiles what all subjects without a verdict have emitted as one shared object and loads it. SLR_COMPILE: the
/// compiler refuses it. `level`: 1 or 2, as slr_program_desc.optimize; 0: as little as makes sense.
slr_status subjects_compile(subject *const *subjects, unsigned count, int level, slri_dl **out);

#endif
