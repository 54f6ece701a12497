// SPDX-License-Identifier: Apache-2.0
// Ring kernels that are relaunched: the kernel of a handler, and its dispatches. Each ring kernel has a kernel with its
// arguments and a command queue of its own.
#include "engine/relaunch.h"

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "engine/code.h"
#include "hal/opencl/opencl.h"
#include "emit/c/emit_c.h"
#include "emit/opencl/emit_opencl.h"

#include <string.h>

extern const char slri_embedded_relaunch_h[], slri_embedded_cl_clock_h[], slri_embedded_cl_relaunch_h[];

#define GROUP 32 // work-items of a group that handle a chain each

struct runner {
    slri_cl_kernel kernel;
    struct slri_cl_stream *stream;
    void *dump; // where handlers that fault write
    uint64_t dump_bytes;
    slri_cl_mem *part; // what its arguments are
    uint32_t parts;
    size_t group;
    bool is_block;
};

// ---- the text ------------------------------------------------------------------------------------------------------

static uint32_t group_of(const struct slri_entry *entry)
{
    if (entry->kind != SLRI_ENTRY_BLOCK)
        return GROUP;
    return entry->max_threads ? entry->max_threads : SLRI_RING_BLOCK_THREADS;
}

static void put_bindings(const struct slri_entry *entry, struct slri_text *out)
{
    slri_text_puts(out, "#define SLR_PARAMETERS "); // the space: what follows begins with a comma, and clang warns
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (entry->binding[i].is_buffer && !entry->binding[i].is_outlet)
            slri_text_printf(out, ", __global uchar *b%u, ulong n%u", i, i);
    slri_text_puts(out, "\n#define SLR_BOUND");
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (entry->binding[i].is_buffer && !entry->binding[i].is_outlet)
            slri_text_printf(out, " {b%u, n%u},", i, i);
        else
            slri_text_printf(out, " {constants + RL_BINDING(%u), 8},", i);
    slri_text_puts(out, entry->bindings ? "\n" : " {0, 0}\n");
}

static slr_status write_text(struct slri_opencl *opencl, const struct slri_module *module,
                             const struct slri_entry *entry, struct slri_text *out)
{
    const struct slri_opencl_options words = {.warps = slri_cl_handler_warps(opencl, entry, group_of(entry)),
                                              .c11_atomics = opencl->facts.opencl >= 300};
    SLRI_TRY(slri_emit_opencl(module, entry, &words, out));
    slri_text_printf(out, "\n#line 1 \"slipring: relaunch\"\n%s%s",
                     entry->kind == SLRI_ENTRY_BLOCK ? "#define SLR_BLOCK\n" : "",
                     slri_entry_sends(entry) ? "#define SLR_OUTLETS\n" : "");
    slri_text_printf(out,
                     "#define SLR_ENTRY " SLRI_ENTRY_SYMBOL_PREFIX "%s\n#define SLR_BINDINGS %u\n"
                     "#define SLR_GROUP %u\n#define SLR_SHARED %llu\n",
                     entry->name, entry->bindings ? entry->bindings : 1, group_of(entry),
                     (unsigned long long)slri_opencl_shared_bytes(entry));
    put_bindings(entry, out);
    if (slri_cl_has_clock(opencl))
        slri_text_printf(out, "#define SLR_CLOCK\n%s", slri_embedded_cl_clock_h);
    slri_text_printf(out, "%s%s", slri_embedded_relaunch_h, slri_embedded_cl_relaunch_h);
    return SLR_OK;
}

static slr_status write_code(void *device, struct slri_code_text *text)
{
    slri_cl_identify(device, slri_cl_kernel_options(device), text);
    return write_text(device, text->module, text->entry, &text->text);
}

// Of each ring kernel its own: a kernel has its arguments.
static slr_status create_kernel(struct slri_opencl *opencl, const struct slri_relaunch *relaunch, struct runner *runner)
{
    void *program;
    int32_t error;
    SLRI_TRY(slri_code_handler_loaded(relaunch->desc.program, relaunch->desc.entry, write_code, &program));
    runner->kernel = opencl->cl->CreateKernel(program, "slr_relaunch", &error);
    return runner->kernel ? SLR_OK : slri_cl_failed(opencl->name, "CreateKernel", error);
}

// ---- life ----------------------------------------------------------------------------------------------------------

// All but the number of chains, the sixth.
#define CHAINS_ARGUMENT 5
static slr_status set_arguments(struct slri_opencl *opencl, const struct slri_relaunch *relaunch,
                                const struct runner *runner)
{
    const struct slri_relaunch_desc *desc = &relaunch->desc;
    uint64_t states = desc->states_bytes * desc->shards;
    const struct slri_bound memory[CHAINS_ARGUMENT] = {{relaunch->in, relaunch->in_bytes},
                                                       {relaunch->results, relaunch->results_bytes},
                                                       {relaunch->states, states},
                                                       {relaunch->constants, relaunch->constants_bytes},
                                                       {runner->dump, runner->dump_bytes}};
    uint32_t next = CHAINS_ARGUMENT + 1;
    for (uint32_t i = 0; i < CHAINS_ARGUMENT; ++i)
        SLRI_TRY(slri_cl_set_memory(opencl, runner->kernel, i, &memory[i], &runner->part[i]));
    for (uint32_t i = 0; i < desc->entry->bindings; ++i) {
        if (!desc->entry->binding[i].is_buffer || desc->entry->binding[i].is_outlet)
            continue;
        slri_cl_mem *part = &runner->part[CHAINS_ARGUMENT + i];
        SLRI_TRY(slri_cl_set_memory(opencl, runner->kernel, next++, &desc->bound[i], part));
        int32_t error = opencl->cl->SetKernelArg(runner->kernel, next++, 8, &desc->bound[i].bytes);
        if (error != SLRI_CL_SUCCESS)
            return slri_cl_failed(opencl->name, "SetKernelArg", error);
    }
    return SLR_OK;
}

