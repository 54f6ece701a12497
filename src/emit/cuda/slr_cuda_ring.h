// SPDX-License-Identifier: Apache-2.0
// The part of emitted CUDA C's prelude for handlers: replies, sends, fuel and faults. A handler that faults runs on:
// its loops end, but those in which a block's threads meet; its indices are in bounds, what it would touch outside a
// buffer is a dump, and whoever called it sees the fault. Its message is failed and its state reset, so that what it
// did meanwhile is seen by nobody.
// clang-format off
#ifdef __SLIPRING__
#define SLRI_HERE
#define SLRI_AND_HERE
#define SLRI_GIVE_HERE
#define SLRI_PASS_HERE
#define SLRI_HANDLER(name) name
#define SLRI_BOUNDS(n) __launch_bounds__(n)
#define SLRI_HANDLER_BUFFER(type, x) type x
#define SLRI_BUFFER_PARAM(x) unsigned char *x
#define SLRI_BUFFER(x) (unsigned char *)__slri_at(x, 0)
#define SLRI_IN_BUFFER(T, x, at, n, file, line) ((T *)__slri_at(x, at))
#define SLRI_CHECKED_DIV(K, a, b, file, line) ((a) / (b))
#define SLRI_CHECKED_REM(K, a, b, file, line) ((a) % (b))
#define SLRI_INDEX(i, n, file, line) __slri_index(i, n)
#define SLRI_INDEX_BELOW(i, n, file, line) __slri_index(i, n)
#define SLRI_BELOW(i, n, file, line) __slri_index(i, n)
#define SLRI_MESSAGES() __slri_messages()
#define SLRI_CHECKED_ASSERT(file, line) __slri_assert()
#define SLRI_CHECKED_TRAP(file, line) __trap()
#define SLRI_LIVE(test) test
#define SLRI_LIVE_EDGE(file, line, test) test
#define SLRI_GOES(test) test
#define SLRI_GOES_TURN(file, line, test) test
#define SLRI_TURN(file, line)
#define SLRI_SHAPE(builtin, value) builtin
#define SLRI_CLEAR(object, threads)
#define SLRI_CLEARED
#define SLRI_IN_BLOCK__syncthreads() __syncthreads()
#define SLRI_IN_BLOCK__syncthreads_count(a) __syncthreads_count(a)
#define SLRI_IN_BLOCK__syncthreads_and(a) __syncthreads_and(a)
#define SLRI_IN_BLOCK__syncthreads_or(a) __syncthreads_or(a)
#define SLRI_EDGE(file, line)
#define SLRI_NO_STEP
#define SLRI_PAYS(from, to, more, by) true
#define SLRI_REPLY(p, file, line) ring_reply(p)
#define SLRI_REPLY_TO(i, p, file, line) ring_reply_to(i, p)
#define SLRI_SEND(outlet, instance, p, file, line) ring_send_at(outlet, instance, p)
#else
#define __ring__ static __device__
#define __ring_block__ static __device__
#define __ring_batch__ static __device__
#define SLRI_MESSAGES() (slri_here->call->messages)
#define ring_to(message) struct slri_out *
#define ring_instance() (slri_here->call->instance)
#define SLRI_SHAPE(builtin, value) value
// What the threads of a block have in common beside the call.
struct slri_block {
    slri_u32 votes[3], first; // the first thread that has a fault
    slri_u32 fault;           // and that
};
// A thread's own: its part of the message's fuel, how many turns it may take in loops in which the block's threads meet,
// and its first fault.
struct slri_here {
    struct slri_call *call;
    struct slri_block *block;
    slri_u64 fuel, turns;
    slri_u32 fault, file, line, vote;
};
#define SLRI_HERE struct slri_here *slri_here
#define SLRI_AND_HERE , struct slri_here *slri_here
#define SLRI_GIVE_HERE slri_here
#define SLRI_PASS_HERE , slri_here
#define SLRI_HANDLER(name) slrh_##name
#define SLRI_BOUNDS(n)
#define SLRI_HANDLER_BUFFER(type, x) type x, slri_u64 x##_slri_bytes
#define SLRI_BUFFER_PARAM(x) unsigned char *x, slri_u64 x##_slri_bytes
#define SLRI_BUFFER(x) (unsigned char *)(x), x##_slri_bytes

