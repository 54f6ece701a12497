// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share.
#ifndef SLRI_HAL_CUDA_CUDA_H
#define SLRI_HAL_CUDA_CUDA_H

#include "hal/cuda/api.h"
#include "hal/cuda/flags.h"
#include "hal/cuda/sharing.h"
#include "hal/cuda/stall.h"
#include "hal/cuda/vendor.h"
#include "base/thread.h"
#include "base/text.h"
#include "hal/hal.h"
#include "engine/loss.h"
#include "engine/printed.h"
#include "engine/resident.h"
#include "engine/ring_mode.h"
#include "engine/slabs.h"

#define SLRI_CU_SM_BUDGET 50u          // percent: a kernel that needs a whole multiprocessor finds one
#define SLRI_CU_STALL_MS 100u          // many times what a call of the driver takes that waits for nothing
#define SLRI_CU_MOST_STREAM_THREADS 16 // they wait for the device most of their time: there may be more than cores
#define SLRI_CU_MARKS 8u               // of a stream: launches of 3 us that cover a host that is late by 20 us
#define SLRI_CU_ID_BYTES 48            // "GPU-" or "MIG-" and 36 characters

// What a device says of itself, asked once.
struct slri_cu_facts {
    char name[64], id[SLRI_CU_ID_BYTES];
    char architecture[SLRI_CU_ARCHITECTURE_BYTES]; // "", or what the compiler calls it
    char bus_id[SLRI_CU_BUS_BYTES];                // "", or the place on the PCI bus
    uint64_t memory_bytes;
#define SLRI_CU_FACT(name, number) int32_t name;
    SLRI_CU_ATTRIBUTES(SLRI_CU_FACT)
    SLRI_CU_OPTIONAL_ATTRIBUTES(SLRI_CU_FACT)
#undef SLRI_CU_FACT
};

// Where buffers lie.
enum slri_cu_memory {
    SLRI_CU_DEVICE,  // in the device's own memory
    SLRI_CU_MAPPED,  // in the host's, page-locked; the device reaches it over the bus
    SLRI_CU_MANAGED, // in pages that move to who uses them
    SLRI_CU_MEMORIES
};

enum slri_cu_ending {
    SLRI_CU_USABLE,
    SLRI_CU_ENDING, // nobody begins to use it any more
    SLRI_CU_ENDED,  // the driver has destroyed it: nothing runs in it
    SLRI_CU_LEFT    // a primary one, which others hold: what ran in it may run on
};

struct slri_cuda {
    const struct slri_cu *cu;
    slr_allocator allocator_copy;
    const slr_allocator *allocator;
    char name[SLRI_CU_ID_BYTES + 8]; // "cuda:0", "cuda:GPU-..."
    bool primary;                    // the context that the process's other users of CUDA have; else one of our own
    slri_cu_device device;
    slri_cu_context context; // NULL: it was lost, and there is no other
    uint32_t inside;         // atomic: calls that use the context now
    uint32_t ending;         // futex: enum slri_cu_ending, of the context
    slri_thread ender;       // a thread that ends a lost one, because the driver may take for ever
    bool ender_started;
    uint32_t opened;         // how often it was opened again; what knows another number went with a context
    int32_t least, greatest; // priorities; the greatest is the lowest number
    struct slri_cu_facts facts;
    enum slri_cu_memory memory;

    struct slri_cu_sharing sharing; // as it was when the device was opened
    slr_ring_mode ring_mode;        // that was asked for; 0: the best there is
    struct slri_residents residents;
    struct slri_cu_watch watch;
    struct slri_blob stay;  // the kernel that stays, before a handler is linked to it
    uint32_t sm_budget;     // percent of the multiprocessors that may have a block that stays
    uint32_t most_blocks;   // that may stay
    uint32_t blocks_differ; // atomic: 0, or of a kernel that stays, a multiprocessor: driver << 16 | our calculator
    struct slri_slabs shared, near; // that they work on: the host's memory, mapped; and the device's

    struct slri_cu_flags flags;

    struct slri_loss loss;       // once the context is gone
    struct slri_cuda *next_kept; // of devices whose memory stays until the process ends
};

// 90 for compute capability 9.0; 0 for another vendor's.
static inline uint32_t slri_cuda_capability(const struct slri_cu_facts *facts)
{
    return *facts->architecture ? 0 : (uint32_t)(facts->major * 10 + facts->minor);
}

