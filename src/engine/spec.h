// SPDX-License-Identifier: Apache-2.0
// The string that names a device: "cpu", "cuda:1", "cpu?engine=interpreted&threads=1".
#ifndef SLRI_ENGINE_SPEC_H
#define SLRI_ENGINE_SPEC_H

#include "hal/hal.h"

// Parses `bytes` characters of text. INVALID says what is wrong with it.
slr_status slri_spec_parse(const char *text, size_t bytes, struct slri_spec *out);

// The option's value, or NULL.
const char *slri_spec_option(const struct slri_spec *spec, const char *name);

// INVALID unless every option of the spec is one of the NULL-terminated list.
slr_status slri_spec_check_options(const struct slri_spec *spec, const char *const *known);

#endif
