/* Falling asleep and waking: two shards of one worker, the worker, a port's owner who waits for its replies, and a
 * controller. Every sleeper announces, fences, looks again, sleeps; every waker stores, fences, looks at the announcement.
 * A lost wake-up is a run that stops short: an invalid end state.
 *
 * The port sends REQUESTS messages to shard 0, then receives as many replies; the reply lane holds one, so the shard falls
 * asleep for want of room. The controller may send commands to shards.
 * Nobody turns to sleep while there is something it has yet to load: so the runs end, and what matters is what comes
 * between the last pass, the announcement and the last look.
 */
#ifndef REQUESTS
#define REQUESTS 2
#endif
#ifndef COMMANDED            /* the shards that the controller commands: from, and one past the last */
#define COMMANDED 0
#endif
#ifndef COMMANDED_END
#define COMMANDED_END 0
#endif

#define WORKER 0
#define PORT 1
#define CONTROLLER 2
#define THREADS 3
#define MESSAGES 0           /* published by the port */
#define READ 1               /* replies it has finished with */
#define REPLIES 2            /* published by the shard */
#define CONTROL(s) (3 + (s))
#define ASLEEP(s) (5 + (s))
#define WOKEN 7              /* the worker's stack: 1 + a shard; 0: nothing on it */
#define PARKED 8
#define WAITING 9            /* the port's owner's announcement */
#define SIGNALS 10
#define NEXT(s) (10 + (s))   /* the shard's link, plain: 1 + the next shard */
#define WORDS 12
#ifndef DEPTH
#define DEPTH 14
#endif
#include "memory.pml"

#define AWAKE 0
#define FOR_MESSAGES 1
#define FOR_ROOM 3

/* M_NO_FENCE_SENDER lacks the full fence after a thread publishes a message or command. */
#ifdef M_NO_FENCE_SENDER
#define sender_fence(t) skip
#else
#define sender_fence(t) fence(t)
#endif
/* M_NO_FENCE_SHARD lacks the full fence after a shard announces sleep. */
#ifdef M_NO_FENCE_SHARD
#define shard_fence(t) skip
#else
#define shard_fence(t) fence(t)
#endif
/* M_NO_FENCE_UNPARK lacks the full fence after a waker pushes a shard on the stack. */
#ifdef M_NO_FENCE_UNPARK
#define unpark_fence(t) skip
#else
#define unpark_fence(t) fence(t)
#endif
/* M_NO_FENCE_PARK lacks the full fence after a worker announces sleep. */
#ifdef M_NO_FENCE_PARK
#define park_fence(t) skip
#else
#define park_fence(t) fence(t)
#endif
/* M_NO_FENCE_PUBLISHED lacks the full fence after the owner publishes a reply. */
#ifdef M_NO_FENCE_PUBLISHED
#define published_fence(t) skip
#else
#define published_fence(t) fence(t)
#endif
/* M_NO_FENCE_RECEIVER lacks the full fence of the port's thread before it checks whether it must wake the shard or may sleep. */
#ifdef M_NO_FENCE_RECEIVER
#define receiver_fence(t) skip
#else
#define receiver_fence(t) fence(t)
#endif
/* base/fence.h, for ring kernels that publish each message: UNEVEN. Their owner has no fence there; the port's owner makes
 * every thread fence, in a step of its own for each, and then itself. */
#ifdef UNEVEN
#undef published_fence
#define published_fence(t) skip
#endif
/* PUSH: release of the worker's stack. */
#ifndef PUSH
#define PUSH REL
#endif
/* ADOPT: acquire of the worker's stack. */
#ifndef ADOPT
#define ADOPT ACQ
#endif

bool listed[2], stacked[2];  /* ghosts */
bool worker_sleeps, port_sleeps;
hidden byte in_one_place, link_is_whole;

inline in_one_place_only(s) { must(in_one_place, !(listed[s] && stacked[s])) }

/* A step that ends with a fence begins with the store before it. The load behind the fence is a step of its own. */
#define unpark_look(t) \
    atomic { \
        load(t, PARKED, RLX); \
        if \
        :: sees(t, PARKED) && truth(PARKED) -> change(t, PARKED, 0, RLX, RLX); worker_sleeps = false \
        :: else \
        fi \
    }

