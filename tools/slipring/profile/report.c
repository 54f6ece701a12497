// SPDX-License-Identifier: Apache-2.0
// A profile for people, and as one object.
#define _GNU_SOURCE
#include "profile/profile.h"
#include "kernel/kernel.h"
#include "line.h"
#include "number.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>

enum { TIMED_LINES = 12, MOST_TIMED_LINES = 100 }; // for people; as an object

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static double us(uint64_t ns)
{
    return (double)ns / 1e3;
}

static double share(uint64_t part, uint64_t all)
{
    return all != 0 ? (double)part / (double)all : 0;
}

static const char *counted_name(uint32_t counted)
{
    static const char *const names[] = {"not known", "at most", "sampled", "exact"};
    return names[counted & 3];
}

static const char *bound_name(uint32_t bound)
{
    return bound == SLR_BOUND_MEMORY ? "memory" : bound == SLR_BOUND_COMPUTE ? "compute" : "";
}

slr_roofline profile_roofline(const profile *p, const slr_profile_row *row)
{
    return p->has_ceilings && strcmp(row->device, p->device) == 0 ? slr_profile_roofline(row, &p->ceilings)
                                                                  : (slr_roofline){0};
}

static uint64_t moved_ns(const profile *p)
{
    return p->total[SLR_PROFILE_UPLOAD].total_ns + p->total[SLR_PROFILE_DOWNLOAD].total_ns;
}

// Rows of several devices say which one; a report of one device has no such column.
static void print_device(const profile *p, const char *name)
{
    if (p->devices > 1)
        say_out("%-*s ", p->device_width, name);
}

// The source's line, without the blanks at its ends; "" where the file is not there any more. For one use at a time.
static const char *source_line(const char *path, uint32_t number)
{
    static char *line;
    static size_t room;
    FILE *file = *path != '\0' ? fopen(path, "r") : NULL;
    long length = -1;
    for (uint32_t i = 0; file != NULL && i < number && (length = line_read(&line, &room, file)) >= 0; i++)
        continue;
    if (file != NULL)
        fclose(file);
    if (length < 0)
        return "";
    while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL)
        line[--length] = '\0';
    return line + strspn(line, " \t");
}

// ---- for people ----------------------------------------------------------------------------------------------------

static void print_kernels(const profile *p)
{
    if (p->total[SLR_PROFILE_KERNEL].n == 0)
        return;
    say_out("\n%-24s ", "kernel");
    print_device(p, "device");
    say_out("%8s %10s %9s %9s %9s %8s %9s %7s  %-8s %7s  %s\n", "n", "total ms", "p50 us", "p95 us", "p99 us", "GB/s",
            "GFLOP/s", "flop/B", "bound", "reached", "counted");
    for (size_t i = 0; i < p->row_count; i++) {
        const slr_profile_row *row = &p->rows[i];
        if (row->kind != SLR_PROFILE_KERNEL)
            continue;
        slr_roofline roof = profile_roofline(p, row);
        say_out("%-24s ", row->name);
        print_device(p, row->device);
        say_out("%8llu %10.3f %9.1f %9.1f %9.1f ", (unsigned long long)row->n, ms(row->total_ns), us(row->p50_ns),
                us(row->p95_ns), us(row->p99_ns));
        if (row->counted == SLR_COUNTED_NOT)
            say_out("%8s %9s %7s", "", "", "");
        else
            say_out("%8.2f %9.2f %7.2f", row->bytes_per_second / 1e9, row->flops_per_second / 1e9, row->intensity);
        if (roof.bound != SLR_BOUND_UNKNOWN)
            say_out("  %-8s %6.0f%%  %s\n", bound_name(roof.bound), 100 * roof.reached, counted_name(row->counted));
        else
            say_out("  %-8s %7s  %s\n", "", "", counted_name(row->counted));
    }
}

// Its row of a kind, or NULL.
static const slr_profile_row *row_of_ring(const profile *p, uint32_t kind, const slr_profile_row *ring)
{
    for (size_t i = 0; i < p->row_count; i++)
        if (p->rows[i].kind == kind && strcmp(p->rows[i].name, ring->name) == 0 &&
            strcmp(p->rows[i].device, ring->device) == 0)
            return &p->rows[i];
    return NULL;
}

static uint64_t total_of_ring(const profile *p, uint32_t kind, const slr_profile_row *ring)
{
    const slr_profile_row *row = row_of_ring(p, kind, ring);
    return row != NULL ? row->total_ns : 0;
}

