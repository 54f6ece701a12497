// SPDX-License-Identifier: Apache-2.0
// OpenCL C to a program for one device: from the disk cache where it has it, else by the driver's compiler, whose words
// on it are the error message.
#include "base/status.h"
#include "base/text.h"
#include "backend/opencl/opencl.h"
#include "device/observe.h"
#include "kernel/cache.h"

#include <slipring/api.h>

#include <stdlib.h>
#include <string.h>

#define SUFFIX ".cl.bin"

// ---- the key -------------------------------------------------------------------------------------------------------

static void put_field(slri_hash *hash, const char *text)
{
    slri_hash_field(hash, text, strlen(text));
}

// Device, driver and options by what they say of themselves: a driver that changes and says the same refuses the
// binary, or is a defect of its own.
static void make_key(const struct slri_opencl *opencl, const struct slri_cl_text *text, char key[SLRI_HASH_HEX_BYTES])
{
    slri_hash hash;
    slri_hash_init(&hash);
    put_field(&hash, "slipring " SLR_VERSION);
    put_field(&hash, opencl->facts.platform);
    put_field(&hash, opencl->facts.name);
    put_field(&hash, opencl->facts.version);
    put_field(&hash, opencl->facts.driver);
    put_field(&hash, text->options);
    put_field(&hash, text->text);
    slri_hash_hex(&hash, key);
}

// ---- from source ---------------------------------------------------------------------------------------------------

static slr_status refuse(struct slri_opencl *opencl, const struct slri_cl_text *text, slri_cl_program program,
                         int32_t error)
{
    size_t bytes = 0;
    if (error != -11) // CL_BUILD_PROGRAM_FAILURE
        return slri_cl_failed(opencl->name, "BuildProgram", error);
    int32_t asked = opencl->cl->GetProgramBuildInfo(program, opencl->id, SLRI_CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char *log = asked == SLRI_CL_SUCCESS ? calloc(bytes + 1, 1) : NULL;
    if (log && opencl->cl->GetProgramBuildInfo(program, opencl->id, SLRI_CL_PROGRAM_BUILD_LOG, bytes, log, NULL) != 0)
        *log = '\0';
    slr_status status = SLRI_FAIL(COMPILE, "%s: the compiler of device '%s' refused it:\n%s", text->name, opencl->name,
                                  log && *log ? log : "(it says nothing)");
    free(log);
    return status;
}

static slr_status build(struct slri_opencl *opencl, const struct slri_cl_text *text, slri_cl_program program,
                        slri_cl_program *out)
{
    int32_t error = opencl->cl->BuildProgram(program, 1, &opencl->id, text->options, NULL, NULL);
    if (error == SLRI_CL_SUCCESS) {
        *out = program;
        return SLR_OK;
    }
    slr_status status = refuse(opencl, text, program, error);
    opencl->cl->ReleaseProgram(program);
    return status;
}

slr_status slri_cl_build_source(struct slri_opencl *opencl, const struct slri_cl_text *text, slri_cl_program *out)
{
    int32_t error;
    const char *source = text->text;
    slri_cl_program program = opencl->cl->CreateProgramWithSource(opencl->context, 1, &source, NULL, &error);
    if (!program)
        return slri_cl_failed(opencl->name, "CreateProgramWithSource", error);
    return build(opencl, text, program, out);
}

// ---- the cache -----------------------------------------------------------------------------------------------------

// An entry is the binary's length, 8 bytes, and the binary. A driver that refuses it gets the source.
static slr_status from_cache(struct slri_opencl *opencl, const struct slri_cl_text *text, const char *file, size_t room,
                             slri_cl_program *out)
{
    uint64_t length = 0;
    memcpy(&length, file, room < sizeof length ? 0 : sizeof length);
    const size_t bytes = (size_t)length;
    const unsigned char *binary = (const unsigned char *)file + sizeof length;
    slri_cl_program program = NULL;
    int32_t each = 0, error = 0;
    if (bytes != 0 && room > sizeof length && bytes <= room - sizeof length)
        program = opencl->cl->CreateProgramWithBinary(opencl->context, 1, &opencl->id, &bytes, &binary, &each, &error);
    if (!program)
        return SLRI_FAIL(NOT_FOUND, "%s: the driver did not take the cached binary", text->name);
    return build(opencl, text, program, out);
}

// Failing to keep it costs the next process a compilation.
static void keep(struct slri_opencl *opencl, slri_cache *cache, const char *key, const struct slri_cl_text *text,
                 slri_cl_program program)
{
    size_t bytes = 0;
    if (opencl->cl->GetProgramInfo(program, SLRI_CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != 0 ||
        bytes == 0)
        return;
    char *content = calloc(sizeof(uint64_t) + bytes, 1);
    if (!content)
        return;
    const uint64_t length = bytes;
    memcpy(content, &length, sizeof length);
    unsigned char *binary = (unsigned char *)content + sizeof length;
    slri_text label = SLRI_TEXT_INIT;
    slri_text_printf(&label, "%s\n%s\n%s, %s %s", text->name, text->file, opencl->facts.name, opencl->facts.platform,
                     opencl->facts.driver);
    if (opencl->cl->GetProgramInfo(program, SLRI_CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == 0)
        slri_cache_publish(cache, key, SUFFIX, content, sizeof length + bytes, slri_text_view(&label));
    slri_text_free(&label);
    free(content);
}

static slr_status find_or_build(struct slri_opencl *opencl, slri_cache *cache, const struct slri_cl_text *text,
                                bool *was_cached, slri_cl_program *out)
{
    char key[SLRI_HASH_HEX_BYTES], *file;
    size_t bytes;
    make_key(opencl, text, key);
    if (slri_cache_read(cache, key, SUFFIX, &file, &bytes) == SLR_OK) {
        slr_status status = from_cache(opencl, text, file, bytes, out);
        free(file);
        *was_cached = status == SLR_OK;
        if (status == SLR_OK)
            return SLR_OK;
    }
    SLRI_TRY(slri_cl_build_source(opencl, text, out));
    keep(opencl, cache, key, text, *out);
    return SLR_OK;
}

slr_status slri_cl_build(struct slri_opencl *opencl, const struct slri_cl_text *text, slri_cl_program *out)
{
    slri_cache cache;
    bool was_cached = false;
    uint64_t begin = slri_observe_begin();
    if (slri_cache_open(&cache) != SLR_OK)
        return slri_cl_build_source(opencl, text, out);
    slr_status status = find_or_build(opencl, &cache, text, &was_cached, out);
    slri_cache_close(&cache);
    if (begin != 0 && status == SLR_OK)
        slri_observe_compile(text->name, was_cached, begin);
    return status;
}
