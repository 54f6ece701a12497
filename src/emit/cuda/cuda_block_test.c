// SPDX-License-Identifier: Apache-2.0
// What CUDA's prelude does for the threads of a block (prelude/slr_cuda_ring.h), with threads of the host for threads
// of a GPU: no fault and no return of some of them leaves the others waiting. The handlers here are spelled as the
// emitter does.
#define _POSIX_C_SOURCE 200809L
#include "abi/handler.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 5, MORE = 2 }; // of the handler; of the block beside them

static __thread struct {
    uint32_t x;
} threadIdx, blockDim;

// All threads come, wherever they stand; gives how many said that they have ended.
static struct {
    pthread_mutex_t lock;
    pthread_cond_t all;
    uint32_t come, ended, last_ended, lap;
} barrier = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0, 0};

static uint32_t come(uint32_t has_ended)
{
    pthread_mutex_lock(&barrier.lock);
    uint32_t lap = barrier.lap;
    barrier.ended += has_ended;
    if (++barrier.come == THREADS + MORE) {
        barrier.last_ended = barrier.ended;
        barrier.come = barrier.ended = 0;
        barrier.lap++;
        pthread_cond_broadcast(&barrier.all);
    }
    while (barrier.lap == lap)
        pthread_cond_wait(&barrier.all, &barrier.lock);
    uint32_t ended = barrier.last_ended;
    pthread_mutex_unlock(&barrier.lock);
    return ended;
}

// Relaxed: the barrier orders.
static uint32_t atomicAdd(uint32_t *word, uint32_t more)
{
    return __atomic_fetch_add(word, more, __ATOMIC_RELAXED);
}

static void atomicSub(uint32_t *word, uint32_t less)
{
    __atomic_fetch_sub(word, less, __ATOMIC_RELAXED);
}

