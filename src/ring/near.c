// SPDX-License-Identifier: Apache-2.0
// Lanes that lie near the groups of a device. The owners find in a lane's first line where it lies, when they reread
// the port sets; the host writes nothing else there and reads nothing: what is left in one when its ring kernel stops
// the groups copy home.
#include "abi/passage.h"
#include "base/status.h"
#include "device/stream.h"
#include "engine/observe.h"
#include "ring/route_device.h"

#include <string.h>

// ---- pieces ---------------------------------------------------------------------------------------------------------

static uint64_t address_of(const struct slri_piece *piece)
{
    return (uintptr_t)slri_piece_address(piece);
}

// A persistent kernel may keep a command waiting: none runs meanwhile. Not for the poller.
static slr_status run_quietly(slr_device *device, const struct slri_command *command)
{
    struct slri_residents *residents = device->facts.residents;
    SLRI_TRY(slri_loss_check(device->facts.loss)); // else it would wait for kernels of which nobody says that they end
    SLRI_TRY(slri_residents_park(residents, SLRI_RESIDENT_END_NS));
    slri_site = (struct slri_site){0}; // the ring kernel's own, by no call of the program
    slr_status status = slri_device_run(device, command, 1);
    slri_residents_resume(residents);
    return status;
}

slr_status slri_near_piece_create(slr_device *device, uint64_t bytes, struct slri_piece **out)
{
    struct slri_slabs *near = slri_near_of(device);
    struct slri_piece *piece;
    uint64_t stale;
    SLRI_TRY(slri_slabs_take(near, bytes, &piece, &stale));
    stale = stale < bytes ? stale : bytes;
    const struct slri_command fill = {.op = SLRI_FILL, .fill = {slri_piece_address(piece), stale, 1, {0}}};
    slr_status status = stale != 0 ? run_quietly(device, &fill) : SLR_OK;
    if (status == SLR_OK)
        *out = piece;
    else
        slri_slabs_give(near, piece);
    return status;
}

// ---- lanes ---------------------------------------------------------------------------------------------------------

// Offsets into such lanes have a bit for that, 8 of the port and the word of the lane.
static slr_status check_near(const slr_ring *ring)
{
    const uint32_t *S = ring->S;
    uint64_t words = S[MB_OWNERS_AT] + (uint64_t)S[MB_OWNER_STRIDE] * ring->shards;
    if (S[MB_LANE_STRIDE] <= 1u << MB_NEAR_SHIFT && words <= MB_NEAR)
        return SLR_OK;
    return SLRI_FAIL(INVALID,
                     "ring kernel '%s': its mailbox has %llu MiB and each of its lanes %u MiB; routes on the device "
                     "allow 8,192 and 32: lower queue_size or max_ports",
                     ring->name, (unsigned long long)(words >> 18), S[MB_LANE_STRIDE] >> 18);
}

// Relaxed: read behind an acquire of the port epoch, which is raised behind it. Both words at once: a group that begins
// meanwhile reads them too, and writes there (cu_near.h).
static void note(slr_ring *ring, uint32_t lane, uint64_t address)
{
    uint32_t *S = ring->S;
    slri_lane_at(ring, lane)->is_near = address != 0;
    for (uint32_t s = 0; s < ring->shards; ++s) {
        uint64_t *at = (uint64_t *)(void *)&S[mb_lane(S, s, lane) + MB_NEAR_AT]; // lanes begin a line
        uint64_t its = address ? address + (uint64_t)s * S[MB_LANE_STRIDE] * 4 : 0;
        __atomic_store_n(at, its, __ATOMIC_RELAXED);
    }
}

slr_status slri_near_take(slr_ring *ring, uint32_t lane, uint64_t *address)
{
    struct slri_lane *its = slri_lane_at(ring, lane);
    uint32_t *S = ring->S;
    *address = 0;
    if (!slri_near_of(ring->device) || ring->mode != SLR_RING_PERSISTENT)
        return SLR_OK;
    SLRI_TRY(check_near(ring));
    if (!its->near)
        SLRI_TRY(slri_near_piece_create(ring->device, (uint64_t)S[MB_LANE_STRIDE] * 4 * ring->shards, &its->near));
    slri_mutex_lock(&ring->lock);
    note(ring, lane, address_of(its->near));
    MB_RELEASE(MB_PORT_EPOCH, ++ring->port_epoch); // the addresses
    slri_mutex_unlock(&ring->lock);
    *address = address_of(its->near);
    return SLR_OK;
}

uint32_t slri_lane_retired(const slr_ring *ring, uint32_t lane)
{
    const uint32_t *S = ring->S;
    uint32_t retired = 0;
    for (uint32_t s = 0; s < ring->shards; ++s) // acquire: its owner has finished with their slots
        retired += MB_ACQUIRE(mb_reply_lane(S, s, lane) + MB_PORT_RETIRED);
    return retired;
}

