// SPDX-License-Identifier: Apache-2.0
// Whether kernels can stay on the device, and how many groups of them: found by trying, never by a name. A canary that
// looks at a word of host memory is launched in one group fewer than the device says it has compute units, each in a
// queue of its own, as kernels that stay will be (resident.c). Those that say they are there while none has ended run
// at once; and with so many of them an ordinary kernel must still be done.
#include "base/clock.h"
#include "base/memory_map.h"
#include "base/status.h"
#include "base/text.h"
#include "hal/opencl/opencl.h"

#include <string.h>

extern const char slri_embedded_cl_canary_h[], slri_embedded_cl_words_h[];

#define MOST_GROUPS 32u
#define LINE 32u // words
#define WORDS ((MOST_GROUPS + 2) * LINE)
#define LOOKS (1u << 22)        // then the canary ends by itself
#define ARRIVE_NS 1000000000u   // the next group begins, or looks again, by then, or never will
#define ORDINARY_NS 1000000000u // an ordinary kernel beside them is done by then, or waits for them

struct canary {
    struct slri_opencl *opencl;
    uint32_t *words; // host memory that the device uses
    slri_cl_mem mem;
    slri_cl_program program;
    slri_cl_kernel stays, ordinary;
    slri_cl_queue queue[MOST_GROUPS + 1]; // the last is the ordinary kernel's
    uint32_t groups;                      // at most
};

// ---- building ------------------------------------------------------------------------------------------------------

static bool try_build(struct canary *canary, const char *options)
{
    struct slri_opencl *opencl = canary->opencl;
    slri_text text = SLRI_TEXT_INIT;
    slri_text_printf(&text, "%s%s", slri_embedded_cl_words_h, slri_embedded_cl_canary_h);
    struct slri_cl_text source = {"slr_canary", "slipring: probe.c", options, slri_text_view(&text)};
    bool built = !text.out_of_memory && slri_cl_build(opencl, &source, &canary->program) == SLR_OK;
    if (built)
        opencl->stay.options = options;
    slri_text_free(&text);
    return built;
}

static bool build_probe(struct canary *canary)
{
    uint32_t version = canary->opencl->facts.opencl;
    return (version >= 300 && try_build(canary, "-cl-std=CL3.0")) ||
           (version >= 200 && try_build(canary, "-cl-std=CL2.0")) || try_build(canary, "-cl-std=CL1.2");
}

static bool set_up(struct canary *canary)
{
    struct slri_opencl *opencl = canary->opencl;
    const struct slri_cl *cl = opencl->cl;
    int32_t error;
    canary->words = slri_map_reserve(WORDS * sizeof *canary->words);
    if (!canary->words || !build_probe(canary))
        return false;
    canary->mem = cl->CreateBuffer(opencl->context, SLRI_CL_MEM_READ_WRITE | SLRI_CL_MEM_USE_HOST_PTR,
                                   WORDS * sizeof *canary->words, canary->words, &error);
    canary->stays = cl->CreateKernel(canary->program, "slr_canary", &error);
    canary->ordinary = cl->CreateKernel(canary->program, "slr_ordinary", &error);
    bool queues = true;
    for (uint32_t i = 0; i <= canary->groups; ++i) {
        canary->queue[i] = cl->CreateCommandQueue(opencl->context, opencl->id, 0, &error);
        queues = queues && canary->queue[i];
    }
    return canary->mem && canary->stays && canary->ordinary && queues;
}

static void tear_down(struct canary *canary)
{
    struct slri_opencl *opencl = canary->opencl;
    for (uint32_t i = 0; i <= canary->groups; ++i)
        slri_cl_let_go(opencl, SLRI_CL_QUEUE, canary->queue[i], 0);
    slri_cl_let_go(opencl, SLRI_CL_KERNEL, canary->ordinary, 0);
    slri_cl_let_go(opencl, SLRI_CL_KERNEL, canary->stays, 0);
    slri_cl_let_go(opencl, SLRI_CL_MEM, canary->mem, 0);
    slri_cl_let_go(opencl, SLRI_CL_PROGRAM, canary->program, 0);
    slri_cl_let_go(opencl, SLRI_CL_MAP, canary->words, WORDS * sizeof *canary->words);
}

// ---- running -------------------------------------------------------------------------------------------------------

// One group, of that number.
static bool launch(struct canary *canary, slri_cl_kernel kernel, uint32_t group, slri_cl_event *event)
{
    const struct slri_cl *cl = canary->opencl->cl;
    slri_cl_queue queue = canary->queue[kernel == canary->stays ? group : canary->groups];
    const size_t one = 1;
    const uint32_t looks = LOOKS;
    return cl->SetKernelArg(kernel, 0, sizeof canary->mem, &canary->mem) == SLRI_CL_SUCCESS &&
           (kernel != canary->stays || (cl->SetKernelArg(kernel, 1, sizeof looks, &looks) == SLRI_CL_SUCCESS &&
                                        cl->SetKernelArg(kernel, 2, sizeof group, &group) == SLRI_CL_SUCCESS)) &&
           cl->EnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, event) == SLRI_CL_SUCCESS &&
           cl->Flush(queue) == SLRI_CL_SUCCESS;
}

static uint32_t look_at(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE); // behind it, what its writer did before
}

