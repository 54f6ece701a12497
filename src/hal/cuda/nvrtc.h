// SPDX-License-Identifier: Apache-2.0
// NVRTC, CUDA's compiler as a library: as much of it as is called.
#ifndef SLRI_HAL_CUDA_NVRTC_H
#define SLRI_HAL_CUDA_NVRTC_H

#include "base/text.h"
#include "ir/ir.h"

#include <slipring/status.h>

#include <stddef.h>
#include <stdint.h>

typedef struct slri_nvrtc_program_object *slri_nvrtc_program;

// X(result, name, parameters): what every NVRTC since CUDA 11.2 has.
#define SLRI_NVRTC_REQUIRED(X)                                                                                         \
    X(int32_t, Version, (int32_t * major, int32_t * minor))                                                            \
    X(int32_t, GetNumSupportedArchs, (int32_t * count))                                                                \
    X(int32_t, GetSupportedArchs, (int32_t * capability))                                                              \
    X(const char *, GetErrorString, (int32_t error))                                                                   \
    X(int32_t, CreateProgram,                                                                                          \
      (slri_nvrtc_program * program, const char *text, const char *name, int32_t headers, const char *const *header,   \
       const char *const *include))                                                                                    \
    X(int32_t, DestroyProgram, (slri_nvrtc_program * program))                                                         \
    X(int32_t, CompileProgram, (slri_nvrtc_program, int32_t options, const char *const *option))                       \
    X(int32_t, GetProgramLogSize, (slri_nvrtc_program, size_t * bytes))                                                \
    X(int32_t, GetProgramLog, (slri_nvrtc_program, char *log))                                                         \
    X(int32_t, GetCUBINSize, (slri_nvrtc_program, size_t * bytes))                                                     \
    X(int32_t, GetCUBIN, (slri_nvrtc_program, char *cubin))

struct slri_nvrtc {
#define SLRI_NVRTC_MEMBER(result, name, parameters) result(*name) parameters;
    SLRI_NVRTC_REQUIRED(SLRI_NVRTC_MEMBER)
#undef SLRI_NVRTC_MEMBER
    const char *name;              // for messages
    const char *const *options;    // how we compile, up to NULL, beside the architecture
    void (*begin)(slri_text *out); // NULL, or appends what stands before a raw text
    int32_t major, minor;          // its version
    // Appends the text of an entry, or (NULL) of a module that is not raw.
    slr_status (*emit)(const struct slri_module *module, const struct slri_entry *entry, slri_text *out);
};

// Opens it, once a process: what SLIPRING_NVRTC_LIB names, else the newest that the loader finds, or CUDA's folder has.
// Errors: UNSUPPORTED, which says what was not found.
slr_status slri_nvrtc_load(const struct slri_nvrtc **out);

// For which capability (90: 9.0) it compiles so that one of `capability` runs it: the highest of that or below, with
// the same first digit. Errors: UNSUPPORTED.
slr_status slri_nvrtc_choose(const struct slri_nvrtc *nvrtc, int32_t capability, int32_t *out);

// How we compile, up to NULL, beside the architecture: arithmetic as the interpreter does it.
extern const char *const slri_nvrtc_options[];

// Appends what NVRTC is given for a kernel: as it is emitted, or the module's own CUDA C++. Gives the options.
slr_status slri_nvrtc_source(const struct slri_nvrtc *nvrtc, const struct slri_module *module,
                             const struct slri_entry *entry, slri_text *out, const char *const **options);

// A cubin for the architecture ("sm_90"), the caller's to free(). `name` is what its messages call the text where that
// does not say. Errors: COMPILE (its words), NO_MEMORY.
slr_status slri_nvrtc_compile(const struct slri_nvrtc *nvrtc, const char *name, const char *text,
                              const char *const *options, const char *architecture, char **cubin, size_t *bytes);

#endif
