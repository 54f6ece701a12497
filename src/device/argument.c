// SPDX-License-Identifier: Apache-2.0
// Arguments of a launch, converted to what the kernel's parameters are where nothing is lost by it.
#include "base/status.h"
#include "device/kernel.h"

#include <stdio.h>
#include <string.h>

struct place { // for messages
    const slr_program *program;
    const struct slri_entry *entry;
    const struct slri_binding_info *parameter;
    uint32_t number;
};

static const char *what(const struct place *at)
{
    return at->entry->kind == SLRI_ENTRY_KERNEL ? "kernel" : "handler";
}

static const char *const kind_words[] = {"nothing",  "an integer", "an integer", "a floating-point number",
                                         "a buffer", "a struct"};

static slr_status wrong_type(const struct place *at, const slr_arg *arg, const char *wanted)
{
    const char *got = arg->kind < sizeof kind_words / sizeof *kind_words ? kind_words[arg->kind] : "an unknown kind";
    return SLRI_FAIL(INVALID, "%s %s: parameter %u '%s' is %s, and %s was given", what(at), at->entry->name, at->number,
                     at->parameter->name, wanted, got);
}

static slr_status wrong_value(const struct place *at, const char *value, const char *advice)
{
    return SLRI_FAIL(INVALID, "%s %s: parameter %u '%s' is %s, which cannot hold %s exactly%s", what(at),
                     at->entry->name, at->number, at->parameter->name, slri_kind_spelling(at->parameter->type->kind),
                     value, advice);
}

// ---- integers ------------------------------------------------------------------------------------------------------

// A whole number of 65 bits: what both kinds of integers are.
struct whole {
    bool negative;
    uint64_t size; // its absolute value
};

static struct whole whole_of(const slr_arg *arg)
{
    if (arg->kind == SLR_ARG_SIGNED && arg->value.i < 0)
        return (struct whole){true, -(uint64_t)arg->value.i};
    return (struct whole){false, arg->kind == SLR_ARG_SIGNED ? (uint64_t)arg->value.i : arg->value.u};
}

static bool fits(struct whole value, enum slri_kind kind)
{
    if (kind == SLRI_BOOL)
        return !value.negative && value.size <= 1;
    uint32_t bits = 8 * slri_kind_bytes(kind);
    if (!slri_kind_is_signed(kind))
        return !value.negative && (bits == 64 || value.size >> bits == 0);
    uint64_t half = UINT64_C(1) << (bits - 1);
    return value.negative ? value.size <= half : value.size < half;
}

// Of a float or double, whose significand has so many bits.
static bool is_exact(uint64_t size, int significand)
{
    while (size && !(size & 1))
        size >>= 1;
    return size >> significand == 0;
}

static slr_status give_whole(const struct place *at, const slr_arg *arg, void *room)
{
    enum slri_kind kind = at->parameter->type->kind;
    struct whole value = whole_of(arg);
    char text[32];
    snprintf(text, sizeof text, "%s%llu", value.negative ? "-" : "", (unsigned long long)value.size);
    if (kind == SLRI_F32 || kind == SLRI_F64) {
        if (!is_exact(value.size, kind == SLRI_F32 ? 24 : 53))
            return wrong_value(at, text, "");
        double number = value.negative ? -(double)value.size : (double)value.size;
        float narrow = (float)number;
        memcpy(room, kind == SLRI_F32 ? (void *)&narrow : (void *)&number, slri_kind_bytes(kind));
        return SLR_OK;
    }
    if (!fits(value, kind))
        return wrong_value(at, text, "");
    uint64_t bits = value.negative ? -value.size : value.size;
    for (uint32_t i = 0; i < slri_kind_bytes(kind); ++i)
        ((unsigned char *)room)[i] = ((const unsigned char *)&bits)[i]; // LP64 targets are little-endian
    return SLR_OK;
}

// ---- floating-point numbers ----------------------------------------------------------------------------------------

static slr_status give_float(const struct place *at, const slr_arg *arg, void *room)
{
    double number = arg->value.f;
    if (at->parameter->type->kind == SLRI_F64) {
        memcpy(room, &number, sizeof number);
        return SLR_OK;
    }
    if (at->parameter->type->kind != SLRI_F32)
        return wrong_type(at, arg, slri_kind_spelling(at->parameter->type->kind));
    float narrow = (float)number;
    if ((double)narrow != number && number == number) {
        char text[40];
        snprintf(text, sizeof text, "%.17g", number);
        return wrong_value(at, text, ": pass a float, as in 0.1f");
    }
    memcpy(room, &narrow, sizeof narrow);
    return SLR_OK;
}

// ---- buffers and structs -------------------------------------------------------------------------------------------

static slr_status give_buffer(const struct place *at, const slr_arg *arg, struct slri_bound *out)
{
    slr_buffer *buffer = arg->value.buffer;
    const struct slri_type *element = at->parameter->type;
    if (arg->kind != SLR_ARG_BUFFER)
        return wrong_type(at, arg, "a pointer and takes a buffer");
    if (!buffer) { // none: which the kernel can ask
        *out = (struct slri_bound){0};
        return SLR_OK;
    }
    if (buffer->device != at->program->device && !slri_buffer_is_near(buffer, at->program->device))
        return SLRI_FAIL(INVALID, "%s %s: parameter %u '%s': the buffer belongs to another device than the program",
                         what(at), at->entry->name, at->number, at->parameter->name);
    if (buffer->bytes < element->bytes)
        return SLRI_FAIL(INVALID, "%s %s: parameter %u '%s': a buffer of %llu bytes holds no element of %llu", what(at),
                         at->entry->name, at->number, at->parameter->name, (unsigned long long)buffer->bytes,
                         (unsigned long long)element->bytes);
    slr_scalar scalar = element->kind <= SLRI_F64 ? (slr_scalar)element->kind : (slr_scalar)0;
    SLRI_TRY(slri_buffer_check_elements(buffer, scalar, what(at), at->entry->name, at->parameter->name));
    *out = (struct slri_bound){buffer->memory, buffer->bytes};
    return SLR_OK;
}

static slr_status check_struct(const struct place *at, const slr_arg *arg)
{
    if (arg->kind != SLR_ARG_BYTES)
        return wrong_type(at, arg, "a struct");
    if (!arg->value.memory || arg->bytes != at->parameter->type->bytes)
        return SLRI_FAIL(INVALID, "%s %s: parameter %u '%s' is a struct of %llu bytes, and %u were given", what(at),
                         at->entry->name, at->number, at->parameter->name,
                         (unsigned long long)at->parameter->type->bytes, arg->value.memory ? arg->bytes : 0);
    return SLR_OK;
}

slr_status slri_argument_settle(const slr_program *program, const struct slri_entry *entry, uint32_t index,
                                const slr_arg *arg, void *room, struct slri_bound *out)
{
    struct place at = {program, entry, &entry->binding[index], index + 1};
    if (at.parameter->is_buffer)
        return give_buffer(&at, arg, out);
    *out = (struct slri_bound){room, at.parameter->type->bytes};
    if (at.parameter->type->kind == SLRI_STRUCT) {
        SLRI_TRY(check_struct(&at, arg));
        memcpy(room, arg->value.memory, arg->bytes);
        return SLR_OK;
    }
    if (arg->kind == SLR_ARG_SIGNED || arg->kind == SLR_ARG_UNSIGNED)
        return give_whole(&at, arg, room);
    if (arg->kind == SLR_ARG_FLOAT)
        return give_float(&at, arg, room);
    return wrong_type(&at, arg, slri_kind_spelling(at.parameter->type->kind));
}
