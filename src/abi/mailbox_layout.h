// SPDX-License-Identifier: Apache-2.0
// Where everything lies in a mailbox: S, the arena that both sides map, and P, an owner's own words. Offsets are in
// words. Part of mailbox.h, in the kernel subset.
#ifndef SLRI_ABI_MAILBOX_LAYOUT_H
#define SLRI_ABI_MAILBOX_LAYOUT_H

typedef unsigned mb_word;
#ifndef MB_ARENA
#define MB_ARENA mb_word // of S and P: OpenCL C, which takes this text as it is, adds its address space
#endif

#define MB_LINE 32u // words between things with different writers: two 64-byte lines, because they are fetched in pairs
#define MB_BATCH 32u
#define MB_MAX_PORTS 256u

// ---- a slot: header, payload, and behind it the time stamp where the ring kernel stamps ----------------------------
#define MB_SEQUENCE 0u // position + 1: full in this lap. The consumer never writes it back
#define MB_HEAD 1u     // priority | flags << 8
#define MB_INSTANCE 2u
#define MB_CORRELATION 3u
#define MB_PAYLOAD 4u
#define MB_FLAG_FAULT 0x100u   // of a reply: its message faulted; no payload
#define MB_FLAG_DROPPED 0x200u // likewise: its message was evicted
#define MB_FLAG_REDELIVERED                                                                                            \
    0x800u                   // of a message, and of its replies: it was in doubt, and may have been handled before
#define MB_FLAG_TIMED 0x400u // of a message: when it was sent is noted beside its lane, or beside its node
#define MB_FLAG_COLLECTED                                                                                              \
    0x2000u // of a reply: a port that collects has it (slr_route_to_port), and not who sent the message
#define MB_FLAG_GRANTED 0x1000u // of a message: its credit is its port's own (passage.h)

// ---- S, first line: the ring kernel's control, written by the host -------------------------------------------------
#define MB_CONTROL 0u                     // number << 2 | command
#define MB_PORT_EPOCH 2u                  // raised after every change of the port sets
#define MB_PORT_SET(word) (4u + (word))   // a bit a port that has lanes
#define MB_PORT_GONE(word) (12u + (word)) // a bit a port whose owner has closed it
#define MB_GRANTS_SENT 20u // messages in all, modulo 2^32, of ports that had credits of their own and sent their last

#define MB_RUN 0u
#define MB_PAUSE 1u
#define MB_CLOSE 2u
#define MB_STOP 3u

// ---- S, second line: credits, written by every sender --------------------------------------------------------------
#define MB_ACCEPTED 32u // messages accepted, modulo 2^31, and the closed bit: one word, so that they change together
#define MB_RETIRED_SEEN 33u // a recent sum of the shards' retired counts; never runs backwards
#define MB_CLOSED 0x80000000u
#define MB_COUNT 0x7fffffffu

// ---- S, third line: sizes, written before the launch, constant after -----------------------------------------------
#define MB_CAPACITY 64u // credits
#define MB_SHARDS 65u
#define MB_PORT_WORDS 66u // words of the port sets that are in use
#define MB_SLOT_WORDS 67u
#define MB_LANE_MASK 68u // slots of a lane - 1
#define MB_REPLY_SLOT_WORDS 69u
#define MB_REPLY_MASK 70u
#define MB_MAX_REPLIES 71u  // of a message; 0: the handler never replies
#define MB_LANES_AT 72u     // the first shard's first lane
#define MB_LANE_STRIDE 73u  // from one port's lane to the next one's
#define MB_LANES_STRIDE 74u // from one shard's to the next one's
#define MB_OWNERS_AT 75u    // a shard's words, written by its owner
#define MB_OWNER_STRIDE 76u // from them to the next one's
#define MB_REPLY_STRIDE 77u // of reply lanes, as of lanes
#define MB_POOL_AT 78u      // from a shard's first word
#define MB_STAMPED 79u
#define MB_KEEP 80u  // how many messages may wait before the owners evict; 0: they do not, the credits are the capacity
#define MB_EVICT 81u // whom they evict
#define MB_TICKET 82u  // where in a slot the sender leaves the message's place in the order of acceptance; 0: nowhere
#define MB_LETTERS 83u // dead letters that a shard keeps for the host; 0: none
#define MB_LETTER_MASK 84u
#define MB_LETTERS_AT 85u    // from a shard's first word
#define MB_TIMED_BELOW 86u   // which messages are timed (mb_is_timed): 2^31 over how many there are to each; 0: none
#define MB_TIMES_SHIFT 87u   // positions of a lane that share a time: fewer than from one timed message to the next
#define MB_TIMES_MASK 88u    // times of a lane - 1
#define MB_LANE_TIMES_AT 89u // from a lane's first word: times, two words each, written by the port
#define MB_NODE_TIMES_AT 90u // from a shard's first word: the same for each node of the pool, written by the owner
#define MB_REPLIES_AT 91u    // the first shard's first reply lane
#define MB_REPLIES_STRIDE 92u
#define MB_BATCH_BYTES 93u // of a message, where the handler gets many of them in one call; 0: it gets one

