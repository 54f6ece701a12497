// SPDX-License-Identifier: Apache-2.0
// Routes from ring kernels whose owners are kernels that stay: what those work with, on the host's side
// (abi/passage.h). The host writes down once where a shard's messages go; then the kernels pass them on without it.
//
// What a kernel works with changes at rest: while no launch has the shard (operate.c). So nothing is under way at the
// source then, and what it has sent is final. The thread that watches the kernels runs such changes: it calls here with
// no lock held, and must never wait for one that is held while somebody waits for it: not for `routing` (route.c).
#include "abi/passage.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "engine/resident_layout.h"
#include "ring/route_device.h"

// What one shard works with.
struct slri_passages {
    struct slri_passages *older; // until the shard works with this one
    struct slri_operation install;
    struct slri_resident_passage *memory; // NULL: nothing leads from the shard, and its handler sends nothing
    uint64_t bytes;                       // of it
    struct slri_piece *near;              // NULL, or memory near the groups for what handlers cause
    bool silent;                          // senders receive no replies
    uint32_t unsent;                      // as last brought forward: under the ring kernel's count_lock
    uint32_t room, count;                 // places, and those in use
    struct slri_passage *passage[];
};

// ---- what a shard works with ---------------------------------------------------------------------------------------

static void free_table(const slr_ring *ring, struct slri_passages *table)
{
    slri_passage_memory_destroy(ring, table->memory, table->bytes);
    if (table->near)
        slri_slabs_give(slri_near_of(ring->device), table->near);
    slri_free(ring->device->allocator, table, sizeof *table + table->room * sizeof(struct slri_passage *));
}

void slri_passages_free(const slr_ring *ring, struct slri_passages *table)
{
    while (table) {
        struct slri_passages *older = table->older;
        free_table(ring, table);
        table = older;
    }
}

// ---- what the kernel sees of it: words of resident_layout.h, where its messages go, what its handler sends, and a
// place for replies that no sender receives

struct sizes { // bytes; of what one message causes, but for the first
    uint64_t outlets, outs, calls, sent, aside;
};

static struct sizes size_table(const slr_ring *ring, const struct slri_passages *table)
{
    const slr_handler_info *info = slri_ring_handler_info(ring);
    uint32_t outs = ring->has_outlets ? info->parameter_count : 0;
    struct sizes bytes = {.outlets = slri_passage_round_up(sizeof *table->memory, 16) +
                                     slri_passage_round_up(table->count * sizeof(struct slri_resident_outlet), 16),
                          .outs = slri_passage_round_up(outs * sizeof(struct slri_resident_out), 16),
                          .calls = slri_passage_round_up(outs * sizeof(struct slri_out), 16),
                          .aside = (uint64_t)ring->max_replies * slri_passage_round_up(ring->reply_bytes + 1, 16)};
    for (uint32_t i = 0; i < outs; ++i)
        bytes.sent += (uint64_t)ring->max_sends * slri_ring_out_stride(&info->parameters[i]);
    return bytes;
}

// From `at` on the handlers of `messages` have places of their own.
static void point_sent(const slr_ring *ring, struct slri_resident_out *out, uint64_t at, uint32_t messages)
{
    const slr_handler_info *info = slri_ring_handler_info(ring);
    for (uint32_t i = 0; ring->has_outlets && i < info->parameter_count; ++i) {
        uint32_t stride = slri_ring_out_stride(&info->parameters[i]);
        out[i] = (struct slri_resident_out){.base = at, .stride = stride, .most = stride ? ring->max_sends : 0};
        at += (uint64_t)messages * ring->max_sends * stride;
    }
}

