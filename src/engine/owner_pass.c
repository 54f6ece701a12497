// SPDX-License-Identifier: Apache-2.0
// One pass over one shard: take a batch, call the handler for each message, publish. No lock, no system call.
#include "engine/owner.h"

#include "abi/held.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"
#include "base/tick.h"
#include "engine/observe.h"
#include "engine/relaunch.h"

#include <string.h>

// With thousands of instances the next message's state is not in the cache: fetched while this one is handled.
static void prefetch_next(const struct slri_shard *shard, uint32_t k, uint32_t batch)
{
    if (k + 1 < batch && shard->states)
        slri_fetch_to_write(slri_shard_state(shard, shard->shared[shard->own[MBP_BATCH(k + 1) + 1] + MB_INSTANCE]));
}

// Behind a full batch more of them wait, most likely: their slots, two batches on, are fetched while this one is
// handled. Not sooner and not behind a part of a batch: a slot that is being filled would be taken away from its
// sender.
static inline void fetch_ahead(const uint32_t *S, uint32_t slot)
{
    uint32_t words = S[MB_SLOT_WORDS];
    const uint32_t *ahead = &S[slot + 2 * MB_BATCH * words];
    slri_fetch_to_read(ahead);
    slri_fetch_to_read(ahead + words - 1);
}

// Whether senders receive nothing, because routes take the replies.
static bool is_silent(const struct slri_shard *shard)
{
    return shard->own[MBP_SILENT] != 0;
}

// Message k of the batch has faulted: it is done with, its replies are dropped, its instance begins anew, and its
// sender is told, where replies go to senders at all.
__attribute__((noinline)) static void settle_fault(struct slri_shard *shard, uint32_t k, const struct slri_call *call,
                                                   uint32_t fault)
{
    slri_shard_note_fault(shard, fault, call);
    slri_shard_reset(shard, call->state);
    mb_handled(shard->shared, shard->own, k, call->max_replies && !is_silent(shard) ? 1 : 0, MB_FLAG_FAULT);
}

// What came of message k is published before the next handler runs, which may never return; its credit waits for the
// rest of the batch. With routes its replies wait, too: the batch's are given out together (relay.c).
__attribute__((noinline)) static void show(struct slri_shard *shard, uint32_t k)
{
    uint32_t *S = shard->shared, *P = shard->own;
    uint32_t port = P[MBP_BATCH(k)], owner = P[MBP_OWNER];
    if (P[MBP_TIMED] & MB_FLAG_TIMED)
        slri_shard_note_latency(shard, port, P[MBP_BATCH(k) + 1], P[MBP_BATCH(k) + 2], slri_now_ns());
    P[MBP_TIMED] = 0;
    if (P[mb_port(P, port) + MBQ_RESERVED] != 0)
        mb_publish_replies(S, P, port);
    MB_STORE(owner + MB_REPLIED, P[MBP_REPLIED]); // the three as in mb_finish, which stores the same again
    MB_PUBLISH(owner + MB_HANDLED, P[MBP_HANDLED]);
    MB_PUBLISH(owner + MB_FAULTED, P[MBP_FAULTED]);
    shard->calls.shown(shard, port);
}

// Message k of the batch has been handled, or has faulted.
static inline void settle(struct slri_shard *shard, uint32_t k, const struct slri_call *call, uint32_t fault)
{
    if (fault != SLRI_FAULT_NONE) {
        settle_fault(shard, k, call, fault);
    } else {
        // First, so that what goes to a port behind it lies behind the replies to the sender, who may have that port.
        mb_handled(shard->shared, shard->own, k, is_silent(shard) ? 0 : call->replies, 0);
        if (shard->route.outlets && (call->replies != 0 || call->out))
            shard->relay->pass_on(shard, call, k);
    }
    if (!shard->followed)
        return;
    if (shard->calls.settled)
        shard->calls.settled(shard, k, call, fault);
    if (shard->done)
        slri_shard_done(shard, call->instance);
    if (shard->calls.shown && !shard->route.outlets)
        show(shard, k);
}

