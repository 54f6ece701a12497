// SPDX-License-Identifier: Apache-2.0
// What kernels read and write.

//: copies_of_every_width block=64 a:i8[64]=random b:i16[64]=random c:i32[64]=random d:i64[64]=random
//:     e:i8[64] f:i16[64] g:i32[64] h:i64[64]
__global__ void k(const char *a, const short *b, const int *c, const long long *d, char *e, short *f, int *g,
                  long long *h)
{
    int i = threadIdx.x;
    e[i] = a[63 - i];
    f[i] = b[63 - i];
    g[i] = c[63 - i];
    h[i] = d[63 - i];
}

//: copies_of_floats block=64 a:f32[64]=edges b:f64[64]=edges c:f32[64] d:f64[64]
__global__ void k(const float *a, const double *b, float *c, double *d)
{
    c[threadIdx.x] = a[63 - threadIdx.x];
    d[threadIdx.x] = b[63 - threadIdx.x];
}

//: arrays_of_structs block=16 a:i32[64]=iota out:i32[64]
struct item { int id; short low, high; float weight; int link; };
__global__ void k(const struct item *a, struct item *out)
{
    struct item it = a[15 - threadIdx.x];
    it.low += 5;
    it.link = out[threadIdx.x].id;
    out[threadIdx.x] = it;
}

//: strided_and_gathered_reads block=64 a:i32[256]=random at:i32[64]=small out:i32[64]
__global__ void k(const int *a, const int *at, int *out)
{
    int i = threadIdx.x;
    out[i] = a[i * 4] + a[at[i]] - a[255 - i];
}

//: an_index_that_wraps block=64 a:i32[64]=random out:i32[64]
__global__ void k(const int *a, int *out)
{
    unsigned t = threadIdx.x;
    out[t] = a[t * 7u % 64u];
}

//: a_masked_offset_below_zero block=16 out:i32[16] : out==4,5,6,7,12,13,14,15,20
__global__ void k(int *out)
{
    unsigned char a[64];
    int t = threadIdx.x, x = t - 4;
    for (int i = 0; i < 64; i++)
        a[i] = (unsigned char)(i + t);
    out[t] = a[(x & ~3) + 8];
}

//: an_offset_in_bytes_below_zero block=8 out:i32[8] : out==10,11,12,13,24,25
__global__ void k(int *out)
{
    int a[16], t = threadIdx.x, x = t - 4;
    for (int i = 0; i < 16; i++)
        a[i] = i * 10 + t;
    out[t] = *(int *)((char *)a + ((x & ~3) + 8));
}

//: an_offset_in_bytes_that_wraps block=4 out:i32[8] : out==0,11,22,33,8,21,34,47
__global__ void k(int *out)
{
    int a[16];
    unsigned char b[64];
    unsigned t = threadIdx.x, x = 0x40000000u + t, y = 0x55555556u + t;
    for (int i = 0; i < 16; i++)
        a[i] = i * 10 + (int)t;
    for (int i = 0; i < 64; i++)
        b[i] = (unsigned char)(i + t);
    out[t] = *(int *)((char *)a + x * 4u);
    out[4 + t] = b[y * 12u];
}

//: scattered_writes block=64 out:i32[256]=-1
__global__ void k(int *out)
{
    out[threadIdx.x * 37 % 256] = (int)threadIdx.x;
}

//: bytes_beside_each_other block=256 a:u8[256]=random out:u8[256]
__global__ void k(const unsigned char *a, unsigned char *out)
{
    int i = threadIdx.x;
    if (i % 3 != 1)
        out[i] = (unsigned char)(a[i] + 1);
}

//: the_last_element_and_no_further block=64 grid=2 a:i32[100]=random out:i32[100] n:i32=100
__global__ void k(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a[n - 1 - i];
}

//: one_buffer_read_and_written block=64 a:i32[64]=iota
__global__ void k(int *a)
{
    a[threadIdx.x] = a[threadIdx.x] * 2 + 1;
}

