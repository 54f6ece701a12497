// SPDX-License-Identifier: Apache-2.0
// A ring kernel, a port, and what the files of this folder share.
#ifndef SLRI_RING_RING_H
#define SLRI_RING_RING_H

#include "device/device.h"
#include "engine/relaunch.h"
#include "engine/resident.h"
#include "engine/slabs.h"

#include <slipring/loop.h>
#include <slipring/port.h>
#include <slipring/ring.h>

#include "base/clock.h"
#include "base/event.h"
#include "base/fence.h"
#include "base/key_hash.h"
#include "base/links.h"
#include "base/share.h"
#include "ring/route.h"

// ---- waiting -------------------------------------------------------------------------------------------------------

// Where the owner of a port sleeps. Reference counted: its port holds it, and every lane that the port has had, because
// a worker may look at it until the lane is taken over or the ring kernel is gone.
struct slri_waker {
    uint32_t asleep; // not 0: about to sleep, or asleep; the futex word
    uint32_t polled; // 1: somebody waits on the descriptor; it is signalled once
    uint32_t holds;
    uint32_t failed;  // atomic: 1: some ring kernel of its port has failed since its owner last looked
    uint32_t marking; // atomic: 1: the port has many connections, and those that have something are marked (marks.c)
    struct slri_connection *marked; // atomic: a stack, by `next_marked`
    bool has_event;
    struct slri_event event;
    const slr_allocator *allocator;
};

slr_status slri_waker_create(const slr_allocator *allocator, struct slri_waker **out);
void slri_waker_release(struct slri_waker *waker); // NULL is fine
void slri_waker_wake(struct slri_waker *waker);    // after a full fence behind what it should see

// One wait with a deadline: spin, then yield, then it is time to park. `late_ns`: how late a parked thread may be woken
// by whoever brings the news. It yields for as long before it parks, so that a park costs at most twice what it saves.
// `batched`: of launches, whose replies take longer than the spins.
struct slri_backoff {
    struct slri_until until;
    uint32_t polls;
    uint64_t late_ns;
    uint64_t parks_ns; // when it parks; 0: not known yet
    bool batched;
};
enum slri_wait { SLRI_POLL_AGAIN, SLRI_PARK, SLRI_TOO_LATE };
enum slri_wait slri_backoff_step(struct slri_backoff *backoff);

// How long calls that handlers in progress keep waiting do wait, where they are given no time or theirs is over: 10 s,
// or less where the device is opened with less patience.
uint64_t slri_ring_patience_ns(const slr_ring *ring);

// ---- a ring kernel -------------------------------------------------------------------------------------------------

// A port's place in a ring kernel. The cursors are a shard's each and belong to the port while it is
// connected; the next port goes on where they stand.
struct slri_lane {
    struct slri_waker *waker;           // atomic
    struct slri_connection *connection; // held; NULL: of a route. Written before `waker`
    bool gone;
    uint32_t gone_epoch;
    uint32_t failures_told; // of the ring kernel's, the port's owner has been told of so many
    struct slri_lane_cursor {
        uint32_t sent, received, mark;
        uint32_t filled;     // slots behind `sent` that are written and not published yet
    } * cursor;              // behind this struct
    struct slri_piece *near; // NULL, or memory near the device's groups for the lane, in each shard
    bool is_near;            // the lane is there; else in the mailbox's arena, as others
    uint32_t granted; // messages, modulo 2^32, that ports with credits of their own had sent when the last of them went
    uint32_t kept;    // credits of that last port that stay claimed until its messages are retired: under count_lock
};

