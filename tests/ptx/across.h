// SPDX-License-Identifier: Apache-2.0
// Order between blocks, and between a block and the host.
#ifndef TESTS_PTX_ACROSS_H
#define TESTS_PTX_ACROSS_H

#include "tests/ptx/clocks.h"

// A launch: its threads' first agent; -1: it is not looked at. It is over: whatever comes later in the host comes
// behind.
int32_t ptx_across_begins(const struct ptx_launch *launch, uint32_t blocks);
void ptx_across_ends(const struct ptx_launch *launch, uint32_t blocks, int32_t first);

void ptx_across_meet(struct ptx_lane *const *lane, uint32_t lanes);
bool ptx_across_fence(const struct ptx_lane *lane);
void ptx_across_tell(const struct ptx_lane *lane, uintptr_t at, unsigned order, bool adds);
bool ptx_across_learn(const struct ptx_lane *lane, uintptr_t at, unsigned order);
void ptx_across_touch(const struct ptx_lane *lane, const struct ptx_access *access);

#endif
