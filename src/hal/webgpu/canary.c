// SPDX-License-Identifier: Apache-2.0
// Runs the kernel that finds out how many turns a loop may take (engine/canary.h).
#include "base/clock.h"
#include "base/status.h"
#include "hal/webgpu/webgpu.h"

static slr_status count_in(struct slri_webgpu *webgpu, void *queue, void *memory, uint32_t word[3])
{
    const struct slri_command back = {.op = SLRI_COPY_OUT, .copy = {memory, word, 3 * sizeof *word}};
    const struct slri_extras none = {0};
    SLRI_TRY(slri_wg_queue_count(webgpu, queue, memory, SLRI_CANARY_TURNS, SLRI_CANARY_FEW));
    SLRI_TRY(slri_buffered_encode(webgpu, queue, &back, &none, 1));
    return slri_buffered_wait(webgpu, queue, slri_deadline_after(SLRI_HANG_TIMEOUT_NS), NULL);
}

static slr_status count_with(struct slri_webgpu *webgpu, void *queue, uint32_t word[3])
{
    void *memory;
    SLRI_TRY(slri_wg_memory_create(webgpu, SLRI_MEMORY_DEVICE, 3 * sizeof *word, &memory));
    slr_status status = count_in(webgpu, queue, memory, word);
    slri_buffered_memory_destroy(webgpu, SLRI_MEMORY_DEVICE, memory, 3 * sizeof *word);
    return status;
}

slr_status slri_wg_run_canary(void *device, uint32_t word[3])
{
    struct slri_webgpu *webgpu = device;
    void *queue;
    SLRI_TRY(slri_buffered_queue_create(webgpu, SLR_DEFAULT_PRIORITY, &queue));
    slr_status status = count_with(webgpu, queue, word);
    slri_buffered_destroy(webgpu, queue);
    return status;
}
