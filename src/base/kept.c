// SPDX-License-Identifier: Apache-2.0
#include "base/kept.h"

static uint64_t kept; // atomic

void slri_kept_add(uint64_t bytes)
{
    __atomic_fetch_add(&kept, bytes, __ATOMIC_RELAXED); // a count alone
}

void slri_kept_give_back(uint64_t bytes)
{
    __atomic_fetch_sub(&kept, bytes, __ATOMIC_RELAXED); // a count alone
}

uint64_t slri_kept_bytes(void)
{
    return __atomic_load_n(&kept, __ATOMIC_RELAXED);
}
