// SPDX-License-Identifier: Apache-2.0
/// What a record has besides the fields of a message or a reply.
#ifndef SHAPE_H
#define SHAPE_H

#include <stdint.h>

typedef struct record_shape {
    const char *key;         // the name of what is the key, or NULL
    const char *const *keep; // names of what comes out with the replies as it was read
    uint32_t keep_count;
    char delimiter; // between the columns of CSV; 0: a comma
} record_shape;

#endif
