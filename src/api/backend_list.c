// SPDX-License-Identifier: Apache-2.0
// The backends of this build. Nothing else is in this file: a test program that brings its own list is linked without
// it.
#include "api/api.h"

// Of devices that are alike `auto` takes that of the earlier backend: a vendor's own before what all vendors have.
const struct slri_backend *const slri_backends[] = {&slri_backend_cpu,    &slri_backend_cuda,   &slri_backend_hip,
                                                    &slri_backend_metal,  &slri_backend_opencl, &slri_backend_vulkan,
                                                    &slri_backend_webgpu, &slri_backend_null,   NULL};
