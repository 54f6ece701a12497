// SPDX-License-Identifier: Apache-2.0
// Kernels that a backend has loaded, and their pipelines: of drivers (Vulkan, Metal, WebGPU) that make an object of a
// kernel, and another one for each size of its dynamic shared memory. Many threads may call these at once.
#ifndef SLRI_ENGINE_LOADED_H
#define SLRI_ENGINE_LOADED_H

#include "base/thread.h"
#include "engine/loss.h"

#include <slipring/allocator.h>

// A backend's kernel begins with it.
struct slri_loaded {
    const char *name;     // which stays as long as the kernel
    uint32_t number;      // of the device's kernels, from 1
    uint32_t least_words; // set by the backend: of dynamic shared memory; 0: it has none
    slri_mutex lock;      // of the next
    struct slri_pipeline {
        uint64_t native; // the driver's handle
        uint32_t words;  // of dynamic shared memory
        struct slri_pipeline *next;
    } * pipeline;
    struct slri_loaded *next; // the device's
};

// The backend's part.
struct slri_loaded_calls {
    size_t bytes; // of the backend's struct
    // Makes the pipeline for so many words. NULL, and the next: the backend keeps a kernel's pipeline itself.
    slr_status (*make)(void *device, struct slri_loaded *kernel, uint32_t words, uint64_t *native);
    void (*free)(void *device, uint64_t native);
    // Frees all else that the driver has of the kernel, and forgets it: it may come again. Behind `free`.
    void (*drop)(void *device, struct slri_loaded *kernel);
};

struct slri_loaded_list {
    const struct slri_loaded_calls *call;
    void *device; // the backend's
    const slr_allocator *allocator;
    const struct slri_loss *loss; // of a device that hangs nothing is freed
    slri_mutex lock;              // of the next
    struct slri_loaded *first;
    uint32_t added; // ever
};

// `call`, `device`, `allocator` and `loss` are set; the rest is zero.
void slri_loaded_init(struct slri_loaded_list *list);
void slri_loaded_destroy(struct slri_loaded_list *list); // it is empty

// A kernel, all zero but for its name and number. Errors: NO_MEMORY.
slr_status slri_loaded_add(struct slri_loaded_list *list, const char *name, void **kernel);
void slri_loaded_remove(struct slri_loaded_list *list, void *kernel); // with all that the driver has of it
// Frees what the driver has of all kernels, whose device goes: nobody else calls meanwhile. The kernels stay.
void slri_loaded_forget(struct slri_loaded_list *list);
// The name of the kernel of that number, or "(unloaded)".
void slri_loaded_name(struct slri_loaded_list *list, uint32_t number, char *out, size_t room);

// The pipeline for so many bytes of dynamic shared memory, made when it is first asked for. Errors: NO_MEMORY, those of
// `make`.
slr_status slri_loaded_pipeline(struct slri_loaded_list *list, struct slri_loaded *kernel, uint32_t dynamic_bytes,
                                uint64_t *native);

#endif
