// SPDX-License-Identifier: Apache-2.0
// What ring kernels do: states, instances, pauses, failures, capacity, priorities, counts, as docs/contract says.
#include "model.h"

#define OPEN (SLR_RING_ACTIVE | SLR_RING_PAUSED | SLR_RING_DRAINING)

static bool is_end(const struct control *c)
{
    return c->op.verb == TERMINATE || c->op.verb == DESTROY;
}

// ---- states --------------------------------------------------------------------------------------------------------

// What may have become of any of these states by itself.
static uint32_t closure(const struct index *x, uint32_t ring, uint32_t states, uint32_t before_failure)
{
    if (can_fail(x, ring) && states & OPEN)
        states |= SLR_RING_IN_FAILURE;
    if (states & SLR_RING_IN_FAILURE && x->program->supervised)
        states |= before_failure;
    if (states & SLR_RING_DRAINING)
        states |= SLR_RING_TERMINATED;
    return states;
}

struct rule { // what a call needs, and what it makes; 0: leaves it, or what it was before it failed
    uint32_t from, to;
};

static struct rule rule_of(const struct index *x, const struct control *c, uint32_t before_failure)
{
    bool loop = x->program->ring[c->op.ring].sort == LOOP;
    switch (c->op.verb) {
    case ACTIVATE:
        return (struct rule){SLR_RING_LAUNCHED, SLR_RING_ACTIVE};
    case DEACTIVATE:
        return (struct rule){SLR_RING_ACTIVE, SLR_RING_PAUSED};
    case REACTIVATE:
        return (struct rule){SLR_RING_PAUSED, SLR_RING_ACTIVE};
    case CLOSE:
        return (struct rule){SLR_RING_ACTIVE | SLR_RING_PAUSED, SLR_RING_DRAINING};
    case TERMINATE:
    case DESTROY:
        return (struct rule){UINT32_MAX, SLR_RING_TERMINATED};
    case RESTART:
    case RESTART_CHECKPOINT:
        return (struct rule){loop ? 0 : SLR_RING_IN_FAILURE, before_failure};
    case CHECKPOINT:
        return (struct rule){loop ? 0 : SLR_RING_LAUNCHED | SLR_RING_ACTIVE | SLR_RING_PAUSED | SLR_RING_IN_FAILURE, 0};
    default:
        return (struct rule){0, 0};
    }
}

static bool judge_status(const struct index *x, const struct control *c, uint32_t states, struct rule rule)
{
    bool maybe_not = (states & ~rule.from) != 0;
    if (c->op.verb == RESTART_CHECKPOINT || c->op.verb == CHECKPOINT) // no checkpoint; overtaken by a failure
        maybe_not = maybe_not || c->op.verb == RESTART_CHECKPOINT || can_fail(x, c->op.ring);
    if (c->op.verb == RESTART && x->program->supervised) // the supervisor is at it
        maybe_not = true;
    bool right = (c->status == SLR_OK && states & rule.from) || (c->status == SLR_WRONG_STATE && maybe_not);
    return right || wrong("%s of ring %u in state %s gave %s", c->op.verb == ACTIVATE ? "activate" : "a control call",
                          c->op.ring, slr_ring_state_name(c->before), slr_status_name(c->status));
}

static bool is_of_states(enum verb verb)
{
    return verb != ROUTE && verb != UNROUTE && verb != SETTLE;
}

