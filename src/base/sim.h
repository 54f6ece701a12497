// SPDX-License-Identifier: Apache-2.0
/// The seam behind which time, threads and randomness are real, or simulated: with SLIPRING_SIM=seed everything runs on
/// one thread, with a logical clock, in an order that the seed decides, and the same way each time.
///
/// Threads become tasks: contexts of their own on the one thread, one of which runs until it reaches a point where
/// another may go on. The other files of this folder ask slri_sim_on() where they would ask the operating system; no
/// other folder knows whether it is simulated, but for loops that would poll without ever asking.
#ifndef SLRI_BASE_SIM_H
#define SLRI_BASE_SIM_H

#include <slipring/status.h>

#include <stdbool.h>
#include <stdint.h>

extern uint32_t slri_sim_is_on;

/// Relaxed: set before anything is there that could be simulated.
static inline bool slri_sim_on(void)
{
    return __builtin_expect(__atomic_load_n(&slri_sim_is_on, __ATOMIC_RELAXED) != 0, 0);
}

// ---- its life ------------------------------------------------------------------------------------------------------

/// From here on everything is simulated, from this thread alone. Nothing of slipring may exist yet.
/// Errors: UNSUPPORTED (a C library without makecontext), NO_MEMORY.
slr_status slri_sim_begin(uint64_t seed);

/// From here on, for good, the tasks are all the threads that this thread's program has: time is the system's, and they
/// take turns where they poll, yield or sleep. For systems without threads. Errors: as slri_sim_begin's.
slr_status slri_sim_begin_turns(void);
bool slri_sim_in_turns(void);

/// Ends it; gives the number of tasks that had not ended (their stacks are left as they are).
uint32_t slri_sim_end(void);

/// Begins it where SLIPRING_SIM is set and it has not begun; without threads the turns. Errors: INVALID (no number),
/// and slri_sim_begin's; WRONG_STATE on any other thread than the one where it began.
slr_status slri_sim_from_environment(void);

uint64_t slri_sim_seed(void);

/// A number that says which choices have been made so far: of two runs that were alike it is the same.
uint64_t slri_sim_fingerprint(void);

/// For tests: `stuck` is called, and must not return, when no task can ever go on, or after `most` choices. Without it
/// a task waits for ever, as a thread would.
void slri_sim_watch(uint64_t most, void (*stuck)(const char *why));

// ---- points --------------------------------------------------------------------------------------------------------

/// Another task may go on here. Takes no time. Nothing where nothing is simulated.
void slri_sim_point(void);

/// The same where it takes a moment, and in turns nothing. Only in simulation, as everything below.
void slri_sim_moment(void);

/// The same in a loop that polls: in turns the next task goes on.
void slri_sim_step(void);

// ---- what the files of this folder do instead ----------------------------------------------------------------------

uint64_t slri_sim_random(void);
uint64_t slri_sim_now_ns(void);
void slri_sim_yield(void);
void slri_sim_wait(const uint32_t *word, uint32_t expected, uint64_t deadline_ns);
/// Sleeps until slri_sim_wake(key), or the deadline.
void slri_sim_block(const void *key, uint64_t deadline_ns);
void slri_sim_wake(const void *key, unsigned how_many);

struct slri_sim_task;
slr_status slri_sim_start(struct slri_sim_task **task, void (*body)(void *arg), void *arg);
void slri_sim_join(struct slri_sim_task *task);
void slri_sim_detach_self(void);

/// A word of the running task's own, NULL at first: instead of one of the thread's, for engine/queue.c.
void **slri_sim_local(void);

/// Real time for a while, in which no other task goes on: for what runs outside of the simulation, a compiler. The
/// deadline is given in logical time and comes back in real time. Behind it the clock stands where it stood.
uint64_t slri_sim_leave(uint64_t deadline_ns);
void slri_sim_return(void);

#endif
