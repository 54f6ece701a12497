// SPDX-License-Identifier: Apache-2.0
// The way in: messages to a frame, the frame to the log, and then to the ring kernel.
#include "base/clock.h"
#include "base/copy.h"
#include "base/status.h"
#include "cluster/server.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_NS = 200 * 1000 }; // for a place in a full mailbox before replies are looked at again

// ---- producers -----------------------------------------------------------------------------------------------------

static slri_head_producer *find_producer(const slr_server *server, uint64_t name)
{
    for (uint64_t i = 0; i < server->head.producers; ++i) {
        if (server->head.producer[i].name == name)
            return (slri_head_producer *)&server->head.producer[i];
    }
    return NULL;
}

slr_status slri_server_producer(slr_server *server, uint64_t name, uint32_t *at)
{
    slri_head_producer *found = find_producer(server, name);
    if (!found && server->head.producers == SLRI_HEAD_PRODUCERS)
        return SLRI_FAIL(FULL, "'%s' has %u producers already, which is the limit", server->head.handler,
                         SLRI_HEAD_PRODUCERS);
    if (!found) {
        found = &server->head.producer[server->head.producers++];
        *found = (slri_head_producer){.name = name};
    }
    *at = (uint32_t)(found - server->head.producer);
    return SLR_OK;
}

slr_status slr_server_get_producer(const slr_server *server, uint64_t producer, uint64_t *number)
{
    if (!server || !number)
        return SLRI_FAIL(INVALID, "slr_server_get_producer: %s is NULL", server ? "number" : "server");
    const slri_head_producer *found = find_producer(server, producer);
    *number = found ? found->number : 0;
    return SLR_OK;
}

// ---- the frame -----------------------------------------------------------------------------------------------------

// What is given to the ring kernel makes its state another one.
void slri_server_touch(slr_server *server, uint32_t instance)
{
    const uint64_t bit = (uint64_t)1 << instance % 64;
    uint64_t *dirty = &server->dirty[instance / 64], *touched = &server->touched[instance / 64];
    if (*dirty & bit)
        return;
    *dirty |= bit;
    server->changed[server->changed_count++] = instance;
    server->touched_count += !(*touched & bit);
    *touched |= bit;
}

static slr_status add_new_key(slr_server *server, uint32_t instance, const slr_key *key)
{
    size_t bytes;
    const char *text = slri_keytable_bytes(&server->keys, key, &bytes);
    slri_frame_key head = {instance, (uint32_t)bytes};
    size_t need = server->new_bytes + sizeof head + slri_pad(bytes);
    if (need > server->new_capacity) {
        unsigned char *grown = realloc(server->new_keys, 2 * need);
        if (!grown)
            return SLRI_FAIL(NO_MEMORY, "no memory for a key of %zu B", bytes);
        server->new_keys = grown;
        server->new_capacity = 2 * need;
    }
    SLRI_TRY(slri_keytable_add(&server->keys, key));
    unsigned char *to = server->new_keys + server->new_bytes;
    memset(to, 0, sizeof head + slri_pad(bytes));
    memcpy(to, &head, sizeof head);
    if (bytes)
        memcpy(to + sizeof head, text, bytes);
    server->new_bytes = need;
    server->new_count++;
    return SLR_OK;
}

slr_status slri_server_find_instance(slr_server *server, const slr_key *key, uint32_t *instance)
{
    if (!server->head.keys) {
        *instance = (uint32_t)key->number;
        return key->number < server->shape.instances
                   ? SLR_OK
                   : SLRI_FAIL(INVALID, "'%s' has instances 0 to %u; a message names %" PRIu64, server->head.handler,
                               server->shape.instances - 1, key->number);
    }
    if (server->head.keys == SLR_KEYS_TEXT && (!key->text || key->bytes > server->key_bytes))
        return SLRI_FAIL(INVALID, "'%s' has text keys of at most %u B; a message has a key of %zu B",
                         server->head.handler, server->key_bytes, key->bytes);
    if (slri_keytable_find(&server->keys, key, instance))
        return SLR_OK;
    if (server->keys.count == server->shape.instances)
        return SLRI_FAIL(FULL, "'%s' has %u keys, and slr_ring_desc.instances allows no more", server->head.handler,
                         server->shape.instances);
    *instance = server->keys.count;
    return add_new_key(server, *instance, key);
}

