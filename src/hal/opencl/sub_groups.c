// SPDX-License-Identifier: Apache-2.0
// Whether sub-groups are warps: 32 threads of a block each, in order. OpenCL leaves their size and how a block is cut
// into them to the device; so each kernel's size is asked for, and for each shape of block a kernel that knows looks.
#include "base/status.h"
#include "base/text.h"
#include "hal/opencl/opencl.h"

extern const char slri_embedded_cl_lanes_h[];

static bool build_sub_groups(struct slri_opencl *opencl, slri_cl_program *program, slri_cl_kernel *kernel)
{
    slri_text text = SLRI_TEXT_INIT;
    const struct slri_opencl_options words = {.warps = opencl->facts.warps, .c11_atomics = true};
    int32_t error;
    slri_opencl_words(&words, &text);
    slri_text_puts(&text, slri_embedded_cl_lanes_h);
    struct slri_cl_text source = {"slr_lanes", "slipring: sub_groups.c", slri_cl_kernel_options(opencl),
                                  slri_text_view(&text)};
    if (!text.out_of_memory && slri_cl_build(opencl, &source, program) == SLR_OK)
        *kernel = opencl->cl->CreateKernel(*program, "slr_lanes", &error);
    slri_text_free(&text);
    return *kernel != NULL;
}

static void release(struct slri_opencl *opencl)
{
    slri_cl_let_go(opencl, SLRI_CL_KERNEL, opencl->warps.lanes, 0);
    slri_cl_let_go(opencl, SLRI_CL_PROGRAM, opencl->warps.program, 0);
    opencl->warps.lanes = NULL;
    opencl->warps.program = NULL;
}

// ---- looking -------------------------------------------------------------------------------------------------------

// Whether the threads of such a block are where they should be.
static bool sub_groups_are_right(struct slri_opencl *opencl, const uint32_t block[3])
{
    const size_t threads[3] = {block[0], block[1], block[2]};
    uint32_t wrong = 0;
    return slri_cl_run_once(opencl, opencl->warps.lanes, threads, &wrong, sizeof wrong, SLRI_CL_COMPILES_NS) &&
           wrong == 0;
}

// With so many threads a kernel has sub-groups of so many, or all of them in one.
static bool has_size(struct slri_opencl *opencl, slri_cl_kernel kernel, const uint32_t block[3])
{
    const size_t threads[3] = {block[0], block[1], block[2]}, all = threads[0] * threads[1] * threads[2];
    size_t most = 0;
    int32_t error = opencl->cl->GetKernelSubGroupInfo(kernel, opencl->id, SLRI_CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
                                                      sizeof threads, threads, sizeof most, &most, NULL);
    return error == SLRI_CL_SUCCESS && (most == SLRI_WARP_THREADS || (all < SLRI_WARP_THREADS && most >= all));
}

static bool are_warps(struct slri_opencl *opencl, slri_cl_kernel kernel, const uint32_t block[3])
{
    return has_size(opencl, kernel, block) && has_size(opencl, opencl->warps.lanes, block) &&
           sub_groups_are_right(opencl, block);
}

// ---- what the device has -------------------------------------------------------------------------------------------

// Tried with two warps in a row: where that fails, nothing is asked again.
static void probe_sub_groups(struct slri_opencl *opencl)
{
    static const uint32_t two_warps[3] = {2 * SLRI_WARP_THREADS, 1, 1};
    opencl->warps.probed = true;
    if (opencl->facts.warps == SLRI_OPENCL_LOCAL_MEMORY)
        return;
    if (build_sub_groups(opencl, &opencl->warps.program, &opencl->warps.lanes) &&
        are_warps(opencl, opencl->warps.lanes, two_warps))
        opencl->warps.kind = opencl->facts.warps;
    else
        release(opencl);
}

enum slri_opencl_warps slri_cl_warps(struct slri_opencl *opencl)
{
    slri_mutex_lock(&opencl->warps_lock);
    if (!opencl->warps.probed)
        probe_sub_groups(opencl);
    enum slri_opencl_warps kind = opencl->warps.kind;
    slri_mutex_unlock(&opencl->warps_lock);
    return kind;
}

bool slri_cl_has_warps(struct slri_opencl *opencl, slri_cl_kernel kernel, const uint32_t block[3])
{
    slri_mutex_lock(&opencl->warps_lock); // of the arguments of `lanes`
    bool has = are_warps(opencl, kernel, block);
    slri_mutex_unlock(&opencl->warps_lock);
    return has;
}

enum slri_opencl_warps slri_cl_handler_warps(struct slri_opencl *opencl, const struct slri_entry *entry,
                                             uint32_t threads)
{
    const uint32_t block[3] = {threads, 1, 1};
    bool uses = entry->function->uses & SLRI_USES_WARP;
    if (!uses || slri_cl_warps(opencl) != SLRI_OPENCL_SUB_GROUPS_OF_32)
        return SLRI_OPENCL_LOCAL_MEMORY;
    bool has = slri_cl_has_warps(opencl, opencl->warps.lanes, block); // which asks for their size, too
    return has ? SLRI_OPENCL_SUB_GROUPS_OF_32 : SLRI_OPENCL_LOCAL_MEMORY;
}

void slri_cl_warps_close(struct slri_opencl *opencl)
{
    release(opencl);
    slri_mutex_destroy(&opencl->warps_lock);
}
