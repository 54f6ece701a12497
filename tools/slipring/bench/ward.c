// SPDX-License-Identifier: Apache-2.0
// `slipring bench ward`: the heart monitor of 20,000 patients as fast as it goes, beside the same detector called in a
// loop on the same two cores, half of the patients on each. Both see the same messages and must find the same beats.
#include "bench/bench.h"

#include "bench/batch.h"
#include "clock.h"
#include "demo/demo.h"
#include "memory.h"
#include "plain.h"
#include "say.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    PATIENTS = 20000,
    SMALL_PATIENTS = 6, // of a test
    ROUNDS = 4,         // messages of each patient in a slice
    BATCH = DEMO_BATCH,
    QUEUE = 65536
};

typedef struct found { // beats so far
    uint64_t count, sum;
} found;

typedef struct half { // of the patients, for the floor
    struct ward *ward;
    uint32_t first, end;
    _Alignas(128) found found; // written by one core
} half;

typedef struct ward {
    bench *bench;
    uint32_t patients;
    demo_record *record;
    slr_program *program;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
    uint64_t sent, plain_at; // messages of each patient so far, of the two ways
    uint64_t handled;
    found found;
    unsigned char *states;
    half half[2];
} ward;

static void note(found *found, const struct beat *beat)
{
    found->count++;
    found->sum += beat->at;
}

// ---- the ring kernel
// -------------------------------------------------------------------------------------------------

static slr_status receive(ward *ward, uint64_t timeout_ns)
{
    static slr_reply replies[BATCH];
    static struct beat beats[BATCH];
    uint32_t received = 0;
    slr_status status = slr_receive_many(ward->port, replies, beats, sizeof *beats, BATCH, timeout_ns, &received);
    for (uint32_t i = 0; i < received; i++)
        note(&ward->found, &beats[i]);
    return status;
}

// Sends one message of each of some patients, receiving meanwhile.
static slr_status send(ward *ward, uint32_t first, uint32_t count)
{
    static struct samples messages[BATCH];
    static uint32_t patients[BATCH];
    for (uint32_t i = 0; i < count; i++) {
        patients[i] = first + i;
        messages[i] = *demo_message(ward->record, first + i, ward->sent);
    }
    for (uint32_t done = 0, accepted = 0; done < count; done += accepted) {
        slr_status status = slr_send_many(ward->port, ward->to, patients + done, messages + done, sizeof *messages,
                                          count - done, 1000000, &accepted);
        if (status == SLR_OK || status == SLR_TIMEOUT)
            status = receive(ward, 0);
        if (status != SLR_OK && status != SLR_TIMEOUT)
            return status;
    }
    return SLR_OK;
}

static slr_status await_handled(ward *ward)
{
    uint64_t start = clock_ns();
    slr_ring_stats stats = {0};
    slr_status status = SLR_OK;
    while (status == SLR_OK && stats.handled < ward->handled && clock_ns() - start < BENCH_TIMEOUT_NS) {
        status = receive(ward, 50000);
        if (status == SLR_OK || status == SLR_TIMEOUT)
            status = slr_ring_get_stats(ward->ring, &stats);
    }
    return status == SLR_OK && stats.handled < ward->handled ? SLR_TIMEOUT : status;
}

static bool ring_slice(void *context, double *figures)
{
    ward *ward = context;
    slr_status status = SLR_OK;
    partner_free_caller(ward->bench->partner); // it and the workers share the two cores as the system likes
    uint64_t start = clock_ns();
    for (uint32_t round = 0; round < ROUNDS; round++, ward->sent++) {
        for (uint32_t at = 0; at < ward->patients && status == SLR_OK; at += BATCH)
            status = send(ward, at, ward->patients - at < BATCH ? ward->patients - at : BATCH);
    }
    ward->handled += (uint64_t)ward->patients * ROUNDS;
    if (status == SLR_OK)
        status = await_handled(ward);
    figures[0] = bench_per_second(ward->patients * ROUNDS, start) * WARD_SAMPLES;
    partner_move_caller(ward->bench->partner, false);
    return status == SLR_OK || bench_failed(status, "ward");
}

// ---- the loop
// --------------------------------------------------------------------------------------------------------

