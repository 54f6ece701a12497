// SPDX-License-Identifier: Apache-2.0
// The CPU that a page sees is the engine's virtual one.
#include "base/cpu.h"

#include "base/hash.h"
#include "base/system.h"

#include <emscripten/heap.h>
#include <stdio.h>

void slri_cpu_identity(char identity[SLRI_CPU_IDENTITY_BYTES])
{
    char hex[SLRI_HASH_HEX_BYTES];
    slri_hash hash;
    slri_hash_init(&hash);
    slri_hash_field(&hash, "wasm32", 6);
    slri_hash_hex(&hash, hex);
    snprintf(identity, SLRI_CPU_IDENTITY_BYTES, "WebAssembly%s #%s", slri_system_has_threads() ? " with threads" : "",
             hex);
}

uint64_t slri_cpu_memory_bytes(void)
{
    return emscripten_get_heap_max();
}

uint64_t slri_cpu_memory_available(void)
{
    return UINT64_MAX;
}

uint64_t slri_cpu_cache_bytes(uint32_t level)
{
    (void)level;
    return 0;
}
