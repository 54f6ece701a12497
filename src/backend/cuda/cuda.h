// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share.
#ifndef SLRI_BACKEND_CUDA_CUDA_H
#define SLRI_BACKEND_CUDA_CUDA_H

#include "backend/cuda/api.h"
#include "backend/cuda/flags.h"
#include "backend/cuda/sharing.h"
#include "backend/cuda/stall.h"
#include "base/thread.h"
#include "base/text.h"
#include "device/backend.h"
#include "device/printed.h"
#include "device/queue_pool.h"
#include "device/resident.h"
#include "device/ring_mode.h"
#include "memory/pieces.h"

#define SLRI_CU_BOUNCE_BYTES ((uint64_t)1 << 20)
#define SLRI_CU_ID_BYTES 48 // "GPU-" or "MIG-" and 36 characters

// What a device says of itself, asked once.
struct slri_cu_facts {
    char name[64], id[SLRI_CU_ID_BYTES];
    uint64_t memory_bytes;
#define SLRI_CU_FACT(name, number) int32_t name;
    SLRI_CU_ATTRIBUTES(SLRI_CU_FACT)
    SLRI_CU_OPTIONAL_ATTRIBUTES(SLRI_CU_FACT)
#undef SLRI_CU_FACT
};

struct slri_cu_queue; // a stream, as we keep it

// Where buffers lie.
enum slri_cu_memory {
    SLRI_CU_DEVICE,  // in the device's own memory
    SLRI_CU_MAPPED,  // in the host's, page-locked; the device reaches it over the bus
    SLRI_CU_MANAGED, // in pages that move to who uses them
    SLRI_CU_MEMORIES
};

// Memory that kernels that stay work on.
enum slri_cu_pool_kind {
    SLRI_CU_SHARED, // with the host: its own, mapped
    SLRI_CU_NEAR,   // the device's
    SLRI_CU_POOLS
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

    slri_mutex bounce_lock; // of the next, until what goes through it has been waited for
    slri_cu_pointer bounce; // SLRI_CU_BOUNCE_BYTES, for copies over themselves

    struct slri_queue_pool pool;
    slri_mutex own_lock;       // of the next
    struct slri_cu_queue *own; // for what is done at once, in the calling thread

    struct slri_cu_sharing sharing; // as it was when the device was opened
    slr_ring_mode ring_mode;        // that was asked for; 0: the best there is
    struct slri_ring_owners owners; // of ring kernels that are not persistent
    struct slri_residents residents;
    struct slri_cu_watch watch;
    slri_mutex staying_lock; // resident.c's, of the next four
    struct slri_cu_staying *staying, *stuck;
    uint32_t blocks_taken;
    struct slri_cu_code {
        char *cubin;
        size_t bytes;
    } stay;                 // the kernel that stays, before a handler is linked to it
    uint32_t sm_budget;     // percent of the multiprocessors that may have a block that stays
    uint32_t most_blocks;   // that may stay
    uint32_t blocks_differ; // atomic: 0, or of a kernel that stays, a multiprocessor: driver << 16 | our calculator
    struct slri_cu_pool {
        slri_mutex lock; // of the next two
        struct slri_pieces pieces;
        struct slri_cu_slab *slabs;
    } pools[SLRI_CU_POOLS];

    struct slri_cu_flags flags;

    slri_mutex lost_lock;
    uint32_t lost; // atomic: 1 once the context is gone; then `why_lost` stays
    char why_lost[256];
    struct slri_cuda *next_kept; // of devices whose memory stays until the process ends
};

// devices.c: the devices that the driver shows (CUDA_VISIBLE_DEVICES is its business), in its order.
slr_status slri_cu_count_devices(const struct slri_cu *cu, uint32_t *out);
// By number, or by the name that nvidia-smi -L gives (a beginning that fits one device).
slr_status slri_cu_find_device(const struct slri_cu *cu, const struct slri_spec *spec, slri_cu_device *out);
slr_status slri_cu_ask(const struct slri_cu *cu, const char *name, slri_cu_device device, struct slri_cu_facts *out);

// cuda.c: the context is made the calling thread's for as long as calls are made, and what it had before comes back: it
// may be the application's. Errors: DEVICE_LOST, also where it was lost before.
slr_status slri_cuda_enter(struct slri_cuda *cuda);
void slri_cuda_leave(struct slri_cuda *cuda);
slr_status slri_cuda_check_lost(struct slri_cuda *cuda); // OK, or DEVICE_LOST
// Makes the context, with what a device keeps in it; takes both back, also where it was lost: that frees what is left.
slr_status slri_cuda_begin_context(struct slri_cuda *cuda);
void slri_cuda_end_context(struct slri_cuda *cuda);
// Ends the context of a lost device: nothing that ran in it touches memory afterwards. Page-locked memory that the
// driver made goes with it. Not for two threads at once. Errors: TIMEOUT (the driver has not done so; may be called
// again).
slr_status slri_cuda_end_lost(void *device, uint64_t deadline_ns);
// Whether the driver acknowledges that what ran in the stream does so no more; of a lost device, too.
bool slri_cuda_is_over(struct slri_cuda *cuda, slri_cu_stream stream);
// OK, or the failure of a call; notes it where the device is lost by it. `doing`: NULL, or what was done last.
slr_status slri_cuda_check(struct slri_cuda *cuda, const char *call, const char *doing, int32_t error);

