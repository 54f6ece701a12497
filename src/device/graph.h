// SPDX-License-Identifier: Apache-2.0
// Recording: what submit.c does with work for a stream that is recorded.
#ifndef SLRI_DEVICE_GRAPH_H
#define SLRI_DEVICE_GRAPH_H

#include "device/stream.h"

#include <slipring/graph.h>

// Appends the work. From OK on its `settle` is the graph's to call, when it is freed.
slr_status slri_graph_append(slr_graph *graph, const struct slri_work *work);

#endif
