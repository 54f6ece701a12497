// SPDX-License-Identifier: Apache-2.0
// Functions of a warp: 32 threads of a block in order of x, then y, then z.

//: shuffle_from_one_lane block=64 out:i32[64] : out==70,70,70
__global__ void k(int *out)
{
    out[threadIdx.x] = __shfl_sync(0xffffffff, (int)threadIdx.x * 10, 7);
}

//: shuffle_up_keeps_the_first block=32 out:i32[32] : out==0,10,0,10,20
__global__ void k(int *out)
{
    out[threadIdx.x] = __shfl_up_sync(0xffffffff, (int)threadIdx.x * 10, 2);
}

//: shuffle_down_keeps_the_last block=32 out:i32[32] : out==30,40,50
__global__ void k(int *out)
{
    out[threadIdx.x] = __shfl_down_sync(0xffffffff, (int)threadIdx.x * 10, 3);
}

//: shuffle_xor_swaps block=32 out:i32[32] : out==10,0,30,20
__global__ void k(int *out)
{
    out[threadIdx.x] = __shfl_xor_sync(0xffffffff, (int)threadIdx.x * 10, 1);
}

//: shuffles_of_a_width block=32 out:i32[128]
__global__ void k(int *out)
{
    int t = threadIdx.x;
    out[4 * t] = __shfl_sync(0xffffffff, t, 5, 8);
    out[4 * t + 1] = __shfl_up_sync(0xffffffff, t, 1, 4);
    out[4 * t + 2] = __shfl_down_sync(0xffffffff, t, 9, 16);
    out[4 * t + 3] = __shfl_xor_sync(0xffffffff, t, 3, 2);
}

//: shuffles_of_every_type block=32 out:f64[32] big:u64[32] f:f32[32]
__global__ void k(double *out, unsigned long long *big, float *f)
{
    int t = threadIdx.x;
    out[t] = __shfl_down_sync(0xffffffff, t + 0.5, 1);
    big[t] = __shfl_xor_sync(0xffffffff, (unsigned long long)t << 40, 16);
    f[t] = __shfl_up_sync(0xffffffff, t * 0.25f, 1);
}

//: butterfly_sum block=128 grid=2 a:i32[256]=small out:i32[256]
__global__ void k(const int *a, int *out)
{
    int i = blockIdx.x * 128 + threadIdx.x, v = a[i];
    for (int m = 16; m > 0; m >>= 1)
        v += __shfl_xor_sync(0xffffffff, v, m);
    out[i] = v;
}

//: sum_by_halving_with_shared_memory block=256 a:i32[256]=small out:i32[1]
__global__ void k(const int *a, int *out)
{
    __shared__ int part[8];
    int t = threadIdx.x, v = a[t];
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (t % 32 == 0)
        part[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = t < 8 ? part[t] : 0;
        for (int d = 4; d > 0; d >>= 1)
            v += __shfl_down_sync(0xffffffff, v, d);
        if (t == 0)
            out[0] = v;
    }
}

//: scan_of_a_warp block=64 a:i32[64]=small out:i32[64]
__global__ void k(const int *a, int *out)
{
    int lane = threadIdx.x & 31, v = a[threadIdx.x];
    for (int d = 1; d < 32; d *= 2) {
        int u = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d)
            v += u;
    }
    out[threadIdx.x] = v;
}

//: ballot_gives_the_lanes block=64 out:u32[64] : out==1227133513
__global__ void k(unsigned *out)
{
    out[threadIdx.x] = __ballot_sync(0xffffffff, (threadIdx.x & 31) % 3 == 0);
}

//: all_and_any block=64 out:i32[64]
__global__ void k(int *out)
{
    int t = threadIdx.x;
    out[t] = __all_sync(0xffffffff, t < 40) * 2 + __any_sync(0xffffffff, t == 33);
}

//: match_any block=32 out:u32[32] : out==1431655765,2863311530
__global__ void k(unsigned *out)
{
    out[threadIdx.x] = __match_any_sync(0xffffffff, (int)threadIdx.x % 2);
}

//: reduce_over_a_warp block=32 a:i32[32]=random out:i32[96]
__global__ void k(const int *a, int *out)
{
    int t = threadIdx.x;
    out[3 * t] = __reduce_add_sync(0xffffffff, a[t]);
    out[3 * t + 1] = __reduce_min_sync(0xffffffff, a[t]);
    out[3 * t + 2] = __reduce_max_sync(0xffffffff, a[t]);
}

//: reduce_bits_over_a_warp block=32 a:u32[32]=random out:u32[96]
__global__ void k(const unsigned *a, unsigned *out)
{
    int t = threadIdx.x;
    out[3 * t] = __reduce_and_sync(0xffffffff, a[t] | 0xf0u);
    out[3 * t + 1] = __reduce_or_sync(0xffffffff, a[t] & 0xff00u);
    out[3 * t + 2] = __reduce_xor_sync(0xffffffff, a[t]);
}

