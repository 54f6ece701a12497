// SPDX-License-Identifier: Apache-2.0
// What the files of the reference model share: an index of the trace, and how a fault is told.
#ifndef TESTS_SIM_MODEL_H
#define TESTS_SIM_MODEL_H

#include "trace.h"

struct index { // by message and ring kernel
    const struct program *program;
    const struct trace *trace;
    uint32_t handling[MOST_MESSAGES][MOST_RINGS];             // NONE: never handled there
    slr_dead_letter_reason letter[MOST_MESSAGES][MOST_RINGS]; // 0: none
    uint32_t accepted[MOST_RINGS], fates[MOST_RINGS][8];      // by letter; 0: handled
    bool in_cycle[MOST_RINGS], has_routes_in[MOST_RINGS], has_routes_out[MOST_RINGS];
};

enum may { NO, PERHAPS, YES };

// Writes what is wrong, once; gives false.
bool wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline uint32_t shards_of(const struct program *p, uint32_t ring)
{
    uint32_t n = p->ring[ring].instances;
    return p->ring[ring].sort == LOOP ? 1 : n < p->threads ? n : p->threads;
}

static inline uint32_t shard_of(const struct program *p, const struct handling *h)
{
    return h->instance % shards_of(p, h->ring);
}

// The handler ran to its end, and that counted.
static inline bool is_handled(const struct index *x, uint32_t id, uint32_t ring)
{
    return x->handling[id][ring] != NONE && x->letter[id][ring] == 0;
}

static inline bool can_fail(const struct index *x, uint32_t ring)
{
    const struct ring_plan *plan = &x->program->ring[ring];
    return plan->fault_policy != SLR_FAULT_GO_ON || plan->watched || x->in_cycle[ring] ||
           (x->program->supervised && plan->sort != LOOP);
}

enum may has_route(const struct index *x, uint32_t from, uint32_t to, uint32_t at); // in force for a handler begun then
enum may has_any_route(const struct index *x, uint32_t from, uint32_t at);

// model_messages.c
bool judge_fates(struct index *x);
bool judge_order(const struct index *x);
bool judge_replies(const struct index *x);
// model_rings.c
bool judge_states(const struct index *x);
bool judge_instances(const struct index *x);
bool judge_pauses(const struct index *x);
bool judge_policies(const struct index *x);
bool judge_capacity(const struct index *x);
bool judge_priorities(const struct index *x);
bool judge_drops(const struct index *x);
bool judge_progress(const struct index *x);
bool judge_counts(const struct index *x);

#endif
