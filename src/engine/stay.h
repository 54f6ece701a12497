// SPDX-License-Identifier: Apache-2.0
// The kernel that stays as text in the kernel subset (device/stay.h), for a driver that compiles no text: slipring's
// own front end makes IR of it, and ir/pass/handler_kernel.h puts a shard's handler in.
#ifndef SLRI_ENGINE_STAY_H
#define SLRI_ENGINE_STAY_H

#include "base/text.h"
#include "engine/relaunch.h"

// Appends the text for a shard. The mailbox's words that stay as they are (of `shared`) are numbers in it: what they
// rule out is no part of the code, of which drivers that put functions into one take long for more.
void slri_stay_text(const struct slri_shard *shard, slri_text *out);

// What the handler in it is given: as in batches, of one message each. A message lies in the mailbox, where its slot's
// number is, and so do its replies. Errors: UNSUPPORTED (too long a result).
slr_status slri_stay_lay_out(const struct slri_shard *shard, struct slri_relaunch *out);
uint64_t slri_stay_record_bytes(const struct slri_relaunch *layout);
void slri_stay_constants(const struct slri_shard *shard, const struct slri_relaunch *layout,
                         unsigned char *to); // constants_bytes of them

#endif
