// SPDX-License-Identifier: Apache-2.0
/// What the kernels do, as anyone would write it in C: buffers in the kernel's order.
#ifndef KERNEL_PLAIN_H
#define KERNEL_PLAIN_H

void plain_saxpy(void *const *buffer, int n);
void plain_strided_copy(void *const *buffer, int n);
void plain_reduce_shared(void *const *buffer, int n);
void plain_reduce_shuffle(void *const *buffer, int n);
void plain_scan(void *const *buffer, int n);
void plain_histogram(void *const *buffer, int n);
void plain_transpose(void *const *buffer, int side);
void plain_matmul(void *const *buffer, int side);
void plain_stencil(void *const *buffer, int side);
void plain_softmax(void *const *buffer, int n);
void plain_black_scholes(void *const *buffer, int n);
void plain_nbody(void *const *buffer, int n);
void plain_spmv(void *const *buffer, int rows);
void plain_bitonic(void *const *buffer, int n);
void plain_mandelbrot(void *const *buffer, int side);

#endif
