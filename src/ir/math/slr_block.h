// SPDX-License-Identifier: Apache-2.0
// Functions of a warp, and barriers that count, for targets that have none: device functions, which lang/library.h
// compiles. All threads of a block come to them together. They are made of __syncthreads and __syncwarp, and with
// SLRI_SUBGROUPS, where a warp is a sub-group, of a shuffle and a vote of all 32 lanes.
//
// Numbers choose where a branch could, because drivers of CPUs do both sides of a branch. `t` is the thread's number.
// clang-format off
#define SLRI_FN static __device__
#define SLRI_ALL 0xffffffffu

extern __shared__ unsigned slri_lanes[]; // SLRI_BLOCK_LANES

SLRI_FN unsigned slri_thread() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
SLRI_FN unsigned slri_threads() { return blockDim.x * blockDim.y * blockDim.z; }

// ---- barriers ------------------------------------------------------------------------------------------------------

// Ends with a barrier, so that the next one finds the word free.
SLRI_FN int slri_syncthreads_count(int flag)
{
    if (slri_thread() == 0u)
        slri_lanes[0] = 0u;
    __syncthreads();
    atomicAdd(&slri_lanes[0], flag != 0);
    __syncthreads();
    int count = (int)slri_lanes[0];
    __syncthreads();
    return count;
}
SLRI_FN int slri_syncthreads_and(int flag) { return slri_syncthreads_count(flag) == (int)slri_threads(); }
SLRI_FN int slri_syncthreads_or(int flag) { return slri_syncthreads_count(flag) != 0; }

// ---- lanes ---------------------------------------------------------------------------------------------------------

// The lanes of a mask that the block has.
SLRI_FN unsigned slri_present(unsigned t, unsigned mask)
{
    return mask & SLRI_ALL >> 32u - min(slri_threads() - (t & ~31u), 32u);
}

// Where a lane's words are.
SLRI_FN unsigned slri_words(unsigned t, unsigned lane) { return 2u * ((t & ~31u) + lane); }

// A word that all lanes have written, before any writes the next.
SLRI_FN unsigned slri_written(unsigned at)
{
    __syncwarp();
    unsigned word = slri_lanes[at];
    __syncwarp();
    return word;
}

// Whom a shuffle asks: no lane where that leaves the group of `width` lanes.
#define SLRI_LANE(at, is_there) ((at) | (unsigned)(is_there) - 1u)
SLRI_FN unsigned slri_asks(unsigned t, unsigned by, unsigned width) { return (t & 32u - width) + (by & width - 1u); }
SLRI_FN unsigned slri_asks_up(unsigned t, unsigned by, unsigned width)
{
    return SLRI_LANE((t & 31u) - by, by <= (t & width - 1u));
}
SLRI_FN unsigned slri_asks_down(unsigned t, unsigned by, unsigned width)
{
    return SLRI_LANE((t & 31u) + by, by <= (~t & width - 1u));
}
SLRI_FN unsigned slri_asks_xor(unsigned t, unsigned by, unsigned width)
{
    return SLRI_LANE(t & 31u ^ by, (t & 31u ^ by) <= (t & 31u | width - 1u));
}

// The lane that is asked, or the own one where that takes no part.
SLRI_FN unsigned slri_lender(unsigned t, unsigned mask, unsigned lane)
{
    unsigned takes_part = (lane < 32u) & slri_present(t, mask) >> (lane & 31u);
    return (t ^ (t ^ lane) & 0u - takes_part) & 31u;
}

#ifdef SLRI_SUBGROUPS
SLRI_FN unsigned slri_vote(unsigned t, int flag) { return __ballot_sync(SLRI_ALL, flag); }
SLRI_FN unsigned slri_taken_U32(unsigned t, unsigned value, unsigned lane)
{
    return __shfl_sync(SLRI_ALL, value, (int)lane, 32);
}
SLRI_FN long slri_taken_I64(unsigned t, long value, unsigned lane)
{
    return __shfl_sync(SLRI_ALL, value, (int)lane, 32);
}
#else
SLRI_FN unsigned slri_vote(unsigned t, int flag)
{
    unsigned first = slri_words(t, 0u), lane = t & 31u;
    if (lane == 0u)
        slri_lanes[first] = 0u;
    __syncwarp();
    atomicOr(&slri_lanes[first], (unsigned)(flag != 0) << lane);
    return slri_written(first);
}
SLRI_FN unsigned slri_taken_U32(unsigned t, unsigned value, unsigned lane)
{
    slri_lanes[2u * t] = value;
    return slri_written(slri_words(t, lane));
}
SLRI_FN long slri_taken_I64(unsigned t, long value, unsigned lane)
{
    unsigned other = slri_words(t, lane);
    slri_lanes[2u * t] = (unsigned)value;
    slri_lanes[2u * t + 1u] = (unsigned)(value >> 32);
    __syncwarp();
    long taken = slri_lanes[other] | (long)slri_lanes[other + 1u] << 32;
    __syncwarp();
    return taken;
}
#endif

