// SPDX-License-Identifier: Apache-2.0
/// A worker: what its files share. lease.c decides which partitions it has, worker.c handles their messages.
#ifndef SLRI_CLUSTER_WORKER_H
#define SLRI_CLUSTER_WORKER_H

#include "base/thread.h"
#include "cluster/name.h"

enum { SLRI_PEERS = 256, SLRI_PART_NAME = 128 };

/// A partition, as this worker sees it.
typedef struct slri_part {
    slr_server *server; // NULL: not ours
    slri_owner owner;
    uint64_t revision; // of the owner's value; 0: there is none
    uint64_t retry_ns; // not before this
    uint32_t failures; // since its last snapshot here
    bool is_leaving;   // takes no more, and goes to another worker once what it has is handled
} slri_part;

/// Another worker: alive while its revision moves on our clock.
typedef struct slri_peer {
    char id[SLRI_WORKER_ID];
    uint64_t revision, moved_ns;
    uint32_t is_listed; // in the last look
} slri_peer;

struct slr_worker {
    slr_device *device;
    slr_ring_desc ring, ring_before; // before: of the handler that the last replacement took away
    char *ring_name, *handler;
    bool has_before;
    slr_worker_desc desc;
    slri_nats *nats;
    slri_manifest manifest;
    char id[SLRI_WORKER_ID];
    slri_part *parts;
    uint32_t owned, peers, first; // first: where looking for partitions begins
    slri_peer peer[SLRI_PEERS];
    uint64_t looked_ns, nap_ns;
    bool is_ending;   // takes none
    uint64_t end_ns;  // after a request to end: until then, a snapshot that fails is tried again
    slr_status ended; // of the first partition that was then given away without its snapshot
    bool is_cut_off;  // the server did not answer: the next partition does not wait for it as well
    slri_thread beating, listening;
    bool has_beating, has_listening;
    natsSubscription *hints;
    uint32_t calls, calls_seen; // calls: atomic; that are on their way, as their senders hint
    uint32_t called;            // atomic: the partition of the last one
    uint64_t hot_until_ns;      // a call may come any moment
    uint32_t stop;              // atomic
    slr_worker_stats stats;
};

// worker.c
void slri_worker_part_name(const slr_worker *worker, uint32_t partition, char out[SLRI_PART_NAME]);
slr_status slri_worker_describe(slr_device *device, const slr_ring_desc *desc, slri_head *head);
slr_status slri_worker_compare(const slr_worker *worker, const slri_head *now);
char *slri_worker_copy(const char *text);

void slri_worker_note_problem(slr_worker *worker, uint32_t partition); // the last error is one of this partition
void slri_worker_put_off(slr_worker *worker, slri_part *part);       // each failure doubles the time until the next try
slr_status slri_worker_take(slr_worker *worker, uint32_t partition); // claims it, and opens its server
void slri_worker_abandon(slr_worker *worker, uint32_t partition);
void slri_worker_give_up(slr_worker *worker, uint32_t partition); // which is lost; it may be taken again soon
void slri_worker_free(slr_worker *worker);

// worker_end.c
void slri_worker_begin_to_end(slr_worker *worker);
/// What another worker has taken, what is more than its share, and all where it is to end.
void slri_worker_give_back(slr_worker *worker);

// worker_replace.c
/// A new handler has faulted in one partition, and was taken back there: the others follow.
void slri_worker_go_back(slr_worker *worker);

// lease.c
slr_status slri_worker_enter(slr_worker *worker); // makes it known, and keeps it so on a thread
void slri_worker_leave(slr_worker *worker);       // the contrary

// listen.c
/// A thread that is told of calls on their way, so that the worker need not look all the time.
slr_status slri_worker_listen(slr_worker *worker);
void slri_worker_end_listening(slr_worker *worker);
/// Sleeps until then, or until a call is on its way.
void slri_worker_sleep(slr_worker *worker, uint64_t until_ns);

slr_status slri_worker_look(slr_worker *worker); // who is alive, who has what
slr_status slri_worker_claim(slr_worker *worker, uint32_t partition);
slr_status slri_worker_unclaim(slr_worker *worker, uint32_t partition);
bool slri_worker_has(const slr_worker *worker, uint32_t partition); // it is its owner, also where no server runs
uint32_t slri_worker_count(const slr_worker *worker);               // of those
uint32_t slri_worker_share(const slr_worker *worker);               // partitions that it should have
bool slri_worker_is_free(const slr_worker *worker, uint32_t partition);

#endif
