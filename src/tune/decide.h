// SPDX-License-Identifier: Apache-2.0
// How long work takes on a device, by figures of both, and what follows from that.
#ifndef SLRI_TUNE_DECIDE_H
#define SLRI_TUNE_DECIDE_H

#include <slipring/decide.h>

#include <stdbool.h>

// Of one launch; `bytes_in`, `bytes_out` and `wait_ns` of one call.
struct slri_figures {
    uint64_t threads, instructions, flops, flops64, memory_bytes, bytes_in, bytes_out, launches;
    uint64_t blocks; // 0: as many as the device has units
    double divergence, wait_ns;
    bool resident;
};

// Sets the parts of the prediction, and predicted_ns. `scale`: the kernel takes so many times as long as predicted; 1.
void slri_decide_predict(const slr_device_model *model, const struct slri_figures *figures, double scale,
                         slr_estimate *out);

// The work with so many threads, all figures in proportion.
struct slri_figures slri_decide_scaled(const struct slri_figures *figures, double threads);

// The faster of two costs by size: sets the threads at which `first` and `second` take as long, looked for between 1
// and 2^40; 0: there are none.
typedef slr_status slri_decide_cost(void *user, double threads, double *first, double *second);
// NOT_FOUND of `cost`: there is no work so large.
slr_status slri_decide_crossover(slri_decide_cost *cost, void *user, double *out);

// Which is recommended, and by what: from the estimates' call_ns, queue_ns and p99_ns. Sets all but the figures and the
// crossover.
void slri_decide_choose(const slr_estimate *estimate, uint32_t count, const struct slri_figures *figures,
                        const slr_work *work, slr_decision *out);

// queueing.c: calls that arrive at random, one after the other, from samples of the time that one takes.
struct slri_queueing {
    double mean_wait_ns, p99_ns; // INFINITY: more arrive than leave
};
slr_status slri_queueing_at(const double *service_ns, uint32_t count, double other_ns, double calls_per_second,
                            struct slri_queueing *out);
double slri_queueing_mean(const double *service_ns, uint32_t count);
// The largest rate of which 99 % take at most so long. `other_ns`: what a call takes besides, without occupying the
// device.
slr_status slri_queueing_capacity(const double *service_ns, uint32_t count, double other_ns, double latency_ns,
                                  double *out);

#endif
