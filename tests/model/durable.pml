/* A durable ring kernel (src/cluster) over kills: messages go to a log, are handled, and their outputs go to a log. A
 * snapshot writes the states, replaces the head, and purges the messages. A kill takes what lies in memory at any step; the
 * next process loads the states that the head names, and handles again what follows. Writes are kept in their order, as a
 * file system keeps them for a process that is killed. Sequentially consistent: a server belongs to one thread.
 */
#ifndef N
#define N 3                  /* messages; number k is record k */
#endif
#ifndef KILLS
#define KILLS 2
#endif
#ifndef SNAPSHOTS
#define SNAPSHOTS 2          /* a process begins at most */
#endif

/* On the disk. */
byte accepted, purged;       /* messages in the log, and those that were purged */
byte stored[N + 1];          /* outputs of each message */
byte head_position;          /* messages that the states of the head have */
byte head_record;            /* the record with those states; 0: the initial ones */
byte record_position, records; /* of the last record, and how many there are */

/* In memory. */
byte handled;                /* messages: also what the states have */
bool made[N + 1];            /* an output that is not stored yet */
byte kills, snapshots, i;
hidden byte no_gap, stored_once, stored_is_accepted, snapshot_is_whole, nothing_lost;

#define must(name, condition) name = (condition); assert(name)

inline start()
{
    must(snapshot_is_whole, head_record <= records);
    must(no_gap, purged <= head_position);
    handled = head_position;
    snapshots = 0;
    i = 0;
    do
    :: i > N -> break
    :: else -> made[i] = false; i++
    od;
    i = 0
}

inline kill_here()
{
    kills++;
    start()
}

#define all_stored (!made[1] && !made[2] && !made[3])

active proctype server()
{
    do
    /* The producer sends again from the first message on; those that are accepted are skipped. */
    :: atomic { accepted < N -> accepted++ }

/* M_HANDLED_BEFORE_ACCEPTED lacks the rule that a message is handled only after it was accepted. */
#ifdef M_HANDLED_BEFORE_ACCEPTED
    :: atomic { handled < N && handled <= accepted ->
#else
    :: atomic { handled < accepted ->
#endif
        handled++;
/* M_STORED_AGAIN lacks the check whether the output of a message is already stored. */
#ifdef M_STORED_AGAIN
        made[handled] = true
#else
        made[handled] = stored[handled] == 0
#endif
       }

    /* Outputs of several keys are stored in any order. */
    :: atomic {
        if
        :: made[1] -> i = 1
        :: N > 1 && made[2] -> i = 2
        :: N > 2 && made[3] -> i = 3
        fi;
        made[i] = false;
        stored[i]++;
        must(stored_once, stored[i] == 1);
        must(stored_is_accepted, i <= accepted);
        i = 0
       }

/* M_NOT_SETTLED lacks the wait of a snapshot until all outputs are stored. */
#ifdef M_NOT_SETTLED
    :: atomic { snapshots < SNAPSHOTS && handled == accepted && handled > head_position ->
#else
    :: atomic { snapshots < SNAPSHOTS && handled == accepted && handled > head_position && all_stored ->
#endif
        snapshots++
       }
       if
       :: atomic { kills < KILLS -> kill_here() }
       :: atomic { true ->
/* M_HEAD_FIRST lacks the order: store the states, then the head that names them. */
#ifdef M_HEAD_FIRST
           head_position = handled; head_record = records + 1
#else
           records++; record_position = handled
#endif
          }
          if
          :: atomic { kills < KILLS -> kill_here() }
          :: atomic { true ->
#ifdef M_HEAD_FIRST
              records++; record_position = handled
#else
/* M_PURGE_FIRST lacks the order: store the head, then purge the messages before it. */
#ifdef M_PURGE_FIRST
              purged = handled
#else
              head_position = record_position; head_record = records
#endif
#endif
             }
             if
             :: atomic { kills < KILLS -> kill_here() }
             :: atomic { true ->
                 head_position = record_position; head_record = records;
                 purged = head_position
                }
             fi
          fi
       fi

    :: atomic { kills < KILLS -> kill_here() }

    :: accepted == N && handled == N && all_stored -> break
    od;
    must(nothing_lost, stored[1] == 1 && (N < 2 || stored[2] == 1) && (N < 3 || stored[3] == 1))
}
