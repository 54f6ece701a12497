// SPDX-License-Identifier: Apache-2.0
// A copy of a name in a folder, and a name from such a copy. A partition is a log, there as here, so it is read with
// one engine and written with the other. The folder NAME/name holds the manifest, written last; NAME/3 is partition 3.
#include "cluster/name.h"

#include "base/file.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"

#include <slipring/operate.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 30 };
#define COUNTS_KEY "counts"
#define READ_NS 1000000000u // a record that was purged meanwhile is waited for as long

typedef struct copying {
    slri_nats *nats;
    const char *folder;
    slri_manifest manifest;
    slr_remote_copy counts;
    slri_head head; // of the partition at hand
    slri_log *to;
    enum slri_log_stream at;
    uint64_t last, records; // written to this stream
    char damage[256];
} copying;

static void pass_damage_on(void *user, const char *what)
{
    copying *copying = user;
    slri_text_fit(copying->damage, sizeof copying->damage, what);
}

static slr_status open_local(copying *copying, const char *part, bool reads_only, slri_log **out)
{
    slri_text path = SLRI_TEXT_INIT;
    slri_text_printf(&path, "%s/%s", copying->folder, part);
    char *place = slri_text_take(&path);
    if (!place)
        return SLRI_FAIL(NO_MEMORY, "no memory for a path");
    slri_log_desc desc = {.place = place,
                          .sync = SLRI_LOG_SYNC_ALWAYS,
                          .reads_only = reads_only,
                          .on_damage = pass_damage_on,
                          .user = copying};
    slr_status status = slri_log_local.open(&desc, out);
    free(place);
    return status;
}

static void name_part(char out[16], uint32_t partition)
{
    snprintf(out, 16, "%u", partition);
}

static slr_status count_record(void *user, const slri_log_record *record)
{
    copying *copying = user;
    copying->records++;
    copying->counts.bytes += record->bytes;
    return SLR_OK;
}

static slr_status copy_record(void *user, const slri_log_record *record)
{
    copying *copying = user;
    const slri_append_part part = {record->data, record->bytes};
    if (record->sequence != copying->last + 1)
        return SLRI_FAIL(INVALID, "%s: a copy lacks record %" PRIu64 " of stream '%s'", copying->folder,
                         copying->last + 1, slri_log_stream_name(copying->at));
    SLRI_TRY(copying->to->engine->append(copying->to, copying->at, copying->last, &part, 1));
    copying->last++;
    return count_record(copying, record);
}

// Its record before the first one that counts.
static uint64_t last_before(const slri_head *head, enum slri_log_stream at)
{
    const uint64_t last[SLRI_LOG_STREAMS] = {[SLRI_LOG_IN] = head->in_last,
                                             [SLRI_LOG_OUT] = head->out_last,
                                             [SLRI_LOG_SNAP] = head->snap_first ? head->snap_first - 1 : 0,
                                             [SLRI_LOG_DEAD] = head->dead_last};
    return last[at];
}

static void count_partition(copying *copying, const uint64_t records[SLRI_LOG_STREAMS])
{
    slr_remote_copy *counts = &copying->counts;
    counts->partitions++;
    counts->states += copying->head.states;
    counts->messages += copying->head.messages;
    counts->waiting += records[SLRI_LOG_IN];
    counts->outputs += records[SLRI_LOG_OUT];
    counts->letters += records[SLRI_LOG_DEAD];
}

// ---- to a folder ---------------------------------------------------------------------------------------------------

typedef struct range {
    uint64_t first, last;
} range;

// What the streams hold. What caused an output or a letter was stored before it, so the messages come last.
static slr_status find_ranges(const copying *copying, uint32_t partition, range ranges[SLRI_LOG_STREAMS])
{
    static const enum slri_log_stream order[] = {SLRI_LOG_OUT, SLRI_LOG_DEAD, SLRI_LOG_SNAP, SLRI_LOG_IN};
    for (uint32_t i = 0; i < SLRI_LOG_STREAMS; ++i) {
        char stream[SLRI_NATS_SUBJECT];
        uint64_t bytes;
        range *range = &ranges[order[i]];
        slri_nats_stream_name(copying->nats, order[i], partition, stream);
        SLRI_TRY(slri_nats_stream_state(copying->nats, stream, &range->first, &range->last, &bytes));
    }
    ranges[SLRI_LOG_IN].first = copying->head.in_last + 1;
    ranges[SLRI_LOG_SNAP] = (range){copying->head.snap_first, copying->head.snap_last};
    return SLR_OK;
}

