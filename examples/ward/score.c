// SPDX-License-Identifier: Apache-2.0
// One walk along both lists: of two beats that do not match, the earlier one has no partner.
#include "score.h"

struct ward_score ward_score_beats(const unsigned *found, size_t found_count, const unsigned *reference,
                                   size_t reference_count)
{
    size_t i = 0, j = 0, tp = 0;
    while (i < found_count && j < reference_count) {
        if (found[i] + WARD_TOLERANCE_SAMPLES < reference[j]) {
            i++;
        } else if (reference[j] + WARD_TOLERANCE_SAMPLES < found[i]) {
            j++;
        } else {
            tp++;
            i++;
            j++;
        }
    }
    size_t all = found_count + reference_count;
    return (struct ward_score){.tp = tp,
                               .fp = found_count - tp,
                               .fn = reference_count - tp,
                               .f1 = all > 0 ? 2.0 * (double)tp / (double)all : 1.0};
}
