// SPDX-License-Identifier: Apache-2.0
// HIPRTC's functions, by clang: what hiprtc_test.c loads to compile for a GPU that Debian's HIPRTC 5.2.3 does not know.
// HIPRTC 5.2.3 has LLVM 15 in it, so clang-15 gets the same header, the same options and the same device libraries. Its
// code generator and lld make the code object, and no name may be undefined in it.
#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/process.h"
#include "base/status.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPILER "clang-15"
#define COMPILER_VERSION 15
#define HEADER_LIBRARY "libhiprtc-builtins.so.5" // has the header that HIPRTC puts before each text
#define DEVICE_LIBRARIES "/usr/lib/*/amdgcn/bitcode"
#define TARGET "--gpu-architecture="
#define MOST_WORDS 64
#define PATH_BYTES 400
#define FOLDER_BYTES 300
#define LIMIT_NS UINT64_C(600000000000)
#define MOST_BYTES ((size_t)64 << 20)
#define FAILED 6 // HIPRTC_ERROR_COMPILATION

struct program {
    char *text, *log, *code;
    size_t code_bytes;
};

// For as long as one text is compiled.
struct run {
    struct program *program;
    slri_folder *folder;
    char target[24], libraries[FOLDER_BYTES];
    const char *word[MOST_WORDS];
    char path[MOST_WORDS][PATH_BYTES]; // those words that are paths
    uint32_t words, paths;
};

static void put(struct run *run, const char *word)
{
    run->word[run->words++] = word;
}

static const char *path_of(struct run *run, const char *folder, const char *name)
{
    char *path = run->path[run->paths++];
    snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    return path;
}

static const char *own_path(struct run *run, const char *name)
{
    return path_of(run, slri_folder_path(run->folder), name);
}

static slr_status run_clang(struct run *run)
{
    slri_process_result result;
    put(run, NULL);
    SLRI_TRY(slri_process_run(run->word, slri_deadline_after(LIMIT_NS), NULL, MOST_BYTES, &result));
    free(run->program->log);
    run->program->log = result.output;
    run->words = 0;
    return result.exit_code == 0 ? SLR_OK : SLRI_FAIL(COMPILE, COMPILER " ended with %d", result.exit_code);
}

// ---- what clang is given -------------------------------------------------------------------------------------------

