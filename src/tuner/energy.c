// SPDX-License-Identifier: Apache-2.0
// The energy of a launch: what the counter of the whole device counts while the launch runs again and again.
#include "tune/energy.h"
#include "tuner/tuner.h"

#include "base/clock.h"
#include "base/status.h"

#include <slipring/metrics.h>

#include <string.h>

enum { MOST_IN_A_GROUP = 1024 };
static const double group_ns = 5e6; // between two readings, so that the device rests for little of the time

static const char *what_counts(const slr_device *device)
{
    static const struct {
        const char *backend, *counter;
    } hints[] = {{"cuda", "libnvidia-ml counts it for whole GPUs, not for an instance of a GPU, from Volta on"},
                 {"cpu",
                  "Linux counts it in /sys/class/powercap/intel-rapl:N/energy_uj, which root can make readable (chmod "
                  "a+r); most virtual machines have no such file"},
                 {"opencl", "slipring reads it for GPUs of Intel (energy1_input in sysfs), and for the host's cores "
                            "(/sys/class/powercap/intel-rapl:N/energy_uj, if this process may read that)"}};
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i].backend, device->backend->name) == 0)
            return hints[i].counter;
    return "slipring knows no counter of such devices";
}

static slr_status read_counter(const slr_device *device, uint64_t *mj)
{
    slr_metrics metrics = {0};
    slr_status status = slr_device_get_metrics(device, &metrics);
    for (uint32_t i = 0; status == SLR_OK && i < metrics.count; i++)
        if (strcmp(metrics.metric[i].name, "energy_mj") == 0) {
            *mj = metrics.metric[i].value;
            return SLR_OK;
        }
    char why[200] = "";
    if (status != SLR_OK)
        snprintf(why, sizeof why, " (%s)", slr_error_message());
    return SLRI_FAIL(UNSUPPORTED,
                     "the energy of a launch is not measured: '%s' has no metric energy_mj%s; %s. Else give "
                     "slr_tune_desc.measure a meter",
                     device->backend->name, why, what_counts(device));
}

slr_status slri_tuner_find_counter(const slr_device *device)
{
    uint64_t mj;
    return read_counter(device, &mj);
}

slr_status slri_tuner_choose_group(struct slri_tuner *tuner, const struct slri_tuner_launch *launch)
{
    double ns, microjoules;
    SLRI_TRY(slri_tuner_run(tuner, launch, 1, &ns));
    tuner->launches = ns < group_ns / MOST_IN_A_GROUP ? MOST_IN_A_GROUP : (uint32_t)(group_ns / ns) + 1;
    return slri_tuner_measure_energy(tuner, launch, &microjoules); // fails here if the counter stands
}

slr_status slri_tuner_measure_energy(struct slri_tuner *tuner, const struct slri_tuner_launch *launch,
                                     double *microjoules)
{
    struct slri_energy energy = {0};
    enum slri_energy_state state = SLRI_ENERGY_MORE;
    for (uint32_t launches = 0; state == SLRI_ENERGY_MORE; launches = tuner->launches) {
        double ns;
        uint64_t mj;
        if (launches)
            SLRI_TRY(slri_tuner_run(tuner, launch, launches, &ns));
        SLRI_TRY(read_counter(tuner->kernel->program->device, &mj));
        state = slri_energy_note(&energy, slri_now_ns(), mj, launches);
    }
    if (state == SLRI_ENERGY_STANDS)
        return SLRI_FAIL(UNSUPPORTED,
                         "the energy of a launch is not measured: the metric energy_mj of '%s' has stood "
                         "still at %llu for 4 s of launches",
                         tuner->kernel->program->device->backend->name, (unsigned long long)energy.last_mj);
    *microjoules = slri_energy_of_launch(&energy);
    return SLR_OK;
}