bool slri_near_is_empty(const slr_ring *ring, uint32_t lane)
{
    const struct slri_lane *its = slri_lane_at(ring, lane);
    return !its->is_near || (!slri_ring_is_lost(ring) && slri_lane_retired(ring, lane) == its->granted);
}

void slri_near_leave(slr_ring *ring, uint32_t lane)
{
    if (slri_lane_at(ring, lane)->is_near)
        note(ring, lane, 0);
}

// No group runs, and each reads the addresses when it begins. What lay in the lanes is gone: who sends goes on where
// who takes does.
static void renew_lane(slr_ring *ring, uint32_t lane)
{
    note(ring, lane, address_of(slri_lane_at(ring, lane)->near));
    for (uint32_t s = 0; s < ring->shards; ++s)
        slri_lane_at(ring, lane)->cursor[s].sent = ring->shard[s].own[MBP_PORT(lane) + MBQ_NEXT_IN];
    slri_mutex_lock(&ring->count_lock); // of the list: a source may just leave
    for (struct slri_passage *p = ring->grants.in; p; p = p->next_in) {
        if (p->c->port != lane)
            continue;
        for (uint32_t s = 0; s < ring->shards; ++s) {
            p->words[MBO_CURSOR(s) + MBO_NEXT] = slri_lane_at(ring, lane)->cursor[s].sent;
            p->words[MBO_CURSOR(s) + MBO_MARK] = 0;
        }
        p->words[MBO_SEEN] = mbo_retired(p->words, p->retired); // as the groups' own is not yet
    }
    slri_mutex_unlock(&ring->count_lock);
}

void slri_near_renew(slr_ring *ring)
{
    for (uint32_t i = 0; i < slri_ports_opened(ring); ++i)
        if (slri_lane_at(ring, i)->is_near)
            renew_lane(ring, i);
    if (ring->mode == SLR_RING_PERSISTENT)
        slri_passages_renew(ring);
    slri_grants_settle(ring); // what lay in lanes of the lost device has been counted
}

void slri_near_destroy(slr_ring *ring)
{
    for (uint32_t i = 0; i < slri_ports_opened(ring); ++i)
        if (slri_lane_at(ring, i)->near)
            slri_slabs_give(slri_near_of(ring->device), slri_lane_at(ring, i)->near);
}

// ---- words of sources ----------------------------------------------------------------------------------------------

slr_status slri_near_words_create(struct slri_passage *passages, uint32_t count, uint64_t bytes)
{
    slr_device *device = passages->from->device;
    struct slri_piece *near;
    if (!slri_near_of(device))
        return SLR_OK;
    SLRI_TRY(slri_near_piece_create(device, bytes * count, &near));
    for (uint32_t s = 0; s < count; ++s) {
        passages[s].near = near;
        passages[s].near_at = bytes * s;
    }
    return SLR_OK;
}

void slri_near_words_destroy(struct slri_passage *passages)
{
    if (passages->near)
        slri_slabs_give(slri_near_of(passages->from->device), passages->near);
}

struct slri_resident_outlet slri_near_outlet(const struct slri_passage *p)
{
    struct slri_resident_outlet outlet = {.words = (uintptr_t)p->words,
                                          .home = (uintptr_t)p->words,
                                          .lanes = (uintptr_t)p->lanes,
                                          .retired = (uintptr_t)p->retired};
    if (p->near)
        outlet.words = address_of(p->near) + p->near_at;
    if (p->near && p->lanes) {
        outlet.lanes = address_of(slri_lane_at(p->to, p->c->port)->near);
        outlet.retired = outlet.lanes + MB_NEAR_RETIRED * 4;
        outlet.stride = p->to->S[MB_LANE_STRIDE];
    }
    return outlet;
}

// What was shown to the target is told behind that (cu_passage.h), so the target may have counted more.
static void resolve(struct slri_passage *p, uint32_t counted)
{
    uint32_t *O = p->words, told = O[MBO_TOLD_SENT], sent = (int32_t)(counted - told) > 0 ? counted : told;
    O[MBO_SENT] = sent;
    O[MBO_ROUTED] = O[MBO_TOLD_ROUTED] + (sent - told);
    O[MBO_UNROUTED] = O[MBO_TOLD_UNROUTED];
    O[MBO_GONE] = O[MBO_TOLD_GONE];
    __atomic_store_n(&O[MBO_TOLD_SENT], sent, __ATOMIC_RELAXED);
    __atomic_store_n(&O[MBO_TOLD_ROUTED], O[MBO_ROUTED], __ATOMIC_RELAXED);
}

void slri_near_resolve(struct slri_passage *p)
{
    resolve(p, p->lanes ? mbo_retired(p->words, p->retired) : p->words[MBO_TOLD_SENT]);
}

// ---- losing it -----------------------------------------------------------------------------------------------------

