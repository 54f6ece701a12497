// SPDX-License-Identifier: Apache-2.0
// Command queues, each with a thread that does what is committed; command buffers; encoders; events.
#define _POSIX_C_SOURCE 200809L
#include "tests/fakes/metal/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NOT_COMMITTED = 0, COMMITTED = 2, COMPLETED = 4, FAILED = 5 }; // MTLCommandBufferStatus
enum { CODE_PAGE_FAULT = 3, CODE_OUT_OF_MEMORY = 8, CODE_REMOVED = 11 };
#define MOST_SET 4096u
#define MEETING_S 120

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of all that follows
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

struct queue {
    struct object object;
    uint64_t most, there;          // command buffers that have not ended
    struct commands *first, *last; // that are committed
    pthread_t thread;
    bool runs, stops;
};

struct event {
    struct object object;
    uint64_t value;
};

struct recorded { // a launch
    struct launch launch;
    unsigned char block[MOST_SET];
    struct buffer *from; // or where the block lies
    uint64_t offset;
    struct recorded *next;
};

struct commands {
    struct object object;
    struct queue *queue;
    uint64_t status;
    struct encoder *open; // NULL: none
    struct recorded *first, *last;
    struct event *event;
    uint64_t value; // that it gets
    struct object *error;
    int64_t code; // with which it will fail; 0: it will not
    double from_s, to_s;
    struct object *kept[256]; // what it uses, until it has ended
    uint32_t keeps;
    struct commands *next;
};