// How many groups have looked at least once.
static uint32_t count_begun(const struct canary *canary, uint32_t groups)
{
    uint32_t begun = 0;
    for (uint32_t i = 0; i < groups; ++i)
        begun += look_at(canary->words + (i + 2) * LINE) != 0;
    return begun;
}

// How many groups have begun and go on: each has looked again since.
static uint32_t count_running(const struct canary *canary, uint32_t groups)
{
    uint64_t deadline_ns = slri_deadline_after(ARRIVE_NS);
    for (uint32_t begun, seen = 0; (begun = count_begun(canary, groups)) < groups && !slri_passed(deadline_ns);) {
        if (begun != seen) // on a busy machine they come one by one
            deadline_ns = slri_deadline_after(ARRIVE_NS);
        seen = begun;
        slri_yield();
    }
    uint32_t before[MOST_GROUPS], running = 0;
    for (uint32_t i = 0; i < groups; ++i)
        before[i] = look_at(canary->words + (i + 2) * LINE);
    for (uint32_t i = 0; i < groups; ++i) {
        const uint32_t *own = canary->words + (i + 2) * LINE;
        deadline_ns = slri_deadline_after(ARRIVE_NS);
        while (before[i] != 0 && look_at(own) == before[i] && look_at(own + 1) == 0 && !slri_passed(deadline_ns))
            slri_yield();
        running += before[i] != 0 && look_at(own) != before[i] && look_at(own + 1) == 0;
    }
    return running;
}

static bool is_done(struct canary *canary, slri_cl_event event, uint64_t deadline_ns)
{
    int32_t status = 1;
    do {
        if (canary->opencl->cl->GetEventInfo(event, SLRI_CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                             NULL) != SLRI_CL_SUCCESS)
            return false;
        if (status <= 0)
            return status == 0;
        slri_yield();
    } while (!slri_passed(deadline_ns));
    return false;
}

// The event is given up.
static bool await(struct canary *canary, slri_cl_queue queue, slri_cl_event event)
{
    bool ended =
        slri_cl_await(canary->opencl, queue, NULL, slri_deadline_after(SLRI_CL_COMPILES_NS), 1, &event) == SLR_OK;
    slri_cl_let_go(canary->opencl, SLRI_CL_EVENT, event, 0);
    return ended;
}

// Runs it in so many groups; gives how many ran at once, 0 where nothing else can run beside them. The groups have
// ended when this returns: told to, or by themselves.
static uint32_t try_groups(struct canary *canary, uint32_t groups)
{
    slri_cl_event stays[MOST_GROUPS] = {NULL}, ordinary = NULL;
    memset(canary->words, 0, WORDS * sizeof *canary->words);
    uint32_t launched = 0;
    while (launched < groups && launch(canary, canary->stays, launched, &stays[launched]))
        ++launched;
    uint32_t running = launched == groups ? count_running(canary, groups) : 0;
    bool beside = running != 0 && launch(canary, canary->ordinary, 0, &ordinary) &&
                  is_done(canary, ordinary, slri_deadline_after(ORDINARY_NS));
    __atomic_store_n(canary->words + LINE, 1, __ATOMIC_RELEASE); // nothing comes with it
    bool ended = true;
    for (uint32_t i = 0; i < groups; ++i) {
        if (stays[i])
            ended = await(canary, canary->queue[i], stays[i]) && ended;
    }
    if (ordinary)
        await(canary, canary->queue[canary->groups], ordinary);
    // Told by the word, not by its own end: so a write of the host is seen while the kernel runs.
    bool heard = ended && look_at(canary->words + 2 * LINE + 1) < LOOKS;
    return heard && beside ? running : 0;
}

// Drivers that compile a kernel when it is first run do that here: one group each, which is told to go before it comes.
static bool warm_up_probe(struct canary *canary)
{
    canary->words[LINE] = 1;
    for (int i = 0; i < 2; ++i) {
        slri_cl_event event = NULL;
        bool begun = launch(canary, i == 0 ? canary->stays : canary->ordinary, 0, &event);
        bool ended = event && await(canary, canary->queue[i == 0 ? 0 : canary->groups], event);
        if (!begun || !ended)
            return false;
    }
    return true;
}

static void probe(struct slri_opencl *opencl)
{
    // The last unit is left to everything else.
    uint32_t most = opencl->facts.compute_units - 1, groups = 0;
    most = most < MOST_GROUPS ? most : MOST_GROUPS;
    struct canary canary = {.opencl = opencl, .groups = most};
    if (most != 0 && set_up(&canary) && warm_up_probe(&canary))
        for (uint32_t tries = 0; tries < 3 && groups == 0 && most > tries; ++tries)
            groups = try_groups(&canary, most - tries);
    opencl->stay.groups = groups;
    tear_down(&canary);
}

uint32_t slri_cl_groups_that_stay(struct slri_opencl *opencl)
{
    slri_mutex_lock(&opencl->stay_lock);
    if (!opencl->stay.probed && !slri_cl_is_lost(opencl)) {
        probe(opencl);
        opencl->stay.probed = !slri_cl_is_lost(opencl); // else it is tried again when the device is opened again
    }
    slri_mutex_unlock(&opencl->stay_lock);
    return opencl->stay.groups;
}
