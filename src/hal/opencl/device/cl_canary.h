// SPDX-License-Identifier: Apache-2.0
// Text for OpenCL's compiler: a kernel that stays until the host tells it to go, or for so many looks. Each group says
// that it is there and goes on saying so. words: [0] the ordinary kernel's, [32] set by the host, then a line a group.
// clang-format off
__kernel void slr_canary(__global uint *words, uint looks, uint group)
{
    __global uint *own = words + 64 + group * 32;
    uint look = 0;
    while (look < looks && __nv_atomic_load_n(&words[32], __NV_ATOMIC_ACQUIRE, 0) == 0) {
        ++look;
        __nv_atomic_store_n(own, look, __NV_ATOMIC_RELEASE, 0);
        if (look % 64 == 0)
            slr_yield();
    }
    __nv_atomic_store_n(own + 1, look, __NV_ATOMIC_RELEASE, 0);
}

__kernel void slr_ordinary(__global uint *word)
{
    *word = 1;
}
