// SPDX-License-Identifier: Apache-2.0
/// What the protocol of durable ring kernels needs of an engine: streams of records that are only appended to, a few
/// named values with compare-and-set, and a lease. One table of functions an engine: files (log_local.h), NATS
/// JetStream (log_nats.c).
#ifndef SLRI_CLUSTER_LOG_H
#define SLRI_CLUSTER_LOG_H

#include "base/append.h"

#include <slipring/status.h>

#include <stddef.h>
#include <stdint.h>

enum slri_log_stream {
    SLRI_LOG_IN,   // accepted messages
    SLRI_LOG_OUT,  // their outputs
    SLRI_LOG_SNAP, // states
    SLRI_LOG_DEAD, // messages that faulted
    SLRI_LOG_STREAMS
};

/// When a record is safe from a power cut.
enum slri_log_sync { SLRI_LOG_SYNC_ALWAYS, SLRI_LOG_SYNC_INTERVAL, SLRI_LOG_SYNC_NEVER };

enum {
    SLRI_LOG_RECORD_MAX = 1 << 26, // bytes of a record
    SLRI_LOG_VALUE_MAX = 1 << 17   // of a named value
};

typedef struct slri_log_record {
    uint64_t sequence; // from 1
    const void *data;  // aligned to 8; borrowed for the length of the call
    size_t bytes;
} slri_log_record;

/// Called for each record. Any status but OK ends the reading.
typedef slr_status slri_log_visit(void *user, const slri_log_record *record);

/// Called for what was cut off a stream's end, and for values that are damaged.
typedef void slri_log_on_damage(void *user, const char *what);

/// What the last part of a record consists of, where its sum is known already: rows of `bytes` bytes each, and zeros up
/// to a multiple of 8.
typedef struct slri_log_rows {
    uint32_t bytes;
    uint64_t sum; // slri_rows_add
} slri_log_rows;

typedef struct slri_log {
    const struct slri_log_engine *engine;
} slri_log;

typedef struct slri_log_desc {
    const char *place; // what stands behind the engine's name: a folder
    enum slri_log_sync sync;
    uint64_t sync_interval_ns, segment_bytes;
    uint64_t reads_only; // 1: takes no lease, changes nothing; a cut does nothing
    slri_log_on_damage *on_damage;
    void *user;
    struct slri_nats *nats; // of log_nats.c, instead of the place: a connection, and a part of a name
    uint32_t partition;
} slri_log_desc;

/// Whom the server tells of an append.
enum { SLRI_TOLD_ANSWER = 512 };
typedef struct slri_told {
    uint64_t producer;
    const void *answer; // that the server tells with it
    size_t bytes;       // of the answer; 0: none. At most SLRI_TOLD_ANSWER
    /// Names the log in what the producer is told. 0: it is not told, for a record before this one is not known to be
    /// stored, and behind one that is refused this one would not count.
    uint64_t log;
} slri_told;

typedef struct slri_log_engine {
    const char *name;
    /// Takes the lease. Errors: WRONG_STATE (another process has it: names it), INVALID (damage before the end of a
    /// stream: names it), SYSTEM, NO_MEMORY.
    slr_status (*open)(const slri_log_desc *desc, slri_log **out);
    void (*close)(slri_log *log);
    /// What a record survives, in words.
    const char *(*describe)(const slri_log *log);
    /// Appends a record behind `expected`, the stream's last sequence. Each part but the last has a multiple of 8
    /// bytes. Errors: WRONG_STATE (it is another one), SYSTEM.
    slr_status (*append)(slri_log *log, enum slri_log_stream stream, uint64_t expected, const slri_append_part *parts,
                         uint32_t count);
    /// As append; the last part consists of rows. NULL where others append to `in`.
    slr_status (*append_rows)(slri_log *log, enum slri_log_stream stream, uint64_t expected,
                              const slri_append_part *parts, uint32_t count, const slri_log_rows *rows);
    /// The records from `first` on, in order. Errors: INVALID (damage), those of `visit`.
    slr_status (*read_from)(slri_log *log, enum slri_log_stream stream, uint64_t first, slri_log_visit *visit,
                            void *user);
    /// The first and the last sequence; first = last + 1 where there is none.
    void (*last)(slri_log *log, enum slri_log_stream stream, uint64_t *first, uint64_t *last);
    /// Records up to `up_to` are no longer needed.
    slr_status (*purge)(slri_log *log, enum slri_log_stream stream, uint64_t up_to);
    /// Records behind `last` go; the next one gets last + 1. Of an empty stream, sets where it begins.
    slr_status (*cut)(slri_log *log, enum slri_log_stream stream, uint64_t last);
    /// What was appended so far is on the disk, unless the policy is never.
    slr_status (*sync)(slri_log *log, enum slri_log_stream stream);
    /// A named value and its revision. Errors: NOT_FOUND, INVALID (damage), SYSTEM.
    slr_status (*get)(slri_log *log, const char *key, void *value, size_t capacity, size_t *bytes, uint64_t *revision);
    /// Sets it where its revision is still `*revision` (0: there is none), which becomes the new one. Errors:
    /// WRONG_STATE (it is another one).
    slr_status (*cas)(slri_log *log, const char *key, uint64_t *revision, const void *value, size_t bytes);
    /// Bytes that a stream takes. Of a folder 0 only where the stream has no file: one without records has a head.
    uint64_t (*size)(slri_log *log, enum slri_log_stream stream);
    /// The records of `in` from `first` on that others append, `most` of them; waits for the first until `timeout_ns`.
    /// NULL where only the process with the lease appends.
    slr_status (*follow)(slri_log *log, uint64_t first, uint32_t most, slri_log_visit *visit, void *user,
                         uint64_t timeout_ns);
    /// Sends bytes to a producer that waits for them; they may be lost on the way. NULL where producers are here.
    slr_status (*answer)(slri_log *log, uint64_t producer, const void *data, size_t bytes);
    /// As append, to `out`; the server tells a producer, too, when the record is stored. NULL where `answer` is.
    slr_status (*append_told)(slri_log *log, uint64_t expected, const slri_append_part *parts, uint32_t count,
                              slri_told *told);
} slri_log_engine;

extern const slri_log_engine slri_log_local;

/// A stream's name: "in".
const char *slri_log_stream_name(enum slri_log_stream stream);

#endif
