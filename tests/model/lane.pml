/* One port and one shard: credits, a batch's way through the lane, replies, commands, the end.
 * Sender and controller are one thread here; close.pml takes them apart. As in mailbox.h: positions and counts wrap, a
 * batch is published with its first slot last, credits come from a cached count first, room for all replies of a batch
 * is reserved before it is taken, and the end is at the final count.
 */
#ifndef N
#define N 3                  /* messages at most */
#endif
#ifndef CAP
#define CAP 2
#endif
#ifndef PAUSES
#define PAUSES 1
#endif
#ifndef STOPS
#define STOPS 1
#endif
#define SLOTS 2              /* of both lanes; at least CAP */
#define BATCH 2
#define POSITIONS 4          /* stands for 2^32 */
#define COUNTS 8             /* stands for 2^31 */
#define START 6              /* messages that have gone before: both wrap soon */

#define HOST 0
#define DEV 1
#define THREADS 2
#define SEQ(p) ((p) % SLOTS)
#define RSEQ(p) (SLOTS + (p) % SLOTS)
#define CTL (2 * SLOTS)
#define READ (2 * SLOTS + 1)
#define ANS (2 * SLOTS + 2)
#define RET (2 * SLOTS + 3)
#define SIGNALS (2 * SLOTS + 4)
#define PAY(p) (SIGNALS + (p) % SLOTS)
#define RPAY(p) (SIGNALS + SLOTS + (p) % SLOTS)
#define PAY_MARK(p) (SIGNALS + 2 * SLOTS + (p) % SLOTS)     /* ghosts: what the reader has read of that slot */
#define RPAY_MARK(p) (SIGNALS + 3 * SLOTS + (p) % SLOTS)
#define FINAL (SIGNALS + 4 * SLOTS)
#define WORDS (SIGNALS + 4 * SLOTS + 1)
#ifndef DEPTH
#define DEPTH 6
#endif
#include "memory.pml"

/* The orders of the protocol. Each weakened one is a mutant. */
/* PUBLISH: release of a message's sequence number. */
#ifndef PUBLISH
#define PUBLISH REL
#endif
/* TAKE: acquire of a message's sequence number. */
#ifndef TAKE
#define TAKE ACQ
#endif
/* REPLY: release of a reply's sequence number. */
#ifndef REPLY
#define REPLY REL
#endif
/* RECEIVE: acquire of a reply's sequence number. */
#ifndef RECEIVE
#define RECEIVE ACQ
#endif
/* RETIRE: release of the retired count. */
#ifndef RETIRE
#define RETIRE REL
#endif
/* CREDIT: acquire of the retired count. */
#ifndef CREDIT
#define CREDIT ACQ
#endif
/* RETURN: release of the port's count of replies that it has read. */
#ifndef RETURN
#define RETURN REL
#endif
/* ROOM: acquire of the port's count of replies that it has read. */
#ifndef ROOM
#define ROOM ACQ
#endif
/* COMMAND: release of the control word, which makes the final count of messages visible. */
#ifndef COMMAND
#define COMMAND REL
#endif
/* OBEY: acquire of the control word, which makes the final count of messages visible. */
#ifndef OBEY
#define OBEY ACQ
#endif
/* ANSWER: release of the owner's answer to a command. */
#ifndef ANSWER
#define ANSWER REL
#endif
/* AWAIT: acquire of the owner's answer to a command. */
#ifndef AWAIT
#define AWAIT ACQ
#endif

/* M_NO_LAP lacks the number of the lap (of the pass over the lane's slots) in a sequence number. */
#ifdef M_NO_LAP
#define full(p) 1
#else
#define full(p) (((p) + 1) % POSITIONS)
#endif

/* M_NO_CREDIT lacks the claim of a credit before each send. */
#ifdef M_NO_CREDIT
#define USED 0
#else
#define USED ((accepted + COUNTS - seen) % COUNTS)
#endif
/* M_CREDIT_OFF_BY_ONE lacks the exact limit of credits: this mutant allows one credit too many. */
#ifdef M_CREDIT_OFF_BY_ONE
#define LIMIT (CAP + 1)
#else
#define LIMIT CAP
#endif

/* M_NO_ROOM lacks the check that there is room for a reply. */
#ifdef M_NO_ROOM
#define room(more) true
#else
#define room(more) ((replies + (more) + 2 * POSITIONS - sees(DEV, READ)) % POSITIONS <= SLOTS)
#endif
/* M_ROOM_NOT_RESERVED lacks the part of the check for room that counts the room reserved for other messages of the batch. */
#ifdef M_ROOM_NOT_RESERVED
#define reserved 0
#else
#define reserved batch
#endif

