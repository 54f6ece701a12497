// SPDX-License-Identifier: Apache-2.0
// IR as text that people read and golden tests compare: the same module gives the same text on every machine.
#ifndef SLRI_IR_IR_PRINT_H
#define SLRI_IR_IR_PRINT_H

#include "base/text.h"
#include "ir/ir.h"

// Appends it. Any module whose pointers can be followed will do, verified or not: that is when one wants to read it.
void slri_module_print(const struct slri_module *module, struct slri_text *out);

#endif
