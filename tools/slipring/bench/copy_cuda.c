// SPDX-License-Identifier: Apache-2.0
// `slipring bench transfer`, on CUDA: copies by slipring beside the driver's that waits, and what the driver makes of
// memory that is pinned.
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/cuda.h"
#include "clock.h"
#include "say.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20, SMALL_BYTES = 4096 };

typedef struct copy_bench {
    bench *bench;
    slr_buffer *buffer;
    cuda *cu;
    cuda_pointer memory;
    void *pinned, *pageable;
    size_t bytes;    // of a copy
    uint32_t copies; // of a slice
} copy_bench;

// ---- slices: GB/s --------------------------------------------------------------------------------------------------

typedef bool copy_once(const copy_bench *c);

static bool time_copies(const copy_bench *c, copy_once *copy, double *figures)
{
    bool fine = true;
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < c->copies && fine; i++)
        fine = copy(c);
    figures[0] = (double)c->bytes * c->copies / (double)(clock_ns() - start);
    if (!fine)
        say("a copy fails: %s", slr_error_message());
    return fine;
}

static bool write_once(const copy_bench *c)
{
    return slr_buffer_write(c->buffer, 0, c->pageable, c->bytes) == SLR_OK;
}

static bool read_once(const copy_bench *c)
{
    return slr_buffer_read(c->buffer, 0, c->pageable, c->bytes) == SLR_OK;
}

static bool copy_in_once(const copy_bench *c)
{
    return cuda_copy_in(c->cu, c->memory, c->pageable, c->bytes, true);
}

static bool copy_out_once(const copy_bench *c)
{
    return cuda_copy_out(c->cu, c->pageable, c->memory, c->bytes, true);
}

static bool copy_pinned_once(const copy_bench *c)
{
    return cuda_copy_in(c->cu, c->memory, c->pinned, c->bytes, false) && cuda_finish(c->cu);
}

#define SLICE(name)                                                                                                    \
    static bool name##_slice(void *context, double *figures)                                                           \
    {                                                                                                                  \
        return time_copies(context, name##_once, figures);                                                             \
    }
SLICE(write)
SLICE(read)
SLICE(copy_in)
SLICE(copy_out)
SLICE(copy_pinned)

// ---- rows ----------------------------------------------------------------------------------------------------------

static const struct kind {
    const char *name, *method;
    measure_slice *value, *floor;
} kinds[] = {
    {"write",
     "slr_buffer_write from memory that is not pinned. Floor: cuMemcpyHtoD from the same memory, without slipring.",
     write_slice, copy_in_slice},
    {"read",
     "slr_buffer_read into memory that is not pinned. Floor: cuMemcpyDtoH into the same memory, without slipring.",
     read_slice, copy_out_slice},
    {"bare_pinned",
     "Without slipring: cuMemcpyHtoDAsync from pinned memory, and a wait. Floor: cuMemcpyHtoD from memory that is not "
     "pinned.",
     copy_pinned_slice, copy_in_slice},
};

static bool measure(copy_bench *c, const struct kind *kind, const char *size)
{
    char name[BENCH_NAME_BYTES];
    snprintf(name, sizeof name, "%s_%s", kind->name, size);
    if (!bench_wants(c->bench, name))
        return true;
    return bench_measure(c->bench, &(bench_case){.name = bench_keep_name(c->bench, name),
                                                 .unit = "GB/s",
                                                 .stats = {"median"},
                                                 .method = kind->method,
                                                 .pair = {.value = kind->value,
                                                          .floor = kind->floor,
                                                          .value_context = c,
                                                          .floor_context = c,
                                                          .figures = 1,
                                                          .enough = MEASURE_KEPT}});
}

static bool measure_all(copy_bench *c)
{
    static const struct size {
        const char *name;
        size_t bytes;
        uint32_t copies;
    } sizes[] = {{"40K", 40 << 10, 64}, {"4M", 4 << 20, 4}, {"64M", MOST_BYTES, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        c->bytes = c->bench->small ? SMALL_BYTES : sizes[i].bytes;
        c->copies = sizes[i].copies;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (!measure(c, &kinds[k], sizes[i].name))
                return false;
    }
    return true;
}

static bool open(copy_bench *c)
{
    const char *why;
    slr_status status = slr_buffer_create(c->bench->device, MOST_BYTES, &c->buffer);
    if (status != SLR_OK)
        return bench_failed(status, "copies");
    c->pageable = bench_lines(MOST_BYTES);
    if ((c->cu = cuda_open(c->bench->info.name, &why)) == NULL) {
        say("copies by hand: %s", why);
        return false;
    }
    c->memory = cuda_take_own(c->cu, MOST_BYTES);
    c->pinned = c->memory != 0 ? cuda_take(c->cu, MOST_BYTES) : NULL;
    if (c->pinned == NULL)
        say("copies by hand: no memory for them");
    return c->pinned != NULL;
}

bool bench_copy_cuda(bench *bench)
{
    copy_bench c = {.bench = bench};
    if (strcmp(bench->info.backend, "cuda") != 0)
        return true;
    bool fine = open(&c) && measure_all(&c);
    if (c.pinned != NULL)
        cuda_give(c.cu, c.pinned);
    if (c.memory != 0)
        cuda_give_own(c.cu, c.memory);
    cuda_close(c.cu);
    slr_buffer_destroy(c.buffer);
    free(c.pageable);
    return fine;
}
