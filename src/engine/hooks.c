// SPDX-License-Identifier: Apache-2.0
// The table of what the layers above do, and the word that says who watches.
#include "engine/hooks.h"
#include "engine/observe.h"

const struct slri_hooks *slri_hooks_table;
uint32_t slri_observed;
_Thread_local struct slri_site slri_site;
_Thread_local bool slri_site_is_kept;

void slri_hooks_set(const struct slri_hooks *hooks)
{
    __atomic_store_n(&slri_hooks_table, hooks, __ATOMIC_RELAXED); // slri_hooks says why
}
