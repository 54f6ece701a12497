// SPDX-License-Identifier: Apache-2.0
// What was found. The same thing on the same pair of lines is one finding, however many threads do it.
#ifndef SLRI_CHECK_FINDINGS_H
#define SLRI_CHECK_FINDINGS_H

#include "base/text.h"
#include "check/codes.h"
#include "ir/ir.h"

#include <slipring/check.h>

struct slri_check_thread { // which thread, anywhere in the grid
    uint32_t block[3], thread[3];
};

struct slri_finding {
    unsigned code;
    slr_check_level level;
    struct slri_where at, other; // other.line 0: none
    struct slri_check_thread by, by_other;
    uint64_t count;
    uint32_t launch;   // the first
    uint32_t launches; // a bit for each launch that met it
    uint64_t made;     // what was made up and it depends on (watch.h): then an error is a warning
    const char *message;
    const char *measure;  // what `figure` is; NULL: no figure decided
    double figure, limit; // the figure that decided, of the instruction that is told of, and what it was compared with
    const char *give;     // that in words: "--arg n=..., --block ..."; NULL: nothing
};

struct slri_findings {
    struct slri_region *region; // what it keeps lies there
    struct slri_finding *list;
    uint32_t count, room;
    uint32_t launch; // the one that runs
    uint64_t made;   // of what is added next
    bool out_of_memory;
};

#define SLRI_FINDINGS_LIMIT 200 // more are not kept

slr_check_level slri_check_level(unsigned code);
const char *slri_check_name(unsigned code);
const char *slri_check_advice(unsigned code);

// Counts one more of it; true where it is new and a message is wanted: then slri_findings_say follows at once, on the
// last of the list. `other` NULL: there is none. Of the two places the later one in the source becomes `at`.
bool slri_findings_add(struct slri_findings *all, unsigned code, struct slri_where at,
                       const struct slri_check_thread *by, const struct slri_where *other,
                       const struct slri_check_thread *by_other);
void slri_findings_say(struct slri_findings *all, const char *format, ...) __attribute__((format(printf, 2, 3)));
void slri_findings_measure(struct slri_findings *all, const char *measure, double figure, double limit); // of the last

uint32_t slri_findings_count(const struct slri_findings *all, slr_check_level level);
// Adds to its message that it may be the fault of what was made up, and what to give: "--arg n=...".
void slri_findings_explain(struct slri_findings *all, struct slri_finding *finding, const char *give);
// What depends on values and was not met in each of `launches` (a bit a launch) becomes a warning: an error holds
// whatever messages come.
void slri_findings_weigh(struct slri_findings *all, uint32_t launches);
// Writing the same value is no news where writing different ones on the same lines is.
void slri_findings_drop_harmless(struct slri_findings *all);
void slri_findings_sort(struct slri_findings *all);

const struct slri_finding *slri_check_finding_at(const slr_check *check, uint32_t index); // NULL: no more

#endif
