// SPDX-License-Identifier: Apache-2.0
#include "engine/resident_groups.h"

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "engine/code.h"
#include "engine/loss.h"
#include "engine/slabs.h"

#include <string.h>

// ---- a group -------------------------------------------------------------------------------------------------------

static void free_group(struct slri_resident *group)
{
    struct slri_residents *residents = group->residents;
    if (group->table)
        slri_resident_memory_destroy(group, group->table, sizeof *group->table);
    slri_free(residents->allocator, group, residents->ops->group_bytes);
}

static slr_status make_group(struct slri_resident *group, const struct slri_shard *shard)
{
    const struct slri_resident_ops *ops = group->residents->ops;
    void *table;
    SLRI_TRY(slri_resident_memory_create(group, sizeof *group->table, &table));
    group->table = table;
    slr_status status = ops->make(group, shard);
    if (status == SLR_OK)
        status = slri_resident_open(group);
    if (status != SLR_OK)
        ops->unmake(group, true);
    return status;
}

// `shard`: the first that it will serve; NULL: none is known yet.
static slr_status add_group(struct slri_residents *residents, struct slri_resident_handler *handler,
                            const struct slri_shard *shard)
{
    struct slri_resident *group = slri_alloc(residents->allocator, residents->ops->group_bytes);
    if (!group)
        return SLRI_FAIL(NO_MEMORY, "no memory for a group of ring kernel %s", handler->entry->name);
    group->residents = residents;
    group->of = handler;
    group->backend = handler->backend;
    group->handler = handler->entry;
    group->has_clock = handler->has_clock;
    slr_status status = make_group(group, shard);
    if (status != SLR_OK) {
        free_group(group);
        return status;
    }
    group->next_of_handler = handler->first;
    handler->first = group;
    return SLR_OK;
}

// A group that does not end keeps its memory.
static void drop_groups(struct slri_residents *residents, struct slri_resident_handler *handler)
{
    while (handler->first) {
        struct slri_resident *group = handler->first;
        handler->first = group->next_of_handler;
        bool has_ended = slri_resident_close(group);
        residents->ops->unmake(group, has_ended);
        if (has_ended) {
            free_group(group);
            continue;
        }
        group->of = NULL;
        group->next_of_handler = residents->stuck;
        residents->stuck = group;
    }
}

// ---- a handler: under the lock -------------------------------------------------------------------------------------

static struct slri_resident_handler *find_handler(const struct slri_residents *residents,
                                                  const struct slri_code *program, const struct slri_entry *entry)
{
    struct slri_resident_handler *handler = residents->handlers;
    while (handler && (handler->program != program || handler->entry != entry))
        handler = handler->next;
    return handler;
}

// Takes the handler at `*at` out.
static void drop_handler(struct slri_residents *residents, struct slri_resident_handler **at)
{
    struct slri_resident_handler *handler = *at;
    *at = handler->next;
    residents->taken -= handler->groups;
    drop_groups(residents, handler);
    slri_free(residents->allocator, handler, sizeof *handler);
}

// Before the program goes.
static void drop_program(void *user, const struct slri_code *program)
{
    struct slri_residents *residents = user;
    slri_mutex_lock(&residents->groups_lock);
    struct slri_resident_handler **at = &residents->handlers;
    while (*at)
        if ((*at)->program == program)
            drop_handler(residents, at);
        else
            at = &(*at)->next;
    slri_mutex_unlock(&residents->groups_lock);
}

// Acquire: what the last owner of a shard did with its group.
static bool is_idle(const struct slri_resident_handler *handler)
{
    return __atomic_load_n(&handler->claims, __ATOMIC_ACQUIRE) == 0;
}

// Of groups that are made for one shard each, the device has one at a time.
static bool has_busy(const struct slri_residents *residents)
{
    const struct slri_resident_handler *handler = residents->handlers;
    while (handler && is_idle(handler))
        handler = handler->next;
    return handler != NULL;
}

