// SPDX-License-Identifier: Apache-2.0
// Part two: all patients at the real pace, a message each 100 ms, spread evenly over the 100 ms. Of some patients each
// message goes all three ways, one right behind the other: what is compared is the same work at the same moment.
#include "demo/demo.h"

#include "clock.h"
#include "handoff.h"
#include "interrupt.h"
#include "measure.h"
#include "memory.h"
#include "plain.h"
#include "say.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TICK_NS 100000ull     // 1,000 patients: one message
#define LOOK_NS 1000000ull    // between looks for late messages
enum { MOST_COMPARED = 250 }; // patients: a hand-off may take half a tick, and there is time for one in four

typedef struct times {
    double *ns;
    size_t count, capacity;
} times;

typedef struct live {
    demo *demo;
    uint32_t patients, stride; // every stride-th patient is handled the other two ways as well
    unsigned char *plain_states, *handoff_states;
    handoff *handoff;
    demo_ring detect;
    times plain, handed, ring;
    uint64_t start_ns, all, next; // messages in all, and the first that is not sent
    uint64_t passed;              // messages whose time was up when last looked
    uint64_t expected;            // replies: as many beats as the plain calls have found
    uint64_t compared;            // replies that have come from the patients compared
    uint64_t looked_ns, shown_ns; // since the start
} live;

static void note(times *times, uint64_t ns)
{
    if (times->count == times->capacity) {
        times->capacity = times->capacity > 0 ? times->capacity * 2 : 4096;
        times->ns = memory_grow(times->ns, times->capacity, sizeof *times->ns);
    }
    times->ns[times->count++] = (double)ns;
}

static void summarise(times *times, demo_way *way)
{
    measure_sort(times->ns, times->count);
    way->p50_ns = measure_quantile(times->ns, times->count, 0.5);
    way->p99_ns = measure_quantile(times->ns, times->count, 0.99);
    way->p999_ns = measure_quantile(times->ns, times->count, 0.999);
    for (size_t i = 0; i < times->count; i++)
        way->bins[demo_bin(times->ns[i])]++;
}

// ---- which message is due when -------------------------------------------------------------------------------------

// Messages are numbered in the order of their due times: one of each patient, then the next of each.
static uint32_t patient_of(const live *live, uint64_t message)
{
    return (uint32_t)(message % live->patients);
}

static const struct samples *samples_of(const live *live, uint64_t message)
{
    return demo_message(live->demo->record, patient_of(live, message), message / live->patients);
}

// How many messages are due `ns` after the start.
static uint64_t due(const live *live, uint64_t ns)
{
    uint64_t periods = ns / DEMO_PERIOD_NS, rest = ns % DEMO_PERIOD_NS;
    uint64_t count = periods * live->patients + rest * live->patients / DEMO_PERIOD_NS;
    return count < live->all ? count : live->all;
}

static bool is_compared(const live *live, uint64_t message)
{
    return patient_of(live, message) % live->stride == 0;
}

static struct patient *state_of(const live *live, unsigned char *states, uint64_t message)
{
    return (struct patient *)(void *)(states + patient_of(live, message) / live->stride * ward_plain_state_bytes());
}

// ---- the plain call, and the hand-off to a thread ------------------------------------------------------------------

static void call_plain(live *live, uint64_t from, uint64_t to)
{
    struct beat beat;
    for (uint64_t message = from; message < to; message++) {
        if (!is_compared(live, message))
            continue;
        uint64_t start = clock_ns();
        int replies = ward_plain(state_of(live, live->plain_states, message), samples_of(live, message), &beat);
        uint64_t took = clock_ns() - start;
        if (replies > 0) {
            note(&live->plain, took);
            live->expected++;
        }
    }
}

typedef struct item {
    struct patient *state;
    const struct samples *message;
    int replies;
    struct beat beat;
} item;

static void work(void *context, void *item_)
{
    (void)context;
    item *item = item_;
    item->replies = ward_plain(item->state, item->message, &item->beat);
}

