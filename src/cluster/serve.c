// SPDX-License-Identifier: Apache-2.0
// A server's life: its ring kernel, its log, its memory.
#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include "cluster/server.h"
#include "ring/ring.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAME_BYTES = (1 << 16) - 128, // with the heads of a frame and of a record whole pages (log_local.c)
    FRAME_MOST = 1 << 16,
    SNAPSHOT_MESSAGES = 1 << 20,
    SNAPSHOT_MOST = 1 << 24,
    FULL_EVERY = 16,
    LETTERS = 64,
    DEFAULT_QUEUE = 4096,
    DEFAULT_KEYS = 65536
};
#define SECOND_NS 1000000000u

static slr_status take_desc(slr_server *server, const slr_serve_desc *desc)
{
    slr_serve_desc *own = &server->desc;
    SLRI_TRY(SLRI_TAKE_DESC(slr_serve_desc, own, desc));
    own->sync = own->sync ? own->sync : SLR_SYNC_INTERVAL;
    own->sync_interval_ns = own->sync_interval_ns ? own->sync_interval_ns : SECOND_NS / 10;
    own->snapshot_ns = own->snapshot_ns ? own->snapshot_ns : SECOND_NS;
    own->snapshot_messages = own->snapshot_messages ? own->snapshot_messages : SNAPSHOT_MESSAGES;
    own->full_every = own->full_every ? own->full_every : FULL_EVERY;
    if (own->sync > SLR_SYNC_NEVER)
        return SLRI_FAIL(INVALID, "slr_serve_desc.sync: %u is no slr_sync", own->sync);
    if (own->snapshot_messages > SNAPSHOT_MOST)
        return SLRI_FAIL(INVALID, "slr_serve_desc.snapshot_messages: %" PRIu64 " is not 1 to %u",
                         own->snapshot_messages, SNAPSHOT_MOST);
    if (own->frame_messages > FRAME_MOST)
        return SLRI_FAIL(INVALID, "slr_serve_desc.frame_messages: %u is not 1 to %u", own->frame_messages, FRAME_MOST);
    return SLR_OK;
}

slr_status slri_server_check_ring(const slr_ring_desc *ring)
{
    if (ring->main)
        return SLRI_FAIL(UNSUPPORTED, "slr_serve: a loop takes its messages itself; a server needs a handler");
    if (ring->overflow != 0 && ring->overflow != SLR_OVERFLOW_BLOCK)
        return SLRI_FAIL(UNSUPPORTED, "slr_serve: a server drops no message: slr_ring_desc.overflow must be "
                                      "SLR_OVERFLOW_BLOCK");
    if (ring->key_limit == SLR_KEY_LIMIT_EVICT_IDLE)
        return SLRI_FAIL(UNSUPPORTED, "slr_serve: a server keeps the state of every key; SLR_KEY_LIMIT_EVICT_IDLE "
                                      "drops states");
    if (ring->keys > SLR_KEYS_TEXT)
        return SLRI_FAIL(INVALID, "slr_ring_desc.keys: %u is no slr_keys", ring->keys);
    return SLR_OK;
}

// The keys are the server's own: the ring kernel has an instance for each, by number.
static slr_status create_ring(slr_server *server, slr_device *device, const slr_ring_desc *desc)
{
    slr_ring_desc own;
    SLRI_TRY(SLRI_TAKE_DESC(slr_ring_desc, &own, desc));
    SLRI_TRY(slri_server_check_ring(&own));
    uint32_t keys = own.keys;
    server->key_bytes = own.key_bytes ? own.key_bytes : SLRI_KEY_BYTES;
    if (server->key_bytes > SLRI_FRAME_KEY_MAX)
        return SLRI_FAIL(INVALID, "slr_ring_desc.key_bytes: %u is not 1 to %u", own.key_bytes, SLRI_FRAME_KEY_MAX);
    own.keys = own.key_bytes = 0;
    own.instances = own.instances ? own.instances : keys ? DEFAULT_KEYS : 1;
    own.queue_size = own.queue_size ? own.queue_size : DEFAULT_QUEUE;
    own.dead_letters = own.queue_size;
    server->queue_size = own.queue_size;
    SLRI_TRY(slr_ring_create(device, &own, &server->ring));
    server->ring->one_a_call = true;
    own.keys = keys;
    slri_head_begin(&server->head, server->ring, &own);
    server->shape = (slri_frame_shape){server->head.layout, server->head.message_bytes, server->head.state_bytes,
                                       server->head.reply_bytes, own.instances};
    return slr_ring_launch(server->ring);
}

