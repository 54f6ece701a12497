// SPDX-License-Identifier: Apache-2.0
// `slipring run --record`: what goes in and comes back, into a file.
#include "run/run.h"
#include "say.h"
#include "verbs.h"

#include <inttypes.h>
#include <string.h>

static int refuse(const char *path, int error)
{
    say("--record: cannot write '%s': %s", path, strerror(error));
    return EXIT_FAILED;
}

int run_open_recording(run *run)
{
    recording_header header = recording_header_of(&run->handler, run->options.instances, run->options.replies);
    if (recording_entry_most(&header) > RECORDING_ENTRY_MAX) {
        say("--record: a message with %u replies may have %" PRIu64 " bytes; the limit of a recording is %d",
            run->options.replies, recording_entry_most(&header), RECORDING_ENTRY_MAX);
        return EXIT_FAILED;
    }
    if (strlen(run->handler.name) >= sizeof header.handler) {
        say("--record: the handler's name has more than %zu characters, the limit of a recording",
            sizeof header.handler - 1);
        return EXIT_FAILED;
    }
    slr_status status = bindings_checksum(&run->bindings, &header.bindings); // before a handler writes to buffers
    if (status != SLR_OK)
        return say_failure(status, "--record");
    run->record_header = header;
    int end = output_open(&run->record_file, "--record", run->options.record);
    run->record = run->record_file.descriptor;
    return end;
}

int run_begin_recording(run *run)
{
    if (run->record < 0)
        return EXIT_DONE;
    int end = output_begin(&run->record_file);
    if (end != EXIT_DONE)
        return end;
    recorder_open(&run->recorder, run->record, &run->record_header, &run->handler.reply);
    return run->recorder.error == 0 ? EXIT_DONE : refuse(run->options.record, run->recorder.error);
}

void run_record_message(run *run, uint32_t instance, const unsigned char *message)
{
    if (run->record >= 0)
        recorder_message(&run->recorder, instance, message);
}

void run_record_reply(run *run, uint64_t number, const slr_reply *reply, const unsigned char *payload)
{
    if (run->record >= 0)
        recorder_reply(&run->recorder, number, reply->status, payload);
}

static void check(run *run)
{
    if (run->recorder.error == 0 || run->end == RUN_BROKEN)
        return;
    run->exit_code = refuse(run->options.record, run->recorder.error);
    run->end = RUN_BROKEN;
}

void run_settle_recording(run *run)
{
    if (run->record < 0)
        return;
    recorder_settle(&run->recorder);
    check(run);
}

void run_end_recording(run *run, bool complete)
{
    if (run->record < 0)
        return;
    if (complete)
        recorder_settle(&run->recorder);
    uint32_t left_out = recorder_end(&run->recorder);
    if (left_out > 0)
        say("--record: some of the last %u messages had no reply, and '%s' lacks them", left_out, run->options.record);
    check(run);
}
