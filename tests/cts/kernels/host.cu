// SPDX-License-Identifier: Apache-2.0
// Handlers and kernels that host cases use.

//: echo
struct number { int value; };
__ring__ void echo(const struct number *in)
{
    struct number out = {in->value};
    ring_reply(&out);
}

//: sum
struct number { int value; };
struct total { int sum; int count; };
__ring__ void sum(struct total *self, const struct number *in)
{
    self->sum += in->value;
    self->count++;
    struct number out = {self->sum};
    ring_reply(&out);
}

//: several
struct number { int value; };
__ring__ void several(const struct number *in)
{
    for (int i = 0; i < in->value; i++) {
        struct number out = {i};
        ring_reply(&out);
    }
}

//: divide
struct number { int value; };
struct total { int sum; int count; };
__ring__ void divide(struct total *self, const struct number *in)
{
    self->sum += 1;
    struct number out = {100 / in->value + self->sum * 1000};
    ring_reply(&out);
}

//: never
struct words { int word[8]; };
struct total { int sum; int count; };
__ring__ void never(struct total *self, const struct words *in)
{
    self->sum += in->word[0] / (in->word[7] - in->word[0] - 7);
}

//: spin
struct number { int value; };
__ring__ void spin(const struct number *in)
{
    unsigned x = 1;
    for (int i = 0; i < in->value; i++)
        x = x * 1664525u + 1u;
    struct number out = {(int)(x | 1u)};
    ring_reply(&out);
}

//: counted
struct number { int value; };
__ring__ void counted(const struct number *in)
{
    int x = 0;
    for (int i = in->value; i < 100; i++)
        x += i;
    for (int i = 0; i <= 6; i += 3)
        x += i;
    struct number out = {x};
    ring_reply(&out);
}

//: table
struct number { int value; };
__ring__ void table(const struct number *in, const int *weights, int *counts, int scale)
{
    struct number out = {weights[in->value & 7] * scale};
    counts[in->value & 7] += 1;
    ring_reply(&out);
}

//: index
struct number { int value; };
__ring__ void index(const struct number *in, const int *weights)
{
    struct number out = {weights[in->value]};
    ring_reply(&out);
}

//: which
struct number { int value; };
__ring__ void which(const struct number *in)
{
    struct number out = {(int)ring_instance() * 1000 + in->value};
    ring_reply(&out);
}

//: wide
struct wide { char tag; long long number; double real; short list[5]; };
__ring__ void wide(const struct wide *in)
{
    struct wide out = *in;
    out.number += out.list[4];
    out.real *= 2;
    ring_reply(&out);
}

//: ten
struct ten { int value[10]; };
__ring__ void ten(const struct ten *in)
{
    struct ten out = *in;
    out.value[9] += out.value[0];
    ring_reply(&out);
}

//: order
struct number { int value; };
struct total { int last; int wrong; };
__ring__ void order(struct total *self, const struct number *in)
{
    if (in->value != self->last + 1)
        self->wrong++;
    self->last = in->value;
    struct number out = {self->wrong};
    ring_reply(&out);
}

//: whole
struct words { int word[8]; };
struct number { int value; };
__ring__ void whole(const struct words *in)
{
    struct number out = {in->word[0]};
    for (int k = 1; k < 8; k++)
        if (in->word[k] != in->word[0] + k)
            out.value = -1;
    ring_reply(&out);
}

//: journal
struct number { int value; };
__ring__ void journal(const struct number *in, int *seen)
{
    seen[1 + seen[0]] = in->value;
    seen[0] += 1;
    struct number out = {in->value};
    ring_reply(&out);
}

//: quiet
struct number { int value; };
struct total { int sum; int count; };
__ring__ void quiet(struct total *self, const struct number *in)
{
    self->sum += in->value;
    self->count++;
}

//: add_one
__global__ void add_one(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += 1;
}

//: scale
__global__ void scale(const int *from, int *to, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i] * by;
}

//: mixed
struct pair { int a; float b; };
__global__ void mixed(float x, const float *from, double *to, int n, struct pair p)
{
    int i = threadIdx.x;
    if (i < n)
        to[i] = from[i] * x + p.b + p.a;
}

//: bounded
__global__ void __launch_bounds__(64) bounded(int *out)
{
    out[threadIdx.x] = 1;
}

//: divide_by
__global__ void divide_by(int *data, int by)
{
    data[threadIdx.x] = 5 / by;
}

// Two blocks of one thread. They wait a little for each other, which no device promises to be of use.
// That orders nothing.