//: part_of_a_warp block=32 out:i32[32]
__global__ void k(int *out)
{
    int t = threadIdx.x;
    if (t < 8)
        out[t] = __shfl_xor_sync(0xff, t, 1);
    else
        out[t] = -1;
    __syncwarp();
}

//: a_last_warp_that_is_not_full block=40 out:u32[40]
__global__ void k(unsigned *out)
{
    unsigned mask = threadIdx.x < 32 ? 0xffffffffu : 0xffu;
    out[threadIdx.x] = __ballot_sync(mask, 1);
}

//: active_mask_of_whole_warps block=64 out:u32[64] : out==4294967295
__global__ void k(unsigned *out)
{
    out[threadIdx.x] = __activemask();
}

//: syncwarp_orders_shared_memory block=32 out:i32[32]
__global__ void k(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t * 3;
    __syncwarp();
    out[t] = s[31 - t];
}

//: lanes_in_two_dimensions block=8x8 out:i32[64]
__global__ void k(int *out)
{
    int t = threadIdx.y * 8 + threadIdx.x;
    out[t] = __shfl_sync(0xffffffff, t, 9);
}

//: a_shuffle_in_a_uniform_loop block=64 n:i32=5 out:i32[64]
__global__ void k(int n, int *out)
{
    int v = threadIdx.x;
    for (int i = 0; i < n; i++)
        v = v * 3 + __shfl_sync(0xffffffff, v, i);
    out[threadIdx.x] = v;
}

//: a_shuffle_in_a_device_function block=64 out:i32[64]
__device__ int next(int v)
{
    return __shfl_sync(0xffffffff, v, (int)(threadIdx.x + 1) & 31);
}
__global__ void k(int *out)
{
    out[threadIdx.x] = next(next((int)threadIdx.x)) - (int)threadIdx.x;
}

//: warps_whose_threads_part block=96 a:i32[96]=small out:i32[96]
__device__ int warp_max(int v)
{
    for (int d = 16; d > 0; d /= 2)
        v = max(v, __shfl_xor_sync(0xffffffff, v, d));
    return v;
}
__device__ int warp_rank(int v)
{
    int rank = 0;
    for (int d = 2; d < 32; d += 2)
        rank += __shfl_down_sync(0x55555555, v, d) < v;
    return rank;
}
__global__ void k(const int *a, int *out)
{
    int t = threadIdx.x, v = a[t];
    if (t < 32)
        v += warp_max(v);
    else if (t < 64 && __any_sync(0xffffffff, v > 3)) {
        int below = __shfl_up_sync(0xffffffff, v, 1);
        v += t % 2 ? below : __reduce_add_sync(0x55555555, warp_rank(below));
    } else
        v = -v;
    out[t] = v;
}

//: rounds_that_each_warp_ends_by_itself block=96 a:i32[96]=small out:i32[96]
__global__ void k(const int *a, int *out)
{
    int t = threadIdx.x, v = a[t], seen = 0;
    for (int round = 0; round < 8; round++) {
        int most = __reduce_max_sync(0xffffffff, v);
        if (round % 3 == t / 32)
            continue;
        if (most < round * 3 - t / 32)
            break;
        seen += __popc(__ballot_sync(0xffffffff, v == most)) + round;
        v -= 1;
    }
    do
        v += __shfl_down_sync(0xffffffff, v, 1);
    while (__any_sync(0xffffffff, v < 20 + t / 32 && v > 0) && seen++ < 100);
    out[t] = v + 1000 * seen;
}

//: lanes_that_have_returned_take_no_part block=64 a:i32[64]=small out:i32[64] found:u32[64]
__device__ int clipped(int v, int most)
{
    if (v > most)
        return most;
    v += 1;
    return v;
}
__global__ void k(const int *a, int *out, unsigned *found)
{
    __shared__ int s[64];
    int t = threadIdx.x, v = a[t];
    out[t] = -1;
    found[t] = 0;
    s[t] = v;
    if (t % 32 >= 20)
        return;
    __syncthreads();
    found[t] = __ballot_sync(0xfffff, v > 0);
    v = clipped(v + __shfl_up_sync(0xfffff, v, 2), 9);
    if (t < 32 && v == 9)
        return;
    int many = __syncthreads_count(v > 2), all = __syncthreads_and(v < 10), any = __syncthreads_or(t == 3);
    for (int i = 0; i < 2; i++) {
        s[t] = v + i;
        __syncthreads();
        v += s[63 - t] * (i + 1);
        __syncthreads();
    }
    out[t] = v + 100 * many + 10000 * all + 20000 * any;
}

//: a_function_that_some_lanes_leave_early block=64 a:i32[64]=small out:i32[64]
__device__ int climb(int v, int t)
{
    int by = __shfl_xor_sync(0xffffffff, v, 1);
    if (t / 32 == 1)
        return by;
    for (;;) {
        v += __shfl_up_sync(0xffffffff, by, 1);
        if (__all_sync(0xffffffff, v > 30))
            break;
        v += 5;
    }
    return v;
}
__global__ void k(const int *a, int *out)
{
    int t = threadIdx.x;
    out[t] = climb(a[t], t) * 2 + climb(t, t);
}
