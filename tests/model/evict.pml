/* Two ports, two shards that drop: which messages are evicted, and how many. The first port sends a message to each shard, the
 * second one to the first; an owner takes what its lanes show, adds it to the one count of what waits, cuts what is too much, and evicts that many
 * of its own; then it may take one to handle. Credits are not in it: ports.pml has them.
 */
#ifndef KEEP
#define KEEP 1
#endif
#ifdef LOWEST
#define TALL 2               /* messages that are of the higher priority, at most */
#else
#define TALL 0               /* it is not looked at, but by who takes one to handle */
#endif
#define M 3                  /* message m: of port m / 2, to shard m % 2 */
#define OWNER(s) (2 + (s))
#define THREADS 4
#define SEQ(m) (m)
#define SIGNALS M
#define PAYLOAD(m) (M + (m)) /* priority, and the place in the order of acceptance */
#define WORDS (2 * M)
#define DEPTH 2
#include "memory.pml"

/* PUBLISH: release of a message's sequence number, which makes visible the message's priority and its number in the
 * order of acceptance. */
#ifndef PUBLISH
#define PUBLISH REL
#endif
/* TAKE: acquire of a message's sequence number, which makes visible the message's priority and its number in the order
 * of acceptance. */
#ifndef TAKE
#define TAKE ACQ
#endif
#define IN_LANE 0
#define WAITS 1
#define BEGUN 2
#define DROPPED 3

byte accepted, kept;         /* words that are changed by read-modify-write alone, and publish nothing */
byte ticket[M], tall[M], highs;
byte state[M];
byte mine[2];                /* that wait in the pending set of each shard */
byte condemned;              /* cut from the count, not yet evicted */
hidden byte no_race, the_right_one, no_more_than_excess, keeps_exactly, once;

proctype port(byte me)
{
    byte n;

    do
    :: n == 2 - me -> break
    :: else ->
        /* the credit, and with it the place in the order of all ports */
        atomic { ticket[me * 2 + n] = accepted; accepted++ };
        atomic {
            if
            :: tall[me * 2 + n] = 0
            :: highs < TALL -> highs++; tall[me * 2 + n] = 1
            fi;
            store(me, PAYLOAD(me * 2 + n), 1, RLX);
            store(me, SEQ(me * 2 + n), 1, PUBLISH);
            n++
        }
    od
}

#define ours(m) ((m) % 2 == me)
#define all_waiting ((state[0] == WAITS) + (state[1] == WAITS) + (state[2] == WAITS))

/* Whether message a goes before b, of those that wait here. */
#ifdef LOWEST
#define goes_before(a, b) (tall[a] < tall[b] || (tall[a] == tall[b] && ticket[a] < ticket[b]))
#else
#define goes_before(a, b) (ticket[a] < ticket[b])
#endif

inline evict()
{
    d_step {
        v = M;
        m = 0;
        do
        :: m < M ->
            if
/* M_FIRST_PORT_FIRST lacks the common order of the messages of all ports: this mutant drops the first port's messages
 * first. */
#ifdef M_FIRST_PORT_FIRST
            :: ours(m) && state[m] == WAITS && v == M -> v = m
#else
            :: ours(m) && state[m] == WAITS && (v == M || goes_before(m, v)) -> v = m
#endif
            :: else
            fi;
            m++
        :: else -> break
        od;
        must(once, v < M);
        m = 0;
        do
        :: m < M ->
            must(the_right_one, m == v || !ours(m) || state[m] != WAITS || !goes_before(m, v));
            m++
        :: else -> break
        od;
        m = 0;
        state[v] = DROPPED;
        mine[me]--;
        condemned--;
        v = 0
    }
}

proctype owner(byte me)
{
    byte m, v, taken, excess, seen, gone;

    do
    :: gone == 2 - me && taken == 0 && (mine[me] == 0 || (seen == 0 && excess == 0)) -> break
    /* mb_take_all: a lane at a time */
    :: gone < 2 - me && (differs(OWNER(me), SEQ(me), 0) || (me == 0 && differs(OWNER(0), SEQ(2), 0))) ->
        m = me;
        do
        :: m < M -> atomic {
            if
            :: state[m] == IN_LANE -> load(OWNER(me), SEQ(m), TAKE)
            :: else
            fi;
            if
            :: state[m] == IN_LANE && sees(OWNER(me), SEQ(m)) ->
                must(no_race, !news(OWNER(me), PAYLOAD(m)));
                state[m] = WAITS; mine[me]++; taken++; gone++
            :: else
            fi;
            m = m + 2 }
        :: else -> break
        od;
        m = 0;
        if
        :: taken > 0 ->
/* M_TWO_SUMS lacks the single atomic addition by which an owner adds its messages to the shared count and gets the
 * sum that decides how many to drop. */
#ifdef M_TWO_SUMS
            /* looks at the other's share before it shows its own */
            atomic { seen = kept + taken };
            atomic { kept = kept + taken };
#else
            atomic { kept = kept + taken; seen = kept };
#endif
            taken = 0;
            do
            :: atomic {
                    excess = (seen > KEEP -> seen - KEEP : 0);
                    excess = (excess < mine[me] -> excess : mine[me]);
                    if
                    :: excess == 0 -> break
                    :: else
                    fi
                };
                atomic {
                    if
/* M_CUTS_BLINDLY lacks the compare-and-swap that reduces the shared count. */
#ifndef M_CUTS_BLINDLY
                    :: seen != kept -> seen = kept         /* the compare-and-swap fails */
                    :: seen == kept ->
#else
                    :: true ->
#endif
                        kept = kept - excess;
                        condemned = condemned + excess;
                        must(no_more_than_excess, all_waiting >= KEEP + condemned);
                        break
                    fi
                }
            od;
            do
            :: excess > 0 -> evict(); excess--
            :: else -> break
            od;
            seen = 0
        :: else
        fi
    /* mb_claim_one: the highest priority, then the earliest */
    :: atomic { mine[me] > 0 && taken == 0 ->
            v = M;
            m = 0;
            do
            :: m < M ->
                if
                :: ours(m) && state[m] == WAITS && (v == M || tall[m] > tall[v] ||
                                                    (tall[m] == tall[v] && ticket[m] < ticket[v])) -> v = m
                :: else
                fi;
                m++
            :: else -> break
            od;
            mine[me]-- };
        atomic {
            must(once, state[v] == WAITS);
            state[v] = BEGUN;
/* M_BEGUN_STILL_COUNTS lacks the rule that a message no longer counts as waiting when its handler begins. */
#ifndef M_BEGUN_STILL_COUNTS
            kept--;
#endif
            m = 0; v = 0
        }
    od
}

/* When all have looked, no more wait than are to be kept, and the count says how many. */
init {
    atomic { run port(0); run port(1); run owner(0); run owner(1) };
    atomic {
        _nr_pr == 1 ->
        must(keeps_exactly, all_waiting <= KEEP && kept == all_waiting);
        must(once, accepted == M && state[0] != IN_LANE && state[1] != IN_LANE && state[2] != IN_LANE)
    }
}
