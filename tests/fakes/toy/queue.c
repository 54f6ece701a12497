// SPDX-License-Identifier: Apache-2.0
// Queues: a thread each, which runs commands in the order in which they were encoded.
#include "tests/fakes/toy/toy.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/status.h"

struct list {
    uint32_t count;
    struct part {
        struct slri_command command;
        struct slri_extras extras;
    } part[];
};

struct work {
    struct part part;
    struct work *next;
};

struct queue {
    struct toy *toy;
    slri_thread thread;
    slri_mutex lock; // of the next four
    struct work *first, **end;
    uint64_t from_ns,
        to_ns;            // when the thread was at commands whose times are wanted, since the last wait; 0: it was not
    uint32_t begun, done; // atomic; futexes: commands so far. `begun` moves also for the end
    uint32_t ends;        // atomic
};

// ---- the thread ----------------------------------------------------------------------------------------------------

static void fill(const struct slri_command *command)
{
    unsigned char *to = toy_host(command->fill.device);
    for (uint64_t at = 0; at < command->fill.bytes; at += command->fill.pattern_bytes)
        memcpy(to + at, command->fill.pattern, command->fill.pattern_bytes);
}

static void run(const struct part *part)
{
    const struct slri_command *command = &part->command;
    switch (command->op) {
    case SLRI_COPY_IN:
        memcpy(toy_host(command->copy.device), command->copy.host, command->copy.bytes);
        break;
    case SLRI_COPY_OUT:
        memcpy(command->copy.host, toy_host(command->copy.device), command->copy.bytes);
        break;
    case SLRI_COPY:
        memcpy(toy_host(command->move.to), toy_host(command->move.from), command->move.bytes);
        break;
    case SLRI_FILL:
        fill(command);
        break;
    case SLRI_DISPATCH:
        toy_dispatch(command, &part->extras);
        break;
    default: { // a list; the engine gives a queue nothing else
        const struct list *list = command->list;
        for (uint32_t i = 0; i < list->count; ++i)
            run(&list->part[i]);
    }
    }
}

static struct work *take(struct queue *queue)
{
    slri_mutex_lock(&queue->lock);
    struct work *work = queue->first;
    if (work)
        queue->first = work->next;
    if (!queue->first)
        queue->end = &queue->first;
    slri_mutex_unlock(&queue->lock);
    return work;
}

static void finish(struct queue *queue, struct work *work, uint64_t from_ns)
{
    if (work->part.extras.wants_times) {
        slri_mutex_lock(&queue->lock);
        queue->from_ns = queue->from_ns != 0 ? queue->from_ns : from_ns;
        queue->to_ns = slri_now_ns();
        slri_mutex_unlock(&queue->lock);
    }
    slri_free(queue->toy->allocator, work, sizeof *work);
    __atomic_fetch_add(&queue->done, 1, __ATOMIC_RELEASE); // what the command wrote
    slri_futex_wake(&queue->done, UINT32_MAX);
}

static void work_off(void *arg)
{
    struct queue *queue = arg;
    for (;;) {
        uint32_t begun = __atomic_load_n(&queue->begun, __ATOMIC_ACQUIRE);
        struct work *work = take(queue);
        if (work) {
            uint64_t from_ns = slri_now_ns();
            run(&work->part);
            finish(queue, work, from_ns);
        } else if (__atomic_load_n(&queue->ends, __ATOMIC_ACQUIRE)) {
            return;
        } else {
            slri_futex_wait(&queue->begun, begun, SLRI_FOREVER);
        }
    }
}

static void ring_the_bell(struct queue *queue)
{
    __atomic_fetch_add(&queue->begun, 1, __ATOMIC_RELEASE);
    slri_futex_wake(&queue->begun, 1);
}

// ---- life ----------------------------------------------------------------------------------------------------------

slr_status toy_queue_create(void *device, uint32_t priority, void **queue)
{
    struct toy *toy = device;
    (void)priority; // threads have none
    SLRI_TRY(slri_loss_check(&toy->loss));
    struct queue *made = slri_alloc(toy->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device 'toy': no memory for a queue");
    made->toy = toy;
    made->end = &made->first;
    slri_mutex_init(&made->lock);
    slr_status status = slri_thread_start(&made->thread, "toy", work_off, made);
    if (status == SLR_OK) {
        *queue = made;
        return SLR_OK;
    }
    slri_mutex_destroy(&made->lock);
    slri_free(toy->allocator, made, sizeof *made);
    return status;
}

void toy_queue_destroy(void *device, void *queue)
{
    struct toy *toy = device;
    struct queue *dying = queue;
    __atomic_store_n(&dying->ends, 1, __ATOMIC_RELEASE);
    ring_the_bell(dying);
    slri_thread_join(&dying->thread);
    slri_mutex_destroy(&dying->lock);
    slri_free(toy->allocator, dying, sizeof *dying);
}

// ---- commands ------------------------------------------------------------------------------------------------------

static slr_status put(struct queue *queue, const struct slri_command *command, const struct slri_extras *extras)
{
    struct work *work = slri_alloc(queue->toy->allocator, sizeof *work);
    if (!work)
        return SLRI_FAIL(NO_MEMORY, "device 'toy': no memory for a command");
    work->part = (struct part){*command, *extras};
    slri_mutex_lock(&queue->lock);
    *queue->end = work;
    queue->end = &work->next;
    slri_mutex_unlock(&queue->lock);
    ring_the_bell(queue);
    return SLR_OK;
}

slr_status toy_encode(void *device, void *queue, const struct slri_command *command, const struct slri_extras *extras,
                      uint32_t commands)
{
    const struct toy *toy = device;
    SLRI_TRY(slri_loss_check(&toy->loss));
    for (uint32_t i = 0; i < commands; ++i)
        SLRI_TRY(put(queue, &command[i], &extras[i]));
    return SLR_OK;
}

slr_status toy_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times)
{
    struct toy *toy = device;
    struct queue *of = queue;
    uint32_t begun = __atomic_load_n(&of->begun, __ATOMIC_RELAXED), done; // one thread at a time encodes and waits
    while ((done = __atomic_load_n(&of->done, __ATOMIC_ACQUIRE)) != begun) {
        if (slri_passed(deadline_ns))
            return slri_lose(&toy->loss, "a command did not end in time");
        slri_futex_wait(&of->done, done, deadline_ns);
    }
    slri_mutex_lock(&of->lock);
    if (times)
        *times = (struct slri_times){.from_ns = of->from_ns, .to_ns = of->to_ns};
    of->from_ns = of->to_ns = 0;
    slri_mutex_unlock(&of->lock);
    return slri_loss_check(&toy->loss);
}

// ---- lists ---------------------------------------------------------------------------------------------------------

slr_status toy_list_create(void *device, const struct slri_command *command, const struct slri_extras *extras,
                           uint32_t commands, void **list)
{
    struct toy *toy = device;
    SLRI_TRY(slri_loss_check(&toy->loss));
    struct list *made = slri_alloc(toy->allocator, sizeof *made + commands * sizeof *made->part);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device 'toy': no memory for a list");
    made->count = commands;
    for (uint32_t i = 0; i < commands; ++i)
        made->part[i] = (struct part){command[i], extras[i]};
    *list = made;
    return SLR_OK;
}

void toy_list_destroy(void *device, void *list)
{
    struct toy *toy = device;
    struct list *dying = list;
    slri_free(toy->allocator, dying, sizeof *dying + dying->count * sizeof *dying->part);
}
