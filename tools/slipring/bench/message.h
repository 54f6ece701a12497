// SPDX-License-Identifier: Apache-2.0
/// The message of the benchmarks, 64 bytes, and the work on it: every word of it is written, read and summed, in the
/// ring kernel and in its floor alike, so that no compiler can leave any of it out.
#ifndef BENCH_MESSAGE_H
#define BENCH_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

enum { BENCH_WORDS = 16 };

typedef struct bench_message {
    uint32_t word[BENCH_WORDS];
} bench_message;

static inline void bench_fill(bench_message *message, uint32_t number)
{
    for (uint32_t i = 0; i < BENCH_WORDS; i++)
        message->word[i] = number + i;
}

static inline uint32_t bench_sum(const bench_message *message)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < BENCH_WORDS; i++)
        sum += message->word[i];
    return sum;
}

/// The sum of what bench_fill fills.
static inline uint32_t bench_sum_of(uint32_t number)
{
    return BENCH_WORDS * number + BENCH_WORDS * (BENCH_WORDS - 1) / 2;
}

static inline void bench_answer(bench_message *restrict answer, const bench_message *restrict message)
{
    for (uint32_t i = 0; i < BENCH_WORDS; i++)
        answer->word[i] = message->word[i] + 1;
}

static inline bool bench_is_answer(const bench_message *answer, uint32_t number)
{
    return bench_sum(answer) == bench_sum_of(number) + BENCH_WORDS;
}

#endif