struct slr_ring {
    // Constant after launch.
    slr_device *device;
    uint32_t *S;
    uint32_t addressable; // instances that may be sent to by number: all, or with keys none
    uint32_t shards, instances, message_bytes, reply_bytes, state_bytes, max_ports, stamped;
    uint32_t priority, overflow;
    uint32_t unblock_mask; // which replies received make their port look for a shard that they held up (receive.c)
    slr_ring_mode mode;
    uint32_t mode_asked;
    char *mode_reason;                    // NULL: none
    uint32_t dead_letters, latency_every; // of so many messages one is timed; 0: none
    struct slri_shard *shard;
    struct slri_relaunch *relaunch; // of mode SLR_RING_RELAUNCHED, from launch on
    unsigned char *lanes;           // of ports, `lane_stride` bytes apart: slri_lane_at
    uint64_t lane_stride;
    uint32_t place, slot, generation;
    char name[64];
    uint32_t track; // observe's; atomic: 0 until it is first seen
    // As described, with what stands behind the next line: constant, too.
    slr_program *program;
    const struct slri_entry *entry;
    slr_on_message *on_message;
    slr_on_batch *on_batch;
    slr_main *main;
    void *user;
    uint64_t plain_bytes;           // of a message that is sent without being looked into: message_bytes, or with
                                    // references in messages a size that none has
    struct slri_slices *slices;     // NULL: no references
    struct slri_printing *printing; // NULL: its handler prints nothing, or nobody hears it (printing.h)
    slr_context *loop;              // of a ring kernel in loop form, from launch on
    struct slri_bound *bound;
    void *scalars;
    slr_buffer **buffer; // by binding; NULL for a scalar
    uint32_t bindings, max_batch;
    uint64_t linger_ns;
    size_t out_bytes; // of slri_shard.out
    uint64_t fault_window_ns, handler_timeout_ns;
    uint64_t arena_bytes, own_bytes, states_bytes;
    struct slri_share share; // the mailbox, unless a device has it, the shards and the lanes

    // Written now and then, read on the way of a message.
    uint32_t over __attribute__((aligned(128))); // all shards have ended or stopped, or never ran
    uint32_t failures;                           // how often it has failed
    uint32_t credit_waiters;
    uint32_t credit_event;  // futex: raised when credits may have come back
    uint32_t route_waiters; // 1: shards of other ring kernels wait for credits to send along a route
    void *initial_state;
    uint64_t fuel;
    struct slri_keys *keys; // NULL: no keys. Made by launch
    uint32_t key_sort, key_limit, key_bytes;
    uint32_t queue_size, max_replies, max_sends, redelivers, publish_each, fault_policy, fault_limit;
    bool has_outlets; // its handler sends
    bool one_a_call;  // to a `__ring_batch__` handler: which messages a fault fails is the same when all come again
    slr_on_evicted *on_evicted;
    void *evicted_user;

    uint32_t state __attribute__((aligned(128))); // slr_ring_state; changed under `lock`, or by the last shard
    uint32_t state_event;                         // futex: raised at every change of state or answer
    uint32_t over_count;                          // shards that have ended or stopped
    uint32_t leaving;                             // shards whose owner has not let go of them yet
    uint32_t holds;
    uint32_t control_number, port_epoch, letters_turn; // under `lock`
    bool terminating;
    struct slri_failure {    // under `lock`
        slr_ring_state from; // what it was when it failed
        bool restarting;
        uint64_t restarts;
        char *why;          // SLRI_WHY_BYTES; NULL: it never has
        uint64_t *fault_ns; // of SLR_FAULT_LIMIT: when the last faults were, by number modulo fault_limit
        uint64_t faults;
        unsigned char *checkpoint; // the states of all shards, one behind the other; NULL: none
        struct slri_share share;   // what holds it
        struct slri_bell *bell;    // of the supervisor's thread; NULL: none
        uint64_t *word, bit;       // set before that is rung; NULL: the supervisor is not started
    } failure;
    slri_mutex lock;
    uint64_t refused; // atomic
    uint64_t undelivered;
    // 64-bit counts of the shards' u32 words, brought forward by slri_ring_extend under count_lock.
    slri_mutex count_lock;
    uint64_t handled, faulted, replied, dropped, in_doubt, letters_lost;
    uint64_t accepted_told; // the most that statistics have said: they never say less
    uint32_t extended_at;   // retired count, atomic
    struct slri_doubt {
        uint32_t begun, ended; // credits, modulo 2^32; atomic: send.c
    } doubt;
    struct slri_grants {          // under count_lock: route_device.c
        struct slri_passage *in;  // routes from persistent ring kernels that have credits of this one
        struct slri_passage *out; // of this one
        uint32_t credits;         // that such routes have, or are about to
        uint32_t kept;            // of such routes that have gone: the sum of `kept` of all lanes
        uint32_t extended_at;     // the count of their messages that are done with
    } grants;
    uint64_t activated_ns, ended_ns; // atomic; 0: not yet

