// SPDX-License-Identifier: Apache-2.0
// A library that gives operations, opened at most once: one that is not there is not looked for again.
#ifndef SLRI_OPS_PROVIDER_H
#define SLRI_OPS_PROVIDER_H

#include "base/dl.h"

#include <slipring/ops.h>

#include <stdbool.h>

struct slri_ops_library {
    struct slri_dl_vendor vendor;
    bool was_asked;
    uint32_t forks; // base/forks.h: of the process that asked
    char why_not[512];
    slr_provider told; // `why_not` is set with the first call
};

// What slr_ops_visit_providers tells; opens the library with the first call. In a child, by fork(), of the process that
// opened it the library is not used.
const slr_provider *slri_ops_library_describe(struct slri_ops_library *library);

#endif