static void print_latency(const slr_profile_row *message)
{
    if (message == NULL)
        say_out(" %9s %9s\n", "", "");
    else
        say_out(" %9.1f %9.1f\n", us(message->p50_ns), us(message->p99_ns));
}

static void print_rings(const profile *p)
{
    if (p->total[SLR_PROFILE_BATCH].n == 0)
        return;
    say_out("\n%-20s ", "ring kernel");
    print_device(p, "device");
    say_out("%10s %8s %11s %8s %8s %7s %-9s %9s %9s %9s %9s\n", "messages", "batches", "handler ms", "ns/msg",
            "GFLOP/s", "flop/B", "counted", "wait ms", "call ms", "p50 us", "p99 us");
    for (size_t i = 0; i < p->row_count; i++) {
        const slr_profile_row *row = &p->rows[i];
        if (row->kind != SLR_PROFILE_BATCH)
            continue;
        say_out("%-20s ", row->name);
        print_device(p, row->device);
        say_out("%10llu %8llu %11.3f %8.0f ", (unsigned long long)row->messages, (unsigned long long)row->n,
                ms(row->total_ns), (double)row->total_ns / (double)row->messages);
        if (row->counted == SLR_COUNTED_NOT)
            say_out("%8s %7s ", "", "");
        else
            say_out("%8.2f %7.2f ", row->flops_per_second / 1e9, row->intensity);
        say_out("%-9s %9.3f %9.3f", counted_name(row->counted), ms(total_of_ring(p, SLR_PROFILE_FULL, row)),
                ms(total_of_ring(p, SLR_PROFILE_REPLY, row)));
        print_latency(row_of_ring(p, SLR_PROFILE_MESSAGE, row));
    }
}

static void print_missing(const profile *p)
{
    for (size_t i = 0; i < p->row_count; i++)
        if (p->rows[i].kind == SLR_PROFILE_MISSING)
            say_out("%s on %s: %llu more batches are in no row, because there was no room to record them "
                    "(slr_ring_stats.records_dropped)\n",
                    p->rows[i].name, p->rows[i].device, (unsigned long long)p->rows[i].n);
}

static void print_untimed(const profile *p)
{
    for (size_t i = 0; i < p->row_count; i++)
        if (p->rows[i].kind == SLR_PROFILE_UNTIMED)
            say_out("%s on %s: %llu messages without times, because a persistent kernel on this device cannot "
                    "read a clock\n",
                    p->rows[i].name, p->rows[i].device, (unsigned long long)p->rows[i].n);
}

static void print_owners(const profile *p)
{
    for (size_t i = 0; i < p->row_count; i++)
        if (p->rows[i].kind == SLR_PROFILE_OWNER)
            say_out("%s of %s: busy %.1f %% of the time, %llu messages\n", p->rows[i].name, p->rows[i].device,
                    100 * share(p->rows[i].total_ns, p->span_ns), (unsigned long long)p->rows[i].messages);
}

// What has a table of its own.
static bool is_elsewhere(uint32_t kind)
{
    return kind == SLR_PROFILE_KERNEL || kind == SLR_PROFILE_BATCH || kind == SLR_PROFILE_OWNER ||
           kind == SLR_PROFILE_CALLER || kind == SLR_PROFILE_MISSING || kind == SLR_PROFILE_UNTIMED;
}

static void print_head_of_others(const profile *p)
{
    say_out("\n%-8s %-28s ", "", "");
    print_device(p, "device");
    say_out("%8s %10s %9s %9s %9s %8s %10s\n", "n", "total ms", "p50 us", "p95 us", "p99 us", "GB/s", "MB");
}

static void print_others(const profile *p)
{
    bool head = false;
    for (size_t i = 0; i < p->row_count; i++) {
        const slr_profile_row *row = &p->rows[i];
        if (is_elsewhere(row->kind))
            continue;
        if (!head)
            print_head_of_others(p);
        head = true;
        say_out("%-8s %-28s ", slr_profile_kind_name(row->kind), row->name);
        print_device(p, row->device);
        say_out("%8llu %10.3f %9.1f %9.1f %9.1f ", (unsigned long long)row->n, ms(row->total_ns), us(row->p50_ns),
                us(row->p95_ns), us(row->p99_ns));
        if (row->bytes != 0)
            say_out("%8.2f %10.2f\n", row->bytes_per_second / 1e9, (double)row->bytes / 1e6);
        else
            say_out("\n");
    }
}

