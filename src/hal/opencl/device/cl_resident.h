// SPDX-License-Identifier: Apache-2.0
// Text for OpenCL's compiler: the kernel that stays. It stands behind a handler's emitted text, cl_words.h, the table's
// layout (engine/resident_layout.h) and the mailbox (abi/mailbox.h), and is their loop: one group serves the shards of
// a table. Its first work-item, which is the only one of a `__ring__` handler, speaks with the host; with SLR_BLOCK all
// of them handle each message. SLR_HANDLER is the handler, SLR_BINDINGS how many parameters it has behind the message,
// SLR_SHARED_BYTES the local memory that it wants, SLR_GROUP the work-items; with SLR_OUTLETS it sends.
//
// Memory orders: as the mailbox says at each word, by the scope that cl_words.h chose and probe.c tried. A launch
// acquires what the host wrote before it enqueued; `gone` is released behind all else, for the host. What the first
// work-item acquired and wrote is the others' behind a barrier of the group, which orders global memory, too.
// clang-format off
#define SLR_LOAD(word) __nv_atomic_load_n(&(word), __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM)
#define SLR_STORE(word, value) __nv_atomic_store_n(&(word), value, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM)
#define SLR_IDLE_LOOKS 64u // then each pass without work gives the core to whoever wants it: PoCL's groups are threads
#ifdef SLR_BLOCK
#define SLR_FIRST (get_local_id(0) == 0)
#define SLR_COMMON __local
#define SLR_MEET() SLRI_MEET()
#else
#define SLR_FIRST true
#define SLR_COMMON // of one work-item: registers
#define SLR_MEET() (void)0
#endif

#ifdef SLR_CALLS // of a `__ring_batch__` handler
#define SLR_MESSAGES MB_BATCH
#define SLR_JOINED(call) (call).messages
#else
#define SLR_MESSAGES 1
#define SLR_JOINED(call) 1
#endif

#ifdef SLR_CLOCK
static ulong slr_nanoseconds(const __global struct slri_resident_table *table, ulong ticks)
{
    ulong per = table->ns_per_tick;
    return (ticks >> 32) * per + ((ticks & 0xffffffff) * per >> 32);
}

// The device's clock in nanoseconds, from its counter (cl_clock.h).
static ulong slr_time(const __global struct slri_resident_table *table)
{
    return slr_nanoseconds(table, slr_ticks());
}

// Answers the host's question for the clock. Release: the time goes with the answer.
static __attribute__((noinline)) void slr_answer(__global struct slri_resident_table *table, uint asked)
{
    table->clock_ns = slr_time(table);
    SLR_STORE(table->answered, asked);
}

// A batch for the profiler. Where the host has not read for long, the batch is only counted.
static __attribute__((noinline)) void slr_record(__global struct slri_resident_entry *entry, ulong taken_ns, ulong ns,
                                                 uint messages)
{
    uint n = entry->written;
    if (n - entry->read_seen >= SLRI_RESIDENT_RECORDS)
        entry->read_seen = SLR_LOAD(entry->read); // acquire: the host has read what is overwritten below
    if (n - entry->read_seen >= SLRI_RESIDENT_RECORDS) {
        SLR_STORE(entry->dropped, entry->dropped + 1);
        return;
    }
    __global struct slri_resident_record_of_batch *record =
        (__global struct slri_resident_record_of_batch *)entry->records + (n & (SLRI_RESIDENT_RECORDS - 1u));
    record->taken_ns = taken_ns;
    record->duration_ns = (uint)min(ns, (ulong)0xffffffff);
    record->messages = messages;
    SLR_STORE(entry->written, n + 1); // release: the record
}