// facts.c: the devices that the driver shows (CUDA_VISIBLE_DEVICES is its business), in its order.
slr_status slri_cu_count_devices(const struct slri_cu *cu, uint32_t *out);
// By number, or by the name that nvidia-smi -L gives (a beginning that fits one device).
slr_status slri_cu_find_device(const struct slri_cu *cu, const struct slri_spec *spec, slri_cu_device *out);
slr_status slri_cuda_facts(const struct slri_cu_vendor *vendor, void *device, uint32_t index, struct slri_facts *out,
                           slr_device_info *info);
slr_status slri_cu_ask(const struct slri_cu *cu, const char *name, slri_cu_device device, struct slri_cu_facts *out);

// device.c: the context is made the calling thread's for as long as calls are made, and what it had before comes back:
// it may be the application's. Errors: DEVICE_LOST, also where it was lost before.
slr_status slri_cuda_enter(struct slri_cuda *cuda);
void slri_cuda_leave(struct slri_cuda *cuda);
static inline slr_status slri_cuda_check_lost(struct slri_cuda *cuda) // OK, or DEVICE_LOST
{
    return slri_loss_check(&cuda->loss);
}
// Makes the context, with what a device keeps in it; takes both back, also where it was lost: that frees what is left.
slr_status slri_cuda_begin_context(struct slri_cuda *cuda);
void slri_cuda_end_context(struct slri_cuda *cuda);
// Ends the context of a lost device: nothing that ran in it touches memory afterwards. Page-locked memory that the
// driver made goes with it. Not for two threads at once. Errors: TIMEOUT (the driver has not done so; may be called
// again).
slr_status slri_cuda_end_lost(struct slri_cuda *cuda, uint64_t deadline_ns);
// Whether the driver acknowledges that what ran in the stream does so no more; of a lost device, too.
bool slri_cuda_is_over(struct slri_cuda *cuda, slri_cu_stream stream);
// OK, or the failure of a call; notes it where the device is lost by it. `doing`: NULL, or what was done last.
slr_status slri_cuda_check(struct slri_cuda *cuda, const char *call, const char *doing, int32_t error);

// peer.c
slr_status slri_cuda_peer(void *device, void *from_device, struct slri_peer_facts *out);
slr_status slri_cuda_copy_peer(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command);

// memory.c
extern const char *const slri_cuda_memory_names[SLRI_CU_MEMORIES];
// Whether the device has it. Errors: UNSUPPORTED.
slr_status slri_cuda_check_memory(const struct slri_cuda *cuda);
slr_status slri_cuda_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory);
void slri_cuda_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes);
slr_status slri_cuda_buffer_create(void *device, uint64_t bytes, void **memory);
void slri_cuda_buffer_destroy(void *device, void *memory, uint64_t bytes);
slr_status slri_cuda_host_create(void *device, uint64_t bytes, void **memory);
// Likewise, and the device sees it at the same address. Errors: those of host_create, UNSUPPORTED.
slr_status slri_cuda_seen_create(struct slri_cuda *cuda, uint64_t bytes, void **memory);
void slri_cuda_host_destroy(void *device, void *memory, uint64_t bytes);
// Zeroed memory of this process, page-locked and mapped, at one address. It is there behind the loss of a context, and
// can be given to the next: `*memory` stays.
slr_status slri_cuda_mapped_create(struct slri_cuda *cuda, uint64_t bytes, void **memory);
slr_status slri_cuda_mapped_renew(struct slri_cuda *cuda, uint64_t bytes, void **memory);
void slri_cuda_mapped_destroy(void *device, void *memory, uint64_t bytes);
slr_status slri_cuda_host_pin(void *device, void *memory, uint64_t bytes);
void slri_cuda_host_unpin(void *device, void *memory);

// code.c: as hal/hal.h says.
slr_status slri_cuda_code_write(void *device, struct slri_code_text *text);
slr_status slri_cuda_code_build(void *device, const struct slri_code_text *text, struct slri_blob *blob, void **loaded);
slr_status slri_cuda_code_load(void *device, const struct slri_code_text *text, const struct slri_blob *blob,
                               void **loaded);
void slri_cuda_code_unload(void *device, void *loaded);
slr_status slri_cuda_code_kernel(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out);
slr_status slri_cuda_kernel_use(void *device, const struct slri_kernel_query *of, struct slri_kernel_use *out);
// Of a text that something else writes: identity and label.
slr_status slri_cuda_identify(struct slri_cuda *cuda, struct slri_code_text *text);
// A function of a module, which its first launch need not load. In the context, quiet.
slr_status slri_cuda_find_function(struct slri_cuda *cuda, slri_cu_module module, const char *name,
                                   slri_cu_function *function);