    uint32_t ports_opened; // lanes that were ever taken, the first ones; atomic, changed under `lock`. Others are no
                           // memory
    bool hands_back;       // terminate's: what its owners had taken has been handed back,
    uint32_t handed_back;  // and with what was in the lanes so many messages

    struct slri_routes routes;
    struct slri_topics {                // topic.c's, under its lock
        struct slri_topic_entry *first; // what it has advertised and subscribed to
        uint64_t listed;                // by which search for subscribers last
        bool owed;                      // it had no room for some routes to it. Under the ring kernel's `lock`
    } topics;
    struct slri_share self; // what holds this struct; none where the device has an allocator
};
_Static_assert(sizeof(slr_ring) <= 1024, "there may be very many");

// Of a port whose lane is open.
static inline struct slri_lane *slri_lane_at(const slr_ring *ring, uint32_t port)
{
    return (struct slri_lane *)(void *)(ring->lanes + port * ring->lane_stride);
}

// Acquire: they may be looked at.
static inline uint32_t slri_ports_opened(const slr_ring *ring)
{
    return __atomic_load_n(&ring->ports_opened, __ATOMIC_ACQUIRE);
}

// So long a thread that waits for the ring kernel looks before it sleeps: its owners may wake it as late, and a launch
// takes so long that asleep the thread would be woken for each reply.
static inline uint64_t slri_late_ns(const slr_ring *ring)
{
    return ring->mode == SLR_RING_PERSISTENT || ring->mode == SLR_RING_RELAUNCHED ? SLRI_RESIDENT_LOOK_NS : 0;
}

static inline slr_ring_state slri_ring_state(const slr_ring *ring)
{
    return (slr_ring_state)__atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
}

// Whether owners evict.
static inline bool slri_ring_drops(const slr_ring *ring)
{
    return ring->overflow >= SLR_OVERFLOW_DROP_OLDEST;
}

// arena.c
slr_status slri_arena_create(slr_ring *ring);
slr_status slri_arena_open_port(slr_ring *ring, uint32_t port); // of which nobody had the lane yet; one after the other
void slri_arena_destroy(slr_ring *ring);
slr_status slri_arena_outfit(slr_ring *ring,
                             struct slri_shard *shard);        // gives a shard what it lacks: states, handler, box
uint32_t slri_ring_out_stride(const slr_parameter *parameter); // bytes of one message sent, with its head; 0: no outlet
// Sets a shard's states to those of a checkpoint of all shards, or (NULL) to the initial one.
slr_status slri_arena_set_states(slr_ring *ring, struct slri_shard *shard, const unsigned char *checkpoint);

// ring.c
void slri_ring_hold(slr_ring *ring);
void slri_ring_release(slr_ring *ring);
void slri_ring_set_state(slr_ring *ring, slr_ring_state state);        // and wakes who waits for it
void slri_ring_extend(slr_ring *ring);                                 // brings the 64-bit counts forward
void slri_ring_wake_shard(struct slri_shard *shard);                   // for control: whatever it sleeps for
uint32_t slri_ring_command(slr_ring *ring, uint32_t command);          // under lock; gives the command's number
static inline uint32_t slri_ring_current_command(const slr_ring *ring) // under lock
{
    return ring->control_number & (UINT32_MAX >> 3);
}
slr_status slri_ring_await(slr_ring *ring, uint32_t number, uint64_t deadline_ns, const char *call);
void slri_ring_wait_event(slr_ring *ring, uint64_t deadline_ns); // sleeps until `over`, or the deadline; may wake early
void slri_ring_raise_event(slr_ring *ring);                      // for who waits in slri_ring_await and the like
void slri_ring_wake_all(slr_ring *ring);                         // blocked senders and receivers, to look again
void slri_ring_wake_host(slr_ring *ring);                        // of those the host's threads alone
void slri_ring_published(struct slri_shard *shard, uint32_t batch);
void slri_ring_tell(struct slri_shard *shard,
                    uint32_t batch); // its part that may be called under `lock`: not of routes
