// SPDX-License-Identifier: Apache-2.0
/// How a kernel case is launched, from the line above its source:
///
///     //: NAME grid=2x3 block=64 a:i32[256]=edges b:i32[256]=across out:i32[256] n:i32=200 : out==1,2,3
///
/// NAME            of the case; the section's only kernel may be called otherwise
/// grid= block=    blocks, and threads a block: X, XxY or XxYxZ (default 1 and 1)
/// shared=         bytes of `extern __shared__` memory
/// times=          launches, one behind the other (default 1)
/// ulp=N abs=X     what floats may be off on a device that has functions of its own: N units in the last place, or X
/// ends=FAULT      the stream fails with HANDLER_FAULT, and buffers are not compared
/// p:TYPE[N]=FILL  the next argument, a buffer of N elements: zero (default), iota, random, small, wide, edges, across,
/// a
///                 number; TYPE is i8 to u64, f16, f32 or f64
/// p:TYPE=V        a number; V,V,...: a struct of such numbers
/// p==V,V,...      what the first elements of buffer p must be in the end, on the reference too
///
/// A line of blanks behind `//:` goes on with the one above it.
#ifndef CTS_KERNEL_CASE_H
#define CTS_KERNEL_CASE_H

#include "cts.h"

enum { CTS_ARGS = 12, CTS_VALUES = 16 };

typedef struct cts_type {
    const char *name;
    uint32_t bytes;
    char sort; ///< i, u or f
} cts_type;

typedef struct cts_argument {
    char name[24], fill[16];
    const cts_type *type;
    uint32_t count;           ///< elements of a buffer; 0: a value
    double value[CTS_VALUES]; ///< of a value
    uint32_t values;
    double expected[CTS_VALUES];
    uint32_t expects;
} cts_argument;

typedef struct cts_launch {
    uint32_t grid[3], block[3], shared_bytes, times;
    bool faults, is_bounded;
    uint64_t ulp; ///< where it is bounded
    double off;
    cts_argument arg[CTS_ARGS];
    uint32_t args;
} cts_launch;

/// Reads the line; leaves the case as failed where it makes no sense.
void cts_parse_launch(cts *c, cts_launch *out);

/// Fills a buffer's elements.
void cts_fill(const cts_argument *argument, uint32_t seed, void *memory);

/// One element as text; and whether two hold the same, where any NaN is any other.
void cts_print_element(const cts_type *type, const void *at, char *out, size_t bytes);
bool cts_same_element(const cts_type *type, const void *a, const void *b);
/// How many values of the type lie between two floats; 0 of two zeros, UINT64_MAX where one is NaN or the signs differ.
uint64_t cts_ulp(const cts_type *type, const void *a, const void *b);
double cts_element(const cts_type *type, const void *at);
void cts_set_element(const cts_type *type, void *at, double value);

#endif