static slr_status allocate(slr_server *server)
{
    size_t step = server->shape.message_bytes;
    size_t words = (server->shape.instances + 63) / 64;
    uint32_t most = (uint32_t)(FRAME_BYTES / (step + sizeof(uint32_t)));
    server->step = step;
    server->reply_step = server->shape.reply_bytes ? slri_pad(server->shape.reply_bytes) : 8;
    server->batch_most = server->desc.frame_messages ? server->desc.frame_messages : most ? most : 1;
    server->out_capacity = SLRI_OUT_BYTES > 4 * server->reply_step ? SLRI_OUT_BYTES : 4 * server->reply_step;
    size_t frame = server->batch_most * (step + sizeof(uint32_t));
    server->batch_slots = SLRI_WAITING_BYTES / frame < 2 ? 3 : (uint32_t)(SLRI_WAITING_BYTES / frame) + 1;
    server->batches = calloc(server->batch_slots, sizeof *server->batches);
    server->replies = calloc(SLRI_REPLIES, sizeof *server->replies);
    server->received = calloc(SLRI_REPLIES, server->reply_step);
    server->out = calloc(1, server->out_capacity);
    server->letters = calloc(LETTERS, slri_pad(step));
    server->letter_heads = calloc(LETTERS, sizeof *server->letter_heads);
    server->dirty = calloc(words, sizeof *server->dirty);
    server->touched = calloc(words, sizeof *server->touched);
    server->changed = calloc(server->shape.instances, sizeof *server->changed); // real as it is used
    if (!server->batches || !server->replies || !server->received || !server->out || !server->letters ||
        !server->letter_heads || !server->dirty || !server->touched || !server->changed)
        return SLRI_FAIL(NO_MEMORY, "slr_serve: no memory for a server of %u instances", server->shape.instances);
    SLRI_TRY(slri_server_open_batch(server));
    return slri_keytable_open(&server->keys, server->head.keys);
}

static void keep_damage(void *user, const char *what)
{
    slr_server *server = user;
    slri_text_fit(server->stats.damage, sizeof server->stats.damage, what);
}

static slr_status open_place(slr_server *server)
{
    static const enum slri_log_sync policies[] = {[SLR_SYNC_INTERVAL] = SLRI_LOG_SYNC_INTERVAL,
                                                  [SLR_SYNC_ALWAYS] = SLRI_LOG_SYNC_ALWAYS,
                                                  [SLR_SYNC_NEVER] = SLRI_LOG_SYNC_NEVER};
    const slri_log_engine *engine;
    slri_log_desc desc = {.sync = policies[server->desc.sync],
                          .sync_interval_ns = server->desc.sync_interval_ns,
                          .on_damage = keep_damage,
                          .user = server};
    SLRI_TRY(slri_place_parse(server->desc.place, &engine, &desc.place));
    return engine->open(&desc, &server->log);
}

static slr_status start(slr_server *server)
{
    SLRI_TRY(slr_ring_activate(server->ring, SLRI_FOREVER));
    SLRI_TRY(slr_ring_get_address(server->ring, 0, &server->to));
    SLRI_TRY(slr_port_open(server->device, &server->port));
    server->snapshot_ns = slri_now_ns();
    SLRI_TRY(slri_server_replay(server));
    return slri_server_snapshot_if_due(server);
}

static void release(slr_server *server)
{
    slri_server_end_trial(server);
    slr_port_close(server->port);
    slr_ring_destroy(server->ring);
    if (server->log)
        server->log->engine->close(server->log);
    slri_keytable_close(&server->keys);
    for (uint32_t i = 0; server->batches && i < server->batch_slots; ++i) {
        free(server->batches[i].instances);
        free(server->batches[i].payloads);
    }
    free(server->batches);
    free(server->new_keys);
    free(server->marks);
    free(server->replies);
    free(server->received);
    free(server->out);
    free(server->out_records);
    for (uint32_t i = 0; i < server->unread_count; ++i)
        free(server->unread[(server->unread_at + i) & (server->unread_capacity - 1)].fault);
    free(server->fault);
    free(server->unread);
    free(server->unread_payloads);
    free(server->letters);
    free(server->letter_heads);
    slri_server_free_calls(server);
    free(server->dirty);
    free(server->touched);
    free(server->changed);
    free(server);
}

