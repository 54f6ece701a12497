// SPDX-License-Identifier: Apache-2.0
// `slipring ops plan`: the memory of a sequence of layers, planned, and measured where that is wanted.
#include "ops/ops.h"

#include "bench/chain.h"
#include "clock.h"
#include "device_option.h"
#include "json_out.h"
#include "memory.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>

#define PLAN_TIMEOUT_NS 600000000000ull

static const char help[] = "Usage: slipring ops plan [OPTION]...\n"
                           "Shows the bytes that activations and gradients of equal layers need in training:\n"
                           "if all activations are kept, and if only every K-th is kept and the others are\n"
                           "computed again.\n"
                           "\n"
                           "  --layers N           1-65536, default 64\n"
                           "  --rows R             rows of a batch, default 128\n"
                           "  --width W            elements of a row, default 256\n"
                           "  --every K            keeps every K-th activation (default: square root of N)\n"
                           "  --measure            runs such layers (products and activations in turn)\n"
                           "                       forward and backward, and shows the most memory that was\n"
                           "                       in use, and the time\n"
                           "  --device D           of --measure; default: SLIPRING_DEVICE, else auto\n"
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring ops plan --layers 64 --measure --device cpu\n";

typedef struct options {
    const char *device;
    uint32_t layers, rows, width, every;
    bool measure, json;
} options;

typedef struct measured {
    uint64_t bytes, ns;
} measured;

// ---- showing -------------------------------------------------------------------------------------------------------

static const struct row {
    const char *key, *text;
    size_t offset;
} rows[] = {
    {"f32", "f32", offsetof(slr_plan, f32)},
    {"half", "f16 or bf16", offsetof(slr_plan, half)},
    {"f32_half_batch", "f32, half the batch", offsetof(slr_plan, f32_half_batch)},
    {"half_half_batch", "f16 or bf16, half the batch", offsetof(slr_plan, half_half_batch)},
};

enum { ROWS = sizeof rows / sizeof *rows };

static const slr_plan_bytes *bytes_of(const slr_plan *plan, int row)
{
    return (const slr_plan_bytes *)(const void *)((const char *)plan + rows[row].offset);
}

static void show_text(const options *given, const slr_plan *plan, const measured m[2])
{
    say_out("%u layers of %u rows of %u; every %u kept, %u computed twice\n\n", given->layers, given->rows,
            given->width, plan->every, plan->recomputed);
    say_out("%-28s %15s %15s\n", "bytes", "all kept", "every K-th");
    for (int i = 0; i < ROWS; i++)
        say_out("%-28s %15llu %15llu\n", rows[i].text, (unsigned long long)bytes_of(plan, i)->plain,
                (unsigned long long)bytes_of(plan, i)->checkpointed);
    if (given->measure) {
        say_out("%-28s %15llu %15llu\n", "measured, f32", (unsigned long long)m[0].bytes,
                (unsigned long long)m[1].bytes);
        say_out("%-28s %12.2f ms %12.2f ms\n", "forward and backward", (double)m[0].ns / 1e6, (double)m[1].ns / 1e6);
    }
}

static void put_measured(json_out *out, const char *key, const measured *m)
{
    json_out_object(out, key);
    json_out_integer(out, "bytes", m->bytes);
    json_out_integer(out, "ns", m->ns);
    json_out_end_object(out);
}

static void show_json(const options *given, const slr_plan *plan, const measured m[2])
{
    json_out out = {.to = stdout};
    json_out_object(&out, NULL);
    json_out_integer(&out, "layers", given->layers);
    json_out_integer(&out, "every", plan->every);
    json_out_integer(&out, "recomputed", plan->recomputed);
    for (int i = 0; i < ROWS; i++) {
        json_out_object(&out, rows[i].key);
        json_out_integer(&out, "plain", bytes_of(plan, i)->plain);
        json_out_integer(&out, "checkpointed", bytes_of(plan, i)->checkpointed);
        json_out_end_object(&out);
    }
    if (given->measure) {
        put_measured(&out, "measured_plain", &m[0]);
        put_measured(&out, "measured_checkpointed", &m[1]);
    }
    json_out_end_object(&out);
}