static bool judge_states_of(const struct index *x, uint32_t ring)
{
    uint32_t states = SLR_RING_LAUNCHED, before_failure = SLR_RING_LAUNCHED;
    for (uint32_t i = 0; i < x->trace->controls; ++i) {
        const struct control *c = &x->trace->control[i];
        if (c->op.ring != ring)
            continue;
        states = closure(x, ring, states, before_failure);
        if (!(c->before & states))
            return wrong("ring %u is %s; states %#x were possible", ring, slr_ring_state_name(c->before), states);
        if (c->before != SLR_RING_IN_FAILURE)
            before_failure = c->before;
        states = closure(x, ring, c->before, before_failure);
        if (is_of_states(c->op.verb)) {
            struct rule rule = rule_of(x, c, before_failure);
            if (!judge_status(x, c, states, rule))
                return false;
            if (c->status == SLR_OK && rule.to != 0)
                states = rule.to;
        } else if (c->status != SLR_OK && c->status != SLR_INVALID && c->status != SLR_WRONG_STATE &&
                   c->status != SLR_NOT_FOUND) {
            return wrong("a route from ring %u gave %s", ring, slr_status_name(c->status));
        }
        if (states & OPEN)
            before_failure = states & OPEN;
        states = closure(x, ring, states, before_failure);
        if (!(c->after & states))
            return wrong("ring %u is %s behind a call; states %#x were possible", ring, slr_ring_state_name(c->after),
                         states);
        states = c->after;
        if (c->after != SLR_RING_IN_FAILURE)
            before_failure = c->after;
    }
    return true;
}

// With everything closed what is pending is handled, unless it waits for one further on that is not.
static bool judge_drained(const struct index *x, uint32_t ring)
{
    slr_ring_state end = x->trace->drained[ring];
    if (end != SLR_RING_DRAINING)
        return true;
    for (uint32_t to = 0; to < x->program->rings && x->has_routes_out[ring]; ++to)
        if (x->trace->drained[to] != 0 && x->trace->drained[to] != SLR_RING_TERMINATED && to != ring)
            return true;
    return x->in_cycle[ring] || wrong("ring %u was closed and did not drain", ring);
}

bool judge_states(const struct index *x)
{
    for (uint32_t ring = 0; ring < x->program->rings; ++ring)
        if (!judge_states_of(x, ring) || !judge_drained(x, ring))
            return false;
    return true;
}

// ---- instances -----------------------------------------------------------------------------------------------------

enum { MOST_VALUES = 64 };
struct values { // that a state may have
    struct state value[MOST_VALUES];
    uint32_t count;
};

static bool has(const struct values *v, struct state s)
{
    for (uint32_t i = 0; i < v->count; ++i)
        if (v->value[i].count == s.count && v->value[i].hash == s.hash)
            return true;
    return v->count == MOST_VALUES; // too many to say
}

static void add(struct values *v, struct state s)
{
    if (v->count < MOST_VALUES && !has(v, s))
        v->value[v->count++] = s;
}

// What an instance may have been when a checkpoint was taken: that before, and each during the call.
static void note_checkpoint(const struct index *x, const struct handling *h, struct state after, struct values *kept,
                            const struct state *last)
{
    for (uint32_t i = 0; i < x->trace->controls; ++i) {
        const struct control *c = &x->trace->control[i];
        if (c->op.verb != CHECKPOINT || c->op.ring != h->ring || c->status != SLR_OK)
            continue;
        if (c->begin < h->begin && c->end > h->begin)
            add(kept, *last);
        if (c->begin < h->end && c->end > h->begin)
            add(kept, after);
    }
}

static bool restarted_between(const struct index *x, uint32_t ring, uint32_t from, uint32_t to, bool *checkpoint)
{
    bool any = false;
    for (uint32_t i = 0; i < x->trace->controls; ++i) {
        const struct control *c = &x->trace->control[i];
        if (c->op.ring != ring || c->status != SLR_OK || (c->op.verb != RESTART && c->op.verb != RESTART_CHECKPOINT))
            continue;
        any = any || (c->begin < to && c->end > from);
        *checkpoint = *checkpoint || c->op.verb == RESTART_CHECKPOINT;
    }
    return any || (x->program->supervised && x->trace->supervised_restarts[ring] != 0);
}

// Whether a restart to the initial state surely fell between two messages of an instance.
static bool surely_restarted(const struct index *x, uint32_t ring, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < x->trace->controls; ++i) {
        const struct control *c = &x->trace->control[i];
        if (c->op.ring == ring && c->op.verb == RESTART && c->status == SLR_OK && c->begin > from && c->end < to)
            return true;
    }
    return false;
}

