// SPDX-License-Identifier: Apache-2.0
// What a backend is: one table of functions. The front half (device/, ring/) validates everything; a backend validates
// nothing and keeps no public object. Slots that a backend leaves NULL are things it cannot do, which the front half
// says.
#ifndef SLRI_HAL_HAL_H
#define SLRI_HAL_HAL_H

#include "abi/handler.h"
#include "abi/launch.h"
#include "abi/mailbox.h"
#include "base/share.h"
#include "base/histogram.h"
#include "base/text.h"
#include "ir/ir.h"

#include <slipring/devices.h>
#include <slipring/explain.h>
#include <slipring/limits.h>
#include <slipring/metrics.h>
#include <slipring/ring.h>

#include <stdbool.h>
#include <stddef.h>
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

// ---- code --------------------------------------------------------------------------------------------------------

struct slri_code;         // a program on a device: engine/code.h
struct slri_ready_kernel; // a kernel of it that can be dispatched

// What is compiled: for whom, and the text, which `code_write` or another of the backend's functions has written.
struct slri_code_text {
    const struct slri_module *module; // NULL, and the next: text of slipring's own
    const struct slri_entry *entry;   // NULL: of the module's handlers
    const char *name, *file;          // of the entry, or the module; of the user's source
    struct slri_kernel_shape shape;   // of a kernel
    uint32_t variant;                 // of a kernel: 0, or more where code_kernel has refused the one before
    bool is_batched;                  // it is for batched launches (abi/relaunch.h): a kernel, or a block's handler
    const uint32_t *cancel;           // NULL, or set by who wants it no more: WRONG_STATE
    // The writer's. `identity`: of compiler and device, all on which the code depends beside text and options; `label`:
    // for who looks at the cache. Without text nothing is compiled or cached: code_build then makes what is loaded of
    // the module, once a program.
    slri_text text, identity, label;
    const char *const *option; // of the compiler, up to NULL; NULL: none
    const char *option_room[12];
    bool is_unkept;    // the code depends on more than the cache's key has
    bool is_own;       // without text, what is loaded is nevertheless the entry's alone, not the whole module's
    bool loads_stored; // what was just built is loaded from the cache, where it stays
    // The engine's, for code_build: the entry's key, the folder to work in (NULL: `why_private` says why there is
    // none), and whether that is private, and goes.
    const char *key, *folder, *why_private;
};

// Compiled code as it is stored: bytes, or, of a backend whose `blobs_are_files`, the path of a file. Both are freed by
// free(); a file that was built is removed when it has been stored.
struct slri_blob {
    char *bytes, *file;
    size_t count;
};

// What a launch or an owner calls of loaded code; code_kernel fills it.
struct slri_kernel {
    void *native;                                // the backend's; of a handler, its `self`
    slri_handler *handler;                       // of a handler that the host runs
    slri_kernel_blocks *blocks;                  // of a kernel that the host runs; NULL: `native` knows how
    void (*release)(void *device, void *native); // NULL: it goes with what is loaded
    const void *takes;                           // the backend's, as long as `native`: what it knows of its needs
    uint32_t most_threads;                       // that its registers leave room for in a block; 0: any
    bool may_fault;                              // on the device: then it tells by a word that it is given
    bool is_unfit;                               // for this block: the next variant is to be taken
    // Of the kernel of batched launches. It serves one ring kernel, and its buffers stay the same.
    struct {
        bool has_ticks; // results have RL_TICKS, of the counter of base/tick.h
    } batch;
};

// Of which shapes a kernel is one and the same.
enum slri_kernel_per {
    SLRI_KERNEL_PER_ENTRY, // of all
    SLRI_KERNEL_PER_BLOCK, // of one block; the loaded code serves all
    SLRI_KERNEL_PER_SHAPE  // of one shape, and the loaded code is its own
};

// Where what kernels print goes.
struct slri_printer {
    slr_on_print *function;
    void *user;
};

