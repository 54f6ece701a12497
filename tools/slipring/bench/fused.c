// SPDX-License-Identifier: Apache-2.0
// `slipring bench tune`: a chain of element-wise operations as one kernel, beside a kernel for each and a loop by hand.
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/floors.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char hand_embedded_chain_c[];

enum { ELEMENTS = 64 << 20, CHAIN_BUFFERS = 4, COMPARED = 4096 };

typedef struct chain {
    bench *bench;
    slr_device *device;
    slr_stream *stream;
    slr_kernel *fused, *apart[3];
    slr_buffer *buffer[CHAIN_BUFFERS]; // x, out, and between the operations
    int elements;
    void *memory[2]; // of the loop by hand
    hand_function *hand;
} chain;

static const slr_op operations[] = {SLR_OP_SCALE_BIAS, SLR_OP_ACTIVATION, SLR_OP_CLAMP};

static void rate_of_chain(const chain *c, uint64_t start_ns, double *figures)
{
    figures[0] = 8.0 * c->elements / (double)(clock_ns() - start_ns);
}

static bool finish_chain(const chain *c, slr_status status)
{
    if (status == SLR_OK)
        status = slr_stream_finish(c->stream, 12 * BENCH_TIMEOUT_NS);
    return status == SLR_OK || bench_failed(status, "fused_chain");
}

static bool fused_slice(void *context, double *figures)
{
    chain *c = context;
    uint64_t start = clock_ns();
    bool fine = finish_chain(c, SLR_LAUNCH(c->stream, c->fused, SLR_1D((uint64_t)c->elements), c->buffer[0], 1.5f,
                                           0.25f, 0.125f, 6.0f, c->buffer[1], c->elements));
    rate_of_chain(c, start, figures);
    return fine;
}

static bool apart_slice(void *context, double *figures)
{
    chain *c = context;
    slr_shape shape = SLR_1D((uint64_t)c->elements);
    uint64_t start = clock_ns();
    slr_status status = SLR_LAUNCH(c->stream, c->apart[0], shape, c->buffer[0], 1.5f, 0.25f, c->buffer[2], c->elements);
    if (status == SLR_OK)
        status = SLR_LAUNCH(c->stream, c->apart[1], shape, c->buffer[2], c->buffer[3], c->elements);
    if (status == SLR_OK)
        status = SLR_LAUNCH(c->stream, c->apart[2], shape, c->buffer[3], 0.125f, 6.0f, c->buffer[1], c->elements);
    bool fine = finish_chain(c, status);
    rate_of_chain(c, start, figures);
    return fine;
}

static bool hand_loop_slice(void *context, double *figures)
{
    chain *c = context;
    uint64_t start = clock_ns();
    c->hand(c->memory, c->elements);
    rate_of_chain(c, start, figures);
    return true;
}

// ---- one chain -----------------------------------------------------------------------------------------------------

static slr_status make_kernels(chain *c)
{
    slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
    desc.ops = operations;
    desc.op_count = 3;
    desc.name = "chain";
    slr_status status = slr_fuse(c->device, &desc, &c->fused, NULL);
    for (int i = 0; i < 3 && status == SLR_OK; i++) {
        desc.ops = &operations[i];
        desc.op_count = 1;
        desc.name = "apart";
        status = slr_fuse(c->device, &desc, &c->apart[i], NULL);
    }
    return status;
}

static slr_status make_chain_buffers(chain *c, bool for_hand)
{
    size_t bytes = (size_t)c->elements * sizeof(float);
    float *x = bench_lines(bytes);
    slr_status status = SLR_OK;
    for (int i = 0; i < c->elements; i++)
        x[i] = (float)(i % 8191 - 4095) / 512;
    for (int i = 0; i < (for_hand ? 2 : CHAIN_BUFFERS) && status == SLR_OK; i++)
        status = slr_buffer_create(c->device, bytes, &c->buffer[i]);
    if (status == SLR_OK)
        status = slr_buffer_write(c->buffer[0], 0, x, bytes);
    c->memory[0] = x;
    c->memory[1] = for_hand ? bench_lines(bytes) : NULL;
    return status;
}

