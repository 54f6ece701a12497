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

// The name of the device that the spec names, without its options: "cuda:1", "vulkan:llvmpipe".
void slri_spec_put_name(const struct slri_spec *spec, const char *backend, char *out, size_t room);
// Which of a driver's `count` devices the spec names: by its index, or by its id, which `has_id` compares with device
// i. `advice` ends the message about an id. Errors: NO_DEVICE (none of them, or several), those of `has_id`.
typedef slr_status slri_spec_has_id(void *user, uint32_t i, const char *id, bool *out);
slr_status slri_spec_choose(const struct slri_spec *spec, const char *backend, uint32_t count, slri_spec_has_id *has_id,
                            void *user, const char *advice, uint32_t *out);

// "8f2c0a11-...", as drivers' own tools print it.
void slri_spec_put_uuid(const unsigned char bytes[16], char out[37]);

#endif
