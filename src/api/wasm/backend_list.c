// SPDX-License-Identifier: Apache-2.0
// The backends in a page, which opens no drivers: its GPU is the browser's.
#include "api/api.h"

const struct slri_backend *const slri_backends[] = {&slri_backend_cpu, &slri_backend_webgpu, &slri_backend_null, NULL};