// The counts of a kernel are of its source, and so the same on each device.
static bool has_lines_above(const profile *p, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (p->rows[i].kind == p->rows[at].kind && strcmp(p->rows[i].name, p->rows[at].name) == 0 &&
            strcmp(p->rows[i].file, p->rows[at].file) == 0 && strcmp(p->rows[i].device, p->rows[at].device) != 0)
            return true;
    return false;
}

static void print_lines(const profile *p)
{
    unsigned kernels = 0;
    for (size_t i = 0; i < p->row_count && kernels < 3; i++) {
        const slr_profile_row *row = &p->rows[i];
        if (row->lines[0].line == 0 || (row->kind != SLR_PROFILE_KERNEL && row->kind != SLR_PROFILE_BATCH) ||
            has_lines_above(p, i))
            continue;
        kernels++;
        say_out("\nhottest lines of %s (%s), by operations:\n", row->name, row->file);
        for (unsigned k = 0; k < SLR_PROFILE_LINES && row->lines[k].line != 0 && row->lines[k].share >= 0.01f; k++)
            say_out("  %5.1f %%  %5u  %s\n", 100 * (double)row->lines[k].share, row->lines[k].line,
                    source_line(row->file, row->lines[k].line));
    }
}

static void print_timed_lines(const profile *p)
{
    const timed_lines *t = &p->timed;
    if (*t->why_not != '\0') {
        say_out("\nlines by time: not measured; %s\n", t->why_not);
        return;
    }
    say_out("\nlines by time, %llu samples of %d us of processor time; %.1f %% in code without lines:\n",
            (unsigned long long)t->samples, SAMPLING_PERIOD_US, 100 * share(t->elsewhere, t->samples));
    if (t->gone * 50 >= t->samples && t->gone != 0)
        say_out("  %5.1f %%  in kernels that this run compiled; run it again for their lines\n",
                100 * share(t->gone, t->samples));
    if (t->generated * 200 >= t->samples && t->generated != 0)
        say_out("  %5.1f %%  in generated code of slipring, around kernels and handlers\n",
                100 * share(t->generated, t->samples));
    for (size_t i = 0; i < t->count && i < TIMED_LINES && t->lines[i].samples * 200 >= t->samples; i++)
        say_out("  %5.1f %%  %s:%u  %s\n", 100 * share(t->lines[i].samples, t->samples), t->lines[i].file,
                t->lines[i].line, source_line(t->lines[i].file, t->lines[i].line));
}

// What each of the program's own lines had done.
static void print_host_lines(const profile *p)
{
    if (p->hosts.count == 0)
        return;
    say_out("\nlines of the program: what its calls did\n%9s %10s %8s %9s %10s %8s %10s %9s %9s\n", "launches",
            "kernel ms", "copies", "MB", "copy ms", "waits", "wait ms", "allocated", "MB");
    for (size_t i = 0; i < p->hosts.count && i < TIMED_LINES; i++) {
        const host_line *l = &p->hosts.lines[i];
        say_out("%9llu %10.3f %8llu %9.2f %10.3f %8llu %10.3f %9llu %9.2f  ", (unsigned long long)l->launches,
                ms(l->kernels_ns), (unsigned long long)l->copies, (double)l->copied_bytes / 1e6, ms(l->copies_ns),
                (unsigned long long)l->waits, ms(l->waits_ns), (unsigned long long)l->allocations,
                (double)l->allocated_bytes / 1e6);
        if (l->line != 0)
            say_out("%s:%u  %s\n", l->file, l->line, source_line(l->file, l->line));
        else
            say_out("%s+0x%llx\n", l->file, (unsigned long long)l->offset);
    }
}

static void print_memory(const profile *p)
{
    for (size_t i = 0; i < p->trace.counter_count; i++) {
        const trace_counter *c = &p->trace.counters[i];
        double most = 0;
        uint64_t at_ns = p->trace.first_ns;
        if (strncmp(c->name, "live bytes: ", 12) != 0)
            continue;
        for (size_t k = 0; k < c->sample_count; k++)
            if (c->samples[k].value > most) {
                most = c->samples[k].value;
                at_ns = c->samples[k].at_ns;
            }
        say_out("memory %s: peak %.2f MB at %.1f ms; %.2f MB at the end\n", c->name + 12, most / 1e6,
                ms(at_ns - p->trace.first_ns), c->samples[c->sample_count - 1].value / 1e6);
    }
}

