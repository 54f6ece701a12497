// SPDX-License-Identifier: Apache-2.0
// The list of a program that has the tests' backends, in place of src/api/backend_list.c.
#include "tests/fakes/failing/failing.h"
#include "tests/fakes/toy/toy.h"

#include "api/api.h"

const struct slri_backend *const slri_backends[] = {&slri_backend_cpu, &slri_backend_null, &slri_backend_toy,
                                                    &slri_backend_failing, NULL};
