// SPDX-License-Identifier: Apache-2.0
// What the files of api_stress share: numbers and what became of each, the round's ring kernels, and how a thread says
// what is wrong. api_stress.c has the rounds, api_stress_use.c who sends and receives, api_stress_change.c who pauses,
// restarts, routes and makes ring kernels.
#ifndef SLIPRING_TESTS_API_STRESS_H
#define SLIPRING_TESTS_API_STRESS_H

#include "base/clock.h"
#include "base/thread.h"

#include <slipring/slipring.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define SECOND 1000000000ull
#define LONG (60 * SECOND) // of calls that are to succeed, on a machine that has other work too
#define HANG (120 * SECOND)

enum { FIRST, SECOND_STAGE, ALONE, TOPICAL, KEYED, MAYFLY, RINGS }; // MAYFLY: all of them, one after the other
enum { CLIENTS = 4, COLLECTOR = CLIENTS, PUBLISHER, KEEPER, MAYFLIES, THREADS };
enum { SENDERS = MAYFLIES + 1, OF_ONE = 1 << 14, NUMBERS = SENDERS * OF_ONE, KEYS = 24 };

struct job { // a message, and a reply: which ring kernel it is for, or from
    uint32_t number, ring, faults_at, value;
};

struct thread {
    slri_thread thread;
    uint32_t number;
    uint64_t random;
    uint32_t sent;     // numbers used
    const char *doing; // atomic; NULL: it has ended
    uint64_t since_ns; // atomic
};
extern struct thread threads[THREADS];
extern const char *const ring_names[RINGS], *const thread_names[THREADS];

// ---- what is wrong ends it ------------------------------------------------------------------------------------------

_Noreturn void stop(const char *format, ...);

// Any of the statuses whose bits are set is fine.
#define ONE(status) (1ull << (status))
slr_status expect(slr_status status, uint64_t fine, const char *what);
#define must(call) (void)expect((call), ONE(SLR_OK), #call)
#define WRONG_STATE_TOO (ONE(SLR_OK) | ONE(SLR_WRONG_STATE))
// Of routes: there is one, or no port or room is left; the other end is full and paused for longer than `patience`.
#define ROUTE_RESULTS (WRONG_STATE_TOO | ONE(SLR_INVALID) | ONE(SLR_TIMEOUT))
#define REFUSALS (ONE(SLR_FULL) | ONE(SLR_TIMEOUT) | ONE(SLR_RING_FAILED))

void doing(struct thread *t, const char *what);
uint32_t pick(struct thread *t, uint32_t below);

// ---- accounts -------------------------------------------------------------------------------------------------------

enum { UNSENT, ACCEPTED, PERHAPS };
// Of each number. What one thread alone writes is plain: it is read when all have ended.
extern uint8_t fate[NUMBERS], copies[NUMBERS];       // copies: subscribers that accepted it
extern uint8_t reply_may_go[NUMBERS];                // its caller gave up, or its port was closed
extern uint8_t replied[NUMBERS], collected[NUMBERS]; // replies that came; atomic

extern struct totals {
    uint64_t sent, handled, replied, collected, routed, letters, refused, calls, published, restarts, pauses, unroutes,
        mayflies, ports;
} totals; // atomic

void count(uint64_t *what, uint64_t by);
void note_sent(const struct job *job, uint32_t n, uint32_t accepted);

// ---- the round ------------------------------------------------------------------------------------------------------

extern slr_device *device;
extern slr_ring *rings[RINGS]; // but MAYFLY, which is under the lock
extern slr_address addresses[RINGS];
extern uint32_t queue_sizes[RINGS], instances[RINGS];
extern slr_topic *topic;
extern bool keyed, persistent; // what the device can and does
extern uint64_t round_ends_ns;
extern uint32_t quiet;   // atomic: nothing is under way any more
extern uint32_t senders; // atomic: of the threads before `KEEPER`, those that may still send
extern slri_mutex lock;
extern uint32_t mayfly_users;
extern uint32_t routes_to_resting; // atomic: tried to `second` since it was last seen active

bool has_numbers(const struct thread *t, uint32_t count);
struct job make_job(struct thread *t, uint32_t target);
slr_ring *make_ring(uint32_t r, struct thread *t);
slr_ring_stats stats_of(uint32_t r, slr_ring *ring);
void take_letters(uint32_t r, slr_ring *ring);
void end_ring(uint32_t r, slr_ring *ring); // its counts, all of it being over

// Gives whether all were accepted.
bool send_some(struct thread *t, slr_port *port, uint32_t target);
void close_port(struct thread *t, slr_port *port, uint32_t from);

// ---- the threads ----------------------------------------------------------------------------------------------------

void be_client(void *arg);
void be_collector(void *arg);
void be_publisher(void *arg);
void be_keeper(void *arg);
void be_mayfly(void *arg);

#endif
