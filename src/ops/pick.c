// SPDX-License-Identifier: Apache-2.0
// What was measured is kept twice: in the object, and in the tuner's file of the device, for later processes.
#include "ops/pick.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "device/kernel.h"
#include "device/stream.h"
#include "engine/observe.h"
#include "tune/record.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 5
#define LIMIT_NS 60000000000ull

struct slri_picked {
    struct slri_picked *next;
    char key[SLRI_PICK_KEY_BYTES];
    uint64_t sizes[3];
    char name[32];
};

// By deterministic mode alone.
static const char kept_out[] = "its results may differ from run to run, and slr_ops_desc.deterministic is set";

static bool is_kept_out(const struct slri_contender *contender)
{
    return contender->why_not == kept_out;
}

void slri_pick_restrict(const slr_ops *ops, struct slri_pick *pick)
{
    for (uint32_t i = 0; i < pick->count; ++i) {
        struct slri_contender *each = &pick->contender[i];
        if (!each->why_not && each->workspace_bytes > ops->desc.workspace_bytes)
            each->why_not = "it needs more workspace than slr_ops_desc.workspace_bytes";
        if (!each->why_not && ops->desc.deterministic && !each->deterministic)
            each->why_not = kept_out;
    }
    while (pick->heuristic + 1 < pick->count && pick->contender[pick->heuristic].why_not)
        pick->heuristic++;
    for (uint32_t i = 0; pick->contender[pick->heuristic].why_not && i < pick->count; ++i)
        pick->heuristic = i;
}

// ---- what is known --------------------------------------------------------------------------------------------------

static bool is_usable(struct slri_pick *pick, const char *name, uint32_t *out)
{
    for (*out = 0; *out < pick->count; ++*out)
        if (strcmp(pick->contender[*out].name, name) == 0)
            return !pick->contender[*out].why_not;
    return false;
}

static void source_of(char out[SLRI_HASH_HEX_BYTES])
{
    slri_hash hash;
    slri_hash_init(&hash);
    for (int i = 0; i < SLRI_OPS_SOURCES; ++i) {
        char *text = slri_ops_source((enum slri_ops_source)i);
        slri_hash_field(&hash, text ? text : "", text ? strlen(text) : 0);
        free(text);
    }
    slri_hash_hex(&hash, out);
}

static bool is_known(slr_ops *ops, struct slri_pick *pick, uint32_t *out)
{
    bool found = false;
    slri_mutex_lock(&ops->lock);
    for (struct slri_picked *each = ops->picked; each && !found; each = each->next)
        found = strcmp(each->key, slri_pick_key(pick)) == 0 &&
                memcmp(each->sizes, pick->sizes, sizeof each->sizes) == 0 && is_usable(pick, each->name, out);
    slri_mutex_unlock(&ops->lock);
    return found;
}

// In front of what was known before. Out of memory it is measured again.
static void remember(slr_ops *ops, struct slri_pick *pick, uint32_t winner)
{
    struct slri_picked *each = slri_alloc(ops->device->allocator, sizeof *each);
    if (!each)
        return;
    *each = (struct slri_picked){0};
    memcpy(each->key, slri_pick_key(pick), sizeof each->key);
    memcpy(each->sizes, pick->sizes, sizeof each->sizes);
    snprintf(each->name, sizeof each->name, "%s", pick->contender[winner].name);
    slri_mutex_lock(&ops->lock);
    each->next = ops->picked;
    ops->picked = each;
    slri_mutex_unlock(&ops->lock);
}

void slri_picked_free(slr_ops *ops)
{
    while (ops->picked) {
        struct slri_picked *next = ops->picked->next;
        slri_free(ops->device->allocator, ops->picked, sizeof *ops->picked);
        ops->picked = next;
    }
}

static bool is_recorded(slr_ops *ops, struct slri_pick *pick, uint32_t *out)
{
    char source[SLRI_HASH_HEX_BYTES];
    struct slri_tuned_record *record = NULL;
    uint32_t count = 0;
    bool found = false;
    source_of(source);
    if (slri_tuned_records(ops->device, source, &record, &count) != SLR_OK)
        return false;
    for (uint32_t i = 0; i < count && !found; ++i)
        found = strcmp(record[i].kernel, slri_pick_key(pick)) == 0 &&
                memcmp(record[i].threads, pick->sizes, sizeof pick->sizes) == 0 &&
                is_usable(pick, record[i].defines + strcspn(record[i].defines, "=") + 1, out);
    slri_free(NULL, record, count * sizeof *record);
    if (found)
        remember(ops, pick, *out);
    return found;
}

// Without a cache folder only this process knows.
static void record_choice(slr_ops *ops, struct slri_pick *pick, uint32_t winner)
{
    struct slri_tuned_place place;
    struct slri_tuned_record record = {.metric = "time", .low_permille = 1000, .high_permille = 1000};
    const struct slri_contender *best = &pick->contender[winner], *usual = &pick->contender[pick->heuristic];
    source_of(record.source);
    snprintf(record.kernel, sizeof record.kernel, "%s", slri_pick_key(pick));
    memcpy(record.threads, pick->sizes, sizeof record.threads);
    snprintf(record.defines, sizeof record.defines, "ALGORITHM=%s", best->name);
    record.default_ps = usual->ns * 1000;
    record.tuned_ps = best->ns * 1000;
    record.evaluations = pick->count;
    slri_tuned_place(ops->device, &place);
    slr_status status = slri_tuned_keep(&place, &record);
    (void)status;
}

