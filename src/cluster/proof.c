// SPDX-License-Identifier: Apache-2.0
// Joins answers with what the server says is stored. Never takes one for the other.
#include "cluster/proof.h"

#include <string.h>

void slri_proofs_forget(slri_proofs *proofs)
{
    memset(proofs->list, 0, sizeof proofs->list);
    proofs->next = 0;
}

static slri_proof *proof_of(slri_proofs *proofs, uint64_t log, uint64_t record)
{
    for (uint32_t i = 0; i < SLRI_PROOFS; ++i) {
        if (proofs->list[i].log == log && proofs->list[i].record == record)
            return &proofs->list[i];
    }
    slri_proof *proof = &proofs->list[proofs->next++ % SLRI_PROOFS];
    *proof = (slri_proof){.log = log, .record = record};
    return proof;
}

const slri_proof *slri_proofs_answered(slri_proofs *proofs, uint64_t log, uint64_t record, uint32_t status,
                                       const void *payload)
{
    slri_proof *proof = proof_of(proofs, log, record);
    unsigned char *to = proofs->payloads + (size_t)(proof - proofs->list) * proofs->bytes;
    if (proofs->bytes)
        memcpy(to, payload, proofs->bytes);
    proof->payload = to;
    proof->status = status;
    proof->has_answer = true;
    return proof->is_stored ? proof : NULL;
}

const slri_proof *slri_proofs_stored(slri_proofs *proofs, uint64_t log, uint64_t record)
{
    slri_proof *proof = proof_of(proofs, log, record);
    proof->is_stored = true;
    return proof->has_answer ? proof : NULL;
}
