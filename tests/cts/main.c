// SPDX-License-Identifier: Apache-2.0
// slipring-cts: every case on every device that opens, judged by the list of what is known.
#include "again.h"
#include "cts.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICES 16

static const char help[] =
    "Usage: slipring-cts [OPTION]...\n"
    "Runs the conformance suite on every device that opens. The suite tests what docs/contract promises. It compares\n"
    "results of kernels with those of " CTS_REFERENCE ", bit for bit.\n"
    "\n"
    "  --device D      only this device; may be given several times\n"
    "  --filter F,...  only cases whose AREA/NAME matches a pattern F, or contains it\n"
    "  --timeout S     seconds that a case may wait for anything (default 10)\n"
    "  --optimize N    how kernels are compiled: 1, or 2 (default)\n"
    "  --rounds N      launches of each memory-model case (default 20)\n"
    "  --perf          also prints the time of a launch (median of 15), or the whole time of a host case\n"
    "  --verbose       prints a line for every case\n"
    "  --json          prints one JSON object instead of text\n"
    "  --list          prints the cases and runs nothing\n"
    "  --matrix        prints the support matrix of docs/support.md and runs nothing\n"
    "\n"
    "Exit code: 0 every result was as expected, 1 a result was not (or a line of known.c is out of date), 2 usage,\n"
    "3 no device, 4 a case did not return within three times its limit; the others run in a new process.\n";

enum { DONE = 0, FAILED = 1, USAGE = 2, NO_DEVICE = 3, STUCK = 4 };

typedef struct asked {
    const char *device[DEVICES];
    unsigned devices;
    bool json, list, matrix, verbose;
    cts_options options;
    char **argv;
    const cts_progress *again; // NULL: this process is the first
} asked;

// ---- the command line -----------------------------------------------------------------------------------------------

enum { DEVICE = 256, FILTER, TIMEOUT, OPTIMIZE, ROUNDS, PERF, VERBOSE, JSON, LIST, MATRIX, AGAIN };

static const struct option long_options[] = {
    {"device", required_argument, NULL, DEVICE},
    {"filter", required_argument, NULL, FILTER},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"optimize", required_argument, NULL, OPTIMIZE},
    {"rounds", required_argument, NULL, ROUNDS},
    {"perf", no_argument, NULL, PERF},
    {"verbose", no_argument, NULL, VERBOSE},
    {"json", no_argument, NULL, JSON},
    {"list", no_argument, NULL, LIST},
    {"matrix", no_argument, NULL, MATRIX},
    {&CTS_AGAIN[2], required_argument, NULL, AGAIN},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int refuse(const char *why, const char *what)
{
    fprintf(stderr, "slipring-cts: %s%s\nslipring-cts --help says what there is\n", why, what);
    return USAGE;
}

static int take_number(const char *option, uint32_t least, uint32_t most, uint32_t *out)
{
    char *end;
    unsigned long number = strtoul(optarg, &end, 10);
    if (*optarg < '0' || *optarg > '9' || *end != '\0' || number < least || number > most) {
        fprintf(stderr, "slipring-cts: %s takes %u to %u, not '%s'\n", option, least, most, optarg);
        return USAGE;
    }
    *out = (uint32_t)number;
    return -1;
}

static int take_progress(asked *out)
{
    static cts_progress progress;
    if (!cts_again_read(optarg, &progress))
        return refuse(CTS_AGAIN " is for the suite alone: ", optarg);
    out->again = &progress;
    return -1;
}

static int take_option(int option, char **argv, asked *out)
{
    uint32_t seconds = 0;
    int end = -1;
    switch (option) {
    case DEVICE:
        if (out->devices == DEVICES)
            return refuse("too many devices", "");
        out->device[out->devices++] = optarg;
        break;
    case FILTER:
        out->options.filter = optarg;
        break;
    case TIMEOUT:
        end = take_number("--timeout", 1, 3600, &seconds);
        out->options.patience_ns = seconds * CTS_SECOND;
        break;
    case OPTIMIZE:
        return take_number("--optimize", 1, 2, &out->options.optimize);
    case ROUNDS:
        return take_number("--rounds", 1, 1000000, &out->options.rounds);
    case PERF:
        out->options.perf = true;
        break;
    case VERBOSE:
        out->verbose = true;
        break;
    case JSON:
        out->json = true;
        break;
    case LIST:
        out->list = true;
        break;
    case MATRIX:
        out->matrix = true;
        break;
    case AGAIN:
        return take_progress(out);
    case 'h':
        fputs(help, stdout);
        return DONE;
    default:
        return refuse("unknown option or missing value: ", argv[optind - 1]);
    }
    return end;
}

