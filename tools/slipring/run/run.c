// SPDX-License-Identifier: Apache-2.0
// `slipring run`: opens what it needs, in the order in which the user's mistakes are cheapest to find, and closes it.
#include "run/run.h"

#include "run/remote.h"
#include "run/state.h"

#include "device_option.h"
#include "interrupt.h"
#include "memory.h"
#include "say.h"
#include "system.h"
#include "kernel/source_options.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void choose_instances(run *run)
{
    run_options *options = &run->options;
    bool is_cpu = strcmp(run->device_info.backend, "cpu") == 0;
    if (options->instances == 0)
        options->instances = options->key == NULL ? 1 : is_cpu ? RUN_INSTANCES_CPU : RUN_INSTANCES;
    // With eviction only rows that wait for others to fill their message are counted here.
    keys_open(&run->keys, options->evict ? UINT32_MAX : options->instances);
}

static int open_device(run *run)
{
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.on_print = run_on_print;
    desc.print_user = run;
    int end = device_option_open(run->options.device, &desc, &run->device, &run->device_info);
    choose_instances(run);
    return end;
}

static int load_program(run *run)
{
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.defines = run->options.defines.items;
    desc.define_count = run->options.defines.count;
    desc.include_paths = run->options.includes.items;
    desc.include_path_count = run->options.includes.count;
    desc.debug = run->options.debug;
    slr_status status = slr_program_load(run->device, run->options.file, &desc, &run->program);
    if (status == SLR_COMPILE) {
        fprintf(stderr, "%s\n", slr_error_message());
        return EXIT_FAILED;
    }
    if (status != SLR_OK)
        return say_failure(status, run->options.file);
    warn_of_emptied(run->program);
    return EXIT_DONE;
}

static int choose_handler(run *run)
{
    const char *wanted = run->options.ring;
    if (run->options.replay != NULL && wanted == NULL)
        wanted = run->player.header.handler;
    uint32_t count = 0;
    for (slr_handler_info info; slr_program_get_handler(run->program, count, &info) == SLR_OK; count++) {
        bool chosen = wanted == NULL ? count == 0 : strcmp(info.name, wanted) == 0;
        if (chosen)
            run->handler = info;
    }
    if (wanted != NULL && run->handler.name == NULL && run->options.ring == NULL)
        say("--replay: '%s' was recorded from the handler '%s', which is not in %s", run->options.replay, wanted,
            run->options.file);
    else if (wanted != NULL && run->handler.name == NULL && count > 0)
        say("--ring: %s has no handler '%s'", run->options.file, wanted); // they follow
    else if (count == 0)
        say("%s has no __ring__ handler", run->options.file);
    else if (wanted == NULL && count > 1)
        say("%s has several handlers: choose one with --ring", run->options.file);
    else
        return EXIT_DONE;
    slr_handler_info info;
    for (uint32_t i = 0; slr_program_get_handler(run->program, i, &info) == SLR_OK; i++)
        fprintf(stderr, "  --ring %s\n", info.name);
    return EXIT_USAGE;
}

// Of a regular file, also where it is the standard input: what progress is a part of.
static void note_size(run *run)
{
    run->input_bytes = system_bytes_left(run->input);
}

static int open_input(run *run)
{
    const char *path = run->options.input;
    run->input = path == NULL ? STDIN_FILENO : system_open_to_read(path);
    if (run->input >= 0) {
        note_size(run);
        return EXIT_DONE;
    }
    say("cannot open '%s': %s", path, strerror(errno));
    return EXIT_FAILED;
}

// No file that is read may be one that is written, whatever names it has.
static int refuse_inputs(const run *run, const output *output)
{
    const run_options *options = &run->options;
    int end = output_refuse_descriptor(output, run->input, options->input != NULL ? "--input" : "the standard input");
    if (end == EXIT_DONE)
        end = output_refuse_path(output, options->file, options->file);
    for (uint32_t i = 0; i < options->bindings.count && end == EXIT_DONE; i++) {
        const char *value = strchr(options->bindings.items[i], '=');
        end = value != NULL ? output_refuse_path(output, value + 1, "that of --bind") : EXIT_DONE;
    }
    return end;
}

static int open_files(run *run)
{
    int end = open_input(run);
    if (end == EXIT_DONE)
        end = output_open(&run->output, run->options.output != NULL ? "--output" : "the standard output",
                          run->options.output);
    if (end == EXIT_DONE)
        end = refuse_inputs(run, &run->output);
    if (end == EXIT_DONE && run->options.record != NULL)
        end = run_open_recording(run);
    if (end == EXIT_DONE && run->record >= 0)
        end = refuse_inputs(run, &run->record_file);
    if (end == EXIT_DONE && run->record >= 0)
        end = output_refuse_descriptor(&run->record_file, run->output.descriptor, "the output");
    run->progress = isatty(STDERR_FILENO) && !isatty(run->output.descriptor); // not between the rows
    return end;
}

static int read_header(run *run)
{
    groups_open(&run->groups, run->handler.message.bytes);
    window_open(&run->window, run->handler.reply.bytes);
    const record_shape *shape = &run->options.shape;
    // With the key: it may have lost its instance to another one when the reply comes, and then its number says
    // nothing.
    bool keeps = shape->keep_count > 0 || run->options.evict;
    kept_open(&run->kept, keeps ? shape->keep_count + (shape->key != NULL) : 0);
    run->lead = memory_take(shape->keep_count + 1, sizeof *run->lead);
    if (!reader_open(&run->reader, run->options.input_format->reader, &run->handler.message, shape)) {
        say("%s", run->reader.problem);
        return EXIT_FAILED;
    }
    if (!writer_open(&run->writer, run->options.output_format->writer, run->output.descriptor, &run->handler.reply,
                     &run->handler.message, shape)) {
        say("%s", run->writer.problem);
        return EXIT_FAILED;
    }
    return run_read_header(run);
}

