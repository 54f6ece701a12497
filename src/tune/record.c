// SPDX-License-Identifier: Apache-2.0
// The file of what was tuned. A writer holds its lock, reads it, and puts the whole new file in its place by a rename:
// readers need no lock.
#include "tune/record.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/status.h"
#include "base/text.h"

#include <slipring/api.h>
#include <slipring/tune.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "tuned-"
#define SUFFIX ".jsonl"
#define LOCKS ".tuned"
// PLACES: who changes between two drivers and two compilers keeps all four choices of a problem.
enum { NAME_BYTES = 64, FILE_BYTES = 8 << 20, PLACES = 4 };
static const uint64_t wait_ns = 10000000000u;

const char *slri_tuned_metric(uint32_t metric)
{
    static const char *const names[] = {[SLR_TUNE_TIME] = "time",
                                        [SLR_TUNE_THROUGHPUT] = "throughput",
                                        [SLR_TUNE_TAIL] = "tail",
                                        [SLR_TUNE_ENERGY] = "energy"};
    return names[metric];
}

// ---- a line --------------------------------------------------------------------------------------------------------

static void put_string(slri_text *to, const char *key, const char *value)
{
    slri_text_printf(to, "\"%s\": \"", key);
    for (const char *at = value; *at; at++) {
        if (*at == '"' || *at == '\\')
            slri_text_printf(to, "\\%c", *at);
        else if ((unsigned char)*at < 0x20)
            slri_text_printf(to, "\\u%04x", (unsigned char)*at);
        else
            slri_text_append(to, at, 1);
    }
    slri_text_puts(to, "\", ");
}

static void put_number(slri_text *to, const char *key, uint64_t value)
{
    slri_text_printf(to, "\"%s\": %llu, ", key, (unsigned long long)value);
}

static void put_three(slri_text *to, const char *key, const uint64_t value[3])
{
    slri_text_printf(to, "\"%s\": [%llu, %llu, %llu], ", key, (unsigned long long)value[0],
                     (unsigned long long)value[1], (unsigned long long)value[2]);
}

// Of the text of a line in front of it.
static void make_check(const char *line, size_t length, char check[SLRI_HASH_HEX_BYTES])
{
    slri_hash hash;
    slri_hash_init(&hash);
    slri_hash_field(&hash, line, length);
    slri_hash_hex(&hash, check);
}

#define CHECK_KEY ", \"check\": \""
#define CHECK_END "\"}"

static void put_record(slri_text *to, const struct slri_tuned_place *place, const struct slri_tuned_record *record)
{
    char check[SLRI_HASH_HEX_BYTES];
    const size_t begin = to->length;
    const uint64_t block[3] = {record->block[0], record->block[1], record->block[2]};
    slri_text_puts(to, "{");
    put_string(to, "source", record->source);
    put_string(to, "kernel", record->kernel);
    put_three(to, "threads", record->threads);
    put_three(to, "block", block);
    put_number(to, "vector_width", record->vector_width);
    put_string(to, "defines", record->defines);
    put_string(to, "metric", record->metric);
    put_number(to, "exact", record->is_exact);
    put_number(to, "default_ps", record->default_ps);
    put_number(to, "tuned_ps", record->tuned_ps);
    put_number(to, "speedup_permille", record->speedup_permille);
    put_number(to, "low_permille", record->low_permille);
    put_number(to, "high_permille", record->high_permille);
    put_number(to, "evaluations", record->evaluations);
    put_string(to, "device", place->device);
    put_string(to, "model", place->model);
    put_string(to, "compiler", place->compiler);
    put_string(to, "driver", place->driver);
    slri_text_printf(to, "\"version\": \"%s\"", SLR_VERSION);
    if (to->out_of_memory)
        return;
    make_check(slri_text_view(to) + begin, to->length - begin, check);
    slri_text_printf(to, CHECK_KEY "%s" CHECK_END "\n", check);
}

// Behind `"key": `, or NULL. No value of ours holds an unescaped quotation mark, so that none is taken for a key.
static const char *find_value(const char *line, const char *key)
{
    char quoted[32];
    int length = snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    for (const char *at = line; (at = strstr(at, quoted)) != NULL; at += length)
        if (at[-1] != '\\') // a line starts with a brace
            return at + length;
    return NULL;
}

