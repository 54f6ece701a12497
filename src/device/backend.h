// SPDX-License-Identifier: Apache-2.0
// What a backend is: one table of functions. The front half (device/, ring/) validates everything; a backend validates
// nothing and keeps no public object. Slots that a backend leaves NULL are things it cannot do, which the front half
// says.
#ifndef SLRI_DEVICE_BACKEND_H
#define SLRI_DEVICE_BACKEND_H

#include "abi/handler.h"
#include "abi/mailbox.h"
#include "base/histogram.h"
#include "kernel/ir.h"

#include <slipring/devices.h>
#include <slipring/explain.h>
#include <slipring/metrics.h>
#include <slipring/ring.h>

#include <stdbool.h>
#include <string.h>

// One option of a device's spec: "cpu?engine=interpreted&threads=1" has two.
struct slri_option {
    char name[24], value[40];
};

struct slri_spec {
    char backend[16];
    uint32_t index; // of "cuda:1"; 0 when it is not said
    char id[48];    // of "cuda:GPU-..."; "" when it is a number
    struct slri_option option[8];
    uint32_t options;
};

// For what a kernel is made ready.
struct slri_kernel_shape {
    uint32_t block[3];
    uint32_t width; // lanes of 4 bytes that vectors shall have; 0: the backend's choice
    uint32_t level; // of optimisation, 1 or 2
};

// Where what kernels print goes.
struct slri_printer {
    slr_on_print *function;
    void *user;
};

// What a submission is made of, a tag a kind. Device addresses are NULL on a device that stores nothing.
enum slri_command_op {
    SLRI_COPY_IN,  // copy: host to device
    SLRI_COPY_OUT, // copy: device to host
    SLRI_COPY,     // move: device to device; the ranges may overlap
    SLRI_FILL,     // fill: a pattern, again and again
    SLRI_CALL,     // call: a function of the host; also where what came before it has failed
    SLRI_DISPATCH, // dispatch: a kernel over a grid
    SLRI_STAMP,    // stamp: the time at which all before it has been done
    SLRI_TASK,     // task: a function of slipring's own, which takes long, keeps no stream from running, and may fail
    SLRI_LIST,     // list: what list_create made of several
    SLRI_OPS       // how many there are
};

struct slri_command {
    enum slri_command_op op;
    union {
        struct {
            void *device, *host;
            uint64_t bytes;
        } copy;
        struct {
            void *to;
            const void *from;
            uint64_t bytes;
        } move;
        struct {
            void *device;
            uint64_t bytes; // a multiple of pattern_bytes
            uint32_t pattern_bytes;
            unsigned char pattern[16];
        } fill;
        struct {
            void (*function)(void *user, slr_status status);
            void *user;
        } call;
        struct {
            void *ready;                    // of kernel_prepare
            const struct slri_entry *entry; // the kernel
            const struct slri_bound *bound; // one a parameter; kept until the submission is settled
            uint32_t grid[3], block[3], dynamic_bytes;
            // The front half's, for who watches: the second is NULL where nobody did when it was launched.
            struct slr_kernel *kernel;
            const struct slri_launch_count *count;
            const struct slri_printer *printer; // NULL: nobody wants it
        } dispatch;
        uint64_t *stamp; // on the clock of slri_now_ns
        void *list;
        struct {
            slr_status (*function)(void *user);
            void *user;
        } task;
    };
};

// How many bytes a command moves.
static inline uint64_t slri_command_bytes(const struct slri_command *command)
{
    switch (command->op) {
    case SLRI_COPY_IN:
    case SLRI_COPY_OUT:
        return command->copy.bytes;
    case SLRI_COPY:
        return command->move.bytes;
    case SLRI_FILL:
        return command->fill.bytes;
    default:
        return 0;
    }
}

static inline bool slri_command_moves_nothing(const struct slri_command *command)
{
    return command->op <= SLRI_FILL && slri_command_bytes(command) == 0;
}

struct slri_queue; // a stream as the layers below see it: device/queue.h

// After the queue's submission of that number.
struct slri_after {
    struct slri_queue *queue;
    uint64_t value;
};

