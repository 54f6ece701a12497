// SPDX-License-Identifier: Apache-2.0
// Words of emitted text for languages whose memory has four spaces, which macros name by a letter: G of the device, L
// of a block, P of a thread, C constant. The language's own text stands before it: SLRI_FN, SLRI_SPACE_G and so on,
// SLRI_OWN of a function of its library, SLRI_OUT of what that writes; SLRI_CAST of a pointer, in its space; atomics of
// integers, of SLRI_FETCH where it has them; SLRI_COUNT of a block's votes; what a warp is; SLRI_F64, as_double and
// as_ulong of a double, where there is one. Behind it stand SLRI_TO_I8 and so on, conversions of halves, and functions
// of its own.
// clang-format off
// Signed integers wrap, which C leaves undefined. A division by zero gives 0; in a kernel the host is told.
#define SLRI_NEG(K, a) slri_neg_##K(a)
#define SLRI_ADD(K, a, b) slri_add_##K(a, b)
#define SLRI_SUB(K, a, b) slri_sub_##K(a, b)
#define SLRI_MUL(K, a, b) slri_mul_##K(a, b)
#define SLRI_DIV(K, a, b, file, line) slri_kernel_div_##K(a, b, slri_faulted, file, line)
#define SLRI_REM(K, a, b, file, line) slri_kernel_rem_##K(a, b, slri_faulted, file, line)
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

// ---- halves: a register holds the float that one is

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
    uint low = a >> 24 ? 40 - (uint)SLRI_OWN(clz)(a) : 0; // bits that are no float's
    ulong cut = a >> low << low;
    return cut != a ? as_float(as_uint((float)cut) | 1) : (float)cut;
}
SLRI_FN float slri_odd_I64(long a) { return a < 0 ? -slri_odd_U64(0 - (ulong)a) : slri_odd_U64((ulong)a); }
SLRI_FN float slri_odd_U32(uint a) { return slri_odd_U64(a); }
SLRI_FN float slri_odd_I32(int a) { return slri_odd_I64(a); }
#define SLRI_TO_F16(K, a) slri_f16_to_float(slri_float_to_f16(slri_odd_##K(a)))
#define SLRI_TO_BF16(K, a) slri_bf16_to_float(slri_float_to_bf16(slri_odd_##K(a)))

// ---- memory

#define SLRI_AT(T, p, at, S) SLRI_CAST(SLRI_SPACE_##S T *, SLRI_CAST(SLRI_SPACE_##S uchar *, p) + (at))
#define SLRI_AT_OBJECT(T, x, at, S) SLRI_AT(T, &(x), at, S)
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
#define SLRI_MEMORY_PARAM(p) SLRI_SPACE_P uchar *p, long p##_offset
#define SLRI_MEMORY(p, at) SLRI_CAST(SLRI_SPACE_P uchar *, p), (at)
#define SLRI_MEMORY_OBJECT(x, at) SLRI_MEMORY(&(x), at)
#define SLRI_OFFSET(p) p##_offset
#define SLRI_ROOT(p, S) SLRI_CAST(SLRI_SPACE_##S uchar *, p)
#define SLRI_ROOT_OBJECT(x, S) SLRI_ROOT(&(x), S)

// ---- atomics. An order is a fence before it, behind it, or both; or the language's functions take it.
#define slri_before(order, scope) if ((order) >= 2) slri_fence(order, scope)
#define slri_after(order, scope) if ((order) == 1 || (order) >= 3) slri_fence(order, scope)
#define SLRI_FETCHES(K, type, S) \
    SLRI_FETCH(add, atomic_fetch_add_explicit, K, type, S) SLRI_FETCH(sub, atomic_fetch_sub_explicit, K, type, S) \
    SLRI_FETCH(exchange, atomic_exchange_explicit, K, type, S) SLRI_FETCH(min, atomic_fetch_min_explicit, K, type, S) \
    SLRI_FETCH(max, atomic_fetch_max_explicit, K, type, S) SLRI_FETCH(and, atomic_fetch_and_explicit, K, type, S) \
    SLRI_FETCH(or, atomic_fetch_or_explicit, K, type, S) SLRI_FETCH(xor, atomic_fetch_xor_explicit, K, type, S)
