// SPDX-License-Identifier: Apache-2.0
/// What the host and the handler in beats.cu say to each other. Plain C, also read by kernel compilers.
#ifndef BEATS_H
#define BEATS_H

enum {
    BEATS_WINDOW = 128, ///< samples of a message
    BEATS_BEFORE = 48,  ///< of them, those in front of the R peak
    BEATS_POINTS = 64,  ///< inputs of the network: means of two samples
    BEATS_FILTERS1 = 8,
    BEATS_WIDTH1 = 7,
    BEATS_FILTERS2 = 16,
    BEATS_WIDTH2 = 5,
    BEATS_FEATURES = BEATS_FILTERS2 * BEATS_POINTS / 4
};

/// A message: a heart beat, in ADC counts. Sample BEATS_BEFORE is the R peak.
struct beat_window {
    short adc[BEATS_WINDOW];
};

/// A reply: how likely the network takes the beat to be premature, and whether that is more than a half.
struct beat_kind {
    float likely;
    unsigned premature;
};

#endif
