// SPDX-License-Identifier: Apache-2.0
// The table between the host and one group of a kernel that stays: which shards the group serves, and the few words by
// which the two talk beside the mailboxes. Memory that both map at the same addresses. Device compilers read this text,
// too: no comment here may name a type of one side alone.
//
// Every word has one writer. What stands under "set up" is written by the host while no kernel runs, and constant while
// one does. Each side's other words lie on lines of their own.
#ifndef SLRI_ENGINE_RESIDENT_LAYOUT_H
#define SLRI_ENGINE_RESIDENT_LAYOUT_H

#ifndef SLRI_WORD
#define SLRI_WORD uint32_t
#define SLRI_ADDRESS uint64_t
#endif

#define SLRI_RESIDENT_SHARDS 64
#define SLRI_RESIDENT_RECORDS 1024u // of a shard, that the host has not read yet; a power of two

// Messages of one instance are handled one after the other; or the handler has neither a state, nor buffers, nor the
// program's variables, so that no message can leave anything to the next, and they may be handled at once.
#define SLRI_RESIDENT_ORDERED 1u
#define SLRI_RESIDENT_FREE 2u

// A batch, for the profiler and the trace: by the clock that the whole device has.
struct slri_resident_record_of_batch {
    SLRI_ADDRESS taken_ns;
    SLRI_WORD duration_ns; // until it was retired, or in its handlers
    SLRI_WORD messages;
};

// How a shard's messages go on to other ring kernels (abi/passage.h). The host changes it while no launch has the
// shard.
struct slri_resident_outlet {
    SLRI_ADDRESS words;   // O
    SLRI_ADDRESS home;    // where O has its home, which the host reads: fetched from there and brought back as an
                          // owner's words are (below). The same where O is no copy
    SLRI_ADDRESS lanes;   // L
    SLRI_ADDRESS retired; // R
    SLRI_ADDRESS stride;  // where L and R lie near: words between one shard's and the next one's; else O says so
};

// Where a handler leaves what it sends through one of its parameters: as it wants it, by struct slri_out.
struct slri_resident_out {
    SLRI_ADDRESS base;
    SLRI_WORD stride, most; // most 0: no outlet
};

struct slri_resident_passage {
    SLRI_ADDRESS outlet; // array of slri_resident_outlet
    SLRI_ADDRESS out;    // array of slri_resident_out, by the parameters behind the message; 0: it sends nothing
    SLRI_ADDRESS calls;  // room for MB_BATCH * outs struct slri_out, near the groups; 0: there is nothing near. Else
                         // `base` of each out and `aside` are near, too, with room for what MB_BATCH messages cause
    SLRI_ADDRESS aside;  // where it replies while its senders receive no replies (MBP_SILENT)
    SLRI_WORD outlets;
    SLRI_WORD outs;
    SLRI_WORD aside_stride; // bytes
    SLRI_WORD padding[21];
    // The group's.
    SLRI_WORD unsent; // messages through parameters from which no route leads
    SLRI_WORD padding_group[31];
};

struct slri_resident_entry {
    // Set up. Addresses; 0: none.
    SLRI_ADDRESS shared, own, states, initial_state, bound;
    SLRI_ADDRESS state_stride, state_bytes, fuel;
    // 0, or where the owner's words and the states have their home, which the host reads: then `own` and `states` are
    // copies near the group. Fetched from there when it begins; brought back when it ends, the states also before it
    // answers a command or obeys `hold`. Where messages are timed a histogram lies behind both (MBP_HISTOGRAM_AT).
    SLRI_ADDRESS own_home, states_home, states_bytes;
    SLRI_ADDRESS records; // 0: nobody looks at them
    SLRI_ADDRESS flags;   // near the group: a word a port, how many messages it has published; 0: slots alone say it
    SLRI_WORD own_words;
    SLRI_WORD shards;     // of the ring kernel
    SLRI_WORD used;       // 0: there is no shard in this entry; else SLRI_RESIDENT_ORDERED or SLRI_RESIDENT_FREE
    SLRI_WORD judges;     // 1: the host judges each fault before the next message is handled
    SLRI_ADDRESS passage; // 0: no routes, and no outlets
    // The host's.
    SLRI_WORD hold;   // odd: the group shall leave the shard alone
    SLRI_WORD judged; // faults that it has judged
    SLRI_WORD read;   // records that it has read
    SLRI_WORD padding_more;
    SLRI_ADDRESS ahead_ns; // the device's clock of that by which senders note times; 0: not known
    SLRI_ADDRESS calls;    // set up, too: room for a call of a `__ring_batch__` handler, 0 where the group has its own:
                           // MB_BATCH messages one behind the other, and from the next 16 bytes on their replies
    SLRI_WORD padding_host[24];
    // The group's.
    SLRI_WORD held;      // the value of `hold` that it obeys
    SLRI_WORD faulted;   // faults that are to be judged
    SLRI_WORD left;      // 1: the shard is over, and the group touches it no more
    SLRI_WORD away;      // the group's alone: 1: the states are near it, and those at home are old
    SLRI_WORD written;   // records that are there
    SLRI_WORD dropped;   // and for which there was no room
    SLRI_WORD read_seen; // the value of `read` that it knows
    SLRI_WORD padding_group[25];
};

struct slri_resident_table {
    // Set up.
    SLRI_WORD launch;    // the number of this launch
    SLRI_WORD entries;   // to look at
    SLRI_WORD most_idle; // passes without work, one after the other, behind which the kernel ends
    SLRI_WORD padding;
    // For groups whose clock is the counter of base/tick.h: nanoseconds of one tick, in 2^-32.
    SLRI_ADDRESS ns_per_tick;
    SLRI_WORD padding_more[26];
    // The host's.
    SLRI_WORD stop;  // the launch that shall end
    SLRI_WORD asked; // the number of a question for the device's clock
    SLRI_WORD padding_host[30];
    // The group's.
    SLRI_WORD gone;        // the launch that has ended
    SLRI_WORD answered;    // the question that is answered
    SLRI_ADDRESS clock_ns; // with what the clock showed
    SLRI_WORD padding_group[28];
    struct slri_resident_entry entry[SLRI_RESIDENT_SHARDS];
};

#endif
