/* Closing. The first port sends and leaves; the second adopts its lane, where it stands, once the owner has acknowledged
 * by the epoch that nothing of it is left, and sends; a third thread closes the input at any time. A reply is a number in
 * its slot that says whose it is. No port sends more than SLOTS messages, so that it needs neither credits nor reply room:
 * those are lane.pml's and ports.pml's.
 */
#ifndef NA
#define NA 1                 /* messages of the first port, of the second */
#endif
#ifndef NB
#define NB 1
#endif
#define SLOTS 2

#define A 0
#define B 1
#define OWNER 2
#define CLOSER 3
#define THREADS 4
#define SEQ(n) ((n) % SLOTS)
#define RSEQ(n) (SLOTS + (n) % SLOTS)
#define ACCEPTED (2 * SLOTS)         /* the count and, as its lowest bit, closed */
#define CONTROL (2 * SLOTS + 1)
#define EPOCH (2 * SLOTS + 2)
#define ACK_EPOCH (2 * SLOTS + 3)
#define ENDED (2 * SLOTS + 4)
#define WAKER (2 * SLOTS + 5)        /* whose waker the lane holds */
#define SIGNALS (2 * SLOTS + 6)
#define PAY(n) (SIGNALS + (n) % SLOTS)               /* who sent it */
#define RPAY(n) (SIGNALS + SLOTS + (n) % SLOTS)
#define GONE (SIGNALS + 2 * SLOTS)
#define ACK_AT (SIGNALS + 2 * SLOTS + 1)
#define FINAL (SIGNALS + 2 * SLOTS + 2)
#define WORDS (SIGNALS + 2 * SLOTS + 3)
#ifndef DEPTH
#define DEPTH 6
#endif
#include "memory.pml"

/* PORTS_CHANGED: release of the port epoch: a number that increases with every change of the set of ports. */
#ifndef PORTS_CHANGED
#define PORTS_CHANGED REL
#endif
/* REREAD: acquire of the port epoch: a number that increases with every change of the set of ports. */
#ifndef REREAD
#define REREAD ACQ
#endif
/* ACKNOWLEDGE: release of the owner's acknowledgement that nothing of the closed port is left. */
#ifndef ACKNOWLEDGE
#define ACKNOWLEDGE REL
#endif
/* IS_EMPTY: acquire of the owner's acknowledgement that nothing of the closed port is left. */
#ifndef IS_EMPTY
#define IS_EMPTY ACQ
#endif
/* COMMAND: release of the control word, which makes the final count of messages visible. */
#ifndef COMMAND
#define COMMAND REL
#endif
/* OBEY: acquire of the control word, which makes the final count of messages visible. */
#ifndef OBEY
#define OBEY ACQ
#endif

#define A_WAKER 1
#define B_WAKER 2
#define MAY_SEND (truth(ACCEPTED) % 2 == 0)

byte accepted_in_all, handled;
byte lane_sent, gone_epoch, epoch;   /* under the lock, or handed over by it */
bool a_waker_freed, left, over;
hidden byte no_race, close_drains, own_replies, waker_lives, adopted_whole;

inline send(t)
{
/* M_CLOSED_BIT_APART lacks one atomic step for both: check that the input is not closed, and increase the accepted
 * count. */
#ifdef M_CLOSED_BIT_APART
    atomic { load(t, ACCEPTED, RLX); open = sees(t, ACCEPTED) % 2 == 0 };
#endif
    atomic {
        if
#ifdef M_CLOSED_BIT_APART
        :: open ->
#else
        :: MAY_SEND ->
#endif
            change(t, ACCEPTED, truth(ACCEPTED) + 2, RLX, RLX);
            accepted_in_all++;
            claimed = true
        :: else -> closed = true
        fi
    };
    if
    :: claimed ->
        atomic {
            claimed = false;
            store(t, PAY(lane_sent), t + 1, RLX);
            store(t, SEQ(lane_sent), lane_sent + 1, REL);
            lane_sent++;
            sent++
        }
    :: else
    fi
}

proctype first()
{
    byte sent, got;
    bool claimed, closed, open;

    do
    :: sent < NA && !closed -> send(A)
    :: atomic { got < sent && differs(A, RSEQ(got), (got < SLOTS -> 0 : got + 1 - SLOTS)) ->
        poll(A, RSEQ(got), ACQ, (got < SLOTS -> 0 : got + 1 - SLOTS));
        must(own_replies, !news(A, RPAY(got)) && sees(A, RPAY(got)) == A + 1);
        got++ }
    :: sent == NA || closed ->
        /* slri_disconnect, with replies received or not */
        atomic {
            lock(A);
            store(A, GONE, 1, RLX);
            epoch++; gone_epoch = epoch;
            store(A, EPOCH, epoch, PORTS_CHANGED);
            unlock(A)
        };
        break
    od;
    left = true
}

