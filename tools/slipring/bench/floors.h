// SPDX-License-Identifier: Apache-2.0
/// What kernels are measured beside, other than OpenCL: the memory's own speed, OpenBLAS, oneDNN, and the same written
/// by hand.
#ifndef BENCH_FLOORS_H
#define BENCH_FLOORS_H

#include "partner.h"

#include <stdbool.h>
#include <stddef.h>

/// Where both halves of an array are worked on at the same time, by the caller and the partner.
typedef struct halves {
    float *a, *b;
    const float *c;
    size_t count;
    float sum[2];
    void (*work)(struct halves *, unsigned half); // what is under way
} halves;

void floors_triad(halves *halves, partner *partner); ///< STREAM's: a = b + 2 c
void floors_saxpy(halves *halves, partner *partner); ///< b = 2 a + b
void floors_sum(halves *halves, partner *partner);   ///< reads a

/// OpenBLAS on so many threads, opened when it is here. False: it is not.
bool floors_blas_open(int threads);
void floors_blas(int side, const float *a, const float *b, float *c);

/// oneDNN 2 on so many threads of the caller's, opened when it is here. False: it is not.
bool floors_onednn_open(int threads);
/// A convolution of images with as many filters of 3 x 3 as they have channels, padded to the same size: for
/// floors_onednn, which does all of it. NULL: oneDNN has none.
typedef struct floors_convolution floors_convolution;
floors_convolution *floors_onednn_make(unsigned images, unsigned channels, unsigned side, const float *x,
                                       const float *weights, float *y);
void floors_onednn_free(floors_convolution *convolution); // NULL is fine
bool floors_onednn(const floors_convolution *convolution);

/// bench/kernels/hand/NAME.c, compiled by the C compiler that is here (SLIPRING_CC, cc) with the flags of compiled
/// kernels. NULL: it cannot be, and `why` says so.
typedef void hand_function(void *const *buffer, int n);
hand_function *floors_hand(const char *source, const char **why);

/// A file of that text; a compiler, found on PATH, with arguments that end with NULL. False: failed.
bool floors_write(const char *path, const char *text);
bool floors_compile(char *const *arguments);

#endif
