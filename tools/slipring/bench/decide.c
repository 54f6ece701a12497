// SPDX-License-Identifier: Apache-2.0
// `slipring bench tune`, decisions: the six workloads between a GPU's model and a CPU's, predicted orders against
// measured ones, and the crossover of two devices that are open.
#include "bench/bench.h"

#include "decide/parts.h"
#include "memory.h"
#include "progress.h"
#include "say.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 5, BUFFERS = 4, MOST_SIZE = 65536, KNOWN_SIZE = 4096, STEPS = 12 };
#define OTHER_DEVICE "opencl:0"
#define INTERPRETER "cpu?engine=interpreted"

// The kernel, and its arguments in order: 'f' and 'u' are buffers of floats and of random words for every thread, 'r'
// one of 16 words each, 'p' of 32, 'q' of 200, 't' text of 4,000 characters each, 'm' one byte each, 's' a number, 'n'
// the size.
static const struct kind {
    const char *workload, *arguments;
    uint32_t sizes[SIZES];
    bool is_held_out;
} kinds[] = {{"sequence", "ffn", {64, 512, 4096, 16384, 65536}, false},
             {"tensor", "ffssn", {64, 512, 4096, 16384, 65536}, false},
             {"io", "run", {64, 512, 4096, 16384, 65536}, false},
             {"control", "tmun", {8, 16, 32, 64, 128}, false},
             {"filter", "ffn", {64, 512, 4096, 16384, 65536}, true},
             {"packets", "pun", {64, 512, 4096, 16384, 65536}, true},
             {"bodies", "ffffn", {64, 256, 512, 1024, 2048}, true},
             {"sorted", "qn", {8, 16, 32, 64, 128}, true}};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct work {
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *buffers[BUFFERS];
    slr_arg args[8];
    uint32_t buffer_count;
    slr_work what;
} work;

// ---- the work ------------------------------------------------------------------------------------------------------

static uint64_t bytes_of(char kind, uint64_t size)
{
    return kind == 't'   ? 4000 * size
           : kind == 'q' ? 800 * size
           : kind == 'p' ? 128 * size
           : kind == 'r' ? 64 * size
           : kind == 'm' ? size
                         : 4 * size + 64; // a filter looks ahead
}

static slr_status make_buffer(slr_device *device, char kind, uint64_t size, slr_buffer **out)
{
    uint64_t bytes = bytes_of(kind, size), random = 1;
    slr_status status = slr_buffer_create(device, bytes, out);
    unsigned char *data = memory_take(bytes, 1);
    for (uint64_t i = 0; i < bytes; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u; // D. Knuth's MMIX
        data[i] = kind == 'f' ? 0 : (unsigned char)((random >> 33) % 100);
    }
    if (status == SLR_OK)
        status = slr_buffer_write(*out, 0, data, bytes);
    free(data);
    return status;
}

static slr_status make_arguments(slr_device *device, const char *kinds_of, uint64_t size, work *w)
{
    slr_status status = SLR_OK;
    for (; *kinds_of != '\0' && status == SLR_OK; kinds_of++) {
        slr_arg *arg = &w->args[w->what.arg_count++];
        if (*kinds_of == 'n')
            *arg = slr_arg_signed((int64_t)size);
        else if (*kinds_of == 's')
            *arg = slr_arg_float(0.5);
        else {
            status = make_buffer(device, *kinds_of, size, &w->buffers[w->buffer_count]);
            *arg = slr_arg_buffer(w->buffers[w->buffer_count++]);
        }
    }
    return status;
}

