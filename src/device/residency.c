// SPDX-License-Identifier: Apache-2.0
// How many blocks are on a device at once, counted while they run, for drivers that do not say.
#include "base/sized.h"
#include "base/status.h"
#include "device/kernel.h"

#include <slipring/occupancy.h>

#include <stdio.h>
#include <string.h>

#define BLOCKS_A_UNIT 32u // that are launched: no device has more of them at once that says how many it has
#define MOST_BLOCKS 4096u // that are launched where the driver names no units
#define POLLS (1 << 12)   // that a block waits for others, then it ends
#define PATIENCE_NS UINT64_C(10000000000)

// A block counts itself in, keeps the highest count, waits a while for more, and counts itself out.
static const char source[] = "__global__ void residency(unsigned *count, int polls)\n"
                             "{\n"
                             "    extern __shared__ unsigned room[];\n"
                             "    if (threadIdx.x == 0) {\n"
                             "        unsigned here = atomicAdd(&count[0], 1u) + 1u;\n"
                             "        atomicMax(&count[1], here);\n"
                             "        room[0] = here;\n"
                             "        for (int i = 0; i < polls; i++)\n"
                             "            if (atomicAdd(&count[1], 0u) >= gridDim.x)\n"
                             "                break;\n"
                             "        atomicSub(&count[0], 1u);\n"
                             "    }\n"
                             "    __syncthreads();\n"
                             "}\n";

static slr_status count_blocks_of(slr_device *device, slr_kernel *probe, slr_shape shape, uint32_t *most)
{
    uint32_t counts[2] = {0, 0};
    slr_stream *stream = NULL;
    slr_buffer *buffer = NULL;
    slr_status status = slr_stream_create(device, NULL, &stream);
    if (status == SLR_OK)
        status = slr_buffer_create(device, sizeof counts, &buffer);
    if (status == SLR_OK)
        status = slr_stream_write(stream, buffer, 0, counts, sizeof counts, NULL);
    if (status == SLR_OK)
        status = SLR_LAUNCH(stream, probe, shape, buffer, POLLS);
    if (status == SLR_OK)
        status = slr_stream_read(stream, buffer, 0, counts, sizeof counts, NULL);
    if (stream) {
        slr_status ended = slr_stream_finish(stream, PATIENCE_NS);
        status = status == SLR_OK ? ended : status;
    }
    *most = counts[1];
    slr_buffer_destroy(buffer);
    slr_stream_destroy(stream);
    return status;
}

static slr_status measure_residency(slr_device *device, slr_kernel_occupancy *of)
{
    slr_program *program;
    slr_kernel *probe;
    uint32_t most = 0;
    uint64_t shared = of->shared_bytes > sizeof(uint32_t) ? of->shared_bytes : sizeof(uint32_t);
    SLRI_TRY(slr_program_from_text(device, "slipring: residency.c", source, NULL, &program));
    slr_status status = slr_program_get_kernel(program, "residency", &probe);
    if (status == SLR_OK) {
        status = count_blocks_of(
            device, probe,
            SLR_GRID(of->units ? of->units * BLOCKS_A_UNIT : MOST_BLOCKS, of->block_threads, (uint32_t)shared), &most);
        slr_kernel_destroy(probe);
    }
    slr_program_destroy(program);
    SLRI_TRY(status);
    of->source = SLR_OCCUPANCY_MEASURED;
    of->groups = of->units ? (most + of->units - 1) / of->units : most;
    of->threads = of->groups * of->block_threads;
    snprintf(of->why, sizeof of->why, "measured: %u blocks of %u threads and %llu B of shared memory at once on ", most,
             of->block_threads, (unsigned long long)of->shared_bytes);
    size_t length = strlen(of->why);
    if (of->units)
        snprintf(of->why + length, sizeof of->why - length, "%u units, without this kernel's registers", of->units);
    else
        snprintf(of->why + length, sizeof of->why - length, "the whole device, without this kernel's registers");
    return SLR_OK;
}

slr_status slr_kernel_measure_occupancy_sized(slr_kernel *kernel, slr_shape shape, slr_kernel_occupancy *out,
                                              size_t bytes)
{
    slr_kernel_occupancy whole;
    SLRI_TRY(SLRI_CHECK_REPORT(slr_kernel_occupancy, bytes));
    if (!kernel || !out)
        return SLRI_FAIL(INVALID, "slr_kernel_measure_occupancy: %s is NULL", kernel ? "out" : "kernel");
    SLRI_TRY(slr_kernel_get_occupancy(kernel, shape, &whole));
    if (whole.source == SLR_OCCUPANCY_UNKNOWN)
        SLRI_TRY(measure_residency(kernel->program->device, &whole));
    return SLRI_GIVE_REPORT(slr_kernel_occupancy, out, bytes, &whole);
}

slr_status(slr_kernel_measure_occupancy)(slr_kernel *kernel, slr_shape shape, slr_kernel_occupancy *out)
{
    return slr_kernel_measure_occupancy_sized(kernel, shape, out, SLRI_FIRST_slr_kernel_occupancy);
}
