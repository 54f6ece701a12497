// SPDX-License-Identifier: Apache-2.0
/// How well the beats that a detector found agree with a list of reference beats.
#ifndef WARD_SCORE_H
#define WARD_SCORE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WARD_TOLERANCE_SAMPLES = 27 }; // 75 ms at 360 Hz

struct ward_score {
    size_t tp, fp, fn; // found and in the reference; found only; in the reference only
    double f1;         // 2 tp / (2 tp + fp + fn); 1 if there was nothing to find and nothing was found
};

/// Both lists hold sample indices in ascending order. In order of time, each beat is matched to at most one of the
/// other list, the earliest that is left within the tolerance.
struct ward_score ward_score_beats(const unsigned *found, size_t found_count, const unsigned *reference,
                                   size_t reference_count);

#ifdef __cplusplus
}
#endif

#endif