void slri_ring_answered(struct slri_shard *shard, uint32_t state);
slr_delivery slri_ring_delivery(const slr_ring *ring, struct slri_call *call); // what a host handler is given
uint32_t slri_ring_host_handler(void *self, struct slri_call *call);

// slice.c: payloads by reference
#define SLRI_NO_BYTES ((uint64_t)1 << 63)                                   // no message has so many
slr_status slri_slices_describe(slr_ring *ring, const slr_ring_desc *desc); // behind the bindings
void slri_slices_dispose(slr_ring *ring);
void slri_slices_follow(const slr_ring *ring, struct slri_shard *shard); // what its owner calls
bool slri_slices_own(const slr_ring *ring);                              // whether buffers may go with its messages
slr_status slri_slices_check(const slr_ring *ring, const void *message); // of a message to be sent
// Behind the claim of its credit: its buffers become the message's. Errors: as slri_slices_check; then none has.
slr_status slri_slices_depart(const slr_ring *ring, const void *message);
slr_status slri_slices_check_route(const slr_ring *from, const slr_ring *to);
// By the owner of a shard: what the output, to a ring kernel or to `port` of its own, takes over of message k's.
void slri_slices_pass(struct slri_shard *shard, uint32_t k, const slr_ring *to, uint32_t port, const void *output);
void slri_slices_evicted(struct slri_shard *shard);            // by it: of messages dropped since it was last asked
void slri_slices_end(const slr_ring *ring);                    // all messages that it has accepted are over
void slri_slices_forsake(const slr_ring *ring, uint32_t port); // what replies to the port still own

// batch.c: handlers of many messages a call, a shard's part
static inline bool slri_takes_batches(const slr_ring *ring)
{
    return ring->on_batch || (ring->entry && ring->entry->kind == SLRI_ENTRY_BATCH);
}
slr_status slri_batch_create(slr_ring *ring, struct slri_shard *shard);
void slri_batch_destroy(struct slri_shard *shard);

// loop.c: ring kernels with a main; their one shard is that thread's
slr_status slri_loop_create(slr_ring *ring);
void slri_loop_destroy(slr_ring *ring); // NULL loop is fine
slr_status slri_loop_start(slr_ring *ring);
void slri_loop_wake(slr_context *loop);
void slri_loop_join(slr_context *loop);                          // main has returned; NULL is fine
uint32_t slri_loop_held(const slr_context *loop, uint32_t node); // where that held message lies, 0: it is not held
bool slri_loop_holds(const slr_delivery *delivery);
void slri_faults_describe(const slr_ring *ring, slr_ring_stats *out); // fault_report.c: the last and the first
// The fault of the dead letter at S[at], whose message faulted.
void slri_letter_describe(const slr_ring *ring, uint32_t at, char *out, size_t bytes);
void slri_loop_describe(const slr_context *loop, char *out, size_t room); // why its main failed it, if it did
// overflow.c
void slri_ring_evict_launched(slr_ring *ring);    // does what owners do, where none has been started yet
void slri_ring_evicted(struct slri_shard *shard); // by the owner: wakes the ports that have been sent a notice

// operate.c: something that the owner of a shard does between two batches, or the caller where none runs. `run` is
// called under the ring kernel's lock: short, and nothing of the user's.
struct slri_operation {
    void (*run)(struct slri_operation *op, struct slri_shard *shard);
    uint32_t instance; // whose shard it is about
    bool at_rest;      // of a persistent ring kernel: not while a launch has the shard
    void *to;          // what `run` needs
    const void *from;
    bool lost;         // set by `run`: the state is an abandoned handler's
    slr_status status; // likewise: of the copy, with the reason
    char why[160];
    // slri_ring_operate's own:
    struct slri_operation *next;
    uint32_t ran; // atomic
};
slr_status slri_ring_operate(slr_ring *ring, struct slri_operation *op, uint64_t deadline_ns, const char *call);
void slri_ring_operate_later(slr_ring *ring, struct slri_operation *op); // without waiting: `op` stays until it ran
void slri_ring_operate_all(struct slri_shard *shard);                    // called by the owner
void slri_ring_operate_last(struct slri_shard *shard);                   // by an owner that ends

