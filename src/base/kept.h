// SPDX-License-Identifier: Apache-2.0
/// Memory that is not given back, because nobody has acknowledged that a handler or a kernel is over which may still
/// write there. A count of the process, which slr_device_get_info shows.
#ifndef SLRI_BASE_KEPT_H
#define SLRI_BASE_KEPT_H

#include <stdint.h>

/// Counts memory that is kept: until the process ends, or an acknowledgement comes after all. Threads: any.
void slri_kept_add(uint64_t bytes);

/// It has come: so many bytes that were counted are given back. Threads: any.
void slri_kept_give_back(uint64_t bytes);

/// Bytes that are kept now. Threads: any.
uint64_t slri_kept_bytes(void);

#endif