static bool get_string(const char *line, const char *key, char *to, size_t bytes)
{
    const char *at = find_value(line, key);
    size_t length = 0;
    if (!at || *at++ != '"')
        return false;
    for (; *at && *at != '"'; at++) {
        unsigned code;
        char one = *at;
        if (one == '\\' && (at[1] == '"' || at[1] == '\\'))
            one = *++at;
        else if (one == '\\' && sscanf(at, "\\u%4x", &code) == 1 && code < 0x80) {
            one = (char)code;
            at += 5;
        }
        if (length + 1 == bytes)
            return false;
        to[length++] = one;
    }
    to[length] = '\0';
    return *at == '"';
}

static bool get_number(const char *line, const char *key, uint64_t most, uint64_t *out)
{
    const char *at = find_value(line, key);
    if (!at || !isdigit((unsigned char)*at))
        return false;
    *out = strtoull(at, NULL, 10);
    return *out <= most;
}

static bool get_three(const char *line, const char *key, uint64_t most, uint64_t out[3])
{
    unsigned long long value[3];
    const char *at = find_value(line, key);
    if (!at || sscanf(at, "[%llu, %llu, %llu]", &value[0], &value[1], &value[2]) != 3)
        return false;
    for (int i = 0; i < 3; i++) {
        out[i] = value[i];
        if (value[i] > most)
            return false;
    }
    return true;
}

static bool get_u32(const char *line, const char *key, uint32_t *out)
{
    uint64_t value;
    bool is_there = get_number(line, key, UINT32_MAX, &value);
    *out = is_there ? (uint32_t)value : 0;
    return is_there;
}

// A line of which a byte has changed may still read as a record: of another tile, or of a block that cannot be
// launched.
static bool is_whole(const char *line)
{
    char check[SLRI_HASH_HEX_BYTES], end[sizeof CHECK_KEY CHECK_END + SLRI_HASH_HEX_BYTES];
    const size_t length = strlen(line), tail = sizeof CHECK_KEY CHECK_END - 1 + SLRI_HASH_HEX_BYTES - 1;
    if (length <= tail)
        return false;
    make_check(line, length - tail, check);
    snprintf(end, sizeof end, CHECK_KEY "%s" CHECK_END, check);
    return strcmp(line + length - tail, end) == 0;
}

// `line` is terminated where it ends.
static bool get_record(const char *line, struct slri_tuned_place *place, struct slri_tuned_record *out, char *version,
                       size_t version_bytes)
{
    uint64_t block[3], exact = 0;
    *out = (struct slri_tuned_record){0};
    bool whole = *line == '{' && is_whole(line) && get_string(line, "source", out->source, sizeof out->source) &&
                 get_string(line, "kernel", out->kernel, sizeof out->kernel) &&
                 get_three(line, "threads", UINT64_MAX, out->threads) && get_three(line, "block", 1024, block) &&
                 get_u32(line, "vector_width", &out->vector_width) &&
                 get_string(line, "defines", out->defines, sizeof out->defines) &&
                 get_string(line, "metric", out->metric, sizeof out->metric) && get_number(line, "exact", 1, &exact) &&
                 get_number(line, "default_ps", UINT64_MAX, &out->default_ps) &&
                 get_number(line, "tuned_ps", UINT64_MAX, &out->tuned_ps) &&
                 get_number(line, "low_permille", UINT64_MAX, &out->low_permille) &&
                 get_number(line, "high_permille", UINT64_MAX, &out->high_permille) &&
                 get_u32(line, "evaluations", &out->evaluations) &&
                 get_string(line, "device", place->device, sizeof place->device) &&
                 get_string(line, "model", place->model, sizeof place->model) &&
                 get_string(line, "compiler", place->compiler, sizeof place->compiler) &&
                 get_string(line, "driver", place->driver, sizeof place->driver) &&
                 get_string(line, "version", version, version_bytes);
    if (!whole)
        return false;
    for (int i = 0; i < 3; i++)
        out->block[i] = (uint32_t)block[i];
    out->is_exact = exact != 0;
    if (!get_number(line, "speedup_permille", UINT64_MAX, &out->speedup_permille)) // older files have none
        out->speedup_permille = 0;
    return true;
}

