/* Two ports, one shard, two priorities: which message is claimed next. The owner goes straight where all that the lanes
 * show is of one priority, and through the pending set elsewhere; the mark that says so is stored before the message
 * and read behind its acquire. Slots are not used again and replies always fit: that is lane.pml's business.
 */
#ifndef N
#define N 2                  /* messages a port */
#endif
#ifndef BATCH
#define BATCH 2
#endif
#define LOW 1
#define HIGH 2
#define MIXED 3              /* marks; 0: nothing was sent */

#define OWNER 2
#define THREADS 3
#define SEQ(p, n) ((p) * N + (n))
#define SIGNALS (2 * N)
#define MARK(p) (SIGNALS + (p))
#define WORDS (SIGNALS + 2)
#define DEPTH 3
#include "memory.pml"

/* PUBLISH: release of a message's sequence number, which orders the mark and the message. */
#ifndef PUBLISH
#define PUBLISH REL
#endif
/* TAKE: acquire of a message's sequence number, which orders the mark and the message. */
#ifndef TAKE
#define TAKE ACQ
#endif

byte urgency[2 * N];        /* by port and position; constant once published */
byte state[2 * N];           /* 0 in the lane, 1 in the pending set, 2 claimed */
bool known[2 * N];           /* the owner's loads have shown it */
byte claimed_in_all;
hidden byte most_urgent, fifo, all_claimed;

proctype port(byte me)
{
    byte sent, mark;

    do
    :: sent == N -> break
    :: else ->
        atomic {
            if :: urgency[SEQ(me, sent)] = LOW :: urgency[SEQ(me, sent)] = HIGH fi;
            if
            :: mark == 0 -> mark = urgency[SEQ(me, sent)]
            :: mark != 0 && mark != urgency[SEQ(me, sent)] -> mark = MIXED
            :: else
            fi;
/* M_MARK_BEHIND_MESSAGE lacks the sender's order: store the mark, then the message. */
#ifdef M_MARK_BEHIND_MESSAGE
            store(me, SEQ(me, sent), 1, PUBLISH);
#endif
            if
            :: sees(me, MARK(me)) != mark -> store(me, MARK(me), mark, RLX)
            :: else
            fi;
#ifndef M_MARK_BEHIND_MESSAGE
            store(me, SEQ(me, sent), 1, PUBLISH);
#endif
            sent++
        }
    od
}

byte p_, n_, m_, run_;

/* How many messages lane p shows from `position` on, into run_. */
inline full_run(p, position)
{
    run_ = 0;
    do
    :: position + run_ < N ->
        load(OWNER, SEQ(p, position + run_), TAKE);
        if
        :: sees(OWNER, SEQ(p, position + run_)) -> run_++
        :: else -> break
        fi
    :: else -> break
    od
}

inline note_run(p, position)
{
    d_step {
        m_ = 0;
        do
        :: m_ < run_ -> known[SEQ(p, position + m_)] = true; m_++
        :: else -> break
        od;
        m_ = 0
    }
}

/* Claims message m. None that the owner knows is more urgent, and none of its port and priority is before it. */
inline claim(m)
{
    d_step {
        m_ = 0;
        do
        :: m_ < 2 * N ->
            must(most_urgent, !known[m_] || state[m_] == 2 || urgency[m_] <= urgency[m]);
            must(fifo, m_ / N != (m) / N || m_ >= (m) || state[m_] == 2 || urgency[m_] != urgency[m]);
            m_++
        :: else -> break
        od;
        m_ = 0;
        must(fifo, state[m] != 2);
        state[m] = 2;
        claimed_in_all++;
        batch++
    }
}

