// SPDX-License-Identifier: Apache-2.0
// How long work takes on a device: copies, launches, and a kernel by what bounds it most. Which device that makes the
// better one, and why, in words.
#include "tune/decide.h"

#include "base/status.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WARP = 32 };
static const double least_gain = 1.25; // of a device that is no CPU
static const double masked = 0.25;     // of the lanes may wait before a CPU gives vectors up
static const double most_threads = 0x1p40;

// ---- time ----------------------------------------------------------------------------------------------------------

static double part_of(double part, double whole)
{
    return whole > 0 && part < whole ? part / whole : 1;
}

static double time_of(double amount, double per_second)
{
    return amount > 0 ? amount * 1e9 / per_second : 0;
}

static void keep_longer(double ns, slr_kernel_bound bound, slr_estimate *out)
{
    if (ns > out->kernel_ns || !out->bound) {
        out->kernel_ns = ns;
        out->bound = bound;
    }
}

// What diverges slows instructions down: on a GPU by the lanes that wait; a CPU's vectors wait as well, and code of
// which many lanes wait is no longer run in vectors. Both by the measured rate where one lane of a warp is at work.
static double slower_by(const slr_device_model *model, double divergence)
{
    const double alone = (WARP - 1.0) / WARP, d = divergence < alone ? divergence : alone;
    double most = model->instructions_per_second / model->branch_per_second - 1;
    if (most <= 0)
        return 1;
    if (model->device_class != SLR_DEVICE_CPU && model->device_class != SLR_DEVICE_SOFTWARE)
        return 1 + most * d / (1 - d) / (WARP - 1);
    return 1 + most * (d > masked ? (d - masked) / (alone - masked) : 0);
}

// The part of the device that so many threads keep busy.
static double fill_of(const slr_device_model *model, const struct slri_figures *f)
{
    double by_threads = part_of((double)(f->threads ? f->threads : 1), (double)model->units * model->unit_threads);
    double by_blocks = f->blocks ? part_of((double)f->blocks, model->units) : 1;
    return by_threads < by_blocks ? by_threads : by_blocks;
}

// Of one launch.
static void predict_kernel(const slr_device_model *model, const struct slri_figures *f, slr_estimate *out)
{
    double threads = (double)(f->threads ? f->threads : 1), fill = fill_of(model, f);
    double flops =
        time_of((double)f->flops, model->flops_per_second) + time_of((double)f->flops64, model->flops64_per_second);
    double regular = fmax(flops, time_of((double)f->instructions, model->instructions_per_second));
    double slower = slower_by(model, f->divergence);
    out->kernel_ns = 0;
    out->bound = 0;
    keep_longer(time_of((double)f->memory_bytes, model->bytes_per_second) / fill, SLR_BY_MEMORY, out);
    keep_longer(regular * slower / fill, slower > 2 ? SLR_BY_BRANCHING : SLR_BY_COMPUTING, out);
    keep_longer((double)f->instructions / threads * model->instruction_ns, SLR_BY_ONE_THREAD, out);
}

static double copy_time(double fixed_ns, double bytes, double per_second)
{
    return bytes > 0 ? fixed_ns + time_of(bytes, per_second) : 0;
}

void slri_decide_predict(const slr_device_model *model, const struct slri_figures *f, double scale, slr_estimate *out)
{
    const double launches = f->launches ? (double)f->launches : 1;
    predict_kernel(model, f, out);
    out->kernel_ns *= launches * scale;
    out->launch_ns = model->round_trip_ns + (launches - 1) * model->launch_ns;
    out->copy_ns = 0;
    if (!model->unified && !f->resident)
        out->copy_ns = copy_time(model->upload_ns, (double)f->bytes_in, model->upload_bytes_per_second) +
                       copy_time(model->download_ns, (double)f->bytes_out, model->download_bytes_per_second);
    out->wait_ns = f->wait_ns;
    out->predicted_ns = out->copy_ns + out->launch_ns + out->kernel_ns + out->wait_ns;
}

static uint64_t scaled(uint64_t figure, double by)
{
    double product = (double)figure * by;
    return product < 0x1p63 ? (uint64_t)(product + 0.5) : (uint64_t)1 << 63;
}

