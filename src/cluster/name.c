// SPDX-License-Identifier: Apache-2.0
// What is written down of a name, and what its servers hold of it.
#include "cluster/name.h"

#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/thread.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST_MAGIC "\x89SLRNAM\n"
enum { MANIFEST_VERSION = 1, MANIFEST_ORDER = 0x01020304, HEAD_NAP_NS = 20 * 1000 * 1000 };

void slri_manifest_begin(slri_manifest *manifest, const slri_head *head, const slr_worker_desc *desc,
                         const slr_ring_desc *ring, uint32_t replicas)
{
    const uint32_t key_bytes = ring->key_bytes ? ring->key_bytes : SLRI_KEY_BYTES;
    *manifest = (slri_manifest){.version = MANIFEST_VERSION,
                                .order = MANIFEST_ORDER,
                                .layout = head->layout,
                                .message_bytes = head->message_bytes,
                                .state_bytes = head->state_bytes,
                                .reply_bytes = head->reply_bytes,
                                .keys = head->keys,
                                .partitions = desc->partitions,
                                .replicas = replicas,
                                .capacity = desc->capacity,
                                .lease_ns = desc->lease_ns,
                                .key_limit = head->keys == SLR_KEYS_TEXT ? key_bytes
                                             : head->keys                ? 0
                                             : ring->instances           ? ring->instances
                                                                         : 1};
    memcpy(manifest->magic, MANIFEST_MAGIC, sizeof manifest->magic);
    memcpy(manifest->handler, head->handler, sizeof manifest->handler);
}

slr_status slri_manifest_check(const slri_manifest *manifest, size_t bytes, const char *place)
{
    bool right = bytes == sizeof *manifest && memcmp(manifest->magic, MANIFEST_MAGIC, sizeof manifest->magic) == 0 &&
                 manifest->version == MANIFEST_VERSION && manifest->order == MANIFEST_ORDER &&
                 manifest->partitions > 0 && manifest->partitions <= SLRI_NAME_PARTITIONS &&
                 manifest->keys <= SLR_KEYS_TEXT && manifest->message_bytes > 0 &&
                 manifest->lease_ns >= SLRI_LEAST_LEASE_NS &&
                 manifest->key_limit <= (manifest->keys == SLR_KEYS_TEXT ? SLRI_FRAME_KEY_MAX : UINT32_MAX) &&
                 memchr(manifest->handler, '\0', sizeof manifest->handler);
    return right ? SLR_OK
                 : SLRI_FAIL(INVALID, "'%s' was begun by another version of slipring, or by something else", place);
}

slr_status slri_manifest_read(slri_nats *nats, slri_manifest *out)
{
    size_t bytes;
    uint64_t revision;
    slr_status status = SLR_TIMEOUT; // a request may go to a server that was just lost
    for (uint32_t i = 0; i < SLRI_NATS_TRIES && status == SLR_TIMEOUT; ++i)
        status = slri_nats_get(nats, SLRI_MANIFEST_KEY, out, sizeof *out, &bytes, &revision);
    if (status == SLR_NOT_FOUND)
        return SLRI_FAIL(NOT_FOUND,
                         "nobody has served the name '%s' on these servers: start a worker ('slipring serve')",
                         nats->name);
    SLRI_TRY(status);
    return slri_manifest_check(out, bytes, nats->name);
}

uint32_t slri_partition_of(const slri_manifest *manifest, const slr_key *key)
{
    static const struct slri_key_secret fixed = {{0x736c697072696e67, 0x706172746974696f}}; // "slipring", "partitio"
    uint64_t hash =
        key->text ? slri_key_hash_bytes(&fixed, key->text, key->bytes) : slri_key_hash_u64(&fixed, key->number);
    const uint32_t partitions = manifest->partitions;
    return (uint32_t)(partitions & (partitions - 1) ? hash % partitions : hash & (partitions - 1)); // a division costs
}

static slr_status read_some_head(slri_nats *nats, uint32_t partition, slri_head *out, uint64_t *revision)
{
    char key[48];
    size_t bytes;
    snprintf(key, sizeof key, "%u." SLRI_HEAD_KEY, partition);
    SLRI_TRY(slri_nats_get(nats, key, out, sizeof *out, &bytes, revision));
    return slri_head_check(out, bytes, nats->name);
}

