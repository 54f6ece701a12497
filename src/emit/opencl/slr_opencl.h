// SPDX-License-Identifier: Apache-2.0
// What stands in front of emitted OpenCL C: the words of the IR that OpenCL has not. Memory has four spaces, which
// macros name by a letter: G global, L local, P private, C constant.
// clang-format off
#define SLRI_FN static inline __attribute__((always_inline))
#define SLRI_SPACE_G __global
#define SLRI_SPACE_L __local
#define SLRI_SPACE_P __private
#define SLRI_SPACE_C __constant
#define SLRI_ALIGNED_16 __attribute__((aligned(16)))
#define SLRI_FLOAT(bits) as_float(bits)
#define SLRI_DOUBLE(bits) as_double(bits)
#pragma OPENCL FP_CONTRACT OFF

// Signed integers wrap, which C leaves undefined. A division by zero gives 0; in a kernel the host is told.
#define SLRI_NEG(K, a) slri_neg_##K(a)
#define SLRI_ADD(K, a, b) slri_add_##K(a, b)
#define SLRI_SUB(K, a, b) slri_sub_##K(a, b)
#define SLRI_MUL(K, a, b) slri_mul_##K(a, b)
#define SLRI_DIV(K, a, b, file, line) slri_kernel_div_##K(a, b, slri_faulted, file, line)
#define SLRI_REM(K, a, b, file, line) slri_kernel_rem_##K(a, b, slri_faulted, file, line)
#ifdef SLRI_CLOCK
#define SLRI_TICKS() ((ulong)__builtin_readcyclecounter())
#else
#define SLRI_TICKS() ((ulong)0)
#endif
#define SLRI_SAFE_DIV(K, a, b) slri_div_##K(a, b)
#define SLRI_SAFE_REM(K, a, b) slri_rem_##K(a, b)
#define SLRI_SHL(K, a, b) slri_shl_##K(a, b)
#define SLRI_SHR(K, a, b) ((a) >> ((b) & (8 * sizeof(a) - 1)))
#define SLRI_SIGNED(K, type, utype) \
    SLRI_FN type slri_neg_##K(type a) { return (type)(0 - (utype)a); } \
    SLRI_FN type slri_add_##K(type a, type b) { return (type)((utype)a + (utype)b); } \
    SLRI_FN type slri_sub_##K(type a, type b) { return (type)((utype)a - (utype)b); } \
    SLRI_FN type slri_mul_##K(type a, type b) { return (type)((utype)a * (utype)b); } \
    SLRI_FN type slri_shl_##K(type a, type b) { return (type)((utype)a << (b & (8 * sizeof(type) - 1))); } \
    SLRI_FN type slri_div_##K(type a, type b) { return b == 0 ? 0 : b == -1 ? slri_neg_##K(a) : a / b; } \
    SLRI_FN type slri_rem_##K(type a, type b) { return b == 0 || b == -1 ? 0 : a % b; }
#define SLRI_UNSIGNED(K, type) \
    SLRI_FN type slri_shl_##K(type a, type b) { return a << (b & (8 * sizeof(type) - 1)); } \
    SLRI_FN type slri_div_##K(type a, type b) { return b ? a / b : 0; } \
    SLRI_FN type slri_rem_##K(type a, type b) { return b ? a % b : 0; }
SLRI_SIGNED(I32, int, uint) SLRI_SIGNED(I64, long, ulong) SLRI_UNSIGNED(U32, uint) SLRI_UNSIGNED(U64, ulong)

#define SLRI_TO_I8(a) ((a) == (a) ? convert_char_sat_rtz(a) : 0)
#define SLRI_TO_U8(a) ((a) == (a) ? convert_uchar_sat_rtz(a) : 0)
#define SLRI_TO_I16(a) ((a) == (a) ? convert_short_sat_rtz(a) : 0)
#define SLRI_TO_U16(a) ((a) == (a) ? convert_ushort_sat_rtz(a) : 0)
#define SLRI_TO_I32(a) ((a) == (a) ? convert_int_sat_rtz(a) : 0)
#define SLRI_TO_U32(a) ((a) == (a) ? convert_uint_sat_rtz(a) : 0)
#define SLRI_TO_I64(a) ((a) == (a) ? convert_long_sat_rtz(a) : 0)
#define SLRI_TO_U64(a) ((a) == (a) ? convert_ulong_sat_rtz(a) : 0)

// ---- halves: a register holds the float that one is

SLRI_FN float slri_f16_to_float(ushort bits) { return vload_half(0, (const __private half *)&bits); }
SLRI_FN ushort slri_float_to_f16(float a) { ushort bits; vstore_half_rte(a, 0, (__private half *)&bits); return bits; }
SLRI_FN float slri_bf16_to_float(ushort bits) { return as_float((uint)bits << 16); }
SLRI_FN ushort slri_float_to_bf16(float a)
{
    uint bits = as_uint(a);
    return a == a ? (ushort)((bits + 0x7fff + (bits >> 16 & 1)) >> 16) : 0x7fc0;
}
// Wider numbers become odd in their last place before the second rounding, so that it sees that there was more.
SLRI_FN float slri_odd_F32(float a) { return a; }
SLRI_FN float slri_odd_U64(ulong a)
{
    float r = convert_float_rtz(a);
    return a >> 24 && convert_ulong_sat_rtz(r) != a ? as_float(as_uint(r) | 1) : r;
}
SLRI_FN float slri_odd_I64(long a) { return a < 0 ? -slri_odd_U64(0 - (ulong)a) : slri_odd_U64((ulong)a); }
SLRI_FN float slri_odd_U32(uint a) { return slri_odd_U64(a); }
SLRI_FN float slri_odd_I32(int a) { return slri_odd_I64(a); }
#ifdef cl_khr_fp64
SLRI_FN float slri_odd_F64(double a)
{
    float r = convert_float_rtz(a);
    return (double)r == a || a != a || !(fabs(a) <= 3.4028234663852886e38) ? r : as_float(as_uint(r) | 1);
}
#endif
#define SLRI_TO_F16(K, a) slri_f16_to_float(slri_float_to_f16(slri_odd_##K(a)))
#define SLRI_TO_BF16(K, a) slri_bf16_to_float(slri_float_to_bf16(slri_odd_##K(a)))