struct slri_figures slri_decide_scaled(const struct slri_figures *f, double threads)
{
    double by = threads / (double)(f->threads ? f->threads : 1);
    struct slri_figures out = *f;
    out.threads = scaled(f->threads, by);
    out.blocks = f->blocks && scaled(f->blocks, by) == 0 ? 1 : scaled(f->blocks, by);
    out.instructions = scaled(f->instructions, by);
    out.flops = scaled(f->flops, by);
    out.flops64 = scaled(f->flops64, by);
    out.memory_bytes = scaled(f->memory_bytes, by);
    out.bytes_in = scaled(f->bytes_in, by);
    out.bytes_out = scaled(f->bytes_out, by);
    out.wait_ns = f->wait_ns * by;
    return out;
}

// ---- the crossover -------------------------------------------------------------------------------------------------

// On a grid of powers of two first: where the order changes, then between the two.
slr_status slri_decide_crossover(slri_decide_cost *cost, void *user, double *out)
{
    double first, second, low = 1, high = 0;
    *out = 0;
    SLRI_TRY(cost(user, low, &first, &second));
    const bool first_is_less = first < second;
    for (double threads = 2; threads <= most_threads && high == 0; threads *= 2) {
        slr_status status = cost(user, threads, &first, &second);
        if (status == SLR_NOT_FOUND)
            break;
        SLRI_TRY(status);
        if ((first < second) != first_is_less)
            high = threads;
        else
            low = threads;
    }
    if (high == 0)
        return SLR_OK;
    while (high - low > 1 && high / low > 1.01) {
        double middle = floor(sqrt(low * high));
        middle = middle > low ? middle : low + 1;
        if (middle >= high)
            break;
        SLRI_TRY(cost(user, middle, &first, &second));
        *((first < second) == first_is_less ? &low : &high) = middle;
    }
    *out = high;
    return SLR_OK;
}

// ---- the choice ----------------------------------------------------------------------------------------------------

static bool is_cpu(const slr_estimate *e)
{
    return e->device_class == SLR_DEVICE_CPU;
}

static bool is_p99(const slr_work *work)
{
    return work->latency_ns && work->calls_per_second > 0;
}

// A call with its wait for others; with a bound on the latency, what 99 % keep to.
static double cost_of_work(const slr_estimate *e, const slr_work *work)
{
    return is_p99(work) ? e->p99_ns : e->call_ns + e->queue_ns;
}

// Ends within the limit of the latency, if there is one, and is no later for every call that arrives.
static bool keeps_up(const slr_estimate *e, const slr_work *work)
{
    return !isinf(e->queue_ns) && !isinf(e->p99_ns) && (!work->latency_ns || e->p99_ns <= (double)work->latency_ns);
}

// Of one that is overloaded. With a limit of the latency `capacity` is something else, and may be 0.
static double calls_per_second_of(const slr_estimate *e, const slr_work *work)
{
    return work->latency_ns ? 1e9 / (e->call_ns - e->wait_ns) : e->capacity;
}

static bool is_less(const slr_estimate *e, uint32_t a, uint32_t b, const slr_work *work)
{
    double x = cost_of_work(&e[a], work), y = cost_of_work(&e[b], work);
    if (keeps_up(&e[a], work) != keeps_up(&e[b], work))
        return keeps_up(&e[a], work);
    return isinf(x) && isinf(y) ? calls_per_second_of(&e[a], work) > calls_per_second_of(&e[b], work) : x < y;
}

enum among { ALL, CPUS, OTHERS };

// The best of some that is not `not`; `count`: there is none.
static uint32_t best_of(const slr_estimate *e, uint32_t count, enum among among, uint32_t not, const slr_work *work)
{
    uint32_t best = count;
    for (uint32_t i = 0; i < count; ++i)
        if (i != not &&(among == ALL || is_cpu(&e[i]) == (among == CPUS)) &&
            (best == count || is_less(e, i, best, work)))
            best = i;
    return best;
}

