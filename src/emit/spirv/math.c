// SPDX-License-Identifier: Apache-2.0
// Functions of the math library that are an instruction or a few, with the bits of the library.
#include "emit/spirv/internal.h"
#include "ir/math/functions.h"

void slri_s_math(struct slri_s *s, const struct slri_instr *in)
{
    slri_s_refuse(s, in, "math", "none");
}
