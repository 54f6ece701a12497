// SPDX-License-Identifier: Apache-2.0
// Atomic operations, with results that do not depend on the order in which threads come.

//: add_of_many_blocks block=64 grid=32 out:i32[1] : out==2048
__global__ void k(int *out)
{
    atomicAdd(out, 1);
}

//: add_gives_each_value_once block=64 grid=4 out:i32[1] seen:i32[256] : out==256
__global__ void k(int *out, int *seen)
{
    int old = atomicAdd(out, 1);
    atomicAdd(&seen[old], 1);
}

//: subtract block=64 grid=4 out:i32[1]=1000 : out==744
__global__ void k(int *out)
{
    atomicSub(out, 1);
}

//: minimum_and_maximum block=64 grid=4 a:i32[256]=random low:i32[1]=2000000000 high:i32[1]=-2000000000
__global__ void k(const int *a, int *low, int *high)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMin(low, a[i]);
    atomicMax(high, a[i]);
}

//: minimum_and_maximum_of_unsigned block=64 grid=4 a:u32[256]=random low:u32[1]=4294967295 high:u32[1]=0
__global__ void k(const unsigned *a, unsigned *low, unsigned *high)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMin(low, a[i]);
    atomicMax(high, a[i]);
}

//: and_or_xor block=64 a:u32[64]=random out:u32[3]=12345678
__global__ void k(const unsigned *a, unsigned *out)
{
    atomicAnd(&out[0], a[threadIdx.x] | 0xff);
    atomicOr(&out[1], a[threadIdx.x] & 0x11);
    atomicXor(&out[2], a[threadIdx.x]);
}

//: exchange_hands_every_value_on_once block=64 grid=2 slot:i32[1]=1000 total:i32[1] done:i32[1] : total==9128 slot==0
__global__ void k(int *slot, int *total, int *done)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, atomicExch(slot, i));
    __threadfence();
    if (atomicAdd(done, 1) == 127)
        atomicAdd(total, atomicExch(slot, 0));
}

//: compare_and_swap_lets_one_through block=64 grid=4 lock:i32[1] out:i32[1] : out==1
__global__ void k(int *lock, int *out)
{
    if (atomicCAS(lock, 0, 7) == 0)
        atomicAdd(out, 1);
}

//: compare_and_swap_makes_any_operation block=64 grid=2 a:i32[128]=small out:i32[1]=1
__global__ void k(const int *a, int *out)
{
    int x = a[blockIdx.x * blockDim.x + threadIdx.x] | 1, old = out[0], seen;
    for (int tries = 0; tries < 100000; tries++) {
        seen = atomicCAS(out, old, old * x);
        if (seen == old)
            break;
        old = seen;
    }
}

//: increment_and_decrement_wrap out:u32[4]=2 : out==0,1,5,5
__global__ void k(unsigned *out)
{
    atomicInc(&out[0], 2u);
    atomicDec(&out[1], 5u);
    out[2] = 0;
    atomicDec(&out[2], 5u);
    out[3] = 9;
    atomicDec(&out[3], 5u);
}

//: floats_add_in_any_order block=64 grid=4 out:f32[1] : out==256
__global__ void k(float *out)
{
    atomicAdd(out, 1.0f);
}

//: doubles_add_in_any_order block=64 grid=4 out:f64[1] : out==128
__global__ void k(double *out)
{
    atomicAdd(out, 0.5);
}

//: floats_exchange out:f32[2]=3 : out==4.5,3
__global__ void k(float *out)
{
    out[1] = atomicExch(&out[0], 4.5f);
}

//: 64_bits_add_and_compare block=64 grid=4 out:u64[2] : out==1099511627776,1
__global__ void k(unsigned long long *out)
{
    atomicAdd(&out[0], 4294967296ull);
    atomicCAS(&out[1], 0ull, 1ull);
}

//: 64_bits_in_a_shared_struct_that_is_copied block=32 out:u64[2] : out==96,7
struct count { unsigned long long sum; int low, high; };
__global__ void k(unsigned long long *out)
{
    __shared__ struct count counts[3];
    if (threadIdx.x == 0)
        counts[0] = (struct count){0, 7, 0};
    __syncthreads();
    atomicAdd(&counts[0].sum, 3ull);
    __syncthreads();
    if (threadIdx.x == 0) {
        counts[2] = counts[0];
        *(struct count *)out = counts[2];
    }
}

//: 64_bits_minimum_and_maximum block=64 a:i64[64]=random low:i64[1]=0 high:i64[1]=0
__global__ void k(const long long *a, long long *low, long long *high)
{
    atomicMin(low, a[threadIdx.x]);
    atomicMax(high, a[threadIdx.x]);
}

//: 64_bits_and_or_xor block=64 a:u64[64]=random out:u64[3]=77
__global__ void k(const unsigned long long *a, unsigned long long *out)
{
    atomicAnd(&out[0], a[threadIdx.x] | 0xffull);
    atomicOr(&out[1], a[threadIdx.x] & 0x1100000000ull);
    atomicXor(&out[2], a[threadIdx.x]);
}

//: on_shared_memory block=128 grid=2 a:i32[256]=random out:i32[32]
__global__ void k(const int *a, int *out)
{
    __shared__ int bins[16];
    if (threadIdx.x < 16)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[a[blockIdx.x * blockDim.x + threadIdx.x] & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        out[blockIdx.x * 16 + threadIdx.x] = bins[threadIdx.x];
}

//: block_and_system_forms block=64 grid=2 out:i32[3] : out==128,128,128
__global__ void k(int *out)
{
    __shared__ int own;
    if (threadIdx.x == 0)
        own = 0;
    __syncthreads();
    atomicAdd_block(&own, 1);
    atomicAdd_system(&out[1], 1);
    atomicOr_system(&out[2], 128);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&out[0], own);
}

//: orders_and_scopes block=64 grid=2 out:i32[5] : out==128,5,128,127
__global__ void k(int *out)
{
    __nv_atomic_fetch_add(&out[0], 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_store_n(&out[1], 5, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_fetch_sub(&out[2], -1, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_max(&out[3], (int)(blockIdx.x * 64 + threadIdx.x), __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
    if (__nv_atomic_load_n(&out[1], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) != 5)
        out[4] = 1;
}

//: compare_exchange_tells_what_it_found out:i32[4]=3 : out==9,0,9,1
__global__ void k(int *out)
{
    int wanted = 4;
    bool first = __nv_atomic_compare_exchange_n(&out[0], &wanted, 8, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE,
                                                __NV_THREAD_SCOPE_DEVICE);
    out[1] = first * 10 + (wanted != 3);
    bool second = __nv_atomic_compare_exchange_n(&out[0], &wanted, 9, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED,
                                                 __NV_THREAD_SCOPE_DEVICE);
    out[2] = out[0];
    out[3] = second;
}

//: on_members_of_structs block=64 out:i32[8]
struct slot { int pad, count; };
__global__ void k(struct slot *out)
{
    atomicAdd(&out[threadIdx.x & 3].count, (int)threadIdx.x);
}

//: results_that_are_not_used block=64 grid=4 out:u32[2]=4294967290 : out==250
__global__ void k(unsigned *out)
{
    (void)atomicAdd(&out[0], 1u);
    atomicMax(&out[1], 3u);
}
