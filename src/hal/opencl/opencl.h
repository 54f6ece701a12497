// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share.
#ifndef SLRI_HAL_OPENCL_OPENCL_H
#define SLRI_HAL_OPENCL_OPENCL_H

#include "hal/opencl/api.h"
#include "base/thread.h"
#include "hal/hal.h"
#include "engine/loss.h"
#include "engine/places.h"
#include "engine/printed.h"
#include "engine/resident_groups.h"
#include "engine/ring_mode.h"
#include "emit/opencl/emit_opencl.h"

// What a device says of itself, asked once.
struct slri_cl_facts {
    char name[64], version[96], driver[24], platform[40];
    uint64_t memory_bytes, most_buffer_bytes, local_bytes, cache_bytes, svm; // svm: SLRI_CL_SVM_... bits
    uint32_t compute_units, base_alignment, opencl;                          // opencl: 300 for 3.0
    slr_device_class device_class;
    size_t most_group;
    bool fp64, int64_atomics, priorities, host_unified, available, compiler, little_endian, exact_divide;
    bool spirv;                   // takes modules of SPIR-V, of some version
    char pci[16];                 // where it is on the bus: "0000:03:00.0"; "": it does not say
    enum slri_opencl_warps warps; // the best that the device says it has
};

// Where buffers lie, the best first.
enum slri_cl_memory {
    SLRI_CL_FINE,   // shared virtual memory that host and device use at the same time
    SLRI_CL_COARSE, // shared addresses, copies by command
    SLRI_CL_HOST,   // memory of ours that the device uses
    SLRI_CL_PLAIN,  // memory of the device's
    SLRI_CL_MEMORIES
};

// What buffers are cut from. Without SVM `address` is address space of ours alone: a name for the bytes.
struct slri_cl_chunk {
    uint64_t key; // the address
    unsigned char *address;
    uint64_t bytes;
    slri_cl_mem mem; // NULL: SVM
    bool given_up;   // while the device was lost: something may still touch it (left.c)
    bool is_ring;    // a ring kernel's: nothing that hangs touches it once the device is opened again
    uint32_t opened; // in which of the device's lives it was made
};

struct slri_opencl {
    const struct slri_cl *cl;
    slr_allocator allocator_copy;
    const slr_allocator *allocator;
    char name[16]; // "opencl:0"
    uint32_t index;
    slri_cl_platform platform;
    slri_cl_device_id id;
    slri_cl_context context;
    struct slri_cl_facts facts;
    enum slri_cl_memory memory;
    bool memory_was_asked, svm_was_asked, patience_was_asked;
    slr_ring_mode ring_mode; // that was asked for; 0: the best there is

    struct slri_residents residents;
    uint64_t patience_ns;  // what is not done so long after somebody waits for it has hung
    struct slri_loss loss; // something would not end. What it can touch is kept until somebody says that it has ended,
                           // or until the process ends, and this with it
    uint32_t opened;       // how often it was opened again
    struct slri_opencl *next_lost;
    bool was_lost; // is in that list

    slri_mutex left_lock;
    struct { // left.c's
        struct slri_cl_left *first;
        bool forgot;         // a command of which nobody can ask any more whether it has ended
        uint64_t kept_bytes; // that were counted as kept
    } left;

    struct slri_places chunks; // by address

    slri_mutex stay_lock;
    struct { // probe.c's
        bool probed;
        uint32_t groups;     // that run at once and stay; 0: kernels cannot stay
        const char *options; // the compiler's
    } stay;

    slri_mutex clock_lock;
    struct { // clock.c's
        bool probed, has;
    } clock;

    slri_mutex warps_lock;
    struct { // sub_groups.c's
        bool probed;
        enum slri_opencl_warps kind;
        slri_cl_program program; // NULL: of local memory
        slri_cl_kernel lanes;
    } warps;
};

// facts.c: every device of every platform, in the order in which the library gives them.
slr_status slri_cl_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info);
slr_status slri_cl_count_devices(const struct slri_cl *cl, uint32_t *out);
slr_status slri_cl_find_device(const struct slri_cl *cl, uint32_t index, slri_cl_platform *platform,
                               slri_cl_device_id *out);