static slr_status copy_stream(copying *copying, uint32_t partition, enum slri_log_stream at, const range *range)
{
    char stream[SLRI_NATS_SUBJECT];
    const slri_log_engine *engine = copying->to->engine;
    slri_nats_stream_name(copying->nats, at, partition, stream);
    copying->at = at;
    copying->last = range->first ? range->first - 1 : 0;
    copying->records = 0;
    SLRI_TRY(engine->cut(copying->to, at, UINT64_MAX - 1)); // what an earlier try has written
    SLRI_TRY(engine->cut(copying->to, at, copying->last));
    if (range->last > copying->last)
        SLRI_TRY(slri_nats_read(copying->nats, stream, range->first, range->last, copy_record, copying));
    return engine->sync(copying->to, at);
}

// `*revision`: of the head that it began with; 0 where there is none.
static slr_status copy_once(copying *copying, uint32_t partition, uint64_t *revision)
{
    // What disappears first is read first.
    static const enum slri_log_stream order[] = {SLRI_LOG_IN, SLRI_LOG_SNAP, SLRI_LOG_OUT, SLRI_LOG_DEAD};
    range ranges[SLRI_LOG_STREAMS];
    uint64_t none = 0, records[SLRI_LOG_STREAMS];
    slr_status status = slri_partition_head(copying->nats, partition, &copying->head, revision);
    if (status == SLR_NOT_FOUND) {
        copying->head = (slri_head){.snap_first = 1};
        *revision = 0;
    } else
        SLRI_TRY(status);
    SLRI_TRY(find_ranges(copying, partition, ranges));
    for (uint32_t i = 0; i < SLRI_LOG_STREAMS; ++i) {
        SLRI_TRY(copy_stream(copying, partition, order[i], &ranges[order[i]]));
        records[order[i]] = copying->records;
    }
    if (*revision)
        SLRI_TRY(copying->to->engine->cas(copying->to, SLRI_HEAD_KEY, &none, &copying->head,
                                          slri_head_bytes(&copying->head)));
    count_partition(copying, records);
    return SLR_OK;
}

static bool has_moved(const copying *copying, uint32_t partition, uint64_t before)
{
    slri_head head;
    uint64_t revision = 0;
    (void)slri_partition_head(copying->nats, partition, &head, &revision);
    return revision != before;
}

// A snapshot that is made meanwhile purges what is being read: then the next try begins with its head.
static slr_status copy_partition(copying *copying, uint32_t partition)
{
    char part[16], why[256];
    const uint64_t bytes = copying->counts.bytes;
    uint64_t revision = 0;
    name_part(part, partition);
    SLRI_TRY(open_local(copying, part, false, &copying->to));
    slr_status status = copy_once(copying, partition, &revision);
    for (uint32_t i = 1; status != SLR_OK && i < TRIES; ++i) {
        snprintf(why, sizeof why, "%s", slr_error_message());
        if (!has_moved(copying, partition, revision)) {
            status = slri_fail(status, "%s", why);
            break;
        }
        copying->counts.bytes = bytes;
        status = copy_once(copying, partition, &revision);
    }
    copying->to->engine->close(copying->to);
    return status;
}

static slr_status write_manifest(copying *copying)
{
    uint64_t none = 0;
    slri_log *log;
    SLRI_TRY(open_local(copying, "name", false, &log));
    slr_status status = log->engine->cas(log, COUNTS_KEY, &none, &copying->counts, sizeof copying->counts);
    none = 0;
    if (status == SLR_OK)
        status = log->engine->cas(log, SLRI_MANIFEST_KEY, &none, &copying->manifest, sizeof copying->manifest);
    log->engine->close(log);
    return status;
}

// A folder with a partition in it is somebody's copy.
static slr_status check_empty(const char *folder)
{
    static const char *const parts[] = {"name", "0"};
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        slri_text text = SLRI_TEXT_INIT;
        slri_text_printf(&text, "%s/%s", folder, parts[i]);
        char *path = slri_text_take(&text);
        if (!path)
            return SLRI_FAIL(NO_MEMORY, "no memory for a path");
        bool is_there = slri_file_is_there(path);
        free(path);
        if (is_there)
            return SLRI_FAIL(INVALID, "%s holds a copy already: name a new folder", folder);
    }
    return SLR_OK;
}

static slr_status copy_name(copying *copying)
{
    SLRI_TRY(slri_manifest_read(copying->nats, &copying->manifest));
    SLRI_TRY(check_empty(copying->folder));
    copying->nats->timeout_ns = READ_NS < copying->nats->timeout_ns ? READ_NS : copying->nats->timeout_ns;
    for (uint32_t i = 0; i < copying->manifest.partitions; ++i)
        SLRI_TRY(copy_partition(copying, i));
    return write_manifest(copying);
}