proctype owner()
{
    byte next[2], waiting, turn, batch, common, mark;

    do
    :: claimed_in_all == 2 * N -> break
    :: (next[0] < N && differs(OWNER, SEQ(0, next[0]), 0)) || (next[1] < N && differs(OWNER, SEQ(1, next[1]), 0)) ||
       waiting > 0 ->
        /* mb_look: whether the first message of each lane is of one and the same priority */
        atomic {
            common = 0;
            p_ = 0;
            do
            :: p_ < 2 && waiting == 0 ->
/* M_MARK_READ_FIRST lacks the owner's order: load the message, then the mark. */
#ifdef M_MARK_READ_FIRST
                load(OWNER, MARK(p_), RLX);
                mark = sees(OWNER, MARK(p_));
#endif
                if
                :: next[p_] < N ->
                    load(OWNER, SEQ(p_, next[p_]), TAKE);
                    if
                    :: sees(OWNER, SEQ(p_, next[p_])) ->
                        known[SEQ(p_, next[p_])] = true;
#ifndef M_MARK_READ_FIRST
                        load(OWNER, MARK(p_), RLX);
                        mark = sees(OWNER, MARK(p_));
#endif
                        if
                        :: mark == MIXED || (common != 0 && mark != common) -> common = MIXED
                        :: else -> common = mark
                        fi
                    :: else
                    fi
                :: else
                fi;
                p_++
            :: else -> break
            od;
            mark = 0; p_ = 0
        }
        if
        :: waiting == 0 && common != 0 && common != MIXED ->
            /* straight from the lanes, a run a port */
            p_ = 0;
            do
            :: p_ < 2 && batch < BATCH -> atomic {
#ifdef M_MARK_READ_FIRST
                load(OWNER, MARK((turn + p_) % 2), RLX);
                mark = sees(OWNER, MARK((turn + p_) % 2));
#endif
                full_run((turn + p_) % 2, next[(turn + p_) % 2]);
#ifndef M_MARK_READ_FIRST
                load(OWNER, MARK((turn + p_) % 2), RLX);
                mark = sees(OWNER, MARK((turn + p_) % 2));
#endif
                if
/* M_MARK_READ_ONCE lacks the owner's second read of the mark, after it has read all messages of the lane that it will
 * claim. */
#if defined(M_MARK_READ_ONCE)
                :: false -> skip
/* M_ANY_PURE_LANE lacks the comparison of this mark with the one mark that all lanes had in common when the owner polled
 * them. */
#elif defined(M_ANY_PURE_LANE)
                :: mark == MIXED -> run_ = 0
#else
                :: mark != common -> run_ = 0
#endif
                :: else
                fi;
                note_run((turn + p_) % 2, next[(turn + p_) % 2]);
                do
                :: run_ > 0 && batch < BATCH ->
                    n_ = SEQ((turn + p_) % 2, next[(turn + p_) % 2]);
                    claim(n_);
                    next[(turn + p_) % 2]++;
                    run_--
                :: else -> break
                od;
                run_ = 0; n_ = 0; mark = 0;
                p_++ }
            :: else -> break
            od;
            atomic { p_ = 0; batch = 0; common = 0; turn = 1 - turn }
        :: else ->
            /* all that the lanes show into the pending set, a lane at a time; then the highest first */
            p_ = 0;
            do
            :: p_ < 2 && (waiting > 0 || common == MIXED) -> atomic {
                full_run(p_, next[p_]);
                note_run(p_, next[p_]);
                do
                :: run_ > 0 -> state[SEQ(p_, next[p_])] = 1; next[p_]++; waiting++; run_--
                :: else -> break
                od;
                p_++ }
            :: else -> break
            od;
            atomic {
                do
                :: batch < BATCH && waiting > 0 ->
                    /* the earliest of the highest priority, beginning with the port whose turn it is */
                    n_ = 2 * N;
                    p_ = 0;
                    do
                    :: p_ < 2 * N ->
                        m_ = (p_ + turn * N) % (2 * N);
                        if
/* M_FIRST_COME lacks the choice of the message with the highest priority. */
#ifdef M_FIRST_COME
                        :: state[m_] == 1 && n_ == 2 * N -> n_ = m_
#else
                        :: state[m_] == 1 && (n_ == 2 * N || urgency[m_] > urgency[n_]) -> n_ = m_
#endif
                        :: else
                        fi;
                        p_++
                    :: else -> break
                    od;
                    claim(n_);
                    waiting--
                :: else -> break
                od;
                p_ = 0; n_ = 0; m_ = 0; batch = 0; common = 0; turn = 1 - turn
            }
        fi
    od;
    must(all_claimed, waiting == 0 && next[0] == N && next[1] == N)
}

init { atomic { run port(0); run port(1); run owner() } }