/* slri_ring_wake_shard behind its fence: the look, the exchange, the push, and unpark. `kinds` is a condition on `kind`. */
inline wake_shard(t, s, kinds)
{
    atomic {
        load(t, ASLEEP(s), RLX);
        kind = sees(t, ASLEEP(s));
        if
        :: kinds ->
            kind = truth(ASLEEP(s));
            if
            :: kind != AWAKE -> change(t, ASLEEP(s), AWAKE, ACQ, REL)
            :: else
            fi;
/* M_EVERYBODY_PUSHES lacks the waker's check whether the worker or another waker has already taken the shard. */
#ifdef M_EVERYBODY_PUSHES
            kind = FOR_MESSAGES
#endif
        :: else -> kind = AWAKE
        fi
    };
    if
    :: kind != AWAKE ->
        atomic {
            kind = AWAKE;
            store(t, NEXT(s), truth(WOKEN), RLX);      /* a loop around a compare-and-swap: this is its last turn */
            stacked[s] = true; in_one_place_only(s);
            change(t, WOKEN, 1 + (s), RLX, PUSH);
            unpark_fence(t)
        };
        unpark_look(t)
    :: else
    fi
}

proctype port()
{
    byte sent, got, kind;

    do
    :: sent < REQUESTS ->
        atomic { sent++; store(PORT, MESSAGES, sent, REL); sender_fence(PORT) };
        wake_shard(PORT, 0, kind != AWAKE)
    :: atomic { sent == REQUESTS && got < REQUESTS && differs(PORT, REPLIES, got) ->
        poll(PORT, REPLIES, ACQ, got);
        got++;
        store(PORT, READ, got, REL) }
#ifdef NO_REPLIES
    :: sent == REQUESTS -> break
#else
    :: sent == REQUESTS && got < REQUESTS && !differs(PORT, REPLIES, got) ->
        /* slri_port_park */
/* M_NO_UNBLOCK lacks the port's check, before it sleeps, whether it must wake a shard that sleeps because it had no
 * room for replies. */
#ifndef M_NO_UNBLOCK
        atomic { receiver_fence(PORT) };
        wake_shard(PORT, 0, kind == FOR_ROOM);
#endif
        atomic { store(PORT, WAITING, 1, RLX); receiver_fence(PORT) };
#if defined(UNEVEN) && !defined(M_NO_FENCE_OWNER)
        atomic { fence(WORKER) };
        atomic { receiver_fence(PORT) };
#endif
        atomic {
            load(PORT, REPLIES, ACQ);
            if
/* M_NO_LAST_LOOK_PORT lacks the port's last check for work, after it has announced sleep. */
#ifdef M_NO_LAST_LOOK_PORT
            :: truth(WAITING) -> port_sleeps = true
#else
            :: sees(PORT, REPLIES) == got && truth(WAITING) -> port_sleeps = true
#endif
            :: else
            fi
        };
        !port_sleeps;
        atomic { store(PORT, WAITING, 0, RLX) }
    :: got == REQUESTS -> break
#endif
    od
}

proctype controller()
{
    byte s = COMMANDED, kind;

    do
    :: s < COMMANDED_END ->
        atomic { store(CONTROLLER, CONTROL(s), 1, REL); sender_fence(CONTROLLER) };
        wake_shard(CONTROLLER, s, kind != AWAKE);
        s++
    :: else -> break
    od
}

byte handled, obeyed[2];

#ifdef NO_REPLIES
#define has_room true
#else
#define has_room (sees(WORKER, READ) == handled)
#endif

#define fresh(s) (differs(WORKER, CONTROL(s), obeyed[s]) || ((s) == 0 && (news(WORKER, MESSAGES) || \
                  (sees(WORKER, MESSAGES) > handled && (has_room || news(WORKER, READ))))))

/* mb_begin: gives in `worked` whether a pass found something to do. Shard 0 alone has messages. */
inline pass(s)
{
    worked = false;
    load(WORKER, CONTROL(s), ACQ);
    if
    :: sees(WORKER, CONTROL(s)) != obeyed[s] -> obeyed[s] = 1; worked = true
    :: else
    fi;
    if
    :: s == 0 ->
        load(WORKER, MESSAGES, ACQ);
        if
        :: sees(WORKER, MESSAGES) > handled ->
            if
            :: !has_room -> load(WORKER, READ, ACQ)
            :: else
            fi;
            if
            :: has_room -> handled++; worked = true; store(WORKER, REPLIES, handled, REL)
            :: else
            fi
        :: else
        fi
    :: else
    fi
}

