// SPDX-License-Identifier: Apache-2.0
// A kernel that stays until it is told to end, in the kernel subset: hal/vulkan/probe.c. Words of W, each on a line of
// its own: written by the host, STOP, and before the launch MOST, after how many looks it ends by itself; by the
// kernel, LOOKS, how often it has looked, and HEARD, 1: it was told.
#define SLR_STOP 0
#define SLR_LOOKS 32
#define SLR_HEARD 64
#define SLR_MOST 96

__global__ void slr_probe(unsigned *W)
{
    unsigned looks = 0u, heard = 0u, most = W[SLR_MOST];
    while (heard == 0u && looks < most) {
        looks = looks + 1u;
        __nv_atomic_store_n(&W[SLR_LOOKS], looks, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
        heard = __nv_atomic_load_n(&W[SLR_STOP], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
    }
    __nv_atomic_store_n(&W[SLR_HEARD], heard, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);
}