// Counts how long the timed messages among the first `done` took. `ahead_ns` is how far the host says that the clocks
// are apart; before the host has said so, nothing is counted. The host reads the histogram's words one by one.
static __attribute__((noinline)) void slr_note_times(const __global struct slri_resident_entry *entry, ulong now_ns, uint done)
{
    const __global uint *S = (const __global uint *)entry->shared;
    __global uint *P = (__global uint *)entry->own;
    __global ulong *times = (__global ulong *)(P + MBP_HISTOGRAM_AT(entry->own_words));
    ulong ahead_ns = *(const volatile __global ulong *)&entry->ahead_ns;
    P[MBP_TIMED] = 0;
    for (uint k = 0; k < done && ahead_ns != 0; ++k) {
        const __global uint *slot = S + P[MBP_BATCH(k) + 1u];
        if ((slot[MB_HEAD] & MB_FLAG_TIMED) == 0)
            continue;
        uint at = mb_time_at(S, P, P[MBP_BATCH(k)], slot[MB_SEQUENCE], P[MBP_BATCH(k) + 2u]);
        ulong sent_ns = S[at] | (ulong)S[at + 1u] << 32, here_ns = now_ns - ahead_ns;
        ulong took_ns = here_ns > sent_ns ? here_ns - sent_ns : 0;
        times[HG_BUCKET(hg_bucket(took_ns))] += 1;
        times[HG_SUM] += took_ns;
        times[HG_MOST] = max(times[HG_MOST], took_ns);
        times[HG_LEAST] = max(times[HG_LEAST], ~took_ns);
    }
}
#endif

struct slr_pass { // over the shards
    uint next, worked, idle, answered; // answered: the last question for the clock
    ulong taken_ns, ticks;             // of the batch, where records are kept; in its handlers
};

struct slr_turn { // of the group: whose messages are next, and how many; batch 0: the kernel ends
    uint entry, batch;
};

static void slr_reset(const __global struct slri_resident_entry *entry, __global uchar *state)
{
    const __global ulong *initial = (const __global ulong *)entry->initial_state;
    for (ulong i = 0; state && i < (entry->state_bytes + 7) / 8; ++i) // strides are multiples of 16
        ((__global ulong *)state)[i] = initial ? initial[i] : 0;
}

// ---- passing on: the first work-item's, and apart: where a block's work-items become a loop, compilers take long for more

static __global struct slri_resident_passage *slr_passage(const __global struct slri_resident_entry *entry)
{
    return (__global struct slri_resident_passage *)entry->passage; // 0: no routes, and no outlets
}

static const __global struct slri_resident_outlet *slr_outlet(const __global struct slri_resident_passage *passage, uint i)
{
    return (const __global struct slri_resident_outlet *)passage->outlet + i;
}

// Before mb_begin: lets it take no more than there is room for where routes lead.
static __attribute__((noinline)) void slr_reserve(const __global struct slri_resident_entry *entry)
{
    __global uint *S = (__global uint *)entry->shared, *P = (__global uint *)entry->own;
    const __global struct slri_resident_passage *passage = slr_passage(entry);
    uint room = MB_BATCH;
    for (uint i = 0; i < passage->outlets; ++i) {
        const __global struct slri_resident_outlet *outlet = slr_outlet(passage, i);
        __global uint *O = (__global uint *)outlet->words;
        mbo_note_gone(O, O, P);
        room = min(room, O[MBO_PORT] ? mbo_port_room(S, O, P) : mbo_room(O, (const __global uint *)outlet->retired));
    }
    P[MBP_ROOM] = 1 + room;
}

// Behind it: what was left of an earlier batch may be more than there is room for.
static __attribute__((noinline)) uint slr_taken(const __global struct slri_resident_entry *entry, uint batch)
{
    const __global uint *P = (const __global uint *)entry->own;
    const __global struct slri_resident_passage *passage = slr_passage(entry);
    for (uint i = 0; i < passage->outlets; ++i) {
        __global uint *O = (__global uint *)slr_outlet(passage, i)->words;
        mbo_note_gone(O, O, P);
    }
    return min(batch, P[MBP_ROOM] - 1);
}

