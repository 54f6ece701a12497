// SPDX-License-Identifier: Apache-2.0
/// Where a field stands in a JSON object: "pos.x" is member x of member pos, "leg[0].angle" member angle of element 0
/// of leg.
#ifndef JSON_PATH_H
#define JSON_PATH_H

#include <slipring/program.h>

#include <jansson.h>

#include <stdbool.h>

typedef struct json_step {
    char *name; // of a member; NULL: an element
    uint32_t index;
} json_step;

typedef struct json_path {
    json_step *steps;
    uint32_t count;
} json_path;

/// A path for each field of a struct, to json_paths_free.
json_path *json_paths_of(const slr_layout *layout);
void json_paths_free(json_path *paths, uint32_t count);

/// What stands there, borrowed; NULL where there is nothing.
const json_t *json_path_find(const json_path *path, const json_t *object);

/// How many steps two paths have in common.
uint32_t json_paths_common(const json_path *a, const json_path *b);

#endif