#define MB_EVICT_OLDEST 1u // the earliest accepted
#define MB_EVICT_LOWEST 2u // the earliest of the lowest priority

// ---- S, fourth line: written by the owners -------------------------------------------------------------------------
#define MB_KEPT 96u // messages that wait in the pending sets of all shards, where owners evict

// ---- S, then a line a shard, written by the host -------------------------------------------------------------------
#define MB_LETTERS_READ(shard) (128u + (shard)*MB_LINE) // dead letters that the host has taken
#define MB_HEADER_WORDS(shards) MB_LETTERS_READ(shards)
#define MB_SMALL_HEADER_WORDS 96u // where neither the fourth line nor these are used

// a lane: a line of words written by the port, then slots. The mark stands 64 bytes from what each receive changes
#define MB_REPLY_READ 0u // replies that the port has finished with
#define MB_NEAR_AT 2u    // 0, or the address where the lane lies near the device's groups instead: 64 bits, as one
#define MB_MIXED 16u     // 0: nothing sent; priority + 1: all of one priority; more than 256: mixed
#define MB_LANE_SLOTS 32u
#define MB_MIXED_MARK 512u
// of such a lane: its first word is the owner's
#define MB_NEAR_RETIRED 0u  // as MB_PORT_RETIRED
#define MB_NEAR 0x80000000u // of an offset into it: the port follows, and the lane's word
#define MB_NEAR_SHIFT 23u

// a shard's line, written by its owner
#define MB_ANSWER 0u  // number << 3 | state
#define MB_RETIRED 1u // but for messages whose credits are their port's own
#define MB_HANDLED 2u
#define MB_FAULTED 3u
#define MB_REPLIED 4u
#define MB_GRANTED_RETIRED 5u // messages whose credits are their port's own, modulo 2^32
#define MB_FAULT_KIND 6u      // the last fault; read between two looks at MB_FAULT_TURN
#define MB_FAULT_FILE 7u
#define MB_FAULT_LINE 8u
#define MB_FAULT_COLUMN 9u // 0 where the owner does not know it, and so are the next two, of 64 bits: abi/handler.h
#define MB_FAULT_INDEX 10u
#define MB_FAULT_SIZE 12u
#define MB_FAULT_INSTANCE 14u
#define MB_FAULT_WHEN                                                                                                  \
    15u // in units of 2^16 ns, modulo 2^32: which shard's was the last; 0: the owner has no such clock
#define MB_DROPPED 16u
#define MB_LETTERS_LOST 17u
#define MB_IN_DOUBT 18u
#define MB_FIRST_KIND 19u // the first fault, likewise, for as long as the mailbox lives; written once, this word last
#define MB_FIRST_FILE 20u
#define MB_FIRST_LINE 21u
#define MB_FIRST_COLUMN 22u
#define MB_FIRST_INSTANCE 23u
#define MB_FIRST_INDEX 24u
#define MB_FIRST_SIZE 26u
#define MB_FIRST_NUMBER 28u // the how many-eth of the shard's messages that was, modulo 2^32
#define MB_FIRST_TIME 29u   // ns on the host's clock, 64 bits; 0: the owner has none
#define MB_FAULT_TURN 31u   // odd while the last fault's words change (mb_begin_fault)
#define MB_OWNER_WORDS MB_LINE
// a reply lane: a line, then slots
#define MB_GONE_AT 0u      // of a closed port: replies published, when nothing of it is left in the shard
#define MB_GONE_EPOCH 1u   // the port epoch at which that was found
#define MB_PORT_RETIRED 2u // the port's messages that are done with and whose credits are its own, modulo 2^32
#define MB_REPLY_PORT 4u   // room for MBP_PORT_WORDS of an owner on the host: the port's words among its own, P
#define MB_REPLY_SLOTS 32u

// a dead letter: the message's slot, with why it lies here above its priority and flags; behind the slot, of a message
// that faulted, its fault: the words from MB_FAULT_KIND to MB_FAULT_SIZE
#define MB_LETTER_FAULT_WORDS 8u
#define MB_LETTER_REASON(head) ((head) >> 16u)
#define MB_LETTER_FAULTED 1u
#define MB_LETTER_OLDEST 2u
#define MB_LETTER_LOWEST 3u
#define MB_LETTER_UNDELIVERED 4u

