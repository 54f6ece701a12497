// SPDX-License-Identifier: Apache-2.0
// The rows and the trace that a program left, and the figures that are made of both.
#include "profile/profile.h"

#include "say.h"

#include <stdlib.h>
#include <string.h>

// ---- rows ----------------------------------------------------------------------------------------------------------

static uint64_t number_of(const json_t *row, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(row, name));
}

static const char *text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return text != NULL ? text : "";
}

static uint32_t index_of(const char *text, const char *(*name)(uint32_t), uint32_t first)
{
    for (uint32_t i = first; name(i) != NULL; i++)
        if (strcmp(name(i), text) == 0)
            return i;
    return 0;
}

static const char *counted_name(uint32_t counted)
{
    static const char *const names[] = {"not", "at most", "sampled", "exact"};
    return counted < 4 ? names[counted] : NULL;
}

static double rate(uint64_t what, uint64_t ns)
{
    return ns != 0 ? (double)what * 1e9 / (double)ns : 0;
}

static slr_profile_row read_row(const json_t *row)
{
    slr_profile_row out = {.kind = index_of(text_of(row, "kind"), slr_profile_kind_name, 1),
                           .counted = index_of(text_of(row, "counted"), counted_name, 0),
                           .name = text_of(row, "name"),
                           .device = text_of(row, "device"),
                           .file = text_of(row, "file")};
    const struct {
        const char *name;
        uint64_t *to;
    } numbers[] = {{"n", &out.n},
                   {"total_ns", &out.total_ns},
                   {"min_ns", &out.min_ns},
                   {"mean_ns", &out.mean_ns},
                   {"p50_ns", &out.p50_ns},
                   {"p95_ns", &out.p95_ns},
                   {"p99_ns", &out.p99_ns},
                   {"max_ns", &out.max_ns},
                   {"bytes", &out.bytes},
                   {"threads", &out.threads},
                   {"blocks", &out.blocks},
                   {"flops", &out.flops},
                   {"flops64", &out.flops64},
                   {"instructions", &out.instructions},
                   {"messages", &out.messages},
                   {"pinned_bytes", &out.pinned_bytes},
                   {"offset", &out.offset}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i].to = number_of(row, numbers[i].name);
    const json_t *lines = json_object_get(row, "lines");
    for (size_t i = 0; i < json_array_size(lines) && i < SLR_PROFILE_LINES; i++) {
        const json_t *line = json_array_get(lines, i);
        out.lines[i] = (slr_profile_line){(uint32_t)number_of(line, "line"), (float)number_of(line, "ppm") / 1e6f};
    }
    out.bytes_per_second = rate(out.bytes, out.total_ns);
    out.flops_per_second = rate(out.flops + out.flops64, out.total_ns);
    out.intensity = out.bytes != 0 ? (double)(out.flops + out.flops64) / (double)out.bytes : 0;
    return out;
}

static bool read_rows(const char *path, profile *out)
{
    json_error_t error;
    out->rows_text = json_load_file(path, 0, &error);
    const json_t *rows = json_object_get(out->rows_text, "rows");
    if (!json_is_array(rows)) {
        say("'%s' has no profile: %s", path, error.text);
        return false;
    }
    out->rows = calloc(json_array_size(rows) + 1, sizeof *out->rows);
    for (size_t i = 0; out->rows != NULL && i < json_array_size(rows); i++) {
        slr_profile_row row = read_row(json_array_get(rows, i));
        if (row.kind == 0)
            continue;
        out->rows[out->row_count++] = row;
        out->total[row.kind].n += row.n;
        out->total[row.kind].total_ns += row.total_ns;
        out->total[row.kind].bytes += row.bytes;
        out->owners += row.kind == SLR_PROFILE_OWNER;
    }
    return out->rows != NULL;
}

bool profile_is_first_of_device(const profile *profile, size_t row)
{
    const char *device = profile->rows[row].device;
    for (size_t i = 0; i < row; i++)
        if (strcmp(profile->rows[i].device, device) == 0)
            return false;
    return *device != '\0';
}

static void count_devices(profile *out)
{
    for (size_t i = 0; i < out->row_count; i++) {
        int length = (int)strlen(out->rows[i].device);
        out->devices += profile_is_first_of_device(out, i);
        out->device_width = length > out->device_width ? length : out->device_width;
    }
}

// ---- the device ----------------------------------------------------------------------------------------------------

// Caches let a kernel exceed the memory's ceiling by some factor; nothing exceeds that of computing.
#define CONTRADICTED 1.25

static bool contradicts(const profile *p)
{
    for (size_t i = 0; i < p->row_count; i++)
        if (profile_roofline(p, &p->rows[i]).reached > CONTRADICTED)
            return true;
    return false;
}