// ---- the file ------------------------------------------------------------------------------------------------------

static slr_status open_tuned_folder(slri_folder **out)
{
    char *path;
    SLRI_TRY(slri_cache_folder(&path));
    slr_status status = slri_folder_open(path, out);
    free(path);
    return status;
}

// One a device, by what it is called and what it is.
static void name_file(const struct slri_tuned_place *place, char out[NAME_BYTES])
{
    char hex[SLRI_HASH_HEX_BYTES];
    slri_hash hash;
    slri_hash_init(&hash);
    slri_hash_field(&hash, place->device, strlen(place->device));
    slri_hash_field(&hash, place->model, strlen(place->model));
    slri_hash_hex(&hash, hex);
    snprintf(out, NAME_BYTES, PREFIX "%s" SUFFIX, hex);
}

slr_status slri_tuned_path(const struct slri_tuned_place *place, char **path)
{
    char name[NAME_BYTES], *folder;
    slri_text text = SLRI_TEXT_INIT;
    name_file(place, name);
    SLRI_TRY(slri_cache_folder(&folder));
    slri_text_printf(&text, "%s/%s", folder, name);
    free(folder);
    *path = slri_text_take(&text);
    return *path ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a path");
}

typedef void each_line(void *user, const char *line, const struct slri_tuned_place *place,
                       const struct slri_tuned_record *record, bool is_current_version);

// Cuts the text into its lines. After a crash of the machine a file may hold zeros, which end no more than a line.
static void read_lines(char *text, size_t bytes, each_line *visit, void *user)
{
    for (size_t i = 0; i < bytes; i++)
        text[i] = text[i] ? text[i] : '\n';
    for (char *line = text, *next; *line; line = next) {
        struct slri_tuned_place place;
        struct slri_tuned_record record;
        char version[32];
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = '\0';
        if (get_record(line, &place, &record, version, sizeof version))
            visit(user, line, &place, &record, strcmp(version, SLR_VERSION) == 0);
    }
}

static bool is_same_place(const struct slri_tuned_place *a, const struct slri_tuned_place *b)
{
    return strcmp(a->compiler, b->compiler) == 0 && strcmp(a->driver, b->driver) == 0;
}

struct visit_one {
    const struct slri_tuned_place *place;
    void (*visit)(void *user, const struct slri_tuned_record *record, bool is_current);
    void *user;
};

static void visit_line(void *user, const char *line, const struct slri_tuned_place *place,
                       const struct slri_tuned_record *record, bool is_current_version)
{
    const struct visit_one *one = user;
    (void)line;
    one->visit(one->user, record, is_current_version && is_same_place(place, one->place));
}

static slr_status read_file(const slri_folder *folder, const char *name, each_line *visit, void *user)
{
    char *text;
    size_t bytes;
    SLRI_TRY(slri_folder_read(folder, name, FILE_BYTES, true, &text, &bytes));
    read_lines(text, bytes, visit, user);
    free(text);
    return SLR_OK;
}

slr_status slri_tuned_visit(const struct slri_tuned_place *place,
                            void (*visit)(void *user, const struct slri_tuned_record *record, bool is_current),
                            void *user)
{
    char name[NAME_BYTES];
    slri_folder *folder;
    struct visit_one one = {place, visit, user};
    name_file(place, name);
    SLRI_TRY(open_tuned_folder(&folder));
    slr_status status = read_file(folder, name, visit_line, &one);
    slri_folder_close(folder);
    return status;
}

struct visit_all {
    const slri_folder *folder;
    void (*visit)(void *user, const struct slri_tuned_place *place, const struct slri_tuned_record *record);
    void *user;
};

static void visit_any_line(void *user, const char *line, const struct slri_tuned_place *place,
                           const struct slri_tuned_record *record, bool is_current_version)
{
    const struct visit_all *all = user;
    (void)line;
    if (is_current_version)
        all->visit(all->user, place, record);
}

static void visit_file(void *user, const slri_folder_item *item)
{
    const struct visit_all *all = user;
    size_t length = strlen(item->name), end = sizeof SUFFIX - 1;
    if (strncmp(item->name, PREFIX, sizeof PREFIX - 1) == 0 && length > end &&
        strcmp(item->name + length - end, SUFFIX) == 0)
        (void)read_file(all->folder, item->name, visit_any_line, user); // one that others may write to says nothing
}

