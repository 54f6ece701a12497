// SPDX-License-Identifier: Apache-2.0
// `slipring bench`: finds the benchmark, runs it, prints its rows.
#define _GNU_SOURCE
#include "bench/bench.h"
#include "bench/claims.h"

#include "device_option.h"
#include "json_out.h"
#include "memory.h"
#include "progress.h"
#include "say.h"
#include "verbs.h"

#include <slipring/slipring.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char help[] = "Usage: slipring bench NAME [OPTION]...\n"
                           "       slipring bench compare OLD.json NEW.json [OPTION]...\n"
                           "Measures ring kernels against a floor: the simplest way to do the same work\n"
                           "between two cores.\n"
                           "\n"
                           "  latency      one message and its reply: ring kernel, hand-off to a thread,\n"
                           "               plain call\n"
                           "  throughput   messages per second: one way, request and reply, to a million\n"
                           "               keys\n"
                           "  pipeline     messages per second through four ring kernels joined by routes,\n"
                           "               and the latency of one message\n"
                           "  idle         cost of 1,000 idle ring kernels, of their start and of their end;\n"
                           "               cost of one ring kernel among 100 to 100,000, and of one stream\n"
                           "               among 10,000; takes a minute\n"
                           "  mailbox      rate, waiting time and memory of mailboxes for 100 to 10,000\n"
                           "               messages\n"
                           "  state        durable ring kernels, against appends to a file; snapshots;\n"
                           "               memory with a slow handler, or with a full output\n"
                           "  telemetry    cost of timing messages\n"
                           "  ward         samples per second of the heart monitor with 20,000 patients,\n"
                           "               against a loop in plain C\n"
                           "  profile      cost of the profiler and the trace per command\n"
                           "  pool         allocation and free of device memory, against mimalloc and malloc\n"
                           "  transfer     streams: copies during computation, concurrent copies, recorded\n"
                           "               lists, events\n"
                           "  memory       load latency and bandwidth of each memory level, against plain C\n"
                           "  claims       statements of GPU programming guides, tested on this device;\n"
                           "               takes some minutes\n"
                           "  kernels      __global__ kernels over grids, against memory bandwidth, OpenCL,\n"
                           "               OpenBLAS and hand-written loops\n"
                           "  ops          matrix products by slipring and through libraries, against direct\n"
                           "               calls of OpenBLAS; the algorithm chosen by measurement, against\n"
                           "               the fastest\n"
                           "  tune         the tuner's choice after a tenth of the candidates, against the\n"
                           "               default and the best of all; fused kernels, against a kernel\n"
                           "               for each operation and a handwritten loop; decisions between\n"
                           "               GPU and CPU, predicted against measured; takes many minutes\n"
                           "               the first time\n"
                           "  cluster      two cpu devices as one, and copies between devices\n"
                           "  growth       durable messages as keys, partitions and names grow; some\n"
                           "               minutes\n"
                           "  run          rows per second of 'slipring run', against a filter in plain C\n"
                           "\n"
                           "  compare      which rows of --json files have become slower; see\n"
                           "               'slipring bench compare --help'\n"
                           "\n"
                           "  --device D      default: SLIPRING_DEVICE, then auto\n"
                           "  --filter TEXT   only rows whose name contains TEXT\n"
                           "  --pairs N       pairs kept per row; default 61, or 15 after 5 s\n"
                           "  --budget S      time limit of each search of 'tune', in seconds; default 900\n"
                           "                  for all candidates, 120 for a tenth of them\n"
                           "  --small         tiny sizes, for a test: runs everything, measures nothing.\n"
                           "                  'bench compare' refuses these figures\n"
                           "  --json          prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring bench latency --filter rtt\n"
                           "\n"
                           "Each row shows a value, its floor, and ratio = value / floor. The row's\n"
                           "description names the floor; a floor of 0 means that there is none. For times\n"
                           "and memory less is better, for rates (.../s) more. The last column says '1.35x\n"
                           "worse', '2.00x better' or 'same'. In --json: better, verdict.\n"
                           "\n"
                           "Value and floor are measured alternately, in short slices. The latency between\n"
                           "the two cores is measured before and after each pair; a pair in which it changed\n"
                           "by more than half is discarded. Value, floor and ratio are medians over the\n"
                           "pairs kept, at least 15. The ratio is the median of the pairs' ratios, which can\n"
                           "differ from the quotient of the two medians. 'claims' says of each figure which\n"
                           "of these it is; in --json: pairs, value_is, floor_is, ratio_is and claim_figure,\n"
                           "which is the figure that decides. Two cores are required. After a\n"
                           "failure the other rows still run, and the exit code is 1.\n";

