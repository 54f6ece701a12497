// SPDX-License-Identifier: Apache-2.0
// NVRTC itself makes PTX of a text. What it has made is kept in a folder.
#define _GNU_SOURCE
#include "tests/ptx/ptx.h"

#include "base/dl.h"
#include "base/folder.h"
#include "base/hash.h"
#include "base/text.h"
#include "engine/cache.h"
#include "hal/cuda/nvrtc.h"

#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PTX (64u << 20)
#define MOST_OPTIONS 4

_Static_assert(sizeof((struct ptx_text *)0)->name >= SLRI_CACHE_NAME_BYTES, "a name fits");

bool ptx_is_on(void)
{
    const char *how = getenv("SLIPRING_FAKE_CUDA_BY");
    return how && strcmp(how, "ptx") == 0;
}

// ---- NVRTC ---------------------------------------------------------------------------------------------------------

static struct {
    struct slri_nvrtc calls;
    int32_t (*size)(slri_nvrtc_program program, size_t *bytes);
    int32_t (*take)(slri_nvrtc_program program, char *ptx);
} nvrtc;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool take_library(const char *path)
{
    slri_dl *library = NULL;
    if (slri_dl_open(path, &library) != SLR_OK)
        return false;
#define FIND(result, name, parameters)                                                                                 \
    nvrtc.calls.name = (result(*) parameters)slri_dl_find(library, "nvrtc" #name, NULL);
    SLRI_NVRTC_REQUIRED(FIND)
    nvrtc.size = (int32_t(*)(slri_nvrtc_program, size_t *))slri_dl_find(library, "nvrtcGetPTXSize", NULL);
    nvrtc.take = (int32_t(*)(slri_nvrtc_program, char *))slri_dl_find(library, "nvrtcGetPTX", NULL);
    return nvrtc.size && nvrtc.take && nvrtc.calls.Version(&nvrtc.calls.major, &nvrtc.calls.minor) == 0;
}

// SLIPRING_PTX_NVRTC names one: SLIPRING_NVRTC_LIB is the fake.
static void find_library(void)
{
    const char *path = getenv("SLIPRING_PTX_NVRTC");
    if (path && take_library(path))
        return;
    fprintf(stderr, "ptx: SLIPRING_PTX_NVRTC must be the path of NVRTC (scripts/nvrtc.sh): %s\n",
            path ? slr_error_message() : "it is not set");
    abort();
}

static char *log_of(slri_nvrtc_program program)
{
    size_t bytes = 0;
    nvrtc.calls.GetProgramLogSize(program, &bytes);
    char *log = calloc(bytes + 1, 1);
    nvrtc.calls.GetProgramLog(program, log);
    return log;
}

static char *compile(const char *text, int32_t options, const char *const *option, char **complaint)
{
    slri_nvrtc_program program;
    size_t bytes = 0;
    char *ptx = NULL;
    if (nvrtc.calls.CreateProgram(&program, text, "text.cu", 0, NULL, NULL) != 0)
        abort();
    if (nvrtc.calls.CompileProgram(program, options, option) != 0)
        *complaint = log_of(program);
    else if (nvrtc.size(program, &bytes) == 0 && (ptx = calloc(bytes + 1, 1)) != NULL)
        nvrtc.take(program, ptx);
    nvrtc.calls.DestroyProgram(&program);
    return ptx;
}

// ---- what is kept --------------------------------------------------------------------------------------------------

static const struct slri_cache_limits limits = {256u << 20, 30 * 86400};

static slri_folder *open_folder(void)
{
    const char *where = getenv("SLIPRING_PTX_CACHE");
    slri_folder *folder = NULL;
    if (slri_folder_open(where ? where : PTX_CACHE, &folder) != SLR_OK) {
        fprintf(stderr, "ptx: %s\n", slr_error_message());
        abort();
    }
    return folder;
}

static void make_key(const char *text, int32_t options, const char *const *option, char name[SLRI_CACHE_NAME_BYTES])
{
    slri_hash hash;
    slri_hash_init(&hash);
    slri_hash_field(&hash, &nvrtc.calls.major, sizeof nvrtc.calls.major);
    slri_hash_field(&hash, &nvrtc.calls.minor, sizeof nvrtc.calls.minor);
    for (int32_t i = 0; i < options; ++i)
        slri_hash_field(&hash, option[i], strlen(option[i]));
    slri_hash_field(&hash, text, strlen(text));
    slri_hash_hex(&hash, name);
    strcat(name, ".ptx");
}

// As the backend compiles: a handler and its loop apart, to be linked; a raw text with its own arithmetic.
static int32_t choose_options(const char *text, const char *option[MOST_OPTIONS])
{
    int32_t options = 0;
    option[options++] = "--gpu-architecture=compute_90";
    option[options++] = "--std=c++17";
    if (strstr(text, "SLRI_FLOAT") || strstr(text, "slr_handler"))
        option[options++] = "--fmad=false";
    if (strstr(text, "slr_handler"))
        option[options++] = "--relocatable-device-code=true";
    return options;
}

// ---- faults that are planted (mutants.sh) --------------------------------------------------------------------------

// SLIPRING_PTX_PLANT=NAME:LINE:TEXT puts the text in place of that line.
static char *plant(const char *name, char *ptx)
{
    const char *given = getenv("SLIPRING_PTX_PLANT");
    size_t length = strlen(name);
    if (!ptx || !given || strncmp(given, name, length) != 0 || given[length] != ':')
        return ptx;
    char *text = NULL, *begin = ptx, *planted = NULL;
    for (unsigned long line = strtoul(given + length + 1, &text, 10); line > 1 && begin; --line)
        begin = strchr(begin, '\n') ? strchr(begin, '\n') + 1 : NULL;
    if (!begin || *text != ':')
        abort();
    if (asprintf(&planted, "%.*s%s%s", (int)(begin - ptx), ptx, text + 1, begin + strcspn(begin, "\n")) < 0)
        abort();
    free(ptx);
    return planted;
}

bool ptx_compile(const char *text, struct ptx_text *out, char **complaint)
{
    const char *option[MOST_OPTIONS];
    size_t bytes = 0;
    int32_t options = choose_options(text, option);
    *out = (struct ptx_text){0};
    *complaint = NULL;
    pthread_once(&once, find_library);
    make_key(text, options, option, out->name);
    slri_folder *folder = open_folder();
    if (slri_folder_read(folder, out->name, MOST_PTX, true, &out->ptx, &bytes) != SLR_OK) {
        out->ptx = compile(text, options, option, complaint);
        if (out->ptx && slri_folder_write(folder, out->name, out->ptx, strlen(out->ptx)) == SLR_OK)
            slri_cache_prune(folder, &limits, out->name, NULL);
    }
    slri_folder_close(folder);
    out->ptx = plant(out->name, out->ptx);
    return out->ptx != NULL;
}
