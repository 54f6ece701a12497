// SPDX-License-Identifier: Apache-2.0
// Programs from seeds, and programs for people.
#include "program.h"

#include <slipring/slipring.h>

#include <string.h>

uint64_t program_random(uint64_t *state) // splitmix64
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t pick(uint64_t *state, uint32_t below)
{
    return (uint32_t)((program_random(state) >> 32) * below >> 32);
}

static bool one_in(uint64_t *state, uint32_t n)
{
    return pick(state, n) == 0;
}

// ---- making --------------------------------------------------------------------------------------------------------

static void plan_ring(struct ring_plan *plan, uint64_t *r)
{
    static const uint32_t sizes[] = {1, 2, 3, 8, 40}, batches[] = {1, 2, 3, 4, 5, 6, 8, 64};
    *plan = (struct ring_plan){.sort = one_in(r, 6)   ? LOOP
                                       : one_in(r, 4) ? BATCHES
                                                      : HANDLER,
                               .instances = 1 + pick(r, 4),
                               .queue_size = sizes[pick(r, 5)],
                               .max_batch = one_in(r, 2) ? 1 : batches[pick(r, 8)],
                               .max_replies = pick(r, 3),
                               .overflow = SLR_OVERFLOW_BLOCK,
                               .fault_policy = SLR_FAULT_GO_ON};
    if (one_in(r, 3))
        plan->overflow = plan->sort == LOOP ? SLR_OVERFLOW_REJECT : SLR_OVERFLOW_REJECT + pick(r, 3);
    if (plan->sort == LOOP)
        return;
    if (one_in(r, 3))
        plan->fault_policy = one_in(r, 3) ? SLR_FAULT_LIMIT : SLR_FAULT_FAIL;
    plan->fault_limit = plan->fault_policy == SLR_FAULT_LIMIT ? 1 + pick(r, 3) : 0;
    plan->watched = plan->sort == HANDLER && one_in(r, 4);
}

static uint32_t make_step(uint64_t *r, bool calm)
{
    uint32_t nap = one_in(r, 3) ? pick(r, calm ? 3 : 4) : NO_NAP;
    return pick(r, 4) | (uint32_t)(!calm && one_in(r, 6)) << 2 | nap << 3;
}

static uint32_t make_script(uint64_t *r, bool calm)
{
    return make_step(r, calm) | make_step(r, calm) << 8 | make_step(r, calm) << 16;
}

static void make_client_op(const struct program *p, struct op *op, uint64_t *r, bool calm)
{
    static const uint32_t waits_ns[] = {0, 2000, 100000, 20000000};
    static const enum verb verbs[] = {SEND, SEND, SEND, SEND, SEND_MANY, SEND_MANY, CALL, RECEIVE, RECEIVE, REOPEN};
    op->actor = (uint8_t)pick(r, p->clients);
    op->verb = verbs[pick(r, one_in(r, 4) ? 10 : 9)];
    op->instance = (uint8_t)pick(r, p->ring[op->ring].instances);
    op->priority = one_in(r, 3) ? (uint8_t)(1 + pick(r, 3)) : 0;
    op->count = (uint8_t)(1 + pick(r, 8));
    op->wait_ns = waits_ns[pick(r, 4)];
    op->script = make_script(r, calm);
}

static void make_controller_op(const struct program *p, struct op *op, uint64_t *r)
{
    static const enum verb verbs[] = {DEACTIVATE, DEACTIVATE, REACTIVATE, REACTIVATE, CLOSE,
                                      TERMINATE,  DESTROY,    RESTART,    RESTART,    ROUTE,
                                      ROUTE,      UNROUTE,    SLEEP,      SLEEP,      SETTLE,
                                      MEET,       CHECKPOINT, ACTIVATE,   LAUNCH,     RESTART_CHECKPOINT};
    static const uint32_t waits_ns[] = {0, 1000, 50000, 5000000};
    op->actor = CONTROLLER;
    op->verb = verbs[pick(r, sizeof verbs / sizeof verbs[0])];
    if ((op->verb == CLOSE || op->verb == TERMINATE || op->verb == DESTROY) && !one_in(r, 3))
        op->verb = RESTART;
    op->to = (uint8_t)pick(r, p->rings);
    op->wait_ns = waits_ns[pick(r, 4)];
}

