// SPDX-License-Identifier: Apache-2.0
// The mailbox: its layout and its protocol, once, in the kernel subset, for the host's C compiler, the interpreter and
// every emitter.
//
// A mailbox is one arena S of u32 words that both sides map. Each of its shards has one owner (a CPU worker, a device
// block), which works in words P of its own. A port is one sender: it has a lane into every shard and a reply lane
// back. All counts and positions are modulo 2^32 (credits: modulo 2^31); only differences are compared, and all lags
// are below the modulus: the credits, MB_CAPACITY <= 2^21, bound them.
//
// Order, as tests/model shows to be needed. Sender: claim a credit, write the slot, release its sequence. Owner:
// acquire the sequence, reserve reply room, handle, release the replies' sequences, release the credit. So a credit
// that is seen implies that its reply is seen, and that the owner has finished with the slot.
//
// Why a credit implies a free slot. A lane has at least `capacity` slots. Let a sender hold a credit and be about to
// overwrite the slot of its message m, `slots` messages back in that lane. Had the owner not taken m before the release
// of the retired count that the sender acquired, then neither would it have retired m or any of the slots - 1 messages
// behind it (a lane is taken in order): with the new one that is more than `capacity` unretired, which the claim
// forbids.
#ifndef SLRI_ABI_MAILBOX_H
#define SLRI_ABI_MAILBOX_H

#ifndef __SLIPRING__
#include "abi/subset.h"
#endif

#include "abi/mailbox_layout.h"

#define MB_LOAD(at) __nv_atomic_load_n(&S[at], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)
#define MB_ACQUIRE(at) __nv_atomic_load_n(&S[at], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM)
#define MB_STORE(at, value) __nv_atomic_store_n(&S[at], (value), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)
#define MB_RELEASE(at, value) __nv_atomic_store_n(&S[at], (value), __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM)

// What an owner that is a group of lanes far from S says otherwise (src/hal/cuda/device/cu_team.h): it has looked
// at all these together before the pass begins, has its stores in order by a fence of its own before mb_finish, and has
// something to do before its last answer.
#ifndef MB_SIZE
#define MB_SIZE(name) S[name] // constant
#define MB_HEARD(at) MB_ACQUIRE(at)
#define MB_MARK(lane) MB_LOAD((lane) + MB_MIXED)
#define MB_TAKEN(at, word) S[(at) + (word)] // of the slot of a message that is handled
#define MB_PUBLISH(at, value) MB_RELEASE(at, value)
#define MB_MAY_END(S, P) mb_drained(S)
#endif

// Or it has lanes elsewhere than in S, which only other groups send to: then mb_lane_of gives an offset that is none of
// S, as are those of slots that are found from it, and MB_AT reaches them.
#ifndef MB_AT
#define MB_AT(at) S[at] // a word of a message's slot
#define MB_LANE_OF(S, P, port) ((P)[MBP_LANES] + (port)*MB_SIZE(MB_LANE_STRIDE))
#define MB_IS_ELSEWHERE(P, port) 0u
#define MB_RETURN(P, port) (void)0 // says there, too, how many of the port's messages are done with
#endif

// Or the ports' lists, which messages touch only if they are to wait, lie elsewhere than the rest of P.
#ifndef MB_LIST
#define MB_LIST(P, at) P[at]
#endif

// Or pays for a long text: then for what few messages touch.
#ifndef MB_APART
#define MB_APART
#endif

// Or all of P is one piece: then MBP_PORT.
#ifndef MB_PORT_OF
#define MB_PORT_OF(P, port) ((P)[MBP_PORTS] + (port) * (P)[MBP_PORT_STRIDE])
#endif

// ---- places --------------------------------------------------------------------------------------------------------

__device__ mb_word mb_lane(const MB_ARENA *S, mb_word shard, mb_word port)
{
    return MB_SIZE(MB_LANES_AT) + shard * MB_SIZE(MB_LANES_STRIDE) + port * MB_SIZE(MB_LANE_STRIDE);
}

// Where in P a port's words lie.
__device__ mb_word mb_port(const MB_ARENA *P, mb_word port)
{
    return MB_PORT_OF(P, port);
}

// The lane of a port in the owner's shard.
__device__ mb_word mb_lane_of(const MB_ARENA *S, const MB_ARENA *P, mb_word port)
{
    return MB_LANE_OF(S, P, port);
}

