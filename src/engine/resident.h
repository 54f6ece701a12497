// SPDX-License-Identifier: Apache-2.0
// The owners of shards that kernels which never return are. Such a kernel runs in groups, each of which serves the
// shards of a table of its own (resident_layout.h); a group is a launch of its own. One thread of the host a device,
// the poller, looks at them from time to time, and tells the ring layer what an owner that is a thread of the host
// tells it by itself: that there are replies, answers, faults, ends. It also launches: a group that has had nothing to
// do for long ends by itself, its shards fall asleep as others do, and the next message wakes the poller, which
// launches it again.
//
// Who owns a shard: the group while a launch of it runs, else the poller. A table changes while none runs, too: to give
// a group one more shard the poller lets it end and launches it again. So a launch knows all memory that it will touch,
// which OpenCL asks for.
#ifndef SLRI_ENGINE_RESIDENT_H
#define SLRI_ENGINE_RESIDENT_H

#include "base/thread.h"
#include "hal/hal.h"
#include "engine/resident_layout.h"

struct slri_resident;

#define SLRI_RESIDENT_LOOK_NS 100000u // between the poller's looks at groups that run: how late it may wake a thread
#define SLRI_RESIDENT_RECORDS_BYTES (SLRI_RESIDENT_RECORDS * sizeof(struct slri_resident_record_of_batch))
#define SLRI_RESIDENT_END_NS 2000000000ull // a group that has been told to end and has not by then is lost

enum slri_resident_look {
    SLRI_RESIDENT_RUNS,
    SLRI_RESIDENT_ENDED,
    SLRI_RESIDENT_FAILED,         // it may still run: a question that fails is no acknowledgement
    SLRI_RESIDENT_FAILED_AND_OVER // the vendor acknowledges that nothing of it runs any more
};

// The backend's part: what it knows of one launch. Lists, budgets, shards and memory are the engine's
// (resident_groups.h).
struct slri_resident_ops {
    // How many groups the device may have beside each other for this ring kernel, `plan->shards`, and `has_clock`:
    // groups time messages, and keep records of batches where the host asks for them. Without groups `reason` says why,
    // as a clause. `is_asked`: persistence was asked for. Errors: what makes it impossible where it was.
    slr_status (*plan)(void *device, const struct slri_ring_facts *ring, bool is_asked, struct slri_ring_plan *plan);
    // Makes what a group is launched with; its table is there. `shard`: the first that it will serve, or NULL. Where
    // this fails `unmake` follows.
    slr_status (*make)(struct slri_resident *resident, const struct slri_shard *shard);
    // It has ended, or was never launched: frees what `make` has made. Else (`has_ended` false) the device is lost by
    // it, and what it can touch stays; the next call says that it has ended.
    void (*unmake)(struct slri_resident *resident, bool has_ended);
    slr_status (*launch)(struct slri_resident *resident); // by the poller, as the next
    // What the vendor says of the launch; of a device that is lost, too. FAILED, both, set the error message.
    enum slri_resident_look (*look)(struct slri_resident *resident);
    // NULL, or before a shard is started, and behind a reopening: sets `flags` and `near_flags`, where it has some.
    void (*show_flags)(void *device, struct slri_shard *shard, bool is_reopened);
    size_t group_bytes;    // of the backend's struct, which begins with a struct slri_resident
    bool is_one_launch;    // one launch has all groups of a handler, and is made when that is planned
    bool is_for_one_shard; // a launch is made for a shard, and serves no other
    bool wants_calls;      // a shard's entry has room for calls of many messages (resident_layout.h)
    bool waits_for_memory; // SHARED memory may wait for groups to end, for which the poller cannot
};

// resident.c: what the poller does with a group.
// Looks at it if it runs, serves its shards if not, and launches it when one wants that. True: it wants another look
// soon.
bool slri_resident_step(struct slri_resident *resident);
// Fills a shard's kit. By who starts it: a group that finds none where it is to be launched would run without it.
void slri_resident_equip(const struct slri_resident *resident, const struct slri_shard *shard);
// Does not wait until it has ended. From any thread, while the group is on the poller's list or the caller the poller.
void slri_resident_ask_to_end(struct slri_resident *resident);

// resident_home.c: the group that has owned a shard is lost, and its words near it with it. Makes those at home say
// again what the mailbox shows: which of the batch that they name is done with.
void slri_resident_recover(struct slri_shard *shard);

// resident_trace.c: what groups tell the profiler and the trace. By the poller.
// Before a launch: whether it keeps records, and where a shard's go. Behind slri_resident_observe.
void slri_resident_observe(struct slri_resident *resident);
uint64_t slri_resident_records(struct slri_resident *resident, uint32_t i);
// Reads what there is of a shard's; the last time behind all that the launch did.
void slri_resident_drain(struct slri_resident *resident, uint32_t i, bool is_last);
// Where the group has no clock: so many messages are done with.
void slri_resident_count_untimed(const struct slri_resident *resident, struct slri_shard *shard, uint32_t messages);
void slri_resident_forget_records(struct slri_resident *resident, uint32_t i);

// resident_clock.c: the device's clock beside the host's. By the poller.
// Before a launch, behind slri_resident_observe.
void slri_resident_begin_clock(struct slri_resident *resident);
// Whether the group counts how long messages of the shard take.
bool slri_resident_times(const struct slri_resident *resident, const struct slri_shard *shard);
// At a look: compares the clocks from time to time, where somebody needs it. True: somebody has begun or ceased to
// watch, and the launch should end for the next to know it.
bool slri_resident_compare_clocks(struct slri_resident *resident);
// Behind a loss: the device that comes back may count from elsewhere.
void slri_resident_forget_clock(struct slri_resident *resident);