// What message k of the batch has caused goes along one route.
static __attribute__((noinline)) void slr_pass_along(const __global struct slri_resident_entry *entry, const __global struct slri_resident_outlet *outlet,
                           uint k, const struct slri_call *call)
{
    __global uint *S = (__global uint *)entry->shared, *P = (__global uint *)entry->own;
    uint at = P[MBP_BATCH(k) + 1u];
    __global uint *O = (__global uint *)outlet->words, *L = (__global uint *)outlet->lanes;
    if (O[MBO_PARAMETER] == 0) {
        for (uint n = 0; n < *call->replies; ++n) {
            ulong place = (call->reply_at + n) & call->reply_mask;
            const __global uint *reply = (const __global uint *)(call->reply_base + place * call->reply_stride);
            if (O[MBO_PORT])
                mbo_give_port(S, O, P, k, reply);
            else
                mbo_give(S, O, L, at, mbo_instance(O, call->instance, reply), reply);
        }
        return;
    }
    const struct slri_out *out = &call->out[O[MBO_PARAMETER] - 1];
    for (uint n = 0; n < *out->count; ++n) { // the instance, then the message, 8 bytes on
        const __global uint *from = (const __global uint *)(out->base + (ulong)n * out->stride);
        mbo_give(S, O, L, at, *from == 0xffffffff ? mbo_instance(O, call->instance, from + 2) : *from, from + 2);
    }
}

static __attribute__((noinline)) void slr_pass_on(const __global struct slri_resident_entry *entry, uint k, const struct slri_call *call)
{
    __global struct slri_resident_passage *passage = slr_passage(entry);
    for (uint i = 0; i < passage->outlets; ++i)
        slr_pass_along(entry, slr_outlet(passage, i), k, call);
#ifdef SLR_OUTLETS
    for (uint p = 0; p < passage->outs; ++p) {
        bool leads = false;
        for (uint i = 0; i < passage->outlets; ++i)
            leads = leads || ((const __global uint *)slr_outlet(passage, i)->words)[MBO_PARAMETER] == p + 1;
        if (!leads)
            passage->unsent += *call->out[p].count;
    }
#endif
}

// Before mb_finish.
static __attribute__((noinline)) void slr_flush(const __global struct slri_resident_entry *entry)
{
    __global uint *S = (__global uint *)entry->shared, *P = (__global uint *)entry->own;
    const __global struct slri_resident_passage *passage = slr_passage(entry);
    for (uint i = 0; i < passage->outlets; ++i) {
        const __global struct slri_resident_outlet *outlet = slr_outlet(passage, i);
        __global uint *O = (__global uint *)outlet->words;
        if (O[MBO_PORT])
            mb_publish_replies(S, P, O[MBO_PORT] - 1);
        mbo_publish(O, O, (__global uint *)outlet->lanes);
    }
}

// The first work-item's: what became of message k. Routes may take the replies, so that its sender receives none.
static void slr_end(__global struct slri_resident_entry *entry, uint k, const struct slri_call *call, uint fault)
{
    __global uint *S = (__global uint *)entry->shared, *P = (__global uint *)entry->own;
    uint silent = P[MBP_SILENT];
    if (fault == 0) {
        mb_handled(S, P, k, silent ? 0 : *call->replies, 0);
        if (silent)
            P[MBP_REPLIED] += *call->replies;
        if (slr_passage(entry))
            slr_pass_on(entry, k, call);
        return;
    }
    mb_note_fault(S, P, fault, call->fault_file, call->fault_line, call->instance);
    slr_reset(entry, call->state);
    mb_handled(S, P, k, call->max_replies && !silent ? 1 : 0, MB_FLAG_FAULT);
}

// The first work-item's: one look at one shard. Whether there was something to do; `batch` messages are to be handled.
static uint slr_look(__global struct slri_resident_entry *entry, uint *batch)
{
    if (entry->used == 0 || entry->left != 0)
        return 0;
    uint hold = SLR_LOAD(entry->hold);
    uint was_held = entry->held;
    if (hold != was_held)
        SLR_STORE(entry->held, hold); // what it did with the shard, for the host
    if ((hold & 1) != 0)
        return hold != was_held;
    if (entry->faulted != SLR_LOAD(entry->judged))
        return 1;
    __global uint *S = (__global uint *)entry->shared, *P = (__global uint *)entry->own;
    uint control = P[MBP_CONTROL];
    if (slr_passage(entry))
        slr_reserve(entry);
    *batch = mb_begin(S, P);
    if (slr_passage(entry))
        *batch = slr_taken(entry, *batch);
    if (*batch != 0)
        return 1;
    uint state = P[MBP_STATE];
    if (state == MB_ENDED || state == MB_STOPPED) {
        SLR_STORE(entry->left, 1u); // its last touch of the shard
        return 1;
    }
    return P[MBP_CONTROL] != control;
}

