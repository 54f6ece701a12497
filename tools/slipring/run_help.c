// SPDX-License-Identifier: Apache-2.0
// What `slipring run --help` says, in parts: a string of C17 has 4,095 characters at most.
#include "run_options.h"

#include <stddef.h>
#include <stdio.h>

static const char usage[] = "Usage: slipring run FILE.cu [OPTION]...\n"
                            "Streams records through a message handler, like a Unix filter.\n"
                            "\n"
                            "Example:\n"
                            "  slipring run examples/ward/ward.cu --input examples/ward/mitdb-208-excerpt.csv\n"
                            "\n"
                            "The handler\n"
                            "  --ring NAME          the handler in FILE.cu; needed where there are several\n"
                            "  --device D           cpu, cpu?engine=interpreted, ... or a list; default:\n"
                            "                       SLIPRING_DEVICE, then auto\n"
                            "  --bind NAME=VALUE    a scalar parameter of the handler\n"
                            "  --bind NAME=FILE     a buffer: numbers in text, between blanks or commas;\n"
                            "                       raw, in the machine's byte order, where FILE ends in .bin\n"
                            "  --bind NAME=zeros:N  a buffer of N elements, all zero\n"
                            "  --replies N          replies that one message may cause (1-64, default 1)\n"
                            "  --fuel N             loop iterations that a message may take, past which it\n"
                            "                       faults (default 4294967296)\n"
                            "  --handler-timeout T  a handler that runs longer is abandoned, its message\n"
                            "                       faults, and the run ends with exit code 1; at least 1ms\n"
                            "                       (default: none). On a cpu only; costs copies\n"
                            "  -D NAME[=VALUE]      for the preprocessor\n"
                            "  -I DIR               likewise\n"
                            "\n"
                            "Keys\n"
                            "  --key COLUMN         one instance, with a state of its own, for each key in\n"
                            "                       this column\n"
                            "  --instances N        so many keys at most (1-16777216, default 65536)\n";

static const char files[] = "\n"
                            "Records\n"
                            "  --input FILE         default: standard input ('-')\n"
                            "  --output FILE        default: standard output ('-')\n"
                            "  --format F           csv, ndjson or raw, or IN:OUT of them; default: what the\n"
                            "                       suffixes of --input and --output say (.csv, .ndjson\n"
                            "                       .jsonl, .raw .bin), else csv in, and out as in\n"
                            "  --window N           messages under way at most (1-1048576, default 4096)\n"
                            "  --ordered            replies in the order of the input over all keys, not only\n"
                            "                       for each key\n"
                            "  --partial drop|zero  what becomes of rows at the end that do not fill an array\n"
                            "                       (default: drop)\n"
                            "  --on-error stop|skip what a bad row or a message that faults does\n"
                            "                       (default: stop)\n"
                            "  --drain T            after a signal, so long at most for what has been read\n"
                            "                       (default 10s)\n"
                            "\n"
                            "Recordings and figures\n"
                            "  --record FILE        keeps all messages and their replies in FILE\n"
                            "  --replay FILE        sends the messages of a recording again, and names the\n"
                            "                       first reply that differs\n"
                            "  --stats              counts, rates and latencies at the end, on standard error\n"
                            "  --json               an object a line: each second the ring kernel's counts and\n"
                            "                       latencies, at the end what --stats says; on standard\n"
                            "                       output where --output names a file, else standard error\n";

static const char text[] = "\n"
                           "CSV: the first row names the columns. Each field of the message takes the column\n"
                           "of its name; columns that nothing uses are named once on standard error. An\n"
                           "array of N elements takes N rows, one after the other (of one key, where there\n"
                           "is a key), and all arrays of a message have one length; its other fields are\n"
                           "taken from the first of those rows. Numbers must be in their field's range.\n"
                           "Quoted fields, CR LF, blank lines and a byte order mark are understood. NDJSON:\n"
                           "an object a line, a member a field, pos.x in an object pos; arrays are arrays.\n"
                           "Raw: the struct's bytes as they lie in memory. docs/contract/formats.md says it\n"
                           "all.\n"
                           "\n"
                           "The fields of the reply are the columns of the output, NAME[0], NAME[1]... for\n"
                           "an array; with --key, the key stands first, as it was first written. A key is\n"
                           "text: 7 and 07 are two. Replies keep the order of the input for each key.\n"
                           "\n"
                           "A recording replays on any device, if the handler has the recorded name, layouts\n"
                           "and bindings; it needs no input. The exit code is 0 where all replies are as\n"
                           "recorded, 1 where one is not; the first such reply is named with its message\n"
                           "(from 1), instance, field and both values, with --json in one object.\n"
                           "\n"
                           "A bad row is reported with its line. With --on-error skip it is as if it were\n"
                           "not there; with stop, what was read before it is still handled, and the exit\n"
                           "code is 1. A message that faults is reported with the line of its first row; its\n"
                           "instance starts anew. An output file keeps what it had until the input's header\n"
                           "is right and the handler runs; an output that is also an input is refused.\n";

static const char signals[] = "\n"
                              "SIGINT and SIGTERM end the input, at any time: what was read is handled, for as\n"
                              "long as --drain says, then counts are printed. A handler that has not returned\n"
                              "1 s later is left running; replies that were computed together with it (32 at\n"
                              "most) count as pending. With --handler-timeout they are written. The exit code\n"
                              "is 130 for SIGINT; for SIGTERM 0 where all that was read was handled, else 143.\n"
                              "A second signal ends the program at once. Where the reader of the output has\n"
                              "gone, run stops with exit code 0. 'slipring --help' lists the other exit codes.\n";

void run_help(void)
{
    static const char *const parts[] = {usage, files, text, signals};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        fputs(parts[i], stdout);
}