// A group. The backend makes one as the beginning of a struct of its own.
struct slri_resident {
    const struct slri_entry *handler;
    struct slri_resident_handler *of; // NULL: its program has gone, and it has not ended
    struct slri_residents *residents;
    const struct slri_backend *backend; // of memory
    bool has_clock;
    struct slri_resident *next_of_handler;
    struct slri_resident_table *table;
    uint32_t number;                // of the device's groups, in the order in which they were opened
    uint32_t shards;                // atomic: given to it and not over
    struct slri_shard *incoming;    // a stack that others push on
    uint32_t retiring;              // futex: 1: shall go; 2: has gone
    struct slri_resident *next_new; // a stack, likewise

    // The poller's.
    struct slri_resident *next;
    bool running;
    uint32_t launches; // atomic: others read it
    uint32_t looks;
    bool observed; // this launch keeps records
    bool timed;    // and has messages that are timed
    bool is_asked; // there is a question under way, since, by base/clock.h and base/tick.h:
    uint64_t asked_ns, asked_tick_ns;
    uint64_t pair_ns, pair_width_ns; // of the comparison in use: when, and how exactly it is known; 0: there is none
    uint64_t next_pair_ns;
    bool is_paired;            // the next is known
    uint64_t ahead_ns;         // the device's clock of base/tick.h's, for records
    uint64_t ahead_of_host_ns; // and of base/clock.h's, by which senders note times; 0: not known
    uint32_t wide;             // comparisons that were too wide for the first of that
    uint64_t retry_ns;         // after a launch that failed
    bool is_failing;           // a look has failed, and nobody has acknowledged that the launch is over
    bool is_unheard;           // nor by the deadline: its ring kernels have failed, its memory stays
    uint64_t heard_by_ns;      // that deadline
    char why[256];             // what failed
    struct slri_resident_record {
        struct slri_shard *shard;
        uint32_t retired, answer;
        uint32_t counted; // as `retired`, and what was retired before it came
        bool fresh, awake;
        struct slri_resident_record_of_batch *records; // NULL: none are kept
        uint32_t dropped;                              // of them, as was last seen
        // Of the timed messages, what the profiler knows; NULL: not timed, not watched, or no memory.
        struct slri_histogram *told;
        uint64_t tell_ns; // when it is told the next time
    } record[SLRI_RESIDENT_SHARDS];
};

struct slri_residents {
    slri_mutex lock; // of starting the thread, and of the list of groups where the poller changes it or others read it
    slri_mutex home; // of what lies at home while no group runs: the poller looks, and who reopens a device changes it
    slri_thread thread;
    bool started;
    uint32_t rings; // futex: raised for the poller to look now
    uint32_t stop;
    uint32_t parked;  // atomic: by how many: none is launched, and those that run are told to end
    uint32_t running; // futex: groups that run, or are about to be launched
    uint32_t pauses;  // atomic: times that a group was kept from running
    uint32_t opened;  // atomic: groups, ever
    uint32_t unheard; // atomic: groups that are `is_unheard`
    const struct slri_resident_ops *ops;
    void *device; // the backend's
    const slr_allocator *allocator;
    struct slri_loss *loss;
    struct slri_slabs *near; // the backend's, of SLRI_MEMORY_NEAR; NULL: it has none
    slri_mutex groups_lock;  // resident_groups.c's, of the next three
    struct slri_resident_handler *handlers;
    struct slri_resident *stuck; // that had not ended when their program went
    uint32_t taken;              // groups, of all handlers
    struct slri_resident *added;
    struct slri_resident *first;
};

// `ops`, `device`, `allocator` and `loss` are set; the rest is zero.
void slri_residents_init(struct slri_residents *residents);
// Ends the poller; nothing is given to it any more.
void slri_residents_close(struct slri_residents *residents);

// Keeps all groups from running, until as many calls of resume: for calls of the vendor's that a kernel that stays
// would keep waiting. Not for the poller. Returns when none runs. Errors: TIMEOUT (a group has not ended by the
// deadline; they go on, and resume is not to be called).
slr_status slri_residents_park(struct slri_residents *residents, uint64_t timeout_ns);
void slri_residents_resume(struct slri_residents *residents);
// Likewise, but does not wait until none runs, and needs no poller: for a poller that is itself kept waiting. `running`
// says when none runs; who waits for that presses from time to time, for a launch that was on its way.
void slri_residents_park_now(struct slri_residents *residents);
void slri_residents_press(struct slri_residents *residents);

// Of SLRI_MEMORY_SHARED.
slr_status slri_resident_memory_create(struct slri_resident *resident, uint64_t bytes, void **out);
void slri_resident_memory_destroy(struct slri_resident *resident, void *memory, uint64_t bytes);
// Makes it known to the poller; it has its table.
slr_status slri_resident_open(struct slri_resident *resident);
// Its shards are over. Waits until its kernel has ended, at most 2 s. False: it does not end, and what it can touch
// must stay: the device is lost. May be called again then.
bool slri_resident_close(struct slri_resident *resident);

// Of `near_memory`, up to the states.
uint64_t slri_resident_near_own_bytes(const struct slri_shard *shard);
// Of the shard's kit, which is there before the shard is started.
uint64_t slri_resident_kit_bytes(const struct slri_residents *residents, const struct slri_shard *shard);
// Gives it a shard. Errors: FULL (it has as many as it can have).
slr_status slri_resident_start(struct slri_resident *resident, struct slri_shard *shard);
// Wakes the shard's owner, which may be a thread of the host, after `asleep` was taken back to 0 by the caller.
void slri_resident_wake(struct slri_shard *shard);

#endif