// Whether a command says that no further handler begins. The next pass obeys it; the rest of the batch waits for the
// end of the pause, or is handed back. Relaxed: nothing is read by it, and the pass acquires the word. It shares its
// line with what is hardly ever written (mailbox_layout.h).
static inline bool is_halted(const uint32_t *S, const uint32_t *P)
{
    const uint32_t control = MB_LOAD(MB_CONTROL);
    return __builtin_expect(control + 1 != P[MBP_CONTROL], 0) &&
           ((control & 3) == MB_PAUSE || (control & 3) == MB_STOP);
}

// Handles the batch, or what comes of it up to a command to stop, or to a fault that the ring kernel's policy is to
// judge; gives how many messages that was.
__attribute__((flatten)) static uint32_t handle(struct slri_shard *shard, uint32_t batch, uint32_t *faults)
{
    uint32_t *S = shard->shared, *P = shard->own;
    struct slri_call call = {.bound = shard->bound,
                             .reply_mask = S[MB_REPLY_MASK],
                             .reply_stride = S[MB_REPLY_SLOT_WORDS] * 4,
                             .reply_bytes = shard->reply_bytes,
                             .max_replies = S[MB_MAX_REPLIES],
                             .prints = shard->prints};
    for (uint32_t k = 0; k < batch; ++k) {
        uint32_t port = P[MBP_BATCH(k)], at = P[MBP_BATCH(k) + 1];
        prefetch_next(shard, k, batch);
        if (batch >= MB_BATCH)
            fetch_ahead(S, at);
        call.message = &S[at + MB_PAYLOAD];
        call.instance = S[at + MB_INSTANCE];
        call.state = slri_shard_state(shard, call.instance);
        if (call.max_replies != 0) {
            uint32_t lane = mb_reply_lane_of(S, P, port);
            call.reply_base = (unsigned char *)&S[mb_reply_slot(S, lane, 0) + MB_PAYLOAD];
            call.reply_at = P[P[MBP_BATCH(k) + 3] + MBQ_REPLIES];
        }
        call.replies = 0;
        call.fuel = shard->fuel;
        if (shard->route.outlets)
            shard->relay->aim(shard, &call);
        uint32_t fault = shard->handler(shard->handler_self, &call);
        settle(shard, k, &call, fault);
        if (fault != SLRI_FAULT_NONE && shard->calls.faulted) {
            *faults = 1;
            return k + 1;
        }
        if (is_halted(S, P))
            return k + 1;
    }
    return batch;
}

// The same in one call. The replies to a message lie aside until it is settled: how many come before them is not known
// while the handler may still reply to any.
static uint32_t handle_together(struct slri_shard *shard, uint32_t batch, uint32_t *faults)
{
    uint32_t *S = shard->shared, *P = shard->own;
    struct slri_call *call = shard->call;
    for (uint32_t k = 0; k < batch; ++k) {
        uint32_t at = P[MBP_BATCH(k) + 1];
        call[k].message = &S[at + MB_PAYLOAD];
        call[k].instance = S[at + MB_INSTANCE];
        call[k].state = slri_shard_state(shard, call[k].instance);
        call[k].replies = 0;
    }
    const uint32_t done = shard->batch_handler(shard->handler_self, call, batch);
    for (uint32_t k = 0; k < done; ++k) {
        const uint32_t fault = call[k].fault;
        for (uint32_t n = 0; n < call[k].replies && fault == SLRI_FAULT_NONE && !is_silent(shard); ++n)
            mb_copy_reply(S, P, P[MBP_BATCH(k)], n,
                          (const uint32_t *)call[k].reply_base + n * (call[k].reply_stride / 4),
                          call[k].reply_stride / 4);
        *faults += fault != SLRI_FAULT_NONE && shard->calls.faulted;
        settle(shard, k, &call[k], fault);
    }
    return done;
}

