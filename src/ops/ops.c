// SPDX-License-Identifier: Apache-2.0
// The object of a device's operations: its kernels, and what launches them.
#include "base/alloc.h"
#include "base/sized.h"
#include "ops/blas.h"
#include "ops/clblast.h"
#include "ops/cublaslt.h"
#include "ops/cudnn.h"
#include "ops/dnnl.h"
#include "ops/operations.h"
#include "ops/pick.h"

#include <slipring/pool.h>

#include <stdlib.h>
#include <string.h>

#define DEFAULT_WORKSPACE_BYTES (256ull << 20)

extern const char slri_embedded_ops_common_cu[], slri_embedded_ops_matmul_cu[], slri_embedded_ops_rows_cu[],
    slri_embedded_ops_each_cu[], slri_embedded_ops_convolution_cu[];

static const struct {
    const char *name, *text;
} sources[SLRI_OPS_SOURCES] = {
    [SLRI_OPS_MATMUL] = {"matmul", slri_embedded_ops_matmul_cu},
    [SLRI_OPS_ROWS] = {"rows", slri_embedded_ops_rows_cu},
    [SLRI_OPS_EACH] = {"each", slri_embedded_ops_each_cu},
    [SLRI_OPS_CONVOLUTION] = {"convolution", slri_embedded_ops_convolution_cu},
};

static const struct {
    enum slri_ops_source source;
    const char *name;
} kernels[SLRI_OPS_KERNEL_COUNT] = {
#define KERNEL(constant, source, name) [SLRI_K_##constant] = {SLRI_OPS_##source, name},
    SLRI_OPS_KERNELS(KERNEL)
#undef KERNEL
};

const char *slri_ops_source_name(enum slri_ops_source source)
{
    return sources[source].name;
}

char *slri_ops_source(enum slri_ops_source source)
{
    size_t head = strlen(slri_embedded_ops_common_cu), bytes = strlen(sources[source].text);
    char *text = malloc(head + bytes + 2);
    if (!text)
        return NULL;
    memcpy(text, slri_embedded_ops_common_cu, head);
    text[head] = '\n';
    memcpy(text + head + 1, sources[source].text, bytes + 1);
    return text;
}

slr_status slr_ops_visit_sources(slr_ops_source_visitor *visit, void *user)
{
    if (!visit)
        return SLRI_FAIL(INVALID, "slr_ops_visit_sources: visit is NULL");
    for (int i = 0; i < SLRI_OPS_SOURCES; ++i) {
        char *text = slri_ops_source((enum slri_ops_source)i);
        if (!text)
            return SLRI_FAIL(NO_MEMORY, "no memory for the source of operations");
        visit(user, sources[i].name, text);
        free(text);
    }
    return SLR_OK;
}

slr_status slr_ops_visit_providers(slr_provider_visitor *visit, void *user)
{
    if (!visit)
        return SLRI_FAIL(INVALID, "slr_ops_visit_providers: visit is NULL");
    visit(user, slri_blas_describe());
    visit(user, slri_clblast_describe());
    visit(user, slri_cublaslt_describe());
    visit(user, slri_cudnn_describe());
    visit(user, slri_dnnl_describe());
    return SLR_OK;
}

// ---- the object ----------------------------------------------------------------------------------------------------

slr_status slr_ops_create(slr_device *device, const slr_ops_desc *desc, slr_ops **out)
{
    slr_ops_desc whole;
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_ops_create: %s is NULL", device ? "out" : "device");
    SLRI_TRY(SLRI_TAKE_DESC(slr_ops_desc, &whole, desc));
    SLRI_TRY(slri_device_check_process(device));
    if (whole.choice > SLR_CHOICE_BENCHMARK)
        return SLRI_FAIL(INVALID, "slr_ops_desc.choice is %u; expected SLR_CHOICE_HEURISTIC or SLR_CHOICE_BENCHMARK",
                         whole.choice);
    if (whole.choice == 0)
        whole.choice = SLR_CHOICE_HEURISTIC;
    if (whole.workspace_bytes == 0)
        whole.workspace_bytes = DEFAULT_WORKSPACE_BYTES;
    slr_ops *ops = slri_alloc(device->allocator, sizeof *ops);
    if (!ops)
        return SLRI_FAIL(NO_MEMORY, "no memory for a device's operations");
    *ops = (slr_ops){.device = device, .desc = whole};
    slri_mutex_init(&ops->lock);
    slri_device_hold(device);
    *out = ops;
    return SLR_OK;
}