slr_status slri_server_write_batch(slr_server *server)
{
    slri_head_producer *producer = &server->head.producer[server->producer_at];
    slri_frame_head head = slri_frame_head_of(&server->shape, SLRI_FRAME_IN);
    server->instances[server->batched] = 0; // the padding, here and behind the messages
    memset(server->payloads + server->batched * server->step, 0, 8);
    head.producer = server->producer;
    head.number = producer->number + 1;
    head.first = server->messages + 1;
    head.count = server->batched;
    head.extra = server->new_count;
    slri_append_part parts[] = {{&head, sizeof head},
                                {server->instances, slri_pad(server->batched * sizeof *server->instances)},
                                {server->new_keys, server->new_bytes},
                                {server->payloads, slri_pad(server->batched * server->step)}};
    // Each message is read once for two sums: the record's, and that of all messages of the producer.
    const slri_log_rows rows = {server->shape.message_bytes,
                                slri_rows_add(0, server->payloads, server->batched, server->shape.message_bytes)};
    SLRI_TRY(server->log->engine->append_rows(server->log, SLRI_LOG_IN, server->in_last, parts,
                                              sizeof parts / sizeof *parts, &rows));
    server->in_last++;
    server->messages += server->batched;
    producer->number += server->batched;
    producer->sum = slri_rows_join(producer->sum, rows.sum, server->batched, server->shape.message_bytes);
    producer->instances = slri_instances_add(producer->instances, server->instances, server->batched);
    return SLR_OK;
}

// Memory comes with the first use: a mailbox that keeps up needs two frames.
slr_status slri_server_open_batch(slr_server *server)
{
    slri_batch *batch = &server->batches[(server->batch_first + server->waiting) % server->batch_slots];
    if (!batch->instances)
        batch->instances = calloc(server->batch_most + 1, sizeof *batch->instances);
    if (!batch->payloads)
        batch->payloads = calloc(server->batch_most + 8, server->step); // and padding
    if (!batch->instances || !batch->payloads)
        return SLRI_FAIL(NO_MEMORY, "no memory for a frame of %u messages", server->batch_most);
    server->instances = batch->instances;
    server->payloads = batch->payloads;
    server->batched = server->new_count = 0;
    server->new_bytes = 0;
    return SLR_OK;
}

slr_status slri_server_end_batch(slr_server *server)
{
    slri_batch *batch = &server->batches[(server->batch_first + server->waiting) % server->batch_slots];
    batch->count = server->batched;
    batch->sent = 0;
    server->waiting++;
    return slri_server_open_batch(server);
}

// The oldest frame is in the mailbox. Its memory, which caches still have, is for the frame after the one that is being
// filled: a mailbox that keeps up needs no more than two.
static void end_sent(slr_server *server)
{
    slri_batch *sent = &server->batches[server->batch_first];
    slri_batch *next = &server->batches[(server->batch_first + server->waiting + 1) % server->batch_slots];
    slri_batch memory = *next;
    *next = *sent;
    *sent = memory;
    server->batch_first = (server->batch_first + 1) % server->batch_slots;
    server->waiting--;
}

// What has a place in the mailbox goes there.
static slr_status send_some(slr_server *server, uint64_t patience_ns)
{
    while (server->waiting > 0) {
        slri_batch *batch = &server->batches[server->batch_first];
        uint32_t now = 0;
        slr_status status = slr_send_many(server->port, server->to, batch->instances + batch->sent,
                                          batch->payloads + batch->sent * server->step, server->shape.message_bytes,
                                          batch->count - batch->sent, patience_ns, &now);
        for (uint32_t i = 0; i < now; ++i)
            slri_server_touch(server, batch->instances[batch->sent + i]);
        batch->sent += now;
        server->sent += now;
        if (status != SLR_OK && status != SLR_FULL && status != SLR_TIMEOUT)
            return status;
        if (batch->sent < batch->count)
            return SLR_OK;
        end_sent(server);
        patience_ns = 0;
    }
    return SLR_OK;
}

slr_status slri_server_hand_over(slr_server *server, uint32_t most, uint64_t deadline_ns)
{
    SLRI_TRY(send_some(server, 0));
    SLRI_TRY(slri_server_pump(server, 0));
    while (server->waiting > most) {
        if (slri_passed(deadline_ns))
            return SLRI_FAIL(TIMEOUT, "'%s': %" PRIu64 " accepted messages wait for places in its mailbox",
                             server->head.handler, server->messages - server->sent);
        SLRI_TRY(send_some(server, PATIENCE_NS));
        SLRI_TRY(slri_server_pump(server, 0));
    }
    return SLR_OK;
}

slr_status slri_server_accept(slr_server *server, uint64_t deadline_ns)
{
    if (server->batched == 0)
        return SLR_OK;
    SLRI_TRY(slri_server_hand_over(server, server->batch_slots - 2, deadline_ns)); // a slot for the next frame
    if (server->batched == 0) // a handler that faulted was taken back meanwhile
        return SLR_OK;
    SLRI_TRY(slri_server_write_batch(server));
    slr_status synced =
        server->desc.sync == SLR_SYNC_ALWAYS ? server->log->engine->sync(server->log, SLRI_LOG_IN) : SLR_OK;
    SLRI_TRY(slri_server_end_batch(server));
    return synced;
}

// ---- the calls -----------------------------------------------------------------------------------------------------

// The instance of a message that was accepted before. A key that no message had gets none, and so makes another sum.
static uint32_t known_instance(const slr_server *server, const slr_key *key)
{
    uint32_t instance = UINT32_MAX;
    if (!server->head.keys)
        return key->number < server->shape.instances ? (uint32_t)key->number : instance;
    const bool is_key = server->head.keys != SLR_KEYS_TEXT || (key->text && key->bytes <= server->key_bytes);
    return is_key && slri_keytable_find(&server->keys, key, &instance) ? instance : UINT32_MAX;
}

