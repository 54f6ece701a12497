// SPDX-License-Identifier: Apache-2.0
// Finds NVRTC, and compiles with it.
#include "hal/cuda/nvrtc.h"
#include "hal/cuda/api.h"
#include "base/dl.h"
#include "base/status.h"
#include "base/thread.h"
#include "emit/cuda/emit_cuda.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const slri_nvrtc_options[] = {"--fmad=false", "--std=c++17", NULL};

static struct slri_nvrtc nvrtc = { // its functions are written by `find_all` alone
    .name = "NVRTC",
    .options = slri_nvrtc_options,
    .emit = slri_emit_cuda};

// ---- loading -------------------------------------------------------------------------------------------------------

static slr_status find_all(slri_dl *library, const char *path)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(result, name, parameters)                                                                                 \
    nvrtc.name = (result(*) parameters)slri_dl_find(library, "nvrtc" #name, &missing);
    SLRI_NVRTC_REQUIRED(FIND)
#undef FIND
    SLRI_TRY(slri_dl_all_found(SLR_UNSUPPORTED, path, "NVRTC of CUDA 11.2 or later", &missing));
    int32_t error = nvrtc.Version(&nvrtc.major, &nvrtc.minor);
    return error == 0 ? SLR_OK : SLRI_FAIL(UNSUPPORTED, "%s does not report its version: error %d", path, (int)error);
}

slr_status slri_nvrtc_load(const struct slri_nvrtc **out)
{
    static struct slri_dl_vendor vendor = {
        .variable = "SLIPRING_NVRTC_LIB",
        .places = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so",
                   "/usr/local/cuda/lib64/libnvrtc.so"},
        .hint = "CUDA's compiler comes with the CUDA toolkit; SLIPRING_NVRTC_LIB gives its path",
        .absent = SLR_UNSUPPORTED,
        .start = find_all,
        .lock = SLRI_MUTEX_INIT};
    SLRI_TRY(slri_dl_load(&vendor));
    *out = &nvrtc;
    return SLR_OK;
}

// ---- compiling -----------------------------------------------------------------------------------------------------

#define MOST_CAPABILITIES 64
#define MOST_OPTIONS 64

slr_status slri_nvrtc_choose(const struct slri_nvrtc *nvrtc, int32_t capability, int32_t *out)
{
    int32_t count = 0, known[MOST_CAPABILITIES], best = 0;
    if (nvrtc->GetNumSupportedArchs(&count) != 0 || count > MOST_CAPABILITIES || nvrtc->GetSupportedArchs(known) != 0)
        return SLRI_FAIL(UNSUPPORTED, "NVRTC %d.%d does not report its target architectures", nvrtc->major,
                         nvrtc->minor);
    for (int32_t i = 0; i < count; ++i)
        if (known[i] <= capability && known[i] / 10 == capability / 10 && known[i] > best)
            best = known[i];
    if (best == 0)
        return SLRI_FAIL(UNSUPPORTED, "NVRTC %d.%d does not compile for compute capability %d.%d", nvrtc->major,
                         nvrtc->minor, capability / 10, capability % 10);
    *out = best;
    return SLR_OK;
}

// Its words, from the first error on.
static slr_status say_why(const struct slri_nvrtc *nvrtc, slri_nvrtc_program program, const char *name, int32_t error)
{
    size_t bytes = 0;
    char *log = nvrtc->GetProgramLogSize(program, &bytes) == 0 ? calloc(bytes + 1, 1) : NULL;
    if (log && nvrtc->GetProgramLog(program, log) != 0)
        *log = '\0';
    slr_status status = log && *log ? SLRI_FAIL(COMPILE, "%s %d.%d: %s", nvrtc->name, nvrtc->major, nvrtc->minor, log)
                                    : SLRI_FAIL(COMPILE, "%s %d.%d rejects %s: %s", nvrtc->name, nvrtc->major,
                                                nvrtc->minor, name, nvrtc->GetErrorString(error));
    free(log);
    return status;
}

static int32_t compile(const struct slri_nvrtc *nvrtc, slri_nvrtc_program program, const char *const *options,
                       const char *architecture)
{
    char target[32 + SLRI_CU_ARCHITECTURE_BYTES];
    const char *option[MOST_OPTIONS + 1] = {target};
    int32_t count = 1;
    snprintf(target, sizeof target, "--gpu-architecture=%s", architecture);
    for (; *options && count <= MOST_OPTIONS; ++options)
        option[count++] = *options;
    return nvrtc->CompileProgram(program, count, option);
}

static slr_status take_cubin(const struct slri_nvrtc *nvrtc, slri_nvrtc_program program, const char *name, char **cubin,
                             size_t *bytes)
{
    int32_t error = nvrtc->GetCUBINSize(program, bytes);
    if (error != 0)
        return say_why(nvrtc, program, name, error);
    char *made = malloc(*bytes ? *bytes : 1);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for the code of %s", name);
    error = nvrtc->GetCUBIN(program, made);
    if (error != 0) {
        free(made);
        return say_why(nvrtc, program, name, error);
    }
    *cubin = made;
    return SLR_OK;
}

static slr_status check_options(const char *name, const char *const *options)
{
    uint32_t count = 0;
    while (options[count])
        ++count;
    return count <= MOST_OPTIONS
               ? SLR_OK
               : SLRI_FAIL(UNSUPPORTED, "%s has %u macros and include folders; NVRTC accepts at most %d", name, count,
                           MOST_OPTIONS);
}

slr_status slri_nvrtc_source(const struct slri_nvrtc *nvrtc, const struct slri_module *module,
                             const struct slri_entry *entry, slri_text *out, const char *const **options)
{
    *options = module->raw ? module->raw_option : nvrtc->options;
    if (!module->raw)
        return nvrtc->emit(module, entry, out);
    if (nvrtc->begin)
        nvrtc->begin(out);
    slri_text_printf(out, "%s", module->raw);
    return out->out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory for the text of %s", module->name) : SLR_OK;
}

slr_status slri_nvrtc_compile(const struct slri_nvrtc *nvrtc, const char *name, const char *text,
                              const char *const *options, const char *architecture, char **cubin, size_t *bytes)
{
    SLRI_TRY(check_options(name, options));
    slri_nvrtc_program program;
    int32_t error = nvrtc->CreateProgram(&program, text, name, 0, NULL, NULL);
    if (error != 0)
        return SLRI_FAIL(NO_MEMORY, "%s cannot start to compile %s: %s", nvrtc->name, name,
                         nvrtc->GetErrorString(error));
    error = compile(nvrtc, program, options, architecture);
    slr_status status =
        error == 0 ? take_cubin(nvrtc, program, name, cubin, bytes) : say_why(nvrtc, program, name, error);
    nvrtc->DestroyProgram(&program);
    return status;
}
