// SPDX-License-Identifier: Apache-2.0
// The way back of `slipring run`: replies and fault notices to rows and messages, and how a run comes to end.
#include "interrupt.h"
#include "run/durable.h"
#include "run/run.h"
#include "run/state.h"
#include "say.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COMPLAINTS = FEED_LETTERS }; // rows that are reported one by one

void run_stop(run *run, run_end end)
{
    if (run->end == RUN_GOING)
        run->end = end;
}

// A ring kernel that has failed refuses whatever comes next: its own reason is the one to say.
static bool has_failed(const run *run, slr_ring_stats *stats)
{
    return run->feed.ring != NULL && slr_ring_get_stats(run->feed.ring, stats) == SLR_OK && stats->failures > 0;
}

void run_check(run *run, slr_status status)
{
    slr_ring_stats stats;
    if (status == SLR_OK || run->end == RUN_BROKEN)
        return;
    if (has_failed(run, &stats)) {
        say("%s: the ring kernel has failed: %s", run->handler.name, stats.last_failure);
        run->end = RUN_BROKEN;
        run->exit_code = EXIT_FAILED;
        return;
    }
    if (status == SLR_TIMEOUT && interrupted()) {
        run_stop(run, RUN_INTERRUPTED);
        return;
    }
    run->end = RUN_BROKEN;
    run->exit_code = say_failure(status, run->handler.name);
}

void run_complain(run *run, uint64_t line, const char *what)
{
    if (run->complaints < COMPLAINTS)
        say("%s %" PRIu64 ": %s", run->reader.kind->unit, line, what);
    if (++run->complaints == COMPLAINTS)
        say("further %ss of this kind are only counted", run->reader.kind->unit);
    // A fault may be heard of when the input has already ended: the run has stopped by it all the same.
    if (!run->options.skip_errors && (run->end == RUN_GOING || run->end == RUN_INPUT_ENDED))
        run->end = RUN_STOPPED;
}

void run_write_reply(void *user, uint64_t number, uint32_t instance, const unsigned char *payload)
{
    run *run = user;
    if (run->kept.parts > 0)
        kept_get(&run->kept, number, run->lead);
    else if (run->feed.server != NULL)
        run->lead[0] = run_state_key(run, instance);
    else if (run->options.key != NULL)
        run->lead[0] = keys_text(&run->keys, instance);
    writer_row(&run->writer, run->lead, payload);
}

slr_key run_key_of(void *user, uint64_t number)
{
    run *run = user;
    kept_get(&run->kept, number, run->lead);
    return slr_key_text(run->lead[0].text, run->lead[0].bytes);
}

static void report_fault(run *run, uint64_t number, uint64_t line)
{
    slr_dead_letter letter;
    char text[sizeof letter.fault + 64] = "the handler faulted on the message that starts here";
    const char *fault = run->complaints < COMPLAINTS ? feed_fault(&run->feed, number) : "";
    if (fault[0] != '\0')
        snprintf(text, sizeof text, "the handler faulted: %s", fault);
    run->counts.faults++;
    run_complain(run, line, text);
}

void run_on_reply(void *user, const slr_reply *reply, const unsigned char *payload, uint64_t number, uint64_t line)
{
    run *run = user;
    run_record_reply(run, number, reply, payload);
    if (run->feed.server != NULL && run->feed.output.sequence > 0)
        run->received = run->feed.output.sequence;
    if (reply->status != SLR_OK) {
        report_fault(run, number, line);
        return;
    }
    run->counts.replies++;
    if (run->options.ordered)
        window_add(&run->window, number, reply->from.instance, payload);
    else
        run_write_reply(run, number, reply->from.instance, payload);
}

void run_check_output(run *run)
{
    if (run->writer.error == EPIPE) {
        run->end = RUN_READER_GONE;
    } else if (run->writer.error != 0 && run->end != RUN_BROKEN) {
        const char *path = run->options.output;
        say("cannot write the output: %s%s%s: %s", path != NULL ? "'" : "", path != NULL ? path : "standard output",
            path != NULL ? "'" : "", strerror(run->writer.error));
        run->end = RUN_BROKEN;
        run->exit_code = EXIT_FAILED;
    }
}

void run_close_window(run *run)
{
    slr_status status = feed_settle(&run->feed);
    run_check(run, status);
    if (status != SLR_OK)
        return;
    window_empty(&run->window, run_write_reply, run);
    if (run->feed.server != NULL)
        run_keep_state(run);
    run_settle_recording(run);
    kept_clear(&run->kept, run->feed.accepted);
    run->window_from = run->feed.accepted;
}

void run_catch_up(run *run)
{
    if (run->feed.port == NULL && run->feed.server == NULL && run->feed.sender == NULL)
        return;
    if (run->options.ordered || run->record >= 0) {
        run_close_window(run);
    } else {
        run_check(run, feed_flush(&run->feed));
        if (run->feed.server != NULL)
            run_check(run, feed_accept(&run->feed));
        else if (run->feed.sender != NULL)
            run_check(run, feed_settle(&run->feed));
        run_check(run, feed_take(&run->feed, 0));
    }
    writer_flush(&run->writer);
    run_check_output(run);
    if (run->feed.server != NULL && !run->options.ordered)
        run_keep_state(run);
    run_report_progress(run);
}