// telemetry.c
slr_status slri_telemetry_describe(slr_ring *ring, const slr_ring_desc *desc);
void slri_telemetry_note_state(slr_ring *ring, slr_ring_state state); // when it begins and ends
void slri_telemetry_count(const slr_ring *ring, slr_ring_stats *out);

// failure.c
struct slri_bell { // futex: raised when a ring kernel fails that hangs on it
    uint32_t rings;
};
#define SLRI_WHY_BYTES sizeof((slr_ring_stats *)NULL)->last_failure
void slri_failure_note(slr_ring *ring, const char *why); // why it fails; under lock
slr_status slri_failure_describe(slr_ring *ring, const slr_ring_desc *desc);
void slri_failure_dispose(slr_ring *ring);
void slri_failure_read(const slr_ring *ring, char *out, size_t room); // the last reason, or ""; under lock
slr_status slri_refuse_failed(slr_ring *ring);                        // RING_FAILED, with the reason; takes the lock
bool slri_ring_fail_untold(slr_ring *ring, const char *why);          // without waking who waits
bool slri_ring_fail(slr_ring *ring, const char *why);                 // false: it was not running
void slri_ring_faulted(struct slri_shard *shard);
void slri_ring_shown(struct slri_shard *shard, uint32_t port);
void slri_ring_abandoned(struct slri_shard *shard);
void slri_ring_lost(struct slri_shard *shard, const char *why);
void slri_bell_ring(struct slri_bell *bell);

// create.c
void slri_ring_dispose(slr_ring *ring); // frees a ring kernel that nobody holds

// ---- the table -----------------------------------------------------------------------------------------------------

struct slri_ring_device {
    struct slri_table_slot {
        slr_ring *ring; // not held: leaves the table before it goes
        uint32_t generation;
        uint32_t next; // in its name's chain, or among the free: 1 + a slot; 0: it is the last
    } * slot;
    uint32_t *chain; // by the hash of a name: 1 + a slot; 0: none
    uint32_t slots;  // of both: 0, or a power of two
    uint32_t free;   // 1 + the first free slot; 0: none
    struct slri_key_secret secret;
    struct slri_shared_port *shared; // held; NULL until a call needs it
};

slr_status slri_ring_device_get(slr_device *device, struct slri_ring_device **out);
slr_status slri_table_enter(slr_ring *ring); // takes a slot; INVALID when the name is taken
void slri_table_leave(slr_ring *ring);
// The next ring kernel of the device at or behind `slot`, held, and the slot behind its own; false: there is none.
bool slri_table_next(slr_device *device, uint32_t *slot, slr_ring **out);
void slri_rings_close(slr_device *device); // as engine/hooks.h says; likewise reopen.c:
slr_status slri_rings_lose(slr_device *device, uint64_t deadline_ns);
void slri_rings_renew(slr_device *device);
slr_status slri_table_find(slr_address address, slr_ring **out); // held; RING_DEAD

// ---- a port --------------------------------------------------------------------------------------------------------

// A port with more connections than so many has them marked (marks.c). With fewer a look at each costs less.
#define SLRI_FEW_CONNECTIONS 4u

struct slri_connection {
    slr_ring *ring; // held while it is connected
    struct slri_lane *lane;
    uint32_t port;       // which of the ring kernel's lanes
    uint32_t next_shard; // to look at first for replies
    // Not of a route's:
    uint32_t at;                  // in the port's list
    uint32_t holds;               // marks.c
    struct slri_link *given_back; // slr_port.given_back; NULL: the port has few connections
    struct slri_link turn;        // in slr_port.ready or .ended
    struct slri_link in_failed, in_given_back, in_polled;
    bool connected;                      // all up to here is the port's owner's
    uint32_t marked;                     // atomic
    struct slri_connection *next_marked; // of who has changed `marked` last
};

struct slri_kept_reply { // one that slr_call passed over
    struct slri_kept_reply *next;
    slr_reply reply;
    size_t allocated;
    unsigned char payload[];
};

