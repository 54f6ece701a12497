// SPDX-License-Identifier: Apache-2.0
#ifndef SLRI_ENGINE_MAILBOX_TEXT_H
#define SLRI_ENGINE_MAILBOX_TEXT_H

#include "base/text.h"

// Appends abi/mailbox.h and abi/passage.h, with what it includes, as text for a device's compiler, for an owner that is
// a kernel. Before it must stand: `__device__`, the `__nv_atomic_*` functions and `__clz`, and MB_ARENA where S and P
// are in an address space of their own. It defines names that begin with mb_, mbo_, MB_, MBP_, MBQ_ and MBO_ alone.
void slri_mailbox_text(slri_text *out);

#endif