slr_status slri_cl_ask(const struct slri_cl *cl, slri_cl_platform platform, slri_cl_device_id id, uint32_t index,
                       struct slri_cl_facts *out);

// wait.c
// Rung when a command is done that somebody sleeps for. One thread at a time waits with it.
struct slri_cl_bell {
    uint32_t rung; // futex; the vendor's threads'
    uint32_t asked;
};
// Waits until commands of a queue are done, also where a call fails meanwhile; what they wrote is visible then. `bell`
// NULL: it looks from time to time, which is a little later. Errors: what failed; DEVICE_LOST (the deadline has passed:
// events and bell must stay).
slr_status slri_cl_await(struct slri_opencl *opencl, slri_cl_queue queue, struct slri_cl_bell *bell,
                         uint64_t deadline_ns, uint32_t count, const slri_cl_event *event);
// Longer than any kernel that somebody waits for, it is hoped. The device's patience may be less; not where a command
// takes no time but its compiler's.
#define SLRI_CL_PATIENCE_S 600u
#define SLRI_CL_COMPILES_NS (SLRI_CL_PATIENCE_S * UINT64_C(1000000000))
// Something would not end, or nobody says that it has. From then on nothing that it may touch is freed. `why`: a
// constant. Gives DEVICE_LOST.
slr_status slri_cl_lose(struct slri_opencl *opencl, const char *why);
static inline slr_status slri_cl_check_lost(const struct slri_opencl *opencl) // OK, or DEVICE_LOST
{
    return slri_loss_check(&opencl->loss);
}
static inline bool slri_cl_is_lost(const struct slri_opencl *opencl)
{
    return slri_is_lost(&opencl->loss);
}
void slri_cl_forget_lost(struct slri_opencl *opencl); // it goes, and keeps nothing

// left.c: what a lost device leaves. Nothing of it is released while nobody has said that all it was given has ended.
enum slri_cl_kind { // in the order in which it is released
    SLRI_CL_EVENT,  // of a command that may still run
    SLRI_CL_KERNEL,
    SLRI_CL_PROGRAM,
    SLRI_CL_QUEUE,
    SLRI_CL_MEM,
    SLRI_CL_MAP,  // of slri_map_reserve
    SLRI_CL_HEAP, // of slri_alloc
    SLRI_CL_BELL, // likewise; it may still ring
    SLRI_CL_KINDS
};
// Releases it, or, of a lost device, leaves it to slri_cl_settle. NULL is fine. `bytes`: of memory.
void slri_cl_let_go(struct slri_opencl *opencl, enum slri_cl_kind kind, void *object, uint64_t bytes);
// Asks whether all that was left has ended. True: it has, and everything is released. Else it stays as it is, and may
// be asked again.
bool slri_cl_settle(struct slri_opencl *opencl);
// Counts that so many bytes of the device are kept; those that were counted before are among them.
void slri_cl_count_kept(struct slri_opencl *opencl, uint64_t bytes);

// reopen.c
slr_status slri_cl_reopen(void *device, uint64_t deadline_ns, slr_status (*quiesce)(void *user), void *user);

// memory.c
slr_status slri_cl_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory);
void slri_cl_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes);
slr_status slri_cl_buffer_create(void *device, uint64_t bytes, void **memory);
void slri_cl_buffer_destroy(void *device, void *memory, uint64_t bytes);
void slri_cl_buffer_give_up(struct slri_opencl *opencl, void *memory); // which something lost may still touch
void slri_cl_free_given_up(struct slri_opencl *opencl);                // nothing does any more
uint64_t slri_cl_given_up_bytes(struct slri_opencl *opencl);
uint64_t slri_cl_memory_bytes(struct slri_opencl *opencl); // all that there is
const char *slri_cl_memory_name(enum slri_cl_memory memory);
// Where an address of ours lies: gives the memory object, or NULL with SVM, and the offset from its beginning.
slri_cl_mem slri_cl_find_memory(struct slri_opencl *opencl, const void *address, uint64_t *offset);