static slr_status add_handler(struct slri_residents *residents, const struct slri_ring_host *host,
                              const struct slri_ring_facts *ring, bool has_clock, struct slri_resident_handler **out)
{
    struct slri_resident_handler *handler = slri_alloc(residents->allocator, sizeof *handler);
    if (!handler)
        return SLRI_FAIL(NO_MEMORY, "no memory for ring kernel %s", ring->entry->name);
    *handler = (struct slri_resident_handler){.program = ring->program,
                                              .entry = ring->entry,
                                              .module = slri_code_module(ring->program),
                                              .backend = host->backend,
                                              .most = UINT32_MAX,
                                              .has_clock = has_clock,
                                              .next = residents->handlers};
    slr_status status = residents->ops->is_one_launch ? add_group(residents, handler, NULL) : SLR_OK;
    if (status != SLR_OK) {
        slri_free(residents->allocator, handler, sizeof *handler);
        return status;
    }
    slri_code_on_end(ring->program, drop_program, residents);
    residents->handlers = handler;
    *out = handler;
    return SLR_OK;
}

// How many of its groups have no shard.
static uint32_t count_empty(const struct slri_residents *residents, const struct slri_resident_handler *handler)
{
    uint32_t busy = 0, room = residents->ops->is_one_launch ? handler->groups : 1;
    for (const struct slri_resident *group = handler->first; group; group = group->next_of_handler) {
        uint32_t shards = __atomic_load_n(&group->shards, __ATOMIC_RELAXED);
        busy += shards < room ? shards : room;
    }
    return handler->groups - busy;
}

// Groups without a shard first, then new ones while there are some.
static uint32_t take_groups(struct slri_residents *residents, struct slri_resident_handler *handler, uint32_t most,
                            uint32_t want)
{
    uint32_t left = most > residents->taken ? most - residents->taken : 0, has = handler->groups;
    uint32_t empty = count_empty(residents, handler), more = want > empty ? want - empty : 0;
    uint32_t room = handler->most > has ? handler->most - has : 0;
    more = more < left ? more : left;
    more = more < room ? more : room;
    __atomic_store_n(&handler->groups, has + more, __ATOMIC_RELAXED); // the next launch has them
    residents->taken += more;
    return has + more < want ? has + more : want;
}

// ---- planning ------------------------------------------------------------------------------------------------------

static const char other_has_it[] = "the device's only resident work-group has another ring kernel";

static slr_status take_for_plan(struct slri_residents *residents, const struct slri_ring_host *host,
                                const struct slri_ring_facts *ring, struct slri_ring_plan *plan)
{
    const uint32_t most = plan->shards;
    slr_status status = SLR_OK;
    plan->shards = 0;
    const bool is_for_one = residents->ops->is_for_one_shard;
    if (is_for_one && has_busy(residents))
        return SLR_OK;
    struct slri_resident_handler *handler = find_handler(residents, ring->program, ring->entry);
    if (!handler && (is_for_one || residents->taken < most))
        status = add_handler(residents, host, ring, plan->has_clock, &handler);
    if (handler && is_for_one) // many may plan: the first to be launched has the group
        plan->shards = 1;
    else if (handler)
        plan->shards = take_groups(residents, handler, most, slri_ring_groups_wanted(most, ring->instances));
    return status;
}

// `reason` may be the plan's own.
static void set_reason(struct slri_ring_plan *plan, const char *reason)
{
    plan->shards = 0;
    plan->has_clock = false;
    if (reason != plan->reason)
        slri_text_fit(plan->reason, sizeof plan->reason, reason);
}