// Commands that are done one after the other, once every point of `wait` has passed; then the queue's `value` has. The
// front half makes it and keeps it until it is settled.
struct slri_submission {
    const struct slri_command *command;
    struct slri_after *wait;
    uint32_t commands, waits;
    struct slri_queue *queue; // NULL: at once, in the calling thread; then there are no waits, and nothing below counts
    uint64_t value;           // given by slri_queue_push, which also writes it to `told`, unless that is NULL: the
    uint64_t *told;           // submission may be gone when submit returns
    // The front half's, called when the commands are done and before `value` has passed: gives up what they held.
    void (*settle)(struct slri_submission *submission);
    // NULL, or the front half's, called under the queues' lock once `value` is known and before anything of it can
    // begin: sets commands and waits. Where it gives a status other than OK, nothing is submitted.
    slr_status (*prepare)(struct slri_submission *submission);
    void (*forget)(struct slri_submission *submission); // behind that, under the queues' lock: frees it
    struct slri_submission *next;                       // in its queue
};

// A host function of many messages a call. It says which of them faulted by a status in `fault_line`, else 0.
typedef void slri_batch_handler(void *self, struct slri_call *calls, uint32_t count);

struct slri_shard;
struct slri_launch_count;
struct slri_passages;
struct slri_relaunch;
struct slri_row;

// What a handler with a deadline works on: copies, which stay its own when it is abandoned. The ring layer makes one a
// shard. When a handler is abandoned the ring layer puts what else it may still touch in here, and a hold on the ring
// kernel.
struct slri_box {
    unsigned char *message, *replies; // in a copy of a slot; for max_replies replies, `reply_stride` bytes apart
    uint32_t reply_stride;
    uint32_t holds;                     // 2: the handler's and the ring layer's
    void (*bury)(struct slri_box *box); // frees it, for who counts `holds` down to 0
    void *ring;
    unsigned char *states;
    struct slri_out *out;
    void *handler_self;
    size_t bytes, out_bytes;
};

static inline void slri_box_let_go(struct slri_box *box)
{
    if (__atomic_fetch_sub(&box->holds, 1, __ATOMIC_ACQ_REL) == 1) // what the other did with it comes before its end
        box->bury(box);
}

// How the replies of a ring kernel leave along its routes: the ring layer's calls (ring/relay.c), which a shard's owner
// makes. With `outlets` NULL a shard has no routes, and only `begin` and `may_sleep` are called. Where the owner is a
// kernel that stays it passes on by itself (abi/passage.h); then only `may_sleep`, `flush` and `passed_on` are there
// (ring/route_device.c), for who watches it.
struct slri_relay {
    // Before mb_begin: takes up a change of routes, and reserves room at every destination for what will be taken.
    void (*begin)(struct slri_shard *shard);
    // Behind it: gives back what was reserved for more than was claimed; gives how many messages of the batch there is
    // room for: not all, where some were left of an earlier one.
    uint32_t (*taken)(struct slri_shard *shard);
    void (*aim)(struct slri_shard *shard, struct slri_call *call); // before the handler: where its replies go
    // After the handler of message k of the batch: passes on its replies, and what it has sent.
    void (*pass_on)(struct slri_shard *shard, const struct slri_call *call, uint32_t k);
    void (*flush)(struct slri_shard *shard); // before mb_finish: publishes what was passed on
    // The last look of a shard that has announced its sleep: false where there is something to do.
    bool (*may_sleep)(struct slri_shard *shard);
    void (*passed_on)(struct slri_shard *shard); // at each look at a shard with a passage: wakes who was sent to
    // Behind the loss of a group, when all its shards are the caller's: what lay near it may be lost, too.
    void (*lost)(struct slri_shard *shard);
};

