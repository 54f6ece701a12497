// SPDX-License-Identifier: Apache-2.0
// `slipring ops bench`: the algorithms of an operation, timed side by side.
#include "ops/ops.h"

#include "device_option.h"
#include "json_out.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <slipring/slipring.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring ops bench matmul --shape M,N,K [OPTION]...\n"
                           "       slipring ops bench convolution --shape N,C,H,W --weights K,R,S ...\n"
                           "Times all algorithms that support this operation, in turn. Stores the fastest\n"
                           "for programs that request it (SLR_CHOICE_BENCHMARK).\n"
                           "\n"
                           "  --shape SHAPE        matmul: M rows by N columns, each a sum of K products;\n"
                           "                       convolution: images, channels, height, width of x\n"
                           "  --batch B            matmul: B products (default 1)\n"
                           "  --transpose WHICH    matmul: a, b or ab\n"
                           "  --weights K,R,S      convolution: K filters of R by S\n"
                           "  --stride S           convolution: in both directions (default 1)\n"
                           "  --padding P          convolution: zeros on each side (default 0)\n"
                           "  --groups G           convolution: default 1\n"
                           "  --pass WHICH         convolution: forward (default), or the gradient of input\n"
                           "                       or weights\n"
                           "  --type TYPE          f32 (default), f16 or bf16\n"
                           "  --deterministic      only algorithms with the same bits in every run\n"
                           "  --workspace BYTES    maximum workspace\n"
                           "  --device D           default: SLIPRING_DEVICE, else auto\n"
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring ops bench matmul --shape 512,512,512 --device cpu\n"
                           "\n"
                           "Exit code: 3 if the device is missing, or no algorithm supports this operation.\n";

typedef struct options {
    const char *device;
    uint32_t shape[4], weights[3], batch, stride, padding, groups;
    unsigned dimensions; // of the shape
    unsigned pass;       // of passes
    slr_scalar type;
    bool transpose_a, transpose_b, is_convolution, json;
    slr_ops_desc desc;
} options;

enum { PASS_FORWARD, PASS_INPUT, PASS_WEIGHTS, PASSES };
static const char *const passes[PASSES] = {"forward", "input", "weights"};
static const struct {
    const char *name;
    slr_scalar type;
    uint16_t pattern[4]; // 0.5, -0.25, 0.75, -1 in halves
} types[] = {{"f32", SLR_F32, {0}},
             {"f16", SLR_F16, {0x3800, 0xB400, 0x3A00, 0xBC00}},
             {"bf16", SLR_BF16, {0x3F00, 0xBE80, 0x3F40, 0xBF80}}};
enum { TYPES = sizeof types / sizeof *types };

typedef struct bench_state {
    slr_device *device;
    slr_stream *stream;
    slr_ops *ops;
    slr_buffer *buffer[4];
    json_out *json; // NULL: text
} bench_state;

// ---- showing -------------------------------------------------------------------------------------------------------

static double rate_of(const slr_algorithm *algorithm)
{
    return algorithm->ns != 0 ? algorithm->flops / (double)algorithm->ns : 0;
}

static void put_algorithm(const bench_state *state, const slr_algorithm *a)
{
    json_out_object(state->json, NULL);
    json_out_text(state->json, "name", a->name);
    json_out_text(state->json, "provider", a->provider);
    json_out_integer(state->json, "ns", a->ns);
    json_out_real(state->json, "gflops", rate_of(a));
    json_out_integer(state->json, "workspace_bytes", a->workspace_bytes);
    json_out_bool(state->json, "deterministic", a->deterministic != 0);
    json_out_bool(state->json, "chosen", a->chosen != 0);
    json_out_text(state->json, "why_not", a->why_not);
    json_out_end_object(state->json);
}

