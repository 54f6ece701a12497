// SPDX-License-Identifier: Apache-2.0
// Descriptors of the simulated cuBLASLt and cuDNN, and their numbers.
#include "fake_cuda_math.h"

#include "ir/math/slr_math.h"
#include "ir/math/slr_half.h"

#include <stdlib.h>
#include <string.h>

#define MOST_OBJECTS 256

static struct math_object *objects[MOST_OBJECTS];

static int place_of(const void *object)
{
    for (int i = 0; i < MOST_OBJECTS; ++i)
        if (object && objects[i] == object)
            return i;
    return -1;
}

static bool needs_context(enum math_kind kind)
{
    return kind == LT_HANDLE || kind == DNN_HANDLE;
}

int32_t math_make(const char *name, enum math_kind kind, void **out)
{
    int32_t error = needs_context(kind) ? next_in_context(name) : next_call(name);
    if (error != 0)
        return error;
    for (int i = 0; i < MOST_OBJECTS; ++i)
        if (!objects[i]) {
            objects[i] = calloc(1, sizeof *objects[i]);
            *objects[i] = (struct math_object){.kind = kind, .context = current()};
            *out = objects[i];
            ++fake_cuda.live;
            return 0;
        }
    return refuse(name, OUT_OF_MEMORY);
}

int32_t math_drop(const char *name, enum math_kind kind, void *object)
{
    int32_t error = next_call(name); // one that fails has freed it all the same
    int at = place_of(object);
    if (at < 0 || objects[at]->kind != kind || (needs_context(kind) && objects[at]->context != current()))
        return refuse(name, INVALID_VALUE);
    free(objects[at]);
    objects[at] = NULL;
    --fake_cuda.live;
    return error;
}

bool math_is(const void *object, enum math_kind kind)
{
    int at = place_of(object);
    return at >= 0 && objects[at]->kind == kind && (!needs_context(kind) || objects[at]->context == current());
}

size_t math_bytes(int64_t type)
{
    return type == 0 ? 4 : 2;
}

double math_read(const void *memory, int64_t type, size_t at)
{
    const unsigned char *from = (const unsigned char *)memory + at * math_bytes(type);
    uint16_t half;
    float whole;
    memcpy(&half, from, sizeof half);
    if (type != 0)
        return (double)(type == 2 ? slri_f16_from_bits(half) : slri_bf16_from_bits(half));
    memcpy(&whole, from, sizeof whole);
    return (double)whole;
}

void math_write(void *memory, int64_t type, size_t at, double value)
{
    unsigned char *to = (unsigned char *)memory + at * math_bytes(type);
    float whole = (float)value;
    uint16_t half = type == 2 ? slri_f16_to_bits(whole) : slri_bf16_to_bits(whole);
    if (type == 0)
        memcpy(to, &whole, sizeof whole);
    else
        memcpy(to, &half, sizeof half);
}

double math_rounded(int64_t type, double value)
{
    float stored;
    math_write(&stored, type, 0, value);
    return math_read(&stored, type, 0);
}

bool math_reaches(const void *memory, int64_t type, size_t elements, slri_cu_stream stream)
{
    struct object *piece = piece_of((slri_cu_pointer)(uintptr_t)memory, elements * math_bytes(type));
    return elements > 0 && piece && is_in_order(piece, (struct object *)(void *)stream);
}