// One shard of a ring kernel, as a backend runs it. The ring layer owns it and everything it points to, and keeps it
// until `over` has been told; the backend owns the words named so.
struct slri_shard {
    uint32_t *shared, *own; // S and P of abi/mailbox.h, after mb_open
    uint32_t number, shards;
    slr_ring_mode mode; // as planned
    void *program;      // the backend's, with its entry; NULL: the handler is a function of the host
    const struct slri_entry *entry;
    slri_handler *handler;
    void *handler_self;
    const struct slri_bound *bound;
    struct slri_relaunch *relaunch; // of a ring kernel that is relaunched: instead of `handler`. `states` is an address
                                    // of the device then, and reached by relaunch.h
    unsigned char *states; // of instances number, number + shards, ...: `state_stride` bytes each; NULL without state
    uint64_t state_stride, state_bytes;
    uint64_t states_bytes;     // of all of them
    uint32_t own_words;        // of `own`
    const void *initial_state; // NULL: zero
    uint32_t reply_bytes;
    uint64_t fuel;
    uint32_t max_batch; // of each pass, up to MB_BATCH
    uint64_t linger_ns; // how long fewer than that may wait for more
    // Instead of `handler`, for host functions of many messages a call: `call` has max_batch entries, whose replies lie
    // in memory of their own until the call has returned.
    slri_batch_handler *batch_handler;
    struct slri_call *call;
    void *ring; // the ring layer's, for the two calls below
    const struct slri_relay *relay;
    struct slri_outlets *outlets, *next_outlets; // the routes in use, and those to take up; NULL: none. Atomic; the
                                                 // owner writes the first, the host the second
    uint32_t busy;                               // with routes: messages in hand, until they are retired; atomic
    // Of an owner that is a kernel that stays, instead of the three above: the routes in use, and those to take up,
    // which an operation at rest exchanges; and what the kernel sees of them, a struct slri_resident_passage. NULL:
    // none.
    struct slri_passages *passages, *next_passages;
    void *passage;
    // Of a handler with outlets: what the message in hand sends, by parameter (`outs` of them); it has routes then, be
    // they none. `unsent`: how many went through an outlet without a route; one writer, atomic.
    struct slri_out *out;
    uint32_t outs;
    uint64_t unsent;

    // Called by the owner after it has published: wakes receivers, and senders out of credit.
    // `batch`: how many entries of MBP_BATCH it was about, or SLRI_ALL_PORTS: the owner's words are not to be read.
    void (*published)(struct slri_shard *shard, uint32_t batch);
    // Called by the owner when its answer to a control word has changed: an MB_RUNNING and so on. When it has ended or
    // stopped, this is its last touch of the shard.
    void (*answered)(struct slri_shard *shard, uint32_t state);
    // NULL, or called by the owner behind each message that faulted, when it is published and before the next is
    // handled: the ring kernel may be paused then.
    void (*faulted)(struct slri_shard *shard);
    // 0, or how long a handler may run; then `box` is set, and a handler that runs longer is abandoned: its message has
    // faulted, and this is called, by who then owns the shard. Behind it the shard has no handler, states or box until
    // the ring layer has given it new ones.
    uint64_t timeout_ns;
    struct slri_box *box;
    void (*abandoned)(struct slri_shard *shard);
    // Called for an owner that is a device's, by who watches it, when it has been lost: the ring kernel fails. From
    // then on who calls this owns the shard: it obeys control, and handles nothing. Also by an owner on the host whose
    // dispatch has failed, and which goes on.
    void (*lost)(struct slri_shard *shard, const char *why);
    bool redelivers;      // what is in doubt then stays pending, marked, instead
    uint64_t redelivered; // messages that did; one writer, atomic

    struct slri_histogram *latency; // of the messages that are timed, until they are published; NULL: none is
    uint32_t latency_off_ns;        // by how much those may be wrong, for want of one clock; one writer, atomic

    // Of a keyed ring kernel: how many messages of each instance are done with, in any way; as `states`, NULL without
    // keys. Written by the owner alone (slri_shard_done), read by whoever looks for an instance that is idle.
    uint32_t *done;
    // Operations on the shard, between two batches: the owner calls `operate` where `asked` is not 0, and looks at it
    // once more after it has announced its sleep.
    uint32_t asked; // atomic; SLRI_ASKED_AT_REST: they want no kernel that stays to run, too
    bool at_rest;   // the poller's: none does while it calls `operate`
    void (*operate)(struct slri_shard *shard);
    bool owned;                   // the ring layer's, under its lock, with the next: some owner will look at `asked`
    struct slri_operation *first; // those that wait