// The first work-item's: `done` messages are handled, the last `judge` of them with a fault that the host is to judge.
static void slr_finish(const __global struct slri_resident_table *table, __global struct slri_resident_entry *entry,
                       const struct slr_pass *pass, uint done, uint judge)
{
    __global uint *S = (__global uint *)entry->shared, *P = (__global uint *)entry->own;
    uint batch = P[MBP_BATCH_COUNT];
#ifdef SLR_CLOCK
    if (entry->records != 0)
        slr_record(entry, pass->taken_ns, slr_nanoseconds(table, pass->ticks), done);
#endif
    if (slr_passage(entry))
        slr_flush(entry);
    P[MBP_BATCH_COUNT] = done;
#ifdef SLR_CLOCK
    if ((P[MBP_TIMED] & MB_FLAG_TIMED) != 0)
        slr_note_times(entry, slr_time(table), done);
#endif
    mb_finish(S, P);
    if (done < batch)
        mb_keep_rest(S, P, done, batch);
    if (judge != 0)
        SLR_STORE(entry->faulted, entry->faulted + judge);
}

// The first work-item's: looks at one shard after the other until one has messages, or it is time to end.
static void slr_find(__global struct slri_resident_table *table, uint launch, struct slr_pass *pass,
                     SLR_COMMON struct slr_turn *turn)
{
    uint batch = 0;
    for (;;) {
        while (batch == 0 && pass->next < table->entries)
            pass->worked |= slr_look(&table->entry[pass->next++], &batch);
        if (batch != 0)
            break;
        pass->next = 0;
        pass->idle = pass->worked ? 0 : pass->idle + 1;
        pass->worked = 0;
#ifdef SLR_CLOCK
        uint asked = SLR_LOAD(table->asked);
        if (asked != pass->answered) {
            pass->answered = asked;
            slr_answer(table, asked);
        }
#endif
        if (pass->idle >= SLR_IDLE_LOOKS)
            slr_yield();
        if (pass->idle >= table->most_idle || SLR_LOAD(table->stop) == launch)
            break;
    }
    turn->entry = pass->next - 1;
    turn->batch = batch;
#ifdef SLR_CLOCK
    pass->ticks = 0;
    if (batch != 0 && table->entry[turn->entry].records != 0)
        pass->taken_ns = slr_time(table);
#endif
}

// Each work-item's own: what is the same for a batch.
static void slr_begin_batch(const __global struct slri_resident_entry *entry, struct slri_call *call,
                            struct slri_bound *bound)
{
    const __global uint *S = (const __global uint *)entry->shared, *P = (const __global uint *)entry->own;
    const __global ulong *given = (const __global ulong *)entry->bound;
    for (uint i = 0; i < SLR_BINDINGS; ++i) {
        bound[i].data = (__global uchar *)given[2 * i];
        bound[i].bytes = given[2 * i + 1];
    }
    call->reply_base = 0;
    call->reply_at = 0;
    call->reply_mask = S[MB_REPLY_MASK];
    call->reply_stride = S[MB_REPLY_SLOT_WORDS] * 4;
    call->max_replies = S[MB_MAX_REPLIES];
    if (P[MBP_SILENT]) { // each message's replies from the same place on
        call->reply_base = (__global uchar *)slr_passage(entry)->aside;
        call->reply_mask = 0xffffffff;
        call->reply_stride = slr_passage(entry)->aside_stride;
    }
#ifdef SLR_OUTLETS
    const __global struct slri_resident_out *out = (const __global struct slri_resident_out *)slr_passage(entry)->out;
    for (uint i = 0; i < SLR_BINDINGS; ++i) {
        call->out[i].base = (__global uchar *)out[i].base;
        call->out[i].stride = out[i].stride;
        call->out[i].most = out[i].most;
    }
#endif
}

// The first work-item's: nothing is counted yet of what the next message causes.
static void slr_clear(__local uint *replies, __local uint *sent)
{
    *replies = 0;
#ifdef SLR_OUTLETS
    for (uint i = 0; i < SLR_BINDINGS; ++i)
        sent[i] = 0;
#endif
}

