// SPDX-License-Identifier: Apache-2.0
// Which operation runs in which type.
#include "base/alloc.h"
#include "ops/operations.h"

#include <slipring/autocast.h>
#include <slipring/pool.h>

enum { OPERATIONS = SLR_OPERATION_MEAN_SQUARE };

static const char low_why[] = "most of the work, and sums are floats anyway",
                  float_why[] = "sums of many terms, or exponentials", comes_why[] = "loses nothing";

// In the order of slr_operation.
static const struct policy {
    const char *name;
    bool low, exact; // neither: as it comes
} policies[OPERATIONS] = {
    {"matmul", true, false},      {"convolution", true, false},   {"pooling", false, false},
    {"activation", false, false}, {"softmax", false, true},       {"layer_norm", false, true},
    {"reduce", false, true},      {"scan", false, true},          {"top_k", false, false},
    {"embedding", false, false},  {"cross_entropy", false, true}, {"mean_square", false, true},
};

// A copy that is cast.
struct copy {
    slr_buffer *buffer;
    struct copy *next;
};

struct slr_autocast {
    slr_ops *ops;
    slr_scalar type[OPERATIONS];
    const char *why[OPERATIONS];
    struct copy *copies;
};

static bool is_real(slr_scalar type)
{
    return type == SLR_F32 || type == SLR_F16 || type == SLR_BF16;
}

slr_status slr_autocast_create(slr_ops *ops, slr_scalar low, slr_autocast **out)
{
    if (!ops || !out)
        return SLRI_FAIL(INVALID, "slr_autocast_create: %s is NULL", ops ? "out" : "ops");
    if (!is_real(low))
        return SLRI_FAIL(INVALID, "slr_autocast_create: low is %d; expected SLR_F16, SLR_BF16 or SLR_F32", (int)low);
    slr_autocast *autocast = slri_alloc(ops->device->allocator, sizeof *autocast);
    if (!autocast)
        return SLRI_FAIL(NO_MEMORY, "no memory for a policy of types");
    *autocast = (slr_autocast){.ops = ops};
    for (int i = 0; i < OPERATIONS; ++i) {
        const struct policy *policy = &policies[i];
        autocast->type[i] = policy->low ? low : policy->exact ? SLR_F32 : SLR_TYPE_AS_IT_COMES;
        autocast->why[i] = policy->low ? low_why : policy->exact ? float_why : comes_why;
    }
    *out = autocast;
    return SLR_OK;
}

void slr_autocast_clear(slr_autocast *autocast)
{
    while (autocast && autocast->copies) {
        struct copy *copy = autocast->copies;
        autocast->copies = copy->next;
        slr_buffer_destroy(copy->buffer);
        slri_free(autocast->ops->device->allocator, copy, sizeof *copy);
    }
}

void slr_autocast_destroy(slr_autocast *autocast)
{
    if (!autocast)
        return;
    slr_autocast_clear(autocast);
    slri_free(autocast->ops->device->allocator, autocast, sizeof *autocast);
}

static slr_status check_operation(const char *call, slr_operation operation)
{
    return (int)operation >= SLR_OPERATION_MATMUL && (int)operation <= OPERATIONS
               ? SLR_OK
               : SLRI_FAIL(INVALID, "%s: operation is %d; expected SLR_OPERATION_MATMUL to SLR_OPERATION_MEAN_SQUARE",
                           call, (int)operation);
}

slr_status slr_autocast_set(slr_autocast *autocast, slr_operation operation, slr_scalar type)
{
    static const char name[] = "slr_autocast_set";
    if (!autocast)
        return SLRI_FAIL(INVALID, "%s: autocast is NULL", name);
    SLRI_TRY(check_operation(name, operation));
    if (type != SLR_TYPE_AS_IT_COMES && !is_real(type))
        return SLRI_FAIL(INVALID, "%s: type is %d; expected SLR_F32, SLR_F16, SLR_BF16 or SLR_TYPE_AS_IT_COMES", name,
                         (int)type);
    autocast->type[operation - 1] = type;
    autocast->why[operation - 1] = "set";
    return SLR_OK;
}

slr_status slr_autocast_visit(const slr_autocast *autocast, slr_autocast_visitor *visit, void *user)
{
    if (!autocast || !visit)
        return SLRI_FAIL(INVALID, "slr_autocast_visit: %s is NULL", autocast ? "visit" : "autocast");
    for (int i = 0; i < OPERATIONS; ++i)
        visit(user, (slr_operation)(i + 1), policies[i].name,
              autocast->type[i] == SLR_TYPE_AS_IT_COMES ? "" : slri_real_name(autocast->type[i]), autocast->why[i]);
    return SLR_OK;
}

static slr_status cast(slr_autocast *autocast, slr_stream *stream, const slr_tensor *in, slr_scalar type,
                       slr_tensor *out)
{
    const slr_allocator *allocator = autocast->ops->device->allocator;
    slr_pool *pool;
    SLRI_TRY(slr_device_get_pool(autocast->ops->device, &pool));
    struct copy *copy = slri_alloc(allocator, sizeof *copy);
    if (!copy)
        return SLRI_FAIL(NO_MEMORY, "no memory for a tensor in another type");
    slr_tensor to = *in;
    to.dtype = type;
    slr_status status = slr_pool_acquire(pool, slri_tensor_elements(in), type, &to.buffer);
    if (status == SLR_OK && (status = slr_ops_cast(autocast->ops, stream, in, &to, NULL)) != SLR_OK)
        slr_buffer_destroy(to.buffer);
    if (status != SLR_OK) {
        slri_free(allocator, copy, sizeof *copy);
        return status;
    }
    *copy = (struct copy){to.buffer, autocast->copies};
    autocast->copies = copy;
    *out = to;
    return SLR_OK;
}

slr_status slr_autocast_tensor(slr_autocast *autocast, slr_stream *stream, slr_operation operation,
                               const slr_tensor *in, slr_tensor *out)
{
    static const char name[] = "slr_autocast_tensor";
    if (!autocast || !out)
        return SLRI_FAIL(INVALID, "%s: %s is NULL", name, autocast ? "out" : "autocast");
    SLRI_TRY(check_operation(name, operation));
    SLRI_TRY(SLRI_OPERANDS_CHECK(autocast->ops, stream, name, {"in", in, SLRI_REAL, false}));
    slr_scalar type = autocast->type[operation - 1];
    if (type != SLR_TYPE_AS_IT_COMES && type != in->dtype)
        return cast(autocast, stream, in, type, out);
    *out = *in;
    return SLR_OK;
}
