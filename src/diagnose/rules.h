// SPDX-License-Identifier: Apache-2.0
// What the rules share: the figures of a profile, and how a finding is given.
#ifndef SLRI_DIAGNOSE_RULES_H
#define SLRI_DIAGNOSE_RULES_H

#include <slipring/check.h>
#include <slipring/diagnose.h>
#include <slipring/suggest.h>

#include <stdbool.h>

#define SLRI_MANY 100u
enum { SLRI_INSPECTED = 4, SLRI_ROW_KINDS = SLR_PROFILE_UNTIMED + 1 };

struct slri_total {
    uint64_t n, total_ns, bytes;
};

// What the checker says of a kernel's source.
enum slri_source_finding { SLRI_STRIDED, SLRI_BANKS, SLRI_DIVERGENT, SLRI_SOURCE_FINDINGS };

struct slri_inspection { // of one of the busiest kernels
    const slr_profile_row *row;
    struct {
        bool is_there;
        uint32_t line;
        char text[240];
        const char *measure;
        double figure, limit;
    } finding[SLRI_SOURCE_FINDINGS];
    slr_kernel_occupancy occupancy; // source 0: not known
};

struct slri_diagnosing {
    const slr_profile_row *row; // by falling time
    uint32_t rows;
    struct slri_total total[SLRI_ROW_KINDS];
    uint64_t pinned_bytes; // of copies
    slr_timeline timeline;
    slr_device *device; // or NULL
    uint32_t workers;   // 0: not known
    const char *name;   // of the device that most of the time was spent on
    bool has_ceilings;
    slr_ceilings ceilings;
    struct slri_inspection inspection[SLRI_INSPECTED];
    uint32_t inspected;

    // What is given.
    unsigned char *out;
    size_t out_bytes; // of one
    uint32_t most, count;
};

// The figure that decided, and the line of code that is better.
struct slri_verdict {
    slr_bottleneck bottleneck;
    double figure, limit;
    const char *measure, *change;
    const char *file; // or NULL
    uint32_t line;
    const slr_profile_row *caller; // instead of these: the place in the program; or NULL
};
void slri_diagnosis_give(struct slri_diagnosing *d, const struct slri_verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

double slri_milliseconds(uint64_t ns);
double slri_percent(double part, double all);
double slri_ratio(double part, double all); // 0 where `all` is

// The place in the program with the most calls of one kind, or with the most time in them; NULL: none is known.
const slr_profile_row *slri_caller_of(const struct slri_diagnosing *d, const char *what);
const slr_profile_row *slri_slowest_caller_of(const struct slri_diagnosing *d, const char *what, const char *or_what);

// Of little work: some microseconds on one core, about what a launch costs.
bool slri_row_is_short(const slr_profile_row *row);
slr_roofline slri_row_roofline(const struct slri_diagnosing *d, const slr_profile_row *row);

// sources.c
void slri_inspect(struct slri_diagnosing *d);

// ---- the rules, each with the bottleneck's name --------------------------------------------------------------------

typedef void slri_rule(struct slri_diagnosing *d);
slri_rule slri_rule_transfers, slri_rule_transfers_in_loop, slri_rule_unpinned, slri_rule_idle; // transfers.c
slri_rule slri_rule_launches, slri_rule_launch_loop, slri_rule_apart, slri_rule_few_blocks, slri_rule_stalls,
    slri_rule_oversubscribed, slri_rule_contention, slri_rule_compiling;                                 // launches.c
slri_rule slri_rule_queue_small, slri_rule_queue_large;                                                  // queues.c
slri_rule slri_rule_unscaled, slri_rule_deterministic;                                                   // networks.c
slri_rule slri_rule_allocation, slri_rule_fragmented;                                                    // memory.c
slri_rule slri_rule_strided, slri_rule_banks, slri_rule_divergence, slri_rule_occupancy, slri_rule_roof; // sources.c

#endif
