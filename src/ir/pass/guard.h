// SPDX-License-Identifier: Apache-2.0
// Kernels that look after themselves: each access is done only inside its object, and each loop asks from time to time
// whether it may go on. What goes wrong first is noted in a variable of the module; from then on loops end soon. So
// code that nobody trusts can run on any device.
//
// Not seen: a loop of a driver's own, as in a math function; and who waits for another thread waits as long as the
// fuel says.
#ifndef SLRI_IR_PASS_GUARD_H
#define SLRI_IR_PASS_GUARD_H

#include "ir/ir.h"

#define SLRI_GUARD_NAME "slri_guard"

enum slri_guarded {
    SLRI_GUARDED_NONE,
    SLRI_GUARDED_FUEL,
    SLRI_GUARDED_READ,
    SLRI_GUARDED_WRITE,
};

// The variable: what the host writes before a launch, and what the first thread that goes wrong leaves there. Behind it
// come the bytes of each argument of the kernel, 8 bytes each.
struct slri_guard {
    uint32_t found; // enum slri_guarded
    uint32_t most;  // iterations of the loops of one function; known to SLRI_GUARD_STEP
    uint32_t fuel;  // how many there may be
    uint32_t dynamic_bytes;
    uint32_t file, line;
    uint32_t root_kind, root_index; // of an access
    int64_t offset;
};
#define SLRI_GUARD_STEP 256u

// Changes the module in place; it keeps its kernels alone. False: no memory.
bool slri_guard(struct slri_module *module);

#endif