// An instance sees its messages one after the other, each with the state that the one before left: a fault and a
// restart begin it anew, or from the checkpoint.
static bool judge_instance(const struct index *x, uint32_t ring, uint32_t instance)
{
    struct state expected = {0}, zero = {0};
    struct values kept = {.value = {{0}}, .count = 1};
    uint32_t last_begin = 0, last_end = 0;
    for (uint32_t i = 0; i < x->trace->handlings; ++i) {
        const struct handling *h = &x->trace->handling[i];
        if (h->ring != ring || h->instance != instance)
            continue;
        bool same = h->before.count == expected.count && h->before.hash == expected.hash, from_checkpoint = false;
        bool restarted = restarted_between(x, ring, last_begin, h->begin, &from_checkpoint);
        bool anew = restarted && has(&kept, h->before) &&
                    (from_checkpoint || (h->before.count == zero.count && h->before.hash == zero.hash));
        if (surely_restarted(x, ring, last_end, h->begin))
            same = false;
        if (!same && !anew)
            return wrong("ring %u instance %u: message %u found state %u/%#x; %u/%#x was left%s", ring, instance, h->id,
                         h->before.count, h->before.hash, expected.count, expected.hash,
                         restarted ? ", and a restart came" : "");
        last_begin = h->begin;
        last_end = h->end;
        struct state after = {h->before.count + 1, h->before.hash * 31 + h->id};
        if (x->letter[h->id][ring] == SLR_DEAD_LETTER_FAULTED)
            after = zero;
        note_checkpoint(x, h, after, &kept, &expected);
        // A checkpoint between two messages.
        for (uint32_t k = 0; k < x->trace->controls; ++k)
            if (x->trace->control[k].op.verb == CHECKPOINT && x->trace->control[k].op.ring == ring)
                add(&kept, after);
        expected = after;
    }
    return true;
}

bool judge_instances(const struct index *x)
{
    for (uint32_t ring = 0; ring < x->program->rings; ++ring)
        for (uint32_t i = 0; x->program->ring[ring].sort == HANDLER && i < x->program->ring[ring].instances; ++i)
            if (!judge_instance(x, ring, i))
                return false;
    return true;
}

// ---- when nothing may run ------------------------------------------------------------------------------------------

static bool wakes(const struct control *c)
{
    enum verb v = c->op.verb;
    return v == REACTIVATE || v == CLOSE || v == TERMINATE || v == DESTROY || v == RESTART || v == RESTART_CHECKPOINT ||
           v == ACTIVATE;
}

// From a call's return to the next that lets handlers run again.
static bool judge_quiet(const struct index *x, uint32_t from, uint32_t first_control, uint32_t ring, const char *why)
{
    uint32_t to = UINT32_MAX;
    for (uint32_t i = first_control; i < x->trace->controls && to == UINT32_MAX; ++i)
        if (x->trace->control[i].op.ring == ring && wakes(&x->trace->control[i]))
            to = x->trace->control[i].begin;
    for (uint32_t i = 0; i < x->trace->handlings; ++i) {
        const struct handling *h = &x->trace->handling[i];
        if (h->ring == ring && h->begin > from && h->begin < to)
            return wrong("ring %u handled message %u while it was %s", ring, h->id, why);
    }
    return true;
}

bool judge_pauses(const struct index *x)
{
    for (uint32_t ring = 0; ring < x->program->rings; ++ring)
        if (!judge_quiet(x, 0, 0, ring, "not activated"))
            return false;
    for (uint32_t i = 0; i < x->trace->controls; ++i) {
        const struct control *c = &x->trace->control[i];
        bool loop = x->program->ring[c->op.ring].sort == LOOP;
        if (c->op.verb == DEACTIVATE && c->status == SLR_OK && !loop &&
            !judge_quiet(x, c->end, i + 1, c->op.ring, "paused"))
            return false;
        if (is_end(c) && c->status == SLR_OK && !judge_quiet(x, c->end, x->trace->controls, c->op.ring, "terminated"))
            return false;
    }
    return true;
}

