// SPDX-License-Identifier: Apache-2.0
#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        slr_status try_status = (call);                                                                                \
        if (try_status != SLR_OK)                                                                                      \
            return try_status;                                                                                         \
    } while (0)
#define PATIENCE_NS 60000000000ull

enum { LENGTH1 = BEATS_POINTS / 2, LENGTH2 = BEATS_POINTS / 4, KINDS = 2 };

const char *const beats_parameter_names[BEATS_PARAMETERS] = {"weights1", "bias1",    "weights2",
                                                             "bias2",    "weights3", "bias3"};
const uint32_t beats_parameter_sizes[BEATS_PARAMETERS] = {
    BEATS_FILTERS1 * BEATS_WIDTH1, BEATS_FILTERS1, BEATS_FILTERS2 *BEATS_FILTERS1 *BEATS_WIDTH2, BEATS_FILTERS2,
    BEATS_FEATURES *KINDS,         KINDS};
// What a weight is multiplied with: its number of inputs.
static const uint32_t inputs[BEATS_PARAMETERS] = {BEATS_WIDTH1, 0, BEATS_FILTERS1 *BEATS_WIDTH2, 0, BEATS_FEATURES, 0};

// Weights as the optimiser has them, and a copy in the network's type. In a network of floats they are the same.
struct parameter {
    slr_tensor weights, copy, gradient, unscaled, mean, square;
};

enum { MOST_BUFFERS = 64 };

struct network {
    slr_device *device;
    slr_pool *pool;
    slr_stream *stream;
    slr_ops *ops;
    slr_scaler *scaler;
    slr_autocast *autocast; // which says that a loss takes floats
    slr_buffer *buffers[MOST_BUFFERS];
    uint32_t buffer_count;
    slr_scalar type;
    uint32_t step;
    uint64_t random;
    struct parameter parameter[BEATS_PARAMETERS];
    slr_tensor input, x, labels, loss;
    slr_tensor conv1, pre1, pool1, index1, conv2, pre2, pool2, index2, logits;
    slr_tensor d_conv1, d_pool1, d_conv2, d_pool2, d_logits;
    slr_tensor scores; // the logits as the loss takes them
};

static uint32_t random_below(struct network *n, uint32_t below)
{
    n->random = n->random * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((n->random >> 33) * below >> 31);
}

// ---- tensors -------------------------------------------------------------------------------------------------------

static slr_status take(struct network *n, slr_tensor *out, slr_scalar type, uint32_t rank, uint64_t a, uint64_t b,
                       uint64_t c)
{
    slr_buffer *buffer;
    uint64_t count = a * (rank > 1 ? b : 1) * (rank > 2 ? c : 1);
    TRY(slr_pool_acquire(n->pool, count, type, &buffer));
    n->buffers[n->buffer_count++] = buffer;
    *out = (slr_tensor){buffer, type, rank, {a, b, c}};
    return SLR_OK;
}

static slr_status take_parameter(struct network *n, struct parameter *p, uint32_t which)
{
    static const uint64_t shape[BEATS_PARAMETERS][3] = {{BEATS_FILTERS1, 1, BEATS_WIDTH1},
                                                        {BEATS_FILTERS1},
                                                        {BEATS_FILTERS2, BEATS_FILTERS1, BEATS_WIDTH2},
                                                        {BEATS_FILTERS2},
                                                        {BEATS_FEATURES, KINDS},
                                                        {KINDS}};
    static const uint32_t rank[BEATS_PARAMETERS] = {3, 1, 3, 1, 2, 1};
    const uint64_t *s = shape[which];
    float first[BEATS_FILTERS2 * BEATS_FILTERS1 * BEATS_WIDTH2] = {0}, zero[sizeof first / sizeof *first] = {0};
    size_t count = beats_parameter_sizes[which], bytes = count * sizeof *first;
    TRY(take(n, &p->weights, SLR_F32, rank[which], s[0], s[1], s[2]));
    TRY(take(n, &p->mean, SLR_F32, rank[which], s[0], s[1], s[2]));
    TRY(take(n, &p->square, SLR_F32, rank[which], s[0], s[1], s[2]));
    TRY(take(n, &p->gradient, n->type, rank[which], s[0], s[1], s[2]));
    p->copy = p->weights, p->unscaled = p->gradient;
    if (n->type != SLR_F32) {
        TRY(take(n, &p->copy, n->type, rank[which], s[0], s[1], s[2]));
        TRY(take(n, &p->unscaled, SLR_F32, rank[which], s[0], s[1], s[2]));
    }
    // Of variance 2 / inputs (He et al., 2015); a bias is 0.
    for (size_t i = 0; i < count && inputs[which] > 0; i++)
        first[i] = ((float)random_below(n, 1 << 20) / (1 << 19) - 1.0f) * sqrtf(6.0f / (float)inputs[which]);
    TRY(slr_buffer_write(p->weights.buffer, 0, first, bytes));
    TRY(slr_buffer_write(p->mean.buffer, 0, zero, bytes));
    return slr_buffer_write(p->square.buffer, 0, zero, bytes);
}