__device__ mb_word mb_lane_slot(const MB_ARENA *S, mb_word lane, mb_word position)
{
    return lane + MB_LANE_SLOTS + (position & MB_SIZE(MB_LANE_MASK)) * MB_SIZE(MB_SLOT_WORDS);
}

__device__ mb_word mb_owner(const MB_ARENA *S, mb_word shard)
{
    return MB_SIZE(MB_OWNERS_AT) + shard * MB_SIZE(MB_OWNER_STRIDE);
}

__device__ mb_word mb_reply_lane(const MB_ARENA *S, mb_word shard, mb_word port)
{
    return MB_SIZE(MB_REPLIES_AT) + shard * MB_SIZE(MB_REPLIES_STRIDE) + port * MB_SIZE(MB_REPLY_STRIDE);
}

// The reply lane of a port in the owner's shard.
__device__ mb_word mb_reply_lane_of(const MB_ARENA *S, const MB_ARENA *P, mb_word port)
{
    return P[MBP_REPLIES] + port * MB_SIZE(MB_REPLY_STRIDE);
}

__device__ mb_word mb_reply_slot(const MB_ARENA *S, mb_word reply_lane, mb_word position)
{
    return reply_lane + MB_REPLY_SLOTS + (position & MB_SIZE(MB_REPLY_MASK)) * MB_SIZE(MB_REPLY_SLOT_WORDS);
}

#include "abi/sender.h"

// Behind sender.h, which says where the times of a lane's messages lie.
#include "abi/pending.h"

// ---- the owner's side: control -------------------------------------------------------------------------------------

__device__ void mb_answer(MB_ARENA *S, MB_ARENA *P, mb_word state)
{
    P[MBP_STATE] = state;
    MB_RELEASE(P[MBP_OWNER] + MB_ANSWER, ((P[MBP_CONTROL] - 1u) >> 2u) << 3u | state);
}

// `lists`: where in P the lists of the ports lie, MBL_WORDS each. `ports`, `stride`: where their words do.
__device__ void mb_open(MB_ARENA *S, MB_ARENA *P, mb_word shard, mb_word lists, mb_word ports, mb_word stride)
{
    P[MBP_SHARD] = shard;
    P[MBP_LANES] = mb_lane(S, shard, 0u);
    P[MBP_OWNER] = mb_owner(S, shard);
    P[MBP_REPLIES] = mb_reply_lane(S, shard, 0u);
    P[MBP_LISTS] = lists;
    P[MBP_PORTS] = ports;
    P[MBP_PORT_STRIDE] = stride;
    P[MBP_POOL] = P[MBP_OWNER] + MB_SIZE(MB_POOL_AT);
    P[MBP_MOST] = MB_BATCH;
}

// A closed port of which nothing is left in this shard is acknowledged, so that its lanes can go to another. The epoch
// says which closing was meant.
MB_APART __device__ void mb_acknowledge_gone(MB_ARENA *S, MB_ARENA *P)
{
    mb_word open = 0u;
    for (mb_word port = mb_next_port(S, P, 0u); port < MB_MAX_PORTS; port = mb_next_port(S, P, port + 1u)) {
        mb_word q = mb_port(P, port);
        mb_word reply = mb_reply_lane_of(S, P, port);
        if ((P[MBP_GONE(port >> 5u)] & (1u << (port & 31u))) != 0u && MB_LOAD(reply + MB_GONE_EPOCH) != P[MBP_EPOCH]) {
            if (P[q + MBQ_WAITING] == 0u && P[q + MBQ_RESERVED] == 0u &&
                mb_shows(S, mb_lane_of(S, P, port), P[q + MBQ_NEXT_IN]) == 0u) {
                MB_STORE(reply + MB_GONE_AT, P[q + MBQ_PUBLISHED]);
                MB_RELEASE(reply + MB_GONE_EPOCH, P[MBP_EPOCH]); // the position above
            } else {
                open = 1u;
            }
        }
    }
    P[MBP_GONE_OPEN] = open;
}