static double ratio_of(const slr_estimate *slow, const slr_estimate *fast, const slr_work *work)
{
    double x = cost_of_work(slow, work), y = cost_of_work(fast, work);
    return isinf(x) || isinf(y) ? calls_per_second_of(fast, work) / calls_per_second_of(slow, work) : x / y;
}

struct words {
    char *at;
    size_t left;
};

static __attribute__((format(printf, 2, 3))) void add_words(struct words *words, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(words->at, words->left, format, arguments);
    va_end(arguments);
    size_t length = more < 0 ? 0 : (size_t)more < words->left ? (size_t)more : words->left - 1;
    words->at += length;
    words->left -= length;
}

static void add_time(struct words *words, double ns)
{
    if (isinf(ns))
        add_words(words, "overloaded"); // calls wait longer and longer
    else if (ns < 1e3)
        add_words(words, "%.0f ns", ns);
    else if (ns < 1e6)
        add_words(words, "%.1f us", ns / 1e3);
    else if (ns < 1e9)
        add_words(words, "%.1f ms", ns / 1e6);
    else
        add_words(words, "%.2f s", ns / 1e9);
}

static const char *source_of(const slr_estimate *e)
{
    return e->by == SLR_BY_MEASUREMENT ? "measured"
           : e->is_corrected           ? "predicted, corrected by a measurement"
                                       : "predicted";
}

// "cpu: 12.0 us (predicted)"; what is no call_ns alone says so, because readers compare it with call_ns.
static void add_cost(struct words *words, const slr_estimate *e, const slr_work *work)
{
    const double cost = cost_of_work(e, work);
    add_words(words, "%s: ", e->name);
    add_time(words, cost);
    add_words(words, " (%s)", source_of(e));
    if (isinf(cost))
        return;
    if (is_p99(work))
        add_words(words, " for 99 %% of the calls");
    else if (e->queue_ns > e->call_ns / 1000) {
        add_words(words, ", ");
        add_time(words, e->queue_ns);
        add_words(words, " of it waiting for earlier calls");
    }
}

static void add_kernel(struct words *words, const slr_estimate *e, const struct slri_figures *f)
{
    add_words(words, "%she kernel takes ", e->by == SLR_BY_MEASUREMENT ? "t" : "T");
    add_time(words, e->kernel_ns);
    if (e->bound == SLR_BY_MEMORY)
        add_words(words, " there, for %.3g bytes of memory", (double)f->memory_bytes);
    else if (e->bound == SLR_BY_BRANCHING)
        add_words(words, " there: %.0f %% of the lanes wait while threads branch", 100 * f->divergence);
    else if (e->bound == SLR_BY_ONE_THREAD)
        add_words(words, " there: a thread has %.3g instructions, one after the other",
                  (double)f->instructions / (double)(f->threads ? f->threads : 1));
    else
        add_words(words, " there, for %.3g operations",
                  (double)f->flops + (double)f->flops64 > 0 ? (double)f->flops + (double)f->flops64
                                                            : (double)f->instructions);
    add_words(words, ".");
}

// What costs the most of a call there. The parts of a call are always predicted.
static void add_reason(struct words *words, const slr_estimate *slow, const struct slri_figures *f)
{
    double overhead = slow->copy_ns + slow->launch_ns;
    if (slow->predicted_ns == 0)
        return; // a plain call has no parts
    const char *on = slow->by == SLR_BY_MEASUREMENT ? "on" : "On";
    add_words(words, " ");
    if (slow->by == SLR_BY_MEASUREMENT) {
        add_words(words, "In the prediction of ");
        add_time(words, slow->predicted_ns);
        add_words(words, ", ");
    }
    if (overhead > slow->kernel_ns && slow->copy_ns > slow->launch_ns) {
        add_words(words, "%s %s copies of %.3g bytes take ", on, slow->name, (double)(f->bytes_in + f->bytes_out));
        add_time(words, slow->copy_ns);
        add_words(words, ", the kernel ");
        add_time(words, slow->kernel_ns);
        add_words(words, ".");
    } else if (overhead > slow->kernel_ns) {
        add_words(words, "%s %s a launch and the wait for it take ", on, slow->name);
        add_time(words, slow->launch_ns);
        add_words(words, ", the kernel ");
        add_time(words, slow->kernel_ns);
        add_words(words, ".");
    } else
        add_kernel(words, slow, f);
}