//: const_and_restrict block=64 a:f32[64]=random b:f32[64]=random out:f32[64]
__global__ void k(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out)
{
    out[threadIdx.x] = a[threadIdx.x] - b[63 - threadIdx.x];
}

//: reads_through_ldg block=64 a:f32[64]=random out:f32[64]
__global__ void k(const float *a, float *out)
{
    out[threadIdx.x] = __ldg(&a[63 - threadIdx.x]);
}

//: vectors_of_four block=16 a:f32[64]=random b:u8[64]=random out:f32[64] to:u8[64]
__global__ void k(const float4 *a, const uchar4 *b, float4 *out, uchar4 *to)
{
    float4 v = a[threadIdx.x];
    uchar4 u = b[15 - threadIdx.x];
    v.x = v.y * v.z;
    u.w = u.x;
    out[threadIdx.x] = v;
    to[threadIdx.x] = u;
}

//: floats_read_as_vectors block=16 a:f32[64]=random out:f32[16]
__global__ void k(const float *a, float *out)
{
    const float4 *v = reinterpret_cast<const float4 *>(a);
    float4 x = v[threadIdx.x];
    out[threadIdx.x] = x.x + x.y + x.z + x.w;
}

//: two_parameters_into_one_struct block=8 a:i32[16]=iota out:i32[8]
struct both { int x, y; };
__global__ void k(const struct both *a, int *out)
{
    const int *x = &a[threadIdx.x].x;
    out[threadIdx.x] = *x * 10 + a[threadIdx.x].y;
}

//: constant_memory_with_structs block=4 out:f32[4] : out==1.5,5,10.5,18
struct term { float factor; int power; };
__constant__ struct term terms[4] = {{1.5f, 1}, {2.5f, 2}, {3.5f, 3}, {4.5f, 4}};
__global__ void k(float *out)
{
    out[threadIdx.x] = terms[threadIdx.x].factor * terms[threadIdx.x].power;
}

//: constant_text_and_halves block=4 out:i32[4] : out==104,101,108,0
__constant__ char word[4] = "hel";
__global__ void k(int *out)
{
    out[threadIdx.x] = word[threadIdx.x];
}

//: fences_between_writes block=32 a:i32[32] out:i32[32]
__global__ void k(int *a, int *out)
{
    a[threadIdx.x] = 5;
    __threadfence_block();
    a[threadIdx.x] += 1;
    __threadfence();
    out[threadIdx.x] = a[threadIdx.x];
    __threadfence_system();
}

//: large_indices block=64 a:u8[70000]=random out:u8[64]
__global__ void k(const unsigned char *a, unsigned char *out)
{
    unsigned long long i = 69999ull - threadIdx.x * 1000ull;
    out[threadIdx.x] = a[i];
}

//: negative_offsets_from_the_middle block=32 a:i32[64]=iota out:i32[32] : out==32,30,28
__global__ void k(const int *a, int *out)
{
    const int *middle = a + 32;
    int t = threadIdx.x;
    out[t] = middle[-t] - t;
}

//: variables_begin_with_their_values block=8 out:f32[8] next:i32[8] : out==1.5,-1,1.5,-1 next==5,8,5,8
struct step { float factor; short add; };
__device__ struct step steps[2] = {{1.5f, 4}, {0, 7}};
__device__ unsigned char none[3];
__device__ bool is_odd[2] = {false, true};
__device__ long far[2];
__device__ short take(const struct step *step, int i)
{
    return step[i].add;
}
__global__ void k(float *out, int *next)
{
    int i = threadIdx.x;
    out[i] = is_odd[i % 2] ? -1.0f : steps[i % 2].factor + none[i % 3];
    next[i] = take(steps, i % 2) + 1 + (int)far[i % 2];
}

//: variables_hold_what_a_block_writes block=32 out:i32[32] : out==31,30,29
__device__ int own[32];
__device__ int marks;
__global__ void k(int *out)
{
    int i = threadIdx.x;
    own[i] = i;
    atomicOr(&marks, 1 << i);
    __syncthreads();
    out[i] = marks == -1 ? own[31 - i] : -1;
}
