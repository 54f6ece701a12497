// SPDX-License-Identifier: Apache-2.0
/// A durable ring kernel: what its files share.
///
/// Messages are written to the stream `in` before the ring kernel gets them, and outputs to `out` before anybody
/// receives them. A snapshot is taken when nothing is pending: then the head, one value that is replaced as a whole,
/// says up to which message the states are known, and those messages are purged. A restart loads the states and sends
/// the messages behind that again. An output names the message that caused it: one that is stored is not stored again.
#ifndef SLRI_CLUSTER_SERVER_H
#define SLRI_CLUSTER_SERVER_H

#include "cluster/frame.h"
#include "cluster/keytable.h"
#include "cluster/log.h"
#include "cluster/sum.h"

#include <slipring/dead_letter.h>
#include <slipring/port.h>
#include <slipring/serve.h>

#include <stdbool.h>

enum {
    SLRI_HEAD_PRODUCERS = 1024,
    SLRI_HEAD_VOIDS = 128,
    SLRI_HEAD_NAMED = 512, // of the producers: that begin again, and so must not be forgotten
    SLRI_NOTE_BYTES = 64,
    SLRI_KEY_BYTES = 60,          // of a text, by default
    SLRI_REPLIES = 256,           // received together
    SLRI_UNREAD_MAX = 65536,      // outputs that wait to be received, before sending is refused
    SLRI_OUT_BYTES = 1 << 16,     // of a frame of outputs
    SLRI_WAITING_BYTES = 16 << 20 // of frames that wait for places in the mailbox
};

#define SLRI_HEAD_KEY "head"
#define SLRI_RELEASED_KEY "released"

/// In a producer's name: its sender does not begin again under this name.
#define SLRI_PRODUCER_ONCE ((uint64_t)1 << 63)

typedef struct slri_head_producer {
    uint64_t name, number;
    uint64_t sum;       // of all its messages, as rows
    uint64_t instances; // the sum of its messages' instances, which stand for their keys
} slri_head_producer;

/// The head: a value of the log, without the producers that it does not have.
typedef struct slri_head {
    unsigned char magic[8];
    uint32_t version, order;
    uint64_t layout;
    uint32_t message_bytes, state_bytes, reply_bytes, keys;
    char handler[96];
    uint64_t in_last, messages;     // the record and the message that the snapshot ends with
    uint64_t out_last, outputs;     // what was stored then
    uint64_t dead_last;             // likewise
    uint64_t snap_first, snap_last; // its records; snap_first is that of the last full one
    uint64_t snapshots, handled, faulted, states;
    uint64_t out_id;                               // of the last record of outputs that counts; 0: there is none
    uint64_t voids, void_records[SLRI_HEAD_VOIDS]; // records of outputs up to out_last that do not count
    uint64_t producers;
    slri_head_producer producer[SLRI_HEAD_PRODUCERS];
} slri_head;

/// What a consumer no longer needs: another value.
typedef struct slri_released {
    uint64_t outputs;
    unsigned char note[SLRI_NOTE_BYTES];
} slri_released;

/// A message since the last snapshot.
typedef struct slri_mark {
    uint8_t seen, stored; // outputs that came from the ring kernel, and that are in the log
    uint8_t is_dead;
    uint8_t unused;
    uint32_t sum; // of the stored ones, less those that have been seen
} slri_mark;

typedef struct slri_unread {
    uint64_t sequence, message;
    uint32_t instance;
    uint16_t index, status;
    char *fault; // of a notice: the fault in words, to be freed; else NULL
} slri_unread;

/// A frame on its way to the ring kernel.
typedef struct slri_batch {
    uint32_t *instances;
    unsigned char *payloads;
    uint32_t count, sent;
} slri_batch;

/// Counts of other processes, and of other workers.
typedef struct slri_server_begun {
    uint64_t handled, faulted, outputs;
} slri_server_begun;

/// A message whose sender waits for its reply.
typedef struct slri_remote_call {
    uint64_t message, producer, number;
} slri_remote_call;

/// In front of a reply's bytes, on its way to who waits for it.
typedef struct slri_remote_answer {
    uint64_t number; // of the message, as its sender counts in the partition
    uint32_t partition, status;
    uint64_t log, record; // the append that must be stored before it counts; log 0: it is stored
} slri_remote_answer;

/// Calls that wait, and answers that are to be sent once their outputs are stored.
typedef struct slri_remote_calls {
    slri_remote_call *list;
    uint32_t count, capacity;
    unsigned char *answers; // each: the producer, a slri_remote_answer, the reply
    uint32_t answer_count, answer_capacity;
    uint32_t fresh; // answers whose outputs are in the frame that is being filled
} slri_remote_calls;

/// While a new handler is tried: what it goes back to. The ring kernel before it stands where the last snapshot does.
typedef struct slri_trial {
    bool is_on;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
    uint64_t first_correlation, handled, faulted;
    slri_head head; // at the snapshot between the two
} slri_trial;

