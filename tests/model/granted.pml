/* A port with credits of its own (passage.h): a source on a device, its destination's owner, and the host, which gives
 * the credits up when the source is at rest and closes the destination, in either order. Credits of messages that are not
 * retired the host keeps, and gives back as they are retired; with OTHERS a sender without such credits claims all that
 * it can get meanwhile. LATE: it is closed when all is handled. With ASKED somebody reads the
 * counts meanwhile. With SLEEPS the destination goes to sleep when its lane is empty, by way of who watches it, who wakes
 * it when the source has told of more; the host closes it only when all was handled, so that a sleep too long shows.
 * What all senders share, and several shards, are ports.pml's.
 */
#ifndef N
#define N 3                  /* messages */
#endif
#ifndef GRANT
#define GRANT 2
#endif
/* A mutant is SLOTS=1: the lane has fewer slots than the window has credits. */
#ifndef SLOTS
#define SLOTS GRANT
#endif
#define CLOSED 16
#ifdef OTHERS
#ifndef CAP
#define CAP GRANT            /* credits in all */
#endif
#else
#define OTHERS 0
#define CAP GRANT
#endif

#define SOURCE 0
#define OWNER 1
#define HOST 2
#define READER 3
#define WATCHER 4
#define OTHER 3
#if defined(SLEEPS)
#define THREADS 5
#elif OTHERS
#define THREADS 4
#elif defined(ASKED)
#define THREADS 4
#else
#define THREADS 3
#endif
#define SEQ(n) ((n) % SLOTS)
#define RETIRED SLOTS                /* MB_PORT_RETIRED */
#define GRANTED (SLOTS + 1)          /* MB_GRANTED_RETIRED */
#define HANDLED (SLOTS + 2)
#define TOLD (SLOTS + 3)
#define ACCEPTED (SLOTS + 4)         /* the credits of the grant, and closed */
#define CONTROL (SLOTS + 5)
#define STOP (SLOTS + 6)             /* the source shall be at rest */
#define GONE (SLOTS + 7)             /* it is */
#define PARKED (SLOTS + 8)           /* how often the owner has gone to sleep */
#define WOKEN (SLOTS + 9)
#define OTHERS_SENT (SLOTS + 10)     /* the lane of the other sender: how many messages it shows */
#define OTHERS_RETIRED (SLOTS + 11)  /* MB_RETIRED */
#define SIGNALS (SLOTS + 12)
#define PAY(n) (SIGNALS + (n) % SLOTS)
#define MARK(n) (SIGNALS + SLOTS + (n) % SLOTS)      /* ghost: how many the owner has taken from that slot */
#define WORDS (SIGNALS + 2 * SLOTS)
#ifndef DEPTH
#define DEPTH 6
#endif
#include "memory.pml"

/* PUBLISH: release of a message's sequence number. */
#ifndef PUBLISH
#define PUBLISH REL
#endif
/* TAKE: acquire of a message's sequence number. */
#ifndef TAKE
#define TAKE ACQ
#endif
/* RETIRE: release of the count of the port's completed messages. */
#ifndef RETIRE
#define RETIRE REL
#endif
/* CREDIT: acquire of the count of the port's completed messages. */
#ifndef CREDIT
#define CREDIT ACQ
#endif
/* COUNT: release of the handled count. */
#ifndef COUNT
#define COUNT REL            /* of what was handled */
#endif
/* READ: acquire of the handled count. */
#ifndef READ
#define READ ACQ
#endif
/* REST: release of the word by which the source reports that it is quiescent. */
#ifndef REST
#define REST REL
#endif
/* AWAIT: acquire of the word by which the source reports that it is quiescent. */
#ifndef AWAIT
#define AWAIT ACQ
#endif

#define before(n) ((n) < SLOTS -> 0 : (n) + 1 - SLOTS)       /* a slot's sequence, one lap before */

byte sent_in_all, unretired; /* the latter: accepted, of both senders */
bool detached;
hidden byte no_race, no_overwrite, told_whole, close_drains, accepted_covers, within_capacity;

#define accept() unretired++; must(within_capacity, unretired <= CAP)

