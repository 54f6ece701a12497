// SPDX-License-Identifier: Apache-2.0
// One algorithm of several.
#ifndef SLRI_OPS_PICK_H
#define SLRI_OPS_PICK_H

#include "ops/operations.h"

#define SLRI_PICK_MOST 6u

struct slri_contender {
    const char *name, *provider;
    uint64_t workspace_bytes;
    bool deterministic;
    const char *why_not; // NULL, or why it cannot do this
    uint64_t ns;         // measured; 0: not
};

#define SLRI_PICK_KEY_BYTES 96

struct slri_pick {
    // Of the record: the operation, and all that its speed depends on but the sizes. Read by slri_pick_key, which
    // writes it when it is first asked for: a call that takes the usual algorithm needs none.
    char key[SLRI_PICK_KEY_BYTES];
    void (*write_key)(const void *problem, char *key);
    const void *problem;
    uint64_t sizes[3];  // of the problem
    double flops;       // of a call
    uint32_t count;     // of contenders
    uint32_t heuristic; // which one is taken without a measurement
    struct slri_contender contender[SLRI_PICK_MOST];
    // Does the work by one of them, into memory of its own.
    slr_status (*run)(void *user, uint32_t contender, slr_stream *stream);
    void *user;
};

static inline const char *slri_pick_key(struct slri_pick *pick)
{
    if (*pick->key == '\0')
        pick->write_key(pick->problem, pick->key);
    return pick->key;
}

// Rules out what the description of the operations does: workspace, determinism.
void slri_pick_restrict(const slr_ops *ops, struct slri_pick *pick);
// Which one a call uses. Errors: those of `run`; UNSUPPORTED (none can do it: the reasons).
slr_status slri_pick_choose(slr_ops *ops, slr_stream *stream, struct slri_pick *pick, uint32_t *out);
// Measures all, keeps the fastest, visits each.
slr_status slri_pick_bench(slr_ops *ops, slr_stream *stream, struct slri_pick *pick, slr_algorithm_visitor *visit,
                           void *user);
void slri_picked_free(slr_ops *ops);

#endif
