// SPDX-License-Identifier: Apache-2.0
/// The kernels of this folder as a table: what each takes, in which shape it is launched, and the same in plain C. For
/// the test, which compares, and for `slipring bench kernels`, which measures.
#ifndef KERNEL_CASES_H
#define KERNEL_CASES_H

#include <slipring/slipring.h>

#include <stddef.h>

enum { KERNEL_BUFFERS = 5 };

/// `n` is what a case is scaled by: its elements, or the side of its square.
typedef struct kernel_case {
    const char *name;      ///< of the kernel
    const char *source;    ///< its text
    const char *arguments; ///< a character each: 0 to 4 the buffers, n the size, f the number 2
    /// Elements (of 4 bytes) of the buffers: `times` * n^`power` / `by` each; 0 times: not there.
    struct {
        unsigned times, power, by;
        char fill; ///< f: floats in 0 to 1; i: integers in 0 to 255; r, c: rows and columns of a band; 0: zeros
    } buffer[KERNEL_BUFFERS];
    unsigned written;    ///< the last so many buffers
    uint32_t block[2];   ///< threads along x and y
    unsigned dimensions; ///< of the grid
    int small, large;    ///< n in the test and in the benchmark
    double bytes, flops; ///< a n^power of memory traffic and of work, by convention; the benchmark's unit
    unsigned work_power;
    double tolerance; ///< relative to 1; 0: the same bits as plain C
    void (*plain)(void *const *buffer, int n);
} kernel_case;

extern const kernel_case kernel_cases[];
extern const size_t kernel_case_count;

size_t kernel_case_elements(const kernel_case *what, unsigned buffer, int n);
void kernel_case_fill(const kernel_case *what, unsigned buffer, int n, void *memory);
slr_shape kernel_case_shape(const kernel_case *what, int n);

/// Launches with the case's arguments, in its shape or another. Errors: as slr_launch.
slr_status kernel_case_launch(const kernel_case *what, int n, slr_stream *stream, slr_kernel *kernel,
                              slr_buffer *const *buffer);
slr_status kernel_case_launch_shape(const kernel_case *what, int n, slr_stream *stream, slr_kernel *kernel,
                                    slr_buffer *const *buffer, slr_shape shape);

#endif
