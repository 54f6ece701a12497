// SPDX-License-Identifier: Apache-2.0
/// Which CPU this is: what is compiled for one may not run on another.
#ifndef SLRI_BASE_CPU_H
#define SLRI_BASE_CPU_H

#include <stdint.h>

#define SLRI_CPU_IDENTITY_BYTES 128

/// Writes "MODEL NAME #HASH", the hash over the instruction set flags. Cannot fail: where the system says nothing, the
/// model is "unknown".
void slri_cpu_identity(char identity[SLRI_CPU_IDENTITY_BYTES]);

/// The machine's memory.
uint64_t slri_cpu_memory_bytes(void);

/// How much of it this process could write to just now, as the system estimates it, within the limits of its control
/// group: who writes to more of what was only reserved is killed, not told. UINT64_MAX: the system does not say.
uint64_t slri_cpu_memory_available(void);

/// Lanes of 4 bytes in the widest vector that the CPU computes with. 1: none is known.
uint32_t slri_cpu_lanes(void);

/// Bytes of the first core's data cache of that level, from 1. 0: the system does not say.
uint64_t slri_cpu_cache_bytes(uint32_t level);

#endif
