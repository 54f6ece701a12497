// SPDX-License-Identifier: Apache-2.0
// What "auto" is: the devices of all backends, by what they are.
#include "device/automatic.h"

#include "base/sim.h"
#include "base/status.h"
#include "engine/hooks.h"

#include <stdio.h>

const char *slri_device_class_name(uint32_t device_class)
{
    static const char *const name[] = {
        [SLR_DEVICE_GPU] = "a GPU",
        [SLR_DEVICE_INTEGRATED_GPU] = "an integrated GPU",
        [SLR_DEVICE_CPU] = "this machine's cores",
        [SLR_DEVICE_OTHER] = "neither a GPU nor a CPU",
        [SLR_DEVICE_SOFTWARE] = "software on this machine's cores",
        [SLR_DEVICE_NOTHING] = "computes nothing",
    };
    return device_class < sizeof name / sizeof *name && name[device_class] ? name[device_class] : "not said";
}

void slri_note_refusal(slri_text *why, const char *name, const char *reason)
{
    slri_text others = *why;
    *why = (slri_text)SLRI_TEXT_INIT;
    slri_text_printf(why, "%s: %s%s%s", name, reason, others.length ? "; " : "", slri_text_view(&others));
    slri_text_free(&others);
}

// Before those of its class, which come later in the list, and after better ones. Where there is no room the last goes.
static void insert(struct slri_candidates *all, const struct slri_candidate *candidate)
{
    if (all->count == SLRI_MOST_CANDIDATES && all->candidate[all->count - 1].device_class < candidate->device_class)
        return;
    uint32_t at = all->count < SLRI_MOST_CANDIDATES ? all->count++ : all->count - 1;
    for (; at > 0 && all->candidate[at - 1].device_class >= candidate->device_class; --at)
        all->candidate[at] = all->candidate[at - 1];
    all->candidate[at] = *candidate;
}

static void add_backend(const struct slri_backend *backend, struct slri_candidates *out, slri_text *why)
{
    uint32_t devices = 0;
    if (backend->probe(true, &devices) != SLR_OK) {
        slri_note_refusal(why, backend->name, slr_error_message());
        return;
    }
    for (uint32_t i = devices; i-- != 0;) {
        struct slri_candidate candidate;
        snprintf(candidate.spec, sizeof candidate.spec, devices > 1 || i > 0 ? "%s:%u" : "%s", backend->name, i);
        struct slri_facts facts = {0};
        if (backend->facts(NULL, i, &facts, NULL) != SLR_OK) {
            slri_note_refusal(why, candidate.spec, slr_error_message());
        } else if (facts.device_class != SLR_DEVICE_NOTHING) { // which nobody means by "auto"
            candidate.device_class = facts.device_class;
            insert(out, &candidate);
        }
    }
}

void slri_find_candidates(struct slri_candidates *out, slri_text *why)
{
    const struct slri_backend *const *first = slri_hooks()->backends, *const *b = first;
    out->count = 0;
    while (*b)
        ++b;
    while (b-- != first) { // from the end, so that the reason against the first comes first
        const struct slri_backend *backend = *b;
        if (!slri_sim_on() || backend->simulates)
            add_backend(backend, out, why);
    }
}
