// SPDX-License-Identifier: Apache-2.0
// What one batched launch of a ring kernel reads and writes. The host and the text of the kernel around a handler,
// which embeds this file, share the layout. Words are u32, offsets are in bytes, and every record begins at a multiple
// of 16.
//
// The kernel's parameters are, in this order:
//   in:        where in it the first message of each chain lies, a word each; behind them messages. A chain is a list
//              of messages that are handled one after the other, such as those of one instance; chains run side by
//              side.
//   results:   one record for each message.
//   states:    the states of all instances; NULL where the handler has none.
//   constants: the words below, bindings, and the initial state; written once.
//   chains:    a word: how many there are.
//   Then the address of each buffer among the handler's bindings.
#ifndef SLRI_ABI_RELAUNCH_H
#define SLRI_ABI_RELAUNCH_H

#define RL_END 0xffffffffu // after the last message of a chain, or its last batch

// ---- a message: four words, then its payload -----------------------------------------------------------------------
#define RL_INSTANCE 0
#define RL_NEXT 1   // where the next one of its chain lies, or RL_END
#define RL_STATE 2  // the number of its instance's state
#define RL_RECORD 3 // where its result lies
#define RL_COUNT 3  // instead, of a batch: how many messages it is
#define RL_PAYLOAD 16
// A `__ring_batch__` handler is given batches, of one instance each, where another is given messages: behind the four
// words a word for each message, where its result lies; from the next multiple of RL_BATCH_UNIT on the messages, one
// behind the other.
#define RL_BATCH_UNIT 16

// ---- a result: words, then replies, then what was sent through each outlet -----------------------------------------
#define RL_FAULT 0 // an enum slri_fault, or RL_NOT_RUN
#define RL_FILE 1  // this and the next only at a fault
#define RL_LINE 2
#define RL_REPLIES 3
#define RL_TICKS 4 // of the device's counter, that the handler took, at most RL_MOST_TICKS; by texts that have a clock
#define RL_SENT(binding) (5 + (binding)) // of those that are outlets
#define RL_NOT_RUN 0xffffffffu           // its chain had stopped at a fault before it
#define RL_MOST_TICKS 0xffffffffu

// ---- constants, words ----------------------------------------------------------------------------------------------
#define RL_REPLIES_AT 0 // in a result
#define RL_REPLY_STRIDE 1
#define RL_MAX_REPLIES 2
#define RL_MAX_SENDS 3
#define RL_STOPS 4 // 1: a chain stops at a fault
#define RL_STATE_BYTES 5
#define RL_INITIAL_AT 6 // in the constants, where an instance begins anew; 0: from zero
#define RL_REPLY_MASK 7 // in a kernel that stays, whose replies lie in slots of a mailbox: how many there are, - 1
#define RL_FUEL 8       // two words, the lower first
// Between two states; no constant, as the handler says how long one is.
#define RL_STATE_STRIDE(bytes) (((bytes) + 15u) / 16u * 16u)
// 16 bytes a binding: a scalar's value; of a buffer two words, its length in bytes; or of an outlet two words, where in
// a result its first message lies and how far apart they are.
#define RL_BINDING(binding) (64 + 16 * (binding))

#endif
