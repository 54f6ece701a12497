// SPDX-License-Identifier: Apache-2.0
// What kernels print: records, which the host makes text of. For backends.
#ifndef SLRI_ENGINE_PRINTED_H
#define SLRI_ENGINE_PRINTED_H

#include "hal/hal.h"

union slri_scalar; // ir/math/scalar.h

// Room for the records of one launch: what CUDA's printf has by default.
#define SLRI_PRINTED_BYTES (UINT64_C(1) << 20)

// In front of the records of a device's kernel, in one piece of memory (prelude/*.h). A record is a printf: a word of 8
// bytes (its format's number, above it how many values), then the values' bits, 8 bytes each.
struct slri_printed_head {
    uint32_t used, lost; // words of records; printfs that found no room
    uint32_t room;       // words for records
    uint32_t zero;
};
#define SLRI_PRINTED_ROOM (sizeof(struct slri_printed_head) + SLRI_PRINTED_BYTES)

extern const struct slri_printed_head slri_printed_begin; // of a launch that has not begun

// Who hears what a launch or a handler has printed.
struct slri_print_to {
    const struct slri_printer *printer;
    const struct slri_module *module;
    const struct slri_entry *entry;
    // Of a handler: else NULL and 0.
    const char *ring;
    uint32_t instance, thread;
};

// One printf; all of `bytes` of records, and how many found no room. `to->printer` is not NULL.
void slri_print_one(const struct slri_print_to *to, uint32_t format, const union slri_scalar *value);
void slri_print_records(const struct slri_print_to *to, const unsigned char *records, uint64_t bytes, uint64_t lost);

// Whether somebody hears what a dispatch prints.
static inline bool slri_print_is_heard(const struct slri_command *dispatch)
{
    return dispatch->dispatch.printer && (dispatch->dispatch.entry->function->uses & SLRI_USES_PRINT) != 0;
}

// Tells what lies at `device`, behind a kernel that has `ended`: one that has faulted has printed before, and others
// tell nothing. `read` copies from there, and has when it returns. Gives `ended` where that is a failure, with its
// message.
typedef slr_status slri_print_read(void *self, void *host, const void *device, uint64_t bytes);
slr_status slri_print_fetch(const struct slri_print_to *to, const slr_allocator *allocator, const void *device,
                            slri_print_read *read, void *self, slr_status ended);

#endif
