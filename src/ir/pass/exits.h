// SPDX-License-Identifier: Apache-2.0
// Loops that a thread leaves at their head alone, for targets whose drivers may compute several threads at once, as
// Vulkan's. Where threads leave a loop after different numbers of turns, drivers have given those that left early what
// later turns compute (Mesa 22.3's lavapipe, SwiftShader: docs/rationale.md). What a loop's head chooses between two
// values they keep for each thread.
//
// So where a value of a loop is read behind it, or a thread's own memory is written in it, a register says whether the
// thread stays. A jump out of the loop clears it and continues, and the head asks for it. Loops in which threads wait
// stay as they are: all threads leave these together.
#ifndef SLRI_IR_PASS_EXITS_H
#define SLRI_IR_PASS_EXITS_H

#include "ir/ir.h"

// Changes the module in place. False: no memory.
bool slri_exits(struct slri_module *module);

#endif