#define RUN 0
#define PAUSE 1
#define CLOSE 2
#define STOP 3
#define OVER 63              /* an answer: ended or stopped */
/* M_ANSWER_WITHOUT_NUMBER lacks the command's number in the owner's answer to it. */
#ifdef M_ANSWER_WITHOUT_NUMBER
#define answer_to(control) ((control) % 4)
#else
#define answer_to(control) (control)
#endif

byte handled = START;        /* the truth, for properties alone */
bool held;                   /* the host was told that the shard is paused */
bool handling;
byte k_;
hidden byte no_race, fifo, no_overwrite, capacity_exact, credit_shows_reply, no_loss, accounted, close_drains;
hidden byte paused_is_paused;

/* Message t, counted from 0, into a slot. `mark` is its reader's. */
inline fill(writer, pay, mark, t)
{
    d_step { must(no_overwrite, !news(writer, mark) && sees(writer, mark) == (t) + 1 - SLOTS) }
    store(writer, pay, (t) + 1, RLX)
}

inline use(reader, pay, mark, t)
{
    d_step {
        must(no_race, !news(reader, pay));
        must(fifo, sees(reader, pay) == (t) + 1)
    }
    store(reader, mark, (t) + 1, RLX)
}

inline command_to(c)
{
    command = c; number++; held = false;
    store(HOST, CTL, number * 4 + c, COMMAND)
}

proctype host()
{
    byte sent = START, got = START, accepted = START, seen = START, granted, number, pauses, answer, command = RUN;
    bool over, lazy, nothing;

    do
    :: atomic { command <= PAUSE && sent < START + N && (USED < LIMIT || differs(HOST, RET, seen)) ->
        if :: granted = 1 :: sent + 2 <= START + N && CAP >= 2 -> granted = 2 fi;
        if
        :: USED + granted > LIMIT ->
            load(HOST, RET, CREDIT);
            seen = sees(HOST, RET);
            /* Then the replies of what was retired can be had: the last one's, and so all before it. */
            must(credit_shows_reply, seen == got % COUNTS || (got + COUNTS - seen) % COUNTS < COUNTS / 2 ||
                                     sees(HOST, RSEQ(seen + COUNTS - 1)) == full((seen + COUNTS - 1)))
        :: else
        fi;
        if
        :: USED + granted > LIMIT -> granted = (USED < LIMIT -> LIMIT - USED : 0)
        :: else
        fi;
        must(capacity_exact, granted == 0 || sent + granted <= handled + CAP);
        k_ = 0;
        do
        :: k_ < granted -> fill(HOST, PAY(sent + k_), PAY_MARK(sent + k_), sent + k_); k_++
        :: else -> break
        od;
        do
        :: k_ > 0 -> k_--; store(HOST, SEQ(sent + k_), full(sent + k_), PUBLISH)
        :: else -> break
        od;
        sent = sent + granted; accepted = (accepted + granted) % COUNTS; granted = 0 }
    :: atomic { !(lazy && !over) && got < START + N && news(HOST, RSEQ(got)) ->
        poll(HOST, RSEQ(got), RECEIVE, sees(HOST, RSEQ(got))) }
    :: atomic { !(lazy && !over) && got < START + N && sees(HOST, RSEQ(got)) == full(got) ->
        use(HOST, RPAY(got), RPAY_MARK(got), got);
        got++;
        store(HOST, READ, got % POSITIONS, RETURN) }
    :: atomic { command == RUN && pauses < PAUSES -> pauses++; command_to(PAUSE) }
    :: atomic { command == PAUSE -> command_to(RUN) }
    :: atomic { command <= PAUSE ->
        store(HOST, FINAL, accepted, RLX);
        command_to(CLOSE);
        if :: lazy = true :: skip fi }                 /* an owner that receives nothing until the end */
    :: atomic { command == CLOSE && STOPS > 0 -> command_to(STOP) }
    :: atomic { !over && differs(HOST, ANS, answer) ->
/* M_LANES_BEFORE_END lacks the order: the receiver reads that the ring kernel has ended, then reads the reply lanes.
 * */
#ifdef M_LANES_BEFORE_END
        nothing = sees(HOST, RSEQ(got)) != full(got);
#endif
        poll(HOST, ANS, AWAIT, answer); answer = sees(HOST, ANS);
        over = answer == OVER;
        if
        :: over && nothing -> break
        :: else -> nothing = false
        fi }
    :: atomic { command == PAUSE && !held && answer == answer_to(number * 4 + PAUSE) ->
        held = true;
        /* What the handlers wrote can be read, and none is running. */
        must(paused_is_paused, !handling && !news(HOST, RPAY(0)) && !news(HOST, RPAY(1))) }
    :: atomic { over && sees(HOST, RSEQ(got)) != full(got) -> break }
    :: atomic { over && got == START + N -> break }
    od;
    atomic {
        must(no_loss, got == handled);
        granted = (accepted + COUNTS - sees(HOST, RET)) % COUNTS;      /* handed back */
        must(accounted, sent == handled + granted);
        must(close_drains, command == STOP || granted == 0);
        granted = 0; seen = 0
    }
}

