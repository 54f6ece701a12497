// SPDX-License-Identifier: Apache-2.0
// Text for OpenCL's compiler: the processor's counter, where the compiler has one. Whether that is the host's counter
// is tried (probe.c). Compilers without it refuse this text.
// clang-format off
#if !defined(__has_builtin)
#error "no counter"
#elif !__has_builtin(__builtin_readcyclecounter)
#error "no counter"
#endif
static ulong slr_ticks(void)
{
    return (ulong)__builtin_readcyclecounter();
}

#ifdef SLR_PROBE
__kernel void slr_clock(__global ulong *ticks)
{
    *ticks = slr_ticks();
}
#endif
