// SPDX-License-Identifier: Apache-2.0
#include "memory_log.h"

#include "base/status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 4, KEY_BYTES = 32 };

typedef struct stored {
    void *data;
    size_t bytes;
} stored;

typedef struct shelf {
    stored *records;
    uint64_t first, last, synced; // sequences
    uint64_t capacity;
} shelf;

typedef struct named {
    char key[KEY_BYTES];
    unsigned char bytes[SLRI_LOG_VALUE_MAX];
    size_t length;
    uint64_t revision;
} named;

// An append that has not arrived yet.
typedef struct on_way {
    struct on_way *next;
    struct memory_log *from; // NULL: that log is closed
    enum slri_log_stream at;
    uint64_t expected;
    stored record;
} on_way;

typedef struct memory_log {
    slri_log log;
    uint32_t life; // of the server, when it was opened
    uint64_t first[SLRI_LOG_STREAMS], last[SLRI_LOG_STREAMS], size[SLRI_LOG_STREAMS];
    slr_status failed;
} memory_log;

static struct {
    uint64_t random, late;
    uint32_t life;
    bool is_full;
    shelf shelves[SLRI_LOG_STREAMS];
    named values[VALUES];
    on_way *way, **way_end;
} server;

static uint64_t draw(uint64_t limit)
{
    server.random ^= server.random << 13;
    server.random ^= server.random >> 7;
    server.random ^= server.random << 17;
    return server.random % limit;
}

// ---- records -------------------------------------------------------------------------------------------------------

static stored join(const slri_append_part *parts, uint32_t count)
{
    stored record = {NULL, 0};
    for (uint32_t i = 0; i < count; ++i)
        record.bytes += parts[i].bytes;
    record.data = malloc(record.bytes + 1);
    unsigned char *to = record.data;
    for (uint32_t i = 0; i < count; to += parts[i++].bytes) {
        if (parts[i].bytes)
            memcpy(to, parts[i].data, parts[i].bytes);
    }
    return record;
}

static bool put(enum slri_log_stream at, stored record)
{
    shelf *shelf = &server.shelves[at];
    if (server.is_full)
        return false;
    if (shelf->last + 1 >= shelf->capacity) {
        shelf->capacity = shelf->capacity ? 2 * shelf->capacity : 256;
        shelf->records = realloc(shelf->records, shelf->capacity * sizeof *shelf->records);
    }
    shelf->records[++shelf->last] = record;
    return true;
}

static void drop(enum slri_log_stream at, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i <= to; ++i)
        free(server.shelves[at].records[i].data);
}

// ---- what is on its way --------------------------------------------------------------------------------------------

static void arrive(void)
{
    on_way *way = server.way;
    memory_log *from = way->from;
    server.way = way->next;
    if (!server.way)
        server.way_end = &server.way;
    bool is_expected = way->expected == server.shelves[way->at].last && (!from || from->failed == SLR_OK);
    server.late += !is_expected;
    if (!is_expected || !put(way->at, way->record)) {
        free(way->record.data);
        if (from && from->failed == SLR_OK)
            from->failed = is_expected ? SLR_SYSTEM : SLR_WRONG_STATE;
    }
    free(way);
}

static bool is_on_way(const memory_log *log)
{
    for (const on_way *way = server.way; way; way = way->next) {
        if (way->from == log)
            return true;
    }
    return false;
}

void memory_log_deliver(bool all)
{
    for (uint64_t left = draw(4); server.way && (all || left > 0); left -= left > 0)
        arrive();
}

static slr_status state_of(memory_log *log)
{
    if (log->failed == SLR_OK && log->life != server.life)
        log->failed = SLR_TIMEOUT;
    return log->failed == SLR_OK ? SLR_OK : slri_fail(log->failed, "memory log: it has failed");
}

// ---- the engine ----------------------------------------------------------------------------------------------------

