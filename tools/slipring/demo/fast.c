// SPDX-License-Identifier: Apache-2.0
// Part one: the whole recording of some patients, as fast as it goes, by each of the three ways.
#include "demo/demo.h"

#include "clock.h"
#include "run/writer.h"
#include "handoff.h"
#include "interrupt.h"
#include "memory.h"
#include "plain.h"
#include "say.h"
#include "system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANDOFF_NS 700000000ull // of hand-offs: the whole would take many seconds

typedef struct fast {
    demo *demo;
    uint32_t patients;
    unsigned char *states;    // for the ways without a ring kernel
    demo_beats *plain, *ring; // a patient each
    demo_ring detect;
    uint64_t sent, shown_ns;
} fast;

static double seconds_since(uint64_t start_ns)
{
    return (double)(clock_ns() - start_ns) / (double)SECOND_NS;
}

static void keep(demo_beats *beats, const struct beat *beat)
{
    if (beats->count < DEMO_MOST_BEATS)
        beats->all[beats->count++] = *beat;
}

static struct patient *state_of(const fast *fast, uint32_t patient)
{
    return (struct patient *)(void *)(fast->states + patient * ward_plain_state_bytes());
}

static void forget(fast *fast)
{
    memset(fast->states, 0, fast->patients * ward_plain_state_bytes());
}

// ---- the plain call ------------------------------------------------------------------------------------------------

static void run_plain(fast *fast)
{
    uint64_t start = clock_ns();
    struct beat beat;
    for (uint64_t number = 0; number < DEMO_MESSAGES; number++) {
        for (uint32_t patient = 0; patient < fast->patients; patient++) {
            const struct samples *message = demo_message(fast->demo->record, patient, number);
            if (ward_plain(state_of(fast, patient), message, &beat) > 0)
                keep(&fast->plain[patient], &beat);
        }
    }
    fast->demo->plain.messages_per_s = (double)DEMO_MESSAGES * fast->patients / seconds_since(start);
}

// ---- the hand-off to a thread --------------------------------------------------------------------------------------

typedef struct item {
    struct patient *state;
    const struct samples *message;
} item;

static void work(void *context, void *item_)
{
    item *item = item_;
    (void)ward_plain(item->state, item->message, context);
}

static bool run_handoff(fast *fast)
{
    struct beat beat;
    handoff *handoff = handoff_start(work, &beat);
    if (handoff == NULL) {
        say("no thread to be had");
        return false;
    }
    forget(fast);
    uint64_t start = clock_ns(), done = 0, all = (uint64_t)DEMO_MESSAGES * fast->patients;
    for (; done < all && clock_ns() - start < HANDOFF_NS; done++) {
        uint32_t patient = (uint32_t)(done % fast->patients);
        item item = {state_of(fast, patient), demo_message(fast->demo->record, patient, done / fast->patients)};
        handoff_do(handoff, &item);
    }
    fast->demo->handoff.messages_per_s = (double)done / seconds_since(start);
    handoff_stop(handoff);
    return true;
}

// ---- the ring kernel -----------------------------------------------------------------------------------------------

// Takes what replies there are. SLR_TIMEOUT: none now; SLR_END: no more will come.
static slr_status receive(fast *fast, uint64_t timeout_ns)
{
    static slr_reply replies[DEMO_BATCH];
    static struct beat beats[DEMO_BATCH];
    uint32_t received = 0;
    slr_status status =
        slr_receive_many(fast->detect.port, replies, beats, sizeof *beats, DEMO_BATCH, timeout_ns, &received);
    for (uint32_t i = 0; status == SLR_OK && i < received; i++) {
        if (replies[i].status != SLR_OK)
            continue; // a fault; the counts at the end say so
        keep(&fast->ring[replies[i].from.instance], &beats[i]);
        demo_hearts_take(&fast->demo->fast.hearts, replies[i].from.instance, &beats[i]);
    }
    return status;
}

// Sends all, receiving meanwhile: a port that does not read its replies ends up waiting for itself.
static slr_status send_all(fast *fast, const uint32_t *patients, const struct samples *messages, uint32_t count)
{
    while (count > 0) {
        uint32_t accepted = 0;
        slr_status status = slr_send_many(fast->detect.port, fast->detect.to, patients, messages, sizeof *messages,
                                          count, 1000000, &accepted);
        if (status != SLR_OK && status != SLR_TIMEOUT && status != SLR_FULL)
            return status;
        patients += accepted;
        messages += accepted;
        count -= accepted;
        fast->sent += accepted;
        while ((status = receive(fast, 0)) == SLR_OK)
            ;
        if (status != SLR_TIMEOUT)
            return status;
    }
    return SLR_OK;
}

static void show_progress(fast *fast, uint64_t number)
{
    char line[64];
    if (!isatty(STDERR_FILENO) || clock_ns() - fast->shown_ns < SECOND_NS / 10)
        return;
    fast->shown_ns = clock_ns();
    snprintf(line, sizeof line, "%u patients, %.0f s of 300 s", fast->patients, (double)number / 10.0);
    say_progress(line);
}

