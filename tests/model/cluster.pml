/* One partition of a name that machines share (src/cluster): a sender's frames, two workers that may both believe to have
 * the lease, snapshots and outputs. A lease decides nothing here: a worker may take the partition over at any moment, and
 * the one before it goes on, for it may only have been stopped. What decides are the revision of the head and the last
 * sequence of the outputs, which the server compares. A kill takes what lies in a worker's memory at any step. A frame is
 * one message; it or its answer may be lost, and then it and all frames behind it are sent again. One output a message.
 */
#ifndef N
#define N 2                  /* messages */
#endif
#ifndef LOG
#define LOG 3                /* records of messages at most: frames that came twice have two */
#endif
#ifndef TAKES
#define TAKES 3              /* times that a worker takes the partition over */
#endif
#ifndef LOSSES
#define LOSSES 1             /* frames that are not stored, and answers that are lost */
#endif

/* On the servers. */
byte in_last, purged, in_message[LOG + 1];
byte out_last, out_message[N + 2];
byte head_revision, head_position, head_number, head_out, head_count;

/* The sender. */
byte first = 1;              /* message that is not accepted yet */
byte sent, losses, answered;
bool stored[N + 2], is_over;

/* The workers. */
mtype = { away, looks, reads, serves, purges };
mtype phase[2] = away;
byte takes, owner; /* the last one that took the partition over */
byte position[2], number[2], count[2], revision[2], out_seen[2], out_number[2];
hidden byte handled_once, in_order, no_gap, stored_once, owner_snapshots, head_goes_forward, nothing_lost;

#define must(name, condition) name = (condition); assert(name)

active proctype sender()
{
    do
    :: atomic { sent < first - 1 + N && sent < N && sent + 1 >= first && in_last < LOG ->
        sent++;
        if
        :: stored[sent] -> skip  /* only where later frames are not sent again */
        :: !stored[sent] ->
            in_last++;
            in_message[in_last] = sent;
            stored[sent] = true
        :: !stored[sent] && losses < LOSSES -> losses++
        fi
       }

    /* The answer to the first frame that has none. */
    :: atomic { first <= sent ->
        if
        :: stored[first] -> first++
        :: !stored[first] || losses < LOSSES ->
            losses = losses + (stored[first] -> 1 : 0);
            stored[first] = false;
/* M_ONLY_THE_FAILED lacks the rule that the sender sends a failed frame and all later frames again. */
#ifndef M_ONLY_THE_FAILED
            answered = first + 1;
            do
            :: answered > N -> break
            :: else -> stored[answered] = false; answered++
            od;
            answered = 0;
#endif
            sent = first - 1
        fi
       }

    :: atomic { first > N || in_last == LOG -> is_over = true; break }
    od
}

inline take_record()
{
    must(no_gap, position[w] >= purged);
    position[w]++;
    if
/* M_REPEATED_TAKEN lacks a worker's check for a message that arrives again. */
#ifdef M_REPEATED_TAKEN
    :: in_message[position[w]] <= number[w] + 1 ->
#else
/* M_GAP_TAKEN lacks a worker's check for a message that arrives before an earlier one. */
#ifdef M_GAP_TAKEN
    :: in_message[position[w]] > number[w] ->
#else
    :: in_message[position[w]] == number[w] + 1 ->
#endif
#endif
        must(in_order, in_message[position[w]] <= number[w] + 1);
        number[w] = in_message[position[w]];
        count[w]++;
        must(handled_once, count[w] == number[w])
    :: else -> skip
    fi
}

inline append_output()
{
    if
/* M_NO_EXPECTED_SEQUENCE lacks the server's comparison of the last output's sequence number with the number that the
 * worker expects. */
#ifndef M_NO_EXPECTED_SEQUENCE
    :: out_last != out_seen[w] -> phase[w] = away /* refused: another worker has it */
    :: else ->
#else
    :: true ->
#endif
        out_number[w]++;
        must(stored_once, out_number[w] == out_message[out_last] + 1);
        out_last++;
        out_seen[w] = out_last;
        out_message[out_last] = out_number[w]
    fi
}

/* M_NOT_SETTLED lacks the wait of a snapshot until all outputs are stored. */
#ifdef M_NOT_SETTLED
#define settled true
#else
/* M_AHEAD_IS_SETTLED lacks the rule that a worker makes no snapshot if more outputs are stored than it
 * has handled messages. */
#ifdef M_AHEAD_IS_SETTLED
#define settled (out_number[w] >= number[w])
#else
#define settled (out_number[w] == number[w])
#endif
#endif

proctype worker(byte w)
{
    do
    :: atomic { phase[w] == away && takes < TAKES ->
        takes++;
        revision[w] = head_revision;
        position[w] = head_position;
        number[w] = head_number;
/* M_NUMBERS_FORGOTTEN lacks the number of the last handled message, which a worker reads from the head when it takes
 * the partition over. */
#ifdef M_NUMBERS_FORGOTTEN
        number[w] = 0;
#endif
        count[w] = head_count;
        out_number[w] = head_number;
        out_seen[w] = head_out;
        phase[w] = looks
       }

    /* From here on no earlier owner can make a snapshot. */
    :: atomic { phase[w] == looks ->
        if
/* M_NO_FENCE lacks the change of the head by which a worker that takes the partition over keeps the worker before it
 * from making snapshots. */
#ifdef M_NO_FENCE
        :: true -> phase[w] = reads; owner = w
#else
        :: revision[w] == head_revision -> head_revision++; revision[w] = head_revision; phase[w] = reads; owner = w
        :: else -> phase[w] = away
#endif
        fi
       }

    :: atomic { phase[w] == reads ->
        out_number[w] = out_number[w] + (out_last - out_seen[w]);
        out_seen[w] = out_last;
        phase[w] = serves
       }

    /* Who has lost the partition finds records removed, and knows by that. */
    :: atomic { phase[w] == serves && position[w] < in_last ->
        if
        :: position[w] < purged && revision[w] != head_revision -> phase[w] = away
        :: else -> take_record()
        fi
       }

    :: atomic { phase[w] == serves && out_number[w] < number[w] -> append_output() }

    :: atomic { phase[w] == serves && position[w] > head_position && settled ->
/* M_PURGE_FIRST lacks the order: store the head, then purge the messages before it. */
#ifdef M_PURGE_FIRST
        purged = position[w]
       };
       atomic {
#endif
        if
        :: revision[w] == head_revision ->
            must(owner_snapshots, owner == w);
            must(head_goes_forward, position[w] >= head_position && number[w] >= head_number);
            head_revision++;
            revision[w] = head_revision;
            head_position = position[w];
            head_number = number[w];
            head_count = count[w];
            head_out = out_seen[w];
            phase[w] = purges
        :: else -> phase[w] = away
        fi
       }

    :: atomic { phase[w] == purges ->
        purged = (purged > position[w] -> purged : position[w]);
        phase[w] = serves
       }

    /* A kill, where somebody can still take over. */
    :: atomic { phase[w] != away && takes < TAKES -> phase[w] = away }

    :: atomic { phase[w] == away && takes == TAKES -> break }

    :: atomic { phase[w] == serves && is_over && position[w] == in_last && out_number[w] >= number[w] ->
        must(nothing_lost, number[w] >= first - 1 && out_last >= first - 1);
        break
       }
    od
}

init { atomic { run worker(0); run worker(1) } }
