// SPDX-License-Identifier: Apache-2.0
// What the memory and the lanes of a GPU would make of a launch: the sectors that warps' requests move, the passes that
// shared memory's banks take, the branches that split warps. Counted by instruction, told by source line.
#ifndef SLRI_CHECK_TRAFFIC_H
#define SLRI_CHECK_TRAFFIC_H

#include "check/findings.h"
#include "run/grid.h"
#include "run/request.h"

struct slri_traffic_use {                      // of one instruction
    uint64_t steps, lanes;                     // of warps; of their lanes that were active
    uint64_t requests, sectors, least_sectors; // of global memory
    uint64_t shared_requests, passes, least_passes;
    uint64_t branches, splits, minority, active; // lanes of splits' smaller sides, lanes at branches
    int64_t stride;                              // bytes from lane to lane in the last request; 0: not the same
};

struct slri_traffic {
    struct slri_region *region;
    const struct slri_flat *flat;
    struct slri_traffic_use *use; // by instruction
    // The step that a warp is about to take:
    const struct slri_code *code; // NULL: none
    uint32_t lanes, taken;
    bool is_global, is_shared;
    uint32_t count;
    struct slri_lane_access access[SLRI_WARP_THREADS];
};

bool slri_traffic_create(struct slri_traffic *traffic, struct slri_region *region, const struct slri_flat *flat);

// A warp's lanes begin a step; each lane's access then comes by slri_traffic_access, and which way it jumps.
void slri_traffic_step(struct slri_traffic *traffic, uint32_t lanes, const struct slri_code *code);
void slri_traffic_access(struct slri_traffic *traffic, bool is_shared, uint64_t offset, uint64_t bytes);
void slri_traffic_jump(struct slri_traffic *traffic, bool is_taken);
void slri_traffic_end(struct slri_traffic *traffic); // counts the last step

// Notes on what could be faster.
void slri_traffic_judge(const struct slri_traffic *traffic, struct slri_findings *findings);

// Sums by source line, in the order of files and lines, in `region`; lines that touch no memory and do not branch are
// left out. False: no memory.
bool slri_traffic_lines(const struct slri_traffic *traffic, struct slri_region *region, slr_check_line **out,
                        uint32_t *count);

#endif
