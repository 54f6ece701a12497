// SPDX-License-Identifier: Apache-2.0
// What a module that is to be debugged has more in its C: variables by the names and types of its source, for who looks
// at them in a debugger.
#ifndef SLRI_EMIT_C_DEBUG_H
#define SLRI_EMIT_C_DEBUG_H

#include "emit/c/internal.h"

// The structs of the source, in front of all functions.
void slri_c_debug_types(struct slri_c_emitter *e);

// Whether a variable of the function being emitted may have that name in C, too: no other has it, and the emitted text
// does not use it.
bool slri_c_debug_is_plain(const struct slri_c_emitter *e, const char *name);
bool slri_c_debug_is_variable(const struct slri_c_emitter *e, slri_reg reg); // the same of what is in a register

// Whether a local is declared as what it is, by that name; the declaration, and one of its bytes by the usual name.
bool slri_c_debug_is_typed(const struct slri_c_emitter *e, const struct slri_local *local);
void slri_c_debug_local(struct slri_c_emitter *e, uint32_t index);

// The handler's state, message and buffers, by their names.
void slri_c_debug_parameters(struct slri_c_emitter *e, const struct slri_entry *entry);

#endif
