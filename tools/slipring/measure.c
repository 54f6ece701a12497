// SPDX-License-Identifier: Apache-2.0
// Pairs, probes and medians.
#include "measure.h"

#include "clock.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

static const double most_change = 1.5; // of the probe within a pair: more, and the cores have moved

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void measure_sort(double *values, size_t count)
{
    if (count > 0)
        qsort(values, count, sizeof *values, by_size);
}

double measure_quantile(const double *sorted, size_t count, double part)
{
    if (count == 0)
        return 0.0;
    size_t at = (size_t)(part * (double)count);
    return sorted[at < count ? at : count - 1];
}

static double median(double *values, size_t count)
{
    measure_sort(values, count);
    return measure_quantile(values, count, 0.5);
}

double measure_clock_ns(void)
{
    enum { READS = 1001, EACH = 16 };
    static double costs[READS];
    for (size_t i = 0; i < READS; i++) {
        uint64_t start = clock_ns(), now = start;
        for (int k = 0; k < EACH; k++)
            now = clock_ns();
        costs[i] = (double)(now - start) / EACH;
    }
    return median(costs, READS);
}

// The kept pairs, a column for each thing that a median is taken of.
typedef struct columns_kept {
    double value[MEASURE_FIGURES][MEASURE_TRIED], floor[MEASURE_FIGURES][MEASURE_TRIED];
    double ratio[MEASURE_FIGURES][MEASURE_TRIED], probe[MEASURE_TRIED];
} columns_kept;

static bool steady(double before, double after)
{
    return before <= after * most_change && after <= before * most_change;
}

static void keep(columns_kept *kept, unsigned row, unsigned figures, const double *value, const double *floor)
{
    for (unsigned i = 0; i < figures; i++) {
        kept->value[i][row] = value[i];
        kept->floor[i][row] = floor[i];
        kept->ratio[i][row] = floor[i] > 0.0 ? value[i] / floor[i] : 0.0;
    }
}

static void summarise(columns_kept *kept, unsigned figures, measure_result *out)
{
    for (unsigned i = 0; i < figures; i++) {
        memcpy(out->values[i], kept->value[i], out->kept * sizeof *out->values[i]);
        memcpy(out->floors[i], kept->floor[i], out->kept * sizeof *out->floors[i]);
        out->figures[i] = (measure_figure){median(kept->value[i], out->kept), median(kept->floor[i], out->kept),
                                           median(kept->ratio[i], out->kept)};
    }
    out->probe_ns = median(kept->probe, out->kept);
}

static bool goes_on(const measure_pair *pair, const measure_result *so_far, uint64_t start_ns)
{
    uint64_t seconds = (clock_ns() - start_ns) / SECOND_NS;
    unsigned enough = pair->enough != 0 ? pair->enough : MEASURE_ENOUGH;
    unsigned hard_s = pair->hard_s != 0 ? pair->hard_s : MEASURE_HARD_S;
    if (seconds >= MEASURE_SOFT_S && enough > MEASURE_KEPT)
        enough = MEASURE_KEPT;
    return so_far->kept < enough && so_far->tried < MEASURE_TRIED && seconds < hard_s;
}

static bool warm_up(const measure_pair *pair)
{
    double unused[MEASURE_FIGURES];
    return pair->value(pair->value_context, unused) && pair->floor(pair->floor_context, unused);
}

bool measure_pairs(const measure_pair *pair, partner *partner, measure_result *out)
{
    columns_kept *kept = calloc(1, sizeof *kept);
    bool fine = kept != NULL && (!pair->compiles || warm_up(pair));
    uint64_t start = clock_ns();
    *out = (measure_result){0};
    while (fine && goes_on(pair, out, start)) {
        double value[MEASURE_FIGURES], floor[MEASURE_FIGURES];
        double before = partner_probe_ns(partner);
        bool value_first = out->tried++ % 2 == 0; // neither always follows the other
        fine = (value_first ? pair->value(pair->value_context, value) : pair->floor(pair->floor_context, floor)) &&
               (value_first ? pair->floor(pair->floor_context, floor) : pair->value(pair->value_context, value));
        double after = partner_probe_ns(partner);
        if (pair->name != NULL)
            progress_step("%.40s: %u pairs kept of %u", pair->name, out->kept, out->tried);
        if (fine && (pair->any || steady(before, after))) {
            keep(kept, out->kept, pair->figures, value, floor);
            kept->probe[out->kept++] = (before + after) / 2.0;
        }
    }
    if (fine)
        summarise(kept, pair->figures, out);
    free(kept);
    return fine;
}
