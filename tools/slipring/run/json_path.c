// SPDX-License-Identifier: Apache-2.0
// Splits the names of flattened fields. They are C's identifiers, so no character in them needs care.
#include "run/json_path.h"

#include "memory.h"

#include <stdlib.h>
#include <string.h>

static json_step step_of(const char *from, size_t length)
{
    json_step step = {0};
    if (*from == '[') {
        step.index = (uint32_t)strtoul(from + 1, NULL, 10);
        return step;
    }
    step.name = memory_take(length + 1, 1);
    memcpy(step.name, from, length);
    return step;
}

static json_path path_of(const char *name)
{
    json_path path = {0};
    while (*name != '\0') {
        size_t length = *name == '[' ? strcspn(name, "]") + 1 : strcspn(name, ".[");
        path.steps = memory_grow(path.steps, path.count + 1, sizeof *path.steps);
        path.steps[path.count++] = step_of(name, length);
        name += length;
        name += *name == '.';
    }
    return path;
}

json_path *json_paths_of(const slr_layout *layout)
{
    json_path *paths = memory_take(layout->field_count + 1, sizeof *paths);
    for (uint32_t i = 0; i < layout->field_count; i++)
        paths[i] = path_of(layout->fields[i].name);
    return paths;
}

void json_paths_free(json_path *paths, uint32_t count)
{
    for (uint32_t i = 0; paths != NULL && i < count; i++) {
        for (uint32_t k = 0; k < paths[i].count; k++)
            free(paths[i].steps[k].name);
        free(paths[i].steps);
    }
    free(paths);
}

const json_t *json_path_find(const json_path *path, const json_t *object)
{
    for (uint32_t i = 0; object != NULL && i < path->count; i++) {
        const json_step *step = &path->steps[i];
        object = step->name != NULL ? json_object_get(object, step->name) : json_array_get(object, step->index);
    }
    return object;
}

static bool same_step(const json_step *a, const json_step *b)
{
    if (a->name == NULL || b->name == NULL)
        return a->name == b->name && a->index == b->index;
    return strcmp(a->name, b->name) == 0;
}

uint32_t json_paths_common(const json_path *a, const json_path *b)
{
    uint32_t count = 0;
    while (count < a->count && count < b->count && same_step(&a->steps[count], &b->steps[count]))
        count++;
    return count;
}