// A place between two submissions of a queue, on the clock of slri_now_ns.
struct slri_stamp {
    uint64_t reached_ns; // all before it has been done
    // Atomic: when what comes behind it began, after it had been ready for so long while the device did other things.
    // 0: nothing has begun. The first is written last.
    uint64_t began_ns, queued_ns;
    struct slri_stamp *next; // of its queue, where nothing has begun; under the queues' lock
};

// What a submission is made of, a tag a kind. Device addresses are NULL on a device that stores nothing.
enum slri_command_op {
    SLRI_COPY_IN,  // copy: host to device
    SLRI_COPY_OUT, // copy: device to host
    SLRI_COPY,     // move: device to device; the ranges may overlap
    SLRI_FILL,     // fill: a pattern, again and again
    SLRI_CALL,     // call: a function of the host; also where what came before it has failed
    SLRI_DISPATCH, // dispatch: a kernel over a grid
    SLRI_STAMP,    // stamp: alone in its submission, which the queue does itself
    SLRI_TASK,     // task: a function of slipring's own, which takes long, keeps no stream from running, and may fail
    SLRI_LIST,     // list: several commands as one
    SLRI_NATIVE,   // native: what another library puts into the backend's own queue
    SLRI_OPS       // how many there are
};

// A queue as its vendor's interface has it, while another library puts commands into it.
struct slri_native_queue {
    void *queue; // CUDA: a CUstream, whose context is current. OpenCL: a cl_command_queue
    bool begins; // set by who puts commands there
    // Of OpenCL alone.
    void *device;           // the backend's
    void (*identity)(void); // its clFlush: to a library that calls another one, its objects mean nothing
    // The memory object that these bytes lie in, and where; NULL: there is none. To be released.
    void *(*object)(const struct slri_native_queue *queue, void *address, uint64_t bytes, uint64_t *offset);
    void (*release)(const struct slri_native_queue *queue, void *object);
};