static const struct benchmark {
    const char *name;
    bool (*parts[7])(bench *bench); // until NULL
} benchmarks[] = {
    {"latency", {bench_latency, bench_payload, bench_wake}},
    {"throughput", {bench_one_way, bench_reqrep, bench_relaunch, bench_nest, bench_together, bench_keyed}},
    {"pipeline", {bench_pipeline}},
    {"ward", {bench_ward}},
    {"idle", {bench_idle, bench_many, bench_streams}},
#if SLIPRING_HAS_JANSSON
    {"mailbox", {bench_mailbox}},
    {"run", {bench_run}},
#endif
    {"state", {bench_state, bench_pressure}},
    {"telemetry", {bench_telemetry}},
    {"pool", {bench_pool}},
    {"profile", {bench_profile}},
    {"transfer", {bench_transfer, bench_pinned, bench_copy_cuda}},
    {"memory", {bench_memory, bench_memory_cuda}},
    {"claims", {bench_claims}},
    {"kernels", {bench_kernels, bench_kernels_cuda, bench_launch}},
    {"ops", {bench_ops, bench_convolutions, bench_ops_cuda, bench_layers, bench_models}},
#if SLIPRING_HAS_JANSSON
    {"tune", {bench_tune, bench_fused, bench_decide}},
#else
    {"tune", {bench_tune, bench_fused}},
#endif
    {"cluster", {bench_cluster, bench_remote, bench_remote_pressure, bench_failover}},
    {"growth", {bench_growth}},
};

enum { MOST_BUDGET_S = 86400 };

typedef struct options {
    const struct benchmark *benchmark;
    const char *device, *filter;
    unsigned pairs, budget_s;
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
    const char *few = bench->small ? "; SMALL: sizes for a test, so the figures mean nothing"
                      : result->kept < (bench->pairs ? bench->pairs : MEASURE_KEPT)
                          ? "; TOO FEW pairs, because the machine's speed changed"
                          : "";
    snprintf(
        row->method, sizeof row->method,
        "%s Medians of %u of %u pairs of measurements, value and floor in turn%s. The caller runs on core %d, the "
        "other side on core %d; a cache line takes %.0f ns to the other core and back. A clock read takes %.0f ns%s.",
        what->method, result->kept, result->tried, few, partner_caller_core(bench->partner),
        partner_other_core(bench->partner), result->probe_ns, bench->clock_ns,
        what->pair.figures == MEASURE_FIGURES ? ", which is subtracted from each time" : "");
}

const char *bench_better(const char *unit)
{
    static const char *const less[] = {"ns",  "us", "ms",    "s",
                                       "KiB", "B",  "bytes", "%"}; // what something takes or costs
    size_t length = strlen(unit);
    for (size_t i = 0; i < sizeof less / sizeof *less; i++)
        if (strcmp(unit, less[i]) == 0)
            return "less";
    return length > 2 && strcmp(unit + length - 2, "/s") == 0 ? "more" : NULL;
}

void bench_verdict(const bench_row *row, char to[BENCH_VERDICT_BYTES])
{
    const char *better = bench_better(row->unit);
    *to = '\0';
    if (better == NULL || row->floor <= 0 || row->ratio <= 0)
        return;
    bool worse = (*better == 'l') == (row->ratio > 1);
    double times = row->ratio > 1 ? row->ratio : 1 / row->ratio;
    if (times < 1.005) // as it would be printed
        snprintf(to, BENCH_VERDICT_BYTES, "same");
    else
        snprintf(to, BENCH_VERDICT_BYTES, "%.*fx %s", times < 100 ? 2 : 0, times < 1e6 ? times : 999999.0,
                 worse ? "worse" : "better");
}

