// SPDX-License-Identifier: Apache-2.0
/// Copies of small things whose size is known only at run time.
#ifndef SLRI_BASE_COPY_H
#define SLRI_BASE_COPY_H

#include <stddef.h>
#include <string.h>

/// Copies a message. Of the usual sizes a call of memcpy costs more than the copy.
static inline void slri_copy_message(void *to, const void *from, size_t bytes)
{
    switch (bytes) {
    case 8:
        memcpy(to, from, 8);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    case 32:
        memcpy(to, from, 32);
        break;
    case 64:
        memcpy(to, from, 64);
        break;
    default:
        memcpy(to, from, bytes);
    }
}

#endif
