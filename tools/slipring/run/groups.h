// SPDX-License-Identifier: Apache-2.0
/// Messages that are being filled, a row at a time: one an instance.
#ifndef GROUPS_H
#define GROUPS_H

#include "run/kept.h"

#include <stddef.h>
#include <stdint.h>

typedef struct group {
    uint32_t rows; // that it has
    uint64_t line; // of the first
    kept_row kept; // likewise
} group;

typedef struct groups {
    group *items; // by instance
    unsigned char *messages;
    size_t message_bytes;
    uint32_t count;
} groups;

void groups_open(groups *groups, size_t message_bytes);
void groups_close(groups *groups);

/// The group of an instance, and its message; valid until the next call.
group *groups_get(groups *groups, uint32_t instance, unsigned char **message);

#endif
