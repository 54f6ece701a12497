// SPDX-License-Identifier: Apache-2.0
// Shared memory and barriers.

//: neighbours_see_what_was_written block=64 grid=2 a:i32[128]=random out:i32[128]
__global__ void k(const int *a, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = a[i];
    __syncthreads();
    out[i] = s[63 - t] - s[(t + 1) % 64];
}

//: tree_reduction block=256 grid=4 a:f32[1024]=random out:f32[4]
__global__ void k(const float *a, float *out)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 128; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

//: scan_of_two_buffers block=128 grid=2 a:i32[256]=small out:i32[256]
__global__ void k(const int *a, int *out)
{
    __shared__ int s[2][128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, from = 0;
    s[0][t] = a[i];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
        from = 1 - from;
        __syncthreads();
    }
    out[i] = s[from][t];
}

//: tiled_matrix_product grid=2x2 block=8x8 a:f32[256]=random b:f32[256]=random out:f32[256]
__global__ void k(const float *a, const float *b, float *out)
{
    __shared__ float ta[8][8], tb[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    float sum = 0;
    for (int m = 0; m < 2; m++) {
        ta[y][x] = a[row * 16 + m * 8 + x];
        tb[y][x] = b[(m * 8 + y) * 16 + col];
        __syncthreads();
        for (int j = 0; j < 8; j++)
            sum += ta[y][j] * tb[j][x];
        __syncthreads();
    }
    out[row * 16 + col] = sum;
}

//: values_of_a_thread_live_across_barriers block=96 out:i32[96]
__global__ void k(int *out)
{
    __shared__ int s[96];
    int t = threadIdx.x, a = t, c = a ^ 5;
    for (int r = 0; r < 5; r++) {
        s[t] = a + r;
        __syncthreads();
        a += s[(t + r) % 96] * 3;
        c = c * 5 + a;
        __syncthreads();
    }
    out[t] = a ^ c;
}

//: arrays_of_a_thread_live_across_barriers block=32 out:i32[32]
__global__ void k(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x, own[4];
    for (int j = 0; j < 4; j++)
        own[j] = t * j;
    s[t] = own[t & 3];
    __syncthreads();
    own[1] += s[31 - t];
    __syncthreads();
    out[t] = own[0] + own[1] * 2 + own[2] * 3 + own[3] * 4;
}

//: threads_that_have_returned_are_not_waited_for block=64 out:i32[64]
__global__ void k(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    if (t >= 40)
        return;
    __syncthreads();
    out[t] = s[39 - t] + 1;
}

//: a_barrier_in_a_uniform_branch block=32 grid=4 n:i32=3 out:i32[128]
__global__ void k(int n, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x, v = t;
    if (blockIdx.x & 1) {
        s[t] = t * n;
        __syncthreads();
        v += s[31 - t];
    } else if (n > 2)
        v -= n;
    out[blockIdx.x * 32 + t] = v;
}

//: a_barrier_in_a_switch block=32 n:i32=1 out:i32[32]
__global__ void k(int n, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x, v = t;
    switch (n) {
    case 0:
        v = 100;
        break;
    case 1:
        s[t] = v;
        __syncthreads();
        v = s[16];
    default:
        v ^= 1;
    }
    out[t] = v + t;
}

//: a_barrier_in_a_device_function block=64 out:i32[64]
__device__ int turn(int *s, int x)
{
    s[threadIdx.x] = x;
    __syncthreads();
    int y = s[(threadIdx.x + 1) % 64];
    __syncthreads();
    return y;
}
__global__ void k(int *out)
{
    __shared__ int s[64];
    int y = turn(s, (int)threadIdx.x * 3);
    out[threadIdx.x] = turn(s, y + 1) - y;
}

//: barriers_that_count block=48 a:i32[48]=iota out:i32[144]
__global__ void k(const int *a, int *out)
{
    int v = a[threadIdx.x] % 5;
    int many = __syncthreads_count(v), all = __syncthreads_and(v < 5), any = __syncthreads_or(v == 7);
    out[3 * threadIdx.x] = many;
    out[3 * threadIdx.x + 1] = all != 0;
    out[3 * threadIdx.x + 2] = any != 0;
}

//: global_memory_is_ordered_within_a_block block=64 grid=2 work:i32[128] out:i32[128]
__global__ void k(int *work, int *out)
{
    int t = threadIdx.x, first = blockIdx.x * 64;
    work[first + t] = t * t;
    __syncthreads();
    out[first + t] = work[first + 63 - t];
}

//: dynamic_shared_memory block=64 shared=512 a:i32[64]=random out:i32[64]
__global__ void k(const int *a, int *out)
{
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = a[t];
    s[64 + t] = a[63 - t];
    __syncthreads();
    out[t] = s[127 - t] ^ s[(t * 7) % 64];
}

//: dynamic_beside_static_shared_memory block=32 shared=128 out:i32[32]
__global__ void k(int *out)
{
    extern __shared__ int d[];
    __shared__ int s[32];
    __shared__ double e;
    int t = threadIdx.x;
    d[t] = t;
    s[t] = 100;
    if (t == 0)
        e = 0.5;
    __syncthreads();
    out[t] = d[31 - t] + s[t] + (int)(e * 2);
}

//: shared_structs_and_mixed_types block=32 out:f32[32]
struct cell { char tag; double d; short s[3]; };
__global__ void k(float *out)
{
    __shared__ struct cell c[32];
    int t = threadIdx.x;
    c[t].tag = (char)t;
    c[t].d = t * 0.25;
    c[t].s[t % 3] = (short)(t * 9);
    __syncthreads();
    int u = 31 - t;
    out[t] = (float)(c[u].d + c[u].tag + c[u].s[u % 3]);
}

//: one_thread_of_a_block_announces block=64 grid=3 out:i32[192]
__global__ void k(int *out)
{
    __shared__ int which;
    if (threadIdx.x == 5)
        which = (int)blockIdx.x * 10 + 7;
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = which;
}

//: the_last_block_sums_up block=32 grid=8 part:i32[8] done:i32[1] out:i32[1] : out==32640
__global__ void k(int *part, int *done, int *out)
{
    __shared__ int sum, last;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, (int)(blockIdx.x * 32 + threadIdx.x));
    __syncthreads();
    if (threadIdx.x == 0) {
        part[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(done, 1) == 7;
        __threadfence(); // what the others have put down before their additions
    }
    __syncthreads();
    if (last && threadIdx.x < 8)
        atomicAdd(out, __nv_atomic_load_n(&part[threadIdx.x], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE));
}

//: a_loop_whose_trips_depend_on_the_launch block=32 n:i32=7 out:i32[32]
__global__ void k(int n, int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (int r = 0; r < n; r++) {
        int v = s[(t + 1) % 32];
        __syncthreads();
        s[t] = v + r;
        __syncthreads();
        if (r == n - 2)
            break;
    }
    out[t] = s[t];
}

//: barriers_in_three_dimensions grid=2 block=4x4x2 out:i32[64]
__global__ void k(int *out)
{
    __shared__ int s[2][4][4];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    s[z][y][x] = x + 10 * y + 100 * z;
    __syncthreads();
    out[blockIdx.x * 32 + z * 16 + y * 4 + x] = s[1 - z][x][y];
}

//: a_combined_value_in_a_variable_that_varies block=64 a:i32[64]=random out:i32[64] : out==0,0,0
__global__ void k(const int *a, int *out)
{
    int v = a[threadIdx.x];
    out[threadIdx.x] = v;
    v = __syncthreads_or(0);
    out[threadIdx.x] = v;
}

//: a_combined_value_by_rows block=8x4 a:i32[32]=iota out:i32[32] : out==31,31
__global__ void k(const int *a, int *out)
{
    int i = threadIdx.y * 8 + threadIdx.x, v = a[i];
    v = __syncthreads_count(v);
    out[i] = v;
}
