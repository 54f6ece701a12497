/* The end of a ring kernel with two shards: close_input, up to two terminates of which one may give up waiting, the owners'
 * last words, destroy. Sequentially consistent: all of it is behind the ring kernel's lock, or counted by acquire-release
 * words; this asks which steps may overtake which. Messages are a number; a handler may be stuck for a while.
 */
#define DRAINING 0
#define TERMINATED 1

byte pending = 2;            /* accepted, and not handled: one in each shard */
byte handled, undelivered;
bool stop, over;
byte over_count, leaving = 2;
byte state = DRAINING;       /* the input is closed */
bool terminating, freed, gave_up;
byte callers = 2;
hidden byte used_after_free, accounted, hand_back_alone;
byte handing_back;

#define alive() used_after_free = !freed; assert(used_after_free)

/* One worker and its shard: it ends when all is handled, or stops when it is told. */
active [2] proctype owner()
{
    bool mine = true, ended, last;

    do
    :: atomic { mine && !stop -> alive(); mine = false; pending--; handled++ }
    :: atomic { !mine && pending == 0 -> ended = true; break }
    :: atomic { stop -> alive(); break }
    od;
    /* slri_ring_answered */
/* M_LEAVES_FIRST lacks the rule that an owner's last step is to report that it leaves. */
#ifdef M_LEAVES_FIRST
    atomic { leaving-- };
#endif
    atomic { alive(); over_count++; last = over_count == 2 };
    if
    :: last ->
        atomic { alive(); over = true };
        atomic {                                   /* under the lock */
            alive();
            if
/* M_STOPPED_IS_TERMINATED lacks the rule that a ring kernel becomes terminated by itself only if its owners have
 * ended, not if a terminate has stopped them. */
#ifdef M_STOPPED_IS_TERMINATED
            :: !terminating && state == DRAINING ->
#else
            :: ended && !terminating && state == DRAINING ->
#endif
                state = TERMINATED
            :: else
            fi
        };
        atomic { alive() }                         /* wakes all */
    :: else
    fi
#ifndef M_LEAVES_FIRST
    ;
    atomic { alive(); leaving-- }
#endif
}


/* slr_ring_terminate. It tries again where it gave up: the message says so. */
active [2] proctype terminate()
{
    bool mine, done;

    do
    :: atomic { !done -> alive(); mine = !terminating && state != TERMINATED; if :: mine -> terminating = true :: else fi };
        if
        :: mine ->
            if
            :: atomic { over -> skip }
            :: atomic { !over -> alive(); stop = true };   /* its deadline has passed */
                if
                :: atomic { over -> skip }
                :: atomic { !over && !gave_up -> alive(); gave_up = true; terminating = false; mine = false }
                fi
            fi;
            if
            :: mine ->
                atomic { hand_back_alone = handing_back == 0; assert(hand_back_alone); handing_back++ };
                atomic { alive(); undelivered = undelivered + pending; handing_back-- };
                atomic { alive(); state = TERMINATED; done = true };
                atomic { alive() }                         /* wakes all */
            :: else
            fi
        :: else ->
            /* another is at it, or it is over */
            if
            :: atomic { state == TERMINATED -> done = true }
            :: atomic { state != TERMINATED && !terminating -> skip }
            fi
        fi
    :: done -> break
    od;
    atomic {
        accounted = handled + undelivered == 2; assert(accounted);
        callers--
    }
}

/* slr_ring_destroy, when nobody else uses the handle any more. */
active proctype destroy()
{
    atomic { callers == 0 -> alive() };
/* M_WAITS_FOR_OVER lacks the wait of destroy for the owner's report that it leaves. */
#ifdef M_WAITS_FOR_OVER
    over;
#else
    leaving == 0;
#endif
    freed = true
}
