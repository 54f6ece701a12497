// SPDX-License-Identifier: Apache-2.0
// A kernel and a handler, for threads_test.mjs.

export const SUM = `__global__ void sum(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < 100; k++)
            y[i] += x[i] * k;
}
struct state { int seen; }; struct step { int by; };
__ring__ void add(struct state *self, const struct step *in)
{
    self->seen += in->by;
    ring_reply(&self->seen);
}
`;