static slr_status memory_open(const slri_log_engine *engine, slri_log **out)
{
    memory_log *log = calloc(1, sizeof *log);
    if (!log)
        return SLRI_FAIL(NO_MEMORY, "memory log");
    log->log.engine = engine;
    log->life = server.life;
    for (uint32_t i = 0; i < SLRI_LOG_STREAMS; ++i) {
        log->first[i] = server.shelves[i].first;
        log->last[i] = server.shelves[i].last;
        for (uint64_t k = log->first[i]; k <= log->last[i]; ++k)
            log->size[i] += server.shelves[i].records[k].bytes;
    }
    *out = &log->log;
    return SLR_OK;
}

static slr_status open_disk(const slri_log_desc *desc, slri_log **out)
{
    (void)desc;
    return memory_open(&memory_log_disk, out);
}

static slr_status open_server(const slri_log_desc *desc, slri_log **out)
{
    (void)desc;
    return memory_open(&memory_log_server, out);
}

static void memory_close(slri_log *base)
{
    for (on_way *way = server.way; way; way = way->next)
        way->from = way->from == (memory_log *)base ? NULL : way->from;
    free(base);
}

static const char *memory_describe(const slri_log *log)
{
    (void)log;
    return "what the test lets it survive";
}

static slr_status append_now(slri_log *base, enum slri_log_stream at, uint64_t expected, const slri_append_part *parts,
                             uint32_t count)
{
    memory_log *log = (memory_log *)base;
    SLRI_TRY(state_of(log));
    if (expected != server.shelves[at].last)
        return SLRI_FAIL(WRONG_STATE, "memory log: another writer");
    stored record = join(parts, count);
    if (!put(at, record)) {
        free(record.data);
        return SLRI_FAIL(SYSTEM, "memory log: the disk is full");
    }
    log->last[at]++;
    log->size[at] += record.bytes;
    return SLR_OK;
}

static slr_status append_on_way(slri_log *base, enum slri_log_stream at, uint64_t expected,
                                const slri_append_part *parts, uint32_t count)
{
    memory_log *log = (memory_log *)base;
    SLRI_TRY(state_of(log));
    if (expected != log->last[at])
        return SLRI_FAIL(WRONG_STATE, "memory log: another number");
    on_way *way = malloc(sizeof *way);
    if (!way)
        return SLRI_FAIL(NO_MEMORY, "memory log");
    *way = (on_way){.from = log, .at = at, .expected = expected, .record = join(parts, count)};
    *server.way_end = way;
    server.way_end = &way->next;
    log->last[at]++;
    log->size[at] += way->record.bytes;
    if (draw(4) == 0)
        memory_log_deliver(false);
    return SLR_OK;
}

static slr_status memory_read(slri_log *base, enum slri_log_stream at, uint64_t first, slri_log_visit *visit,
                              void *user)
{
    memory_log *log = (memory_log *)base;
    const shelf *shelf = &server.shelves[at];
    SLRI_TRY(state_of(log));
    for (uint64_t i = first > shelf->first ? first : shelf->first; i <= shelf->last && i <= log->last[at]; ++i) {
        slri_log_record record = {i, shelf->records[i].data, shelf->records[i].bytes};
        SLRI_TRY(visit(user, &record));
    }
    return SLR_OK;
}

static void memory_last(slri_log *base, enum slri_log_stream at, uint64_t *first, uint64_t *last)
{
    const memory_log *log = (memory_log *)base;
    *first = log->first[at];
    *last = log->last[at];
}

static slr_status memory_purge(slri_log *base, enum slri_log_stream at, uint64_t up_to)
{
    memory_log *log = (memory_log *)base;
    shelf *shelf = &server.shelves[at];
    SLRI_TRY(state_of(log));
    if (up_to < shelf->first)
        return SLR_OK;
    up_to = up_to < shelf->last ? up_to : shelf->last;
    drop(at, shelf->first, up_to);
    log->first[at] = shelf->first = up_to + 1;
    return SLR_OK;
}

