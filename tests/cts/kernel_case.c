// SPDX-License-Identifier: Apache-2.0
// A kernel case: launched on the device and on the reference, with guard bytes around every buffer. Every element of
// every buffer must have the same bits, or lie within the case's bound on a device whose functions are not slipring's.
#include "kernel_case.h"
#include "kept.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD_BYTES 512 // in front of and behind each buffer; a multiple of what slices are aligned to
#define GUARD 0xa5
#define PERF_RUNS 15

// A launch on one device, and what it left.
typedef struct launched {
    cts_device *on;
    slr_stream *stream;
    slr_kernel *kernel;
    slr_buffer *whole[CTS_ARGS], *part[CTS_ARGS];
    unsigned char *memory[CTS_ARGS]; // of the whole, guards and all
    slr_arg arg[CTS_ARGS];
} launched;

static uint64_t bytes_of(const cts_argument *a)
{
    return (uint64_t)a->count * a->type->bytes;
}

// ---- arguments ------------------------------------------------------------------------------------------------------

static slr_arg pass_value(cts *c, const cts_argument *a)
{
    if (a->values == 1)
        return a->type->sort == 'f'   ? slr_arg_float(a->value[0])
               : a->type->sort == 'u' ? slr_arg_unsigned((uint64_t)a->value[0])
                                      : slr_arg_signed((int64_t)a->value[0]);
    char *memory = cts_memory(c, a->values * (size_t)a->type->bytes);
    for (uint32_t i = 0; i < a->values; i++)
        cts_set_element(a->type, memory + (size_t)i * a->type->bytes, a->value[i]);
    return slr_arg_bytes(memory, a->values * a->type->bytes);
}

static slr_arg pass_buffer(cts *c, launched *l, const cts_argument *a, uint32_t i)
{
    uint64_t bytes = bytes_of(a), all = 2 * GUARD_BYTES + bytes;
    l->memory[i] = cts_memory(c, all);
    memset(l->memory[i], GUARD, all);
    cts_fill(a, i + 1, l->memory[i] + GUARD_BYTES);
    CTS_OK(c, slr_buffer_create(l->on->device, all, &l->whole[i]));
    cts_keep(c, CTS_BUFFER, l->whole[i]);
    CTS_OK(c, slr_buffer_write(l->whole[i], 0, l->memory[i], all));
    CTS_OK(c, slr_buffer_slice(l->whole[i], GUARD_BYTES, bytes, &l->part[i]));
    cts_keep(c, CTS_BUFFER, l->part[i]);
    return slr_arg_buffer(l->part[i]);
}

static void prepare(cts *c, const cts_launch *what, launched *l)
{
    slr_program *program = NULL;
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    char *text = cts_memory(c, c->what->length + 1);
    memcpy(text, c->what->text, c->what->length);
    desc.optimize = c->options->optimize;
    CTS_OK(c, slr_program_from_text(l->on->device, c->what->name, text, &desc, &program));
    cts_keep(c, CTS_PROGRAM, program);
    CTS_OK(c, slr_program_get_kernel(program, NULL, &l->kernel));
    cts_keep(c, CTS_KERNEL, l->kernel);
    CTS_OK(c, slr_stream_create(l->on->device, NULL, &l->stream));
    cts_keep(c, CTS_STREAM, l->stream);
    for (uint32_t i = 0; i < what->args; i++)
        l->arg[i] = what->arg[i].count ? pass_buffer(c, l, &what->arg[i], i) : pass_value(c, &what->arg[i]);
}

// ---- launching ------------------------------------------------------------------------------------------------------

static slr_status launch(cts *c, const cts_launch *what, launched *l, uint32_t times)
{
    slr_shape shape = {{0, 0, 0},
                       {what->block[0], what->block[1], what->block[2]},
                       {what->grid[0], what->grid[1], what->grid[2]},
                       what->shared_bytes,
                       0};
    for (uint32_t i = 0; i < times; i++)
        CTS_OK(c, slr_launch(l->stream, l->kernel, shape, l->arg, what->args, NULL));
    return slr_stream_finish(l->stream, c->options->patience_ns);
}

static void check_guards(cts *c, const cts_argument *a, const unsigned char *memory)
{
    uint64_t bytes = bytes_of(a);
    for (uint64_t i = 0; i < 2 * GUARD_BYTES + bytes; i++)
        if ((i < GUARD_BYTES || i >= GUARD_BYTES + bytes) && memory[i] != GUARD)
            cts_leave(c, CTS_FAILED, "written outside '%s': byte %lld of %llu", a->name, (long long)i - GUARD_BYTES,
                      (unsigned long long)bytes);
}

