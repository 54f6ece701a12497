// SPDX-License-Identifier: Apache-2.0
// Who sends and receives: clients, the collector and the publisher.
#include "tests/stress/api_stress.h"

static void note_reply(const slr_reply *reply, const struct job *job, bool collects)
{
    if (reply->status != SLR_OK)
        return;
    if (job->number >= NUMBERS || job->ring >= RINGS || reply->bytes != sizeof *job)
        stop("a reply has number %u, ring kernel %u and %u bytes, which nobody wrote", job->number, job->ring,
             reply->bytes);
    bool own = !collects || job->number / OF_ONE == COLLECTOR;
    // What the collector sends `first` itself comes as both, if routes say so; they are told apart by count alone.
    __atomic_fetch_add(own ? &replied[job->number] : &collected[job->number], 1, __ATOMIC_RELAXED);
    count(own ? &totals.replied : &totals.collected, 1);
}

static bool receive_some(struct thread *t, slr_port *port, uint64_t timeout_ns)
{
    slr_reply reply[16];
    struct job job[16];
    uint32_t n = 0;
    doing(t, "slr_receive_many");
    slr_status status =
        expect(slr_receive_many(port, reply, job, sizeof job[0], 16, timeout_ns, &n),
               ONE(SLR_OK) | ONE(SLR_TIMEOUT) | ONE(SLR_END) | ONE(SLR_RING_FAILED), "slr_receive_many");
    for (uint32_t i = 0; i < n && status == SLR_OK; ++i)
        note_reply(&reply[i], &job[i], t->number == COLLECTOR);
    return status == SLR_OK || status == SLR_RING_FAILED;
}

void note_sent(const struct job *job, uint32_t n, uint32_t accepted)
{
    for (uint32_t i = 0; i < n; ++i)
        fate[job[i].number] = i < accepted ? ACCEPTED : UNSENT;
    count(&totals.sent, accepted);
    count(&totals.refused, n - accepted);
}

bool send_some(struct thread *t, slr_port *port, uint32_t target)
{
    struct job job[16];
    uint32_t n = 1 + pick(t, 16), accepted = 0;
    uint64_t timeout_ns = pick(t, 3) * MS / 2;
    slr_address to = addresses[target];
    if (!has_numbers(t, n))
        return false;
    for (uint32_t i = 0; i < n; ++i)
        job[i] = make_job(t, target);
    if (target == KEYED) {
        slr_key keys[16];
        for (uint32_t i = 0; i < n; ++i)
            keys[i] = slr_key_u64(pick(t, KEYS));
        doing(t, "slr_send_many_keys");
        expect(slr_send_many_keys(port, to, keys, job, sizeof *job, n, timeout_ns, &accepted), ONE(SLR_OK) | REFUSALS,
               "slr_send_many_keys");
    } else {
        to.instance = pick(t, instances[target]);
        doing(t, "slr_send_many");
        expect(slr_send_many(port, to, NULL, job, sizeof *job, n, timeout_ns, &accepted), ONE(SLR_OK) | REFUSALS,
               "slr_send_many");
    }
    note_sent(job, n, accepted);
    return accepted == n;
}

static void call_once(struct thread *t, slr_port *port, uint32_t target)
{
    if (!has_numbers(t, 1))
        return;
    struct job job = make_job(t, target), got = {0};
    slr_address to = addresses[target];
    uint64_t timeout_ns = 1 + pick(t, 4) * MS;
    doing(t, "slr_call");
    slr_status status =
        expect(target == KEYED && port
                   ? slr_call_key(port, to, slr_key_u64(pick(t, KEYS)), &job, sizeof job, &got, sizeof got, timeout_ns)
                   : slr_call(port, to, &job, sizeof job, &got, sizeof got, timeout_ns),
               ONE(SLR_OK) | REFUSALS | ONE(SLR_HANDLER_FAULT) | ONE(SLR_DROPPED), "slr_call");
    bool known = status == SLR_OK || status == SLR_HANDLER_FAULT || status == SLR_DROPPED;
    fate[job.number] = known ? ACCEPTED : status == SLR_FULL ? UNSENT : PERHAPS;
    reply_may_go[job.number] = !known;
    count(&totals.sent, known);
    count(&totals.calls, known);
    count(&totals.refused, !known);
    if (status != SLR_OK)
        return;
    if (got.number != job.number || got.ring != target || got.value != job.value)
        stop("%s called %s with number %u and got the reply of %s to number %u", thread_names[t->number],
             ring_names[target], job.number, got.ring < RINGS ? ring_names[got.ring] : "nobody", got.number);
    __atomic_fetch_add(&replied[job.number], 1, __ATOMIC_RELAXED);
    count(&totals.replied, 1);
}