// Rereads the port sets after a change. A port that has come back takes its lanes over where they stood.
MB_APART __device__ void mb_reread_ports(MB_ARENA *S, MB_ARENA *P, mb_word epoch)
{
    P[MBP_EPOCH] = epoch;
    for (mb_word word = 0u; word < MB_SIZE(MB_PORT_WORDS); ++word) {
        P[MBP_SET(word)] = MB_LOAD(MB_PORT_SET(word));
        P[MBP_GONE(word)] = MB_LOAD(MB_PORT_GONE(word));
    }
    P[MBP_GONE_OPEN] = 1u;
}

// Obeys a new control word. What was asked for is answered with its number, so that an old answer is never taken for a
// new one. Close overrides pause.
MB_APART __device__ void mb_obey(MB_ARENA *S, MB_ARENA *P, mb_word control)
{
    P[MBP_CONTROL] = control + 1u;
    mb_word command = control & 3u;
    mb_answer(S, P, command == MB_PAUSE ? MB_PAUSED : command == MB_STOP ? MB_STOPPED : MB_RUNNING);
}

// ---- the owner's side: replies and letters -------------------------------------------------------------------------

__device__ mb_word mb_is_gone(const MB_ARENA *P, mb_word port)
{
    return (P[MBP_GONE(port >> 5u)] >> (port & 31u)) & 1u;
}

// The header of the reply in `slot`, an answer to the message at `at`.
__device__ void mb_head_slot(MB_ARENA *S, mb_word slot, mb_word at, mb_word flags)
{
    S[slot + MB_HEAD] = (MB_TAKEN(at, MB_HEAD) & (255u | MB_FLAG_REDELIVERED)) | flags;
    S[slot + MB_INSTANCE] = MB_TAKEN(at, MB_INSTANCE);
    S[slot + MB_CORRELATION] = MB_TAKEN(at, MB_CORRELATION);
    if (MB_SIZE(MB_STAMPED) != 0u) { // the stamp is the slot's last two words
        S[slot + MB_SIZE(MB_REPLY_SLOT_WORDS) - 2u] = MB_TAKEN(at, MB_SIZE(MB_SLOT_WORDS) - 2u);
        S[slot + MB_SIZE(MB_REPLY_SLOT_WORDS) - 1u] = MB_TAKEN(at, MB_SIZE(MB_SLOT_WORDS) - 1u);
    }
}

// Likewise of the port's reply `n` behind those written.
__device__ void mb_head_reply(MB_ARENA *S, MB_ARENA *P, mb_word port, mb_word n, mb_word at, mb_word flags)
{
    mb_word slot = mb_reply_slot(S, mb_reply_lane_of(S, P, port), P[mb_port(P, port) + MBQ_REPLIES] + n);
    mb_head_slot(S, slot, at, flags);
}

// The flags of a reply to message k of the batch that goes to a port which collects. It answers the port's own message
// where no other reply does: routes take all. Else slr_call must not take it for its answer.
__device__ mb_word mb_collected(const MB_ARENA *P, mb_word port, mb_word k)
{
    return P[MBP_BATCH(k)] == port && P[MBP_SILENT] != 0u ? 0u : MB_FLAG_COLLECTED;
}

// `q`: mb_port.
__device__ void mb_publish_behind(MB_ARENA *S, MB_ARENA *P, mb_word port, mb_word q)
{
    mb_word lane = mb_reply_lane_of(S, P, port);
    mb_word position = P[q + MBQ_REPLIES];
    while (position != P[q + MBQ_PUBLISHED]) { // the first last: the port polls it, and finds them all at once
        position -= 1u;
        MB_PUBLISH(mb_reply_slot(S, lane, position) + MB_SEQUENCE, position + 1u); // its payload and header
    }
    P[q + MBQ_PUBLISHED] = P[q + MBQ_REPLIES];
}

__device__ void mb_publish_replies(MB_ARENA *S, MB_ARENA *P, mb_word port)
{
    mb_publish_behind(S, P, port, mb_port(P, port));
}

// The last fault's words change between these two, and the next fault changes them again: by releases, so that whoever
// acquires one of the new words and then looks at the turn finds that it is another. An owner that was lost in between
// leaves an odd turn, with which the next one begins.
__device__ void mb_begin_fault(MB_ARENA *S, const MB_ARENA *P)
{
    MB_STORE(P[MBP_OWNER] + MB_FAULT_TURN, MB_LOAD(P[MBP_OWNER] + MB_FAULT_TURN) | 1u);
}

