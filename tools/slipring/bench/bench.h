// SPDX-License-Identifier: Apache-2.0
/// The parts of `slipring bench`: what a benchmark holds, and the rows that it makes.
#ifndef BENCH_H
#define BENCH_H

#include "json_out.h"
#include "measure.h"
#include "partner.h"

#include <slipring/devices.h>

enum { BENCH_ROWS = 128, BENCH_METHOD_BYTES = 1024, BENCH_NAME_BYTES = 48 };
#define BENCH_TIMEOUT_NS 60000000000ull // of every wait, also on a loaded machine: it fails, it does not hang

typedef struct bench_row {
    const char *name, *stat, *unit;
    double value, floor, ratio;
    char method[BENCH_METHOD_BYTES];
    const char *claim;             // of `bench claims`: what the row is about; else NULL
    const double *values, *floors; // of the pairs kept, while the row is written; NULL: of no pairs
    unsigned pairs;
} bench_row;

typedef struct bench {
    const char *name, *filter;
    unsigned pairs;    // to be kept of each row; 0: as the row says
    unsigned budget_s; // of each search of the tuner's; 0: as the benchmark says
    bool small;        // sizes of a test
    bool broken;       // a part has failed; the others' rows are there
    slr_device *device;
    slr_device_info info;
    partner *partner;
    double clock_ns;
    const char *claim; // that the rows to come are about, or NULL
    json_out *json;    // where rows go as they are made; NULL: a table at the end
    bench_row rows[BENCH_ROWS];
    unsigned row_count;
    char names[BENCH_ROWS][BENCH_NAME_BYTES]; // of rows whose names are made
    unsigned name_count;
} bench;

/// One thing to measure: a row for each of its figures.
typedef struct bench_case {
    const char *name, *unit;
    const char *stats[MEASURE_FIGURES]; // as many as the pair has figures
    const char *method;                 // what value and floor are; how they were taken is added
    measure_pair pair;
} bench_case;

/// Whether --filter lets this row through.
bool bench_wants(const bench *bench, const char *name);

/// Measures, where it is wanted, and adds the rows. False: a slice failed, and has said why.
bool bench_measure(bench *bench, const bench_case *what);

/// Adds a row that was measured otherwise; its ratio is value over floor, 0 where that is 0.
void bench_add(bench *bench, const bench_row *row, const char *method);

/// What is better of a unit: "less" of times and memory, "more" of rates; NULL: neither.
const char *bench_better(const char *unit);

/// How a row's value stands to its floor, in words: "1.35x worse", "2.00x better", "same"; "" where that cannot be
/// said.
enum { BENCH_VERDICT_BYTES = 24 };
void bench_verdict(const bench_row *row, char to[BENCH_VERDICT_BYTES]);

/// A copy of a row's name that lives as long as the rows.
const char *bench_keep_name(bench *bench, const char *name);

/// How many of something a slice has: as many, or with --small a sixteenth.
uint32_t bench_size(const bench *bench, uint32_t many);

/// Memory for what two cores share: zeroed, on a multiple of 128 bytes, to free(). Or the program ends.
void *bench_lines(size_t bytes);

/// The benchmarks. False: failed, and that has been said.
bool bench_latency(bench *bench);
bool bench_memory(bench *bench);
bool bench_memory_cuda(bench *bench);
bool bench_l2_window(bench *bench); ///< on CUDA: a row of bench_memory_cuda
bool bench_payload(bench *bench);
bool bench_wake(bench *bench);
bool bench_one_way(bench *bench);
bool bench_relaunch(bench *bench);
bool bench_nest(bench *bench);
bool bench_together(bench *bench);
bool bench_reqrep(bench *bench);
bool bench_keyed(bench *bench);
bool bench_idle(bench *bench);
bool bench_many(bench *bench);
bool bench_remote(bench *bench);
bool bench_remote_pressure(bench *bench);
bool bench_pressure(bench *bench);
bool bench_state(bench *bench);
bool bench_streams(bench *bench);
bool bench_mailbox(bench *bench);
bool bench_pipeline(bench *bench);
bool bench_ward(bench *bench);
bool bench_pool(bench *bench);
bool bench_profile(bench *bench);
bool bench_handlers(bench *bench);
bool bench_telemetry(bench *bench);
bool bench_transfer(bench *bench);
bool bench_pinned(bench *bench);
bool bench_copy_cuda(bench *bench);
bool bench_claims(bench *bench);
bool bench_run(bench *bench);
bool bench_kernels(bench *bench);
bool bench_kernels_cuda(bench *bench);
bool bench_launch(bench *bench);
bool bench_tune(bench *bench);
bool bench_fused(bench *bench);
bool bench_ops(bench *bench);
bool bench_convolutions(bench *bench);
bool bench_ops_cuda(bench *bench);
bool bench_layers(bench *bench);
bool bench_models(bench *bench);
bool bench_decide(bench *bench);
bool bench_cluster(bench *bench);
bool bench_failover(bench *bench);
bool bench_growth(bench *bench);

/// `slipring bench compare`, with its own argc and argv.
int bench_compare(int argc, char **argv);

#endif
