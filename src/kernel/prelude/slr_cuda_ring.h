// SPDX-License-Identifier: Apache-2.0
// The part of emitted CUDA C's prelude for handlers: replies, sends, fuel and faults. A handler that faults runs on:
// its loops end, its indices are in bounds, what it would touch outside a buffer is a dump, and whoever called it sees
// the fault; its message is failed and its state reset, so that what it did meanwhile is seen by nobody.
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
#define SLRI_CHECKED_ASSERT(file, line) __slri_assert()
#define SLRI_CHECKED_TRAP(file, line) __trap()
#define SLRI_LIVE(test) test
#define SLRI_LIVE_EDGE(file, line, test) test
#define SLRI_EDGE(file, line)
#define SLRI_NO_STEP
#define SLRI_REPLY(p, file, line) ring_reply(p)
#define SLRI_SEND(outlet, instance, p, file, line) ring_send_at(outlet, instance, p)
#else
#define __ring__ static __device__
#define __ring_block__ static __device__
#define ring_to(message) struct slri_out *
#define ring_instance() (slri_here->call->instance)
struct slri_here {
    struct slri_call *call;
    slri_u32 fault;
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
    here->call->fault_file = file;
    here->call->fault_line = line;
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
#define SLRI_CHECKED_ASSERT(file, line) slri_fault(slri_here, SLRI_FAULT_ASSERT, file, line)
#define SLRI_CHECKED_TRAP(file, line) slri_fault(slri_here, SLRI_FAULT_TRAP, file, line)
#define SLRI_LIVE(test) (!slri_here->fault && (test))
#define SLRI_LIVE_EDGE(file, line, test) (slri_edge(slri_here, file, line), !slri_here->fault && (test))
#define SLRI_EDGE(file, line) slri_edge(slri_here, file, line),
#define SLRI_NO_STEP (void)0
SLRI_FN void slri_edge(struct slri_here *here, slri_u32 file, slri_u32 line)
{
    if (slri_checked(here, here->call->fuel > 1, SLRI_FAULT_FUEL, file, line))
        here->call->fuel--;
    else
        here->call->fuel = 0;
}
#define SLRI_REPLY(p, file, line) slri_reply(slri_here, p, sizeof *(p), file, line)
SLRI_FN void slri_reply(struct slri_here *here, const void *from, slri_u32 bytes, slri_u32 file, slri_u32 line)
{
    struct slri_call *call = here->call;
    slri_u32 mine = atomicAdd(&call->replies, 1u);
    if (mine >= call->max_replies) {
        atomicSub(&call->replies, 1u);
        slri_fault(here, SLRI_FAULT_REPLIES, file, line);
        return;
    }
    memcpy(call->reply_base + (slri_u64)((call->reply_at + mine) & call->reply_mask) * call->reply_stride, from, bytes);
}
#define SLRI_SEND(outlet, instance, p, file, line) slri_send(slri_here, outlet, instance, p, sizeof *(p), file, line)
SLRI_FN void slri_send(struct slri_here *here, struct slri_out *out, slri_u32 instance, const void *from, slri_u32 bytes,
                       slri_u32 file, slri_u32 line)
{
    slri_u32 mine = atomicAdd(&out->count, 1u);
    if (mine >= out->most) {
        atomicSub(&out->count, 1u);
        slri_fault(here, SLRI_FAULT_SENDS, file, line);
        return;
    }
    unsigned char *at = out->base + (slri_u64)out->stride * mine;
    memcpy(at, &instance, 4);
    memcpy(at + SLRI_OUT_HEAD, from, bytes);
}
#endif