// What was measured on a busy machine is too low: where a kernel exceeds it, it is measured once more, and the better
// is kept.
static void find_ceilings(slr_device *device, bool measure, profile *out)
{
    out->has_ceilings =
        (measure ? slr_profile_measure_ceilings : slr_profile_ceilings)(device, &out->ceilings) == SLR_OK;
    if (!measure && out->has_ceilings && contradicts(out))
        out->has_ceilings = slr_profile_measure_ceilings(device, &out->ceilings) == SLR_OK;
}

// That of the row with the most time, opened again for what it can do; or NULL.
static slr_device *find_device(profile *out, bool measure)
{
    uint64_t most = 0;
    const char *name = "";
    for (size_t i = 0; i < out->row_count; i++) {
        const uint32_t kind = out->rows[i].kind;
        bool is_work = kind <= SLR_PROFILE_CALL || kind == SLR_PROFILE_MESSAGE || kind == SLR_PROFILE_BATCH;
        if (is_work && *out->rows[i].device != '\0' && out->rows[i].total_ns > most) {
            most = out->rows[i].total_ns;
            name = out->rows[i].device;
        }
    }
    snprintf(out->device, sizeof out->device, "%s", name);
    slr_device *device;
    slr_device_info info;
    if (*name == '\0' || slr_device_open(name, NULL, &device) != SLR_OK)
        return NULL;
    if (slr_device_get_info(device, &info) == SLR_OK)
        out->workers = info.workers;
    if (out->total[SLR_PROFILE_KERNEL].n != 0)
        find_ceilings(device, measure, out);
    return device;
}

// ---- over time -----------------------------------------------------------------------------------------------------

static bool is_transfer(const char *category)
{
    static const char *const names[] = {"upload", "download", "copy", "fill"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(category, names[i]) == 0)
            return true;
    return false;
}

// Adds a slice to the bins that it lies in, through the member at `offset`.
static void spread(profile *out, const trace_slice *slice, size_t offset)
{
    double width = (double)out->span_ns / PROFILE_BINS;
    double from = (double)(slice->begin_ns - out->trace.first_ns), to = from + (double)slice->duration_ns;
    for (int bin = (int)(from / width); bin < PROFILE_BINS && (double)bin * width < to; bin++) {
        double begin = (double)bin * width, end = begin + width;
        double part = (to < end ? to : end) - (from > begin ? from : begin);
        *(double *)((char *)&out->bins[bin] + offset) += part / width;
    }
}

static void fill_bins(profile *out)
{
    for (size_t i = 0; out->span_ns != 0 && i < out->trace.slice_count; i++) {
        const trace_slice *slice = &out->trace.slices[i];
        const char *category = out->trace.sums[slice->sum].category;
        if (strcmp(category, "kernel") == 0)
            spread(out, slice, offsetof(profile_bin, kernels));
        else if (strcmp(category, "batch") == 0)
            spread(out, slice, offsetof(profile_bin, handlers));
        else if (is_transfer(category))
            spread(out, slice, offsetof(profile_bin, transfers));
        else if (strcmp(category, "wait") == 0)
            spread(out, slice, offsetof(profile_bin, waits));
        else if (strcmp(category, "compile") == 0 || strcmp(category, "load") == 0)
            spread(out, slice, offsetof(profile_bin, compiles));
    }
}

static bool is_device_work(const char *category)
{
    return is_transfer(category) || strcmp(category, "kernel") == 0 || strcmp(category, "batch") == 0;
}

// The slices are in order of their begins.
static void measure_busy(profile *out)
{
    uint64_t seen_ns = 0;
    for (size_t i = 0; i < out->trace.slice_count; i++) {
        const trace_slice *slice = &out->trace.slices[i];
        uint64_t from = slice->begin_ns, to = from + slice->duration_ns;
        if (!is_device_work(out->trace.sums[slice->sum].category))
            continue;
        from = from > seen_ns ? from : seen_ns;
        if (to > from) {
            out->busy_ns += to - from;
            seen_ns = to;
        }
    }
    for (size_t i = 0; i < out->trace.track_count; i++)
        out->streams += out->trace.tracks[i].slices != 0 && trace_track_is_stream(&out->trace.tracks[i]);
}

bool profile_read(const char *rows, const char *trace, bool measure, profile *out)
{
    *out = (profile){0};
    if (!read_rows(rows, out) || !trace_file_read(trace, &out->trace)) {
        profile_free(out);
        return false;
    }
    out->span_ns = out->trace.last_ns - out->trace.first_ns;
    count_devices(out);
    measure_busy(out);
    fill_bins(out);
    host_lines_make(out->rows, out->row_count, &out->hosts);
    slr_device *device = find_device(out, measure);
    profile_measure_contention(out);
    profile_find_pairs(out);
    bool fine = profile_diagnose(device, out);
    slr_device_close(device);
    if (!fine)
        profile_free(out);
    return fine;
}

void profile_free(profile *profile)
{
    trace_file_free(&profile->trace);
    timed_lines_free(&profile->timed);
    host_lines_free(&profile->hosts);
    free(profile->rows);
    json_decref(profile->rows_text);
    memset(profile, 0, sizeof *profile);
}
