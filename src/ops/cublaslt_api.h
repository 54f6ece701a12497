// SPDX-License-Identifier: Apache-2.0
// cuBLASLt of CUDA 12 and 13: as much of it as is called. tests/ops/headers.cpp compares this with the vendor's
// headers.
#ifndef SLRI_OPS_CUBLASLT_API_H
#define SLRI_OPS_CUBLASLT_API_H

#include <stddef.h>
#include <stdint.h>

// X(result, name, parameters): what versions 12 and 13 have. Each handle and descriptor is a pointer.
#define SLRI_CUBLASLT_FUNCTIONS(X)                                                                                     \
    X(size_t, GetVersion, (void))                                                                                      \
    X(int, Create, (void **handle))                                                                                    \
    X(int, Destroy, (void *handle))                                                                                    \
    X(int, MatmulDescCreate, (void **desc, int compute, int scale))                                                    \
    X(int, MatmulDescDestroy, (void *desc))                                                                            \
    X(int, MatmulDescSetAttribute, (void *desc, int attribute, const void *value, size_t bytes))                       \
    X(int, MatrixLayoutCreate, (void **layout, int type, uint64_t rows, uint64_t columns, int64_t stride))             \
    X(int, MatrixLayoutDestroy, (void *layout))                                                                        \
    X(int, MatrixLayoutSetAttribute, (void *layout, int attribute, const void *value, size_t bytes))                   \
    X(int, MatmulPreferenceCreate, (void **preference))                                                                \
    X(int, MatmulPreferenceDestroy, (void *preference))                                                                \
    X(int, MatmulPreferenceSetAttribute, (void *preference, int attribute, const void *value, size_t bytes))           \
    X(int, MatmulAlgoGetHeuristic,                                                                                     \
      (void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int most,                       \
       struct slri_cublaslt_choice *choice, int *count))                                                               \
    X(int, MatmulAlgoConfigGetAttribute,                                                                               \
      (const struct slri_cublaslt_algorithm *algorithm, int attribute, void *value, size_t bytes, size_t *written))    \
    X(int, Matmul,                                                                                                     \
      (void *handle, void *desc, const void *alpha, const void *a, void *a_layout, const void *b, void *b_layout,      \
       const void *beta, const void *c, void *c_layout, void *d, void *d_layout,                                       \
       const struct slri_cublaslt_algorithm *algorithm, void *workspace, size_t workspace_bytes, void *stream))

struct slri_cublaslt_algorithm {
    uint64_t data[8];
};

struct slri_cublaslt_choice {
    struct slri_cublaslt_algorithm algorithm;
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
};

enum {
    SLRI_LT_COMPUTE_32F = 68,
    SLRI_LT_OPERATION_N = 0,
    SLRI_LT_OPERATION_T = 1,
    SLRI_LT_TRANSPOSE_A = 3, // attributes of a product
    SLRI_LT_TRANSPOSE_B = 4,
    SLRI_LT_EPILOGUE = 7,
    SLRI_LT_BIAS = 8,
    SLRI_LT_EPILOGUE_NONE = 1,
    SLRI_LT_EPILOGUE_RELU = 2,
    SLRI_LT_EPILOGUE_BIAS = 4,
    SLRI_LT_BATCH = 5, // attributes of a layout
    SLRI_LT_BATCH_STRIDE = 6,
    SLRI_LT_MOST_WORKSPACE = 1, // attributes of a preference
    SLRI_LT_REDUCTIONS = 3,
    SLRI_LT_ALIGNMENT_A = 5,
    SLRI_LT_ALIGNMENT_B = 6,
    SLRI_LT_ALIGNMENT_C = 7,
    SLRI_LT_ALIGNMENT_D = 8,
    SLRI_LT_REDUCTION = 3,           // an attribute of an algorithm
    SLRI_LT_REDUCTION_IN_PLACE = 1,  // of parts of a sum: in the results, whose type they then are of
    SLRI_LT_REDUCTION_IN_FLOAT = 2,  // in the workspace
    SLRI_LT_REDUCTION_OF_RESULTS = 4 // in the workspace, as numbers of the results' type
};

#endif