// ---- failures ------------------------------------------------------------------------------------------------------

static bool ends_before(const struct index *x, uint32_t ring, uint32_t at)
{
    for (uint32_t i = 0; i < x->trace->controls; ++i)
        if (x->trace->control[i].op.ring == ring && is_end(&x->trace->control[i]) && x->trace->control[i].begin < at)
            return true;
    return false;
}

// Behind a fault that fails the ring kernel its shard handles nothing before a restart.
static bool judge_behind_fault(const struct index *x, const struct handling *fault)
{
    const struct trace *t = x->trace;
    uint32_t end = fault->end == NONE || x->program->ring[fault->ring].watched ? fault->begin : fault->end;
    for (uint32_t i = 0; i < t->handlings; ++i) {
        const struct handling *h = &t->handling[i];
        bool checkpoint = false;
        if (h->ring == fault->ring && shard_of(x->program, h) == shard_of(x->program, fault) && h->begin > end &&
            h != fault && h->call != fault->call && !ends_before(x, h->ring, h->begin) &&
            !restarted_between(x, h->ring, end, h->begin, &checkpoint))
            return wrong("ring %u handled message %u behind the fault of message %u, without a restart", h->ring, h->id,
                         fault->id);
    }
    return true;
}

static bool judge_limit(const struct index *x, uint32_t ring)
{
    const struct trace *t = x->trace;
    uint32_t faults = 0, since = 0;
    for (uint32_t i = 0; i < t->handlings; ++i) {
        const struct handling *h = &t->handling[i];
        bool checkpoint = false;
        if (h->ring != ring)
            continue;
        if (restarted_between(x, ring, since, h->begin, &checkpoint) || ends_before(x, ring, h->begin))
            return true; // what came before what is not known to the event
        if (faults > x->program->ring[ring].fault_limit && shards_of(x->program, ring) == 1 &&
            h->call != t->handling[i - 1].call)
            return wrong("ring %u handled message %u behind more than %u faults", ring, h->id,
                         x->program->ring[ring].fault_limit);
        faults += x->letter[h->id][ring] == SLR_DEAD_LETTER_FAULTED;
        since = h->begin;
    }
    return true;
}

bool judge_policies(const struct index *x)
{
    for (uint32_t i = 0; i < x->trace->handlings; ++i) {
        const struct handling *h = &x->trace->handling[i];
        bool fault = x->letter[h->id][h->ring] == SLR_DEAD_LETTER_FAULTED;
        bool fails = x->program->ring[h->ring].fault_policy == SLR_FAULT_FAIL || !h->faulted; // else abandoned
        if (fault && fails && x->program->ring[h->ring].sort != LOOP && !judge_behind_fault(x, h))
            return false;
    }
    for (uint32_t ring = 0; ring < x->program->rings; ++ring)
        if (x->program->ring[ring].fault_policy == SLR_FAULT_LIMIT && x->program->ring[ring].sort == HANDLER &&
            !judge_limit(x, ring))
            return false;
    return true;
}

// ---- capacity ------------------------------------------------------------------------------------------------------

// How many were surely accepted and not begun, of those that were handled in the end.
static uint32_t surely_waiting(const struct index *x, uint32_t ring, uint32_t at)
{
    uint32_t waiting = 0;
    for (uint32_t id = 0; id < x->trace->messages; ++id) {
        const struct message_note *note = &x->trace->message[id];
        if (note->parent != NONE || note->ring != ring || note->sent != ACCEPTED || note->end > at)
            continue;
        uint32_t handling = x->handling[id][ring];
        waiting += handling != NONE && x->trace->handling[handling].begin > at;
        waiting += handling == NONE && x->letter[id][ring] == SLR_DEAD_LETTER_UNDELIVERED && !ends_before(x, ring, at);
    }
    return waiting;
}

