// SPDX-License-Identifier: Apache-2.0
/// The floors: the barest queues for one sender and one receiver, without credits, priorities, addresses or any way to
/// stop. Messages are written and read in place.
#ifndef BENCH_QUEUE_H
#define BENCH_QUEUE_H

#include "bench/message.h"
#include "spin.h"

enum { LATENCY_SLOTS = 256, BATCH_SLOTS = 1024, BENCH_BATCH = 32 };

/// For round trips: the sequence stands in front of its message, and slots lie close, so that the line on which the
/// receiver waits brings most of the message with it. (Of strides of 68, 80, 96 and 128 bytes and both places of the
/// sequence this was the fastest.)
typedef struct latency_slot {
    uint32_t sequence; // position + 1: full
    uint32_t unused[3];
    bench_message message;
} latency_slot;

static inline void latency_publish(latency_slot *slot, uint32_t position)
{
    __atomic_store_n(&slot->sequence, position + 1, __ATOMIC_RELEASE); // the message
}

/// Whether it is there; after a break if not: a line that is looked at without one is taken away while it is being
/// written. This made it 10 % faster.
static inline bool latency_look(const latency_slot *slot, uint32_t position)
{
    if (__atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) == position + 1) // the message
        return true;
    for (volatile int i = 0; i < 4; i++)
        ;
    return false;
}

static inline void latency_await(const latency_slot *slot, uint32_t position)
{
    while (!latency_look(slot, position))
        ;
}

/// For throughput: two counts, each published once a batch and cached by the other side.
typedef struct batch_queue {
    _Alignas(128) uint32_t written; // by the sender
    _Alignas(128) uint32_t read;    // by the receiver
    _Alignas(128) bench_message message[BATCH_SLOTS];
} batch_queue;

static inline bench_message *batch_at(batch_queue *queue, uint32_t position)
{
    return &queue->message[position % BATCH_SLOTS];
}

/// Release: the messages before `position` are written, or read.
static inline void batch_publish(uint32_t *count, uint32_t position)
{
    __atomic_store_n(count, position, __ATOMIC_RELEASE);
}

/// Acquire: the other side's messages, or its being done with them.
static inline uint32_t batch_look(const uint32_t *count)
{
    return __atomic_load_n(count, __ATOMIC_ACQUIRE);
}

#endif