// How many messages wait, as mb_shown: of each sender not a batch of MB_BATCH alone.
static uint32_t count_waiting(const struct slri_shard *shard)
{
    const uint32_t *S = shard->shared, *P = shard->own;
    const uint32_t most = shard->max_batch;
    uint32_t n = P[MBP_WAITING];
    if (most <= MB_BATCH)
        return mb_shown(S, P, most);
    for (uint32_t port = mb_next_port(S, P, 0); port < MB_MAX_PORTS && n < most; port = mb_next_port(S, P, port + 1)) {
        uint32_t lane = mb_lane_of(S, P, port), position = P[mb_port(P, port) + MBQ_NEXT_IN], run;
        do {
            run = mb_full_run(S, lane, position);
            position += run;
            n += run;
        } while (run == MB_BATCH && n < most);
    }
    return n;
}

// Takes more while there is more of the same priority: one look takes MB_BATCH of a sender. Gives how many it are now.
__attribute__((noinline)) static uint32_t take_more(const struct slri_shard *shard, uint32_t batch)
{
    uint32_t *S = shard->shared, *P = shard->own;
    for (uint32_t before = 0; batch != before && batch < P[MBP_MOST] && P[MBP_WAITING] == 0;) {
        const uint32_t mark = mb_look(S, P);
        before = batch;
        if (mark != 0 && mark != MB_MIXED_MARK)
            mb_claim_straight(S, P, mark);
        batch = P[MBP_BATCH_COUNT];
    }
    return batch;
}

// Whether what waits, and what comes while this pass goes on, is left to gather: fewer than a batch, and the first has
// not been here for long. Also in the pass that hears the command to run: once that is answered a sender may send, and
// this pass would take the first few.
static bool gathers(struct slri_shard *shard)
{
    const uint32_t *P = shard->own;
    if (P[MBP_BATCH_COUNT] != 0 || ((P[MBP_CONTROL] - 1) & 3) == MB_CLOSE)
        return false;
    if (P[MBP_STATE] != MB_RUNNING)
        return true;
    uint32_t shown = count_waiting(shard);
    if (shown == 0)
        shard->host.linger_until_ns = 0;
    else if (shard->host.linger_until_ns == 0)
        shard->host.linger_until_ns = slri_deadline_after(shard->linger_ns);
    return shown == 0 || (shown < shard->max_batch && !slri_passed(shard->host.linger_until_ns));
}

// ---- handlers with a deadline --------------------------------------------------------------------------------------

static void copy_replies(const struct slri_shard *shard, uint32_t port, const struct slri_call *call)
{
    uint32_t *S = shard->shared;
    const uint32_t *P = shard->own;
    uint32_t lane = mb_reply_lane_of(S, P, port);
    for (uint32_t n = 0; n < call->replies; ++n)
        memcpy(&S[mb_reply_slot(S, lane, P[mb_port(P, port) + MBQ_REPLIES] + n) + MB_PAYLOAD],
               call->reply_base + (size_t)n * call->reply_stride, call->reply_bytes);
}

// The same under the watchdog's eyes. The handler works on copies, so that a message and its reply slots can be given
// to others while an abandoned handler still looks at them. ABANDONED: neither shard nor worker are this thread's any
// more.
#define ABANDONED UINT32_MAX
static uint32_t handle_watched(struct slri_shard *shard, uint32_t batch, uint32_t *faults)
{
    uint32_t *S = shard->shared, *P = shard->own;
    struct slri_runner *runner = shard->host.worker->runner;
    struct slri_box *box = shard->box;
    slri_handler *handler = shard->handler; // read before the runner can lose the shard
    void *self = shard->handler_self;
    struct slri_call call = {.bound = shard->bound,
                             .message = box->message,
                             .reply_base = box->replies,
                             .reply_mask = UINT32_MAX,
                             .reply_stride = box->reply_stride,
                             .reply_bytes = shard->reply_bytes,
                             .max_replies = S[MB_MAX_REPLIES],
                             .out = shard->route.out,
                             .prints = shard->prints};
    for (uint32_t k = 0; k < batch; ++k) {
        uint32_t at = P[MBP_BATCH(k) + 1];
        slri_shard_clear_out(shard);
        memcpy(box->message - MB_PAYLOAD * 4, &S[at], S[MB_SLOT_WORDS] * 4);
        call.instance = S[at + MB_INSTANCE];
        call.state = slri_shard_state(shard, call.instance);
        call.replies = 0;
        call.fuel = shard->fuel;
        shard->host.handling = k;
        slri_runner_enter(runner, shard, slri_deadline_after(shard->timeout_ns));
        uint32_t fault = handler(self, &call);
        if (!slri_runner_leave(runner)) {
            runner->box = box;
            return ABANDONED;
        }
        if (fault == SLRI_FAULT_NONE && !is_silent(shard))
            copy_replies(shard, P[MBP_BATCH(k)], &call);
        settle(shard, k, &call, fault);
        if (fault != SLRI_FAULT_NONE && shard->calls.faulted) {
            *faults = 1;
            return k + 1;
        }
        if (is_halted(S, P))
            return k + 1;
    }
    return batch;
}

