// SPDX-License-Identifier: Apache-2.0
/// What a case has made, so that it can leave from anywhere.
#ifndef CTS_KEPT_H
#define CTS_KEPT_H

#include "cts.h"

typedef enum cts_sort {
    CTS_PROGRAM,
    CTS_KERNEL,
    CTS_BUFFER,
    CTS_STREAM,
    CTS_PORT,
    CTS_RING,
    CTS_POOL,
    CTS_MEMORY
} cts_sort;

/// Destroys `what` when the case is done; the last kept goes first.
void cts_keep(cts *c, cts_sort sort, void *what);

void cts_release(cts *c);

#endif