// All addresses in a table's memory: again where those of what lies near have changed.
static void point(const slr_ring *ring, struct slri_passages *table)
{
    struct sizes bytes = size_table(ring, table);
    struct slri_resident_passage *memory = table->memory;
    uint64_t at = (uintptr_t)memory, outs_at = at + bytes.outlets, sent_at = outs_at + bytes.outs;
    uint64_t near = table->near ? (uintptr_t)slri_piece_address(table->near) : 0;
    uint32_t messages = near ? MB_BATCH : 1;
    struct slri_resident_outlet *outlet =
        (struct slri_resident_outlet *)(void *)((unsigned char *)memory + slri_passage_round_up(sizeof *memory, 16));
    for (uint32_t i = 0; i < table->count; ++i)
        outlet[i] = slri_near_outlet(table->passage[i]);
    if (near)
        sent_at = near + messages * bytes.calls;
    point_sent(ring, (struct slri_resident_out *)(void *)((unsigned char *)memory + bytes.outlets), sent_at, messages);
    memory->outlet = (uintptr_t)outlet;
    memory->outlets = table->count;
    memory->out = bytes.outs ? outs_at : 0;
    memory->calls = near;
    memory->aside = sent_at + messages * bytes.sent;
}

static slr_status write_table(const slr_ring *ring, struct slri_passages *table)
{
    bool has_near = slri_near_of(ring->device) != NULL;
    struct sizes bytes = size_table(ring, table);
    uint64_t causes = bytes.sent + bytes.aside;
    void *memory;
    if (table->count == 0 && bytes.outs == 0)
        return SLR_OK;
    table->bytes = bytes.outlets + bytes.outs + (has_near ? 0 : causes);
    SLRI_TRY(slri_passage_memory_create(ring, table->bytes, &memory));
    table->memory = memory;
    if (has_near)
        SLRI_TRY(slri_near_piece_create(ring->device, MB_BATCH * (bytes.calls + causes), &table->near));
    *table->memory =
        (struct slri_resident_passage){.outs = ring->has_outlets ? slri_ring_handler_info(ring)->parameter_count : 0,
                                       .aside_stride = (uint32_t)slri_passage_round_up(ring->reply_bytes + 1, 16)};
    point(ring, table);
    return SLR_OK;
}

void slri_passages_renew(slr_ring *ring)
{
    for (uint32_t s = 0; ring->shard && s < ring->shards; ++s)
        for (struct slri_passages *table = ring->shard[s].route.next_passages; table; table = table->older)
            if (table->memory)
                point(ring, table);
}

// Brings the 64-bit count forward. Under count_lock.
static void extend_unsent(struct slri_shard *shard)
{
    struct slri_passages *table = shard->route.passages;
    if (!table || !table->memory)
        return;
    uint32_t unsent = __atomic_load_n(&table->memory->unsent, __ATOMIC_RELAXED); // a count alone
    __atomic_store_n(&shard->route.unsent, shard->route.unsent + (uint32_t)(unsent - table->unsent), __ATOMIC_RELAXED);
    table->unsent = unsent;
}

static bool lists(const struct slri_passages *table, const struct slri_passage *passage)
{
    for (uint32_t i = 0; i < table->count; ++i)
        if (table->passage[i] == passage)
            return true;
    return false;
}

// At rest: the shard's words are at home.
static void run_install(struct slri_operation *op, struct slri_shard *shard)
{
    slr_ring *ring = shard->ring;
    struct slri_passages *table = op->to, *old = shard->route.passages;
    slri_mutex_lock(&ring->count_lock);
    extend_unsent(shard);
    shard->route.passages = table;
    slri_mutex_unlock(&ring->count_lock);
    shard->route.passage = table->memory;
    shard->own[MBP_SILENT] = table->silent;
    shard->own[MBP_ROOM] = 0;
    for (uint32_t i = 0; old && i < old->count; ++i)
        if (!lists(table, old->passage[i]))
            slri_passage_detach(old->passage[i]);
}

// Whether senders receive no replies: routes take them, those in the list and `with`, and none says `reply_too`.
static bool is_silent(const slr_ring *ring, const struct slri_route *with)
{
    bool takes_replies = false, reply_too = false;
    for (const struct slri_route *r = with ? with : ring->routes.out; r;
         r = r == with ? ring->routes.out : r->next_out) {
        takes_replies = takes_replies || r->parameter == 0;
        reply_too = reply_too || (r->reply_too && r->parameter == 0);
    }
    return takes_replies && !reply_too;
}

