// SPDX-License-Identifier: Apache-2.0
// What an image has in whichever language its text is (device.h, metal/metal_stdlib): stores that may be late, bits,
// halves. No header of the host's library: a kernel may use its names.
// clang-format off
#include "tests/shim/calls.h"

extern "C" __attribute__((weak)) const struct shim_calls *shim = nullptr; // set when the image is loaded
// A thread's part of the shared memory is looked for by an address in it.
static thread_local unsigned shim_in_shared;
extern "C" __attribute__((weak)) void *shim_touch_shared() { return &shim_in_shared; }

typedef unsigned long long shim_u64;
typedef __SIZE_TYPE__ size_t;

template <class T> T shim_from(shim_word bits) { T value; __builtin_memcpy(&value, &bits, sizeof value); return value; }
template <class T> shim_word shim_bits(T value) { shim_word bits = 0; __builtin_memcpy(&bits, &value, sizeof value); return bits; }
inline void *shim_copy(void *to, const void *from, size_t n) { shim->plain(to, n); return __builtin_memcpy(to, from, n); }
inline void *shim_fill(void *to, int value, size_t n) { shim->plain(to, n); return __builtin_memset(to, value, n); }

#define SHIM_SITE (__COUNTER__ + 1u) // which call of the text this is

// The compiler calls these before plain stores (image.c asks for it): they may be late.
#define SHIM_OWN extern "C" __attribute__((weak))
#define SHIM_STORE(n) SHIM_OWN void __asan_store##n##_noabort(void *at) { shim->plain(at, n); }
SHIM_STORE(1) SHIM_STORE(2) SHIM_STORE(4) SHIM_STORE(8) SHIM_STORE(16)
SHIM_OWN void __asan_storeN_noabort(void *at, size_t n) { shim->plain(at, n); }
SHIM_OWN void __asan_handle_no_return() {}
SHIM_OWN void *__asan_memcpy(void *to, const void *from, size_t n) { return shim_copy(to, from, n); }
SHIM_OWN void *__asan_memset(void *to, int value, size_t n) { return shim_fill(to, value, n); }

// A half of the machine's own is a float that was rounded: from the bits, and by the rules of IEEE 754.
inline float shim_of_half(unsigned short bits)
{
    const unsigned exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    const float sign = bits >> 15 ? -1.0f : 1.0f;
    if (exponent == 31)
        return fraction ? __builtin_nanf("") : sign * __builtin_inff();
    return sign * __builtin_ldexpf(exponent ? (float)(fraction | 0x400) : (float)fraction,
                                   (exponent ? (int)exponent : 1) - 25);
}
inline unsigned short shim_to_half(double a) // exact: to nearest even
{
    const unsigned sign = __builtin_signbit(a) ? 0x8000 : 0;
    const double size = __builtin_fabs(a);
    int exponent;
    if (a != a)
        return 0x7fff;
    if (size == 0)
        return (unsigned short)sign;
    if (size >= 65520)
        return (unsigned short)(sign | 0x7c00);
    __builtin_frexp(size, &exponent); // size < 2^exponent
    const int step = (exponent < -13 ? -13 : exponent) - 11;
    const unsigned steps = (unsigned)__builtin_nearbyint(__builtin_ldexp(size, -step)); // of 2^step
    return (unsigned short)(sign | (steps + ((unsigned)(step + 24) << 10)));
}
