// SPDX-License-Identifier: Apache-2.0
// `slipring bench`: finds the benchmark, runs it, prints its rows.
#define _GNU_SOURCE
#include "bench.h"

#include "json_out.h"
#include "memory.h"
#include "say.h"
#include "verbs.h"

#include <slipring/slipring.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
    "  --pairs N       pairs kept of each row, where others are not to wait for more; default 61, or 15 after 5 s\n"
    "  --small         sizes of a test: shows that all of it runs, measures nothing\n"
    "  --json          one object\n"
    "\n"
    "Value and floor are taken in turn, in short slices. The distance of the two cores is probed before and after each "
    "such\n"
    "pair; a pair that saw it change by more than half is discarded. Value, floor and ratio are medians over the pairs "
    "kept, at\n"
    "least 15 of them. Two cores are needed. What fails is said, and the rest goes on: exit code 1.\n";

static const struct benchmark {
    const char *name;
    bool (*parts[7])(bench *bench); // until NULL
} benchmarks[] = {
    {"latency", {bench_latency, bench_wake}},
    {"throughput", {bench_one_way, bench_reqrep, bench_relaunch, bench_keyed}},
    {"pipeline", {bench_pipeline}},
    {"ward", {bench_ward}},
    {"idle", {bench_idle}},
#if SLIPRING_HAS_JANSSON
    {"mailbox", {bench_mailbox}},
    {"run", {bench_run}},
#endif
    {"telemetry", {bench_telemetry}},
    {"pool", {bench_pool}},
    {"profile", {bench_profile}},
    {"transfer", {bench_transfer, bench_pinned, bench_copy_cuda}},
    {"memory", {bench_memory, bench_memory_cuda}},
    {"claims", {bench_claims}},
    {"kernels", {bench_kernels, bench_kernels_cuda, bench_launch}},
};

typedef struct options {
    const struct benchmark *benchmark;
    const char *device, *filter;
    unsigned pairs;
    bool json, small;
} options;

// In large pages where they pay, as the device's buffers are: else a floor would be lower than it need be.
void *bench_lines(size_t bytes)
{
    const size_t large = (size_t)2 << 20, align = bytes < 2 * large ? 128 : large;
    void *memory = aligned_alloc(align, (bytes + align - 1) / align * align);
    if (memory != NULL && align == large)
        madvise(memory, bytes, MADV_HUGEPAGE); // where it is refused small pages do
    if (memory == NULL) {
        say("out of memory: %zu bytes asked", bytes);
        exit(EXIT_FAILED);
    }
    return memset(memory, 0, bytes);
}

uint32_t bench_size(const bench *bench, uint32_t many)
{
    return bench->small ? many / 16 : many;
}

const char *bench_keep_name(bench *bench, const char *name)
{
    if (bench->name_count == BENCH_ROWS) // nor do rows find room
        return "";
    char *kept = bench->names[bench->name_count++];
    snprintf(kept, BENCH_NAME_BYTES, "%s", name);
    return kept;
}

// ---- the rows ------------------------------------------------------------------------------------------------------

bool bench_wants(const bench *bench, const char *name)
{
    return bench->filter == NULL || strstr(name, bench->filter) != NULL;
}

static void describe(const bench *bench, const bench_case *what, const measure_result *result, bench_row *row)
{
    const char *few = bench->small ? "; SMALL: sizes of a test, no figures"
                      : result->kept < (bench->pairs ? bench->pairs : MEASURE_KEPT)
                          ? "; TOO FEW: the machine was restless"
                          : "";
    snprintf(row->method, sizeof row->method,
             "%s Medians of %u interleaved pairs of %u%s; caller on core %d, the other side on core %d, %.0f ns apart "
             "(ping-pong, before and after each pair); clock read %.0f ns%s.",
             what->method, result->kept, result->tried, few, partner_caller_core(bench->partner),
             partner_other_core(bench->partner), result->probe_ns, bench->clock_ns,
             what->pair.figures == MEASURE_FIGURES ? ", taken off each time" : "");
}

static void put_row(const bench *bench, const bench_row *row)
{
    json_out *out = bench->json;
    json_out_line(out, NULL);
    json_out_text(out, "name", row->name);
    json_out_text(out, "stat", row->stat);
    json_out_real(out, "value", row->value);
    json_out_text(out, "unit", row->unit);
    json_out_real(out, "floor", row->floor);
    json_out_real(out, "ratio", row->ratio);
    json_out_text(out, "method", row->method);
    if (row->claim != NULL)
        json_out_text(out, "claim", row->claim);
    json_out_end_object(out);
    fflush(out->to); // what is measured stays, whatever comes
}

static void add(bench *bench, const bench_row *row)
{
    if (bench->row_count == BENCH_ROWS)
        return;
    bench_row *added = &bench->rows[bench->row_count++];
    *added = *row;
    added->claim = bench->claim;
    if (bench->json != NULL)
        put_row(bench, added);
}

bool bench_measure(bench *bench, const bench_case *what)
{
    measure_result result;
    measure_pair pair = what->pair;
    if (!bench_wants(bench, what->name))
        return true;
    if (bench->pairs != 0)
        pair.enough = bench->pairs;
    pair.any = bench->small;
    if (!measure_pairs(&pair, bench->partner, &result))
        return false;
    for (unsigned i = 0; i < what->pair.figures; i++) {
        measure_figure figure = result.figures[i];
        bench_row row = {what->name, what->stats[i], what->unit, figure.value, figure.floor, figure.ratio, "", NULL};
        describe(bench, what, &result, &row);
        add(bench, &row);
    }
    return true;
}

void bench_add(bench *bench, const bench_row *row, const char *method)
{
    bench_row whole = *row;
    whole.ratio = row->floor > 0 ? row->value / row->floor : 0;
    snprintf(whole.method, sizeof whole.method, "%s", method);
    add(bench, &whole);
}

static void begin_json(const bench *bench)
{
    json_out_object(bench->json, NULL);
    json_out_text(bench->json, "bench", bench->name);
    json_out_text(bench->json, "device", bench->info.name);
    json_out_text(bench->json, "version", SLR_VERSION);
    json_out_array(bench->json, "rows");
}

static void end_json(const bench *bench)
{
    json_out_end_array(bench->json);
    json_out_bool(bench->json, "whole", !bench->broken);
    json_out_end_object(bench->json);
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
                                                 {"pairs", required_argument, NULL, 'p'},
                                                 {"small", no_argument, NULL, 's'},
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
        case 'p':
            out->pairs = (unsigned)strtoul(optarg, NULL, 10);
            if (out->pairs < 1 || out->pairs > MEASURE_TRIED)
                return say_usage("--pairs takes 1 to %d, not '%s'", MEASURE_TRIED, optarg);
            break;
        case 's':
            out->small = true;
            out->pairs = 1;
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
    bench->pairs = options->pairs;
    bench->small = options->small;
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
    json_out json = {.to = stdout};
    int end = open_bench(options, bench);
    if (end != -1)
        return end;
    bench->json = options->json ? &json : NULL;
    if (options->json)
        begin_json(bench);
    for (unsigned i = 0; options->benchmark->parts[i] != NULL; i++)
        if (!options->benchmark->parts[i](bench))
            bench->broken = true;
    if (options->json)
        end_json(bench);
    else if (bench->row_count > 0)
        print_table(bench);
    if (bench->row_count == 0 && !bench->broken)
        return say_usage("--filter: no row of '%s' has '%s' in its name", bench->name, bench->filter);
    return bench->broken ? EXIT_FAILED : EXIT_DONE;
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
