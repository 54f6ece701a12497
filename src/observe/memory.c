// SPDX-License-Identifier: Apache-2.0
// Memory of heaps: each taking is counted; in the trace it and each giving back are marks of the thread that does it,
// and steps of how much is live.
#include "memory/heap.h"
#include "observe/caller.h"
#include "observe/events.h"
#include "observe/names.h"
#include "observe/observe.h"

#include <stdio.h>

// A counter's name goes with the heap: two of one name and device are one counter.
static uint32_t counter_of(slr_heap *heap)
{
    char text[SLRI_NAME_BYTES];
    uint32_t name = __atomic_load_n(&heap->observed_name, __ATOMIC_RELAXED); // a number
    if (name != 0)
        return name;
    snprintf(text, sizeof text, "live bytes: %s%s%s", heap->name, heap->device ? " of " : "",
             heap->device ? slri_name_text(slri_device_name(heap->device)) : "");
    name = slri_name(text);
    __atomic_store_n(&heap->observed_name, name, __ATOMIC_RELAXED);
    return name;
}

static void trace_memory(struct slri_own *own, slr_heap *heap, const slr_memory_event *event)
{
    uint32_t file = event->file ? slri_name(event->file) : 0;
    const struct slri_trace_event told = {.begin_ns = slri_tick_ns(),
                                          .duration_ns = (uint64_t)file << 32 | event->line,
                                          .a = event->bytes,
                                          .b = event->live_bytes,
                                          .name = counter_of(heap),
                                          .kind = SLRI_EVENT_MEMORY,
                                          .category = (uint16_t)event->what};
    slri_events_add(own, &told);
}

static void count_memory(struct slri_own *own, slr_heap *heap, uint32_t kind, uint64_t bytes)
{
    uint32_t device = heap->device ? slri_device_name(heap->device) : 0;
    struct slri_row *row = slri_row(kind, slri_name(heap->name), device, 0);
    const struct slri_sample sample = {.bytes = bytes};
    if (row)
        slri_row_add(row, own, &sample);
}

// Whether what was refused would have fitted into the heap's free bytes, had they been one piece.
static bool is_fragmented(slr_heap *heap, uint64_t bytes)
{
    slr_heap_stats stats;
    return slr_heap_get_stats(heap, &stats) == SLR_OK && stats.free_bytes >= bytes;
}

void slri_note_memory(slr_heap *heap, const slr_memory_event *event)
{
    struct slri_own *own = slri_own();
    uint32_t watchers = __atomic_load_n(&slri_observed, __ATOMIC_ACQUIRE); // as slri_is_observed
    if (!own)
        return;
    if (watchers & SLRI_OBSERVE_PROFILE && event->what == SLR_MEMORY_TAKEN) {
        count_memory(own, heap, SLR_PROFILE_MEMORY, event->bytes);
        slri_caller_allocated(event->file, event->line, heap->device ? slri_device_name(heap->device) : 0,
                              event->bytes);
    }
    if (watchers & SLRI_OBSERVE_PROFILE && event->what == SLR_MEMORY_REFUSED && is_fragmented(heap, event->bytes))
        count_memory(own, heap, SLR_PROFILE_FRAGMENTED, event->bytes);
    if (watchers & SLRI_OBSERVE_TRACE && event->what != SLR_MEMORY_LEAKED)
        trace_memory(own, heap, event);
}
