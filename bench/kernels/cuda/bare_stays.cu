// SPDX-License-Identifier: Apache-2.0
// The barest kernels that stay, by hand in CUDA C++: what `slipring bench` measures ring kernels beside. Flags and
// payloads in the host's memory, mapped; no credits, no priorities, no way to stop but a number of messages.
#define SLOTS 256u        // LATENCY_SLOTS of tools/slipring/bench_queue.h
#define QUEUE_SLOTS 1024u // BATCH_SLOTS
#define BATCH 32u         // BENCH_BATCH

struct __align__(16) slot {
    unsigned sequence, unused[3];
    uint4 word[4];
};

// Acquire: the other side's message, which was written before.
template <class T> static __device__ __forceinline__ unsigned look(const T *at)
{
    unsigned value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

// Release: what was written before is there.
static __device__ __forceinline__ void publish(unsigned *at, unsigned value)
{
    asm volatile("st.release.sys.global.u32 [%0], %1;" : : "l"(at), "r"(value) : "memory");
}

static __device__ __forceinline__ void answer(uint4 *to, const uint4 *from)
{
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint4 v = from[k];
        to[k] = make_uint4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);
    }
}

// Two flags: one there, one back.
extern "C" __global__ void echo(slot *ins, slot *outs, unsigned begin, unsigned end)
{
    for (unsigned i = begin; i != end; i++) {
        while (look(&ins[i % SLOTS].sequence) != i + 1)
            ;
        answer(outs[i % SLOTS].word, ins[i % SLOTS].word);
        publish(&outs[i % SLOTS].sequence, i + 1);
    }
}

// The same where one block watches the host's flags and another one answers: what is between them lies in L2.
static __device__ slot relay[SLOTS];

extern "C" __global__ void relayed(slot *ins, slot *outs, unsigned begin, unsigned end)
{
    for (unsigned i = begin; i != end; i++) {
        slot *at = &relay[i % SLOTS];
        const slot *from = blockIdx.x == 0 ? &ins[i % SLOTS] : at;
        slot *to = blockIdx.x == 0 ? at : &outs[i % SLOTS];
        while (look(&from->sequence) != i + 1)
            ;
        if (blockIdx.x == 0)
#pragma unroll
            for (int k = 0; k < 4; k++)
                to->word[k] = from->word[k];
        else
            answer(to->word, from->word);
        publish(&to->sequence, i + 1);
    }
}

// Two blocks hand a message to each other, through L2 alone: the host times so many rounds. Slots by the way they go.
static __device__ slot passed[2][SLOTS];

static __device__ __forceinline__ void await_near(const unsigned *at, unsigned value)
{
    unsigned seen;
    do
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(at) : "memory");
    while (seen != value);
}

extern "C" __global__ void handover(slot *, slot *, unsigned begin, unsigned end)
{
    slot *to = passed[blockIdx.x], *from = passed[1 - blockIdx.x];
    for (unsigned i = begin; i != end; i++) {
        slot *at = &to[i % SLOTS];
        if (blockIdx.x == 1)
            await_near(&from[i % SLOTS].sequence, i + 1);
        answer(at->word, from[i % SLOTS].word);
        asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(&at->sequence), "r"(i + 1) : "memory");
        if (blockIdx.x == 0)
            await_near(&from[i % SLOTS].sequence, i + 1);
    }
}

// A warp reads a batch, a lane a message; all that is published is whole batches.
extern "C" __global__ void reader(unsigned *queue, unsigned *total, unsigned begin, unsigned end)
{
    const uint4 *messages = reinterpret_cast<const uint4 *>(queue + 64);
    unsigned sum = 0;
    for (unsigned at = begin; at != end;) {
        unsigned written = look(queue);
        written = __shfl_sync(0xffffffffu, written, 0);
        __syncwarp(); // what lane 0 has acquired is every lane's
        for (; at != written; at += BATCH) {
            const uint4 *mine = messages + (at + threadIdx.x) % QUEUE_SLOTS * 4;
#pragma unroll
            for (int k = 0; k < 4; k++) {
                uint4 v = mine[k];
                sum += v.x + v.y + v.z + v.w;
            }
            __syncwarp();
            if (threadIdx.x == 0)
                publish(queue + 32, at + BATCH);
        }
    }
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (threadIdx.x == 0)
        *total += sum; // in the host's memory, where atomics may be slow or missing
}