// At most how many were accepted and not yet retired: a batch is when the one behind it has begun.
static uint32_t perhaps_waiting(const struct index *x, uint32_t ring, uint32_t from, uint32_t to)
{
    uint32_t waiting = 0;
    for (uint32_t id = 0; id < x->trace->messages; ++id) {
        const struct message_note *note = &x->trace->message[id];
        if (note->parent != NONE || note->ring != ring || note->sent == REFUSED || note->begin > to)
            continue;
        uint32_t handling = x->handling[id][ring], behind = 0;
        for (uint32_t i = handling == NONE ? x->trace->handlings : handling + 1; i < x->trace->handlings; ++i) {
            const struct handling *h = &x->trace->handling[i];
            behind += h->ring == ring && h->begin < from &&
                      shard_of(x->program, h) == shard_of(x->program, &x->trace->handling[handling]);
        }
        waiting += behind < x->program->ring[ring].max_batch;
    }
    return waiting;
}

bool judge_capacity(const struct index *x)
{
    for (uint32_t id = 0; id < x->trace->messages; ++id) {
        const struct message_note *note = &x->trace->message[id];
        if (note->parent != NONE)
            continue;
        const struct ring_plan *plan = &x->program->ring[note->ring];
        if (plan->overflow > SLR_OVERFLOW_REJECT)
            continue;
        if (note->sent == ACCEPTED && surely_waiting(x, note->ring, note->end) > plan->queue_size)
            return wrong("ring %u of queue_size %u had more waiting when message %u was accepted", note->ring,
                         plan->queue_size, id);
        if ((note->status == SLR_FULL || note->status == SLR_TIMEOUT) && !note->called && plan->sort != LOOP &&
            !x->has_routes_in[note->ring] && !x->has_routes_out[note->ring] &&
            perhaps_waiting(x, note->ring, note->begin, note->end) < plan->queue_size)
            return wrong("ring %u of queue_size %u refused message %u and was not full", note->ring, plan->queue_size,
                         id);
    }
    return true;
}

// ---- priorities ----------------------------------------------------------------------------------------------------

// Its thread was left to itself, and its end has nothing to do with the ring kernel any more. One whose handler faults
// in the end is not told from a fault here.
static bool is_abandoned(const struct index *x, const struct handling *h)
{
    return x->letter[h->id][h->ring] == SLR_DEAD_LETTER_FAULTED && !h->faulted;
}

// When the batch of a handling was claimed at the earliest: behind the end of the one that many before it in its shard.
static uint32_t claimed_at(const struct index *x, uint32_t handling)
{
    const struct handling *h = &x->trace->handling[handling];
    uint32_t back = x->program->ring[h->ring].overflow > SLR_OVERFLOW_REJECT ? 1 : x->program->ring[h->ring].max_batch;
    for (uint32_t i = handling; i-- > 0;) {
        const struct handling *before = &x->trace->handling[i];
        if (before->ring == h->ring && shard_of(x->program, before) == shard_of(x->program, h) && --back == 0)
            return is_abandoned(x, before) || before->end > h->begin ? before->begin : before->end;
    }
    return 0;
}

static uint32_t reply_room(const struct ring_plan *plan)
{
    bool drops = plan->overflow > SLR_OVERFLOW_REJECT;
    uint32_t more = plan->queue_size < 256 ? 256 : plan->queue_size, room = 1;
    uint32_t most = drops ? plan->queue_size + more : plan->queue_size;
    while (room < most || room < plan->max_replies)
        room *= 2;
    return room;
}