static int parse(int argc, char **argv, asked *out)
{
    *out = (asked){.options = {.patience_ns = 10 * CTS_SECOND, .rounds = 20}, .argv = argv};
    for (int option; (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
        int end = take_option(option, argv, out);
        if (end != -1)
            return end;
    }
    return optind < argc ? refuse("no arguments are taken: ", argv[optind]) : -1;
}

// What is planted is asked for by name only.
static bool matches(const cts_case *what, const char *pattern)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", what->area, what->name);
    if (strcmp(what->area, CTS_PLANTED) == 0 && strncmp(pattern, CTS_PLANTED, strlen(CTS_PLANTED)) != 0)
        return false;
    return strstr(name, pattern) || cts_matches(pattern, name);
}

static bool is_asked_for(const cts_case *what, const char *filter)
{
    char pattern[128];
    if (!filter)
        return matches(what, "");
    for (size_t length; *filter; filter += length + (filter[length] == ',')) {
        length = strcspn(filter, ",");
        snprintf(pattern, sizeof pattern, "%.*s", (int)length, filter);
        if (matches(what, pattern))
            return true;
    }
    return false;
}

// ---- devices --------------------------------------------------------------------------------------------------------

// The cpu in all its kinds, and every device of each other backend that opens. `null` computes nothing.
static void choose_devices(asked *asked)
{
    static const char *const always[] = {"cpu?engine=compiled", CTS_REFERENCE, "cpu?unified=0"};
    static char names[DEVICES][32];
    slr_backend_info info;
    for (unsigned i = 0; i < sizeof always / sizeof *always; i++)
        asked->device[asked->devices++] = always[i];
    for (uint32_t i = 0; slr_backend_get_info(i, &info) == SLR_OK; i++)
        for (uint32_t d = 0; d < info.devices && asked->devices < DEVICES; d++) {
            if (info.status != SLR_OK || strcmp(info.name, "cpu") == 0 || strcmp(info.name, "null") == 0)
                continue;
            snprintf(names[asked->devices], sizeof *names, "%s:%u", info.name, d);
            asked->device[asked->devices] = names[asked->devices];
            asked->devices++;
        }
}

// ---- running --------------------------------------------------------------------------------------------------------

static char running[200]; // what the alarm says

static unsigned limit_s(const asked *asked)
{
    return (unsigned)(3 * asked->options.patience_ns / CTS_SECOND) + 1;
}

// A case that waits without a deadline has hung the library itself: there is nothing left to give back.
static void give_up(void)
{
    static const char text[] = "slipring-cts: this case does not return, and its process ends here: ";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0 || write(STDERR_FILENO, running, (unsigned)strlen(running)) < 0)
        _exit(STUCK);
    cts_again_now();
    _exit(STUCK);
}

// What the process says of a case in which the one before it was given up.
static void report_stuck(const asked *asked, const cts_case *what, cts_device *on, cts_progress *progress)
{
    static cts one;
    one = (cts){.what = what, .on = on, .result = CTS_HUNG};
    snprintf(one.why, sizeof one.why, "it did not return within %u s", limit_s(asked));
    report_case(&progress->said, &one, on);
    progress->said.hung = false; // that was in another process
    progress->stuck = CTS_WAS_STUCK;
}

// After a case: whether its device can still be used in this process, be it by opening it again. If not, `one` says so.
static bool can_go_on(cts *one, cts_device *on)
{
    cts_device anew = {0};
    bool is_well = cts_device_is_well(on);
    if (is_well && one->result != CTS_FAILED)
        return true;
    if (cts_device_open(on->spec, &anew) != SLR_OK) {
        size_t used = strlen(one->note);
        snprintf(one->note + used, sizeof one->note - used, "%slost for this process: %.140s", used ? "; " : "",
                 slr_error_message());
        return false;
    }
    if (is_well) {
        slr_device_close(anew.device);
        return true;
    }
    slr_device_close(on->device);
    *on = anew;
    return true;
}