proctype device()
{
    byte position = START, replies = START, batch, control;
    bool paused;

    do
    :: atomic { differs(DEV, CTL, control) ->
        poll(DEV, CTL, OBEY, control); control = sees(DEV, CTL);
/* M_CLOSE_KEEPS_PAUSE lacks the rule that the command close ends a pause. */
#ifdef M_CLOSE_KEEPS_PAUSE
        paused = control % 4 == PAUSE || (paused && control % 4 == CLOSE);
#else
        paused = control % 4 == PAUSE;
#endif
        if
        :: control % 4 == STOP -> store(DEV, ANS, OVER, ANSWER); break
        :: else -> store(DEV, ANS, answer_to(control), ANSWER)
        fi }
    :: atomic { news(DEV, SEQ(position)) ->
        poll(DEV, SEQ(position), TAKE, sees(DEV, SEQ(position))) }
    :: atomic { news(DEV, READ) && !room(1) ->
        poll(DEV, READ, ROOM, sees(DEV, READ)) }
    :: atomic { !paused && sees(DEV, SEQ(position)) == full(position) && room(1) ->
        /* Takes a batch and handles it. */
        must(paused_is_paused, !held);
        handling = true;
        batch = 1;
        do
        :: batch < BATCH && differs(DEV, CTL, control) -> break     /* cut at a command: the rest waits */
        :: batch < BATCH ->
            load(DEV, SEQ(position + batch), TAKE);
            if
            :: sees(DEV, SEQ(position + batch)) == full(position + batch) && room(reserved + 1) -> batch++
            :: else -> break
            fi
        :: else -> break
        od;
        k_ = 0;
        do
        :: k_ < batch ->
            use(DEV, PAY(position + k_), PAY_MARK(position + k_), position + k_);
            fill(DEV, RPAY(replies + k_), RPAY_MARK(replies + k_), replies + k_);
            k_++
        :: else -> break
        od;
        k_ = 0 }
/* M_RETIRE_BEFORE_REPLY lacks the order: publish replies, then return credits. */
#ifdef M_RETIRE_BEFORE_REPLY
        atomic { store(DEV, RET, (position + batch) % COUNTS, RETIRE); handled = handled + batch }
#endif
        atomic {
            k_ = batch;
            do
            :: k_ > 0 -> k_--; store(DEV, RSEQ(replies + k_), full(replies + k_), REPLY)
            :: else -> break
            od;
            position = position + batch; replies = replies + batch;
#ifndef M_RETIRE_BEFORE_REPLY
            handled = handled + batch;
            store(DEV, RET, position % COUNTS, RETIRE);
#endif
            batch = 0;
            handling = false }
    :: atomic { control % 4 == CLOSE && position % COUNTS == sees(DEV, FINAL) ->
        must(no_race, !news(DEV, FINAL));
        store(DEV, ANS, OVER, ANSWER);
        break }
    od
}

#define begin(x, val) value[(x) * DEPTH] = val
init {
    d_step {
        do
        :: k_ < SLOTS ->
            begin(SEQ(START + k_), full(START + k_ + POSITIONS - SLOTS));
            begin(RSEQ(START + k_), full(START + k_ + POSITIONS - SLOTS));
            begin(PAY_MARK(START + k_), START + k_ + 1 - SLOTS);
            begin(RPAY_MARK(START + k_), START + k_ + 1 - SLOTS);
            k_++
        :: else -> break
        od;
        begin(READ, START % POSITIONS);
        begin(RET, START % COUNTS);
        begin(FINAL, START % COUNTS);    /* as in a new mailbox, where both are 0 */
        k_ = 0
    }
    atomic { run host(); run device() }
}
