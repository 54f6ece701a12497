// SPDX-License-Identifier: Apache-2.0
// What the demo prints.
#include "demo/demo.h"
#include "kernel/kernel.h"

#include <jansson.h>
#include <stdio.h>

#define NOT_MEDICAL "This is not a medical device, and it was not tested as one."

static const double messages_per_patient_s = 10.0;

const char *grouped(double value)
{
    static char buffers[6][32];
    static unsigned next;
    char digits[24], *to = buffers[next++ % 6];
    int count = snprintf(digits, sizeof digits, "%.0f", value), used = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            to[used++] = ',';
        to[used++] = digits[i];
    }
    to[used] = '\0';
    return to;
}

void demo_report_head(const demo *demo)
{
    printf("A heart monitor: one ring kernel on %s detects the heart beats of %s patients.\n" NOT_MEDICAL "\n\n",
           demo->info.name, grouped(demo->options.patients));
    printf("  device     %s: %s\n  handlers   %s\n  recording  MIT-BIH Arrhythmia Database, record 208, 5 minutes at "
           "%d Hz;\n             each patient starts at a different place in it\n",
           demo->info.name, demo->info.description, demo->info.engine, WARD_RATE_HZ);
    fflush(stdout);
}

static void report_hearts(const demo_hearts *hearts)
{
    printf("  %s beats, ", grouped((double)hearts->beats));
    if (hearts->slowest > 0.0f)
        printf("%.0f to %.0f per minute (means of %d beats), ", (double)hearts->slowest, (double)hearts->fastest,
               DEMO_RATE_BEATS);
    printf("%s missed-beat alarms\n", grouped((double)hearts->alarms));
}

static void report_kinds(const demo *demo)
{
    double compared = (double)demo->kinds.compared, wrong = (double)(demo->kinds.missed + demo->kinds.alarms);
    printf("\nThe kinds of these beats, by a network that was trained in %.1f s, as a second ring kernel\n",
           demo->kinds.train_seconds);
    printf("  %s beats in %.2f s, %s of them premature\n", grouped((double)demo->kinds.beats), demo->kinds.seconds,
           grouped((double)demo->kinds.premature));
    printf("  right for %.1f %% of %s beats that the network was not trained with\n  (in training: %.1f %%): %s "
           "missed, %s false alarms\n",
           compared > 0 ? 100.0 * (1.0 - wrong / compared) : 0.0, grouped(compared), 100.0 * demo->kinds.accuracy,
           grouped((double)demo->kinds.missed), grouped((double)demo->kinds.alarms));
}

void demo_report_fast(const demo *demo)
{
    double samples = (double)demo->fast.messages * WARD_SAMPLES;
    printf("\nPart 1: the whole recording for %u patients, as fast as possible\n", demo->fast.patients);
    printf("  %s messages, %s samples in %.2f s:\n  %s messages/s, %s samples/s\n",
           grouped((double)demo->fast.messages), grouped(samples), demo->fast.seconds,
           grouped(demo->ring.messages_per_s), grouped(demo->ring.messages_per_s * WARD_SAMPLES));
    report_hearts(&demo->fast.hearts);
    if (!demo->fast.whole) {
        puts("  ended before the end of the recording; the beats are not compared");
        fflush(stdout);
        return;
    }
    printf("  F1 score against the reference beats, within 75 ms: %.3f for patient 0,\n  %.3f for all; %s\n",
           demo->fast.first.f1, demo->fast.all.f1,
           demo->fast.same ? "the plain call finds the same beats" : "the plain call finds DIFFERENT beats");
    if (demo->options.classify && demo->kinds.beats > 0)
        report_kinds(demo);
    fflush(stdout);
}

static void report_way(const char *name, const demo_way *way)
{
    printf("  %-20s %7.1f us %7.1f us %7.1f us %13s %9s\n", name, way->p50_ns / 1e3, way->p99_ns / 1e3,
           way->p999_ns / 1e3, grouped(way->messages_per_s), grouped((double)way->dropped));
}

// When a plain call is better, from the figures of this run.
static void advise(const demo *demo)
{
    const demo_way *plain = &demo->plain, *ring = &demo->ring;
    double most = plain->messages_per_s / messages_per_patient_s;
    double load = demo->options.patients / most * 100.0;
    printf("\nThe plain call is %s for these %s patients.\nThey use %.1f %% of one core. The plain call answers in "
           "%.1f us, the ring kernel in\n%.1f us. ",
           load < 100.0 ? "the better choice" : "not enough", grouped(demo->options.patients), load,
           plain->p50_ns / 1e3, ring->p50_ns / 1e3);
    printf("One core is enough for about %s patients.\nThe ring kernel handled %.2g times as many messages per second "
           "as one core.\n",
           grouped(most), ring->messages_per_s / plain->messages_per_s);
    printf("A send costs the caller %.1f us at this rate; the work itself takes %.1f us.\nA caller saves time only if "
           "the work takes longer than the send.\n",
           demo->live.send_ns / 1e3, 1e6 / plain->messages_per_s);
}

