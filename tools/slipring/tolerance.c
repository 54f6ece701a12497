// SPDX-License-Identifier: Apache-2.0
// Infinities and NANs are never near anything else.
#include "tolerance.h"

#include "memory.h"
#include "names.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_bound(const char *text, double *out)
{
    return number_parse(SLR_F64, text, out) && isfinite(*out) && *out >= 0;
}

int tolerances_take(tolerances *all, const char *text)
{
    const char *equals = strchr(text, '='), *bounds = equals != NULL ? equals + 1 : text;
    tolerance made = {0};
    char relative[64];
    size_t length = strcspn(bounds, ",");
    snprintf(relative, sizeof relative, "%.*s", (int)(length < sizeof relative ? length : 0), bounds);
    bool fine = is_bound(relative, &made.relative) &&
                (bounds[length] == '\0' || is_bound(bounds + length + 1, &made.absolute)) && equals != text;
    if (!fine)
        return say_usage("--tolerance: '%s' is not REL, REL,ABS or FIELD=REL,ABS with bounds from 0, such as 1e-5",
                         text);
    if (equals != NULL) {
        made.field = memory_take((size_t)(equals - text) + 1, 1);
        memcpy(made.field, text, (size_t)(equals - text));
    }
    all->items = memory_grow(all->items, all->count + 1, sizeof *all->items);
    all->items[all->count++] = made;
    return -1;
}

static bool is_float(const slr_field *field)
{
    return field->scalar == SLR_F32 || field->scalar == SLR_F64;
}

static bool has_float(const slr_layout *reply, const char *name)
{
    for (uint32_t i = 0; i < reply->field_count; i++)
        if (is_float(&reply->fields[i]) && strcmp(reply->fields[i].name, name) == 0)
            return true;
    return false;
}

int tolerances_check(const tolerances *all, const slr_layout *reply)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const char *name = all->items[i].field;
        if (name == NULL || has_float(reply, name))
            continue;
        const char **names = memory_take(reply->field_count + 1, sizeof *names);
        char guess[NAMES_GUESS_BYTES];
        size_t count = 0;
        for (uint32_t k = 0; k < reply->field_count; k++)
            if (is_float(&reply->fields[k]))
                names[count++] = reply->fields[k].name;
        names_guess(guess, sizeof guess, name, "it has", names, count);
        free(names);
        return say_usage("--tolerance: the reply has no floating-point field '%s'%s", name, guess);
    }
    return EXIT_DONE;
}

// Of several of one field, or of all, the last.
static const tolerance *find(const tolerances *all, const char *field)
{
    const tolerance *found = NULL;
    for (uint32_t i = 0; i < all->count; i++) {
        const tolerance *each = &all->items[i];
        bool is_own = each->field != NULL && strcmp(each->field, field) == 0;
        if (is_own || (each->field == NULL && (found == NULL || found->field == NULL)))
            found = each;
    }
    return found;
}

static double value_of(slr_scalar scalar, const void *from)
{
    float narrow;
    double wide;
    if (scalar == SLR_F32) {
        memcpy(&narrow, from, sizeof narrow);
        return (double)narrow;
    }
    memcpy(&wide, from, sizeof wide);
    return wide;
}

bool tolerances_allow(tolerances *all, const slr_field *field, const void *recorded, const void *now, uint64_t message)
{
    const tolerance *bounds = is_float(field) ? find(all, field->name) : NULL;
    if (bounds == NULL)
        return false;
    double a = value_of(field->scalar, recorded), b = value_of(field->scalar, now);
    if (!isfinite(a) || !isfinite(b))
        return false;
    double apart = fabs(a - b), larger = fmax(fabs(a), fabs(b));
    if (apart > bounds->absolute && apart > bounds->relative * larger)
        return false;
    double relative = larger > 0 ? apart / larger : 0; // 0: of -0 and 0
    all->values++;
    if (relative >= all->most) {
        all->most = relative;
        all->most_message = message;
        snprintf(all->most_field, sizeof all->most_field, "%s", field->name);
    }
    return true;
}

void tolerances_free(tolerances *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        free(all->items[i].field);
    free(all->items);
    *all = (tolerances){0};
}
