// SPDX-License-Identifier: Apache-2.0
// `slipring cache ls`, `verify` and `clear`: all look at each entry and keep a list of some of them. `prune` leaves
// that to the library.
#include "cache/cache.h"
#include "kernel/kernel.h"

#include "memory.h"
#include "say.h"
#include "verbs.h"

#include <slipring/cache.h>

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char list_help[] = "Usage: slipring cache ls [--json]\n"
                                "Lists the cache of compiled kernels, newest first: kernel or handlers, source,\n"
                                "how it was compiled, size and age. Damaged entries are marked. The last lines\n"
                                "show the total size, its limit, and counts of all programs since the cache was\n"
                                "made: found (hits), compiled (misses), stored, and evicted because of the\n"
                                "limits.\n"
                                "\n"
                                "  --json   prints one JSON object\n"
                                "\n"
                                "Example:\n"
                                "  slipring cache ls\n";

static const char verify_help[] = "Usage: slipring cache verify [--json]\n"
                                  "Reads and checks every entry. Lists entries that are damaged, truncated, or of\n"
                                  "another version of slipring. Such entries are never used. To remove them, use\n"
                                  "'slipring cache clear --damaged'.\n"
                                  "\n"
                                  "  --json   prints one JSON object\n"
                                  "\n"
                                  "Example:\n"
                                  "  slipring cache verify\n"
                                  "\n"
                                  "Exit code: 1 if an entry is damaged.\n";

static const char clear_help[] = "Usage: slipring cache clear [--older-than AGE] [--damaged] [--json]\n"
                                 "Removes all entries, or some. Running programs are not affected; later programs\n"
                                 "compile again.\n"
                                 "\n"
                                 "  --older-than AGE  only entries written longer ago than 90s, 15m, 12h or 30d\n"
                                 "  --damaged         only entries that 'slipring cache verify' lists\n"
                                 "  --json            prints one JSON object\n"
                                 "\n"
                                 "Example:\n"
                                 "  slipring cache clear --older-than 30d\n";

static const char prune_help[] = "Usage: slipring cache prune [--bytes SIZE] [--unused AGE] [--json]\n"
                                 "Removes entries that were not used for AGE. Then removes the least recently used\n"
                                 "entries until the rest takes at most SIZE. Also removes partial files of killed\n"
                                 "programs. Running programs are not affected.\n"
                                 "\n"
                                 "  --bytes SIZE   bytes, or a number with K, M or G (default:\n"
                                 "                 SLIPRING_CACHE_BYTES, else 1G)\n"
                                 "  --unused AGE   90s, 15m, 12h or 30d (default: SLIPRING_CACHE_DAYS, else 90d)\n"
                                 "  --json         prints one JSON object\n"
                                 "\n"
                                 "Example:\n"
                                 "  slipring cache prune --bytes 200M\n";

typedef struct entry {
    char *name, *kernel, *source, *detail;
    uint64_t bytes, age_s;
    bool is_whole;
} entry;

// What is looked for, and what was found.
typedef struct search {
    bool json, damaged_only, remove;
    uint64_t older_than_s; // 0: all
    entry *found;
    size_t count, room;
    uint64_t bytes;
    size_t seen;          // all there are
    slr_cache_info *info; // NULL: not asked
} search;

// ---- finding -------------------------------------------------------------------------------------------------------

static char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(memory_take(bytes, 1), text, bytes);
}

static int take(void *user, const slr_cache_entry *from)
{
    search *search = user;
    search->seen++;
    if ((search->damaged_only && from->is_whole) || from->age_s < search->older_than_s)
        return 0;
    if (search->count == search->room) {
        search->room = 2 * search->room + 16;
        search->found = memory_grow(search->found, search->room, sizeof *search->found);
    }
    search->found[search->count++] = (entry){.name = copy_text(from->name),
                                             .kernel = copy_text(from->kernel),
                                             .source = copy_text(from->source),
                                             .detail = copy_text(from->detail),
                                             .bytes = from->bytes,
                                             .age_s = from->age_s,
                                             .is_whole = from->is_whole};
    search->bytes += from->bytes;
    return search->remove;
}

static int by_age(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->age_s != y->age_s ? (x->age_s > y->age_s ? 1 : -1) : strcmp(x->name, y->name);
}

static void forget(search *search)
{
    for (size_t i = 0; i < search->count; i++) {
        free(search->found[i].name);
        free(search->found[i].kernel);
        free(search->found[i].source);
        free(search->found[i].detail);
    }
    free(search->found);
}

// ---- printing ------------------------------------------------------------------------------------------------------

static const char *size_text(uint64_t bytes, char to[24])
{
    if (bytes < 10000)
        snprintf(to, 24, "%llu B", (unsigned long long)bytes);
    else if (bytes < 10000000)
        snprintf(to, 24, "%llu kB", (unsigned long long)(bytes / 1000));
    else
        snprintf(to, 24, "%llu MB", (unsigned long long)(bytes / 1000000));
    return to;
}

