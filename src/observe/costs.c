// SPDX-License-Identifier: Apache-2.0
// What a launch and a copy cost on a device, and what an instruction costs where threads do not step together.
#include "observe/ceilings.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "device/kernel.h"
#include "tune/contest.h"

enum {
    TRIPS = 31,
    LARGE_COPIES = 3,
    SMALL_BYTES = 64,
    BLOCKS = 64,
    REGULAR_BLOCKS = 1024,
    IN_A_ROW = 16,
    ENOUGH = 5000000 /* ns */
};
static const uint64_t large_bytes = (uint64_t)16 << 20;
static const int first_rounds = 64, most_rounds = 1 << 16;

static slr_status round_trip(const struct slri_ceilings_bench *b, slr_kernel *kernel, double *out)
{
    double took[TRIPS];
    for (int i = -1; i < TRIPS; ++i) { // the first compiles
        uint64_t from = slri_now_ns();
        SLRI_TRY(slr_launch(b->stream, kernel, SLR_GRID(1, 1, 0), NULL, 0, NULL));
        SLRI_TRY(slr_stream_finish(b->stream, SLRI_CEILINGS_TIMEOUT_NS));
        if (i >= 0)
            took[i] = (double)(slri_now_ns() - from);
    }
    *out = slri_quantile_of(took, TRIPS, 0.5);
    return SLR_OK;
}

// ---- copies --------------------------------------------------------------------------------------------------------

static slr_status copy(slr_buffer *buffer, bool up, void *host, uint64_t bytes, double *ns)
{
    uint64_t from = slri_now_ns();
    SLRI_TRY(up ? slr_buffer_write(buffer, 0, host, bytes) : slr_buffer_read(buffer, 0, host, bytes));
    *ns = (double)(slri_now_ns() - from);
    return SLR_OK;
}

static slr_status copies(slr_buffer *buffer, bool up, void *host, double *fixed_ns, double *bytes_per_second)
{
    double took[TRIPS], least = 0;
    for (int i = -1; i < TRIPS; ++i) {
        double ns;
        SLRI_TRY(copy(buffer, up, host, SMALL_BYTES, &ns));
        if (i >= 0)
            took[i] = ns;
    }
    *fixed_ns = slri_quantile_of(took, TRIPS, 0.5);
    for (int i = 0; i < LARGE_COPIES; ++i) {
        double ns;
        SLRI_TRY(copy(buffer, up, host, large_bytes, &ns));
        least = i == 0 || ns < least ? ns : least;
    }
    double moving = least > *fixed_ns ? least - *fixed_ns : least;
    *bytes_per_second = (double)large_bytes * 1e9 / (moving > 1 ? moving : 1);
    return SLR_OK;
}

static slr_status both_ways(const struct slri_ceilings_bench *b, slr_ceilings *out)
{
    void *host = slri_alloc(NULL, large_bytes);
    if (!host)
        return SLRI_FAIL(NO_MEMORY, "no memory to measure copies");
    slr_status status = copies(b->buffer[0], true, host, &out->upload_ns, &out->upload_bytes_per_second);
    if (status == SLR_OK)
        status = copies(b->buffer[0], false, host, &out->download_ns, &out->download_bytes_per_second);
    slri_free(NULL, host, large_bytes);
    return status;
}

// ---- instructions --------------------------------------------------------------------------------------------------

static slr_status shortest_launch(const struct slri_ceilings_bench *b, slr_kernel *kernel, slr_shape shape,
                                  const slr_arg *args, uint32_t count, double *out)
{
    for (int i = 0; i < LARGE_COPIES; ++i) {
        uint64_t from = slri_now_ns();
        SLRI_TRY(slr_launch(b->stream, kernel, shape, args, count, NULL));
        SLRI_TRY(slr_stream_finish(b->stream, SLRI_CEILINGS_TIMEOUT_NS));
        double ns = (double)(slri_now_ns() - from);
        *out = i == 0 || ns < *out ? ns : *out;
    }
    return SLR_OK;
}

