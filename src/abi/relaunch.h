// SPDX-License-Identifier: Apache-2.0
// What one batched launch of a ring kernel reads and writes. The host and the text of the kernel around a handler,
// which embeds this file, share the layout. Words are u32, offsets are in bytes, and every record begins at a multiple
// of 16.
//
// The kernel's parameters are, in this order:
//   in:        the first message of each chain, a word each; from RL_MESSAGES_AT on messages. A chain is a list of
//              messages that are handled one after the other, such as those of one instance; chains run side by side.
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
#define RL_NEXT 1  // of its chain, or RL_END
#define RL_STATE 2 // the number of its instance's state
#define RL_COUNT 3 // of a batch: how many messages it is
#define RL_PAYLOAD 16
// A `__ring_batch__` handler is given batches, of one instance each, where another is given messages: behind the four
// words a word for each message, the number of its result; from the next multiple of 16 on the messages, one behind the
// other. RL_MESSAGE_STRIDE is RL_BATCH_UNIT then: a chain's numbers count so many bytes.
#define RL_BATCH_UNIT 16

// ---- a result: words, then replies, then what was sent through each outlet -----------------------------------------
#define RL_FAULT 0 // an enum slri_fault, or RL_NOT_RUN
#define RL_FILE 1
#define RL_LINE 2
#define RL_REPLIES 3
#define RL_TICKS 4 // of the device's counter, that the handler took, at most RL_MOST_TICKS; by texts that have a clock
#define RL_SENT(binding) (5 + (binding)) // of those that are outlets
#define RL_NOT_RUN 0xffffffffu           // its chain had stopped at a fault before it
#define RL_MOST_TICKS 0xffffffffu

// ---- constants, words ----------------------------------------------------------------------------------------------
#define RL_MESSAGES_AT 0
#define RL_MESSAGE_STRIDE 1
#define RL_RESULT_STRIDE 2
#define RL_REPLIES_AT 3 // in a result
#define RL_REPLY_STRIDE 4
#define RL_MAX_REPLIES 5
#define RL_MAX_SENDS 6
#define RL_STOPS 7 // 1: a chain stops at a fault
#define RL_STATE_STRIDE 8
#define RL_STATE_BYTES 9 // 0: no state
#define RL_INITIAL_AT 10 // in the constants, where an instance begins anew; 0: from zero
#define RL_FUEL 11       // two words, the lower first
// 16 bytes a binding: a scalar's value; of a buffer two words, its length in bytes; or of an outlet two words, where in
// a result its first message lies and how far apart they are.
#define RL_BINDING(binding) (64 + 16 * (binding))

#endif
