// SPDX-License-Identifier: Apache-2.0
// Threads for streams: started when there is work for one more, up to as many as the device has cores; asleep when
// there is none. A thread in a function of the host does not count, because that may wait for work of other streams:
// another takes its place, so that there are never more threads than cores and host functions in progress together.
#include "engine/queue_pool.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/status.h"
#include "engine/queue.h"

struct slri_queue_pool_thread {
    slri_thread thread;
    struct slri_queue_pool *pool;
    struct slri_queue_pool_thread *next, *next_sleeper;
    uint32_t asleep; // futex; atomic: 1 from the announcement to the call
};

// Waking from a futex costs 26-64 us across cores, so a thread looks that long for more work before it sleeps.
#define LOOK_NS 50000
#define LOOKS_A_CLOCK 32

// ---- the list of queues that are ready: under the lock -------------------------------------------------------------

static bool has_ready(const struct slri_queue_pool *pool)
{
    return __atomic_load_n(&pool->waiting, __ATOMIC_RELAXED) != 0; // changed under the lock
}

static void insert(struct slri_queue_pool *pool, struct slri_queue *queue)
{
    struct slri_ready *ready = &pool->ready[queue->priority];
    queue->next_ready = NULL;
    if (ready->first)
        ready->last->next_ready = queue;
    else
        ready->first = queue;
    ready->last = queue;
    pool->some[queue->priority / 32] |= 1u << queue->priority % 32;
    __atomic_fetch_add(&pool->waiting, 1, __ATOMIC_RELAXED); // a hint for those that look without the lock
}

// Of the highest priority that has some.
static struct slri_queue *take_queue(struct slri_queue_pool *pool)
{
    if (pool->busy >= pool->most || !has_ready(pool))
        return NULL;
    uint32_t word = 7;
    while (pool->some[word] == 0)
        --word;
    uint32_t priority = word * 32 + 31 - (uint32_t)__builtin_clz(pool->some[word]);
    struct slri_ready *ready = &pool->ready[priority];
    struct slri_queue *queue = ready->first;
    ready->first = queue->next_ready;
    if (!ready->first)
        pool->some[word] &= ~(1u << priority % 32);
    ++pool->busy;
    __atomic_fetch_sub(&pool->waiting, 1, __ATOMIC_RELAXED);
    return queue;
}

// ---- threads -------------------------------------------------------------------------------------------------------

static void work(void *arg);

static slr_status start_thread(struct slri_queue_pool *pool)
{
    struct slri_queue_pool_thread *thread = slri_alloc(pool->allocator, sizeof *thread);
    if (!thread)
        return SLRI_FAIL(NO_MEMORY, "no memory for a stream's thread");
    thread->pool = pool;
    slr_status status = slri_thread_start(&thread->thread, "slr-stream", work, thread);
    if (status != SLR_OK) {
        slri_free(pool->allocator, thread, sizeof *thread);
        return status;
    }
    thread->next = pool->threads;
    pool->threads = thread;
    ++pool->idle;
    return SLR_OK;
}

static void wake(struct slri_queue_pool *pool)
{
    struct slri_queue_pool_thread *sleeper = pool->sleepers;
    pool->sleepers = sleeper->next_sleeper;
    --pool->parked;
    __atomic_store_n(&sleeper->asleep, 0, __ATOMIC_RELAXED); // what it is woken for is under the lock
    slri_futex_wake(&sleeper->asleep, 1);
}

// Sees to it that somebody takes what is ready. A thread that cannot be had is no error: those there are come to it.
static void call_somebody(struct slri_queue_pool *pool)
{
    if (!has_ready(pool) || pool->busy >= pool->most || pool->idle > pool->parked)
        return; // who is awake and idle takes it
    if (pool->sleepers)
        wake(pool);
    else
        start_thread(pool);
}

// Looks for work without the lock for a while. False: there was none.
static bool look(struct slri_queue_pool *pool)
{
    uint64_t until_ns = slri_now_ns() + LOOK_NS;
    do {
        for (uint32_t i = 0; i < LOOKS_A_CLOCK; ++i) {
            if (__atomic_load_n(&pool->waiting, __ATOMIC_RELAXED) || __atomic_load_n(&pool->stop, __ATOMIC_RELAXED))
                return true;
            slri_pause();
        }
        slri_yield();
    } while (!slri_passed(until_ns));
    return false;
}

