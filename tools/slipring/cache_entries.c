// SPDX-License-Identifier: Apache-2.0
// `slipring cache ls`, `verify` and `clear`: all look at each entry and keep a list of some of them.
#include "cache.h"
#include "kernel.h"

#include "memory.h"
#include "say.h"
#include "verbs.h"

#include <slipring/cache.h>

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char list_help[] =
    "Usage: slipring cache ls [--json]\n"
    "Lists what is in the cache of compiled kernels, the newest first: kernel (or handlers), source,\n"
    "how it was compiled, size and age. Damaged entries are listed as such.\n";

static const char verify_help[] =
    "Usage: slipring cache verify [--json]\n"
    "Reads every entry whole and checks it. Lists those that are damaged, cut off, left half written or of\n"
    "another version of slipring; such entries are never used, and 'slipring cache clear --damaged' removes\n"
    "them. Exit code 1 where there is one.\n";

static const char clear_help[] =
    "Usage: slipring cache clear [--older-than AGE] [--damaged] [--json]\n"
    "Removes all entries, or some. Programs that use them go on; the next ones compile anew.\n"
    "\n"
    "  --older-than AGE  those written longer ago: 90s, 15m, 12h or 30d\n"
    "  --damaged         those that 'slipring cache verify' names\n"
    "  --json            one object\n";

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
    size_t seen; // all there are
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
    printf("%9s %5s  ", size_text(entry->bytes, size), age_text(entry->age_s, age));
    if (entry->is_whole)
        printf("%s  %s (%s)\n", entry->kernel, entry->source, entry->detail);
    else
        printf("damaged: %s\n", entry->name);
}

static json_t *entry_json(const entry *entry)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:b}", "file", kernel_text(entry->name), "kernel",
                     kernel_text(entry->kernel), "source", kernel_text(entry->source), "detail",
                     kernel_text(entry->detail), "bytes", (json_int_t)entry->bytes, "age_s", (json_int_t)entry->age_s,
                     "whole", (int)entry->is_whole);
}

static void print_object(const search *search, const char *folder)
{
    json_t *entries = json_array();
    for (size_t i = 0; i < search->count; i++)
        json_array_append_new(entries, entry_json(&search->found[i]));
    kernel_print_object(json_pack("{s:o, s:I, s:I, s:o}", "folder", kernel_text(folder), "seen",
                                  (json_int_t)search->seen, "bytes", (json_int_t)search->bytes, "entries", entries));
}

// "3 entries, 96 kB, in FOLDER", behind what was done with them.
static void print_sum(const search *search, const char *done, const char *folder)
{
    char size[24];
    printf("%s%zu %s, %s, in %s\n", done, search->count, search->count == 1 ? "entry" : "entries",
           size_text(search->bytes, size), folder);
}

// ---- the verbs -----------------------------------------------------------------------------------------------------

// Looks at the cache. Returns an exit code; what is not EXIT_DONE has been said.
static int look(search *search, char *folder, size_t bytes)
{
    slr_status status = slr_cache_get_folder(folder, bytes);
    if (status == SLR_OK)
        status = slr_cache_visit(take, search);
    if (status != SLR_OK)
        return say_failure(status, "cache");
    if (search->count > 0)
        qsort(search->found, search->count, sizeof *search->found, by_age);
    return EXIT_DONE;
}

// AGE: a whole number and s, m, h or d.
static int take_age(const char *text, uint64_t *out)
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
    return say_usage("--older-than: '%s' is no age: 90s, 15m, 12h, 30d", text);
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
            end = option == 'o' ? take_age(optarg, &out->older_than_s) : say_refused_option(option, argv);
        if (end != -1)
            return end;
    }
    return optind < argc ? say_usage("nothing but options, not '%s'", argv[optind]) : -1;
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
    forget(search);
    return end;
}

int cache_list(int argc, char **argv)
{
    search search = {0};
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
