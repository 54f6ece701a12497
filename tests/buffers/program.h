// SPDX-License-Identifier: Apache-2.0
// Programs of steps. A step's numbers are taken modulo what there is when it is played, so that any steps in any order
// are a program.
#ifndef TESTS_BUFFERS_PROGRAM_H
#define TESTS_BUFFERS_PROGRAM_H

#include <stdint.h>

enum kind {
    CREATE,
    SLICE,
    ACQUIRE,
    DESTROY,
    HOST_WRITE,
    HOST_READ,
    MAP,
    UNMAP,
    SYNC,
    WRITE,
    READ,
    COPY,
    FILL,
    PREFETCH,
    LAUNCH,
    GRAPH,
    WAIT,
    RENEW_STREAM,
    FINISH,
    TRIM,
    KINDS
};

static const char *const kind_names[KINDS] = {
    "create", "slice", "acquire", "destroy",  "host write", "host read", "map",  "unmap",        "sync",   "write",
    "read",   "copy",  "fill",    "prefetch", "launch",     "graph",     "wait", "renew stream", "finish", "trim"};

// How often each is, of the sum.
static const uint8_t kind_weights[KINDS] = {
    [CREATE] = 4, [SLICE] = 4, [ACQUIRE] = 5, [DESTROY] = 5,      [HOST_WRITE] = 8, [HOST_READ] = 6, [MAP] = 10,
    [UNMAP] = 8,  [SYNC] = 4,  [WRITE] = 10,  [READ] = 8,         [COPY] = 12,      [FILL] = 10,     [PREFETCH] = 4,
    [LAUNCH] = 8, [GRAPH] = 5, [WAIT] = 3,    [RENEW_STREAM] = 2, [FINISH] = 2,     [TRIM] = 1};

struct step {
    enum kind kind;
    uint32_t n[8];
};

enum { STEPS = 150 };

static inline uint32_t next_number(uint64_t *random) // xorshift64*
{
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return (uint32_t)((*random * 0x2545F4914F6CDD1Du) >> 32);
}

static inline enum kind any_kind(uint64_t *random)
{
    uint32_t sum = 0, at;
    for (int i = 0; i < KINDS; ++i)
        sum += kind_weights[i];
    at = next_number(random) % sum;
    int kind = 0;
    while (at >= kind_weights[kind])
        at -= kind_weights[kind++];
    return (enum kind)kind;
}

static inline void make_program(uint64_t seed, struct step step[STEPS])
{
    uint64_t random = seed * 0x9E3779B97F4A7C15u + 1;
    for (int i = 0; i < STEPS; ++i) {
        step[i].kind = any_kind(&random);
        for (int k = 0; k < 8; ++k)
            step[i].n[k] = next_number(&random);
    }
}

#endif
