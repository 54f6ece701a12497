// SPDX-License-Identifier: Apache-2.0
// Snapshots: states that changed since the last one, at a moment when nothing is pending.
#include "base/clock.h"
#include "base/status.h"
#include "cluster/server.h"
#include "ring/ring.h"

#include <stdlib.h>
#include <string.h>

enum { PART_BYTES = 512 << 10, PATIENCE_NS = 1000 * 1000 * 1000 };
#define PART_NS 5000000000u // for the states of one part, while no handler runs

// Copies the states of a shard's instances, all in one go: `to` has their place in a part.
struct copying {
    struct slri_operation op; // the first member: the owner is given it
    const uint32_t *instances;
    unsigned char *const *to;
    uint32_t count, shards;
};

static void copy_states(struct slri_operation *op, struct slri_shard *shard)
{
    struct copying *copying = (struct copying *)op;
    uint32_t mine = op->instance % copying->shards;
    for (uint32_t i = 0; i < copying->count && op->status == SLR_OK; ++i) {
        if (copying->instances[i] % copying->shards != mine)
            continue;
        const void *state = slri_shard_state(shard, copying->instances[i]);
        op->lost = op->lost || !state;
        if (state)
            op->status = slri_shard_load(shard, state, copying->to[i]);
    }
}

static slr_status load_states(slr_server *server, const uint32_t *instances, unsigned char *const *to, uint32_t count,
                              uint64_t deadline_ns)
{
    uint32_t shards = server->ring->shards;
    for (uint32_t shard = 0; shard < shards && server->shape.state_bytes; ++shard) {
        struct copying copying = {.op = {.run = copy_states, .instance = shard},
                                  .instances = instances,
                                  .to = to,
                                  .count = count,
                                  .shards = shards};
        SLRI_TRY(slri_ring_operate(server->ring, &copying.op, deadline_ns, "a snapshot"));
        if (copying.op.lost)
            return SLRI_FAIL(WRONG_STATE, "'%s': an abandoned handler still uses a state", server->head.handler);
        if (copying.op.status != SLR_OK)
            return slri_fail(copying.op.status, "'%s': its device could not copy a state", server->head.handler);
    }
    return SLR_OK;
}

// A part that is being made.
struct part {
    unsigned char *bytes, **states; // of each entry
    uint32_t *instances;
    size_t used, capacity;
    uint32_t count, most;
    uint64_t sequence; // of the last record
};

// The time for a snapshot follows its size: one that is given up is begun again from the first state, and may never
// end.
static slr_status write_part(slr_server *server, struct part *part)
{
    SLRI_TRY(load_states(server, part->instances, part->states, part->count, slri_deadline_after(PART_NS)));
    slri_frame_head head = slri_frame_head_of(&server->shape, SLRI_FRAME_SNAP);
    head.first = server->head.snapshots + 1;
    head.count = part->count;
    slri_append_part parts[] = {{&head, sizeof head}, {part->bytes, part->used}};
    SLRI_TRY(server->log->engine->append(server->log, SLRI_LOG_SNAP, part->sequence, parts, 2));
    part->sequence++;
    part->used = part->count = 0;
    return SLR_OK;
}

static slr_status add_state(slr_server *server, struct part *part, uint32_t instance)
{
    size_t bytes = 0;
    const char *text = NULL;
    if (server->head.keys)
        text = slri_keytable_bytes(&server->keys, &server->keys.keys[instance], &bytes);
    slri_frame_state head = {instance, (uint32_t)bytes};
    size_t need = sizeof head + slri_pad(bytes) + slri_pad(server->shape.state_bytes);
    if (part->count == part->most || (part->count > 0 && part->used + need > part->capacity))
        SLRI_TRY(write_part(server, part));
    unsigned char *to = part->bytes + part->used;
    memset(to, 0, need);
    memcpy(to, &head, sizeof head);
    if (bytes)
        memcpy(to + sizeof head, text, bytes);
    part->states[part->count] = to + sizeof head + slri_pad(bytes);
    part->instances[part->count++] = instance;
    part->used += need;
    return SLR_OK;
}

static slr_status write_states(slr_server *server, struct part *part, bool full)
{
    if (!full) {
        for (uint32_t i = 0; i < server->changed_count; ++i)
            SLRI_TRY(add_state(server, part, server->changed[i]));
    } else {
        for (uint32_t word = 0; word < (server->shape.instances + 63) / 64; ++word) {
            for (uint64_t bits = server->touched[word]; bits; bits &= bits - 1)
                SLRI_TRY(add_state(server, part, word * 64 + (uint32_t)__builtin_ctzll(bits)));
        }
    }
    return part->count > 0 ? write_part(server, part) : SLR_OK;
}

