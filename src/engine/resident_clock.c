// SPDX-License-Identifier: Apache-2.0
// The clock of a kernel that stays, beside the host's: for records of batches (resident_trace.c), and for messages that
// are timed, which the kernel itself counts.
//
// The host asks what the device's clock shows: the answer was given between the question and the host's look at it, so
// that is how exactly the two are known to each other; half of it is the most that a time is wrong.
#include "base/clock.h"
#include "base/thread.h"
#include "base/tick.h"
#include "engine/observe.h"
#include "engine/resident.h"

#define PAIR_NS 1000000000u // between two comparisons: 10 us, where the clocks differ by 10 parts in a million
#define TIMED_NS 10000000u  // and where messages are timed, that may take 5 us: 0.1 us
#define ANSWER_NS 20000u    // an answer is waited for so long, and then found by a later look
#define MOST_WIDE 8u        // of answers that took longer, before one of them is good enough for messages
#define DRIFT 50000u        // a comparison is worth less with time, by one part in so many

bool slri_resident_times(const struct slri_resident *resident, const struct slri_shard *shard)
{
    return resident->has_clock && shard->notes.latency;
}

void slri_resident_begin_clock(struct slri_resident *resident)
{
    resident->is_asked = false; // a question that the launch before has left unanswered would be an old one
    resident->next_pair_ns = 0;
    resident->timed = false;
    for (uint32_t i = 0; i < SLRI_RESIDENT_SHARDS; ++i)
        if (resident->record[i].shard && slri_resident_times(resident, resident->record[i].shard))
            resident->timed = true;
}

void slri_resident_forget_clock(struct slri_resident *resident)
{
    resident->is_paired = false;
    resident->pair_ns = 0;
    resident->ahead_of_host_ns = 0;
    resident->wide = 0;
}

// Of a shard's, the widest comparison that its times may have been taken by.
static void tell_group(struct slri_resident *resident, uint64_t off_ns)
{
    struct slri_resident_table *table = resident->table;
    uint32_t off = off_ns < UINT32_MAX ? (uint32_t)off_ns : UINT32_MAX;
    for (uint32_t i = 0; i < table->entries; ++i) {
        struct slri_shard *shard = resident->record[i].shard;
        if (!shard || !slri_resident_times(resident, shard))
            continue;
        if (off > __atomic_load_n(&shard->notes.latency_off_ns, __ATOMIC_RELAXED))
            __atomic_store_n(&shard->notes.latency_off_ns, off, __ATOMIC_RELAXED);
        __atomic_store_n(&table->entry[i].ahead_ns, resident->ahead_of_host_ns, __ATOMIC_RELAXED); // a number alone
    }
}

// The first comparison decides from which message on times are counted, and with a kernel that has yet to begin it is a
// wide one: then another is waited for, but not for ever.
static void pair_with_messages(struct slri_resident *resident, uint64_t width_ns)
{
    if (width_ns > ANSWER_NS)
        resident->next_pair_ns = resident->pair_ns + TIMED_NS / 10;
    if (resident->ahead_of_host_ns == 0 && width_ns > ANSWER_NS && ++resident->wide < MOST_WIDE)
        return;
    uint64_t ahead_ns = resident->table->clock_ns - (resident->asked_ns + width_ns / 2);
    resident->ahead_of_host_ns = ahead_ns != 0 ? ahead_ns : 1; // 0 says that it is not known
    tell_group(resident, width_ns / 2 + 1);
}

// Whether a comparison says more than the one before: it did not take much longer, or that one is old.
static bool is_better(const struct slri_resident *resident, uint64_t width_ns, uint64_t now_ns)
{
    return resident->pair_ns == 0 ||
           width_ns <= 2 * resident->pair_width_ns + ANSWER_NS + (now_ns - resident->pair_ns) / DRIFT;
}

static bool take_answer(struct slri_resident *resident)
{
    struct slri_resident_table *table = resident->table;
    if (__atomic_load_n(&table->answered, __ATOMIC_ACQUIRE) != table->asked) // the time that goes with it
        return false;
    uint64_t now_ns = slri_now_ns(), tick_ns = resident->observed ? slri_tick_ns() : 0;
    uint64_t width_ns = now_ns - resident->asked_ns;
    bool better = is_better(resident, width_ns, now_ns);
    resident->is_asked = false;
    resident->next_pair_ns = now_ns + (resident->timed ? TIMED_NS : PAIR_NS);
    if (resident->observed && (better || !resident->is_paired)) {
        resident->ahead_ns = table->clock_ns - (resident->asked_tick_ns + (tick_ns - resident->asked_tick_ns) / 2);
        resident->is_paired = true;
    }
    if (!better)
        return true;
    resident->pair_width_ns = width_ns;
    resident->pair_ns = now_ns;
    if (resident->timed)
        pair_with_messages(resident, width_ns);
    return true;
}

static void ask(struct slri_resident *resident)
{
    resident->is_asked = true;
    resident->asked_tick_ns = resident->observed ? slri_tick_ns() : 0; // who observes has begun it
    resident->asked_ns = slri_now_ns();
    __atomic_store_n(&resident->table->asked, resident->table->asked + 1, __ATOMIC_RELEASE); // nothing comes with it
    while (!take_answer(resident) && slri_now_ns() - resident->asked_ns < ANSWER_NS)
        slri_pause();
}

bool slri_resident_compare_clocks(struct slri_resident *resident)
{
    bool needs = resident->observed || resident->timed;
    if (needs && resident->is_asked)
        take_answer(resident);
    else if (needs && slri_now_ns() >= resident->next_pair_ns)
        ask(resident);
    return resident->has_clock && resident->observed != slri_is_observed();
}
