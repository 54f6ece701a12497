// SPDX-License-Identifier: Apache-2.0
// What the two halves of a device's ceilings share.
#ifndef SLRI_OBSERVE_CEILINGS_H
#define SLRI_OBSERVE_CEILINGS_H

#include <slipring/slipring.h>

#define SLRI_CEILINGS_BLOCK 256u
#define SLRI_CEILINGS_TIMEOUT_NS 60000000000u

struct slri_ceilings_bench {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_buffer *buffer[3];
};

// Gives `measure` a kernel of the program.
slr_status slri_ceilings_run(const struct slri_ceilings_bench *b, const char *name,
                             slr_status (*measure)(const struct slri_ceilings_bench *, slr_kernel *, double *),
                             double *out);

// costs.c: the fields from round_trip_ns on.
slr_status slri_ceilings_costs(const struct slri_ceilings_bench *b, slr_ceilings *out);

#endif
