/* The reply to a durable call (src/cluster/calls.c, proof.c): a worker appends the output and sends the answer without
 * waiting until the output is stored. The server tells the caller itself what it has stored, or refused. Two workers may
 * both believe that they have the partition, and each may open it again (a new log). Output 1 belongs to a message before
 * the call, output 2 to the call. A record of outputs names the record that it follows; one that follows a record that is
 * not there does not count. Each message to the caller may be lost.
 */
#ifndef LOGS
#define LOGS 3               /* times that a worker opens the partition */
#endif

#define CALL 2               /* number of the call's output */
#define id(log, record) ((log) * 16 + (record))

/* On the server. */
byte out_last, counted, last_id;  /* records; outputs that count; the last record that counts */

/* Appends on their way, in order: log, expected last record, record that it follows, output, whether the caller is told. */
chan appends[2] = [3] of { byte, byte, byte, byte, bit };
chan acks[2] = [4] of { byte, byte };        /* to the worker: log, record; 0: refused */
mtype = { answer, told };
chan caller_hears = [10] of { mtype, byte, byte };

byte logs;
byte heard[16 * (LOGS + 1)];      /* of an append: 1: that it is stored, 2: the answer */
hidden byte reply_counts, stored_once;

#define must(name, condition) name = (condition); assert(name)

proctype server(byte w)
{
    byte log, expected, follows, number;
    bit tells;
end:
    do
    :: atomic { appends[w] ? log, expected, follows, number, tells ->
        if
        :: expected == out_last ->
            out_last++;
            if
            :: follows == last_id ->
                must(stored_once, number == counted + 1);
                last_id = id(log, out_last);
                counted = number
            :: else -> skip
            fi;
            acks[w] ! log, out_last;
            if
            :: tells -> caller_hears ! told, log, out_last
            :: true -> skip           /* lost, or nobody is to be told */
            fi
        :: else ->
            acks[w] ! log, 0;
/* M_REFUSED_IS_STORED lacks the difference between an acknowledgement and a refusal. */
#ifdef M_REFUSED_IS_STORED
            if
            :: tells -> caller_hears ! told, log, expected + 1
            :: else -> skip
            fi
#endif
        fi
       }
    od
}

inline forget() { log = 0; last = 0; stored = 0; follows = 0; number = 0; tells = 0; answered = 0 }

proctype worker(byte w)
{
    byte log, last, stored, follows, number, acked, record;
    bit tells, answered;
end:
    do
    /* It opens the partition, and reads what is stored. */
    :: atomic { log == 0 && logs < LOGS ->
        logs++;
        log = logs;
        last = out_last;
        stored = out_last;
        follows = last_id;
        number = counted
       }

    :: atomic { log && number < CALL && nfull(appends[w]) ->
        number++;
        tells = (number == CALL);
/* M_PROOF_IN_FLIGHT lacks the rule that the worker answers at once only if all its earlier outputs are known to be
 * stored. */
#ifndef M_PROOF_IN_FLIGHT
        tells = tells && stored == last;
#endif
        appends[w] ! log, last, follows, number, tells;
        last++;
        follows = id(log, last)
       }

    /* At once where the caller is told of the append; else when all of this log is stored. */
    :: atomic { log && number == CALL && !answered && (tells || stored == last) ->
        answered = 1;
        caller_hears ! answer, (tells -> log : 0), last
       }

    :: atomic { acks[w] ? acked, record ->
        if
        :: acked != log -> skip          /* of a log before this one */
        :: acked == log && record == stored + 1 -> stored = record
        :: else -> forget()
        fi;
        acked = 0; record = 0
       }

    /* A kill. What it has sent is on its way. */
    :: atomic { log && logs < LOGS -> forget() }
    od
}

proctype caller()
{
    mtype what;
    byte log, record;
end:
    do
    :: atomic { caller_hears ? what, log, record ->
        if
        :: what == answer && log == 0 -> must(reply_counts, counted >= CALL)
        :: else ->
            heard[id(log, record)] = heard[id(log, record)] | (what == told -> 1 : 2);
/* M_ANSWER_IS_ENOUGH lacks the caller's wait for the word of the server. */
#ifdef M_ANSWER_IS_ENOUGH
            must(reply_counts, what == told || counted >= CALL)
#else
            must(reply_counts, heard[id(log, record)] != 3 || counted >= CALL)
#endif
        fi
       }
    od
}

init { atomic { run server(0); run server(1); run worker(0); run worker(1); run caller() } }
