// SPDX-License-Identifier: Apache-2.0
// A table of texts with open addressing. Entries are never taken out, so that a look needs no lock.
#include "observe/names.h"

#include "base/alloc.h"
#include "base/forks.h"
#include "base/printable.h"
#include "base/thread.h"

#include <stdio.h>
#include <string.h>

#define SLOTS (2 * SLRI_NAMES)

struct name {
    uint32_t number, bytes;
    char *json;
    char text[];
};

static struct name *slot[SLOTS];           // atomic
static struct name *of_number[SLRI_NAMES]; // atomic; 0 is none
static slri_mutex lock = SLRI_MUTEX_INIT;
static uint32_t names; // under it
SLRI_RENEW_IN_CHILD(renew_lock, &lock, NULL)

// FNV-1a, 64 bits.
static uint64_t hash_of(const char *text, uint32_t bytes)
{
    uint64_t hash = 14695981039346656037u;
    for (uint32_t i = 0; i < bytes; ++i)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return hash ^ hash >> 32;
}

// Acquire: its text was written before it came into the table.
static const struct name *name_at(struct name **at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

// Where the text is, or the free place for it.
static uint32_t find_name(const char *text, uint32_t bytes)
{
    uint32_t at = (uint32_t)(hash_of(text, bytes) % SLOTS);
    const struct name *each;
    while ((each = name_at(&slot[at])) != NULL && (each->bytes != bytes || memcmp(each->text, text, bytes) != 0))
        at = (at + 1) % SLOTS;
    return at;
}

// What is no UTF-8 becomes U+FFFD, a byte, so that any reader takes the file.
static uint32_t escape(const char *text, uint32_t bytes, char *out)
{
    uint32_t length = 0;
    for (uint32_t i = 0; i < bytes;) {
        uint32_t code = 0xfffd, wide = (uint32_t)slri_utf8_bytes(text + i, bytes - i, &code);
        if (wide == 0)
            length += (uint32_t)sprintf(out + length, "\\ufffd");
        else if (code < 0x20 || (code >= 0x7f && code < 0xa0))
            length += (uint32_t)sprintf(out + length, "\\u%04x", code);
        else if (code == '"' || code == '\\')
            length += (uint32_t)sprintf(out + length, "\\%c", (char)code);
        else {
            memcpy(out + length, text + i, wide);
            length += wide;
        }
        i += wide ? wide : 1;
    }
    out[length] = '\0';
    return length;
}

static struct name *make_name(const char *text, uint32_t bytes)
{
    struct name *name = slri_alloc(NULL, sizeof *name + bytes + 1 + 6 * (size_t)bytes + 1);
    if (!name)
        return NULL;
    memcpy(name->text, text, bytes);
    name->text[bytes] = '\0';
    name->bytes = bytes;
    name->json = name->text + bytes + 1;
    escape(text, bytes, name->json);
    return name;
}

static uint32_t add_name(const char *text, uint32_t bytes)
{
    uint32_t number = 0;
    slri_mutex_lock(&lock);
    if (names >= SLRI_NAMES - 2) { // the last one
        text = "(others)";
        bytes = (uint32_t)strlen(text);
    }
    uint32_t at = find_name(text, bytes);
    const struct name *found = name_at(&slot[at]);
    struct name *name;
    if (found) {
        number = found->number;
    } else if (names < SLRI_NAMES - 1 && (name = make_name(text, bytes)) != NULL) {
        number = name->number = ++names;
        // Release: for who finds it without the lock.
        __atomic_store_n(&of_number[number], name, __ATOMIC_RELEASE);
        __atomic_store_n(&slot[at], name, __ATOMIC_RELEASE);
    }
    slri_mutex_unlock(&lock);
    return number;
}

// Whole characters of UTF-8: a cut one would be no JSON.
static uint32_t length_of(const char *text)
{
    size_t bytes = strlen(text);
    if (bytes <= SLRI_NAME_BYTES)
        return (uint32_t)bytes;
    bytes = SLRI_NAME_BYTES;
    while (bytes > 0 && ((unsigned char)text[bytes] & 0xc0) == 0x80)
        --bytes;
    return (uint32_t)bytes;
}

uint32_t slri_name(const char *text)
{
    uint32_t bytes = length_of(text);
    const struct name *found = name_at(&slot[find_name(text, bytes)]);
    return found ? found->number : add_name(text, bytes);
}

const char *slri_name_text(uint32_t name)
{
    const struct name *found = name < SLRI_NAMES ? name_at(&of_number[name]) : NULL;
    return found ? found->text : "";
}

const char *slri_name_json(uint32_t name)
{
    const struct name *found = name < SLRI_NAMES ? name_at(&of_number[name]) : NULL;
    return found ? found->json : "";
}
