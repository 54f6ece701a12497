// SPDX-License-Identifier: Apache-2.0
// On a device that runs the threads of a group in a loop of a core, as PoCL does, `if (i < n)` around a kernel's work
// makes each load and store of the vectorised loop a masked one. So where the index is a number plus threadIdx.x, the
// work is written twice: for a group whose threads all have something to do, and for others.
#ifndef SLRI_EMIT_OPENCL_WHOLE_H
#define SLRI_EMIT_OPENCL_WHOLE_H

#include "emit/opencl/level.h"

// Puts what stands before `if (i < n)`: the whole group's test, the work, and `else`. Before other branches nothing.
void slri_opencl_put_whole(struct slri_d_emitter *e, const struct slri_instr *in);

#endif
