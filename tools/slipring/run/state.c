// SPDX-License-Identifier: Apache-2.0
// --state: what a run keeps between two processes.
//
// The output file is a copy of stored outputs. With each note the folder learns how long the file was and with which
// output it ended: the next run cuts the file there and writes the stored outputs behind it again. So no line is lost
// or there twice, whenever the run was killed.
#include "run/state.h"

#include "checksum.h"
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

enum { NOTE_OUTPUTS = 65536, KEY_PREFIX = 1, TAIL = 4096 };

// What the folder keeps with the last output that the file has.
typedef struct output_note {
    uint64_t is_file, bytes;
    char format[8]; // its name; empty: of a version that did not note it
    uint64_t sum;   // of the last bytes before `bytes`, at most TAIL of them; 0: could not be read
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
    if (accepted > 0)
        say("--state: goes on after message %" PRIu64 "%s", accepted,
            run->feed.skipped > 0 ? "; the input is no file, and all of it is new"
                                  : "; that many messages of the input are skipped");
}

// Messages of earlier runs are handled again while new ones come. Outputs of a message that is handled may still be on
// their way: they are here by the next time, or at the end of the run.
static void say_differing(run *run)
{
    slr_server_stats stats;
    if (run->replay_is_said || slr_server_get_stats(run->feed.server, &stats) != SLR_OK ||
        stats.handled + stats.faulted < run->stored_before)
        return;
    run->replay_is_said = run->replay_is_over || run->end != RUN_GOING;
    run->replay_is_over = true;
    if (run->replay_is_said && stats.differing > 0)
        say("--state: %" PRIu64 " messages have other outputs than before the restart: the handler or its bindings "
            "were changed, or it is not deterministic; what was stored stays",
            stats.differing);
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
    slr_server_stats stats;
    if (slr_server_get_stats(run->feed.server, &stats) == SLR_OK)
        run->stored_before = stats.accepted;
    learn_keys(run);
    return slr_server_get_fd(run->feed.server, &run->port);
}

static uint64_t tail_bytes(uint64_t bytes)
{
    return bytes < TAIL ? bytes : TAIL;
}

// By a descriptor of its own: that of the output only writes.
static uint64_t sum_of_tail(const run *run, uint64_t bytes)
{
    unsigned char tail[TAIL];
    const size_t count = (size_t)tail_bytes(bytes);
    size_t have = 0;
    if (run->output_read < 0 || lseek(run->output_read, (off_t)(bytes - count), SEEK_SET) < 0)
        return 0;
    while (have < count) {
        const ssize_t more = read(run->output_read, tail + have, count - have);
        if (more <= 0)
            return 0;
        have += (size_t)more;
    }
    const uint64_t sum = checksum(CHECKSUM_START, tail, count);
    return sum != 0 ? sum : 1;
}

static void open_to_check(run *run)
{
    system_file written, readable;
    run->output_read = system_open_to_read(run->options.output);
    if (run->output_read >= 0 &&
        (!system_identify(run->output.descriptor, &written) || !system_identify(run->output_read, &readable) ||
         written.device != readable.device || written.number != readable.number)) {
        close(run->output_read); // another file has the name meanwhile
        run->output_read = -1;
    }
}

// What follows must be of the same format, and behind the bytes that earlier runs have written.
static bool is_the_file(const run *run, const output_note *note)
{
    const char *format = run->options.output_format->name;
    if (note->bytes > 0 && note->format[0] != '\0' && strncmp(note->format, format, sizeof note->format) != 0) {
        say("--output: '%s' was written as %.8s, and now %s is to follow: give --format as before, or begin with an "
            "empty folder for --state",
            run->options.output, note->format, format);
        return false;
    }
    if (note->bytes > 0 && note->sum != 0 && run->output_read >= 0 && sum_of_tail(run, note->bytes) != note->sum) {
        say("--output: '%s' is not the file that earlier runs have written: its last %" PRIu64 " B before byte %" PRIu64
            " are others. It was not changed: give the file that they wrote, or begin with an empty folder for "
            "--state",
            run->options.output, tail_bytes(note->bytes), note->bytes);
        return false;
    }
    return true;
}

int run_begin_state_output(run *run)
{
    output_note note = {0};
    struct stat about;
    slr_server_get_note(run->feed.server, &note, sizeof note);
    run->output.begun = true;
    run->noted_ns = clock_ns();
    run->output_read = -1;
    if (!has_output_file(run))
        return EXIT_DONE;
    open_to_check(run);
    if (note.is_file == 0)
        note.bytes = 0;
    if (fstat(run->output.descriptor, &about) != 0 || (uint64_t)about.st_size < note.bytes) {
        say("--output: '%s' is shorter than the %" PRIu64 " B that earlier runs have written: give the file that they "
            "wrote, or begin with an empty folder for --state",
            run->options.output, note.bytes);
        return EXIT_FAILED;
    }
    if (!is_the_file(run, &note))
        return EXIT_FAILED;
    run->output_goes_on = note.bytes > 0;
    if (ftruncate(run->output.descriptor, (off_t)note.bytes) == 0 &&
        lseek(run->output.descriptor, (off_t)note.bytes, SEEK_SET) >= 0)
        return EXIT_DONE;
    say("--output: cannot continue '%s': %s", run->options.output, strerror(errno));
    return EXIT_FAILED;
}

void run_note_output(run *run)
{
    output_note note = {0};
    writer_flush(&run->writer);
    run_check_output(run);
    say_differing(run);
    run->noted_ns = clock_ns();
    if (run->writer.error != 0 || run->received == run->noted)
        return;
    slr_server_get_note(run->feed.server, &note, sizeof note); // of a file that this run may not write to
    if (has_output_file(run)) {
        note.is_file = 1;
        if (run->options.sync != SLR_SYNC_NEVER && system_sync(run->output.descriptor) != 0) {
            run->writer.error = errno;
            run_check_output(run);
            return;
        }
        note.bytes = (uint64_t)lseek(run->output.descriptor, 0, SEEK_CUR);
        note.sum = sum_of_tail(run, note.bytes);
        memset(note.format, 0, sizeof note.format);
        snprintf(note.format, sizeof note.format, "%s", run->options.output_format->name);
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
    if (run->output_read >= 0)
        close(run->output_read);
    run->output_read = -1;
    free(run->state_key);
    run->state_key = NULL;
}
