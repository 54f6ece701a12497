// SPDX-License-Identifier: Apache-2.0
// A list of operations: checked, every operand resolved and every value typed; then as source.
#ifndef SLRI_FUSE_OPS_H
#define SLRI_FUSE_OPS_H

#include "base/text.h"

#include <slipring/fuse.h>

#include <stdbool.h>

#define SLRI_OPS_MOST 64u
#define SLRI_OPS_THREADS 256 // of a block of an end, at most

struct slri_value { // an operand
    bool is_input;
    uint32_t index; // of the input or the step
};

struct slri_ops_step {
    slr_op op;
    slr_activation activation;
    slr_scalar type; // of the result
    slr_axis axis;   // of an end
    struct slri_value operand[3];
    uint32_t operands;
    bool is_kept;
};

// What a desc asks for. The last step may be an end; no other is.
struct slri_ops {
    const char *name;
    slr_scalar dtype;
    struct slri_ops_step step[SLRI_OPS_MOST];
    uint32_t steps;
    slr_fusion_input input[3 * SLRI_OPS_MOST];
    uint32_t inputs;
    bool has_columns; // the kernel takes their number
};

// Errors: those of slr_fuse up to UNSUPPORTED.
slr_status slri_ops_resolve(const slr_fusion_desc *desc, struct slri_ops *out);

bool slri_ops_is_end(slr_op op);
const char *slri_ops_name(slr_op op, slr_activation activation); // of a known one; "relu", not "activation"
const char *slri_scalar_spelling(slr_scalar type);               // "float", as CUDA C spells it

// All but source and why_not.
void slri_ops_count(const struct slri_ops *ops, slr_fusion_info *out);

// The kernel in the subset of CUDA C.
void slri_ops_write(const struct slri_ops *ops, struct slri_text *out);

// ops_formula.c: the value of a step, from the names of its operands.
void slri_ops_write_formula(const struct slri_ops_step *step, slr_scalar operand_type, const char *const *operand,
                            struct slri_text *out);

#endif
