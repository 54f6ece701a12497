// SPDX-License-Identifier: Apache-2.0
// What is wrong with a tensor, in words.
#include "device/stream.h"
#include "ops/operations.h"

#include <stdio.h>

#define MOST_ELEMENTS 0x7FFFFFFFull

const char *slri_shape_text(uint32_t rank, const uint64_t *shape, char out[SLRI_SHAPE_BYTES])
{
    size_t at = 0;
    for (uint32_t i = 0; i < rank && i < SLR_BUFFER_MOST_DIMENSIONS && at < SLRI_SHAPE_BYTES - 24; ++i)
        at += (size_t)snprintf(out + at, SLRI_SHAPE_BYTES - at, "%s%llu", i ? ", " : "[", (unsigned long long)shape[i]);
    snprintf(out + at, SLRI_SHAPE_BYTES - at, rank ? "]" : "[]");
    return out;
}

uint64_t slri_tensor_elements(const slr_tensor *tensor)
{
    uint64_t elements = 1;
    for (uint32_t i = 0; i < tensor->rank; ++i)
        elements *= tensor->shape[i];
    return elements;
}

const char *slri_real_name(slr_scalar dtype)
{
    return dtype == SLR_F16 ? "f16" : dtype == SLR_BF16 ? "bf16" : "f32";
}

static const char *type_name(slr_scalar dtype)
{
    static const char *const names[] = {
        [SLR_BOOL] = "SLR_BOOL", [SLR_I8] = "SLR_I8",   [SLR_U8] = "SLR_U8",   [SLR_I16] = "SLR_I16",
        [SLR_U16] = "SLR_U16",   [SLR_I32] = "SLR_I32", [SLR_U32] = "SLR_U32", [SLR_I64] = "SLR_I64",
        [SLR_U64] = "SLR_U64",   [SLR_F32] = "SLR_F32", [SLR_F64] = "SLR_F64", [SLR_F16] = "SLR_F16",
        [SLR_BF16] = "SLR_BF16"};
    return dtype >= SLR_BOOL && dtype <= SLR_BF16 ? names[dtype] : "no slr_scalar";
}

static slr_status check_operand_shape(const char *call, const struct slri_operand *operand)
{
    const slr_tensor *tensor = operand->tensor;
    char shape[SLRI_SHAPE_BYTES];
    uint64_t elements = 1;
    if (tensor->rank == 0 || tensor->rank > SLR_BUFFER_MOST_DIMENSIONS)
        return SLRI_FAIL(INVALID, "%s: the rank of %s is %u; expected 1 to %u", call, operand->name, tensor->rank,
                         SLR_BUFFER_MOST_DIMENSIONS);
    for (uint32_t i = 0; i < tensor->rank; ++i) {
        if (tensor->shape[i] == 0 || tensor->shape[i] > MOST_ELEMENTS / elements)
            return SLRI_FAIL(INVALID, "%s: %s is %s; expected 1 to 2^31 - 1 elements", call, operand->name,
                             slri_shape_text(tensor->rank, tensor->shape, shape));
        elements *= tensor->shape[i];
    }
    uint64_t bytes = elements * slri_scalar_bytes(tensor->dtype);
    if (bytes > tensor->buffer->bytes)
        return SLRI_FAIL(INVALID, "%s: %s is %s and needs %llu bytes, but its buffer has %llu", call, operand->name,
                         slri_shape_text(tensor->rank, tensor->shape, shape), (unsigned long long)bytes,
                         (unsigned long long)tensor->buffer->bytes);
    return SLR_OK;
}

// `real`: the first operand whose type decides for others.
static slr_status check_type(const char *call, const struct slri_operand *operand, const struct slri_operand **real)
{
    slr_scalar got = operand->tensor->dtype;
    if (operand->dtype != SLRI_REAL)
        return got == operand->dtype ? SLR_OK
                                     : SLRI_FAIL(INVALID, "%s: the type of %s is %s; expected %s", call, operand->name,
                                                 type_name(got), type_name(operand->dtype));
    if (got != SLR_F32 && got != SLR_F16 && got != SLR_BF16)
        return SLRI_FAIL(INVALID, "%s: the type of %s is %s; expected SLR_F32, SLR_F16 or SLR_BF16", call,
                         operand->name, type_name(got));
    if (!*real)
        *real = operand;
    return got == (*real)->tensor->dtype
               ? SLR_OK
               : SLRI_FAIL(INVALID, "%s: the type of %s is %s, but that of %s is %s", call, operand->name,
                           type_name(got), (*real)->name, type_name((*real)->tensor->dtype));
}