int32_t slri_cuda_launch(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command,
                         const struct slri_extras *extras);
// How kernels are made ready here, or why they are not.
void slri_cuda_describe_compiler(const struct slri_cuda *cuda, char *out, size_t room);

// resources.c
slr_status slri_cuda_kernel_resources(const struct slri_module *module, const struct slri_entry *entry,
                                      uint32_t capability, slr_resources *out);

// list.c
slr_status slri_cuda_list_create(void *device, const struct slri_command *command, const struct slri_extras *extras,
                                 uint32_t commands, void **list);
void slri_cuda_list_destroy(void *device, void *list);
int32_t slri_cuda_list_launch(struct slri_cuda *cuda, slri_cu_stream stream, const void *list); // in the context
const char *slri_cuda_list_kernel(const void *list); // the last one in it, or NULL

// resident.c: kernels that stay.
void slri_cuda_rings_open(struct slri_cuda *cuda);
void slri_cuda_rings_stop(struct slri_cuda *cuda);  // their threads
void slri_cuda_rings_close(struct slri_cuda *cuda); // their memory: none runs any more
// As a clause: why ring kernels that could be persistent are relaunched where nobody asks; or "".
void slri_cuda_why_relaunch(const struct slri_cuda *cuda, char *out, size_t room);
// As enter and leave, for calls that a kernel that stays would keep waiting: none runs in between. Not for the poller.
// Errors: those of enter, TIMEOUT.
slr_status slri_cuda_enter_quiet(struct slri_cuda *cuda);
void slri_cuda_leave_quiet(struct slri_cuda *cuda);
// How many blocks of a kernel a multiprocessor takes: the fewer, and notes where they differ.
int32_t slri_cuda_fewer_blocks(struct slri_cuda *cuda, uint32_t drivers, uint32_t ours);
// Forgets what lay in a context that is gone; loads it into another, while none runs.
void slri_cuda_staying_forget(struct slri_cuda *cuda);
slr_status slri_cuda_staying_renew(struct slri_cuda *cuda);

// resident_memory.c
void slri_cuda_pools_open(struct slri_cuda *cuda);
void slri_cuda_pools_close(struct slri_cuda *cuda);
uint64_t slri_cuda_pools_mapped(const struct slri_cuda *cuda);                        // bytes of the host
slr_status slri_cuda_ring_memory_create(void *device, uint64_t bytes, void **memory); // shared
void slri_cuda_ring_memory_destroy(void *device, void *memory, uint64_t bytes);
struct slri_piece **slri_cuda_ring_memory_flags(void *memory); // what is given up with it: NULL, or flags
// As create, where a slab has room: the poller must not wait for itself.
bool slri_cuda_shared_try(struct slri_cuda *cuda, uint64_t bytes, void **memory);
slr_status slri_cuda_shared_at_once(struct slri_cuda *cuda, uint64_t bytes, void **memory); // likewise: NO_MEMORY
slr_status slri_cuda_words_create(void *device, uint64_t bytes, void **memory);             // as hal/hal.h says
void slri_cuda_words_destroy(void *device, void *memory, uint64_t bytes);
slr_status slri_cuda_pools_renew(struct slri_cuda *cuda); // for another context; what lies near may be elsewhere then

// reopen.c: as hal/hal.h says.
slr_status slri_cuda_reopen(void *device, uint64_t deadline_ns, slr_status (*quiesce)(void *user), void *user);

// queue.c
slr_status slri_cuda_queue_create(void *device, uint32_t priority, void **queue);
void slri_cuda_queue_destroy(void *device, void *queue);
slr_status slri_cuda_encode(void *device, void *queue, const struct slri_command *command,
                            const struct slri_extras *extras, uint32_t commands);
slr_status slri_cuda_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times);
// The rest of them in the context, but the last. Gives a stream a command, also one that is captured.
slr_status slri_cuda_put(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command,
                         const struct slri_extras *extras);
slr_status slri_cuda_own_stream(struct slri_cuda *cuda, slri_cu_stream *out); // to destroy
// Zeroes, and waits. For who makes buffers.
slr_status slri_cuda_zero_at_once(struct slri_cuda *cuda, slri_cu_pointer memory, uint64_t bytes);

#endif
