// SPDX-License-Identifier: Apache-2.0
// Kernels that are wrong, to see that the suite says so. They run only where --filter begins with "planted".

//: writes_behind_a_buffer block=16 out:i32[16]
__global__ void k(int *out)
{
    out[threadIdx.x + 1] = 1;
}

//: writes_in_front_of_a_buffer block=16 out:i32[16]
__global__ void k(int *out)
{
    out[(int)threadIdx.x - 1] = 1;
}

//: leaves_a_wrong_value block=4 out:i32[4] : out==0,1,2,4
__global__ void k(int *out)
{
    out[threadIdx.x] = (int)threadIdx.x;
}

//: faults_and_should_not block=4 a:i32[4] out:i32[4]
__global__ void k(const int *a, int *out)
{
    out[threadIdx.x] = 1 / a[threadIdx.x];
}

//: should_fault_and_does_not block=4 ends=FAULT out:i32[4]
__global__ void k(int *out)
{
    out[threadIdx.x] = 1;
}

//: does_not_compile block=4 out:i32[4]
__global__ void k(int *out)
{
    out[threadIdx.x] = undeclared;
}

//: is_listed_and_passes block=4 out:i32[4]
__global__ void k(int *out)
{
    out[threadIdx.x] = 1;
}

//: is_off_by_more_than_its_bound ulp=0 block=64 a:f32[64]=random out:f32[64]
#include <math.h>
__global__ void k(const float *a, float *out)
{
    out[threadIdx.x] = expf(a[threadIdx.x] * 60);
}

//: never_ends block=1 a:i32[1] out:i32[1]
__global__ void k(const int *a, int *out)
{
    while (__nv_atomic_load_n(&a[0], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM) == 0) {
    }
    out[0] = 1;
}