struct slri_command {
    enum slri_command_op op;
    bool is_pinned; // of a copy to or from the host: its memory there is page-locked
    union {
        struct {
            void *device, *host;
            uint64_t bytes;
        } copy;
        struct {
            void *to;
            const void *from;
            uint64_t bytes;
            void *from_device; // the backend's, where it is another than the queue's; else NULL
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
            const struct slri_ready_kernel *ready; // engine/code.h
            const struct slri_entry *entry;        // the kernel
            const struct slri_bound *bound;        // one a parameter; kept until the submission is settled
            uint32_t grid[3], block[3], dynamic_bytes;
            // The front half's, for who watches: the second is NULL where nobody did when it was launched.
            struct slr_kernel *kernel;
            const struct slri_launch_count *count;
            const struct slri_printer *printer; // NULL: nobody wants it
        } dispatch;
        struct slri_stamp *stamp;
        void *list; // for `encode` what list_create gave; in a submission a struct slri_list (engine/stream.h)
        struct {
            slr_status (*function)(void *user);
            void *user;
        } task;
        // By `encode`. Of `cuda` and `opencl` alone.
        struct {
            slr_status (*put)(void *user, struct slri_native_queue *queue);
            void *user;
            const char *name; // where it faults; it stays
        } native;
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

// Of a move: whether its ranges overlap.
static inline bool slri_move_overlaps(const struct slri_command *move)
{
    const uintptr_t to = (uintptr_t)move->move.to, from = (uintptr_t)move->move.from;
    return (to > from ? to - from : from - to) < move->move.bytes;
}

// What the engine adds to a command.
struct slri_extras {
    void *printed; // of a dispatch that prints: memory of the device for it (engine/printed.h); NULL: nobody hears it
    void *faulted; // of a dispatch that may fault: its fault word, which is zero
    bool wants_times; // `wait` will be asked for times, of this command too
    bool is_last;     // no other follows before a wait: the device shall begin now
    uint32_t mark;    // 0, or marks what was begun before this command: from 1 to as many as the queue has
};

// From when to when the device was at the commands whose times were wanted, on the host's clock. Both 0: it does not
// say.
struct slri_times {
    uint64_t from_ns, to_ns;
    uint32_t mark; // who waits sets it: 0, or to wait only for what was begun before that mark
};

// How a kernel reports a fault.
enum slri_fault_form {
    SLRI_FAULTS_RETURNED, // `encode` returns it, and prints what the kernel has printed
    SLRI_FAULTS_PACKED,   // in a fault word of 8 bytes: SLRI_FAULT_WORD (ir/blame.h)
    SLRI_FAULTS_IN_FIELDS // in one of 16: struct slri_fault_fields
};
struct slri_fault_fields {
    uint32_t fault, file, line, zero;
};

// What the engine must know of a device's queues. The same as long as the device is open.
struct slri_queue_facts {
    uint32_t threads;      // of the host that may be in its queues at a time; 0: the one that submits does the work
    uint32_t most_begun;   // commands that are begun before the first is waited for; 0: as many as there are
    uint32_t most_pattern; // the longest pattern it fills with, from multiples of its length; 0: any, from anywhere
    bool moves_over;       // it copies within its memory where the ranges overlap
    uint32_t marks;        // of a queue, for extras and waits; 0: it has none
    enum slri_fault_form faults;
    uint32_t fault_alignment; // where a fault word may begin; 0: at multiples of its length
};

struct slri_queue; // a stream as the layers below see it: engine/queue.h

// After the queue's submission of that number.
struct slri_after {
    struct slri_queue *queue;
    uint64_t value;
};

// Where the program called slipring: a return address, and whether it launched a recorded list there.
struct slri_site {
    const void *at; // NULL: not known
    bool is_list;
};

// Commands that are done one after the other, once every point of `wait` has passed; then the queue's `value` has. The
// front half makes it and keeps it until it is settled.
struct slri_submission {
    const struct slri_command *command;
    struct slri_after *wait;
    uint32_t commands, waits;
    struct slri_queue *queue;
    uint64_t value; // given by slri_queue_push, which also writes it to `told`, unless that is NULL: the
    uint64_t *told; // submission may be gone when that returns
    // The front half's, called when the commands are done and before `value` has passed: gives up what they held.
    void (*settle)(struct slri_submission *submission);
    // NULL, or the front half's, called under the queues' lock once `value` is known and before anything of it can
    // begin: sets commands and waits. Where it gives a status other than OK, nothing is submitted.
    slr_status (*prepare)(struct slri_submission *submission);
    void (*forget)(struct slri_submission *submission); // behind that, under the queues' lock: frees it
    struct slri_submission *next;                       // in its queue
    struct slri_site site;                              // who submitted it, where somebody watches
};

// Of many messages a call. It leaves in each call's `fault` how its message ended, and gives how many messages it has
// handled: fewer where the ring kernel's policy is to judge the last one's fault first.
typedef uint32_t slri_batch_handler(void *self, struct slri_call *calls, uint32_t count);

struct slri_shard;
struct slri_loss;
struct slri_residents;
struct slri_launch_count;
struct slri_passages;
struct slri_resident_handler;
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
    struct slri_share share; // the states
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

// How many times of messages a shard keeps before it touches its histogram, which has 30 KiB.
#define SLRI_EARLY 8u
#define SLRI_EARLY_OVER (SLRI_EARLY + 1u)

// Messages that an owner on the host takes in one pass. It claims up to MB_BATCH of a sender at a time.
#define SLRI_MOST_BATCH 128u

// One shard of a ring kernel, in parts with one writer each. The ring layer keeps it, and everything it points to,
// until its end has been told (`calls.answered`).

// The ring layer's: the routes of its replies. What is exchanged is exchanged by an operation (below).
struct slri_shard_route {
    struct slri_outlets *outlets, *next_outlets; // in use, and to take up; NULL: none. Atomic; the owner writes the
                                                 // first, the host the second
    uint32_t busy;                               // with routes: messages in hand, until they are retired; atomic
    // Of an owner that is a kernel that stays, instead of the three above: the routes in use, and those to take up,
    // which an operation at rest exchanges; and what the kernel sees of them, a struct slri_resident_passage. NULL:
    // none.
    struct slri_passages *passages, *next_passages;
    void *passage;
    // Of a handler with outlets: what the message in hand sends, by parameter; it has routes then, be
    // they none. `unsent`: how many went through an outlet without a route; one writer, atomic.
    struct slri_out *out;
    uint64_t unsent;
};

// The engine's, by the owner: what others read of it.
struct slri_shard_notes {
    uint64_t redelivered;           // messages that were in doubt and stay pending; one writer, atomic
    struct slri_histogram *latency; // of the messages that are timed, until they are published; NULL: none is
    uint32_t latency_off_ns;        // by how much those may be wrong, for want of one clock; one writer, atomic
    // The first of them, until there are more: `latency` is untouched so long (latency.c). Atomic; one writer.
    uint32_t early;
    uint64_t early_ns[SLRI_EARLY];
};

// The ring layer's: operations on the shard, between two batches. The owner calls `calls.operate` where `asked` is not
// 0, and looks at it once more after it has announced its sleep.
struct slri_shard_turn {
    uint32_t asked;               // atomic; SLRI_ASKED_AT_REST: they want no kernel that stays to run, too
    bool at_rest;                 // the poller's: none does while it calls `operate`
    bool owned;                   // the ring layer's, under its lock, with the next: some owner will look at `asked`
    struct slri_operation *first; // those that wait
    // The ring layer's, under its lock of counts: how far each has been added up.
    struct slri_seen {
        uint32_t handled, faulted, replied, dropped, in_doubt, letters_lost;
    } seen;
};

// What an owner calls: the ring layer's functions. Constant.
struct slri_shard_calls {
    // Called by the owner after it has published: wakes receivers, and senders out of credit.
    // `batch`: how many entries of MBP_BATCH it was about, or SLRI_ALL_PORTS: the owner's words are not to be read.
    void (*published)(struct slri_shard *shard, uint32_t batch);
    // NULL, or called by the owner for each message whose replies are published at once, not with its batch: wakes
    // their receiver.
    void (*shown)(struct slri_shard *shard, uint32_t port);
    // Called by the owner when its answer to a control word has changed: an MB_RUNNING and so on. When it has ended or
    // stopped, this is its last touch of the shard.
    void (*answered)(struct slri_shard *shard, uint32_t state);
    // NULL, or called by the owner behind each message that faulted, when it is published and before the next is
    // handled: the ring kernel may be paused then.
    void (*faulted)(struct slri_shard *shard);
    void (*abandoned)(struct slri_shard *shard);
    // Called for an owner that is a device's, by who watches it, when it has been lost: the ring kernel fails. From
    // then on who calls this owns the shard: it obeys control, and handles nothing. Also by an owner on the host whose
    // dispatch has failed, and which goes on.
    void (*lost)(struct slri_shard *shard, const char *why);
    void (*operate)(struct slri_shard *shard);
    // NULL, or called by the owner behind message k of the batch, before what came of it is published. `call`: NULL
    // where nobody knows whether its handler ran.
    void (*settled)(struct slri_shard *shard, uint32_t k, const struct slri_call *call, uint32_t fault);
};

// The engine's, of an owner that is a thread of the host.
struct slri_shard_host {
    struct slri_shard *next; // in its worker's list of shards that are awake, or woken
    struct slri_worker *worker;
    uint64_t idle_since_ns, linger_until_ns;
    uint32_t told_control, told_state; // what `answered` was last called for
    uint32_t handling;                 // the message of the batch that a handler with a deadline works on
};

// observe's, written by the shard's owner: the rows that its batches are counted in, and what one call of its handler
// is made of. NULL until a batch is first seen.
struct slri_shard_watch {
    uint32_t track; // atomic: 0 until it is first seen
    struct slri_row *batch_row, *owner_row;
    const struct slri_launch_count *call_count;
    uint64_t records_dropped; // of its batches, for the profiler and the trace; one writer, atomic
};

// The engine's, of an owner that is a kernel that stays (engine/resident_groups.h).
struct slri_shard_group {
    struct slri_resident *resident;           // the group, which owns it while it runs
    struct slri_resident_handler *persistent; // whose groups those are
    // The piece that holds the copies of `own` and `states` that such a group works on (engine/slabs.h); NULL: none.
    void *near_memory;
    void *near_flags;   // `flags`, where the group finds them; NULL: they are not to be looked at
    void *kit;          // of its handler's bindings, scalars and initial state, and room for calls of many messages
    uint64_t kit_bytes; // 0: there is none yet
};

struct slri_shard {
    // The ring layer's, and constant while the shard has an owner.
    struct {
        uint32_t *shared, *own; // S and P of abi/mailbox.h, after mb_open
        uint32_t number, shards;
        slr_ring_mode mode;        // as planned
        uint32_t max_batch;        // of each pass, up to SLRI_MOST_BATCH
        struct slri_code *program; // with its entry; NULL: the handler is a function of the host
        const struct slri_entry *entry;
        uint64_t state_stride, state_bytes;
        uint64_t states_bytes;   // of all of them
        struct slri_share share; // what holds them; of a device's none
        uint32_t own_words;      // of `own`
        uint32_t reply_bytes;
        uint64_t fuel;
        uint64_t linger_ns;         // how long fewer than max_batch may wait for more
        void *ring;                 // the ring layer's, for `calls` and `relay`
        uint32_t outs;              // entries of `route.out`
        struct slri_prints *prints; // what its handler prints into; NULL: it prints nothing, or nobody hears it
        uint64_t timeout_ns;        // 0, or how long a handler may run (`box`)
        bool followed;              // `calls.settled`, `done` or `calls.shown` is there
        bool redelivers;            // messages in doubt stay pending, marked
    };
    // The ring layer's, and exchanged while nobody handles. A handler that runs longer than `timeout_ns` is abandoned:
    // its message has faulted, and `calls.abandoned` is called, by who then owns the shard. Behind it the shard has
    // none of these until the ring layer has given it new ones.
    struct {
        slri_handler *handler;
        void *handler_self;
        struct slri_relaunch *relaunch; // of a ring kernel that is relaunched: instead of `handler`. `states` is an
                                        // address of the device then, and reached by relaunch.h
        unsigned char *states; // of instances number, number + shards, ...: `state_stride` bytes each; NULL without
                               // state
        struct slri_box *box;  // with `timeout_ns`
    };
    struct slri_shard_route route;
    struct slri_shard_notes notes;
    struct slri_shard_turn turn;

