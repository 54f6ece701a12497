// SPDX-License-Identifier: Apache-2.0
/// The parts of `slipring bench claims`: each adds rows, and gives them the claim that they are about.
#ifndef BENCH_CLAIMS_H
#define BENCH_CLAIMS_H

#include "bench/bench.h"

/// Claims of streams and ring kernels: a batch resident or not, a hundred small computations, priorities.
bool claims_resident(bench *bench);
/// Claims of kernels: blocks, strides, divergence, reductions.
bool claims_kernels(bench *bench);

#endif
