// SPDX-License-Identifier: Apache-2.0
// Recorded lists. WebGPU has command buffers that run once alone, so what is kept is the commands: their bind groups,
// pipelines and values are found again, and nothing is made anew.
#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "hal/webgpu/webgpu.h"

static slr_status check_part(const struct slri_webgpu *webgpu, const struct slri_command *command)
{
    return command->op <= SLRI_FILL || command->op == SLRI_DISPATCH
               ? SLR_OK
               : SLRI_FAIL(UNSUPPORTED, "device '%s': a host function cannot be in a recorded list", webgpu->name);
}

slr_status slri_wg_list_create(void *device, const struct slri_command *command, const struct slri_extras *extras,
                               uint32_t commands, void **list)
{
    struct slri_webgpu *webgpu = device;
    SLRI_TRY(slri_loss_check(&webgpu->loss));
    for (uint32_t i = 0; i < commands; ++i)
        SLRI_TRY(check_part(webgpu, &command[i]));
    const size_t bytes = sizeof(struct slri_wg_list) + commands * sizeof(struct slri_wg_part);
    struct slri_wg_list *made = slri_alloc(webgpu->allocator, bytes);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a list", webgpu->name);
    made->bytes = bytes;
    made->count = commands;
    for (uint32_t i = 0; i < commands; ++i)
        made->part[i] = (struct slri_wg_part){command[i], extras[i]};
    *list = made;
    return SLR_OK;
}

void slri_wg_list_destroy(void *device, void *list)
{
    struct slri_webgpu *webgpu = device;
    struct slri_wg_list *dying = list;
    slri_free(webgpu->allocator, dying, dying->bytes);
}