static void put_samples(json_out *out, const char *key, const double *samples, unsigned count)
{
    if (samples == NULL)
        return;
    json_out_array(out, key);
    for (unsigned i = 0; i < count; i++)
        json_out_real(out, NULL, samples[i]);
    json_out_end_array(out);
}

// PoCL and its like run on the host's cores.
static bool is_gpu(const bench *bench)
{
    return strcmp(bench->info.backend, "cuda") == 0 || strcmp(bench->info.backend, "hip") == 0;
}

// What a claim's figures are. Of what was measured in no pairs the method says what the value is.
static void put_claim(const bench *bench, const bench_row *row)
{
    json_out *out = bench->json;
    const bool has_floor = row->floor > 0;
    char judged[CLAIMS_VERDICT_BYTES];
    claims_judge(row, is_gpu(bench), judged);
    json_out_text(out, "claim", row->claim);
    json_out_integer(out, "pairs", row->pairs);
    json_out_text(out, "value_is", row->pairs != 0 ? "median of the pairs' values" : "as the method says");
    if (has_floor)
        json_out_text(out, "floor_is", row->pairs != 0 ? "median of the pairs' floors" : "as the method says");
    if (has_floor)
        json_out_text(out, "ratio_is", row->pairs != 0 ? "median of the pairs' ratios" : "value / floor");
    if (*judged == '\0')
        return;
    json_out_text(out, "claim_figure", claims_figure(row));
    json_out_text(out, "claim_verdict", judged);
}