// A copy of a message in its lane, as mb_pend makes it; gives its node.
static uint32_t copy_out(uint32_t *S, uint32_t *P, uint32_t port, uint32_t slot)
{
    uint32_t node = P[MBP_FREE];
    if (node != 0)
        P[MBP_FREE] = S[mb_node(S, P, node)];
    else
        node = ++P[MBP_USED];
    for (uint32_t k = 1; k < MB_SIZE(MB_SLOT_WORDS); ++k)
        S[mb_node(S, P, node) + k] = S[slot + k];
    if (S[mb_node(S, P, node) + MB_HEAD] & MB_FLAG_TIMED)
        mb_keep_time(S, P, port, slot, node);
    return node;
}

// Puts a claimed message before all others of its port and priority: of several the last one first.
static void unclaim(uint32_t *S, uint32_t *P, uint32_t port, uint32_t slot, uint32_t node)
{
    const uint32_t q = mb_port(P, port), l = mb_lists(P, port);
    node = node != 0 ? node : copy_out(S, P, port, slot);
    const uint32_t at = mb_node(S, P, node), priority = S[at + MB_HEAD] & 255, word = priority >> 5;
    const uint32_t bit = 1u << (priority & 31);
    if (P[q + MBQ_BITS(word)] & bit) {
        S[at] = P[l + MBL_FIRST(priority)];
    } else {
        S[at] = 0;
        P[l + MBL_LAST(priority)] = node;
        P[q + MBQ_BITS(word)] |= bit;
        P[q + MBQ_SUMMARY] |= 1u << word;
    }
    P[l + MBL_FIRST(priority)] = node;
    P[q + MBQ_WAITING]++;
    P[MBP_WAITING]++;
}

// The rest of a batch that was cut waits with all others: while it is paused routes and ports change, and what was
// claimed has been given room as they were.
static void put_back(struct slri_shard *shard, uint32_t done, uint32_t batch)
{
    uint32_t *S = shard->shared, *P = shard->own;
    for (uint32_t k = batch; k-- > done;) {
        P[P[MBP_BATCH(k) + 3] + MBQ_RESERVED] = 0;
        unclaim(S, P, P[MBP_BATCH(k)], P[MBP_BATCH(k) + 1], P[MBP_BATCH(k) + 2]);
    }
}

// Publishes the first `done` messages of the batch; the rest stays claimed, or if it was cut is put back.
static void finish(struct slri_shard *shard, uint32_t done, uint32_t batch)
{
    uint32_t *S = shard->shared, *P = shard->own;
    if (shard->route.outlets)
        shard->relay->flush(shard);
    P[MBP_BATCH_COUNT] = done;
    slri_shard_time(shard, done);
    mb_finish(S, P);
    shard->calls.published(shard, done);
    put_back(shard, done, batch);
}

void slri_shard_abandon(struct slri_shard *shard)
{
    const uint32_t *S = shard->shared, *P = shard->own;
    uint32_t k = shard->host.handling;
    struct slri_call call = {.instance = S[P[MBP_BATCH(k) + 1] + MB_INSTANCE], .max_replies = S[MB_MAX_REPLIES]};
    settle(shard, k, &call, SLRI_FAULT_OVERRUN); // its state is the abandoned handler's
    finish(shard, k + 1, P[MBP_BATCH_COUNT]);
    shard->calls.abandoned(shard);
}

// ---- handlers on a device ------------------------------------------------------------------------------------------

