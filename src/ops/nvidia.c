// SPDX-License-Identifier: Apache-2.0
// Handles and plans of a device's context, and who keeps them.
#include "ops/nvidia.h"

#include "base/alloc.h"
#include "device/stream.h"

#include <string.h>

static void drop_plans(struct slri_nvidia *nvidia)
{
    for (int i = 0; i < SLRI_NVIDIA_KINDS; ++i) {
        struct slri_nvidia_shelf *shelf = &nvidia->shelf[i];
        while (shelf->first) {
            struct slri_nvidia_plan *plan = shelf->first;
            shelf->first = plan->next;
            shelf->library->empty(plan);
            slri_free(nvidia->device->allocator, plan, shelf->library->plan_bytes);
        }
    }
}

// ---- in the context ------------------------------------------------------------------------------------------------

struct entering {
    struct slri_nvidia *nvidia;
    slr_status (*function)(struct slri_nvidia *nvidia, void *user);
    void *user;
};

static bool is_current(const struct slri_nvidia *nvidia)
{
    return nvidia->opened == __atomic_load_n(&nvidia->device->opened, __ATOMIC_RELAXED); // nobody opens it meanwhile
}

// A device that was opened again has another context. The library's handle of the old one is left where it is: ending
// it would call a context that is gone.
static void renew(struct slri_nvidia *nvidia)
{
    if (is_current(nvidia))
        return;
    drop_plans(nvidia);
    for (int i = 0; i < SLRI_NVIDIA_KINDS; ++i)
        nvidia->shelf[i].handle = NULL;
    nvidia->opened = __atomic_load_n(&nvidia->device->opened, __ATOMIC_RELAXED); // as above
}

static slr_status inside(void *user, struct slri_native_queue *queue)
{
    const struct entering *entering = user;
    (void)queue;
    slri_mutex_lock(&entering->nvidia->lock);
    renew(entering->nvidia);
    slr_status status = entering->function(entering->nvidia, entering->user);
    slri_mutex_unlock(&entering->nvidia->lock);
    return status;
}

static slr_status enter(struct slri_nvidia *nvidia, slr_status (*function)(struct slri_nvidia *nvidia, void *user),
                        void *user)
{
    struct entering entering = {nvidia, function, user};
    const struct slri_command command = {.op = SLRI_NATIVE, .native = {inside, &entering, "a library's set-up"}};
    return slri_device_run(nvidia->device, &command, 1);
}

// ---- plans ---------------------------------------------------------------------------------------------------------

struct search {
    const struct slri_nvidia_library *library;
    const void *key;
    struct slri_nvidia_plan *plan;
};

static struct slri_nvidia_plan *find_plan(const struct slri_nvidia *nvidia, const struct search *search)
{
    const struct slri_nvidia_library *library = search->library;
    struct slri_nvidia_plan *plan = nvidia->shelf[library->kind].first;
    while (plan && memcmp((const char *)plan + library->key_at, search->key, library->key_bytes) != 0)
        plan = plan->next;
    return plan;
}

static slr_status make_searched_plan(struct slri_nvidia *nvidia, void *user)
{
    struct search *search = user;
    const struct slri_nvidia_library *library = search->library;
    struct slri_nvidia_shelf *shelf = &nvidia->shelf[library->kind];
    search->plan = find_plan(nvidia, search);
    if (search->plan)
        return SLR_OK;
    struct slri_nvidia_plan *plan = slri_alloc(nvidia->device->allocator, library->plan_bytes);
    if (!plan)
        return SLRI_FAIL(NO_MEMORY, "no memory for a plan of a library");
    memset(plan, 0, library->plan_bytes);
    memcpy((char *)plan + library->key_at, search->key, library->key_bytes);
    int error = shelf->handle ? 0 : library->create(&shelf->handle);
    if (error != 0)
        snprintf(plan->why_not, sizeof plan->why_not, "its handle cannot be made: %d", error);
    else if (!library->fill(shelf->handle, plan))
        library->empty(plan);
    plan->next = shelf->first;
    shelf->first = search->plan = plan;
    shelf->library = library;
    return SLR_OK;
}

const struct slri_nvidia_plan *slri_nvidia_plan_of(slr_ops *ops, const struct slri_nvidia_library *library,
                                                   const void *key, const char **why_not)
{
    struct slri_nvidia *nvidia = slri_nvidia_of(ops);
    struct search search = {library, key, NULL};
    *why_not = nvidia ? NULL : "no memory for its plan";
    if (!nvidia)
        return NULL;
    slri_mutex_lock(&nvidia->lock);
    if (is_current(nvidia))
        search.plan = find_plan(nvidia, &search);
    slri_mutex_unlock(&nvidia->lock);
    slr_status status = search.plan ? SLR_OK : enter(nvidia, make_searched_plan, &search);
    if (!search.plan)
        *why_not = status == SLR_NO_MEMORY ? "no memory for its plan" : "the device made no plan for it";
    else if (*search.plan->why_not)
        *why_not = search.plan->why_not;
    return *why_not ? NULL : search.plan;
}

// ---- life ----------------------------------------------------------------------------------------------------------

struct slri_nvidia *slri_nvidia_of(slr_ops *ops)
{
    if (strcmp(ops->device->backend->name, "cuda") != 0)
        return NULL;
    slri_mutex_lock(&ops->lock);
    struct slri_nvidia *made = ops->nvidia;
    if (!made) {
        made = slri_alloc(ops->device->allocator, sizeof *made);
        if (made) {
            *made = (struct slri_nvidia){.holds = 1, .device = ops->device};
            made->opened = __atomic_load_n(&ops->device->opened, __ATOMIC_RELAXED); // as above
            slri_mutex_init(&made->lock);
        }
        ops->nvidia = made;
    }
    slri_mutex_unlock(&ops->lock);
    return made;
}

void slri_nvidia_hold(struct slri_nvidia *nvidia)
{
    if (nvidia)
        slri_hold(&nvidia->holds);
}

static slr_status end_handles(struct slri_nvidia *nvidia, void *user)
{
    (void)user;
    for (int i = 0; i < SLRI_NVIDIA_KINDS; ++i)
        if (nvidia->shelf[i].handle)
            nvidia->shelf[i].library->destroy(nvidia->shelf[i].handle);
    return SLR_OK;
}

// Plans are the host's, and go in any case. Handles go unless the device is lost: to end one waits for the device,
// which may never answer. So each loss leaves two of them, until the process ends.
void slri_nvidia_release(struct slri_nvidia *nvidia)
{
    if (!nvidia || !slri_let_go(&nvidia->holds))
        return;
    drop_plans(nvidia);
    if (nvidia->shelf[SLRI_CUBLASLT].handle || nvidia->shelf[SLRI_CUDNN].handle) {
        slr_status status = enter(nvidia, end_handles, NULL);
        (void)status;
    }
    slri_mutex_destroy(&nvidia->lock);
    slri_free(nvidia->device->allocator, nvidia, sizeof *nvidia);
}