void program_make(struct program *p, uint64_t seed)
{
    uint64_t state = seed * 0x2545f4914f6cdd1du + 1, *r = &state;
    *p = (struct program){.schedule = program_random(r)};
    p->threads = 1 + pick(r, 3);
    p->rings = 1 + pick(r, MOST_RINGS);
    p->clients = 1 + pick(r, MOST_CLIENTS);
    bool calm = one_in(r, 3); // no faults, so that more is said about the rest
    p->supervised = !calm && one_in(r, 4) ? 1 + pick(r, 3) : 0;
    for (uint32_t i = 0; i < p->rings; ++i)
        plan_ring(&p->ring[i], r);
    for (uint32_t i = 0; i < p->rings; ++i)
        if (!one_in(r, 8))
            p->op[p->ops++] = (struct op){.verb = LAUNCH, .actor = CONTROLLER, .ring = (uint8_t)i};
    for (uint32_t i = 0; i < p->rings; ++i)
        if (!one_in(r, 4))
            p->op[p->ops++] = (struct op){.verb = ACTIVATE, .actor = CONTROLLER, .ring = (uint8_t)i};
    if (!one_in(r, 4))
        p->op[p->ops++] = (struct op){.verb = MEET, .actor = CONTROLLER};
    uint32_t more = 3 + pick(r, one_in(r, 3) ? 70 : 25);
    for (uint32_t i = 0; i < more && p->ops < MOST_OPS; ++i) {
        struct op *op = &p->op[p->ops++];
        op->ring = (uint8_t)pick(r, p->rings);
        if (one_in(r, 4))
            make_controller_op(p, op, r);
        else
            make_client_op(p, op, r, calm);
    }
}

// ---- printing ------------------------------------------------------------------------------------------------------

const char *const verb_name[] = {
#define VERB_TEXT(name) #name,
    VERBS(VERB_TEXT)
#undef VERB_TEXT
};

static void print_ring(const struct ring_plan *ring, uint32_t i, FILE *to)
{
    static const char *const sorts[] = {"", "handler", "batches", "loop"};
    static const char *const overflows[] = {"", "block", "reject", "drop-oldest", "drop-lowest"};
    static const char *const policies[] = {"", "go-on", "fail", "limit"};
    fprintf(to, "  ring %u: %s, %u instances, queue_size %u, max_batch %u, max_replies %u, %s, %s", i,
            sorts[ring->sort], ring->instances, ring->queue_size, ring->max_batch, ring->max_replies,
            overflows[ring->overflow], policies[ring->fault_policy]);
    if (ring->fault_limit)
        fprintf(to, " %u", ring->fault_limit);
    fprintf(to, "%s\n", ring->watched ? ", with a handler_timeout_ns" : "");
}

static void print_script(uint32_t script, FILE *to)
{
    static const char *const naps[] = {"", " yields", " naps", " overruns"};
    for (fprintf(to, ", script"); script != 0; script = SCRIPT_NEXT(script))
        fprintf(to, " [%u replies%s%s]", SCRIPT_REPLIES(script), SCRIPT_FAULTS(script) ? " faults" : "",
                naps[SCRIPT_NAP(script)]);
}

static void print_op(const struct op *op, FILE *to)
{
    if (op->actor == CONTROLLER)
        fprintf(to, "  controller: %s", verb_name[op->verb]);
    else
        fprintf(to, "  client %u: %s", op->actor, verb_name[op->verb]);
    if (op->verb != RECEIVE && op->verb != REOPEN && op->verb != SLEEP && op->verb != MEET)
        fprintf(to, " ring %u", op->ring);
    if (op->verb == ROUTE || op->verb == UNROUTE)
        fprintf(to, " -> ring %u", op->to);
    if (op->verb == SEND || op->verb == CALL || op->verb == SEND_MANY)
        fprintf(to, " instance %u", op->instance);
    if (op->verb == SEND && op->priority)
        fprintf(to, " priority %u", op->priority);
    if (op->verb == SEND_MANY || op->verb == RECEIVE)
        fprintf(to, " count %u", op->count);
    if (op->verb <= RECEIVE || op->verb == TERMINATE || op->verb == SLEEP)
        fprintf(to, " %u ns", op->wait_ns);
    if (op->verb <= CALL)
        print_script(op->script, to);
    fprintf(to, "\n");
}

void program_print(const struct program *p, FILE *to)
{
    fprintf(to, "  %u threads, %u clients, schedule %llu", p->threads, p->clients, (unsigned long long)p->schedule);
    static const char *const strategies[] = {"", ", supervised one for one", ", supervised one for all",
                                             ", supervised rest for one"};
    fprintf(to, "%s\n", strategies[p->supervised]);
    for (uint32_t i = 0; i < p->rings; ++i)
        print_ring(&p->ring[i], i, to);
    for (uint32_t i = 0; i < p->ops; ++i)
        print_op(&p->op[i], to);
}