    // `asleep`: 0 awake; else what wakes it: 1 messages and control; 2 control alone, for it is paused; 3 those and
    // replies received, for there is no room for its replies. On a line of its own: senders read it at every message.
    uint32_t asleep __attribute__((aligned(128)));
    // NULL, or where senders tell their owner, behind what they have published: a word a port, how many messages that
    // makes. Behind a bus, and never read: slri_order_bus_stores comes before it. Atomic; set once.
    uint32_t *flags;

    // The backend's.
    struct slri_shard *next __attribute__((aligned(128))); // in its worker's list of shards that are awake, or woken
    struct slri_worker *worker;
    uint64_t idle_since_ns, linger_until_ns;
    uint32_t told_control, told_state; // what `answered` was last called for
    uint32_t handling;                 // the message of the batch that a handler with a deadline works on
    uint32_t track;                    // observe's; atomic: 0 until it is first seen
    // observe's, written by the shard's owner: the rows that its batches are counted in, and what one call of its
    // handler is made of. NULL until a batch is first seen.
    struct slri_row *batch_row, *owner_row;
    const struct slri_launch_count *call_count;
    uint64_t records_dropped;       // of its batches, for the profiler and the trace; one writer, atomic
    struct slri_resident *resident; // the group of a kernel that stays, which owns it while it runs
    void *near_own, *near_states;   // where such a group works on copies of `own` and `states`; NULL: on these
    void *near_memory;              // what holds them
    void *near_flags;               // `flags`, where the group finds them; NULL: they are not to be looked at
};

// The state of one of the shard's instances, or NULL.
static inline void *slri_shard_state(const struct slri_shard *shard, uint32_t instance)
{
    if (!shard->states)
        return NULL;
    // "> 1", not "== 1": gcc makes that a division by 1, which was an eighth of the work on a message.
    uint32_t mine = shard->shards > 1 ? instance / shard->shards : instance;
    return shard->states + mine * shard->state_stride;
}

static inline void slri_shard_clear_out(struct slri_shard *shard)
{
    for (uint32_t i = 0; shard->out && i < shard->outs; ++i)
        shard->out[i].count = 0;
}

static inline void slri_shard_reset(const struct slri_shard *shard, void *state)
{
    if (!state)
        return;
    if (shard->initial_state)
        memcpy(state, shard->initial_state, shard->state_bytes);
    else
        memset(state, 0, shard->state_bytes);
}

static inline uint32_t *slri_shard_done_word(const struct slri_shard *shard, uint32_t instance)
{
    return &shard->done[shard->shards == 1 ? instance : instance / shard->shards];
}

// Called by the owner when it has done with a message of a keyed ring kernel: handled, faulted or dropped.
// Release: its last writes to the state, for who finds by this that the instance is idle.
static inline void slri_shard_done(const struct slri_shard *shard, uint32_t instance)
{
    uint32_t *word = slri_shard_done_word(shard, instance);
    __atomic_store_n(word, *word + 1, __ATOMIC_RELEASE);
}

// latency.c: notes how long a timed message has taken, up to `now_ns`. `at` and `node` as in MBP_BATCH.
void slri_shard_note_latency(struct slri_shard *shard, uint32_t port, uint32_t at, uint32_t node, uint64_t now_ns);
void slri_shard_note_latencies(struct slri_shard *shard, uint32_t done); // of the first `done` of the batch, up to now

// Called by the owner before it publishes the first `done` messages of the batch.
static inline void slri_shard_time(struct slri_shard *shard, uint32_t done)
{
    if (shard->own[MBP_TIMED] & MB_FLAG_TIMED)
        slri_shard_note_latencies(shard, done);
}

#define SLRI_ALL_PORTS UINT32_MAX

#define SLRI_ASKED 1u
#define SLRI_ASKED_AT_REST 2u

#define SLRI_ASLEEP 1u
#define SLRI_ASLEEP_PAUSED 2u
#define SLRI_ASLEEP_BLOCKED 3u

