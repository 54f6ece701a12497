// SPDX-License-Identifier: Apache-2.0
/// The numbers of SLR_F16 and SLR_BF16, by their bits.
#ifndef NUMBER_HALF_H
#define NUMBER_HALF_H

#include <slipring/program.h>

#include <stdbool.h>
#include <stdint.h>

double number_of_half(slr_scalar scalar, uint16_t bits);

/// The nearest. False, and nothing stored: it is finite and too large.
bool number_to_half(slr_scalar scalar, double value, uint16_t *bits);

#endif
