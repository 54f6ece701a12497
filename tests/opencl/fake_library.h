// SPDX-License-Identifier: Apache-2.0
// For tests of the OpenCL backend: the library that is simulated, tests/fakes/fake_opencl.
#ifndef SLIPRING_TESTS_FAKE_LIBRARY_H
#define SLIPRING_TESTS_FAKE_LIBRARY_H

#include "device/device_test.h"

#include "tests/fakes/fake_opencl.h"
#include "tests/fakes/load.h"

static struct fake_opencl *fake;
static slri_function join_fake, end_hung;

// The library comes from the fake for as long as this process lives: nothing of it is opened before.
static inline int load_fake(void **state)
{
    (void)state;
    fake = ((struct fake_opencl * (*)(void)) function_of_fake("SLIPRING_FAKE_OPENCL", "fake_opencl_words"))();
    join_fake = function_of_fake("SLIPRING_FAKE_OPENCL", "fake_opencl_join");
    end_hung = function_of_fake("SLIPRING_FAKE_OPENCL", "fake_opencl_end_hung");
    return setenv("SLIPRING_OPENCL_LIB", getenv("SLIPRING_FAKE_OPENCL"), 1);
}

static inline void reset(void)
{
    *fake = (struct fake_opencl){.error = -5, .svm = 15, .host_unified = 1, .available = 1, .version = 300};
}

#endif