// A message that was accepted before: all of them, from the first on, must be what they were, and for the same keys.
static slr_status skip(slr_server *server, const slri_head_producer *producer, uint64_t number, const slr_key *key,
                       const void *message)
{
    server->stats.repeated++;
    if (number == 1) {
        server->again = server->again_instances = 0;
        server->again_number = 0;
        server->again_producer = producer->name;
    }
    if (number != server->again_number + 1 || producer->name != server->again_producer)
        return SLR_OK; // not from the first on
    server->again = slri_rows_add(server->again, message, 1, server->shape.message_bytes);
    const uint32_t instance = known_instance(server, key);
    server->again_instances = slri_instances_add(server->again_instances, &instance, 1);
    server->again_number = number;
    if (number != producer->number)
        return SLR_OK;
    if (server->again == producer->sum && server->again_instances != producer->instances)
        return SLRI_FAIL(INVALID,
                         "the first %" PRIu64 " messages are those that were accepted before, but for other %s: is "
                         "--key, or what names the instance, the same as before?",
                         number, server->head.keys ? "keys" : "instances");
    if (server->again != producer->sum)
        return SLRI_FAIL(INVALID,
                         "the first %" PRIu64 " messages are not those that were accepted before: is this the same "
                         "input, and are the options that read it the same?",
                         number);
    return SLR_OK;
}

// Not inlined, as what is rare of a send: its registers would be saved for each message.
static __attribute__((noinline)) slr_status refuse_send(const slr_server *server, const void *message, size_t bytes)
{
    if (!server || !message)
        return SLRI_FAIL(INVALID, "slr_server_send: %s is NULL", server ? "message" : "server");
    if (bytes != server->shape.message_bytes)
        return SLRI_FAIL(INVALID, "'%s' has messages of %u B, not of %zu B", server->head.handler,
                         server->shape.message_bytes, bytes);
    return SLRI_FAIL(FULL, "'%s': %u outputs wait for slr_server_receive", server->head.handler, server->unread_count);
}

static __attribute__((noinline)) slr_status refuse_number(uint64_t producer, uint64_t number, uint64_t next)
{
    return SLRI_FAIL(INVALID, "producer %" PRIu64 " sends message %" PRIu64 ", but its next one is %" PRIu64, producer,
                     number, next);
}

// A frame of this producer's, after the one that is full or another's. The clock is read here, not for each message.
static __attribute__((noinline)) slr_status begin_frame(slr_server *server, uint64_t producer, uint64_t timeout_ns)
{
    if (server->batched > 0)
        SLRI_TRY(slri_server_accept(server, slri_deadline_after(timeout_ns)));
    SLRI_TRY(slri_server_producer(server, producer, &server->producer_at));
    server->producer = producer;
    return SLR_OK;
}

static __attribute__((noinline)) slr_status end_full(slr_server *server, uint64_t timeout_ns)
{
    slr_status status = slri_server_accept(server, slri_deadline_after(timeout_ns));
    if (status == SLR_TIMEOUT) // the next call tries again
        return SLR_OK;
    return status == SLR_OK ? slri_server_snapshot_if_due(server) : status;
}

slr_status slr_server_send(slr_server *server, uint64_t producer, uint64_t number, slr_key key, const void *message,
                           size_t bytes, uint64_t timeout_ns)
{
    if (!server || !message || bytes != server->shape.message_bytes || server->unread_count >= SLRI_UNREAD_MAX)
        return refuse_send(server, message, bytes);
    if (server->batched == 0 || server->batched == server->batch_most || producer != server->producer)
        SLRI_TRY(begin_frame(server, producer, timeout_ns));
    if (number != 0) {
        const slri_head_producer *known = &server->head.producer[server->producer_at];
        const uint64_t next = known->number + server->batched + 1;
        if (number > next)
            return refuse_number(producer, number, next);
        if (number < next)
            return skip(server, known, number, &key, message);
    }
    const uint32_t at = server->batched;
    if (!server->head.keys && key.number < server->shape.instances)
        server->instances[at] = (uint32_t)key.number;
    else
        SLRI_TRY(slri_server_find_instance(server, &key, &server->instances[at]));
    slri_copy_message(server->payloads + at * server->step, message, bytes);
    server->batched = at + 1;
    return at + 1 < server->batch_most ? SLR_OK : end_full(server, timeout_ns);
}

slr_status slr_server_flush(slr_server *server, uint64_t timeout_ns)
{
    if (!server)
        return SLRI_FAIL(INVALID, "slr_server_flush: server is NULL");
    uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    SLRI_TRY(slri_server_accept(server, deadline_ns));
    SLRI_TRY(slri_server_hand_over(server, 0, deadline_ns));
    return slri_server_snapshot_if_due(server);
}
