// SPDX-License-Identifier: Apache-2.0
// A program's variables, written and read by a stream.
#include "base/status.h"
#include "device/device.h"
#include "device/stream.h"
#include "engine/code.h"
#include "engine/observe.h"

#include <slipring/symbol.h>

#include <string.h>

static slr_status no_symbol(const struct slri_module *module, const char *name, const char *call)
{
    for (uint32_t i = 0; i < module->constants; ++i)
        if (strcmp(module->constant[i].name, name) == 0)
            return SLRI_FAIL(INVALID, "%s: '%s' has its values in the source of '%s': remove them there", call, name,
                             module->name);
    return SLRI_FAIL(NOT_FOUND, "%s: '%s' has no __device__ or __constant__ variable '%s'", call, module->name, name);
}

static slr_status find_symbol(const slr_program *program, const char *name, const char *call,
                              const struct slri_global **out)
{
    const struct slri_module *module = program->module;
    for (uint32_t i = 0; i < module->globals; ++i)
        if (strcmp(module->global[i].name, name) == 0) {
            *out = &module->global[i];
            return SLR_OK;
        }
    return no_symbol(module, name, call);
}

static slr_status check(const slr_stream *stream, const slr_program *program, const char *name, const void *host,
                        const char *call)
{
    if (!stream || !program || !name || !host)
        return SLRI_FAIL(INVALID, "%s: %s is NULL", call,
                         !stream    ? "stream"
                         : !program ? "program"
                         : !name    ? "name"
                                    : "the host's memory");
    if (program->device != stream->device)
        return SLRI_FAIL(INVALID, "%s: '%s' belongs to another device than the stream", call, program->module->name);
    return SLR_OK;
}

static void settle_symbol(void *program)
{
    slri_program_release(program);
}

static slr_status move(slr_stream *stream, slr_program *program, const char *name, uint64_t offset, void *host,
                       uint64_t bytes, enum slri_command_op op, const char *call, slr_point *out)
{
    const struct slri_global *global;
    SLRI_TRY(check(stream, program, name, host, call));
    SLRI_TRY(find_symbol(program, name, call, &global));
    if (offset > global->type->bytes || bytes > global->type->bytes - offset)
        return SLRI_FAIL(INVALID, "%s: %llu bytes from byte %llu on of '%s', which has %llu", call,
                         (unsigned long long)bytes, (unsigned long long)offset, name,
                         (unsigned long long)global->type->bytes);
    void *memory;
    SLRI_TRY(slri_code_globals(program->code, &memory));
    struct slri_command command = {.op = op, .copy = {(unsigned char *)memory + global->offset + offset, host, bytes}};
    struct slri_work work = {.command = &command, .commands = 1, .settle = settle_symbol, .user = program};
    slri_program_hold(program);
    slr_status status = slri_stream_submit(stream, &work, out);
    if (status != SLR_OK)
        slri_program_release(program);
    return status;
}

slr_status slr_stream_write_symbol(slr_stream *stream, slr_program *program, const char *name, uint64_t offset,
                                   const void *from, uint64_t bytes, slr_point *out)
{
    SLRI_OBSERVE_SITE(false);
    return move(stream, program, name, offset, (void *)from, bytes, SLRI_COPY_IN, "slr_stream_write_symbol", out);
}

slr_status slr_stream_read_symbol(slr_stream *stream, slr_program *program, const char *name, uint64_t offset, void *to,
                                  uint64_t bytes, slr_point *out)
{
    SLRI_OBSERVE_SITE(false);
    return move(stream, program, name, offset, to, bytes, SLRI_COPY_OUT, "slr_stream_read_symbol", out);
}
