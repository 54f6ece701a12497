// SPDX-License-Identifier: Apache-2.0
#include "kernel/cache.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_LIMIT_BYTES ((size_t)256 << 20)

struct trailer {
    char magic[16]; // the layout's version
    uint64_t bytes; // of all before it: the content, then the label
    char digest[SLRI_HASH_HEX_BYTES - 1];
    uint64_t label_bytes;
};
static const char magic[16] = "slipring entry 2";

// ---- the folder ----------------------------------------------------------------------------------------------------

static slr_status use_private(slri_cache *cache, const char *why)
{
    slri_text text = SLRI_TEXT_INIT;
    slri_text_printf(&text, "the user's cache folder is not used: %s", why);
    cache->why_private = slri_text_take(&text);
    if (!cache->why_private)
        return SLRI_FAIL(NO_MEMORY, "no memory for the cache");
    if (slri_folder_make_private(&cache->folder) == SLR_OK)
        return SLR_OK;
    slri_text_printf(&text, "%s; %s", cache->why_private, slr_error_message());
    slr_status status = SLRI_FAIL(SYSTEM, "%s", slri_text_view(&text));
    slri_text_free(&text);
    return status;
}

slr_status slri_cache_open(slri_cache *cache)
{
    *cache = (slri_cache){0};
    char *folder = NULL;
    if (slri_cache_folder(&folder) == SLR_OK && slri_folder_trusted(folder) == SLR_OK) {
        cache->folder = folder;
        return SLR_OK;
    }
    free(folder);
    slr_status status = use_private(cache, slr_error_message());
    if (status != SLR_OK)
        slri_cache_close(cache);
    return status;
}

void slri_cache_close(slri_cache *cache)
{
    if (cache->why_private && cache->published)
        slri_file_remove(cache->published);
    if (cache->why_private && cache->folder)
        slri_folder_remove(cache->folder);
    free(cache->folder);
    free(cache->why_private);
    free(cache->published);
    *cache = (slri_cache){0};
}

// ---- entries -------------------------------------------------------------------------------------------------------

static slr_status entry_path(const slri_cache *cache, const char *key, const char *suffix, char **path)
{
    slri_text text = SLRI_TEXT_INIT;
    if (strspn(key, "0123456789abcdef") != SLRI_HASH_HEX_BYTES - 1 || strlen(key) != SLRI_HASH_HEX_BYTES - 1)
        return SLRI_FAIL(INTERNAL, "\"%s\" is no key of the cache", key);
    slri_text_printf(&text, "%s/%s%s", cache->folder, key, suffix);
    *path = slri_text_take(&text);
    return *path ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a path in the cache");
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
    memcpy(trailer.magic, magic, sizeof magic);
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

slr_status slri_cache_find(const slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                           char **path)
{
    char *entry, *content;
    size_t bytes;
    uint64_t label_bytes;
    SLRI_TRY(entry_path(cache, key, suffix, &entry));
    bool whole = slri_file_read(entry, ENTRY_LIMIT_BYTES, &content, &bytes) == SLR_OK;
    if (whole) {
        whole = is_whole(key, content, bytes, &label_bytes);
        free(content);
    }
    if (!whole) {
        free(entry);
        return SLRI_FAIL(NOT_FOUND, "no whole entry %s%s in %s", key, suffix, cache->folder);
    }
    *path = entry;
    return SLR_OK;
}

static slr_status write_entry(const char *key, const char *entry, const void *content, size_t bytes, const char *label)
{
    slri_text text = SLRI_TEXT_INIT;
    slri_text_append(&text, content, bytes);
    slri_text_puts(&text, label);
    if (!text.out_of_memory) {
        struct trailer trailer = trailer_of(key, text.data, text.length, strlen(label));
        slri_text_append(&text, (const char *)&trailer, sizeof trailer);
    }
    slr_status status = text.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory to write %s", entry)
                                           : slri_file_write_atomic(entry, text.data, text.length);
    slri_text_free(&text);
    return status;
}

slr_status slri_cache_publish(slri_cache *cache, const char key[SLRI_HASH_HEX_BYTES], const char *suffix,
                              const void *content, size_t bytes, const char *label)
{
    char *entry;
    if (bytes > ENTRY_LIMIT_BYTES)
        return SLRI_FAIL(INVALID, "%zu B are too many for an entry of the cache", bytes);
    SLRI_TRY(entry_path(cache, key, suffix, &entry));
    slr_status status = write_entry(key, entry, content, bytes, label);
    if (status != SLR_OK) {
        free(entry);
        return status;
    }
    free(cache->published);
    cache->published = entry;
    return SLR_OK;
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

// What a compilation is at work on lies there for as long as a compiler may take.
#define LEFT_BEHIND_S 600

struct look {
    const char *folder;
    void (*visit)(void *user, const slri_cache_item *item);
    void *user;
    bool out_of_memory;
};

// "0123456789abcdef0123456789abcdef.so": the key, then a suffix.
static bool is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == SLRI_HASH_HEX_BYTES - 1 && name[SLRI_HASH_HEX_BYTES - 1] == '.';
}

static bool is_left_behind(const char *name, uint64_t age_s)
{
    return strncmp(name, ".tmp-", 5) == 0 && age_s > LEFT_BEHIND_S;
}

// Reads the entry. What cannot be read counts as damaged.
static void examine(struct look *look, slri_cache_item *item)
{
    char key[SLRI_HASH_HEX_BYTES], *content, *label = NULL;
    size_t bytes;
    uint64_t label_bytes;
    slri_text text = SLRI_TEXT_INIT;
    memcpy(key, item->name, sizeof key - 1);
    key[sizeof key - 1] = '\0';
    if (slri_file_read(item->path, ENTRY_LIMIT_BYTES, &content, &bytes) == SLR_OK) {
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
    slri_text_free(&text);
    free(label);
}

static void look_at(void *user, const char *name)
{
    struct look *look = user;
    slri_file_identity file;
    slri_text path = SLRI_TEXT_INIT;
    slri_text_printf(&path, "%s/%s", look->folder, name);
    look->out_of_memory = look->out_of_memory || path.out_of_memory;
    if (!path.out_of_memory && slri_file_identify(slri_text_view(&path), &file)) {
        slri_cache_item item = {.path = slri_text_view(&path),
                                .name = name,
                                .label = "",
                                .bytes = file.bytes,
                                .age_s = slri_file_age_s(&file)};
        if (is_entry(name))
            examine(look, &item);
        else if (is_left_behind(name, item.age_s))
            look->visit(look->user, &item);
    }
    slri_text_free(&path);
}

slr_status slri_cache_visit(const char *folder, void (*visit)(void *user, const slri_cache_item *item), void *user)
{
    struct look look = {folder, visit, user, false};
    SLRI_TRY(slri_folder_visit(folder, look_at, &look));
    return look.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory to look at the entries of %s", folder) : SLR_OK;
}