// Each work-item's own: the call of message k.
static void slr_begin(const __global struct slri_resident_entry *entry, uint k, struct slri_call *call)
{
    __global uint *S = (__global uint *)entry->shared, *P = (__global uint *)entry->own;
    uint port = P[MBP_BATCH(k)], at = P[MBP_BATCH(k) + 1u];
    call->message = (__global uchar *)&S[at + MB_PAYLOAD];
    call->instance = S[at + MB_INSTANCE];
    ulong mine = entry->shards > 1 ? call->instance / entry->shards : call->instance;
    call->state = entry->states ? (__global uchar *)(entry->states + mine * entry->state_stride) : 0;
    if (call->max_replies != 0 && P[MBP_SILENT] == 0) {
        call->reply_base = (__global uchar *)&S[mb_reply_slot(S, mb_reply_lane_of(S, P, port), 0) + MB_PAYLOAD];
        call->reply_at = P[MBP_PORT(port) + MBQ_REPLIES];
    }
    call->fuel = call->turns = entry->fuel / SLR_GROUP;
    call->fault_file = 0;
    call->fault_line = 0;
}

#ifdef SLR_CALLS
// ---- calls of many messages: those of one instance, packed one behind the other --------------------------------------

static uint slr_instance(const __global uint *S, const __global uint *P, uint k)
{
    return S[P[MBP_BATCH(k) + 1u] + MB_INSTANCE];
}

// Message k of the batch moves to place `to` before it; those from there on move up.
static void slr_move(__global uint *P, uint k, uint to)
{
    uint moved[4];
    for (uint i = 0; i < 4; ++i)
        moved[i] = P[MBP_BATCH(k) + i];
    for (uint at = MBP_BATCH(k) + 3u; at >= MBP_BATCH(to) + 4u; --at)
        P[at] = P[at - 4u];
    for (uint i = 0; i < 4; ++i)
        P[MBP_BATCH(to) + i] = moved[i];
}

// Puts the batch into the order of its instances, and these into that of their first messages. All of it is retired
// together; where the host judges faults it is not, and stays as it is.
static __attribute__((noinline)) void slr_sort(const __global struct slri_resident_entry *entry, uint batch)
{
    const __global uint *S = (const __global uint *)entry->shared;
    __global uint *P = (__global uint *)entry->own;
    for (uint k = 1; k < batch && entry->judges == 0; ++k) {
        uint instance = slr_instance(S, P, k), to = k;
        while (to > 0 && slr_instance(S, P, to - 1) != instance)
            --to;
        if (to != 0 && to != k)
            slr_move(P, k, to);
    }
}

// Behind slr_begin of message `done`: its call becomes that of all messages behind it of the same instance. Gives how
// many they are.
static __attribute__((noinline)) uint slr_join(const __global struct slri_resident_entry *entry, uint done, uint batch,
                                               struct slri_call *call)
{
    const __global uint *S = (const __global uint *)entry->shared, *P = (const __global uint *)entry->own;
    const uint bytes = S[MB_BATCH_BYTES], most = bytes != 0 ? batch : done + 1; // 0: one a call
    __global uchar *room = (__global uchar *)entry->calls;
    uint of = 0;
    call->reply_stride = (S[MB_REPLY_SLOT_WORDS] - MB_PAYLOAD) * 4;
    for (; done + of < most && slr_instance(S, P, done + of) == call->instance; ++of) {
        const __global uint *from = &S[P[MBP_BATCH(done + of) + 1u] + MB_PAYLOAD];
        __global uchar *to = room + of * bytes;
        for (uint i = 0; bytes % 4 == 0 && i < bytes / 4; ++i)
            ((__global uint *)to)[i] = from[i];
        for (uint i = 0; bytes % 4 != 0 && i < bytes; ++i)
            to[i] = ((const __global uchar *)from)[i];
        call->replies[of] = 0;
    }
    if (bytes != 0)
        call->message = room;
    call->messages = of;
    call->reply_base = room + (MB_BATCH * bytes + 15u) / 16u * 16u;
    if (call->fuel >> 56 == 0) // else nobody could use it up, as slri_batch_fuel
        call->fuel *= of;
    return of;
}

