// SPDX-License-Identifier: Apache-2.0
// The stream of `slipring run`: rows become messages, replies become rows. One thread; what waits, waits in poll() or
// in feed.c.
#include "clock.h"
#include "interrupt.h"
#include "run/remote.h"
#include "run/run.h"
#include "run/state.h"
#include "run/wait.h"
#include "say.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    WINDOW = 16384, // messages whose replies --ordered holds back together
    PROGRESS_MS = 250,
    FORGET = 65536 // keys of complete messages that are remembered
};

static void bad_row(run *run, uint64_t line, const char *what)
{
    run->counts.bad_rows++;
    run_complain(run, line, what);
}

// False where the run is to end instead. Regular files are always ready.
static bool wait_for_input(run *run)
{
    int patience_ms = 0;
    for (;;) {
        bool is_ready =
            wait_for_any(run->input, interrupt_descriptor(), patience_ms == 0 ? -1 : run->port, patience_ms);
        if (interrupted())
            run_stop(run, RUN_INTERRUPTED);
        if (run->end != RUN_GOING)
            return false;
        if (is_ready)
            return true;
        run_catch_up(run);
        patience_ms = run->progress ? PROGRESS_MS : -1;
    }
}

static void fill(run *run)
{
    size_t space;
    char *to = intake_space(&run->reader.bytes, &space);
    if (to == NULL) {
        bad_row(run, run->reader.line + 1, "more than 64 MiB: is the format different?");
        run_stop(run, RUN_STOPPED);
    } else if (wait_for_input(run)) {
        ssize_t got = read(run->input, to, space);
        if (got >= 0) {
            intake_put(&run->reader.bytes, (size_t)got);
            run->bytes_read += (uint64_t)got;
        } else if (errno != EINTR) {
            say("cannot read the input '%s': %s", run->options.input ? run->options.input : "-", strerror(errno));
            run->end = RUN_BROKEN;
            run->exit_code = EXIT_FAILED;
        }
    }
}

// Messages whose replies are awaited together.
static uint32_t window_of(const run *run)
{
    uint32_t most = run->options.window > 0 ? run->options.window : WINDOW;
    uint32_t recorded = run->record >= 0 ? recorder_most(&run->recorder) : most;
    return most < recorded ? most : recorded;
}

// The message is complete; `kept`: what its first row has besides.
static void commit(run *run, uint32_t instance, uint64_t line, const kept_row *kept)
{
    if (run->kept.parts > 0)
        kept_add(&run->kept, kept);
    run_record_message(run, instance, feed_slot(&run->feed));
    run_check(run, feed_commit(&run->feed, instance, line));
    if (run->feed.batched > 0)
        return;
    run_check_output(run);
    if (run->feed.server != NULL && !run->options.ordered) // then only where no reply is held back
        run_keep_state(run);
    run_report_progress(run);
    bool windowed = run->options.ordered || run->record >= 0;
    if ((windowed && run->feed.accepted - run->window_from >= window_of(run)) || kept_is_full(&run->kept))
        run_close_window(run);
}

// A record of a message that takes several.
static bool collect(run *run, uint32_t instance)
{
    unsigned char *message;
    group *group = groups_get(&run->groups, instance, &message);
    if (!reader_store(&run->reader, group->rows, message))
        return false;
    if (group->rows++ == 0) {
        group->line = run->reader.line;
        kept_row old = group->kept; // its memory goes to the next row
        group->kept = run->kept_row;
        run->kept_row = old;
    }
    if (group->rows == run->reader.records_per_message) {
        memcpy(feed_slot(&run->feed), message, run->feed.message_bytes);
        group->rows = 0;
        commit(run, instance, group->line, &group->kept);
    }
    return true;
}

// What a row of a kept message has: its key, and what --keep names.
static bool keep_row(run *run, const key_text *key)
{
    const record_shape *shape = &run->options.shape;
    kept_row_clear(&run->kept_row);
    if (shape->key != NULL)
        kept_row_add(&run->kept_row, *key);
    for (uint32_t i = 0; i < shape->keep_count; i++) {
        key_text text;
        if (!reader_kept(&run->reader, i, &text))
            return false;
        kept_row_add(&run->kept_row, text);
    }
    return true;
}

// With eviction the table of keys is there for incomplete messages alone: from time to time it begins anew with those.
static void forget_complete(run *run)
{
    groups fresh;
    keys keys;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < run->groups.count; i++)
        waiting += run->groups.items[i].rows > 0;
    run->forget_at = 2 * waiting + FORGET; // so that a key costs the same, however many there are
    groups_open(&fresh, run->groups.message_bytes);
    keys_open(&keys, UINT32_MAX);
    for (uint32_t i = 0; i < run->keys.count && i < run->groups.count; i++) {
        unsigned char *from, *to;
        group *old = groups_get(&run->groups, i, &from);
        uint32_t at;
        if (old->rows == 0)
            continue;
        keys_find_or_add(&keys, keys_text(&run->keys, i), &at);
        group *made = groups_get(&fresh, at, &to);
        *made = *old;
        old->kept = (kept_row){0};
        memcpy(to, from, run->groups.message_bytes);
    }
    groups_close(&run->groups);
    keys_close(&run->keys);
    run->groups = fresh;
    run->keys = keys;
}

static bool refuse_long_key(run *run, key_text key)
{
    return reader_fail(&run->reader, "key '%.64s...' has %zu bytes; --key-bytes allows %u", key.text, key.bytes,
                       run->options.key_bytes);
}

static bool find_evictable(run *run, key_text key, uint32_t *instance)
{
    if (key.bytes > run->options.key_bytes)
        return refuse_long_key(run, key);
    *instance = 0;
    if (run->reader.records_per_message == 1)
        return true;
    keys_find_or_add(&run->keys, key, instance);
    return true;
}