// ---- measuring -----------------------------------------------------------------------------------------------------

static slr_status run_once(chain *c, uint64_t *ns)
{
    uint64_t start = clock_ns();
    slr_status status = chain_forward(c);
    if (status == SLR_OK)
        status = chain_backward(c);
    if (status == SLR_OK)
        status = slr_stream_finish(c->stream, PLAN_TIMEOUT_NS);
    *ns = clock_ns() - start;
    return status;
}

// On a device of its own, whose pool has nothing else.
static int measure(const options *given, uint32_t every, measured *out)
{
    slr_device *device = NULL;
    chain c = {0};
    int end = device_option_open(given->device, NULL, &device, NULL);
    if (end != EXIT_DONE)
        return end;
    slr_status status = chain_open(device, given->rows, given->width, every, given->layers, &c);
    for (int i = 0; i < 3 && status == SLR_OK; i++) { // the first compiles
        uint64_t ns;
        status = run_once(&c, &ns);
        out->ns = i == 0 || ns < out->ns ? ns : out->ns;
    }
    if (status == SLR_OK)
        status = chain_peak(device, &out->bytes);
    end = status == SLR_OK ? EXIT_DONE : say_failure(status, "layers");
    chain_close(&c);
    slr_device_close(device);
    return end;
}

static int run(const options *given)
{
    slr_plan plan;
    measured m[2] = {0};
    slr_layer *layers = memory_take(given->layers, sizeof *layers);
    slr_sequence_desc desc = chain_describe(given->rows, given->width, given->every, layers, given->layers);
    slr_status status = slr_ops_plan(&desc, &plan);
    free(layers);
    if (status != SLR_OK)
        return status == SLR_INVALID ? say_usage("%s", slr_error_message()) : say_failure(status, "layers");
    int end = given->measure ? measure(given, 1, &m[0]) : EXIT_DONE;
    if (end == EXIT_DONE && given->measure)
        end = measure(given, plan.every, &m[1]);
    if (end == EXIT_DONE && given->json)
        show_json(given, &plan, m);
    else if (end == EXIT_DONE)
        show_text(given, &plan, m);
    return end;
}

// ---- the command line ----------------------------------------------------------------------------------------------

static int take(const char *option, uint32_t most, uint32_t *to)
{
    if (number_parse(SLR_U32, optarg, to) && *to >= 1 && *to <= most)
        return -1;
    return say_usage("%s: '%s' is not a number from 1 to %u", option, optarg, most);
}

int ops_plan(int argc, char **argv)
{
    static const struct option long_options[] = {{"layers", required_argument, NULL, 'l'},
                                                 {"rows", required_argument, NULL, 'r'},
                                                 {"width", required_argument, NULL, 'w'},
                                                 {"every", required_argument, NULL, 'e'},
                                                 {"device", required_argument, NULL, 'd'},
                                                 {"measure", no_argument, NULL, 'm'},
                                                 {"json", no_argument, NULL, 'j'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    options given = {.layers = 64, .rows = 128, .width = 256};
    int end = -1;
    for (int option; end == -1 && (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
        switch (option) {
        case 'l':
            end = take("--layers", 65536, &given.layers);
            break;
        case 'r':
            end = take("--rows", 1 << 20, &given.rows);
            break;
        case 'w':
            end = take("--width", 1 << 20, &given.width);
            break;
        case 'e':
            end = take("--every", 65536, &given.every);
            break;
        case 'd':
            given.device = optarg;
            break;
        case 'm':
            given.measure = true;
            break;
        case 'j':
            given.json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return EXIT_DONE;
        default:
            return say_refused_option(option, argv);
        }
    }
    if (end != -1)
        return end;
    if (optind != argc)
        return say_usage("'ops plan' takes no argument; got '%s'", argv[optind]);
    return run(&given);
}