// Whether a port may have left so many replies unread that there is no room for another message's (delivery.md). Each
// message may have had all the replies that it can have, and what slr_call discarded counts as unread. `from`, `to`:
// between which times that is asked for.
static bool may_be_held_up(const struct index *x, uint32_t ring, uint32_t from, uint32_t to, uint32_t client,
                           uint32_t port)
{
    uint32_t unread = 0, read = 0;
    const struct ring_plan *plan = &x->program->ring[ring];
    for (uint32_t i = 0; i < x->trace->handlings; ++i) {
        const struct handling *h = &x->trace->handling[i];
        const struct message_note *m = &x->trace->message[h->id];
        if (h->ring == ring && h->begin < to && m->client == client && m->port == port)
            unread += plan->max_replies;
    }
    for (uint32_t i = 0; i < x->trace->receipts; ++i) {
        const struct receipt *r = &x->trace->receipt[i];
        if (r->ring == ring && r->time < from && r->client == client && r->port == port && r->id != NONE)
            ++read;
    }
    return (read < unread ? unread - read : 0) + plan->max_replies > reply_room(plan);
}

bool judge_priorities(const struct index *x)
{
    const struct trace *t = x->trace;
    if (t->messages > 60) // then a port may have no room for replies, and be passed over
        return true;
    for (uint32_t low = 0; low < t->handlings; ++low) {
        const struct handling *l = &t->handling[low];
        uint32_t claimed = claimed_at(x, low);
        for (uint32_t high = low + 1; high < t->handlings && x->program->ring[l->ring].sort != LOOP; ++high) {
            const struct handling *h = &t->handling[high];
            const struct message_note *note = &t->message[h->id];
            if (h->ring == l->ring && shard_of(x->program, h) == shard_of(x->program, l) && h->priority > l->priority &&
                note->parent == NONE && note->end < claimed &&
                !may_be_held_up(x, l->ring, claimed, l->begin, note->client, note->port))
                return wrong("ring %u handled message %u of priority %u before message %u of %u, which was there",
                             h->ring, l->id, l->priority, h->id, h->priority);
        }
    }
    return true;
}

// ---- drops ---------------------------------------------------------------------------------------------------------

// One that was dropped while another, which waited to the end, should have gone first.
static bool judge_victim(const struct index *x, uint32_t ring, uint32_t dropped, uint32_t kept)
{
    const struct message_note *d = &x->trace->message[dropped], *k = &x->trace->message[kept];
    bool lowest = x->program->ring[ring].overflow == SLR_OVERFLOW_DROP_LOWEST;
    if (d->parent != NONE || k->parent != NONE || k->end >= d->begin)
        return true; // which of them came first is not known
    if (lowest && k->priority > d->priority)
        return true;
    return wrong("ring %u dropped message %u and kept message %u, which was to go first", ring, dropped, kept);
}

static bool is_drop(slr_dead_letter_reason letter)
{
    return letter == SLR_DEAD_LETTER_DROPPED_OLDEST || letter == SLR_DEAD_LETTER_DROPPED_LOWEST;
}

// When it was activated first; before that its senders drop, at once.
static uint32_t activated_at(const struct index *x, uint32_t ring)
{
    for (uint32_t i = 0; i < x->trace->controls; ++i)
        if (x->trace->control[i].op.ring == ring && wakes(&x->trace->control[i]))
            return x->trace->control[i].begin;
    return NONE;
}

// Of what came before the activation only so many can be left, and which is known but for those sent at once.
static bool judge_kept(const struct index *x, uint32_t ring, uint32_t id)
{
    const struct message_note *m = &x->trace->message[id];
    uint32_t end = activated_at(x, ring), better = 0;
    bool lowest = x->program->ring[ring].overflow == SLR_OVERFLOW_DROP_LOWEST;
    for (uint32_t other = 0; other < x->trace->messages; ++other) {
        const struct message_note *n = &x->trace->message[other];
        if (n->parent != NONE || n->ring != ring || n->sent != ACCEPTED || n->end > end)
            continue;
        bool later = n->begin > m->end;
        better += lowest ? n->priority > m->priority || (n->priority == m->priority && later) : later;
    }
    bool stays = m->end < end && !is_drop(x->letter[id][ring]) && better >= x->program->ring[ring].queue_size;
    return !stays || wrong("ring %u did not drop message %u, and %u that were to stay were there", ring, id, better);
}

