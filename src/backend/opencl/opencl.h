// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share.
#ifndef SLRI_BACKEND_OPENCL_OPENCL_H
#define SLRI_BACKEND_OPENCL_OPENCL_H

#include "backend/opencl/api.h"
#include "base/thread.h"
#include "device/backend.h"
#include "device/printed.h"
#include "device/queue_pool.h"
#include "device/resident.h"
#include "device/ring_mode.h"
#include "kernel/emit_opencl.h"

// What a device says of itself, asked once.
struct slri_cl_facts {
    char name[64], version[96], driver[24], platform[40];
    uint64_t memory_bytes, most_buffer_bytes, local_bytes, svm; // svm: SLRI_CL_SVM_... bits
    uint32_t compute_units, base_alignment, opencl;             // opencl: 300 for 3.0
    size_t most_group;
    bool fp64, int64_atomics, priorities, host_unified, available, compiler, little_endian, exact_divide;
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
    unsigned char *address;
    uint64_t bytes;
    slri_cl_mem mem; // NULL: SVM
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

    struct slri_ring_owners owners; // of ring kernels that are not persistent
    struct slri_residents residents;
    slri_mutex staying_lock; // resident.c's, of the next two
    struct slri_cl_staying *staying;
    uint32_t groups_taken;
    uint64_t patience_ns; // what is not done so long after somebody waits for it has hung
    const char *lost;     // atomic: NULL, or why: something would not end. What it can touch is kept until the process
                          // ends, and this with it
    struct slri_opencl *next_lost;

    slri_mutex memory_lock;
    struct slri_cl_chunk *chunk; // by address
    uint32_t chunks, chunk_room;

    slri_mutex stay_lock;
    struct { // probe.c's
        bool probed;
        uint32_t groups;     // that run at once and stay; 0: kernels cannot stay
        bool has_clock;      // and a kernel can read the counter of base/tick.h
        const char *options; // the compiler's
    } stay;

    slri_mutex warps_lock;
    struct { // sub_groups.c's
        bool probed;
        enum slri_opencl_warps kind;
        slri_cl_program program; // NULL: of local memory
        slri_cl_kernel lanes;
    } warps;

    struct slri_queue_pool pool;
    slri_mutex own_lock;        // of the next
    struct slri_cl_stream *own; // for what is done at once, in the calling thread
};

// devices.c: every device of every platform, in the order in which the library gives them.
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
// NULL: it looks from time to time, which is a little later. Errors: what failed; DEVICE_LOST (the patience is over:
// events and bell must stay).
slr_status slri_cl_await(struct slri_opencl *opencl, slri_cl_queue queue, struct slri_cl_bell *bell,
                         uint64_t patience_ns, uint32_t count, const slri_cl_event *event);
// Longer than any kernel that somebody waits for, it is hoped. The device's patience may be less; not where a command
// takes no time but its compiler's.
#define SLRI_CL_PATIENCE_S 600u
#define SLRI_CL_COMPILES_NS (SLRI_CL_PATIENCE_S * UINT64_C(1000000000))
// Something would not end, or nobody says that it has. From then on nothing that it may touch is freed. `why`: a
// constant. Gives DEVICE_LOST.
slr_status slri_cl_lose(struct slri_opencl *opencl, const char *why);
slr_status slri_cl_check_lost(const struct slri_opencl *opencl); // OK, or DEVICE_LOST
bool slri_cl_is_lost(const struct slri_opencl *opencl);

// memory.c
slr_status slri_cl_buffer_create(void *device, uint64_t bytes, void **memory);
void slri_cl_buffer_destroy(void *device, void *memory, uint64_t bytes);
uint64_t slri_cl_memory_bytes(struct slri_opencl *opencl); // all that there is
const char *slri_cl_memory_name(enum slri_cl_memory memory);
// Where an address of ours lies: gives the memory object, or NULL with SVM, and the offset from its beginning.
slri_cl_mem slri_cl_find_memory(struct slri_opencl *opencl, const void *address, uint64_t *offset);

// build.c
struct slri_cl_text {
    const char *name, *file;    // of the kernel, and of the user's source
    const char *options, *text; // OpenCL C; `#line` names the user's source in what the compiler says
};
// Errors: COMPILE (the compiler's words), NO_MEMORY, what OpenCL gives.
slr_status slri_cl_build(struct slri_opencl *opencl, const struct slri_cl_text *text, slri_cl_program *out); // cached
slr_status slri_cl_build_source(struct slri_opencl *opencl, const struct slri_cl_text *text, slri_cl_program *out);

// probe.c: how many groups of kernels that never return can run at once, beside ordinary kernels. The first call tries.
uint32_t slri_cl_groups_that_stay(struct slri_opencl *opencl);

// sub_groups.c: what functions of a warp are made of. Sub-groups, where the device has them and they were tried; then
// it must still be asked of each kernel and shape of block whether its sub-groups are warps. Else local memory.
enum slri_opencl_warps slri_cl_warps(struct slri_opencl *opencl); // the first call tries
bool slri_cl_has_warps(struct slri_opencl *opencl, slri_cl_kernel kernel, const uint32_t block[3]);
// Of a handler whose groups are so many threads in a row: sub-groups only where it can ask for their size.
enum slri_opencl_warps slri_cl_handler_warps(struct slri_opencl *opencl, const struct slri_entry *entry,
                                             uint32_t threads);
void slri_cl_warps_close(struct slri_opencl *opencl);

// kernel.c
slr_status slri_cl_program_create(void *device, const struct slri_module *module, void **program);
void slri_cl_program_destroy(void *device, void *program);
const struct slri_module *slri_cl_program_module(const void *program);
slr_status slri_cl_kernel_prepare(void *device, void *program, const struct slri_entry *entry,
                                  const struct slri_kernel_shape *shape, const uint32_t *cancel, void **ready);