// What became of the messages of a call: its fault is that of all of them.
static __attribute__((noinline)) void slr_end_call(__global struct slri_resident_entry *entry, uint done,
                                                   const struct slri_call *call, uint fault)
{
    __global uint *S = (__global uint *)entry->shared;
    const __global uint *P = (const __global uint *)entry->own;
    const uint words = call->reply_stride / 4;
    for (uint i = 0; i < call->messages; ++i) {
        struct slri_call each = *call;
        each.replies = &call->replies[i];
        each.reply_base = call->reply_base + i * call->max_replies * call->reply_stride;
        each.reply_at = 0;
        each.reply_mask = 0xffffffff;
        uint port = P[MBP_BATCH(done + i)], lane = mb_reply_lane_of(S, P, port), at = P[MBP_PORT(port) + MBQ_REPLIES];
        for (uint n = 0; n < *each.replies && fault == 0 && P[MBP_SILENT] == 0; ++n)
            for (uint word = 0; word < words; ++word)
                S[mb_reply_slot(S, lane, at + n) + MB_PAYLOAD + word] = ((const __global uint *)each.reply_base)[n * words + word];
        slr_end(entry, done + i, &each, fault);
    }
}
#endif

// Around a handler: its time, where records are kept.
#ifdef SLR_CLOCK
#define SLR_START(entry) ulong began = (entry)->records != 0 ? slr_ticks() : 0
#define SLR_STOP(entry, pass)                                                                                          \
    if ((entry)->records != 0)                                                                                         \
    (pass).ticks += slr_ticks() - began
#else
#define SLR_START(entry) (void)0
#define SLR_STOP(entry, pass) (void)0
#endif

SLRI_KERNEL __attribute__((reqd_work_group_size(SLR_GROUP, 1, 1)))
void slr_stay(__global struct slri_resident_table *table, __global uchar *dump)
{
    __local ulong2 shared[(SLR_SHARED_BYTES + 15) / 16]; // aligned to 16
    __local uint replies[SLR_MESSAGES], sent[SLR_BINDINGS + 1], words[SLRI_BLOCK_WORDS];
    SLR_COMMON struct slr_turn turn;
    struct slri_bound bound[SLR_BINDINGS + 1];
    struct slri_out out[SLR_BINDINGS + 1];
    struct slri_call call;
    call.bound = bound;
    call.out = out;
    for (uint i = 0; i < SLR_BINDINGS; ++i)
        out[i].count = &sent[i];
    call.replies = replies;
    call.dump = dump;
    uint launch = table->launch;
    struct slr_pass pass = {table->entries, 1, 0, table->answered, 0, 0}; // at the end of one: first it is seen whether it shall stay at all
    for (;;) {
        if (SLR_FIRST)
            slr_find(table, launch, &pass, &turn);
        SLR_MEET();
        uint batch = turn.batch, done = 0, judge = 0;
        if (batch == 0)
            break;
        __global struct slri_resident_entry *entry = &table->entry[turn.entry];
        slr_begin_batch(entry, &call, bound);
#ifdef SLR_CALLS
        slr_sort(entry, batch);
#endif
        for (; done < batch && !judge; ++done) {
            if (SLR_FIRST)
                slr_clear(replies, sent);
#ifdef SLR_BLOCK
            slri_begin_block((__local uchar *)shared, SLR_SHARED_BYTES, words); // behind it, what the last slr_end wrote
            slr_begin(entry, done, &call);
            SLR_START(entry);
            uint fault = slri_end_block(&call, SLR_HANDLER(&call, (__local uchar *)shared), words);
#else
            slr_begin(entry, done, &call);
#ifdef SLR_CALLS
            slr_join(entry, done, batch, &call);
#endif
            SLR_START(entry);
            uint fault = SLR_HANDLER(&call, (__local uchar *)shared);
#endif
            SLR_STOP(entry, pass);
#ifdef SLR_CALLS
            slr_end_call(entry, done, &call, fault);
            done += call.messages - 1;
#else
            if (SLR_FIRST)
                slr_end(entry, done, &call, fault);
#endif
            judge = fault != 0 && entry->judges != 0 ? SLR_JOINED(call) : 0;
        }
        if (SLR_FIRST)
            slr_finish(table, entry, &pass, done, judge);
    }
    if (SLR_FIRST)
        SLR_STORE(table->gone, launch);
}