// Where the results of message k of the batch lie.
static void take_result(const struct slri_shard *shard, uint32_t record, struct slri_call *call)
{
    const struct slri_relaunch *relaunch = shard->relaunch;
    const uint32_t *result = slri_relaunch_result(relaunch, record);
    unsigned char *bytes = relaunch->host_results + (uint64_t)record * relaunch->result_stride;
    uint64_t at = relaunch->replies_at;
    call->replies = result[RL_REPLIES];
    call->fault_file = result[RL_FILE];
    call->fault_line = result[RL_LINE];
    call->reply_base = bytes + at;
    at += (uint64_t)relaunch->desc.max_replies * relaunch->reply_stride;
    for (uint32_t i = 0; shard->route.out && i < shard->outs; ++i) {
        struct slri_out *out = &shard->route.out[i];
        out->base = bytes + at;
        out->count = out->most ? result[RL_SENT(i)] : 0;
        at += (uint64_t)out->most * out->stride;
    }
}

// As handle_together. A fault that the ring kernel's policy is to judge has stopped the device behind it.
static uint32_t settle_results(struct slri_shard *shard, const struct slri_relaunch_part *part, uint32_t *faults)
{
    uint32_t *S = shard->shared, *P = shard->own;
    struct slri_call call = {.reply_mask = UINT32_MAX,
                             .reply_stride = shard->relaunch->reply_stride,
                             .reply_bytes = shard->reply_bytes,
                             .max_replies = S[MB_MAX_REPLIES],
                             .out = shard->route.out};
    for (uint32_t k = 0; k < part->ready; ++k) {
        uint32_t at = P[MBP_BATCH(k) + 1], fault = slri_relaunch_result(shard->relaunch, part->first + k)[RL_FAULT];
        if (fault == RL_NOT_RUN)
            return k;
        call.message = &S[at + MB_PAYLOAD];
        call.instance = S[at + MB_INSTANCE];
        take_result(shard, part->first + k, &call);
        for (uint32_t n = 0; n < call.replies && fault == SLRI_FAULT_NONE && !is_silent(shard); ++n)
            mb_copy_reply(S, P, P[MBP_BATCH(k)], n,
                          (const uint32_t *)(const void *)(call.reply_base + (uint64_t)n * call.reply_stride),
                          (shard->reply_bytes + 3) / 4);
        settle(shard, k, &call, fault); // the device has set the state back
        *faults += fault != SLRI_FAULT_NONE && shard->calls.faulted;
    }
    return part->ready;
}

uint32_t slri_shard_doubt(struct slri_shard *shard, uint32_t done, uint32_t end)
{
    uint32_t *S = shard->shared, *P = shard->own;
    for (uint32_t k = done; k < end; ++k) {
        uint32_t at = P[MBP_BATCH(k) + 1];
        if (shard->redelivers) {
            S[at + MB_HEAD] |= MB_FLAG_REDELIVERED; // the slot is the owner's until it is retired
            continue;
        }
        if (shard->calls.settled)
            shard->calls.settled(shard, k, NULL, SLRI_FAULT_NONE);
        mb_doubt(S, P, k);
        if (shard->done)
            slri_shard_done(shard, S[at + MB_INSTANCE]);
    }
    if (!shard->redelivers)
        return end;
    __atomic_fetch_add(&shard->notes.redelivered, end - done, __ATOMIC_RELAXED); // a count alone
    return done;
}

// How long the handlers of a part took, by the device's counter. False: it has none, or one message took longer than
// there are ticks to say.
static bool sum_ticks(const struct slri_relaunch *relaunch, const struct slri_relaunch_part *part, uint64_t *ns)
{
    uint64_t ticks = 0;
    for (uint32_t k = 0; k < part->ready && relaunch->has_ticks; ++k) {
        const uint32_t *result = slri_relaunch_result(relaunch, part->first + k);
        if (result[RL_FAULT] == RL_NOT_RUN)
            continue;
        if (result[RL_TICKS] == RL_MOST_TICKS)
            return false;
        ticks += result[RL_TICKS];
    }
    *ns = slri_ticks_ns(ticks);
    return relaunch->has_ticks;
}

