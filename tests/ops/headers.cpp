// SPDX-License-Identifier: Apache-2.0
// What src/ops declares of cuBLASLt and cuDNN, beside the vendor's headers: the number of parameters, which are
// pointers, how large each is; structs by their offsets, constants by their values. It is compiled, not run.
#include <cstddef>
#include <type_traits>

struct slri_cublaslt_choice;
struct slri_cublaslt_algorithm;
struct slri_cudnn_choice;
#include "ops/cublaslt_api.h"
#include "ops/cudnn_api.h"

#include <cublasLt.h>
#include <cudnn.h>

template <class A, class B>
constexpr bool passes_alike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;

template <class R, class... A, class S, class... B> constexpr bool agree(R (*)(A...), S (*)(B...))
{
    if constexpr (sizeof...(A) != sizeof...(B))
        return false;
    else
        return passes_alike<R, S> && (passes_alike<A, B> && ...);
}

#define CHECK_LT(result, name, parameters)                                                                             \
    static_assert(agree((result(*) parameters) nullptr, decltype(&cublasLt##name){}), "cublasLt" #name);
SLRI_CUBLASLT_FUNCTIONS(CHECK_LT)
#define CHECK_DNN(result, name, parameters)                                                                            \
    static_assert(agree((result(*) parameters) nullptr, decltype(&cudnn##name){}), "cudnn" #name);
SLRI_CUDNN_FUNCTIONS(CHECK_DNN)

#define SAME(ours, theirs) static_assert((long)(ours) == (long)(theirs), #ours " is " #theirs)
#define SAME_FIELD(ours, field, theirs, their_field) SAME(offsetof(ours, field), offsetof(theirs, their_field))

SAME(sizeof(slri_cublaslt_algorithm), sizeof(cublasLtMatmulAlgo_t));
SAME(sizeof(slri_cublaslt_choice), sizeof(cublasLtMatmulHeuristicResult_t));
SAME_FIELD(slri_cublaslt_choice, workspace_bytes, cublasLtMatmulHeuristicResult_t, workspaceSize);
SAME_FIELD(slri_cublaslt_choice, state, cublasLtMatmulHeuristicResult_t, state);
SAME(SLRI_LT_COMPUTE_32F, CUBLAS_COMPUTE_32F);
SAME(SLRI_LT_OPERATION_N, CUBLAS_OP_N);
SAME(SLRI_LT_OPERATION_T, CUBLAS_OP_T);
SAME(SLRI_LT_TRANSPOSE_A, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(SLRI_LT_TRANSPOSE_B, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(SLRI_LT_EPILOGUE, CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(SLRI_LT_BIAS, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(SLRI_LT_EPILOGUE_NONE, CUBLASLT_EPILOGUE_DEFAULT);
SAME(SLRI_LT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU);
SAME(SLRI_LT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_BIAS);
SAME(SLRI_LT_EPILOGUE_BIAS | SLRI_LT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS);
SAME(SLRI_LT_BATCH, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(SLRI_LT_BATCH_STRIDE, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(SLRI_LT_MOST_WORKSPACE, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(SLRI_LT_REDUCTIONS, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
SAME(SLRI_LT_ALIGNMENT_A, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(SLRI_LT_ALIGNMENT_B, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(SLRI_LT_ALIGNMENT_C, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(SLRI_LT_ALIGNMENT_D, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
SAME(SLRI_LT_REDUCTION, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
SAME(SLRI_LT_REDUCTION_IN_PLACE, CUBLASLT_REDUCTION_SCHEME_INPLACE);
SAME(SLRI_LT_REDUCTION_IN_FLOAT, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
SAME(SLRI_LT_REDUCTION_OF_RESULTS, CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE);
SAME(0, CUDA_R_32F);
SAME(2, CUDA_R_16F);
SAME(14, CUDA_R_16BF);

template <class Theirs>
constexpr bool is_choice = sizeof(slri_cudnn_choice) == sizeof(Theirs) &&
                           offsetof(slri_cudnn_choice, status) == offsetof(Theirs, status) &&
                           offsetof(slri_cudnn_choice, workspace_bytes) == offsetof(Theirs, memory) &&
                           offsetof(slri_cudnn_choice, deterministic) == offsetof(Theirs, determinism) &&
                           offsetof(slri_cudnn_choice, math) == offsetof(Theirs, mathType);
static_assert(is_choice<cudnnConvolutionFwdAlgoPerf_t> && is_choice<cudnnConvolutionBwdDataAlgoPerf_t> &&
              is_choice<cudnnConvolutionBwdFilterAlgoPerf_t>);
SAME(SLRI_DNN_NCHW, CUDNN_TENSOR_NCHW);
SAME(SLRI_DNN_CROSS_CORRELATION, CUDNN_CROSS_CORRELATION);
SAME(SLRI_DNN_DEFAULT, CUDNN_DEFAULT_MATH);
SAME(SLRI_DNN_FMA, CUDNN_FMA_MATH);
SAME(SLRI_DNN_TENSOR_OP, CUDNN_TENSOR_OP_MATH);
SAME(SLRI_DNN_DETERMINISTIC, CUDNN_DETERMINISTIC);
// Those that src/ops/cudnn.c names by their bits.
SAME(0, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM);
SAME(1, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM);
SAME(2, CUDNN_CONVOLUTION_FWD_ALGO_GEMM);
SAME(3, CUDNN_CONVOLUTION_FWD_ALGO_DIRECT);
SAME(0, CUDNN_CONVOLUTION_BWD_DATA_ALGO_0);
SAME(1, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1);
SAME(0, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0);
SAME(1, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1);
SAME(3, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3);
SAME(0, CUDNN_DATA_FLOAT);
SAME(2, CUDNN_DATA_HALF);
SAME(9, CUDNN_DATA_BFLOAT16);

#ifdef PLANTED // what would be seen
SAME(SLRI_DNN_FMA, CUDNN_DEFAULT_MATH);
#endif
static_assert(!agree((int (*)(int)) nullptr, decltype(&cublasLtCreate){}));
static_assert(!agree((int (*)(void *, int)) nullptr, decltype(&cublasLtCreate){}));
