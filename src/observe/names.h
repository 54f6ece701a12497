// SPDX-License-Identifier: Apache-2.0
// Texts that are met again and again, as numbers: an event holds a number, and the text is there for ever. At most
// SLRI_NAMES of them; what comes behind is "(others)".
#ifndef SLRI_OBSERVE_NAMES_H
#define SLRI_OBSERVE_NAMES_H

#include <stdint.h>

#define SLRI_NAMES 4096u
#define SLRI_NAME_BYTES 200u // longer ones are cut

// The text's number, from 1; copied the first time. Found again without a lock.
uint32_t slri_name(const char *text);
const char *slri_name_text(uint32_t name); // "" for 0
const char *slri_name_json(uint32_t name); // escaped, without quotation marks

#endif