// When `messages` of the dispatch's are behind, if each took as long as the others.
static uint64_t behind_ns(const struct slri_relaunch *relaunch, uint32_t messages)
{
    return (uint64_t)((double)relaunch->took_ns * messages / relaunch->messages);
}

// Each part has the share of the dispatch's time that it has of its messages, and `before` of these come before it: so
// all parts together fill the dispatch, and none counts twice.
static void observe_part(const struct slri_relaunch *relaunch, const struct slri_relaunch_part *part, uint32_t before,
                         slr_status status)
{
    if (relaunch->took_ns == 0 || part->ready == 0)
        return;
    uint64_t from_ns = behind_ns(relaunch, before), share_ns = behind_ns(relaunch, before + part->ready) - from_ns, ns;
    bool known = status == SLR_OK && sum_ticks(relaunch, part, &ns);
    const struct slri_batch_seen batch = {.begin_ns = relaunch->began_ns + from_ns,
                                          .duration_ns = share_ns,
                                          .handlers_ns = known ? ns : share_ns,
                                          .messages = part->ready};
    slri_observe_batch(part->shard, &batch);
}

static void settle_part(const struct slri_relaunch_part *part, slr_status status)
{
    struct slri_shard *shard = part->shard;
    uint32_t faults = 0;
    uint32_t done = status == SLR_OK ? settle_results(shard, part, &faults) : slri_shard_doubt(shard, 0, part->ready);
    finish(shard, done, part->batch);
    for (; faults != 0; --faults)
        shard->calls.faulted(shard);
    if (status != SLR_OK)
        shard->calls.lost(shard, shard->relaunch->why);
}

static void end_dispatch(struct slri_relaunch *relaunch)
{
    slr_status status = slri_relaunch_end(relaunch);
    for (uint32_t i = 0, before = 0; i < relaunch->parts; before += relaunch->part[i++].ready) {
        observe_part(relaunch, &relaunch->part[i], before, status);
        settle_part(&relaunch->part[i], status);
    }
    relaunch->parts = relaunch->messages = relaunch->chains = 0;
    relaunch->packed_bytes = 0;
}

// Those of all ring kernels are begun before the first is waited for.
void slri_worker_dispatch(struct slri_worker *worker)
{
    for (struct slri_relaunch *each = worker->packed; each; each = each->next)
        slri_relaunch_begin(each);
    while (worker->packed) {
        struct slri_relaunch *each = worker->packed;
        worker->packed = each->next;
        end_dispatch(each);
    }
}

static void pack(struct slri_shard *shard, uint32_t ready, uint32_t batch)
{
    struct slri_relaunch *relaunch = shard->relaunch;
    struct slri_worker *worker = shard->host.worker;
    if (!slri_relaunch_has_room(relaunch, ready))
        slri_worker_dispatch(worker);
    if (!slri_relaunch_is_packed(relaunch)) {
        relaunch->next = worker->packed;
        worker->packed = relaunch;
    }
    slri_relaunch_pack(relaunch, shard, ready, batch);
}

// A worker with nothing else to do polls the lanes a few times in each pass: a look takes a quarter of a whole pass,
// and by half of what a round takes a message waits to be seen.
#define LOOKS_A_PASS 8

static inline void await_message(const struct slri_shard *shard)
{
    uint32_t *S = shard->shared, *P = shard->own;
    if (shard->host.next || P[MBP_STATE] != MB_RUNNING || P[MBP_WAITING] != 0 || S[MB_KEEP] != 0)
        return;
    for (int i = 0; i < LOOKS_A_PASS && mb_look(S, P) == 0; ++i)
        ;
}

// ---- a pass --------------------------------------------------------------------------------------------------------

// Whether the answer has changed: then it is told. When the shard is over, not a word of it is read behind this.
static inline bool tell_answer(struct slri_shard *shard)
{
    const uint32_t *P = shard->own;
    if (P[MBP_CONTROL] == shard->host.told_control && P[MBP_STATE] == shard->host.told_state)
        return false;
    shard->host.told_control = P[MBP_CONTROL];
    shard->host.told_state = P[MBP_STATE];
    shard->calls.answered(shard, P[MBP_STATE]);
    return true;
}

