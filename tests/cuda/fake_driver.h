// SPDX-License-Identifier: Apache-2.0
// For tests of the CUDA backend: the driver that is simulated, tests/fakes/fake_cuda, and what it must have left.
#ifndef SLIPRING_TESTS_FAKE_DRIVER_H
#define SLIPRING_TESTS_FAKE_DRIVER_H

#include "tests/fakes/trial.h"

#include "tests/fakes/fake_cuda.h"
#include "tests/fakes/load.h"

static struct fake_cuda *fake;

// The driver comes from the fake for as long as this process lives: nothing of it is opened before.
static inline int load_fake(void **state)
{
    (void)state;
    fake = ((struct fake_cuda * (*)(void)) function_of_fake("SLIPRING_FAKE_CUDA", "fake_cuda_words"))();
    const char *path = getenv("SLIPRING_FAKE_CUDA");
    return setenv("SLIPRING_CUDA_LIB", path, 1) | setenv("SLIPRING_NVRTC_LIB", path, 1) |
           setenv("SLIPRING_HIP_LIB", path, 1) | setenv("SLIPRING_HIPRTC_LIB", path, 1);
}

static inline void reset(void)
{
    *fake = (struct fake_cuda){.devices = 2, .error = 2};
}

static inline void nothing_is_left(const char *what)
{
    if (fake->live != 0 || fake->retained != 0 || fake->wrong != 0 || fake->staying != 0)
        fail_msg("%s, %s failed at call %u, command %u: %u objects and %u holds are left, %u kernels stay, %u wrong "
                 "calls (%s)",
                 what, fake->failed ? fake->failed : "nothing", fake->fail_at, fake->fault_at, fake->live,
                 fake->retained, fake->staying, fake->wrong, fake->first_wrong ? fake->first_wrong : "");
}

#endif