void slr_ops_destroy(slr_ops *ops)
{
    if (!ops || slri_device_is_anothers(ops->device))
        return;
    slr_device *device = ops->device;
    for (int type = 0; type < SLRI_OPS_TYPES; ++type) {
        for (int i = 0; i < SLRI_OPS_KERNEL_COUNT; ++i)
            slr_kernel_destroy(ops->kernel[type][i]);
        for (int i = 0; i < SLRI_OPS_SOURCES; ++i)
            slr_program_destroy(ops->program[type][i]);
    }
    slri_picked_free(ops);
    slri_nvidia_release(ops->nvidia);
    slri_mutex_destroy(&ops->lock);
    slri_free(device->allocator, ops, sizeof *ops);
    slri_device_release(device);
}

// ---- launches ------------------------------------------------------------------------------------------------------

static const char *const types[SLRI_OPS_TYPES] = {"T=float", "T=half", "T=__nv_bfloat16"};
static const char *const folders[SLRI_OPS_TYPES] = {"ops", "ops/f16", "ops/bf16"};

static int type_of(slr_scalar dtype)
{
    return dtype == SLR_F16 ? 1 : dtype == SLR_BF16 ? 2 : 0;
}

// Under the lock.
static slr_status load_kernels(slr_ops *ops, int type, enum slri_ops_source source)
{
    slr_program **program = &ops->program[type][source];
    if (*program)
        return SLR_OK;
    char name[32], *text = slri_ops_source(source);
    if (!text)
        return SLRI_FAIL(NO_MEMORY, "no memory for the source of operations");
    snprintf(name, sizeof name, "%s/%s.cu", folders[type], sources[source].name);
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    desc.defines = &types[type], desc.define_count = 1;
    slr_status status = slr_program_from_text(ops->device, name, text, &desc, program);
    free(text);
    return status;
}

static slr_status find(slr_ops *ops, int type, enum slri_ops_kernel kernel, slr_kernel **out)
{
    SLRI_TRY(slri_device_check_process(ops->device));
    slr_status status = SLR_OK;
    slri_mutex_lock(&ops->lock);
    slr_kernel **found = &ops->kernel[type][kernel];
    if (!*found) {
        status = load_kernels(ops, type, kernels[kernel].source);
        if (status == SLR_OK)
            status = slr_program_get_kernel(ops->program[type][kernels[kernel].source], kernels[kernel].name, found);
    }
    *out = *found;
    slri_mutex_unlock(&ops->lock);
    return status;
}

slr_status slri_ops_launch(slr_ops *ops, slr_stream *stream, enum slri_ops_kernel kernel, slr_scalar dtype,
                           slr_shape shape, const slr_arg *args, uint32_t count, slr_point *out)
{
    slr_kernel *found;
    SLRI_TRY(find(ops, type_of(dtype), kernel, &found));
    return slr_launch(stream, found, shape, args, count, out);
}

slr_status slri_ops_workspace(slr_ops *ops, uint64_t bytes, slr_buffer **out)
{
    slr_pool *pool;
    *out = NULL;
    if (bytes == 0)
        return SLR_OK;
    if (bytes > ops->desc.workspace_bytes)
        return SLRI_FAIL(NO_MEMORY,
                         "an operation needs %llu bytes of workspace, and slr_ops_desc.workspace_bytes is %llu",
                         (unsigned long long)bytes, (unsigned long long)ops->desc.workspace_bytes);
    SLRI_TRY(slr_device_get_pool(ops->device, &pool));
    return slr_pool_acquire(pool, (bytes + 3) / 4, SLR_F32, out);
}
