// SPDX-License-Identifier: Apache-2.0
// printf's format, as the front end checks it and as whoever delivers a kernel's output fills it in.
#ifndef SLRI_IR_FORMAT_H
#define SLRI_IR_FORMAT_H

#include "base/text.h"
#include "ir/ir.h"
#include "ir/math/scalar.h"

struct slri_conversion {
    const char *start;   // the %
    uint32_t length;     // up to its letter, which counts
    enum slri_kind kind; // I32, U32, I64, U64 or F64: what it takes. VOID: it is none that is known
};

// Finds the next conversion that takes an argument, and moves *text behind it; false: there is none any more.
bool slri_format_next(const char **text, struct slri_conversion *out);

#define SLRI_PRINT_MAX_VALUES 32  // as CUDA has it
#define SLRI_PRINT_MAX_BYTES 4096 // of one printf: what is more is cut off

// Appends what printf would write, at most SLRI_PRINT_MAX_BYTES; `value` holds one for each conversion.
void slri_format_fill(const char *text, const union slri_scalar *value, struct slri_text *out);

#endif