static slr_status new_device_table(slr_ring *ring, uint32_t shard, struct slri_route *with, struct slri_passages **out)
{
    uint32_t count = with != NULL;
    for (const struct slri_route *r = ring->routes.out; r; r = r->next_out)
        ++count;
    size_t bytes = sizeof(struct slri_passages) + count * sizeof(struct slri_passage *);
    struct slri_passages *table = slri_alloc(ring->device->allocator, bytes);
    if (!table)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for a route", ring->name);
    *table = (struct slri_passages){.room = count, .count = count, .silent = is_silent(ring, with)};
    uint32_t i = 0;
    if (with)
        table->passage[i++] = &with->passage[shard];
    for (struct slri_route *r = ring->routes.out; r; r = r->next_out)
        table->passage[i++] = &r->passage[shard];
    table->install = (struct slri_operation){.run = run_install, .instance = shard, .at_rest = true, .to = table};
    slr_status status = write_table(ring, table);
    if (status == SLR_OK)
        *out = table;
    else
        free_table(ring, table);
    return status;
}

slr_status slri_passages_prepare(slr_ring *ring, struct slri_route *with, struct slri_passages ***out)
{
    const slr_allocator *allocator = ring->device->allocator;
    struct slri_passages **fresh = slri_alloc(allocator, ring->shards * sizeof *fresh);
    if (!fresh)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for a route", ring->name);
    slr_status status = SLR_OK;
    uint32_t made = 0;
    while (made < ring->shards && (status = new_device_table(ring, made, with, &fresh[made])) == SLR_OK)
        ++made;
    if (status == SLR_OK) {
        *out = fresh;
        return SLR_OK;
    }
    while (made-- > 0)
        free_table(ring, fresh[made]);
    slri_free(allocator, fresh, ring->shards * sizeof *fresh);
    return status;
}

slr_status slri_passages_begin(slr_ring *ring)
{
    struct slri_passages **fresh;
    SLRI_TRY(slri_passages_prepare(ring, NULL, &fresh));
    for (uint32_t s = 0; s < ring->shards; ++s) {
        struct slri_shard *shard = &ring->shard[s];
        shard->route.next_passages = fresh[s];
        run_install(&fresh[s]->install, shard); // no owner yet
        fresh[s]->install.ran = 1;
    }
    slri_free(ring->device->allocator, fresh, ring->shards * sizeof *fresh);
    return SLR_OK;
}

void slri_passages_commit(slr_ring *ring, struct slri_passages **fresh)
{
    for (uint32_t s = 0; s < ring->shards; ++s) {
        struct slri_shard *shard = &ring->shard[s];
        fresh[s]->older = shard->route.next_passages;
        shard->route.next_passages = fresh[s];
        slri_ring_operate_later(ring, &fresh[s]->install);
    }
    slri_free(ring->device->allocator, fresh, ring->shards * sizeof *fresh);
}

// At rest. The table stays, with a place less: so a route can be taken away where there is no memory, or where the
// device is lost and gives none.
static void run_remove(struct slri_operation *op, struct slri_shard *shard)
{
    struct slri_passage *p = op->to;
    slr_ring *ring = shard->ring;
    struct slri_passages *table = shard->route.passages;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < table->count; ++i)
        if (table->passage[i] != p)
            table->passage[kept++] = table->passage[i];
    table->count = kept;
    point(ring, table);
    if (kept == 0 && !ring->has_outlets)
        shard->route.passage = NULL;
    shard->own[MBP_SILENT] = p->silent_behind;
    shard->own[MBP_ROOM] = 0;
    slri_passage_detach(p);
}

void slri_passages_leave(struct slri_route *route)
{
    slr_ring *from = route->from;
    for (uint32_t s = 0; s < from->shards; ++s) {
        struct slri_passage *p = &route->passage[s];
        p->leaving = true;
        p->silent_behind = is_silent(from, NULL);
        p->remove = (struct slri_operation){.run = run_remove, .instance = s, .at_rest = true, .to = p};
        slri_ring_operate_later(from, &p->remove);
    }
}

