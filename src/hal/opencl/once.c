// SPDX-License-Identifier: Apache-2.0
// A kernel that is run once, to see what it says.
#include "hal/opencl/opencl.h"

#include "base/clock.h"

static bool begin(const struct slri_cl *cl, slri_cl_queue queue, slri_cl_kernel kernel, slri_cl_mem mem,
                  const size_t group[3], slri_cl_event *event)
{
    return cl->SetKernelArg(kernel, 0, sizeof mem, &mem) == SLRI_CL_SUCCESS &&
           cl->EnqueueNDRangeKernel(queue, kernel, 3, NULL, group, group, 0, NULL, event) == SLRI_CL_SUCCESS &&
           cl->Flush(queue) == SLRI_CL_SUCCESS;
}

bool slri_cl_run_once(struct slri_opencl *opencl, slri_cl_kernel kernel, const size_t group[3], void *bytes,
                      size_t count, uint64_t patience_ns)
{
    const struct slri_cl *cl = opencl->cl;
    int32_t error;
    slri_cl_event event = NULL;
    slri_cl_mem mem =
        cl->CreateBuffer(opencl->context, SLRI_CL_MEM_READ_WRITE | SLRI_CL_MEM_COPY_HOST_PTR, count, bytes, &error);
    slri_cl_queue queue = mem ? cl->CreateCommandQueue(opencl->context, opencl->id, 0, &error) : NULL;
    bool done = queue && begin(cl, queue, kernel, mem, group, &event) &&
                slri_cl_await(opencl, queue, NULL, slri_deadline_after(patience_ns), 1, &event) == SLR_OK &&
                cl->EnqueueReadBuffer(queue, mem, 1, 0, count, bytes, 0, NULL, NULL) == SLRI_CL_SUCCESS;
    slri_cl_let_go(opencl, SLRI_CL_EVENT, event, 0);
    slri_cl_let_go(opencl, SLRI_CL_QUEUE, queue, 0);
    slri_cl_let_go(opencl, SLRI_CL_MEM, mem, 0);
    return done;
}