// ---- from a folder -------------------------------------------------------------------------------------------------

// The name is ours alone until its manifest is there, which is written last.
static slr_status check_free(const copying *copying)
{
    slri_manifest manifest;
    char stream[SLRI_NATS_SUBJECT];
    bool is_there = false;
    slr_status status = slri_manifest_read(copying->nats, &manifest);
    if (status == SLR_OK || status == SLR_INVALID)
        return SLRI_FAIL(WRONG_STATE, "the name '%s' is in use on these servers: restore under another one",
                         copying->nats->name);
    if (status != SLR_NOT_FOUND)
        return status;
    for (uint32_t i = 0; i < copying->manifest.partitions * SLRI_LOG_STREAMS && !is_there; ++i) {
        slri_nats_stream_name(copying->nats, i % SLRI_LOG_STREAMS, i / SLRI_LOG_STREAMS, stream);
        SLRI_TRY(slri_nats_has_stream(copying->nats, stream, &is_there));
    }
    return is_there ? SLRI_FAIL(WRONG_STATE,
                                "stream %s is on these servers already: remove the streams slr-%s-*, or restore under "
                                "another name",
                                stream, copying->nats->name)
                    : SLR_OK;
}

static slr_status read_manifest(copying *copying, slr_remote_copy *counts)
{
    slri_log *log;
    size_t bytes, counted = 0;
    uint64_t revision;
    slr_status status = open_local(copying, "name", true, &log);
    if (status == SLR_OK) {
        status =
            log->engine->get(log, SLRI_MANIFEST_KEY, &copying->manifest, sizeof copying->manifest, &bytes, &revision);
        if (status == SLR_OK)
            status = log->engine->get(log, COUNTS_KEY, counts, sizeof *counts, &counted, &revision);
        log->engine->close(log);
    }
    if (status == SLR_NOT_FOUND)
        return SLRI_FAIL(NOT_FOUND, "%s has no whole copy of a name ('slipring cluster snapshot' makes one)",
                         copying->folder);
    SLRI_TRY(status);
    SLRI_TRY(slri_manifest_check(&copying->manifest, bytes, copying->folder));
    return counted == sizeof *counts ? SLR_OK
                                     : SLRI_FAIL(INVALID, "%s: another version of slipring made it", copying->folder);
}

static slr_status read_head(copying *copying, slri_log *from, size_t *bytes)
{
    uint64_t revision;
    *bytes = 0;
    slr_status status = from->engine->get(from, SLRI_HEAD_KEY, &copying->head, sizeof copying->head, bytes, &revision);
    if (status == SLR_NOT_FOUND) {
        copying->head = (slri_head){.snap_first = 1};
        return SLR_OK;
    }
    SLRI_TRY(status);
    return slri_head_check(&copying->head, *bytes, copying->folder);
}

static slr_status check_part(copying *copying, uint32_t partition)
{
    char part[16];
    slri_log *from;
    size_t bytes;
    uint64_t records[SLRI_LOG_STREAMS] = {0};
    name_part(part, partition);
    SLRI_TRY(open_local(copying, part, true, &from));
    slr_status status = read_head(copying, from, &bytes);
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS && status == SLR_OK; ++at) {
        uint64_t first, last;
        from->engine->last(from, at, &first, &last);
        copying->records = 0;
        if (last >= first)
            status = from->engine->read_from(from, at, first, count_record, copying);
        records[at] = copying->records;
    }
    from->engine->close(from);
    if (status == SLR_OK)
        count_partition(copying, records);
    return status;
}

// All of it is read once before anything is made.
static slr_status check_copy(copying *copying, const slr_remote_copy *counts)
{
    for (uint32_t i = 0; i < copying->manifest.partitions; ++i)
        SLRI_TRY(check_part(copying, i));
    if (copying->damage[0])
        return SLRI_FAIL(INVALID, "%s is damaged: %s", copying->folder, copying->damage);
    if (memcmp(&copying->counts, counts, sizeof *counts) != 0)
        return SLRI_FAIL(INVALID, "%s is not whole: it holds %" PRIu64 " B of records, and had %" PRIu64,
                         copying->folder, copying->counts.bytes, counts->bytes);
    copying->counts = (slr_remote_copy){0};
    return SLR_OK;
}