static void run(cts *c, const cts_launch *what, launched *l)
{
    prepare(c, what, l);
    slr_status status = launch(c, what, l, what->times);
    if (what->faults) {
        CTS_GIVES(c, SLR_HANDLER_FAULT, status);
        CTS_OK(c, slr_stream_recover(l->stream));
        return;
    }
    CTS_OK(c, status);
    for (uint32_t i = 0; i < what->args; i++)
        if (what->arg[i].count) {
            CTS_OK(c, slr_buffer_read(l->whole[i], 0, l->memory[i], slr_buffer_size(l->whole[i])));
            check_guards(c, &what->arg[i], l->memory[i]);
        }
}

// ---- judging --------------------------------------------------------------------------------------------------------

static void check_expected(cts *c, const cts_argument *a, const unsigned char *data)
{
    for (uint32_t i = 0; i < a->expects; i++) {
        char got[64];
        const unsigned char *at = data + (size_t)i * a->type->bytes;
        unsigned char wanted[8];
        cts_set_element(a->type, wanted, a->expected[i]);
        if (cts_same_element(a->type, at, wanted))
            continue;
        cts_print_element(a->type, at, got, sizeof got);
        cts_leave(c, CTS_FAILED, "%s[%u] is %s, not %.9g", a->name, i, got, a->expected[i]);
    }
}

// Whether an element that differs is within the case's bound. A cpu runs slipring's own functions: it has none.
static bool is_within(cts *c, const cts_launch *what, const cts_type *type, const void *data, const void *wanted)
{
    const cts_bound *wider = cts_bound_of(c->on->kind, c->what);
    if ((!what->is_bounded && !wider) || strncmp(c->on->kind, "cpu/", 4) == 0)
        return false;
    const uint64_t most = wider && wider->ulp > what->ulp ? wider->ulp : what->ulp;
    const double most_off = wider && wider->off > what->off ? wider->off : what->off;
    uint64_t ulp = cts_ulp(type, data, wanted);
    double off = fabs(cts_element(type, data) - cts_element(type, wanted));
    if (ulp > most && !(off <= most_off))
        return false;
    c->result = CTS_BOUNDED;
    if (c->ulp < ulp && ulp <= most)
        c->ulp = ulp;
    return true;
}

static void compare(cts *c, const cts_launch *what, const cts_argument *a, const unsigned char *data,
                    const unsigned char *wanted)
{
    for (uint32_t i = 0; i < a->count; i++) {
        char got[64], right[64];
        size_t at = (size_t)i * a->type->bytes;
        if (cts_same_element(a->type, data + at, wanted + at) || is_within(c, what, a->type, data + at, wanted + at))
            continue;
        cts_print_element(a->type, data + at, got, sizeof got);
        cts_print_element(a->type, wanted + at, right, sizeof right);
        cts_leave(c, CTS_FAILED, "%s[%u] is %s, interpreted %s", a->name, i, got, right);
    }
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void measure(cts *c, const cts_launch *what, launched *l)
{
    double ns[PERF_RUNS];
    for (int i = 0; i < PERF_RUNS; i++) {
        uint64_t begin = cts_now_ns();
        CTS_OK(c, launch(c, what, l, 1));
        ns[i] = (double)(cts_now_ns() - begin);
    }
    qsort(ns, PERF_RUNS, sizeof *ns, by_size);
    c->ns = ns[PERF_RUNS / 2];
}

void cts_run_kernel(cts *c, cts_device *reference)
{
    cts_launch what;
    cts_parse_launch(c, &what);
    launched right = {.on = reference}, tried = {.on = c->on};
    run(c, &what, &tried);
    if (c->on != reference) {
        c->on = reference; // who hangs is abandoned
        run(c, &what, &right);
        c->on = tried.on;
    }
    for (uint32_t i = 0; i < what.args && !what.faults; i++) {
        const cts_argument *a = &what.arg[i];
        if (a->count == 0)
            continue;
        check_expected(c, a, tried.memory[i] + GUARD_BYTES);
        if (right.memory[i])
            compare(c, &what, a, tried.memory[i] + GUARD_BYTES, right.memory[i] + GUARD_BYTES);
    }
    if (c->options->perf && !what.faults)
        measure(c, &what, &tried);
}