static double less_launch(double ns, double round_trip_ns)
{
    return ns > 2 * round_trip_ns ? ns - round_trip_ns : ns;
}

// Nanoseconds for each counted instruction, of the longest launch that is counted. What a launch costs is taken off,
// where it is the smaller part.
static slr_status ns_per_instruction(const struct slri_ceilings_bench *b, slr_kernel *kernel, slr_shape shape,
                                     double round_trip_ns, double *out)
{
    double least = 0;
    for (int rounds = first_rounds; rounds <= most_rounds && least < ENOUGH; rounds *= 4) {
        const slr_arg args[] = {slr_arg_buffer(b->buffer[0]), slr_arg_buffer(b->buffer[1]), slr_arg_signed(rounds)};
        struct slri_count count;
        SLRI_TRY(slri_launch_count(kernel, &shape, args, NULL, NULL, &count));
        if (count.counted == SLRI_COUNT_UNKNOWN)
            break; // too many to be walked
        SLRI_TRY(shortest_launch(b, kernel, shape, args, 3, &least));
        *out = less_launch(least, round_trip_ns) / (double)count.instructions;
    }
    return SLR_OK;
}

// Launches in a row, so that a device that needs long to begin one is not judged by that.
static slr_status regular(const struct slri_ceilings_bench *b, slr_kernel *kernel, double *out)
{
    const slr_shape shape = SLR_GRID(REGULAR_BLOCKS, SLRI_CEILINGS_BLOCK, 0);
    const slr_arg args[] = {slr_arg_buffer(b->buffer[0]), slr_arg_buffer(b->buffer[1]), slr_arg_buffer(b->buffer[2]),
                            slr_arg_float(3), slr_arg_signed(REGULAR_BLOCKS * SLRI_CEILINGS_BLOCK)};
    struct slri_count count;
    double least = 0;
    SLRI_TRY(slri_launch_count(kernel, &shape, args, NULL, NULL, &count));
    for (int i = 0; i < LARGE_COPIES; ++i) {
        uint64_t from = slri_now_ns();
        for (int k = 0; k < IN_A_ROW; ++k)
            SLRI_TRY(slr_launch(b->stream, kernel, shape, args, 5, NULL));
        SLRI_TRY(slr_stream_finish(b->stream, SLRI_CEILINGS_TIMEOUT_NS));
        double ns = (double)(slri_now_ns() - from) / IN_A_ROW;
        least = i == 0 || ns < least ? ns : least;
    }
    *out = (double)count.instructions * 1e9 / least;
    return SLR_OK;
}

slr_status slri_ceilings_costs(const struct slri_ceilings_bench *b, slr_ceilings *out)
{
    slr_kernel *walk, *split, *triad;
    double apart = 0;
    SLRI_TRY(slri_ceilings_run(b, "nothing", round_trip, &out->round_trip_ns));
    SLRI_TRY(both_ways(b, out));
    const double trip = out->round_trip_ns;
    SLRI_TRY(slr_program_get_kernel(b->program, "walk", &walk));
    slr_status status = ns_per_instruction(b, walk, SLR_GRID(1, 1, 0), trip, &out->instruction_ns);
    slr_kernel_destroy(walk);
    SLRI_TRY(status);
    SLRI_TRY(slr_program_get_kernel(b->program, "split", &split));
    status = ns_per_instruction(b, split, SLR_GRID(BLOCKS, SLRI_CEILINGS_BLOCK, 0), trip, &apart);
    slr_kernel_destroy(split);
    SLRI_TRY(status);
    out->branch_per_second = apart > 0 ? 1e9 / apart : 0;
    SLRI_TRY(slr_program_get_kernel(b->program, "triad", &triad));
    status = regular(b, triad, &out->instructions_per_second);
    slr_kernel_destroy(triad);
    return status;
}