slr_status slri_groups_plan(const struct slri_ring_host *host, const struct slri_ring_facts *ring,
                            struct slri_ring_plan *plan)
{
    struct slri_residents *residents = host->facts->residents;
    const bool is_asked = ring->asked == SLR_RING_PERSISTENT || host->facts->ring_mode == SLR_RING_PERSISTENT;
    SLRI_TRY(residents->ops->plan(residents->device, ring, is_asked, plan));
    if (plan->shards == 0) {
        set_reason(plan, plan->reason);
        return SLR_OK;
    }
    slri_mutex_lock(&residents->groups_lock);
    slr_status status = take_for_plan(residents, host, ring, plan);
    slri_mutex_unlock(&residents->groups_lock);
    if (status != SLR_OK && (is_asked || status != SLR_UNSUPPORTED))
        return status;
    if (status != SLR_OK) // such as a driver that has no linker with it
        set_reason(plan, slr_error_message());
    else if (plan->shards == 0)
        set_reason(plan, residents->ops->is_for_one_shard ? other_has_it
                                                          : "all resident work-groups are in use by other handlers");
    return SLR_OK;
}

// ---- shards --------------------------------------------------------------------------------------------------------

// Not zeroed: the group fetches what is at home.
static slr_status take_near(struct slri_residents *residents, struct slri_shard *shard)
{
    uint64_t stale;
    struct slri_piece *piece;
    if (!residents->near)
        return SLR_OK;
    SLRI_TRY(
        slri_slabs_take(residents->near, slri_resident_near_own_bytes(shard) + shard->states_bytes, &piece, &stale));
    shard->group.near_memory = piece;
    return SLR_OK;
}

// What the poller will want of it, which must wait for nobody.
static slr_status reserve_records(const struct slri_residents *residents, const struct slri_resident_handler *handler)
{
    void *room;
    SLRI_TRY(
        handler->backend->memory_create(residents->device, SLRI_MEMORY_SHARED, SLRI_RESIDENT_RECORDS_BYTES, &room));
    handler->backend->memory_destroy(residents->device, SLRI_MEMORY_SHARED, room, SLRI_RESIDENT_RECORDS_BYTES);
    return SLR_OK;
}

static slr_status outfit(struct slri_residents *residents, const struct slri_resident_handler *handler,
                         struct slri_shard *shard)
{
    shard->group.kit_bytes = slri_resident_kit_bytes(residents, shard);
    SLRI_TRY(handler->backend->memory_create(residents->device, SLRI_MEMORY_SHARED, shard->group.kit_bytes,
                                             &shard->group.kit));
    if (residents->ops->waits_for_memory)
        SLRI_TRY(reserve_records(residents, handler));
    return take_near(residents, shard);
}

static slr_status prepare(struct slri_residents *residents, struct slri_shard *shard)
{
    struct slri_resident_handler *handler = find_handler(residents, shard->program, shard->entry);
    if (!handler || (residents->ops->is_for_one_shard && has_busy(residents)))
        return SLRI_FAIL(UNSUPPORTED, "device '%s': %s", residents->loss->name, other_has_it);
    shard->group.persistent = handler;
    __atomic_fetch_add(&handler->claims, 1, __ATOMIC_RELAXED); // under the lock
    SLRI_TRY(outfit(residents, handler, shard));
    for (struct slri_resident_handler *each = residents->handlers; each; each = each->next)
        if (residents->ops->is_for_one_shard)
            drop_groups(residents, each); // the last one's
    SLRI_TRY(slri_loss_check(residents->loss));
    return handler->first ? SLR_OK : add_group(residents, handler, shard);
}

slr_status slri_groups_prepare(struct slri_residents *residents, struct slri_shard *shard)
{
    SLRI_TRY(slri_loss_check(residents->loss));
    slri_mutex_lock(&residents->groups_lock);
    slr_status status = prepare(residents, shard);
    slri_mutex_unlock(&residents->groups_lock);
    return status;
}

static void give_near(struct slri_residents *residents, struct slri_shard *shard)
{
    if (shard->group.near_memory)
        slri_slabs_give(residents->near, shard->group.near_memory);
    shard->group.near_memory = NULL;
}

