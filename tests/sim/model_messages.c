// SPDX-License-Identifier: Apache-2.0
// What becomes of messages: each ends once and in one way, in order, and is answered as docs/contract/delivery.md says.
#include "model.h"

// ---- fates ---------------------------------------------------------------------------------------------------------

static bool index_handlings(struct index *x)
{
    for (uint32_t i = 0; i < x->trace->handlings; ++i) {
        const struct handling *h = &x->trace->handling[i];
        if (x->handling[h->id][h->ring] != NONE)
            return wrong("message %u was handled twice by ring %u", h->id, h->ring);
        x->handling[h->id][h->ring] = i;
        const struct message_note *note = &x->trace->message[h->id];
        if (note->parent == NONE && (note->ring != h->ring || note->instance != h->instance))
            return wrong("message %u was sent to ring %u instance %u and handled by ring %u instance %u", h->id,
                         note->ring, note->instance, h->ring, h->instance);
        if (note->priority != h->priority || (note->correlation && note->correlation != h->correlation))
            return wrong("message %u reached its handler with another priority or correlation", h->id);
    }
    return true;
}

static bool index_letters(struct index *x)
{
    for (uint32_t i = 0; i < x->trace->letters; ++i) {
        const struct letter *l = &x->trace->letter[i];
        if (l->id >= x->trace->messages)
            return wrong("a dead letter of ring %u has bytes that nobody sent", l->ring);
        if (x->letter[l->id][l->ring] != 0)
            return wrong("message %u has two dead letters of ring %u", l->id, l->ring);
        x->letter[l->id][l->ring] = l->reason;
    }
    uint32_t count[MOST_RINGS] = {0};
    for (uint32_t i = 0; i < x->trace->undelivered_count; ++i) {
        const struct letter *l = &x->trace->undelivered[i];
        ++count[l->ring];
        if (l->id >= x->trace->messages || x->letter[l->id][l->ring] != SLR_DEAD_LETTER_UNDELIVERED)
            return wrong("message %u was handed back by ring %u, and has no such dead letter", l->id, l->ring);
    }
    for (uint32_t i = 0; i < x->trace->letters; ++i)
        count[x->trace->letter[i].ring] -= x->trace->letter[i].reason == SLR_DEAD_LETTER_UNDELIVERED;
    for (uint32_t ring = 0; ring < MOST_RINGS; ++ring)
        if (count[ring] != 0)
            return wrong("ring %u handed back another number of messages than it has dead letters of", ring);
    return true;
}

// Whether a message may have come to a ring kernel at all, and whether it must have.
static enum may belongs(const struct index *x, uint32_t id, uint32_t ring)
{
    const struct message_note *note = &x->trace->message[id];
    if (note->parent == NONE)
        return note->ring != ring || note->sent == REFUSED ? NO : note->sent == ACCEPTED ? YES : PERHAPS;
    uint32_t parent = x->handling[note->parent][note->ring];
    if (!is_handled(x, note->parent, note->ring))
        return NO;
    return has_route(x, note->ring, ring, x->trace->handling[parent].begin) == NO ? NO : PERHAPS;
}

// Whether the end that it had is one that it could have.
static bool fits(const struct index *x, uint32_t id, uint32_t ring)
{
    const struct ring_plan *plan = &x->program->ring[ring];
    slr_dead_letter_reason letter = x->letter[id][ring];
    if (x->handling[id][ring] == NONE) {
        bool dropped = (letter == SLR_DEAD_LETTER_DROPPED_OLDEST && plan->overflow == SLR_OVERFLOW_DROP_OLDEST) ||
                       (letter == SLR_DEAD_LETTER_DROPPED_LOWEST && plan->overflow == SLR_OVERFLOW_DROP_LOWEST);
        return dropped || letter == SLR_DEAD_LETTER_UNDELIVERED ||
               wrong("message %u was not handled by ring %u, and its dead letter says '%s'", id, ring,
                     slr_dead_letter_reason_name(letter));
    }
    const struct handling *h = &x->trace->handling[x->handling[id][ring]];
    uint64_t took = h->end == NONE ? UINT64_MAX : h->ended_ns - h->begun_ns;
    bool may_be_abandoned = plan->watched && took >= HANDLER_TIMEOUT_NS;
    bool must_be_abandoned = plan->watched && took >= OVERRUN_NS;
    if (letter == SLR_DEAD_LETTER_FAULTED)
        return h->faulted || may_be_abandoned || wrong("message %u did not fault, ring %u says it did", id, ring);
    if (letter == SLR_DEAD_LETTER_UNDELIVERED)
        return plan->sort == LOOP || wrong("message %u was handled by ring %u and handed back", id, ring);
    if (letter != 0)
        return wrong("message %u was handled by ring %u and dropped", id, ring);
    if (h->faulted || h->end == NONE)
        return wrong("message %u faulted, or is not done with, ring %u says it was handled", id, ring);
    return !must_be_abandoned || wrong("message %u overran in ring %u and was not abandoned", id, ring);
}

