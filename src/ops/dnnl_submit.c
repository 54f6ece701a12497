// SPDX-License-Identifier: Apache-2.0
// oneDNN as a host function of a stream.
#include "base/alloc.h"
#include "device/stream.h"
#include "ops/dnnl.h"

struct dnnl_job {
    const slr_allocator *allocator;
    struct slri_dnnl_call call;
    slr_buffer *workspace; // or NULL
};

static void run_convolution(void *user, slr_status status)
{
    const struct dnnl_job *job = user;
    const struct slri_dnnl_call *c = &job->call;
    if (status == SLR_OK) // else an earlier command of the stream has failed
        slri_dnnl_convolve(c->plan, slri_buffer_at(c->x, 0), slri_buffer_at(c->weights, 0),
                           c->bias ? slri_buffer_at(c->bias, 0) : NULL, slri_buffer_at(c->y, 0),
                           job->workspace ? slri_buffer_at(job->workspace, 0) : NULL);
}

static void settle_convolution(void *user)
{
    struct dnnl_job *job = user;
    slri_free(job->allocator, job, sizeof *job);
}

slr_status slri_dnnl_submit(slr_ops *ops, slr_stream *stream, const struct slri_dnnl_call *call, slr_point *out)
{
    const slr_allocator *allocator = ops->device->allocator;
    struct dnnl_job *job = slri_alloc(allocator, sizeof *job);
    if (!job)
        return SLRI_FAIL(NO_MEMORY, "no memory for a convolution");
    *job = (struct dnnl_job){.allocator = allocator, .call = *call};
    slr_status status = slri_ops_workspace(ops, slri_dnnl_workspace(call->plan), &job->workspace);
    slr_buffer *workspace = job->workspace;
    struct slri_buffer_use use[5] = {{call->x, 0, call->x->bytes, SLRI_READS, false},
                                     {call->weights, 0, call->weights->bytes, SLRI_READS, false},
                                     {call->y, 0, call->y->bytes, SLRI_WRITES, false}};
    uint32_t uses = 3;
    if (call->bias)
        use[uses++] = (struct slri_buffer_use){call->bias, 0, call->bias->bytes, SLRI_READS, false};
    if (workspace)
        use[uses++] = (struct slri_buffer_use){workspace, 0, workspace->bytes, SLRI_WRITES, false};
    const struct slri_command command = {.op = SLRI_CALL, .call = {run_convolution, job}};
    const struct slri_work work = {
        .command = &command, .commands = 1, .use = use, .uses = uses, .settle = settle_convolution, .user = job};
    if (status == SLR_OK)
        status = slri_stream_submit(stream, &work, out);
    if (status != SLR_OK)
        settle_convolution(job);
    slr_buffer_destroy(workspace); // the submitted work holds it
    return status;
}