inline sleep_kind(s) { kind = (s == 0 && sees(WORKER, MESSAGES) > handled -> FOR_ROOM : FOR_MESSAGES) }

/* slri_ring_published */
inline tell_port()
{
#ifndef NO_REPLIES
    atomic { published_fence(WORKER) };
    atomic {
        load(WORKER, WAITING, RLX);
        if
        :: sees(WORKER, WAITING) && truth(WAITING) -> change(WORKER, WAITING, 0, RLX, RLX); port_sleeps = false
        :: else
        fi
    }
#else
    skip
#endif
}

#define ALL_DONE (handled == REQUESTS && obeyed[0] == (COMMANDED == 0 && COMMANDED_END > 0) && \
                  obeyed[1] == (COMMANDED_END == 2))

proctype worker()
{
    byte s, kind, told;
    bool worked;

    do
    :: ALL_DONE -> break
    :: atomic { differs(WORKER, WOKEN, 0) && truth(WOKEN) != 0 ->
        /* adopt: the whole stack */
        s = truth(WOKEN);
        change(WORKER, WOKEN, 0, ADOPT, RLX);
        do
        :: s != 0 ->
            stacked[s - 1] = false;
            must(link_is_whole, !news(WORKER, NEXT(s - 1)));
            must(in_one_place, !listed[s - 1]);
            listed[s - 1] = true;
            s = sees(WORKER, NEXT(s - 1))
        :: else -> break
        od }
    :: atomic { listed[0] && fresh(0) -> pass(0) };
        if
        :: worked -> worked = false; tell_port()
        :: else
        fi
    :: atomic { listed[1] && fresh(1) -> pass(1); worked = false }
    :: atomic { (listed[0] && !fresh(0)) || (listed[1] && !fresh(1)) ->
        /* lull */
        if
        :: listed[0] && !fresh(0) -> s = 0
        :: listed[1] && !fresh(1) -> s = 1
        fi;
        sleep_kind(s);
        listed[s] = false };
        atomic { told = kind; store(WORKER, ASLEEP(s), kind, REL); shard_fence(WORKER) };
/* M_NO_LAST_LOOK_SHARD lacks the last check of a shard for work, after it has announced sleep. */
#ifndef M_NO_LAST_LOOK_SHARD
        atomic { pass(s); sleep_kind(s) };
        if
/* M_KIND_NOT_LOOKED_AT lacks a second check, after a shard has announced sleep, whether it still waits for the same
 * event (for messages, or for room). */
#ifdef M_KIND_NOT_LOOKED_AT
        :: worked ->
#else
        :: worked || kind != told ->
#endif
            atomic {
                if
/* M_TAKES_BACK_BLINDLY lacks the worker's check whether a waker has already taken the sleeping shard. */
#ifdef M_TAKES_BACK_BLINDLY
                :: true ->
#else
                :: truth(ASLEEP(s)) != AWAKE ->
#endif
                    change(WORKER, ASLEEP(s), AWAKE, ACQ, REL);
                    listed[s] = true; in_one_place_only(s)
                :: else
                fi
            };
            if
            :: worked -> tell_port()
            :: else
            fi
        :: else
        fi;
#endif
        atomic { s = 0; kind = 0; told = 0; worked = false }
    :: !ALL_DONE && !listed[0] && !listed[1] && !differs(WORKER, WOKEN, 0) ->
        /* park */
        atomic { store(WORKER, PARKED, 1, RLX); park_fence(WORKER) };
        atomic {
            load(WORKER, WOKEN, RLX);
            if
/* M_NO_LAST_LOOK_WORKER lacks the worker's last check for work, after it has announced sleep. */
#ifdef M_NO_LAST_LOOK_WORKER
            :: truth(PARKED) -> worker_sleeps = true
#else
            :: sees(WORKER, WOKEN) == 0 && truth(PARKED) -> worker_sleeps = true
#endif
            :: else
            fi
        };
        !worker_sleeps || ALL_DONE;
        atomic { store(WORKER, PARKED, 0, RLX) }
    od
}

init {
    d_step { listed[0] = true; listed[1] = COMMANDED_END == 2 }
    atomic { run worker(); run port(); run controller() }
}
