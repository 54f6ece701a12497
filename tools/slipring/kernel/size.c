// SPDX-License-Identifier: Apache-2.0
// The size of a launch, as SLR_1D and SLR_2D have it, and arguments that follow it.
#include "kernel/kernel.h"

#include "memory.h"
#include "number.h"
#include "say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int kernel_take_size(const char *text, uint64_t size[3])
{
    const char *rest = text;
    for (int i = 0; i < 3; i++)
        size[i] = 1;
    for (int i = 0; i < 3; i++) {
        char part[24];
        size_t length = strcspn(rest, "x");
        snprintf(part, sizeof part, "%.*s", (int)length, rest);
        if (length >= sizeof part || !number_parse(SLR_U64, part, &size[i]) || size[i] == 0 || size[i] > UINT32_MAX)
            break;
        if (rest[length] == '\0')
            return -1;
        rest += length + 1;
    }
    return say_usage("--size: '%s' is not N, NxM or NxMxK with whole numbers from 1 to 4294967295", text);
}

void kernel_spell_size(const uint64_t size[3], char to[KERNEL_SIZE_BYTES])
{
    int length = snprintf(to, KERNEL_SIZE_BYTES, "%llu", (unsigned long long)size[0]);
    for (int i = 1; i < 3 && (size[i] > 1 || size[2] > 1); i++)
        length += snprintf(to + length, KERNEL_SIZE_BYTES - (size_t)length, "x%llu", (unsigned long long)size[i]);
}

void kernel_spell_sides(const uint32_t sides[3], char to[KERNEL_SIZE_BYTES])
{
    const uint64_t size[3] = {sides[0], sides[1], sides[2]};
    kernel_spell_size(size, to);
}

static char *expand(const char *text, const uint64_t size[3])
{
    size_t room = strlen(text) * 24 + 1, length = 0;
    char *made = memory_take(room, 1);
    for (const char *at = text; *at != '\0'; at++) {
        const char *side = *at == '%' && at[1] != '\0' ? strchr("xyzn", at[1]) : NULL;
        if (side == NULL) {
            made[length++] = *at;
            continue;
        }
        uint64_t number = *side == 'n' ? size[0] * size[1] * size[2] : size[*side - 'x'];
        length += (size_t)snprintf(made + length, room - length, "%llu", (unsigned long long)number);
        at++;
    }
    return made;
}

int kernel_arguments_sized(kernel_arguments *arguments, slr_device *device, const slr_function_info *kernel,
                           const run_list *given, const uint64_t size[3])
{
    run_list expanded = {0};
    for (uint32_t i = 0; i < given->count; i++)
        run_list_add(&expanded, expand(given->items[i], size));
    int end = kernel_arguments_make(arguments, device, kernel, &expanded, true);
    for (uint32_t i = 0; i < expanded.count; i++)
        free((char *)expanded.items[i]);
    free(expanded.items);
    return end;
}
