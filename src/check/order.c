// SPDX-License-Identifier: Apache-2.0
#include "check/order.h"

#include <string.h>

#define KNOWN_LIMIT 4096 // entries; past that, all of a block counts as known: a race may be missed, none is invented

// ---- sets ----------------------------------------------------------------------------------------------------------

static bool is_later(const struct slri_known *a, const struct slri_known *b)
{
    return a->epoch != b->epoch ? a->epoch > b->epoch : a->sub > b->sub;
}

static struct slri_known *find_order(const struct slri_knowledge *set, uint32_t block, uint32_t thread)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->list[i].block == block && set->list[i].thread == thread)
            return &set->list[i];
    return NULL;
}

static void learn(struct slri_ordering *order, struct slri_knowledge *set, struct slri_known one)
{
    struct slri_known *known = find_order(set, one.block, one.thread);
    if (known != NULL) {
        if (is_later(&one, known))
            *known = one;
        return;
    }
    if (set->count == KNOWN_LIMIT && one.thread != SLRI_WHOLE_BLOCK) {
        one = (struct slri_known){one.block, SLRI_WHOLE_BLOCK, UINT32_MAX, 0};
        set->count = 0;
    }
    if (set->count == set->room) {
        uint32_t room = set->room ? set->room * 2 : 4;
        struct slri_known *list = slri_region_take(order->region, room * sizeof *list);
        if (list == NULL) {
            order->is_full = true;
            return;
        }
        if (set->count > 0)
            memcpy(list, set->list, set->count * sizeof *list);
        set->list = list;
        set->room = room;
    }
    set->list[set->count++] = one;
}

static void learn_all(struct slri_ordering *order, struct slri_knowledge *set, const struct slri_knowledge *other)
{
    for (uint32_t i = 0; i < other->count; i++)
        learn(order, set, other->list[i]);
}

// ---- the points that order -----------------------------------------------------------------------------------------

static void begin_epoch(struct slri_ordering *order)
{
    for (uint32_t i = 0; i < order->threads; i++) {
        struct slri_order_thread *thread = &order->thread[i];
        thread->sub = 0;
        memset(thread->lane, 0, sizeof thread->lane);
        thread->known.count = thread->fenced.count = 0;
        thread->has_fence = false;
    }
}

void slri_order_open(struct slri_ordering *order, uint32_t block)
{
    order->block = block;
    order->epoch = 0;
    order->known.count = order->fenced.count = 0;
    begin_epoch(order);
}

void slri_order_barrier(struct slri_ordering *order)
{
    uint32_t fences = 0;
    for (uint32_t i = 0; i < order->threads; i++) {
        learn_all(order, &order->known, &order->thread[i].known);
        learn_all(order, &order->fenced, &order->thread[i].fenced);
        fences += order->thread[i].has_fence;
    }
    order->epoch++;
    if (fences == order->threads)
        learn(order, &order->fenced, (struct slri_known){order->block, SLRI_WHOLE_BLOCK, order->epoch, 0});
    begin_epoch(order);
}

void slri_order_warp(struct slri_ordering *order, uint32_t first, uint32_t lanes)
{
    struct slri_order_thread *thread = &order->thread[first];
    uint32_t joined[SLRI_WARP_THREADS] = {0};
    struct slri_order_thread *leader = NULL;
    for (uint32_t i = 0; i < SLRI_WARP_THREADS; i++) {
        if (!(lanes >> i & 1))
            continue;
        for (uint32_t k = 0; k < SLRI_WARP_THREADS; k++)
            joined[k] = thread[i].lane[k] > joined[k] ? thread[i].lane[k] : joined[k];
        joined[i] = ++thread[i].sub;
        if (leader == NULL)
            leader = &thread[i];
        else
            learn_all(order, &leader->known, &thread[i].known);
    }
    for (uint32_t i = 0; i < SLRI_WARP_THREADS; i++) {
        if (!(lanes >> i & 1))
            continue;
        memcpy(thread[i].lane, joined, sizeof joined);
        if (&thread[i] != leader)
            learn_all(order, &thread[i].known, &leader->known);
    }
}

void slri_order_fence(struct slri_ordering *order, uint32_t number)
{
    struct slri_order_thread *thread = &order->thread[number];
    uint32_t first = number / SLRI_WARP_THREADS * SLRI_WARP_THREADS;
    thread->sub++;
    thread->has_fence = true;
    learn_all(order, &thread->fenced, &order->known);
    learn_all(order, &thread->fenced, &thread->known);
    learn(order, &thread->fenced, (struct slri_known){order->block, SLRI_WHOLE_BLOCK, order->epoch, 0});
    learn(order, &thread->fenced, (struct slri_known){order->block, number, order->epoch, thread->sub});
    for (uint32_t i = 0; i < SLRI_WARP_THREADS; i++)
        if (thread->lane[i] > 0)
            learn(order, &thread->fenced, (struct slri_known){order->block, first + i, order->epoch, thread->lane[i]});
}

void slri_order_atomic(struct slri_ordering *order, uint32_t number, struct slri_knowledge *word, bool reads,
                       bool writes)
{
    struct slri_order_thread *thread = &order->thread[number];
    if (reads)
        learn_all(order, &thread->known, word);
    if (writes) {
        learn_all(order, word, &order->fenced);
        learn_all(order, word, &thread->fenced);
    }
}

// ---- asking --------------------------------------------------------------------------------------------------------

static bool knows(const struct slri_knowledge *set, const struct slri_mark *mark)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct slri_known *one = &set->list[i];
        if (one->block + 1 != mark->block)
            continue;
        if (one->epoch > mark->epoch && (one->thread == SLRI_WHOLE_BLOCK || one->thread == mark->thread))
            return true;
        if (one->thread == mark->thread && one->epoch == mark->epoch && one->sub > mark->sub)
            return true;
    }
    return false;
}

bool slri_order_before(const struct slri_ordering *order, uint32_t number, const struct slri_mark *mark)
{
    const struct slri_order_thread *thread = &order->thread[number];
    if (mark->block == order->block + 1) {
        if (mark->epoch < order->epoch || mark->thread == number)
            return true;
        if (mark->thread / SLRI_WARP_THREADS == number / SLRI_WARP_THREADS &&
            mark->sub < thread->lane[mark->thread % SLRI_WARP_THREADS])
            return true;
    }
    return knows(&order->known, mark) || knows(&thread->known, mark);
}