const char *slri_cl_kernel_options(const struct slri_opencl *opencl); // the compiler's, for emitted text
typedef slr_status slri_cl_builder(struct slri_opencl *opencl, const struct slri_module *module,
                                   const struct slri_entry *entry, slri_cl_program *out);
// What a handler's ring kernels that are relaunched run in: built for the first of them; the program owns it.
slr_status slri_cl_relaunched(struct slri_opencl *opencl, void *program, const struct slri_entry *entry,
                              slri_cl_builder *build, slri_cl_program *out);
// Sets an argument to memory of the device, or to none. `part`: NULL, or an object that must live until the kernel is
// no more enqueued with it.
slr_status slri_cl_set_memory(struct slri_opencl *opencl, slri_cl_kernel kernel, uint32_t index,
                              const struct slri_bound *bound, slri_cl_mem *part);
void slri_cl_release_parts(struct slri_opencl *opencl, slri_cl_mem *part, uint32_t count); // NULL among them is fine
// Memory of the device for what a kernel tells.
struct slri_cl_told {
    void *printed; // which has begun (device/printed.h); NULL: nobody hears it
    void *faulted; // of a kernel that may fault: SLRI_CL_FAULT_BYTES, zero
};
struct slri_cl_fault { // what lies there then
    uint32_t fault, file, line, zero;
};
#define SLRI_CL_FAULT_BYTES sizeof(struct slri_cl_fault)
slr_status slri_cl_dispatch(struct slri_opencl *opencl, slri_cl_queue queue, const struct slri_command *command,
                            const struct slri_cl_told *told, slri_cl_event *event);
bool slri_cl_may_fault(const struct slri_command *dispatch);
slr_status slri_cl_say_fault(const void *ready, const struct slri_cl_fault *fault); // gives HANDLER_FAULT
struct slri_print_to slri_cl_printer_of(const struct slri_command *dispatch);
slr_status slri_cl_program_globals(void *device, void *program, void **out);

// resident.c: kernels that stay.
// Gives a handler of a program groups, at most `want` and at least 1, and keeps them for it until the program goes; 0:
// all are taken, or there is no memory.
uint32_t slri_cl_staying_take(struct slri_opencl *opencl, void *program, const struct slri_entry *entry, uint32_t want);
// Builds the handler's kernel and opens its first group, in which the driver's compiler has done what it does.
slr_status slri_cl_ring_prepare(void *device, void *program, const struct slri_entry *entry);
slr_status slri_cl_staying_start(struct slri_opencl *opencl, struct slri_shard *shard);
void slri_cl_staying_drop(struct slri_opencl *opencl, const void *program); // before the program goes
slr_status slri_cl_ring_memory_create(void *device, uint64_t bytes, void **memory);

// ring.c: ring kernels.
void slri_cl_rings_open(struct slri_opencl *opencl);
void slri_cl_rings_close(struct slri_opencl *opencl);
slr_status slri_cl_ring_plan(void *device, const struct slri_ring_facts *facts, struct slri_ring_plan *plan);
slr_status slri_cl_shard_start(void *device, struct slri_shard *shard);

// relaunch.c: those that are relaunched.
slr_status slri_cl_relaunch_create(void *device, struct slri_relaunch *relaunch);
void slri_cl_relaunch_destroy(void *device, struct slri_relaunch *relaunch);
slr_status slri_cl_relaunch_begin(void *device, struct slri_relaunch *relaunch);
slr_status slri_cl_relaunch_end(void *device, struct slri_relaunch *relaunch);
slr_status slri_cl_relaunch_copy(void *device, struct slri_relaunch *relaunch, void *memory, void *host, uint64_t bytes,
                                 bool in);

// stream.c
// How long the last dispatch of a ring kernel in the stream took, once that was waited for. 0: nobody watched, or the
// driver does not say.
uint64_t slri_cl_stream_dispatch_ns(const struct slri_cl_stream *stream);
slr_status slri_cl_stream_create(struct slri_opencl *opencl, uint32_t priority, struct slri_cl_stream **out);
void slri_cl_stream_destroy(struct slri_opencl *opencl, struct slri_cl_stream *stream);
slr_status slri_cl_queue_open(void *device, struct slri_queue *queue);
void slri_cl_queue_close(void *device, struct slri_queue *queue);
slr_status slri_cl_submit(void *device, struct slri_submission *submission);
// What goes into a stream beside submissions; the calling thread is the only one that uses it.
slr_status slri_cl_stream_copy_in(struct slri_opencl *opencl, struct slri_cl_stream *stream, void *device,
                                  const void *host, uint64_t bytes);
slr_status slri_cl_stream_copy_out(struct slri_opencl *opencl, struct slri_cl_stream *stream, void *host,
                                   const void *device, uint64_t bytes);
slr_status slri_cl_stream_enqueue(struct slri_opencl *opencl, struct slri_cl_stream *stream, slri_cl_kernel kernel,
                                  size_t groups, size_t group);
slr_status slri_cl_stream_flush(struct slri_opencl *opencl, struct slri_cl_stream *stream);
slr_status slri_cl_stream_finish(struct slri_opencl *opencl,
                                 struct slri_cl_stream *stream); // waits for all that was begun
// Behind what was begun, and waits. Any thread.
slr_status slri_cl_stream_copy_now(struct slri_opencl *opencl, struct slri_cl_stream *stream, void *device, void *host,
                                   uint64_t bytes, bool in);
// Fills, and waits. For who makes buffers.
slr_status slri_cl_fill_at_once(struct slri_opencl *opencl, void *memory, uint64_t bytes, unsigned char value);

#endif
