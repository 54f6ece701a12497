// SPDX-License-Identifier: Apache-2.0
// cuDNN 9: as much of it as is called. tests/ops/headers.cpp compares this with the vendor's headers.
#ifndef SLRI_OPS_CUDNN_API_H
#define SLRI_OPS_CUDNN_API_H

#include <stddef.h>
#include <stdint.h>

struct slri_cudnn_choice { // of each of the three passes
    int algorithm, status;
    float time;
    size_t workspace_bytes;
    int deterministic, math, reserved[3];
};

// X(result, name, parameters). Each handle and descriptor is a pointer.
#define SLRI_CUDNN_FUNCTIONS(X)                                                                                        \
    X(size_t, GetVersion, (void))                                                                                      \
    X(int, Create, (void **handle))                                                                                    \
    X(int, Destroy, (void *handle))                                                                                    \
    X(int, SetStream, (void *handle, void *stream))                                                                    \
    X(int, CreateTensorDescriptor, (void **tensor))                                                                    \
    X(int, DestroyTensorDescriptor, (void *tensor))                                                                    \
    X(int, SetTensor4dDescriptor, (void *tensor, int format, int type, int n, int c, int h, int w))                    \
    X(int, CreateFilterDescriptor, (void **filter))                                                                    \
    X(int, DestroyFilterDescriptor, (void *filter))                                                                    \
    X(int, SetFilter4dDescriptor, (void *filter, int type, int format, int k, int c, int h, int w))                    \
    X(int, CreateConvolutionDescriptor, (void **convolution))                                                          \
    X(int, DestroyConvolutionDescriptor, (void *convolution))                                                          \
    X(int, SetConvolution2dDescriptor,                                                                                 \
      (void *convolution, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h, int dilation_w, int mode,  \
       int compute))                                                                                                   \
    X(int, SetConvolutionMathType, (void *convolution, int math))                                                      \
    X(int, SetConvolutionGroupCount, (void *convolution, int groups))                                                  \
    X(int, GetConvolutionForwardAlgorithm_v7,                                                                          \
      (void *handle, const void *x, const void *weights, const void *convolution, const void *y, int most, int *count, \
       struct slri_cudnn_choice *choice))                                                                              \
    X(int, GetConvolutionBackwardDataAlgorithm_v7,                                                                     \
      (void *handle, const void *weights, const void *dy, const void *convolution, const void *dx, int most,           \
       int *count, struct slri_cudnn_choice *choice))                                                                  \
    X(int, GetConvolutionBackwardFilterAlgorithm_v7,                                                                   \
      (void *handle, const void *x, const void *dy, const void *convolution, const void *dweights, int most,           \
       int *count, struct slri_cudnn_choice *choice))                                                                  \
    X(int, ConvolutionForward,                                                                                         \
      (void *handle, const void *alpha, const void *x_tensor, const void *x, const void *filter, const void *weights,  \
       const void *convolution, int algorithm, void *workspace, size_t workspace_bytes, const void *beta,              \
       const void *y_tensor, void *y))                                                                                 \
    X(int, ConvolutionBackwardData,                                                                                    \
      (void *handle, const void *alpha, const void *filter, const void *weights, const void *dy_tensor,                \
       const void *dy, const void *convolution, int algorithm, void *workspace, size_t workspace_bytes,                \
       const void *beta, const void *dx_tensor, void *dx))                                                             \
    X(int, ConvolutionBackwardFilter,                                                                                  \
      (void *handle, const void *alpha, const void *x_tensor, const void *x, const void *dy_tensor, const void *dy,    \
       const void *convolution, int algorithm, void *workspace, size_t workspace_bytes, const void *beta,              \
       const void *filter, void *dweights))                                                                            \
    X(int, AddTensor,                                                                                                  \
      (void *handle, const void *alpha, const void *a_tensor, const void *a, const void *beta, const void *c_tensor,   \
       void *c))

enum {
    SLRI_DNN_NCHW = 0,
    SLRI_DNN_CROSS_CORRELATION = 1,
    SLRI_DNN_DEFAULT = 0,
    SLRI_DNN_FMA = 3,       // not the TF32 of the default
    SLRI_DNN_TENSOR_OP = 1, // halves, whose sums are floats
    SLRI_DNN_DETERMINISTIC = 1,
    SLRI_DNN_MOST_CHOICES = 16 // each algorithm may come with two kinds of arithmetic
};

#endif
