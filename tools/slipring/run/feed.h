// SPDX-License-Identifier: Apache-2.0
/// Messages to a ring kernel and replies from it, on one port and one thread, in bounded memory: messages go in
/// batches, and whenever the mailbox is full replies are taken before sending is tried again, so that neither side
/// waits for the other.
#ifndef FEED_H
#define FEED_H

#include <slipring/dead_letter.h>
#include <slipring/keys.h>
#include <slipring/port.h>
#include <slipring/remote.h>
#include <slipring/serve.h>

#include <stdbool.h>
#include <stddef.h>

/// What has come back. `number` counts messages from 0 in the order sent; `line` is what feed_commit was told for that
/// message, 0 where it is too long ago. A fault notice has reply->status SLR_HANDLER_FAULT and no payload.
typedef void feed_on_reply(void *user, const slr_reply *reply, const unsigned char *payload, uint64_t number,
                           uint64_t line);

/// The faults of so many messages can be asked for.
enum { FEED_LETTERS = 20 };

typedef struct feed {
    slr_server *server; // of --state, and then its ring kernel; NULL: none
    uint64_t skipped;   // messages of other inputs, which the server's count has and `accepted` has not
    slr_output output;  // of the server: what on_reply is called for
    slr_key (*key_of_instance)(void *user, uint32_t instance); // of the server: that of a message of the batch
    slr_sender *sender;                                        // of --cluster, instead of a ring kernel; NULL: none
    slr_ring *ring;
    slr_port *port;
    slr_address to;
    size_t message_bytes, reply_stride;
    unsigned char *messages; // the batch
    uint32_t *instances;
    slr_key *keys; // of the batch, where the ring kernel has keys
    uint32_t batched;
    uint64_t *lines; // of the last messages, by number
    uint32_t line_count;
    uint64_t accepted;
    slr_reply *replies; // taken together
    unsigned char *payloads;
    slr_dead_letter *letters; // taken, and not asked for yet
    uint32_t letter_count, letter_capacity;
    char fault[sizeof((slr_dead_letter *)0)->fault]; // that was asked for
    feed_on_reply *on_reply;
    slr_key (*key_of)(void *user, uint64_t number); // of a ring kernel with keys: that of a message of the batch
    void *user;
    bool (*give_up)(void *user); // asked whenever the feed waits
    bool ended;                  // END was received
    bool left;                   // a handler did not return and was left running: the ring kernel is still there
} feed;

/// Creates the ring kernel, launches and activates it, opens the port. In either case to feed_close.
slr_status feed_open(feed *feed, slr_device *device, const slr_ring_desc *desc, const slr_handler_info *handler);

/// Not where feed_finish has left a handler running: what it touches must stay until the process ends.
void feed_close(feed *feed);

/// Where the next message is to be written: message bytes, and what was there before stays until it is written over.
unsigned char *feed_slot(feed *feed);

/// The message is complete. Sends when a batch is full. `instance` counts where the ring kernel has no keys.
slr_status feed_commit(feed *feed, uint32_t instance, uint64_t line);

/// Sends what is batched. TIMEOUT: there was no room for all, and give_up said so; the rest stays batched.
slr_status feed_flush(feed *feed);

/// Hands over what has come, waiting for the first until `timeout_ns`. OK also where nothing came.
slr_status feed_take(feed *feed, uint64_t timeout_ns);

/// In on_reply, of a fault notice: the fault of that message in words, until the next call. "" of a ring kernel of
/// --cluster, and of others where more than FEED_LETTERS faults were not asked for.
const char *feed_fault(feed *feed, uint64_t number);

/// Waits until all that was accepted has been handled, and hands over every reply.
slr_status feed_settle(feed *feed);

/// Ends the input, hands over what still comes, and terminates. `drain`: waits for all that was accepted until give_up
/// says otherwise. A handler that does not return when give_up has said so is left running after FEED_LEAVE_S, one that
/// does not return otherwise as slr_ring_terminate says. `stats` always gets the counts.
enum { FEED_LEAVE_S = 1 };
slr_status feed_finish(feed *feed, bool drain, slr_ring_stats *stats);

#endif
