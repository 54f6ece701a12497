// SPDX-License-Identifier: Apache-2.0
// Kernels that end badly: the stream fails, the process goes on.

//: division_by_zero_fails_the_stream block=8 ends=FAULT a:i32[8]=iota out:i32[8]
__global__ void k(const int *a, int *out)
{
    out[threadIdx.x] = 10 / (a[threadIdx.x] - 3);
}

//: remainder_by_zero_fails_the_stream block=8 ends=FAULT a:u64[8]=iota out:u64[8]
__global__ void k(const unsigned long long *a, unsigned long long *out)
{
    out[threadIdx.x] = 10 % a[threadIdx.x];
}

//: an_assertion_fails_the_stream block=8 ends=FAULT a:i32[8]=iota
#include <assert.h>
__global__ void k(const int *a)
{
    assert(a[threadIdx.x] < 5);
}

//: a_trap_fails_the_stream block=8 ends=FAULT a:i32[8]=iota
__global__ void k(const int *a)
{
    if (a[threadIdx.x] == 6)
        __trap();
}

//: an_assertion_that_holds block=8 a:i32[8]=iota out:i32[8]
#include <assert.h>
__global__ void k(const int *a, int *out)
{
    assert(a[threadIdx.x] < 8);
    out[threadIdx.x] = a[threadIdx.x];
}