static slr_status write_all(slr_server *server, bool full, struct part *part)
{
    size_t entry = sizeof(slri_frame_state) + SLRI_FRAME_KEY_MAX + slri_pad(server->shape.state_bytes);
    part->capacity = PART_BYTES > entry ? PART_BYTES : entry;
    part->most = (uint32_t)(part->capacity / (sizeof(slri_frame_state) + slri_pad(server->shape.state_bytes))) + 1;
    part->bytes = malloc(part->capacity);
    part->states = malloc(part->most * sizeof *part->states);
    part->instances = malloc(part->most * sizeof *part->instances);
    slr_status status = !part->bytes || !part->states || !part->instances
                            ? SLRI_FAIL(NO_MEMORY, "no memory for a snapshot")
                            : write_states(server, part, full);
    free(part->bytes);
    free(part->states);
    free(part->instances);
    return status;
}

// What the head says must be on the disk before the head.
static slr_status sync_all(const slr_server *server)
{
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at)
        SLRI_TRY(server->log->engine->sync(server->log, at));
    return SLR_OK;
}

static slr_status count_handled(slr_server *server, slri_head *next)
{
    slr_ring_stats stats;
    SLRI_TRY(slr_ring_get_stats(server->ring, &stats));
    next->handled = server->handled + stats.handled;
    next->faulted = server->faulted + stats.faulted;
    return SLR_OK;
}

static void begin_interval(slr_server *server)
{
    for (uint32_t i = 0; i < server->changed_count; ++i)
        server->dirty[server->changed[i] / 64] = 0;
    server->changed_count = 0;
    if (server->mark_count)
        memset(server->marks, 0, server->mark_count * sizeof *server->marks);
    server->mark_count = 0;
}

// Inputs that the states have, states that a later full snapshot has, outputs that nobody needs.
static slr_status purge_all(const slr_server *server)
{
    const slri_log_engine *engine = server->log->engine;
    SLRI_TRY(engine->purge(server->log, SLRI_LOG_IN, server->head.in_last));
    return engine->purge(server->log, SLRI_LOG_SNAP, server->head.snap_first - 1);
}

slr_status slri_server_snapshot(slr_server *server, uint64_t deadline_ns)
{
    SLRI_TRY(slri_server_settle(server, deadline_ns));
    SLRI_TRY(slri_server_send_answers(server)); // before nobody handles those messages again
    // Not while messages are missing whose outputs are stored: what is stored would be forgotten.
    if (server->in_last == server->head.in_last || server->messages < server->stored_until)
        return SLR_OK;
    uint64_t begin_ns = slri_now_ns();
    const slri_log_engine *engine = server->log->engine;
    // Where an output is refused, another worker has the partition: states written now would stand in its way.
    if (server->follows)
        SLRI_TRY(engine->sync(server->log, SLRI_LOG_OUT));
    bool full = server->next_is_full || server->head.snapshots % server->desc.full_every == 0;
    uint64_t first, last;
    engine->last(server->log, SLRI_LOG_SNAP, &first, &last);
    struct part part = {.sequence = last};
    slri_head next = server->head;
    // The records of one that fails stay in the log: the next one has all their states again, and comes later.
    SLRI_TRY(write_all(server, full, &part));
    SLRI_TRY(count_handled(server, &next));
    SLRI_TRY(sync_all(server));
    next.in_last = server->in_last;
    next.messages = server->messages;
    next.out_last = server->out_last;
    next.outputs = server->outputs;
    next.out_id = server->out_id;
    next.dead_last = server->dead_last;
    next.states = server->touched_count;
    next.snap_last = part.sequence;
    next.snapshots++;
    if (full)
        next.snap_first = last + 1;
    SLRI_TRY(engine->cas(server->log, SLRI_HEAD_KEY, &server->head_revision, &next, slri_head_bytes(&next)));
    server->head = next;
    server->next_is_full = false;
    slri_server_end_trial(server);
    begin_interval(server);
    SLRI_TRY(slri_server_end_calls(server));
    server->stats.snapshots++;
    server->snapshot_ns = slri_now_ns();
    server->stats.snapshot_ns += server->snapshot_ns - begin_ns;
    return purge_all(server);
}

slr_status slri_server_snapshot_if_due(slr_server *server)
{
    uint64_t since = server->messages - server->head.messages;
    if (since < server->desc.snapshot_messages &&
        (server->in_last == server->head.in_last || slri_now_ns() - server->snapshot_ns < server->desc.snapshot_ns))
        return SLR_OK;
    // Where handlers take longer, the next call tries again.
    slr_status status = slri_server_snapshot(server, slri_deadline_after(PATIENCE_NS));
    return status == SLR_TIMEOUT ? SLR_OK : status;
}

slr_status slr_server_snapshot(slr_server *server, uint64_t timeout_ns)
{
    if (!server)
        return SLRI_FAIL(INVALID, "slr_server_snapshot: server is NULL");
    return slri_server_snapshot(server, slri_deadline_after(timeout_ns));
}