static uint32_t choose(struct thread *t)
{
    static const uint32_t targets[] = {FIRST, FIRST, FIRST, SECOND_STAGE, ALONE, ALONE, TOPICAL, KEYED};
    uint32_t target = targets[pick(t, 8)];
    return target == KEYED && !keyed ? ALONE : target;
}

static void use(struct thread *t, slr_port *port)
{
    uint32_t what = pick(t, 10);
    if (what < 3)
        receive_some(t, port, pick(t, 200) * 1000);
    else if (what < 6)
        (void)send_some(t, port, choose(t));
    else {
        uint32_t target = choose(t);
        call_once(t, what < 9 || target == KEYED ? port : NULL, target);
    }
}

// Replies that have not come when their port is closed never come.
void close_port(struct thread *t, slr_port *port, uint32_t from)
{
    for (uint32_t k = t->number * OF_ONE + from; k < t->number * OF_ONE + t->sent; ++k)
        if (!__atomic_load_n(&replied[k], __ATOMIC_RELAXED))
            reply_may_go[k] = 1;
    doing(t, "slr_port_close");
    slr_port_close(port);
    count(&totals.ports, 1);
}

static void drain(struct thread *t, slr_port *port)
{
    __atomic_fetch_sub(&senders, 1, __ATOMIC_RELEASE); // what it has sent, and the publisher's topic
    while (!__atomic_load_n(&quiet, __ATOMIC_ACQUIRE))
        if (!receive_some(t, port, MS))
            slri_sleep_ns(MS / 10); // END comes at once
    while (receive_some(t, port, 0))
        ;
    doing(t, "slr_port_close");
    slr_port_close(port);
    doing(t, NULL);
}

void be_client(void *arg)
{
    struct thread *t = arg;
    slr_port *port = NULL;
    uint32_t from = 0;
    while (!slri_passed(round_ends_ns)) {
        if (!port)
            must(slr_port_open(device, &port)), from = t->sent;
        use(t, port);
        if (pick(t, 300) == 0) {
            close_port(t, port, from);
            port = NULL;
        }
    }
    if (!port)
        must(slr_port_open(device, &port));
    drain(t, port);
}

// It reads seldom: so replies to others' calls lie there when it calls.
void be_collector(void *arg)
{
    struct thread *t = arg;
    slr_port *port;
    bool collects = false;
    must(slr_port_open(device, &port));
    while (!slri_passed(round_ends_ns)) {
        if (!collects && pick(t, 4) == 0) {
            slr_route_desc desc = SLR_ROUTE_DESC_INIT;
            desc.reply_too = pick(t, 2);
            doing(t, "slr_route_to_port");
            collects =
                expect(slr_route_to_port(rings[FIRST], port, &desc), WRONG_STATE_TOO, "slr_route_to_port") == SLR_OK;
        }
        if (pick(t, 6) == 0)
            receive_some(t, port, 0);
        else
            call_once(t, port, pick(t, 2) ? ALONE : FIRST);
    }
    drain(t, port);
}

void be_publisher(void *arg)
{
    struct thread *t = arg;
    slr_port *port;
    must(slr_port_open(device, &port));
    while (!slri_passed(round_ends_ns)) {
        if (has_numbers(t, 1)) {
            struct job job = make_job(t, TOPICAL);
            uint32_t accepted = 0;
            doing(t, "slr_publish");
            expect(slr_publish(port, topic, &job, sizeof job, MS, &accepted), ONE(SLR_OK) | REFUSALS, "slr_publish");
            fate[job.number] = accepted > 0 ? ACCEPTED : UNSENT;
            copies[job.number] = (uint8_t)accepted;
            count(&totals.published, accepted);
        }
        receive_some(t, port, pick(t, 4) * MS / 4);
    }
    drain(t, port);
}
