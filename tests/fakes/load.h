// SPDX-License-Identifier: Apache-2.0
// For tests on simulated libraries.
#ifndef SLIPRING_TESTS_FAKES_LOAD_H
#define SLIPRING_TESTS_FAKES_LOAD_H

#include "device/device_test.h"

#include "base/dl.h"

// A function of the simulated library at the path that the variable names. It stays for as long as this process lives.
static inline slri_function function_of_fake(const char *variable, const char *name)
{
    const char *path = getenv(variable);
    slri_dl *library;
    slri_function found;
    assert_non_null(path);
    must(slri_dl_open(path, &library));
    must(slri_dl_function(library, name, &found));
    return found;
}

#endif
