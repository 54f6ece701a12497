// SPDX-License-Identifier: Apache-2.0
// A libgdrapi in the library of fake_cuda.c. It checks what it is given, counts what is alive, and fails on demand. A
// test reaches these words by fake_gdr_words().
#ifndef TESTS_FAKES_FAKE_GDR_H
#define TESTS_FAKES_FAKE_GDR_H

#include <stddef.h>
#include <stdint.h>

struct fake_gdr {
    const char *fails; // the name of the call that does, or NULL
    uint32_t live;     // libraries opened, memory pinned, windows mapped
    uint32_t wrong;    // what GDRCopy's manual forbids, and windows that close while they may be written to
    uint32_t pinned;   // so far
};

// The driver's, under its lock: memory whose operations are over when they return; memory that goes.
void fake_gdr_is_ready(const void *memory, size_t bytes);
void fake_gdr_goes(const void *memory, size_t bytes);
// fake_cuda_stay.c's: a flag of the device's by the address that the host writes to. It is the same memory, but
// sanitizers know of no order between what is done at two addresses.
const uint32_t *fake_gdr_seen(const uint32_t *flag);

#endif