// What a language has not, by compare and exchange of the bits.
#define SLRI_BY_CAS(name, cas, K, type, bits, to, from, S, combined) \
    SLRI_FN type slri_##name##_##K##_##S(volatile SLRI_SPACE_##S type *p, type b, int order, int scope) \
    { \
        slri_before(order, scope); \
        volatile SLRI_SPACE_##S bits *at = SLRI_CAST(volatile SLRI_SPACE_##S bits *, p); \
        bits seen = *at; \
        for (;;) { \
            type a = from(seen); \
            bits was = cas(at, seen, to(combined)); \
            if (was == seen) { slri_after(order, scope); return a; } \
            seen = was; \
        } \
    }
#define SLRI_SAME(x) (x)
#define SLRI_ATOMICS_32(S) \
    SLRI_INTEGERS(I32, int, S, atomic_) SLRI_INTEGERS(U32, uint, S, atomic_) \
    SLRI_BY_CAS(increment, SLRI_SWAP_32(S), U32, uint, uint, SLRI_SAME, SLRI_SAME, S, a >= b ? 0 : a + 1) \
    SLRI_BY_CAS(decrement, SLRI_SWAP_32(S), U32, uint, uint, SLRI_SAME, SLRI_SAME, S, a == 0 || a > b ? b : a - 1) \
    SLRI_BY_CAS(add, SLRI_SWAP_32(S), F32, float, uint, as_uint, as_float, S, a + b) \
    SLRI_BY_CAS(sub, SLRI_SWAP_32(S), F32, float, uint, as_uint, as_float, S, a - b) \
    SLRI_BY_CAS(exchange, SLRI_SWAP_32(S), F32, float, uint, as_uint, as_float, S, b)
SLRI_ATOMICS_32(G) SLRI_ATOMICS_32(L)
#define SLRI_ATOMIC_LOAD(p, K, order, scope, S) slri_load_##K##_##S(p, order, scope)
#define SLRI_ATOMIC_STORE(p, K, b, order, scope, S) slri_store_##K##_##S(p, b, order, scope)
#define SLRI_RMW(name, p, K, b, order, scope, S) slri_##name##_##K##_##S(p, b, order, scope)
#define SLRI_CAS(p, K, old, b, order, scope, S) slri_cas_##K##_##S(p, old, b, order, scope)

// ---- votes of a block

// How many of its threads give what is not zero. It ends with a barrier, so that the next finds `sum` free.
SLRI_FN int slri_count_with(int value, bool is_first, volatile SLRI_SPACE_L uint *sum)
{
    if (is_first)
        *sum = 0;
    SLRI_SYNC();
    if (value)
        slri_add_U32_L(sum, 1, 0, 0);
    SLRI_SYNC();
    int count = (int)*sum;
    SLRI_SYNC();
    return count;
}
#define SLRI_SYNC_COUNT(a) SLRI_COUNT(a)
#define SLRI_SYNC_AND(a) (SLRI_COUNT(a) == SLRI_THREADS())
#define SLRI_SYNC_OR(a) (SLRI_COUNT(a) != 0)

// ---- faults of kernels: the first is told, by the words fault (enum slri_fault), file and line; its thread goes on.

