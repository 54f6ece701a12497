// SPDX-License-Identifier: Apache-2.0
/// What the rules of the advice share.
#ifndef PROFILE_ADVICE_H
#define PROFILE_ADVICE_H

#include "profile/profile.h"

#define ADVICE_MANY 100u

typedef struct advising {
    const profile *profile;
    profile_advice *out;
    unsigned count;
} advising;

void advice_give(advising *a, const char *rule, const char *format, ...) __attribute__((format(printf, 3, 4)));
double advice_ms(uint64_t ns);
double advice_percent(double part, double all);

/// advice_order.c: by the order of events.
void advice_transfers_in_loop(advising *a);
void advice_contention(advising *a);
void advice_fusable(advising *a);
void advice_queue_too_large(advising *a);

/// advice_source.c: by the source of the busiest kernels.
void advice_strides(advising *a);
void advice_banks(advising *a);
void advice_divergence(advising *a);
void advice_occupancy(advising *a);

#endif