static void print_advice(const profile *p)
{
    say_out("\n%s\n", p->advised != 0 ? "advice:" : "advice: none (no rule found a bottleneck)");
    for (uint32_t i = 0; i < p->advised; i++) {
        const slr_diagnosis *d = &p->advice[i];
        char figure[NUMBER_TEXT_MAX], limit[NUMBER_TEXT_MAX];
        say_out("  %s. %s\n    %s: %s (limit %s)\n    ", d->name, d->text, d->measure,
                number_print_rounded(d->figure, figure), number_print_rounded(d->limit, limit));
        if (d->line != 0)
            say_out("%s:%u: %s\n    instead: ", d->file, d->line, source_line(d->file, d->line));
        else if (d->offset != 0)
            say_out("%s+0x%llx (compile with -g for the line)\n    instead: ", d->file, (unsigned long long)d->offset);
        say_out("%s\n", d->change);
    }
}

// The busy time is the union over all devices.
static void print_load(const profile *p)
{
    say_out("traced %.1f ms", ms(p->span_ns));
    for (size_t i = 0, named = 0; i < p->row_count && p->devices > 1; i++)
        if (profile_is_first_of_device(p, i))
            say_out("%s%s", named++ == 0 ? " on " : named < p->devices ? ", " : " and ", p->rows[i].device);
    if (p->devices <= 1)
        say_out("%s%s", *p->device ? " on " : "", p->device);
    say_out("; %s busy %.1f %% (streams: %u, owners of ring kernels: %u)\n",
            p->devices > 1 ? "at least one device" : "device", 100 * share(p->busy_ns, p->span_ns), p->streams,
            p->owners);
}

void profile_print(const profile *p, const char *command, int exit_code, double wall_s, unsigned parts)
{
    const bool all = parts == 0, device = all || parts & PROFILE_DEVICE, memory = all || parts & PROFILE_MEMORY;
    say_out("%s: %.3f s, exit code %d\n", command, wall_s, exit_code);
    print_load(p);
    say_out("kernels %.3f ms, handlers %.3f ms, transfers %.3f ms, host waits %.3f ms, compiling %.1f ms, loading "
            "compiled code %.1f ms\n",
            ms(p->total[SLR_PROFILE_KERNEL].total_ns), ms(p->total[SLR_PROFILE_BATCH].total_ns), ms(moved_ns(p)),
            ms(p->total[SLR_PROFILE_WAIT].total_ns), ms(p->total[SLR_PROFILE_COMPILE].total_ns),
            ms(p->total[SLR_PROFILE_LOAD].total_ns));
    if (p->has_ceilings)
        say_out("peak %s%s: %.1f GB/s, %.1f GFLOP/s (%.1f in double precision), %.1f us per launch\n",
                p->devices > 1 ? "of " : "here", p->devices > 1 ? p->device : "", p->ceilings.bytes_per_second / 1e9,
                p->ceilings.flops_per_second / 1e9, p->ceilings.flops64_per_second / 1e9, p->ceilings.launch_ns / 1e3);
    if (memory)
        print_memory(p);
    if (p->trace.dropped != 0)
        say_out("%llu events were lost for lack of room in the trace; the rows below include them\n",
                (unsigned long long)p->trace.dropped);
    if (device) {
        print_kernels(p);
        print_rings(p);
        print_missing(p);
        print_untimed(p);
        print_owners(p);
    }
    if (all) {
        print_others(p);
        print_lines(p);
        print_timed_lines(p);
    }
    print_host_lines(p);
    print_advice(p);
}

// ---- as an object --------------------------------------------------------------------------------------------------

static json_t *lines_json(const slr_profile_row *row)
{
    json_t *all = json_array();
    for (unsigned k = 0; k < SLR_PROFILE_LINES && row->lines[k].line != 0; k++)
        json_array_append_new(all, json_pack("{s:i, s:f, s:o}", "line", (int)row->lines[k].line, "share",
                                             (double)row->lines[k].share, "text",
                                             kernel_text(source_line(row->file, row->lines[k].line))));
    return all;
}

