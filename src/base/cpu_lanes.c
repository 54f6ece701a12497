// SPDX-License-Identifier: Apache-2.0
// What the CPU itself says of its vectors, under any system.
#include "base/cpu.h"

uint32_t slri_cpu_lanes(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") ? 16 : __builtin_cpu_supports("avx") ? 8 : 4; // SSE2 is always there
#elif defined(__aarch64__)
    return 4;
#else
    return 1;
#endif
}