proctype second()
{
    byte sent, got, position;
    bool claimed, closed, open;

    /* find_lane: under the lock, again and again, until there is an end */
    if
    :: over -> goto nothing_to_adopt
    :: atomic { left &&
/* M_ADOPTS_AT_ONCE lacks the new port's wait for the owner's acknowledgement before it uses the lane. */
#if defined(M_ADOPTS_AT_ONCE)
                true ->
        lock(B);
#else
                truth(ACK_EPOCH) >= gone_epoch ->
        lock(B);
        at(B, ACK_EPOCH) = newest[ACK_EPOCH];
        load(B, ACK_EPOCH, IS_EMPTY);
#endif
        /* adopt */
        must(adopted_whole, !news(B, ACK_AT));
        position = sees(B, ACK_AT);
        a_waker_freed = true;
        store(B, WAKER, B_WAKER, REL);
        store(B, GONE, 0, RLX);
        epoch++;
        store(B, EPOCH, epoch, PORTS_CHANGED);
        unlock(B) }
    fi;
    do
    :: sent < NB && !closed -> send(B)
    :: atomic { got < sent && differs(B, RSEQ(position), (position < SLOTS -> 0 : position + 1 - SLOTS)) ->
        poll(B, RSEQ(position), ACQ, (position < SLOTS -> 0 : position + 1 - SLOTS));
        must(own_replies, !news(B, RPAY(position)) && sees(B, RPAY(position)) == B + 1);
        got++; position++ }
    :: got == sent && (sent == NB || closed) -> break
    od;
nothing_to_adopt:
    skip
}

proctype closer()
{
    atomic {
        lock(CLOSER);
        change(CLOSER, ACCEPTED, truth(ACCEPTED) + 1, RLX, RLX);
        store(CLOSER, FINAL, truth(ACCEPTED) / 2, RLX);
        store(CLOSER, CONTROL, 1, COMMAND);
        unlock(CLOSER)
    }
}

proctype owner()
{
    byte next, replies, seen_epoch, waker;
    bool gone, acknowledged, draining, batch, shows;

    do
    :: atomic { differs(OWNER, CONTROL, draining) -> poll(OWNER, CONTROL, OBEY, draining); draining = true }
    :: atomic { differs(OWNER, EPOCH, seen_epoch) ->
        /* mb_reread_ports */
        poll(OWNER, EPOCH, REREAD, seen_epoch); seen_epoch = sees(OWNER, EPOCH);
        load(OWNER, GONE, RLX); gone = sees(OWNER, GONE);
        acknowledged = false }
    :: atomic { gone && !acknowledged ->
        /* mb_acknowledge_gone */
/* M_ACKNOWLEDGES_UNSEEN lacks the owner's check of the lane before it acknowledges that the port is closed. */
#ifdef M_ACKNOWLEDGES_UNSEEN
        shows = false;
#else
        load(OWNER, SEQ(next), ACQ); shows = sees(OWNER, SEQ(next)) == next + 1;
#endif
        if
        :: !shows ->
            store(OWNER, ACK_AT, replies, RLX);
            store(OWNER, ACK_EPOCH, seen_epoch, ACKNOWLEDGE);
            acknowledged = true
        :: else -> shows = false
        fi }
    :: atomic { differs(OWNER, SEQ(next), (next < SLOTS -> 0 : next + 1 - SLOTS)) ->
        poll(OWNER, SEQ(next), ACQ, (next < SLOTS -> 0 : next + 1 - SLOTS));
        must(no_race, !news(OWNER, PAY(next)));
        /* mb_has_room of a closed port: of the message of the next one there is none yet */
/* M_EPOCH_NOT_LOOKED_AT lacks the check of the port epoch before the owner takes a message from the lane of a closed
 * port. */
#ifdef M_EPOCH_NOT_LOOKED_AT
        batch = true;
#else
        if
        :: gone -> load(OWNER, EPOCH, RLX); batch = sees(OWNER, EPOCH) == seen_epoch
        :: else -> batch = true
        fi;
#endif
        if
        :: batch ->
            batch = false;
            next++; handled++;
            if
            :: !gone ->
                store(OWNER, RPAY(replies), sees(OWNER, PAY(next - 1)), RLX);
                store(OWNER, RSEQ(replies), replies + 1, REL);
                replies++
            :: else
            fi;
            waker = 1
        :: else
        fi };
        /* slri_ring_published, behind its fence */
        if
        :: waker ->
            atomic {
                load(OWNER, WAKER, ACQ);
                must(waker_lives, sees(OWNER, WAKER) != A_WAKER || !a_waker_freed);
                waker = 0
            }
        :: else
        fi
/* M_END_WHEN_EMPTY lacks the rule that the owner ends when it has handled the final count of messages, not when the
 * lane is empty. */
#ifdef M_END_WHEN_EMPTY
    :: atomic { draining && !differs(OWNER, SEQ(next), (next < SLOTS -> 0 : next + 1 - SLOTS)) -> break }
#else
    :: atomic { draining && handled == sees(OWNER, FINAL) ->
        must(no_race, !news(OWNER, FINAL));
        break }
#endif
    od;
    atomic { over = true; must(close_drains, handled == accepted_in_all) }
}

init {
    d_step { value[WAKER * DEPTH] = A_WAKER }
    atomic { run first(); run second(); run closer(); run owner() }
}