//: message_passing
__global__ void message_passing(int *x, int *y, int *out, int n)
{
    int there = 0;
    __nv_atomic_fetch_add(&out[2 * n], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int tries = 0; tries < 3000 && there < 2; tries++)
        there = __nv_atomic_load_n(&out[2 * n], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int i = 0; i < n; i++) {
        if (blockIdx.x == 0) {
            x[i * 16] = 1;
            __nv_atomic_store_n(&y[i * 16], 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
        } else {
            int flag = 0;
            for (int tries = 0; tries < 64 && flag == 0; tries++)
                flag = __nv_atomic_load_n(&y[i * 16], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
            out[2 * i] = flag;
            out[2 * i + 1] = flag ? x[i * 16] : 0;
        }
    }
}

//: message_passing_by_fences
__global__ void message_passing_by_fences(int *x, int *y, int *out, int n)
{
    int there = 0;
    __nv_atomic_fetch_add(&out[2 * n], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int tries = 0; tries < 3000 && there < 2; tries++)
        there = __nv_atomic_load_n(&out[2 * n], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int i = 0; i < n; i++) {
        if (blockIdx.x == 0) {
            x[i * 16] = 1;
            __threadfence();
            __nv_atomic_store_n(&y[i * 16], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        } else {
            int flag = 0;
            for (int tries = 0; tries < 64 && flag == 0; tries++)
                flag = __nv_atomic_load_n(&y[i * 16], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
            __threadfence();
            out[2 * i] = flag;
            out[2 * i + 1] = flag ? x[i * 16] : 0;
        }
    }
}

//: message_passing_by_exchange
__global__ void message_passing_by_exchange(int *x, int *y, int *out, int n)
{
    int there = 0;
    __nv_atomic_fetch_add(&out[2 * n], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int tries = 0; tries < 3000 && there < 2; tries++)
        there = __nv_atomic_load_n(&out[2 * n], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int i = 0; i < n; i++) {
        if (blockIdx.x == 0) {
            x[i * 16] = 1;
            __nv_atomic_exchange_n(&y[i * 16], 1, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
        } else {
            int flag = 0;
            for (int tries = 0; tries < 64 && flag == 0; tries++)
                flag = __nv_atomic_fetch_add(&y[i * 16], 0, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM);
            out[2 * i] = flag;
            out[2 * i + 1] = flag ? x[i * 16] : 0;
        }
    }
}

//: store_buffering
__global__ void store_buffering(int *x, int *y, int *out, int n)
{
    int there = 0;
    __nv_atomic_fetch_add(&out[2 * n], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int tries = 0; tries < 3000 && there < 2; tries++)
        there = __nv_atomic_load_n(&out[2 * n], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int i = 0; i < n; i++) {
        int *own = blockIdx.x == 0 ? &x[i * 16] : &x[i * 16 + 8];
        int *other = blockIdx.x == 0 ? &x[i * 16 + 8] : &x[i * 16];
        __nv_atomic_store_n(own, 1, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
        out[2 * i + blockIdx.x] = __nv_atomic_load_n(other, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
    }
}

//: store_buffering_by_fences
__global__ void store_buffering_by_fences(int *x, int *y, int *out, int n)
{
    int there = 0;
    __nv_atomic_fetch_add(&out[2 * n], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int tries = 0; tries < 3000 && there < 2; tries++)
        there = __nv_atomic_load_n(&out[2 * n], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int i = 0; i < n; i++) {
        int *own = blockIdx.x == 0 ? &x[i * 16] : &x[i * 16 + 8];
        int *other = blockIdx.x == 0 ? &x[i * 16 + 8] : &x[i * 16];
        __nv_atomic_store_n(own, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        __threadfence();
        out[2 * i + blockIdx.x] = __nv_atomic_load_n(other, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
}

//: store_buffering_relaxed
__global__ void store_buffering_relaxed(int *x, int *y, int *out, int n)
{
    int there = 0;
    __nv_atomic_fetch_add(&out[2 * n], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int tries = 0; tries < 3000 && there < 2; tries++)
        there = __nv_atomic_load_n(&out[2 * n], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int i = 0; i < n; i++) {
        int *own = blockIdx.x == 0 ? &x[i * 16] : &x[i * 16 + 8];
        int *other = blockIdx.x == 0 ? &x[i * 16 + 8] : &x[i * 16];
        __nv_atomic_store_n(own, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        out[2 * i + blockIdx.x] = __nv_atomic_load_n(other, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
}

//: load_buffering
__global__ void load_buffering(int *x, int *y, int *out, int n)
{
    int there = 0;
    __nv_atomic_fetch_add(&out[2 * n], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int tries = 0; tries < 3000 && there < 2; tries++)
        there = __nv_atomic_load_n(&out[2 * n], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int i = 0; i < n; i++) {
        int *own = blockIdx.x == 0 ? &x[i * 16] : &x[i * 16 + 8];
        int *other = blockIdx.x == 0 ? &x[i * 16 + 8] : &x[i * 16];
        out[2 * i + blockIdx.x] = __nv_atomic_load_n(other, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_store_n(own, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    }
}

//: load_buffering_relaxed
__global__ void load_buffering_relaxed(int *x, int *y, int *out, int n)
{
    int there = 0;
    __nv_atomic_fetch_add(&out[2 * n], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int tries = 0; tries < 3000 && there < 2; tries++)
        there = __nv_atomic_load_n(&out[2 * n], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int i = 0; i < n; i++) {
        int *own = blockIdx.x == 0 ? &x[i * 16] : &x[i * 16 + 8];
        int *other = blockIdx.x == 0 ? &x[i * 16 + 8] : &x[i * 16];
        out[2 * i + blockIdx.x] = __nv_atomic_load_n(other, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_store_n(own, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    }
}

//: coherence
__global__ void coherence(int *x, int *y, int *out, int n)
{
    int there = 0;
    __nv_atomic_fetch_add(&out[2 * n], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int tries = 0; tries < 3000 && there < 2; tries++)
        there = __nv_atomic_load_n(&out[2 * n], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int i = 0; i < n; i++) {
        if (blockIdx.x == 0) {
            __nv_atomic_store_n(&x[i * 16], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
            __nv_atomic_store_n(&x[i * 16], 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        } else {
            int first = 0, second = 0;
            for (int tries = 0; tries < 64 && first == 0; tries++)
                first = __nv_atomic_load_n(&x[i * 16], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
            second = __nv_atomic_load_n(&x[i * 16], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
            out[2 * i] = first;
            out[2 * i + 1] = second;
        }
    }
}

//: coherence_of_own_write
__global__ void coherence_of_own_write(int *x, int *y, int *out, int n)
{
    int there = 0;
    __nv_atomic_fetch_add(&out[2 * n], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int tries = 0; tries < 3000 && there < 2; tries++)
        there = __nv_atomic_load_n(&out[2 * n], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    for (int i = 0; i < n; i++) {
        int mine = (int)blockIdx.x + 1;
        __nv_atomic_store_n(&x[i * 16], mine, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        int seen = __nv_atomic_load_n(&x[i * 16], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        if (blockIdx.x == 0)
            out[2 * i + 1] = seen; // own, or what the other has put in its place; never what was there before
        else
            out[2 * i] = 0;
    }
}

//: block_sum
struct list { int n; int value[128]; };
struct answer { int sum; int most; };
struct tally { int messages; int sum; };
__device__ int warp_sum(int v)
{
    for (int o = 16; o > 0; o >>= 1)
        v += __shfl_down_sync(0xffffffffu, v, o);
    return v;
}
__ring_block__ __launch_bounds__(64) void block_sum(struct tally *self, const struct list *in)
{
    __shared__ int part[2], most[64];
    int t = threadIdx.x, v = 0, m = -1000000;
    for (int i = t; i < in->n; i += blockDim.x) {
        v += in->value[i];
        m = max(m, in->value[i]);
    }
    v = warp_sum(v);
    if (t % 32 == 0)
        part[t / 32] = v;
    most[t] = m;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half)
            most[t] = max(most[t], most[t + half]);
        __syncthreads();
    }
    if (t == 0) {
        self->messages++;
        self->sum += part[0] + part[1];
        struct answer out = {self->sum, most[0]};
        ring_reply(&out);
    }
}

//: block_each
struct number { int value; };
__ring_block__ __launch_bounds__(48) void block_each(const struct number *in)
{
    struct number out = {(int)threadIdx.x * 100 + (int)blockDim.x};
    if ((int)threadIdx.x < in->value)
        ring_reply(&out);
}

//: block_faults
struct number { int value; };
struct total { int sum; int count; };
__ring_block__ __launch_bounds__(64) void block_faults(struct total *self, const struct number *in)
{
    __shared__ int a[64];
    a[threadIdx.x] = 100 / ((int)threadIdx.x - in->value);
    __syncthreads();
    if (threadIdx.x == 0) {
        self->sum += 1;
        struct number out = {self->sum};
        ring_reply(&out);
    }
}

//: block_spin
struct number { int value; };
__ring_block__ __launch_bounds__(64) void block_spin(const struct number *in)
{
    unsigned x = threadIdx.x;
    for (int i = 0; i < in->value; i++)
        x = x * 1664525u + 1u;
    __shared__ unsigned all[64];
    all[threadIdx.x] = x;
    __syncthreads();
    struct number out = {(int)(all[63] | 1u)};
    if (threadIdx.x == 5)
        ring_reply(&out);
}

//: sender
struct number { int value; };
__ring__ void sender(const struct number *in, ring_to(struct number) even, ring_to(struct number) odd)
{
    struct number half = {in->value / 2};
    if (in->value % 2 == 0)
        ring_send(even, &half);
    else
        ring_send_at(odd, (unsigned)in->value % 3u, in);
    if (in->value == 77)
        half.value /= in->value - 77;
}

//: frame_sum
#include <slipring/ring_slice.h>
struct look { int tag; struct ring_slice frame; };
struct answer { int sum, count; };
__ring__ void frame_sum(const struct look *in, const int *frames)
{
    const int *frame = ring_slice_data(frames, in->frame);
    struct answer out = {0, (int)ring_slice_count(frames, in->frame)};
    for (int i = 0; i < out.count; i++)
        out.sum += frame[i];
    ring_reply(&out);
}

//: frame_pass
#include <slipring/ring_slice.h>
struct look { int tag; struct ring_slice frame; };
__ring__ void frame_pass(const struct look *in, int *frames)
{
    int *frame = ring_slice_data(frames, in->frame);
    frame[0] += 1;
    if (in->tag > 0)
        ring_reply(in);
    frame[1] /= in->tag + 2;
}

//: shout
__global__ void shout(int n)
{
    if ((int)threadIdx.x < n)
        printf("thread %d of %u says %.2f\n", (int)threadIdx.x, blockDim.x, 0.25 * threadIdx.x);
}

//: variables
__constant__ int weight[4];
__device__ int total = 1000, launches[2] = {0, -7};
__device__ void note(int *counts)
{
    atomicAdd(counts, 1);
}
__global__ void weigh(int n)
{
    int i = threadIdx.x;
    if (i < n)
        atomicAdd(&total, weight[i] * (i + 1));
    if (i == 0) {
        note(launches);
        printf("%d weights", n);
    }
}

//: batch_sum
struct number { int value; };
struct total { int sum; int calls; };
struct place { int sum; int at; int of; int calls; };
__ring_batch__ void batch_sum(struct total *self, const struct number *in, unsigned n)
{
    self->calls++;
    for (unsigned i = 0; i < n; i++) {
        self->sum += in[i].value;
        struct place out = {self->sum, (int)i, (int)n, self->calls};
        ring_reply_to(i, &out);
    }
}

//: batch_backwards
struct number { int value; };
__device__ int halved(const struct number *m) { return m->value / 2; }
__ring_batch__ void batch_backwards(const struct number *in, int n, const int *table, int add)
{
    const struct number *at = in + n;
    for (int i = n - 1; i >= 0; i--) {
        at--;
        struct number out = {table[i & 3] + add + halved(&in[i]) + at->value * 1000};
        ring_reply_to(i, &out);
    }
}

//: batch_faults
struct number { int value; };
struct total { int sum; int calls; };
__ring_batch__ void batch_faults(struct total *self, const struct number *in, unsigned n)
{
    struct number out;
    for (unsigned i = 0; i < n; i++) {
        self->sum += 100 / in[i].value;
        out.value = self->sum;
        ring_reply_to(i, &out);
    }
}

//: batch_beyond
struct number { int value; };
__ring_batch__ void batch_beyond(const struct number *in, unsigned n)
{
    struct number out = {in[n - 1u + (unsigned)in[0].value].value};
    ring_reply_to(in[0].value < 0 ? n : 0u, &out);
}

//: batch_twice
struct number { int value; };
__ring_batch__ void batch_twice(const struct number *in, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (int k = 0; k < in[i].value; k++) {
            struct number out = {(int)i * 10 + k};
            ring_reply_to(i, &out);
        }
}

//: batch_pass
struct number { int value; };
__ring_batch__ void batch_pass(const struct number *in, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        ring_reply_to(i, &in[i]);
}

//: batch_frames
#include <slipring/ring_slice.h>
struct look { int tag; struct ring_slice frame; };
__ring_batch__ void batch_frames(const struct look *in, unsigned n, int *frames)
{
    for (unsigned i = 0; i < n; i++) {
        int *frame = ring_slice_data(frames, in[i].frame);
        frame[0] += 1;
        if (in[i].tag == 7 && i + 1u < n)
            ring_reply_to(i, &in[i + 1u]);
        else if (in[i].tag > 0)
            ring_reply_to(i, &in[i]);
        frame[1] /= in[i].tag + 2;
    }
}

//: batch_spin
struct number { int value; };
__ring_batch__ void batch_spin(const struct number *in, unsigned n)
{
    unsigned x = 1u;
    for (int i = 0; i < in[0].value; i++)
        x = x * 1664525u + 1u;
    struct number out = {x == 0u ? 0 : (int)n};
    for (unsigned i = 0; i < n; i++)
        ring_reply_to(i, &out);
}