static slr_status make_work(slr_device *device, const char *name, const char *arguments, uint64_t size, work *w)
{
    const decide_workload *workload = decide_find_workload(name);
    *w = (work){.what = SLR_WORK_INIT};
    slr_status status = slr_program_from_text(device, name, workload->text, NULL, &w->program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(w->program, name, &w->kernel);
    if (status == SLR_OK)
        status = make_arguments(device, arguments, size, w);
    w->what.kernel = w->kernel;
    w->what.args = w->args;
    w->what.shape = SLR_1D(size);
    return status;
}

static void free_work(work *w)
{
    for (uint32_t i = 0; i < w->buffer_count; i++)
        slr_buffer_destroy(w->buffers[i]);
    slr_kernel_destroy(w->kernel);
    slr_program_destroy(w->program);
}

static bool say_decide(slr_status status, const char *what)
{
    if (status != SLR_OK)
        say_failure(status, what);
    return status == SLR_OK;
}

// ---- orders --------------------------------------------------------------------------------------------------------

typedef struct devices {
    slr_device *reader;  // on which sources are read and interpreted
    slr_device *pair[3]; // cpu, the interpreter, the other one
} devices;

static bool open_devices(devices *d)
{
    static const char *const specs[] = {"cpu", INTERPRETER, OTHER_DEVICE};
    for (int i = 0; i < 3; i++)
        if (slr_device_open(specs[i], NULL, &d->pair[i]) != SLR_OK)
            return false;
    return slr_device_open(INTERPRETER, NULL, &d->reader) == SLR_OK;
}

static void close_devices(devices *d)
{
    for (int i = 0; i < 3; i++)
        slr_device_close(d->pair[i]);
    slr_device_close(d->reader);
}

typedef struct tally {
    unsigned pairs, right;
    char wrong[400];
} tally;

static void note_wrong(tally *tally, const char *device, const char *workload, uint32_t size)
{
    size_t length = strlen(tally->wrong);
    snprintf(tally->wrong + length, sizeof tally->wrong - length, "%s%s %u on %.40s", length > 0 ? ", " : "", workload,
             size, device);
}

// Both pairs at once: what is measured of a device stands for both.
static bool compare_orders(const devices *d, const struct kind *kind, uint32_t size, tally *tally)
{
    const slr_candidate candidates[] = {{.device = d->pair[0]}, {.device = d->pair[1]}, {.device = d->pair[2]}};
    slr_estimate e[3];
    slr_decision decision;
    work w;
    progress_step("decide_order: %s %u", kind->workload, size);
    slr_status status = make_work(d->reader, kind->workload, kind->arguments, size, &w);
    w.what.measure = SLR_MEASURE_ALWAYS;
    w.what.budget_ns = 100000000;
    if (status == SLR_OK)
        status = slr_decide(&w.what, candidates, 3, e, &decision);
    free_work(&w);
    for (int i = 0; i < 2 && status == SLR_OK; i++) {
        bool is_right = (e[i].predicted_ns < e[2].predicted_ns) == (e[i].measured_ns < e[2].measured_ns);
        tally->pairs++;
        tally->right += is_right;
        if (!is_right)
            note_wrong(tally, e[i].name, kind->workload, size);
    }
    return say_decide(status, kind->workload);
}

static bool measure_orders(bench *bench, const devices *d, const char *row_name, bool are_held_out)
{
    tally tally = {0};
    char method[BENCH_METHOD_BYTES];
    bool fine = true;
    for (size_t i = 0; i < KINDS && fine; i++)
        for (size_t k = 0; k < (bench->small ? 1 : SIZES) && fine && kinds[i].is_held_out == are_held_out; k++)
            fine = compare_orders(d, &kinds[i], kinds[i].sizes[k], &tally);
    progress_end();
    if (!fine)
        return false;
    snprintf(method, sizeof method,
             "The number of pairs of devices, cpu or its interpreter and " OTHER_DEVICE
             ", of which slr_decide predicts the faster one as a measurement finds it. Floor: the number of all pairs. "
             "%sWrong: %s.",
             are_held_out ? "Only kernels that were not used to choose the figures of the model. " : "",
             *tally.wrong != '\0' ? tally.wrong : "none");
    const bench_row row = {.name = row_name, .stat = "count", .unit = "-", .value = tally.right, .floor = tally.pairs};
    bench_add(bench, &row, method);
    return true;
}

// ---- the crossover -------------------------------------------------------------------------------------------------

// What calls of the work take on the interpreter and on the other device, in turn; and where they are said to cross.
static slr_status measure_size(const devices *d, uint64_t size, slr_estimate e[2], slr_decision *decision)
{
    const slr_candidate candidates[] = {{.device = d->pair[1]}, {.device = d->pair[2]}};
    work w;
    progress_step("decide_crossover: %llu threads", (unsigned long long)size);
    slr_status status = make_work(d->reader, "tensor", "ffssn", size, &w);
    w.what.measure = SLR_MEASURE_ALWAYS;
    w.what.budget_ns = 200000000;
    if (status == SLR_OK)
        status = slr_decide(&w.what, candidates, 2, e, decision);
    free_work(&w);
    return status;
}

// The interpreter is faster at `low` and slower at `high`; 0: that is not so.
static slr_status measure_crossover(const devices *d, double low, double high, double *out)
{
    slr_estimate e[2];
    slr_decision decision;
    *out = 0;
    slr_status status = measure_size(d, (uint64_t)low, e, &decision);
    if (status != SLR_OK || e[0].measured_ns >= e[1].measured_ns)
        return status;
    status = measure_size(d, (uint64_t)high, e, &decision);
    if (status != SLR_OK || e[0].measured_ns <= e[1].measured_ns)
        return status;
    for (int i = 0; i < STEPS && high / low > 1.05 && status == SLR_OK; i++) {
        double middle = floor(sqrt(low * high));
        status = measure_size(d, (uint64_t)middle, e, &decision);
        *(e[0].measured_ns < e[1].measured_ns ? &low : &high) = middle;
    }
    *out = sqrt(low * high);
    return status;
}

static bool measure_crossovers(bench *bench, const devices *d)
{
    slr_estimate e[2];
    slr_decision decision;
    double measured = 0;
    slr_status status = measure_size(d, KNOWN_SIZE, e, &decision);
    if (status == SLR_OK && !bench->small)
        status = measure_crossover(d, 1, MOST_SIZE, &measured);
    progress_end();
    const bench_row row = {.name = "decide_crossover",
                           .stat = "threads",
                           .unit = "-",
                           .value = decision.crossover_threads,
                           .floor = measured};
    if (status == SLR_OK)
        bench_add(bench, &row,
                  "Threads at which an element-wise kernel takes as long on the cpu's interpreter as on " OTHER_DEVICE
                  ", predicted from one size, 4,096. Floor: the same by measurement, sizes halved until 5 % apart.");
    return say_decide(status, "bench tune, decide_crossover");
}

// ---- the six -------------------------------------------------------------------------------------------------------

// What the table of the guides has.
static const struct expected {
    const char *workload, *arguments;
    uint64_t bytes[BUFFERS];
    uint32_t device_class;
    bool is_held_out;
} table[] = {{"matrix", "bbbx", {400000000, 400000000, 400000000}, SLR_DEVICE_GPU, false},
             {"sequence", "bbn", {4096, 4096}, SLR_DEVICE_CPU, false},
             {"tensor", "bbssn", {4000000, 4000000}, SLR_DEVICE_GPU, false},
             {"io", "bbn", {4194304, 262144}, SLR_DEVICE_CPU, false},
             {"deep", "bbbxi", {55115776, 147456, 51380224}, SLR_DEVICE_GPU, false},
             {"control", "bbbn", {256000, 64, 256}, SLR_DEVICE_CPU, false},
             {"gram", "bbx", {67108864, 67108864}, SLR_DEVICE_GPU, true},
             {"bodies", "bbbbn", {262144, 262144, 262144, 262144}, SLR_DEVICE_GPU, true},
             {"token", "bbbbk", {256, 32768, 32768, 256}, SLR_DEVICE_CPU, true},
             {"filter", "bbn", {8256, 8192}, SLR_DEVICE_CPU, true},
             {"stencil", "bbx", {268435456, 268435456}, SLR_DEVICE_GPU, true},
             {"squares", "bbn", {256000000, 4000000}, SLR_DEVICE_GPU, true},
             {"packets", "bbn", {4194304, 131072}, SLR_DEVICE_CPU, true},
             {"lines", "bbn", {4194304, 65536}, SLR_DEVICE_CPU, true},
             {"dense", "bbbx", {1048576, 4194304, 1048576}, SLR_DEVICE_GPU, true},
             {"normal", "bbn", {201326592, 201326592}, SLR_DEVICE_GPU, true},
             {"sorted", "bn", {102400}, SLR_DEVICE_CPU, true},
             {"machine", "bbn", {4096, 1024}, SLR_DEVICE_CPU, true}};
enum { TABLE = sizeof table / sizeof *table };

static slr_status decide_expected(slr_device *reader, const struct expected *expected, bool *is_right)
{
    const decide_workload *workload = decide_find_workload(expected->workload);
    slr_device_model models[2];
    uint64_t bytes[8] = {0};
    slr_estimate e[2];
    slr_decision decision;
    work w = {.what = SLR_WORK_INIT};
    const uint64_t threads = workload->size[0] * workload->size[1] * workload->size[2];
    if (decide_read_model("h100", &models[0]) != 0 || decide_read_model("cpu2", &models[1]) != 0)
        return SLR_INVALID;
    slr_status status = slr_program_from_text(reader, workload->name, workload->text, NULL, &w.program);
    if (status == SLR_OK)
        status = slr_program_get_kernel(w.program, workload->name, &w.kernel);
    for (const char *at = expected->arguments; *at != '\0'; at++) {
        uint32_t i = w.what.arg_count++;
        w.args[i] = *at == 'b'   ? slr_arg_buffer(NULL)
                    : *at == 's' ? slr_arg_float(0.5)
                    : *at == 'x' ? slr_arg_signed((int64_t)workload->size[0])
                    : *at == 'i' ? slr_arg_signed(64)
                    : *at == 'k' ? slr_arg_signed(128)
                                 : slr_arg_signed((int64_t)threads);
        bytes[i] = *at == 'b' ? expected->bytes[i] : 0;
    }
    w.what.kernel = w.kernel;
    w.what.args = w.args;
    w.what.buffer_bytes = bytes;
    memcpy(w.what.shape.threads, workload->size, sizeof workload->size);
    w.what.launches = workload->launches;
    w.what.resident = workload->resident;
    w.what.calls_per_second = workload->rate;
    w.what.wait_share = workload->wait_share;
    const slr_candidate candidates[] = {{.model = &models[0], .model_bytes = sizeof models[0]},
                                        {.model = &models[1], .model_bytes = sizeof models[1]}};
    if (status == SLR_OK)
        status = slr_decide(&w.what, candidates, 2, e, &decision);
    *is_right = status == SLR_OK && e[decision.candidate].device_class == expected->device_class;
    free_work(&w);
    return status;
}

static bool decide_table(bench *bench, const char *row_name, bool are_held_out)
{
    slr_device *reader;
    tally tally = {0};
    char method[BENCH_METHOD_BYTES];
    slr_status status = slr_device_open(INTERPRETER, NULL, &reader);
    if (status != SLR_OK)
        return say_decide(status, INTERPRETER);
    for (size_t i = 0; i < TABLE && status == SLR_OK; i++) {
        bool is_right = false;
        if (table[i].is_held_out != are_held_out)
            continue;
        progress_step("%s: %s", row_name, table[i].workload);
        status = decide_expected(reader, &table[i], &is_right);
        tally.pairs++;
        tally.right += is_right;
        if (!is_right)
            note_wrong(&tally, "h100 or cpu2", table[i].workload, 0);
    }
    progress_end();
    slr_device_close(reader);
    snprintf(
        method, sizeof method,
        "%s for which slr_decide gives the same answer as the table of guides to GPU computing; it compares a model of "
        "an H100 with published figures and a model of two CPU cores. Floor: the number of all workloads. Wrong: %s.",
        are_held_out
            ? "Workloads that were not used to choose the figures of the model, two for each line of the table,"
            : "Workloads, one for each line of the table,",
        *tally.wrong != '\0' ? tally.wrong : "none");
    const bench_row row = {.name = row_name, .stat = "count", .unit = "-", .value = tally.right, .floor = tally.pairs};
    if (status == SLR_OK)
        bench_add(bench, &row, method);
    return say_decide(status, row_name);
}

bool bench_decide(bench *bench)
{
    devices d = {0};
    bool fine = !bench_wants(bench, "decide_six") || decide_table(bench, "decide_six", false);
    if (bench_wants(bench, "decide_held_out"))
        fine = decide_table(bench, "decide_held_out", true) && fine;
    if (!bench_wants(bench, "decide_order") && !bench_wants(bench, "decide_order_held_out") &&
        !bench_wants(bench, "decide_crossover"))
        return fine;
    if (!open_devices(&d)) {
        const bench_row absent = {.name = "decide_order", .stat = "count", .unit = "-"};
        bench_add(bench, &absent, "Not measured: there is no " OTHER_DEVICE ".");
    } else {
        if (bench_wants(bench, "decide_order"))
            fine = measure_orders(bench, &d, "decide_order", false) && fine;
        if (bench_wants(bench, "decide_order_held_out"))
            fine = measure_orders(bench, &d, "decide_order_held_out", true) && fine;
        if (bench_wants(bench, "decide_crossover"))
            fine = measure_crossovers(bench, &d) && fine;
    }
    close_devices(&d);
    return fine;
}
