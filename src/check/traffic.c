// SPDX-License-Identifier: Apache-2.0
#include "check/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool slri_traffic_create(struct slri_traffic *traffic, struct slri_region *region, const struct slri_flat *flat)
{
    *traffic = (struct slri_traffic){.region = region, .flat = flat};
    traffic->use = slri_region_take(region, (flat->count + 1) * sizeof *traffic->use);
    return traffic->use != NULL;
}

// ---- requests ------------------------------------------------------------------------------------------------------

static int64_t traffic_stride_of(const struct slri_lane_access *access, uint32_t count)
{
    if (count < 2)
        return 0;
    int64_t stride = (int64_t)(access[1].offset - access[0].offset);
    for (uint32_t i = 2; i < count; i++)
        if ((int64_t)(access[i].offset - access[i - 1].offset) != stride)
            return 0;
    return stride;
}

static void count_sectors(struct slri_traffic_use *use, struct slri_lane_access *access, uint32_t count)
{
    uint64_t least;
    use->stride = traffic_stride_of(access, count);
    use->requests++;
    use->sectors += slri_request_sectors(access, count, &least);
    use->least_sectors += least;
}

static void count_banks(struct slri_traffic_use *use, const struct slri_lane_access *access, uint32_t count)
{
    uint64_t least;
    use->shared_requests++;
    use->passes += slri_request_passes(access, count, &least);
    use->least_passes += least;
}

// ---- steps ---------------------------------------------------------------------------------------------------------

// A struct is moved in pieces of up to 16 bytes.
static uint64_t piece_of(uint64_t bytes)
{
    return bytes <= 8 ? bytes : bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 1;
}

static void count_access(struct slri_traffic *traffic, struct slri_traffic_use *use)
{
    uint64_t bytes = traffic->access[0].bytes, piece = piece_of(bytes);
    for (uint64_t at = 0; at < bytes; at += piece) {
        struct slri_lane_access access[SLRI_WARP_THREADS] = {{0, 0}};
        for (uint32_t i = 0; i < traffic->count; i++)
            access[i] = (struct slri_lane_access){traffic->access[i].offset + at, piece};
        if (traffic->is_global)
            count_sectors(use, access, traffic->count);
        else
            count_banks(use, access, traffic->count);
    }
}

static uint32_t count_lanes(uint32_t lanes)
{
    return (uint32_t)__builtin_popcount(lanes);
}

void slri_traffic_end(struct slri_traffic *traffic)
{
    if (traffic->code == NULL)
        return;
    struct slri_traffic_use *use = &traffic->use[traffic->code - traffic->flat->code];
    uint32_t lanes = count_lanes(traffic->lanes);
    use->steps++;
    use->lanes += lanes;
    if (traffic->count > 0)
        count_access(traffic, use);
    if (traffic->code->op == SLRI_CODE_JUMP_IF_ZERO) {
        uint32_t other = lanes - traffic->taken;
        use->branches++;
        use->active += lanes;
        use->splits += traffic->taken > 0 && other > 0;
        use->minority += traffic->taken < other ? traffic->taken : other;
    }
    traffic->code = NULL;
}

void slri_traffic_step(struct slri_traffic *traffic, uint32_t lanes, const struct slri_code *code)
{
    slri_traffic_end(traffic);
    traffic->code = code;
    traffic->lanes = lanes;
    traffic->taken = traffic->count = 0;
    traffic->is_global = traffic->is_shared = false;
}

// Of a copy from global to shared memory what comes first counts: the reading.
void slri_traffic_access(struct slri_traffic *traffic, bool is_shared, uint64_t offset, uint64_t bytes)
{
    if (traffic->count == SLRI_WARP_THREADS || (is_shared ? traffic->is_global : traffic->is_shared))
        return;
    traffic->is_global = !is_shared;
    traffic->is_shared = is_shared;
    traffic->access[traffic->count++] = (struct slri_lane_access){offset, bytes};
}

void slri_traffic_jump(struct slri_traffic *traffic, bool is_taken)
{
    traffic->taken += is_taken;
}

// ---- notes ---------------------------------------------------------------------------------------------------------

static double ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

#define TIMES_TOO_MANY 2 // sectors, or passes

// How much of an instruction's excess there is; 0: too little to mention.
static uint64_t excess_sectors(const struct slri_traffic_use *use)
{
    return use->sectors >= TIMES_TOO_MANY * use->least_sectors ? use->sectors - use->least_sectors : 0;
}

static uint64_t excess_passes(const struct slri_traffic_use *use)
{
    return use->passes >= TIMES_TOO_MANY * use->least_passes ? use->passes - use->least_passes : 0;
}

// A branch counts where a tenth of the lanes that come to it wait for the others: as the smaller side, or because they
// have left the loop that it ends.
static bool is_split(const struct slri_traffic_use *use)
{
    return use->minority * 10 >= use->active && use->splits > 1;
}

static uint64_t excess_lanes(const struct slri_traffic_use *use)
{
    uint64_t all = use->branches * SLRI_WARP_THREADS;
    bool is_left = use->splits * 4 >= use->branches && use->active * 10 < all * 7;
    return is_split(use) || is_left ? all - use->active + use->minority : 0;
}