static const char *age_text(uint64_t age_s, char to[24])
{
    static const struct unit {
        uint64_t seconds;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    const struct unit *unit = units;
    while (unit->seconds > 1 && age_s < 2 * unit->seconds)
        unit++;
    snprintf(to, 24, "%llu%c", (unsigned long long)(age_s / unit->seconds), unit->letter);
    return to;
}

static void print_entry(const entry *entry)
{
    char size[24], age[24];
    say_out("%9s %5s  ", size_text(entry->bytes, size), age_text(entry->age_s, age));
    if (entry->is_whole)
        say_out("%s  %s (%s)\n", entry->kernel, entry->source, entry->detail);
    else
        say_out("damaged: %s\n", entry->name);
}

static json_t *entry_json(const entry *entry)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:b}", "file", kernel_text(entry->name), "kernel",
                     kernel_text(entry->kernel), "source", kernel_text(entry->source), "detail",
                     kernel_text(entry->detail), "bytes", (json_int_t)entry->bytes, "age_s", (json_int_t)entry->age_s,
                     "whole", (int)entry->is_whole);
}

static json_t *limit_json(uint64_t limit)
{
    return limit == UINT64_MAX ? json_null() : json_integer((json_int_t)limit);
}

static void add_info(json_t *object, const slr_cache_info *info)
{
    json_object_set_new(object, "limit_bytes", limit_json(info->limit_bytes));
    json_object_set_new(object, "limit_unused_s", limit_json(info->limit_unused_s));
    json_object_set_new(object, "hits", json_integer((json_int_t)info->hits));
    json_object_set_new(object, "misses", json_integer((json_int_t)info->misses));
    json_object_set_new(object, "stores", json_integer((json_int_t)info->stores));
    json_object_set_new(object, "evicted", json_integer((json_int_t)info->evicted));
    json_object_set_new(object, "evicted_bytes", json_integer((json_int_t)info->evicted_bytes));
}

// "at most 1073 MB, unused for at most 90d; 12 hits, 3 misses, 3 stored, 0 evicted"
static void print_info(const slr_cache_info *info)
{
    char size[24], age[24];
    if (info->limit_bytes == UINT64_MAX)
        say_out("no size limit, ");
    else
        say_out("at most %s, ", size_text(info->limit_bytes, size));
    if (info->limit_unused_s == UINT64_MAX)
        say_out("no age limit; ");
    else
        say_out("unused for at most %s; ", age_text(info->limit_unused_s, age));
    say_out("%llu %s, %llu %s, %llu stored, %llu evicted\n", (unsigned long long)info->hits,
            info->hits == 1 ? "hit" : "hits", (unsigned long long)info->misses, info->misses == 1 ? "miss" : "misses",
            (unsigned long long)info->stores, (unsigned long long)info->evicted);
}

static void print_object(const search *search, const char *folder)
{
    json_t *entries = json_array();
    for (size_t i = 0; i < search->count; i++)
        json_array_append_new(entries, entry_json(&search->found[i]));
    json_t *object = json_pack("{s:o, s:I, s:I, s:o}", "folder", kernel_text(folder), "seen", (json_int_t)search->seen,
                               "bytes", (json_int_t)search->bytes, "entries", entries);
    if (search->info != NULL)
        add_info(object, search->info);
    kernel_print_object(object);
}

// "3 entries, 96 kB, in FOLDER", behind what was done with them.
static void print_sum(const search *search, const char *done, const char *folder)
{
    char size[24];
    say_out("%s%zu %s, %s, in %s\n", done, search->count, search->count == 1 ? "entry" : "entries",
            size_text(search->bytes, size), folder);
}

// ---- the verbs -----------------------------------------------------------------------------------------------------

// Looks at the cache. Returns an exit code; what is not EXIT_DONE has been said.
static int look(search *search, char *folder, size_t bytes)
{
    slr_status status = slr_cache_get_folder(folder, bytes);
    if (status == SLR_OK)
        status = slr_cache_visit(take, search);
    if (status == SLR_OK && search->info != NULL)
        status = slr_cache_get_info(search->info);
    if (status != SLR_OK)
        return say_failure(status, "cache");
    if (search->count > 0)
        qsort(search->found, search->count, sizeof *search->found, by_age);
    return EXIT_DONE;
}

// AGE: a whole number and s, m, h or d.
static int take_age(const char *option, const char *text, uint64_t *out)
{
    static const struct unit {
        const char *letter;
        uint64_t seconds;
    } units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    char *end = NULL;
    unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    for (size_t i = 0; end != NULL && number <= 1000000 && i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].letter) == 0) {
            *out = number * units[i].seconds;
            return -1;
        }
    }
    return say_usage("%s: '%s' is not an age, such as 90s, 15m, 12h or 30d", option, text);
}

