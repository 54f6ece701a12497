// SPDX-License-Identifier: Apache-2.0
// The commands of a recorded list: a backend whose driver keeps no list, or not this one, encodes them again each time.
#ifndef SLRI_ENGINE_KEPT_LIST_H
#define SLRI_ENGINE_KEPT_LIST_H

#include "hal/hal.h"

struct slri_kept_list {
    const slr_allocator *allocator;
    void *native; // what the backend has recorded of it; NULL: its commands are encoded again each time
    uint32_t count;
    size_t bytes;
    struct slri_kept_part {
        struct slri_command command;
        struct slri_extras extras;
    } part[];
};

// `device`: its name, for messages; `moves_over`: it copies where the ranges overlap. Errors: UNSUPPORTED, NO_MEMORY.
slr_status slri_kept_list_create(const char *device, const slr_allocator *allocator, bool moves_over,
                                 const struct slri_command *command, const struct slri_extras *extras,
                                 uint32_t commands, void **list);
void slri_kept_list_destroy(void *device, void *list); // as the slot

#endif
