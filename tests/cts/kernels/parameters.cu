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

//: rows_by_pointer block=8 grid=2 a:i32[256]=iota out:i32[256] n:i32=3 : out==0,0,18
__global__ void k(const int (*a)[16], int (*__restrict__ out)[16], int n)
{
    int i = blockIdx.x * 8 + threadIdx.x;
    const int (*row)[16] = a + 1;
    out[i][2] = a[i][2] + (*row)[0];
    out[i][n] = row[-1][i];
    a += i;
    out[i][n + 1] = (*a)[i];
}

//: tables_of_rows block=8 a:i32[128]=iota out:i32[64]
__global__ void k(const int a[][4][4], int out[][2][4])
{
    for (int i = 0; i < 4; i++)
        out[threadIdx.x][i & 1][i] = a[threadIdx.x][i][3 - i];
}

//: aligned_structs block=4 a:i32[32]=iota out:i32[64] s:i32=4,5,6,7 : out==0,4,0,0,0,0,0,0,16,17,18
struct __align__(16) three { int x, y, z; };
struct spread { char c; __align__(16) int first; struct three inner[2]; };
__global__ void k(const struct three *a, struct spread *out, struct three s)
{
    struct spread made = {0};
    made.first = a[threadIdx.x].x;
    made.inner[0] = a[threadIdx.x + 4];
    made.inner[1].x = sizeof(struct spread);
    made.inner[1].y = s.y;
    out[threadIdx.x].first = threadIdx.x + 1;
    if (threadIdx.x == 0) {
        int *words = (int *)out;
        words[1] = s.x;
    }
    __syncthreads();
    out[threadIdx.x].first = made.first;
    out[threadIdx.x].inner[threadIdx.x & 1] = made.inner[0];
    out[threadIdx.x].inner[1].z = made.inner[1].x;
}

//: pairs_of_halves block=16 a:f16[32]=random b:f16[32] s:f16=1.5,2 rows:f16[64]=random
__global__ void k(const half2 *a, half2 *b, half2 s, half2 (*rows)[2])
{
    int i = threadIdx.x;
    half2 v = a[i];
    s.x += (half)i;
    v.x += s.x;
    v.y = s.y * v.y;
    rows[i][1].y = rows[i][0].x + v.x;
    b[15 - i] = v;
}

//: structs_of_arrays_of_structs block=4 a:f32[64]=random out:f32[64] p:f32=1,2,3,4,5,6,7,8
struct pair { float2 at; float weight, more; };
struct set { struct pair of[2]; };
__global__ void k(const struct set *a, struct set *out, struct set p)
{
    p.of[threadIdx.x & 1].at.y += threadIdx.x;
    struct set mine = a[3 - threadIdx.x];
    mine.of[1] = p.of[threadIdx.x & 1];
    out[threadIdx.x] = mine;
    out[threadIdx.x].of[0].at = p.of[0].at;
}

//: wide_accesses_to_aligned_bytes block=32 a:f32[128]=random out:f32[128]
__global__ void k(const float *a, float *out)
{
    __shared__ __align__(16) unsigned char raw[512];
    alignas(16) unsigned char mine[16];
    float4 *wide = (float4 *)raw;
    wide[threadIdx.x] = ((const float4 *)a)[31 - threadIdx.x];
    __syncthreads();
    *(float4 *)mine = wide[threadIdx.x ^ 1];
    for (int i = 0; i < 4; i++)
        out[4 * threadIdx.x + i] = ((const float *)mine)[3 - i];
}

//: vectors_of_every_width out:f64[16] a:i8=1,-2,3 b:u16=65535,2,3,4 c:f32=1.5,2.5,3.5 d:f64=0.25,8 e:i64=-5,6,7,8
//:     f:u32=9,10,11 g:f16=0.5,2 h:u8=255,7 p:f32[12]=iota block=4 : out==1,-2,3,65535,4,3.5,8,-5,276
__global__ void k(double *out, char3 a, ushort4 b, float3 c, double2 d, longlong4 e, dim3 f, half2 g, uchar2 h,
                  const float3 *p)
{
    if (threadIdx.x == 0) {
        out[0] = a.x;
        out[1] = a.y;
        out[2] = a.z;
        out[3] = b.x;
        out[4] = b.w;
        out[5] = c.z;
        out[6] = d.y;
        out[7] = e.x;
        out[8] = e.w + f.z + (float)g.y + h.x;
    }
    c.y += threadIdx.x;
    out[12 + threadIdx.x] = c.y * p[threadIdx.x].z;
}