static slr_status write_header(const struct run *run)
{
    void *library = dlopen(HEADER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    const char *header = library ? dlsym(library, "__hipRTC_header") : NULL;
    const unsigned *bytes = library ? dlsym(library, "__hipRTC_header_size") : NULL;
    slr_status status = header && bytes ? slri_folder_write(run->folder, "hiprtc_runtime.h", header, *bytes)
                                        : SLRI_FAIL(NOT_FOUND, "there is no " HEADER_LIBRARY);
    if (library)
        dlclose(library);
    return status;
}

static slr_status find_libraries(struct run *run)
{
    glob_t found = {0};
    const bool any = glob(DEVICE_LIBRARIES, 0, NULL, &found) == 0;
    snprintf(run->libraries, sizeof run->libraries, "%s", any ? found.gl_pathv[0] : "");
    globfree(&found);
    return any ? SLR_OK : SLRI_FAIL(NOT_FOUND, "there are no device libraries at " DEVICE_LIBRARIES);
}

// The device library that says which GPU it is, and nothing more. For a GPU that Debian's libraries do not know it is
// made of the one line that AMD's is made of: gfx90a is 9010, gfx1100 is 11000.
static slr_status find_identity(struct run *run, const char **out)
{
    char name[64], line[100], major[8];
    const char *end = run->target + strlen(run->target);
    const char minor[] = {end[-2], '\0'}, step[] = {end[-1], '\0'};
    snprintf(name, sizeof name, "oclc_isa_version_%s.bc", run->target + 3);
    *out = path_of(run, run->libraries, name);
    if (slri_file_is_there(*out))
        return SLR_OK;
    snprintf(major, sizeof major, "%.*s", (int)(end - run->target) - 5, run->target + 3);
    snprintf(line, sizeof line, "const __constant int __oclc_ISA_version = %ld;\n",
             strtol(major, NULL, 10) * 1000 + strtol(minor, NULL, 16) * 100 + strtol(step, NULL, 16));
    SLRI_TRY(slri_folder_write(run->folder, "identity.cl", line, strlen(line)));
    *out = own_path(run, "identity.bc");
    const char *const words[] = {COMPILER, "-x", "cl", "-target",    "amdgcn-amd-amdhsa",         "-nogpulib",
                                 "-c",     "-o", *out, "-emit-llvm", own_path(run, "identity.cl")};
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        put(run, words[i]);
    return run_clang(run);
}

static void put_libraries(struct run *run, const char *identity)
{
    const bool is_64 = strncmp(run->target, "gfx9", 4) == 0;
    const char *const names[] = {"hip.bc",
                                 "ocml.bc",
                                 "ockl.bc",
                                 "oclc_daz_opt_off.bc",
                                 "oclc_unsafe_math_off.bc",
                                 "oclc_finite_only_off.bc",
                                 "oclc_correctly_rounded_sqrt_on.bc",
                                 is_64 ? "oclc_wavefrontsize64_on.bc" : "oclc_wavefrontsize64_off.bc",
                                 "oclc_abi_version_400.bc"};
    for (size_t i = 0; i <= sizeof names / sizeof *names; ++i) {
        put(run, "-Xclang");
        put(run, "-mlink-builtin-bitcode");
        put(run, "-Xclang");
        put(run, i == sizeof names / sizeof *names ? identity : path_of(run, run->libraries, names[i]));
    }
}

static slr_status compile(struct run *run, int32_t options, const char *const *option)
{
    static const char *const words[] = {
        COMPILER,    "-x",        "hip",      "--cuda-device-only", "--no-gpu-bundle-output",
        "-nogpuinc", "-nogpulib", "-mcumode", "-D__HIPCC_RTC__"};
    const char *identity;
    char offload[48];
    SLRI_TRY(find_libraries(run));
    SLRI_TRY(write_header(run));
    SLRI_TRY(slri_folder_write(run->folder, "kernel.hip", run->program->text, strlen(run->program->text)));
    SLRI_TRY(find_identity(run, &identity));
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        put(run, words[i]);
    snprintf(offload, sizeof offload, "--offload-arch=%s", run->target);
    put(run, offload);
    put(run, "-include");
    put(run, own_path(run, "hiprtc_runtime.h"));
    for (int32_t i = 0; i < options; ++i)
        if (strncmp(option[i], TARGET, strlen(TARGET)) != 0)
            put(run, option[i]);
    put_libraries(run, identity);
    put(run, "-o");
    put(run, own_path(run, "code"));
    put(run, own_path(run, "kernel.hip"));
    SLRI_TRY(run_clang(run));
    return slri_file_read(own_path(run, "code"), MOST_BYTES, &run->program->code, &run->program->code_bytes);
}

// ---- HIPRTC's functions --------------------------------------------------------------------------------------------

#define FUNCTION(result, name, ...)                                                                                    \
    __attribute__((visibility("default"))) result hiprtc##name(__VA_ARGS__);                                           \
    result hiprtc##name(__VA_ARGS__)

FUNCTION(int32_t, Version, int32_t *major, int32_t *minor)
{
    *major = COMPILER_VERSION;
    *minor = 0;
    return 0;
}

FUNCTION(const char *, GetErrorString, int32_t error)
{
    return error == FAILED ? "HIPRTC_ERROR_COMPILATION" : "HIPRTC_SUCCESS";
}

FUNCTION(int32_t, CreateProgram, struct program **program, const char *text, const char *name, int32_t headers,
         const char *const *header, const char *const *include)
{
    (void)name, (void)headers, (void)header, (void)include;
    *program = calloc(1, sizeof **program);
    if (*program)
        (*program)->text = strdup(text);
    return *program && (*program)->text ? 0 : FAILED;
}

FUNCTION(int32_t, DestroyProgram, struct program **program)
{
    free((*program)->text);
    free((*program)->log);
    free((*program)->code);
    free(*program);
    return 0;
}

FUNCTION(int32_t, CompileProgram, struct program *program, int32_t options, const char *const *option)
{
    struct run *run = calloc(1, sizeof *run);
    slr_status status = run ? slri_folder_open_private(&run->folder) : SLR_NO_MEMORY;
    for (int32_t i = 0; status == SLR_OK && i < options; ++i)
        if (strncmp(option[i], TARGET "gfx", strlen(TARGET "gfx")) == 0)
            snprintf(run->target, sizeof run->target, "%s", option[i] + strlen(TARGET));
    if (status == SLR_OK) {
        run->program = program;
        status = strlen(run->target) < 6 ? SLRI_FAIL(UNSUPPORTED, "'%s' is no GPU of AMD's", run->target)
                                         : compile(run, options, option);
        slri_folder_discard(run->folder);
    }
    if (status != SLR_OK && !program->log) // clang was not even begun
        program->log = strdup(slr_error_message());
    free(run);
    return status == SLR_OK ? 0 : FAILED;
}

FUNCTION(int32_t, GetProgramLogSize, struct program *program, size_t *bytes)
{
    *bytes = program->log ? strlen(program->log) + 1 : 0;
    return 0;
}

FUNCTION(int32_t, GetProgramLog, struct program *program, char *log)
{
    if (program->log)
        strcpy(log, program->log);
    return 0;
}

FUNCTION(int32_t, GetCodeSize, struct program *program, size_t *bytes)
{
    *bytes = program->code_bytes;
    return 0;
}

FUNCTION(int32_t, GetCode, struct program *program, char *code)
{
    memcpy(code, program->code, program->code_bytes);
    return 0;
}
