// SPDX-License-Identifier: Apache-2.0
// Ring kernels in batched launches. Their owners are threads of the host, which read the mailbox as on a cpu. Their
// handlers run on the device, in bounded dispatches. One dispatch takes the batches of many shards of a ring kernel;
// their states stay on the device. Each ring kernel has a queue and a kernel of its own, and a launch is a copy, a
// dispatch and a copy, or a dispatch alone where the host works in the same memory: a backend does nothing that is
// special to it but write the text of the kernel (abi/relaunch.h).
#ifndef SLRI_ENGINE_RELAUNCH_H
#define SLRI_ENGINE_RELAUNCH_H

#include "abi/relaunch.h"
#include "engine/stream.h"

#define SLRI_RELAUNCH_MOST_SHARDS 32u
// Messages that one thread of the device handles in a dispatch, one after the other: those of an instance, or of a
// shard. So a thread's loops end early enough for drivers that end long ones, and few threads keep the others waiting.
#define SLRI_RELAUNCH_MOST_CHAIN 32u

// What a ring kernel is.
struct slri_relaunch_desc {
    const char *name;
    struct slri_code *program;
    const struct slri_entry *entry;
    const struct slri_bound *bound;                   // by binding
    const void *initial_state;                        // NULL: zero
    uint64_t state_bytes, state_stride, states_bytes; // the last: of one shard
    uint64_t fuel;
    uint32_t message_bytes, reply_bytes, max_replies, max_sends;
    uint32_t shards, max_batch;
    bool unified;    // the host can address the device's memory
    bool stops;      // a fault stops the later messages of its shard, until the fault policy has been applied
    bool one_a_call; // each batch for a `__ring_batch__` handler is one message
};

// One shard's part of a dispatch.
struct slri_relaunch_part {
    struct slri_shard *shard;
    uint32_t first, ready, batch; // records, and how many messages of the batch they are
};

struct slri_batch_kernel; // relaunch_kernel.c

struct slri_relaunch {
    struct slri_queue_device *of;
    struct slri_relaunch_desc desc;
    bool unified;                          // as in `desc`
    bool sees;                             // the next two are where `in` and `results` lie; nothing is copied
    unsigned char *host_in, *host_results; // else of the device's allocator
    uint64_t in_bytes, results_bytes, constants_bytes;
    void *in, *results, *states, *constants; // of the device; `states` is NULL without
    uint32_t message_stride, result_stride, messages_at, replies_at, reply_stride;
    uint32_t states_a_shard;          // all of them lie one behind the other
    uint32_t room;                    // messages of a dispatch
    bool takes_batches;               // a `__ring_batch__` handler: `in` has batches, message_stride is RL_BATCH_UNIT
    struct slri_batch_kernel *kernel; // NULL: nothing lies on the device
    struct slri_stream stream;        // of its owner
    bool has_ticks;                   // results have RL_TICKS, of the counter of base/tick.h

    // The owner's: what is packed for the next dispatch.
    uint32_t messages, chains, parts;
    uint64_t packed_bytes; // behind messages_at
    struct slri_relaunch_part part[SLRI_RELAUNCH_MOST_SHARDS];
    slr_status begun;
    uint64_t begin;             // a look at the clock; 0: nobody watches
    uint64_t began_ns, took_ns; // of the last dispatch, by the clock of slri_tick_ns; took_ns 0: nobody watched
    char why[192];              // the last one failed
    struct slri_relaunch *next; // of those that the owner has packed something for
};

static inline uint32_t slri_relaunch_shards(uint32_t instances)
{
    return instances < SLRI_RELAUNCH_MOST_SHARDS ? instances : SLRI_RELAUNCH_MOST_SHARDS;
}

// Errors: what the backend gives (COMPILE, UNSUPPORTED, NO_MEMORY, ...).
slr_status slri_relaunch_create(struct slri_queue_device *of, const struct slri_relaunch_desc *desc,
                                struct slri_relaunch **out);
void slri_relaunch_destroy(struct slri_relaunch *relaunch); // NULL is fine
// Frees what lies on the device, while nothing is dispatched; makes it anew, with zero for states, where it was freed.
// Between the two nothing is dispatched, copied or stored.
void slri_relaunch_drop(struct slri_relaunch *relaunch);
slr_status slri_relaunch_make(struct slri_relaunch *relaunch);

// The two that a persistent kernel shares, whose handler is given the same: fills in strides, places and sizes by
// `desc`, and writes the constants of abi/relaunch.h, constants_bytes of them. Errors: UNSUPPORTED (too long a result).
slr_status slri_relaunch_lay_out(struct slri_relaunch *relaunch);
void slri_relaunch_constants(const struct slri_relaunch *relaunch, unsigned char *to);

// States. The caller knows that no dispatch works on them. Errors: those of a copy.
slr_status slri_relaunch_load(struct slri_relaunch *relaunch, const void *state, void *to, uint64_t bytes);
slr_status slri_relaunch_store(struct slri_relaunch *relaunch, void *state, const void *from, uint64_t bytes);
slr_status slri_relaunch_clear(struct slri_relaunch *relaunch, void *state, uint64_t bytes); // to zero

// ---- the owner's: one thread for all shards of a ring kernel -------------------------------------------------------

static inline bool slri_relaunch_has_room(const struct slri_relaunch *relaunch, uint32_t messages)
{
    return relaunch->messages + messages <= relaunch->room;
}
// Packs the first `ready` messages of a shard's batch, or fewer, where a chain of single messages would be too long.
void slri_relaunch_pack(struct slri_relaunch *relaunch, struct slri_shard *shard, uint32_t ready, uint32_t batch);
static inline bool slri_relaunch_is_packed(const struct slri_relaunch *relaunch)
{
    return relaunch->parts != 0;
}
// Begins the dispatch of what is packed, and waits for it. Afterwards the results are there, or the status says why
// not, and nobody knows which messages were handled.
void slri_relaunch_begin(struct slri_relaunch *relaunch);
slr_status slri_relaunch_end(struct slri_relaunch *relaunch);

static inline const uint32_t *slri_relaunch_result(const struct slri_relaunch *relaunch, uint32_t record)
{
    return (const uint32_t *)(const void *)(relaunch->host_results + (uint64_t)record * relaunch->result_stride);
}

// ---- relaunch_kernel.c: the kernel of the handler, and its launches
// --------------------------------------------------

// Makes it, with a queue; `in` to `constants` are there.
slr_status slri_batch_kernel_create(struct slri_relaunch *relaunch);
void slri_batch_kernel_destroy(struct slri_relaunch *relaunch); // also what could be made in part
// Gives the device what is packed, and everything to get the results back; the other waits, also where that has failed.
// `*kernel_ns`: how long the device was at the kernel; 0: nobody watches, or the device does not say.
slr_status slri_batch_kernel_launch(struct slri_relaunch *relaunch);
slr_status slri_batch_kernel_await(struct slri_relaunch *relaunch, uint64_t *kernel_ns);

// ---- a shard's states, wherever they lie ---------------------------------------------------------------------------

static inline slr_status slri_shard_load(const struct slri_shard *shard, const void *state, void *to)
{
    if (shard->relaunch)
        return slri_relaunch_load(shard->relaunch, state, to, shard->state_bytes);
    memcpy(to, state, shard->state_bytes);
    return SLR_OK;
}

// `from` NULL: the initial state.
slr_status slri_shard_store(const struct slri_shard *shard, void *state, const void *from);

#endif