// code.c
struct slri_cl_text {
    const char *name, *file;    // of the kernel, and of the user's source
    const char *options, *text; // OpenCL C; `#line` names the user's source in what the compiler says
};
// Errors: COMPILE (the compiler's words), NO_MEMORY, what OpenCL gives.
slr_status slri_cl_build(struct slri_opencl *opencl, const struct slri_cl_text *text, slri_cl_program *out); // cached
slr_status slri_cl_build_source(struct slri_opencl *opencl, const struct slri_cl_text *text, slri_cl_program *out);
const char *slri_cl_kernel_options(const struct slri_opencl *opencl); // the compiler's, for emitted text
// Gives a text identity, label and options.
void slri_cl_identify(const struct slri_opencl *opencl, const char *options, struct slri_code_text *text);
// As hal/hal.h says.
slr_status slri_cl_code_write(void *device, struct slri_code_text *text);
slr_status slri_cl_code_build(void *device, const struct slri_code_text *text, struct slri_blob *blob, void **loaded);
slr_status slri_cl_code_load(void *device, const struct slri_code_text *text, const struct slri_blob *blob,
                             void **loaded);
void slri_cl_code_unload(void *device, void *loaded);
slr_status slri_cl_kernel_use(void *device, const struct slri_kernel_query *of, struct slri_kernel_use *out);
slr_status slri_cl_code_kernel(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out);

// probe.c: how many groups of kernels that never return can run at once, beside ordinary kernels. The first call tries.
uint32_t slri_cl_groups_that_stay(struct slri_opencl *opencl);

// clock.c: whether a kernel can read the counter of base/tick.h (device/cl_clock.h). The first call tries.
bool slri_cl_has_clock(struct slri_opencl *opencl);

// sub_groups.c: what functions of a warp are made of. Sub-groups, where the device has them and they were tried; then
// it must still be asked of each kernel and shape of block whether its sub-groups are warps. Else local memory.
enum slri_opencl_warps slri_cl_warps(struct slri_opencl *opencl); // the first call tries
bool slri_cl_has_warps(struct slri_opencl *opencl, slri_cl_kernel kernel, const uint32_t block[3]);
// Of a handler whose groups are so many threads in a row: sub-groups only where it can ask for their size.
enum slri_opencl_warps slri_cl_handler_warps(struct slri_opencl *opencl, const struct slri_entry *entry,
                                             uint32_t threads);
void slri_cl_warps_close(struct slri_opencl *opencl);

// once.c
// Runs one group of so many work-items, in a queue of its own, of a kernel whose one argument is memory that holds
// these bytes; they are what it left there. For probes. False: that failed. What has not ended when its patience is
// over loses the device, and keeps what it uses.
bool slri_cl_run_once(struct slri_opencl *opencl, slri_cl_kernel kernel, const size_t group[3], void *bytes,
                      size_t count, uint64_t patience_ns);

// code.c: launches.
slr_status slri_cl_dispatch(struct slri_opencl *opencl, slri_cl_queue queue, const struct slri_command *command,
                            const struct slri_extras *extras, slri_cl_event *event);

// resident.c: kernels that stay.
void slri_cl_rings_open(struct slri_opencl *opencl);
slr_status slri_cl_ring_memory_create(void *device, uint64_t bytes, void **memory);

// queue.c
#define SLRI_CL_MOST_BEGUN 32 // commands that are begun before the first is waited for
slr_status slri_cl_queue_create(void *device, uint32_t priority, void **queue);
void slri_cl_queue_destroy(void *device, void *queue);
slr_status slri_cl_encode(void *device, void *queue, const struct slri_command *command,
                          const struct slri_extras *extras, uint32_t commands);
slr_status slri_cl_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times);
// In a queue of its own, and waits: for new memory.
slr_status slri_cl_zero_at_once(struct slri_opencl *opencl, void *memory, uint64_t bytes);

#endif
