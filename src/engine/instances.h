// SPDX-License-Identifier: Apache-2.0
// The messages of a batch by instance: which one of its instance comes before a message, and which behind it.
#ifndef SLRI_ENGINE_INSTANCES_H
#define SLRI_ENGINE_INSTANCES_H

#include "hal/hal.h"

#include <string.h>

#define SLRI_NO_MESSAGE UINT32_MAX
#define SLRI_INSTANCE_LISTS 64u

// The lists are of messages whose instances have the same remainder, the last one first. A message is 1 + its number;
// 0: none.
struct slri_instances {
    uint8_t head[SLRI_INSTANCE_LISTS], in_list[SLRI_MOST_BATCH];
    uint8_t before[SLRI_MOST_BATCH], behind[SLRI_MOST_BATCH]; // of the same instance
    uint32_t instance[SLRI_MOST_BATCH];
};
_Static_assert(SLRI_MOST_BATCH < 256, "1 + a message's number is a byte");

static inline void slri_instances_begin(struct slri_instances *all)
{
    memset(all->head, 0, sizeof all->head);
}

static inline uint32_t slri_instances_number(uint8_t message)
{
    return message ? message - 1u : SLRI_NO_MESSAGE;
}

// Message k, behind those from 0 to k - 1. Gives the one before it of its instance, or SLRI_NO_MESSAGE.
static inline uint32_t slri_instances_add(struct slri_instances *all, uint32_t k, uint32_t instance)
{
    uint8_t *head = &all->head[instance % SLRI_INSTANCE_LISTS], at = *head;
    while (at && all->instance[at - 1] != instance)
        at = all->in_list[at - 1];
    all->instance[k] = instance;
    all->in_list[k] = *head;
    all->before[k] = at;
    all->behind[k] = 0;
    *head = (uint8_t)(k + 1);
    if (at)
        all->behind[at - 1] = *head;
    return slri_instances_number(at);
}

static inline bool slri_instances_is_first(const struct slri_instances *all, uint32_t k)
{
    return all->before[k] == 0;
}

static inline uint32_t slri_instances_next(const struct slri_instances *all, uint32_t k)
{
    return slri_instances_number(all->behind[k]);
}

#endif