slr_status slri_tuned_visit_all(void (*visit)(void *user, const struct slri_tuned_place *place,
                                              const struct slri_tuned_record *record),
                                void *user)
{
    struct visit_all all = {NULL, visit, user};
    slri_folder *folder;
    SLRI_TRY(open_tuned_folder(&folder));
    all.folder = folder;
    slr_status status = slri_folder_list(folder, visit_file, &all);
    slri_folder_close(folder);
    return status;
}

// ---- writing -------------------------------------------------------------------------------------------------------

struct rewrite {
    const struct slri_tuned_place *place;
    const struct slri_tuned_record *record;
    uint32_t others; // lines of the problem for other places
    slri_text text;
};

static bool is_for_same(const struct slri_tuned_record *a, const struct slri_tuned_record *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->kernel, b->kernel) == 0 &&
           memcmp(a->threads, b->threads, sizeof a->threads) == 0;
}

static void count_other(void *user, const char *line, const struct slri_tuned_place *place,
                        const struct slri_tuned_record *record, bool is_current_version)
{
    struct rewrite *rewrite = user;
    (void)line;
    rewrite->others +=
        is_for_same(record, rewrite->record) && !(is_current_version && is_same_place(place, rewrite->place));
}

// A new line comes last: the first ones of a problem are the oldest, and go where there are too many.
static void keep_line(void *user, const char *line, const struct slri_tuned_place *place,
                      const struct slri_tuned_record *record, bool is_current_version)
{
    struct rewrite *rewrite = user;
    if (is_for_same(record, rewrite->record)) {
        if (is_current_version && is_same_place(place, rewrite->place))
            return;
        if (rewrite->others >= PLACES) {
            --rewrite->others;
            return;
        }
    }
    slri_text_printf(&rewrite->text, "%s\n", line);
}

static slr_status read_old(const slri_folder *folder, const char *name, each_line *visit, struct rewrite *rewrite)
{
    slr_status status = read_file(folder, name, visit, rewrite);
    return status == SLR_NOT_FOUND || status == SLR_INVALID ? SLR_OK : status; // one that is too long begins anew
}

// A file that is too long would not be read, and the next writer would begin anew: its first lines, the oldest, go.
static slr_status write_newest(const slri_folder *folder, const char *name, const slri_text *lines)
{
    const char *text = slri_text_view(lines);
    size_t begin = lines->length > FILE_BYTES ? lines->length - FILE_BYTES : 0;
    while (begin > 0 && text[begin - 1] != '\n')
        ++begin;
    return slri_folder_write(folder, name, text + begin, lines->length - begin);
}

// With the lock.
static slr_status write_anew(const slri_folder *folder, const char *name, const struct slri_tuned_place *place,
                             const struct slri_tuned_record *record)
{
    struct rewrite rewrite = {place, record, 0, SLRI_TEXT_INIT};
    SLRI_TRY(read_old(folder, name, count_other, &rewrite));
    slr_status status = read_old(folder, name, keep_line, &rewrite);
    put_record(&rewrite.text, place, record);
    if (status == SLR_OK && rewrite.text.out_of_memory)
        status = SLRI_FAIL(NO_MEMORY, "no memory to keep what was tuned");
    if (status == SLR_OK)
        status = write_newest(folder, name, &rewrite.text);
    slri_text_free(&rewrite.text);
    return status;
}

slr_status slri_tuned_keep(const struct slri_tuned_place *place, const struct slri_tuned_record *record)
{
    char name[NAME_BYTES];
    char first[9] = {0};
    slri_folder *folder;
    int lock;
    name_file(place, name);
    memcpy(first, name + sizeof PREFIX - 1, 8);
    const uint32_t number = (uint32_t)strtoul(first, NULL, 16);
    SLRI_TRY(open_tuned_folder(&folder));
    slr_status status = slri_folder_lock(folder, LOCKS, number, slri_deadline_after(wait_ns), NULL, &lock);
    if (status == SLR_OK) {
        status = write_anew(folder, name, place, record);
        slri_folder_unlock(lock, number);
    }
    slri_folder_close(folder);
    return status;
}
