// SPDX-License-Identifier: Apache-2.0
// Runs a math function or a conversion on values, for the interpreter: the same code, and so the same bits, as compiled
// kernels.
#ifndef SLRI_IR_MATH_EVAL_H
#define SLRI_IR_MATH_EVAL_H

#include "ir/math/functions.h"
#include "ir/math/scalar.h"

/// `id` is an enum slri_math_id, `args` has that function's arity. The bytes of `result` beyond its type are zero.
///
/// Threads: any.  Blocks: no.  Errors: none; every argument has a defined result.
void slri_math_eval(unsigned id, const union slri_scalar *args, union slri_scalar *result);

/// `id` is an enum slri_math_conversion. The bytes of `result` beyond its type are zero.
///
/// Threads: any.  Blocks: no.  Errors: none.
void slri_math_convert(unsigned id, const union slri_scalar *value, union slri_scalar *result);

#endif
