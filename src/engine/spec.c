// SPDX-License-Identifier: Apache-2.0
// Parses the string that names a device. It knows no backend and no option by name.
#include "engine/spec.h"

#include "base/status.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Copies one word of the spec up to `end`; refuses what does not fit or is empty.
static slr_status take(const char *from, const char *end, char *out, size_t room, const char *what, const char *spec)
{
    size_t bytes = (size_t)(end - from);
    if (bytes == 0 || bytes >= room)
        return SLRI_FAIL(INVALID, "device '%s': %s is %s", spec, what, bytes == 0 ? "empty" : "too long");
    memcpy(out, from, bytes);
    out[bytes] = '\0';
    return SLR_OK;
}

static const char *find(const char *from, const char *end, char wanted)
{
    const char *at = memchr(from, wanted, (size_t)(end - from));
    return at ? at : end;
}

static slr_status parse_index(const char *from, const char *end, const char *spec, uint32_t *out)
{
    char digits[12];
    SLRI_TRY(take(from, end, digits, sizeof digits, "the number after ':'", spec));
    char *stop;
    unsigned long value = strtoul(digits, &stop, 10);
    if (*stop != '\0' || digits[0] < '0' || digits[0] > '9' || value > 1023)
        return SLRI_FAIL(INVALID, "device '%s': '%s' is not a device number (0 to 1023)", spec, digits);
    *out = (uint32_t)value;
    return SLR_OK;
}

// "GPU-8f2c...", "llvmpipe": a letter first. Who has no such devices is refused later.
static bool is_id(const char *from, const char *end)
{
    return from < end && ((*from | 32) >= 'a' && (*from | 32) <= 'z');
}

static slr_status parse_device(const char *from, const char *end, const char *spec, struct slri_spec *out)
{
    if (is_id(from, end))
        return take(from, end, out->id, sizeof out->id, "the name after ':'", spec);
    return parse_index(from, end, spec, &out->index);
}

static slr_status parse_options(const char *at, const char *end, const char *spec, struct slri_spec *out)
{
    for (;;) {
        if (out->options == sizeof out->option / sizeof out->option[0])
            return SLRI_FAIL(INVALID, "device '%s': more than %u options", spec, out->options);
        struct slri_option *option = &out->option[out->options++];
        const char *stop = find(at, end, '&');
        const char *equals = find(at, stop, '=');
        if (equals == stop)
            return SLRI_FAIL(INVALID, "device '%s': options have the form name=value", spec);
        SLRI_TRY(take(at, equals, option->name, sizeof option->name, "an option's name", spec));
        if (slri_spec_option(out, option->name) != option->value)
            return SLRI_FAIL(INVALID, "device '%s': option '%s' is given twice", spec, option->name);
        SLRI_TRY(take(equals + 1, stop, option->value, sizeof option->value, "an option's value", spec));
        if (stop == end)
            return SLR_OK;
        at = stop + 1;
    }
}

slr_status slri_spec_parse(const char *text, size_t bytes, struct slri_spec *out)
{
    char spec[256];
    memset(out, 0, sizeof *out);
    if (bytes >= sizeof spec)
        return SLRI_FAIL(INVALID, "a device's name has at most %zu characters, this one has %zu", sizeof spec - 1,
                         bytes);
    memcpy(spec, text, bytes);
    spec[bytes] = '\0';
    const char *end = spec + bytes;
    const char *question = find(spec, end, '?');
    const char *colon = find(spec, question, ':');
    SLRI_TRY(take(spec, colon, out->backend, sizeof out->backend, "the backend's name", spec));
    if (colon < question)
        SLRI_TRY(parse_device(colon + 1, question, spec, out));
    return question < end ? parse_options(question + 1, end, spec, out) : SLR_OK;
}

const char *slri_spec_option(const struct slri_spec *spec, const char *name)
{
    for (uint32_t i = 0; i < spec->options; ++i)
        if (strcmp(spec->option[i].name, name) == 0)
            return spec->option[i].value;
    return NULL;
}

slr_status slri_spec_check_options(const struct slri_spec *spec, const char *const *known)
{
    for (uint32_t i = 0; i < spec->options; ++i) {
        const char *const *k = known;
        while (*k && strcmp(*k, spec->option[i].name) != 0)
            ++k;
        if (*k)
            continue;
        struct slri_text list = SLRI_TEXT_INIT;
        for (k = known; *k; ++k)
            slri_text_printf(&list, "%s%s", k == known ? "" : ", ", *k);
        slr_status status = SLRI_FAIL(INVALID, "device '%s' has no option '%s'; it has: %s", spec->backend,
                                      spec->option[i].name, list.length ? slri_text_view(&list) : "none");
        slri_text_free(&list);
        return status;
    }
    return SLR_OK;
}

void slri_spec_put_name(const struct slri_spec *spec, const char *backend, char *out, size_t room)
{
    if (*spec->id)
        snprintf(out, room, "%s:%s", backend, spec->id);
    else
        snprintf(out, room, "%s:%u", backend, spec->index);
}

static slr_status choose_by_id(const struct slri_spec *spec, const char *backend, uint32_t count,
                               slri_spec_has_id *has_id, void *user, const char *advice, uint32_t *out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        bool is_it;
        SLRI_TRY(has_id(user, i, spec->id, &is_it));
        *out = is_it ? i : *out;
        found += is_it;
    }
    return found == 1 ? SLR_OK
                      : SLRI_FAIL(NO_DEVICE, "%s %s:%s among the driver's %u device%s (%s)",
                                  found ? "there is more than one" : "there is no", backend, spec->id, count,
                                  count > 1 ? "s" : "", advice);
}

slr_status slri_spec_choose(const struct slri_spec *spec, const char *backend, uint32_t count, slri_spec_has_id *has_id,
                            void *user, const char *advice, uint32_t *out)
{
    *out = spec->index;
    if (*spec->id)
        return choose_by_id(spec, backend, count, has_id, user, advice, out);
    return spec->index < count ? SLR_OK
                               : SLRI_FAIL(NO_DEVICE, "there is no %s:%u; the driver lists %u device%s, from %s:0",
                                           backend, spec->index, count, count > 1 ? "s" : "", backend);
}

void slri_spec_put_uuid(const unsigned char bytes[16], char out[37])
{
    for (int i = 0; i < 16; ++i)
        out += sprintf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}
