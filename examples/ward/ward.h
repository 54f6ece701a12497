// SPDX-License-Identifier: Apache-2.0
/// What the host and the handler in ward.cu say to each other. Plain C, also read by C++ and by kernel compilers.
#ifndef WARD_H
#define WARD_H

enum { WARD_RATE_HZ = 360, WARD_SAMPLES = 36 };

/// A message: the next 100 ms of one patient's lead, in ADC counts.
struct samples {
    short adc[WARD_SAMPLES];
};

/// A reply: one heart beat, in the order of time, some 0.3 s after its peak; later where it had to be searched for.
struct beat {
    unsigned at;    // the R peak: samples since the patient's first
    float rr_s;     // seconds since the beat before; 0 for the first
    unsigned alarm; // 1: the beat ends a gap over 166 % of the running mean in which no beat could be found
};

#endif
