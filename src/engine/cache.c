// SPDX-License-Identifier: Apache-2.0
#include "engine/cache.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_LIMIT_BYTES ((size_t)256 << 20)

struct trailer {
    char magic[16]; // the layout's version
    uint64_t bytes; // of all before it: the content, then the label
    char digest[SLRI_HASH_HEX_BYTES - 1];
    uint64_t label_bytes;
};
static const char magic[] = "slipring entry 2"; // its 16 characters

// ---- the folder ----------------------------------------------------------------------------------------------------

static slr_status use_private(slri_cache *cache, const char *why)
{
    slri_text text = SLRI_TEXT_INIT;
    slri_text_printf(&text, "the user's cache folder is not used: %s", why);
    if (slri_folder_open_private(&cache->in) != SLR_OK)
        slri_text_printf(&text, "; %s", slr_error_message());
    cache->why_private = slri_text_take(&text);
    return cache->why_private ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for the cache");
}

slr_status slri_cache_open(slri_cache *cache)
{
    *cache = (slri_cache){0};
    char *path = NULL;
    slr_status status = slri_cache_folder(&path);
    if (status == SLR_OK)
        status = slri_folder_open(path, &cache->in);
    free(path);
    if (status != SLR_OK)
        status = use_private(cache, slr_error_message());
    if (status != SLR_OK)
        slri_cache_close(cache);
    else if (cache->in)
        cache->folder = slri_folder_path(cache->in);
    return status;
}

void slri_cache_close(slri_cache *cache)
{
    if (cache->why_private && cache->in)
        slri_folder_discard(cache->in);
    else
        slri_folder_close(cache->in);
    free(cache->why_private);
    *cache = (slri_cache){0};
}

void slri_cache_describe(char *out, size_t room)
{
    slri_cache cache;
    if (slri_cache_open(&cache) != SLR_OK) {
        snprintf(out, room, "none: %s", slr_error_message());
        return;
    }
    snprintf(out, room, "%s%s", cache.why_private ? "none: " : "",
             cache.why_private ? cache.why_private : cache.folder);
    slri_cache_close(&cache);
}

// ---- entries -------------------------------------------------------------------------------------------------------

// "0123456789abcdef0123456789abcdef.so"
static slr_status entry_name(const char *key, const char *suffix, char name[SLRI_CACHE_NAME_BYTES])
{
    if (strspn(key, "0123456789abcdef") != SLRI_HASH_HEX_BYTES - 1 || strlen(key) != SLRI_HASH_HEX_BYTES - 1 ||
        strlen(suffix) >= SLRI_CACHE_NAME_BYTES - SLRI_HASH_HEX_BYTES)
        return SLRI_FAIL(INTERNAL, "\"%s%s\" is not a key of the cache", key, suffix);
    memcpy(name, key, SLRI_HASH_HEX_BYTES - 1);
    strcpy(name + SLRI_HASH_HEX_BYTES - 1, suffix);
    return SLR_OK;
}

static struct trailer trailer_of(const char *key, const void *content, size_t bytes, uint64_t label_bytes)
{
    struct trailer trailer = {.bytes = bytes, .label_bytes = label_bytes};
    char hex[SLRI_HASH_HEX_BYTES];
    slri_hash hash;
    slri_hash_init(&hash);
    slri_hash_field(&hash, key, strlen(key));
    slri_hash_field(&hash, content, bytes);
    slri_hash_field(&hash, &label_bytes, sizeof label_bytes);
    slri_hash_hex(&hash, hex);
    memcpy(trailer.magic, magic, sizeof trailer.magic);
    memcpy(trailer.digest, hex, sizeof trailer.digest);
    return trailer;
}

static bool is_whole(const char *key, const char *file, size_t bytes, uint64_t *label_bytes)
{
    struct trailer found;
    if (bytes < sizeof found)
        return false;
    bytes -= sizeof found;
    memcpy(&found, file + bytes, sizeof found);
    struct trailer expected = trailer_of(key, file, bytes, found.label_bytes);
    *label_bytes = found.label_bytes;
    return found.label_bytes <= bytes && memcmp(&found, &expected, sizeof found) == 0;
}

slr_status slri_cache_read(const slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                           char **content, size_t *bytes)
{
    char name[SLRI_CACHE_NAME_BYTES], *file;
    size_t length;
    uint64_t label_bytes;
    SLRI_TRY(entry_name(key, suffix, name));
    if (!cache->in)
        return SLRI_FAIL(NOT_FOUND, "no cache: %s", cache->why_private);
    if (slri_folder_read(cache->in, name, ENTRY_LIMIT_BYTES, true, &file, &length) != SLR_OK)
        return SLRI_FAIL(NOT_FOUND, "no entry: %s", slr_error_message());
    if (!is_whole(key, file, length, &label_bytes)) {
        free(file);
        return SLRI_FAIL(NOT_FOUND, "no valid entry %s in %s", name, cache->folder);
    }
    *content = file;
    *bytes = length - sizeof(struct trailer) - (size_t)label_bytes;
    return SLR_OK;
}