static void show_algorithm(void *user, const slr_algorithm *a)
{
    bench_state *state = user;
    if (state->json != NULL)
        put_algorithm(state, a);
    else if (*a->why_not != '\0')
        say_out("  %-18s not used: %s\n", a->name, a->why_not);
    else
        say_out("%c %-18s %10.1f us %8.2f GFLOP/s %10llu B workspace  %s\n", a->chosen ? '*' : ' ', a->name,
                (double)a->ns / 1e3, rate_of(a), (unsigned long long)a->workspace_bytes,
                a->deterministic ? "deterministic" : "");
}

// ---- measuring -----------------------------------------------------------------------------------------------------

// A tensor of numbers that are neither zero nor tiny.
static slr_status make(bench_state *state, unsigned which, slr_tensor *tensor)
{
    static const float floats[4] = {0.5f, -0.25f, 0.75f, -1.0f};
    uint32_t each = tensor->dtype == SLR_F32 ? 4 : 2;
    uint64_t bytes = each;
    const void *pattern = floats;
    for (unsigned i = 1; i < TYPES; i++)
        if (types[i].type == tensor->dtype)
            pattern = types[i].pattern;
    for (uint32_t i = 0; i < tensor->rank; i++)
        bytes *= tensor->shape[i];
    slr_status status = slr_buffer_create(state->device, bytes, &state->buffer[which]);
    tensor->buffer = state->buffer[which];
    if (status == SLR_OK)
        status = slr_stream_fill(state->stream, tensor->buffer, 0, bytes, pattern,
                                 bytes % (4ull * each) ? each : 4 * each, NULL);
    return status;
}

static slr_status bench_matmul(bench_state *state, const options *given)
{
    uint32_t m = given->shape[0], n = given->shape[1], k = given->shape[2], batch = given->batch;
    slr_tensor a = slr_tensor_3d(given->type, NULL, batch, given->transpose_a ? k : m, given->transpose_a ? m : k);
    slr_tensor b = slr_tensor_3d(given->type, NULL, batch, given->transpose_b ? n : k, given->transpose_b ? k : n);
    slr_tensor c = slr_tensor_3d(given->type, NULL, batch, m, n);
    slr_matmul_desc desc = SLR_MATMUL_DESC_INIT;
    desc.a = &a, desc.b = &b, desc.c = &c;
    desc.transpose_a = given->transpose_a, desc.transpose_b = given->transpose_b;
    slr_status status = make(state, 0, &a);
    if (status == SLR_OK)
        status = make(state, 1, &b);
    if (status == SLR_OK)
        status = make(state, 2, &c);
    return status == SLR_OK ? slr_ops_matmul_bench(state->ops, state->stream, &desc, show_algorithm, state) : status;
}

static uint32_t places(uint32_t length, uint32_t window, const options *given)
{
    uint64_t room = (uint64_t)length + 2ull * given->padding;
    return room < window ? 0 : (uint32_t)((room - window) / given->stride + 1);
}

static slr_status bench_convolution(bench_state *state, const options *given)
{
    const uint32_t *x_shape = given->shape, *w = given->weights;
    slr_tensor x = slr_tensor_4d(given->type, NULL, x_shape[0], x_shape[1], x_shape[2], x_shape[3]);
    slr_tensor weights = slr_tensor_4d(given->type, NULL, w[0], x_shape[1] / given->groups, w[1], w[2]);
    slr_tensor y = slr_tensor_4d(given->type, NULL, x_shape[0], w[0], places(x_shape[2], w[1], given),
                                 places(x_shape[3], w[2], given));
    slr_convolution_desc desc = SLR_CONVOLUTION_DESC_INIT;
    desc.x = &x, desc.weights = &weights, desc.y = &y;
    desc.stride[0] = desc.stride[1] = given->stride;
    desc.padding[0] = desc.padding[1] = given->padding;
    desc.groups = given->groups;
    slr_status status = make(state, 0, &x);
    if (status == SLR_OK)
        status = make(state, 1, &weights);
    if (status == SLR_OK)
        status = make(state, 2, &y);
    if (status != SLR_OK)
        return status;
    if (given->pass == PASS_FORWARD)
        return slr_ops_convolution_bench(state->ops, state->stream, &desc, show_algorithm, state);
    slr_tensor gradient = given->pass == PASS_INPUT ? x : weights;
    status = make(state, 3, &gradient);
    return status != SLR_OK ? status
                            : slr_ops_convolution_backward_bench(
                                  state->ops, state->stream, &desc, &y, given->pass == PASS_INPUT ? &gradient : NULL,
                                  given->pass == PASS_WEIGHTS ? &gradient : NULL, show_algorithm, state);
}

