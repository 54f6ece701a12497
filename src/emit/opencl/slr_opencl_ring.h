// SPDX-License-Identifier: Apache-2.0
// The part of emitted OpenCL C's prelude for handlers: how one is called, replies, sends, fuel and faults. As on a GPU
// by CUDA, a handler that faults runs on: its loops end, its indices are in bounds, what it would touch outside a
// buffer is a dump, and whoever called it sees the fault.
// clang-format off
struct slri_bound {
    __global uchar *data; // the buffer, or where the scalar lies
    ulong bytes;
};
// What one message's handler has sent through one outlet: message n lies at base + n * stride, the instance that it is
// for first (or UINT_MAX: the handler's own), then, 8 bytes on, its bytes.
struct slri_out {
    __global uchar *base;
    uint stride, most;
    volatile __local uint *count;
};
struct slri_call {
    __global uchar *state;   // the instance's, or 0
    __global uchar *message;
    const struct slri_bound *bound; // by the parameters behind the message
    struct slri_out *out;           // the same of outlets
    // Reply n of this call is the bytes at reply_base + ((reply_at + n) & reply_mask) * reply_stride. *replies counts
    // those written, at most max_replies: a word of local memory of this message's own.
    __global uchar *reply_base;
    uint reply_at, reply_mask, reply_stride;
    uint max_replies;
    volatile __local uint *replies;
    uint instance;
    uint fault_file, fault_line; // where, when the result is not 0
    uint messages;               // of a batch's handler: how many lie from `message` on
    ulong fuel;                  // loop back edges that this work-item may take
    ulong turns;                 // and those of loops in which the work-items of the group meet
    __global uchar *dump;        // SLRI_DUMP_BYTES, whose contents nobody asks for
};
struct slri_here {
    struct slri_call *call;
    uint fault;
};
#define ring_to(message) struct slri_out *
#define ring_instance() (slri_here->call->instance)
#define SLRI_HERE struct slri_here *slri_here
#define SLRI_AND_HERE , struct slri_here *slri_here
#define SLRI_GIVE_HERE slri_here
#define SLRI_PASS_HERE , slri_here
#define SLRI_BUFFER_PARAM(x) __global uchar *x, ulong x##_slri_bytes
#define SLRI_BUFFER(x, S) (__global uchar *)(x), x##_slri_bytes