static slr_status take_tensors(struct network *n)
{
    slr_scalar t = n->type;
    uint64_t b = BEATS_BATCH, f1 = BEATS_FILTERS1, f2 = BEATS_FILTERS2;
    for (uint32_t i = 0; i < BEATS_PARAMETERS; i++)
        TRY(take_parameter(n, &n->parameter[i], i));
    TRY(take(n, &n->input, SLR_F32, 3, b, 1, BEATS_POINTS));
    n->x = n->input;
    if (t != SLR_F32)
        TRY(take(n, &n->x, t, 3, b, 1, BEATS_POINTS));
    TRY(take(n, &n->labels, SLR_I32, 1, b, 0, 0));
    TRY(take(n, &n->loss, SLR_F32, 1, 1, 0, 0));
    TRY(take(n, &n->conv1, t, 3, b, f1, BEATS_POINTS));
    TRY(take(n, &n->pre1, t, 3, b, f1, BEATS_POINTS));
    TRY(take(n, &n->pool1, t, 3, b, f1, LENGTH1));
    TRY(take(n, &n->index1, SLR_I32, 3, b, f1, LENGTH1));
    TRY(take(n, &n->conv2, t, 3, b, f2, LENGTH1));
    TRY(take(n, &n->pre2, t, 3, b, f2, LENGTH1));
    TRY(take(n, &n->pool2, t, 3, b, f2, LENGTH2));
    TRY(take(n, &n->index2, SLR_I32, 3, b, f2, LENGTH2));
    TRY(take(n, &n->logits, t, 2, b, KINDS, 0));
    TRY(take(n, &n->d_logits, SLR_F32, 2, b, KINDS, 0));
    TRY(take(n, &n->d_pool2, t, 3, b, f2, LENGTH2));
    TRY(take(n, &n->d_conv2, t, 3, b, f2, LENGTH1));
    TRY(take(n, &n->d_pool1, t, 3, b, f1, LENGTH1));
    return take(n, &n->d_conv1, t, 3, b, f1, BEATS_POINTS);
}

// ---- the layers ----------------------------------------------------------------------------------------------------

struct layers {
    slr_convolution_desc conv1, conv2;
    slr_pooling_desc pool1, pool2;
    slr_matmul_desc product;
    slr_tensor features, d_features; // pool2 and its gradient, a row a beat
};

