// SPDX-License-Identifier: Apache-2.0
// What the cuBLASLt and the cuDNN in the library of fake_cuda.c share: descriptors, numbers of any type, memory.
#ifndef TESTS_FAKES_FAKE_CUDA_MATH_H
#define TESTS_FAKES_FAKE_CUDA_MATH_H

#include "fake_cuda_inside.h"

enum math_kind {
    LT_HANDLE = 0x71,
    LT_PRODUCT,
    LT_LAYOUT,
    LT_PREFERENCE,
    DNN_HANDLE,
    DNN_TENSOR,
    DNN_FILTER,
    DNN_CONVOLUTION
};

// A handle or a descriptor. The attributes are those of its kind, by their numbers in the vendor's headers.
struct math_object {
    enum math_kind kind;
    struct object *context; // of a handle
    slri_cu_stream stream;  // of a handle of cuDNN
    int64_t value[32];
};

#define NOT_SUPPORTED_BY_LT 15
#define INVALID_BY_LT 7
#define INVALID_BY_DNN 2000
#define NOT_SUPPORTED_BY_DNN 3000

// Under the lock, as next_call: counted, and failing on demand. Without a context is wrong where one is needed.
int32_t math_make(const char *name, enum math_kind kind, void **out);
int32_t math_drop(const char *name, enum math_kind kind, void *object);
// Whether it is a live object of that kind. Under the lock.
bool math_is(const void *object, enum math_kind kind);

// Elements of type CUDA_R_32F, CUDA_R_16F or CUDA_R_16BF in memory.
double math_read(const void *memory, int64_t type, size_t at);
void math_write(void *memory, int64_t type, size_t at, double value);
double math_rounded(int64_t type, double value); // to the type
size_t math_bytes(int64_t type);
// Whether these elements lie in memory of the current context, which the stream may use. Under the lock.
bool math_reaches(const void *memory, int64_t type, size_t elements, slri_cu_stream stream);

#endif
