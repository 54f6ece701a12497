// SPDX-License-Identifier: Apache-2.0
/// Values for a handler's parameters, from NAME=VALUE, NAME=FILE and NAME=zeros:COUNT.
#ifndef BIND_H
#define BIND_H

#include "run/options.h"

#include <slipring/ring.h>

typedef struct bindings {
    slr_binding *items; // one a parameter, for slr_ring_desc
    uint64_t *scalars;  // what those of them that are scalars point to
    uint32_t count;
} bindings;

/// Makes a binding for each parameter of the handler. Returns an exit code; what is not EXIT_DONE has been said. In
/// either case to bindings_free.
int bindings_make(bindings *bindings, slr_device *device, const slr_handler_info *handler, const run_list *given);

/// Reads the contents of a buffer parameter from a file: numbers in text, or bytes where `path` ends in .bin. `option`
/// stands in messages. Returns an exit code; what is not EXIT_DONE has been said. `*data` is to free() in either case.
int bind_load(const char *option, const slr_parameter *parameter, const char *path, unsigned char **data,
              size_t *count);

/// A checksum over the names and values of all bindings, buffers' contents included.
slr_status bindings_checksum(const bindings *bindings, uint64_t *out);

void bindings_free(bindings *bindings);

#endif
