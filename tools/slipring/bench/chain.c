// SPDX-License-Identifier: Apache-2.0
#include "bench/chain.h"

#include "memory.h"

#include <stdbool.h>
#include <stdlib.h>

struct chain_layer {
    chain *chain;
    bool is_product;
};

static slr_status layer_forward(void *user, slr_stream *stream, const slr_tensor *x, const slr_tensor *y)
{
    struct chain_layer *layer = user;
    chain *c = layer->chain;
    c->computed++;
    if (!layer->is_product)
        return slr_ops_activation(c->ops, stream, SLR_TANH, x, y, NULL);
    slr_matmul_desc desc = SLR_MATMUL_DESC_INIT;
    desc.a = x, desc.b = &c->weights, desc.c = y;
    return slr_ops_matmul(c->ops, stream, &desc, NULL);
}

static slr_status layer_backward(void *user, slr_stream *stream, const slr_tensor *x, const slr_tensor *y,
                                 const slr_tensor *dy, const slr_tensor *dx)
{
    struct chain_layer *layer = user;
    chain *c = layer->chain;
    if (!layer->is_product)
        return slr_ops_activation_backward(c->ops, stream, SLR_TANH, x, dy, dx, NULL);
    slr_matmul_desc desc = SLR_MATMUL_DESC_INIT;
    desc.a = x, desc.b = &c->weights, desc.c = y;
    return slr_ops_matmul_backward(c->ops, stream, &desc, dy, dx, &c->gradient, NULL, NULL);
}

slr_sequence_desc chain_describe(uint32_t rows, uint32_t width, uint32_t every, slr_layer *layers, uint32_t count)
{
    slr_sequence_desc desc = SLR_SEQUENCE_DESC_INIT;
    desc.input = slr_tensor_2d(SLR_F32, NULL, rows, width);
    for (uint32_t i = 0; i < count; i++)
        layers[i] = (slr_layer){layer_forward, layer_backward, NULL, desc.input};
    desc.layers = layers, desc.count = count, desc.every = every;
    return desc;
}

static slr_status make(slr_device *device, slr_tensor *out, uint32_t rows, uint32_t columns, float spread)
{
    slr_buffer *buffer;
    size_t count = (size_t)rows * columns;
    slr_status status = slr_buffer_create(device, count * sizeof(float), &buffer);
    if (status != SLR_OK)
        return status;
    *out = slr_tensor_2d(SLR_F32, buffer, rows, columns);
    float *values = memory_take(count, sizeof *values);
    uint32_t random = rows + columns;
    for (size_t i = 0; i < count; i++) {
        random = random * 1664525u + 1013904223u;
        values[i] = ((float)(random >> 8) / (1 << 23) - 1.0f) * spread;
    }
    status = slr_buffer_write(buffer, 0, values, count * sizeof *values);
    free(values);
    return status;
}

static slr_status make_tensors(slr_device *device, chain *c)
{
    slr_tensor *signals[] = {&c->x, &c->y, &c->dy, &c->dx}, *weights[] = {&c->weights, &c->gradient};
    slr_status status = SLR_OK;
    for (int i = 0; i < 4 && status == SLR_OK; i++)
        status = make(device, signals[i], c->rows, c->width, 1.0f);
    for (int i = 0; i < 2 && status == SLR_OK; i++)
        status = make(device, weights[i], c->width, c->width, 1.5f / (float)c->width);
    return status;
}

slr_status chain_open(slr_device *device, uint32_t rows, uint32_t width, uint32_t every, uint32_t count, chain *out)
{
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    desc.workspace_bytes = 1; // so that the pool has activations and gradients alone
    *out = (chain){.rows = rows,
                   .width = width,
                   .layer_count = count,
                   .layers = memory_take(count, sizeof(slr_layer)),
                   .each = memory_take(count, sizeof(struct chain_layer))};
    slr_sequence_desc sequence = chain_describe(rows, width, every, out->layers, count);
    for (uint32_t i = 0; i < count; i++) {
        out->each[i] = (struct chain_layer){out, i % 2 == 0};
        out->layers[i].user = &out->each[i];
    }
    slr_status status = slr_stream_create(device, NULL, &out->stream);
    if (status == SLR_OK)
        status = slr_ops_create(device, &desc, &out->ops);
    if (status == SLR_OK)
        status = make_tensors(device, out);
    return status == SLR_OK ? slr_sequence_create(out->ops, &sequence, &out->sequence) : status;
}

void chain_close(chain *c)
{
    slr_tensor *all[] = {&c->x, &c->y, &c->dy, &c->dx, &c->weights, &c->gradient};
    slr_sequence_destroy(c->sequence);
    slr_ops_destroy(c->ops);
    slr_stream_destroy(c->stream);
    for (int i = 0; i < 6; i++)
        slr_buffer_destroy(all[i]->buffer);
    free(c->layers);
    free(c->each);
}

slr_status chain_forward(chain *c)
{
    return slr_sequence_forward(c->sequence, c->stream, &c->x, &c->y);
}

slr_status chain_backward(chain *c)
{
    return slr_sequence_backward(c->sequence, c->stream, &c->x, &c->y, &c->dy, &c->dx);
}

slr_status chain_peak(slr_device *device, uint64_t *out)
{
    slr_pool *pool;
    slr_pool_stats stats;
    slr_status status = slr_device_get_pool(device, &pool);
    if (status == SLR_OK)
        status = slr_pool_get_stats(pool, &stats);
    if (status == SLR_OK)
        *out = stats.peak_bytes;
    return status;
}