static bool takes_batches(const run *run)
{
    slr_function_info info;
    bool is_batch = false;
    for (uint32_t i = 0; slr_program_get_function(run->program, i, &info) == SLR_OK; i++)
        is_batch |= info.kind == SLR_FUNCTION_RING_BATCH && strcmp(info.name, run->handler.name) == 0;
    return is_batch;
}

static int launch(run *run)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = run->program;
    desc.handler = run->handler.name;
    desc.bindings = run->bindings.items;
    desc.binding_count = run->bindings.count;
    desc.instances = run->options.instances;
    desc.max_replies = run->options.replies;
    desc.max_batch = run->options.batch;
    desc.max_ports = 1;
    desc.queue_size = run->options.window;
    if (run->options.evict) {
        desc.keys = SLR_KEYS_TEXT;
        desc.key_limit = SLR_KEY_LIMIT_EVICT_IDLE;
        desc.key_bytes = run->options.key_bytes;
    }
    desc.fuel = run->options.fuel;
    desc.handler_timeout_ns = run->options.handler_timeout_ns;
    // What is behind a handler that stays waits alone, unless it is in the same call.
    desc.publish_each = strcmp(run->device_info.backend, "cpu") == 0 && !takes_batches(run);
    desc.latency_every = run->options.stats || run->options.json ? 1 : 0; // by default for a trace, if there is one
    interrupt_note();
    slr_status status = run->options.where.servers != NULL ? run_open_remote(run)
                        : run->options.state != NULL       ? run_open_state(run, &desc)
                                                           : feed_open(&run->feed, run->device, &desc, &run->handler);
    interrupt_deliver();
    if (status == SLR_OK && run->feed.port != NULL)
        status = slr_port_get_fd(run->feed.port, &run->port);
    return status == SLR_OK ? EXIT_DONE : say_failure(status, run->handler.name);
}

// What a signal makes of a run: SIGTERM asks for an orderly end, and a run that has drained everything had one.
static int code_of_interrupt(const run *run)
{
    bool drained = run->counts.unsent + run->counts.ring.undelivered + run->counts.ring.pending == 0;
    return drained && interrupt_is_orderly() ? EXIT_DONE : interrupt_exit_code();
}

static int code_of(const run *run)
{
    switch (run->end) {
    case RUN_INTERRUPTED:
        return code_of_interrupt(run);
    case RUN_STOPPED:
        return EXIT_FAILED;
    case RUN_BROKEN:
        return run->exit_code;
    default:
        return EXIT_DONE;
    }
}

static int stream(run *run)
{
    int begun = run->options.state != NULL ? run_begin_state_output(run) : output_begin(&run->output);
    if (begun == EXIT_DONE)
        begun = run_begin_recording(run);
    if (begun != EXIT_DONE)
        return begun;
    run_report_begin(run);
    run_stream(run);
    run_report_end(run);
    run_end_state(run);
    return code_of(run);
}

static int bind_parameters(run *run)
{
    return bindings_make(&run->bindings, run->device, &run->handler, &run->options.bindings);
}

static void begin(run *run)
{
    pthread_mutex_init(&run->keys_lock, NULL);
    run->input = run->port = run->record = run->output.descriptor = run->record_file.descriptor = -1;
}

static int go(run *run)
{
    typedef int step(struct run *);
    static step *const stream_steps[] = {
        open_device, load_program, choose_handler, bind_parameters, open_files, read_header, launch, stream, NULL};
    static step *const replay_steps[] = {run_open_replay, open_device,     load_program,
                                         choose_handler,  bind_parameters, run_check_replay,
                                         launch,          run_replay,      NULL};
    step *const *steps = run->options.replay != NULL ? replay_steps : stream_steps;
    int end = EXIT_DONE;
    for (size_t i = 0; steps[i] != NULL && end == EXIT_DONE; i++)
        end = steps[i](run);
    return end;
}

// What lies in memory, but for what a handler that was left running may touch.
static void release(run *run)
{
    free(run->ring_end);
    if (!run->feed.left) {
        feed_close(&run->feed);
        bindings_free(&run->bindings);
        slr_program_destroy(run->program);
        slr_device_close(run->device);
    }
    window_close(&run->window);
    groups_close(&run->groups);
    keys_close(&run->keys);
    kept_close(&run->kept);
    kept_row_free(&run->kept_row);
    free(run->lead);
    writer_close(&run->writer);
    reader_close(&run->reader);
    recorder_close(&run->recorder);
    player_close(&run->player);
}

// `end`: how the run has ended so far. What could not be written to the last byte makes it fail.
static int finish(run *run, int end)
{
    release(run);
    if (run->input > STDERR_FILENO)
        close(run->input);
    int closed = output_close(&run->output), recorded = output_close(&run->record_file);
    run_options_free(&run->options);
    return end != EXIT_DONE ? end : closed != EXIT_DONE ? closed : recorded;
}

int verb_run(int argc, char **argv)
{
    static run run; // not on the stack: a handler that was left running outlives this call
    int end = run_options_parse(argc, argv, &run.options);
    if (end != -1) {
        run_options_free(&run.options);
        return end;
    }
    begin(&run);
    return finish(&run, go(&run));
}