static struct layers layers_of(struct network *n)
{
    const struct parameter *p = n->parameter;
    struct layers l = {.conv1 = SLR_CONVOLUTION_DESC_INIT,
                       .conv2 = SLR_CONVOLUTION_DESC_INIT,
                       .pool1 = SLR_POOLING_DESC_INIT,
                       .pool2 = SLR_POOLING_DESC_INIT,
                       .product = SLR_MATMUL_DESC_INIT};
    l.conv1.padding[1] = BEATS_WIDTH1 / 2, l.conv1.activation = SLR_RELU;
    l.conv1.x = &n->x, l.conv1.weights = &p[0].copy, l.conv1.bias = &p[1].copy;
    l.conv1.y = &n->conv1, l.conv1.pre = &n->pre1;
    l.conv2.padding[1] = BEATS_WIDTH2 / 2, l.conv2.activation = SLR_RELU;
    l.conv2.x = &n->pool1, l.conv2.weights = &p[2].copy, l.conv2.bias = &p[3].copy;
    l.conv2.y = &n->conv2, l.conv2.pre = &n->pre2;
    l.pool1.kind = l.pool2.kind = SLR_POOL_LARGEST;
    l.pool1.window[1] = l.pool2.window[1] = 2;
    l.pool1.x = &n->conv1, l.pool1.y = &n->pool1, l.pool1.indices = &n->index1;
    l.pool2.x = &n->conv2, l.pool2.y = &n->pool2, l.pool2.indices = &n->index2;
    l.features = slr_tensor_2d(n->type, n->pool2.buffer, BEATS_BATCH, BEATS_FEATURES);
    l.d_features = slr_tensor_2d(n->type, n->d_pool2.buffer, BEATS_BATCH, BEATS_FEATURES);
    l.product.b = &p[4].copy, l.product.bias = &p[5].copy, l.product.c = &n->logits;
    return l;
}

static slr_status forward(struct network *n, struct layers *l)
{
    l->product.a = &l->features;
    if (n->type != SLR_F32)
        TRY(slr_ops_cast(n->ops, n->stream, &n->input, &n->x, NULL));
    TRY(slr_ops_convolution(n->ops, n->stream, &l->conv1, NULL));
    TRY(slr_ops_pooling(n->ops, n->stream, &l->pool1, NULL));
    TRY(slr_ops_convolution(n->ops, n->stream, &l->conv2, NULL));
    TRY(slr_ops_pooling(n->ops, n->stream, &l->pool2, NULL));
    TRY(slr_ops_matmul(n->ops, n->stream, &l->product, NULL));
    slr_autocast_clear(n->autocast);
    TRY(slr_autocast_tensor(n->autocast, n->stream, SLR_OPERATION_CROSS_ENTROPY, &n->logits, &n->scores));
    return slr_ops_cross_entropy(n->ops, n->stream, &n->scores, &n->labels, &n->loss, NULL);
}

static slr_status backward(struct network *n, struct layers *l, float scale)
{
    struct parameter *p = n->parameter;
    slr_tensor d_logits;
    TRY(slr_ops_cross_entropy_backward(n->ops, n->stream, &n->scores, &n->labels, scale, &n->d_logits, NULL));
    TRY(slr_autocast_tensor(n->autocast, n->stream, SLR_OPERATION_MATMUL, &n->d_logits, &d_logits));
    TRY(slr_ops_matmul_backward(n->ops, n->stream, &l->product, &d_logits, &l->d_features, &p[4].gradient,
                                &p[5].gradient, NULL));
    TRY(slr_ops_pooling_backward(n->ops, n->stream, &l->pool2, &n->d_pool2, &n->d_conv2, NULL));
    TRY(slr_ops_convolution_backward(n->ops, n->stream, &l->conv2, &n->d_conv2, &n->d_pool1, &p[2].gradient,
                                     &p[3].gradient, NULL));
    TRY(slr_ops_pooling_backward(n->ops, n->stream, &l->pool1, &n->d_pool1, &n->d_conv1, NULL));
    return slr_ops_convolution_backward(n->ops, n->stream, &l->conv1, &n->d_conv1, NULL, &p[0].gradient, &p[1].gradient,
                                        NULL);
}

static slr_status copy_weights(struct network *n)
{
    for (int i = 0; i < BEATS_PARAMETERS && n->type != SLR_F32; i++)
        TRY(slr_ops_cast(n->ops, n->stream, &n->parameter[i].weights, &n->parameter[i].copy, NULL));
    return SLR_OK;
}