static int run(const options *given)
{
    bench_state state = {0};
    slr_device_info info;
    json_out out = {.to = stdout};
    int end = device_option_open(given->device, NULL, &state.device, &info);
    if (end != EXIT_DONE)
        return end;
    if (given->json) {
        state.json = &out;
        json_out_object(&out, NULL);
        json_out_text(&out, "operation", given->is_convolution ? "convolution" : "matmul");
        json_out_text(&out, "device", info.name);
        json_out_text(&out, "pass", passes[given->pass]);
        json_out_array(&out, "algorithms");
    }
    slr_status status = slr_stream_default(state.device, &state.stream);
    if (status == SLR_OK)
        status = slr_ops_create(state.device, &given->desc, &state.ops);
    if (status == SLR_OK)
        status = given->is_convolution ? bench_convolution(&state, given) : bench_matmul(&state, given);
    end = status == SLR_OK        ? EXIT_DONE
          : status == SLR_INVALID ? say_usage("%s", slr_error_message())
                                  : say_failure(status, info.name);
    if (given->json) {
        json_out_end_array(&out);
        json_out_end_object(&out);
    }
    for (int i = 0; i < 4; i++)
        slr_buffer_destroy(state.buffer[i]);
    slr_ops_destroy(state.ops);
    slr_device_close(state.device);
    return end;
}

// ---- the command line ----------------------------------------------------------------------------------------------

enum {
    SHAPE = 256,
    BATCH,
    TRANSPOSE,
    WEIGHTS,
    STRIDE,
    PADDING,
    GROUPS,
    PASS,
    TYPE,
    DETERMINISTIC,
    WORKSPACE,
    DEVICE,
    JSON
};

// How many numbers from 1 to 65535 there are, with commas between; 0: it is something else, or they are too many.
static unsigned take_list(const char *text, uint32_t *out, unsigned most)
{
    char copy[64];
    unsigned count = 0;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return 0;
    for (char *each = copy, *next; each != NULL; each = next) {
        next = strchr(each, ',');
        if (next != NULL)
            *next++ = '\0';
        if (count == most || !number_parse(SLR_U32, each, &out[count]) || out[count] == 0 || out[count] > 65535)
            return 0;
        count++;
    }
    return count;
}

static int take_number(const char *name, const char *text, uint32_t least, uint32_t *out)
{
    if (number_parse(SLR_U32, text, out) && *out >= least && *out <= 32767)
        return -1;
    return say_usage("%s takes a whole number from %u to 32767; got '%s'", name, least, text);
}

static int take_name(const char *option, const char *text, const char *const *names, unsigned count, unsigned *out)
{
    for (*out = 0; *out < count; ++*out)
        if (strcmp(names[*out], text) == 0)
            return -1;
    return say_usage("%s takes %s, %s or %s; got '%s'", option, names[0], names[1], names[2], text);
}

static int take_type(const char *text, slr_scalar *out)
{
    const char *names[TYPES];
    unsigned which;
    for (unsigned i = 0; i < TYPES; i++)
        names[i] = types[i].name;
    int end = take_name("--type", text, names, TYPES, &which);
    if (end == -1)
        *out = types[which].type;
    return end;
}

