// SPDX-License-Identifier: Apache-2.0
// Which commands must come behind which: for drivers whose commands run side by side unless a barrier is between them.
// There is one where data flows and nowhere else, by the ranges of memory that commands read and write. One thread at a
// time uses a struct slri_hazards.
#ifndef SLRI_ENGINE_HAZARDS_H
#define SLRI_ENGINE_HAZARDS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SLRI_READS = 1,
    SLRI_WRITES = 2,
    SLRI_TELLS = 4 // words of its own, or atomic
};

// One range that a command uses, of a byte or more.
struct slri_hazard_use {
    uint64_t memory, at, bytes; // the driver's buffer, and the range in it
    uint32_t how;               // SLRI_READS and so on
    uint32_t stage, seen_by;    // the driver's bit for this kind of command; kinds that come behind it already
    bool is_viewed;             // the host works there, too
};

// What a command must wait for: earlier uses, and for each the kind of command that waits.
#define SLRI_MOST_NAMED 16u // ranges of one barrier
struct slri_hazard_barrier {
    uint32_t from, to; // kinds of commands
    uint32_t ranges;   // more than SLRI_MOST_NAMED: all memory
    struct slri_hazard_range {
        struct slri_hazard_use before;
        uint32_t next_stage;
    } range[SLRI_MOST_NAMED];
};

#define SLRI_MOST_USES 1024u
struct slri_hazards {
    uint32_t stages;  // set by the backend: of all kinds of commands
    uint32_t told_by; // kinds that wrote what the host will read; the backend may add some, and clears it
    uint64_t barriers;
    bool is_behind_list; // of which nobody knows here what it did
    uint32_t uses;
    struct slri_hazard_use use[SLRI_MOST_USES];
};

// At the beginning of a submission, which comes behind those before it.
void slri_hazards_clear(struct slri_hazards *hazards);
// A command with these uses is next. True: `barrier` must come before it, and is counted.
bool slri_hazards_next(struct slri_hazards *hazards, const struct slri_hazard_use *use, uint32_t uses,
                       struct slri_hazard_barrier *barrier);
// Likewise of a recorded list. What comes behind it waits for all of it.
bool slri_hazards_next_list(struct slri_hazards *hazards, struct slri_hazard_barrier *barrier);

#endif
