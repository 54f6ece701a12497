// SPDX-License-Identifier: Apache-2.0
// Which CPU this is, from the processor itself and from Windows.
#define WIN32_LEAN_AND_MEAN
#include "base/cpu.h"

#include "base/hash.h"

#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

// The three leaves with the model's name, and those that say what it can execute.
void slri_cpu_identity(char identity[SLRI_CPU_IDENTITY_BYTES])
{
    unsigned name[13] = {0}, features[6] = {0}, ignored, *at = name;
    char hex[SLRI_HASH_HEX_BYTES];
    const char *model = (const char *)name;
    slri_hash hash;
    slri_hash_init(&hash);
    for (unsigned leaf = 0x80000002u; leaf <= 0x80000004u; ++leaf, at += 4)
        if (!__get_cpuid(leaf, &at[0], &at[1], &at[2], &at[3]))
            name[0] = 0;
    __get_cpuid(1, &ignored, &ignored, &features[0], &features[1]);
    __get_cpuid_count(7, 0, &ignored, &features[2], &features[3], &features[4]);
    slri_hash_field(&hash, (const char *)features, sizeof features);
    slri_hash_hex(&hash, hex);
    model += strspn(model, " ");
    snprintf(identity, SLRI_CPU_IDENTITY_BYTES, "%s #%s", *model ? model : "unknown", hex);
}

static MEMORYSTATUSEX memory_now(void)
{
    MEMORYSTATUSEX memory = {.dwLength = sizeof memory};
    return GlobalMemoryStatusEx(&memory) ? memory : (MEMORYSTATUSEX){0};
}

uint64_t slri_cpu_memory_bytes(void)
{
    return memory_now().ullTotalPhys;
}

// A job object's limit is not looked at: Windows then refuses the memory, and ends nobody.
uint64_t slri_cpu_memory_available(void)
{
    const MEMORYSTATUSEX memory = memory_now();
    return memory.dwLength ? memory.ullAvailPhys : UINT64_MAX;
}

uint64_t slri_cpu_cache_bytes(uint32_t level)
{
    DWORD bytes = 0;
    uint64_t found = 0;
    GetLogicalProcessorInformation(NULL, &bytes);
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION *all = bytes ? malloc(bytes) : NULL;
    if (all && GetLogicalProcessorInformation(all, &bytes))
        for (DWORD i = 0; found == 0 && i < bytes / sizeof *all; ++i)
            if (all[i].Relationship == RelationCache && all[i].Cache.Level == level &&
                all[i].Cache.Type != CacheInstruction)
                found = all[i].Cache.Size;
    free(all);
    return found;
}