// Release: what was done with the group. The handler may go behind it.
static void give_up_claim(struct slri_shard *shard)
{
    struct slri_resident_handler *handler = shard->group.persistent;
    shard->group.persistent = NULL;
    if (handler)
        __atomic_fetch_sub(&handler->claims, 1, __ATOMIC_RELEASE);
}

static void give_kit(const struct slri_residents *residents, struct slri_shard *shard)
{
    const struct slri_resident_handler *handler = shard->group.persistent;
    if (shard->group.kit)
        handler->backend->memory_destroy(residents->device, SLRI_MEMORY_SHARED, shard->group.kit,
                                         shard->group.kit_bytes);
    shard->group.kit = NULL;
}

void slri_groups_forsake(struct slri_residents *residents, struct slri_shard *shard)
{
    give_near(residents, shard);
    give_kit(residents, shard);
    give_up_claim(shard);
}

// The launch with the fewest shards, or another where each has some and a group is left.
static slr_status choose(struct slri_residents *residents, struct slri_resident_handler *handler,
                         struct slri_resident **out)
{
    struct slri_resident *best = handler->first;
    uint32_t fewest = UINT32_MAX, groups = 0;
    for (struct slri_resident *group = handler->first; group; group = group->next_of_handler, ++groups) {
        uint32_t shards = __atomic_load_n(&group->shards, __ATOMIC_RELAXED);
        if (shards < fewest) {
            fewest = shards;
            best = group;
        }
    }
    const bool may_add = !residents->ops->is_one_launch && fewest != 0 && groups < handler->groups;
    SLRI_TRY(may_add ? add_group(residents, handler, NULL) : SLR_OK);
    *out = may_add ? handler->first : best;
    return SLR_OK;
}

slr_status slri_groups_start(struct slri_residents *residents, struct slri_shard *shard)
{
    struct slri_resident *group;
    if (residents->ops->show_flags)
        residents->ops->show_flags(residents->device, shard, false);
    slri_mutex_lock(&residents->groups_lock);
    slr_status status = choose(residents, shard->group.persistent, &group);
    if (status == SLR_OK)
        status = slri_resident_start(group, shard);
    slri_mutex_unlock(&residents->groups_lock);
    return status;
}

void slri_groups_shard_reopened(struct slri_residents *residents, struct slri_shard *shard)
{
    if (residents->ops->show_flags)
        residents->ops->show_flags(residents->device, shard, true);
}

// ---- for the backend -----------------------------------------------------------------------------------------------

bool slri_groups_settle(struct slri_residents *residents)
{
    slri_mutex_lock(&residents->groups_lock);
    for (struct slri_resident_handler *each = residents->handlers; each; each = each->next)
        if (residents->ops->is_for_one_shard && is_idle(each))
            drop_groups(residents, each);
    while (residents->stuck && slri_resident_close(residents->stuck)) {
        struct slri_resident *group = residents->stuck;
        residents->stuck = group->next_of_handler;
        residents->ops->unmake(group, true);
        free_group(group);
    }
    bool settled = residents->stuck == NULL;
    slri_mutex_unlock(&residents->groups_lock);
    return settled;
}

slr_status slri_groups_each(struct slri_residents *residents, slr_status (*visit)(struct slri_resident *resident))
{
    slr_status status = SLR_OK;
    slri_mutex_lock(&residents->groups_lock);
    for (struct slri_resident_handler *handler = residents->handlers; handler; handler = handler->next)
        for (struct slri_resident *group = handler->first; group && status == SLR_OK; group = group->next_of_handler)
            status = visit(group);
    slri_mutex_unlock(&residents->groups_lock);
    return status;
}

void slri_groups_forget_stuck(struct slri_residents *residents)
{
    while (residents->stuck) {
        struct slri_resident *group = residents->stuck;
        residents->stuck = group->next_of_handler;
        slri_free(residents->allocator, group, residents->ops->group_bytes);
    }
}
