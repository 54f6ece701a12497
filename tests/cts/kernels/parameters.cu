// SPDX-License-Identifier: Apache-2.0
// Parameters are variables of each thread. What one thread assigns, no other thread and no later block sees.

//: a_pointer_moves_by_the_thread block=8 grid=2 src:i32[32]=iota out:i32[16] : out==0,10,20,30,40,50,60,70,0,10,20,30
__global__ void k(const int *src, int *out)
{
    out += blockIdx.x * 8;
    src += threadIdx.x;
    out[threadIdx.x] = *src * 10;
}

//: a_pointer_moves_by_the_block block=4 grid=3 src:i32[64]=iota out:i32[12] : out==0,1,2,3,10,11,12,13,20,21,22,23
__global__ void k(const int *src, int *out)
{
    src += blockIdx.x * 10;
    out += blockIdx.x * blockDim.x;
    out[threadIdx.x] = src[threadIdx.x];
}

//: a_pointer_moves_by_the_row grid=2 block=8x4 src:i32[128]=iota out:i32[64]
__global__ void k(const int *src, int *out)
{
    src += threadIdx.y * 8;
    out += blockIdx.x * 32 + threadIdx.y * 8;
    out[threadIdx.x] = src[threadIdx.x] + 1000 * threadIdx.y;
}

//: a_pointer_moves_twice grid=2 block=32 src:i32[128]=iota out:i32[64]
__global__ void k(const int *src, int *out)
{
    src += blockIdx.x * blockDim.x;
    src += threadIdx.x;
    out = &out[blockIdx.x * blockDim.x];
    out[threadIdx.x] = src[1] - src[0] + src[31];
}

//: a_pointer_moves_in_a_branch grid=2 block=16 src:i32[64]=iota out:i32[32]
__global__ void k(const int *src, int *out)
{
    const int *start = src;
    if (threadIdx.x & 1)
        src += threadIdx.x;
    else if (blockIdx.x)
        src = start + 40;
    else
        src++;
    out[blockIdx.x * 16 + threadIdx.x] = *src;
}

//: a_pointer_moves_in_a_loop grid=2 block=16 src:i32[256]=iota out:i32[32]
__global__ void k(const int *src, int *out)
{
    int sum = 0;
    for (int i = 0; i < (int)threadIdx.x; i++) {
        sum += *src;
        src += 1 + (i & 1) + blockIdx.x;
    }
    out[blockIdx.x * 16 + threadIdx.x] = sum + *src;
}

//: a_pointer_moves_across_barriers grid=3 block=32 src:i32[128]=iota out:i32[96]
__global__ void k(const int *src, int *out)
{
    __shared__ int part[32];
    src += threadIdx.x;
    part[threadIdx.x] = *src;
    __syncthreads();
    src += part[31 - threadIdx.x];
    out += blockIdx.x * 32;
    __syncthreads();
    if (threadIdx.x > 3) {
        out += threadIdx.x;
        *out = *src;
    } else {
        out[threadIdx.x] = -1;
    }
}

//: a_pointer_moves_where_some_threads_meet block=64 src:i32[128]=iota out:i32[64]
__global__ void k(const int *src, int *out)
{
    bool chosen = threadIdx.x % 3 == 0;
    unsigned who = __ballot_sync(0xffffffffu, chosen);
    if (chosen) {
        src += threadIdx.x & 7;
        int sum = __reduce_add_sync(who, *src);
        src += sum & 15;
    }
    out[threadIdx.x] = *src;
}

//: pointers_move_where_threads_return_early grid=2 block=32 src:i32[128]=iota out:i32[64] n:i32=20
__global__ void k(const int *src, int *out, int n)
{
    out += blockIdx.x * 32 + threadIdx.x;
    src += threadIdx.x;
    for (int i = 0; i < 4; i++) {
        if ((int)threadIdx.x + i > n)
            return;
        *out += *src++;
    }
}

//: a_number_differs_by_thread grid=2 block=32 out:i32[64] n:i32=5 f:f32=2
__global__ void k(int *out, int n, float f)
{
    n += threadIdx.x;
    f *= n;
    out[blockIdx.x * 32 + threadIdx.x] = n * 1000 + (int)f;
}

//: a_number_differs_by_block grid=4 block=8 out:i32[32] n:i32=5
__global__ void k(int *out, int n)
{
    n = n * 2 + blockIdx.x;
    if (n & 1)
        n += 100;
    out[blockIdx.x * 8 + threadIdx.x] = n;
}

//: a_number_counts_down_in_a_loop grid=2 block=32 out:i32[64] n:i32=40
__global__ void k(int *out, int n)
{
    int trips = 0;
    while (n > (int)threadIdx.x) {
        n -= 1 + blockIdx.x;
        trips++;
    }
    out[blockIdx.x * 32 + threadIdx.x] = trips * 100 + n;
}

//: a_number_differs_across_barriers grid=2 block=32 out:i32[64] n:i32=3
__global__ void k(int *out, int n)
{
    __shared__ int part[32];
    n += threadIdx.x;
    part[threadIdx.x] = n;
    __syncthreads();
    n += part[(threadIdx.x + 1) & 31];
    out[blockIdx.x * 32 + threadIdx.x] = n;
}

//: the_address_of_a_number block=32 grid=2 out:i32[64] n:i32=7
__device__ void add(int *to, int what)
{
    *to += what;
}
__global__ void k(int *out, int n)
{
    add(&n, threadIdx.x);
    out[blockIdx.x * 32 + threadIdx.x] = n;
}

//: a_member_differs_by_thread grid=2 block=32 out:i32[64] s:i32=4,5,6
struct three { int x, y, z; };
__global__ void k(int *out, struct three s)
{
    s.x += threadIdx.x;
    if (threadIdx.x & 1)
        s.y = s.x * 2;
    s.z++;
    out[blockIdx.x * 32 + threadIdx.x] = s.x * 10000 + s.y * 100 + s.z;
}

//: an_element_of_a_member_differs_by_thread grid=2 block=32 out:i32[64] s:i32=4,5,6,7,8
struct five { int first, more[4]; };
__global__ void k(int *out, struct five s)
{
    s.more[threadIdx.x & 3] += blockIdx.x + threadIdx.x;
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = s.first + s.more[0] * 10 + s.more[1] * 100 + s.more[2] * 1000 + s.more[3];
}

//: a_whole_struct_is_assigned grid=2 block=16 out:i32[32] s:i32=4,5,6
struct three { int x, y, z; };
__global__ void k(int *out, struct three s)
{
    struct three other = {(int)threadIdx.x, (int)blockIdx.x, 9};
    if (threadIdx.x > 7)
        s = other;
    out[blockIdx.x * 16 + threadIdx.x] = s.x * 10000 + s.y * 100 + s.z;
}