SLRI_FN void slri_fault(struct slri_here *here, slri_u32 fault, slri_u32 file, slri_u32 line)
{
    if (here->fault)
        return;
    here->fault = fault;
    here->file = file;
    here->line = line;
}
// How a handler of a thread begins and ends. No thread is waited for.
#define SLRI_BEGIN(call, threads) struct slri_here here = {call, 0, call->fuel, 0, 0, 0, 0, 0};
#define SLRI_END(here) slri_end(here)
SLRI_FN slri_u32 slri_end(const struct slri_here *here)
{
    if (here->fault) {
        here->call->fault_file = here->file;
        here->call->fault_line = here->line;
    }
    return here->fault;
}
// What a handler reaches outside a buffer. No two threads agree on what is in it, and nobody asks.
static __device__ __align__(16) unsigned char slri_dump[SLRI_DUMP_BYTES];
SLRI_FN unsigned char *slri_in_buffer(struct slri_here *here, const void *base, slri_u64 has, long long at, slri_u64 n,
                                      slri_u32 file, slri_u32 line)
{
    if ((slri_u64)at <= has && has - (slri_u64)at >= n)
        return (unsigned char *)base + at;
    slri_fault(here, SLRI_FAULT_ACCESS, file, line);
    return slri_dump;
}
#define SLRI_IN_BUFFER(T, x, at, n, file, line) \
    ((T *)slri_in_buffer(slri_here, x, x##_slri_bytes, at, n, file, line))
#define SLRI_CHECKED_DIV(K, a, b, file, line) (slri_checked(slri_here, (b) != 0, SLRI_FAULT_DIVIDE, file, line), slri_div(a, b))
#define SLRI_CHECKED_REM(K, a, b, file, line) (slri_checked(slri_here, (b) != 0, SLRI_FAULT_DIVIDE, file, line), slri_rem(a, b))
SLRI_FN bool slri_checked(struct slri_here *here, bool holds, slri_u32 fault, slri_u32 file, slri_u32 line)
{
    if (!holds)
        slri_fault(here, fault, file, line);
    return holds;
}
#define SLRI_INDEX(i, n, file, line) \
    (slri_checked(slri_here, (slri_u64)(i) < (n), SLRI_FAULT_INDEX, file, line) ? (void)0 : (void)((i) = 0))
#define SLRI_BELOW(i, n, file, line) \
    ((void)slri_checked(slri_here, (slri_u64)(i) < (slri_u64)(n), SLRI_FAULT_INDEX, file, line))
#define SLRI_INDEX_BELOW(i, n, file, line) SLRI_INDEX(i, (slri_u64)(n), file, line)
#define SLRI_CHECKED_ASSERT(file, line) slri_fault(slri_here, SLRI_FAULT_ASSERT, file, line)
#define SLRI_CHECKED_TRAP(file, line) slri_fault(slri_here, SLRI_FAULT_TRAP, file, line)
#define SLRI_LIVE(test) (!slri_here->fault && (test))
#define SLRI_LIVE_EDGE(file, line, test) (slri_edge(slri_here, file, line), !slri_here->fault && (test))
#define SLRI_EDGE(file, line) slri_edge(slri_here, file, line),
#define SLRI_NO_STEP (void)0
SLRI_FN void slri_edge(struct slri_here *here, slri_u32 file, slri_u32 line)
{
    here->fuel = slri_checked(here, here->fuel > 1, SLRI_FAULT_FUEL, file, line) ? here->fuel - 1 : 0;
}
// For all back edges of a loop at once. It leaves as much as they would, one by one, or says that one would find none.
// `to` is the bound, and `more` 1 where the counter may come to it. Far above 0 the counter could wrap.
#define SLRI_PAYS(from, to, more, by) slri_pays(slri_here, from, (long long)(to) + more, by)
SLRI_FN bool slri_pays(struct slri_here *here, long long from, long long to, long long by)
{
    slri_u64 trips = from < to ? (slri_u64)(to - from + by - 1) / (slri_u64)by : 0;
    if (trips >= here->fuel || to > 0x7fff0000)
        return false;
    here->fuel -= trips;
    return true;
}
#define SLRI_GOES(test) (slri_here->turns && (test))
#define SLRI_GOES_TURN(file, line, test) (slri_turn(slri_here, file, line), slri_here->turns && (test))
#define SLRI_TURN(file, line) slri_turn(slri_here, file, line),
SLRI_FN void slri_turn(struct slri_here *here, slri_u32 file, slri_u32 line)
{
    here->turns = slri_checked(here, here->turns > 1, SLRI_FAULT_FUEL, file, line) ? here->turns - 1 : 0;
}

// ---- the threads of a block ----------------------------------------------------------------------------------------
//
// Nobody waits for a thread that has returned from the handler, or that a fault has led elsewhere: it stands in
// slri_end_block and comes to each barrier there, until all threads do. So the threads that come to a barrier may stand
// at different places, in one warp too, which is why this is not __syncthreads, whose instruction is .aligned.
#ifndef SLRI_BARRIER // a test has threads of the host
#define SLRI_BARRIER(ended, has_ended) \
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; barrier.red.popc.u32 %0, 0, p; }" \
                 : "=r"(ended) : "r"(has_ended) : "memory")
#define SLRI_PUT_WORD(word, value) (*(volatile slri_u32 *)&(word) = (value)) // all of them, the same
#define SLRI_GET_WORD(word) (*(volatile slri_u32 *)&(word))
#endif
SLRI_FN slri_u32 slri_meet(slri_u32 has_ended) // gives how many have; orders all memory among the block's threads
{
    slri_u32 ended;
    SLRI_BARRIER(ended, has_ended);
    return ended;
}
#define SLRI_CLEAR(object, threads) slri_clear((void *)&(object), sizeof(object), threads);
SLRI_FN void slri_clear(void *object, slri_u32 bytes, slri_u32 threads)
{
    for (slri_u32 i = threadIdx.x; i < bytes; i += threads)
        ((unsigned char *)object)[i] = 0;
}
#define SLRI_CLEARED slri_meet(0);
#define SLRI_IN_BLOCK__syncthreads() slri_meet(0)
#define SLRI_IN_BLOCK__syncthreads_count(a) slri_vote(slri_here, (a) != 0).count
#define SLRI_IN_BLOCK__syncthreads_or(a) (slri_vote(slri_here, (a) != 0).count != 0)
#define SLRI_IN_BLOCK__syncthreads_and(a) slri_vote(slri_here, (a) != 0).all
struct slri_votes { int count; bool all; };
// Three words take turns: who is at a barrier clears the next one's. Its last readers were there before the barrier
// before, and its voters come behind this one.
SLRI_FN struct slri_votes slri_vote(struct slri_here *here, bool mine)
{
    slri_u32 *word = &here->block->votes[here->vote];
    here->vote = here->vote == 2 ? 0 : here->vote + 1;
    SLRI_PUT_WORD(here->block->votes[here->vote], 0);
    if (mine)
        atomicAdd(word, 1u);
    slri_u32 ended = slri_meet(0);
    struct slri_votes votes = {(int)SLRI_GET_WORD(*word), false};
    votes.all = (slri_u32)votes.count == blockDim.x - ended;
    return votes;
}
// Each of the handler's `threads` has an equal part of the fuel; if the block has more, those have ended. What is set here
// is seen behind SLRI_CLEARED. The call of the handler follows.
#define SLRI_BEGIN_BLOCK(call, threads) \
    __shared__ struct slri_block block; \
    SLRI_PUT_WORD(block.votes[0], 0); \
    SLRI_PUT_WORD(block.first, 0xffffffffu); \
    struct slri_here here = {call, &block, call->fuel / (threads), call->fuel / (threads), 0, 0, 0, 0}; \
    if (threadIdx.x < (threads))
#define SLRI_END_BLOCK(here) slri_end_block(here)
// Gives all threads the fault of the first one that has one. They must meet before the handler is called again.
SLRI_FN slri_u32 slri_end_block(const struct slri_here *here)
{
    struct slri_block *block = here->block;
    if (here->fault)
        atomicMin(&block->first, threadIdx.x);
    while (slri_meet(1) != blockDim.x) {}
    slri_u32 first = SLRI_GET_WORD(block->first);
    if (first == 0xffffffffu)
        return 0;
    if (first == threadIdx.x)
        block->fault = slri_end(here);
    slri_meet(1);
    return SLRI_GET_WORD(block->fault);
}
// What is replied and sent is aligned to 8 (abi/handler.h): without that word it would be copied byte by byte.
#define SLRI_GIVE(to, p) \
    do { \
        unsigned char *slri_to = to; \
        if (slri_to) \
            memcpy(__builtin_assume_aligned(slri_to, 8), __builtin_assume_aligned(p, __alignof__(*(p))), sizeof *(p)); \
    } while (0)
#define SLRI_REPLY(p, file, line) SLRI_GIVE(slri_reply(slri_here, file, line), p)
SLRI_FN unsigned char *slri_reply(struct slri_here *here, slri_u32 file, slri_u32 line)
{
    struct slri_call *call = here->call;
    slri_u32 mine = atomicAdd(&call->replies, 1u);
    if (mine < call->max_replies)
        return call->reply_base + (slri_u64)((call->reply_at + mine) & call->reply_mask) * call->reply_stride;
    atomicSub(&call->replies, 1u);
    slri_fault(here, SLRI_FAULT_REPLIES, file, line);
    return 0;
}
// Of a thread that has many messages, with a call each.
#define SLRI_REPLY_TO(i, p, file, line) SLRI_GIVE(slri_reply_to(slri_here, i, file, line), p)
SLRI_FN unsigned char *slri_reply_to(struct slri_here *here, slri_u32 i, slri_u32 file, slri_u32 line)
{
    struct slri_call *call = here->call + i;
    if (i >= here->call->messages) // the index has faulted
        return 0;
    if (!slri_checked(here, call->replies < call->max_replies, SLRI_FAULT_REPLIES, file, line))
        return 0;
    return call->reply_base +
           (slri_u64)((call->reply_at + call->replies++) & call->reply_mask) * call->reply_stride;
}
#define SLRI_SEND(outlet, instance, p, file, line) SLRI_GIVE(slri_send(slri_here, outlet, instance, file, line), p)
SLRI_FN unsigned char *slri_send(struct slri_here *here, struct slri_out *out, slri_u32 instance, slri_u32 file,
                                 slri_u32 line)
{
    slri_u32 mine = atomicAdd(&out->count, 1u);
    if (mine >= out->most) {
        atomicSub(&out->count, 1u);
        slri_fault(here, SLRI_FAULT_SENDS, file, line);
        return 0;
    }
    unsigned char *at = out->base + (slri_u64)out->stride * mine;
    memcpy(__builtin_assume_aligned(at, 4), &instance, 4);
    return at + SLRI_OUT_HEAD;
}
#endif