proctype source()
{
    byte sent;

    do
    :: atomic { differs(SOURCE, STOP, 0) -> poll(SOURCE, STOP, ACQ, 0); store(SOURCE, GONE, 1, REST); break }
/* M_NO_GRANT lacks the source's check that it has a credit. */
#ifdef M_NO_GRANT
    :: atomic { sent < N ->
#else
    :: atomic { sent < N && (sent < GRANT || news(SOURCE, RETIRED) || sees(SOURCE, RETIRED) + GRANT > sent) ->
        load(SOURCE, RETIRED, CREDIT) };
       atomic {
        if
        :: sent - sees(SOURCE, RETIRED) < GRANT ->
#endif
            must(no_overwrite, sent < SLOTS || (!news(SOURCE, MARK(sent)) && sees(SOURCE, MARK(sent)) == sent / SLOTS));
            store(SOURCE, PAY(sent), sent + 1, RLX);
            sent++; sent_in_all++; accept();
/* M_TOLD_BEHIND lacks the order: publish the count of sent messages, then the message. */
#ifndef M_TOLD_BEHIND
            store(SOURCE, TOLD, sent, RLX)
#endif
#ifndef M_NO_GRANT
        :: else -> goto again
        fi
#endif
        };
       store(SOURCE, SEQ(sent - 1), sent, PUBLISH);
#ifdef M_TOLD_BEHIND
       store(SOURCE, TOLD, sent, RLX);
#endif
again: skip
    od
}

proctype owner()
{
    byte next, naps, others;
    bool closing, drained;

    do
    :: atomic { differs(OWNER, CONTROL, closing) -> poll(OWNER, CONTROL, ACQ, closing); closing = true }
    :: atomic { differs(OWNER, SEQ(next), before(next)) ->
        poll(OWNER, SEQ(next), TAKE, before(next));
        must(no_race, !news(OWNER, PAY(next)) && sees(OWNER, PAY(next)) == next + 1);
        store(OWNER, MARK(next), next / SLOTS + 1, RLX);
        next++; unretired-- };
       store(OWNER, HANDLED, next, COUNT);
       store(OWNER, RETIRED, next, RETIRE);
       store(OWNER, GRANTED, next, REL)
#if OTHERS
    :: atomic { differs(OWNER, OTHERS_SENT, others) -> poll(OWNER, OTHERS_SENT, ACQ, others); others++; unretired-- };
       store(OWNER, OTHERS_RETIRED, others, REL)
#endif
    :: atomic { closing ->
        /* mb_drained: what is retired is all that was accepted, the kept credits of a grant included. The code acquires:
         * more than is needed here */
        load(OWNER, ACCEPTED, RLX);
        drained = sees(OWNER, ACCEPTED) == CLOSED + others };
       if
       :: drained -> break
       :: !drained && (news(OWNER, ACCEPTED) || differs(OWNER, SEQ(next), before(next)) ||
           differs(OWNER, OTHERS_SENT, others))
       fi
#ifdef SLEEPS
    :: atomic { !closing && naps < 2 && sees(OWNER, SEQ(next)) == before(next) ->
        naps++; store(OWNER, PARKED, naps, REL) };
       atomic { differs(OWNER, WOKEN, naps - 1) || differs(OWNER, CONTROL, closing) ->
        if
        :: differs(OWNER, WOKEN, naps - 1) -> poll(OWNER, WOKEN, ACQ, naps - 1)
        :: differs(OWNER, CONTROL, closing) -> poll(OWNER, CONTROL, ACQ, closing); closing = true; naps = 2
        fi }
#endif
    od;
    atomic { must(close_drains, detached && next == sent_in_all) }
}

#ifdef SLEEPS
/* The poller: who has an owner that sleeps compares what was told with what is done with. */
proctype watcher()
{
    byte parked, seen;

    do
    :: atomic { differs(WATCHER, PARKED, parked) ->
        poll(WATCHER, PARKED, ACQ, parked); parked = sees(WATCHER, PARKED) };
       /* its last look */
/* M_SLEEPS_BY_LANE lacks the rule that the owner stays awake while the count of sent messages exceeds the count of
 * completed messages. */
#ifdef M_SLEEPS_BY_LANE
       atomic {
        load(WATCHER, GRANTED, ACQ);
        load(WATCHER, SEQ(sees(WATCHER, GRANTED)), ACQ);
        if
        :: sees(WATCHER, SEQ(sees(WATCHER, GRANTED))) != before(sees(WATCHER, GRANTED)) ->
            store(WATCHER, WOKEN, parked, REL); goto awake
        :: else
        fi
       };
#else
       atomic { load(WATCHER, TOLD, ACQ); seen = sees(WATCHER, TOLD) };
       atomic { load(WATCHER, GRANTED, ACQ) };
       if
       :: seen != sees(WATCHER, GRANTED) -> store(WATCHER, WOKEN, parked, REL); goto awake
       :: else
       fi;
#endif
       /* asleep: until the source has told of more */
       atomic {
        if
        :: differs(WATCHER, TOLD, seen) -> poll(WATCHER, TOLD, ACQ, seen); seen = sees(WATCHER, TOLD);
            store(WATCHER, WOKEN, parked, REL)
        :: differs(WATCHER, CONTROL, 0) -> break
        fi };
awake: skip
    :: atomic { differs(WATCHER, TOLD, seen) -> poll(WATCHER, TOLD, ACQ, seen); seen = sees(WATCHER, TOLD) }
    :: differs(WATCHER, CONTROL, 0) -> break
    od
}
#endif

#if OTHERS
/* A sender without credits of its own, which gives up when the input is closed. */
proctype other()
{
    byte sent, held, retired;

    do
    :: sent == OTHERS -> break
    :: atomic { truth(ACCEPTED) >= CLOSED -> break }
    :: atomic { sent < OTHERS && truth(ACCEPTED) < CLOSED ->
        load(OTHER, OTHERS_RETIRED, ACQ); retired = sees(OTHER, OTHERS_RETIRED); held = truth(ACCEPTED);
        if
        :: held - retired < CAP -> change(OTHER, ACCEPTED, held + 1, RLX, RLX); sent++; accept()
        :: else -> goto wait_
        fi };
       store(OTHER, OTHERS_SENT, sent, REL);
       goto again;
wait_: atomic { news(OTHER, OTHERS_RETIRED) || truth(ACCEPTED) != held };
again: skip
    od
}
#endif

/* Gives back what is kept for messages that are retired meanwhile. */
#define open_now() (sees(HOST, TOLD) - sees(HOST, RETIRED))

inline settle()
{
    atomic { differs(HOST, RETIRED, sees(HOST, TOLD) - kept) -> poll(HOST, RETIRED, ACQ, sees(HOST, TOLD) - kept) };
    change(HOST, ACCEPTED, truth(ACCEPTED) - (kept - open_now()), RLX, RLX);
    kept = open_now()
}

inline detach()
{
    store(HOST, STOP, 1, REL);
    atomic { differs(HOST, GONE, 0) -> poll(HOST, GONE, AWAIT, 0) };
    atomic { load(HOST, TOLD, RLX); must(told_whole, sees(HOST, TOLD) == sent_in_all) };
    detached = true;
/* M_GIVES_BACK_EARLY lacks the rule that the credit of a message in flight is returned only when the message is
 * retired. */
#ifndef M_GIVES_BACK_EARLY
    atomic { load(HOST, RETIRED, ACQ); kept = open_now() };
#endif
    change(HOST, ACCEPTED, truth(ACCEPTED) - (GRANT - kept), RLX, RLX)
}

inline close()
{
#ifdef SLEEPS
    truth(HANDLED) == N;
#endif
#ifdef LATE
    unretired == 0;
#endif
    change(HOST, ACCEPTED, truth(ACCEPTED) + CLOSED, RLX, RLX);
    store(HOST, CONTROL, 1, REL)
}

proctype host()
{
    byte kept;
    bool closed;

    if
#ifndef LATE
    :: close(); closed = true; detach()
#endif
#ifndef SLEEPS
    :: detach()
#endif
    fi;
    do
    :: kept > 0 -> settle()
    :: !closed -> close(); closed = true
    :: kept == 0 && closed -> break
    od
}

#ifdef ASKED
/* slr_ring_get_stats: what was handled first, then what was accepted. */
proctype reader()
{
    byte handled;

    atomic { load(READER, HANDLED, READ); handled = sees(READER, HANDLED) };
    atomic { load(READER, TOLD, RLX); must(accepted_covers, sees(READER, TOLD) >= handled) }
}
#endif

init {
    d_step { value[ACCEPTED * DEPTH] = GRANT }
    atomic {
        run source(); run owner(); run host();
#if OTHERS
        run other();
#endif
#ifdef ASKED
        run reader();
#endif
#ifdef SLEEPS
        run watcher()
#endif
    }
}