// Of a port's messages in a lane near, those that have been taken and are not done with: they are not there any more.
static uint32_t count_taken(const slr_ring *ring, uint32_t port)
{
    uint32_t taken = 0;
    for (uint32_t s = 0; s < ring->shards; ++s) {
        const uint32_t *P = ring->shard[s].own;
        taken += P[MBP_PORT(port) + MBQ_WAITING];
        for (uint32_t k = 0; k < P[MBP_BATCH_COUNT]; ++k)
            taken += P[MBP_BATCH(k)] == port;
    }
    return taken;
}

// Under count_lock. The first shard tells it all: nobody knows whose it was.
static void doubt(slr_ring *ring, uint32_t port, uint32_t messages)
{
    uint32_t *S = ring->S, *P = ring->shard[0].own, owner = P[MBP_OWNER];
    P[MBP_IN_DOUBT] += messages;
    P[MBP_GRANTED_RETIRED] += messages;
    P[MBP_GRANTED_TOLD] = P[MBP_GRANTED_RETIRED];
    P[MBP_PORT(port) + MBQ_RETIRED] += messages;
    MB_RELEASE(mb_reply_lane_of(S, P, port) + MB_PORT_RETIRED, P[MBP_PORT(port) + MBQ_RETIRED]); // as mb_finish
    MB_RELEASE(owner + MB_IN_DOUBT, P[MBP_IN_DOUBT]);
    MB_RELEASE(owner + MB_GRANTED_RETIRED, P[MBP_GRANTED_RETIRED]);
}

// Under count_lock. How many messages have gone into a lane, by all its ports. What was told when its last source went
// may be less than the target has counted since.
static uint32_t count_sent(slr_ring *ring, uint32_t lane, uint32_t known)
{
    struct slri_lane *its = slri_lane_at(ring, lane);
    for (struct slri_passage *p = ring->grants.in; p; p = p->next_in)
        if (p->c->port == lane) {
            resolve(p, known);
            return p->words[MBO_SENT];
        }
    if ((int32_t)(known - its->granted) > 0) {
        __atomic_fetch_add(&ring->S[MB_GRANTS_SENT], known - its->granted, __ATOMIC_RELAXED); // as with their count
        its->granted = known;
    }
    return its->granted;
}

// What lay in the lanes, and was not taken, goes with them. Its credits go back to the sources that are still there.
static void lose(slr_ring *ring)
{
    slri_mutex_lock(&ring->count_lock);
    for (uint32_t i = 0; i < slri_ports_opened(ring); ++i) {
        if (!slri_lane_at(ring, i)->is_near)
            continue;
        uint32_t known = slri_lane_retired(ring, i) + count_taken(ring, i), sent = count_sent(ring, i, known);
        if (sent != known)
            doubt(ring, i, sent - known);
    }
    slri_mutex_unlock(&ring->count_lock);
}

static bool has_near(const slr_ring *ring)
{
    bool near = false;
    for (uint32_t i = 0; i < slri_ports_opened(ring); ++i)
        near = near || slri_lane_at(ring, i)->is_near;
    return near;
}

void slri_near_lose(slr_ring *ring)
{
    if (has_near(ring) && slri_ring_is_lost(ring))
        lose(ring);
}

// ---- at the end ----------------------------------------------------------------------------------------------------

// The slots alone: what is before them is the host's.
static slr_status fetch(slr_ring *ring, uint32_t lane, uint32_t shard)
{
    uint32_t *S = ring->S;
    uint64_t at = ((uint64_t)shard * S[MB_LANE_STRIDE] + MB_LANE_SLOTS) * 4;
    uint64_t bytes = ((uint64_t)S[MB_LANE_MASK] + 1) * S[MB_SLOT_WORDS] * 4;
    const struct slri_command copy = {.op = SLRI_COPY_OUT,
                                      .copy = {slri_piece_address(slri_lane_at(ring, lane)->near) + at,
                                               &S[mb_lane(S, shard, lane) + MB_LANE_SLOTS], bytes}};
    return run_quietly(ring->device, &copy);
}

static void forget(slr_ring *ring, uint32_t lane)
{
    uint32_t *S = ring->S;
    for (uint32_t s = 0; s < ring->shards; ++s)
        memset(&S[mb_lane(S, s, lane) + MB_LANE_SLOTS], 0, ((size_t)S[MB_LANE_MASK] + 1) * S[MB_SLOT_WORDS] * 4);
}

void slri_near_bring(slr_ring *ring)
{
    slr_status status = SLR_OK;
    if (!has_near(ring) || slri_grants_open(ring) == 0)
        return;
    for (uint32_t i = 0; i < slri_ports_opened(ring); ++i)
        for (uint32_t s = 0; slri_lane_at(ring, i)->is_near && s < ring->shards && status == SLR_OK; ++s)
            status = fetch(ring, i, s);
    if (status == SLR_OK)
        return;
    for (uint32_t i = 0; i < slri_ports_opened(ring); ++i)
        if (slri_lane_at(ring, i)->is_near)
            forget(ring, i);
    lose(ring);
}
