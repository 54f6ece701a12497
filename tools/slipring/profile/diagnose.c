// SPDX-License-Identifier: Apache-2.0
// What slr_diagnose says of a profile, to which its trace gives the order of events.
#include "profile/profile.h"

#include "say.h"

#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double x = ((const trace_sample *)a)->value, y = ((const trace_sample *)b)->value;
    return (x > y) - (x < y);
}

static double median_of(const trace_counter *c)
{
    trace_sample *sorted = malloc(c->sample_count * sizeof *sorted);
    if (sorted == NULL)
        return 0;
    memcpy(sorted, c->samples, c->sample_count * sizeof *sorted);
    qsort(sorted, c->sample_count, sizeof *sorted, by_value);
    double median = sorted[c->sample_count / 2].value;
    free(sorted);
    return median;
}

// Of each ring kernel whose depth was traced.
static uint32_t find_depths(const trace_file *file, slr_timeline_depth out[PROFILE_DEPTHS])
{
    static const char prefix[] = "depth: ";
    uint32_t count = 0;
    for (size_t i = 0; i < file->counter_count && count < PROFILE_DEPTHS; i++) {
        const trace_counter *c = &file->counters[i];
        if (strncmp(c->name, prefix, sizeof prefix - 1) == 0 && c->sample_count != 0)
            out[count++] = (slr_timeline_depth){c->name + sizeof prefix - 1, median_of(c)};
    }
    return count;
}

bool profile_diagnose(slr_device *device, profile *out)
{
    slr_timeline_depth depths[PROFILE_DEPTHS];
    slr_timeline timeline = SLR_TIMELINE_INIT;
    timeline.streams = out->streams;
    timeline.span_ns = out->span_ns;
    timeline.busy_ns = out->busy_ns;
    timeline.contended_ns = out->contended_ns;
    timeline.following = out->pairs;
    timeline.following_count = out->pair_count;
    timeline.depths = depths;
    timeline.depth_count = find_depths(&out->trace, depths);
    slr_diagnose_desc desc = SLR_DIAGNOSE_DESC_INIT;
    desc.rows = out->rows;
    desc.row_bytes = sizeof *out->rows;
    desc.row_count = (uint32_t)out->row_count;
    desc.timeline = &timeline;
    desc.device = device;
    desc.ceilings = out->has_ceilings ? &out->ceilings : NULL;
    memset(out->advice, 0, sizeof out->advice);
    bool fine = slr_diagnose(&desc, out->advice, SLR_BOTTLENECKS, &out->advised) == SLR_OK;
    if (!fine)
        say("%s", slr_error_message());
    for (uint32_t i = 0; fine && i < out->advised; i++)
        if (out->advice[i].offset != 0)
            out->advice[i].line =
                host_lines_find(out->advice[i].offset, out->advice[i].file, sizeof out->advice[i].file);
    return fine;
}