static json_t *timed_lines_json(const timed_lines *t)
{
    json_t *all = json_array();
    if (*t->why_not != '\0')
        return json_pack("{s:o, s:o}", "why_not", kernel_text(t->why_not), "lines", all);
    for (size_t i = 0; i < t->count && i < MOST_TIMED_LINES; i++)
        json_array_append_new(all,
                              json_pack("{s:o, s:I, s:f, s:o}", "file", kernel_text(t->lines[i].file), "line",
                                        (json_int_t)t->lines[i].line, "share", share(t->lines[i].samples, t->samples),
                                        "text", kernel_text(source_line(t->lines[i].file, t->lines[i].line))));
    return json_pack("{s:I, s:i, s:I, s:f, s:f, s:f, s:o}", "samples", (json_int_t)t->samples, "period_us",
                     SAMPLING_PERIOD_US, "lost", (json_int_t)t->lost, "elsewhere", share(t->elsewhere, t->samples),
                     "generated", share(t->generated, t->samples), "compiled_now", share(t->gone, t->samples), "lines",
                     all);
}

static json_t *host_lines_json(const profile *p)
{
    json_t *all = json_array();
    for (size_t i = 0; i < p->hosts.count; i++) {
        const host_line *l = &p->hosts.lines[i];
        json_array_append_new(all,
                              json_pack("{s:o, s:i, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "file",
                                        kernel_text(l->file), "line", (int)l->line, "offset", (json_int_t)l->offset,
                                        "text", kernel_text(source_line(l->line != 0 ? l->file : "", l->line)),
                                        "launches", (json_int_t)l->launches, "kernels_ns", (json_int_t)l->kernels_ns,
                                        "copies", (json_int_t)l->copies, "copied_bytes", (json_int_t)l->copied_bytes,
                                        "copies_ns", (json_int_t)l->copies_ns, "waits", (json_int_t)l->waits,
                                        "waits_ns", (json_int_t)l->waits_ns, "allocations", (json_int_t)l->allocations,
                                        "allocated_bytes", (json_int_t)l->allocated_bytes));
    }
    return all;
}

static json_t *row_json(const profile *p, const slr_profile_row *row)
{
    json_t *out = json_pack(
        "{s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "kind", slr_profile_kind_name(row->kind),
        "name", kernel_text(row->name), "device", kernel_text(row->device), "n", (json_int_t)row->n, "total_ns",
        (json_int_t)row->total_ns, "min_ns", (json_int_t)row->min_ns, "mean_ns", (json_int_t)row->mean_ns, "p50_ns",
        (json_int_t)row->p50_ns, "p95_ns", (json_int_t)row->p95_ns, "p99_ns", (json_int_t)row->p99_ns, "max_ns",
        (json_int_t)row->max_ns, "bytes", (json_int_t)row->bytes, "bytes_per_s", row->bytes_per_second);
    if (row->messages != 0)
        json_object_set_new(out, "messages", json_integer((json_int_t)row->messages));
    if (row->kind == SLR_PROFILE_ALGORITHM || row->kind == SLR_PROFILE_KEPT_OUT)
        json_object_set_new(out, "algorithm", kernel_text(row->file));
    if (row->kind != SLR_PROFILE_KERNEL && row->kind != SLR_PROFILE_BATCH)
        return out;
    slr_roofline roof = profile_roofline(p, row);
    json_t *more = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:s, s:f, s:o, s:o}", "counted",
                             counted_name(row->counted), "threads", (json_int_t)row->threads, "blocks",
                             (json_int_t)row->blocks, "flops", (json_int_t)row->flops, "flops64",
                             (json_int_t)row->flops64, "instructions", (json_int_t)row->instructions, "flops_per_s",
                             row->flops_per_second, "intensity", row->intensity, "bound", bound_name(roof.bound),
                             "reached", roof.reached, "file", kernel_text(row->file), "lines", lines_json(row));
    json_object_update(out, more);
    json_decref(more);
    return out;
}

static json_t *rows_json(const profile *p)
{
    json_t *all = json_array();
    for (size_t i = 0; i < p->row_count; i++)
        json_array_append_new(all, row_json(p, &p->rows[i]));
    return all;
}

static json_t *bins_json(const profile *p)
{
    json_t *all = json_array();
    for (int i = 0; i < PROFILE_BINS; i++)
        json_array_append_new(all, json_pack("[f, f, f, f, f]", p->bins[i].kernels, p->bins[i].transfers,
                                             p->bins[i].waits, p->bins[i].compiles, p->bins[i].handlers));
    return all;
}