__device__ void mb_end_fault(MB_ARENA *S, const MB_ARENA *P)
{
    MB_RELEASE(P[MBP_OWNER] + MB_FAULT_TURN, MB_LOAD(P[MBP_OWNER] + MB_FAULT_TURN) + 1u);
}

// Of an owner on a device, which knows no column or index, and has no clock that is the host's: engine/fault.c.
MB_APART __device__ void mb_note_fault(MB_ARENA *S, MB_ARENA *P, mb_word kind, mb_word file, mb_word line,
                                       mb_word instance)
{
    mb_word owner = P[MBP_OWNER];
    if (MB_LOAD(owner + MB_FIRST_KIND) == 0u) {
        MB_STORE(owner + MB_FIRST_FILE, file);
        MB_STORE(owner + MB_FIRST_LINE, line);
        MB_STORE(owner + MB_FIRST_INSTANCE, instance);
        MB_STORE(owner + MB_FIRST_NUMBER, P[MBP_HANDLED] + P[MBP_FAULTED] + P[MBP_DROPPED] + P[MBP_IN_DOUBT] + 1u);
        MB_RELEASE(owner + MB_FIRST_KIND, kind);
    }
    mb_begin_fault(S, P);
    MB_RELEASE(owner + MB_FAULT_FILE, file);
    MB_RELEASE(owner + MB_FAULT_LINE, line);
    MB_RELEASE(owner + MB_FAULT_INSTANCE, instance);
    MB_RELEASE(owner + MB_FAULT_KIND, kind);
    mb_end_fault(S, P);
}

__device__ mb_word mb_letter_slot(const MB_ARENA *S, mb_word owner, mb_word position)
{
    return owner + MB_SIZE(MB_LETTERS_AT) +
           (position & MB_SIZE(MB_LETTER_MASK)) * (MB_SIZE(MB_SLOT_WORDS) + MB_LETTER_FAULT_WORDS);
}

// Copies a message that will not be handled to where the host finds it. Never waits: without room it is only counted.
// Of one that faulted, its fault is the shard's last one: the owner has just noted it.
MB_APART __device__ void mb_write_letter(MB_ARENA *S, MB_ARENA *P, mb_word at, mb_word reason)
{
    if (MB_SIZE(MB_LETTERS) == 0u) {
        return;
    }
    mb_word position = P[MBP_LETTERS];
    // Acquire: the host has finished with the slot that is about to be overwritten.
    if (position - MB_ACQUIRE(MB_LETTERS_READ(P[MBP_SHARD])) >= MB_SIZE(MB_LETTERS)) {
        P[MBP_LETTERS_LOST] += 1u;
        MB_STORE(P[MBP_OWNER] + MB_LETTERS_LOST, P[MBP_LETTERS_LOST]);
        return;
    }
    mb_word slot = mb_letter_slot(S, P[MBP_OWNER], position);
    for (mb_word k = MB_INSTANCE; k < MB_SIZE(MB_SLOT_WORDS); ++k) {
        S[slot + k] = MB_AT(at + k);
    }
    for (mb_word k = 0u; reason == MB_LETTER_FAULTED && k < MB_LETTER_FAULT_WORDS; ++k) {
        S[slot + MB_SIZE(MB_SLOT_WORDS) + k] = MB_LOAD(P[MBP_OWNER] + MB_FAULT_KIND + k);
    }
    S[slot + MB_HEAD] = (MB_AT(at + MB_HEAD) & 255u) | reason << 16u;
    P[MBP_LETTERS] = position + 1u;
    MB_RELEASE(slot + MB_SEQUENCE, position + 1u); // the letter
}

// Credits go back. Release: the owner has finished with the slots, and the replies are visible before the credit.
__device__ void mb_retire(MB_ARENA *S, MB_ARENA *P)
{
    MB_RELEASE(P[MBP_OWNER] + MB_RETIRED,
               P[MBP_HANDLED] + P[MBP_FAULTED] + P[MBP_DROPPED] + P[MBP_IN_DOUBT] - P[MBP_GRANTED_RETIRED]);
}

// A message of a port with credits of its own is done with. Owners that evict have no such ports.
__device__ void mb_note_granted(MB_ARENA *P, mb_word port, mb_word head)
{
    if ((head & MB_FLAG_GRANTED) != 0u) {
        P[mb_port(P, port) + MBQ_RETIRED] += 1u;
        P[MBP_GRANTED_RETIRED] += 1u;
    }
}