static void atomicMin(uint32_t *word, uint32_t value)
{
    uint32_t was = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (value < was && !__atomic_compare_exchange_n(word, &was, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

#define __device__
#define __shared__ static
#define __align__(bytes) __attribute__((aligned(bytes)))
#define SLRI_FN static inline __attribute__((unused))
#define SLRI_DUMP_BYTES 64
#define SLRI_BARRIER(ended, has_ended) ended = come(has_ended)
#define SLRI_PUT_WORD(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELAXED)
#define SLRI_GET_WORD(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
typedef uint32_t slri_u32;
typedef uint64_t slri_u64;
#include "emit/cuda/slr_cuda_ring.h"

// ---- handlers ------------------------------------------------------------------------------------------------------

struct in {
    uint32_t wrong;  // this thread faults, in the first turn
    uint32_t leaves; // this one returns, in the second
    uint32_t turns;  // all take
};

struct seen { // by each thread
    uint32_t turns, fault, value;
    int count, all, any;
};

static void slrh_turns(const struct in *in, struct seen *seen SLRI_AND_HERE)
{
    __shared__ uint32_t value[THREADS];
    SLRI_CLEAR(value, THREADS)
    SLRI_CLEARED
    uint32_t t = threadIdx.x, i = 0;
    for (; SLRI_GOES((i < in->turns)); SLRI_TURN(0, 3) i++) {
        seen[t].value = value[t] += i;
        if (t == in->wrong && i == 0)
            SLRI_CHECKED_TRAP(0, 7);
        if (t == in->leaves && i == 1)
            return;
        SLRI_IN_BLOCK__syncthreads();
        seen[t].turns++;
        seen[t].count = SLRI_IN_BLOCK__syncthreads_count(t >= 2);
        seen[t].all = SLRI_IN_BLOCK__syncthreads_and(t != in->leaves);
        seen[t].any = SLRI_IN_BLOCK__syncthreads_or(value[t] != value[0]);
        for (; SLRI_LIVE((i == in->turns)); SLRI_EDGE(0, 4) SLRI_NO_STEP) {
        }
    }
}

// The turns of each thread alone, of which the last has most.
static void slrh_alone(const struct in *in, struct seen *seen SLRI_AND_HERE)
{
    SLRI_CLEARED
    for (uint32_t i = 0; SLRI_LIVE((i < in->turns + threadIdx.x)); SLRI_EDGE(0, 9) i++)
        seen[threadIdx.x].turns++;
    SLRI_IN_BLOCK__syncthreads();
}

struct message {
    struct slri_call call;
    struct in in;
    struct seen seen[THREADS + MORE];
    bool is_alone;
};

static uint32_t handle(struct slri_call *call, struct message *message)
{
    SLRI_BEGIN_BLOCK(call, THREADS)
    (message->is_alone ? slrh_alone : slrh_turns)(&message->in, message->seen, &here);
    return SLRI_END_BLOCK(&here);
}

struct thread {
    struct message *message;
    uint32_t number, messages;
};

static void *run(void *arg)
{
    const struct thread *thread = arg;
    threadIdx.x = thread->number;
    blockDim.x = THREADS + MORE;
    for (uint32_t i = 0; i < thread->messages; i++) {
        come(0);
        uint32_t fault = handle(&thread->message[i].call, &thread->message[i]);
        thread->message[i].seen[thread->number].fault = fault;
    }
    return NULL;
}

// One behind the other, by the same threads.
static void handle_all(struct message *message, uint32_t messages)
{
    pthread_t thread[THREADS + MORE];
    struct thread given[THREADS + MORE];
    for (uint32_t t = 0; t < THREADS + MORE; t++) {
        given[t] = (struct thread){message, t, messages};
        assert_int_equal(pthread_create(&thread[t], NULL, run, &given[t]), 0);
    }
    for (uint32_t t = 0; t < THREADS + MORE; t++)
        pthread_join(thread[t], NULL);
}

// ---- tests ---------------------------------------------------------------------------------------------------------

#define NONE 1000

static void threads_meet_and_vote(void **state)
{
    (void)state;
    struct message message[3] = {0};
    for (int i = 0; i < 3; i++) {
        message[i].call.fuel = 1000;
        message[i].in = (struct in){NONE, NONE, 20};
    }
    handle_all(message, 3);
    for (int i = 0; i < 3; i++)
        for (int t = 0; t < THREADS; t++) {
            const struct seen *seen = &message[i].seen[t];
            assert_int_equal(seen->fault, SLRI_FAULT_NONE);
            assert_int_equal(seen->turns, 20);
            assert_int_equal(seen->count, 3);
            assert_int_equal(seen->all, 1);
            assert_int_equal(seen->any, 0);
            assert_int_equal(seen->value, 190); // from zero, each time
        }
}

static void a_fault_of_one_thread_is_told_to_all_and_nobody_waits(void **state)
{
    (void)state;
    struct message message[2] = {{{.fuel = 1000}, {3, NONE, 9}, {{0}}, false},
                                 {{.fuel = 1000}, {NONE, NONE, 9}, {{0}}, false}};
    handle_all(message, 2);
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(message[0].seen[t].fault, SLRI_FAULT_TRAP);
        assert_int_equal(message[0].seen[t].turns, 9); // in step, the faulty one too
        assert_int_equal(message[1].seen[t].fault, SLRI_FAULT_NONE);
    }
    assert_int_equal(message[0].call.fault_line, 7);
    assert_int_equal(message[1].call.fault_line, 0);
}

static void a_thread_that_has_returned_is_not_waited_for(void **state)
{
    (void)state;
    struct message message = {{.fuel = 1000}, {NONE, 4, 6}, {{0}}, false};
    handle_all(&message, 1);
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(message.seen[t].fault, SLRI_FAULT_NONE);
        assert_int_equal(message.seen[t].turns, t == 4 ? 1 : 6);
    }
    assert_int_equal(message.seen[0].count, 2); // of those that are left
    assert_int_equal(message.seen[0].all, 1);
}

static void threads_have_equal_parts_of_the_fuel(void **state)
{
    (void)state;
    struct message message[3] = {{{.fuel = 100 * THREADS}, {NONE, NONE, 95}, {{0}}, true},
                                 {{.fuel = 100 * THREADS}, {NONE, NONE, 96}, {{0}}, true},
                                 {{.fuel = 100 * THREADS}, {NONE, NONE, 1000}, {{0}}, false}};
    handle_all(message, 3);
    assert_int_equal(message[0].seen[0].fault, SLRI_FAULT_NONE); // the last thread: 99
    assert_int_equal(message[1].seen[0].fault, SLRI_FAULT_FUEL); // 100
    assert_int_equal(message[1].seen[THREADS - 1].turns, 100);
    assert_int_equal(message[1].call.fault_line, 9);
    for (int t = 0; t < THREADS; t++) { // in a loop in which they meet, all of them at once
        assert_int_equal(message[2].seen[t].fault, SLRI_FAULT_FUEL);
        assert_int_equal(message[2].seen[t].turns, 100);
    }
    assert_int_equal(message[2].call.fault_line, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_meet_and_vote),
        cmocka_unit_test(a_fault_of_one_thread_is_told_to_all_and_nobody_waits),
        cmocka_unit_test(a_thread_that_has_returned_is_not_waited_for),
        cmocka_unit_test(threads_have_equal_parts_of_the_fuel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