static int take_option(int option, char **argv, options *out)
{
    switch (option) {
    case SHAPE:
        out->dimensions = take_list(optarg, out->shape, 4);
        return out->dimensions ? -1
                               : say_usage("--shape takes M,N,K or N,C,H,W, each from 1 to 65535; got '%s'", optarg);
    case WEIGHTS:
        return take_list(optarg, out->weights, 3) == 3
                   ? -1
                   : say_usage("--weights takes K,R,S, each from 1 to 65535; got '%s'", optarg);
    case BATCH:
        return take_number("--batch", optarg, 1, &out->batch);
    case STRIDE:
        return take_number("--stride", optarg, 1, &out->stride);
    case PADDING:
        return take_number("--padding", optarg, 0, &out->padding);
    case GROUPS:
        return take_number("--groups", optarg, 1, &out->groups);
    case PASS:
        return take_name("--pass", optarg, passes, PASSES, &out->pass);
    case TYPE:
        return take_type(optarg, &out->type);
    case TRANSPOSE:
        out->transpose_a = *optarg == 'a', out->transpose_b = strchr(optarg, 'b') != NULL;
        return strcmp(optarg, "a") && strcmp(optarg, "b") && strcmp(optarg, "ab")
                   ? say_usage("--transpose takes a, b or ab; got '%s'", optarg)
                   : -1;
    case WORKSPACE:
        return number_parse(SLR_U64, optarg, &out->desc.workspace_bytes) && out->desc.workspace_bytes != 0
                   ? -1
                   : say_usage("--workspace takes a number of bytes, from 1; got '%s'", optarg);
    case DETERMINISTIC:
        out->desc.deterministic = 1;
        return -1;
    case DEVICE:
        out->device = optarg;
        return -1;
    case JSON:
        out->json = true;
        return -1;
    case 'h':
        fputs(help, stdout);
        return EXIT_DONE;
    default:
        return say_refused_option(option, argv);
    }
}

static int check_together(options *given, const char *operation)
{
    static const char *const names[] = {"matmul", "convolution"};
    if (operation == NULL)
        return say_usage("give an operation: matmul or convolution");
    given->is_convolution = strcmp(operation, "convolution") == 0;
    if (!given->is_convolution && strcmp(operation, "matmul") != 0)
        return say_unknown("operation with several algorithms", operation, names, sizeof *names, 2);
    if (given->dimensions != (given->is_convolution ? 4u : 3u))
        return say_usage("%s needs --shape %s", operation, given->is_convolution ? "N,C,H,W" : "M,N,K");
    if (given->is_convolution != (given->weights[0] != 0))
        return say_usage(given->is_convolution ? "convolution needs --weights K,R,S" : "matmul takes no --weights");
    if (!given->is_convolution && given->pass != PASS_FORWARD)
        return say_usage("matmul takes no --pass: its gradients are products");
    return -1;
}

static int parse(int argc, char **argv, options *out)
{
    static const struct option long_options[] = {{"shape", required_argument, NULL, SHAPE},
                                                 {"batch", required_argument, NULL, BATCH},
                                                 {"transpose", required_argument, NULL, TRANSPOSE},
                                                 {"weights", required_argument, NULL, WEIGHTS},
                                                 {"stride", required_argument, NULL, STRIDE},
                                                 {"padding", required_argument, NULL, PADDING},
                                                 {"groups", required_argument, NULL, GROUPS},
                                                 {"pass", required_argument, NULL, PASS},
                                                 {"type", required_argument, NULL, TYPE},
                                                 {"deterministic", no_argument, NULL, DETERMINISTIC},
                                                 {"workspace", required_argument, NULL, WORKSPACE},
                                                 {"device", required_argument, NULL, DEVICE},
                                                 {"json", no_argument, NULL, JSON},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {0}};
    for (int option; (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
        int end = take_option(option, argv, out);
        if (end != -1)
            return end;
    }
    if (argc - optind > 1)
        return say_usage("'ops bench' takes one operation; got '%s', too", argv[optind + 1]);
    return check_together(out, argv[optind]);
}

int ops_bench(int argc, char **argv)
{
    options given = {.batch = 1, .stride = 1, .groups = 1, .type = SLR_F32, .desc = SLR_OPS_DESC_INIT};
    int end = parse(argc, argv, &given);
    return end != -1 ? end : run(&given);
}
