// SPDX-License-Identifier: Apache-2.0
// What `slipring run` says of itself: progress while it runs, counts at the end.
#include "clock.h"
#include "memory.h"
#include "run/run.h"
#include "say.h"
#include "kernel/kernel.h"

#include <jansson.h>
#include <slipring/api.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static const char *const ends[] = {
    [RUN_GOING] = "before the start",      [RUN_INPUT_ENDED] = "end of input",
    [RUN_INTERRUPTED] = "interrupted",     [RUN_READER_GONE] = "output closed by its reader",
    [RUN_STOPPED] = "stopped by an error", [RUN_BROKEN] = "failed",
};

static double seconds_of(const run *run)
{
    return (double)(run->counts.end_ns - run->counts.start_ns) / (double)SECOND_NS;
}

static double per_second(uint64_t count, double seconds)
{
    return seconds > 0 ? (double)count / seconds : 0;
}

void run_report_progress(run *run)
{
    if (!run->progress)
        return;
    uint64_t now = clock_ns();
    uint64_t since = now - run->counts.start_ns;
    if (since < 2 * SECOND_NS || now - run->progress_ns < SECOND_NS / 4)
        return;
    run->progress_ns = now;
    char line[128], part[16] = "";
    uint64_t done =
        run->bytes_read - (run->reader.bytes.end - run->reader.bytes.begin); // less what is still to be parsed
    if (run->input_bytes > 0)                                                // it may grow meanwhile
        snprintf(part, sizeof part, "%.0f %%, ", fmin(100.0, 100.0 * (double)done / (double)run->input_bytes));
    if (run->end == RUN_GOING)
        snprintf(line, sizeof line, "%s%" PRIu64 " rows, %.0f rows/s, %" PRIu64 " replies", part, run->counts.rows,
                 per_second(run->counts.rows, (double)since / (double)SECOND_NS), run->counts.replies);
    else
        snprintf(line, sizeof line, "all read, %" PRIu64 " messages, %" PRIu64 " replies", run->feed.accepted,
                 run->counts.replies);
    say_progress(line);
}

// Every count once: its name, in JSON with underscores, and its value.
#define COUNTS(X)                                                                                                      \
    X(rows, run->counts.rows)                                                                                          \
    X(bad_rows, run->counts.bad_rows)                                                                                  \
    X(partial_rows, run->counts.partial_rows)                                                                          \
    X(partial_messages, run->counts.partial_messages)                                                                  \
    X(padded, run->counts.padded)                                                                                      \
    X(unsent, run->counts.unsent)                                                                                      \
    X(messages, run->counts.ring.accepted)                                                                             \
    X(replies, run->counts.replies)                                                                                    \
    X(faults, run->counts.faults)                                                                                      \
    X(handled, run->counts.ring.handled)                                                                               \
    X(faulted, run->counts.ring.faulted)                                                                               \
    X(dropped, run->counts.ring.dropped)                                                                               \
    X(undelivered, run->counts.ring.undelivered)                                                                       \
    X(in_doubt, run->counts.ring.in_doubt)                                                                             \
    X(pending, run->counts.ring.pending)                                                                               \
    X(keys, run->options.evict ? run->counts.ring.keys : run->options.key != NULL ? run->keys.count : 0)               \
    X(evicted, run->counts.ring.evicted)

// Those of --state, over all runs of its folder but for the last four.
#define STATE_COUNTS(X)                                                                                                \
    X(accepted, stats.accepted)                                                                                        \
    X(handled, stats.handled)                                                                                          \
    X(faulted, stats.faulted)                                                                                          \
    X(outputs, stats.outputs)                                                                                          \
    X(keys, stats.keys)                                                                                                \
    X(bytes, stats.bytes)                                                                                              \
    X(repeated, stats.repeated)                                                                                        \
    X(replayed, stats.replayed)                                                                                        \
    X(differing, stats.differing)                                                                                      \
    X(snapshots, stats.snapshots)

static bool read_state(const run *run, slr_server_stats *stats)
{
    return run->feed.server != NULL && slr_server_get_stats(run->feed.server, stats) == SLR_OK;
}

static json_t *state_json(const slr_server_stats *of)
{
    const slr_server_stats stats = *of;
    json_t *object = json_object();
#define ADD(name, value) json_object_set_new(object, #name, json_integer((json_int_t)(value)));
    STATE_COUNTS(ADD)
#undef ADD
    json_object_set_new(object, "damage", kernel_text(stats.damage));
    return object;
}

// What the ring kernel has counted, where anybody wants to know.
static void read_ring(run *run)
{
    if (run->ring_end != NULL || run->feed.ring == NULL || !(run->options.stats || run->options.json))
        return;
    run->ring_end = memory_take(1, sizeof *run->ring_end);
    ring_stats_read(run->feed.ring, run->ring_end);
}

static FILE *json_to(const run *run)
{
    return run->options.output != NULL ? stdout : stderr;
}

void run_report_begin(run *run)
{
    if (run->options.json && run->feed.ring != NULL)
        run->watch = run_watch_start(run->feed.ring, run->handler.name, json_to(run));
}

static void print_json(const run *run)
{
    double seconds = seconds_of(run);
    json_t *object =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:s, s:f, s:f, s:f}", "version", SLR_VERSION, "device",
                  kernel_text(run->device_info.name), "engine", kernel_text(run->device_info.engine), "chosen",
                  kernel_text(run->device_info.chosen), "handler", kernel_text(run->handler.name), "ended",
                  ends[run->end], "seconds", seconds, "rows_per_s", per_second(run->counts.rows, seconds),
                  "messages_per_s", per_second(run->counts.ring.accepted, seconds));
