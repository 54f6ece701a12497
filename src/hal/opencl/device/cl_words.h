// SPDX-License-Identifier: Apache-2.0
// Text for OpenCL's compiler: atomic words in memory that the host maps, and what a loop does that has nothing to do.
// The widest scope that the device's language has; whether that reaches the host is tried (probe.c).
// clang-format off
#if __OPENCL_C_VERSION__ >= 300 && defined(__opencl_c_atomic_scope_all_devices)
#define SLR_SCOPE memory_scope_all_svm_devices
#elif __OPENCL_C_VERSION__ >= 300 && defined(__opencl_c_atomic_scope_device)
#define SLR_SCOPE memory_scope_device
#elif __OPENCL_C_VERSION__ >= 200 && __OPENCL_C_VERSION__ < 300
#define SLR_SCOPE memory_scope_all_svm_devices
#endif
#ifdef SLR_SCOPE
#define SLR_WORD(p) ((volatile __global atomic_uint *)(p))
#define __NV_ATOMIC_RELAXED memory_order_relaxed
#define __NV_ATOMIC_ACQUIRE memory_order_acquire
#define __NV_ATOMIC_RELEASE memory_order_release
#define __nv_atomic_load_n(p, order, scope) atomic_load_explicit(SLR_WORD(p), order, SLR_SCOPE)
#define __nv_atomic_store_n(p, value, order, scope) atomic_store_explicit(SLR_WORD(p), value, order, SLR_SCOPE)
#define __nv_atomic_fetch_add(p, value, order, scope) atomic_fetch_add_explicit(SLR_WORD(p), value, order, SLR_SCOPE)
#define __nv_atomic_fetch_sub(p, value, order, scope) atomic_fetch_sub_explicit(SLR_WORD(p), value, order, SLR_SCOPE)
#define __nv_atomic_compare_exchange_n(p, expected, desired, weak, success, failure, scope) \
    atomic_compare_exchange_strong_explicit(SLR_WORD(p), expected, desired, success, failure, SLR_SCOPE)
#else // OpenCL 1.2: an access of a volatile word is one access, and fences order the rest
#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_ACQUIRE 1
#define __NV_ATOMIC_RELEASE 2
#define __nv_atomic_load_n(p, order, scope) slr_load(p, order)
#define __nv_atomic_store_n(p, value, order, scope) slr_store(p, value, order)
static uint slr_load(const __global uint *p, int order)
{
    uint value = *(const volatile __global uint *)p;
    if (order == __NV_ATOMIC_ACQUIRE)
        mem_fence(CLK_GLOBAL_MEM_FENCE);
    return value;
}
static void slr_store(__global uint *p, uint value, int order)
{
    if (order == __NV_ATOMIC_RELEASE)
        mem_fence(CLK_GLOBAL_MEM_FENCE);
    *(volatile __global uint *)p = value;
}
#define __nv_atomic_fetch_add(p, value, order, scope) slr_add(p, value)
#define __nv_atomic_fetch_sub(p, value, order, scope) slr_add(p, 0u - (value))
#define __nv_atomic_compare_exchange_n(p, expected, desired, weak, success, failure, scope) slr_swap(p, expected, desired)
static uint slr_add(__global uint *p, uint value)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    uint was = atomic_add((volatile __global uint *)p, value);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    return was;
}
static uint slr_swap(__global uint *p, uint *expected, uint desired)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    uint was = atomic_cmpxchg((volatile __global uint *)p, *expected, desired), seen = *expected;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    *expected = was;
    return was == seen;
}
#endif
#define __NV_THREAD_SCOPE_SYSTEM 0

#if defined(__x86_64__) && defined(__linux__) // Linux's sched_yield: where work-groups are threads, others want the core too
static void slr_yield(void)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(24L) : "rcx", "r11", "memory");
}
#elif defined(__aarch64__) && defined(__linux__)
static void slr_yield(void)
{
    register long number __asm__("x8") = 124;
    register long result __asm__("x0");
    __asm__ volatile("svc 0" : "=r"(result) : "r"(number) : "memory");
}
#else
static void slr_yield(void) { }
#endif