slr_status slri_operands_check(const slr_ops *ops, const slr_stream *stream, const char *call,
                               const struct slri_operand *operand, uint32_t count)
{
    if (!ops || !stream)
        return SLRI_FAIL(INVALID, "%s: %s is NULL", call, ops ? "stream" : "ops");
    if (stream->device != ops->device)
        return SLRI_FAIL(INVALID, "%s: the stream belongs to another device than the operations", call);
    const struct slri_operand *real = NULL;
    for (uint32_t i = 0; i < count; ++i) {
        const slr_tensor *tensor = operand[i].tensor;
        if (!tensor && operand[i].may_be_null)
            continue;
        if (!tensor || !tensor->buffer)
            return SLRI_FAIL(INVALID, "%s: %s%s is NULL", call, operand[i].name, tensor ? "'s buffer" : "");
        if (tensor->buffer->device != ops->device)
            return SLRI_FAIL(INVALID, "%s: the buffer of %s belongs to another device", call, operand[i].name);
        SLRI_TRY(check_type(call, &operand[i], &real));
        SLRI_TRY(check_operand_shape(call, &operand[i]));
    }
    return SLR_OK;
}

const char *slri_because_of(const char *name, const slr_tensor *tensor, char out[SLRI_SHAPE_BYTES + 32])
{
    char shape[SLRI_SHAPE_BYTES];
    snprintf(out, SLRI_SHAPE_BYTES + 32, "%s %s", name, slri_shape_text(tensor->rank, tensor->shape, shape));
    return out;
}

slr_status slri_tensor_same(const char *call, const char *name, const slr_tensor *tensor, const char *than_name,
                            const slr_tensor *than)
{
    char because[SLRI_SHAPE_BYTES + 32];
    return SLRI_TENSOR_SHAPED(call, name, tensor, than->rank, than->shape, slri_because_of(than_name, than, because));
}

bool slri_tensor_fits(const slr_tensor *tensor, uint32_t rank, const uint64_t *shape)
{
    if (!tensor)
        return true;
    bool fits = tensor->rank == rank;
    for (uint32_t i = 0; fits && i < rank; ++i)
        fits = tensor->shape[i] == shape[i];
    return fits;
}

slr_status slri_tensor_misfit(const char *call, const char *name, const slr_tensor *tensor, uint32_t rank,
                              const uint64_t *shape, const char *because)
{
    char got[SLRI_SHAPE_BYTES], want[SLRI_SHAPE_BYTES];
    return SLRI_FAIL(INVALID, "%s: %s is %s; expected %s, because of %s", call, name,
                     slri_shape_text(tensor->rank, tensor->shape, got), slri_shape_text(rank, shape, want), because);
}

slr_status slri_tensor_sized(const char *call, const char *name, const slr_tensor *tensor, uint64_t elements,
                             const char *than_name, const slr_tensor *than)
{
    char got[SLRI_SHAPE_BYTES], shape[SLRI_SHAPE_BYTES];
    if (!tensor || slri_tensor_elements(tensor) == elements)
        return SLR_OK;
    return SLRI_FAIL(INVALID, "%s: %s is %s; expected %llu elements, because %s is %s", call, name,
                     slri_shape_text(tensor->rank, tensor->shape, got), (unsigned long long)elements, than_name,
                     slri_shape_text(than->rank, than->shape, shape));
}

slr_status slri_activation_check(const char *call, slr_activation activation)
{
    return (int)activation >= 0 && activation <= SLR_LEAKY_RELU
               ? SLR_OK
               : SLRI_FAIL(INVALID, "%s: activation is %d; expected SLR_RELU to SLR_LEAKY_RELU", call, (int)activation);
}
