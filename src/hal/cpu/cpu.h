// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share.
#ifndef SLRI_HAL_CPU_CPU_H
#define SLRI_HAL_CPU_CPU_H

#include "hal/cpu/crew.h"
#include "hal/hal.h"
#include "base/thread.h"

#define SLRI_CPU_MOST_WORKERS 256
#define SLRI_CPU_DEFAULT_MOST_WORKERS 64

// A compiler that turns out not to work, while programs are made: they are interpreted from then on, where nobody has
// asked for compiled ones.
struct slri_cpu_fallback {
    slri_mutex lock; // for what follows
    bool is_broken;
    char why[256]; // handlers are interpreted, of a compiler or not; "" where that was asked for, or they are compiled
};

struct slri_cpu {
    const slr_allocator *allocator;
    bool interpreted, engine_was_asked;
    bool has_no_folder; // to compile in: so it is interpreted
    struct slri_cpu_fallback fallback;
    bool threads_were_asked;
    bool separate;    // "unified=0"
    uint32_t workers; // threads that own shards, and that run blocks
    struct slri_cpu_crew crew;
};

// facts.c
slr_status slri_cpu_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info);

// memory.c
slr_status slri_cpu_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory);
void slri_cpu_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes);

// fallback.c
void slri_cpu_fallback_init(struct slri_cpu_fallback *fallback);
void slri_cpu_fallback_destroy(struct slri_cpu_fallback *fallback);

// Notes why handlers are interpreted: the calling thread's error message. `say`: once a process, on standard error.
void slri_cpu_fallback_note(struct slri_cpu_fallback *fallback, bool say);

// Whether the compiler is known not to work.
bool slri_cpu_is_broken(struct slri_cpu *cpu);

// Whether a compilation that ended with `status` failed because the compiler does not work, which is then tried. False:
// the failure stands, with its message.
bool slri_cpu_was_broken(struct slri_cpu *cpu, slr_status status);
void slri_cpu_why_interpreted(const struct slri_cpu *cpu, char *out, size_t room);

// code.c: as hal/hal.h says.
slr_status slri_cpu_code_write(void *device, struct slri_code_text *text);
slr_status slri_cpu_code_build(void *device, const struct slri_code_text *text, struct slri_blob *blob, void **loaded);
slr_status slri_cpu_code_load(void *device, const struct slri_code_text *text, const struct slri_blob *blob,
                              void **loaded);
void slri_cpu_code_unload(void *device, void *loaded);
slr_status slri_cpu_code_kernel(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out);
bool slri_cpu_takes_width(void); // whether a shape's `width` makes a difference to what the compiler does
// Whether the compiler works at all: compiles and loads a few words of C, past the cache. Errors: as code_build's; the
// message names the compiler, and SLIPRING_CC.
slr_status slri_cpu_try_compiler(void);
// Which compiler there is; both texts live as long as the process. Errors: as code_write's.
slr_status slri_cpu_compiler(const char **path, const char **version);

// kernel.c
slr_status slri_cpu_dispatch(struct slri_cpu *cpu, const struct slri_command *command);

// queue.c: streams' commands.
slr_status slri_cpu_encode(void *device, void *queue, const struct slri_command *command,
                           const struct slri_extras *extras, uint32_t commands);

#endif