enum slri_pass slri_shard_pass(struct slri_shard *shard)
{
    uint32_t *S = shard->shared, *P = shard->own;
    bool asked =
        __atomic_load_n(&shard->turn.asked, __ATOMIC_RELAXED) != 0; // `operate` takes the lock under which it is set
    if (asked)
        shard->calls.operate(shard);
    if (shard->linger_ns != 0)
        P[MBP_MOST] = gathers(shard) ? 0 : shard->max_batch;
    shard->relay->begin(shard);
    await_message(shard);
    uint32_t batch = mb_begin(S, P);
    if (batch >= MB_BATCH && batch < P[MBP_MOST])
        batch = take_more(shard, batch);
    bool evicted = P[MBP_EVICTED] != 0;
    if (evicted) // before the handler runs: who waits for credit need not wait for it
        shard->calls.published(shard, 0);
    uint32_t ready = shard->route.outlets ? shard->relay->taken(shard) : batch;
    if (ready != 0) {
        shard->host.linger_until_ns = 0;
        uint32_t faults = 0;
        if (shard->relaunch) {
            pack(shard, ready, batch);
            tell_answer(shard); // that it runs: with any other it would have nothing ready
            return SLRI_PASS_WORKED;
        }
        uint64_t begin = slri_observe_begin();
        uint32_t done = shard->batch_handler ? handle_together(shard, ready, &faults)
                        : shard->timeout_ns  ? handle_watched(shard, ready, &faults)
                                             : handle(shard, ready, &faults);
        if (done == ABANDONED)
            return SLRI_PASS_ABANDONED;
        if (begin)
            slri_observe_handled(shard, begin, done);
        finish(shard, done, batch);
        for (; faults != 0; --faults)
            shard->calls.faulted(shard);
    }
    bool draining = ((P[MBP_CONTROL] - 1) & 3) == MB_CLOSE;
    bool over = P[MBP_STATE] == MB_ENDED || P[MBP_STATE] == MB_STOPPED;
    if (tell_answer(shard))
        return over ? SLRI_PASS_OVER : SLRI_PASS_WORKED;
    if (ready != 0 || evicted || asked)
        return SLRI_PASS_WORKED;
    bool lingers = P[MBP_MOST] == 0 && shard->host.linger_until_ns != 0;
    return draining ? SLRI_PASS_WAITS : lingers ? SLRI_PASS_LINGERS : SLRI_PASS_IDLE;
}

uint32_t slri_shard_sleep_kind(const struct slri_shard *shard)
{
    if (shard->own[MBP_STATE] == MB_PAUSED) // where it evicts, it does so while paused too
        return shard->shared[MB_KEEP] ? SLRI_ASLEEP : SLRI_ASLEEP_PAUSED;
    // Without room where its routes lead it waits for that, whatever the host sees: lanes in device memory hide
    // messages.
    bool has_room = shard->own[MBP_ROOM] != 1;
    bool idle = has_room && shard->own[MBP_BATCH_COUNT] == 0 && mb_idle(shard->shared, shard->own);
    return idle ? SLRI_ASLEEP : SLRI_ASLEEP_BLOCKED;
}

// A batch that this look claims is handled by the next pass, and so are a command that it obeys and an operation: only
// a pass tells the ring layer of an end, and a shard that is asleep is never over.
bool slri_shard_may_sleep(struct slri_shard *shard)
{
    uint32_t *S = shard->shared, *P = shard->own;
    if (!shard->relay->may_sleep(shard))
        return false;
    bool claimed =
        mb_begin(S, P) != 0 && !shard->route.outlets; // with routes it is what was left of a batch, and has no room
    if (P[MBP_EVICTED] != 0 && shard->calls.settled)  // now, while what was dropped is first among the free
        shard->calls.published(shard, 0);
    if (claimed || P[MBP_EVICTED] != 0 || (P[MBP_MOST] == 0 && mb_shown(S, P, 1) != 0) ||
        __atomic_load_n(&shard->turn.asked, __ATOMIC_RELAXED))
        return false;
    return P[MBP_CONTROL] == shard->host.told_control && P[MBP_STATE] == shard->host.told_state;
}
