// SPDX-License-Identifier: Apache-2.0
// Shapes of launches, and arguments.

//: one_thread out:i32[4] : out==1,1,0,0
__global__ void k(int *out)
{
    out[0] = blockDim.x;
    out[1] = gridDim.x;
    out[2] = threadIdx.x;
    out[3] = blockIdx.x;
}

//: a_block_of_an_odd_size block=37 grid=3 out:i32[111]
__global__ void k(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i * i;
}

//: the_largest_block block=1024 grid=2 out:i32[2048]
__global__ void k(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = (int)threadIdx.x;
}

//: two_dimensions grid=3x2 block=8x4 out:i32[192]
__global__ void k(int *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * 24 + x] = x * 100 + y;
}

//: three_dimensions grid=2x2x3 block=4x2x2 out:i32[192]
__global__ void k(int *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    out[(z * 4 + y) * 8 + x] = x + 10 * y + 100 * z;
}

//: sizes_are_seen_by_the_kernel grid=2x3x4 block=5x6x7 out:i32[6] : out==2,3,4,5,6,7
__global__ void k(int *out)
{
    out[0] = gridDim.x;
    out[1] = gridDim.y;
    out[2] = gridDim.z;
    out[3] = blockDim.x;
    out[4] = blockDim.y;
    out[5] = blockDim.z;
}

//: many_small_blocks grid=5000 block=1 out:i32[5000]
__global__ void k(int *out)
{
    out[blockIdx.x] = (int)blockIdx.x + 1;
}

//: a_grid_that_strides grid=4 block=32 a:i32[1000]=random out:i32[1000] n:i32=1000
__global__ void k(const int *a, int *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = a[i] ^ i;
}

//: launches_follow_each_other block=64 times=10 a:i32[64]=iota
__global__ void k(int *a)
{
    a[threadIdx.x] = a[(threadIdx.x)] * 3 + 1;
}

//: numbers_of_every_type block=1 a:i32=-5 b:u32=4000000000 c:i64=-5000000000 d:f32=0.5 e:f64=0.1 out:f64[5]
//:     : out==-5,4000000000,-5000000000,0.5,0.1
__global__ void k(int a, unsigned b, long long c, float d, double e, double *out)
{
    out[0] = a;
    out[1] = b;
    out[2] = (double)c;
    out[3] = d;
    out[4] = e;
}

//: narrow_numbers a:i32=-7 b:u32=200 c:i32=-300 d:u32=60000 out:i32[4] : out==-7,200,-300,60000
__global__ void k(signed char a, unsigned char b, short c, unsigned short d, int *out)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
}

//: a_struct_by_value block=4 s:i32=1,2,3,4 out:i32[4] : out==11,22,33,44
struct four { int v[4]; };
__global__ void k(struct four s, int *out)
{
    out[threadIdx.x] = s.v[threadIdx.x] * 11;
}

//: a_struct_that_the_kernel_changes block=8 s:f32=1,2 out:f32[8]
struct two { float a, b; };
__global__ void k(struct two s, float *out)
{
    s.a += threadIdx.x;
    out[threadIdx.x] = s.a * s.b;
}

//: a_parameter_that_the_kernel_changes block=8 n:i32=10 out:i32[8] : out==10,9,8
__global__ void k(int n, int *out)
{
    n -= (int)threadIdx.x;
    out[threadIdx.x] = n;
}

//: launch_bounds_are_kept block=64 out:i32[64]
__global__ void __launch_bounds__(64, 2) k(int *out)
{
    out[threadIdx.x] = (int)threadIdx.x + (int)blockDim.x;
}

//: many_buffers block=16 a:i32[16]=iota b:i32[16]=1 c:i32[16]=2 d:i32[16]=3 e:i32[16]=4 f:i32[16] g:i32[16] h:i32[16]
__global__ void k(const int *a, const int *b, const int *c, const int *d, const int *e, int *f, int *g, int *h)
{
    int i = threadIdx.x;
    f[i] = a[i] + b[i];
    g[i] = c[i] * d[i];
    h[i] = e[i] - a[i];
}

//: an_empty_kernel grid=7 block=33 out:i32[1]=3 : out==3
__global__ void k(int *out)
{
}

//: the_grid_is_read_in_a_loop_of_rows grid=2 block=8x4 a:f32[32]=iota out:f32[64]
__global__ void k(const float *a, float *out)
{
    int t = threadIdx.y * blockDim.x + threadIdx.x, trips = threadIdx.y / 2;
    float v = a[t];
    do {
        if (gridDim.x)
            v = v * 2.0f + blockIdx.x;
    } while (--trips > 0);
    out[blockIdx.x * 32 + t] = v;
}