#define MB_RUNNING 1u // states in MB_ANSWER
#define MB_PAUSED 2u
#define MB_ENDED 3u
#define MB_STOPPED 4u

// ---- P, the owner's own words. All zero is the initial state -------------------------------------------------------
#define MBP_SHARD 0u // set by mb_open, with the next three
#define MBP_LANES 1u
#define MBP_OWNER 2u
#define MBP_POOL 3u
#define MBP_STATE 4u
#define MBP_CONTROL 5u // 1 + the control word last seen
#define MBP_EPOCH 6u
#define MBP_FREE 7u // pool: free list, nodes ever used
#define MBP_USED 8u
#define MBP_WAITING 9u // messages in the pending set
#define MBP_TURN 10u
#define MBP_BATCH_COUNT 11u
#define MBP_GONE_OPEN 12u // closed ports of which something may be left
#define MBP_HANDLED 13u
#define MBP_FAULTED 14u
#define MBP_REPLIED 15u
#define MBP_SET(word) (16u + (word)) // copies of the port sets
#define MBP_GONE(word) (24u + (word))
#define MBP_MOST 32u // messages to claim at once, up to MB_BATCH; 0: none, the owner lets them gather
#define MBP_HELD 33u // messages taken and not ended (held.h)
#define MBP_DROPPED 34u
#define MBP_EVICTED 35u // since this was last set to 0, by whoever tells the ports and the senders
#define MBP_LETTERS 36u // dead letters written, and those for which there was no room
#define MBP_LETTERS_LOST 37u
#define MBP_VICTIM_PORT 38u // where the next one to evict stands first, found by mb_find_victim
#define MBP_VICTIM_PRIORITY 39u
#define MBP_VICTIM_NODE 40u              // 0: none found yet
#define MBP_TIMED 41u                    // MB_FLAG_TIMED: the batch has a message that is timed
#define MBP_IN_DOUBT 42u                 // messages that a lost device may or may not have finished
#define MBP_GRANTED_RETIRED 43u          // messages that are done with whose credits are their port's own
#define MBP_GRANTED_TOLD 44u             // those of them that were published
#define MBP_NEAR 45u                     // 1: there are lanes that lie near
#define MBP_REPLIES 46u                  // of mb_open, as MBP_LANES
#define MBP_LISTS 47u                    // likewise: the ports' lists, which messages touch only if they are to wait
#define MBP_NOTICED(word) (48u + (word)) // a bit a port that has been sent a notice since
#define MBP_SILENT 56u                   // 1: the senders receive no replies, because routes take them
#define MBP_ROOM 57u  // 1 + messages that there is room for where routes lead; 0: no routes, no such limit
#define MBP_PORTS 58u // of mb_open: where the first port's words lie (mb_port), and from one's to the next one's
#define MBP_PORT_STRIDE 59u
#define MBP_BATCH(k)                                                                                                   \
    (64u + (k)*4u) // port, slot or node's offset in S, node number or 0, mb_port. On the host no more than credits
#define MBP_PORT_WORDS 20u
#define MBP_PORT(port) (192u + (port)*MBP_PORT_WORDS) // where all is in one piece
#define MBQ_NEXT_IN 0u                                // of a port's words: the lane's next position
#define MBQ_REPLIES 1u                                // replies written, published, and room seen
#define MBQ_PUBLISHED 2u
#define MBQ_READ_SEEN 3u
#define MBQ_RESERVED 4u              // replies that the batch, or held messages, may still write
#define MBQ_WAITING 5u               // of its messages, in the pending set
#define MBQ_SUMMARY 6u               // a bit a word of the bitmap
#define MBQ_RETIRED 7u               // of its messages, done with, whose credits are its own
#define MBQ_BITS(word) (8u + (word)) // a bit a priority
#define MBQ_NEAR 16u                 // the lane's MB_NEAR_AT, both words
// a port's lists, by priority: the first node and the last
#define MBL_FIRST(priority) ((priority)*2u)
#define MBL_LAST(priority) ((priority)*2u + 1u)
#define MBL_WORDS 512u
#define MBP_LISTS_AT(ports) ((MBP_PORT(ports) + MB_LINE - 1u) / MB_LINE * MB_LINE) // likewise
#define MBP_WORDS(ports) (MBP_LISTS_AT(ports) + (ports)*MBL_WORDS)
// Behind them, where messages are timed: the shard's histogram (buckets.h).
#define MBP_HISTOGRAM_AT(words) (((words) + MB_LINE - 1u) / MB_LINE * MB_LINE)

#endif