static slr_status cut_disk(slri_log *base, enum slri_log_stream at, uint64_t last)
{
    memory_log *log = (memory_log *)base;
    shelf *shelf = &server.shelves[at];
    SLRI_TRY(state_of(log));
    if (last < shelf->last)
        drop(at, last + 1 > shelf->first ? last + 1 : shelf->first, shelf->last);
    else if (last > shelf->last) { // it begins behind that
        drop(at, shelf->first, shelf->last);
        while (shelf->capacity <= last + 1) {
            shelf->capacity = shelf->capacity ? 2 * shelf->capacity : 256;
            shelf->records = realloc(shelf->records, shelf->capacity * sizeof *shelf->records);
        }
        shelf->first = last + 1;
    }
    log->last[at] = shelf->last = last;
    log->first[at] = shelf->first;
    shelf->synced = shelf->synced < last ? shelf->synced : last;
    return SLR_OK;
}

static slr_status cut_server(slri_log *base, enum slri_log_stream at, uint64_t last)
{
    memory_log *log = (memory_log *)base;
    return log->last[at] >= last ? SLR_OK : SLRI_FAIL(INVALID, "memory log: records are missing");
}

static slr_status sync_disk(slri_log *base, enum slri_log_stream at)
{
    SLRI_TRY(state_of((memory_log *)base));
    server.shelves[at].synced = server.shelves[at].last;
    return SLR_OK;
}

static slr_status sync_server(slri_log *base, enum slri_log_stream at)
{
    memory_log *log = (memory_log *)base;
    (void)at;
    while (log->failed == SLR_OK && is_on_way(log))
        arrive();
    return state_of(log);
}

static named *find(const char *key)
{
    for (uint32_t i = 0; i < VALUES; ++i) {
        if (strcmp(server.values[i].key, key) == 0)
            return &server.values[i];
    }
    return NULL;
}

static slr_status memory_get(slri_log *base, const char *key, void *value, size_t capacity, size_t *bytes,
                             uint64_t *revision)
{
    SLRI_TRY(state_of((memory_log *)base));
    const named *named = find(key);
    if (!named)
        return SLRI_FAIL(NOT_FOUND, "memory log: no value '%s'", key);
    if (named->length > capacity)
        return SLRI_FAIL(INVALID, "memory log: a value of %zu B", named->length);
    memcpy(value, named->bytes, named->length);
    *bytes = named->length;
    *revision = named->revision;
    return SLR_OK;
}

static slr_status memory_cas(slri_log *base, const char *key, uint64_t *revision, const void *value, size_t bytes)
{
    SLRI_TRY(state_of((memory_log *)base));
    named *named = find(key);
    if (!named)
        named = find("");
    if (!named || named->revision != *revision)
        return SLRI_FAIL(WRONG_STATE, "memory log: '%s' has another revision", key);
    strncpy(named->key, key, KEY_BYTES - 1);
    memcpy(named->bytes, value, bytes);
    named->length = bytes;
    named->revision++;
    *revision = named->revision;
    return SLR_OK;
}

// The answer is lost on its way now and then: nobody knows whether it was set.
static slr_status cas_over_network(slri_log *base, const char *key, uint64_t *revision, const void *value, size_t bytes)
{
    memory_log *log = (memory_log *)base;
    SLRI_TRY(memory_cas(base, key, revision, value, bytes));
    if (draw(50) > 0)
        return SLR_OK;
    log->failed = SLR_TIMEOUT;
    return state_of(log);
}

// A file keeps its head when its records are purged, or lost with the power.
static uint64_t memory_size(slri_log *base, enum slri_log_stream at)
{
    const bool is_begun = server.shelves[at].capacity != 0;
    return ((memory_log *)base)->size[at] + (is_begun ? 32 : 0);
}

