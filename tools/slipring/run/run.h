// SPDX-License-Identifier: Apache-2.0
/// The parts of `slipring run`: what it holds, its stream from rows to replies, and what it reports.
#ifndef RUN_H
#define RUN_H

#include "bind.h"
#include "run/feed.h"
#include "run/groups.h"
#include "run/kept.h"
#include "run/keys.h"
#include "output.h"
#include "run/player.h"
#include "run/reader.h"
#include "run/recorder.h"
#include "ring_stats.h"
#include "run/options.h"
#include "run/watch.h"
#include "run/window.h"
#include "run/writer.h"

#include <pthread.h>

/// Why the input was read no further.
typedef enum run_end {
    RUN_GOING,
    RUN_INPUT_ENDED,
    RUN_INTERRUPTED,
    RUN_READER_GONE, // nobody reads the output
    RUN_STOPPED,     // by a bad row or a fault
    RUN_BROKEN       // a call failed; `exit_code` says what it makes
} run_end;

typedef struct run_counts {
    uint64_t rows, bad_rows; // the bad ones are counted in both
    uint64_t replies, faults;
    uint64_t partial_rows, partial_messages; // at the end, not enough for a message
    uint64_t padded;                         // messages
    uint64_t unsent;                         // messages that were complete, but not sent
    uint64_t start_ns, end_ns;
    slr_ring_stats ring;
} run_counts;

typedef struct run {
    run_options options;
    slr_device *device;
    slr_device_info device_info;
    slr_program *program;
    slr_handler_info handler;
    bindings bindings;
    int input, port; // descriptors
    int record;      // likewise; -1: nothing is recorded
    output output, record_file;
    recording_header record_header;
    reader reader;
    writer writer;
    keys keys;
    pthread_mutex_t keys_lock; // whoever adds one without --key-limit evict, and the thread that shows what is printed
    groups groups;
    kept kept;          // where replies need more of their rows than the instance tells
    kept_row kept_row;  // of the current row
    uint32_t forget_at; // keys, at which those of complete messages are forgotten
    key_text *lead;     // of the row that is being written: key, and what is kept
    feed feed;
    recorder recorder;
    player player;
    window window;
    uint64_t window_from; // the number of its first message
    run_end end;
    int exit_code; // of RUN_BROKEN
    run_counts counts;
    run_watch *watch;                 // of --json
    ring_stats *ring_end;             // of --stats and --json: what the ring kernel said at its end
    uint64_t input_bytes, bytes_read; // of a file, from where it was taken up; 0: not known
    uint64_t progress_ns;             // when it was last shown
    bool progress;                    // is shown at all
    uint32_t complaints;              // rows and messages that were said to be bad
    bool keys_are_numbers;            // of the name of --cluster
    // Of --state:
    char *state_key; // the key of a message, as it is stored
    size_t state_key_room;
    uint64_t received, noted, noted_ns; // outputs that were received, and noted with the folder, and when
    uint64_t accepted_before;           // messages, by earlier runs
    bool output_goes_on;                // the output has its header
    int output_read;                    // descriptor: the file of --output, to read what is noted of it; -1: none
    uint64_t stored_before;             // messages of all producers; the last ones are handled again
    bool replay_is_over, replay_is_said;
} run;

/// Reads what comes before the first record. An exit code.
int run_read_header(run *run);

/// For --record: opens the file, and begins it. Exit codes.
int run_open_recording(run *run);
int run_begin_recording(run *run);

/// For --record: notes a message, and a reply.
void run_record_message(run *run, uint32_t instance, const unsigned char *message);
void run_record_reply(run *run, uint64_t number, const slr_reply *reply, const unsigned char *payload);

/// For --record: all replies so far have come; the run has ended (`complete`: so have the last ones).
void run_settle_recording(run *run);
void run_end_recording(run *run, bool complete);

/// For --replay: reads the header and takes from it what the command line says otherwise; checks it against the
/// handler and the bindings; sends all messages again and compares. Exit codes.
int run_open_replay(run *run);
int run_check_replay(run *run);
int run_replay(run *run);

/// Streams until the input ends or the run is stopped, then lets what was accepted finish. Says what went wrong.
void run_stream(run *run);

/// The feed's give_up once the input is read: a signal has come, and --drain is over. `user` is the run.
bool run_gives_up(void *user);

/// Ends the run where it is still going.
void run_stop(run *run, run_end end);

/// Ends the run where a call of the library failed, and says why.
void run_check(run *run, slr_status status);

/// Says what is wrong with the row or message that began on that line; ends the run unless errors are skipped.
void run_complain(run *run, uint64_t line, const char *what);

/// The feed's feed_on_reply and the window's window_write; `user` is the run.
void run_on_reply(void *user, const slr_reply *reply, const unsigned char *payload, uint64_t number, uint64_t line);
void run_write_reply(void *user, uint64_t number, uint32_t instance, const unsigned char *payload);

/// The feed's key_of.
slr_key run_key_of(void *user, uint64_t number);

/// A key's instance, as keys_find_or_add; as keys_forget_newest; the device's on_print, which shows what the handler
/// prints. `user` is the run.
bool run_find_key(run *run, key_text key, uint32_t *instance);
void run_forget_newest_key(run *run);
void run_on_print(void *user, const slr_print *print);

/// Ends the run where the output could not be written.
void run_check_output(run *run);

/// Waits until everything so far is handled, puts its replies out, in order with --ordered, and forgets what was kept
/// of its rows. Where that is cut short, they stay.
void run_close_window(run *run);

/// Before waiting for input: sends what is batched, writes what has come.
void run_catch_up(run *run);

/// Shows how far it is, a few times a second.
void run_report_progress(run *run);

/// With --json: lines from now on, one a second.
void run_report_begin(run *run);

/// What --stats asks for.
void run_report_stats(run *run);

/// What --stats and --json ask for, and what was left where the run did not reach the end of its input.
void run_report_end(run *run);

#endif