    // A line of its own: senders read its first word at every message. What follows is constant, and here because the
    // line has room.
    struct {
        // 0 awake; else what wakes it: 1 messages and control; 2 control alone, for it is paused; 3 those and replies
        // received, for there is no room for its replies.
        uint32_t asleep __attribute__((aligned(128)));
        // NULL, or where senders tell their owner, behind what they have published: a word a port, how many messages
        // that makes. Behind a bus, and never read: slri_order_bus_stores comes before it. Atomic; set once.
        uint32_t *flags;
        // Of a keyed ring kernel: how many messages of each instance are done with, in any way; as `states`, NULL
        // without keys. Written by the owner alone (slri_shard_done), read by whoever looks for an idle instance.
        uint32_t *done;
        const struct slri_bound *bound;
        const void *initial_state; // NULL: zero
        const struct slri_relay *relay;
        // Instead of `handler`, for host functions of many messages a call: `call` has max_batch entries, whose replies
        // lie in memory of their own until the call has returned.
        slri_batch_handler *batch_handler;
        struct slri_call *call;
        struct slri_shard_calls calls;
    };

    struct slri_shard_host host __attribute__((aligned(128)));
    struct slri_shard_watch watch;
    struct slri_shard_group group;
};

_Static_assert(offsetof(struct slri_shard, host) == offsetof(struct slri_shard, asleep) + 128,
               "what senders read at every message has a line of its own");

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
    for (uint32_t i = 0; shard->route.out && i < shard->outs; ++i)
        shard->route.out[i].count = 0;
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

// fault.c: notes that the message in hand, which is not counted yet, has faulted.
void slri_shard_note_fault(const struct slri_shard *shard, uint32_t fault, const struct slri_call *call);

// latency.c: notes how long a timed message has taken, up to `now_ns`. `at` and `node` as in MBP_BATCH.
void slri_shard_note_latency(struct slri_shard *shard, uint32_t port, uint32_t at, uint32_t node, uint64_t now_ns);
void slri_shard_merge_latency(const struct slri_shard *shard, struct slri_histogram *into); // by any thread
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

// What memory is for. All of it is zeroed.
enum slri_memory_kind {
    SLRI_MEMORY_DEVICE, // buffers; NULL is no error on a device that stores nothing
    SLRI_MEMORY_PINNED, // the host's views of buffers: memory of the host that copy engines reach without a copy
                        // between
    SLRI_MEMORY_GIVEN,  // the application's: `*memory` names it, and it becomes PINNED until it is destroyed
    SLRI_MEMORY_SHARED, // mailboxes and states of persistent ring kernels: at one address for host and device
    SLRI_MEMORY_SHARED_AT_ONCE, // likewise, without waiting for groups to end, or NO_MEMORY; destroyed as SHARED
    SLRI_MEMORY_NEAR,           // what only their groups use, near them; it goes with the device where that is lost
    SLRI_MEMORY_WORDS,          // words that kernels report by: the host reads them at the same address
    SLRI_MEMORY_HOST,           // only destroyed: memory of the device's allocator, which commands have named
    SLRI_MEMORY_PRIVATE,        // of a unified device: buffers that the host does not address
    SLRI_MEMORY_SEEN // buffers that the host works in, too, where the device has such memory: `locate` says where
};

// What the speed of code on an open device depends on, in words. Known without running anything. "": it does not say.
struct slri_identity {
    char device[192]; // the name that opens it
    char model[160], compiler[160], driver[256];
};

// What a device is and can do, which stays as it is while the device is open.
struct slri_facts {
    slr_device_class device_class;
    bool unified;       // the host can address its memory
    bool imports;       // where it is unified: it can use memory that the application made
    bool prints;        // its handlers can
    bool passes_on;     // its persistent kernels pass messages on to one another
    bool calls_batches; // and call a `__ring_batch__` handler with many messages
    uint32_t alignment; // at which its buffers begin; 0: 64
    bool has_pinned;    // it has SLRI_MEMORY_PINNED and SLRI_MEMORY_GIVEN
    bool has_private;   // it has SLRI_MEMORY_PRIVATE
    enum slri_pinning pinning;
    struct slri_loss *loss;           // whether it was lost; NULL: it never is
    struct slri_residents *residents; // the groups of its persistent kernels (engine/resident.h); NULL: there are none
    const char *never_persistent;     // then: NULL, or why, as a clause
    uint64_t hang_timeout_ns;         // a handler that somebody has waited for so long has hung; 0: it does not say
    uint32_t cuda_arch;               // what __CUDA_ARCH__ is for it, 900 for capability 9.0; 0: it is not CUDA's
    bool has_words;                   // it has SLRI_MEMORY_WORDS; else such words lie in buffers
    bool keeps_host;         // a lost device may still touch memory of the host: that is freed as SLRI_MEMORY_HOST
    uint32_t owners;         // threads of the host that may own shards of ring kernels; 0: one a core
    slr_ring_mode ring_mode; // that its spec asks for; 0: the best there is
    struct slri_queue_facts queue;
    slr_device_limits limits; // of an open device; 0: the driver does not say
    struct slri_identity identity;
};

// What a kernel that is ready takes of its device. 0: the driver does not say.
struct slri_kernel_use {
    uint32_t most_threads;                // of a block
    uint32_t multiple;                    // that the driver prefers blocks to be of
    uint32_t registers;                   // of a thread
    uint32_t capability;                  // where the figures are those of slr_occupancy_compute: 90 is 9.0
    uint64_t shared_bytes, private_bytes; // static, of a block; of a thread
    bool counts;                          // the driver says how many blocks are on a unit at once:
    uint32_t groups;                      // of those that were asked about
    uint32_t computed,
        limits; // and how many we count where slr_occupancy_compute does not: 0 or more, slr_occupancy_limit
    slr_resources resources; // without a device, instead of all that
};

// What is asked about.
struct slri_kernel_query {
    const struct slri_ready_kernel *ready; // of a device;
    uint32_t threads, dynamic_bytes;       // in blocks of so many threads; 0: nobody asks
    const struct slri_module *module;      // without a device, a `__global__` kernel on one of that compute capability
    const struct slri_entry *entry;
    uint32_t capability;
};

// What decides how a ring kernel can be kept going.
struct slri_ring_facts {
    struct slri_code *program; // NULL: its handler is a function of the host
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

// Where memory is. What the host writes at `host` a command that begins later reads, and what commands write the host
// reads when they were waited for.
struct slri_memory_place {
    void *native;    // the driver's object, of those whose API hands it out
    uint64_t offset; // how far into it the memory begins
    void *host;      // of SLRI_MEMORY_SEEN; NULL: the device had no such memory to give
};

// What a device can do with the memory of another of the same backend.
struct slri_peer_facts {
    uint32_t link; // slr_link
    bool atomics;  // of its kernels work there
};

struct slri_backend {
    const char *name;
    bool has_ids;                    // its devices have names too, behind the colon
    slr_raw_source takes_raw;        // what its programs may be as modules with `raw`; 0: nothing
    bool simulates;                  // all that it does runs on threads of base/thread.h, and so in simulation, too
    const char *blob_suffix;         // of its entries in the cache
    bool blobs_are_files;            // its loader wants them so
    bool uses_no_device;             // it says what a kernel takes without a device, too
    bool shares_seen;                // it has SLRI_MEMORY_SEEN
    bool fits_blocks;                // of batched launches: a few instances have blocks of fewer threads
    enum slri_kernel_per kernel_per; // of which shapes a kernel is
    bool is_host;       // the host runs its kernels, which say themselves how they fault, and its handlers,
                        // which are compiled with the program
    bool keeps_context; // behind a reopening what lay on the device is still there, and what was lost may touch it
    // Required.
    // Can it run here, and how many devices has it; quick. `automatic`: "auto" asks, so drivers that take long to start
    // and cannot win anything are not started. Where it fails the error message says why.
    slr_status (*probe)(bool automatic, uint32_t *devices);
    // `allocator` (NULL: malloc) stays until `close` has returned.
    slr_status (*open)(const struct slri_spec *spec, const slr_allocator *allocator, void **device);
    void (*close)(void *device);
    // What a device is. `device` NULL: the one of that number, without opening it, and of the facts the class alone.
    // `info`: NULL, or an open device fills in what it says of itself as it is now, which may run a kernel to find out;
    // name and cache only where they are not its identity's and the usual one.
    // Errors, without a device: NO_DEVICE (it would be of no use), what asking gives.
    slr_status (*facts)(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info);
    // Of the kinds that it has: DEVICE always; PINNED and GIVEN, WORDS, HOST and PRIVATE by its facts; SHARED where
    // ring kernels may be persistent, and SHARED_AT_ONCE where that may wait; NEAR where engine/slabs.h has been given
    // to its residents; SEEN where the backend `shares_seen`. HOST is freed once what it was given to has ended.
    slr_status (*memory_create)(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory);
    void (*memory_destroy)(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes);
    // Begins commands, of which there is at least one: each copies, fills, dispatches, or is a list. They are done
    // after those that the queue has, one after the other. What they point to, and the queue, stay until they were
    // waited for, but a fill's pattern. Where there is no `wait` they are done when this returns. For one thread at a
    // time and queue. `extras`: one a command. Errors: DEVICE_LOST; where that has no other place, the failure of a
    // command before them. The first command that fails ends it.
    slr_status (*encode)(void *device, void *queue, const struct slri_command *command,
                         const struct slri_extras *extras, uint32_t commands);
    // Optional, with the next two. Waits for all that was begun in the queue. `times`, which is zero but for its mark:
    // NULL, or where it says them. Errors: DEVICE_LOST (also where it was lost before, and what is not done by the
    // deadline has hung and is lost with its device); the first failure of what was begun.
    slr_status (*wait)(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times);
    // 0 is the lowest priority, 255 the highest. NULL: commands need no queue, and it is NULL.
    slr_status (*queue_create)(void *device, uint32_t priority, void **queue);
    void (*queue_destroy)(void *device, void *queue); // also of a device that was lost
    // Optional, of a device that was lost: ends what its kernels ran in, so that none touches memory afterwards; calls
    // `quiesce`, by which its groups are known to have ended; and begins anew, with nothing of the front half's but
    // programs. A call between, not two slots, because only the backend knows how to end, and only the engine who must
    // hear of it. On an error the device stays lost, and this may be called again. Errors: TIMEOUT (nobody has
    // acknowledged by the deadline that all has ended), those of `quiesce`.
    slr_status (*reopen)(void *device, uint64_t deadline_ns, slr_status (*quiesce)(void *user), void *user);
    // Optional: what it is doing just now. Errors: NOT_FOUND, where what measures it is not there.
    slr_status (*metrics)(const void *device, slr_metrics *out);
    // Optional: where memory is to the driver and to the host.
    void (*locate)(void *device, const void *memory, struct slri_memory_place *out);
    // Optional: whether a SLRI_COPY of this device may come from the other's memory, which is then made accessible;
    // again and again. Errors: UNSUPPORTED, which says why not.
    slr_status (*peer)(void *device, void *from_device, struct slri_peer_facts *out);
    // Optional, both: commands that will be encoded again and again, as one command SLRI_LIST, by one thread at a time;
    // what they point to stays until it is destroyed, and nothing of it is in a queue then. `extras`: one a command.
    // Errors: UNSUPPORTED, which says what cannot be in one.
    slr_status (*list_create)(void *device, const struct slri_command *command, const struct slri_extras *extras,
                              uint32_t commands, void **list);
    void (*list_destroy)(void *device, void *list);
    // Optional, all five: kernels, and with them ring kernels. The engine has the programs, keys, blobs and kernels
    // that are ready (engine/code.h). Many threads call these at once, of one program too, but for code_kernel. Writes
    // what is compiled of the entry. Errors: what makes it impossible, before anything is compiled.
    slr_status (*code_write)(void *device, struct slri_code_text *text);
    // Compiles it to `blob` (empty: it cannot be stored), or loads it too, where the compiler has that at hand. Errors:
    // COMPILE (the compiler's words), WRONG_STATE (cancelled), others.
    slr_status (*code_build)(void *device, const struct slri_code_text *text, struct slri_blob *blob, void **loaded);
    // Errors: UNSUPPORTED (the device does not take it: it is compiled anew), others.
    slr_status (*code_load)(void *device, const struct slri_code_text *text, const struct slri_blob *blob,
                            void **loaded);
    void (*code_unload)(void *device, void *loaded);
    // Of code that was loaded for that: a kernel for its shape, a handler for one owner at a time, or the kernel of
    // batched launches for one ring kernel.
    slr_status (*code_kernel)(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out);
    // Optional: what it takes, and of blocks how many a unit holds. NULL: the host runs them, one block a core.
    // `device`: NULL where the backend `uses_no_device`, and nothing is open.
    slr_status (*kernel_use)(void *device, const struct slri_kernel_query *of, struct slri_kernel_use *out);
};

extern const struct slri_backend slri_backend_cpu, slri_backend_null, slri_backend_opencl, slri_backend_cuda,
    slri_backend_hip, slri_backend_vulkan, slri_backend_webgpu, slri_backend_metal;

#endif
