// SPDX-License-Identifier: Apache-2.0
// What is launched for a message, or for a thousand, by hand in CUDA C++: see bare_stays.cu.
struct slot {
    unsigned sequence, unused[3], word[16];
};

extern "C" __global__ void once(slot *ins, slot *outs, unsigned i)
{
    for (int k = 0; k < 16; k++)
        outs[i % 256u].word[k] = ins[i % 256u].word[k] + 1u;
}

// The number of the message stands in front of the first slot's: of a graph, whose arguments stay.
extern "C" __global__ void next(slot *ins, slot *outs)
{
    unsigned i = ins[0].unused[0];
    for (int k = 0; k < 16; k++)
        outs[i % 256u].word[k] = ins[i % 256u].word[k] + 1u;
}

extern "C" __global__ void adder(const unsigned *messages, unsigned *sums)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int k = 0; k < 16; k++)
        sum += messages[i * 16u + k];
    sums[i] += sum;
}