// Sleeps until called, unless there is something: the announcement and the last look are under the lock.
static void park_worker(struct slri_queue_pool *pool, struct slri_queue_pool_thread *self)
{
    slri_mutex_lock(&pool->lock);
    bool nothing = (!has_ready(pool) || pool->busy >= pool->most) && !__atomic_load_n(&pool->stop, __ATOMIC_RELAXED);
    if (nothing) {
        __atomic_store_n(&self->asleep, 1, __ATOMIC_RELAXED);
        self->next_sleeper = pool->sleepers;
        pool->sleepers = self;
        ++pool->parked;
    }
    slri_mutex_unlock(&pool->lock);
    while (nothing && __atomic_load_n(&self->asleep, __ATOMIC_RELAXED)) // nothing is read on its strength
        slri_futex_wait(&self->asleep, 1, SLRI_FOREVER);
}

// Does the queue's submissions, as long as no other queue waits for its turn. A stamp is no turn.
static void serve(struct slri_queue_pool *pool, struct slri_queue *queue)
{
    bool more;
    do
        more = slri_queue_step(queue);
    while (more && (slri_queue_at_stamp(queue) || !__atomic_load_n(&pool->waiting, __ATOMIC_RELAXED))); // a hint
    slri_mutex_lock(&pool->lock);
    --pool->busy;
    ++pool->idle;
    if (more)
        insert(pool, queue);
    slri_mutex_unlock(&pool->lock);
}

static void work(void *arg)
{
    struct slri_queue_pool_thread *self = arg;
    struct slri_queue_pool *pool = self->pool;
    while (!__atomic_load_n(&pool->stop, __ATOMIC_RELAXED)) { // relaxed: it is joined, and reads nothing by it
        slri_mutex_lock(&pool->lock);
        struct slri_queue *queue = take_queue(pool);
        bool others_do = !queue && has_ready(pool); // as many as may
        pool->idle -= queue != NULL;
        if (queue)
            call_somebody(pool); // for what is behind it
        slri_mutex_unlock(&pool->lock);
        if (queue)
            serve(pool, queue);
        else if (others_do || !look(pool))
            park_worker(pool, self);
    }
}

void slri_queue_pool_add(struct slri_queue_pool *pool, struct slri_queue *queue)
{
    slri_mutex_lock(&pool->lock);
    insert(pool, queue);
    call_somebody(pool);
    slri_mutex_unlock(&pool->lock);
}

// ---- functions of the host -----------------------------------------------------------------------------------------

static void enter_host(struct slri_queue_pool *pool)
{
    slri_mutex_lock(&pool->lock);
    --pool->busy;
    call_somebody(pool);
    slri_mutex_unlock(&pool->lock);
}

static void leave_host(struct slri_queue_pool *pool)
{
    slri_mutex_lock(&pool->lock);
    ++pool->busy;
    slri_mutex_unlock(&pool->lock);
}

void slri_queue_pool_call(struct slri_queue_pool *pool, const struct slri_command *command, slr_status before)
{
    enter_host(pool);
    command->call.function(command->call.user, before);
    leave_host(pool);
}

slr_status slri_queue_pool_task(struct slri_queue_pool *pool, const struct slri_command *command)
{
    enter_host(pool);
    slr_status status = command->task.function(command->task.user);
    leave_host(pool);
    return status;
}

// ---- life ----------------------------------------------------------------------------------------------------------

void slri_queue_pool_init(struct slri_queue_pool *pool, uint32_t most, const slr_allocator *allocator)
{
    slri_mutex_init(&pool->lock);
    pool->most = most;
    pool->allocator = allocator;
}

slr_status slri_queue_pool_start(struct slri_queue_pool *pool)
{
    slri_mutex_lock(&pool->lock);
    slr_status status = pool->threads ? SLR_OK : start_thread(pool);
    slri_mutex_unlock(&pool->lock);
    return status;
}

void slri_queue_pool_stop(struct slri_queue_pool *pool)
{
    slri_mutex_lock(&pool->lock);
    __atomic_store_n(&pool->stop, 1, __ATOMIC_RELAXED);
    while (pool->sleepers)
        wake(pool);
    slri_mutex_unlock(&pool->lock);
    for (struct slri_queue_pool_thread *each = pool->threads; each;) {
        struct slri_queue_pool_thread *next = each->next;
        slri_thread_join(&each->thread);
        slri_free(pool->allocator, each, sizeof *each);
        each = next;
    }
    slri_mutex_destroy(&pool->lock);
}
