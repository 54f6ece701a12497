// SPDX-License-Identifier: Apache-2.0
// Latencies in bins that widen with the latency, four an octave: a call of a microsecond and a wake of a hundred fit on
// one axis, each as exactly as the eye can see.
#include "demo/demo.h"

#include <math.h>

size_t demo_bin(double ns)
{
    if (ns < DEMO_BIN_NS)
        return 0;
    size_t bin = (size_t)(log2(ns / DEMO_BIN_NS) * DEMO_BINS_PER_OCTAVE);
    return bin < DEMO_BINS ? bin : DEMO_BINS - 1;
}
