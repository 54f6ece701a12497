/* Failing and coming back, with what is pending kept: an owner a shard, a sender, a close_input, two restarts, a terminate.
 * Failed is paused with the input closed. Sequentially consistent: but for the closed bit and the state, which senders
 * read without it, all is behind the ring kernel's lock, or answered by number.
 */
#ifndef N
#define N 2                  /* messages; the one with number n is of shard n % 2 */
#endif
#ifndef FAULTS
#define FAULTS 2             /* at most */
#endif
#ifndef RESTARTS
#define RESTARTS 1
#endif
#ifndef CLOSES
#define CLOSES 0
#endif
#define ACTIVE 0
#define DRAINING 1
#define FAILED 2
#define TERMINATED 3
#define RUN 0
#define PAUSE 1
#define CLOSE 2
#define STOP 3

#define NEVER 0              /* what became of a message */
#define ACCEPTED 1
#define HANDLED 2
#define FAULTED 3
#define HANDED_BACK 4

byte state = ACTIVE, from;
byte command = RUN, number, answered[2];
byte doing[2];               /* what each shard does, as its last answer said */
bool closed, terminating, restarting, over, renewing;
bool locked, opening;
byte fate[3];               /* of those there are N of */
bool published[3];
bool handling[2];
byte over_count, faults, closings, reopened_at, restarts, busy = 2 + RESTARTS;
hidden byte renewed_at_rest, refused_while_failed, reopened_is_open, once, accounted;

#define must(name, condition) name = (condition); assert(name)
#define lock() !locked -> locked = true
#define unlock() locked = false
#define awaits(n) ((n) % 2 == me && fate[n] == ACCEPTED)
#define shows(n) (awaits(n) && published[n])

#define close_() closed = true; closings++

inline give_command(what) { command = what; number++ }

/* slri_ring_fail, by an owner behind a fault. */
inline fail()
{
    atomic {
        lock();
        if
        :: !terminating && (state == ACTIVE || state == DRAINING) ->
            from = state;
            fails = true;
/* M_STATE_FIRST lacks the order: close the input, then make the failure visible. */
#ifdef M_STATE_FIRST
            state = FAILED
#else
            close_()
#endif
        :: else -> unlock()
        fi
    };
    atomic {
        if
        :: fails ->
#ifdef M_STATE_FIRST
            close_();
#endif
            give_command(PAUSE);
            state = FAILED;
            fails = false;
            unlock()
        :: else
        fi
    }
}

proctype owner(byte me)
{
    byte n, seen, what;
    bool last, ended, fails;

    do
    :: atomic { number != answered[me] -> seen = number; what = command };
        atomic { answered[me] = seen; doing[me] = what; seen = 0; what = 0 }
    :: atomic { doing[me] == STOP -> break }
    :: atomic { (doing[me] == RUN || doing[me] == CLOSE) && (shows(0) || shows(1) || shows(2)) ->
            n = (shows(0) -> 0 : (shows(1) -> 1 : 2));
            must(renewed_at_rest, !renewing);
            handling[me] = true
        };
        atomic {
            must(renewed_at_rest, !renewing);
            must(once, fate[n] == ACCEPTED);
            handling[me] = false;
            if
            :: fate[n] = HANDLED
            :: faults < FAULTS -> faults++; fate[n] = FAULTED; what = 1
            fi
        };
        if
        :: what == 1 -> what = 0; fail()
        :: else
        fi;
        n = 0
    :: atomic { doing[me] == CLOSE && closed && !awaits(0) && !awaits(1) && !awaits(2) ->
            ended = true; break }
    od;
    /* slri_ring_answered */
    atomic { over_count++; last = over_count == 2 };
    if
    :: last ->
        over = true;
        atomic {                                           /* under the lock */
            !locked;
            if
            :: ended && !terminating && state == DRAINING -> state = TERMINATED
            :: else
            fi
        }
    :: else
    fi
}

proctype sender()
{
    byte n, began;
    bool sees_active, sees_failed;

    do
    :: n == N -> break
    :: state == TERMINATED -> break
    :: n < N && state != TERMINATED ->
        atomic { sees_active = state == ACTIVE; sees_failed = state == FAILED && !opening; began = restarts };
        if
        :: atomic { !closed -> /* the compare-and-swap: count and closed bit are one word */
                must(refused_while_failed, !sees_failed || began != restarts);
                fate[n] = ACCEPTED
            };
            published[n] = true;
            n++
        :: atomic { closed -> /* refused: by what came since, or as the state said */
                must(reopened_is_open, !sees_active || restarts == 0 || began != restarts || closings != reopened_at);
                sees_active = false; sees_failed = false
            };
            /* it tries again when something has changed */
            if
            :: !closed
            :: state == TERMINATED
            :: state == DRAINING -> break
            fi
        fi;
        atomic { sees_active = false; sees_failed = false; began = 0 }
    od;
    busy--
}