static void add_comparison(struct words *words, const slr_estimate *chosen, const slr_estimate *next,
                           const slr_work *work, double ratio)
{
    const bool is_chosen_late = isinf(cost_of_work(chosen, work)), is_next_late = isinf(cost_of_work(next, work));
    if (is_next_late && !is_chosen_late)
        add_words(words, ": %.6g calls a second are more than %s completes.", work->calls_per_second, next->name);
    else if (!is_next_late && keeps_up(chosen, work) && !keeps_up(next, work)) {
        add_words(words, ": 99 %% of the calls take up to ");
        add_time(words, next->p99_ns);
        add_words(words, ", and the limit is ");
        add_time(words, (double)work->latency_ns);
        add_words(words, ".");
    } else if (is_next_late && ratio >= 1)
        add_words(words, ": %s completes %.3g times as many calls.", chosen->name, ratio);
    else if (ratio >= 1)
        add_words(words, ": %.3g times as long.", ratio);
    else
        add_words(words, ": %.2f times as fast, but less than %.2f is not worth a device with other memory.", 1 / ratio,
                  least_gain);
}

static void add_limit(struct words *words, const slr_estimate *e, uint32_t count, const slr_work *work)
{
    for (uint32_t i = 0; i < count; ++i)
        if (keeps_up(&e[i], work))
            return;
    if (!work->latency_ns) {
        add_words(words, " No candidate completes %.6g calls a second.", work->calls_per_second);
        return;
    }
    add_words(words, " No candidate ends 99 %% of the calls within ");
    add_time(words, (double)work->latency_ns);
    add_words(words, ".");
}

static void say_why(const slr_estimate *e, uint32_t count, const struct slri_figures *f, const slr_work *work,
                    slr_decision *out)
{
    const slr_estimate *chosen = &e[out->candidate], *next = &e[out->next];
    struct words words = {out->why, sizeof out->why};
    add_cost(&words, chosen, work);
    if (chosen == next) {
        add_words(&words, "; there is no other candidate.");
        add_limit(&words, e, count, work);
        add_reason(&words, chosen, f);
        return;
    }
    add_words(&words, "; ");
    add_cost(&words, next, work);
    add_comparison(&words, chosen, next, work, out->ratio);
    add_limit(&words, e, count, work);
    // Calls that arrive one upon another keep a device busy although each of them waits.
    if (f->wait_ns > 0.5 * next->call_ns && next->busy < 0.5 && is_cpu(chosen) && !is_cpu(next)) {
        add_words(&words, " %.0f %% of a call waits for something else; ", 100 * f->wait_ns / next->call_ns);
        add_words(&words, "%s would be under-utilised, busy %.1f %% of the time.", next->name, 100 * next->busy);
        return;
    }
    add_reason(&words, next, f);
}

// A second memory is not worth a small gain, but it is worth a limit that the CPU misses.
static bool is_cpu_good_enough(const slr_estimate *cpu, const slr_estimate *best, const slr_work *work)
{
    return keeps_up(cpu, work) == keeps_up(best, work) &&
           isinf(cost_of_work(cpu, work)) == isinf(cost_of_work(best, work)) && ratio_of(cpu, best, work) < least_gain;
}

void slri_decide_choose(const slr_estimate *e, uint32_t count, const struct slri_figures *figures, const slr_work *work,
                        slr_decision *out)
{
    uint32_t best = best_of(e, count, ALL, count, work), cpu = best_of(e, count, CPUS, count, work);
    if (cpu != count && !is_cpu(&e[best]) && is_cpu_good_enough(&e[cpu], &e[best], work))
        best = cpu;
    uint32_t next = best_of(e, count, is_cpu(&e[best]) ? OTHERS : CPUS, best, work);
    next = next == count ? best_of(e, count, ALL, best, work) : next;
    out->candidate = best;
    out->next = next == count ? best : next;
    out->by = e[best].by < e[out->next].by ? e[best].by : e[out->next].by;
    out->ratio = ratio_of(&e[out->next], &e[best], work);
    say_why(e, count, figures, work, out);
}
