// SPDX-License-Identifier: Apache-2.0
// Whether a kernel can read the counter by which the host measures time (base/tick.h): found by trying.
#include "base/status.h"
#include "base/text.h"
#include "base/tick.h"
#include "hal/opencl/opencl.h"

extern const char slri_embedded_cl_clock_h[];

#define TRIES 8

static slri_cl_program build_clock(struct slri_opencl *opencl)
{
    slri_text text = SLRI_TEXT_INIT;
    slri_cl_program program = NULL;
    slri_text_printf(&text, "#define SLR_PROBE\n%s", slri_embedded_cl_clock_h);
    struct slri_cl_text source = {"slr_clock", "slipring: clock.c", slri_cl_kernel_options(opencl),
                                  slri_text_view(&text)};
    if (text.out_of_memory || slri_cl_build_source(opencl, &source, &program) != SLR_OK)
        program = NULL; // the compiler has no counter
    slri_text_free(&text);
    return program;
}

// Whether the counter that the kernel sees is the one that the host sees: each time it lies between two looks of the
// host, one before the launch and one after its end.
static bool shows_our_counter(struct slri_opencl *opencl, slri_cl_kernel kernel)
{
    const size_t one[3] = {1, 1, 1};
    for (int i = 0; i < TRIES; ++i) {
        uint64_t ticks = 0, before = slri_tick();
        if (!slri_cl_run_once(opencl, kernel, one, &ticks, sizeof ticks, SLRI_CL_COMPILES_NS) || ticks < before ||
            ticks > slri_tick())
            return false;
    }
    return true;
}

static bool probe_clock(struct slri_opencl *opencl)
{
    int32_t error;
    slri_tick_begin();
    if (slri_tick_line.ns_per_tick == 0) // the host keeps time by no counter
        return false;
    slri_cl_program program = build_clock(opencl);
    slri_cl_kernel kernel = program ? opencl->cl->CreateKernel(program, "slr_clock", &error) : NULL;
    bool has = kernel && shows_our_counter(opencl, kernel);
    slri_cl_let_go(opencl, SLRI_CL_KERNEL, kernel, 0);
    slri_cl_let_go(opencl, SLRI_CL_PROGRAM, program, 0);
    return has;
}

bool slri_cl_has_clock(struct slri_opencl *opencl)
{
    slri_mutex_lock(&opencl->clock_lock);
    if (!opencl->clock.probed)
        opencl->clock.has = probe_clock(opencl);
    opencl->clock.probed = true;
    bool has = opencl->clock.has;
    slri_mutex_unlock(&opencl->clock_lock);
    return has;
}
