// SPDX-License-Identifier: Apache-2.0
/// The parts of `slipring bench claims`: each adds rows, and gives them the claim that they are about.
#ifndef BENCH_CLAIMS_H
#define BENCH_CLAIMS_H

#include "bench/bench.h"

/// Claims of streams and ring kernels: a batch resident or not, a hundred small computations, priorities.
bool claims_resident(bench *bench);
/// Claims of parts: a send, a receive, 1,000 launches, four streams, batches, a pool by first fit.
bool claims_parts(bench *bench);

/// Whether a row's claim holds on this device, with the figure and what the guide says; "": another row says so.
enum { CLAIMS_VERDICT_BYTES = 160 };
void claims_judge(const bench_row *row, bool is_gpu, char to[CLAIMS_VERDICT_BYTES]);

/// Which figure of a row decides its claim: "ratio" or "value"; NULL: none does.
const char *claims_figure(const bench_row *row);

/// Claims of kernels: blocks, strides, divergence, reductions.
bool claims_kernels(bench *bench);

#endif
