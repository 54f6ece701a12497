/* Two ports of one ring kernel share its credits: the accepted count (compare-and-swap), the shards' retired counts, and
 * the cached sum of those, through which a port gets credits that another has looked up. With SHARDS=2 each port's
 * messages alternate between the shards. Payloads, replies and commands are lane.pml's business; eviction is nobody's
 * yet. Why a credit implies a free slot stands in the header of mailbox.h: here it is tried.
 */
#ifndef SHARDS
#define SHARDS 1
#endif
#ifndef CAP
#define CAP 2
#endif
/* A mutant is SLOTS=1 CAP=2: a lane has fewer slots than the mailbox has capacity. */
#ifndef SLOTS
#define SLOTS CAP
#endif
#ifndef NA
#define NA 3                 /* messages of the first port, of the second */
#endif
#ifndef NB
#define NB 2
#endif
#ifndef COUNTS
#define COUNTS 16            /* stands for 2^31 */
#endif
#define START (COUNTS - 2)   /* messages that have gone before: the counts wrap soon */

#define OWNER(s) (2 + (s))
#define THREADS (2 + SHARDS)
#define LANES (2 * SHARDS * SLOTS)
#define ACCEPTED 0
#define CACHE 1
#define RET(s) (2 + (s))
#define SEQ(p, s, n) (2 + SHARDS + ((p) * SHARDS + (s)) * SLOTS + (n) % SLOTS)
#define SIGNALS (2 + SHARDS + LANES)
#define MARK(p, s, n) (SEQ(p, s, n) + LANES)           /* ghost: how many the owner has taken from that slot */
#define WORDS (SIGNALS + LANES)
#ifndef DEPTH
#define DEPTH 6
#endif
#include "memory.pml"

/* PUBLISH: release of a message's sequence number: without them a sender sees an old accepted count, and the mailbox
 * seems full. */
#ifndef PUBLISH
#define PUBLISH REL
#endif
/* TAKE: acquire of a message's sequence number: without them a sender sees an old accepted count, and the mailbox
 * seems full. */
#ifndef TAKE
#define TAKE ACQ
#endif
/* RETIRE: release of the retired count. */
#ifndef RETIRE
#define RETIRE REL
#endif
/* CREDIT: acquire of the retired count. */
#ifndef CREDIT
#define CREDIT ACQ
#endif
/* NOTE: release of the cached count. */
#ifndef NOTE
#define NOTE REL
#endif
/* CACHED: acquire of the cached count. */
#ifndef CACHED
#define CACHED ACQ
#endif

#if SHARDS > 1
#define RETIRED_SUM ((sees(me, RET(0)) + sees(me, RET(1))) % COUNTS)
#else
#define RETIRED_SUM sees(me, RET(0))
#endif
#define less(a, b) (((a) + COUNTS - (b)) % COUNTS)
#define sent_to(n, s) (((n) + SHARDS - 1 - (s)) / SHARDS)   /* of n messages that alternate, those to shard s */

byte accepted_in_all = START, retired_in_all = START, cached_in_all = START;     /* the truth */
hidden byte capacity_exact, no_overwrite, full_is_full, cache_forward, fifo, all_retired;

