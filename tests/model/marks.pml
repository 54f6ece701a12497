/* The marks of connections (src/ring/marks.c): two owners publish replies for one port, in two connections. A publishes in
 * the first, B in the first and then in the second. Whoever has published marks: who changes the mark from 0 to 1 pushes the
 * connection on the stack. The port, which begins to use marks while they publish, takes the stack, clears each mark,
 * looks into the connection until it has run empty, and sleeps when no connection has its turn.
 * A reply that nobody comes for is a run that stops short: an invalid end state.
 * That the port has read a link is a mark, too (READ): who writes it next must see that.
 */
#ifndef NA
#define NA 1                 /* replies of A; of B in the first connection, and in the second */
#endif
#ifndef NB
#define NB 1
#endif
#ifndef NC
#define NC 1
#endif

#define A 0
#define B 1
#define PORT 2
#define THREADS 3
#define REPLIES(r) (r)       /* of A; of B, in the first connection; in the second */
#define MARK(c) (3 + (c))
#define STACK 5              /* 1 + a connection; 0: nothing on it */
#define MARKING 6
#define WAITING 7            /* the port's announcement */
#define SIGNALS 8
#define NEXT(c) (8 + (c))    /* the connection's link, plain: 1 + the next; 0: none */
#define READ(c) (10 + (c))
#define WORDS 12
#ifndef DEPTH
#define DEPTH 12
#endif
#include "memory.pml"

/* M_NO_FENCE_OWNER lacks an owner's full fence between publishing a reply and the check of the mark. */
#ifdef M_NO_FENCE_OWNER
#define owner_fence(t) skip
#else
#define owner_fence(t) fence(t)
#endif
/* M_NO_FENCE_PUSH lacks an owner's full fence between pushing the connection and the check whether the port sleeps. */
#ifdef M_NO_FENCE_PUSH
#define push_fence(t) skip
#else
#define push_fence(t) fence(t)
#endif
/* M_NO_FENCE_CLEAR lacks the port's full fence between clearing the mark and the check for replies. */
#ifdef M_NO_FENCE_CLEAR
#define clear_fence(t) skip
#else
#define clear_fence(t) fence(t)
#endif
/* M_NO_FENCE_BEGIN lacks the port's full fence after it announces that it uses marks. */
#ifdef M_NO_FENCE_BEGIN
#define begin_fence(t) skip
#else
#define begin_fence(t) fence(t)
#endif
/* M_NO_FENCE_PARK lacks the port's full fence after it announces sleep. */
#ifdef M_NO_FENCE_PARK
#define park_fence(t) skip
#else
#define park_fence(t) fence(t)
#endif
/* SET: acquire of the mark, when an owner sets it. */
#ifndef SET
#define SET ACQ
#endif
/* PUSH: release of the stack of marked connections. */
#ifndef PUSH
#define PUSH REL
#endif
/* TAKE: acquire of the stack of marked connections. */
#ifndef TAKE
#define TAKE ACQ
#endif
/* CLEAR: release of the mark, when the port clears it. */
#ifndef CLEAR
#define CLEAR REL
#endif

bool stacked[2], ready[2];   /* the first is a ghost */
byte reads[2];               /* likewise: how often links were read */
bool port_sleeps;
hidden byte in_one_place, link_is_whole, no_race;

/* slri_lane_tell, behind a fence. */
inline tell(t, c)
{
    atomic {
        load(t, MARKING, RLX);
        pushes = false;
        if
        :: sees(t, MARKING) ->
            load(t, MARK(c), RLX);
            pushes = !sees(t, MARK(c))
        :: else
        fi
    };
    if
    :: pushes ->
        atomic {
/* M_EVERYBODY_PUSHES lacks the exchange that lets only the owner that changes the mark from 0 to 1 push the
 * connection. */
#ifdef M_EVERYBODY_PUSHES
            pushes = true;
#else
            pushes = !truth(MARK(c));
#endif
            change(t, MARK(c), 1, SET, RLX)
        };
        if
        :: pushes ->
            atomic {
                must(in_one_place, !stacked[c]);
                must(no_race, !news(t, READ(c)));
                stacked[c] = true;
                store(t, NEXT(c), truth(STACK), RLX);   /* a loop around a compare-and-swap: this is its last turn */
                change(t, STACK, 1 + (c), RLX, PUSH);
                push_fence(t)
            }
        :: else
        fi
    :: else
    fi;
    atomic {
        pushes = false;
        load(t, WAITING, RLX);
        if
        :: sees(t, WAITING) && truth(WAITING) -> change(t, WAITING, 0, RLX, RLX); port_sleeps = false
        :: else
        fi
    }
}