static slr_status stream(fast *fast)
{
    static struct samples messages[DEMO_FAST_PATIENTS];
    static uint32_t patients[DEMO_FAST_PATIENTS];
    slr_status status = SLR_OK;
    for (uint64_t number = 0; number < DEMO_MESSAGES && status == SLR_OK && !interrupted(); number++) {
        for (uint32_t patient = 0; patient < fast->patients; patient++) {
            patients[patient] = patient;
            messages[patient] = *demo_message(fast->demo->record, patient, number);
        }
        status = send_all(fast, patients, messages, fast->patients);
        show_progress(fast, number);
    }
    if (status == SLR_OK)
        status = slr_ring_close_input(fast->detect.ring);
    if (status == SLR_OK && fast->sent == 0)
        return SLR_OK; // interrupted: a port that has sent nothing hears of no end
    while (status == SLR_OK)
        status = receive(fast, DEMO_TIMEOUT_NS);
    return status == SLR_END ? SLR_OK : status;
}

static bool run_ring(fast *fast)
{
    demo *demo = fast->demo;
    slr_ring_stats stats = {0};
    uint64_t start = clock_ns();
    slr_status status = stream(fast);
    demo->fast.seconds = seconds_since(start);
    say_progress("");
    if (status != SLR_OK)
        say_failure(status, "part one");
    slr_status ended = slr_ring_terminate(fast->detect.ring, DEMO_TIMEOUT_NS, NULL, NULL, &stats);
    if (ended != SLR_OK)
        say_failure(ended, "slr_ring_terminate");
    demo->fast.patients = fast->patients;
    demo->fast.whole = fast->sent == (uint64_t)DEMO_MESSAGES * fast->patients;
    demo->fast.messages = stats.handled;
    demo->ring.messages_per_s = (double)stats.handled / demo->fast.seconds;
    demo->ring.dropped += fast->sent - stats.handled;
    return status == SLR_OK && ended == SLR_OK;
}

// ---- what came of it -----------------------------------------------------------------------------------------------

static void judge(fast *fast)
{
    demo *demo = fast->demo;
    struct ward_score *all = &demo->fast.all;
    demo->fast.same = true;
    for (uint32_t patient = 0; patient < fast->patients; patient++) {
        const demo_beats *ring = &fast->ring[patient], *plain = &fast->plain[patient];
        struct ward_score one = demo_score(demo->record, patient, ring);
        if (patient == 0)
            demo->fast.first = one;
        all->tp += one.tp;
        all->fp += one.fp;
        all->fn += one.fn;
        demo->fast.same = demo->fast.same && ring->count == plain->count &&
                          memcmp(ring->all, plain->all, ring->count * sizeof *ring->all) == 0;
    }
    all->f1 = 2.0 * (double)all->tp / (double)(2 * all->tp + all->fp + all->fn);
}

// As `slipring run` writes them.
static bool write_beats(const demo *demo, const demo_beats *beats)
{
    const char *path = demo->options.beats;
    slr_handler_info info;
    slr_status status = slr_program_get_handler(demo->program, 0, &info);
    if (status != SLR_OK) {
        say_failure(status, "ward.cu");
        return false;
    }
    int file = system_open_to_write(path, true, false);
    if (file < 0) {
        say("cannot open '%s': %s", path, strerror(errno));
        return false;
    }
    writer out;
    writer_open(&out, &csv_writer, file, &info.reply, &info.message, NULL); // CSV holds any reply
    writer_header(&out);
    for (size_t i = 0; i < beats->count; i++)
        writer_row(&out, NULL, (const unsigned char *)&beats->all[i]);
    writer_flush(&out);
    writer_close(&out);
    int error = close(file) != 0 && out.error == 0 ? errno : out.error;
    if (error != 0)
        say("cannot write '%s': %s", path, strerror(error));
    return error == 0;
}

bool demo_fast(demo *demo)
{
    uint32_t patients = demo->options.patients < DEMO_FAST_PATIENTS ? demo->options.patients : DEMO_FAST_PATIENTS;
    fast fast = {.demo = demo,
                 .patients = patients,
                 .states = memory_take(patients, ward_plain_state_bytes()),
                 .plain = memory_take(patients, sizeof(demo_beats)),
                 .ring = memory_take(patients, sizeof(demo_beats))};
    demo_hearts_open(&demo->fast.hearts, patients);
    run_plain(&fast);
    bool fine = run_handoff(&fast) && demo_ring_open(demo, patients, &fast.detect) && run_ring(&fast);
    demo_ring_close(&fast.detect);
    judge(&fast);
    demo->fast.first_beats = fast.ring[0];
    if (fine && demo->options.beats != NULL)
        fine = write_beats(demo, &fast.ring[0]);
    if (fine && demo->options.classify && !interrupted())
        fine = demo_classify(demo, fast.ring, patients);
    free(fast.states);
    free(fast.plain);
    free(fast.ring);
    return fine;
}