struct slr_server {
    slr_device *device;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
    slr_serve_desc desc;
    slri_log *log;
    bool follows; // others append to `in`: follow.c
    slri_trial trial;
    slri_remote_calls calls; // calls.c
    uint32_t partition;      // of a name that machines share
    uint32_t generation;     // of handlers: a ring kernel's name is unique on its device
    slri_frame_shape shape;
    uint32_t queue_size, key_bytes;
    slri_head head;          // of the last snapshot; its producers and its voids are those of now
    uint64_t writer, out_id; // writer: of its records of outputs, like no other's; out_id: of the last one that counts
    uint64_t head_revision, released_revision;
    slri_released released;
    slri_keytable keys;                    // empty without keys
    uint64_t in_last, out_last, dead_last; // sequences of now
    uint64_t messages;                     // written
    uint64_t sent;                         // of those, given to the ring kernel
    uint64_t first_correlation;            // the message that has the port's number 1
    // Frames that are written and wait for places in the mailbox, and after them the one that is being filled: a ring.
    slri_batch *batches;
    uint32_t batch_slots, batch_first, waiting;
    uint32_t batched, batch_most; // messages of the one that is being filled, whose memory these are:
    uint64_t producer;
    uint32_t producer_at; // in the head
    uint32_t *instances;
    unsigned char *payloads;
    size_t step;
    unsigned char *new_keys;
    size_t new_bytes, new_capacity;
    uint32_t new_count;
    uint64_t again, again_instances; // the sums of messages that a producer sends again, from number 1 on
    uint64_t again_number, again_producer;
    // Messages since the last snapshot, from head.messages + 1 on.
    slri_mark *marks;
    uint64_t mark_count, mark_capacity;
    // Outputs.
    slr_reply *replies;
    unsigned char *received;
    size_t reply_step;
    unsigned char *out; // the frame that is being filled
    size_t out_bytes, out_capacity;
    uint32_t out_count;
    uint64_t outputs;      // stored
    uint64_t *out_records; // since the last purge: the first output of each
    uint64_t out_first;    // sequence of the first of them
    uint32_t out_record_count, out_record_capacity;
    slri_unread *unread; // a ring; payloads beside
    unsigned char *unread_payloads;
    uint32_t unread_at, unread_count, unread_capacity;
    char first_fault[sizeof((slr_dead_letter *)NULL)->fault]; // of the first dead letter that this process has stored
    char *fault; // of the notice that was received last; NULL: that was an output, or nothing
    uint64_t received_last;
    bool letters_due;
    uint32_t came;                      // replies, when they were last taken
    uint32_t replies_at, replies_count; // those that are not stored yet, where the log had no room
    uint32_t letters_at, letters_count; // likewise
    unsigned char *letters;             // messages of dead letters
    slr_dead_letter *letter_heads;
    // States.
    uint64_t *dirty; // a bit an instance
    uint32_t *changed;
    uint32_t changed_count, changed_capacity;
    uint64_t *touched; // instances without keys that had a message
    uint64_t touched_count;
    bool compare_is_due;       // messages were sent again, and some may have fewer outputs than are stored
    bool next_is_full;         // records behind the last snapshot are void
    uint64_t stored_until;     // of a server that follows: the last message with an output that was stored before
    slri_server_begun begun;   // when this one opened
    uint64_t refused, gaps;    // likewise: frames that are none, messages whose number is not the next one
    uint64_t snapshot_ns;      // when the last one was
    uint64_t handled, faulted; // before this process
    slr_server_stats stats;
};

// accept.c
slr_status slri_server_producer(slr_server *server, uint64_t name, uint32_t *at); // FULL
slr_status slri_server_open_batch(slr_server *server);                            // that comes after those that wait
slr_status slri_server_write_batch(slr_server *server);                           // to the log alone
slr_status slri_server_end_batch(slr_server *server);                             // it waits, and a new one begins
slr_status slri_server_find_instance(slr_server *server, const slr_key *key, uint32_t *instance);
slr_status slri_server_accept(slr_server *server, uint64_t deadline_ns);                   // writes the frame
slr_status slri_server_hand_over(slr_server *server, uint32_t most, uint64_t deadline_ns); // until `most` wait
void slri_server_touch(slr_server *server, uint32_t instance);

// outputs.c
slr_status slri_server_store(slr_server *server);                     // what was taken
slr_status slri_server_pump(slr_server *server, uint64_t timeout_ns); // takes what has come, and stores it
slr_status slri_server_reserve(slr_server *server, uint32_t outputs); // room to note a record with so many
void slri_server_note_output(slr_server *server, const slri_frame_output *output, uint64_t sequence,
                             const void *payload);
void slri_server_note_record(slr_server *server, uint64_t record, uint64_t first);
slri_mark *slri_server_mark(slr_server *server, uint64_t message); // NULL: no memory, or of a snapshot
slr_status slri_server_settle(slr_server *server, uint64_t deadline_ns);
uint32_t slri_output_sum(uint32_t index, const void *payload, size_t bytes);

