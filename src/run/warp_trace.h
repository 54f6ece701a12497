// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp ask of memory together. The accesses are noted lane by lane; then those of one instruction
// are joined into requests, as a GPU does that runs the lanes in step.
#ifndef SLRI_RUN_WARP_TRACE_H
#define SLRI_RUN_WARP_TRACE_H

#include "ir/ir.h"

#include <stdbool.h>
#include <stdint.h>

#define SLRI_WARP_TRACE_ACCESSES 1024u // of a lane

struct slri_warp_access {
    const struct slri_instr *instr;
    uint64_t at;
    uint32_t bytes;
    bool is_shared;
    bool is_known; // else `at` could be anywhere, another place for each lane
};

struct slri_warp_trace {
    uint32_t count[SLRI_WARP_THREADS];
    struct slri_warp_access access[SLRI_WARP_THREADS][SLRI_WARP_TRACE_ACCESSES];
};

struct slri_warp_requests {
    uint64_t requests, sectors;       // of global memory; request.h
    uint64_t shared_requests, passes; // of shared memory
    uint64_t updates;                 // lanes that change global memory by atomics
};

// False: there is no room.
bool slri_warp_trace_note(struct slri_warp_trace *trace, uint32_t lane, const struct slri_warp_access *access);
// Adds what the lanes noted, and forgets their accesses.
void slri_warp_trace_sum(struct slri_warp_trace *trace, struct slri_warp_requests *sum);

#endif
