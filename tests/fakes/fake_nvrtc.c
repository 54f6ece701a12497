// SPDX-License-Identifier: Apache-2.0
// The NVRTC in the library of fake_cuda.c. What it makes of a source is a cubin of the driver's.
#define _POSIX_C_SOURCE 200809L
#include "fake_cuda_inside.h"

#include "lang/kernel.h"
#include "tests/ptx/ptx.h"
#include "tests/shim/image.h"

#include <stdlib.h>
#include <string.h>

struct slri_nvrtc_program_object {
    char *text, *log;
    bool compiled;
};

int32_t nvrtcVersion(int32_t *major, int32_t *minor)
{
    CALL(nvrtcVersion);
    *major = 13;
    *minor = 0;
    return 0;
}

static const int32_t capabilities[] = {75, 80, 86, 89, 90, 100, 120};

int32_t nvrtcGetNumSupportedArchs(int32_t *count)
{
    CALL(nvrtcGetNumSupportedArchs);
    *count = sizeof capabilities / sizeof *capabilities;
    return 0;
}

int32_t nvrtcGetSupportedArchs(int32_t *capability)
{
    CALL(nvrtcGetSupportedArchs);
    memcpy(capability, capabilities, sizeof capabilities);
    return 0;
}

const char *nvrtcGetErrorString(int32_t number)
{
    return number == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR of a fake";
}

int32_t nvrtcCreateProgram(slri_nvrtc_program *program, const char *text, const char *name, int32_t headers,
                           const char *const *header, const char *const *include)
{
    (void)name, (void)headers, (void)header, (void)include;
    CALL(nvrtcCreateProgram);
    slri_nvrtc_program made = calloc(1, sizeof *made);
    made->text = strdup(text);
    *program = made;
    pthread_mutex_lock(&lock);
    ++fake_cuda.live;
    pthread_mutex_unlock(&lock);
    return 0;
}

int32_t nvrtcDestroyProgram(slri_nvrtc_program *program)
{
    pthread_mutex_lock(&lock);
    --fake_cuda.live;
    pthread_mutex_unlock(&lock);
    free((*program)->text);
    free((*program)->log);
    free(*program);
    *program = NULL;
    return 0;
}

bool has_option(int32_t options, const char *const *option, const char *wanted)
{
    for (int32_t i = 0; i < options; ++i)
        if (strcmp(option[i], wanted) == 0)
            return true;
    return false;
}

int32_t compile_program(slri_nvrtc_program program)
{
    bool is_loop = strstr(program->text, slri_embedded_cu_resident_h) != NULL;
    pthread_mutex_lock(&lock);
    ++fake_cuda.compilations;
    pthread_mutex_unlock(&lock);
    if (ptx_is_on()) {
        struct ptx_text made;
        program->compiled = ptx_compile(program->text, &made, &program->log);
        free(made.ptx);
        return program->compiled ? 0 : 6;
    }
    if (is_loop) { // compiled with this library, too
        program->compiled = !shim_is_on() || compile_shim(program->text, NULL, &program->log);
        return program->compiled ? 0 : 6;
    }
    struct slri_module *module = read_source(program->text);
    program->compiled = module != NULL;
    if (!module)
        program->log = strdup(slr_error_message());
    else if (shim_is_on())
        program->compiled = compile_shim(program->text, module, &program->log);
    slri_module_destroy(module);
    return program->compiled ? 0 : 6;
}

int32_t nvrtcCompileProgram(slri_nvrtc_program program, int32_t options, const char *const *option)
{
    CALL(nvrtcCompileProgram);
    bool is_loop = strstr(program->text, slri_embedded_cu_resident_h) != NULL;
    bool is_raw = !is_loop && !strstr(program->text, "SLRI_FLOAT"); // not of our emitter, whose text is compiled so
    if (!has_option(options, option, "--gpu-architecture=sm_90") ||
        has_option(options, option, "--fmad=false") == is_raw) {
        LOCKED(refuse("nvrtcCompileProgram", 5));
        return error;
    }
    return compile_program(program);
}

int32_t nvrtcGetProgramLogSize(slri_nvrtc_program program, size_t *bytes)
{
    CALL(nvrtcGetProgramLogSize);
    *bytes = program->log ? strlen(program->log) + 1 : 1;
    return 0;
}

int32_t nvrtcGetProgramLog(slri_nvrtc_program program, char *log)
{
    CALL(nvrtcGetProgramLog);
    strcpy(log, program->log ? program->log : "");
    return 0;
}

int32_t nvrtcGetCUBINSize(slri_nvrtc_program program, size_t *bytes)
{
    CALL(nvrtcGetCUBINSize);
    *bytes = sizeof(struct cubin) + strlen(program->text) + 1;
    return 0;
}

int32_t nvrtcGetCUBIN(slri_nvrtc_program program, char *out)
{
    CALL(nvrtcGetCUBIN);
    struct cubin cubin = {MARK, strlen(program->text) + 1};
    memcpy(out, &cubin, sizeof cubin);
    memcpy(out + sizeof cubin, program->text, cubin.bytes);
    return 0;
}
