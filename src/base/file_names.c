// SPDX-License-Identifier: Apache-2.0
// Names of temporary files, and where the cache is.
#include "base/file.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/status.h"
#include "base/system.h"
#include "base/text.h"
#include "base/thread_end.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

slr_status slri_path_taken(slri_text *text, char **out)
{
    char *string = slri_text_take(text);
    if (!string)
        return SLRI_FAIL(NO_MEMORY, "no memory for a path");
    *out = string;
    return SLR_OK;
}

#define TEMPORARY ".tmp-"
// What a compilation is at work on lies there for as long as a compiler may take, 60 s.
#define LEFT_BEHIND_S 600

slr_status slri_file_temporary_name(const char *folder, const char *suffix, char **path)
{
    static _Atomic uint32_t names_given;
    // Process and count make it unique on this machine; the random part among machines that share the folder.
    uint64_t random;
    if (!slri_system_random(&random, sizeof random))
        random = slri_now_ns();
    slri_text text = SLRI_TEXT_INIT;
    slri_text_printf(&text, "%s/" TEMPORARY "%08" PRIx32 "-%" PRIu32 "-%" PRIu32 "-%016" PRIx64 "%s", folder,
                     slri_system_place(), slri_process_id(),
                     atomic_fetch_add_explicit(&names_given, 1, memory_order_relaxed), random, suffix);
    return slri_path_taken(&text, path);
}

bool slri_file_is_left_behind(const char *name, uint64_t age_s)
{
    uint32_t where;
    long process;
    if (strncmp(name, TEMPORARY, sizeof TEMPORARY - 1) != 0)
        return false;
    if (age_s > LEFT_BEHIND_S)
        return true;
    return sscanf(name, TEMPORARY "%8" SCNx32 "-%10ld-", &where, &process) == 2 && where != 0 &&
           where == slri_system_place() && slri_system_process_has_ended(process);
}

uint64_t slri_file_age_s(const slri_file_identity *file)
{
    int64_t age_s = (int64_t)time(NULL) - file->mtime_ns / 1000000000;
    return age_s > 0 ? (uint64_t)age_s : 0;
}

slr_status slri_cache_folder(char **path)
{
    static const struct {
        const char *variable, *below;
        bool may_be_relative; // the XDG specification: a relative path is to be ignored
    } places[] = {
        {"SLIPRING_CACHE_DIR", "", true},
        {"XDG_CACHE_HOME", "/slipring", false},
        {"HOME", "/.cache/slipring", false},
        {"LOCALAPPDATA", "/slipring", false},
    };

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *base = slri_environment(places[i].variable);
        if (!base || !*base || (!slri_path_is_absolute(base) && !places[i].may_be_relative))
            continue;
        slri_text text = SLRI_TEXT_INIT;
        slri_text_printf(&text, "%s%s", base, places[i].below);
        return slri_path_taken(&text, path);
    }
    if (!slri_environment_is_trusted())
        return SLRI_FAIL(NOT_FOUND, "no cache folder: this program has more rights than its caller (SECURITY.md)");
    return SLRI_FAIL(NOT_FOUND, "no cache folder: set SLIPRING_CACHE_DIR");
}