proctype port(byte me; byte messages)
{
    byte sent, accepted, cached, retired, used, s, n;
    bool waits;

    do
    :: sent == messages -> break
    :: else ->
        /* mb_claim: loads. A port that was refused looks again when there is something new. */
        atomic {
            !waits || news(me, CACHE) || news(me, RET(0)) || news(me, RET(SHARDS - 1));
            waits = false;
            load(me, ACCEPTED, RLX); accepted = sees(me, ACCEPTED);
            load(me, CACHE, CACHED); cached = sees(me, CACHE);
            used = less(accepted, cached);
            if
            :: used + 1 > CAP ->
                load(me, RET(0), CREDIT); retired = sees(me, RET(0));
#if SHARDS > 1
                load(me, RET(1), CREDIT); retired = (retired + sees(me, RET(1))) % COUNTS;
#endif
                used = less(accepted, retired)
            :: else -> retired = cached
            fi
        }
        if
/* M_NOTE_BY_WINDOW lacks the check that the cached count is still the one that the sender read, before the sender
 * replaces it. */
#ifdef M_NOTE_BY_WINDOW
        :: true ->
#else
        :: retired != cached ->
#endif
            atomic {
#ifdef M_NOTE_BY_WINDOW
                /* compared with what is there now, modulo: a value older than half the counts seems newer */
                if
                :: less(retired, truth(CACHE)) != 0 && less(retired, truth(CACHE)) < COUNTS / 2 ->
                    change(me, CACHE, retired, RLX, NOTE)
                :: else
                fi;
#else
                /* moved from what this port had found there; else another has moved it */
                if
                :: truth(CACHE) == cached -> change(me, CACHE, retired, RLX, NOTE)
                :: else
                fi;
#endif
                /* Never backwards, never ahead of the truth. */
                must(cache_forward, less(truth(CACHE), cached_in_all % COUNTS) <= retired_in_all - cached_in_all);
                cached_in_all = cached_in_all + less(truth(CACHE), cached_in_all % COUNTS);
            }
        :: else
        fi;
        if
/* M_STALE_IS_FREE lacks the check for an accepted count that is older than the retired count. */
#ifdef M_STALE_IS_FREE
        :: used != CAP ->
#else
        :: used < CAP ->
#endif
            atomic {
                cached = 0; retired = 0; used = 0;
                if
/* M_CLAIM_IN_TWO_STEPS lacks the compare-and-swap that claims a credit: load and store are two steps. */
#ifdef M_CLAIM_IN_TWO_STEPS
                :: true ->
#else
                :: truth(ACCEPTED) == accepted ->
#endif
                    change(me, ACCEPTED, (accepted + 1) % COUNTS, RLX, RLX);
                    accepted_in_all++;
                    must(capacity_exact, accepted_in_all - retired_in_all <= CAP);
                    s = sent % SHARDS; n = sent / SHARDS;
                    must(no_overwrite, n < SLOTS || (!news(me, MARK(me, s, n)) && sees(me, MARK(me, s, n)) == n / SLOTS));
                    store(me, SEQ(me, s, n), n + 1, PUBLISH);
                    s = 0; n = 0;
                    sent++
                :: else
                fi;
                accepted = 0
            }
        :: else ->
            atomic {
                load(me, ACCEPTED, RLX);
                if
                :: sees(me, ACCEPTED) == accepted ->
                    /* Not because the accepted count was older than the retired one. */
                    must(full_is_full, used < COUNTS / 2 || NA + NB >= COUNTS / 2);
                    /* An acquire may have brought more than this look has counted. */
                    waits = retired == RETIRED_SUM && sees(me, CACHE) == cached
                :: else
                fi;
                accepted = 0; cached = 0; retired = 0; used = 0
            }
        fi
    od
}

#define shown(taken) ((taken) < SLOTS -> 0 : (taken) + 1 - SLOTS)   /* by that slot, one lap before */

inline take(s, p, taken)
{
    store(OWNER(s), MARK(p, s, taken), taken / SLOTS + 1, RLX);
    taken++
}

proctype owner(byte s)
{
    byte taken_a, taken_b, retired = sent_to(START, s);

    do
    :: atomic { differs(OWNER(s), SEQ(0, s, taken_a), shown(taken_a)) ->
        poll(OWNER(s), SEQ(0, s, taken_a), TAKE, shown(taken_a));
        must(fifo, sees(OWNER(s), SEQ(0, s, taken_a)) == taken_a + 1);
        take(s, 0, taken_a) }
    :: atomic { differs(OWNER(s), SEQ(1, s, taken_b), shown(taken_b)) ->
        poll(OWNER(s), SEQ(1, s, taken_b), TAKE, shown(taken_b));
        must(fifo, sees(OWNER(s), SEQ(1, s, taken_b)) == taken_b + 1);
        take(s, 1, taken_b) }
    :: atomic { taken_a + taken_b > retired - sent_to(START, s) ->
        retired++; retired_in_all++;
        store(OWNER(s), RET(s), retired % COUNTS, RETIRE) }
    :: atomic { taken_a == sent_to(NA, s) && taken_b == sent_to(NB, s) &&
                retired == sent_to(START, s) + taken_a + taken_b -> break }
    od
}

init {
    d_step {
        value[ACCEPTED * DEPTH] = START % COUNTS;
        value[CACHE * DEPTH] = START % COUNTS;
        value[RET(0) * DEPTH] = sent_to(START, 0);
        value[RET(SHARDS - 1) * DEPTH] = sent_to(START, SHARDS - 1)
    }
    atomic {
        run port(0, NA); run port(1, NB); run owner(0);
#if SHARDS > 1
        run owner(1)
#endif
    }
}
