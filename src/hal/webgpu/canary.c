// SPDX-License-Identifier: Apache-2.0
// Whether the driver below the library ends loops by itself. Some do after 65,535 turns, and say nothing: a kernel that
// needs more would give a wrong result. So a loop of more turns runs once a device, before its first kernel is written.
#include "base/clock.h"
#include "base/status.h"
#include "hal/webgpu/webgpu.h"

#define TURNS 200000u
#define FEW 2u

// The compiler cannot know this without taking the turns.
static uint32_t expected(void)
{
    uint32_t x = 1;
    for (uint32_t i = 0; i < TURNS; ++i)
        x = x * 1664525u + 1013904223u;
    return x;
}

static slr_status count_in(struct slri_webgpu *webgpu, void *queue, void *memory, uint32_t word[3])
{
    const struct slri_command back = {.op = SLRI_COPY_OUT, .copy = {memory, word, 3 * sizeof *word}};
    const struct slri_extras none = {0};
    SLRI_TRY(slri_wg_queue_count(webgpu, queue, memory, TURNS, FEW));
    SLRI_TRY(slri_wg_encode(webgpu, queue, &back, &none, 1));
    return slri_wg_wait(webgpu, queue, slri_deadline_after(SLRI_WG_PATIENCE_NS), NULL);
}

static slr_status count_with(struct slri_webgpu *webgpu, void *queue)
{
    uint32_t word[3] = {0};
    void *memory;
    SLRI_TRY(slri_wg_memory_create(webgpu, SLRI_MEMORY_DEVICE, sizeof word, &memory));
    slr_status status = count_in(webgpu, queue, memory, word);
    slri_wg_memory_destroy(webgpu, SLRI_MEMORY_DEVICE, memory, sizeof word);
    if (status != SLR_OK)
        return status;
    webgpu->loop_turns = word[1] == expected() ? 0 : word[0];
    webgpu->loops_stay_ended = word[2] != FEW;
    return SLR_OK;
}

static slr_status try_out(struct slri_webgpu *webgpu)
{
    void *queue;
    SLRI_TRY(slri_wg_queue_create(webgpu, SLR_DEFAULT_PRIORITY, &queue));
    slr_status status = count_with(webgpu, queue);
    slri_wg_queue_destroy(webgpu, queue);
    return status;
}

slr_status slri_wg_count_turns(struct slri_webgpu *webgpu, uint64_t *out)
{
    slr_status status = SLR_OK;
    slri_mutex_lock(&webgpu->canary_lock);
    if (!webgpu->canary_ran)
        status = try_out(webgpu);
    webgpu->canary_ran = webgpu->canary_ran || status == SLR_OK;
    *out = webgpu->loop_turns;
    slri_mutex_unlock(&webgpu->canary_lock);
    return status;
}
