// SPDX-License-Identifier: Apache-2.0
// Tables of what instructions compute. A function gets its operands' bits, and gives the result's.
#ifndef TESTS_PTX_ALU_H
#define TESTS_PTX_ALU_H

#include "tests/ptx/inside.h"

struct ptx_row {
    const char *opcode;
    ptx_alu *alu;
};

// Up to a row without an opcode.
extern const struct ptx_row ptx_integers[], ptx_bits[], ptx_floats[], ptx_compares[];

// PTX_FN(name, expression of the operands A, B, C, D as type T)
#define PTX_FN(name, expression)                                                                                       \
    static uint64_t name(struct ptx_lane *lane, const uint64_t *v, const struct ptx_ins *ins)                          \
    {                                                                                                                  \
        (void)lane, (void)v, (void)ins;                                                                                \
        return (uint64_t)(expression);                                                                                 \
    }

#endif