static bool find_instance(run *run, key_text key, uint32_t *instance)
{
    if (run->options.state != NULL && key.bytes > run->options.key_bytes)
        return refuse_long_key(run, key);
    if (!run_check_remote_key(run, key))
        return false;
    if (run->options.evict)
        return find_evictable(run, key, instance);
    return run_find_key(run, key, instance) ||
           reader_fail(&run->reader,
                       "key '%.*s' needs a new instance, but all %u of --instances are in use; --key-limit evict "
                       "reuses the instance of an idle key",
                       (int)(key.bytes < 64 ? key.bytes : 64), key.text, run->options.instances);
}

static bool store_record(run *run, uint32_t instance, const key_text *key)
{
    if (run->kept.parts > 0 && !keep_row(run, key))
        return false;
    if (run->reader.records_per_message > 1)
        return collect(run, instance);
    if (!reader_store(&run->reader, 0, feed_slot(&run->feed)))
        return false;
    commit(run, instance, run->reader.line, &run->kept_row);
    return true;
}

// A bad row gives its key no instance.
static bool take_record(run *run)
{
    uint32_t instance = 0;
    key_text key = {0};
    if (run->options.key == NULL)
        return store_record(run, instance, &key);
    if (run->options.evict && run->keys.count >= run->forget_at)
        forget_complete(run);
    const uint32_t known = run->keys.count;
    if (!reader_key(&run->reader, &key) || !find_instance(run, key, &instance))
        return false;
    if (store_record(run, instance, &key))
        return true;
    if (run->keys.count > known)
        run_forget_newest_key(run);
    return false;
}

static void say_notice(run *run)
{
    if (run->reader.notice[0] == '\0')
        return;
    say("unused %s: %s", run->reader.kind == &csv_reader ? "columns" : "members", run->reader.notice);
    run->reader.notice[0] = '\0';
}

static void read_records(run *run)
{
    while (run->end == RUN_GOING) {
        read_result result = reader_next(&run->reader);
        if (result == READ_MORE) {
            fill(run);
        } else if (result == READ_END) {
            run_stop(run, RUN_INPUT_ENDED);
        } else {
            run->counts.rows++;
            if (result == READ_BAD || !take_record(run))
                bad_row(run, run->reader.line, run->reader.problem);
            say_notice(run);
        }
    }
}

int run_read_header(run *run)
{
    read_result result;
    while ((result = reader_header(&run->reader)) == READ_MORE && run->end == RUN_GOING)
        fill(run);
    if (run->end == RUN_BROKEN)
        return run->exit_code;
    if (result == READ_BAD)
        say("%s", run->reader.problem);
    say_notice(run);
    return result == READ_RECORD ? EXIT_DONE : EXIT_FAILED; // READ_MORE: fill has said why there is none
}

// Messages that the end of the input left incomplete.
static void end_groups(run *run)
{
    bool pad = run->options.pad_partial && run->end == RUN_INPUT_ENDED;
    for (uint32_t instance = 0; instance < run->groups.count; instance++) {
        unsigned char *message;
        group *group = groups_get(&run->groups, instance, &message);
        if (group->rows == 0)
            continue;
        if (pad) {
            reader_pad(&run->reader, group->rows, message);
            memcpy(feed_slot(&run->feed), message, run->feed.message_bytes);
            run->counts.padded++;
            commit(run, instance, group->line, &group->kept);
        } else {
            run->counts.partial_messages++;
            run->counts.partial_rows += group->rows;
        }
    }
}

bool run_gives_up(void *user)
{
    run *run = user;
    run_report_progress(run); // it is asked while nothing else comes
    return interrupted() && clock_ns() - interrupt_ns() >= run->options.drain_ns;
}

// While the input is read, a signal ends it at once, and the drain comes after.
static bool is_interrupted(void *user)
{
    run_report_progress(user);
    return interrupted();
}

// What was read is sent, what was sent is handled. After a signal that may take as long as --drain says.
static void finish(run *run)
{
    bool drain = run->end != RUN_READER_GONE && run->end != RUN_BROKEN;
    run->feed.give_up = run_gives_up;
    end_groups(run);
    if (drain)
        run_check(run, feed_flush(&run->feed));
    run->counts.unsent = run->feed.batched;
    slr_status status = feed_finish(&run->feed, drain, &run->counts.ring);
    if (run->end != RUN_READER_GONE)
        run_check(run, status);
    if (interrupted() && run->end == RUN_INPUT_ENDED)
        run->end = RUN_INTERRUPTED;
    run_end_recording(run, status == SLR_OK && run->end != RUN_BROKEN && run->counts.unsent == 0 &&
                               run->counts.ring.undelivered + run->counts.ring.pending == 0);
    // The next run writes the stored replies that may have missed earlier ones.
    const bool has_all = run->feed.server == NULL || !run->options.ordered || (drain && status == SLR_OK);
    if (has_all)
        window_empty(&run->window, run_write_reply, run);
    writer_flush(&run->writer);
    run_check_output(run);
    if (run->feed.server != NULL && has_all)
        run_note_output(run);
    run->counts.end_ns = clock_ns();
}

void run_stream(run *run)
{
    run->counts.start_ns = clock_ns();
    run->feed.on_reply = run_on_reply;
    run->feed.user = run;
    run->feed.key_of = run_key_of;
    run->forget_at = FORGET;
    run->feed.give_up = is_interrupted;
    if (run->handler.reply.bytes > 0 && !run->output_goes_on)
        writer_header(&run->writer);
    read_records(run);
    finish(run);
}
