// SPDX-License-Identifier: Apache-2.0
// What the parts of a decision share.
#ifndef SLRI_DECIDE_DECIDE_H
#define SLRI_DECIDE_DECIDE_H

#include "run/count.h"
#include "tune/decide.h"

// figures.c: what is not given is counted. `counted`: of the kernel; bit i of `loads` and `stores` is binding i.
struct slri_work_count {
    struct slri_figures figures;
    enum slri_counted counted;
    uint64_t loads, stores;
    bool is_interpreted; // the walk did not know how much work it is
};
slr_status slri_decide_count(const slr_work *work, struct slri_work_count *out);

// decide.c: the measured time of a kernel, divided by the predicted one, for other uses of the same processor. All
// arguments are of the device: `overhead_ns` is the predicted time of launches and copies.
double slri_decide_correction(double measured_ns, double overhead_ns, double kernel_ns);

// model.c
slr_status slri_decide_model(slr_device *device, slr_device_model *out);

// measure.c: the work on a candidate, ready to run.
#define SLRI_DECIDE_SAMPLES 64u
struct slri_place {
    const slr_candidate *candidate;
    const slr_work *work;
    const struct slri_work_count *count;
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    slr_arg *args;
    slr_buffer **buffer; // one an argument, copies of the user's; NULL of other arguments
    unsigned char **host;
    bool copies;
    double sample[SLRI_DECIDE_SAMPLES]; // ns
    uint32_t samples;
};
slr_status slri_place_open(struct slri_place *place); // a call of the work is made, so that all is compiled
slr_status slri_place_call(struct slri_place *place); // not timed
slr_status slri_place_sample(struct slri_place *place);
void slri_place_close(struct slri_place *place);

#endif