// Both ways give the same bits. They also warm up by that.
static bool agree(chain *c, measure_slice *other)
{
    static float one[COMPARED], two[COMPARED];
    double unused;
    bool fine =
        fused_slice(c, &unused) && slr_buffer_read(c->buffer[1], 0, one, sizeof one) == SLR_OK && other(c, &unused);
    if (fine && c->hand != NULL)
        memcpy(two, c->memory[1], sizeof two);
    else
        fine = fine && slr_buffer_read(c->buffer[1], 0, two, sizeof two) == SLR_OK;
    if (fine && memcmp(one, two, sizeof one) != 0)
        say("fused_chain: the fused kernel and what it is measured beside differ");
    return fine && memcmp(one, two, sizeof one) == 0;
}

static bool open_chain(chain *c, bool for_hand)
{
    const char *name = c->bench->info.name;
    char spec[SLR_DEVICE_NAME_BYTES + 16];
    bool adds = for_hand && strstr(name, "threads=") == NULL;
    snprintf(spec, sizeof spec, "%s%s", name, !adds ? "" : strchr(name, '?') != NULL ? "&threads=1" : "?threads=1");
    partner_free_caller(c->bench->partner); // the device's threads must not inherit the caller's core
    c->elements = c->bench->small ? ELEMENTS / 256 : ELEMENTS;
    slr_status status = slr_device_open(spec, NULL, &c->device);
    if (status == SLR_OK)
        status = slr_stream_default(c->device, &c->stream);
    if (status == SLR_OK)
        status = make_kernels(c);
    if (status == SLR_OK)
        status = make_chain_buffers(c, for_hand);
    bool fine = status == SLR_OK || bench_failed(status, "fused_chain");
    fine = fine && agree(c, for_hand ? hand_loop_slice : apart_slice);
    partner_move_caller(c->bench->partner, false);
    return fine;
}

static void close_chain(chain *c)
{
    for (int i = 0; i < CHAIN_BUFFERS; i++)
        slr_buffer_destroy(c->buffer[i]);
    for (int i = 0; i < 3; i++)
        slr_kernel_destroy(c->apart[i]);
    slr_kernel_destroy(c->fused);
    slr_device_close(c->device);
    free(c->memory[0]);
    free(c->memory[1]);
}

// ---- rows ----------------------------------------------------------------------------------------------------------

static bool measure_chain(bench *bench, const char *name, const char *method, measure_slice *floor, hand_function *hand)
{
    chain c = {.bench = bench, .hand = hand};
    bench_case row = {name,
                      "GB/s",
                      {"median"},
                      method,
                      {.value = fused_slice,
                       .floor = floor,
                       .value_context = &c,
                       .floor_context = &c,
                       .figures = 1,
                       .any = true,
                       .enough = MEASURE_KEPT}};
    if (!bench_wants(bench, name))
        return true;
    bool fine = open_chain(&c, hand != NULL) && bench_measure(bench, &row);
    close_chain(&c);
    return fine;
}

bool bench_fused(bench *bench)
{
    static const char by_hand[] = "fused_chain_vs_hand";
    const char *why = "";
    bool fine = measure_chain(
        bench, "fused_chain",
        "Three operations on 64 Mi floats (1.5 x + 0.25, relu, clamp to 0.125..6) as one kernel of slr_fuse; each "
        "float counts as 8 bytes. Floor: three kernels of slr_fuse, one for each operation.",
        apart_slice, NULL);
    if (!bench_wants(bench, by_hand) || strcmp(bench->info.backend, "cpu") != 0)
        return fine;
    hand_function *hand = floors_hand(hand_embedded_chain_c, &why);
    if (hand == NULL) {
        const bench_row absent = {.name = by_hand, .stat = "median", .unit = "GB/s"};
        char method[BENCH_METHOD_BYTES];
        snprintf(method, sizeof method, "Not measured: %s.", why);
        bench_add(bench, &absent, method);
        return fine;
    }
    return measure_chain(bench, by_hand,
                         "The same as fused_chain, on one thread. Floor: the handwritten loop in "
                         "bench/kernels/hand/chain.c, compiled "
                         "with the same flags, in the calling thread.",
                         hand_loop_slice, hand) &&
           fine;
}
