// SPDX-License-Identifier: Apache-2.0
// A loop of many turns and then one of few, in the kernel subset: engine/own_kernel.c. W gets how many turns the first
// took, what they have made of 1, and how many the second took.
__global__ void slr_canary(unsigned *W, unsigned turns, unsigned few)
{
    unsigned i = 0u, x = 1u, k = 0u;
    while (i < turns) {
        x = x * 1664525u + 1013904223u;
        i = i + 1u;
    }
    W[0] = i;
    W[1] = x;
    while (k < few)
        k = k + 1u;
    W[2] = k;
}
