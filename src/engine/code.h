// SPDX-License-Identifier: Apache-2.0
// Code of devices: programs, what is compiled of them, kernels that are ready, and the variables. A backend writes
// texts, compiles and loads (the code_ slots of hal/hal.h); all else is here.
#ifndef SLRI_ENGINE_CODE_H
#define SLRI_ENGINE_CODE_H

#include "engine/printed.h"
#include "hal/hal.h"

struct slri_blame;

// ---- a program -----------------------------------------------------------------------------------------------------

struct slri_code_desc {
    const struct slri_backend *backend;
    void *device; // the backend's
    const slr_allocator *allocator;
    const struct slri_module *module; // all of them stay as long as the program
    const uint32_t *opened;           // atomic: how often the device was opened again
    struct slri_queue_device *queues;
};

// Of a device whose host runs handlers, those are compiled now. Errors: those of the compiler, NO_MEMORY.
slr_status slri_code_create(const struct slri_code_desc *desc, struct slri_code **out);
void slri_code_destroy(struct slri_code *code); // NULL is fine
const struct slri_module *slri_code_module(const struct slri_code *code);

// The memory of its variables, an address of the device's. Behind a reopening it is another, in which they begin anew.
slr_status slri_code_globals(struct slri_code *code, void **out);

// Before the program goes, and its code: for who keeps something by it. One function and user a program.
typedef void slri_code_end(void *user, const struct slri_code *code);
void slri_code_on_end(struct slri_code *code, slri_code_end *end, void *user);

// ---- kernels -------------------------------------------------------------------------------------------------------

// A kernel that is ready. Its program keeps it: a launch may be in any stream.
struct slri_ready_kernel {
    const struct slri_module *module;
    const struct slri_entry *entry;
    struct slri_kernel kernel;
    void *globals; // the variables, where it uses them
    struct slri_kernel_shape shape;
    uint32_t opened;
    struct slri_ready_kernel *next;
};

// What a dispatch needs of a kernel for a shape of block. Compiles where it must, but no longer than until `*cancel` is
// set (NULL: nobody does), which is WRONG_STATE. Errors: those of the slots, UNSUPPORTED (too many threads).
slr_status slri_code_prepare(struct slri_code *code, const struct slri_entry *entry,
                             const struct slri_kernel_shape *shape, const uint32_t *cancel,
                             const struct slri_ready_kernel **out);

// HANDLER_FAULT, of a kernel. `who`: NULL, or the thread.
slr_status slri_ready_faulted(const struct slri_ready_kernel *ready, const struct slri_blame *blame, const char *who);

static inline struct slri_print_to slri_print_to_of(const struct slri_command *dispatch)
{
    const struct slri_ready_kernel *ready = dispatch->dispatch.ready;
    return (struct slri_print_to){
        .printer = dispatch->dispatch.printer, .module = ready->module, .entry = ready->entry};
}

// ---- handlers ------------------------------------------------------------------------------------------------------

// That the host runs: for one owner at a time; `self` goes with it.
slr_status slri_code_handler(struct slri_code *code, const struct slri_entry *entry, slri_handler **handler,
                             void **self);
void slri_code_handler_end(struct slri_code *code, void *self);

// Of the device: the kernel of a handler's batched launches (abi/relaunch.h), for one ring kernel. Ring kernels of one
// program share the loaded code, for blocks of as many threads. `out->entry` is an ordinary kernel
// (ir/pass/handler_kernel.h). Errors: those of the slots and of the pass.
slr_status slri_code_batched(struct slri_code *code, const struct slri_entry *entry, uint32_t threads,
                             struct slri_ready_kernel *out);
void slri_code_batched_end(const struct slri_code *code, struct slri_kernel *kernel); // all zero is fine

// ---- texts ---------------------------------------------------------------------------------------------------------

// Code of a text, from the cache or by the compiler, which is then kept; a stored one that the device does not take is
// compiled anew. One thread and process at a time compiles the same text. `*was_cached`: it was found. Takes what the
// text holds. Errors: those of code_build and code_load, NO_MEMORY.
slr_status slri_code_load(const struct slri_backend *backend, void *device, struct slri_code_text *text, void **loaded,
                          bool *was_cached);
// The same without loading; the blob's bytes are the caller's to free().
slr_status slri_code_blob(const struct slri_backend *backend, void *device, struct slri_code_text *text,
                          struct slri_blob *out);
void slri_code_text_free(struct slri_code_text *text);

// A field of an identity.
void slri_code_identify(struct slri_code_text *text, const char *field);

// Whether the device of that name launches such a block: at most `most[3]` threads along x, y, z, and `threads` in all;
// and whether it has so much memory for a block. Errors: UNSUPPORTED.
slr_status slri_code_check_block(const struct slri_code_text *text, const char *device, const uint32_t most[3],
                                 uint32_t threads);
slr_status slri_code_check_shared(const struct slri_code_text *text, const char *device, uint64_t bytes, uint64_t most);

#endif
