// SPDX-License-Identifier: Apache-2.0
// `slipring bench`: finds the benchmark, runs it, prints its rows.
#include "bench.h"

#include "memory.h"
#include "say.h"
#include "verbs.h"

#include <slipring/slipring.h>

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: slipring bench NAME [OPTION]...\n"
    "Measures ring kernels beside the floor: the barest way to do the same between two cores.\n"
    "\n"
    "  latency      one message there, one answer back: ring kernel, hand-off to a thread, plain call\n"
    "  throughput   messages a second: one way, request and reply, to a million keys\n"
    "  pipeline     messages a second through four ring kernels joined by routes, and how long one takes\n"
    "  idle         what 1,000 ring kernels cost that have nothing to do, and to start and end them\n"
    "  mailbox      rate, waiting and memory of mailboxes for 100 to 10,000 messages\n"
    "  telemetry    what timing messages costs\n"
    "  ward         samples a second of the heart monitor of 20,000 patients, beside a loop in plain C\n"
    "  profile      what the profiler and the trace add to a command\n"
    "  pool         memory of the device taken and given back, beside mimalloc and malloc\n"
    "  transfer     streams: copy beside computation, copies together, recorded lists, events\n"
    "  memory       how long a load takes and how much is moved at each level of the memory, beside plain C\n"
    "  claims       what guides to GPU computing say, beside what is so on this device; some minutes\n"
    "  kernels      __global__ kernels over grids, beside memory, OpenCL, OpenBLAS and loops by hand\n"
    "  run          rows a second of 'slipring run', beside a filter written in plain C\n"
    "\n"
    "  --device D      default: SLIPRING_DEVICE, then auto\n"
    "  --filter TEXT   only the rows whose name has TEXT in it\n"
    "  --json          one object\n"
    "\n"
    "Value and floor are taken in turn, in short slices. The distance of the two cores is probed before and after each "
    "such\n"
    "pair; a pair that saw it change by more than half is discarded. Value, floor and ratio are medians over the pairs "
    "kept, at\n"
    "least 15 of them. Two cores are needed.\n";

static const struct benchmark {
    const char *name;
    bool (*parts[5])(bench *bench); // until NULL
} benchmarks[] = {
    {"latency", {bench_latency, bench_wake}},
    {"throughput", {bench_one_way, bench_reqrep, bench_keyed, bench_relaunch}},
    {"pipeline", {bench_pipeline}},
    {"ward", {bench_ward}},
    {"idle", {bench_idle}},
    {"mailbox", {bench_mailbox}},
    {"telemetry", {bench_telemetry}},
    {"pool", {bench_pool}},
    {"profile", {bench_profile}},
    {"transfer", {bench_transfer, bench_pinned}},
    {"memory", {bench_memory}},
    {"claims", {bench_claims}},
    {"kernels", {bench_kernels, bench_launch}},
    {"run", {bench_run}},
};

typedef struct options {
    const struct benchmark *benchmark;
    const char *device, *filter;
    bool json;
} options;

void *bench_lines(size_t bytes)
{
    void *memory = aligned_alloc(128, (bytes + 127) / 128 * 128);
    if (memory == NULL) {
        say("out of memory: %zu bytes asked", bytes);
        exit(EXIT_FAILED);
    }
    return memset(memory, 0, bytes);
}

// ---- the rows ------------------------------------------------------------------------------------------------------

bool bench_wants(const bench *bench, const char *name)
{
    return bench->filter == NULL || strstr(name, bench->filter) != NULL;
}

static void describe(const bench *bench, const bench_case *what, const measure_result *result, bench_row *row)
{
    const char *few = result->kept < MEASURE_KEPT ? "; TOO FEW: the machine was restless" : "";
    snprintf(row->method, sizeof row->method,
             "%s Medians of %u interleaved pairs of %u%s; caller on core %d, the other side on core %d, %.0f ns apart "
             "(ping-pong, before and after each pair); clock read %.0f ns%s.",
             what->method, result->kept, result->tried, few, partner_caller_core(bench->partner),
             partner_other_core(bench->partner), result->probe_ns, bench->clock_ns,
             what->pair.figures == MEASURE_FIGURES ? ", taken off each time" : "");
}

bool bench_measure(bench *bench, const bench_case *what)
{
    measure_result result;
    if (!bench_wants(bench, what->name))
        return true;
    if (!measure_pairs(&what->pair, bench->partner, &result))
        return false;
    for (unsigned i = 0; i < what->pair.figures && bench->row_count < BENCH_ROWS; i++) {
        bench_row *row = &bench->rows[bench->row_count++];
        measure_figure figure = result.figures[i];
        *row = (bench_row){what->name, what->stats[i], what->unit, figure.value, figure.floor, figure.ratio, "", NULL};
        describe(bench, what, &result, row);
    }
    return true;
}

void bench_add(bench *bench, const bench_row *row, const char *method)
{
    if (bench->row_count == BENCH_ROWS)
        return;
    bench_row *added = &bench->rows[bench->row_count++];
    *added = *row;
    added->ratio = row->floor > 0 ? row->value / row->floor : 0;
    snprintf(added->method, sizeof added->method, "%s", method);
}

