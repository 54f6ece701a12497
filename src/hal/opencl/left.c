// SPDX-License-Identifier: Apache-2.0
// What a lost device leaves: objects and memory that something may still use which was given to it. They are released
// when the driver has said of every command that it has ended. No time stands for that.
#include "base/alloc.h"
#include "base/kept.h"
#include "base/memory_map.h"
#include "base/status.h"
#include "hal/opencl/opencl.h"

struct slri_cl_left {
    enum slri_cl_kind kind;
    void *object;
    uint64_t bytes;
    struct slri_cl_left *next;
};

static void release_left(struct slri_opencl *opencl, enum slri_cl_kind kind, void *object, uint64_t bytes)
{
    const struct slri_cl *cl = opencl->cl;
    switch (kind) {
    case SLRI_CL_EVENT:
        cl->ReleaseEvent(object);
        break;
    case SLRI_CL_KERNEL:
        cl->ReleaseKernel(object);
        break;
    case SLRI_CL_PROGRAM:
        cl->ReleaseProgram(object);
        break;
    case SLRI_CL_QUEUE:
        cl->ReleaseCommandQueue(object);
        break;
    case SLRI_CL_MEM:
        cl->ReleaseMemObject(object);
        break;
    case SLRI_CL_MAP:
        slri_map_release(object, bytes);
        break;
    case SLRI_CL_HEAP:
        slri_free(opencl->allocator, object, bytes);
        break;
    case SLRI_CL_BELL:
        slri_free(opencl->allocator, object, sizeof(struct slri_cl_bell));
        break;
    case SLRI_CL_KINDS:
        break;
    }
}

// Without memory to note it in, it is forgotten: what nobody can ask about has not ended, then.
void slri_cl_let_go(struct slri_opencl *opencl, enum slri_cl_kind kind, void *object, uint64_t bytes)
{
    if (!object)
        return;
    if (!slri_cl_is_lost(opencl)) {
        release_left(opencl, kind, object, bytes);
        return;
    }
    struct slri_cl_left *left = slri_alloc(opencl->allocator, sizeof *left);
    slri_mutex_lock(&opencl->left_lock);
    if (left) {
        *left = (struct slri_cl_left){kind, object, bytes, opencl->left.first};
        opencl->left.first = left;
    } else {
        opencl->left.forgot = true;
    }
    slri_mutex_unlock(&opencl->left_lock);
}

// A question that fails is no answer.
static bool has_ended(const struct slri_opencl *opencl, const struct slri_cl_left *left)
{
    const struct slri_cl_bell *bell = left->object;
    int32_t status = 1, error = SLRI_CL_SUCCESS;
    switch (left->kind) {
    case SLRI_CL_EVENT:
        error = opencl->cl->GetEventInfo(left->object, SLRI_CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                         NULL);
        return error == SLRI_CL_SUCCESS && status <= 0; // done, or ended by a failure of its own
    case SLRI_CL_BELL:                                  // acquire: its ringing was the driver's last touch
        return __atomic_load_n(&bell->rung, __ATOMIC_ACQUIRE) == bell->asked;
    default:
        return true;
    }
}

// Under the lock.
static bool all_have_ended(const struct slri_opencl *opencl)
{
    bool ended = !opencl->left.forgot;
    for (const struct slri_cl_left *left = opencl->left.first; left && ended; left = left->next)
        ended = has_ended(opencl, left);
    return ended;
}

// Likewise.
static void release_all(struct slri_opencl *opencl)
{
    for (enum slri_cl_kind kind = SLRI_CL_EVENT; kind < SLRI_CL_KINDS; ++kind)
        for (const struct slri_cl_left *left = opencl->left.first; left; left = left->next)
            if (left->kind == kind)
                release_left(opencl, kind, left->object, left->bytes);
    while (opencl->left.first) {
        struct slri_cl_left *next = opencl->left.first->next;
        slri_free(opencl->allocator, opencl->left.first, sizeof *next);
        opencl->left.first = next;
    }
    slri_cl_free_given_up(opencl);
    slri_kept_give_back(opencl->left.kept_bytes);
    opencl->left.kept_bytes = 0;
}

bool slri_cl_settle(struct slri_opencl *opencl)
{
    slri_mutex_lock(&opencl->left_lock);
    bool settled = all_have_ended(opencl);
    if (settled)
        release_all(opencl);
    slri_mutex_unlock(&opencl->left_lock);
    return settled;
}

void slri_cl_count_kept(struct slri_opencl *opencl, uint64_t bytes)
{
    slri_mutex_lock(&opencl->left_lock);
    if (bytes > opencl->left.kept_bytes) {
        slri_kept_add(bytes - opencl->left.kept_bytes);
        opencl->left.kept_bytes = bytes;
    }
    slri_mutex_unlock(&opencl->left_lock);
}
