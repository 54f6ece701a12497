// SPDX-License-Identifier: Apache-2.0
// The backends in a page, which opens no drivers: its GPU is the browser's. That belongs to one thread, which has to
// return to the event loop: the library with threads leaves it to the other one (docs/rationale.md).
#include "api/api.h"

const struct slri_backend *const slri_backends[] = {&slri_backend_cpu,
#if !defined(__EMSCRIPTEN_PTHREADS__)
                                                    &slri_backend_webgpu,
#endif
                                                    &slri_backend_null, NULL};
