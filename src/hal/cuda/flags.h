// SPDX-License-Identifier: Apache-2.0
// Flags: for each lane of a shard that a kernel that stays owns, a word in the device's memory that says how many
// messages its sender has published. Senders write it behind a message, through the bus, and never read it; the kernel
// polls it where it lies, and crosses the bus once it shows something.
#ifndef SLRI_HAL_CUDA_FLAGS_H
#define SLRI_HAL_CUDA_FLAGS_H

#include "hal/cuda/api.h"
#include "hal/cuda/gdr.h"
#include "base/thread.h"
#include "engine/spec.h"
#include "base/pieces.h"

#include <stdbool.h>

struct slri_cuda;
struct slri_shard;

#define SLRI_CU_FLAGS_WHY 160

enum slri_cu_flags_at { SLRI_CU_FLAGS_ANYWHERE, SLRI_CU_FLAGS_ON_HOST, SLRI_CU_FLAGS_BEHIND_BAR };

struct slri_cu_sunk { // where a window was, memory of the host's is mapped, for who writes late
    void *memory;
    struct slri_cu_sunk *next;
};

struct slri_cu_flags {
    enum slri_cu_flags_at asked;
    char why[SLRI_CU_FLAGS_WHY]; // why there are none, the host's slots saying it; "": there are
    slri_dl *library;
    struct slri_gdr_functions functions;
    slri_gdr gdr; // NULL: there is no window
    slri_gdr_handle pinned;
    slri_cu_pointer memory, device; // all of it; where its first whole page begins
    struct slri_cu_sunk *sunk;      // windows of contexts that are gone
    struct slri_cu_sunk *spare;     // of this one
    slri_mutex lock;                // of the rest
    struct slri_pieces pieces;
    struct slri_chunk chunk; // as the host has it mapped
};

// The option flags=. Errors: INVALID.
slr_status slri_cuda_flags_choose(struct slri_cuda *cuda, const struct slri_spec *spec);
const char *slri_cuda_flags_name(enum slri_cu_flags_at at); // of the two that can be asked for
// While the device is opened, with its context. Errors: UNSUPPORTED, which says why, where they were asked for; else
// there are none, and `why` says it.
slr_status slri_cuda_flags_open(struct slri_cuda *cuda);
void slri_cuda_flags_close(struct slri_cuda *cuda); // before the context goes; nobody sends any more
// Before the context of a device that is lost goes, while others may still send. There are none until they are renewed
// in another context; errors as when it is opened.
void slri_cuda_flags_lose(struct slri_cuda *cuda);
slr_status slri_cuda_flags_renew(struct slri_cuda *cuda);

// Gives the shard's lanes flags, where there is room, for as long as its own words have their memory (`kept`): who
// sends may be late. Any number of times.
void slri_cuda_flags_give(struct slri_cuda *cuda, struct slri_shard *shard, struct slri_piece **kept);
// Behind a renewal, while no kernel runs.
void slri_cuda_flags_begin_again(struct slri_cuda *cuda, struct slri_shard *shard, struct slri_piece *kept);
void slri_cuda_flags_take_back(struct slri_cuda *cuda, struct slri_piece *kept); // NULL is fine

#endif
