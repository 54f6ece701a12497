// SPDX-License-Identifier: Apache-2.0
/// The handler in ward.cu as a plain C function: what a ring kernel is compared with.
#ifndef WARD_PLAIN_H
#define WARD_PLAIN_H

#include <stddef.h>

#include "ward.h"

#ifdef __cplusplus
extern "C" {
#endif

struct patient;

/// Bytes of one patient's state, which must be zero before the first message.
size_t ward_plain_state_bytes(void);

/// Handles one message; `*out` is set only if there is a reply. Returns the number of replies: 0 or 1.
///
/// Threads: any, one at a time for one patient.
int ward_plain(struct patient *self, const struct samples *in, struct beat *out);

#ifdef __cplusplus
}
#endif

#endif
