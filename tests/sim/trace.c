// SPDX-License-Identifier: Apache-2.0
// A trace for people, in the order of its events.
#include "trace.h"

static void print_message(const struct message_note *m, uint32_t id, FILE *to)
{
    static const char *const acceptances[] = {"refused", "accepted", "perhaps accepted"};
    if (m->parent != NONE)
        fprintf(to, "  %4u       ring %u replies %u to message %u\n", m->begin, m->ring, id, m->parent);
    else
        fprintf(to, "  %4u-%-4u  client %u sends message %u to ring %u instance %u priority %u: %s, %s\n", m->begin,
                m->end, m->client, id, m->ring, m->instance, m->priority, acceptances[m->sent],
                slr_status_name(m->status));
}

static void print_handling(const struct handling *h, FILE *to)
{
    fprintf(to, "  %4u-%-4d  ring %u instance %u handles message %u, state %u/%#x, %llu ns%s\n", h->begin, (int)h->end,
            h->ring, h->instance, h->id, h->before.count, h->before.hash,
            (unsigned long long)(h->ended_ns - h->begun_ns), h->faulted ? ", faults" : "");
}

static void print_receipt(const struct receipt *r, FILE *to)
{
    fprintf(to, "  %4u       client %u receives %s of ring %d", r->time, r->client, slr_status_name(r->status),
            (int)r->ring);
    fprintf(to, r->status == SLR_OK ? ", reply %u\n" : "\n", r->id);
}

static void print_control(const struct control *c, FILE *to)
{
    fprintf(to, "  %4u-%-4d  %s ring %u", c->begin, (int)c->end, verb_name[c->op.verb], c->op.ring);
    if (c->op.verb == ROUTE || c->op.verb == UNROUTE)
        fprintf(to, " -> ring %u", c->op.to);
    fprintf(to, ": %s, from %s to %s\n", slr_status_name(c->status), slr_ring_state_name(c->before),
            slr_ring_state_name(c->after));
}

void trace_print(const struct trace *t, FILE *to)
{
    uint32_t m = 0, h = 0, r = 0, c = 0;
    for (uint32_t time = 0; time < t->time; ++time) {
        for (; m < t->messages && t->message[m].begin == time; ++m)
            print_message(&t->message[m], m, to);
        for (; h < t->handlings && t->handling[h].begin == time; ++h)
            print_handling(&t->handling[h], to);
        for (; r < t->receipts && t->receipt[r].time == time; ++r)
            print_receipt(&t->receipt[r], to);
        for (; c < t->controls && t->control[c].begin == time; ++c)
            print_control(&t->control[c], to);
    }
    for (uint32_t i = 0; i < t->letters; ++i)
        fprintf(to, "  dead letter of ring %u: message %u, %s\n", t->letter[i].ring, t->letter[i].id,
                slr_dead_letter_reason_name(t->letter[i].reason));
    for (uint32_t i = 0; i < MOST_RINGS; ++i)
        if (t->supervised_restarts[i])
            fprintf(to, "  ring %u was restarted %u times by its supervisor\n", i, t->supervised_restarts[i]);
}