static slr_status optimise(void *user, slr_stream *stream)
{
    struct network *n = user;
    ++n->step;
    for (int i = 0; i < BEATS_PARAMETERS; i++) {
        struct parameter *p = &n->parameter[i];
        slr_adam_desc desc = SLR_ADAM_DESC_INIT;
        desc.step = n->step, desc.rate = 0.002f, desc.epsilon = 1e-12f;
        desc.weights = &p->weights, desc.gradient = &p->unscaled, desc.mean = &p->mean, desc.square = &p->square;
        TRY(slr_ops_adam(n->ops, stream, &desc, NULL));
    }
    return copy_weights(n);
}

// ---- batches -------------------------------------------------------------------------------------------------------

// Beat number i of a set, of three times as many as it has beats: each is there at each shift.
struct sample {
    unsigned at;
    bool premature;
};

static struct sample sample_of(const beats_set *set, size_t i)
{
    size_t beat = i / 3;
    return (struct sample){(unsigned)((int)set->at[beat] + beats_shifts[i % 3]), set->premature[beat]};
}

static slr_status load(struct network *n, const short *adc, const beats_set *set, const uint32_t *order, size_t first,
                       size_t count)
{
    static const float none[BEATS_POINTS];
    float input[BEATS_BATCH][BEATS_POINTS];
    int32_t labels[BEATS_BATCH];
    for (size_t i = 0; i < BEATS_BATCH; i++) {
        memcpy(input[i], none, sizeof none);
        labels[i] = -1; // no kind: it does not count
        if (i < count) {
            struct sample sample = sample_of(set, order != NULL ? order[first + i] : first + i);
            beats_input(adc, sample.at, input[i]);
            labels[i] = sample.premature;
        }
    }
    TRY(slr_buffer_write(n->input.buffer, 0, input, sizeof input));
    return slr_buffer_write(n->labels.buffer, 0, labels, sizeof labels);
}

static slr_status test(struct network *n, const short *adc, const beats_set *set, beats_score *out)
{
    struct layers l = layers_of(n);
    float logits[BEATS_BATCH * KINDS];
    *out = (beats_score){0};
    for (size_t first = 0, all = 3 * set->count; first < all; first += BEATS_BATCH) {
        size_t count = all - first < BEATS_BATCH ? all - first : BEATS_BATCH;
        TRY(load(n, adc, set, NULL, first, count));
        TRY(forward(n, &l));
        TRY(slr_stream_finish(n->stream, PATIENCE_NS));
        TRY(slr_buffer_read(n->scores.buffer, 0, logits, sizeof logits));
        for (size_t i = 0; i < count; i++) {
            bool premature = sample_of(set, first + i).premature;
            bool found = logits[i * KINDS + 1] > logits[i * KINDS]; // false for what is no number
            out->premature += premature, out->normal += !premature;
            out->missed += premature && !found, out->alarms += !premature && found;
        }
    }
    uint32_t all = out->premature + out->normal;
    out->accuracy = all > 0 ? 1.0 - (double)(out->missed + out->alarms) / all : 0.0;
    return SLR_OK;
}

static void shuffle(struct network *n, uint32_t *order, uint32_t count)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t with = random_below(n, i), kept = order[i - 1];
        order[i - 1] = order[with];
        order[with] = kept;
    }
}

static slr_status train_step(struct network *n, struct layers *l, float faint, float *loss)
{
    slr_scaler_info info;
    TRY(slr_scaler_get_info(n->scaler, &info));
    TRY(forward(n, l));
    TRY(backward(n, l, info.scale * faint));
    for (int i = 0; i < BEATS_PARAMETERS; i++)
        TRY(slr_scaler_unscale(n->scaler, n->stream, &n->parameter[i].gradient, &n->parameter[i].unscaled, NULL));
    TRY(slr_scaler_step(n->scaler, n->stream, optimise, n, NULL));
    TRY(slr_stream_finish(n->stream, PATIENCE_NS));
    return slr_buffer_read(n->loss.buffer, 0, loss, sizeof *loss);
}

