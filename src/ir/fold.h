// SPDX-License-Identifier: Apache-2.0
// Arithmetic on constants, as executors of the IR compute it.
#ifndef SLRI_IR_FOLD_H
#define SLRI_IR_FOLD_H

#include "ir/ir.h"

// Values are the bits of a register kind, zero-extended to 64.
uint64_t slri_value_of_double(enum slri_kind kind, double value);
uint64_t slri_value_of_int(enum slri_kind kind, int64_t value);
int64_t slri_value_to_int(enum slri_kind kind, uint64_t bits); // of an integer kind: sign- or zero-extended
bool slri_value_is_zero(enum slri_kind kind, uint64_t bits);   // also of -0.0

// False where the result is not known now: a division by zero.
bool slri_fold_binary(enum slri_op op, enum slri_kind kind, uint64_t a, uint64_t b, uint64_t *out);
uint64_t slri_fold_unary(enum slri_op op, enum slri_kind kind, uint64_t a);
uint64_t slri_fold_convert(enum slri_kind from, enum slri_kind to, uint64_t bits);

#endif