// The next process begins behind this case; the alarm is what would begin it.
static void begin_case(const asked *asked, const cts_case *what, size_t number, const cts_device *on,
                       const cts_progress *progress)
{
    cts_progress behind = *progress;
    behind.next = number + 1;
    behind.stuck = CTS_STUCK;
    cts_again_prepare(asked->argv, &behind);
    snprintf(running, sizeof running, "%s/%s on %s\n", what->area, what->name, on->spec);
    cts_alarm(limit_s(asked), give_up);
}

// Runs the cases of a device. False: a new process must go on at progress->next.
static bool run_cases(const asked *asked, cts_device *on, cts_device *reference, cts_progress *progress)
{
    size_t count;
    const cts_case *cases = cts_cases(&count);
    bool is_new = true; // the process: whatever fails is the case's own doing
    if (progress->stuck == CTS_STUCK)
        report_stuck(asked, &cases[progress->next - 1], on, progress);
    for (size_t i = progress->next; i < count; i++) {
        static cts one; // outlives the longjmp
        if (!is_asked_for(&cases[i], asked->options.filter))
            continue;
        begin_case(asked, &cases[i], i, on, progress);
        cts_run(&one, &cases[i], on, reference, &asked->options);
        bool goes_on = can_go_on(&one, on);
        cts_alarm(0, NULL);
        progress->next = i;
        if (!goes_on && !is_new && cases[i].run && !one.device)
            return false; // it has not begun: a case before it has lost the device unseen
        report_case(&progress->said, &one, on);
        progress->next = i + 1;
        if (!goes_on)
            return false;
        is_new = false;
    }
    return true;
}

static void run_on(const asked *asked, cts_device *on, cts_device *reference, cts_progress *progress)
{
    if (run_cases(asked, on, reference, progress))
        return;
    cts_again_prepare(asked->argv, progress);
    cts_again_now();
    report_rest(&progress->said, "this system cannot start the suite again in this process");
}

// False: the device does not open. `is_chosen`: nobody asked for this one, so it need not be able to run anything.
static bool run_device(const asked *asked, const char *spec, bool is_chosen, cts_progress *progress)
{
    cts_device on = {0}, reference = {0};
    report *out = &progress->said;
    bool again = progress->next != 0;
    if (cts_device_open(spec, &on) != SLR_OK) {
        if (again)
            report_rest(out, slr_error_message());
        else
            report_closed(out, spec, slr_error_message());
        return again;
    }
    if (is_chosen && strcmp(on.info.engine, "none") == 0) {
        report_closed(out, spec, "it runs no kernels");
        slr_device_close(on.device);
        return true;
    }
    bool is_reference = strcmp(on.kind, "cpu/interpreted") == 0;
    if (!is_reference && cts_device_open(CTS_REFERENCE, &reference) != SLR_OK) {
        report_closed(out, CTS_REFERENCE, slr_error_message());
        return false;
    }
    if (!again)
        report_device(out, &on);
    run_on(asked, &on, is_reference ? &on : &reference, progress);
    report_device_end(out);
    if (out->hung)
        return true; // closing would wait for what never ends
    slr_device_close(on.device);
    slr_device_close(reference.device);
    return true;
}

static void begin(const asked *asked, cts_progress *progress)
{
    *progress = asked->again ? *asked->again : (cts_progress){.all = true};
    report_begin(&progress->said, asked->json, asked->verbose, asked->options.perf, asked->again != NULL);
}

static int run(asked *asked)
{
    cts_progress progress;
    bool chosen = asked->devices == 0;
    if (chosen)
        choose_devices(asked);
    begin(asked, &progress);
    for (; progress.device < asked->devices; progress.device++, progress.next = 0) {
        bool opened = run_device(asked, asked->device[progress.device], chosen, &progress);
        progress.any |= opened;
        progress.all &= opened;
    }
    report_end(&progress.said);
    if (progress.stuck)
        return STUCK;
    if (!progress.any || (!chosen && !progress.all))
        return NO_DEVICE;
    return progress.said.wrong ? FAILED : DONE;
}

static int list(const asked *asked)
{
    size_t count;
    const cts_case *cases = cts_cases(&count);
    for (size_t i = 0; i < count; i++)
        if (is_asked_for(&cases[i], asked->options.filter))
            printf("%s/%s\n", cases[i].area, cases[i].name);
    return DONE;
}

int main(int argc, char **argv)
{
    asked asked;
    int end = parse(argc, argv, &asked);
    if (end != -1)
        return end;
    if (asked.list)
        return list(&asked);
    if (asked.matrix) {
        cts_print_matrix();
        return DONE;
    }
    return cts_end(run(&asked));
}
