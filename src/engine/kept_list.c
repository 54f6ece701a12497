// SPDX-License-Identifier: Apache-2.0
#include "engine/kept_list.h"

#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"

static slr_status check_part(const char *device, bool moves_over, const struct slri_command *command)
{
    if (command->op > SLRI_FILL && command->op != SLRI_DISPATCH)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': a host function cannot be in a recorded list", device);
    if (command->op == SLRI_DISPATCH && slri_print_is_heard(command))
        return SLRI_FAIL(UNSUPPORTED, "device '%s': printf of kernel %s does not work in a recorded list", device,
                         command->dispatch.entry->name);
    if (command->op == SLRI_COPY && !moves_over && slri_move_overlaps(command))
        return SLRI_FAIL(UNSUPPORTED, "device '%s': a copy between overlapping ranges cannot be in a recorded list",
                         device);
    return SLR_OK;
}

slr_status slri_kept_list_create(const char *device, const slr_allocator *allocator, bool moves_over,
                                 const struct slri_command *command, const struct slri_extras *extras,
                                 uint32_t commands, void **list)
{
    for (uint32_t i = 0; i < commands; ++i)
        SLRI_TRY(check_part(device, moves_over, &command[i]));
    const size_t bytes = sizeof(struct slri_kept_list) + commands * sizeof(struct slri_kept_part);
    struct slri_kept_list *made = slri_alloc(allocator, bytes);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a list", device);
    made->allocator = allocator;
    made->bytes = bytes;
    made->count = commands;
    for (uint32_t i = 0; i < commands; ++i)
        made->part[i] = (struct slri_kept_part){command[i], extras[i]};
    *list = made;
    return SLR_OK;
}

void slri_kept_list_destroy(void *device, void *list)
{
    struct slri_kept_list *dying = list;
    (void)device;
    slri_free(dying->allocator, dying, dying->bytes);
}