// ---- memory

#define SLRI_AT(T, p, at, S) ((SLRI_SPACE_##S T *)((SLRI_SPACE_##S uchar *)(p) + (at)))
#define SLRI_AT_OBJECT(T, x, at, S) ((SLRI_SPACE_##S T *)((SLRI_SPACE_##S uchar *)&(x) + (at)))
#define SLRI_GET_BOOL(p) (*(p) != 0)
#define SLRI_GET_F16(p) slri_f16_to_float(*(p))
#define SLRI_GET_BF16(p) slri_bf16_to_float(*(p))
#define SLRI_PUT(p, value) (*(p) = (value))
#define SLRI_PUT_BOOL(p, value) (*(p) = (value) != 0)
#define SLRI_PUT_F16(p, value) (*(p) = slri_float_to_f16(value))
#define SLRI_PUT_BF16(p, value) (*(p) = slri_float_to_bf16(value))
#define SLRI_GIVEN_BOOL(x) ((x) != 0)
#define SLRI_GIVEN_F16(x) slri_f16_to_float(x)
#define SLRI_GIVEN_BF16(x) slri_bf16_to_float(x)
#define SLRI_ZERO(p, n, S) slri_zero_##S(p, n)
#define SLRI_COPY(p, q, n, S, Q) slri_copy_##S##Q(p, q, n)
#define SLRI_ZERO_OF(S) \
    SLRI_FN void slri_zero_##S(SLRI_SPACE_##S uchar *p, ulong n) { for (ulong i = 0; i < n; i++) p[i] = 0; }
#define SLRI_COPY_OF(S, Q) \
    SLRI_FN void slri_copy_##S##Q(SLRI_SPACE_##S uchar *p, const SLRI_SPACE_##Q uchar *q, ulong n) \
    { for (ulong i = 0; i < n; i++) p[i] = q[i]; }
SLRI_ZERO_OF(G) SLRI_ZERO_OF(L) SLRI_ZERO_OF(P)
SLRI_COPY_OF(G, G) SLRI_COPY_OF(G, L) SLRI_COPY_OF(G, P) SLRI_COPY_OF(G, C)
SLRI_COPY_OF(L, G) SLRI_COPY_OF(L, L) SLRI_COPY_OF(L, P) SLRI_COPY_OF(L, C)
SLRI_COPY_OF(P, G) SLRI_COPY_OF(P, L) SLRI_COPY_OF(P, P) SLRI_COPY_OF(P, C)
#define SLRI_EXTENT(i, n) ((void)0)
#define SLRI_ASSERT(file, line) slri_kernel_fault(slri_faulted, 11, file, line)
#define SLRI_TRAP(file, line) slri_kernel_fault(slri_faulted, 12, file, line)
#define SLRI_MEMORY_PARAM(p) uchar *p, long p##_offset
#define SLRI_MEMORY(p, at) (uchar *)(p), (at)
#define SLRI_MEMORY_OBJECT(x, at) (uchar *)&(x), (at)
#define SLRI_OFFSET(p) p##_offset
#define SLRI_ROOT(p, S) (SLRI_SPACE_##S uchar *)(p)
#define SLRI_ROOT_OBJECT(x, S) (SLRI_SPACE_##S uchar *)&(x)

// ---- atomics. Orders are 0 relaxed, 1 acquire, 2 release, 3 acquire and release, 4 sequentially consistent; scopes 0
// block, 1 device, 2 system.

#ifdef SLRI_C11_ATOMICS
#ifdef SLRI_SVM_SCOPE
#define slri_system memory_scope_all_svm_devices
#else
#define slri_system memory_scope_device
#endif
#define slri_scope(scope) ((scope) == 0 ? memory_scope_work_group : (scope) == 1 ? memory_scope_device : slri_system)
#define slri_order(order) \
    ((order) == 0 ? memory_order_relaxed : (order) == 1 ? memory_order_acquire : (order) == 2 ? memory_order_release : \
     (order) == 3 ? memory_order_acq_rel : memory_order_seq_cst)
#define slri_failed(order) ((order) == 2 ? memory_order_relaxed : (order) == 3 ? memory_order_acquire : slri_order(order))
SLRI_FN void slri_fence(int order, int scope)
{
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, slri_order(order), slri_scope(scope));
}
#define slri_atomic_I32 atomic_int
#define slri_atomic_U32 atomic_uint
#define slri_atomic_I64 atomic_long
#define slri_atomic_U64 atomic_ulong
#else
SLRI_FN void slri_fence(int order, int scope) { mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE); }
#endif
#define slri_before(order, scope) if ((order) >= 2) slri_fence(order, scope)
#define slri_after(order, scope) if ((order) == 1 || (order) >= 3) slri_fence(order, scope)

