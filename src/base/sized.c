// SPDX-License-Identifier: Apache-2.0
// The one place that compares a program's structs with the library's.
#include "base/sized.h"
#include "base/status.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static uint32_t newest_headers; // of all parts of the program that have opened a device; 0: not known

void slri_headers_seen(uint32_t version)
{
    uint32_t seen = __atomic_load_n(&newest_headers, __ATOMIC_RELAXED); // a number for messages: it orders nothing
    while (version > seen &&
           !__atomic_compare_exchange_n(&newest_headers, &seen, version, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static const char *headers(char *text, size_t room)
{
    uint32_t version = __atomic_load_n(&newest_headers, __ATOMIC_RELAXED);
    if (version > SLR_VERSION_NUMBER)
        snprintf(text, room, "slipring %u.%u.%u", version / 1000000, version / 1000 % 1000, version % 1000);
    else
        snprintf(text, room, "a slipring later than %s", SLR_VERSION);
    return text;
}

// "slr_ring_desc": "SLR_RING_DESC_INIT"
static const char *initialiser(const char *type, char *text, size_t room)
{
    snprintf(text, room, "%s_INIT", type);
    for (char *c = text; *c; ++c)
        *c = (char)toupper((unsigned char)*c);
    return text;
}

static slr_status refuse_later(const char *type, size_t library_bytes, size_t bytes)
{
    char text[64];
    return SLRI_FAIL(INVALID,
                     "the program's %s has %zu bytes, and this library's, slipring %s, has %zu: the program was "
                     "compiled with the headers of %s. Install that library, or compile with this one's headers",
                     type, bytes, SLR_VERSION, library_bytes, headers(text, sizeof text));
}

slr_status slri_desc_take(const char *type, size_t bytes, size_t first_bytes, const void *desc, void *whole)
{
    uint32_t given = (uint32_t)bytes;
    if (desc)
        memcpy(&given, desc, sizeof given); // struct_size, which is first
    if (given > bytes)
        return refuse_later(type, bytes, given);
    if (given < first_bytes) {
        char text[64];
        return SLRI_FAIL(INVALID, "%s.struct_size is %u; expected %zu to %zu: initialise it with %s", type, given,
                         first_bytes, bytes, initialiser(type, text, sizeof text));
    }
    memset(whole, 0, bytes);
    if (desc)
        memcpy(whole, desc, given);
    given = (uint32_t)bytes;
    memcpy(whole, &given, sizeof given);
    return SLR_OK;
}

slr_status slri_report_check(const char *type, size_t library_bytes, size_t first_bytes, size_t bytes)
{
    if (bytes > library_bytes)
        return refuse_later(type, library_bytes, bytes);
    if (bytes < first_bytes)
        return SLRI_FAIL(INVALID, "a %s of %zu bytes was asked for; expected %zu to %zu: sizeof(%s)", type, bytes,
                         first_bytes, library_bytes, type);
    return SLR_OK;
}

slr_status slri_report_give(const char *type, size_t library_bytes, size_t first_bytes, void *out, size_t bytes,
                            const void *whole)
{
    SLRI_TRY(slri_report_check(type, library_bytes, first_bytes, bytes));
    memcpy(out, whole, bytes);
    return SLR_OK;
}
