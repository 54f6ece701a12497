// SPDX-License-Identifier: Apache-2.0
/// Replies that a caller gets before their outputs are known to be stored. The worker's answer names an append (a log
/// and a record); the server says which appends it has stored. Only both together are a reply. They come in any order.
#ifndef SLRI_CLUSTER_PROOF_H
#define SLRI_CLUSTER_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SLRI_PROOFS = 8 }; // answers of workers that were stopped, and what was stored for earlier calls, come between

typedef struct slri_proof {
    uint64_t log, record;
    uint32_t status;
    bool has_answer, is_stored;
    const void *payload; // of the answer: borrowed from the proofs
} slri_proof;

typedef struct slri_proofs {
    slri_proof list[SLRI_PROOFS];
    unsigned char *payloads; // SLRI_PROOFS times `bytes`: the caller's memory
    size_t bytes;
    uint32_t next; // that is used again
} slri_proofs;

/// Before a call: nothing that was heard before belongs to it.
void slri_proofs_forget(slri_proofs *proofs);
/// A worker's answer, and that the server has stored a record. NULL: not both are known yet.
const slri_proof *slri_proofs_answered(slri_proofs *proofs, uint64_t log, uint64_t record, uint32_t status,
                                       const void *payload);
const slri_proof *slri_proofs_stored(slri_proofs *proofs, uint64_t log, uint64_t record);

#endif
