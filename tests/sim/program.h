// SPDX-License-Identifier: Apache-2.0
// A program of ring kernels: what is made, and what is done to it by whom. Made from a seed, cut down by the shrinker,
// played (play.c), and judged (model.c).
#ifndef TESTS_SIM_PROGRAM_H
#define TESTS_SIM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST_RINGS = 4, MOST_CLIENTS = 3, MOST_OPS = 96, CONTROLLER = MOST_CLIENTS, ACTORS };

enum sort { HANDLER = 1, BATCHES, LOOP };

struct ring_plan {
    enum sort sort;
    uint32_t instances, queue_size, max_batch, max_replies; // no replies at all: 0
    uint32_t overflow, fault_policy, fault_limit;           // as in slr_ring_desc
    bool watched;                                           // with a handler_timeout_ns
};

// What is done. A client sends, calls, receives, and opens its port anew; the controller does the rest.
// clang-format off
#define VERBS(X) \
    X(SEND) X(SEND_MANY) X(CALL) X(RECEIVE) X(REOPEN) X(LAUNCH) X(ACTIVATE) X(DEACTIVATE) X(REACTIVATE) X(CLOSE) \
    X(TERMINATE) X(DESTROY) X(RESTART) X(RESTART_CHECKPOINT) X(CHECKPOINT) X(ROUTE) X(UNROUTE) X(SLEEP) X(MEET) \
    X(SETTLE)
// clang-format on
enum verb {
#define VERB_NAME(name) name,
    VERBS(VERB_NAME)
#undef VERB_NAME
        VERBS_END
};

struct op {
    enum verb verb;
    uint8_t actor, ring, to; // `to`: of a route
    uint8_t instance, priority, count;
    uint32_t wait_ns; // timeouts of sends, receives, terminate; length of a sleep
    uint32_t script;  // of a message: see below
};

// What handlers do with a message, a byte a hop: how often they reply, whether they fail, how long they take.
#define SCRIPT_REPLIES(script) ((script)&3u)
#define SCRIPT_FAULTS(script) (((script) >> 2 & 1u) != 0)
#define SCRIPT_NAP(script) ((script) >> 3 & 3u)
enum nap { NO_NAP, YIELDS, SHORT_NAP, OVERRUN };
#define SCRIPT_NEXT(script) ((script) >> 8)

struct program {
    uint64_t schedule; // the simulation's seed
    uint32_t threads, rings, clients, ops;
    uint32_t supervised; // 0, or an slr_strategy over all ring kernels
    struct ring_plan ring[MOST_RINGS];
    struct op op[MOST_OPS];
};

extern const char *const verb_name[];

void program_make(struct program *program, uint64_t seed);
void program_print(const struct program *program, FILE *to);

// The same numbers everywhere, for all that is not the schedule.
uint64_t program_random(uint64_t *state);

#endif