struct slr_port {
    slr_device *device;
    struct slri_waker *waker;
    struct slri_connection **by_slot; // a hash table by the address's slot, of the last ones; NULL: none
    uint32_t by_slot_mask, by_slot_shift;
    struct slri_connection **connection;
    uint32_t connections, connection_room, next_connection;
    bool was_connected;
    // Of a port that has had many connections: those that may have a reply, in turn; that are over and empty; that have
    // failed and were not told; where replies were given back since slri_unblock_shards looked; whose owners publish
    // without the host.
    bool is_marked, polls_first;
    struct slri_link ready, ended, failed, given_back, polled;
    uint32_t polled_count;
    uint64_t looks; // at connections, in all
    uint32_t correlation, call_correlation;
    struct slri_kept_reply *kept_first, *kept_last;
    uint32_t call_failures; // of the ring kernel that a call waits for, before it was sent
    uint64_t late_ns;       // how late it may be woken: the most of the ring kernels that it has been connected to
    bool spins;             // one of these is not batched
};

// Correlations of slr_call have the top bit, those of sends have not, so that a late reply to a call that has given up
// is known as one, and is discarded. Each port counts its own, and a message takes its correlation along routes: a
// reply answers a call by its ring kernel too, and where it is not another's that the port collects
// (MB_FLAG_COLLECTED).
#define SLRI_CALL_BIT 0x80000000u

// near.c: lanes that lie near the groups of the device, for ports whose senders are such groups.
// NULL: the device has no such memory.
static inline struct slri_slabs *slri_near_of(const slr_device *device)
{
    return device->facts.residents ? device->facts.residents->near : NULL;
}
slr_status slri_near_piece_create(slr_device *device, uint64_t bytes, struct slri_piece **out); // zeroed
// Puts the lane of a port that nobody uses yet there, in each shard; `*address` is the first's, MB_LANE_STRIDE words
// from the next; its owners count there, too, what they have done with (MB_NEAR_RETIRED). 0: the device has no such
// memory, and the lane is where it was. Not under the ring kernel's lock.
slr_status slri_near_take(slr_ring *ring, uint32_t lane, uint64_t *address);
// Before a port in the host's memory has it, under the lock.
bool slri_near_is_empty(const slr_ring *ring, uint32_t lane); // of a closed port; true where it is not near
void slri_near_leave(slr_ring *ring, uint32_t lane);
void slri_near_renew(slr_ring *ring); // of a device that was opened again, under the lock
void slri_near_destroy(slr_ring *ring);
// Where the device is lost: what lay there and was not done with is in doubt. By who owns all its shards; any number of
// times.
void slri_near_lose(slr_ring *ring);
// All its shards are over, and nobody sends to it: brings what is left there where it is handed back. What cannot be
// brought is in doubt.
void slri_near_bring(slr_ring *ring);

// connect.c
// A lane for whoever sleeps on `waker`. Silent: nobody reads replies there, the owners write none. `c` is what is
// marked for its port; NULL: of a route. Waits for the owners to say that a closed port's is empty. Errors: INVALID
// (all are of open ports), FULL, TIMEOUT (of closed ones), as for a send; why the ring kernel takes no messages.
slr_status slri_lane_take(slr_ring *ring, struct slri_waker *waker, struct slri_connection *c, bool silent,
                          struct slri_until *until, uint32_t *out);
void slri_lane_leave(slr_ring *ring, uint32_t lane);
slr_status slri_port_create(slr_device *device, slr_port **out); // slr_port_open, on a device that may be closing
// `to_send`: for the first message, which is counted where it is refused for want of a lane.
slr_status slri_connect(slr_port *port, slr_address to, bool to_send, struct slri_until *until,
                        struct slri_connection **out);
void slri_disconnect(slr_port *port, struct slri_connection *connection);

// connections.c
void slri_connections_init(slr_port *port);
slr_status slri_connections_reserve(slr_port *port); // room for one more
void slri_connections_enter(slr_port *port, struct slri_connection *c);
void slri_connections_leave(slr_port *port, struct slri_connection *c);
void slri_connections_free(slr_port *port);

static inline uint32_t slri_connection_home(const slr_port *port, uint32_t slot)
{
    return (uint32_t)((uint64_t)(slot * 2654435769u) >> port->by_slot_shift); // 2^32 over the golden ratio
}

