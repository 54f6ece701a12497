// SPDX-License-Identifier: Apache-2.0
// What the tests of devices and ring kernels share: statuses checked with their messages, times, opening a device.
#ifndef SLRI_DEVICE_DEVICE_TEST_H
#define SLRI_DEVICE_DEVICE_TEST_H

#include <slipring/slipring.h>

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000ull
#define SECOND 1000000000ull
#define LONG (60 * SECOND) // a wait that a passing test never uses up

// ---- statuses -----------------------------------------------------------------------------------------------------

static inline void check_status(slr_status got, slr_status want, const char *call, const char *file, int line)
{
    if (got == want)
        return;
    fprintf(stderr, "%s gave %s, not %s: %s\n", call, slr_status_name(got), slr_status_name(want), slr_error_message());
    _fail(file, line);
}

static inline void check_message(const char *part, const char *call, const char *file, int line)
{
    if (strstr(slr_error_message(), part))
        return;
    fprintf(stderr, "%s: \"%s\" does not say \"%s\"\n", call, slr_error_message(), part);
    _fail(file, line);
}

#define must(call) check_status((call), SLR_OK, #call, __FILE__, __LINE__)
#define gives(call, CODE) check_status((call), SLR_##CODE, #call, __FILE__, __LINE__)
// The status and a part of the message.
#define refuses(call, CODE, part)                                                                                      \
    do {                                                                                                               \
        check_status((call), SLR_##CODE, #call, __FILE__, __LINE__);                                                   \
        check_message((part), #call, __FILE__, __LINE__);                                                              \
    } while (0)

// An assertion on any thread: cmocka's say nothing on one of the test's own.
#define holds(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                              \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

// Whether there is such a device on this machine: what needs more than a CPU is tested where it is.
// SLIPRING_TEST_DEVICE names the only one that counts.
static inline int is_here(const char *spec)
{
    slr_device *device;
    const char *only = getenv("SLIPRING_TEST_DEVICE");
    if (only && strcmp(only, spec) != 0)
        return 0;
    slr_status status = slr_device_open(spec, NULL, &device);
    if (status == SLR_OK)
        slr_device_close(device);
    return status != SLR_NO_DEVICE;
}

// For each of an array of specs that is here: `i` is its index.
#define EACH_HERE(i, specs)                                                                                            \
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs)[0]; ++i)                                                      \
        if (is_here((specs)[i]))

// OpenCL's compilers do not run under sanitizers.
#ifdef __has_feature
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

// A handler with a deadline runs on threads of the host alone.
static inline void skip_on_another_ring_device(void)
{
    if (getenv("SLIPRING_TEST_RING_DEVICE"))
        skip();
}

// SLIPRING_TEST_RING_DEVICE, where a test of ring kernels takes a cpu: the same test once more, on another device.
static inline slr_device *open_device(const char *spec)
{
    slr_device *device = NULL;
    const char *instead = getenv("SLIPRING_TEST_RING_DEVICE");
    if (instead && spec && strncmp(spec, "cpu", 3) == 0)
        spec = instead;
    slr_status status = slr_device_open(spec, NULL, &device);
    if (instead && spec == instead && status == SLR_NO_DEVICE)
        skip();
    check_status(status, SLR_OK, spec ? spec : "slr_device_open", __FILE__, __LINE__);
    return device;
}

#endif
