// SPDX-License-Identifier: Apache-2.0
#include "set.h"

bool beats_premature(unsigned before, unsigned at, unsigned after)
{
    return 10 * (uint64_t)(at - before) < 9 * (uint64_t)(after - at);
}

void beats_set_make(const unsigned *reference, size_t reference_count, size_t samples, size_t from, size_t to,
                    beats_set *out)
{
    out->count = 0;
    for (size_t i = 1; i + 1 < reference_count && out->count < BEATS_MOST; i++) {
        unsigned at = reference[i];
        if (at < from || at >= to || at < BEATS_BEFORE + BEATS_SHIFT ||
            at + BEATS_WINDOW - BEATS_BEFORE + BEATS_SHIFT > samples)
            continue;
        out->at[out->count] = at;
        out->premature[out->count++] = beats_premature(reference[i - 1], at, reference[i + 1]);
    }
}

void beats_input(const short *adc, unsigned at, float *out)
{
    const short *first = adc + at - BEATS_BEFORE;
    float mean = 0.0f;
    for (int i = 0; i < BEATS_POINTS; i++) {
        out[i] = (float)(first[2 * i] + first[2 * i + 1]) * 0.5f;
        mean += out[i] / (float)BEATS_POINTS;
    }
    for (int i = 0; i < BEATS_POINTS; i++)
        out[i] = (out[i] - mean) * 0.005f;
}