static bool judge_drops_of(const struct index *x, uint32_t ring)
{
    const struct ring_plan *plan = &x->program->ring[ring];
    const uint32_t *fates = x->fates[ring];
    uint32_t dropped = fates[SLR_DEAD_LETTER_DROPPED_OLDEST] + fates[SLR_DEAD_LETTER_DROPPED_LOWEST];
    uint32_t undelivered = fates[SLR_DEAD_LETTER_UNDELIVERED], keeps = plan->queue_size;
    if (dropped && undelivered < keeps && dropped + undelivered == x->accepted[ring])
        return wrong("ring %u of queue_size %u dropped %u messages, handled none and kept %u", ring, keeps, dropped,
                     undelivered);
    for (uint32_t id = 0; id < x->trace->messages && shards_of(x->program, ring) == 1; ++id) {
        const struct message_note *note = &x->trace->message[id];
        if (note->parent == NONE && note->ring == ring && note->sent == ACCEPTED && !judge_kept(x, ring, id))
            return false;
    }
    for (uint32_t i = 0; i < x->trace->letters && shards_of(x->program, ring) == 1; ++i)
        for (uint32_t k = 0; k < x->trace->letters; ++k) {
            const struct letter *d = &x->trace->letter[i], *u = &x->trace->letter[k];
            if (d->ring == ring && u->ring == ring && is_drop(d->reason) && u->reason == SLR_DEAD_LETTER_UNDELIVERED &&
                !judge_victim(x, ring, d->id, u->id))
                return false;
        }
    return true;
}

bool judge_drops(const struct index *x)
{
    for (uint32_t ring = 0; ring < x->program->rings; ++ring)
        if (x->program->ring[ring].overflow > SLR_OVERFLOW_REJECT && !judge_drops_of(x, ring))
            return false;
    return true;
}

// ---- progress ------------------------------------------------------------------------------------------------------

static bool may_any_hold_up(const struct index *x, const struct control *c)
{
    for (uint32_t client = 0; x->program->ring[c->op.ring].max_replies != 0 && client < x->program->clients; ++client)
        for (uint32_t port = 0; port <= x->trace->last_port[client]; ++port)
            if (may_be_held_up(x, c->op.ring, c->begin, c->end, client, port))
                return true;
    return false;
}

// What is active, and waits for nobody, has handled what it has when it was given the time.
bool judge_progress(const struct index *x)
{
    for (uint32_t i = 0; i < x->trace->controls && x->trace->messages < 60; ++i) {
        const struct control *c = &x->trace->control[i];
        uint32_t ring = c->op.ring;
        if (c->op.verb == SETTLE && c->before == SLR_RING_ACTIVE && c->after == SLR_RING_ACTIVE &&
            c->stats.pending != 0 && !can_fail(x, ring) && !x->has_routes_in[ring] && !x->has_routes_out[ring] &&
            !may_any_hold_up(x, c))
            return wrong("ring %u is active, and left %u messages lying", ring, (unsigned)c->stats.pending);
    }
    return true;
}

// ---- counts --------------------------------------------------------------------------------------------------------

static bool judge_sum(uint32_t ring, const slr_ring_stats *s)
{
    return s->accepted == s->handled + s->faulted + s->dropped + s->undelivered + s->in_doubt + s->pending ||
           wrong("ring %u: what was accepted is not the sum of what became of it", ring);
}

