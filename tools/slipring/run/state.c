// SPDX-License-Identifier: Apache-2.0
// --state: what a run keeps between two processes.
//
// The output file is a copy of stored outputs. With each note the folder learns how long the file was and with which
// output it ended: the next run cuts the file there and writes the stored outputs behind it again. So no line is lost
// or there twice, whenever the run was killed.
#include "run/state.h"

#include "clock.h"
#include "memory.h"
#include "run/durable.h"
#include "say.h"
#include "system.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTE_OUTPUTS = 65536, KEY_PREFIX = 1 };

// What the folder keeps with the last output that the file has.
typedef struct output_note {
    uint64_t is_file, bytes;
} output_note;

static bool is_file(int descriptor)
{
    struct stat about;
    return fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

// Standard output is never cut, even where it is a file: it is the shell's.
static bool has_output_file(const run *run)
{
    return run->options.output != NULL && is_file(run->output.descriptor);
}

// ---- keys: their text, behind a byte that says whether it was written as a number ----------------------------------

static slr_key key_of_instance(void *user, uint32_t instance)
{
    run *run = user;
    if (run->options.key == NULL)
        return slr_key_u64(instance);
    key_text key = keys_text(&run->keys, instance);
    if (run->state_key_room < key.bytes + KEY_PREFIX) {
        run->state_key_room = 2 * (key.bytes + KEY_PREFIX);
        run->state_key = memory_grow(run->state_key, run->state_key_room, 1);
    }
    run->state_key[0] = key.is_number ? 'n' : 't';
    memcpy(run->state_key + KEY_PREFIX, key.text, key.bytes);
    return slr_key_text(run->state_key, key.bytes + KEY_PREFIX);
}

static key_text text_of_stored(const slr_key *key)
{
    if (key->text == NULL || key->bytes < KEY_PREFIX)
        return (key_text){"", 0, false};
    return (key_text){key->text + KEY_PREFIX, key->bytes - KEY_PREFIX, key->text[0] == 'n'};
}

key_text run_state_key(const run *run, uint32_t instance)
{
    slr_key key = run->feed.output.key;
    if (run->options.ordered && slr_server_get_key(run->feed.server, instance, &key) != SLR_OK)
        return (key_text){"", 0, false}; // without keys
    return text_of_stored(&key);
}

// Keys that an earlier run has seen have their instances here, too.
static void learn_keys(run *run)
{
    slr_key key;
    uint32_t instance;
    if (run->options.key == NULL)
        return;
    for (uint32_t i = 0; slr_server_get_key(run->feed.server, i, &key) == SLR_OK; i++)
        keys_find_or_add(&run->keys, text_of_stored(&key), &instance);
}

// ---- the life ------------------------------------------------------------------------------------------------------

static void say_where(const run *run, uint64_t accepted)
{
    slr_server_stats stats;
    if (slr_server_get_stats(run->feed.server, &stats) != SLR_OK)
        return;
    if (stats.damage[0] != '\0')
        say("--state: %s", stats.damage);
    if (stats.differing > 0)
        say("--state: %" PRIu64 " messages have other outputs than before the restart: the handler was changed, or is "
            "not deterministic; what was stored stays",
            stats.differing);
    if (accepted > 0)
        say("--state: goes on after message %" PRIu64 "%s", accepted,
            run->feed.skipped > 0 ? "; the input is no file, and all of it is new"
                                  : "; that many messages of the input are skipped");
}

slr_status run_open_state(run *run, slr_ring_desc *desc)
{
    char place[4096];
    slr_serve_desc serve = SLR_SERVE_DESC_INIT;
    snprintf(place, sizeof place, "local:%s", run->options.state);
    serve.place = place;
    serve.sync = run->options.sync;
    serve.snapshot_ns = run->options.snapshot_ns;
    if (run->options.key != NULL) {
        desc->keys = SLR_KEYS_TEXT;
        desc->key_bytes = run->options.key_bytes + KEY_PREFIX;
    }
    run->feed.on_reply = run_on_reply;
    run->feed.user = run;
    run->feed.key_of_instance = key_of_instance;
    slr_status status =
        feed_serve(&run->feed, run->device, desc, &serve, &run->handler, !is_file(run->input), &run->accepted_before);
    if (status != SLR_OK)
        return status;
    say_where(run, run->accepted_before);
    learn_keys(run);
    return slr_server_get_fd(run->feed.server, &run->port);
}

int run_begin_state_output(run *run)
{
    output_note note = {0};
    struct stat about;
    slr_server_get_note(run->feed.server, &note, sizeof note);
    run->output.begun = true;
    run->noted_ns = clock_ns();
    if (!has_output_file(run))
        return EXIT_DONE;
    if (note.is_file == 0)
        note.bytes = 0;
    if (fstat(run->output.descriptor, &about) != 0 || (uint64_t)about.st_size < note.bytes) {
        say("--output: '%s' is shorter than the %" PRIu64 " B that earlier runs have written: give the file that they "
            "wrote, or begin with an empty folder for --state",
            run->options.output, note.bytes);
        return EXIT_FAILED;
    }
    run->output_goes_on = note.bytes > 0;
    if (ftruncate(run->output.descriptor, (off_t)note.bytes) == 0 &&
        lseek(run->output.descriptor, (off_t)note.bytes, SEEK_SET) >= 0)
        return EXIT_DONE;
    say("--output: cannot continue '%s': %s", run->options.output, strerror(errno));
    return EXIT_FAILED;
}

void run_note_output(run *run)
{
    output_note note = {.is_file = has_output_file(run)};
    writer_flush(&run->writer);
    run_check_output(run);
    run->noted_ns = clock_ns();
    if (run->writer.error != 0 || run->received == run->noted)
        return;
    if (note.is_file) {
        if (run->options.sync != SLR_SYNC_NEVER && system_sync(run->output.descriptor) != 0) {
            run->writer.error = errno;
            run_check_output(run);
            return;
        }
        note.bytes = (uint64_t)lseek(run->output.descriptor, 0, SEEK_CUR);
    }
    run_check(run, slr_server_release(run->feed.server, run->received, &note, sizeof note));
    run->noted = run->received;
}

void run_keep_state(run *run)
{
    if (run->received - run->noted >= NOTE_OUTPUTS || clock_ns() - run->noted_ns >= SECOND_NS)
        run_note_output(run);
}

// An input that ends among the messages that are skipped cannot be the one that was accepted.
static void check_input(run *run)
{
    if (run->end != RUN_INPUT_ENDED || run->feed.skipped > 0 || run->feed.accepted >= run->accepted_before)
        return;
    say("--state: the input has %" PRIu64 " messages, and %" PRIu64 " were accepted before: is this the same input?",
        run->feed.accepted, run->accepted_before);
    run->end = RUN_BROKEN;
    run->exit_code = EXIT_FAILED;
}

void run_end_state(run *run)
{
    if (run->feed.server == NULL)
        return;
    check_input(run);
    bool drained = run->counts.ring.pending == 0;
    slr_status status = slr_server_close(run->feed.server, drained ? SECOND_NS : 0);
    run->feed.server = NULL;
    run->feed.ring = NULL;
    if (drained && run->end != RUN_BROKEN)
        run_check(run, status);
    free(run->state_key);
    run->state_key = NULL;
}
