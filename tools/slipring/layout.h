// SPDX-License-Identifier: Apache-2.0
/// What can be done with a struct whose layout is known.
#ifndef LAYOUT_H
#define LAYOUT_H

#include <slipring/program.h>

/// Copies the fields. Bytes between them belong to nobody and become zero, so that equal structs are equal bytes.
void layout_copy(const slr_layout *layout, unsigned char *to, const unsigned char *from);

#endif
