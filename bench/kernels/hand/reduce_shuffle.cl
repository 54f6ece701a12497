// SPDX-License-Identifier: Apache-2.0
// examples/kernels/reduce_shuffle.cu for a device without sub-groups: the same sums, by a tree in local memory.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void reduce_shuffle(__global const float *restrict in, __global float *restrict out, int n)
{
    __local float part[256];
    int t = get_local_id(0), i = get_global_id(0);
    part[t] = i < n ? in[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s)
            part[t] += part[t + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        out[get_group_id(0)] = part[0];
}
