// SPDX-License-Identifier: Apache-2.0
// Atomic accesses are real ones, with the order asked, because native threads may share the memory.
#include "run/interpreter_op.h"
#include "run/interpreter_thread.h"

// GCC takes an order that is no constant as the strongest, and ThreadSanitizer would then not see one that is missing:
// hence DO(order, order of a failing compare-and-swap) for each.
#define WITH_ORDER(order, DO)                                                                                          \
    switch (order) {                                                                                                   \
    case SLRI_RELAXED:                                                                                                 \
        DO(__ATOMIC_RELAXED, __ATOMIC_RELAXED);                                                                        \
        break;                                                                                                         \
    case SLRI_ACQUIRE:                                                                                                 \
        DO(__ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE);                                                                        \
        break;                                                                                                         \
    case SLRI_RELEASE:                                                                                                 \
        DO(__ATOMIC_RELEASE, __ATOMIC_RELAXED);                                                                        \
        break;                                                                                                         \
    case SLRI_ACQ_REL:                                                                                                 \
        DO(__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);                                                                        \
        break;                                                                                                         \
    default:                                                                                                           \
        DO(__ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                                                        \
        break;                                                                                                         \
    }

static union slri_scalar scalar32(uint32_t bits)
{
    return (union slri_scalar){.u32 = bits};
}

static union slri_scalar scalar64(uint64_t bits)
{
    return (union slri_scalar){.u64 = bits};
}

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#elif defined(__has_feature)
#define THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define THREAD_SANITIZER 0
#endif

// ---- one width each -------------------------------------------------------------------------------------------------

#define DEFINE_WIDTH(width)                                                                                            \
    static uint##width##_t load##width(const uint##width##_t *at, unsigned order)                                      \
    {                                                                                                                  \
        switch (order) {                                                                                               \
        case SLRI_RELAXED:                                                                                             \
            return __atomic_load_n(at, __ATOMIC_RELAXED);                                                              \
        case SLRI_ACQUIRE:                                                                                             \
            return __atomic_load_n(at, __ATOMIC_ACQUIRE);                                                              \
        default:                                                                                                       \
            return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                              \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void store##width(uint##width##_t *at, uint##width##_t value, unsigned order)                               \
    {                                                                                                                  \
        switch (order) {                                                                                               \
        case SLRI_RELAXED:                                                                                             \
            __atomic_store_n(at, value, __ATOMIC_RELAXED);                                                             \
            break;                                                                                                     \
        case SLRI_RELEASE:                                                                                             \
            __atomic_store_n(at, value, __ATOMIC_RELEASE);                                                             \
            break;                                                                                                     \
        default:                                                                                                       \
            __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                             \
            break;                                                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* Whether *at was *expected and is now `value`; if not, *expected is what it was. */                              \
    static bool swap##width(uint##width##_t *at, uint##width##_t *expected, uint##width##_t value, unsigned order)     \
    {                                                                                                                  \
        bool swapped = false;                                                                                          \
        WITH_ORDER(order, SWAP)                                                                                        \
        return swapped;                                                                                                \
    }                                                                                                                  \
                                                                                                                       \
    static union slri_scalar modify##width(const struct slri_code *in, uint##width##_t *at, union slri_scalar operand) \
    {                                                                                                                  \
        uint##width##_t old = __atomic_load_n(at, __ATOMIC_RELAXED); /* the swap that succeeds has the order */        \
        while (!swap##width(at, &old, combine(in, scalar##width(old), operand).u##width, in->order))                   \
            ;                                                                                                          \
        return scalar##width(old);                                                                                     \
    }

#define SWAP(success, failure) swapped = __atomic_compare_exchange_n(at, expected, value, false, success, failure)

static bool less(enum slri_kind kind, union slri_scalar a, union slri_scalar b)
{
    switch (kind) {
    case SLRI_I32:
        return a.i32 < b.i32;
    case SLRI_U32:
        return a.u32 < b.u32;
    case SLRI_I64:
        return a.i64 < b.i64;
    case SLRI_U64:
        return a.u64 < b.u64;
    case SLRI_F32:
        return a.f32 < b.f32;
    default:
        return a.f64 < b.f64;
    }
}

// a + b or a - b in the kind.
static union slri_scalar sum(enum slri_kind kind, union slri_scalar a, union slri_scalar b, bool subtract)
{
    switch (kind) {
    case SLRI_F32:
        a.f32 = subtract ? a.f32 - b.f32 : a.f32 + b.f32;
        break;
    case SLRI_F64:
        a.f64 = subtract ? a.f64 - b.f64 : a.f64 + b.f64;
        break;
    case SLRI_I32:
    case SLRI_U32:
        a.u32 = subtract ? a.u32 - b.u32 : a.u32 + b.u32;
        break;
    default:
        a.u64 = subtract ? a.u64 - b.u64 : a.u64 + b.u64;
        break;
    }
    return a;
}

// What a read-modify-write leaves in memory. Bitwise ones are done on all 64 bits, of which the kind's are used.
static union slri_scalar combine(const struct slri_code *in, union slri_scalar old, union slri_scalar b)
{
    enum slri_kind kind = in->kind;
    switch ((enum slri_rmw)in->imm) {
    case SLRI_RMW_ADD:
        return sum(kind, old, b, false);
    case SLRI_RMW_SUB:
        return sum(kind, old, b, true);
    case SLRI_RMW_AND:
        return scalar64(old.u64 & b.u64);
    case SLRI_RMW_OR:
        return scalar64(old.u64 | b.u64);
    case SLRI_RMW_XOR:
        return scalar64(old.u64 ^ b.u64);
    case SLRI_RMW_MIN:
        return less(kind, b, old) ? b : old;
    case SLRI_RMW_MAX:
        return less(kind, old, b) ? b : old;
    case SLRI_RMW_INCREMENT:
        return scalar32(old.u32 >= b.u32 ? 0 : old.u32 + 1);
    case SLRI_RMW_DECREMENT:
        return scalar32(old.u32 == 0 || old.u32 > b.u32 ? b.u32 : old.u32 - 1);
    case SLRI_RMW_EXCHANGE:
        break;
    }
    return b;
}

DEFINE_WIDTH(32)
DEFINE_WIDTH(64)

// ---- the codes ------------------------------------------------------------------------------------------------------

static void atomic32(const struct slri_code *in, union slri_scalar *reg, uint32_t *at)
{
    if (in->op == SLRI_CODE_ATOMIC_LOAD) {
        reg[in->dst] = scalar32(load32(at, in->order));
    } else if (in->op == SLRI_CODE_ATOMIC_STORE) {
        store32(at, reg[in->b].u32, in->order);
    } else if (in->op == SLRI_CODE_ATOMIC_RMW) {
        reg[in->dst] = modify32(in, at, reg[in->b]);
    } else {
        uint32_t expected = reg[in->b].u32;
        swap32(at, &expected, reg[in->u.c].u32, in->order);
        reg[in->dst] = scalar32(expected);
    }
}

static void atomic64(const struct slri_code *in, union slri_scalar *reg, uint64_t *at)
{
    if (in->op == SLRI_CODE_ATOMIC_LOAD) {
        reg[in->dst] = scalar64(load64(at, in->order));
    } else if (in->op == SLRI_CODE_ATOMIC_STORE) {
        store64(at, reg[in->b].u64, in->order);
    } else if (in->op == SLRI_CODE_ATOMIC_RMW) {
        reg[in->dst] = modify64(in, at, reg[in->b]);
    } else {
        uint64_t expected = reg[in->b].u64;
        swap64(at, &expected, reg[in->u.c].u64, in->order);
        reg[in->dst] = scalar64(expected);
    }
}

void slri_interp_atomic(const struct slri_code *in, union slri_scalar *reg, void *at)
{
    if (slri_kind_bytes(in->kind) == 8)
        atomic64(in, reg, at);
    else
        atomic32(in, reg, at);
}

void slri_interp_fence(enum slri_order order)
{
#if THREAD_SANITIZER
    // ThreadSanitizer knows no fences: a read-modify-write of one word that all of them share orders at least as much.
    static uint32_t word;
#define FENCE(success, failure) (void)__atomic_fetch_add(&word, 0, success)
#else
#define FENCE(success, failure) __atomic_thread_fence(success)
#endif
    WITH_ORDER(order, FENCE)
#undef FENCE
}
