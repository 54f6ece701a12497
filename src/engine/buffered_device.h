// SPDX-License-Identifier: Apache-2.0
// A device of a driver that takes command buffers (engine/buffered_queue.h): Vulkan, Metal, WebGPU. What each of them
// keeps, how it is opened, closed and opened again, its queues and lists, and what they all say of themselves.
#ifndef SLRI_ENGINE_BUFFERED_DEVICE_H
#define SLRI_ENGINE_BUFFERED_DEVICE_H

#include "engine/buffered_queue.h"
#include "engine/canary.h"
#include "engine/counted.h"
#include "engine/kept_list.h"
#include "engine/loaded.h"
#include "engine/places.h"

#define SLRI_CHUNK_BYTES 128u // of an entry of `chunks`, at most

// What differs by driver. All get the device that the backend's struct is.
struct slri_buffered_driver {
    const struct slri_backend *backend;
    size_t bytes, chunk_bytes;               // of the backend's structs
    const struct slri_loaded_calls *loaded;  // its kernels
    const struct slri_buffered_calls *calls; // of its queues
    bool moves_over;                         // it copies where the ranges overlap
    bool calls_back;                         // where it hangs, it may still use the struct, which then stays
    // NULL, or prepares the backend's own fields, all zero before. Cannot fail.
    void (*init)(void *device);
    // NULL, or ends what `init` began: after `give_up`, but not where the struct stays.
    void (*end)(void *device);
    // NULL, or what a close does before `give_up`: threads of the backend's own end.
    void (*stop)(void *device);
    // Opens the library, and perhaps finds the device: once.
    slr_status (*find)(void *device, const struct slri_spec *spec);
    // Makes the driver's objects. Also to open a lost device again, behind `give_up`.
    slr_status (*start)(void *device, uint64_t deadline_ns);
    // NULL, or WRONG_STATE, with the reason why the lost device cannot be opened again yet. Nobody else calls then.
    slr_status (*may_reopen)(void *device);
    // Frees them and all memory and code, also what could be made in part, but nothing that a device that hangs may
    // touch.
    void (*give_up)(void *device);
    void (*free_chunk)(void *device, const void *chunk); // likewise: a piece of memory
    // Makes a kernel of its text, or of that and what was stored of it (else NULL). `made`: NULL, or gets what can be
    // stored. Where it fails, `loaded->drop` frees a part of it.
    slr_status (*fill)(void *device, const struct slri_code_text *text, const struct slri_blob *stored,
                       struct slri_blob *made, struct slri_loaded *kernel);
    // NULL, or writes the code of a kernel, perhaps one of slipring's own (engine/own_kernel.h), which does not ask the
    // canary.
    slr_status (*write)(void *device, struct slri_code_text *text, bool tells_ended_loops);
    slr_status (*own_queue)(void *device, void **queue); // for such kernels
    // NULL, or records a list as the driver's own (`native`), unless it cannot be one. Where it fails, and later,
    // `free_list` frees that.
    slr_status (*make_list)(void *device, struct slri_kept_list *list);
    void (*free_list)(void *device, void *native);
};

// A backend's device begins with it.
struct slri_buffered_device {
    const struct slri_buffered_driver *driver;
    const slr_allocator *allocator;
    char name[64]; // "vulkan:0"
    uint32_t index;
    slr_ring_mode ring_mode; // that was asked for; 0: the best there is
    struct slri_loss loss;
    struct slri_places chunks; // memory by the address that the layers above have
    struct slri_places seen;   // the host's that the device reaches, likewise; empty, where the driver has no such
                               // (two may begin at one address, so the length that was asked for comes next)
    struct slri_loaded_list kernels;
    struct slri_canary canary;
};

// Errors: NO_MEMORY, INVALID (options), those of `find` and `start`.
slr_status slri_buffered_open(const struct slri_buffered_driver *driver, const struct slri_spec *spec,
                              const slr_allocator *allocator, void **device);

// The backend's slots of these names, as initializers.
#define SLRI_BUFFERED_SLOTS                                                                                            \
    .close = slri_buffered_close, .reopen = slri_buffered_reopen, .list_create = slri_buffered_list_create,            \
    .list_destroy = slri_buffered_list_destroy, .code_build = slri_buffered_code_build,                                \
    .code_load = slri_buffered_code_load, .code_unload = slri_buffered_code_unload
// Others, where nothing has to be around them.
#define SLRI_BUFFERED_QUEUE_SLOTS                                                                                      \
    .encode = slri_buffered_encode, .wait = slri_buffered_wait, .queue_create = slri_buffered_queue_create,            \
    .queue_destroy = slri_buffered_destroy, .code_kernel = slri_buffered_code_kernel
void slri_buffered_close(void *device);
slr_status slri_buffered_reopen(void *device, uint64_t deadline_ns, slr_status (*quiesce)(void *user), void *user);
slr_status slri_buffered_queue_create(void *device, uint32_t priority, void **queue);
slr_status slri_buffered_list_create(void *device, const struct slri_command *command, const struct slri_extras *extras,
                                     uint32_t commands, void **list);
void slri_buffered_list_destroy(void *device, void *list);
void slri_buffered_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes);
slr_status slri_buffered_code_build(void *device, const struct slri_code_text *text, struct slri_blob *blob,
                                    void **loaded);
slr_status slri_buffered_code_load(void *device, const struct slri_code_text *text, const struct slri_blob *blob,
                                   void **loaded);
void slri_buffered_code_unload(void *device, void *loaded);
slr_status slri_buffered_code_kernel(void *device, void *loaded, const struct slri_code_text *of,
                                     struct slri_kernel *out);

// Whether a buffer of so many bytes may be made, of which the longest has `most`. Errors: DEVICE_LOST, NO_MEMORY.
slr_status slri_buffered_check_bytes(const struct slri_buffered_device *device, uint64_t bytes, uint64_t most);
struct slri_places *slri_buffered_places(struct slri_buffered_device *device, enum slri_memory_kind kind);
// Adds memory to `places`, by its key; or, where `from` is not 0, by an address that nothing has
// (slri_places_add_anywhere). `*memory` gets the key. Where it fails, the memory is freed.
slr_status slri_buffered_keep(struct slri_buffered_device *device, struct slri_places *places, void *chunk,
                              uint64_t from, void **memory);
// Frees all memory and code, for `give_up`.
void slri_buffered_forget(struct slri_buffered_device *device);
// What they have in common, and the limits of a block; the backend adds the rest.
void slri_buffered_facts(struct slri_buffered_device *device, slr_device_class device_class, uint32_t block_threads,
                         uint64_t block_shared_bytes, struct slri_facts *out);

#endif