// At most a few hundred points: of equal parts of the time the largest value, which is what matters of memory.
static json_t *samples_json(const profile *p, const trace_counter *c)
{
    enum { POINTS = 300 };
    json_t *all = json_array();
    double width = (double)p->span_ns / POINTS + 1, most = -1;
    size_t last = 0;
    for (size_t k = 0; k < c->sample_count; k++) {
        size_t part = (size_t)((double)(c->samples[k].at_ns - p->trace.first_ns) / width);
        if (part != last && most >= 0) {
            json_array_append_new(all, json_pack("[f, f]", ((double)last + 0.5) * width / 1e6, most));
            most = -1;
        }
        last = part;
        most = c->samples[k].value > most ? c->samples[k].value : most;
    }
    if (c->sample_count != 0)
        json_array_append_new(
            all, json_pack("[f, f]", ((double)last + 0.5) * width / 1e6, c->samples[c->sample_count - 1].value));
    return all;
}

static json_t *counters_json(const profile *p)
{
    json_t *all = json_array();
    for (size_t i = 0; i < p->trace.counter_count; i++) {
        const trace_counter *c = &p->trace.counters[i];
        json_array_append_new(all,
                              json_pack("{s:o, s:o}", "name", kernel_text(c->name), "samples", samples_json(p, c)));
    }
    return all;
}

// Of all heaps, each at its own time.
static double peak_bytes(const profile *p)
{
    double sum = 0;
    for (size_t i = 0; i < p->trace.counter_count; i++) {
        const trace_counter *c = &p->trace.counters[i];
        double most = 0;
        for (size_t k = 0; k < c->sample_count && strncmp(c->name, "live bytes: ", 12) == 0; k++)
            most = c->samples[k].value > most ? c->samples[k].value : most;
        sum += most;
    }
    return sum;
}

static json_t *advice_json(const profile *p)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < p->advised; i++) {
        const slr_diagnosis *d = &p->advice[i];
        json_array_append_new(all, json_pack("{s:s, s:o, s:s, s:f, s:f, s:o, s:o, s:i}", "rule", d->name, "text",
                                             kernel_text(d->text), "measure", d->measure, "figure", d->figure, "limit",
                                             d->limit, "change", kernel_text(d->change), "file", kernel_text(d->file),
                                             "line", (int)d->line));
    }
    return all;
}

json_t *profile_json(const profile *p, const char *command, int exit_code, double wall_s)
{
    json_t *ceilings = json_null();
    if (p->has_ceilings)
        ceilings = json_pack("{s:f, s:f, s:f, s:f}", "bytes_per_s", p->ceilings.bytes_per_second, "flops_per_s",
                             p->ceilings.flops_per_second, "flops64_per_s", p->ceilings.flops64_per_second, "launch_ns",
                             p->ceilings.launch_ns);
    json_t *object = json_pack(
        "{s:s, s:o, s:i, s:f, s:o, s:i, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, "
        "s:o, "
        "s:o, s:o, s:o}",
        "version", SLR_VERSION, "command", kernel_text(command), "exit_code", exit_code, "wall_s", wall_s, "device",
        kernel_text(p->device), "workers", (int)p->workers, "span_ns", (json_int_t)p->span_ns, "busy_ns",
        (json_int_t)p->busy_ns, "compiling_ns", (json_int_t)p->total[SLR_PROFILE_COMPILE].total_ns, "loading_ns",
        (json_int_t)p->total[SLR_PROFILE_LOAD].total_ns, "contended_ns", (json_int_t)p->contended_ns, "streams",
        (int)p->streams, "owners", (int)p->owners, "kernels_ns", (json_int_t)p->total[SLR_PROFILE_KERNEL].total_ns,
        "handlers_ns", (json_int_t)p->total[SLR_PROFILE_BATCH].total_ns, "transfers_ns", (json_int_t)moved_ns(p),
        "waits_ns", (json_int_t)p->total[SLR_PROFILE_WAIT].total_ns, "dropped", (json_int_t)p->trace.dropped,
        "ceilings", ceilings, "rows", rows_json(p), "over_time", bins_json(p), "counters", counters_json(p),
        "timed_lines", timed_lines_json(&p->timed), "host_lines", host_lines_json(p), "advice", advice_json(p));
    // As users of Scalene know them.
    json_object_set_new(object, "gpu_utilization", json_real(share(p->busy_ns, p->span_ns)));
    json_object_set_new(object, "memory_usage", json_real(peak_bytes(p)));
    json_object_set_new(object, "kernel_execution", json_real((double)p->total[SLR_PROFILE_KERNEL].total_ns / 1e9));
    json_object_set_new(object, "data_transfer", json_real((double)moved_ns(p) / 1e9));
    return object;
}
