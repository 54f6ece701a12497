// SPDX-License-Identifier: Apache-2.0
// `slipring ops list` and `slipring ops source`.
#include "ops/ops.h"

#include "json_out.h"
#include "say.h"
#include "verbs.h"

#include <slipring/ops.h>

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// ---- list ----------------------------------------------------------------------------------------------------------

static const struct operation {
    const char *name, *what, *algorithms;
} operations[] = {
    {"matmul", "product of matrices, batched, with bias and activation",
     "openblas.sgemm, cublaslt.matmul, clblast.sgemm, own.panel, own.tile"},
    {"convolution", "1D and 2D, with groups, bias and activation",
     "onednn.convolution, cudnn.convolution, own.columns, own.direct"},
    {"pooling", "the largest, or the mean, of windows", "own"},
    {"activation", "relu, sigmoid, tanh, gelu, silu, leaky relu", "own"},
    {"softmax", "along rows", "own"},
    {"layer_norm", "along rows, with gamma and beta", "own"},
    {"reduce", "sum, mean, largest; along an axis, or of all", "own"},
    {"scan", "running sums along rows", "own"},
    {"top_k", "the k largest of each row, and their places", "own"},
    {"embedding", "rows of a table", "own"},
    {"cross_entropy", "loss of logits and labels", "own"},
    {"mean_square", "loss of values and targets", "own"},
    {"sgd", "optimiser, with momentum", "own"},
    {"adam", "optimiser, with decoupled weight decay", "own"},
};

enum { OPERATIONS = sizeof operations / sizeof *operations };

static void put_provider(void *user, const slr_provider *provider)
{
    json_out *out = user;
    json_out_object(out, NULL);
    json_out_text(out, "name", provider->name);
    json_out_bool(out, "usable", *provider->why_not == '\0');
    json_out_text(out, "path", provider->path);
    json_out_text(out, "version", provider->version);
    json_out_text(out, "why_not", provider->why_not);
    json_out_end_object(out);
}

static void print_provider(void *user, const slr_provider *provider)
{
    (void)user;
    if (*provider->why_not != '\0')
        say_out("%-14s not used: %s\n", provider->name, provider->why_not);
    else
        say_out("%-14s %s: %s\n", provider->name, provider->path, provider->version);
}

static slr_status list_json(void)
{
    json_out out = {.to = stdout};
    json_out_object(&out, NULL);
    json_out_array(&out, "operations");
    for (int i = 0; i < OPERATIONS; i++) {
        json_out_object(&out, NULL);
        json_out_text(&out, "name", operations[i].name);
        json_out_text(&out, "what", operations[i].what);
        json_out_text(&out, "algorithms", operations[i].algorithms);
        json_out_end_object(&out);
    }
    json_out_end_array(&out);
    json_out_array(&out, "providers");
    slr_status status = slr_ops_visit_providers(put_provider, &out);
    json_out_end_array(&out);
    json_out_end_object(&out);
    return status;
}

static slr_status list_text(void)
{
    for (int i = 0; i < OPERATIONS; i++)
        say_out("%-14s %-55s %s\n", operations[i].name, operations[i].what, operations[i].algorithms);
    say_out("\n");
    return slr_ops_visit_providers(print_provider, NULL);
}

// -1: go on.
static int parse(int argc, char **argv, const char *help, bool *json)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    for (int option; (option = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
        if (option == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (option != 'j')
            return say_refused_option(option, argv);
        *json = true;
    }
    return -1;
}

int ops_list(int argc, char **argv)
{
    static const char help[] = "Usage: slipring ops list [--json]\n"
                               "Lists the operations, their algorithms, and the libraries that they may use.\n"
                               "\n"
                               "  --json               prints one JSON object\n"
                               "\n"
                               "Example:\n"
                               "  slipring ops list\n";
    bool json = false;
    int end = parse(argc, argv, help, &json);
    if (end != -1)
        return end;
    if (optind != argc)
        return say_usage("'ops list' takes no argument; got '%s'", argv[optind]);
    slr_status status = json ? list_json() : list_text();
    return status == SLR_OK ? EXIT_DONE : say_failure(status, "ops");
}

// ---- source --------------------------------------------------------------------------------------------------------

typedef struct wanted {
    const char *name; // NULL: all
    json_out *json;   // NULL: as it is
    unsigned found;
    char names[128];
} wanted;

static void put_source(void *user, const char *name, const char *text)
{
    wanted *wanted = user;
    size_t length = strlen(wanted->names);
    snprintf(wanted->names + length, sizeof wanted->names - length, "%s%s", length ? ", " : "", name);
    if (wanted->name != NULL && strcmp(wanted->name, name) != 0)
        return;
    wanted->found++;
    if (wanted->json == NULL) {
        fputs(text, stdout);
        return;
    }
    json_out_object(wanted->json, NULL);
    json_out_text(wanted->json, "name", name);
    json_out_text(wanted->json, "text", text);
    json_out_end_object(wanted->json);
}

static slr_status put_sources(wanted *wanted, bool json)
{
    json_out out = {.to = stdout};
    if (!json)
        return slr_ops_visit_sources(put_source, wanted);
    wanted->json = &out;
    json_out_object(&out, NULL);
    json_out_array(&out, "sources");
    slr_status status = slr_ops_visit_sources(put_source, wanted);
    json_out_end_array(&out);
    json_out_end_object(&out);
    return status;
}

int ops_source(int argc, char **argv)
{
    static const char help[] = "Usage: slipring ops source [GROUP] [--json]\n"
                               "Prints the kernel source of operations: of a group (matmul, rows, each,\n"
                               "convolution), or of all. The source is in the kernel subset, and 'slipring\n"
                               "kernel emit' translates it.\n"
                               "\n"
                               "  --json               prints one JSON object: name and text of each group\n"
                               "\n"
                               "Example:\n"
                               "  slipring ops source matmul > matmul.cu\n"
                               "  slipring kernel emit matmul.cu matmul_panel --lang opencl\n";
    wanted wanted = {0};
    bool json = false;
    int end = parse(argc, argv, help, &json);
    if (end != -1)
        return end;
    if (argc - optind > 1)
        return say_usage("'ops source' takes one group; got '%s', too", argv[optind + 1]);
    wanted.name = argv[optind];
    slr_status status = put_sources(&wanted, json);
    if (status != SLR_OK)
        return say_failure(status, "ops");
    return wanted.found > 0 ? EXIT_DONE : say_usage("no group '%s'; there are: %s", wanted.name, wanted.names);
}