// replace.c
/// As slr_server_replace, for the server's own name.
slr_status slri_server_replace(slr_server *server, const slr_ring_desc *ring, const char *name, uint64_t deadline_ns);
/// Where a handler is on trial: a snapshot, which ends the trial of one that has had messages. WRONG_STATE: it has had
/// some, and is still on trial. OK with a trial: it has had none.
slr_status slri_server_decide_trial(slr_server *server, uint64_t deadline_ns);
/// Goes back to the handler before, and sends it the messages since the snapshot again. Nothing without a trial.
slr_status slri_server_go_back(slr_server *server);
void slri_server_end_trial(slr_server *server); // the new one stays

// snapshot.c
/// What is pending must be handled until `deadline_ns`; writing the states then takes as long as there are many.
slr_status slri_server_snapshot(slr_server *server, uint64_t deadline_ns);
slr_status slri_server_snapshot_if_due(slr_server *server);

// recover.c
slr_status slri_server_recover(slr_server *server);
/// Loads all that the log has behind the head in `server`. Without a ring kernel it only checks: states go nowhere.
slr_status slri_server_load(slr_server *server);
/// As slri_server_recover and the messages sent again, without a ring kernel and without changing the place.
slr_status slri_server_check(slr_server *server);
slr_status slri_server_replay(slr_server *server);
slr_status slri_server_send_again(slr_server *server); // messages since the snapshot
slr_status slri_server_load_snapshot(slr_server *server);

// follow.c
slr_status slri_server_load_stored(slr_server *server); // outputs and letters behind the snapshot
/// Takes records that others have appended, hands over, stores outputs, makes a snapshot where one is due. Waits for
/// the first record until `timeout_ns`. WRONG_STATE, TIMEOUT: the log is lost, the server only to be abandoned.
slr_status slri_server_follow(slr_server *server, uint64_t timeout_ns, uint32_t *records);
/// Takes the messages whose outputs another worker has stored: before that, there is no snapshot. TIMEOUT, and as
/// above.
slr_status slri_server_catch_up(slr_server *server, uint64_t deadline_ns);
/// Whether messages that it has taken are not handled yet.
bool slri_server_is_behind(const slr_server *server);

// calls.c
slr_status slri_server_note_call(slr_server *server, uint64_t message, uint64_t producer, uint64_t number);
/// A message was handled, or has faulted (`payload` NULL): whoever waits for that is to be answered.
slr_status slri_server_take_answer(slr_server *server, uint64_t message, slr_status status, const void *payload);
/// Sends the answers, once what they say is stored.
slr_status slri_server_send_answers(slr_server *server);
/// Whether all answers are for one producer, and their outputs all in the frame that is to be stored. Then the server
/// tells that producer: with a single short answer, which need not be sent.
bool slri_server_tells(const slr_server *server, slri_told *out);
/// Sends the answers behind the append of that frame, but one that went with it: they count once the server has told
/// the producer of it.
void slri_server_answer_early(slr_server *server, const slri_told *told);
/// Answers whoever waits for a message that was handled without a reply: a snapshot has it.
slr_status slri_server_end_calls(slr_server *server);
void slri_server_free_calls(slr_server *server);

// serve.c
/// As slr_serve, with a log that is described by more than a place.
slr_status slri_serve(slr_device *device, const slr_ring_desc *ring, const slr_serve_desc *desc,
                      const slri_log_engine *engine, const slri_log_desc *log, slr_server **out);
slr_status slri_server_check_ring(const slr_ring_desc *ring); // whether it can be served
/// Ends it without a snapshot.
void slri_server_abandon(slr_server *server);

// head.c
void slri_head_begin(slri_head *head, const slr_ring *ring, const slr_ring_desc *desc);
slr_status slri_head_layout_of(const slr_program *program, const char *handler, uint32_t keys, uint64_t *layout);
size_t slri_head_bytes(const slri_head *head);
slr_status slri_head_check(const slri_head *head, size_t bytes, const char *place);
/// Names a record of outputs by who wrote it and where it stands: the next one says that it follows that one.
uint64_t slri_output_id(uint64_t writer, uint64_t sequence);
bool slri_is_void(const uint64_t *voids, uint64_t count, uint64_t sequence);
slr_status slri_head_compare(const slri_head *head, const slri_head *now, const char *place);
slr_status slri_place_parse(const char *place, const slri_log_engine **engine, const char **rest);
/// Who reads a place that is in use may have to read it again: so often, after a pause that is longer each time, for
/// many changes may follow each other. None before the first try.
enum { SLRI_PLACE_TRIES = 5 };
void slri_place_pause(uint32_t tries);
/// A place as messages name it: the folder, or the name that machines share.
const char *slri_place_name(const char *place);

static inline uint64_t slri_pad(uint64_t bytes)
{
    return (bytes + 7) & ~(uint64_t)7;
}

#endif
