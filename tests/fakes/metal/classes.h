// SPDX-License-Identifier: Apache-2.0
// What descriptions hold.
#ifndef TESTS_FAKES_METAL_CLASSES_H
#define TESTS_FAKES_METAL_CLASSES_H

#include "tests/fakes/metal/inside.h"

struct compile_options {
    struct object object;
    bool has_fast_math;
    uint64_t version;
};
struct pipeline_how {
    struct object object;
    struct object *function, *archives;
    uint64_t most_threads;
};
struct archive_how {
    struct object object;
    struct object *url;
};

#endif
