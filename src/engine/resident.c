// SPDX-License-Identifier: Apache-2.0
// A group and its shards, as the poller (resident_poller.c) takes care of them: launching it, looking at it while it
// runs, serving its shards while it does not. It calls the ring layer with no lock held. Nothing on the way of a
// message comes here: a sender only looks at `asleep`, as with every owner.
#include "engine/resident_groups.h"

#include "base/round.h"
#include "base/clock.h"
#include "base/tick.h"
#include "base/futex.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread.h"
#include "engine/loss.h"
#include "engine/owner.h"
#include "engine/slabs.h"

#include <string.h>

#define LOOKS_A_QUESTION 64u    // looks at the words between two questions to the vendor's library
#define MOST_IDLE_PASSES 65536u // a group's, each with a yield: 50 ms on PoCL, where a pass takes 0.8 us
#define HEARD_NS 1000000000u    // ring kernels of a launch that nobody answers for fail then; no memory is freed by it
#define RETRY_NS 10000000u      // behind a launch that failed, where somebody still wants one

static uint32_t acquire(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

// What parks looks at `running` behind its word in `parked`, the poller at `parked` behind its word in `running`: both
// sequentially consistent, so that one of the two sees the other.
static bool begin_run(struct slri_resident *resident)
{
    struct slri_residents *residents = resident->residents;
    __atomic_fetch_add(&residents->running, 1, __ATOMIC_SEQ_CST);
    resident->running = true;
    return __atomic_load_n(&residents->parked, __ATOMIC_SEQ_CST) == 0;
}

static void end_run(struct slri_resident *resident)
{
    if (!resident->running)
        return;
    resident->running = false;
    __atomic_fetch_sub(&resident->residents->running, 1, __ATOMIC_SEQ_CST);
    slri_futex_wake(&resident->residents->running, INT32_MAX);
}

// ---- what the handler is given ------------------------------------------------------------------------------------

static uint64_t scalars_at(const struct slri_entry *handler)
{
    return slri_round_up(handler->bindings * sizeof(struct slri_bound), 16);
}

static uint64_t initial_at(const struct slri_entry *handler)
{
    return scalars_at(handler) + slri_round_up(handler->bindings * 8u, 16);
}

uint64_t slri_resident_near_own_bytes(const struct slri_shard *shard)
{
    return slri_round_up(MBP_HISTOGRAM_AT(shard->own_words) * (uint64_t)4 +
                             (shard->notes.latency ? sizeof *shard->notes.latency : 0),
                         SLRI_SLAB_ALIGNMENT); // at its place behind them, as at home
}

static uint64_t calls_at(const struct slri_shard *shard)
{
    return initial_at(shard->entry) + slri_round_up(shard->state_bytes, 16) + 16;
}

// Of a call of many messages: these, and their replies as far apart as in a reply lane.
static uint64_t calls_bytes(const struct slri_shard *shard)
{
    const uint32_t *S = shard->shared;
    uint64_t replies = (uint64_t)S[MB_MAX_REPLIES] * (S[MB_REPLY_SLOT_WORDS] - MB_PAYLOAD) * 4;
    return slri_round_up((uint64_t)MB_BATCH * S[MB_BATCH_BYTES], 16) + MB_BATCH * replies;
}

static bool has_calls(const struct slri_residents *residents, const struct slri_shard *shard)
{
    return residents->ops->wants_calls && shard->entry->kind == SLRI_ENTRY_BATCH;
}

uint64_t slri_resident_kit_bytes(const struct slri_residents *residents, const struct slri_shard *shard)
{
    return calls_at(shard) + (has_calls(residents, shard) ? calls_bytes(shard) : 0);
}

// Bindings name host memory where they are scalars, and the initial state lies there, too: copies, at addresses that
// the group can use.
void slri_resident_equip(const struct slri_resident *resident, const struct slri_shard *shard)
{
    const struct slri_entry *handler = resident->handler;
    unsigned char *kit = shard->group.kit;
    struct slri_bound *bound = shard->group.kit;
    for (uint32_t i = 0; i < handler->bindings; ++i) {
        bound[i] = shard->bound[i];
        if (handler->binding[i].is_buffer || handler->binding[i].is_outlet)
            continue;
        bound[i].data = kit + scalars_at(handler) + i * 8u;
        memcpy(bound[i].data, shard->bound[i].data, shard->bound[i].bytes);
    }
    if (shard->initial_state)
        memcpy(kit + initial_at(handler), shard->initial_state, shard->state_bytes);
}

// Also of a shard that was asleep: the group serves it from now on.
static bool leaves_nothing(const struct slri_resident *resident, const struct slri_shard *shard)
{
    return !shard->states && shard->entry->bindings == 0 && resident->of->module->globals == 0;
}

static void set_up_entry(struct slri_resident *resident, struct slri_resident_record *record,
                         struct slri_resident_entry *entry)
{
    struct slri_shard *shard = record->shard;
    __atomic_store_n(&shard->asleep, 0, __ATOMIC_RELAXED);
    record->awake = true;
    unsigned char *near = shard->group.near_memory ? slri_piece_address(shard->group.near_memory) : NULL;
    const bool has_near_states = near && shard->states;
    *entry = (struct slri_resident_entry){
        .shared = (uintptr_t)shard->shared,
        .own = (uintptr_t)(near ? (void *)near : shard->own),
        .states = (uintptr_t)(has_near_states ? near + slri_resident_near_own_bytes(shard) : shard->states),
        .own_home = near ? (uintptr_t)shard->own : 0,
        .states_home = near ? (uintptr_t)shard->states : 0,
        .states_bytes = shard->states_bytes,
        .own_words = shard->own_words,
        .records = slri_resident_records(resident, (uint32_t)(record - resident->record)),
        .flags = (uintptr_t)shard->group.near_flags,
        .initial_state = shard->initial_state ? (uintptr_t)shard->group.kit + initial_at(shard->entry) : 0,
        .bound = (uintptr_t)shard->group.kit,
        .calls = has_calls(resident->residents, shard) ? (uintptr_t)shard->group.kit + calls_at(shard) : 0,
        .state_stride = shard->state_stride,
        .state_bytes = shard->state_bytes,
        .fuel = shard->fuel,
        .shards = shard->shards,
        .passage = (uintptr_t)shard->route.passage,
        .used = leaves_nothing(resident, shard) ? SLRI_RESIDENT_FREE : SLRI_RESIDENT_ORDERED,
        .judges = shard->calls.faulted != NULL,
        .ahead_ns = resident->ahead_of_host_ns};
}

// ---- telling the ring layer ---------------------------------------------------------------------------------------

static bool is_over(uint32_t state)
{
    return state == MB_ENDED || state == MB_STOPPED;
}

// The shard is no longer ours behind this.
static void forget(struct slri_resident *resident, struct slri_resident_record *record, uint32_t state)
{
    struct slri_shard *shard = record->shard;
    slri_resident_forget_records(resident, (uint32_t)(record - resident->record));
    *record = (struct slri_resident_record){0};
    __atomic_fetch_sub(&resident->shards, 1, __ATOMIC_RELAXED);
    slri_groups_forsake(resident->residents, shard);
    shard->calls.answered(shard, state);
}

// Retired is what changes with every batch that is published, and behind its replies: the sum of its two parts.
static uint32_t count_retired(const struct slri_shard *shard)
{
    uint32_t *S = shard->shared, owner = mb_owner(S, shard->number);
    return MB_ACQUIRE(owner + MB_RETIRED) + MB_ACQUIRE(owner + MB_GRANTED_RETIRED);
}

static bool tell_published(const struct slri_resident *resident, struct slri_resident_record *record)
{
    struct slri_shard *shard = record->shard;
    uint32_t retired = count_retired(shard);
    if (shard->route.passage)
        shard->relay->passed_on(shard);
    if (retired == record->retired)
        return false;
    slri_resident_count_untimed(resident, shard, retired - record->counted);
    record->retired = record->counted = retired;
    shard->calls.published(shard, SLRI_ALL_PORTS);
    return true;
}

// Hold, await held, operate, release; a step a look, so that a handler that runs long keeps nobody else waiting.
static void operate(struct slri_shard *shard, struct slri_resident_entry *entry)
{
    if ((entry->hold & 1) == 0) {
        // `operate` takes the lock under which it is set
        if (__atomic_load_n(&shard->turn.asked, __ATOMIC_RELAXED) == SLRI_ASKED)
            __atomic_store_n(&entry->hold, entry->hold + 1, __ATOMIC_RELEASE);
    } else if (acquire(&entry->held) == entry->hold) { // what the group did with the states
        shard->turn.at_rest = false;
        shard->calls.operate(shard);
        __atomic_store_n(&entry->hold, entry->hold + 1, __ATOMIC_RELEASE); // what was done to the states
    }
}

// A look at a shard that the group owns. `left` is read first: behind it nothing changes any more, so all that is read
// after it is final.
static void watch(struct slri_resident *resident, uint32_t i)
{
    struct slri_resident_record *record = &resident->record[i];
    struct slri_resident_entry *entry = &resident->table->entry[i];
    struct slri_shard *shard = record->shard;
    uint32_t *S = shard->shared;
    bool left = acquire(&entry->left) != 0;
    uint32_t faulted = acquire(&entry->faulted);
    tell_published(resident, record);
    slri_resident_drain(resident, i, left);
    if (faulted != entry->judged) {
        for (uint32_t n = entry->judged; n != faulted; ++n) // more than one where a call of many messages has faulted
            shard->calls.faulted(shard);
        __atomic_store_n(&entry->judged, faulted, __ATOMIC_RELEASE); // a command that the judgement gave
    }
    uint32_t answer = MB_ACQUIRE(mb_owner(S, shard->number) + MB_ANSWER);
    if (left) {
        forget(resident, record, answer & 7u);
        return;
    }
    if (answer != record->answer && !is_over(answer & 7u)) { // an end is told when the group has left
        record->answer = answer;
        shard->calls.answered(shard, answer & 7u);
    }
    operate(shard, entry);
}

// ---- while no launch runs: the poller owns the shards --------------------------------------------------------------

// Tells what an own look has changed. True: the shard is over, and gone.
static bool tell_state(struct slri_resident *resident, struct slri_resident_record *record)
{
    struct slri_shard *shard = record->shard;
    const uint32_t *P = shard->own;
    if (P[MBP_CONTROL] == shard->host.told_control && P[MBP_STATE] == shard->host.told_state)
        return false;
    shard->host.told_control = P[MBP_CONTROL];
    shard->host.told_state = P[MBP_STATE];
    if (is_over(P[MBP_STATE])) {
        forget(resident, record, P[MBP_STATE]);
        return true;
    }
    shard->calls.answered(shard, P[MBP_STATE]);
    return false;
}

// Whether a shard that was asleep has been woken: who takes `asleep` back to 0 leaves it to us. Acquire: what it did
// before.
static bool was_woken(const struct slri_shard *shard)
{
    return __atomic_load_n(&shard->asleep, __ATOMIC_ACQUIRE) == 0;
}

// Lets a shard fall asleep, as owner.c does: announce, full fence, look again. Obeys control while it looks, which
// needs no group. True: it wants one.
static bool wants_group(struct slri_resident *resident, struct slri_resident_record *record)
{
    struct slri_shard *shard = record->shard;
    for (int tries = 0; tries < 4; ++tries) { // a look that obeys a command is followed by another
        shard->turn.at_rest = true;
        if (__atomic_load_n(&shard->turn.asked, __ATOMIC_RELAXED))
            shard->calls.operate(shard);
        uint32_t kind = slri_shard_sleep_kind(shard);
        __atomic_store_n(&shard->asleep, kind, __ATOMIC_RELEASE);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        if (slri_shard_may_sleep(shard) && slri_shard_sleep_kind(shard) == kind) {
            record->awake = false;
            return false;
        }
        __atomic_exchange_n(&shard->asleep, 0, __ATOMIC_ACQ_REL); // where others did, they only ring once too often
        if (tell_state(resident, record))
            return false;
    }
    return true;
}

static bool turn_of(struct slri_resident *resident, struct slri_resident_record *record)
{
    if (record->fresh) { // it shall find its group running
        record->fresh = false;
        record->awake = true;
        return true;
    }
    if (!record->awake && !was_woken(record->shard))
        return false;
    record->awake = true;
    return wants_group(resident, record);
}

// ---- launching, ending, losing -------------------------------------------------------------------------------------

static void adopt(struct slri_resident *resident)
{
    struct slri_shard *shard = __atomic_exchange_n(&resident->incoming, NULL, __ATOMIC_ACQUIRE);
    while (shard) {
        struct slri_shard *next = shard->host.next;
        uint32_t i = 0;
        while (resident->record[i].shard) // slri_resident_start has counted: there is one
            ++i;
        resident->record[i] = (struct slri_resident_record){
            .shard = shard, .counted = count_retired(shard), .fresh = true, .awake = true};
        shard = next;
    }
}

// What a group that was lost had in hand: what it had handled is told, the rest is in doubt.
static void give_up_batch(struct slri_shard *shard)
{
    uint32_t *S = shard->shared, *P = shard->own, owner = P[MBP_OWNER];
    if (shard->group.near_memory)
        slri_resident_recover(shard);
    uint32_t batch = P[MBP_BATCH_COUNT];
    uint32_t done = P[MBP_HANDLED] + P[MBP_FAULTED] - MB_LOAD(owner + MB_HANDLED) - MB_LOAD(owner + MB_FAULTED);
    P[MBP_BATCH_COUNT] = slri_shard_doubt(shard, done, batch);
    done = P[MBP_BATCH_COUNT];
    if (shard->route.passage)
        shard->relay->flush(shard);
    mb_finish(S, P);
    if (done < batch)
        mb_keep_rest(S, P, done, batch);
}

// The launch has failed, or its kernel has: nothing runs. Where one has run, `had_run`.
static void lose(struct slri_resident *resident, bool had_run, const char *why)
{
    resident->retry_ns = slri_deadline_after(RETRY_NS);
    for (uint32_t i = 0; i < SLRI_RESIDENT_SHARDS; ++i) {
        struct slri_resident_record *record = &resident->record[i];
        if (!record->shard)
            continue;
        if (had_run) {
            slri_resident_drain(resident, i, true);
            give_up_batch(record->shard);
        }
    }
    for (uint32_t i = 0; i < SLRI_RESIDENT_SHARDS; ++i) {
        struct slri_resident_record *record = &resident->record[i];
        if (!record->shard)
            continue;
        record->shard->relay->lost(record->shard);
        tell_published(resident, record);
        record->awake = true;
        record->shard->calls.lost(record->shard, why);
    }
    slri_resident_forget_clock(resident);
    end_run(resident); // last: who waits for it reads and counts what is at home
}

static void launch(struct slri_resident *resident)
{
    struct slri_resident_table *table = resident->table;
    if (!begin_run(resident)) {
        end_run(resident);
        return;
    }
    table->entries = 0;
    slri_resident_observe(resident);
    slri_resident_begin_clock(resident);
    for (uint32_t i = 0; i < SLRI_RESIDENT_SHARDS; ++i) {
        struct slri_resident_record *record = &resident->record[i];
        table->entry[i].used = 0;
        if (!record->shard)
            continue;
        set_up_entry(resident, record, &table->entry[i]);
        table->entries = i + 1;
    }
    table->launch = resident->launches + 1;
    __atomic_store_n(&resident->launches, table->launch, __ATOMIC_RELAXED); // for who presses: a number alone
    table->most_idle = MOST_IDLE_PASSES;
    table->ns_per_tick = slri_tick_line.ns_per_tick;
    resident->looks = 0;
    if (slri_loss_seen(resident->residents->loss, resident->residents->ops->launch(resident)) != SLR_OK)
        lose(resident, false, slr_error_message());
}

// One who is late names a launch that has gone.
void slri_resident_ask_to_end(struct slri_resident *resident)
{
    uint32_t launch = __atomic_load_n(&resident->launches, __ATOMIC_RELAXED);
    __atomic_store_n(&resident->table->stop, launch, __ATOMIC_RELEASE); // nothing comes with it
}

static bool has_shards(const struct slri_resident *resident)
{
    for (uint32_t i = 0; i < SLRI_RESIDENT_SHARDS; ++i)
        if (resident->record[i].shard)
            return true;
    return false;
}

// Whether somebody waits for a launch to end, to change what it works with.
static bool must_rest(const struct slri_resident *resident)
{
    for (uint32_t i = 0; i < SLRI_RESIDENT_SHARDS; ++i)
        if (resident->record[i].shard &&
            __atomic_load_n(&resident->record[i].shard->turn.asked, __ATOMIC_RELAXED) == SLRI_ASKED_AT_REST)
            return true;
    return false;
}

static bool has_gone(const struct slri_resident *resident)
{
    return acquire(&resident->table->gone) == resident->launches; // all that the group did
}

// ---- failing -------------------------------------------------------------------------------------------------------
//
// After a look that failed the kernel may still run. Its shards are its own until its end is acknowledged: by its last
// word, or by the vendor. No time stands for that: a thread of a driver may get no core for longer than any.

// No acknowledgement by the deadline. The ring kernels fail, so that nobody waits for them. The shards stay the
// group's: their owner never says that it is over, so the ring layer frees none of their memory.
static void tell_unheard(struct slri_resident *resident)
{
    resident->is_unheard = true;
    __atomic_fetch_add(&resident->residents->unheard, 1, __ATOMIC_RELAXED); // a count alone
    for (uint32_t i = 0; i < SLRI_RESIDENT_SHARDS; ++i)
        if (resident->record[i].shard)
            resident->record[i].shard->calls.lost(resident->record[i].shard, resident->why);
}

static bool has_vendor_acknowledged(struct slri_resident *resident)
{
    enum slri_resident_look look = resident->residents->ops->look(resident);
    return look == SLRI_RESIDENT_ENDED || look == SLRI_RESIDENT_FAILED_AND_OVER;
}

static void watch_failing(struct slri_resident *resident)
{
    bool asks = !resident->is_unheard || ++resident->looks % LOOKS_A_QUESTION == 0;
    if (has_gone(resident) || (asks && has_vendor_acknowledged(resident))) {
        if (resident->is_unheard)
            __atomic_fetch_sub(&resident->residents->unheard, 1, __ATOMIC_RELAXED);
        resident->is_failing = resident->is_unheard = false;
        lose(resident, true, resident->why);
    } else if (!resident->is_unheard && slri_passed(resident->heard_by_ns)) {
        tell_unheard(resident);
    }
}

static void begin_failing(struct slri_resident *resident)
{
    slri_text_fit(resident->why, sizeof resident->why, slr_error_message());
    resident->is_failing = true;
    resident->heard_by_ns = slri_deadline_after(HEARD_NS);
    slri_resident_ask_to_end(resident); // if only the question has failed
    watch_failing(resident);
}

static void watch_all(struct slri_resident *resident)
{
    for (uint32_t i = 0; i < resident->table->entries; ++i)
        if (resident->record[i].shard)
            watch(resident, i);
}

// A look at a group that runs. It may go on to be one that does not.
static void watch_group(struct slri_resident *resident)
{
    bool gone = has_gone(resident);
    bool wants_other = slri_resident_compare_clocks(resident);
    watch_all(resident); // behind `gone`: its last words
    if (gone) {
        for (uint32_t i = 0; i < SLRI_RESIDENT_SHARDS; ++i)
            if (resident->record[i].shard)
                slri_resident_drain(resident, i, true);
        end_run(resident);
        for (uint32_t i = 0; i < SLRI_RESIDENT_SHARDS; ++i)
            if (resident->record[i].shard)
                tell_state(resident, &resident->record[i]);
        return;
    }
    if (wants_other || __atomic_load_n(&resident->incoming, __ATOMIC_RELAXED) || !has_shards(resident) ||
        must_rest(resident) || __atomic_load_n(&resident->residents->parked, __ATOMIC_RELAXED))
        slri_resident_ask_to_end(resident);
    if (++resident->looks % LOOKS_A_QUESTION != 0)
        return;
    enum slri_resident_look look = resident->residents->ops->look(resident);
    if (look >= SLRI_RESIDENT_FAILED)
        begin_failing(resident);
    else if (look == SLRI_RESIDENT_ENDED && !has_gone(resident))
        lose(resident, true, "the persistent kernel ended unexpectedly");
}

bool slri_resident_step(struct slri_resident *resident)
{
    if (resident->running && resident->is_failing)
        watch_failing(resident);
    else if (resident->running)
        watch_group(resident);
    if (resident->running)
        return true;
    adopt(resident);
    bool wanted = false;
    slri_mutex_lock(&resident->residents->home);
    for (uint32_t i = 0; i < SLRI_RESIDENT_SHARDS; ++i)
        if (resident->record[i].shard)
            wanted = turn_of(resident, &resident->record[i]) || wanted;
    slri_mutex_unlock(&resident->residents->home);
    if (wanted && slri_passed(resident->retry_ns))
        launch(resident);
    return resident->running || wanted;
}
