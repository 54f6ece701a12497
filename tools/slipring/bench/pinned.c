// SPDX-License-Identifier: Apache-2.0
// `slipring bench transfer`: copies into pinned buffers beside the same into others, and what pinning costs.
#include "bench/bench.h"

#include "bench/batch.h"
#include "clock.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct pinned_bench {
    slr_device *device;
    unsigned char *source;
    uint64_t bytes;
    uint32_t copies; // of a slice
    slr_buffer *pinned, *pageable;
} pinned_bench;

static slr_status make(const pinned_bench *p, uint32_t pinned, slr_buffer **out)
{
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    desc.bytes = p->bytes;
    desc.pinned = pinned;
    return slr_buffer_create_with(p->device, &desc, out);
}

static bool write_slice(const pinned_bench *p, slr_buffer *buffer, double *figures)
{
    slr_status status = SLR_OK;
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < p->copies && status == SLR_OK; i++)
        status = slr_buffer_write(buffer, 0, p->source, p->bytes);
    figures[0] = (double)p->bytes * p->copies / (double)(clock_ns() - start);
    return status == SLR_OK || bench_failed(status, "pinned");
}

static bool pinned_slice(void *context, double *figures)
{
    const pinned_bench *p = context;
    return write_slice(p, p->pinned, figures);
}

static bool pageable_slice(void *context, double *figures)
{
    const pinned_bench *p = context;
    return write_slice(p, p->pageable, figures);
}

// Made, written once, destroyed; in microseconds.
static bool new_slice(const pinned_bench *p, uint32_t pinned, double *figures)
{
    slr_buffer *buffer = NULL;
    uint64_t start = clock_ns();
    slr_status status = make(p, pinned, &buffer);
    if (status == SLR_OK)
        status = slr_buffer_write(buffer, 0, p->source, p->bytes);
    slr_buffer_destroy(buffer);
    figures[0] = (double)(clock_ns() - start) / 1000;
    return status == SLR_OK || bench_failed(status, "pinned_new");
}

static bool new_pinned_slice(void *context, double *figures)
{
    return new_slice(context, 1, figures);
}

static bool new_pageable_slice(void *context, double *figures)
{
    return new_slice(context, 0, figures);
}

static bool measure(bench *bench, pinned_bench *p, const char *name, bool is_new)
{
    bench_case what = {name,
                       is_new ? "us" : "GB/s",
                       {"median"},
                       is_new ? "The time to create a pinned buffer, to write it once and to destroy it. Floor: the "
                                "same with a buffer that is not pinned."
                              : "slr_buffer_write into an existing pinned buffer. Floor: slr_buffer_write into a "
                                "buffer that is not pinned.",
                       {.value = is_new ? new_pinned_slice : pinned_slice,
                        .floor = is_new ? new_pageable_slice : pageable_slice,
                        .value_context = p,
                        .floor_context = p,
                        .figures = 1,
                        .enough = MEASURE_KEPT}};
    return bench_measure(bench, &what);
}

// A process that may not lock so much has a row that says so.
static bool measure_size(bench *bench, pinned_bench *p, const char *name, const char *new_name)
{
    if (!bench_wants(bench, name) && !bench_wants(bench, new_name))
        return true;
    slr_status status = make(p, 1, &p->pinned);
    if (status == SLR_NO_MEMORY) {
        char why[BENCH_METHOD_BYTES];
        snprintf(why, sizeof why, "Not measured: %.400s.", slr_error_message());
        bench_add(bench, &(bench_row){.name = name, .stat = "median", .unit = "GB/s"}, why);
        return true;
    }
    if (status == SLR_OK)
        status = make(p, 0, &p->pageable);
    p->source = bench_lines(p->bytes);
    double unused;
    bool fine = status == SLR_OK ? pinned_slice(p, &unused) && pageable_slice(p, &unused) : bench_failed(status, name);
    fine = fine && measure(bench, p, name, false) && measure(bench, p, new_name, true);
    slr_buffer_destroy(p->pinned);
    slr_buffer_destroy(p->pageable);
    free(p->source);
    return fine;
}

bool bench_pinned(bench *bench)
{
    static const struct size {
        const char *name, *new_name;
        uint64_t bytes;
        uint32_t copies;
    } sizes[] = {{"pinned_40K", "pinned_new_40K", 40 << 10, 256},
                 {"pinned_4M", "pinned_new_4M", 4 << 20, 4},
                 {"pinned_64M", "pinned_new_64M", 64 << 20, 1}};
    bool fine = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && fine; i++) {
        pinned_bench p = {
            .device = bench->device, .bytes = bench->small ? 4096 : sizes[i].bytes, .copies = sizes[i].copies};
        fine = measure_size(bench, &p, sizes[i].name, sizes[i].new_name);
    }
    return fine;
}
