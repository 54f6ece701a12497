// SPDX-License-Identifier: Apache-2.0
// A growing array of partial messages.
#include "run/groups.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

void groups_open(groups *groups, size_t message_bytes)
{
    *groups = (struct groups){.message_bytes = message_bytes};
}

void groups_close(groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++)
        kept_row_free(&groups->items[i].kept);
    free(groups->items);
    free(groups->messages);
}

static void grow(groups *groups, uint32_t needed)
{
    uint32_t count = groups->count > 0 ? groups->count : 8;
    while (count < needed)
        count *= 2;
    uint32_t added = count - groups->count;
    groups->items = memory_grow(groups->items, count, sizeof *groups->items);
    groups->messages = memory_grow(groups->messages, count, groups->message_bytes);
    memset(groups->items + groups->count, 0, added * sizeof *groups->items);
    memset(groups->messages + groups->count * groups->message_bytes, 0, added * groups->message_bytes);
    groups->count = count;
}

group *groups_get(groups *groups, uint32_t instance, unsigned char **message)
{
    if (instance >= groups->count)
        grow(groups, instance + 1);
    *message = groups->messages + instance * groups->message_bytes;
    return &groups->items[instance];
}
