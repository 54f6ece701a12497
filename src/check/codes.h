// SPDX-License-Identifier: Apache-2.0
// Every finding: its number, its name, how much it matters, and what its reader can do about it.
//
// A number is printed as SLR-C followed by three digits and is never used again for something else. A finding is an
// ERROR where the kernel does what CUDA leaves undefined, with results that may differ; a WARNING where it relies on
// what the language does not promise or what the launch must provide; a NOTE where it is right and could be faster.
#ifndef SLRI_CHECK_CODES_H
#define SLRI_CHECK_CODES_H

// X(number, NAME, LEVEL, name, advice)
#define SLRI_CHECK_LIST(X)                                                                                             \
    /* 1-9: where */                                                                                                   \
    X(1, OUTSIDE_BUFFER, ERROR, "outside-buffer",                                                                      \
      "test the index against the buffer's size before the access, or make the buffer larger")                         \
    X(2, OUTSIDE_ARRAY, ERROR, "outside-array",                                                                        \
      "keep the index between 0 and the extent minus 1, or make the array "                                            \
      "larger")                                                                                                        \
    X(3, MISALIGNED, ERROR, "misaligned",                                                                              \
      "make the offset a multiple of the access size: otherwise a GPU ends the kernel")                                \
    X(4, NEEDS_PADDING, WARNING, "needs-padding",                                                                      \
      "guard this access too, or allocate the buffer for all threads of the grid")                                     \
    X(5, OUTSIDE_BY_DATA, WARNING, "outside-by-data",                                                                  \
      "test the value before using it as an index, or give real data with --arg")                                      \
    /* 10-19: two threads at once */                                                                                   \
    X(10, RACE_SHARED, ERROR, "shared-race",                                                                           \
      "put __syncthreads() between the two accesses, where all threads reach "                                         \
      "it")                                                                                                            \
    X(11, RACE_GLOBAL, ERROR, "global-race",                                                                           \
      "let each thread write its own element, use an atomic, or split the kernel: blocks are not ordered; within a "   \
      "block, __syncthreads() orders")                                                                                 \
    X(12, SAME_VALUE, NOTE, "same-value-race",                                                                         \
      "let one thread write it: the value is the same, but the language still calls this a race")                      \
    /* 20-29: values that nobody gave */                                                                               \
    X(20, UNSET_SHARED, ERROR, "unset-shared",                                                                         \
      "write it first, then call __syncthreads(): shared memory starts uninitialised")                                 \
    X(21, UNSET_VARIABLE, ERROR, "unset-variable", "initialise it at its declaration, or on every path to this line")  \
    X(22, UNSET_BUFFER, ERROR, "unset-buffer", "fill the buffer before the launch, or write before reading")           \
    /* 30-39: barriers */                                                                                              \
    X(30, BARRIER_DIVERGED, ERROR, "diverged-barrier",                                                                 \
      "let every thread of the block reach the same barrier: move the barrier after the branch, and keep only the "    \
      "work in the condition")                                                                                         \
    X(31, BARRIER_PASSED, ERROR, "passed-barrier",                                                                     \
      "let every thread of the block reach it: move it out of the branch or loop that some threads skip")              \
    X(32, BARRIER_RETURNED, WARNING, "returned-before-barrier",                                                        \
      "put the condition around the work instead of returning: CUDA requires every thread of the block at a barrier")  \
    X(33, WARP_DIVERGED, ERROR, "diverged-warp-function",                                                              \
      "put exactly the lanes that reach this call in its mask, or let all lanes of the mask reach it")                 \
    /* 40-49: arithmetic */                                                                                            \
    X(40, OVERFLOW, ERROR, "signed-overflow",                                                                          \
      "compute in a wider or an unsigned type: signed overflow is undefined in CUDA (slipring wraps)")                 \
    X(41, SHIFT, ERROR, "shift-too-wide",                                                                              \
      "shift by less than the number of bits (slipring uses the count modulo the number of bits)")                     \
    X(42, DIVISION_BY_ZERO, ERROR, "division-by-zero", "test the divisor first")                                       \
    /* 50-59: ends */                                                                                                  \
    X(50, ENDLESS, ERROR, "endless",                                                                                   \
      "check the loop's condition; if it needs more iterations, raise --fuel; if the launch is only long, --steps")    \
    X(51, ASSERTION, ERROR, "assertion", "an assert of the kernel does not hold for these arguments")                  \
    X(52, TRAPPED, ERROR, "trap", "the kernel ends itself by __trap() with these arguments")                           \
    X(53, TOO_MANY_SENDS, ERROR, "too-many-sends",                                                                     \
      "reply, or send through an output channel, at most 64 times per message: this is the limit of ring kernels")     \
    /* 60-69: speed */                                                                                                 \
    X(60, UNCOALESCED, NOTE, "uncoalesced",                                                                            \
      "let neighbouring threads access neighbouring elements, or use a tile in shared memory")                         \
    X(61, BANK_CONFLICT, NOTE, "bank-conflict", "pad the row by one element, or assign the elements to other threads") \
    X(62, BRANCH_DIVERGENCE, NOTE, "branch-divergence",                                                                \
      "let whole warps take one side: branch on threadIdx.x / 32, or sort the work so that neighbours agree")

enum slri_check_code {
#define SLRI_CHECK_ENUM(number, name, level, text, advice) SLRI_C_##name = number,
    SLRI_CHECK_LIST(SLRI_CHECK_ENUM)
#undef SLRI_CHECK_ENUM
};

#endif