proctype restart()
{
    byte known;
    bool is_mine;

    if
    :: state == FAILED -> skip
    :: state == TERMINATED -> goto out
    fi;
    atomic {                                               /* under the lock */
        !locked;
/* M_BOTH_RESTART lacks the rule that only one restart runs at a time. */
#ifdef M_BOTH_RESTART
        is_mine = state == FAILED && !terminating;
#else
        is_mine = state == FAILED && !terminating && !restarting;
#endif
        restarting = restarting || is_mine;
        known = number;
        if
        :: !is_mine -> goto out
        :: else
        fi
    };
/* M_RENEWS_AT_ONCE lacks the wait of a restart until all shards are paused. */
#if defined(M_RENEWS_AT_ONCE)
    skip;
/* M_ANSWER_WITHOUT_NUMBER lacks the number in this wait: the restart takes the answer to an earlier command for the
 * answer to the pause of this failure. */
#elif defined(M_ANSWER_WITHOUT_NUMBER)
    (doing[0] != RUN && doing[1] != RUN && doing[0] != CLOSE && doing[1] != CLOSE) || over;
#else
    (answered[0] >= known && answered[1] >= known) || over;
#endif
    atomic { lock() };
    if
/* M_TERMINATE_NOT_LOOKED_AT lacks a restart's second check whether a terminate has begun, after the shards have
 * paused. */
#ifdef M_TERMINATE_NOT_LOOKED_AT
    :: atomic { state == FAILED ->
#else
    :: atomic { state == FAILED && !terminating ->
#endif
            must(renewed_at_rest, !handling[0] && !handling[1]);
            renewing = true };
        atomic {
            must(renewed_at_rest, !handling[0] && !handling[1]);
            renewing = false;
            if
            :: from == DRAINING && over -> state = TERMINATED; goto done
            :: else
            fi;
            restarts++;
            opening = true;
            reopened_at = closings;
/* M_STATE_BEFORE_OPEN lacks the order: open the input, then make the restart visible. */
#ifdef M_STATE_BEFORE_OPEN
            state = from;
#else
            if
            :: from != DRAINING -> closed = false
            :: else
            fi
#endif
        };
        atomic {
#ifdef M_STATE_BEFORE_OPEN
            if
            :: from != DRAINING -> closed = false
            :: else
            fi;
#endif
            if
            :: from == ACTIVE -> give_command(RUN)
            :: else -> give_command(CLOSE)
            fi;
            state = from;
            opening = false
        }
    :: atomic { else }
    fi;
done:
    atomic { restarting = false; unlock() };
out:
    busy--
}

/* slr_ring_close_input, where there is one. */
proctype close_input()
{
    atomic {                                               /* under the lock */
        !locked;
        if
        :: state == ACTIVE -> close_(); give_command(CLOSE); state = DRAINING
        :: else
        fi
    }
}

/* At any time; so every run ends. */
proctype terminate()
{
    bool is_mine;

    atomic {                                               /* under the lock */
        !locked;
        is_mine = state != TERMINATED;
        if
        :: state == ACTIVE -> close_(); give_command(CLOSE); state = DRAINING
        :: state == FAILED -> give_command(STOP)
        :: else
        fi;
        terminating = is_mine
    };
    if
    :: is_mine ->
        if
        :: over
        :: atomic { !locked -> give_command(STOP) }; over    /* its deadline has passed */
        fi;
        atomic { close_() };
        /* a sender that has claimed and not published is a few stores away */
        do
        :: atomic { fate[0] == ACCEPTED && published[0] -> fate[0] = HANDED_BACK }
        :: atomic { fate[1] == ACCEPTED && published[1] -> fate[1] = HANDED_BACK }
        :: atomic { fate[2] == ACCEPTED && published[2] -> fate[2] = HANDED_BACK }
        :: atomic { fate[0] != ACCEPTED && fate[1] != ACCEPTED && fate[2] != ACCEPTED -> break }
        od;
        atomic { !locked -> state = TERMINATED }
    :: else
    fi;
    busy--
}

init {
    atomic {
        run owner(0); run owner(1); run sender(); run restart(); if :: RESTARTS > 1 -> run restart() :: else fi; run terminate();
        if :: CLOSES -> run close_input() :: else fi
    };
    atomic {
        busy == 0 && over ->
        must(accounted, fate[0] != ACCEPTED && fate[1] != ACCEPTED && fate[2] != ACCEPTED);
        must(accounted, state == TERMINATED)
    }
}