// ---- functions of a warp -------------------------------------------------------------------------------------------

SLRI_FN unsigned slri_ballot_sync(unsigned mask, int flag)
{
    unsigned t = slri_thread();
    return slri_vote(t, flag) & slri_present(t, mask);
}
SLRI_FN int slri_all_sync(unsigned mask, int flag) { return slri_ballot_sync(mask, flag == 0) == 0u; }
SLRI_FN int slri_any_sync(unsigned mask, int flag) { return slri_ballot_sync(mask, flag) != 0u; }
SLRI_FN unsigned slri_activemask() { return slri_ballot_sync(SLRI_ALL, 1); }

SLRI_FN unsigned slri_match_any_sync_U32(unsigned mask, unsigned value)
{
    unsigned made = 0u, t = slri_thread();
    slri_lanes[2u * t] = value;
    __syncwarp();
    for (unsigned lane = 0u; lane < 32u; ++lane)
        made |= (unsigned)(slri_lanes[slri_words(t, lane)] == value) << lane;
    __syncwarp();
    return made & slri_present(t, mask);
}
SLRI_FN unsigned slri_match_any_sync_I64(unsigned mask, long value)
{
    return slri_match_any_sync_U32(mask, (unsigned)value) & slri_match_any_sync_U32(mask, (unsigned)(value >> 32));
}

// Of 4 bytes and of 8; who links them has the bits of values of other types.
#define SLRI_SHUFFLE(NAME, K, T)                                                                                       \
SLRI_FN T slri_shfl##NAME##_sync_##K(unsigned mask, T value, int by, int width)                                        \
{                                                                                                                      \
    unsigned t = slri_thread();                                                                                        \
    return slri_taken_##K(t, value, slri_lender(t, mask, slri_asks##NAME(t, by, width)));                              \
}
#define SLRI_SHUFFLES(NAME) SLRI_SHUFFLE(NAME, U32, unsigned) SLRI_SHUFFLE(NAME, I64, long)

SLRI_SHUFFLES()
SLRI_SHUFFLES(_up)
SLRI_SHUFFLES(_down)
SLRI_SHUFFLES(_xor)

// Masks of one warp that differ have no lane in common: each is known by its lowest lane, whose word takes the sum of
// the lanes that take part.
SLRI_FN unsigned slri_sum(unsigned t, unsigned lanes, unsigned begin)
{
    slri_lanes[2u * t] = begin;
    __syncwarp();
    return slri_words(t, __ffs((int)lanes) - 1 & 31);
}

// BITS gives a value the order of unsigned numbers, and takes it back.
#define SLRI_REDUCTION(NAME, K, T, ATOMIC, BEGIN, BITS)                                                                \
SLRI_FN T slri_reduce_##NAME##_sync_##K(unsigned mask, T value)                                                        \
{                                                                                                                      \
    unsigned t = slri_thread(), lanes = slri_present(t, mask), sum = slri_sum(t, lanes, BEGIN);                        \
    if (lanes >> (t & 31u) & 1u)                                                                                       \
        ATOMIC(&slri_lanes[sum], BITS(value));                                                                         \
    return (T)BITS(slri_written(sum));                                                                                 \
}
#define SLRI_IN_ORDER(x) ((unsigned)(x) ^ 0x80000000u)

SLRI_REDUCTION(add, U32, unsigned, atomicAdd, 0u, )
SLRI_REDUCTION(and, U32, unsigned, atomicAnd, SLRI_ALL, )
SLRI_REDUCTION(or, U32, unsigned, atomicOr, 0u, )
SLRI_REDUCTION(xor, U32, unsigned, atomicXor, 0u, )
SLRI_REDUCTION(min, I32, int, atomicMin, SLRI_ALL, SLRI_IN_ORDER)
SLRI_REDUCTION(min, U32, unsigned, atomicMin, SLRI_ALL, )
SLRI_REDUCTION(max, I32, int, atomicMax, 0u, SLRI_IN_ORDER)
SLRI_REDUCTION(max, U32, unsigned, atomicMax, 0u, )