static bool judge_final(const struct index *x, uint32_t ring, const slr_ring_stats *s)
{
    const uint32_t *fates = x->fates[ring];
    uint32_t dropped = fates[SLR_DEAD_LETTER_DROPPED_OLDEST] + fates[SLR_DEAD_LETTER_DROPPED_LOWEST];
    if (s->accepted != x->accepted[ring] || s->handled != fates[0] || s->faulted != fates[SLR_DEAD_LETTER_FAULTED] ||
        s->dropped != dropped || s->undelivered != fates[SLR_DEAD_LETTER_UNDELIVERED] || s->pending != 0)
        return wrong("ring %u counts %u accepted, %u handled, %u faulted, %u dropped, %u undelivered, %u pending; "
                     "seen were %u, %u, %u, %u, %u, 0",
                     ring, (unsigned)s->accepted, (unsigned)s->handled, (unsigned)s->faulted, (unsigned)s->dropped,
                     (unsigned)s->undelivered, (unsigned)s->pending, x->accepted[ring], fates[0],
                     fates[SLR_DEAD_LETTER_FAULTED], dropped, fates[SLR_DEAD_LETTER_UNDELIVERED]);
    if (s->state != SLR_RING_TERMINATED || s->dead_letters_lost != 0)
        return wrong("ring %u is not terminated behind terminate, or lost dead letters", ring);
    return true;
}

static bool judge_failures(const struct index *x, uint32_t ring, const slr_ring_stats *s)
{
    uint32_t restarts = x->trace->supervised_restarts[ring];
    for (uint32_t i = 0; i < x->trace->controls; ++i) {
        const struct control *c = &x->trace->control[i];
        restarts +=
            c->op.ring == ring && c->status == SLR_OK && (c->op.verb == RESTART || c->op.verb == RESTART_CHECKPOINT);
    }
    if (s->restarts != restarts || s->failures < restarts)
        return wrong("ring %u counts %u restarts and %u failures; %u restarts were seen", ring, (unsigned)s->restarts,
                     (unsigned)s->failures, restarts);
    if (s->failures != 0 && !can_fail(x, ring))
        return wrong("ring %u failed, and nothing can fail it: %s", ring, s->last_failure);
    return true;
}

// Each reply that went along a route is one message there.
static bool judge_routed(const struct index *x, uint32_t ring, const slr_ring_stats *s)
{
    uint32_t arrived = 0;
    for (uint32_t id = 0; id < x->trace->messages; ++id) {
        const struct message_note *note = &x->trace->message[id];
        for (uint32_t to = 0; note->parent != NONE && note->ring == ring && to < x->program->rings; ++to)
            arrived += x->handling[id][to] != NONE || x->letter[id][to] != 0;
    }
    uint32_t least = 0, most = 0;
    for (uint32_t id = 0; id < x->trace->messages; ++id) {
        const struct message_note *note = &x->trace->message[id];
        if (note->parent == NONE || note->ring != ring || !is_handled(x, note->parent, ring))
            continue;
        uint32_t begin = x->trace->handling[x->handling[note->parent][ring]].begin;
        for (uint32_t to = 0; to < x->program->rings; ++to) {
            enum may may = has_route(x, ring, to, begin);
            least += may == YES;
            most += may != NO;
        }
    }
    uint64_t sum = s->routed + s->unrouted;
    if (s->routed != arrived)
        return wrong("ring %u says %u replies were routed; %u arrived", ring, (unsigned)s->routed, arrived);
    return (sum >= least && sum <= most) || wrong("ring %u has %u routed and %u unrouted replies; %u to %u were made",
                                                  ring, (unsigned)s->routed, (unsigned)s->unrouted, least, most);
}

bool judge_counts(const struct index *x)
{
    for (uint32_t i = 0; i < x->trace->controls; ++i) {
        const struct control *c = &x->trace->control[i];
        bool final = is_end(c) && c->status == SLR_OK;
        if ((final || c->op.verb == SETTLE) && c->status == SLR_OK && !judge_sum(c->op.ring, &c->stats))
            return false;
        if (final && (!judge_final(x, c->op.ring, &c->stats) || !judge_failures(x, c->op.ring, &c->stats) ||
                      !judge_routed(x, c->op.ring, &c->stats)))
            return false;
    }
    return true;
}