static const struct option plain_options[] = {{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
static const struct option clear_options[] = {{"json", no_argument, NULL, 'j'},
                                              {"help", no_argument, NULL, 'h'},
                                              {"older-than", required_argument, NULL, 'o'},
                                              {"damaged", no_argument, NULL, 'd'},
                                              {0}};

// -1: go on; else the exit code.
static int parse(int argc, char **argv, const struct option *options, const char *help, search *out)
{
    for (int option, end = -1; (option = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (option == 'j')
            out->json = true;
        else if (option == 'd')
            out->damaged_only = true;
        else
            end =
                option == 'o' ? take_age("--older-than", optarg, &out->older_than_s) : say_refused_option(option, argv);
        if (end != -1)
            return end;
    }
    return optind < argc ? say_usage("only options are allowed, not '%s'", argv[optind]) : -1;
}

// The verb: `done` begins its last line.
static int run(search *search, const char *done)
{
    char folder[4096];
    int end = look(search, folder, sizeof folder);
    if (end == EXIT_DONE && search->json)
        print_object(search, folder);
    for (size_t i = 0; end == EXIT_DONE && !search->json && !search->remove && i < search->count; i++)
        print_entry(&search->found[i]);
    if (end == EXIT_DONE && !search->json)
        print_sum(search, done, folder);
    if (end == EXIT_DONE && !search->json && search->info != NULL)
        print_info(search->info);
    forget(search);
    return end;
}

int cache_list(int argc, char **argv)
{
    slr_cache_info info;
    search search = {.info = &info};
    int end = parse(argc, argv, plain_options, list_help, &search);
    return end != -1 ? end : run(&search, "");
}

int cache_verify(int argc, char **argv)
{
    search search = {.damaged_only = true};
    int end = parse(argc, argv, plain_options, verify_help, &search);
    if (end != -1)
        return end;
    end = run(&search, "damaged: ");
    return end == EXIT_DONE && search.count > 0 ? EXIT_FAILED : end;
}

int cache_clear(int argc, char **argv)
{
    search search = {.remove = true};
    int end = parse(argc, argv, clear_options, clear_help, &search);
    return end != -1 ? end : run(&search, "removed ");
}

// ---- pruning -------------------------------------------------------------------------------------------------------

// SIZE: a whole number, or one with K, M or G.
static int take_size(const char *text, uint64_t *out)
{
    static const char units[] = "KMG";
    char *end = NULL;
    unsigned long long number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    const char *unit = end != NULL && *end != '\0' ? strchr(units, *end) : NULL;
    unsigned shift = unit != NULL ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == NULL || end[unit != NULL] != '\0' || number > (UINT64_MAX >> 1) >> shift)
        return say_usage("--bytes: '%s' is not a size, such as 65536, 100K, 512M or 1G", text);
    *out = number << shift;
    return -1;
}

static const struct option prune_options[] = {{"json", no_argument, NULL, 'j'},
                                              {"help", no_argument, NULL, 'h'},
                                              {"bytes", required_argument, NULL, 'b'},
                                              {"unused", required_argument, NULL, 'u'},
                                              {0}};

typedef struct limits {
    bool json, has_bytes, has_unused;
    uint64_t bytes, unused_s;
} limits;

static int take_limit(int option, char **argv, limits *out)
{
    switch (option) {
    case 'h':
        fputs(prune_help, stdout);
        return EXIT_DONE;
    case 'j':
        out->json = true;
        return -1;
    case 'b':
        out->has_bytes = true;
        return take_size(optarg, &out->bytes);
    case 'u':
        out->has_unused = true;
        return take_age("--unused", optarg, &out->unused_s);
    default:
        return say_refused_option(option, argv);
    }
}

int cache_prune(int argc, char **argv)
{
    limits limits = {0};
    slr_cache_info info;
    uint64_t removed = 0, bytes = 0;
    char size[24], left[24], folder[4096];
    for (int option; (option = getopt_long(argc, argv, ":h", prune_options, NULL)) != -1;) {
        int end = take_limit(option, argv, &limits);
        if (end != -1)
            return end;
    }
    if (optind < argc)
        return say_usage("only options are allowed, not '%s'", argv[optind]);
    slr_status status = slr_cache_get_folder(folder, sizeof folder);
    if (status == SLR_OK)
        status = slr_cache_get_info(&info);
    if (status == SLR_OK)
        status = slr_cache_prune(limits.has_bytes ? limits.bytes : info.limit_bytes,
                                 limits.has_unused ? limits.unused_s : info.limit_unused_s, &removed, &bytes);
    if (status == SLR_OK)
        status = slr_cache_get_info(&info);
    if (status != SLR_OK)
        return say_failure(status, "cache");
    if (limits.json)
        kernel_print_object(json_pack("{s:o, s:I, s:I, s:I, s:I}", "folder", kernel_text(folder), "removed",
                                      (json_int_t)removed, "removed_bytes", (json_int_t)bytes, "entries",
                                      (json_int_t)info.entries, "bytes", (json_int_t)info.bytes));
    else
        say_out("removed %llu %s, %s; %llu remain, %s, in %s\n", (unsigned long long)removed,
                removed == 1 ? "entry" : "entries", size_text(bytes, size), (unsigned long long)info.entries,
                size_text(info.bytes, left), folder);
    return EXIT_DONE;
}
