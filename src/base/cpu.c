// SPDX-License-Identifier: Apache-2.0
// Which CPU this is, from /proc/cpuinfo's first record.
#include "base/cpu.h"

#include "base/hash.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The lines that name a model, and those that say what it can execute: x86's, then ARM's.
static const char *const model_names[] = {"model name", "Model", "CPU part"};
static const char *const feature_names[] = {"flags", "Features", "CPU implementer", "CPU part", "CPU variant"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// The value of the line "name<blanks>: value", or NULL.
static const char *value_of(const char *line, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0)
        return NULL;
    line += length;
    line += strspn(line, " \t");
    return *line == ':' ? line + 1 + strspn(line + 1, " \t") : NULL;
}

static const char *first_value_of(const char *line, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *value = value_of(line, names[i]);
        if (value)
            return value;
    }
    return NULL;
}

void slri_cpu_identity(char identity[SLRI_CPU_IDENTITY_BYTES])
{
    char line[8192] = ""; // a recent Xeon's flags are about 2,000 characters
    char model[SLRI_CPU_IDENTITY_BYTES - SLRI_HASH_HEX_BYTES - 2] = "unknown";
    char hex[SLRI_HASH_HEX_BYTES];
    slri_hash features;
    slri_hash_init(&features);

    FILE *cpuinfo = fopen("/proc/cpuinfo", "re");
    while (cpuinfo && fgets(line, sizeof line, cpuinfo) && line[0] != '\n') { // an empty line ends a core's record
        line[strcspn(line, "\n")] = '\0';
        const char *value = first_value_of(line, feature_names, COUNT(feature_names));
        if (value)
            slri_hash_field(&features, value, strlen(value));
        value = first_value_of(line, model_names, COUNT(model_names));
        if (value)
            snprintf(model, sizeof model, "%s", value);
    }
    if (cpuinfo)
        fclose(cpuinfo);
    slri_hash_hex(&features, hex);
    snprintf(identity, SLRI_CPU_IDENTITY_BYTES, "%s #%s", model, hex);
}

uint64_t slri_cpu_memory_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

// The first number of a file, or that behind a name in it; UINT64_MAX where there is none.
static uint64_t number_in(const char *path, const char *name)
{
    char line[256];
    unsigned long long number;
    uint64_t found = UINT64_MAX;
    FILE *file = fopen(path, "re");
    while (file && found == UINT64_MAX && fgets(line, sizeof line, file)) {
        const char *value = name ? value_of(line, name) : line;
        if (value && sscanf(value, "%llu", &number) == 1)
            found = number;
    }
    if (file)
        fclose(file);
    return found;
}

static uint64_t less(uint64_t most, uint64_t used)
{
    return most == UINT64_MAX || used == UINT64_MAX ? UINT64_MAX : most > used ? most - used : 0;
}

// The group's own files, as a container shows them: version 2, then version 1. Without a limit the first holds no
// number, and the second one that is larger than any memory.
uint64_t slri_cpu_memory_available(void)
{
    uint64_t kib = number_in("/proc/meminfo", "MemAvailable");
    uint64_t most = kib == UINT64_MAX ? UINT64_MAX : kib * 1024;
    const uint64_t group[] = {
        less(number_in("/sys/fs/cgroup/memory.max", NULL), number_in("/sys/fs/cgroup/memory.current", NULL)),
        less(number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", NULL),
             number_in("/sys/fs/cgroup/memory/memory.usage_in_bytes", NULL)),
    };
    for (size_t i = 0; i < COUNT(group); i++)
        if (group[i] < most)
            most = group[i];
    return most;
}

// ---- caches --------------------------------------------------------------------------------------------------------

// The word of a small file of the system.
static bool read_word(uint32_t cache, const char *name, char *out, size_t room)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%u/%s", cache, name);
    FILE *file = fopen(path, "re");
    bool found = file && fgets(out, (int)room, file);
    if (file)
        fclose(file);
    return found;
}

uint64_t slri_cpu_cache_bytes(uint32_t level)
{
    char word[32];
    unsigned number;
    unsigned long long kib;
    for (uint32_t i = 0; read_word(i, "level", word, sizeof word); i++) {
        if (sscanf(word, "%u", &number) != 1 || number != level)
            continue;
        if (!read_word(i, "type", word, sizeof word) || strncmp(word, "Instruction", 11) == 0)
            continue;
        if (read_word(i, "size", word, sizeof word) && sscanf(word, "%lluK", &kib) == 1)
            return kib * 1024;
    }
    return 0;
}
