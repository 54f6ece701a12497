// SPDX-License-Identifier: Apache-2.0
// What the files beside it share. They are compiled when they are measured, with the flags of compiled kernels.
#ifdef __clang__
#define LANES _Pragma("clang loop vectorize(assume_safety)")
#define ROWS _Pragma("clang loop unroll(full)")
#else
#define LANES _Pragma("GCC ivdep")
#define ROWS _Pragma("GCC unroll 16")
#endif

__attribute__((visibility("default"))) void hand(void *const *buffer, int n);