// A replica that is behind gives an old head. Who leads the stream of messages says which of them were purged: the head
// of now has those.
slr_status slri_partition_head(slri_nats *nats, uint32_t partition, slri_head *out, uint64_t *revision)
{
    const uint64_t deadline_ns = slri_deadline_after(nats->timeout_ns);
    char stream[SLRI_NATS_SUBJECT];
    uint64_t first, last, bytes;
    slri_nats_stream_name(nats, SLRI_LOG_IN, partition, stream);
    for (;;) {
        slr_status status = read_some_head(nats, partition, out, revision);
        if (status != SLR_OK && status != SLR_NOT_FOUND)
            return status;
        const uint64_t in_last = status == SLR_OK ? out->in_last : 0;
        SLRI_TRY(slri_nats_stream_state(nats, stream, &first, &last, &bytes));
        if (in_last + 1 >= first)
            return status == SLR_OK ? SLR_OK : SLRI_FAIL(NOT_FOUND, "partition %u has no snapshot", partition);
        if (slri_passed(deadline_ns))
            return SLRI_FAIL(TIMEOUT,
                             "stream %s begins with record %" PRIu64 ", but the servers' newest snapshot ends with "
                             "record %" PRIu64,
                             stream, first, in_last);
        slri_sleep_ns(HEAD_NAP_NS);
    }
}

// ---- looking -------------------------------------------------------------------------------------------------------

static slr_status count_workers(slri_nats *nats, uint64_t lease_ns, slr_remote_info *info)
{
    slri_workers *workers = malloc(sizeof *workers);
    slr_status status = workers ? slri_workers_list(nats, lease_ns, workers)
                                : SLRI_FAIL(NO_MEMORY, "slr_remote_get_info: no memory for a list of workers");
    for (uint32_t i = 0; status == SLR_OK && i < workers->count; ++i) {
        info->workers += workers->list[i].is_lost ? 0 : 1;
        info->owned += workers->list[i].partitions;
    }
    free(workers);
    return status;
}

static slr_status add_partition(slri_nats *nats, uint32_t partition, slr_remote_info *info)
{
    slri_head head;
    uint64_t revision, first, last, bytes;
    slr_status status = slri_partition_head(nats, partition, &head, &revision);
    if (status == SLR_NOT_FOUND)
        memset(&head, 0, sizeof head);
    else
        SLRI_TRY(status);
    info->messages += head.messages;
    info->states += head.states;
    info->handled += head.handled;
    info->faulted += head.faulted;
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        char stream[SLRI_NATS_SUBJECT];
        slri_nats_stream_name(nats, at, partition, stream);
        SLRI_TRY(slri_nats_stream_state(nats, stream, &first, &last, &bytes));
        info->bytes += bytes;
        if (at == SLRI_LOG_IN)
            info->waiting += last > head.in_last ? last - head.in_last : 0;
    }
    info->outputs += head.outputs;
    return SLR_OK;
}

static slr_status look_at_name(slri_nats *nats, slr_remote_info *info)
{
    slri_manifest manifest;
    SLRI_TRY(slri_manifest_read(nats, &manifest));
    memcpy(info->handler, manifest.handler, sizeof info->handler);
    info->layout = manifest.layout;
    info->message_bytes = manifest.message_bytes;
    info->state_bytes = manifest.state_bytes;
    info->reply_bytes = manifest.reply_bytes;
    info->keys = manifest.keys;
    info->partitions = manifest.partitions;
    info->capacity = manifest.capacity;
    info->lease_ns = manifest.lease_ns;
    SLRI_TRY(count_workers(nats, manifest.lease_ns, info));
    for (uint32_t i = 0; i < manifest.partitions; ++i)
        SLRI_TRY(add_partition(nats, i, info));
    return SLR_OK;
}

slr_status slr_remote_get_info_sized(const slr_remote_desc *where, slr_remote_info *out, size_t bytes)
{
    slr_remote_info info = {0};
    slri_nats *nats;
    if (!where || !out)
        return SLRI_FAIL(INVALID, "slr_remote_get_info: %s is NULL", where ? "out" : "where");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_remote_info, bytes));
    SLRI_TRY(slri_nats_open(where, &nats));
    slr_status status = look_at_name(nats, &info);
    slri_nats_close(nats);
    SLRI_TRY(status);
    return SLRI_GIVE_REPORT(slr_remote_info, out, bytes, &info);
}

slr_status(slr_remote_get_info)(const slr_remote_desc *where, slr_remote_info *out)
{
    return slr_remote_get_info_sized(where, out, SLRI_FIRST_slr_remote_info);
}