static void hand_over(live *live, uint64_t from, uint64_t to)
{
    for (uint64_t message = from; message < to; message++) {
        if (!is_compared(live, message))
            continue;
        item item = {.state = state_of(live, live->handoff_states, message), .message = samples_of(live, message)};
        uint64_t start = clock_ns();
        handoff_do(live->handoff, &item);
        uint64_t took = clock_ns() - start;
        if (item.replies > 0)
            note(&live->handed, took);
    }
}

// ---- the ring kernel -----------------------------------------------------------------------------------------------

// Takes what replies there are. SLR_TIMEOUT: none now; SLR_END: no more will come.
static slr_status receive(live *live, uint64_t timeout_ns)
{
    static slr_reply replies[DEMO_BATCH];
    static struct beat beats[DEMO_BATCH];
    uint32_t received = 0;
    slr_status status =
        slr_receive_many(live->detect.port, replies, beats, sizeof *beats, DEMO_BATCH, timeout_ns, &received);
    uint64_t now = clock_ns();
    for (uint32_t i = 0; status == SLR_OK && i < received; i++) {
        uint32_t patient = replies[i].from.instance;
        if (replies[i].status != SLR_OK)
            continue; // a fault; the counts at the end say so
        demo_hearts_take(&live->demo->live.hearts, patient, &beats[i]);
        if (patient % live->stride != 0)
            continue;
        note(&live->ring, now - replies[i].sent_ns);
        live->compared++;
    }
    return status;
}

// Sends the messages before `to`, as many as the mailbox takes: the rest is sent in the next tick. Never waits.
static slr_status send(live *live, uint64_t to)
{
    static struct samples messages[DEMO_BATCH];
    static uint32_t patients[DEMO_BATCH];
    uint32_t count = 0, accepted = 0;
    while (count < DEMO_BATCH && live->next + count < to) {
        patients[count] = patient_of(live, live->next + count);
        messages[count] = *samples_of(live, live->next + count);
        count++;
    }
    uint64_t start = clock_ns();
    slr_status status =
        slr_send_many(live->detect.port, live->detect.to, patients, messages, sizeof *messages, count, 0, &accepted);
    live->demo->live.send_ns += (double)(clock_ns() - start); // their sum, until the end
    live->next += accepted;
    return status;
}

static slr_status receive_expected(live *live, uint64_t deadline_ns)
{
    slr_status status = SLR_OK;
    uint64_t now;
    while (status == SLR_OK && live->compared < live->expected && (now = clock_ns()) < deadline_ns)
        status = receive(live, deadline_ns - now);
    return status == SLR_TIMEOUT ? SLR_OK : status;
}

static slr_status send_due(live *live, uint64_t to, uint64_t deadline_ns)
{
    slr_status status = SLR_OK;
    while (status == SLR_OK && live->next < to) {
        status = send(live, to);
        slr_status received = receive(live, 0);
        if (status == SLR_OK && received != SLR_OK && received != SLR_TIMEOUT)
            status = received;
    }
    if (status != SLR_OK && status != SLR_FULL && status != SLR_TIMEOUT)
        return status;
    return receive_expected(live, deadline_ns);
}

// ---- the clock -----------------------------------------------------------------------------------------------------

// Messages that were due 100 ms ago and are not handled yet are late, each once.
static slr_status count_late(live *live)
{
    slr_ring_stats stats;
    uint64_t since = clock_ns() - live->start_ns;
    if (since - live->looked_ns < LOOK_NS)
        return SLR_OK;
    live->looked_ns = since;
    uint64_t passed = since > DEMO_PERIOD_NS ? due(live, since - DEMO_PERIOD_NS) : 0;
    slr_status status = slr_ring_get_stats(live->detect.ring, &stats);
    if (status == SLR_OK && passed > stats.handled) {
        uint64_t behind = passed - stats.handled, new = passed - live->passed;
        live->demo->live.late += behind < new ? behind : new;
    }
    live->passed = passed;
    return status;
}

