// SPDX-License-Identifier: Apache-2.0
// The command line of `slipring run`: its help and its parser.
#include "run/options.h"

#include "clock.h"
#include "memory.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RING = 256,
    DEVICE,
    INSTANCES,
    KEY,
    BIND,
    INPUT,
    OUTPUT,
    ORDERED,
    PARTIAL,
    ON_ERROR,
    REPLIES,
    BATCH,
    STATS,
    PRODUCER,
    JSON,
    FORMAT,
    WINDOW,
    RECORD,
    REPLAY,
    FUEL,
    HANDLER_TIMEOUT,
    DRAIN,
    KEY_LIMIT,
    KEY_BYTES,
    KEEP,
    DELIMITER,
    TOLERANCE,
    STATE,
    SYNC,
    SNAPSHOT
};

static const struct option long_options[] = {
    {"ring", required_argument, NULL, RING},
    {"device", required_argument, NULL, DEVICE},
    {"instances", required_argument, NULL, INSTANCES},
    {"key", required_argument, NULL, KEY},
    {"bind", required_argument, NULL, BIND},
    {"input", required_argument, NULL, INPUT},
    {"output", required_argument, NULL, OUTPUT},
    {"format", required_argument, NULL, FORMAT},
    {"record", required_argument, NULL, RECORD},
    {"replay", required_argument, NULL, REPLAY},
    {"tolerance", required_argument, NULL, TOLERANCE},
    {"window", required_argument, NULL, WINDOW},
    {"fuel", required_argument, NULL, FUEL},
    {"handler", no_argument, NULL, '?'}, // else it would be taken for what follows
    {"handler-timeout", required_argument, NULL, HANDLER_TIMEOUT},
    {"key-limit", required_argument, NULL, KEY_LIMIT},
    {"key-bytes", required_argument, NULL, KEY_BYTES},
    {"keep", required_argument, NULL, KEEP},
    {"delimiter", required_argument, NULL, DELIMITER},
    {"drain", required_argument, NULL, DRAIN},
    {"ordered", no_argument, NULL, ORDERED},
    {"partial", required_argument, NULL, PARTIAL},
    {"on-error", required_argument, NULL, ON_ERROR},
    {"replies", required_argument, NULL, REPLIES},
    {"batch", required_argument, NULL, BATCH},
    REMOTE_LONG,
    {"producer", required_argument, NULL, PRODUCER},
    {"state", required_argument, NULL, STATE},
    {"sync", required_argument, NULL, SYNC},
    {"snapshot", required_argument, NULL, SNAPSHOT},
    {"stats", no_argument, NULL, STATS},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

int run_list_add(run_list *list, const char *item)
{
    list->items = memory_grow(list->items, list->count + 1, sizeof *list->items);
    list->items[list->count++] = item;
    return -1;
}

static int take_text(const char **to, const char *text)
{
    *to = text;
    return -1;
}

// A file; "-" is what is taken without the option.
static int take_file(const char **to, const char *text)
{
    return take_text(to, strcmp(text, "-") == 0 ? NULL : text);
}

static int take_flag(bool *to)
{
    *to = true;
    return -1;
}

static int take_number(uint32_t *to, const char *option, const char *text, uint32_t most)
{
    if (number_parse(SLR_U32, text, to) && *to >= 1 && *to <= most)
        return -1;
    return say_usage("%s: '%s' is not a number from 1 to %u", option, text, most);
}

static int take_delimiter(char *to, const char *text)
{
    *to = strcmp(text, "tab") == 0 || strcmp(text, "\\t") == 0 ? '\t' : *text;
    if ((*to == '\t' || strlen(text) == 1) && strchr("\"\r\n", *to) == NULL)
        return -1;
    return say_usage("--delimiter: '%s' is not 'tab' or one byte other than a quote or a line end", text);
}

static int take_fuel(uint64_t *to, const char *text)
{
    if (number_parse(SLR_U64, text, to) && *to >= 1)
        return -1;
    return say_usage("--fuel: '%s' is not a number from 1 to %llu", text, (unsigned long long)UINT64_MAX);
}

static int take_duration(uint64_t *to_ns, const char *option, const char *text, uint64_t least_ns, const char *least)
{
    if (number_parse_duration(text, to_ns) && *to_ns >= least_ns)
        return -1;
    return say_usage("%s: '%s' is not a time of at least %s, such as 500ms or 10s", option, text, least);
}

static int take_choice(bool *to, const char *option, const char *text, const char *no, const char *yes)
{
    *to = strcmp(text, yes) == 0;
    if (*to || strcmp(text, no) == 0)
        return -1;
    return say_usage("%s: '%s' is neither %s nor %s", option, text, no, yes);
}

static int take_sync(uint32_t *to, const char *text)
{
    static const char *const names[] = {"interval", "always", "never"}; // as slr_sync counts from 1
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *to = i + 1;
            return -1;
        }
    }
    return say_usage("--sync: '%s' is not always, interval or never", text);
}