void demo_report_live(const demo *demo)
{
    printf("\nPart 2: %s patients in real time, a message every 100 ms each, for %.1f s\n",
           grouped(demo->options.patients), demo->live.seconds);
    printf("  %s messages, %s late (by 100 ms or more), %s dropped\n", grouped((double)demo->live.messages),
           grouped((double)demo->live.late), grouped((double)demo->ring.dropped));
    report_hearts(&demo->live.hearts);
    if (demo->live.timed == 0) {
        printf("  ended before the first beat; the three methods are not compared\n");
        return;
    }
    printf("\n  %-20s %10s %10s %10s %13s %9s\n", "", "p50", "p99", "p99.9", "messages/s", "dropped");
    report_way("plain C call", &demo->plain);
    report_way("hand-off to a thread", &demo->handoff);
    report_way("ring kernel", &demo->ring);
    printf("  Latency: from the send of a message to its reply, for %s messages of part 2\n  with a beat, of %s "
           "patients. Each message is handled by all three methods.\n  Messages/s: part 1. Idle threads may sleep "
           "between messages; to wake one takes\n  longer than everything else here.\n",
           grouped((double)demo->live.timed), grouped(demo->live.compared));
    advise(demo);
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

static json_t *way_json(const char *name, const demo_way *way)
{
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:I}", "way", name, "p50_ns", way->p50_ns, "p99_ns", way->p99_ns,
                     "p999_ns", way->p999_ns, "messages_per_s", way->messages_per_s, "dropped",
                     (json_int_t)way->dropped);
}

static json_t *fast_json(const demo *demo)
{
    return json_pack("{s:i, s:I, s:f, s:I, s:I, s:f, s:f, s:f, s:f, s:b, s:b}", "patients", (int)demo->fast.patients,
                     "messages", (json_int_t)demo->fast.messages, "seconds", demo->fast.seconds, "beats",
                     (json_int_t)demo->fast.hearts.beats, "alarms", (json_int_t)demo->fast.hearts.alarms,
                     "heart_rate_min", (double)demo->fast.hearts.slowest, "heart_rate_max",
                     (double)demo->fast.hearts.fastest, "f1", demo->fast.all.f1, "f1_patient0", demo->fast.first.f1,
                     "whole", demo->fast.whole, "same_as_plain", demo->fast.same);
}

static json_t *live_json(const demo *demo)
{
    return json_pack(
        "{s:i, s:I, s:f, s:I, s:I, s:f, s:f, s:I, s:I, s:i, s:f}", "patients", (int)demo->options.patients, "messages",
        (json_int_t)demo->live.messages, "seconds", demo->live.seconds, "beats", (json_int_t)demo->live.hearts.beats,
        "alarms", (json_int_t)demo->live.hearts.alarms, "heart_rate_min", (double)demo->live.hearts.slowest,
        "heart_rate_max", (double)demo->live.hearts.fastest, "late", (json_int_t)demo->live.late, "timed",
        (json_int_t)demo->live.timed, "compared_patients", (int)demo->live.compared, "send_ns", demo->live.send_ns);
}

static json_t *kinds_json(const demo *demo)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f}", "beats", (json_int_t)demo->kinds.beats, "premature",
                     (json_int_t)demo->kinds.premature, "compared", (json_int_t)demo->kinds.compared, "missed",
                     (json_int_t)demo->kinds.missed, "alarms", (json_int_t)demo->kinds.alarms, "trained_accuracy",
                     demo->kinds.accuracy, "train_seconds", demo->kinds.train_seconds, "seconds", demo->kinds.seconds);
}

json_t *demo_report_object(const demo *demo)
{
    json_t *ways = json_array();
    json_array_append_new(ways, way_json("plain_call", &demo->plain));
    json_array_append_new(ways, way_json("handoff", &demo->handoff));
    json_array_append_new(ways, way_json("ring_kernel", &demo->ring));
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:I, s:f, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:o, s:o, s:o}", "demo", "ward",
        "version", SLR_VERSION, "device", kernel_text(demo->info.name), "description",
        kernel_text(demo->info.description), "engine", kernel_text(demo->info.engine), "beats",
        (json_int_t)demo->fast.hearts.beats, "f1", demo->fast.all.f1, "alarms", (json_int_t)demo->fast.hearts.alarms,
        "dropped", (json_int_t)demo->ring.dropped, "late", (json_int_t)demo->live.late, "p50_ns", demo->ring.p50_ns,
        "p99_ns", demo->ring.p99_ns, "p999_ns", demo->ring.p999_ns, "messages_per_s", demo->ring.messages_per_s,
        "samples_per_s", demo->ring.messages_per_s * WARD_SAMPLES, "fast", fast_json(demo), "live", live_json(demo),
        "ways", ways);
    if (demo->options.classify)
        json_object_set_new(object, "kinds", kinds_json(demo));
    json_object_set_new(object, "note", json_string(NOT_MEDICAL));
    return object;
}

void demo_report_json(const demo *demo)
{
    json_t *object = demo_report_object(demo);
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(object);
}