// Such credits of a batch of `batch` go back to their ports, and not to all senders. Releases, as in mb_retire.
MB_APART __device__ void mb_return_grants(MB_ARENA *S, MB_ARENA *P, mb_word batch)
{
    for (mb_word k = 0u; k < batch; ++k) {
        mb_word port = P[MBP_BATCH(k)];
        if (k + 1u == batch || P[MBP_BATCH(k + 1u)] != port) {
            MB_PUBLISH(mb_reply_lane_of(S, P, port) + MB_PORT_RETIRED, P[mb_port(P, port) + MBQ_RETIRED]);
            MB_RETURN(P, port);
        }
    }
    P[MBP_GRANTED_TOLD] = P[MBP_GRANTED_RETIRED];
    MB_RELEASE(P[MBP_OWNER] + MB_GRANTED_RETIRED, P[MBP_GRANTED_RETIRED]);
}

#include "abi/overflow.h"

// ---- the owner's side: a pass --------------------------------------------------------------------------------------

// Hears what the host has to say: a command, ports that came or went. Gives the control word.
__device__ mb_word mb_hear(MB_ARENA *S, MB_ARENA *P)
{
    mb_word control = MB_HEARD(MB_CONTROL);
    if (control + 1u != P[MBP_CONTROL]) {
        mb_obey(S, P, control);
    }
    mb_word epoch = MB_HEARD(MB_PORT_EPOCH);
    if (epoch != P[MBP_EPOCH]) {
        mb_reread_ports(S, P, epoch);
    }
    // Before a batch is taken, and while paused too: ports come and go however busy the others are.
    if (P[MBP_GONE_OPEN] != 0u && P[MBP_BATCH_COUNT] == 0u) {
        mb_acknowledge_gone(S, P);
    }
    return control;
}

// Claims the next batch; gives its size. 0: nothing to do, or the state (P[MBP_STATE]) does not let it.
// The control word is read before the lanes: what was accepted before a close is then seen before the end.
__device__ mb_word mb_begin(MB_ARENA *S, MB_ARENA *P)
{
    mb_word control = mb_hear(S, P);
    if (MB_SIZE(MB_KEEP) != 0u && (P[MBP_STATE] == MB_RUNNING || P[MBP_STATE] == MB_PAUSED)) {
        mb_keep(S, P);
    }
    if (P[MBP_STATE] != MB_RUNNING) {
        return 0u;
    }
    if (MB_SIZE(MB_KEEP) != 0u) {
        if (P[MBP_MOST] != 0u) {
            mb_claim_one(S, P);
        }
    } else if (P[MBP_WAITING] == 0u) {
        mb_word look = mb_look(S, P);
        if (look == MB_MIXED_MARK) {
            mb_take_all(S, P);
        } else if (look != 0u) {
            mb_claim_straight(S, P, look);
        }
    } else {
        mb_take_all(S, P);
    }
    if (MB_SIZE(MB_KEEP) == 0u && P[MBP_WAITING] != 0u && P[MBP_BATCH_COUNT] == 0u) {
        mb_claim_pending(S, P, P[MBP_MOST]);
    }
    // All shards have retired all that was ever accepted: nothing is under way in a lane either.
    if (P[MBP_BATCH_COUNT] == 0u && (control & 3u) == MB_CLOSE && MB_MAY_END(S, P) != 0u) {
        mb_answer(S, P, MB_ENDED);
    }
    return P[MBP_BATCH_COUNT];
}

// Whether the owner may sleep: nothing has changed since its last pass, and the lanes it serves are empty.
__device__ mb_word mb_idle(MB_ARENA *S, MB_ARENA *P)
{
    if (MB_ACQUIRE(MB_CONTROL) + 1u != P[MBP_CONTROL] || MB_ACQUIRE(MB_PORT_EPOCH) != P[MBP_EPOCH]) {
        return 0u;
    }
    if (P[MBP_STATE] != MB_RUNNING) {
        return 1u;
    }
    if (P[MBP_WAITING] != 0u || ((P[MBP_CONTROL] - 1u) & 3u) == MB_CLOSE) {
        return 0u;
    }
    return mb_look(S, P) == 0u ? 1u : 0u;
}