// The worst instruction of those of the same line is the one that is told of.
static bool is_worst(const struct slri_traffic *traffic, uint32_t index,
                     uint64_t (*excess)(const struct slri_traffic_use *))
{
    const struct slri_where *where = traffic->flat->where;
    uint64_t own = excess(&traffic->use[index]);
    if (own == 0)
        return false;
    for (uint32_t i = 0; i < traffic->flat->count; i++) {
        uint64_t other = excess(&traffic->use[i]);
        bool same_line = where[i].file == where[index].file && where[i].line == where[index].line;
        if (same_line && (other > own || (other == own && i < index)))
            return false;
    }
    return true;
}

static bool add(struct slri_findings *findings, unsigned code, struct slri_where where)
{
    static const struct slri_check_thread nobody = {{0, 0, 0}, {0, 0, 0}};
    return slri_findings_add(findings, code, where, &nobody, NULL, NULL);
}

// Memory is spread over its channels by bits of the address, in pieces of some hundred bytes. Addresses whose distance
// is a large power of two agree in these bits.
#define CHANNELS_BYTES 4096

static bool is_one_channel(int64_t stride)
{
    uint64_t apart = (uint64_t)(stride < 0 ? -stride : stride);
    return apart >= CHANNELS_BYTES && (apart & (apart - 1)) == 0;
}

static void judge(const struct slri_traffic *traffic, uint32_t index, struct slri_findings *findings)
{
    const struct slri_traffic_use *use = &traffic->use[index];
    struct slri_where where = traffic->flat->where[index];
    if (is_worst(traffic, index, excess_sectors) && add(findings, SLRI_C_UNCOALESCED, where)) {
        char apart[160] = "";
        if (use->stride != 0)
            snprintf(apart, sizeof apart, "; neighbouring threads are %lld bytes apart%s", (long long)use->stride,
                     is_one_channel(use->stride) ? ", a power of two, so they reach few of the memory's channels: pad "
                                                   "the rows"
                                                 : "");
        slri_findings_say(
            findings, "a warp's request moves %.1f sectors of 32 bytes, but %.1f would suffice (%.0f %% efficiency)%s",
            ratio(use->sectors, use->requests), ratio(use->least_sectors, use->requests),
            100 * ratio(use->least_sectors, use->sectors), apart);
        slri_findings_measure(findings, "sectors moved / sectors that suffice", ratio(use->sectors, use->least_sectors),
                              TIMES_TOO_MANY);
    }
    if (is_worst(traffic, index, excess_passes) && add(findings, SLRI_C_BANK_CONFLICT, where)) {
        slri_findings_say(findings,
                          "a warp's request to shared memory takes %.1f passes, but %.1f would suffice: bank conflicts "
                          "(32 banks of 4 bytes)",
                          ratio(use->passes, use->shared_requests), ratio(use->least_passes, use->shared_requests));
        slri_findings_measure(findings, "passes over the banks / passes that suffice",
                              ratio(use->passes, use->least_passes), TIMES_TOO_MANY);
    }
    if (is_worst(traffic, index, excess_lanes) && add(findings, SLRI_C_BRANCH_DIVERGENCE, where)) {
        slri_findings_say(
            findings,
            "diverges in %llu of %llu cases; %.1f of 32 lanes are active, and %.1f of these wait for the others",
            (unsigned long long)use->splits, (unsigned long long)use->branches, ratio(use->active, use->branches),
            ratio(use->minority, use->branches));
        if (is_split(use))
            slri_findings_measure(findings, "threads that wait / active threads, at the branch",
                                  ratio(use->minority, use->active), 0.1);
        else
            slri_findings_measure(findings, "times that threads part / times at the branch",
                                  ratio(use->splits, use->branches), 0.25);
    }
}

void slri_traffic_judge(const struct slri_traffic *traffic, struct slri_findings *findings)
{
    for (uint32_t i = 0; i < traffic->flat->count; i++)
        judge(traffic, i, findings);
}

// ---- lines ---------------------------------------------------------------------------------------------------------

static slr_check_line *line_at(slr_check_line *lines, uint32_t *count, const char *file, uint32_t line)
{
    for (uint32_t i = 0; i < *count; i++)
        if (lines[i].line == line && lines[i].file == file)
            return &lines[i];
    lines[*count] = (slr_check_line){.file = file, .line = line};
    return &lines[(*count)++];
}

static int compare_lines(const void *left, const void *right)
{
    const slr_check_line *a = left, *b = right;
    int order = strcmp(a->file, b->file);
    return order ? order : a->line < b->line ? -1 : a->line > b->line;
}

bool slri_traffic_lines(const struct slri_traffic *traffic, struct slri_region *region, slr_check_line **out,
                        uint32_t *count)
{
    const struct slri_flat *flat = traffic->flat;
    slr_check_line *lines = slri_region_take(region, (flat->count + 1) * sizeof *lines);
    *count = 0;
    if (lines == NULL)
        return false;
    for (uint32_t i = 0; i < flat->count; i++) {
        const struct slri_traffic_use *use = &traffic->use[i];
        if (use->requests + use->shared_requests + use->branches == 0)
            continue;
        slr_check_line *line = line_at(lines, count, flat->module->file[flat->where[i].file], flat->where[i].line);
        line->requests += use->requests;
        line->sectors += use->sectors;
        line->least_sectors += use->least_sectors;
        line->shared_requests += use->shared_requests;
        line->passes += use->passes;
        line->least_passes += use->least_passes;
        line->branches += use->branches;
        line->splits += use->splits;
        line->steps += use->steps;
        line->lanes += use->lanes;
    }
    qsort(lines, *count, sizeof *lines, compare_lines);
    *out = lines;
    return true;
}