static void show_progress(live *live, uint64_t since_ns)
{
    char line[160];
    const demo_hearts *hearts = &live->demo->live.hearts;
    if (!isatty(STDERR_FILENO) || since_ns - live->shown_ns < SECOND_NS / 4)
        return;
    live->shown_ns = since_ns;
    snprintf(line, sizeof line, "%u patients, %.1f s: %" PRIu64 " beats, heart rate %.0f-%.0f /min, %" PRIu64 " alarms",
             live->patients, (double)since_ns / (double)SECOND_NS, hearts->beats, (double)hearts->slowest,
             (double)hearts->fastest, hearts->alarms);
    say_progress(line);
}

static slr_status tick(live *live)
{
    uint64_t since = clock_ns() - live->start_ns, from = live->next, to = due(live, since);
    uint64_t end = live->start_ns + (since / TICK_NS + 1) * TICK_NS, now;
    call_plain(live, from, to);
    slr_status status = send_due(live, to, end);
    hand_over(live, from, to);
    while (status == SLR_OK && (now = clock_ns()) < end)
        status = receive(live, end - now);
    if (status == SLR_OK || status == SLR_TIMEOUT)
        status = count_late(live);
    show_progress(live, since);
    return status;
}

// Until all is sent; a machine that cannot keep up is given a second more.
static slr_status run(live *live)
{
    slr_status status = SLR_OK;
    uint64_t limit = (live->demo->options.seconds + 1) * SECOND_NS;
    live->start_ns = clock_ns();
    while (status == SLR_OK && live->next < live->all && clock_ns() - live->start_ns < limit && !interrupted())
        status = tick(live);
    live->demo->live.seconds = (double)(clock_ns() - live->start_ns) / (double)SECOND_NS;
    if (status == SLR_OK)
        status = slr_ring_close_input(live->detect.ring);
    while (status == SLR_OK)
        status = receive(live, DEMO_TIMEOUT_NS);
    return status == SLR_END ? SLR_OK : status;
}

static bool end(live *live, slr_status status)
{
    demo *demo = live->demo;
    slr_ring_stats stats = {0};
    say_progress("");
    if (status != SLR_OK)
        say_failure(status, "part two");
    slr_status ended = slr_ring_terminate(live->detect.ring, DEMO_TIMEOUT_NS, NULL, NULL, &stats);
    if (ended != SLR_OK)
        say_failure(ended, "slr_ring_terminate");
    demo->live.messages = stats.handled;
    demo->live.send_ns /= live->next > 0 ? (double)live->next : 1.0;
    demo->live.timed = live->ring.count;
    demo->live.compared = (live->patients + live->stride - 1) / live->stride;
    demo->ring.dropped += live->next - stats.handled;
    if (!interrupted())
        demo->live.late += live->all - live->next;
    summarise(&live->plain, &demo->plain);
    summarise(&live->handed, &demo->handoff);
    summarise(&live->ring, &demo->ring);
    return status == SLR_OK && ended == SLR_OK;
}

bool demo_live(demo *demo)
{
    uint32_t patients = demo->options.patients;
    uint32_t stride = (patients + MOST_COMPARED - 1) / MOST_COMPARED;
    live live = {.demo = demo,
                 .patients = patients,
                 .stride = stride,
                 .plain_states = memory_take((patients + stride - 1) / stride, ward_plain_state_bytes()),
                 .handoff_states = memory_take((patients + stride - 1) / stride, ward_plain_state_bytes()),
                 .handoff = handoff_start(work, NULL),
                 .all = (uint64_t)patients * demo->options.seconds * (SECOND_NS / DEMO_PERIOD_NS)};
    demo_hearts_open(&demo->live.hearts, patients);
    if (live.handoff == NULL)
        say("no thread to be had");
    bool fine = live.handoff != NULL && demo_ring_open(demo, patients, &live.detect) && end(&live, run(&live));
    demo_ring_close(&live.detect);
    handoff_stop(live.handoff);
    free(live.plain_states);
    free(live.handoff_states);
    free(live.plain.ns);
    free(live.handed.ns);
    free(live.ring.ns);
    return fine;
}
