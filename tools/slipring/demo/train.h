// SPDX-License-Identifier: Apache-2.0
/// `slipring demo beats`, and what of it `slipring demo ward --classify` uses.
#ifndef DEMO_TRAIN_H
#define DEMO_TRAIN_H

#include "demo/demo.h"
#include "network.h"

enum { BEATS_WAYS = 5, BEATS_WAY_FLOAT = 0 };

/// The recording's beats, split by time: the first 70 % to learn from, the rest to test with.
typedef struct demo_sets {
    beats_set train, test;
} demo_sets;
void demo_sets_make(const demo_record *record, demo_sets *out);

/// Trains by one of the ways; `out` is to be freed with beats_result_free.
slr_status demo_train(slr_device *device, const demo_record *record, const demo_sets *sets, int way, uint32_t epochs,
                      uint32_t seed, beats_result *out);

int demo_beats_verb(int argc, char **argv);

#endif