SLRI_FN void slri_kernel_fault(SLRI_SPACE_G uint *to, uint fault, uint file, uint line)
{
    if (slri_cas_U32_G(to, 0, fault, 0, 1) != 0) // relaxed: they are read when the kernel is done
        return;
    to[1] = file;
    to[2] = line;
}
#define SLRI_KERNEL_DIVIDE(name, K, type) \
    SLRI_FN type slri_kernel_##name##_##K(type a, type b, SLRI_SPACE_G uint *to, uint file, uint line) \
    { if (b == 0) slri_kernel_fault(to, 1, file, line); return slri_##name##_##K(a, b); }
#define SLRI_KERNEL_DIVIDES(K, type) SLRI_KERNEL_DIVIDE(div, K, type) SLRI_KERNEL_DIVIDE(rem, K, type)
SLRI_KERNEL_DIVIDES(I32, int) SLRI_KERNEL_DIVIDES(I64, long) SLRI_KERNEL_DIVIDES(U32, uint) SLRI_KERNEL_DIVIDES(U64, ulong)

// ---- printf. A record: the number of its text, which the host has, and above it how many values; then their bits. In
// front of all of them four words: how much is used and how many found no room, both atomic, and how much room there is.

// Where its values go; 0: nowhere.
SLRI_FN SLRI_SPACE_G ulong *slri_print(SLRI_SPACE_G uint *to, uint number, uint values)
{
    if (!to)
        return 0;
    // Relaxed: they are read when the kernel is done. An addition.
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
    SLRI_SPACE_G ulong *record = SLRI_CAST(SLRI_SPACE_G ulong *, to) + 2 + at;
    record[0] = number | (ulong)values << 32;
    return record + 1;
}
SLRI_FN SLRI_SPACE_G ulong *slri_print_value(SLRI_SPACE_G ulong *at, ulong bits)
{
    if (at)
        *at++ = bits;
    return at;
}

// ---- warps: 32 threads in order, all of which come together, each with its mask
//
// What a thread gives the others of its warp: they ask for it by lane between SLRI_LEND and SLRI_LENT_ALL. Of a lane
// that is not there they get anything. SLRI_LANES is what a language needs for that: memory of the block, or the lane.
// With SLRI_SUB_GROUPS a warp is the language's own, and only its threads need come together.

SLRI_FN uint slri_shuffle_lane(uint own, int lane, int width)
{
    return (own & ~(uint)(width - 1)) + ((uint)lane & (uint)(width - 1));
}
SLRI_FN uint slri_up_lane(uint own, int by, int width)
{
    uint first = own & ~(uint)(width - 1);
    return (uint)by <= own - first ? own - (uint)by : own;
}
SLRI_FN uint slri_down_lane(uint own, int by, int width)
{
    uint last = own | (uint)(width - 1);
    return (uint)by <= last - own ? own + (uint)by : own;
}
SLRI_FN uint slri_xor_lane(uint own, int by, int width)
{
    uint last = own | (uint)(width - 1), at = own ^ (uint)by;
    return at <= last ? at : own;
}
SLRI_FN uint slri_ballot(uint mask, int value, SLRI_LANES lanes)
{
#ifdef SLRI_SUB_GROUPS
    return SLRI_BALLOT(value != 0) & mask;
#else
    uint made = 0;
    SLRI_LEND(value != 0);
    for (uint i = 0; i < 32; i++)
        made |= (uint)SLRI_LENT(value != 0, i) << i;
    SLRI_LENT_ALL();
    return made & mask & slri_present();
#endif
}SLRI_FN uint slri_match(uint mask, ulong bits, SLRI_LANES lanes)
{
    uint made = 0;
    SLRI_LEND(bits);
    for (uint i = 0; i < 32; i++)
        made |= (uint)(SLRI_LENT(bits, i) == bits) << i;
    SLRI_LENT_ALL();
    return made & mask & slri_present();
}
#define SLRI_REDUCE(name, K, type, combined) \
    SLRI_FN type slri_reduce_##name##_##K(uint mask, type value, SLRI_LANES lanes) \
    { \
        type a = value; \
        bool any = false; \
        SLRI_AT_ONCE(name, mask, value); \
        SLRI_LEND((uint)value); \
        for (uint i = 0; i < 32; i++) { \
            type b = (type)(uint)SLRI_LENT((uint)value, i); \
            if ((mask & slri_present()) >> i & 1) { a = any ? (combined) : b; any = true; } \
        } \
        SLRI_LENT_ALL(); \
        return a; \
    }
#define SLRI_REDUCES(K, type) \
    SLRI_REDUCE(add, K, type, (type)((uint)a + (uint)b)) SLRI_REDUCE(min, K, type, SLRI_OWN(min)(a, b)) \
    SLRI_REDUCE(max, K, type, SLRI_OWN(max)(a, b)) SLRI_REDUCE(and, K, type, a & b) SLRI_REDUCE(or, K, type, a | b) \
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
#define SLRI_SHUFFLE(K, which, mask, value, by, width) slri_##which##_##K(mask, value, by, width, SLRI_OWN_LANES)

// Any lane's value. What is asked of it is made behind the barrier: what threads keep over one costs PoCL more.
#ifdef SLRI_SUB_GROUPS
#define SLRI_TAKE(K, type, word) \
    SLRI_FN type slri_take_##K(uint mask, type value, uint from, SLRI_LANES lanes) \
    { \
        uint lane = mask & slri_present() & 1u << from ? from : SLRI_LANE(lanes) & 31; \
        return slri_of_##K(SLRI_LENT((word)slri_bits_##K(value), lane)); \
    }
#define SLRI_NEAR(K, type, word, which, sign) \
    SLRI_FN type slri_##which##_##K(uint mask, type value, int by, int width, SLRI_LANES lanes) \
    { return slri_take_##K(mask, value, slri_##which##_lane(SLRI_LANE(lanes) & 31, by, width), lanes); }
#else
#define SLRI_TAKE(K, type, word) \
    SLRI_FN type slri_take_##K(uint mask, type value, uint from, SLRI_LANES lanes) \
    { \
        SLRI_SPACE_L word *words = (SLRI_SPACE_L word *)lanes; \
        words[SLRI_LANE(lanes)] = (word)slri_bits_##K(value); \
        SLRI_SYNC(); \
        uint lane = mask & slri_present() & 1u << from ? from : SLRI_LANE(lanes) & 31; \
        type taken = slri_of_##K(words[(SLRI_LANE(lanes) & ~31u) + lane]); \
        SLRI_SYNC(); \
        return taken; \
    }
// From so many lanes away, which for neighbours are neighbours: a CPU loads them at once. It may be beside the block's,
// and is not looked at then.
#define SLRI_NEAR(K, type, word, which, sign) \
    SLRI_FN type slri_##which##_##K(uint mask, type value, int by, int width, SLRI_LANES lanes) \
    { \
        SLRI_SPACE_L word *words = (SLRI_SPACE_L word *)lanes + 32; \
        words[SLRI_LANE(lanes)] = (word)slri_bits_##K(value); \
        SLRI_SYNC(); \
        type taken = slri_of_##K(words[(int)SLRI_LANE(lanes) sign (by & 31)]); \
        SLRI_SYNC(); \
        uint from = slri_##which##_lane(SLRI_LANE(lanes) & 31, by, width); \
        return mask & slri_present() & 1u << from && from != (SLRI_LANE(lanes) & 31) ? taken : value; \
    }
#endif
#define SLRI_SHUFFLES(K, type, word) \
    SLRI_TAKE(K, type, word) SLRI_NEAR(K, type, word, up, -) SLRI_NEAR(K, type, word, down, +) \
    SLRI_FN type slri_shuffle_##K(uint mask, type value, int lane, int width, SLRI_LANES lanes) \
    { return slri_take_##K(mask, value, slri_shuffle_lane(SLRI_LANE(lanes) & 31, lane, width), lanes); } \
    SLRI_FN type slri_xor_##K(uint mask, type value, int by, int width, SLRI_LANES lanes) \
    { return slri_take_##K(mask, value, slri_xor_lane(SLRI_LANE(lanes) & 31, by, width), lanes); }
SLRI_SHUFFLES(I32, int, slri_word_4) SLRI_SHUFFLES(U32, uint, slri_word_4) SLRI_SHUFFLES(F32, float, slri_word_4)
SLRI_SHUFFLES(I64, long, slri_word_8) SLRI_SHUFFLES(U64, ulong, slri_word_8)
#ifdef SLRI_F64
SLRI_FN ulong slri_bits_F64(SLRI_F64 a) { return as_ulong(a); }
SLRI_FN SLRI_F64 slri_of_F64(ulong a) { return as_double(a); }
SLRI_SHUFFLES(F64, SLRI_F64, slri_word_8)
#endif

// ---- math: the language's own

#define slri_fabsf SLRI_OWN(fabs)
#define slri_sqrtf SLRI_OWN(sqrt)
#define slri_rsqrtf SLRI_OWN(rsqrt)
#define slri_floorf SLRI_OWN(floor)
#define slri_ceilf SLRI_OWN(ceil)
#define slri_truncf SLRI_OWN(trunc)
#define slri_rintf SLRI_OWN(rint)
#define slri_roundf SLRI_OWN(round)
#define slri_expf SLRI_OWN(exp)
#define slri_exp2f SLRI_OWN(exp2)
#define slri_exp10f SLRI_OWN(exp10)
#define slri_logf SLRI_OWN(log)
#define slri_log2f SLRI_OWN(log2)
#define slri_log10f SLRI_OWN(log10)
#define slri_sinf SLRI_OWN(sin)
#define slri_cosf SLRI_OWN(cos)
#define slri_tanf SLRI_OWN(tan)
#define slri_asinf SLRI_OWN(asin)
#define slri_acosf SLRI_OWN(acos)
#define slri_atanf SLRI_OWN(atan)
#define slri_sinhf SLRI_OWN(sinh)
#define slri_coshf SLRI_OWN(cosh)
#define slri_tanhf SLRI_OWN(tanh)
#define slri_fminf SLRI_OWN(fmin)
#define slri_fmaxf SLRI_OWN(fmax)
#define slri_copysignf SLRI_OWN(copysign)
#define slri_fmodf SLRI_OWN(fmod)
#define slri_atan2f SLRI_OWN(atan2)
#define slri_powf SLRI_OWN(pow)
#define slri_fmaf SLRI_OWN(fma)
#define slri_saturatef(a) ((a) == (a) ? SLRI_OWN(clamp)(a, 0.0f, 1.0f) : 0.0f)
#define slri_fdividef(a, b) ((a) / (b))
#define slri_asinhf SLRI_OWN(asinh)
#define slri_acoshf SLRI_OWN(acosh)
#define slri_atanhf SLRI_OWN(atanh)
#define slri_sinpif SLRI_OWN(sinpi)
#define slri_cospif SLRI_OWN(cospi)
#define slri_fdimf SLRI_OWN(fdim)
#define slri_fadd_rn(a, b) ((a) + (b))
#define slri_fsub_rn(a, b) ((a) - (b))
#define slri_fmul_rn(a, b) ((a) * (b))
#define slri_fdiv_rn(a, b) ((a) / (b))
#define slri_frcp_rn(a) (1.0f / (a))
#define slri_isnanf SLRI_OWN(isnan)
#define slri_isinff SLRI_OWN(isinf)
#define slri_isfinitef SLRI_OWN(isfinite)
#define slri_signbitf SLRI_OWN(signbit)
#define slri_min_i32 SLRI_OWN(min)
#define slri_min_u32 SLRI_OWN(min)
#define slri_min_i64 SLRI_OWN(min)
#define slri_min_u64 SLRI_OWN(min)
#define slri_max_i32 SLRI_OWN(max)
#define slri_max_u32 SLRI_OWN(max)
#define slri_max_i64 SLRI_OWN(max)
#define slri_max_u64 SLRI_OWN(max)
#define slri_abs_i32(a) ((int)SLRI_OWN(abs)(a))
#define slri_abs_i64(a) ((long)SLRI_OWN(abs)(a))
#define slri_clz(a) SLRI_OWN(clz)(a)
#define slri_clzll(a) ((int)SLRI_OWN(clz)(a))
#define slri_ffs(a) (32 - SLRI_OWN(clz)((a) & slri_neg_I32(a)))
#define slri_ffsll(a) ((int)(64 - SLRI_OWN(clz)((a) & slri_neg_I64(a))))
#define slri_popc(a) ((int)SLRI_OWN(popcount)(a))
#define slri_popcll(a) ((int)SLRI_OWN(popcount)(a))
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
#define slri_double_as_longlong(a) as_long(a)
#define slri_longlong_as_double(a) as_double(a)
#define slri_hiint(a) ((int)(as_ulong(a) >> 32))
#define slri_loint(a) ((int)as_ulong(a))
#define slri_hiloint(high, low) as_double((ulong)(uint)(high) << 32 | (uint)(low))
#define slri_ldexpf SLRI_OWN(ldexp)
SLRI_FN float slri_frexp_fractionf(float a) { int e; return SLRI_OWN(frexp)(a, SLRI_OUT(e)); }
SLRI_FN int slri_frexp_exponentf(float a)
{
    int e;
    SLRI_OWN(frexp)(a, SLRI_OUT(e));
    return SLRI_OWN(isfinite)(a) ? e : 0;
}
SLRI_FN float slri_modf_fractionf(float a) { float whole; return SLRI_OWN(modf)(a, SLRI_OUT(whole)); }
SLRI_FN int slri_ilogbf(float a)
{
    return a == 0 || a != a ? -0x7fffffff - 1 : SLRI_OWN(isinf)(a) ? 0x7fffffff : slri_frexp_exponentf(a) - 1;
}
#define slri_rcbrtf(a) (1.0f / slri_cbrtf(a))
#define slri_rhypotf(a, b) (1.0f / slri_hypotf(a, b))
#define slri_f32_to_i32_rn(a) SLRI_TO_I32(SLRI_OWN(rint)(a))
#define slri_f32_to_i32(a) SLRI_TO_I32(a)
#define slri_f32_to_i32_ru(a) SLRI_TO_I32(SLRI_OWN(ceil)(a))
#define slri_f32_to_i32_rd(a) SLRI_TO_I32(SLRI_OWN(floor)(a))
#define slri_f32_to_u32_rn(a) SLRI_TO_U32(SLRI_OWN(rint)(a))
#define slri_f32_to_u32(a) SLRI_TO_U32(a)
#define slri_f32_to_u32_ru(a) SLRI_TO_U32(SLRI_OWN(ceil)(a))
#define slri_f32_to_u32_rd(a) SLRI_TO_U32(SLRI_OWN(floor)(a))
#define slri_f32_to_i64_rn(a) SLRI_TO_I64(SLRI_OWN(rint)(a))
#define slri_f32_to_i64(a) SLRI_TO_I64(a)
#define slri_f32_to_i64_ru(a) SLRI_TO_I64(SLRI_OWN(ceil)(a))
#define slri_f32_to_i64_rd(a) SLRI_TO_I64(SLRI_OWN(floor)(a))
#define slri_f32_to_u64_rn(a) SLRI_TO_U64(SLRI_OWN(rint)(a))
#define slri_f32_to_u64(a) SLRI_TO_U64(a)
#define slri_f32_to_u64_ru(a) SLRI_TO_U64(SLRI_OWN(ceil)(a))
#define slri_f32_to_u64_rd(a) SLRI_TO_U64(SLRI_OWN(floor)(a))
#define slri_f32_to_i64_away(a) SLRI_TO_I64(SLRI_OWN(round)(a))
#define slri_f32_of_i32(a) ((float)(a))
#define slri_f32_of_u32(a) ((float)(a))
#define slri_f32_of_i64(a) ((float)(a))
#define slri_f32_of_u64(a) ((float)(a))
#define slri_mul24(a, b) ((int)((uint)((int)((uint)(a) << 8) >> 8) * (uint)((int)((uint)(b) << 8) >> 8)))
#define slri_umul24(a, b) (((a) & 0xffffff) * ((b) & 0xffffff))
#define slri_hadd SLRI_OWN(hadd)
#define slri_rhadd SLRI_OWN(rhadd)
#define slri_uhadd SLRI_OWN(hadd)
#define slri_urhadd SLRI_OWN(rhadd)
#define slri_usad(a, b, sum) (((a) > (b) ? (uint)(a) - (uint)(b) : (uint)(b) - (uint)(a)) + (sum))
#define slri_sad slri_usad
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