// How what a device and the host share is page-locked; of a device with memory of its own, how the host's side is,
// where it has no `host_create`.
enum slri_pinning {
    SLRI_PINNED_BY_SYSTEM, // by the operating system
    SLRI_PINNED_ALREADY,   // it always is
    SLRI_PINNED_NEVER      // its pages move between the two
};

// What a device can do.
struct slri_capabilities {
    bool unified;       // the host can address its memory
    bool imports;       // where it is unified: it can use memory that the application made
    bool passes_on;     // its kernels that stay pass messages on to one another
    uint32_t alignment; // at which its buffers begin; 0: 64
    enum slri_pinning pinning;
    uint64_t patience_ns; // a handler that somebody has waited for so long has hung; 0: it does not say
    uint32_t cuda_arch;   // what __CUDA_ARCH__ is for it, 900 for capability 9.0; 0: it is not CUDA's
};

// What decides how a ring kernel can be kept going.
struct slri_ring_facts {
    void *program; // the backend's; NULL: its handler is a function of the host
    const struct slri_entry *entry;
    uint32_t instances;
    // NULL, or why an owner that is a thread of the host must serve it, as a clause: "its overflow policy drops
    // messages".
    const char *needs_host;
    slr_ring_mode asked; // for this ring kernel; 0: the best there is
};

struct slri_ring_plan {
    slr_ring_mode mode;
    uint32_t shards; // how many owners it has: at most the instances
    char reason[SLR_MODE_REASON_BYTES];
    bool has_clock; // of a persistent one: its owners have a clock that is compared with the host's, and time messages
};

struct slri_residents;

