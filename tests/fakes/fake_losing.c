// SPDX-License-Identifier: Apache-2.0
// The libOpenCL that is here, with a driver that loses this process for good, as NVIDIA's does when a kernel accesses
// what it may not: the command fails with -9999, and so does every context from then on. It comes to that behind the
// first launch after a program was made whose text contains FAKE_LOSES_AT. Waiting for a launch behind a program whose
// text contains FAKE_HANGS_AT never returns. Calls that are not here go to the library
// that it is linked with.
#include "hal/opencl/api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VENDORS_OWN (-9999)

#define SEEN __attribute__((visibility("default")))
#define DECLARE(result, name, parameters) SEEN result cl##name parameters;
SLRI_CL_REQUIRED(DECLARE)
SLRI_CL_OPTIONAL(DECLARE)

static uint32_t is_due, is_lost, hangs; // atomic

static void *real(const char *name)
{
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    void *function = library ? dlsym(library, name) : NULL;
    if (!function)
        abort();
    return function;
}

static bool check_lost(int32_t *error)
{
    bool lost = __atomic_load_n(&is_lost, __ATOMIC_ACQUIRE) != 0;
    if (lost)
        *error = VENDORS_OWN;
    return lost;
}

slri_cl_context clCreateContext(const intptr_t *properties, uint32_t devices, const slri_cl_device_id *id, void *notify,
                                void *user, int32_t *error)
{
    slri_cl_context (*create)(const intptr_t *, uint32_t, const slri_cl_device_id *, void *, void *, int32_t *);
    *(void **)(void *)&create = real("clCreateContext");
    return check_lost(error) ? NULL : create(properties, devices, id, notify, user, error);
}

slri_cl_program clCreateProgramWithSource(slri_cl_context context, uint32_t count, const char **text,
                                          const size_t *bytes, int32_t *error)
{
    slri_cl_program (*create)(slri_cl_context, uint32_t, const char **, const size_t *, int32_t *);
    *(void **)(void *)&create = real("clCreateProgramWithSource");
    const char *at = getenv("FAKE_HANGS_AT");
    if (at && count == 1 && strstr(text[0], at))
        __atomic_store_n(&hangs, 1, __ATOMIC_RELEASE);
    at = getenv("FAKE_LOSES_AT");
    if (at && count == 1 && strstr(text[0], at))
        __atomic_store_n(&is_due, 1, __ATOMIC_RELEASE);
    return check_lost(error) ? NULL : create(context, count, text, bytes, error);
}

int32_t clEnqueueNDRangeKernel(slri_cl_queue queue, slri_cl_kernel kernel, uint32_t dimensions, const size_t *offset,
                               const size_t *global, const size_t *local, uint32_t waits, const slri_cl_event *wait,
                               slri_cl_event *event)
{
    int32_t (*launch)(slri_cl_queue, slri_cl_kernel, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t,
                      const slri_cl_event *, slri_cl_event *);
    *(void **)(void *)&launch = real("clEnqueueNDRangeKernel");
    if (__atomic_load_n(&is_due, __ATOMIC_ACQUIRE))
        __atomic_store_n(&is_lost, 1, __ATOMIC_RELEASE);
    return launch(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}

int32_t clWaitForEvents(uint32_t count, const slri_cl_event *event)
{
    int32_t (*wait)(uint32_t, const slri_cl_event *), error;
    *(void **)(void *)&wait = real("clWaitForEvents");
    while (__atomic_load_n(&hangs, __ATOMIC_ACQUIRE))
        pause();
    return check_lost(&error) ? error : wait(count, event);
}
