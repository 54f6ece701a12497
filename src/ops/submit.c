// SPDX-License-Identifier: Apache-2.0
// Libraries of the host work in a host function of the stream; those of a vendor put their work into its own stream.
#include "ops/submit.h"

#include "base/alloc.h"
#include "device/stream.h"
#include "ops/nvidia.h"

struct library_job {
    const slr_allocator *allocator;
    struct slri_library_call call;
};

static void run_here(void *user, slr_status status)
{
    const struct library_job *job = user;
    if (status == SLR_OK) // else an earlier command of the stream has failed
        job->call.run(&job->call, NULL);
}

static slr_status put_job(void *user, struct slri_native_queue *queue)
{
    const struct library_job *job = user;
    return job->call.run(&job->call, queue);
}

static void settle_job(void *user)
{
    struct library_job *job = user;
    const slr_allocator *allocator = job->allocator;
    slri_nvidia_release(job->call.nvidia);
    slri_free(allocator, job, sizeof *job);
}

static slr_status submit_job(slr_stream *stream, struct library_job *job, slr_point *out)
{
    const struct slri_library_call *call = &job->call;
    struct slri_buffer_use use[SLRI_LIBRARY_BUFFERS + 1];
    uint32_t uses = 0;
    for (uint32_t i = 0; i < SLRI_LIBRARY_BUFFERS; ++i)
        if (call->buffer[i])
            use[uses++] = (struct slri_buffer_use){call->buffer[i], 0, call->buffer[i]->bytes,
                                                   i < call->reads ? SLRI_READS : SLRI_WRITES, false};
    if (call->workspace)
        use[uses++] = (struct slri_buffer_use){call->workspace, 0, call->workspace->bytes, SLRI_WRITES, false};
    struct slri_command command = {.op = SLRI_CALL, .call = {run_here, job}};
    if (call->is_native)
        command = (struct slri_command){.op = SLRI_NATIVE, .native = {put_job, job, call->name}};
    const struct slri_work work = {
        .command = &command, .commands = 1, .use = use, .uses = uses, .settle = settle_job, .user = job};
    return slri_stream_submit(stream, &work, out);
}

slr_status slri_library_submit(slr_ops *ops, slr_stream *stream, const struct slri_library_call *call, slr_point *out)
{
    const slr_allocator *allocator = ops->device->allocator;
    struct library_job *job = slri_alloc(allocator, sizeof *job);
    if (!job)
        return SLRI_FAIL(NO_MEMORY, "no memory for a call of %s", call->name);
    *job = (struct library_job){.allocator = allocator, .call = *call};
    slri_nvidia_hold(call->nvidia);
    uint64_t bytes = call->workspace_bytes ? call->workspace_bytes + SLRI_LIBRARY_ALIGNMENT - 1 : 0;
    slr_status status = slri_ops_workspace(ops, bytes, &job->call.workspace);
    slr_buffer *workspace = job->call.workspace;
    if (status == SLR_OK)
        status = submit_job(stream, job, out);
    if (status != SLR_OK)
        settle_job(job);
    slr_buffer_destroy(workspace); // the submitted work holds it
    return status;
}
