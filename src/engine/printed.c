// SPDX-License-Identifier: Apache-2.0
#include "engine/printed.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "ir/format.h"

#include <stdio.h>

const struct slri_printed_head slri_printed_begin = {.room = (uint32_t)(SLRI_PRINTED_BYTES / 8)};

static void tell(const struct slri_print_to *to, const char *text, size_t bytes, uint64_t lost)
{
    slr_print print = {.kernel = to->entry->name,
                       .text = text,
                       .bytes = bytes,
                       .lost = lost,
                       .ring = to->ring,
                       .instance = to->instance,
                       .thread = to->thread};
    to->printer->function(to->printer->user, &print);
}

void slri_print_one(const struct slri_print_to *to, uint32_t format, const union slri_scalar *value)
{
    struct slri_text text = SLRI_TEXT_INIT;
    slri_format_fill(to->module->format[format].text, value, &text);
    tell(to, slri_text_view(&text), text.length, 0);
    slri_text_free(&text);
}

void slri_print_records(const struct slri_print_to *to, const unsigned char *records, uint64_t bytes, uint64_t lost)
{
    for (uint64_t at = 0; at < bytes;) {
        union slri_scalar value[SLRI_PRINT_MAX_VALUES] = {{0}};
        uint64_t head;
        memcpy(&head, records + at, sizeof head);
        uint64_t values = head >> 32, left = (bytes - at) / 8 - 1;
        if (values > SLRI_PRINT_MAX_VALUES || values > left || (uint32_t)head >= to->module->formats) {
            ++lost; // on a device without bounds a kernel has written over it, and who knows where the next begins
            break;
        }
        memcpy(value, records + at + 8, 8 * values);
        slri_print_one(to, (uint32_t)head, value);
        at += 8 + 8 * values;
    }
    if (lost)
        tell(to, "", 0, lost);
}

static slr_status fetch(const struct slri_print_to *to, const slr_allocator *allocator, const void *device,
                        slri_print_read *read, void *self)
{
    struct slri_printed_head head;
    SLRI_TRY(read(self, &head, device, sizeof head));
    uint64_t bytes = head.used < slri_printed_begin.room ? 8 * (uint64_t)head.used : SLRI_PRINTED_BYTES;
    if (bytes == 0) {
        slri_print_records(to, NULL, 0, head.lost);
        return SLR_OK;
    }
    unsigned char *records = slri_alloc(allocator, bytes);
    if (!records)
        return SLRI_FAIL(NO_MEMORY, "no memory for what kernel %s has printed", to->entry->name);
    slr_status status = read(self, records, (const unsigned char *)device + sizeof head, bytes);
    if (status == SLR_OK)
        slri_print_records(to, records, bytes, head.lost);
    slri_free(allocator, records, bytes);
    return status;
}

slr_status slri_print_fetch(const struct slri_print_to *to, const slr_allocator *allocator, const void *device,
                            slri_print_read *read, void *self, slr_status ended)
{
    char why[256] = ""; // who hears it may fail at something, too
    if (ended == SLR_HANDLER_FAULT)
        snprintf(why, sizeof why, "%s", slr_error_message());
    else
        SLRI_TRY(ended);
    SLRI_TRY(fetch(to, allocator, device, read, self));
    return ended == SLR_OK ? SLR_OK : SLRI_FAIL(HANDLER_FAULT, "%s", why);
}