static void put_row(const bench *bench, const bench_row *row)
{
    char verdict[BENCH_VERDICT_BYTES];
    bench_verdict(row, verdict);
    json_out *out = bench->json;
    json_out_line(out, NULL);
    json_out_text(out, "name", row->name);
    json_out_text(out, "stat", row->stat);
    json_out_real(out, "value", row->value);
    json_out_text(out, "unit", row->unit);
    json_out_real(out, "floor", row->floor);
    json_out_real(out, "ratio", row->ratio);
    if (bench_better(row->unit) != NULL)
        json_out_text(out, "better", bench_better(row->unit));
    if (*verdict != '\0')
        json_out_text(out, "verdict", verdict);
    json_out_text(out, "method", row->method);
    if (row->claim != NULL)
        put_claim(bench, row);
    put_samples(out, "values", row->values, row->pairs);
    put_samples(out, "floors", row->floors, row->pairs);
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
    added->values = added->floors = NULL; // the caller's
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
    pair.name = what->name;
    bool fine = measure_pairs(&pair, bench->partner, &result);
    progress_end();
    if (!fine)
        return false;
    for (unsigned i = 0; i < what->pair.figures; i++) {
        measure_figure figure = result.figures[i];
        bench_row row = {what->name,
                         what->stats[i],
                         what->unit,
                         figure.value,
                         figure.floor,
                         figure.ratio,
                         "",
                         NULL,
                         result.values[i],
                         figure.floor > 0 ? result.floors[i] : NULL,
                         result.kept};
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
    json_out_text(bench->json, "description", bench->info.description);
    json_out_text(bench->json, "version", SLR_VERSION);
    if (bench->small)
        json_out_bool(bench->json, "small", true);
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

// Breaks lines at blanks before column 80; all but the first are indented.
static void print_wrapped(const char *text, size_t column)
{
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (column > 2 && column + length + 1 > 80) {
            fputs("\n ", stdout);
            column = 1;
        }
        column += (size_t)printf(" %.*s", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

// "1 us against 2 us, medians of 15 pairs: median ratio 0.52, 1.92x better". The ratio may differ from the quotient of
// the two medians; of what was measured in no pairs it is that.
static void print_figures(const bench_row *row)
{
    char verdict[BENCH_VERDICT_BYTES];
    bench_verdict(row, verdict);
    printf("  %-20s", row->name);
    print_value(row->value, row->unit);
    printf(" %s", row->unit);
    if (row->floor > 0) {
        printf(" against");
        print_value(row->floor, row->unit);
        printf(" %s", row->unit);
    }
    if (row->pairs != 0)
        printf(", %s of %u pairs", row->floor > 0 ? "medians" : "median", row->pairs);
    if (row->floor > 0)
        printf(": %s %.2f%s%s", row->pairs != 0 ? "median ratio" : "quotient", row->ratio, *verdict != '\0' ? ", " : "",
               verdict);
    putchar('\n');
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
        if (row->value > 0)
            print_figures(row);
        else
            printf("  %s\n", row->name);
        char judged[CLAIMS_VERDICT_BYTES];
        claims_judge(row, is_gpu(bench), judged);
        if (*judged != '\0')
            printf("    -> %s\n", judged);
        print_wrapped(row->method, (size_t)printf("   "));
    }
}

static const char columns[] =
    "\nvalue: the result, mostly of slipring. floor: the result of the simplest way to do "
    "the same\nwork, or of another library, as described below; 0: no floor. ratio: the median of "
    "value / floor over the pairs measured. For times\nand memory less is better, for rates (.../s) more.\n\n";

static void print_table(const bench *bench)
{
    printf("%s on %s (%s), slipring %s\n\n", bench->name, bench->info.name, bench->info.engine, SLR_VERSION);
    if (bench->row_count > 0 && bench->rows[0].claim != NULL) {
        print_claims(bench);
        return;
    }
    printf("%-18s %-7s %11s %11s %-9s %6s %s\n", "row", "stat", "value  ", "floor  ", "unit", "ratio", "vs floor");
    for (unsigned i = 0; i < bench->row_count; i++) {
        const bench_row *row = &bench->rows[i];
        char verdict[BENCH_VERDICT_BYTES];
        bench_verdict(row, verdict);
        printf("%-18s %-7s ", row->name, row->stat);
        print_value(row->value, row->unit);
        putchar(' ');
        print_value(row->floor, row->unit);
        printf(" %-9s %6.2f %s\n", row->unit, row->ratio, verdict);
    }
    fputs(columns, stdout);
    for (unsigned i = 0; i < bench->row_count; i++) {
        const bench_row *row = &bench->rows[i];
        if (i == 0 || strcmp(row->name, row[-1].name) != 0)
            print_wrapped(row->method, (size_t)printf("%s:", row->name));
    }
}

// ---- the command line ----------------------------------------------------------------------------------------------

static int choose(const char *name, options *out)
{
    for (size_t i = 0; i < sizeof benchmarks / sizeof *benchmarks; i++) {
        if (strcmp(benchmarks[i].name, name) == 0)
            out->benchmark = &benchmarks[i];
    }
    return out->benchmark != NULL ? -1
                                  : say_unknown("benchmark", name, &benchmarks[0].name, sizeof *benchmarks,
                                                sizeof benchmarks / sizeof *benchmarks);
}

// -1: go on; else the exit code.
static int parse(int argc, char **argv, options *out)
{
    static const struct option long_options[] = {
        {"device", required_argument, NULL, 'd'}, {"filter", required_argument, NULL, 'f'},
        {"pairs", required_argument, NULL, 'p'},  {"budget", required_argument, NULL, 'b'},
        {"small", no_argument, NULL, 's'},        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0}};
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
        case 'b':
            out->budget_s = (unsigned)strtoul(optarg, NULL, 10);
            if (out->budget_s < 1 || out->budget_s > MOST_BUDGET_S)
                return say_usage("--budget takes 1 to %d, not '%s'", MOST_BUDGET_S, optarg);
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
        return argc == optind ? choose("", out) : say_usage("one benchmark, not also '%s'", argv[optind + 1]);
    return choose(argv[optind], out);
}

static int open_bench(const options *options, bench *bench)
{
    bench->name = options->benchmark->name;
    bench->filter = options->filter;
    bench->pairs = options->pairs;
    bench->budget_s = options->budget_s;
    bench->small = options->small;
    int end = device_option_open(options->device, NULL, &bench->device, &bench->info);
    if (end != EXIT_DONE)
        return end;
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
    if (argc > 1 && strcmp(argv[1], "compare") == 0) {
        say_as("bench compare");
#if SLIPRING_HAS_JANSSON
        return bench_compare(argc - 1, argv + 1);
#else
        return say_usage("it needs jansson, and this slipring was built without it");
#endif
    }
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