slr_status slri_cache_find(const slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                           char **path)
{
    char *content;
    size_t bytes;
    slri_text text = SLRI_TEXT_INIT;
    SLRI_TRY(slri_cache_read(cache, key, suffix, &content, &bytes));
    free(content);
    slri_text_printf(&text, "%s/%s%s", cache->folder, key, suffix);
    *path = slri_text_take(&text);
    return *path ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a path in the cache");
}

// A folder that cannot be pruned is larger than it should be: no reason to fail.
static void after_store(const slri_cache *cache, const char *name)
{
    struct slri_cache_limits limits;
    (void)slri_cache_limits_get(&limits);
    slri_cache_count(cache->in, &(struct slri_cache_counts){.stores = 1});
    (void)slri_cache_prune(cache->in, &limits, name, NULL);
}

slr_status slri_cache_publish(slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                              const void *content, size_t bytes, const char *label)
{
    char name[SLRI_CACHE_NAME_BYTES];
    slri_text text = SLRI_TEXT_INIT;
    if (!cache->in)
        return SLRI_FAIL(SYSTEM, "no cache: %s", cache->why_private);
    if (bytes > ENTRY_LIMIT_BYTES - sizeof(struct trailer) - strlen(label))
        return SLRI_FAIL(INVALID, "%zu B are too much for a cache entry", bytes);
    SLRI_TRY(entry_name(key, suffix, name));
    slri_text_append(&text, content, bytes);
    slri_text_puts(&text, label);
    if (!text.out_of_memory) {
        struct trailer trailer = trailer_of(key, text.data, text.length, strlen(label));
        slri_text_append(&text, (const char *)&trailer, sizeof trailer);
    }
    slr_status status = text.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory to write %s", name)
                                           : slri_folder_write(cache->in, name, text.data, text.length);
    slri_text_free(&text);
    if (status == SLR_OK)
        after_store(cache, name);
    return status;
}

slr_status slri_cache_publish_file(slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                                   const char *path, const char *label)
{
    char *content;
    size_t bytes;
    SLRI_TRY(slri_file_read(path, ENTRY_LIMIT_BYTES, &content, &bytes));
    slr_status status = slri_cache_publish(cache, key, suffix, content, bytes, label);
    free(content);
    return status;
}

// ---- looking at it -------------------------------------------------------------------------------------------------

struct look {
    const slri_folder *folder;
    void (*visit)(void *user, const slri_cache_item *item);
    void *user;
    bool out_of_memory;
};

// The key, then a suffix.
bool slri_cache_is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == SLRI_HASH_HEX_BYTES - 1 && name[SLRI_HASH_HEX_BYTES - 1] == '.';
}

// Reads the entry. What cannot be read, or may be another user's, counts as damaged.
static void examine(struct look *look, slri_cache_item *item)
{
    char key[SLRI_HASH_HEX_BYTES], *content, *label = NULL;
    size_t bytes;
    uint64_t label_bytes;
    slri_text text = SLRI_TEXT_INIT;
    memcpy(key, item->name, sizeof key - 1);
    key[sizeof key - 1] = '\0';
    if (slri_folder_read(look->folder, item->name, ENTRY_LIMIT_BYTES, false, &content, &bytes) == SLR_OK) {
        item->is_whole = is_whole(key, content, bytes, &label_bytes);
        if (item->is_whole) {
            slri_text_append(&text, content + bytes - sizeof(struct trailer) - label_bytes, label_bytes);
            label = slri_text_take(&text);
            look->out_of_memory = look->out_of_memory || !label;
        }
        free(content);
    }
    item->label = label ? label : "";
    look->visit(look->user, item);
    free(label);
}

static void look_at_entry(void *user, const slri_folder_item *file)
{
    struct look *look = user;
    slri_cache_item item = {
        .name = file->name, .label = "", .bytes = file->bytes, .age_s = file->age_s, .unused_s = file->unused_s};
    if (slri_cache_is_entry(file->name))
        examine(look, &item);
    else if (file->is_left_behind)
        look->visit(look->user, &item);
}

slr_status slri_cache_visit(const slri_folder *folder, void (*visit)(void *user, const slri_cache_item *item),
                            void *user)
{
    struct look look = {folder, visit, user, false};
    SLRI_TRY(slri_folder_list(folder, look_at_entry, &look));
    return look.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory to look at the entries of %s", slri_folder_path(folder))
                              : SLR_OK;
}
