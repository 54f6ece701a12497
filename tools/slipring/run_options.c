// SPDX-License-Identifier: Apache-2.0
// The command line of `slipring run`: its help and its parser.
#include "run_options.h"

#include "memory.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: slipring run FILE.cu [OPTION]...\n"
    "Streams records through a message handler, like a Unix filter.\n"
    "\n"
    "  --ring NAME          the handler in FILE.cu; needed where there are several\n"
    "  --device D           cpu, cpu?engine=interpreted, ... or a list; default: SLIPRING_DEVICE, then auto\n"
    "  --key COLUMN         one instance, with a state of its own, for each key in this column\n"
    "  --instances N        so many keys at most (1-16777216, default 65536)\n"
    "  --bind NAME=VALUE    a scalar parameter of the handler\n"
    "  --bind NAME=FILE     a buffer: numbers in text, between blanks or commas; raw, in the machine's\n"
    "                       byte order, where FILE ends in .bin\n"
    "  --bind NAME=zeros:N  a buffer of N elements, all zero\n"
    "  --input FILE         default: standard input ('-')\n"
    "  --output FILE        default: standard output ('-')\n"
    "  --format F           csv, ndjson or raw, or IN:OUT of them; default: what the suffixes of --input\n"
    "                       and --output say (.csv, .ndjson .jsonl, .raw .bin), else csv in, and out as in\n"
    "  --window N           messages under way at most (1-1048576, default 4096)\n"
    "  --ordered            replies in the order of the input over all keys, not only for each key\n"
    "  --record FILE        keeps all messages and their replies in FILE\n"
    "  --replay FILE        sends the messages of a recording again, and names the first reply that differs\n"
    "  --partial drop|zero  what becomes of rows at the end that do not fill an array (default: drop)\n"
    "  --on-error stop|skip what a bad row or a message that faults does (default: stop)\n"
    "  --replies N          replies that one message may cause (1-64, default 1)\n"
    "  --stats              counts, rates and latencies at the end, on standard error\n"
    "  --json               an object a line: each second the ring kernel's counts and latencies, at the end\n"
    "                       what --stats says; on standard output where --output names a file, else on\n"
    "                       standard error\n"
    "  -D NAME[=VALUE], -I DIR   for the preprocessor\n"
    "\n"
    "CSV: the first row names the columns. Each field of the message takes the column of its name; columns\n"
    "that nothing uses are named once on standard error. An array field of N elements takes N rows, one\n"
    "behind the other (of one key, where there is a key), and all arrays of a message have one length;\n"
    "its other fields are taken from the first of those rows. Numbers must be in their field's range.\n"
    "Quoted fields, CR LF, blank lines and a byte order mark are understood. NDJSON: an object a line, a\n"
    "member a field, pos.x in an object pos; arrays are arrays. Raw: the struct's bytes as they lie in\n"
    "memory. docs/contract/formats.md says it all.\n"
    "\n"
    "The fields of the reply are the columns of the output, NAME[0], NAME[1]... for an array; with --key,\n"
    "the key stands first, as it was first written. A key is text: 7 and 07 are two. The first key to\n"
    "appear gets instance 0, the next one 1, and so on; a row with a key beyond --instances is a bad row.\n"
    "Replies keep the order of the input for each key.\n"
    "\n"
    "A recording replays on any device, if the handler has the recorded name, layouts and bindings; it\n"
    "needs no input. The exit code is 0 where all replies are as recorded, 1 where one is not; the first\n"
    "such reply is named with its message (from 1), instance, field and both values, with --json in one\n"
    "object.\n"
    "\n"
    "A bad row is reported with its line. With --on-error skip it is as if it were not there; with stop,\n"
    "what was read before it is still handled, and the exit code is 1. A message that faults is reported\n"
    "with the line of its first row; its instance starts anew. SIGINT and SIGTERM end the input: what had\n"
    "been sent is handled (for 10 s at most), then counts are printed, and the exit code is 130; a second\n"
    "signal ends the program at once. Where the reader of the output has gone, run stops with exit code\n"
    "0. 'slipring --help' lists the other exit codes.\n";

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
    STATS,
    JSON,
    FORMAT,
    WINDOW,
    RECORD,
    REPLAY
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
    {"window", required_argument, NULL, WINDOW},
    {"ordered", no_argument, NULL, ORDERED},
    {"partial", required_argument, NULL, PARTIAL},
    {"on-error", required_argument, NULL, ON_ERROR},
    {"replies", required_argument, NULL, REPLIES},
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

static int take_choice(bool *to, const char *option, const char *text, const char *no, const char *yes)
{
    *to = strcmp(text, yes) == 0;
    if (*to || strcmp(text, no) == 0)
        return -1;
    return say_usage("%s: '%s' is neither %s nor %s", option, text, no, yes);
}

static int take_format(run_options *out, const char *text)
{
    size_t length = strcspn(text, ":");
    out->input_format = out->output_format = format_named(text, length);
    if (text[length] == ':')
        out->output_format = format_named(text + length + 1, strlen(text + length + 1));
    if (out->input_format != NULL && out->output_format != NULL)
        return -1;
    return say_usage("--format: '%s' is neither csv, ndjson or raw nor IN:OUT of them", text);
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
    case WINDOW:
        return take_number(&out->window, "--window", optarg, 1048576);
    case ORDERED:
        return take_flag(&out->ordered);
    case PARTIAL:
        return take_choice(&out->pad_partial, "--partial", optarg, "drop", "zero");
    case ON_ERROR:
        return take_choice(&out->skip_errors, "--on-error", optarg, "stop", "skip");
    case REPLIES:
        return take_number(&out->replies, "--replies", optarg, 64);
    case STATS:
        return take_flag(&out->stats);
    case JSON:
        return take_flag(&out->json);
    case 'D':
        return run_list_add(&out->defines, optarg);
    case 'I':
        return run_list_add(&out->includes, optarg);
    case 'h':
        fputs(help, stdout);
        return EXIT_DONE;
    default:
        return say_refused_option(option, argv);
    }
}

// What a recording says itself, or what makes no sense beside one.
static int check_replay(const run_options *options)
{
    const struct {
        const char *name;
        bool given;
    } others[] = {{"--input", options->input != NULL},         {"--output", options->output != NULL},
                  {"--format", options->input_format != NULL}, {"--key", options->key != NULL},
                  {"--instances", options->instances > 0},     {"--replies", options->replies > 0},
                  {"--record", options->record != NULL},       {"--ordered", options->ordered},
                  {"--partial", options->pad_partial},         {"--on-error", options->skip_errors}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].given)
            return say_usage("%s has no place beside --replay", others[i].name);
    }
    return -1;
}

int run_options_parse(int argc, char **argv, run_options *out)
{
    *out = (run_options){0};
    int option;
    while ((option = getopt_long(argc, argv, ":D:I:h", long_options, NULL)) != -1) {
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
    if (out->key == NULL && out->instances > 1)
        return say_usage("--instances %u: only --key tells rows apart", out->instances);
    choose_formats(out);
    if (out->replies == 0)
        out->replies = 1;
    if (out->instances == 0)
        out->instances = out->key != NULL ? RUN_INSTANCES : 1;
    return -1;
}

void run_options_free(run_options *options)
{
    free(options->bindings.items);
    free(options->defines.items);
    free(options->includes.items);
}
