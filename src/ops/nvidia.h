// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's libraries keep for the operations of a device.
#ifndef SLRI_OPS_NVIDIA_H
#define SLRI_OPS_NVIDIA_H

#include "ops/operations.h"

enum slri_nvidia_kind { SLRI_CUBLASLT, SLRI_CUDNN, SLRI_NVIDIA_KINDS };

// What begins a plan: of one shape, or of whatever else is in its key.
struct slri_nvidia_plan {
    struct slri_nvidia_plan *next;
    char why_not[96]; // empty: it works
};

// Plans of a library, and its handle. All under the lock of `nvidia`, in the context where a handle is used.
struct slri_nvidia_library {
    enum slri_nvidia_kind kind;
    size_t plan_bytes, key_at, key_bytes; // of a plan, and where its key is in it; the key has no padding
    int (*create)(void **handle);
    void (*destroy)(void *handle);
    bool (*fill)(void *handle, struct slri_nvidia_plan *plan); // false: and `why_not` says why
    void (*empty)(struct slri_nvidia_plan *plan);              // also of one that was filled in part
};

// Held by the operations, and by each submission that is under way.
struct slri_nvidia {
    uint32_t holds; // atomic
    slr_device *device;
    slri_mutex lock;
    // Under the lock.
    uint32_t opened; // of the device, when the handles were made: those of a context that was lost are of no use
    struct slri_nvidia_shelf {
        const struct slri_nvidia_library *library; // NULL: it was not used
        void *handle;
        struct slri_nvidia_plan *first; // the latest
    } shelf[SLRI_NVIDIA_KINDS];
};

// The device's, whose operations keep it. NULL: it is no CUDA device, or there is no memory.
struct slri_nvidia *slri_nvidia_of(slr_ops *ops);
// NULL is fine.
void slri_nvidia_hold(struct slri_nvidia *nvidia);
void slri_nvidia_release(struct slri_nvidia *nvidia);

// The plan with that key; NULL where there is none, with the reason, which lives as long as the operations. One that
// could not be made is kept, too, so that it is not tried again.
const struct slri_nvidia_plan *slri_nvidia_plan_of(slr_ops *ops, const struct slri_nvidia_library *library,
                                                   const void *key, const char **why_not);

// A type as both libraries' data types: CUDA_R_*, CUDNN_DATA_*.
static inline int slri_cuda_type(slr_scalar dtype)
{
    return dtype == SLR_F16 ? 2 : dtype == SLR_BF16 ? 14 : 0;
}
static inline int slri_cudnn_type(slr_scalar dtype)
{
    return dtype == SLR_F16 ? 2 : dtype == SLR_BF16 ? 9 : 0;
}

#endif
