// SPDX-License-Identifier: Apache-2.0
/// cuBLASLt and cuDNN called bare, in the stream of bench/cuda.h: opened where they are, never linked. Each takes what
/// its library calls the fastest, without TF32, in at most FLOORS_WORKSPACE bytes.
#ifndef BENCH_FLOORS_NVIDIA_H
#define BENCH_FLOORS_NVIDIA_H

#include "bench/cuda.h"

#define FLOORS_WORKSPACE (256u << 20) // as much as slipring's operations may use

/// memory[2] = memory[0] memory[1], row by row, of `side` by `side` floats or halves.
typedef struct floors_product floors_product;
floors_product *floors_cublaslt_make(cuda *cu, bool halves, unsigned side, const cuda_pointer memory[3],
                                     const char **why); ///< NULL: it cannot be, and `why` says so
bool floors_cublaslt(const floors_product *product);    ///< puts it into the stream
void floors_cublaslt_free(floors_product *product);     ///< NULL is fine

/// memory[2] = memory[0] with the filters memory[1]: `images` of `channels` of `side` by `side` floats, as many filters
/// of 3 x 3, padded to the same size.
typedef struct floors_filter floors_filter;
floors_filter *floors_cudnn_make(cuda *cu, unsigned images, unsigned channels, unsigned side,
                                 const cuda_pointer memory[3], const char **why);
bool floors_cudnn(const floors_filter *filter);
void floors_cudnn_free(floors_filter *filter);

#endif