// ---- measuring ------------------------------------------------------------------------------------------------------

static slr_status time_one(slr_stream *stream, struct slri_pick *pick, uint32_t which, bool counts)
{
    uint64_t begin = slri_now_ns();
    SLRI_TRY(pick->run(pick->user, which, stream));
    SLRI_TRY(slr_stream_finish(stream, LIMIT_NS));
    uint64_t ns = slri_now_ns() - begin;
    struct slri_contender *each = &pick->contender[which];
    if (counts && (each->ns == 0 || ns < each->ns))
        each->ns = ns ? ns : 1;
    return SLR_OK;
}

// To the profiler: the fastest, and what deterministic mode costs.
static void report(slr_device *device, struct slri_pick *pick, uint32_t winner)
{
    const struct slri_contender *out = NULL;
    for (uint32_t i = 0; i < pick->count; ++i)
        if (is_kept_out(&pick->contender[i]) && (!out || pick->contender[i].ns < out->ns))
            out = &pick->contender[i];
    slri_observe_algorithm(device, slri_pick_key(pick), pick->contender[winner].name, false,
                           pick->contender[winner].ns);
    if (out)
        slri_observe_algorithm(device, slri_pick_key(pick), out->name, true, out->ns);
}

// In turn, so that what slows the machine slows all. The first round compiles. While somebody profiles, what
// deterministic mode keeps out is timed, too, and never chosen.
static slr_status measure(slr_stream *stream, struct slri_pick *pick, uint32_t *winner)
{
    SLRI_TRY(slr_stream_finish(stream, LIMIT_NS));
    for (uint32_t round = 0; round <= ROUNDS; ++round)
        for (uint32_t i = 0; i < pick->count; ++i)
            if (!pick->contender[i].why_not || (is_kept_out(&pick->contender[i]) && slri_is_observed()))
                SLRI_TRY(time_one(stream, pick, i, round > 0));
    *winner = pick->heuristic;
    for (uint32_t i = 0; i < pick->count; ++i)
        if (!pick->contender[i].why_not && pick->contender[i].ns < pick->contender[*winner].ns)
            *winner = i;
    if (slri_is_observed())
        report(stream->device, pick, *winner);
    return SLR_OK;
}

static bool is_recording(slr_stream *stream)
{
    slri_queues_lock();
    bool is = stream->recording != NULL;
    slri_queues_unlock();
    return is;
}

static slr_status check_any(struct slri_pick *pick)
{
    const struct slri_contender *usual = &pick->contender[pick->heuristic];
    return usual->why_not ? SLRI_FAIL(UNSUPPORTED, "%s: no algorithm can do this; %s: %s", slri_pick_key(pick),
                                      usual->name, usual->why_not)
                          : SLR_OK;
}

slr_status slri_pick_choose(slr_ops *ops, slr_stream *stream, struct slri_pick *pick, uint32_t *out)
{
    if (is_recording(stream))
        for (uint32_t i = 0; i < pick->count; ++i)
            if (strcmp(pick->contender[i].provider, "own") != 0)
                pick->contender[i].why_not = "a recorded graph takes kernels alone";
    SLRI_TRY(slri_device_check_process(ops->device));
    slri_pick_restrict(ops, pick);
    SLRI_TRY(check_any(pick));
    *out = pick->heuristic;
    // A record does not say what deterministic mode costs.
    const bool measures = slri_is_observed() && ops->desc.deterministic != 0;
    if (ops->desc.choice != SLR_CHOICE_BENCHMARK || is_known(ops, pick, out) ||
        (!measures && is_recorded(ops, pick, out)))
        return SLR_OK;
    *out = pick->heuristic;
    if (is_recording(stream))
        return SLR_OK;
    SLRI_TRY(measure(stream, pick, out));
    remember(ops, pick, *out);
    record_choice(ops, pick, *out);
    return SLR_OK;
}

slr_status slri_pick_bench(slr_ops *ops, slr_stream *stream, struct slri_pick *pick, slr_algorithm_visitor *visit,
                           void *user)
{
    uint32_t winner;
    if (is_recording(stream))
        return SLRI_FAIL(WRONG_STATE, "%s: the stream is recording a graph, and nothing can be timed",
                         slri_pick_key(pick));
    SLRI_TRY(slri_device_check_process(ops->device));
    slri_pick_restrict(ops, pick);
    SLRI_TRY(check_any(pick));
    SLRI_TRY(measure(stream, pick, &winner));
    remember(ops, pick, winner);
    record_choice(ops, pick, winner);
    for (uint32_t i = 0; i < pick->count; ++i) {
        const struct slri_contender *each = &pick->contender[i];
        slr_algorithm told = {each->name,
                              each->provider,
                              each->why_not ? 0 : each->ns,
                              pick->flops,
                              each->workspace_bytes,
                              each->deterministic,
                              i == winner ? 1u : 0,
                              each->why_not ? each->why_not : ""};
        visit(user, &told);
    }
    return SLR_OK;
}
