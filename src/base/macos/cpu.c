// SPDX-License-Identifier: Apache-2.0
// Which CPU this is, from sysctl.
#include "base/cpu.h"

#include "base/hash.h"

#include <mach/mach.h>
#include <stdio.h>
#include <sys/sysctl.h>
#include <unistd.h>

// What the system says of one name; 0: nothing.
static uint64_t number_of(const char *name)
{
    uint64_t number = 0; // narrower ones fill its lower part
    size_t bytes = sizeof number;
    return sysctlbyname(name, &number, &bytes, NULL, 0) == 0 ? number : 0;
}

void slri_cpu_identity(char identity[SLRI_CPU_IDENTITY_BYTES])
{
    static const char *const features[] = {"hw.cputype",
                                           "hw.cpusubtype",
                                           "hw.cpufamily",
                                           "hw.optional.arm.FEAT_LSE",
                                           "hw.optional.arm.FEAT_BF16",
                                           "hw.optional.arm.FEAT_I8MM"};
    char model[SLRI_CPU_IDENTITY_BYTES - SLRI_HASH_HEX_BYTES - 2] = "unknown", hex[SLRI_HASH_HEX_BYTES];
    size_t bytes = sizeof model;
    slri_hash hash;
    slri_hash_init(&hash);
    for (size_t i = 0; i < sizeof features / sizeof *features; ++i) {
        const uint64_t has = number_of(features[i]);
        slri_hash_field(&hash, (const char *)&has, sizeof has);
    }
    if (sysctlbyname("machdep.cpu.brand_string", model, &bytes, NULL, 0) != 0)
        snprintf(model, sizeof model, "unknown");
    slri_hash_hex(&hash, hex);
    snprintf(identity, SLRI_CPU_IDENTITY_BYTES, "%s #%s", model, hex);
}

uint64_t slri_cpu_memory_bytes(void)
{
    return number_of("hw.memsize");
}

uint64_t slri_cpu_memory_available(void)
{
    vm_statistics64_data_t pages;
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    if (host_statistics64(mach_host_self(), HOST_VM_INFO64, (host_info64_t)&pages, &count) != KERN_SUCCESS)
        return UINT64_MAX;
    return ((uint64_t)pages.free_count + pages.inactive_count) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t slri_cpu_cache_bytes(uint32_t level)
{
    return number_of(level == 1 ? "hw.l1dcachesize" : level == 2 ? "hw.l2cachesize" : "hw.l3cachesize");
}
