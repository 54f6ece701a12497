// SPDX-License-Identifier: Apache-2.0
// What groups tell the profiler and the trace: a record a batch, in a ring of them a shard, which the group fills and
// the poller empties. A full ring costs records, which are counted, and never a wait. Nothing is kept while nobody
// watches. Their times are of the device's clock (resident_clock.c). Of timed messages the group counts the times in a
// histogram, also while nobody watches: the profiler is told what is new in there.
#include "base/alloc.h"
#include "base/clock.h"
#include "engine/observe.h"
#include "engine/resident.h"

#define TELL_NS 1000000u // from one telling to the next, of 0.3 us or more a shard

void slri_resident_observe(struct slri_resident *resident)
{
    resident->observed = resident->has_clock && slri_is_observed();
}

// No group runs: what the histogram holds is of before, the first time.
static void begin_telling(struct slri_resident *resident, struct slri_resident_record *record)
{
    const struct slri_histogram *now = record->shard->notes.latency;
    if (record->told || !slri_resident_times(resident, record->shard))
        return;
    record->told = slri_alloc(NULL, sizeof *record->told); // zeroed
    if (record->told)
        slri_histogram_tell(NULL, now, record->told);
}

static void end_telling(struct slri_resident_record *record)
{
    slri_free(NULL, record->told, sizeof *record->told);
    record->told = NULL;
}

static void tell_messages(struct slri_resident_record *record, bool is_last)
{
    const struct slri_histogram *now = record->shard->notes.latency;
    if (!record->told)
        return;
    if (!is_last) {
        // Relaxed: a number. One that took no time at all waits for others, or for the end.
        if (__atomic_load_n(&now->sum, __ATOMIC_RELAXED) == record->told->sum || !slri_passed(record->tell_ns))
            return;
        record->tell_ns = slri_deadline_after(TELL_NS);
    }
    slri_observe_messages(record->shard, now, record->told);
}

// Without memory none are kept.
uint64_t slri_resident_records(struct slri_resident *resident, uint32_t i)
{
    struct slri_resident_record *record = &resident->record[i];
    void *made;
    record->dropped = 0;
    if (!resident->observed) {
        end_telling(record);
        return 0;
    }
    begin_telling(resident, record);
    const bool waits = resident->residents->ops->waits_for_memory;
    if (!record->records && resident->backend->memory_create(resident->residents->device,
                                                             waits ? SLRI_MEMORY_SHARED_AT_ONCE : SLRI_MEMORY_SHARED,
                                                             SLRI_RESIDENT_RECORDS_BYTES, &made) == SLR_OK)
        record->records = made;
    return (uintptr_t)record->records;
}

void slri_resident_forget_records(struct slri_resident *resident, uint32_t i)
{
    struct slri_resident_record *record = &resident->record[i];
    if (record->records)
        slri_resident_memory_destroy(resident, record->records, SLRI_RESIDENT_RECORDS_BYTES);
    record->records = NULL;
    end_telling(record);
}

static void count_dropped(struct slri_shard *shard, uint32_t records)
{
    const struct slri_batch_seen seen = {.missing = records};
    if (records == 0)
        return;
    __atomic_fetch_add(&shard->watch.records_dropped, records, __ATOMIC_RELAXED); // a count alone
    slri_observe_batch(shard, &seen);
}

void slri_resident_count_untimed(const struct slri_resident *resident, struct slri_shard *shard, uint32_t messages)
{
    const struct slri_batch_seen seen = {.untimed = messages};
    if (!resident->has_clock && slri_is_observed())
        slri_observe_batch(shard, &seen);
}

void slri_resident_drain(struct slri_resident *resident, uint32_t i, bool is_last)
{
    struct slri_resident_record *record = &resident->record[i];
    struct slri_resident_entry *entry = &resident->table->entry[i];
    tell_messages(record, is_last);
    if (entry->records == 0)
        return;
    uint32_t written = __atomic_load_n(&entry->written, __ATOMIC_ACQUIRE); // the records
    uint32_t dropped = __atomic_load_n(&entry->dropped, __ATOMIC_RELAXED), read = entry->read;
    count_dropped(record->shard, dropped - record->dropped);
    record->dropped = dropped;
    if (!resident->is_paired && !is_last) // nobody knows when that was, yet
        return;
    if (!resident->is_paired)
        count_dropped(record->shard, written - read);
    for (; resident->is_paired && read != written; ++read) {
        const struct slri_resident_record_of_batch *batch = &record->records[read % SLRI_RESIDENT_RECORDS];
        const struct slri_batch_seen seen = {.begin_ns = batch->taken_ns - resident->ahead_ns,
                                             .duration_ns = batch->duration_ns,
                                             .handlers_ns = batch->duration_ns,
                                             .messages = batch->messages};
        slri_observe_batch(record->shard, &seen);
    }
    __atomic_store_n(&entry->read, written, __ATOMIC_RELEASE); // their places may be written again
}