slr_status slri_cl_relaunch_create(void *device, struct slri_relaunch *relaunch)
{
    struct slri_opencl *opencl = device;
    const struct slri_entry *entry = relaunch->desc.entry;
    struct runner *runner = slri_alloc(opencl->allocator, sizeof *runner);
    if (!runner)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for handler %s", opencl->name, entry->name);
    relaunch->runner = runner; // from here on slri_cl_relaunch_destroy takes back what there is
    relaunch->has_ticks = slri_cl_has_clock(opencl);
    runner->is_block = entry->kind == SLRI_ENTRY_BLOCK;
    runner->group = group_of(entry);
    if (runner->group > opencl->facts.most_group)
        return SLRI_FAIL(UNSUPPORTED, "handler %s: groups of %zu; device '%s' has at most %zu", entry->name,
                         runner->group, opencl->name, opencl->facts.most_group);
    runner->part = slri_alloc(opencl->allocator, (CHAINS_ARGUMENT + entry->bindings) * sizeof *runner->part);
    if (!runner->part)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for handler %s", opencl->name, entry->name);
    runner->parts = CHAINS_ARGUMENT + entry->bindings;
    SLRI_TRY(create_kernel(opencl, relaunch, runner));
    runner->dump_bytes = slri_opencl_dump_bytes(slri_code_module(relaunch->desc.program));
    SLRI_TRY(slri_cl_buffer_create(opencl, runner->dump_bytes, &runner->dump));
    SLRI_TRY(slri_cl_stream_create(opencl, SLR_DEFAULT_PRIORITY, &runner->stream));
    return set_arguments(opencl, relaunch, runner);
}

void slri_cl_relaunch_destroy(void *device, struct slri_relaunch *relaunch)
{
    struct slri_opencl *opencl = device;
    struct runner *runner = relaunch->runner;
    slri_cl_stream_destroy(opencl, runner->stream);
    slri_cl_let_go(opencl, SLRI_CL_KERNEL, runner->kernel, 0);
    for (uint32_t i = 0; i < runner->parts; ++i)
        slri_cl_let_go(opencl, SLRI_CL_MEM, runner->part[i], 0);
    if (slri_cl_is_lost(opencl) && !relaunch->unified) { // copies may be under way
        slri_cl_let_go(opencl, SLRI_CL_MAP, relaunch->host_in, relaunch->in_bytes);
        slri_cl_let_go(opencl, SLRI_CL_MAP, relaunch->host_results, relaunch->results_bytes);
        relaunch->host_in = relaunch->host_results = NULL;
    }
    slri_free(opencl->allocator, runner->part, runner->parts * sizeof *runner->part);
    if (runner->dump)
        slri_cl_buffer_destroy(opencl, runner->dump, runner->dump_bytes);
    slri_free(opencl->allocator, runner, sizeof *runner);
    relaunch->runner = NULL;
}

// ---- dispatches ----------------------------------------------------------------------------------------------------

static slr_status enqueue(struct slri_opencl *opencl, const struct slri_relaunch *relaunch, const struct runner *runner)
{
    const uint32_t chains = relaunch->chains;
    size_t groups = runner->is_block ? chains : (chains + runner->group - 1) / runner->group;
    int32_t error = opencl->cl->SetKernelArg(runner->kernel, CHAINS_ARGUMENT, sizeof chains, &chains);
    if (error != SLRI_CL_SUCCESS)
        return slri_cl_failed(opencl->name, "SetKernelArg", error);
    return slri_cl_stream_enqueue(opencl, runner->stream, runner->kernel, groups ? groups : 1, runner->group);
}

slr_status slri_cl_relaunch_begin(void *device, struct slri_relaunch *relaunch)
{
    struct slri_opencl *opencl = device;
    const struct runner *runner = relaunch->runner;
    uint64_t in = relaunch->messages_at + (uint64_t)relaunch->messages * relaunch->message_stride;
    SLRI_TRY(slri_cl_check_lost(opencl));
    if (!relaunch->unified)
        SLRI_TRY(slri_cl_stream_copy_in(opencl, runner->stream, relaunch->in, relaunch->host_in, in));
    SLRI_TRY(enqueue(opencl, relaunch, runner));
    if (!relaunch->unified && relaunch->messages)
        SLRI_TRY(slri_cl_stream_copy_out(opencl, runner->stream, relaunch->host_results, relaunch->results,
                                         (uint64_t)relaunch->messages * relaunch->result_stride));
    return slri_cl_stream_flush(opencl, runner->stream);
}

slr_status slri_cl_relaunch_end(void *device, struct slri_relaunch *relaunch)
{
    const struct runner *runner = relaunch->runner;
    slr_status status = slri_cl_stream_finish(device, runner->stream);
    relaunch->kernel_ns = slri_cl_stream_dispatch_ns(runner->stream);
    return status;
}

slr_status slri_cl_relaunch_copy(void *device, struct slri_relaunch *relaunch, void *memory, void *host, uint64_t bytes,
                                 bool in)
{
    const struct runner *runner = relaunch->runner;
    return slri_cl_stream_copy_now(device, runner->stream, memory, host, bytes, in);
}
