// SPDX-License-Identifier: Apache-2.0
// What the tests of this folder share: a folder of their own, rows by name, and sums over a trace's file.
#ifndef SLRI_OBSERVE_TEST_H
#define SLRI_OBSERVE_TEST_H

#include "device/device_test.h"

#include <unistd.h>

static char folder[] = "/tmp/slipring-observe-XXXXXX";

static inline const char *file_in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static inline int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 ? 0 : -1;
}

// The row of that kind and name; all 0 where there is none.
static inline slr_profile_row row_of(uint32_t kind, const char *name)
{
    slr_profile_row rows[64], none = {0};
    uint32_t count;
    must(slr_profile_read(rows, 64, &count));
    for (uint32_t i = 0; i < count && i < 64; ++i)
        if (rows[i].kind == kind && strcmp(rows[i].name, name) == 0)
            return rows[i];
    return none;
}

// How many lines of the program have made such calls.
static inline uint32_t callers_of(const char *what)
{
    slr_profile_row rows[64];
    uint32_t count, found = 0;
    must(slr_profile_read(rows, 64, &count));
    assert_true(count <= 64);
    for (uint32_t i = 0; i < count; ++i)
        found += rows[i].kind == SLR_PROFILE_CALLER && strcmp(rows[i].name, what) == 0;
    return found;
}

// Nothing is known of a device there.
static inline void use_new_cache(void)
{
    static int last;
    char name[32];
    snprintf(name, sizeof name, "cache-%d", ++last);
    setenv("SLIPRING_CACHE_DIR", file_in_folder(name), 1);
}

// What a trace's file says of one category and name ("" is any): how often, and for how long together.
struct sum {
    uint64_t n, ns;
};

static inline bool has_text(const char *line, const char *member, const char *value)
{
    char wanted[128];
    snprintf(wanted, sizeof wanted, "\"%s\":\"%s\"", member, value);
    return *value == '\0' || strstr(line, wanted) != NULL;
}

static inline uint64_t ns_after(const char *line, const char *member)
{
    unsigned long long us = 0, ns = 0;
    const char *at = strstr(line, member);
    holds(at && sscanf(at + strlen(member), "%llu.%3llu", &us, &ns) == 2);
    return us * 1000 + ns;
}

static inline struct sum sum_of(const char *path, const char *category, const char *name)
{
    struct sum sum = {0};
    char line[4096];
    FILE *file = fopen(path, "r");
    holds(file);
    while (fgets(line, sizeof line, file)) {
        if (!strstr(line, "\"ph\":\"X\"") || !has_text(line, "cat", category) || !has_text(line, "name", name))
            continue;
        ++sum.n;
        sum.ns += ns_after(line, "\"dur\":");
    }
    fclose(file);
    return sum;
}

#endif