#define ADD(name, value) json_object_set_new(object, #name, json_integer((json_int_t)(value)));
    COUNTS(ADD)
#undef ADD
    slr_server_stats stats;
    if (read_state(run, &stats))
        json_object_set_new(object, "state", state_json(&stats));
    if (run->ring_end != NULL)
        json_object_set_new(object, "ring", ring_stats_json(run->handler.name, NULL, run->ring_end));
    json_dumpf(object, json_to(run), JSON_REAL_PRECISION(9)); // one line, as those before it
    fputc('\n', json_to(run));
    json_decref(object);
}

void run_report_stats(run *run)
{
    read_ring(run);
    double seconds = seconds_of(run);
    fprintf(stderr, "%-17s %s, %s\n", "device", run->device_info.name, run->device_info.engine);
    if (run->device_info.chosen[0] != '\0')
        fprintf(stderr, "%-17s %s\n", "chosen", run->device_info.chosen);
    fprintf(stderr, "%-17s %s\n", "ended", ends[run->end]);
    slr_device_info now = {0};
    if (slr_device_get_info(run->device, &now) == SLR_OK && now.pauses > 0)
        fprintf(stderr, "%-17s %u%s%s\n", "pauses", now.pauses, now.stalls > 0 ? ", calls that stalled: " : "",
                now.stalled);
    if (now.unheard != 0 || now.kept_bytes != 0)
        fprintf(stderr, "%-17s %" PRIu64 " B, lost work-groups: %u\n", "kept memory", now.kept_bytes, now.unheard);
#define PRINT(name, value) fprintf(stderr, "%-17s %" PRIu64 "\n", #name, (uint64_t)(value));
    COUNTS(PRINT)
#undef PRINT
    slr_server_stats stats;
#define PRINT(name, value) fprintf(stderr, "state %-11s %" PRIu64 "\n", #name, (uint64_t)(value));
    if (read_state(run, &stats)) {
        STATE_COUNTS(PRINT)
    }
#undef PRINT
    fprintf(stderr, "%-17s %.3f\n%-17s %.0f\n%-17s %.0f\n", "seconds", seconds, "rows_per_s",
            per_second(run->counts.rows, seconds), "messages_per_s", per_second(run->counts.ring.accepted, seconds));
    fputc('\n', stderr);
    ring_stats_print(stderr, run->handler.name, run->ring_end);
}

// A key of --key-limit evict may have lost its instance to another since.
static void say_first_fault(const run *run)
{
    const slr_ring_stats *ring = &run->counts.ring;
    uint32_t instance = ring->first_fault_instance;
    if (ring->faulted < 2) // one was said at its row
        return;
    char when[64] = "", who[160] = "";
    if (ring->first_fault_ns > 0)
        snprintf(when, sizeof when, " after %.3f s", (double)ring->first_fault_ns / (double)SECOND_NS);
    bool is_numbered_here = !run->options.evict && run->options.state == NULL;
    if (run->options.key != NULL && is_numbered_here && instance < run->keys.count) {
        key_text key = keys_text(&run->keys, instance);
        snprintf(who, sizeof who, ", key '%.*s'", key.bytes < 120 ? (int)key.bytes : 120, key.text);
    }
    say("the first fault%s: %s (message %" PRIu32 " of its shard%s)", when, ring->first_fault,
        ring->first_fault_message, who);
}

static void say_what_was_left(const run *run)
{
    const run_counts *counts = &run->counts;
    if (counts->bad_rows > 0 && run->options.skip_errors)
        say("bad rows skipped: %" PRIu64, counts->bad_rows);
    if (counts->faults > 0 && run->options.skip_errors)
        say("messages that faulted: %" PRIu64, counts->faults);
    say_first_fault(run);
    if (counts->partial_messages > 0)
        say("rows dropped at the end: %" PRIu64 " (a message needs %u; incomplete messages: %" PRIu64 ")",
            counts->partial_rows, run->reader.records_per_message, counts->partial_messages);
    const slr_ring_stats *ring = &counts->ring;
    char left[160], doubt[48] = "";
    if (ring->in_doubt > 0) // after the loss of a device alone
        snprintf(doubt, sizeof doubt, ", %" PRIu64 " in doubt", ring->in_doubt);
    snprintf(left, sizeof left, "left: %" PRIu64 " messages not sent, %" PRIu64 " undelivered%s, %" PRIu64 " pending",
             counts->unsent, ring->undelivered, doubt, ring->pending);
    if (run->end == RUN_INTERRUPTED)
        say("interrupted: %" PRIu64 " rows read, %" PRIu64 " messages handled, %" PRIu64 " faulted, %" PRIu64
            " replies; %s",
            counts->rows, ring->handled, ring->faulted, counts->replies, left);
    else if (counts->unsent + ring->undelivered + ring->in_doubt + ring->pending > 0 && run->end != RUN_READER_GONE)
        say("%s", left);
    if (run->feed.left)
        say("a handler has not returned; it is abandoned and ends with this program");
}

void run_report_end(run *run)
{
    run_watch_stop(run->watch);
    read_ring(run);
    say_progress("");
    say_what_was_left(run);
    if (run->options.stats)
        run_report_stats(run);
    if (run->options.json)
        print_json(run);
}
