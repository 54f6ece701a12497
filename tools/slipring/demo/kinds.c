// SPDX-License-Identifier: Apache-2.0
// `slipring demo ward --classify`: a second ring kernel, whose bindings are the weights of a network that was just
// trained, classifies the beats that part one has found.
#include "demo/train.h"

#include "clock.h"
#include "interrupt.h"
#include "memory.h"
#include "say.h"

#include <stdlib.h>

enum { EPOCHS = 5, SEED = 1 };

// Where in the recording each beat is that was sent and not replied yet: a patient's replies come in order.
typedef struct sent {
    unsigned at[DEMO_MOST_BEATS];
    size_t count, replied;
} sent;

typedef struct classifying {
    demo *demo;
    demo_sets sets;
    beats_result result;
    slr_program *program;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
    sent *sent; // a patient each
} classifying;

// The reference beat that a detector means, or NULL.
static const bool *reference_of(const beats_set *set, unsigned at)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->at[i] + WARD_TOLERANCE_SAMPLES >= at && set->at[i] <= at + WARD_TOLERANCE_SAMPLES)
            return &set->premature[i];
    }
    return NULL;
}

static void take(classifying *c, uint32_t patient, const struct beat_kind *kind)
{
    sent *sent = &c->sent[patient];
    const bool *premature = reference_of(&c->sets.test, sent->at[sent->replied++]);
    c->demo->kinds.beats++;
    c->demo->kinds.premature += kind->premature;
    if (premature == NULL)
        return; // the network was trained with it, or the reference has no such beat
    c->demo->kinds.compared++;
    c->demo->kinds.missed += *premature && !kind->premature;
    c->demo->kinds.alarms += !*premature && kind->premature;
}

// SLR_TIMEOUT: no reply now; SLR_END: no more will come.
static slr_status receive_kinds(classifying *c, uint64_t timeout_ns)
{
    static slr_reply replies[DEMO_BATCH];
    static struct beat_kind kinds[DEMO_BATCH];
    uint32_t received = 0;
    slr_status status = slr_receive_many(c->port, replies, kinds, sizeof *kinds, DEMO_BATCH, timeout_ns, &received);
    for (uint32_t i = 0; status == SLR_OK && i < received; i++) {
        if (replies[i].status == SLR_OK)
            take(c, replies[i].from.instance, &kinds[i]);
        else
            status = replies[i].status; // the order would be lost
    }
    return status;
}

static slr_status send_beat(classifying *c, uint32_t patient, unsigned at)
{
    struct beat_window window;
    uint32_t accepted = 0;
    slr_status status = SLR_OK;
    for (int i = 0; i < BEATS_WINDOW; i++)
        window.adc[i] = c->demo->record->adc[at - BEATS_BEFORE + (unsigned)i];
    while (status == SLR_OK && accepted == 0) {
        status = slr_send_many(c->port, c->to, &patient, &window, sizeof window, 1, 1000000, &accepted);
        if (status == SLR_TIMEOUT || status == SLR_FULL)
            status = SLR_OK;
        if (accepted > 0)
            c->sent[patient].at[c->sent[patient].count++] = at;
        while (status == SLR_OK && (status = receive_kinds(c, 0)) == SLR_OK)
            ;
        if (status == SLR_TIMEOUT)
            status = SLR_OK;
    }
    return status;
}

static slr_status send_beats(classifying *c, const demo_beats *found, uint32_t patients)
{
    slr_status status = SLR_OK;
    uint64_t all = 0;
    for (uint32_t patient = 0; patient < patients && status == SLR_OK && !interrupted(); patient++) {
        for (size_t i = 0; i < found[patient].count && status == SLR_OK; i++) {
            unsigned at = (found[patient].all[i].at + demo_offset(patient)) % DEMO_SAMPLES;
            if (at < BEATS_BEFORE || at + BEATS_WINDOW - BEATS_BEFORE > DEMO_SAMPLES)
                continue; // the recording begins or ends within it
            status = send_beat(c, patient, at);
            all++;
        }
    }
    if (status == SLR_OK)
        status = slr_ring_close_input(c->ring);
    if (status == SLR_OK && all == 0)
        return SLR_OK;
    while (status == SLR_OK)
        status = receive_kinds(c, DEMO_TIMEOUT_NS);
    return status == SLR_END ? SLR_OK : status;
}

static slr_status classify_all(classifying *c, const demo_beats *found, uint32_t patients)
{
    demo *demo = c->demo;
    demo_sets_make(demo->record, &c->sets);
    slr_status status = demo_train(demo->device, demo->record, &c->sets, BEATS_WAY_FLOAT, EPOCHS, SEED, &c->result);
    demo->kinds.train_seconds = c->result.seconds;
    demo->kinds.accuracy = c->result.tested.accuracy;
    char *source = demo_beats_source_make();
    if (status == SLR_OK)
        status = beats_ring_open(demo->device, source, &c->result, patients, &c->program, &c->ring);
    free(source);
    if (status == SLR_OK)
        status = slr_port_open(demo->device, &c->port);
    if (status == SLR_OK)
        status = slr_ring_get_address(c->ring, 0, &c->to);
    uint64_t start = clock_ns();
    if (status == SLR_OK)
        status = send_beats(c, found, patients);
    demo->kinds.seconds = (double)(clock_ns() - start) / (double)SECOND_NS;
    return status;
}

bool demo_classify(demo *demo, const demo_beats *found, uint32_t patients)
{
    classifying *c = memory_take(1, sizeof *c);
    c->demo = demo;
    c->sent = memory_take(patients, sizeof *c->sent);
    slr_status status = classify_all(c, found, patients);
    if (status != SLR_OK)
        say_failure(status, "the beats' kinds");
    slr_port_close(c->port);
    slr_ring_destroy(c->ring);
    slr_program_destroy(c->program);
    beats_result_free(&c->result);
    free(c->sent);
    free(c);
    return status == SLR_OK;
}