// The first record of a stream keeps its sequence: the head names it.
static slr_status make_part_streams(const copying *copying, slri_log *from, uint32_t partition)
{
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        char stream[SLRI_NATS_SUBJECT], subject[SLRI_NATS_SUBJECT];
        uint64_t first, last;
        from->engine->last(from, at, &first, &last);
        first = last < first ? last_before(&copying->head, at) + 1 : first;
        slri_nats_stream_name(copying->nats, at, partition, stream);
        slri_nats_stream_subject(copying->nats, at, partition, subject);
        SLRI_TRY(slri_nats_make_stream(copying->nats, stream, subject,
                                       at == SLRI_LOG_IN ? copying->manifest.capacity : 0, first));
    }
    return SLR_OK;
}

static slr_status restore_streams(copying *copying, slri_log *from, uint64_t records[SLRI_LOG_STREAMS])
{
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        uint64_t first, last;
        from->engine->last(from, at, &first, &last);
        copying->at = at;
        copying->last = first - 1;
        copying->records = 0;
        if (last >= first)
            SLRI_TRY(from->engine->read_from(from, at, first, copy_record, copying));
        SLRI_TRY(copying->to->engine->sync(copying->to, at));
        records[at] = copying->records;
    }
    return SLR_OK;
}

static slr_status restore_log(copying *copying, slri_log *from, uint32_t partition)
{
    slri_log_desc desc = {.nats = copying->nats, .partition = partition};
    uint64_t none = 0, records[SLRI_LOG_STREAMS];
    size_t bytes;
    SLRI_TRY(read_head(copying, from, &bytes));
    SLRI_TRY(make_part_streams(copying, from, partition));
    SLRI_TRY(slri_log_nats.open(&desc, &copying->to));
    slr_status status = restore_streams(copying, from, records);
    if (status == SLR_OK && bytes > 0)
        status = slri_log_nats.cas(copying->to, SLRI_HEAD_KEY, &none, &copying->head, bytes);
    slri_log_nats.close(copying->to);
    SLRI_TRY(status);
    count_partition(copying, records);
    return SLR_OK;
}

static slr_status restore_partition(copying *copying, uint32_t partition)
{
    char part[16];
    slri_log *from;
    name_part(part, partition);
    SLRI_TRY(open_local(copying, part, true, &from));
    slr_status status = restore_log(copying, from, partition);
    from->engine->close(from);
    return status;
}

static slr_status restore_name(copying *copying)
{
    uint64_t none = 0;
    slr_remote_copy counts;
    SLRI_TRY(read_manifest(copying, &counts));
    SLRI_TRY(check_copy(copying, &counts));
    SLRI_TRY(check_free(copying));
    SLRI_TRY(slri_nats_make_values(copying->nats));
    for (uint32_t i = 0; i < copying->manifest.partitions; ++i)
        SLRI_TRY(restore_partition(copying, i));
    copying->manifest.replicas = copying->nats->replicas;
    return slri_nats_cas(copying->nats, SLRI_MANIFEST_KEY, &none, &copying->manifest, sizeof copying->manifest);
}

// ---- the calls -----------------------------------------------------------------------------------------------------

static slr_status copy(const slr_remote_desc *where, const char *folder, slr_status (*how)(copying *copying),
                       slr_remote_copy *out, size_t bytes, const char *call)
{
    if (!where || !folder || !out)
        return SLRI_FAIL(INVALID, "%s: %s is NULL", call, !where ? "where" : folder ? "out" : "folder");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_remote_copy, bytes));
    copying *copying = calloc(1, sizeof *copying);
    if (!copying)
        return SLRI_FAIL(NO_MEMORY, "%s: no memory", call);
    copying->folder = folder;
    slr_status status = slri_nats_open(where, &copying->nats);
    if (status == SLR_OK) {
        status = how(copying);
        slri_nats_close(copying->nats);
    }
    if (status == SLR_OK)
        status = SLRI_GIVE_REPORT(slr_remote_copy, out, bytes, &copying->counts);
    free(copying);
    return status;
}

slr_status slr_remote_snapshot_sized(const slr_remote_desc *where, const char *folder, slr_remote_copy *out,
                                     size_t bytes)
{
    return copy(where, folder, copy_name, out, bytes, "slr_remote_snapshot");
}

slr_status(slr_remote_snapshot)(const slr_remote_desc *where, const char *folder, slr_remote_copy *out)
{
    return slr_remote_snapshot_sized(where, folder, out, SLRI_FIRST_slr_remote_copy);
}

slr_status slr_remote_restore_sized(const slr_remote_desc *where, const char *folder, slr_remote_copy *out,
                                    size_t bytes)
{
    return copy(where, folder, restore_name, out, bytes, "slr_remote_restore");
}

slr_status(slr_remote_restore)(const slr_remote_desc *where, const char *folder, slr_remote_copy *out)
{
    return slr_remote_restore_sized(where, folder, out, SLRI_FIRST_slr_remote_copy);
}
