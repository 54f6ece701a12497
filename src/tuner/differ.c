// SPDX-License-Identifier: Apache-2.0
// Where the results of two launches differ. A tolerance holds for the floating-point numbers in an element, of structs
// and vectors as well; all else must be the same bit for bit.
#include "tuner/tuner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct differing {
    const unsigned char *expected, *found; // of one element
    double tolerance;
    struct slri_tuner_difference *out;
};

// Of two numbers whose bits differ. Without a tolerance -0 is not 0, and a NaN is none with other bits.
static bool is_near(enum slri_kind kind, const unsigned char *expected, const unsigned char *found, double tolerance)
{
    if (tolerance == 0 || !slri_kind_is_float(kind))
        return false;
    const double a = slri_scalar_real((slr_scalar)kind, expected), b = slri_scalar_real((slr_scalar)kind, found);
    if (a == b || (isnan(a) && isnan(b)))
        return true;
    return isfinite(a) && isfinite(b) && fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b)); // else inf is near to 1
}

static bool is_same(const struct differing *d, uint64_t at, uint64_t bytes)
{
    return memcmp(d->expected + at, d->found + at, bytes) == 0;
}

static bool note(const struct differing *d, enum slri_kind kind, uint64_t at)
{
    d->out->kind = kind;
    d->out->at += at;
    return true;
}

// Of bytes in which no number lies: from `at` up to `end`.
static bool find_byte(const struct differing *d, uint64_t at, uint64_t end)
{
    while (at < end && d->expected[at] == d->found[at])
        at++;
    return at < end && note(d, SLRI_VOID, at);
}

static bool find(const struct differing *d, const struct slri_type *type, uint64_t at, const char *name);

static bool find_in_struct(const struct differing *d, const struct slri_type *type, uint64_t at, const char *name)
{
    char path[SLRI_TUNER_MEMBER_BYTES];
    uint64_t end = 0;
    for (uint32_t i = 0; i < type->fields; i++) {
        const struct slri_field *field = &type->field[i];
        if (find_byte(d, at + end, at + field->offset))
            return true;
        end = field->offset + field->type->bytes;
        snprintf(path, sizeof path, "%s.%s", name, field->name);
        if (find(d, field->type, at + field->offset, path))
            return true;
    }
    return find_byte(d, at + end, at + type->bytes);
}

// `name`: of what lies there, within the element.
static bool find(const struct differing *d, const struct slri_type *type, uint64_t at, const char *name)
{
    char path[SLRI_TUNER_MEMBER_BYTES];
    if (is_same(d, at, type->bytes))
        return false;
    if (type->kind == SLRI_STRUCT)
        return find_in_struct(d, type, at, name);
    for (uint64_t i = 0; type->kind == SLRI_ARRAY && i < type->count; i++) {
        snprintf(path, sizeof path, "%s[%llu]", name, (unsigned long long)i);
        if (find(d, type->of, at + i * type->of->bytes, path))
            return true;
    }
    if (type->kind == SLRI_ARRAY || is_near(type->kind, d->expected + at, d->found + at, d->tolerance))
        return false;
    snprintf(d->out->member, sizeof d->out->member, "%s", name);
    return note(d, type->kind, at);
}

bool slri_tuner_differs(const struct slri_tuner_output *output, double tolerance, struct slri_tuner_difference *out)
{
    const uint64_t bytes = output->element->bytes;
    for (uint64_t at = 0; at < output->bytes; at += bytes) {
        struct differing d = {output->expected + at, output->found + at, tolerance, out};
        *out = (struct slri_tuner_difference){.at = at};
        if (output->bytes - at < bytes) // what is left behind the last whole element
            return find_byte(&d, 0, output->bytes - at);
        if (find(&d, output->element, 0, ""))
            return true;
    }
    return false;
}