// The device is lost: the error message says why, or `why` does.
void slri_cuda_lose(struct slri_cuda *cuda, const char *why);

// memory.c
extern const char *const slri_cuda_memory_names[SLRI_CU_MEMORIES];
// Whether the device has it. Errors: UNSUPPORTED.
slr_status slri_cuda_check_memory(const struct slri_cuda *cuda);
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
slr_status slri_cuda_near_create(struct slri_cuda *cuda, uint64_t bytes, void **memory); // the device's own; not zeroed
void slri_cuda_near_destroy(void *device, void *memory, uint64_t bytes);
slr_status slri_cuda_host_pin(void *device, void *memory, uint64_t bytes);
void slri_cuda_host_unpin(void *device, void *memory);

// program.c
slr_status slri_cuda_program_create(void *device, const struct slri_module *module, void **program);
void slri_cuda_program_destroy(void *device, void *program);
slr_status slri_cuda_kernel_prepare(void *device, void *program, const struct slri_entry *entry,
                                    const struct slri_kernel_shape *shape, const uint32_t *cancel, void **ready);
const struct slri_module *slri_cuda_program_module(const void *program);
// A text with the entry in it (NULL, as the module: with none): from the cache, or by NVRTC and then kept; `*cubin` to
// free().
slr_status slri_cuda_compile_cached(struct slri_cuda *cuda, const struct slri_module *module,
                                    const struct slri_entry *entry, const char *const *options, const slri_text *text,
                                    char **cubin, size_t *bytes);
// What a kernel is given that its source does not name (kernel/emit_cuda.h), as it needs it.
struct slri_cu_told {
    void *printed;     // memory of the device for what it prints, which has begun; NULL: nobody hears it
    uint64_t *faulted; // where it may fault: zero, as the device sees it
};
int32_t slri_cuda_launch(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command,
                         const struct slri_cu_told *told);
struct slri_print_to slri_cuda_printer_of(const struct slri_command *dispatch);
bool slri_cuda_may_fault(const struct slri_command *dispatch);
// HANDLER_FAULT, by the word that a kernel has told.
slr_status slri_cuda_kernel_faulted(const void *ready, uint64_t told);
slr_status slri_cuda_program_globals(void *device, void *program, void **out);
// How kernels are made ready here, or why they are not.
void slri_cuda_describe_compiler(char *out, size_t room);

// resources.c
slr_status slri_cuda_kernel_resources(const struct slri_module *module, const struct slri_entry *entry,
                                      uint32_t capability, slr_resources *out);

// list.c
slr_status slri_cuda_list_create(void *device, const struct slri_command *command, uint32_t commands, void **list);
void slri_cuda_list_destroy(void *device, void *list);
// In the context. `kernel`: the last one in it, or NULL. Behind it the list is the caller's until it leaves: where its
// kernels may fault (not NULL) once it has been waited for, because the next launch tells by the same words.
int32_t slri_cuda_list_launch(struct slri_cuda *cuda, slri_cu_stream stream, void *list, const char **kernel);
struct slri_cu_faults *slri_cuda_list_faults(void *list);
void slri_cuda_list_leave(void *list);

// fault.c: faults of kernels that were begun.
struct slri_cu_faults {
    uint32_t room, count; // words; those of kernels that were begun, or are in a list
    bool is_shared;       // they are a piece of what is mapped for kernels that stay
    uint64_t *word;
    const void *ready[]; // a word's kernel
};
slr_status slri_cu_faults_create(struct slri_cuda *cuda, uint32_t room, struct slri_cu_faults **out);
void slri_cu_faults_destroy(struct slri_cuda *cuda, struct slri_cu_faults *faults); // NULL is fine
// The word of a dispatch, for which there is room.
uint64_t *slri_cu_faults_add(struct slri_cu_faults *faults, const struct slri_command *dispatch);
// When they have been waited for: gives the first fault, or `before` where that is one already. All words are zero
// then.
slr_status slri_cu_faults_look(struct slri_cu_faults *faults, slr_status before);

// resident.c: kernels that stay.
void slri_cuda_residents_open(struct slri_cuda *cuda);
void slri_cuda_residents_stop(struct slri_cuda *cuda);  // their threads
void slri_cuda_residents_close(struct slri_cuda *cuda); // their memory: none runs any more
// Of a device that is opened again: lets those go that have ended since they were given up. False: one has not.
bool slri_cuda_residents_settle(struct slri_cuda *cuda);
// As enter and leave, for calls that a kernel that stays would keep waiting: none runs in between. Not for the poller.
// Errors: those of enter, TIMEOUT.
slr_status slri_cuda_enter_quiet(struct slri_cuda *cuda);
void slri_cuda_leave_quiet(struct slri_cuda *cuda);
// Gives a handler of a program blocks, at most `want`, and keeps them for it until the program goes; 0: all are taken
// by others.
slr_status slri_cuda_staying_take(struct slri_cuda *cuda, void *program, const struct slri_entry *entry, uint32_t want,
                                  uint32_t *out);
