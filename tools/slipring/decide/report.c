// SPDX-License-Identifier: Apache-2.0
// The answer, for people and as one object.
#include "decide/parts.h"

#include "kernel/kernel.h"
#include "say.h"

#include <slipring/profile.h>

#include <math.h>
#include <stdio.h>

static const char *by_name(uint32_t by)
{
    return by == SLR_BY_MEASUREMENT ? "measured" : "predicted";
}

static const char *bound_name(uint32_t bound)
{
    static const char *const names[] = {[SLR_BY_MEMORY] = "memory",
                                        [SLR_BY_COMPUTING] = "computing",
                                        [SLR_BY_BRANCHING] = "branching",
                                        [SLR_BY_ONE_THREAD] = "one thread"};
    return bound >= SLR_BY_MEMORY && bound <= SLR_BY_ONE_THREAD ? names[bound] : "-";
}

// ---- for people ----------------------------------------------------------------------------------------------------

static void print_estimate(const slr_estimate *e)
{
    say_out("  %-34s %12.1f  %-9s %10.1f %10.1f %12.1f  %-10s  %5.1f %%", e->name, e->call_ns / 1e3,
            e->is_corrected ? "corrected" : by_name(e->by), e->copy_ns / 1e3, e->launch_ns / 1e3, e->kernel_ns / 1e3,
            bound_name(e->bound), 100 * e->busy);
    if (isinf(e->p99_ns))
        say_out("  %12s %12.3g\n", "overloaded", e->capacity);
    else
        say_out("  %12.1f %12.3g\n", e->p99_ns / 1e3, e->capacity);
}

static void print_corrected(const decide_answer *answer)
{
    bool is_any = false;
    for (uint32_t i = 0; i < answer->count; i++)
        is_any = is_any || answer->estimates[i].is_corrected;
    if (is_any)
        say_out(
            "  corrected: predicted; the kernel's time is multiplied by measured / predicted of the same processor\n");
}

static bool is_call(const slr_estimate *e)
{
    return e->predicted_ns == 0;
}

// Of calls alone, whatever arrives.
static void print_crossover(const slr_work *work, const slr_decision *d, const slr_estimate *chosen,
                            const slr_estimate *next)
{
    if (d->candidate == d->next)
        return;
    say_out("  %s", work->calls_per_second > 0 ? "Without waits for earlier calls: " : "");
    if (d->crossover_threads > 0)
        say_out("%s and %s take as long at %.0f threads (%s).\n", chosen->name, next->name, d->crossover_threads,
                by_name(d->by));
    else if (is_call(chosen) || is_call(next)) // measured as it is: it has no size to change
        say_out("%s was measured at this size only: which is faster at other sizes is not known.\n",
                is_call(chosen) ? chosen->name : next->name);
    else
        say_out("%s is faster than %s at all sizes compared (1, 2, 4 ... threads, %s).\n",
                chosen->call_ns < next->call_ns ? chosen->name : next->name,
                chosen->call_ns < next->call_ns ? next->name : chosen->name, by_name(d->by));
}

void decide_print(const decide_options *options, const decide_answer *answer)
{
    const slr_decision *d = &answer->decision;
    const slr_estimate *e = answer->estimates;
    char size[KERNEL_SIZE_BYTES];
    kernel_spell_size(options->size, size);
    say_out("%s %s: %s\n  %s\n", options->name, size, e[d->candidate].name, d->why);
    say_out("  %-34s %12s  %-9s %s\n", "", "", "", "|------------------ predicted ------------------|");
    say_out("  %-34s %12s  %-9s %10s %10s %12s  %-10s  %7s  %12s %12s\n", "candidate", "call us", "by", "copies us",
            "launch us", "kernel us", "bound by", "busy", "p99 us", "calls/s");
    for (uint32_t i = 0; i < answer->count; i++)
        print_estimate(&e[i]);
    if (options->work.latency_ns > 0)
        say_out("  calls/s: the most of which 99 %% end within %.6g us\n", (double)options->work.latency_ns / 1e3);
    print_corrected(answer);
    print_crossover(&options->work, d, &e[d->candidate], &e[d->next]);
    say_out("  a launch: %llu threads, %.3g instructions, %.3g flops, %.3g bytes of memory (%s); divergence %.2f\n",
            (unsigned long long)d->threads, (double)d->instructions, (double)(d->flops + d->flops64),
            (double)d->memory_bytes, kernel_counted_name(d->counted), d->divergence);
}

// ---- as JSON -------------------------------------------------------------------------------------------------------

static json_t *number_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *estimate_json(const slr_estimate *e)
{
    json_t *object = json_pack("{s:o, s:s, s:s, s:f}", "name", kernel_text(e->name), "class",
                               decide_class_name(e->device_class), "by", by_name(e->by), "call_ns", e->call_ns);
    json_object_set_new(object, "predicted_ns", e->predicted_ns > 0 ? json_real(e->predicted_ns) : json_null());
    json_object_set_new(object, "corrected", json_boolean(e->is_corrected));
    json_object_set_new(object, "measured_ns", e->samples > 0 ? json_real(e->measured_ns) : json_null());
    json_t *more =
        json_pack("{s:i, s:s, s:f, s:f, s:f, s:f, s:s, s:f, s:o, s:o, s:o}", "samples", (int)e->samples, "parts_by",
                  by_name(SLR_BY_MODEL), "copy_ns", e->copy_ns, "launch_ns", e->launch_ns, "kernel_ns", e->kernel_ns,
                  "wait_ns", e->wait_ns, "bound", bound_name(e->bound), "busy", e->busy, "queue_ns",
                  number_json(e->queue_ns), "p99_ns", number_json(e->p99_ns), "capacity", number_json(e->capacity));
    json_object_update(object, more);
    json_decref(more);
    return object;
}

json_t *decide_json(const decide_options *options, const decide_answer *answer)
{
    const slr_decision *d = &answer->decision;
    json_t *estimates = json_array();
    for (uint32_t i = 0; i < answer->count; i++)
        json_array_append_new(estimates, estimate_json(&answer->estimates[i]));
    json_t *work =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:s}", "threads", (json_int_t)d->threads, "instructions",
                  (json_int_t)d->instructions, "flops", (json_int_t)d->flops, "flops64", (json_int_t)d->flops64,
                  "memory_bytes", (json_int_t)d->memory_bytes, "bytes_in", (json_int_t)d->bytes_in, "bytes_out",
                  (json_int_t)d->bytes_out, "divergence", d->divergence, "counted", kernel_counted_name(d->counted));
    const slr_work *asked = &options->work;
    json_object_set_new(work, "calls_per_second",
                        asked->calls_per_second > 0 ? json_real(asked->calls_per_second) : json_null());
    json_object_set_new(work, "latency_ns",
                        asked->latency_ns > 0 ? json_integer((json_int_t)asked->latency_ns) : json_null());
    return json_pack("{s:o, s:o, s:[I, I, I], s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "file",
                     kernel_text(options->file), "kernel", kernel_text(options->name), "size",
                     (json_int_t)options->size[0], (json_int_t)options->size[1], (json_int_t)options->size[2], "chosen",
                     kernel_text(answer->estimates[d->candidate].name), "class",
                     decide_class_name(answer->estimates[d->candidate].device_class), "next",
                     kernel_text(answer->estimates[d->next].name), "by", by_name(d->by), "ratio", number_json(d->ratio),
                     "crossover_threads", d->crossover_threads > 0 ? json_real(d->crossover_threads) : json_null(),
                     "why", kernel_text(d->why), "work", work, "candidates", estimates);
}