static slr_status open_all(slr_server *server, slr_device *device, const slr_ring_desc *ring,
                           const slr_serve_desc *desc, const slri_log_engine *engine, const slri_log_desc *log)
{
    const slri_log_engine *known;
    const char *rest;
    server->partition = log ? log->partition : 0;
    SLRI_TRY(take_desc(server, desc));
    if (!engine)
        SLRI_TRY(slri_place_parse(server->desc.place, &known, &rest)); // before a compiler is asked for anything
    struct slri_key_secret random;
    slri_key_secret_make(&random);
    server->writer = random.word[0];
    SLRI_TRY(create_ring(server, device, ring));
    SLRI_TRY(allocate(server));
    SLRI_TRY(engine ? engine->open(log, &server->log) : open_place(server));
    server->follows = server->log->engine->follow != NULL;
    SLRI_TRY(slri_server_recover(server));
    return start(server);
}

slr_status slri_serve(slr_device *device, const slr_ring_desc *ring, const slr_serve_desc *desc,
                      const slri_log_engine *engine, const slri_log_desc *log, slr_server **out)
{
    slr_server *server = calloc(1, sizeof *server);
    if (!server)
        return SLRI_FAIL(NO_MEMORY, "slr_serve: no memory");
    server->device = device;
    slr_status status = open_all(server, device, ring, desc, engine, log);
    server->desc.place = NULL; // the caller's
    if (status != SLR_OK) {
        release(server);
        return status;
    }
    *out = server;
    return SLR_OK;
}

void slri_server_abandon(slr_server *server)
{
    if (server)
        release(server);
}

slr_status slr_serve(slr_device *device, const slr_ring_desc *ring, const slr_serve_desc *desc, slr_server **out)
{
    if (!device || !ring || !desc || !out)
        return SLRI_FAIL(INVALID, "slr_serve: %s is NULL",
                         !device ? "device"
                         : !ring ? "ring"
                         : !desc ? "desc"
                                 : "out");
    return slri_serve(device, ring, desc, NULL, NULL, out);
}

slr_status slr_server_close(slr_server *server, uint64_t timeout_ns)
{
    if (!server)
        return SLR_OK;
    slr_status status = slri_server_snapshot(server, slri_deadline_after(timeout_ns));
    char why[512];
    snprintf(why, sizeof why, "%s", slr_error_message());
    release(server);
    return status == SLR_OK ? SLR_OK : slri_fail(status, "%s", why);
}

slr_ring *slr_server_get_ring(slr_server *server)
{
    return server ? server->ring : NULL;
}

slr_status slr_server_get_state(slr_server *server, slr_key key, void *state, size_t bytes, uint64_t timeout_ns)
{
    uint32_t instance = (uint32_t)key.number;
    if (!server)
        return SLRI_FAIL(INVALID, "slr_server_get_state: server is NULL");
    if (server->head.keys && !slri_keytable_find(&server->keys, &key, &instance))
        return SLRI_FAIL(NOT_FOUND, "'%s' has no such key", server->head.handler);
    return slr_ring_snapshot(server->ring, instance, state, bytes, timeout_ns);
}

slr_status slr_server_get_stats_sized(slr_server *server, slr_server_stats *out, size_t bytes)
{
    slr_ring_stats ring;
    if (!server || !out)
        return SLRI_FAIL(INVALID, "slr_server_get_stats: %s is NULL", server ? "out" : "server");
    SLRI_TRY(slr_ring_get_stats(server->ring, &ring));
    slr_server_stats stats = server->stats;
    stats.accepted = server->messages;
    stats.handled = server->handled + ring.handled;
    stats.faulted = server->faulted + ring.faulted;
    stats.pending = stats.accepted - stats.handled - stats.faulted;
    stats.buffered = server->batched;
    stats.outputs = server->outputs;
    stats.unread = server->unread_count;
    stats.released = server->released.outputs;
    stats.keys = server->touched_count;
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at)
        stats.bytes += server->log->engine->size(server->log, at);
    return SLRI_GIVE_REPORT(slr_server_stats, out, bytes, &stats);
}

slr_status(slr_server_get_stats)(slr_server *server, slr_server_stats *out)
{
    return slr_server_get_stats_sized(server, out, SLRI_FIRST_slr_server_stats);
}
