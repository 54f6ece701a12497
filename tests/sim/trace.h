// SPDX-License-Identifier: Apache-2.0
// What happened when a program was played, as its own handlers, clients and controller saw it. Times are numbers of
// events: what has the smaller one was before.
#ifndef TESTS_SIM_TRACE_H
#define TESTS_SIM_TRACE_H

#include "program.h"

#include <slipring/slipring.h>

#define NONE UINT32_MAX
#define HANDLER_TIMEOUT_NS 2000000u
#define OVERRUN_NS 60000000u // in which a watchdog surely has looked

enum { MOST_MESSAGES = 4096, MOST_NOTES = 8192 };

struct work { // a message, and a reply
    uint32_t id, script;
};

struct state { // of an instance
    uint32_t count, hash;
};

enum acceptance { REFUSED, ACCEPTED, MAYBE };

struct message_note { // by id
    uint32_t parent;  // of a reply: the message that it answers; NONE: a client sent it
    uint32_t script;
    uint32_t client, port; // that sent it, and its how manieth port
    uint32_t ring, instance, priority, correlation;
    uint32_t begin, end; // of the send
    enum acceptance sent;
    slr_status status;
    bool called;
};

struct handling { // a handler's begin and end, in the order of the begins
    uint32_t id, ring, instance, priority, correlation, begin, end; // end NONE: not yet
    uint32_t call;                                                  // of those that were given to one call the same
    uint64_t begun_ns, ended_ns;
    struct state before;
    bool faulted;
};

struct receipt { // what a client received
    uint32_t client, port, ring, id, correlation, instance, priority, time;
    slr_status status; // SLR_OK: a reply
    bool called;
};

struct letter {
    uint32_t id, ring;
    slr_dead_letter_reason reason;
};

struct control {
    struct op op;
    uint32_t begin, end;
    slr_status status;
    slr_ring_state before, after;
    slr_ring_stats stats; // of SETTLE, TERMINATE and DESTROY
};

struct trace {
    uint32_t time;
    uint32_t messages, handlings, receipts, letters, undelivered_count, controls;
    struct message_note message[MOST_MESSAGES];
    struct handling handling[MOST_NOTES];
    struct receipt receipt[MOST_NOTES];
    struct letter letter[MOST_MESSAGES], undelivered[MOST_MESSAGES]; // as the reader, and as terminate handed them out
    struct control control[MOST_OPS + 8 * MOST_RINGS];
    slr_ring_state drained[MOST_RINGS]; // what became of each behind the last CLOSE; 0: it was not there any more
    uint32_t supervised_restarts[MOST_RINGS];
    uint32_t last_port[MOST_CLIENTS]; // the number of each client's last port
    const char *broken;               // what the player itself found wrong
    uint64_t fingerprint;
};

// Plays a program in a simulation of its own. What it finds by itself is `broken`.
void play(const struct program *program, struct trace *trace);

void trace_print(const struct trace *trace, FILE *to);

// Judges what happened by the contracts alone. NULL: as it should be; else what is wrong, in a static buffer.
const char *judge(const struct program *program, const struct trace *trace);

#endif
