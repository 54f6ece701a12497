// SPDX-License-Identifier: Apache-2.0
// A host has its stores in order, as its processor shows them; a GPU has not. So what was there before the late ones is
// put back for the time in which a relaxed store is seen without them. That is one of the orders that a GPU may show:
// who goes wrong by it lacks a fence, or reads what nobody has shown him. The lanes of the block do not run meanwhile,
// and nobody else may write what they have written and not yet shown.
#define _POSIX_C_SOURCE 200809L
#include "tests/shim/late.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

#define LATE_NS 50000 // and some 60 us that the host adds: a few looks of a thread that waits for it
#define ROUNDS 100    // of each block beside: two or three looks at all that it looks at
#define MOST_SLEEPS 40

static uint32_t running, rounds, waiting; // atomic, of all blocks

void shim_late_runs(bool begins)
{
    __atomic_fetch_add(&running, begins ? 1 : UINT32_MAX, __ATOMIC_RELAXED);
}

void shim_late_round(void)
{
    __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED);
}

// Blocks beside that do not wait here themselves: those look at nothing meanwhile.
static uint32_t others(void)
{
    const int32_t count =
        (int32_t)(__atomic_load_n(&running, __ATOMIC_RELAXED) - __atomic_load_n(&waiting, __ATOMIC_RELAXED));
    return count > 0 ? (uint32_t)count : 0;
}

// Until others have had time to see it: blocks beside, also where the machine has others to run, and the host.
static void wait_for_others(void)
{
    uint32_t since = __atomic_load_n(&rounds, __ATOMIC_RELAXED);
    __atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED);
    for (int i = 0;
         i < MOST_SLEEPS && (i == 0 || __atomic_load_n(&rounds, __ATOMIC_RELAXED) - since < ROUNDS * others()); ++i)
        nanosleep(&(struct timespec){.tv_nsec = LATE_NS}, NULL);
    __atomic_fetch_sub(&waiting, 1, __ATOMIC_RELAXED);
}

static void note_piece(struct shim_late *late, unsigned char *at, uint32_t bytes)
{
    struct shim_piece *piece = &late->piece[late->pieces++];
    piece->at = at;
    piece->bytes = bytes;
    memcpy(piece->before, at, bytes);
}

// What finds no room is never late.
void shim_late_note(struct shim_late *late, void *at, size_t bytes)
{
    unsigned char *from = at;
    for (size_t done = 0; done < bytes && late->pieces < SHIM_LATE_PIECES; done += 16)
        note_piece(late, from + done, bytes - done < 16 ? (uint32_t)(bytes - done) : 16);
}

static bool is_release(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

// Of whichever lane it is, all of the block are behind it: too much, for one that has not met the others.
void shim_late_order(struct shim_late *late, int order)
{
    if (is_release(order))
        late->pieces = 0;
}

#define STORE(type)                                                                                                    \
    order == __ATOMIC_SEQ_CST ? __atomic_store((type *)to, (type *)value, __ATOMIC_SEQ_CST)                            \
                              : __atomic_store((type *)to, (type *)value, __ATOMIC_RELEASE)
static void store(void *to, const void *value, unsigned bytes, int order)
{
    switch (bytes) {
    case 1:
        STORE(uint8_t);
        break;
    case 2:
        STORE(uint16_t);
        break;
    case 4:
        STORE(uint32_t);
        break;
    default:
        STORE(uint64_t);
    }
}

// The last first: where one place was written twice the first knows what was there.
static void take_back(struct shim_late *late)
{
    for (uint32_t i = 0; i < late->pieces; ++i)
        memcpy(late->piece[i].now, late->piece[i].at, late->piece[i].bytes);
    for (uint32_t i = late->pieces; i-- > 0;)
        memcpy(late->piece[i].at, late->piece[i].before, late->piece[i].bytes);
}

static void put_again(struct shim_late *late)
{
    for (uint32_t i = 0; i < late->pieces; ++i)
        memcpy(late->piece[i].at, late->piece[i].now, late->piece[i].bytes);
    late->pieces = 0;
}

void shim_late_store(struct shim_late *late, void *to, const void *value, unsigned bytes, int order)
{
    shim_late_order(late, order);
    bool is_early = late->pieces != 0;
    if (is_early)
        take_back(late);
    store(to, value, bytes, order);
    if (!is_early)
        return;
    wait_for_others();
    put_again(late);
}
