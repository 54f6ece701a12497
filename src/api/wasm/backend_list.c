// SPDX-License-Identifier: Apache-2.0
// The backends in a page, which opens no drivers.
#include "api/api.h"

const struct slri_backend *const slri_backends[] = {&slri_backend_cpu, &slri_backend_null, NULL};
