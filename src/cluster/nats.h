// SPDX-License-Identifier: Apache-2.0
/// A connection with NATS servers, and what the protocol needs of JetStream: requests, streams, values with
/// compare-and-set. Any thread may use a connection.
#ifndef SLRI_CLUSTER_NATS_H
#define SLRI_CLUSTER_NATS_H

#include "cluster/log.h"
#include "cluster/nats_api.h"

#include <slipring/remote.h>

typedef struct slri_nats {
    const slri_nats_api *api;
    natsConnection *connection;
    char name[SLR_REMOTE_NAME_BYTES];
    uint64_t timeout_ns;
    uint32_t replicas;
    uint32_t level; // of the server's JetStream interface
} slri_nats;

/// Connects. Errors: UNSUPPORTED (no libnats), INVALID (a field), SYSTEM (no connection), TIMEOUT.
slr_status slri_nats_connect(const slr_remote_desc *desc, slri_nats **out);
/// Connects, and asks whether the server is new enough: else UNSUPPORTED.
slr_status slri_nats_open(const slr_remote_desc *desc, slri_nats **out);
/// Likewise, with `name` where the description has none.
slr_status slri_nats_open_any(const slr_remote_desc *desc, const char *name, slri_nats **out);
void slri_nats_close(slri_nats *nats);

/// So many times what opens a name asks where nobody answers: servers may be electing a leader.
enum { SLRI_NATS_TRIES = 3 };

/// Fails with what libnats says of `status`.
slr_status slri_nats_fail(const slri_nats *nats, int status, const char *what);

/// Sends a request and waits for its answer. `header` (may be NULL) gets `value`. Errors: NOT_FOUND (nobody answers on
/// this subject), TIMEOUT, SYSTEM.
slr_status slri_nats_request(slri_nats *nats, const char *subject, const char *header, const char *value,
                             const void *data, size_t bytes, natsMsg **reply);

/// Request of JetStream's interface: `$JS.API.` is put in front, and the answer's error becomes a status: NOT_FOUND,
/// FULL, WRONG_STATE (another last sequence), SYSTEM. `answer` (may be NULL) gets the text, cut to `capacity`.
slr_status slri_nats_ask(slri_nats *nats, const char *subject, const char *request, char *answer, size_t capacity);

/// The status of an answer's text. Gives `*sequence` where it has one. `what` is for the message.
slr_status slri_nats_answer(const char *text, const char *what, uint64_t *sequence);

/// The number behind `"name":` in an answer, 0 where it is missing.
uint64_t slri_nats_number(const char *text, const char *name);

/// The number of a header; false where it has none.
bool slri_nats_header(const slri_nats *nats, natsMsg *message, const char *name, uint64_t *number);

/// Makes a stream of one subject; one that is there stays. `most`: records, 0: no limit. `first`: sequence of its first
/// record.
slr_status slri_nats_make_stream(slri_nats *nats, const char *stream, const char *subject, uint64_t most,
                                 uint64_t first);
/// Whether it is there. Errors: TIMEOUT, SYSTEM.
slr_status slri_nats_has_stream(slri_nats *nats, const char *stream, bool *is);
/// Likewise the values of a name.
slr_status slri_nats_make_values(slri_nats *nats);

/// The names of a partition's stream: "slr-NAME-in-3" and "slr.NAME.in.3".
enum { SLRI_NATS_SUBJECT = 160 };
void slri_nats_stream_name(const slri_nats *nats, enum slri_log_stream stream, uint32_t partition,
                           char out[SLRI_NATS_SUBJECT]);
void slri_nats_stream_subject(const slri_nats *nats, enum slri_log_stream stream, uint32_t partition,
                              char out[SLRI_NATS_SUBJECT]);

/// The subject of replies to a producer's calls: "slr.NAME.reply.00c0ffee00c0ffee.answer" (`rest`: "answer"; ">": of
/// all that it is told). Of acknowledgements of a log's outputs, which a producer gets as well:
/// "slr.NAME.reply.*.told.7.-"
/// (`producer`, `answer` "*": of any), to `out`, which has SLRI_NATS_SUBJECT + SLRI_NATS_ANSWER bytes. Of the hint that
/// a call is on its way to a partition (with "*": to any): "slr.NAME.call.3".
void slri_nats_reply_subject(const slri_nats *nats, uint64_t producer, const char *rest, char out[SLRI_NATS_SUBJECT]);
void slri_nats_told_subject(const slri_nats *nats, const char *producer, uint64_t log, const char *answer, char *out);
void slri_nats_call_subject(const slri_nats *nats, const char *partition, char out[SLRI_NATS_SUBJECT]);

