// SPDX-License-Identifier: Apache-2.0
/// Address space whose pages cost nothing until they are touched: for the arenas of many instances.
#ifndef SLRI_BASE_MEMORY_MAP_H
#define SLRI_BASE_MEMORY_MAP_H

#include <stddef.h>

/// `bytes` zeroed bytes on a page boundary, or NULL. The kernel commits a page at its first write.
void *slri_map_reserve(size_t bytes);

/// Gives back what slri_map_reserve gave, with the same size. NULL is fine.
void slri_map_release(void *memory, size_t bytes);

#endif