static inline struct slri_connection *slri_connection_of(const slr_port *port, slr_address to)
{
    for (uint32_t i = slri_connection_home(port, to.slot);; i = (i + 1) & port->by_slot_mask) {
        struct slri_connection *c = port->by_slot[i];
        if (!c)
            return NULL;
        if (c->ring->slot == to.slot)
            return c->ring->generation == to.generation && c->ring->place == to.place ? c : NULL;
    }
}

// marks.c: called by who has published something for a lane's port, and fenced.
void slri_lane_mark(const struct slri_lane *lane, struct slri_waker *waker);
void slri_marks_drop(struct slri_waker *waker); // nobody has the waker any more
void slri_connection_release(const slr_allocator *allocator, struct slri_connection *c); // NULL is fine
// The port's owner's.
void slri_marks_begin(slr_port *port);
void slri_marks_enter(slr_port *port, struct slri_connection *c);
void slri_marks_leave(slr_port *port, struct slri_connection *c);
void slri_marks_take(slr_port *port);
struct slri_found;
bool slri_marks_find(slr_port *port, struct slri_found *found, struct slri_connection **ended); // slri_find_reply
struct slri_connection *slri_marks_find_failure(slr_port *port);

static inline bool slri_waker_is_wanted(const struct slri_waker *waker)
{
    return (__atomic_load_n(&waker->asleep, __ATOMIC_RELAXED) | __atomic_load_n(&waker->polled, __ATOMIC_RELAXED) |
            __atomic_load_n(&waker->marking, __ATOMIC_RELAXED)) != 0;
}

// Whether slri_lane_tell would do anything. The caller has published, and used slri_fence_light or a full fence.
static inline bool slri_lane_has_waiter(const struct slri_lane *lane)
{
    // Acquire: the waker was made before its lane's first message.
    const struct slri_waker *waker = __atomic_load_n(&lane->waker, __ATOMIC_ACQUIRE);
    return waker && slri_waker_is_wanted(waker);
}

// After a store to `asleep`, `polled` or `marking` of a port's waker, before the last look at what was published.
// Heavy: the owners of ring kernels with `publish_each` fence lightly after each message. slri_fence_begin happened
// before such a ring kernel was created, so before the port's first message to it; what was announced before that
// message, its owner sees.
static inline void slri_announced(void)
{
    slri_fence_heavy();
}

// Marks the lane's connection where its port wants that, and wakes who sleeps there. The caller has published, and
// fenced; the lane's waker stays meanwhile, for the caller is an owner that has not let go of it, or has the ring
// kernel's lock.
static inline void slri_lane_tell(const struct slri_lane *lane)
{
    struct slri_waker *waker = __atomic_load_n(&lane->waker, __ATOMIC_ACQUIRE); // as above
    if (!waker || !slri_waker_is_wanted(waker))
        return;
    slri_lane_mark(lane, waker);
    slri_waker_wake(waker);
}

// send.c: credits that were claimed: how many, and the first one's place in the order of acceptance. Who holds some
// waits for nothing but its own code: they are published or given back.
struct slri_granted {
    uint32_t count, place;
};
// Up to `want`, at least one, in doubt: until they are given back or used in slri_send or slri_send_run, statistics do
// not take them for messages. Errors: as for a send.
slr_status slri_credits_claim(slr_ring *ring, uint32_t want, struct slri_until *until, struct slri_granted *granted);
bool slri_credits_try(slr_ring *ring, uint32_t want, struct slri_granted *granted); // false: there is none now
void slri_credits_give_back(slr_ring *ring, uint32_t count);

// How slr_call sends, with a correlation of its own, and how keys are sent to. `by_key`: not NULL where the instance
// was found by its key, so it is there; a credit in it, in doubt, is used, and then its count is 0.
slr_status slri_send(slr_port *port, slr_address to, const void *message, size_t bytes, uint32_t priority,
                     uint32_t correlation, struct slri_granted *by_key, struct slri_until *until);
// Sends to instances that are there; `done`, from 0, counts what was accepted, whatever the status. `paid`: credits to
// be used first, at most `count`, after which their count is 0; NULL: none.
slr_status slri_send_run(slr_port *port, const struct slri_connection *c, uint32_t to, const uint32_t *instances,
                         const void *messages, uint32_t count, struct slri_granted *paid, struct slri_until *until,
                         uint32_t *done);