slr_status slri_cuda_staying_start(struct slri_cuda *cuda, struct slri_shard *shard);
// How many blocks of a kernel a multiprocessor takes: the fewer, and notes where they differ.
int32_t slri_cuda_fewer_blocks(struct slri_cuda *cuda, uint32_t drivers, uint32_t ours);
void slri_cuda_staying_drop(struct slri_cuda *cuda, const void *program); // before the program goes
// Forgets what lay in a context that is gone; loads it into another, while none runs.
void slri_cuda_staying_forget(struct slri_cuda *cuda);
slr_status slri_cuda_staying_renew(struct slri_cuda *cuda);

// resident_memory.c
void slri_cuda_pools_open(struct slri_cuda *cuda);
void slri_cuda_pools_close(struct slri_cuda *cuda);
uint64_t slri_cuda_pools_mapped(const struct slri_cuda *cuda);                        // bytes of the host
slr_status slri_cuda_ring_memory_create(void *device, uint64_t bytes, void **memory); // shared; as in backend.h
void slri_cuda_ring_memory_destroy(void *device, void *memory, uint64_t bytes);
struct slri_piece **slri_cuda_ring_memory_flags(void *memory); // what is given up with it: NULL, or flags
// As create, where a slab has room: the poller must not wait for itself.
bool slri_cuda_shared_try(struct slri_cuda *cuda, uint64_t bytes, void **memory);
slr_status slri_cuda_shared_reserve(struct slri_cuda *cuda, uint64_t bytes); // so that a slab has
// Gives a shard what lies near, and frees it. The second: also of one that has none, and by the poller.
slr_status slri_cuda_near_take(struct slri_cuda *cuda, struct slri_shard *shard);
void slri_cuda_near_give(struct slri_cuda *cuda, struct slri_shard *shard);
slr_status slri_cuda_pools_renew(struct slri_cuda *cuda); // for another context; what lies near may be elsewhere then
void slri_cuda_near_renew(void *device, struct slri_shard *shard);
// As device/backend.h says: near_create and its like.
slr_status slri_cuda_group_memory_create(void *device, uint64_t bytes, void **memory);
uint64_t slri_cuda_group_memory_address(const void *memory);
slr_status slri_cuda_group_memory_fetch(void *device, const void *memory, uint64_t at, void *host, uint64_t bytes);
void slri_cuda_group_memory_destroy(void *device, void *memory);

// reopen.c: as device/backend.h says.
bool slri_cuda_is_lost(const void *device);
slr_status slri_cuda_reopen(void *device);

// relaunch.c: as device/backend.h says.
slr_status slri_cuda_relaunch_create(void *device, struct slri_relaunch *relaunch);
void slri_cuda_relaunch_destroy(void *device, struct slri_relaunch *relaunch);
slr_status slri_cuda_relaunch_begin(void *device, struct slri_relaunch *relaunch);
slr_status slri_cuda_relaunch_end(void *device, struct slri_relaunch *relaunch);
slr_status slri_cuda_relaunch_copy(void *device, struct slri_relaunch *relaunch, void *memory, void *host,
                                   uint64_t bytes, bool in);

// ring.c: ring kernels.
void slri_cuda_rings_open(struct slri_cuda *cuda);
void slri_cuda_rings_stop(struct slri_cuda *cuda);  // their threads
void slri_cuda_rings_close(struct slri_cuda *cuda); // their memory
slr_status slri_cuda_ring_plan(void *device, const struct slri_ring_facts *facts, struct slri_ring_plan *plan);
// As a clause: why ring kernels that could be persistent are relaunched where nobody asks; or "".
void slri_cuda_why_relaunch(const struct slri_cuda *cuda, char *out, size_t room);
slr_status slri_cuda_shard_start(void *device, struct slri_shard *shard);

// stream.c
slri_cu_stream slri_cuda_own_stream(const struct slri_cuda *cuda); // with own_lock
// Gives a stream that is captured a command of the device's, in the context. `faults`: the list's.
slr_status slri_cuda_put(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command,
                         struct slri_cu_faults *faults);
slr_status slri_cuda_own_open(struct slri_cuda *cuda);
void slri_cuda_own_close(struct slri_cuda *cuda);
slr_status slri_cuda_queue_open(void *device, struct slri_queue *queue);
void slri_cuda_queue_close(void *device, struct slri_queue *queue);
slr_status slri_cuda_submit(void *device, struct slri_submission *submission);
// Zeroes, and waits. For who makes buffers; the context is entered.
slr_status slri_cuda_zero_at_once(struct slri_cuda *cuda, slri_cu_pointer memory, uint64_t bytes);
// Likewise copies out, to memory that is page-locked.
slr_status slri_cuda_fetch_at_once(struct slri_cuda *cuda, void *host, slri_cu_pointer memory, uint64_t bytes);
// Copies from the host, and waits; outside of the context.
slr_status slri_cuda_write_at_once(void *device, void *memory, void *host, uint64_t bytes);

#endif
