// SPDX-License-Identifier: Apache-2.0
// One value of a kernel's arithmetic types, as the interpreter holds it in a register: 8 bytes, the member says the
// type.
#ifndef SLRI_IR_MATH_SCALAR_H
#define SLRI_IR_MATH_SCALAR_H

#include <stdint.h>

union slri_scalar {
    float f32;
    double f64;
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
};

_Static_assert(sizeof(union slri_scalar) == 8, "a register of the interpreter is 8 bytes");

#endif
