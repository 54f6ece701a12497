// SPDX-License-Identifier: Apache-2.0
// Named regions of a thread's time.
#include "observe/names.h"
#include "observe/nvtx.h"
#include "observe/observe.h"

#include <slipring/trace.h>

void slr_region_begin(const char *name)
{
    const struct slri_nvtx *nvtx = slri_nvtx();
    struct slri_own *own = slri_own();
    if (!own)
        return;
    if (!name)
        name = "";
    if (nvtx->push)
        nvtx->push(name);
    uint32_t at = own->regions++;
    if (at >= SLRI_REGIONS)
        return;
    own->region[at].row = NULL;
    if (slri_is_observed()) {
        own->region[at].row = slri_row(SLR_PROFILE_REGION, slri_name(name), 0, 0);
        own->region[at].begin = slri_tick();
    }
}

void slr_region_end(void)
{
    const struct slri_nvtx *nvtx = slri_nvtx();
    struct slri_own *own = slri_own();
    if (!own || own->regions == 0)
        return;
    if (nvtx->pop)
        nvtx->pop();
    uint32_t at = --own->regions;
    if (at < SLRI_REGIONS && own->region[at].row)
        slri_observe_slice(own->region[at].row, 0, own->region[at].begin, slri_tick(), 0);
}