struct encoder {
    struct object object;
    struct commands *commands;
    struct pipeline *pipeline;
    unsigned char block[MOST_SET];
    uint64_t block_bytes; // 0: none was set
    struct buffer *from;
    uint64_t offset, dynamic_bytes;
    struct buffer *used[512];
    uint32_t uses;
    bool has_ended;
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// ---- what a command buffer does ------------------------------------------------------------------------------------

static void keep(struct commands *commands, struct object *object)
{
    for (uint32_t i = 0; i < commands->keeps; ++i)
        if (commands->kept[i] == object)
            return;
    if (commands->keeps == sizeof commands->kept / sizeof *commands->kept)
        wrong("a command buffer uses more than %u objects", commands->keeps);
    else
        commands->kept[commands->keeps++] = held(object);
}

static void forget_launches(struct commands *commands)
{
    for (struct recorded *each = commands->first, *next; each; each = next) {
        next = each->next;
        free(each);
    }
    commands->first = commands->last = NULL;
    for (uint32_t i = 0; i < commands->keeps; ++i)
        let_go(commands->kept[i]);
    commands->keeps = 0;
}

static void end_commands(struct object *object)
{
    struct commands *commands = (struct commands *)object;
    forget_launches(commands);
    let_go(commands->error);
    if (commands->event)
        let_go(&commands->event->object);
    pthread_mutex_lock(&lock);
    commands->queue->there -= commands->status == NOT_COMMITTED;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    let_go(&commands->queue->object);
}

static int64_t run_all(const struct commands *commands)
{
    int64_t code = commands->code;
    for (struct recorded *each = commands->first; each && code == 0; each = each->next) {
        each->launch.block = each->from ? each->from->device + each->offset : each->block;
        code = is_lost() ? CODE_REMOVED : run(&each->launch) ? 0 : CODE_PAGE_FAULT;
    }
    return code != 0 ? code : is_lost() ? CODE_REMOVED : 0;
}

static const char *words_for(int64_t code)
{
    return code == CODE_REMOVED         ? "the device was removed"
           : code == CODE_OUT_OF_MEMORY ? "insufficient memory"
                                        : "caused GPU address fault";
}

static void finish(struct commands *commands, int64_t code, double from_s)
{
    void *objc_autoreleasePoolPush(void);
    void objc_autoreleasePoolPop(void *token);
    void *pool = objc_autoreleasePoolPush();
    struct object *error = code ? held(error_of(code, words_for(code))) : NULL;
    objc_autoreleasePoolPop(pool);
    forget_launches(commands);
    pthread_mutex_lock(&lock);
    commands->from_s = from_s;
    commands->to_s = now_s();
    commands->error = error;
    if (code == 0 && commands->event && commands->event->value < commands->value)
        commands->event->value = commands->value;
    commands->status = code == 0 ? COMPLETED : FAILED;
    --commands->queue->there;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

// ---- queues --------------------------------------------------------------------------------------------------------

static _Thread_local bool is_over; // the queue of this thread has ended in this thread

static struct commands *next_of(struct queue *queue)
{
    pthread_mutex_lock(&lock);
    while (!queue->stops && (!queue->first || __atomic_load_n(&fake.hangs, __ATOMIC_RELAXED))) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += soon.tv_nsec < 990000000 ? 10000000 : 0; // what hangs is not told that it goes on
        soon.tv_sec += soon.tv_nsec >= 990000000;
        if (queue->first)
            pthread_cond_timedwait(&changed, &lock, &soon);
        else
            pthread_cond_wait(&changed, &lock);
    }
    struct commands *next = queue->stops ? NULL : queue->first;
    if (next)
        queue->first = next->next;
    if (!queue->first)
        queue->last = NULL;
    pthread_mutex_unlock(&lock);
    return next;
}

static void *serve(void *user)
{
    struct queue *queue = user;
    for (struct commands *commands; !is_over && (commands = next_of(queue)) != NULL;) {
        const double from_s = now_s();
        finish(commands, run_all(commands), from_s);
        let_go(&commands->object);
    }
    return NULL;
}

static void end_queue(struct object *object)
{
    struct queue *queue = (struct queue *)object;
    if (!queue->runs)
        return;
    if (pthread_equal(queue->thread, pthread_self())) {
        pthread_detach(queue->thread);
        is_over = true;
        return;
    }
    pthread_mutex_lock(&lock);
    queue->stops = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(queue->thread, NULL);
}

static struct class class_MTLCommandBuffer, class_MTLComputeCommandEncoder;

// It waits for room, as Metal does.
static struct object *command_buffer(struct queue *queue, sel selector)
{
    (void)selector;
    if (fails("commandBuffer"))
        return NULL;
    pthread_mutex_lock(&lock);
    while (queue->there == queue->most)
        pthread_cond_wait(&changed, &lock);
    ++queue->there;
    pthread_mutex_unlock(&lock);
    struct commands *commands = made(&class_MTLCommandBuffer);
    commands->queue = (struct queue *)held(&queue->object);
    return later(&commands->object);
}

static struct class class_MTLCommandQueue = {.name = "MTLCommandQueue",
                                             .bytes = sizeof(struct queue),
                                             .of_object =
                                                 (struct method[]){METHOD("commandBuffer", command_buffer), {0}},
                                             .end = end_queue};

struct object *new_queue(struct object *device, sel selector, uint64_t most)
{
    (void)device, (void)selector;
    if (fails("newCommandQueue"))
        return NULL;
    struct queue *queue = made(&class_MTLCommandQueue);
    queue->most = most;
    return &queue->object;
}

// ---- events --------------------------------------------------------------------------------------------------------

static bool await(struct event *event, sel selector, uint64_t value, uint64_t ms)
{
    struct timespec until;
    (void)selector;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(ms / 1000) + (until.tv_nsec + (long)(ms % 1000) * 1000000) / 1000000000;
    until.tv_nsec = (until.tv_nsec + (long)(ms % 1000) * 1000000) % 1000000000;
    pthread_mutex_lock(&lock);
    int error = 0;
    while (event->value < value && error == 0)
        error = pthread_cond_timedwait(&changed, &lock, &until);
    const bool is_there = event->value >= value;
    pthread_mutex_unlock(&lock);
    return is_there;
}

static struct class class_MTLSharedEvent = {
    .name = "MTLSharedEvent",
    .bytes = sizeof(struct event),
    .of_object = (struct method[]){METHOD("waitUntilSignaledValue:timeoutMS:", await), {0}}};

struct object *new_event(struct object *device, sel selector)
{
    (void)device, (void)selector;
    return fails("newSharedEvent") ? NULL : made(&class_MTLSharedEvent);
}

// ---- command buffers -----------------------------------------------------------------------------------------------

static bool may_change(const struct commands *commands, const char *call)
{
    if (commands->status != NOT_COMMITTED)
        wrong("%s of a command buffer that was committed", call);
    else if (commands->open)
        wrong("%s of a command buffer while an encoder is open", call);
    return commands->status == NOT_COMMITTED && !commands->open;
}

static struct object *new_encoder(struct commands *commands, sel selector)
{
    (void)selector;
    if (!may_change(commands, "computeCommandEncoder") || fails("computeCommandEncoder"))
        return NULL;
    struct encoder *encoder = made(&class_MTLComputeCommandEncoder);
    encoder->commands = (struct commands *)held(&commands->object);
    commands->open = encoder;
    pthread_mutex_lock(&lock);
    ++fake.encoders_open;
    fake.most_open = fake.encoders_open > fake.most_open ? fake.encoders_open : fake.most_open;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return later(&encoder->object);
}

static void signal_event(struct commands *commands, sel selector, struct event *event, uint64_t value)
{
    (void)selector;
    if (!may_change(commands, "encodeSignalEvent") || commands->event)
        return;
    commands->event = (struct event *)held(&event->object);
    commands->value = value;
}

static void commit(struct commands *commands, sel selector)
{
    struct queue *queue = commands->queue;
    (void)selector;
    if (!may_change(commands, "commit"))
        return;
    if (loses("commit") && fake.error == 0)
        commands->code = CODE_OUT_OF_MEMORY;
    held(&commands->object); // until it has ended
    pthread_mutex_lock(&lock);
    commands->status = COMMITTED;
    if (queue->last)
        queue->last->next = commands;
    else
        queue->first = commands;
    queue->last = commands;
    if (!queue->runs)
        queue->runs = pthread_create(&queue->thread, NULL, serve, queue) == 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void await_commands(struct commands *commands, sel selector)
{
    (void)selector;
    pthread_mutex_lock(&lock);
    const bool was_committed = commands->status != NOT_COMMITTED;
    while (was_committed && commands->status < COMPLETED)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    if (!was_committed)
        wrong("waitUntilCompleted of a command buffer that was not committed");
}

static uint64_t status_of(struct commands *commands, sel selector)
{
    (void)selector;
    pthread_mutex_lock(&lock);
    const uint64_t status = commands->status;
    pthread_mutex_unlock(&lock);
    return status;
}

static struct object *error_in(struct commands *commands, sel selector)
{
    (void)selector;
    pthread_mutex_lock(&lock);
    struct object *error = commands->error;
    pthread_mutex_unlock(&lock);
    return error;
}

static double began(const struct commands *commands, sel selector)
{
    (void)selector;
    if (commands->status < COMPLETED)
        wrong("GPUStartTime of a command buffer that has not ended");
    return commands->from_s;
}

static double ended(const struct commands *commands, sel selector)
{
    (void)selector;
    return commands->to_s;
}

static struct class class_MTLCommandBuffer = {.name = "MTLCommandBuffer",
                                              .bytes = sizeof(struct commands),
                                              .of_object =
                                                  (struct method[]){METHOD("computeCommandEncoder", new_encoder),
                                                                    METHOD("encodeSignalEvent:value:", signal_event),
                                                                    METHOD("commit", commit),
                                                                    METHOD("waitUntilCompleted", await_commands),
                                                                    METHOD("status", status_of),
                                                                    METHOD("error", error_in),
                                                                    METHOD("GPUStartTime", began),
                                                                    METHOD("GPUEndTime", ended),
                                                                    {0}},
                                              .end = end_commands};

// ---- encoders ------------------------------------------------------------------------------------------------------

static bool may_encode(const struct encoder *encoder, const char *call)
{
    if (encoder->has_ended)
        wrong("%s of an encoder that has ended", call);
    return !encoder->has_ended;
}

static void close_encoder(struct encoder *encoder)
{
    encoder->has_ended = true;
    encoder->commands->open = NULL;
    pthread_mutex_lock(&lock);
    --fake.encoders_open;
    pthread_mutex_unlock(&lock);
}

static void end_encoding(struct encoder *encoder, sel selector)
{
    (void)selector;
    if (may_encode(encoder, "endEncoding"))
        close_encoder(encoder);
}

static void end_encoder(struct object *object)
{
    struct encoder *encoder = (struct encoder *)object;
    if (!encoder->has_ended) {
        wrong("an encoder is released without endEncoding");
        close_encoder(encoder);
    }
    let_go(&encoder->commands->object);
}

static void set_pipeline(struct encoder *encoder, sel selector, struct pipeline *pipeline)
{
    (void)selector;
    if (!may_encode(encoder, "setComputePipelineState"))
        return;
    encoder->pipeline = pipeline;
    keep(encoder->commands, &pipeline->object);
}

static void set_bytes(struct encoder *encoder, sel selector, const void *bytes, uint64_t count, uint64_t index)
{
    (void)selector;
    if (!may_encode(encoder, "setBytes"))
        return;
    if (index != 0 || count == 0 || count > MOST_SET) {
        wrong("setBytes of %llu B at %llu", (unsigned long long)count, (unsigned long long)index);
        return;
    }
    memset(encoder->block, 0xa5, sizeof encoder->block);
    memcpy(encoder->block, bytes, count);
    encoder->block_bytes = count;
    encoder->from = NULL;
}

static void set_buffer(struct encoder *encoder, sel selector, struct buffer *buffer, uint64_t offset, uint64_t index)
{
    (void)selector;
    if (!may_encode(encoder, "setBuffer"))
        return;
    if (index != 0 || offset % 4 != 0 || offset >= buffer->bytes)
        wrong("setBuffer at %llu of %llu B, for %llu", (unsigned long long)offset, (unsigned long long)buffer->bytes,
              (unsigned long long)index);
    keep(encoder->commands, &buffer->object);
    encoder->from = buffer;
    encoder->offset = offset;
}

static void set_shared(struct encoder *encoder, sel selector, uint64_t bytes, uint64_t index)
{
    (void)selector;
    if (!may_encode(encoder, "setThreadgroupMemoryLength"))
        return;
    if (bytes == 0 || bytes % 16 != 0 || bytes > 32768 || index != 0)
        wrong("setThreadgroupMemoryLength of %llu B at %llu", (unsigned long long)bytes, (unsigned long long)index);
    encoder->dynamic_bytes = bytes;
}

static void use_resource(struct encoder *encoder, sel selector, struct buffer *buffer, uint64_t usage)
{
    (void)selector;
    if (!may_encode(encoder, "useResource"))
        return;
    if (usage == 0 || usage > 3)
        wrong("useResource with usage %llu", (unsigned long long)usage);
    keep(encoder->commands, &buffer->object);
    if (encoder->uses < sizeof encoder->used / sizeof *encoder->used)
        encoder->used[encoder->uses++] = buffer;
}

// What is in a block and looks like an address must be one of the device's, of a buffer that was made resident.
static void check_block(const struct encoder *encoder)
{
    uint64_t word;
    for (uint64_t at = 0; !encoder->from && at + sizeof word <= encoder->block_bytes; at += sizeof word) {
        memcpy(&word, encoder->block + at, sizeof word);
        if (buffer_at(word, true))
            wrong("a kernel is given an address of the host, at byte %llu of its block", (unsigned long long)at);
        const struct buffer *buffer = buffer_at(word, false);
        uint32_t i = 0;
        while (buffer && i < encoder->uses && encoder->used[i] != buffer)
            ++i;
        if (buffer && i == encoder->uses)
            wrong("a kernel is given a buffer that the encoder was not told of, at byte %llu of its block",
                  (unsigned long long)at);
    }
}

static bool may_dispatch(const struct encoder *encoder, struct size grid, struct size threads)
{
    const uint64_t all = threads.width * threads.height * threads.depth;
    if (!may_encode(encoder, "dispatchThreadgroups"))
        return false;
    if (!encoder->pipeline || (encoder->block_bytes == 0 && !encoder->from))
        wrong("dispatchThreadgroups without a pipeline or its block");
    else if (all == 0 || all > encoder->pipeline->most_threads || grid.width * grid.height * grid.depth == 0)
        wrong("dispatchThreadgroups of %llu threads, of a pipeline of %llu", (unsigned long long)all,
              (unsigned long long)encoder->pipeline->most_threads);
    else
        return true;
    return false;
}

static void meet(void)
{
    struct timespec until;
    int error = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += MEETING_S;
    pthread_mutex_lock(&lock);
    while (fake.most_open < fake.meeting && error == 0)
        error = pthread_cond_timedwait(&changed, &lock, &until);
    pthread_mutex_unlock(&lock);
    if (error != 0)
        wrong("no %u encoders are open at once", fake.meeting);
}

static void dispatch(struct encoder *encoder, sel selector, struct size grid, struct size threads)
{
    struct commands *commands = encoder->commands;
    (void)selector;
    if (!may_dispatch(encoder, grid, threads))
        return;
    check_block(encoder);
    meet();
    struct recorded *made_now = malloc(sizeof *made_now);
    if (!made_now)
        abort();
    *made_now = (struct recorded){.launch = {.pipeline = encoder->pipeline,
                                             .dynamic_bytes = encoder->dynamic_bytes,
                                             .grid = grid,
                                             .threads = threads},
                                  .from = encoder->from,
                                  .offset = encoder->offset};
    memcpy(made_now->block, encoder->block, sizeof encoder->block);
    if (commands->last)
        commands->last->next = made_now;
    else
        commands->first = made_now;
    commands->last = made_now;
}

static struct class class_MTLComputeCommandEncoder = {
    .name = "MTLComputeCommandEncoder",
    .bytes = sizeof(struct encoder),
    .of_object = (struct method[]){METHOD("setComputePipelineState:", set_pipeline),
                                   METHOD("setBytes:length:atIndex:", set_bytes),
                                   METHOD("setBuffer:offset:atIndex:", set_buffer),
                                   METHOD("setThreadgroupMemoryLength:atIndex:", set_shared),
                                   METHOD("useResource:usage:", use_resource),
                                   METHOD("dispatchThreadgroups:threadsPerThreadgroup:", dispatch),
                                   METHOD("endEncoding", end_encoding),
                                   {0}},
    .end = end_encoder};