slr_status slri_passages_await(slr_ring *ring, const struct slri_route *leaves, uint64_t deadline_ns)
{
    struct slri_backoff backoff = {.until.deadline_ns = deadline_ns};
    for (uint32_t s = 0; s < ring->shards; ++s) {
        struct slri_passages *table = ring->shard[s].route.next_passages;
        const uint32_t *ran = leaves ? &leaves->passage[s].remove.ran : &table->install.ran;
        while (!__atomic_load_n(ran, __ATOMIC_ACQUIRE)) // what it did, and what was to be done before it
            SLRI_TRY(slri_route_wait(ring, &backoff));
        slri_passages_free(ring, table->older);
        table->older = NULL;
    }
    return SLR_OK;
}

// ---- counts --------------------------------------------------------------------------------------------------------

static void bring_forward(uint64_t *count, uint32_t *seen, uint32_t now)
{
    __atomic_store_n(count, *count + (uint32_t)(now - *seen), __ATOMIC_RELAXED);
    *seen = now;
}

void slri_passages_extend(slr_ring *ring)
{
    for (struct slri_passage *p = ring->grants.out; p; p = p->next_out) {
        uint32_t *O = p->words;
        bring_forward(&p->outlet->routed, &p->routed, __atomic_load_n(&O[MBO_TOLD_ROUTED], __ATOMIC_RELAXED));
        bring_forward(&p->outlet->unrouted, &p->unrouted, __atomic_load_n(&O[MBO_TOLD_UNROUTED], __ATOMIC_RELAXED));
    }
    for (uint32_t s = 0; ring->mode == SLR_RING_PERSISTENT && s < ring->shards; ++s)
        extend_unsent(&ring->shard[s]);
}

// ---- for who watches the kernels -----------------------------------------------------------------------------------

// As the kernel does before it takes a batch. Gives for how many messages handled there is room; `announce`: who waits
// for more says so at each destination that has none.
static uint32_t reserve_passages(struct slri_shard *shard, bool announce)
{
    uint32_t *S = shard->shared, *P = shard->own, room = MB_BATCH;
    const struct slri_passages *table = shard->route.passages;
    for (uint32_t i = 0; i < table->count; ++i) {
        struct slri_passage *p = table->passage[i];
        mbo_note_gone(p->words, p->words, P);
        uint32_t has = p->lanes ? mbo_room(p->words, p->retired) : mbo_port_room(S, p->words, P);
        if (has == 0 && p->lanes && announce)
            __atomic_store_n(&p->to->route_waiters, 1, __ATOMIC_RELAXED);
        room = has < room ? has : room;
    }
    P[MBP_ROOM] = 1 + room;
    return room;
}

// A shard without room where its routes lead sleeps until there is some. Else not while messages are on their way to
// its ring kernel that it may not see yet.
static bool may_sleep(struct slri_shard *shard)
{
    if (shard->route.passage && reserve_passages(shard, true) == 0) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST); // the announcement, before another look
        if (reserve_passages(shard, false) == 0)
            return true;
    }
    return shard->own[MBP_STATE] != MB_RUNNING || slri_grants_open(shard->ring) == 0;
}

static void flush(struct slri_shard *shard)
{
    const struct slri_passages *table = shard->route.passages;
    for (uint32_t i = 0; i < table->count; ++i) {
        struct slri_passage *p = table->passage[i];
        if (!p->lanes)
            mb_publish_replies(shard->shared, shard->own, p->c->port);
        if (p->near)
            slri_near_resolve(p);
        else
            mbo_publish(p->words, p->words, p->lanes);
    }
}

static void lost(struct slri_shard *shard)
{
    slri_near_lose(shard->ring);
}

static void passed_on(struct slri_shard *shard)
{
    const struct slri_passages *table = shard->route.passages;
    for (uint32_t i = 0; i < table->count; ++i) {
        struct slri_passage *p = table->passage[i];
        uint32_t told = __atomic_load_n(&p->words[MBO_TOLD_SENT], __ATOMIC_ACQUIRE);
        if (told == p->seen)
            continue;
        p->seen = told;
        __atomic_thread_fence(__ATOMIC_SEQ_CST); // what was sent, before the look at who sleeps
        for (uint32_t s = 0; s < p->to->shards; ++s)
            slri_rouse(p->to, s);
    }
}

const struct slri_relay slri_device_relay = {
    .may_sleep = may_sleep, .flush = flush, .passed_on = passed_on, .lost = lost};
