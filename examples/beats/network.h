// SPDX-License-Identifier: Apache-2.0
/// A network of two convolutions that tells normal from premature beats, trained with <slipring/ops.h>.
#ifndef BEATS_NETWORK_H
#define BEATS_NETWORK_H

#include <slipring/slipring.h>

#include "set.h"

enum {
    BEATS_BATCH = 32,
    BEATS_PARAMETERS = 6, ///< weights and bias of each layer, in the order of the handler's parameters
    BEATS_MOST_EPOCHS = 200,
    BEATS_MOST_STEPS = BEATS_MOST_EPOCHS * (BEATS_MOST / BEATS_BATCH)
};

typedef struct beats_options {
    slr_scalar type; ///< of activations and gradients: SLR_F32, SLR_F16, SLR_BF16. Weights are SLR_F32 in any case
    bool scaled;     ///< the loss is scaled, and the scale adapted
    float faint;     ///< multiplies the loss. 0: 1. 2^-20 makes gradients that SLR_F16 loses without scaling
    uint32_t epochs; ///< 0: 5
    uint32_t seed;   ///< of the first weights, and the order of beats
} beats_options;

/// Of the beats of a set, each at three places: how many the network takes for what they are.
typedef struct beats_score {
    uint32_t premature, missed; ///< beats that are premature; of those the network takes for normal ones
    uint32_t normal, alarms;    ///< beats that are normal; of those the network takes for premature ones
    double accuracy;
} beats_score;

typedef struct beats_result {
    uint32_t steps, epochs;
    uint64_t skipped;                   ///< steps with a gradient that was not finite
    float scale;                        ///< of the loss, at the end
    uint64_t halves, zeros;             ///< gradients in SLR_F16 of the last step; those that were 0
    const char *advice;                 ///< what the scaler makes of that; "" nothing
    float loss[BEATS_MOST_STEPS];       ///< of each step
    double accuracy[BEATS_MOST_EPOCHS]; ///< of the test set after each epoch
    beats_score trained, tested;
    double seconds;
    uint64_t tensor_bytes;            ///< most memory that tensors took
    float *weights[BEATS_PARAMETERS]; ///< the trained ones
} beats_result;

/// Names of the handler's parameters, and how many numbers each has.
extern const char *const beats_parameter_names[BEATS_PARAMETERS];
extern const uint32_t beats_parameter_sizes[BEATS_PARAMETERS];

/// Trains a network, and tests it. `out` is to be freed with beats_result_free, also after a failure.
slr_status beats_train(slr_device *device, const short *adc, const beats_set *train, const beats_set *test,
                       const beats_options *options, beats_result *out);
void beats_result_free(beats_result *result);

/// A ring kernel of `classify` with these weights, active. The buffers are the ring kernel's.
slr_status beats_ring_open(slr_device *device, const char *source, const beats_result *result, uint32_t instances,
                           slr_program **program, slr_ring **ring);

#endif