struct slri_backend {
    const char *name;
    bool has_ids;   // its devices have names too, behind the colon
    bool takes_raw; // its programs may be modules with `raw`
    bool simulates; // all that it does runs on threads of base/thread.h, and so in simulation, too
    // Required.
    slr_status (*probe)(char *reason, size_t reason_bytes, uint32_t *devices); // can it run here; quick
    slr_status (*open)(const struct slri_spec *spec, const slr_allocator *allocator, void **device);
    void (*close)(void *device);
    void (*describe)(const void *device, slr_device_info *out);
    struct slri_capabilities (*capabilities)(const void *device);
    slr_status (*buffer_create)(void *device, uint64_t bytes,
                                void **memory);                         // zeroed; NULL is no error on a device that
    void (*buffer_destroy)(void *device, void *memory, uint64_t bytes); // stores nothing
    slr_status (*queue_open)(void *device, struct slri_queue *queue);   // before the first submission to it
    slr_status (*submit)(void *device, struct slri_submission *submission);
    // Optional, both: whether it was lost, with all that lay in its memory; and another beginning, behind which it is
    // as new, with nothing of the front half's but programs. On an error it stays lost.
    bool (*is_lost)(const void *device);
    // NULL, or ends what its kernels ran in, so that none touches memory afterwards: before `reopen`, while groups are
    // still watched. Errors: TIMEOUT (nobody has acknowledged that by the deadline; may be called again).
    slr_status (*end_lost)(void *device, uint64_t deadline_ns);
    slr_status (*reopen)(void *device);
    // Likewise: behind that, of each shard of a persistent ring kernel, while no group runs: what it has of the
    // device's memory may be elsewhere.
    void (*shard_reopened)(void *device, struct slri_shard *shard);
    // Optional: what it is doing just now. Errors: NOT_FOUND, where what measures it is not there.
    slr_status (*metrics)(const void *device, slr_metrics *out);
    // Optional, all four, for devices with memory of their own: memory of the host, zeroed, that their copy engines
    // reach without a copy between; and the same of memory that the application made, for as long as it is pinned.
    slr_status (*host_create)(void *device, uint64_t bytes, void **memory);
    void (*host_destroy)(void *device, void *memory, uint64_t bytes);
    slr_status (*host_pin)(void *device, void *memory, uint64_t bytes);
    void (*host_unpin)(void *device, void *memory);
    // Optional, both: commands that will be submitted again and again, as one command SLRI_LIST; what they point to
    // stays until it is destroyed, and nothing of it is in a queue then. Errors: UNSUPPORTED, which says what cannot be
    // in one.
    slr_status (*list_create)(void *device, const struct slri_command *command, uint32_t commands, void **list);
    void (*list_destroy)(void *device, void *list);
    // Optional: before a queue goes; nothing is in it then.
    void (*queue_close)(void *device, struct slri_queue *queue);
    // Optional: kernels (the first two and kernel_prepare), and with all of them ring kernels too.
    slr_status (*program_create)(void *device, const struct slri_module *module, void **program);
    void (*program_destroy)(void *device, void *program);
    // Optional: the memory of the module's variables (ir.h), an address of the device's. Behind a reopen it is another,
    // in which they begin anew.
    slr_status (*program_globals)(void *device, void *program, void **out);
    // A handler for one owner at a time; `self` goes with it.
    slr_status (*handler_create)(void *device, void *program, const struct slri_entry *entry, slri_handler **handler,
                                 void **self);
    void (*handler_destroy)(void *device, void *program, void *self);
    // Optional: `__global__` kernels. What a dispatch needs of a kernel for a shape of block; the
    // program keeps it. Compiles where it must, but no longer than until `*cancel` is set (NULL: nobody does), which is
    // WRONG_STATE.
    slr_status (*kernel_prepare)(void *device, void *program, const struct slri_entry *entry,
                                 const struct slri_kernel_shape *shape, const uint32_t *cancel, void **ready);
    // Optional, and without a device: what a `__global__` kernel takes of one of that compute capability.
    slr_status (*kernel_resources)(const struct slri_module *module, const struct slri_entry *entry,
                                   uint32_t capability, slr_resources *out);
    // Optional: the groups of kernels that stay on the device, which the front half keeps from running.
    struct slri_residents *(*residents)(void *device);
    // How a ring kernel will run. UNSUPPORTED: it cannot, or not in the mode that the device was opened for.
    slr_status (*ring_plan)(void *device, const struct slri_ring_facts *facts, struct slri_ring_plan *plan);
    // Optional, of ring kernels that are planned as persistent: compiles and loads what will stay, so that shard_start,
    // which has a deadline, waits for no compiler.
    slr_status (*ring_prepare)(void *device, void *program, const struct slri_entry *entry);
    // Of ring kernels that are planned as persistent: memory for mailboxes and states, zeroed, at the same addresses
    // for host and device.
    slr_status (*ring_memory_create)(void *device, uint64_t bytes, void **memory);
    void (*ring_memory_destroy)(void *device, void *memory, uint64_t bytes);
    // Optional, all four: memory that only their groups use, near them, zeroed; and its address for them. Behind a
    // reopening that may be another, and the memory is zeroed again. The third copies from it, from byte `at` on, to
    // memory of ring_memory_create, while no group runs.
    slr_status (*near_create)(void *device, uint64_t bytes, void **memory);
    uint64_t (*near_address)(const void *memory);
    slr_status (*near_fetch)(void *device, const void *memory, uint64_t at, void *host, uint64_t bytes);
    void (*near_destroy)(void *device, void *memory);
    // Optional, for ring kernels that are relaunched (relaunch.h): makes `runner`, which keeps the handler's kernel
    // with all its arguments but those of one dispatch.
    slr_status (*relaunch_create)(void *device, struct slri_relaunch *relaunch);
    void (*relaunch_destroy)(void *device, struct slri_relaunch *relaunch);
    // Gives the device what is packed, and everything to get the results back; `relaunch_end` waits. That is called
    // behind each `relaunch_begin`, also one that failed.
    slr_status (*relaunch_begin)(void *device, struct slri_relaunch *relaunch);
    slr_status (*relaunch_end)(void *device, struct slri_relaunch *relaunch);
    // Where the host cannot address the device's memory: copies in or out behind what was begun, and waits. Any thread.
    slr_status (*relaunch_copy)(void *device, struct slri_relaunch *relaunch, void *memory, void *host, uint64_t bytes,
                                bool in);
    slr_status (*shard_start)(void *device, struct slri_shard *shard);
    void (*shard_wake)(struct slri_shard *shard); // after `asleep` was taken back to 0 by the caller
};

extern const struct slri_backend slri_backend_cpu, slri_backend_null, slri_backend_opencl, slri_backend_cuda;

#endif