bool judge_fates(struct index *x)
{
    if (!index_handlings(x) || !index_letters(x))
        return false;
    for (uint32_t id = 0; id < x->trace->messages; ++id)
        for (uint32_t ring = 0; ring < x->program->rings; ++ring) {
            bool came = x->handling[id][ring] != NONE || x->letter[id][ring] != 0;
            enum may may = belongs(x, id, ring);
            if (came && may == NO)
                return wrong("message %u came to ring %u, which never accepted it", id, ring);
            if (!came && may == YES)
                return wrong("message %u was accepted by ring %u and is lost", id, ring);
            if (came && !fits(x, id, ring))
                return false;
            x->accepted[ring] += came;
            x->fates[ring][came ? x->letter[id][ring] : 7] += 1;
        }
    return true;
}

// ---- order ---------------------------------------------------------------------------------------------------------

// Whether the route may have been taken away between the handlings of two messages: one that is made anew is another
// sender.
static bool is_remade(const struct index *x, uint32_t from, uint32_t to, uint32_t first, uint32_t second)
{
    const struct handling *h = x->trace->handling;
    uint32_t since = h[x->handling[first][from]].begin, until = h[x->handling[second][from]].end;
    for (uint32_t i = 0; i < x->trace->controls; ++i) {
        const struct control *c = &x->trace->control[i];
        if (c->op.verb == UNROUTE && c->op.ring == from && c->op.to == to && c->status == SLR_OK && c->begin < until &&
            c->end > since)
            return true;
    }
    return false;
}

// Two messages to one ring kernel whose order counts: of one sender, to one instance, with one priority. A route is a
// sender for each shard of its source.
static bool are_ordered(const struct index *x, uint32_t ring, uint32_t a, uint32_t b)
{
    const struct message_note *m = &x->trace->message[a], *n = &x->trace->message[b];
    if (m->priority != n->priority || (m->parent == NONE) != (n->parent == NONE))
        return false;
    if (m->parent == NONE)
        return m->client == n->client && m->port == n->port && m->instance == n->instance;
    uint32_t shards = shards_of(x->program, m->ring), instances = x->program->ring[ring].instances;
    return m->ring == n->ring && m->instance % shards == n->instance % shards &&
           (instances == 1 || m->instance == n->instance) && !is_remade(x, m->ring, ring, m->parent, n->parent);
}

// Numbers of messages rise as they are sent, and as a shard replies them.
bool judge_order(const struct index *x)
{
    const struct trace *t = x->trace;
    for (uint32_t i = 0; i < t->handlings; ++i)
        for (uint32_t k = 0; k < i; ++k) {
            const struct handling *late = &t->handling[i], *early = &t->handling[k];
            if (late->ring == early->ring && late->id < early->id && are_ordered(x, late->ring, late->id, early->id))
                return wrong("ring %u handled message %u before message %u, which was sent first", late->ring,
                             early->id, late->id);
        }
    for (uint32_t i = 0; i < t->letters; ++i)
        for (uint32_t k = 0; k < t->handlings; ++k) {
            const struct letter *l = &t->letter[i];
            const struct handling *h = &t->handling[k];
            if (l->reason == SLR_DEAD_LETTER_UNDELIVERED && l->ring == h->ring && h->id > l->id &&
                x->program->ring[l->ring].sort != LOOP && are_ordered(x, l->ring, l->id, h->id))
                return wrong("ring %u handled message %u and handed back message %u, which was sent first", l->ring,
                             h->id, l->id);
        }
    return true;
}

// ---- replies -------------------------------------------------------------------------------------------------------

static uint32_t times_received(const struct index *x, uint32_t id, uint32_t *first)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->trace->receipts; ++i)
        if (x->trace->receipt[i].status == SLR_OK && x->trace->receipt[i].id == id && count++ == 0)
            *first = i;
    return count;
}

static bool is_last_port(const struct index *x, uint32_t client, uint32_t port)
{
    return x->trace->last_port[client] == port;
}

static bool judge_receipt(const struct index *x, uint32_t id, const struct receipt *r)
{
    const struct message_note *note = &x->trace->message[id], *asked = &x->trace->message[note->parent];
    if (r->ring != note->ring || r->client != asked->client || r->port != asked->port || r->called != asked->called)
        return wrong("reply %u of ring %u to message %u came to another's port, or from elsewhere", id, note->ring,
                     note->parent);
    uint32_t correlation = x->trace->handling[x->handling[note->parent][note->ring]].correlation;
    if (!r->called && (r->correlation != correlation || r->instance != note->instance || r->priority != note->priority))
        return wrong("reply %u of ring %u: correlation, instance or priority are not its message's", id, note->ring);
    return true;
}