static void loop(void *context)
{
    half *half = context;
    struct beat beat;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = half->first; i < half->end; i++) {
            void *state = half->ward->states + i * ward_plain_state_bytes();
            if (ward_plain(state, demo_message(half->ward->record, i, half->ward->plain_at + round), &beat) > 0)
                note(&half->found, &beat);
        }
    }
}

static bool loop_slice(void *context, double *figures)
{
    ward *ward = context;
    uint64_t start = clock_ns();
    partner_run(ward->bench->partner, loop, &ward->half[1]);
    loop(&ward->half[0]);
    partner_join(ward->bench->partner);
    figures[0] = bench_per_second(ward->patients * ROUNDS, start) * WARD_SAMPLES;
    ward->plain_at += ROUNDS;
    return true;
}

// ---- before and after
// ------------------------------------------------------------------------------------------------

static slr_status open_ring(ward *ward)
{
    char *source = demo_source_make();
    slr_status status = slr_program_from_text(ward->bench->device, "ward.cu", source, NULL, &ward->program);
    free(source);
    if (status != SLR_OK)
        return status;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = ward->program;
    desc.instances = ward->patients;
    desc.message_bytes = sizeof(struct samples);
    desc.reply_bytes = sizeof(struct beat);
    desc.queue_size = QUEUE;
    partner_free_caller(ward->bench->partner); // what the workers inherit
    if ((status = slr_ring_create(ward->bench->device, &desc, &ward->ring)) == SLR_OK &&
        (status = slr_ring_launch(ward->ring)) == SLR_OK)
        status = slr_ring_activate(ward->ring, BENCH_TIMEOUT_NS);
    partner_move_caller(ward->bench->partner, false);
    if (status == SLR_OK)
        status = slr_port_open(ward->bench->device, &ward->port);
    return status == SLR_OK ? slr_ring_get_address(ward->ring, 0, &ward->to) : status;
}

static bool same_beats(ward *ward)
{
    found plain = {ward->half[0].found.count + ward->half[1].found.count,
                   ward->half[0].found.sum + ward->half[1].found.sum};
    if (ward->sent == ward->plain_at && ward->found.count == plain.count && ward->found.sum == plain.sum)
        return true;
    say("ward: the ring kernel found other beats than the plain calls");
    return false;
}

// Each gives 360 samples a second.
static void add_patients(bench *bench, bench_row row)
{
    bench_add(
        bench,
        &(bench_row){.name = "ward_patients",
                     .stat = "median",
                     .unit = "patients",
                     .value = row.value / WARD_RATE_HZ,
                     .floor = row.floor / WARD_RATE_HZ},
        "How many patients the ring kernel could follow in real time: the row `ward` divided by 360 samples a second.");
}

static bool measure(ward *ward)
{
    static const char method[] =
        "Samples a second, until all messages are handled: messages of 36 samples to 20,000 patients, with an instance "
        "for each; one port sends 256 messages at a time. The caller and the workers share the two cores. Floor: a "
        "plain C loop that calls the same detector for each message, for half of the patients on each of the two "
        "cores. Both found the same beats.";
    slr_status status = open_ring(ward);
    if (status != SLR_OK)
        return bench_failed(status, "ward");
    if (!bench_measure(ward->bench, &(bench_case){.name = "ward",
                                                  .unit = "samples/s",
                                                  .stats = {"median"},
                                                  .method = method,
                                                  .pair = {.value = ring_slice,
                                                           .floor = loop_slice,
                                                           .value_context = ward,
                                                           .floor_context = ward,
                                                           .figures = 1}}) ||
        !same_beats(ward))
        return false;
    add_patients(ward->bench, ward->bench->rows[ward->bench->row_count - 1]);
    return true;
}

bool bench_ward(bench *bench)
{
    if (!bench_wants(bench, "ward"))
        return true;
    ward *ward = bench_lines(sizeof *ward);
    ward->bench = bench;
    ward->patients = bench->small ? SMALL_PATIENTS : PATIENTS;
    ward->record = demo_record_make();
    ward->states = memory_take(ward->patients, ward_plain_state_bytes());
    ward->half[0] = (half){.ward = ward, .first = 0, .end = ward->patients / 2};
    ward->half[1] = (half){.ward = ward, .first = ward->patients / 2, .end = ward->patients};
    bool fine = measure(ward);
    slr_port_close(ward->port);
    slr_ring_destroy(ward->ring);
    slr_program_destroy(ward->program);
    free(ward->record);
    free(ward->states);
    free(ward);
    return fine;
}