// The handler of a batch's message k wrote `replies` replies into the port's next reply slots; their headers follow.
// `flags` is 0, or MB_FLAG_FAULT behind the note of its fault.
__device__ void mb_handled(MB_ARENA *S, MB_ARENA *P, mb_word k, mb_word replies, mb_word flags)
{
    mb_word port = P[MBP_BATCH(k)];
    mb_word at = P[MBP_BATCH(k) + 1u];
    mb_word q = P[MBP_BATCH(k) + 3u];
    mb_word head = MB_TAKEN(at, MB_HEAD);
    P[MBP_TIMED] |= head;
    mb_note_granted(P, port, head);
    if (flags == 0u) {
        P[MBP_HANDLED] += 1u;
    } else {
        P[MBP_FAULTED] += 1u;
        mb_write_letter(S, P, at, MB_LETTER_FAULTED);
    }
    if (replies == 0u || mb_is_gone(P, port) != 0u) {
        return;
    }
    mb_word lane = mb_reply_lane_of(S, P, port);
    for (mb_word n = 0u; n < replies; ++n) {
        mb_head_slot(S, mb_reply_slot(S, lane, P[q + MBQ_REPLIES] + n), at, flags);
    }
    P[q + MBQ_REPLIES] += replies;
    P[MBP_REPLIED] += replies;
}

// Message k of the batch, whose handler may or may not have run: the device was lost with it. It is done with, and
// nobody is told but by the ring kernel's failure.
__device__ void mb_doubt(MB_ARENA *S, MB_ARENA *P, mb_word k)
{
    P[MBP_IN_DOUBT] += 1u;
    mb_note_granted(P, P[MBP_BATCH(k)], S[P[MBP_BATCH(k) + 1u] + MB_HEAD]);
    MB_RELEASE(P[MBP_OWNER] + MB_IN_DOUBT, P[MBP_IN_DOUBT]); // as the counts in mb_finish
}

// Publishes the batch: its replies, then its credits.
__device__ void mb_finish(MB_ARENA *S, MB_ARENA *P)
{
    for (mb_word k = 0u; k < P[MBP_BATCH_COUNT]; ++k) {
        mb_word q = P[MBP_BATCH(k) + 3u];
        if (P[q + MBQ_RESERVED] != 0u) { // else its replies are out, with an earlier message's, or it never has any
            mb_publish_behind(S, P, P[MBP_BATCH(k)], q);
            P[q + MBQ_RESERVED] = 0u;
        }
        if (P[MBP_BATCH(k) + 2u] != 0u) { // back to the free list
            S[P[MBP_BATCH(k) + 1u]] = P[MBP_FREE];
            P[MBP_FREE] = P[MBP_BATCH(k) + 2u];
        }
    }
    mb_word batch = P[MBP_BATCH_COUNT];
    P[MBP_BATCH_COUNT] = 0u;
    mb_word owner = P[MBP_OWNER];
    // Behind the replies, so who has one may read counts without it (docs/contract/telemetry.md): an owner may be lost
    // with its device in between, and what is counted then is taken to have its replies (engine/resident_home.c).
    // Release: who counts what was accepted behind these finds no less than they say, and their replies counted.
    MB_STORE(owner + MB_REPLIED, P[MBP_REPLIED]);
    MB_PUBLISH(owner + MB_HANDLED, P[MBP_HANDLED]);
    MB_PUBLISH(owner + MB_FAULTED, P[MBP_FAULTED]);
    if (P[MBP_GRANTED_RETIRED] != P[MBP_GRANTED_TOLD]) {
        mb_return_grants(S, P, batch);
    }
    mb_retire(S, P);
}

// After a batch of `batch` was cut to its first `done` and finished: the rest is claimed again, as the
// next batch's beginning. It stays so while the owner is paused.
MB_APART __device__ void mb_keep_rest(MB_ARENA *S, MB_ARENA *P, mb_word done, mb_word batch)
{
    for (mb_word k = done; k < batch; ++k) {
        P[P[MBP_BATCH(k) + 3u] + MBQ_RESERVED] = 0u;
    }
    for (mb_word k = done; k < batch; ++k) {
        mb_add_to_batch(S, P, P[MBP_BATCH(k)], P[MBP_BATCH(k) + 3u], P[MBP_BATCH(k) + 1u], P[MBP_BATCH(k) + 2u]);
    }
}

#endif
