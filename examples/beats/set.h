// SPDX-License-Identifier: Apache-2.0
/// What the network learns from and is tested with: the beats of a recording, and which of them are premature.
#ifndef BEATS_SET_H
#define BEATS_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beats.h"

enum {
    BEATS_MOST = 1024,
    BEATS_SHIFT = 4 ///< a detector's R peak may be that many samples off
};

/// Beats of one part of the recording, in order of time.
typedef struct beats_set {
    size_t count;
    unsigned at[BEATS_MOST]; ///< the R peak: a sample of the recording
    bool premature[BEATS_MOST];
} beats_set;

/// Whether a beat is premature, by time alone: the interval before it is less than 9/10 of the interval after it.
bool beats_premature(unsigned before, unsigned at, unsigned after);

/// Takes the beats from `from` up to `to` (samples). A beat needs a neighbour on both sides, and its window, shifted by
/// BEATS_SHIFT, must lie in the recording.
void beats_set_make(const unsigned *reference, size_t reference_count, size_t samples, size_t from, size_t to,
                    beats_set *out);

/// Windows of all beats, each at BEATS_SHIFT samples earlier, at its place, and later.
static const int beats_shifts[] = {-BEATS_SHIFT, 0, BEATS_SHIFT};

/// The network's input of a beat: BEATS_POINTS means of two samples, in millivolts, without their mean.
void beats_input(const short *adc, unsigned at, float *out);

#endif