/// An answer as the last part of such a subject, in hexadecimal digits ("-": none), which comes back with the server's
/// acknowledgement: one message instead of two. And that part as bytes: how many, 0 where it is no answer.
enum { SLRI_NATS_ANSWER = 2 * SLRI_TOLD_ANSWER + 2 };
void slri_nats_put_answer(const void *answer, size_t bytes, char out[SLRI_NATS_ANSWER]);
size_t slri_nats_get_answer(const char *text, unsigned char out[SLRI_TOLD_ANSWER]);

/// A named value and its revision. Errors: NOT_FOUND, INVALID (longer than `capacity`), SYSTEM, TIMEOUT.
slr_status slri_nats_get(slri_nats *nats, const char *key, void *value, size_t capacity, size_t *bytes,
                         uint64_t *revision);
/// Sets it where its revision is still `*revision` (0: there is none), which becomes the new one. Errors: WRONG_STATE.
slr_status slri_nats_cas(slri_nats *nats, const char *key, uint64_t *revision, const void *value, size_t bytes);
/// Removes it.
slr_status slri_nats_drop(slri_nats *nats, const char *key);

/// A named value: `time_ns` is when it was set, since 1970, by the servers' clock; 0: they do not tell.
typedef struct slri_nats_value {
    const char *key;
    const void *data;
    size_t bytes;
    uint64_t revision, time_ns;
} slri_nats_value;

/// Calls `visit` for each value whose key matches the pattern ("worker.*"). A server gives 1,024 of them at most:
/// SYSTEM where there are more.
typedef void slri_nats_on_value(void *user, const slri_nats_value *value);
slr_status slri_nats_values(slri_nats *nats, const char *pattern, slri_nats_on_value *visit, void *user);

/// The time since 1970 by the clock of the server that leads the values, which also sets their times.
slr_status slri_nats_now(slri_nats *nats, uint64_t *out_ns);
/// A time as NATS writes it: "2026-11-27T17:01:36.5Z". False: it is none.
bool slri_nats_parse_time(const char *text, uint64_t *out_ns);

/// First and last sequence and bytes of a stream. A stream that is not there has none.
slr_status slri_nats_stream_state(slri_nats *nats, const char *stream, uint64_t *first, uint64_t *last,
                                  uint64_t *bytes);

/// Reads the records [first, last] of a stream in order. Errors: TIMEOUT (they do not come), those of `visit`.
slr_status slri_nats_read(slri_nats *nats, const char *stream, uint64_t first, uint64_t last, slri_log_visit *visit,
                          void *user);

/// Whether a record is empty, with the header "Status: 503", which libnats takes for an answer that nobody is there.
bool slri_nats_is_hidden(slri_nats *nats, const char *stream, uint64_t sequence);

/// Follows a stream: a consumer of JetStream that is asked for so many records at a time. All zero but `nats` at first.
typedef struct slri_nats_follower {
    slri_nats *nats;
    natsSubscription *subscription;
    char *inbox, consumer[32];
    uint64_t next;     // sequence; 0: no consumer
    uint32_t expected; // of the request
    uint32_t made;     // consumers
    bool is_new;       // the consumer has given nothing yet
    uint64_t until_ns; // then the request has ended, whatever was heard of it
    void *buffer;      // a record, aligned
    size_t capacity;
} slri_nats_follower;

/// Calls `visit` for `most` records from `first` on, which follows the last one that it was called for. Waits for the
/// first until `timeout_ns`; OK also where none came. Errors: NOT_FOUND (no such stream), WRONG_STATE (`first` was
/// removed), those of `visit`, SYSTEM.
slr_status slri_nats_follow(slri_nats_follower *follower, const char *stream, uint64_t first, uint32_t most,
                            slri_log_visit *visit, void *user, uint64_t timeout_ns);
void slri_nats_follower_end(slri_nats_follower *follower);

/// What a log of this engine belongs to: slri_log_desc.nats.
extern const slri_log_engine slri_log_nats;

#endif
