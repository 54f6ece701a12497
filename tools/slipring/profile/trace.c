// SPDX-License-Identifier: Apache-2.0
// `slipring trace print FILE`: what is in a trace, as tables.
#include "say.h"
#include "profile/trace_file.h"
#include "verbs.h"
#include "kernel/kernel.h"

#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring trace print FILE [--json]\n"
                           "Summarises a trace that SLIPRING_TRACE=FILE or --trace FILE has written: number\n"
                           "and time of each kind of event, load of each thread and stream, and the range of\n"
                           "each counter. Perfetto (ui.perfetto.dev) draws the same file.\n"
                           "\n"
                           "  --json   prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring bench latency --small --trace out.trace\n"
                           "  slipring trace print out.trace\n";

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static double share(uint64_t part, uint64_t all)
{
    return all != 0 ? 100.0 * (double)part / (double)all : 0;
}

static int by_total(const void *a, const void *b)
{
    const trace_sum *x = a, *y = b;
    return x->total_ns != y->total_ns ? (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns)
                                      : (x->n < y->n) - (x->n > y->n);
}

// ---- tables --------------------------------------------------------------------------------------------------------

static void print_sums(const trace_sum *sums, size_t count)
{
    say_out("\n%-10s %-28s %9s %12s %12s %12s %12s  %s\n", "category", "name", "n", "total ms", "mean us", "max us",
            "bytes", "device");
    for (size_t i = 0; i < count; ++i) {
        const trace_sum *s = &sums[i];
        say_out("%-10s %-28s %9llu %12.3f %12.3f %12.3f %12llu  %s\n", s->category, s->name, (unsigned long long)s->n,
                ms(s->total_ns), s->n ? (double)s->total_ns / (double)s->n / 1e3 : 0, (double)s->max_ns / 1e3,
                (unsigned long long)s->bytes, s->device);
    }
}

static void print_tracks(const trace_file *file)
{
    uint64_t span = file->last_ns - file->first_ns;
    say_out("\n%-44s %9s %12s %7s\n", "track", "slices", "busy ms", "busy");
    for (size_t i = 0; i < file->track_count; ++i) {
        const trace_track *t = &file->tracks[i];
        if (t->slices != 0)
            say_out("%-44s %9llu %12.3f %6.1f%%\n", t->name ? t->name : "", (unsigned long long)t->slices,
                    ms(t->busy_ns), share(t->busy_ns, span));
    }
}

static void range_of(const trace_counter *c, double *least, double *most)
{
    *least = *most = c->samples[0].value;
    for (size_t i = 1; i < c->sample_count; ++i) {
        *least = c->samples[i].value < *least ? c->samples[i].value : *least;
        *most = c->samples[i].value > *most ? c->samples[i].value : *most;
    }
}

static void print_counters(const trace_file *file)
{
    if (file->counter_count != 0)
        say_out("\n%-44s %9s %14s %14s %14s\n", "counter", "samples", "least", "most", "last");
    for (size_t i = 0; i < file->counter_count; ++i) {
        const trace_counter *c = &file->counters[i];
        double least, most;
        range_of(c, &least, &most);
        say_out("%-44s %9zu %14.0f %14.0f %14.0f\n", c->name, c->sample_count, least, most,
                c->samples[c->sample_count - 1].value);
    }
}

static void print_tables(const char *path, const trace_file *file)
{
    say_out("%s: %zu slices over %.3f ms, %llu events dropped%s\n", path, file->slice_count,
            ms(file->last_ns - file->first_ns), (unsigned long long)file->dropped,
            file->is_whole ? "" : "; truncated: its program was killed, or is still running");
    if (file->spans_left_out != 0)
        say_out(
            "%llu more spans of messages are not in the file, which draws at most 64 of a ring kernel at the same\n"
            "time: 'slipring profile' has the times of all, in its row 'message'; to see each message that is timed,\n"
            "time fewer (slr_ring_desc.latency_every)\n",
            (unsigned long long)file->spans_left_out);
    print_sums(file->sums, file->sum_count);
    print_tracks(file);
    print_counters(file);
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

static json_t *sums_json(const trace_file *file)
{
    json_t *all = json_array();
    for (size_t i = 0; i < file->sum_count; ++i) {
        const trace_sum *s = &file->sums[i];
        json_array_append_new(all,
                              json_pack("{s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I}", "category", s->category, "name",
                                        kernel_text(s->name), "device", kernel_text(s->device), "n", (json_int_t)s->n,
                                        "total_ns", (json_int_t)s->total_ns, "min_ns", (json_int_t)s->min_ns, "max_ns",
                                        (json_int_t)s->max_ns, "bytes", (json_int_t)s->bytes));
    }
    return all;
}

static json_t *tracks_json(const trace_file *file)
{
    json_t *all = json_array();
    for (size_t i = 0; i < file->track_count; ++i) {
        const trace_track *t = &file->tracks[i];
        if (t->slices != 0)
            json_array_append_new(all, json_pack("{s:o, s:I, s:I}", "name", kernel_text(t->name ? t->name : ""),
                                                 "slices", (json_int_t)t->slices, "busy_ns", (json_int_t)t->busy_ns));
    }
    return all;
}

static json_t *counters_json(const trace_file *file)
{
    json_t *all = json_array();
    for (size_t i = 0; i < file->counter_count; ++i) {
        const trace_counter *c = &file->counters[i];
        double least, most;
        range_of(c, &least, &most);
        json_array_append_new(all, json_pack("{s:o, s:I, s:f, s:f, s:f}", "name", kernel_text(c->name), "samples",
                                             (json_int_t)c->sample_count, "least", least, "most", most, "last",
                                             c->samples[c->sample_count - 1].value));
    }
    return all;
}

static void print_json(const char *path, const trace_file *file)
{
    json_t *object = json_pack("{s:o, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o}", "file", kernel_text(path), "slices",
                               (json_int_t)file->slice_count, "span_ns", (json_int_t)(file->last_ns - file->first_ns),
                               "dropped", (json_int_t)file->dropped, "spans_left_out", (json_int_t)file->spans_left_out,
                               "whole", (int)file->is_whole, "sums", sums_json(file), "tracks", tracks_json(file),
                               "counters", counters_json(file));
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    putchar('\n');
    json_decref(object);
}

// ---- the command line ----------------------------------------------------------------------------------------------

static int print(const char *path, bool json)
{
    trace_file file;
    if (!trace_file_read(path, &file))
        return EXIT_FAILED;
    if (file.sum_count > 1)
        qsort(file.sums, file.sum_count, sizeof *file.sums, by_total); // behind this the slices' sums are not theirs
    if (json)
        print_json(path, &file);
    else
        print_tables(path, &file);
    trace_file_free(&file);
    return EXIT_DONE;
}

int verb_trace(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    bool json = false;
    int option;
    while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (option != 'j')
            return say_refused_option(option, argv);
        json = true;
    }
    if (argc - optind == 0)
        return say_usage("a verb is missing: print");
    if (strcmp(argv[optind], "print") != 0)
        return say_usage("no verb '%s'; there is: print", argv[optind]);
    if (argc - optind != 2)
        return argc - optind < 2 ? say_usage("a file is missing")
                                 : say_usage("one file, not also '%s'", argv[optind + 2]);
    return print(argv[optind + 1], json);
}
