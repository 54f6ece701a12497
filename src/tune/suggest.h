// SPDX-License-Identifier: Apache-2.0
// Blocks for a launch of one dimension.
#ifndef SLRI_TUNE_SUGGEST_H
#define SLRI_TUNE_SUGGEST_H

#include <slipring/suggest.h>

// The size table: enough blocks to share small work, few enough to be cheap for large work.
uint32_t slri_block_by_size(uint64_t threads);
uint32_t slri_block_range(uint64_t threads); // the line of the table, from 0
#define SLRI_BLOCK_RANGES 4u

// The block, or its largest half, quarter and so on that is at most `most`. `multiple` 0: any; else a multiple of it
// where there is one.
uint32_t slri_block_within(uint32_t block, uint32_t most, uint32_t multiple);

// The most threads on a multiprocessor, of all blocks up to `most`. `*block` 0: none can be launched. Errors:
// UNSUPPORTED (an unknown capability).
slr_status slri_block_by_occupancy(const slr_occupancy_desc *desc, uint32_t most, uint32_t *block);

// `why` of a suggestion with rule and blocks. `most`: the limit of the block.
void slri_suggestion_explain(slr_suggestion *suggestion, uint64_t threads, uint32_t most);

#endif