static slr_status memory_follow(slri_log *base, uint64_t first, uint32_t most, slri_log_visit *visit, void *user,
                                uint64_t timeout_ns)
{
    const shelf *shelf = &server.shelves[SLRI_LOG_IN];
    (void)timeout_ns;
    SLRI_TRY(state_of((memory_log *)base));
    if (first < shelf->first)
        return SLRI_FAIL(WRONG_STATE, "memory log: record %" PRIu64 " was removed", first);
    for (uint64_t i = first; i <= shelf->last && i - first < most; ++i) {
        slri_log_record record = {i, shelf->records[i].data, shelf->records[i].bytes};
        SLRI_TRY(visit(user, &record));
    }
    return SLR_OK;
}

// Without the sum of the rows: nothing here reads a record's checksum.
static slr_status append_rows_now(slri_log *base, enum slri_log_stream at, uint64_t expected,
                                  const slri_append_part *parts, uint32_t count, const slri_log_rows *rows)
{
    (void)rows;
    return append_now(base, at, expected, parts, count);
}

const slri_log_engine memory_log_disk = {
    .name = "disk",
    .open = open_disk,
    .close = memory_close,
    .describe = memory_describe,
    .append = append_now,
    .append_rows = append_rows_now,
    .read_from = memory_read,
    .last = memory_last,
    .purge = memory_purge,
    .cut = cut_disk,
    .sync = sync_disk,
    .get = memory_get,
    .cas = memory_cas,
    .size = memory_size,
};

const slri_log_engine memory_log_server = {
    .name = "server",
    .open = open_server,
    .close = memory_close,
    .describe = memory_describe,
    .append = append_on_way,
    .read_from = memory_read,
    .last = memory_last,
    .purge = memory_purge,
    .cut = cut_server,
    .sync = sync_server,
    .get = memory_get,
    .cas = cas_over_network,
    .size = memory_size,
    .follow = memory_follow,
};

// ---- the test's side -----------------------------------------------------------------------------------------------

void memory_log_begin(uint64_t seed)
{
    memset(&server, 0, sizeof server);
    server.random = seed * 2 + 1;
    server.way_end = &server.way;
    for (uint32_t i = 0; i < SLRI_LOG_STREAMS; ++i)
        server.shelves[i].first = 1;
}

void memory_log_end(void)
{
    memory_log_deliver(true);
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        drop(at, server.shelves[at].first, server.shelves[at].last);
        free(server.shelves[at].records);
        server.shelves[at] = (shelf){.first = 1};
    }
}

void memory_log_fill(bool is_full)
{
    server.is_full = is_full;
}

void memory_log_cut_power(void)
{
    server.life++;
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        shelf *shelf = &server.shelves[at];
        uint64_t least = shelf->synced > shelf->first - 1 ? shelf->synced : shelf->first - 1;
        uint64_t kept = least + draw(shelf->last - least + 1);
        drop(at, kept + 1, shelf->last);
        shelf->last = kept;
    }
}

void memory_log_kill(void)
{
    server.life++;
    memory_log_deliver(false);
    for (on_way *way = server.way, *next; way; way = next) { // the rest was in its memory
        next = way->next;
        free(way->record.data);
        free(way);
    }
    server.way = NULL;
    server.way_end = &server.way;
}

bool memory_log_send(const void *data, size_t bytes)
{
    const slri_append_part part = {data, bytes};
    stored record = join(&part, 1);
    bool is_stored = put(SLRI_LOG_IN, record);
    if (!is_stored)
        free(record.data);
    return is_stored;
}

void memory_log_range(enum slri_log_stream stream, uint64_t *first, uint64_t *last)
{
    *first = server.shelves[stream].first;
    *last = server.shelves[stream].last;
}

slri_log_record memory_log_record(enum slri_log_stream stream, uint64_t sequence)
{
    const stored *record = &server.shelves[stream].records[sequence];
    return (slri_log_record){sequence, record->data, record->bytes};
}

uint64_t memory_log_late(void)
{
    return server.late;
}