inline publish(t, r, c, many)
{
    sent = 0;
    do
    :: sent < many ->
/* M_MARKS_FIRST lacks the order: the owner publishes a reply, then marks the connection. */
#ifdef M_MARKS_FIRST
        tell(t, c);
        atomic { sent++; store(t, REPLIES(r), sent, REL) }
#else
        atomic { sent++; store(t, REPLIES(r), sent, REL); owner_fence(t) };
        tell(t, c)
#endif
    :: else -> break
    od
}

proctype a()
{
    byte sent;
    bool pushes;

    publish(A, 0, 0, NA)
}

proctype b()
{
    byte sent;
    bool pushes;

    publish(B, 1, 0, NB);
    publish(B, 2, 1, NC)
}

#define IS_EMPTY(c) ((c) == 0 -> sees(PORT, REPLIES(0)) == got[0] && sees(PORT, REPLIES(1)) == got[1] \
                               : sees(PORT, REPLIES(2)) == got[2])
#define ALL_GOT (got[0] == NA && got[1] == NB && got[2] == NC)

/* One look into a connection: all that it shows is received; else its turn is over. */
inline look(c)
{
    if
    :: c == 0 -> load(PORT, REPLIES(0), ACQ); load(PORT, REPLIES(1), ACQ)
    :: else -> load(PORT, REPLIES(2), ACQ)
    fi;
    ready[c] = !IS_EMPTY(c);
    if
    :: c == 0 -> got[0] = sees(PORT, REPLIES(0)); got[1] = sees(PORT, REPLIES(1))
    :: else -> got[2] = sees(PORT, REPLIES(2))
    fi
}

inline clear(c)
{
    store(PORT, MARK(c), 0, CLEAR)
}

inline read_link(c)
{
    must(link_is_whole, !news(PORT, NEXT(c)));
    next = sees(PORT, NEXT(c));
    reads[c]++;
    store(PORT, READ(c), reads[c], RLX)
}

proctype port()
{
    byte got[3], c, next;

    atomic { store(PORT, MARKING, 1, RLX); begin_fence(PORT); ready[0] = true; ready[1] = true };
    do
    :: ALL_GOT -> break
    :: atomic { !ALL_GOT && ready[0] -> look(0) };
/* M_CLEARS_BEHIND lacks the order: the port clears the mark, then checks the connection for replies. */
#ifdef M_CLEARS_BEHIND
        if
        :: !ready[0] -> atomic { clear(0) }
        :: else
        fi
#endif
    :: atomic { !ALL_GOT && ready[1] -> look(1) };
#ifdef M_CLEARS_BEHIND
        if
        :: !ready[1] -> atomic { clear(1) }
        :: else
        fi
#endif
    :: atomic { !ALL_GOT && differs(PORT, STACK, 0) && truth(STACK) != 0 ->
        /* slri_marks_take */
        c = truth(STACK);
        change(PORT, STACK, 0, TAKE, RLX) };
        do
        :: c != 0 ->
/* M_LINK_READ_BEHIND lacks the order: the port reads a connection's link to the next one on the stack, then clears
 * the connection's mark. */
#ifndef M_LINK_READ_BEHIND
            atomic { read_link(c - 1); stacked[c - 1] = false
#ifndef M_CLEARS_BEHIND
                ; clear(c - 1); clear_fence(PORT)
#endif
            };
#else
            atomic { stacked[c - 1] = false; clear(c - 1); clear_fence(PORT) };
            atomic { read_link(c - 1) };
#endif
            atomic { ready[c - 1] = true; c = next; next = 0 }
        :: else -> break
        od
    :: !ALL_GOT && !ready[0] && !ready[1] && !differs(PORT, STACK, 0) ->
        /* slri_port_park */
        atomic { store(PORT, WAITING, 1, RLX); park_fence(PORT) };
        atomic {
            load(PORT, STACK, RLX);
            if
            :: sees(PORT, STACK) == 0 && truth(WAITING) -> port_sleeps = true
            :: else
            fi
        };
        atomic { !port_sleeps -> load(PORT, WAITING, RLX) };
        atomic {
            if
            :: sees(PORT, WAITING) -> store(PORT, WAITING, 0, RLX)
            :: else
            fi
        }
    od
}

init { atomic { run a(); run b(); run port() } }
