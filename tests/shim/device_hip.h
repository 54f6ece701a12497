// SPDX-License-Identifier: Apache-2.0
// HIP's and AMD's words, as calls of shim_calls: what stands before a text that was meant for HIPRTC (device.h includes
// it). A wave has SHIM_HIP lanes. They are together at an instruction where no lane can go on without: a GPU has them
// together where its compiler says, which may be fewer.
// clang-format off
#undef __nv_atomic_load_n
#undef __nv_atomic_store_n
#undef __nv_atomic_fetch_add
#undef __nv_atomic_fetch_and
#undef __nv_atomic_fetch_or
#undef __nv_atomic_fetch_xor
#undef __nv_atomic_fetch_min
#undef __nv_atomic_fetch_max
#undef __nv_atomic_exchange_n
#undef __nv_atomic_fetch_sub
#undef __nv_atomic_compare_exchange_n
#undef __nv_atomic_thread_fence
#undef __NV_THREAD_SCOPE_SYSTEM

enum { warpSize = SHIM_HIP };
enum { __HIP_MEMORY_SCOPE_WORKGROUP = 3, __HIP_MEMORY_SCOPE_AGENT, __HIP_MEMORY_SCOPE_SYSTEM };
#define SLRI_PLACE shim->place(SHIM_SITE)

inline unsigned shim_lane()
{
    const shim_dim t = threadIdx, d = blockDim;
    return (t.x + d.x * (t.y + d.y * t.z)) % SHIM_HIP;
}
#define __builtin_amdgcn_mbcnt_lo(mask, n) ((n) + (shim_lane() < 32 ? shim_lane() : 32))
#define __builtin_amdgcn_mbcnt_hi(mask, n) ((n) + (shim_lane() < 32 ? 0 : shim_lane() - 32))
inline shim_u64 shim_wave_ballot(unsigned site, bool vote)
{
    shim_word part, votes = 0;
    const shim_word *given = shim->wave(site, SHIM_HIP, vote, &part);
    for (unsigned i = 0; i < SHIM_HIP; ++i)
        votes |= (part >> i & 1) != 0 && given[i] != 0 ? 1ull << i : 0;
    return votes;
}
#define __ballot64(vote) shim_wave_ballot(SHIM_SITE, (vote) != 0)
#define __builtin_amdgcn_wave_barrier() ((void)__ballot64(0))
// Of a lane that is not there: nobody may look at it.
inline int shim_wave_permute(unsigned site, int at, int value)
{
    shim_word part;
    const shim_word *given = shim->wave(site, SHIM_HIP, (unsigned)value, &part);
    const unsigned from = (unsigned)at / 4 % SHIM_HIP;
    return (part >> from & 1) != 0 ? (int)given[from] : 0x5a5a5a5a;
}
#define __builtin_amdgcn_ds_bpermute(at, value) shim_wave_permute(SHIM_SITE, at, value)
#define __builtin_amdgcn_fence(order, scope) shim->fence(order)
#define __builtin_amdgcn_endpgm() shim->end_wave(SHIM_HIP)
// Lanes of this wave that have returned come to it one by one: a wave's way around (slr_hip.h) needs lanes in step.
#define SLRI_BARRIER(ended, has_ended) ended = shim->meet(SHIM_COUNT, 0, has_ended)

// Macros: the compiler may have functions of these names.
#define __hip_atomic_load shim_hip_load
#define __hip_atomic_store shim_hip_store
#define __hip_atomic_fetch_add shim_hip_fetch_add
#define __hip_atomic_fetch_and shim_hip_fetch_and
#define __hip_atomic_fetch_or shim_hip_fetch_or
#define __hip_atomic_fetch_xor shim_hip_fetch_xor
#define __hip_atomic_fetch_min shim_hip_fetch_min
#define __hip_atomic_fetch_max shim_hip_fetch_max
#define __hip_atomic_exchange shim_hip_exchange
#define __hip_atomic_compare_exchange_strong(p, was, value, order, failed, scope) \
    shim_compare_exchange(p, was, value, false, order, failed, scope)

struct shim_float16 {
    unsigned short bits;
    shim_float16() {}
    shim_float16(float a) : bits(shim_to_half(a)) {}
    operator float() const { return shim_of_half(bits); }
};
#define _Float16 shim_float16
inline shim_float16 shim_fma16(shim_float16 a, shim_float16 b, shim_float16 c)
{
    shim_float16 r;
    shim_ptx("fma.rn.f16 %0, %1, %2, %3;", r.bits, a.bits, b.bits, c.bits);
    return r;
}
#define __builtin_fmaf16 shim_fma16