slr_status slri_connection_get(slr_port *port, slr_address to, struct slri_until *until, struct slri_connection **out);
slr_status slri_check_message(const slr_ring *ring, const void *message, size_t bytes);
slr_status slri_check_sendable(const slr_ring *ring, const void *message, size_t bytes); // and its references
slr_status slri_check_options(const slr_send_options *options);
slr_status slri_send_with(slr_port *port, slr_address to, const void *message, size_t bytes,
                          const slr_send_options *options, struct slri_granted *by_key,
                          struct slri_until *until);      // slr_send_with
slr_status slri_ring_check_process(const slr_ring *ring); // as slri_queue_device_check_process
slr_status slri_refuse_closed(slr_ring *ring); // why no credit was given, with the input closed; OK: it is open again

// ---- what routes send with, too ------------------------------------------------------------------------------------

// send.c: a connection's next slot in a shard, filled, with a credit held; `sent_ns` 0: now. Then all that is filled,
// published.
void slri_lane_fill(const struct slri_connection *c, uint32_t shard, uint32_t instance, const void *message,
                    uint32_t priority, uint32_t correlation, uint32_t place, uint64_t sent_ns);
void slri_lane_publish(const struct slri_connection *c, uint32_t shard);
void slri_lanes_tell(slr_ring *ring);     // the owners, of what was published
void slri_credits_freed(slr_ring *to);    // relay.c: who waits for them or for messages; behind a full fence
void slri_count_accepted(slr_ring *ring); // behind a claim: brings the 64-bit counts forward before they wrap

// The owner of the shard, if it sleeps for messages. The caller has published, and fenced.
static inline void slri_rouse(slr_ring *ring, uint32_t shard)
{
    uint32_t asleep = __atomic_load_n(&ring->shard[shard].asleep, __ATOMIC_RELAXED);
    if (asleep != 0 && asleep != SLRI_ASLEEP_PAUSED)
        slri_ring_wake_shard(&ring->shard[shard]);
}

// receive.c: the next reply, where it lies.
struct slri_found {
    struct slri_connection *connection;
    uint32_t shard, slot;
};
bool slri_find_reply(slr_port *port, struct slri_found *found, struct slri_connection **ended);
bool slri_find_in(struct slri_connection *c, struct slri_found *found);
static inline slr_status slri_reply_status(uint32_t head)
{
    return head & MB_FLAG_FAULT ? SLR_HANDLER_FAULT : head & MB_FLAG_DROPPED ? SLR_DROPPED : SLR_OK;
}
// Whether it is what a call to `ring` waits for; whether it answers a call that has given up, and is discarded.
bool slri_answers(const struct slri_found *found, const slr_ring *ring, uint32_t correlation);
bool slri_is_late(const struct slri_found *found);
void slri_describe_reply(const struct slri_found *found, slr_reply *out);
const void *slri_reply_payload(const struct slri_found *found);
void slri_consume_reply(const struct slri_found *found);
void slri_discard_reply(const struct slri_found *found); // slice.c: consumes it, with what it owns
void slri_report_end(slr_port *port, struct slri_connection *ended, slr_reply *out); // and forgets the connection
// The first connection whose ring kernel has failed since the last time; NULL: none. It is told only once.
struct slri_connection *slri_find_failure(slr_port *port);
void slri_unblock_shards(slr_port *port); // before sleeping: lets shards that waited for reply room go on
// Sleeps until a reply or an end may have come (`only` not NULL: of ends only that one's), or the deadline.
void slri_port_park(slr_port *port, const slr_ring *only, uint64_t deadline_ns);

// call.c
// slr_call on a port, to an instance found by its key (slri_send). `sent`: set once the message was accepted.
slr_status slri_call(slr_port *port, slr_address to, const void *message, size_t bytes, void *reply, size_t reply_bytes,
                     uint64_t timeout_ns, struct slri_granted *by_key, struct slri_until *until, bool *sent);
slr_status slri_check_reply(const slr_ring *ring, const void *reply, size_t bytes); // what a call to it asks for
void slri_shared_port_release(struct slri_shared_port *shared);                     // the last one closes it
slr_status slri_shared_send(slr_address to, const void *message, size_t bytes, const slr_send_options *options,
                            struct slri_until *until);

#endif