SLRI_FN bool slri_checked(struct slri_here *here, bool holds, uint fault, uint file, uint line)
{
    if (!holds && !here->fault) {
        here->fault = fault;
        here->call->fault_file = file;
        here->call->fault_line = line;
    }
    return holds;
}
SLRI_FN __global uchar *slri_in_buffer(struct slri_here *here, __global uchar *base, ulong has, long at, ulong n,
                                       uint file, uint line)
{
    bool fits = (ulong)at <= has && has - (ulong)at >= n;
    return slri_checked(here, fits, 3, file, line) ? base + at : here->call->dump;
}
#define SLRI_IN_BUFFER(T, x, at, S, n, file, line) \
    ((__global T *)slri_in_buffer(slri_here, (__global uchar *)(x), x##_slri_bytes, at, n, file, line))
#define SLRI_CHECKED_DIV(K, a, b, file, line) (slri_checked(slri_here, (b) != 0, 1, file, line), slri_div_##K(a, b))
#define SLRI_CHECKED_REM(K, a, b, file, line) (slri_checked(slri_here, (b) != 0, 1, file, line), slri_rem_##K(a, b))
#define SLRI_INDEX(i, n, file, line) \
    (slri_checked(slri_here, (ulong)(i) < (n), 2, file, line) ? (void)0 : (void)((i) = 0))
#define SLRI_BELOW(i, n, file, line) (void)slri_checked(slri_here, (ulong)(i) < (ulong)(n), 2, file, line)
#define SLRI_INDEX_BELOW(i, n, file, line) SLRI_INDEX(i, (ulong)(n), file, line)
#define SLRI_MESSAGES() (slri_here->call->messages)
#define SLRI_CHECKED_ASSERT(file, line) (void)slri_checked(slri_here, false, 11, file, line)
#define SLRI_CHECKED_TRAP(file, line) (void)slri_checked(slri_here, false, 12, file, line)
#define SLRI_LIVE(test) (!slri_here->fault && (test))
#define SLRI_LIVE_EDGE(file, line, test) (slri_edge(slri_here, file, line), !slri_here->fault && (test))
#define SLRI_EDGE(file, line) slri_edge(slri_here, file, line),
#define SLRI_NO_STEP (void)0
SLRI_FN void slri_edge(struct slri_here *here, uint file, uint line)
{
    here->call->fuel = slri_checked(here, here->call->fuel > 1, 4, file, line) ? here->call->fuel - 1 : 0;
}
// For all back edges of a loop at once. It leaves as much as they would, one by one, or says that one would find none.
// `to` is the bound, and `more` 1 where the counter may come to it. Far above 0 the counter could wrap.
#define SLRI_PAYS(from, to, more, by) slri_pays(slri_here, from, (long)(to) + more, by)
SLRI_FN bool slri_pays(struct slri_here *here, long from, long to, long by)
{
    ulong trips = from < to ? (ulong)(to - from + by - 1) / (ulong)by : 0;
    if (trips >= here->call->fuel || to > 0x7fff0000)
        return false;
    here->call->fuel -= trips;
    return true;
}
#define SLRI_GOES(test) (slri_here->call->turns && (test))
#define SLRI_GOES_TURN(file, line, test) (slri_turn(slri_here, file, line), slri_here->call->turns && (test))
#define SLRI_TURN(file, line) slri_turn(slri_here, file, line),
SLRI_FN void slri_turn(struct slri_here *here, uint file, uint line)
{
    here->call->turns = slri_checked(here, here->call->turns > 1, 4, file, line) ? here->call->turns - 1 : 0;
}
#define SLRI_SHAPE(builtin, value) value
#define SLRI_REPLY(p, bytes, file, line, S) \
    do { \
        __global uchar *slri_to = slri_reply(slri_here, file, line); \
        if (slri_to) SLRI_COPY(slri_to, p, bytes, G, S); \
    } while (0)
SLRI_FN __global uchar *slri_reply(struct slri_here *here, uint file, uint line)
{
    struct slri_call *call = here->call;
    uint mine = atomic_inc(call->replies);
    if (slri_checked(here, mine < call->max_replies, 5, file, line))
        return call->reply_base + (ulong)((call->reply_at + mine) & call->reply_mask) * call->reply_stride;
    atomic_dec(call->replies);
    return 0;
}
// Of a batch's handler: `replies` counts those to each message, which lie max_replies strides apart.
#define SLRI_REPLY_TO(i, p, bytes, file, line, S) \
    do { \
        __global uchar *slri_to = slri_reply_to(slri_here, i, file, line); \
        if (slri_to) SLRI_COPY(slri_to, p, bytes, G, S); \
    } while (0)
SLRI_FN __global uchar *slri_reply_to(struct slri_here *here, uint i, uint file, uint line)
{
    struct slri_call *call = here->call;
    if (i >= call->messages) // the index has faulted
        return 0;
    uint mine = call->replies[i];
    if (!slri_checked(here, mine < call->max_replies, 5, file, line))
        return 0;
    call->replies[i] = mine + 1;
    return call->reply_base + ((ulong)i * call->max_replies + mine) * call->reply_stride;
}
#define SLRI_SEND(outlet, instance, p, bytes, file, line, S) \
    do { \
        __global uchar *slri_to = slri_send(slri_here, outlet, instance, file, line); \
        if (slri_to) SLRI_COPY(slri_to, p, bytes, G, S); \
    } while (0)
SLRI_FN __global uchar *slri_send(struct slri_here *here, struct slri_out *out, uint instance, uint file, uint line)
{
    uint mine = atomic_inc(out->count);
    if (!slri_checked(here, mine < out->most, 9, file, line)) {
        atomic_dec(out->count);
        return 0;
    }
    __global uchar *at = out->base + (ulong)out->stride * mine;
    *(__global uint *)at = instance;
    return at + 8;
}

// ---- a block's handler ---------------------------------------------------------------------------------------------
//
// All work-items of the group call these around it, each with a call of its own. `words` are SLRI_BLOCK_WORDS of local
// memory: which work-item was the first to fault, and that fault.
#define SLRI_BLOCK_WORDS 4
#define SLRI_MEET() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
SLRI_FN void slri_begin_block(__local uchar *shared, uint bytes, volatile __local uint *words)
{
    for (uint i = get_local_id(0); i < bytes; i += get_local_size(0))
        shared[i] = 0;
    if (get_local_id(0) == 0)
        words[0] = 0xffffffff;
    SLRI_MEET();
}
// Gives all of them the fault of the first that has one, and its place. They have all read words[0] before the second
// barrier, behind which the next message may write it.
SLRI_FN uint slri_end_block(struct slri_call *call, uint fault, volatile __local uint *words)
{
    if (fault)
        atomic_min(words, (uint)get_local_id(0));
    SLRI_MEET();
    uint first = words[0];
    if (first == get_local_id(0)) {
        words[1] = fault;
        words[2] = call->fault_file;
        words[3] = call->fault_line;
    }
    SLRI_MEET();
    if (first == 0xffffffff)
        return 0;
    call->fault_file = words[2];
    call->fault_line = words[3];
    return words[1];
}