static slr_status train(struct network *n, const short *adc, const beats_set *set, const beats_set *tested,
                        const beats_options *options, beats_result *out)
{
    struct layers l = layers_of(n);
    static uint32_t order[3 * BEATS_MOST];
    uint32_t count = (uint32_t)set->count * 3, epochs = options->epochs > 0 ? options->epochs : 5;
    float faint = options->faint > 0.0f ? options->faint : 1.0f;
    slr_scaler_info info;
    TRY(copy_weights(n));
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    for (; out->epochs < epochs; out->epochs++) {
        beats_score score;
        shuffle(n, order, count);
        for (uint32_t first = 0; first + BEATS_BATCH <= count && out->steps < BEATS_MOST_STEPS; first += BEATS_BATCH) {
            TRY(load(n, adc, set, order, first, BEATS_BATCH));
            TRY(train_step(n, &l, faint, &out->loss[out->steps]));
            out->steps++;
        }
        TRY(test(n, adc, tested, &score));
        out->accuracy[out->epochs] = score.accuracy;
    }
    TRY(slr_scaler_get_info(n->scaler, &info));
    out->scale = info.scale, out->skipped = info.skipped;
    out->halves = info.halves, out->zeros = info.zeros, out->advice = info.advice;
    TRY(test(n, adc, set, &out->trained));
    return test(n, adc, tested, &out->tested);
}

// ---- the whole -----------------------------------------------------------------------------------------------------

static slr_status open_network(struct network *n, const beats_options *options)
{
    slr_ops_desc desc = SLR_OPS_DESC_INIT;
    slr_scaler_desc scaler = SLR_SCALER_DESC_INIT;
    desc.deterministic = 1; // the same weights in every run
    if (!options->scaled)
        scaler.initial = scaler.growth = scaler.backoff = 1.0f;
    scaler.growth_interval = 100;
    TRY(slr_pool_create(n->device, NULL, &n->pool));
    TRY(slr_stream_create(n->device, NULL, &n->stream));
    TRY(slr_ops_create(n->device, &desc, &n->ops));
    TRY(slr_scaler_create(n->ops, &scaler, &n->scaler));
    TRY(slr_autocast_create(n->ops, n->type, &n->autocast));
    return take_tensors(n);
}

static void close_network(struct network *n)
{
    if (n->stream != NULL)
        slr_stream_finish(n->stream, PATIENCE_NS);
    for (uint32_t i = 0; i < n->buffer_count; i++)
        slr_buffer_destroy(n->buffers[i]);
    slr_autocast_destroy(n->autocast);
    slr_scaler_destroy(n->scaler);
    slr_ops_destroy(n->ops);
    slr_stream_destroy(n->stream);
    slr_pool_destroy(n->pool);
}

static slr_status keep(struct network *n, beats_result *out)
{
    slr_pool_stats stats;
    for (int i = 0; i < BEATS_PARAMETERS; i++) {
        size_t bytes = beats_parameter_sizes[i] * sizeof(float);
        out->weights[i] = malloc(bytes);
        if (out->weights[i] == NULL)
            return SLR_NO_MEMORY;
        TRY(slr_buffer_read(n->parameter[i].weights.buffer, 0, out->weights[i], bytes));
    }
    TRY(slr_pool_get_stats(n->pool, &stats));
    out->tensor_bytes = stats.peak_bytes;
    return SLR_OK;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

slr_status beats_train(slr_device *device, const short *adc, const beats_set *set, const beats_set *tested,
                       const beats_options *options, beats_result *out)
{
    struct network n = {.device = device, .type = options->type, .random = options->seed};
    double start = now_s();
    memset(out, 0, sizeof *out);
    slr_status status = open_network(&n, options);
    if (status == SLR_OK)
        status = train(&n, adc, set, tested, options, out);
    if (status == SLR_OK)
        status = keep(&n, out);
    close_network(&n);
    out->seconds = now_s() - start;
    return status;
}

void beats_result_free(beats_result *result)
{
    for (int i = 0; i < BEATS_PARAMETERS; i++)
        free(result->weights[i]);
    memset(result->weights, 0, sizeof result->weights);
}