static int take_format(run_options *out, const char *text)
{
    size_t length = strcspn(text, ":");
    out->input_format = out->output_format = format_named(text, length);
    if (text[length] == ':')
        out->output_format = format_named(text + length + 1, strlen(text + length + 1));
    if (out->input_format != NULL && out->output_format != NULL)
        return -1;
    return say_usage("--format: '%s' is not csv, ndjson, raw or IN:OUT", text);
}

static void choose_formats(run_options *options)
{
    if (options->input_format == NULL) {
        options->input_format = format_of(options->input);
        options->output_format = format_of(options->output);
    }
    if (options->input_format == NULL)
        options->input_format = format_named("csv", 3);
    if (options->output_format == NULL)
        options->output_format = options->input_format;
}

// What --state cannot keep, or what makes no sense without it. -1, or an exit code.
static int check_state(const run_options *options)
{
    if (options->state == NULL) {
        if (options->sync == 0 && options->snapshot_ns == 0)
            return -1;
        return say_usage("%s needs --state", options->sync != 0 ? "--sync" : "--snapshot");
    }
    const struct {
        bool given;
        const char *name, *why;
    } others[] = {
        {options->record != NULL, "--record",
         "a recording begins with new states. Record the same input without --state"},
        {options->replay != NULL, "--replay", "a recording begins with new states. Replay it without --state"},
        {options->keep.count > 0, "--keep",
         "after a restart the rows of stored outputs are gone. Put the column into message and reply"},
        {options->evict, "--key-limit evict",
         "a stored state is never dropped. Give --instances as many as there are keys"},
        {options->batch != 0, "--batch",
         "a fault would fail other messages after a restart, so each call gets one message. Leave --batch out"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].given)
            return say_usage("%s cannot be used with --state: %s", others[i].name, others[i].why);
    }
    return -1;
}

// What makes no sense where rows go to other machines, or without that. -1, or an exit code.
static int check_remote(const run_options *options)
{
    if (options->where.servers == NULL)
        return options->where.name == NULL && options->producer == 0
                   ? -1
                   : say_usage("%s needs --cluster", options->producer ? "--producer" : "--name");
    const struct {
        bool given;
        const char *name, *why;
    } others[] = {
        {options->state != NULL, "--state",
         "the servers keep states and messages. 'slipring cluster snapshot' copies them"},
        {options->record != NULL, "--record", "its replies do not come here. Record the same input without --cluster"},
        {options->replay != NULL, "--replay", "its replies do not come here. Replay it without --cluster"},
        {options->ordered, "--ordered",
         "its replies do not come here. 'slipring cluster outputs' has them in order for each partition; serve with "
         "--partitions 1 for one order"},
        {options->keep.count > 0, "--keep", "its replies do not come here. Put the column into message and reply"},
        {options->evict, "--key-limit evict", "the workers have the keys. Give 'slipring serve' --instances"},
        {options->output != NULL, "--output", "its replies do not come here. 'slipring cluster outputs' writes them"},
        {options->stats, "--stats",
         "the workers handle the messages, and no command prints their rates or latencies. "
         "'slipring cluster show' prints the counts"},
        {options->instances > 0, "--instances", "the workers have the keys. Give it to 'slipring serve'"},
        {options->batch > 0, "--batch", "the workers have the handler"},
        {options->replies > 0, "--replies", "the workers have the handler. Give it to 'slipring serve'"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].given)
            return say_usage("%s cannot be used with --cluster: %s", others[i].name, others[i].why);
    }
    return remote_option_check(&options->where);
}

// What options need of each other. -1, or an exit code.
static int check_together(run_options *options)
{
    const format *csv = format_named("csv", 3);
    if (options->key == NULL && options->instances > 1)
        return say_usage("--instances %u needs --key", options->instances);
    if (options->key == NULL && (options->evict || options->key_bytes > 0))
        return say_usage("%s: there are no keys without --key", options->evict ? "--key-limit" : "--key-bytes");
    if (options->key_bytes > 0 && !options->evict && options->state == NULL)
        return say_usage("--key-bytes needs --key-limit evict or --state; otherwise a key may have any length");
    if (options->evict && options->record != NULL)
        return say_usage("--record cannot be used with --key-limit evict: a recording needs a fixed instance per key");
    if (options->shape.delimiter != 0 && options->input_format != csv && options->output_format != csv)
        return say_usage("--delimiter: neither the input nor the output is CSV");
    return -1;
}

