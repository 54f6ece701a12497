// SPDX-License-Identifier: Apache-2.0
// For tests of the OpenCL backend: the library that is simulated, tests/fakes/fake_opencl.
#ifndef SLIPRING_TESTS_FAKE_LIBRARY_H
#define SLIPRING_TESTS_FAKE_LIBRARY_H

#include "device/device_test.h"

#include "base/dl.h"
#include "tests/fakes/fake_opencl.h"

static struct fake_opencl *fake;
static slri_function join_fake;

// The library comes from the fake for as long as this process lives: nothing of it is opened before.
static inline int load_fake(void **state)
{
    (void)state;
    const char *path = getenv("SLIPRING_FAKE_OPENCL");
    assert_non_null(path);
    slri_dl *library;
    slri_function found;
    must(slri_dl_open(path, &library));
    must(slri_dl_function(library, "fake_opencl_words", &found));
    fake = ((struct fake_opencl * (*)(void)) found)();
    must(slri_dl_function(library, "fake_opencl_join", &join_fake));
    return setenv("SLIPRING_OPENCL_LIB", path, 1);
}

static inline void reset(void)
{
    *fake = (struct fake_opencl){.error = -5, .svm = 15, .host_unified = 1, .available = 1, .version = 300};
}

#endif