// An operation of OpenCL's own between fences.
#define SLRI_DIRECT(name, op, K, type, S) \
    SLRI_FN type slri_##name##_##K##_##S(volatile SLRI_SPACE_##S type *p, type b, int order, int scope) \
    { slri_before(order, scope); type a = op(p, b); slri_after(order, scope); return a; }
// What it has not: by compare and exchange of the bits.
#define SLRI_BY_CAS(name, cas, K, type, bits, to, from, S, combined) \
    SLRI_FN type slri_##name##_##K##_##S(volatile SLRI_SPACE_##S type *p, type b, int order, int scope) \
    { \
        slri_before(order, scope); \
        volatile SLRI_SPACE_##S bits *at = (volatile SLRI_SPACE_##S bits *)p; \
        bits seen = *at; \
        for (;;) { \
            type a = from(seen); \
            bits was = cas(at, seen, to(combined)); \
            if (was == seen) { slri_after(order, scope); return a; } \
            seen = was; \
        } \
    }
#ifdef SLRI_C11_ATOMICS
#define SLRI_FETCH(name, op, K, type, S) \
    SLRI_FN type slri_##name##_##K##_##S(volatile SLRI_SPACE_##S type *p, type b, int order, int scope) \
    { return op((volatile SLRI_SPACE_##S slri_atomic_##K *)p, b, slri_order(order), slri_scope(scope)); }
#define SLRI_INTEGERS(K, type, S, prefix) \
    SLRI_FN type slri_load_##K##_##S(volatile SLRI_SPACE_##S type *p, int order, int scope) \
    { return atomic_load_explicit((volatile SLRI_SPACE_##S slri_atomic_##K *)p, slri_order(order), slri_scope(scope)); } \
    SLRI_FN void slri_store_##K##_##S(volatile SLRI_SPACE_##S type *p, type b, int order, int scope) \
    { atomic_store_explicit((volatile SLRI_SPACE_##S slri_atomic_##K *)p, b, slri_order(order), slri_scope(scope)); } \
    SLRI_FN type slri_cas_##K##_##S(volatile SLRI_SPACE_##S type *p, type old, type b, int order, int scope) \
    { \
        atomic_compare_exchange_strong_explicit((volatile SLRI_SPACE_##S slri_atomic_##K *)p, &old, b, \
                                                slri_order(order), slri_failed(order), slri_scope(scope)); \
        return old; \
    } \
    SLRI_FETCH(add, atomic_fetch_add_explicit, K, type, S) SLRI_FETCH(sub, atomic_fetch_sub_explicit, K, type, S) \
    SLRI_FETCH(exchange, atomic_exchange_explicit, K, type, S) SLRI_FETCH(min, atomic_fetch_min_explicit, K, type, S) \
    SLRI_FETCH(max, atomic_fetch_max_explicit, K, type, S) SLRI_FETCH(and, atomic_fetch_and_explicit, K, type, S) \
    SLRI_FETCH(or, atomic_fetch_or_explicit, K, type, S) SLRI_FETCH(xor, atomic_fetch_xor_explicit, K, type, S)
#else
#define SLRI_PLAIN(K, type, S) \
    SLRI_FN type slri_load_##K##_##S(volatile SLRI_SPACE_##S type *p, int order, int scope) \
    { if (order == 4) slri_fence(order, scope); type a = *p; slri_after(order, scope); return a; } \
    SLRI_FN void slri_store_##K##_##S(volatile SLRI_SPACE_##S type *p, type b, int order, int scope) \
    { slri_before(order, scope); *p = b; if (order == 4) slri_fence(order, scope); }
#define SLRI_EXCHANGES(cas, K, type, S) \
    SLRI_FN type slri_cas_##K##_##S(volatile SLRI_SPACE_##S type *p, type old, type b, int order, int scope) \
    { slri_before(order, scope); type a = cas(p, old, b); slri_after(order, scope); return a; }
#define SLRI_INTEGERS(K, type, S, prefix) \
    SLRI_PLAIN(K, type, S) SLRI_EXCHANGES(prefix##cmpxchg, K, type, S) \
    SLRI_DIRECT(add, prefix##add, K, type, S) SLRI_DIRECT(sub, prefix##sub, K, type, S) \
    SLRI_DIRECT(exchange, prefix##xchg, K, type, S) SLRI_DIRECT(min, prefix##min, K, type, S) \
    SLRI_DIRECT(max, prefix##max, K, type, S) SLRI_DIRECT(and, prefix##and, K, type, S) \
    SLRI_DIRECT(or, prefix##or, K, type, S) SLRI_DIRECT(xor, prefix##xor, K, type, S)
#endif
#define SLRI_SAME(x) (x)
#define SLRI_ATOMICS_32(S) \
    SLRI_INTEGERS(I32, int, S, atomic_) SLRI_INTEGERS(U32, uint, S, atomic_) \
    SLRI_BY_CAS(increment, atomic_cmpxchg, U32, uint, uint, SLRI_SAME, SLRI_SAME, S, a >= b ? 0 : a + 1) \
    SLRI_BY_CAS(decrement, atomic_cmpxchg, U32, uint, uint, SLRI_SAME, SLRI_SAME, S, a == 0 || a > b ? b : a - 1) \
    SLRI_BY_CAS(add, atomic_cmpxchg, F32, float, uint, as_uint, as_float, S, a + b) \
    SLRI_BY_CAS(sub, atomic_cmpxchg, F32, float, uint, as_uint, as_float, S, a - b) \
    SLRI_BY_CAS(exchange, atomic_cmpxchg, F32, float, uint, as_uint, as_float, S, b)
SLRI_ATOMICS_32(G) SLRI_ATOMICS_32(L)
#ifdef SLRI_ATOMICS_64
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
SLRI_INTEGERS(I64, long, G, atom_) SLRI_INTEGERS(U64, ulong, G, atom_)
SLRI_INTEGERS(I64, long, L, atom_) SLRI_INTEGERS(U64, ulong, L, atom_)
#ifdef cl_khr_fp64
#define SLRI_DOUBLES(S) \
    SLRI_BY_CAS(add, atom_cmpxchg, F64, double, ulong, as_ulong, as_double, S, a + b) \
    SLRI_BY_CAS(sub, atom_cmpxchg, F64, double, ulong, as_ulong, as_double, S, a - b) \
    SLRI_BY_CAS(exchange, atom_cmpxchg, F64, double, ulong, as_ulong, as_double, S, b)
SLRI_DOUBLES(G) SLRI_DOUBLES(L)
#endif
#endif
#define SLRI_ATOMIC_LOAD(p, K, order, scope, S) slri_load_##K##_##S(p, order, scope)
#define SLRI_ATOMIC_STORE(p, K, b, order, scope, S) slri_store_##K##_##S(p, b, order, scope)
#define SLRI_RMW(name, p, K, b, order, scope, S) slri_##name##_##K##_##S(p, b, order, scope)
#define SLRI_CAS(p, K, old, b, order, scope, S) slri_cas_##K##_##S(p, old, b, order, scope)

// ---- faults of kernels: the first is told, by the words fault (enum slri_fault), file and line; its thread goes on.

SLRI_FN void slri_kernel_fault(__global uint *to, uint fault, uint file, uint line)
{
    if (slri_cas_U32_G(to, 0, fault, 0, 1) != 0) // relaxed: they are read when the kernel is done
        return;
    to[1] = file;
    to[2] = line;
}
#define SLRI_KERNEL_DIVIDE(name, K, type) \
    SLRI_FN type slri_kernel_##name##_##K(type a, type b, __global uint *to, uint file, uint line) \
    { if (b == 0) slri_kernel_fault(to, 1, file, line); return slri_##name##_##K(a, b); }
#define SLRI_KERNEL_DIVIDES(K, type) SLRI_KERNEL_DIVIDE(div, K, type) SLRI_KERNEL_DIVIDE(rem, K, type)
SLRI_KERNEL_DIVIDES(I32, int) SLRI_KERNEL_DIVIDES(I64, long) SLRI_KERNEL_DIVIDES(U32, uint) SLRI_KERNEL_DIVIDES(U64, ulong)

// ---- printf. A record: the number of its text, which the host has, and above it how many values; then their bits. In
// front of all of them four words: how much is used and how many found no room, both atomic, and how much room there is.

// Where its values go; 0: nowhere.
SLRI_FN __global ulong *slri_print(__global uint *to, uint number, uint values)
{
    if (!to)
        return 0;
    // Relaxed: they are read when the kernel is done. An addition, because OpenCL 1.2 has no load that is atomic.
    uint words = 1 + values, at = slri_add_U32_G(to, 0, 0, 1), was;
    for (;; at = was) {
        if (words > to[2] - at) {
            slri_add_U32_G(to + 1, 1, 0, 1);
            return 0;
        }
        was = slri_cas_U32_G(to, at, at + words, 0, 1);
        if (was == at)
            break;
    }
    __global ulong *record = (__global ulong *)to + 2 + at;
    record[0] = number | (ulong)values << 32;
    return record + 1;
}
SLRI_FN __global ulong *slri_print_value(__global ulong *at, ulong bits)
{
    if (at)
        *at++ = bits;
    return at;
}

// ---- a block

#define SLRI_SYNC() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
SLRI_FN uint slri_lane(void)
{
    return (uint)(get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)));
}
SLRI_FN uint slri_threads(void) { return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)); }
// What goes through `scratch` ends with a barrier, so that the next finds it free.
// How many threads of the block give what is not zero.
SLRI_FN int slri_count(int value, __local ulong *scratch)
{
    volatile __local uint *sum = (volatile __local uint *)scratch;
    if (slri_lane() == 0)
        *sum = 0;
    SLRI_SYNC();
    if (value)
        atomic_inc(sum);
    SLRI_SYNC();
    int count = (int)*sum;
    SLRI_SYNC();
    return count;
}
#define SLRI_SYNC_COUNT(a) slri_count(a, slri_scratch)
#define SLRI_SYNC_AND(a) (slri_count(a, slri_scratch) == (int)slri_threads())
#define SLRI_SYNC_OR(a) (slri_count(a, slri_scratch) != 0)

// ---- warps: 32 threads in order. All threads of the block come here together, each warp with its mask.
//
// What a thread gives the others of its warp: they ask for it by lane between SLRI_LEND and SLRI_LENT_ALL. Of a lane that
// is not there they get anything. With SLRI_SUB_GROUPS a warp is a sub-group, and only its threads need come together.

#ifdef SLRI_SUB_GROUPS
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#ifdef SLRI_SUB_GROUPS_REQUIRED
#define SLRI_KERNEL __kernel __attribute__((intel_reqd_sub_group_size(32)))
#endif
#define SLRI_SYNC_WARP() sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define SLRI_LEND(bits) (void)scratch
#define SLRI_LENT(bits, lane) sub_group_shuffle(bits, lane)
#define SLRI_LENT_ALL() (void)0
#else
#define SLRI_SYNC_WARP() SLRI_SYNC()
#define SLRI_LEND(bits) (scratch[slri_lane()] = (bits), SLRI_SYNC())
#define SLRI_LENT(bits, lane) scratch[(slri_lane() & ~31u) + (lane)]
#define SLRI_LENT_ALL() SLRI_SYNC()
#endif
#ifndef SLRI_KERNEL
#define SLRI_KERNEL __kernel
#endif

SLRI_FN uint slri_warp_threads(void) // of this thread's
{
    uint left = slri_threads() - (slri_lane() & ~31u);
    return left < 32 ? left : 32;
}
SLRI_FN uint slri_present(void)
{
    return 0xffffffffu >> (32 - slri_warp_threads());
}
SLRI_FN uint slri_shuffle_lane(int lane, int width)
{
    uint own = slri_lane() & 31, first = own & ~(uint)(width - 1);
    return first + ((uint)lane & (uint)(width - 1));
}
SLRI_FN uint slri_up_lane(int by, int width)
{
    uint own = slri_lane() & 31, first = own & ~(uint)(width - 1);
    return (uint)by <= own - first ? own - (uint)by : own;
}
SLRI_FN uint slri_down_lane(int by, int width)
{
    uint own = slri_lane() & 31, last = own | (uint)(width - 1);
    return (uint)by <= last - own ? own + (uint)by : own;
}
SLRI_FN uint slri_xor_lane(int by, int width)
{
    uint own = slri_lane() & 31, last = own | (uint)(width - 1), at = own ^ (uint)by;
    return at <= last ? at : own;
}
SLRI_FN uint slri_ballot(uint mask, int value, __local ulong *scratch)
{
#ifdef SLRI_SUB_GROUPS
    return sub_group_ballot(value != 0).x & mask;
#else
    uint made = 0;
    SLRI_LEND(value != 0);
    for (uint i = 0; i < 32; i++)
        made |= (uint)SLRI_LENT(value != 0, i) << i;
    SLRI_LENT_ALL();
    return made & mask & slri_present();
#endif
}
// Whether nobody says yes, of those for whom one round of a loop is the same: the warp, or the block.
SLRI_FN bool slri_none(int value, __local ulong *scratch)
{
#ifdef SLRI_SUB_GROUPS
    return slri_ballot(0xffffffff, value, scratch) == 0;
#else
    return slri_count(value, scratch) == 0;
#endif
}
SLRI_FN uint slri_match(uint mask, ulong bits, __local ulong *scratch)
{
    uint made = 0;
    SLRI_LEND(bits);
    for (uint i = 0; i < 32; i++)
        made |= (uint)(SLRI_LENT(bits, i) == bits) << i;
    SLRI_LENT_ALL();
    return made & mask & slri_present();
}
#define SLRI_REDUCE(name, K, type, combined) \
    SLRI_FN type slri_reduce_##name##_##K(uint mask, type value, __local ulong *scratch) \
    { \
        type a = value; \
        bool any = false; \
        SLRI_LEND((uint)value); \
        for (uint i = 0; i < 32; i++) { \
            type b = (type)(uint)SLRI_LENT((uint)value, i); \
            if ((mask & slri_present()) >> i & 1) { a = any ? (combined) : b; any = true; } \
        } \
        SLRI_LENT_ALL(); \
        return a; \
    }
#define SLRI_REDUCES(K, type) \
    SLRI_REDUCE(add, K, type, (type)((uint)a + (uint)b)) SLRI_REDUCE(min, K, type, min(a, b)) \
    SLRI_REDUCE(max, K, type, max(a, b)) SLRI_REDUCE(and, K, type, a & b) SLRI_REDUCE(or, K, type, a | b) \
    SLRI_REDUCE(xor, K, type, a ^ b)
SLRI_REDUCES(I32, int) SLRI_REDUCES(U32, uint)
SLRI_FN ulong slri_bits_I32(int a) { return as_uint(a); }
SLRI_FN ulong slri_bits_U32(uint a) { return a; }
SLRI_FN ulong slri_bits_I64(long a) { return as_ulong(a); }
SLRI_FN ulong slri_bits_U64(ulong a) { return a; }
SLRI_FN ulong slri_bits_F32(float a) { return as_uint(a); }
SLRI_FN int slri_of_I32(ulong a) { return as_int((uint)a); }
SLRI_FN uint slri_of_U32(ulong a) { return (uint)a; }
SLRI_FN long slri_of_I64(ulong a) { return as_long(a); }
SLRI_FN ulong slri_of_U64(ulong a) { return a; }
SLRI_FN float slri_of_F32(ulong a) { return as_float((uint)a); }
#ifdef cl_khr_fp64
SLRI_FN ulong slri_bits_F64(double a) { return as_ulong(a); }
SLRI_FN double slri_of_F64(ulong a) { return as_double(a); }
#endif
#define SLRI_SHUFFLE(K, which, mask, value, by, width) slri_##which##_##K(mask, value, by, width, slri_scratch)

// Any lane's value. What is asked of it is made behind the barrier: what threads keep over one costs PoCL more.
#ifdef SLRI_SUB_GROUPS
#define SLRI_TAKE(K, type, word) \
    SLRI_FN type slri_take_##K(uint mask, type value, uint from, __local ulong *scratch) \
    { \
        uint lane = mask & slri_present() & 1u << from ? from : slri_lane() & 31; \
        return slri_of_##K(sub_group_shuffle((word)slri_bits_##K(value), lane)); \
    }
#define SLRI_NEAR(K, type, word, which, sign) \
    SLRI_FN type slri_##which##_##K(uint mask, type value, int by, int width, __local ulong *scratch) \
    { return slri_take_##K(mask, value, slri_##which##_lane(by, width), scratch); }
#else
#define SLRI_TAKE(K, type, word) \
    SLRI_FN type slri_take_##K(uint mask, type value, uint from, __local ulong *scratch) \
    { \
        __local word *words = (__local word *)scratch; \
        words[slri_lane()] = (word)slri_bits_##K(value); \
        SLRI_SYNC(); \
        uint lane = mask & slri_present() & 1u << from ? from : slri_lane() & 31; \
        type taken = slri_of_##K(words[(slri_lane() & ~31u) + lane]); \
        SLRI_SYNC(); \
        return taken; \
    }
// From so many lanes away, which for neighbours are neighbours: a CPU loads them at once. It may be beside the block's,
// and is not looked at then.
#define SLRI_NEAR(K, type, word, which, sign) \
    SLRI_FN type slri_##which##_##K(uint mask, type value, int by, int width, __local ulong *scratch) \
    { \
        __local word *words = (__local word *)scratch + 32; \
        words[slri_lane()] = (word)slri_bits_##K(value); \
        SLRI_SYNC(); \
        type taken = slri_of_##K(words[(int)slri_lane() sign (by & 31)]); \
        SLRI_SYNC(); \
        uint from = slri_##which##_lane(by, width); \
        return mask & slri_present() & 1u << from && from != (slri_lane() & 31) ? taken : value; \
    }
#endif
#define SLRI_SHUFFLES(K, type, word) \
    SLRI_TAKE(K, type, word) SLRI_NEAR(K, type, word, up, -) SLRI_NEAR(K, type, word, down, +) \
    SLRI_FN type slri_shuffle_##K(uint mask, type value, int lane, int width, __local ulong *scratch) \
    { return slri_take_##K(mask, value, slri_shuffle_lane(lane, width), scratch); } \
    SLRI_FN type slri_xor_##K(uint mask, type value, int by, int width, __local ulong *scratch) \
    { return slri_take_##K(mask, value, slri_xor_lane(by, width), scratch); }
typedef uint slri_word_4 __attribute__((may_alias)); // as wide as the value, in the same memory
typedef ulong slri_word_8 __attribute__((may_alias));
SLRI_SHUFFLES(I32, int, slri_word_4) SLRI_SHUFFLES(U32, uint, slri_word_4) SLRI_SHUFFLES(F32, float, slri_word_4)
SLRI_SHUFFLES(I64, long, slri_word_8) SLRI_SHUFFLES(U64, ulong, slri_word_8)
#ifdef cl_khr_fp64
SLRI_SHUFFLES(F64, double, slri_word_8)
#endif

// ---- math: OpenCL's own

#define slri_fabsf fabs
#define slri_sqrtf sqrt
#define slri_rsqrtf rsqrt
#define slri_floorf floor
#define slri_ceilf ceil
#define slri_truncf trunc
#define slri_rintf rint
#define slri_roundf round
#define slri_expf exp
#define slri_exp2f exp2
#define slri_exp10f exp10
#define slri_expm1f expm1
#define slri_logf log
#define slri_log2f log2
#define slri_log10f log10
#define slri_log1pf log1p
#define slri_sinf sin
#define slri_cosf cos
#define slri_tanf tan
#define slri_asinf asin
#define slri_acosf acos
#define slri_atanf atan
#define slri_sinhf sinh
#define slri_coshf cosh
#define slri_tanhf tanh
#define slri_cbrtf cbrt
#define slri_erff erf
#define slri_erfcf erfc
#define slri_fminf fmin
#define slri_fmaxf fmax
#define slri_copysignf copysign
#define slri_fmodf fmod
#define slri_atan2f atan2
#define slri_powf pow
#define slri_hypotf hypot
#define slri_fmaf fma
#define slri_saturatef(a) ((a) == (a) ? clamp(a, 0.0f, 1.0f) : 0.0f)
#define slri_fdividef(a, b) ((a) / (b))
#define slri_fabs fabs
#define slri_sqrt sqrt
#define slri_rsqrt rsqrt
#define slri_floor floor
#define slri_ceil ceil
#define slri_trunc trunc
#define slri_rint rint
#define slri_round round
#define slri_exp exp
#define slri_exp2 exp2
#define slri_log log
#define slri_log2 log2
#define slri_log10 log10
#define slri_sin sin
#define slri_cos cos
#define slri_tan tan
#define slri_atan atan
#define slri_tanh tanh
#define slri_fmin fmin
#define slri_fmax fmax
#define slri_copysign copysign
#define slri_atan2 atan2
#define slri_pow pow
#define slri_asinhf asinh
#define slri_acoshf acosh
#define slri_atanhf atanh
#define slri_sinpif sinpi
#define slri_cospif cospi
#define slri_fdimf fdim
#define slri_remainderf remainder
#define slri_rcbrtf(a) (1.0f / cbrt(a))
#define slri_rcbrt(a) (1.0 / cbrt(a))
#define slri_asinh asinh
#define slri_acosh acosh
#define slri_atanh atanh
#define slri_sinpi sinpi
#define slri_cospi cospi
#define slri_fdim fdim
#define slri_remainder remainder
#define slri_exp10 exp10
#define slri_expm1 expm1
#define slri_log1p log1p
#define slri_asin asin
#define slri_acos acos
#define slri_sinh sinh
#define slri_cosh cosh
#define slri_cbrt cbrt
#define slri_erf erf
#define slri_erfc erfc
#define slri_hypot hypot
#define slri_fmod fmod
#define slri_fma fma
#define slri_fadd_rn(a, b) ((a) + (b))
#define slri_fsub_rn(a, b) ((a) - (b))
#define slri_fmul_rn(a, b) ((a) * (b))
#define slri_fdiv_rn(a, b) ((a) / (b))
#define slri_frcp_rn(a) (1.0f / (a))
#define slri_dadd_rn(a, b) ((a) + (b))
#define slri_dsub_rn(a, b) ((a) - (b))
#define slri_dmul_rn(a, b) ((a) * (b))
#define slri_ddiv_rn(a, b) ((a) / (b))
#define slri_drcp_rn(a) (1.0 / (a))
#define slri_isnanf isnan
#define slri_isnan isnan
#define slri_isinff isinf
#define slri_isinf isinf
#define slri_isfinitef isfinite
#define slri_isfinite isfinite
#define slri_signbitf signbit
#define slri_signbit signbit
#define slri_min_i32 min
#define slri_min_u32 min
#define slri_min_i64 min
#define slri_min_u64 min
#define slri_max_i32 max
#define slri_max_u32 max
#define slri_max_i64 max
#define slri_max_u64 max
#define slri_abs_i32(a) ((int)abs(a))
#define slri_abs_i64(a) ((long)abs(a))
#define slri_clz(a) clz(a)
#define slri_clzll(a) ((int)clz(a))
#define slri_ffs(a) (32 - clz((a) & slri_neg_I32(a)))
#define slri_ffsll(a) ((int)(64 - clz((a) & slri_neg_I64(a))))
#define slri_popc(a) ((int)popcount(a))
#define slri_popcll(a) ((int)popcount(a))
SLRI_FN uint slri_brev(uint a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    a = (a >> 8 & 0x00ff00ff) | (a & 0x00ff00ff) << 8;
    return a >> 16 | a << 16;
}
SLRI_FN ulong slri_brevll(ulong a) { return (ulong)slri_brev((uint)a) << 32 | slri_brev((uint)(a >> 32)); }
#define slri_float_as_int as_int
#define slri_int_as_float as_float
#define slri_float_as_uint as_uint
#define slri_uint_as_float as_float
#define slri_double_as_longlong as_long
#define slri_longlong_as_double as_double
#define slri_ldexpf ldexp
#define slri_ldexp ldexp
#define slri_nextafterf nextafter
#define slri_nextafter nextafter
#define slri_lgammaf lgamma
#define slri_lgamma lgamma
#define slri_tgammaf tgamma
#define slri_tgamma tgamma
#define slri_logbf logb
#define slri_logb logb
#define slri_rhypotf(a, b) (1.0f / hypot(a, b))
#define slri_rhypot(a, b) (1.0 / hypot(a, b))
#define slri_normcdff(a) (0.5f * erfc(-0.70710678f * (a)))
#define slri_normcdf(a) (0.5 * erfc(-0.70710678118654752 * (a)))
#define SLRI_PARTS(T, f) \
    SLRI_FN T slri_frexp_fraction##f(T a) { int e; return frexp(a, &e); } \
    SLRI_FN int slri_frexp_exponent##f(T a) { int e; frexp(a, &e); return isfinite(a) ? e : 0; } \
    SLRI_FN T slri_modf_fraction##f(T a) { T whole; return modf(a, &whole); } \
    SLRI_FN int slri_ilogb##f(T a) \
    { return a == 0 || isnan(a) ? -0x7fffffff - 1 : isinf(a) ? 0x7fffffff : slri_frexp_exponent##f(a) - 1; }
SLRI_PARTS(float, f)
#ifdef cl_khr_fp64
SLRI_PARTS(double, )
#endif
#define slri_f32_to_i32_rn(a) ((a) == (a) ? convert_int_sat_rte(a) : 0)
#define slri_f32_to_i32(a) ((a) == (a) ? convert_int_sat_rtz(a) : 0)
#define slri_f32_to_i32_ru(a) ((a) == (a) ? convert_int_sat_rtp(a) : 0)
#define slri_f32_to_i32_rd(a) ((a) == (a) ? convert_int_sat_rtn(a) : 0)
#define slri_f32_to_u32_rn(a) ((a) == (a) ? convert_uint_sat_rte(a) : 0)
#define slri_f32_to_u32(a) ((a) == (a) ? convert_uint_sat_rtz(a) : 0)
#define slri_f32_to_u32_ru(a) ((a) == (a) ? convert_uint_sat_rtp(a) : 0)
#define slri_f32_to_u32_rd(a) ((a) == (a) ? convert_uint_sat_rtn(a) : 0)
#define slri_f32_to_i64_rn(a) ((a) == (a) ? convert_long_sat_rte(a) : 0)
#define slri_f32_to_i64(a) ((a) == (a) ? convert_long_sat_rtz(a) : 0)
#define slri_f32_to_i64_ru(a) ((a) == (a) ? convert_long_sat_rtp(a) : 0)
#define slri_f32_to_i64_rd(a) ((a) == (a) ? convert_long_sat_rtn(a) : 0)
#define slri_f32_to_u64_rn(a) ((a) == (a) ? convert_ulong_sat_rte(a) : 0)
#define slri_f32_to_u64(a) ((a) == (a) ? convert_ulong_sat_rtz(a) : 0)
#define slri_f32_to_u64_ru(a) ((a) == (a) ? convert_ulong_sat_rtp(a) : 0)
#define slri_f32_to_u64_rd(a) ((a) == (a) ? convert_ulong_sat_rtn(a) : 0)
#define slri_f32_to_i64_away(a) ((a) == (a) ? convert_long_sat(round(a)) : 0)
#define slri_f32_of_i32(a) convert_float_rte(a)
#define slri_f32_of_u32(a) convert_float_rte(a)
#define slri_f32_of_i64(a) convert_float_rte(a)
#define slri_f32_of_u64(a) convert_float_rte(a)
#define slri_f64_to_i32_rn(a) ((a) == (a) ? convert_int_sat_rte(a) : 0)
#define slri_f64_to_i32(a) ((a) == (a) ? convert_int_sat_rtz(a) : 0)
#define slri_f64_to_i32_ru(a) ((a) == (a) ? convert_int_sat_rtp(a) : 0)
#define slri_f64_to_i32_rd(a) ((a) == (a) ? convert_int_sat_rtn(a) : 0)
#define slri_f64_to_u32_rn(a) ((a) == (a) ? convert_uint_sat_rte(a) : 0)
#define slri_f64_to_u32(a) ((a) == (a) ? convert_uint_sat_rtz(a) : 0)
#define slri_f64_to_u32_ru(a) ((a) == (a) ? convert_uint_sat_rtp(a) : 0)
#define slri_f64_to_u32_rd(a) ((a) == (a) ? convert_uint_sat_rtn(a) : 0)
#define slri_f64_to_i64_rn(a) ((a) == (a) ? convert_long_sat_rte(a) : 0)
#define slri_f64_to_i64(a) ((a) == (a) ? convert_long_sat_rtz(a) : 0)
#define slri_f64_to_i64_ru(a) ((a) == (a) ? convert_long_sat_rtp(a) : 0)
#define slri_f64_to_i64_rd(a) ((a) == (a) ? convert_long_sat_rtn(a) : 0)
#define slri_f64_to_u64_rn(a) ((a) == (a) ? convert_ulong_sat_rte(a) : 0)
#define slri_f64_to_u64(a) ((a) == (a) ? convert_ulong_sat_rtz(a) : 0)
#define slri_f64_to_u64_ru(a) ((a) == (a) ? convert_ulong_sat_rtp(a) : 0)
#define slri_f64_to_u64_rd(a) ((a) == (a) ? convert_ulong_sat_rtn(a) : 0)
#define slri_f64_to_i64_away(a) ((a) == (a) ? convert_long_sat(round(a)) : 0)
#define slri_f64_of_i32(a) convert_double_rte(a)
#define slri_f64_of_u32(a) convert_double_rte(a)
#define slri_f64_of_i64(a) convert_double_rte(a)
#define slri_f64_of_u64(a) convert_double_rte(a)
#define slri_narrow(a) convert_float_rte(a)
#define slri_hiint(a) ((int)(as_ulong(a) >> 32))
#define slri_loint(a) ((int)as_ulong(a))
#define slri_hiloint(high, low) as_double((ulong)(uint)(high) << 32 | (uint)(low))
#define slri_mul64hi mul_hi
#define slri_umul64hi mul_hi
#define slri_mul24(a, b) ((int)((uint)((int)((uint)(a) << 8) >> 8) * (uint)((int)((uint)(b) << 8) >> 8)))
#define slri_umul24(a, b) (((a) & 0xffffff) * ((b) & 0xffffff))
#define slri_hadd hadd
#define slri_rhadd rhadd
#define slri_uhadd hadd
#define slri_urhadd rhadd
#define slri_sad(a, b, sum) (abs_diff(a, b) + (sum))
#define slri_usad(a, b, sum) (abs_diff(a, b) + (sum))
#define slri_funnel_l(low, high, n) ((uint)((((ulong)(high) << 32 | (low)) << ((n) & 31)) >> 32))
#define slri_funnel_r(low, high, n) ((uint)(((ulong)(high) << 32 | (low)) >> ((n) & 31)))
#define slri_funnel_lc(low, high, n) ((n) < 32 ? slri_funnel_l(low, high, n) : (low))
#define slri_funnel_rc(low, high, n) ((n) < 32 ? slri_funnel_r(low, high, n) : (high))
SLRI_FN uint slri_perm_byte(ulong bytes, uint selector)
{
    return (uint)(bytes >> 8 * (selector & 7)) & 0xff;
}
SLRI_FN uint slri_byte_perm(uint x, uint y, uint s)
{
    ulong bytes = (ulong)y << 32 | x;
    return slri_perm_byte(bytes, s) | slri_perm_byte(bytes, s >> 4) << 8 | slri_perm_byte(bytes, s >> 8) << 16 |
           slri_perm_byte(bytes, s >> 12) << 24;
}
#define slri_mulhi mul_hi
#define slri_umulhi mul_hi
#ifdef cl_khr_fp64
// The product is exact in double, and the sum's error makes its last place odd, so that the last rounding is the only one.
SLRI_FN float slri_odd_fma(float a, float b, float c)
{
    double p = (double)a * b, s = p + c, v = s - p, error = (p - (s - v)) + (c - v);
    ulong bits = as_ulong(s);
    if (error != 0 && !(bits & 1))
        s = as_double((error > 0) == (s > 0) ? bits | 1 : bits - 1);
    return slri_odd_F64(s);
}
#define slri_hfma(a, b, c) slri_f16_to_float(slri_float_to_f16(slri_odd_fma(a, b, c)))
#define slri_bfma(a, b, c) slri_bf16_to_float(slri_float_to_bf16(slri_odd_fma(a, b, c)))
#endif
