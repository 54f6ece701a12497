// SPDX-License-Identifier: Apache-2.0
// What was tuned, on disk: a file a device in the cache folder, a line of JSON a kernel, problem, compiler, driver and
// version. Any number of processes may read and write it at once.
#ifndef SLRI_TUNE_RECORD_H
#define SLRI_TUNE_RECORD_H

#include "base/hash.h"

#include <slipring/status.h>

#include <stdbool.h>
#include <stdint.h>

#define SLRI_TUNED_DEFINES_BYTES 256

// What a choice holds for. A record of another compiler, driver or version is not found.
struct slri_tuned_place {
    char device[192];                // the name that opens it
    char model[160];                 // which one that is
    char compiler[160], driver[256]; // with all that decides how fast code is
};

struct slri_tuned_record {
    char source[SLRI_HASH_HEX_BYTES]; // of the source, as slri_module has it
    char kernel[128];
    uint64_t threads[3]; // of the problem
    // What was chosen. `block` 0: slipring's choice.
    uint32_t block[3], vector_width;
    char defines[SLRI_TUNED_DEFINES_BYTES]; // "TILE=16 ROWS=2"; "": as the source has it
    char metric[16];
    bool is_exact; // its results were those of the default, bit for bit
    // Of a launch, in 10^-12 s: whole numbers need no locale. With the metric "energy", in 10^-9 J.
    uint64_t default_ps, tuned_ps;
    uint64_t speedup_permille;            // of pairs, so not default_ps / tuned_ps
    uint64_t low_permille, high_permille; // its interval of confidence
    uint32_t evaluations;
};

// What a record says of an slr_tune_metric: "time".
const char *slri_tuned_metric(uint32_t metric);

// Calls `visit` for each record of the file; `is_current`: version, compiler and driver are those of `place`. A line
// that is not one of ours is passed over. Errors: NOT_FOUND (no file, or no folder that can be trusted), SYSTEM,
// NO_MEMORY.
slr_status slri_tuned_visit(const struct slri_tuned_place *place,
                            void (*visit)(void *user, const struct slri_tuned_record *record, bool is_current),
                            void *user);

// The file's path, to free(): to see whether it has changed. Errors: NOT_FOUND (no cache folder), NO_MEMORY.
slr_status slri_tuned_path(const struct slri_tuned_place *place, char **path);

// The same for the files of all devices. `place` has the device, compiler and driver of the record.
slr_status slri_tuned_visit_all(void (*visit)(void *user, const struct slri_tuned_place *place,
                                              const struct slri_tuned_record *record),
                                void *user);

// Adds the record, in place of one for the same source, kernel and threads that has the same compiler, driver and
// version. Of others for the same three, the newest three stay; of all, the newest 8 MiB. Errors: NOT_FOUND (no
// folder), SYSTEM, TIMEOUT (another process holds the file for 10 s), NO_MEMORY.
slr_status slri_tuned_keep(const struct slri_tuned_place *place, const struct slri_tuned_record *record);

#endif