static void print_json(const bench *bench)
{
    json_t *rows = json_array();
    for (unsigned i = 0; i < bench->row_count; i++) {
        const bench_row *row = &bench->rows[i];
        json_t *one =
            json_pack("{s:s, s:s, s:f, s:s, s:f, s:f, s:s}", "name", row->name, "stat", row->stat, "value", row->value,
                      "unit", row->unit, "floor", row->floor, "ratio", row->ratio, "method", row->method);
        if (row->claim != NULL)
            json_object_set_new(one, "claim", json_string(row->claim));
        json_array_append_new(rows, one);
    }
    json_t *object = json_pack("{s:s, s:s, s:s, s:o}", "bench", bench->name, "device", bench->info.name, "version",
                               SLR_VERSION, "rows", rows);
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(object);
}

// A value with its unit scaled for people: 12345678 msg/s is "12.3 M msg/s".
static void print_value(double value, const char *unit)
{
    if (value >= 1e6)
        printf("%9.1f M", value / 1e6);
    else if (strcmp(unit, "ns") == 0 && value < 100)
        printf("%9.1f  ", value);
    else if (value < 10)
        printf("%9.2f  ", value);
    else
        printf("%9.0f  ", value);
}

// Each claim with what was measured, and how.
static void print_claims(const bench *bench)
{
    const char *claim = "";
    for (unsigned i = 0; i < bench->row_count; i++) {
        const bench_row *row = &bench->rows[i];
        if (strcmp(claim, row->claim) != 0)
            printf("%sClaim: %s.\n", i > 0 ? "\n" : "", row->claim);
        claim = row->claim;
        if (row->value > 0) {
            printf("  %-20s", row->name);
            print_value(row->value, row->unit);
            printf(" %s", row->unit);
            if (row->floor > 0) {
                printf(" against");
                print_value(row->floor, row->unit);
                printf(" %s: ratio %.2f", row->unit, row->ratio);
            }
            putchar('\n');
        } else {
            printf("  %s\n", row->name);
        }
        printf("    %s\n", row->method);
    }
}

static void print_table(const bench *bench)
{
    printf("%s on %s (%s), slipring %s\n\n", bench->name, bench->info.name, bench->info.engine, SLR_VERSION);
    if (bench->row_count > 0 && bench->rows[0].claim != NULL) {
        print_claims(bench);
        return;
    }
    printf("%-18s %-7s %11s %11s %-6s %7s\n", "row", "stat", "value  ", "floor  ", "unit", "ratio");
    for (unsigned i = 0; i < bench->row_count; i++) {
        const bench_row *row = &bench->rows[i];
        printf("%-18s %-7s ", row->name, row->stat);
        print_value(row->value, row->unit);
        putchar(' ');
        print_value(row->floor, row->unit);
        printf(" %-6s %7.2f\n", row->unit, row->ratio);
    }
    putchar('\n');
    for (unsigned i = 0; i < bench->row_count; i++) {
        const bench_row *row = &bench->rows[i];
        if (i == 0 || strcmp(row->name, row[-1].name) != 0)
            printf("%s: %s\n", row->name, row->method);
    }
}

// ---- the command line ----------------------------------------------------------------------------------------------

static int choose(const char *name, options *out)
{
    for (size_t i = 0; i < sizeof benchmarks / sizeof *benchmarks; i++) {
        if (strcmp(benchmarks[i].name, name) == 0)
            out->benchmark = &benchmarks[i];
    }
    return out->benchmark != NULL ? -1 : say_usage("no benchmark '%s'", name);
}

// -1: go on; else the exit code.
static int parse(int argc, char **argv, options *out)
{
    static const struct option long_options[] = {{"device", required_argument, NULL, 'd'},
                                                 {"filter", required_argument, NULL, 'f'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    *out = (options){0};
    int option;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        switch (option) {
        case 'd':
            out->device = optarg;
            break;
        case 'f':
            out->filter = optarg;
            break;
        case 'j':
            out->json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_DONE;
        default:
            return say_refused_option(option, argv);
        }
    }
    if (argc - optind != 1)
        return argc == optind ? say_usage("a benchmark is missing")
                              : say_usage("one benchmark, not also '%s'", argv[optind + 1]);
    return choose(argv[optind], out);
}

static int open_bench(const options *options, bench *bench)
{
    bench->name = options->benchmark->name;
    bench->filter = options->filter;
    slr_status status = slr_device_open(options->device, NULL, &bench->device);
    if (status == SLR_OK)
        status = slr_device_get_info(bench->device, &bench->info);
    if (status != SLR_OK)
        return say_failure(status, "--device");
    bench->clock_ns = measure_clock_ns();
    bench->partner = partner_start();
    if (bench->partner != NULL)
        return -1;
    say("two cores are needed, and this process may use only one");
    return EXIT_NO_DEVICE;
}

static int run(const options *options, bench *bench)
{
    int end = open_bench(options, bench);
    if (end != -1)
        return end;
    for (unsigned i = 0; options->benchmark->parts[i] != NULL; i++) {
        if (!options->benchmark->parts[i](bench))
            return EXIT_FAILED;
    }
    if (bench->row_count == 0)
        return say_usage("--filter: no row of '%s' has '%s' in its name", bench->name, bench->filter);
    if (options->json)
        print_json(bench);
    else
        print_table(bench);
    return EXIT_DONE;
}

int verb_bench(int argc, char **argv)
{
    options options;
    int end = parse(argc, argv, &options);
    if (end != -1)
        return end;
    bench *bench = memory_take(1, sizeof *bench);
    end = run(&options, bench);
    partner_stop(bench->partner);
    slr_device_close(bench->device);
    free(bench);
    return end;
}