static bool judge_reply(const struct index *x, uint32_t id)
{
    const struct message_note *note = &x->trace->message[id];
    const struct message_note *asked = &x->trace->message[note->parent];
    uint32_t at = 0, times = times_received(x, id, &at);
    bool handled = is_handled(x, note->parent, note->ring);
    enum may away =
        handled ? has_any_route(x, note->ring, x->trace->handling[x->handling[note->parent][note->ring]].begin) : NO;
    if (times > 1)
        return wrong("reply %u of ring %u was received twice", id, note->ring);
    if (times == 1 && (!handled || asked->parent != NONE || away == YES))
        return wrong("reply %u of ring %u was received: its message had faulted, or came or went along a route", id,
                     note->ring);
    if (times == 1)
        return judge_receipt(x, id, &x->trace->receipt[at]);
    bool must =
        handled && asked->parent == NONE && away == NO && !asked->called && is_last_port(x, asked->client, asked->port);
    return !must || wrong("reply %u of ring %u to message %u never came", id, note->ring, note->parent);
}

static bool judge_reply_order(const struct index *x)
{
    const struct trace *t = x->trace;
    for (uint32_t i = 0; i < t->receipts; ++i)
        for (uint32_t k = 0; k < i; ++k) {
            const struct receipt *late = &t->receipt[i], *early = &t->receipt[k];
            if (late->status != SLR_OK || early->status != SLR_OK || late->called || early->called ||
                late->ring != early->ring || late->client != early->client || late->port != early->port ||
                late->id > early->id || x->program->ring[late->ring].sort == LOOP)
                continue;
            uint32_t shards = shards_of(x->program, late->ring);
            if (late->instance % shards == early->instance % shards)
                return wrong("client %u received reply %u of ring %u behind reply %u, which was made later",
                             late->client, late->id, late->ring, early->id);
        }
    return true;
}

struct notices { // of one port and ring kernel
    uint32_t faulted, dropped, ended, failed, last_reply, end_at;
};

static struct notices count_notices(const struct index *x, uint32_t client, uint32_t port, uint32_t ring)
{
    struct notices n = {0};
    for (uint32_t i = 0; i < x->trace->receipts; ++i) {
        const struct receipt *r = &x->trace->receipt[i];
        if (r->client != client || r->port != port || r->ring != ring)
            continue;
        n.faulted += r->status == SLR_HANDLER_FAULT;
        n.dropped += r->status == SLR_DROPPED;
        n.failed += r->status == SLR_RING_FAILED;
        n.ended += r->status == SLR_END;
        if (r->status == SLR_END)
            n.end_at = r->time;
        else if (!r->called && r->status != SLR_RING_FAILED)
            n.last_reply = r->time;
    }
    return n;
}

// What the sender was owed, of messages that are told of by receipts: those of calls that gave up are not.
static bool judge_notices(const struct index *x, uint32_t client, uint32_t port, uint32_t ring)
{
    struct notices got = count_notices(x, client, port, ring);
    uint32_t faulted = 0, dropped = 0, sent = 0;
    for (uint32_t id = 0; id < x->trace->messages; ++id) {
        const struct message_note *note = &x->trace->message[id];
        if (note->parent != NONE || note->client != client || note->port != port || note->ring != ring)
            continue;
        slr_dead_letter_reason letter = x->letter[id][ring];
        bool told = !note->called || note->status == SLR_HANDLER_FAULT || note->status == SLR_DROPPED;
        faulted += told && letter == SLR_DEAD_LETTER_FAULTED;
        dropped += told && (letter == SLR_DEAD_LETTER_DROPPED_OLDEST || letter == SLR_DEAD_LETTER_DROPPED_LOWEST);
        sent += note->sent == ACCEPTED;
    }
    bool last = is_last_port(x, client, port), replies = x->program->ring[ring].max_replies != 0;
    bool exact = last && replies && !x->has_routes_out[ring];
    if (got.faulted > faulted || (exact && got.faulted != faulted))
        return wrong("client %u was told of %u faults of ring %u; there were %u", client, got.faulted, ring, faulted);
    if (got.dropped > dropped || (exact && sent < 30 && got.dropped != dropped))
        return wrong("client %u was told of %u drops of ring %u; there were %u", client, got.dropped, ring, dropped);
    if (got.ended > 1 || (last && sent != 0 && got.ended == 0))
        return wrong("client %u received END of ring %u %u times", client, ring, got.ended);
    if (got.ended && got.last_reply > got.end_at)
        return wrong("client %u received a reply of ring %u behind its END", client, ring);
    return true;
}

bool judge_replies(const struct index *x)
{
    for (uint32_t id = 0; id < x->trace->messages; ++id)
        if (x->trace->message[id].parent != NONE && !judge_reply(x, id))
            return false;
    for (uint32_t client = 0; client < x->program->clients; ++client)
        for (uint32_t port = 0; port <= x->trace->last_port[client]; ++port)
            for (uint32_t ring = 0; ring < x->program->rings; ++ring)
                if (!judge_notices(x, client, port, ring))
                    return false;
    return judge_reply_order(x);
}
