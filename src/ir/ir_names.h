// SPDX-License-Identifier: Apache-2.0
// Lower-case names of the IR's enums, for texts that people read. Internal to the printer and the verifier.
#ifndef SLRI_IR_IR_NAMES_H
#define SLRI_IR_IR_NAMES_H

#include "ir/ir.h"

const char *slri_op_name(enum slri_op op);       // "ATOMIC_RMW", or "?"
const char *slri_kind_name(enum slri_kind kind); // "I32", "VOID", or "?"
const char *slri_root_name(enum slri_root_kind kind);
const char *slri_rmw_name(uint64_t rmw);
const char *slri_order_name(unsigned order);
const char *slri_scope_name(unsigned scope);
const char *slri_builtin_name(uint64_t builtin); // "threadIdx.x"
const char *slri_barrier_name(uint64_t barrier);
const char *slri_fault_text(uint32_t fault); // enum slri_fault (abi/handler.h): what to say of it, or "?"

#endif
