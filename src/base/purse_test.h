// SPDX-License-Identifier: Apache-2.0
// An allocator for tests of setups in which each allocation fails in turn.
#ifndef SLRI_BASE_PURSE_TEST_H
#define SLRI_BASE_PURSE_TEST_H

#include "base/aligned_test.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Gives `left` allocations, then none; counts what is out.
struct purse {
    uint64_t left, out; // atomic: threads of the device take, too
};

static inline void *purse_give(void *user, size_t bytes, size_t alignment)
{
    struct purse *purse = user;
    uint64_t left = __atomic_load_n(&purse->left, __ATOMIC_RELAXED);
    while (left != 0 &&
           !__atomic_compare_exchange_n(&purse->left, &left, left - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    void *memory = left != 0 ? aligned_take(alignment, bytes) : NULL;
    if (!memory)
        return NULL;
    memset(memory, 0xa5, bytes); // it need not be zeroed
    __atomic_fetch_add(&purse->out, bytes, __ATOMIC_RELAXED);
    return memory;
}

static inline void purse_take(void *user, void *memory, size_t bytes)
{
    __atomic_fetch_sub(&((struct purse *)user)->out, bytes, __ATOMIC_RELAXED);
    aligned_give(memory);
}

#endif