static int take_option(int option, char **argv, run_options *out)
{
    switch (option) {
    case RING:
        return take_text(&out->ring, optarg);
    case DEVICE:
        return take_text(&out->device, optarg);
    case INSTANCES:
        return take_number(&out->instances, "--instances", optarg, 16777216);
    case KEY:
        return take_text(&out->key, optarg);
    case BIND:
        return run_list_add(&out->bindings, optarg);
    case INPUT:
        return take_file(&out->input, optarg);
    case OUTPUT:
        return take_file(&out->output, optarg);
    case FORMAT:
        return take_format(out, optarg);
    case RECORD:
        return take_text(&out->record, optarg);
    case REPLAY:
        return take_text(&out->replay, optarg);
    case PRODUCER:
        return number_parse(SLR_U64, optarg, &out->producer) && out->producer > 0
                   ? -1
                   : say_usage("--producer: '%s' is not a number from 1", optarg);
    case STATE:
        return take_text(&out->state, optarg);
    case SYNC:
        return take_sync(&out->sync, optarg);
    case SNAPSHOT:
        return take_duration(&out->snapshot_ns, "--snapshot", optarg, 1000000, "1ms");
    case TOLERANCE:
        return tolerances_take(&out->tolerances, optarg);
    case WINDOW:
        return take_number(&out->window, "--window", optarg, 1048576);
    case FUEL:
        return take_fuel(&out->fuel, optarg);
    case HANDLER_TIMEOUT:
        return take_duration(&out->handler_timeout_ns, "--handler-timeout", optarg, 1000000, "1ms");
    case KEY_LIMIT:
        return take_choice(&out->evict, "--key-limit", optarg, "refuse", "evict");
    case KEY_BYTES:
        return take_number(&out->key_bytes, "--key-bytes", optarg, 4092);
    case KEEP:
        return run_list_add(&out->keep, optarg);
    case DELIMITER:
        return take_delimiter(&out->shape.delimiter, optarg);
    case DRAIN:
        return take_duration(&out->drain_ns, "--drain", optarg, 0, "0s");
    case ORDERED:
        return take_flag(&out->ordered);
    case PARTIAL:
        return take_choice(&out->pad_partial, "--partial", optarg, "drop", "zero");
    case ON_ERROR:
        return take_choice(&out->skip_errors, "--on-error", optarg, "stop", "skip");
    case REPLIES:
        return take_number(&out->replies, "--replies", optarg, 64);
    case BATCH:
        return take_number(&out->batch, "--batch", optarg, 128);
    case STATS:
        return take_flag(&out->stats);
    case JSON:
        return take_flag(&out->json);
    case 'g':
        return take_flag(&out->debug);
    case 'D':
        return run_list_add(&out->defines, optarg);
    case 'I':
        return run_list_add(&out->includes, optarg);
    case 'h':
        run_help();
        return EXIT_DONE;
    default:
        return remote_option_take(&out->where, option, optarg) ? -1 : say_refused_option(option, argv);
    }
}

// What a recording says itself, or what makes no sense beside one.
static int check_replay(const run_options *options)
{
    const struct {
        const char *name;
        bool given;
    } others[] = {{"--input", options->input != NULL},
                  {"--output", options->output != NULL},
                  {"--format", options->input_format != NULL},
                  {"--key", options->key != NULL},
                  {"--instances", options->instances > 0},
                  {"--replies", options->replies > 0},
                  {"--record", options->record != NULL},
                  {"--ordered", options->ordered},
                  {"--partial", options->pad_partial},
                  {"--on-error", options->skip_errors},
                  {"--keep", options->keep.count > 0},
                  {"--delimiter", options->shape.delimiter != 0},
                  {"--key-limit", options->evict},
                  {"--key-bytes", options->key_bytes > 0}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].given)
            return say_usage("%s cannot be used with --replay", others[i].name);
    }
    return -1;
}

int run_options_parse(int argc, char **argv, run_options *out)
{
    *out = (run_options){.drain_ns = 10 * SECOND_NS, .where = SLR_REMOTE_DESC_INIT};
    int option;
    while ((option = getopt_long(argc, argv, ":gD:I:h", long_options, NULL)) != -1) {
        int end = take_option(option, argv, out);
        if (end != -1)
            return end;
    }
    if (argc - optind != 1)
        return argc == optind ? say_usage("FILE.cu is missing")
                              : say_usage("one FILE.cu, not also '%s'", argv[optind + 1]);
    out->file = argv[optind];
    if (out->replay != NULL && check_replay(out) != -1)
        return EXIT_USAGE;
    if (out->replay == NULL && out->tolerances.count > 0)
        return say_usage("--tolerance needs --replay");
    choose_formats(out);
    if (check_remote(out) != -1 || check_state(out) != -1 || check_together(out) != -1)
        return EXIT_USAGE;
    if (out->where.servers != NULL) // a key has no instance here
        out->instances = UINT32_MAX;
    if (out->replies == 0)
        out->replies = 1;
    if (out->key_bytes == 0)
        out->key_bytes = RUN_KEY_BYTES;
    out->shape.key = out->key;
    out->shape.keep = out->keep.items;
    out->shape.keep_count = out->keep.count;
    return -1;
}

void run_options_free(run_options *options)
{
    free(options->bindings.items);
    free(options->defines.items);
    free(options->includes.items);
    free(options->keep.items);
    tolerances_free(&options->tolerances);
}
