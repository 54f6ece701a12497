// SPDX-License-Identifier: Apache-2.0
// `slipring cluster reduce`: a collective over a buffer on each device, checked and timed.
#include "cluster/cluster_verb.h"

#include "clock.h"
#include "kernel/kernel.h"
#include "memory.h"
#include "say.h"
#include "verbs.h"

#include <slipring/collective.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring cluster reduce --devices A,B [OPTION]...\n"
                           "Fills a buffer of floats on each device, element i with i + the device's number,\n"
                           "runs a collective over them, and shows the first elements on each device.\n"
                           "\n"
                           "  --devices A,B        the devices, with commas between them\n"
                           "  --op OP              sum (default), min, max, average; broadcast, of the first\n"
                           "                       device; gather, to the first device\n"
                           "  --count N            elements of each buffer (default 1048576)\n"
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring cluster reduce --devices cpu?threads=1,cpu?unified=0 --op average\n"
                           "\n"
                           "Exit code: 1 if the collective fails.\n";

enum { SHOWN = 4, BROADCAST = SLR_REDUCE_AVERAGE + 1, GATHER };

static const char *const ops[] = {"", "sum", "min", "max", "average", "broadcast", "gather"};

typedef struct options {
    const char *devices;
    uint32_t op, count;
    bool json;
} options;

static int take_op(const char *option, const char *text, void *to)
{
    (void)option;
    for (uint32_t i = 1; i < sizeof ops / sizeof *ops; ++i)
        if (strcmp(ops[i], text) == 0) {
            *(uint32_t *)to = i;
            return -1;
        }
    return say_unknown("operation", text, &ops[1], sizeof *ops, sizeof ops / sizeof *ops - 1);
}

static int parse(int argc, char **argv, options *out)
{
    *out = (options){.op = SLR_REDUCE_SUM, .count = 1 << 20};
    const option_row rows[] = {{"devices", option_take_text, &out->devices},
                               {"op", take_op, &out->op},
                               {"count", option_take_u32, &out->count},
                               {"json", NULL, &out->json},
                               {0}};
    int end = option_table_read(argc, argv, rows, NULL, help);
    if (end != -1)
        return end;
    if (out->count == 0)
        return say_usage("--count: 0 elements");
    return optind < argc ? say_usage("'%s' is no option", argv[optind]) : -1;
}

typedef struct job {
    options options;
    slr_cluster *cluster;
    slr_buffer *buffers[SLR_CLUSTER_MOST_DEVICES], *all;
    double seconds;
} job;

static slr_status fill(job *job)
{
    uint64_t bytes = (uint64_t)job->options.count * sizeof(float);
    uint32_t devices = slr_cluster_size(job->cluster);
    float *values = memory_take(job->options.count, sizeof *values);
    slr_status status = SLR_OK;
    slr_device *device = NULL;
    for (uint32_t r = 0; r < devices && status == SLR_OK; r++) {
        for (uint32_t i = 0; i < job->options.count; i++)
            values[i] = (float)i + (float)r;
        status = slr_cluster_get_device(job->cluster, r, &device);
        if (status == SLR_OK)
            status = slr_buffer_create(device, bytes, &job->buffers[r]);
        if (status == SLR_OK)
            status = slr_buffer_write(job->buffers[r], 0, values, bytes);
    }
    free(values);
    if (status == SLR_OK && job->options.op == GATHER) {
        status = slr_cluster_get_device(job->cluster, 0, &device);
        if (status == SLR_OK)
            status = slr_buffer_create(device, devices * bytes, &job->all);
    }
    return status;
}

static slr_status run(job *job)
{
    const options *options = &job->options;
    uint64_t bytes = (uint64_t)options->count * sizeof(float), start = clock_ns();
    slr_point done;
    slr_status status;
    if (options->op == BROADCAST)
        status = slr_broadcast(job->cluster, job->buffers, 0, bytes, &done);
    else if (options->op == GATHER)
        status = slr_gather(job->cluster, job->buffers, bytes, job->all, &done);
    else
        status = slr_all_reduce(job->cluster, job->buffers, SLR_F32, options->count, (slr_reduce)options->op, &done);
    if (status == SLR_OK)
        status = slr_point_wait(done, UINT64_MAX);
    job->seconds = (double)(clock_ns() - start) / 1e9;
    return status;
}

static int show(const job *job)
{
    const options *options = &job->options;
    uint32_t shown = options->count < SHOWN ? options->count : SHOWN;
    json_t *devices = options->json ? json_array() : NULL;
    for (uint32_t r = 0; r < slr_cluster_size(job->cluster); r++) {
        slr_device_info info;
        float values[SHOWN] = {0};
        slr_buffer *of = options->op == GATHER ? job->all : job->buffers[r];
        uint64_t at = options->op == GATHER ? (uint64_t)r * options->count * sizeof *values : 0;
        slr_status status = slr_buffer_read(of, at, values, shown * sizeof *values);
        if (status != SLR_OK)
            return cluster_say_status(status, "the result");
        const char *name = cluster_device_name(job->cluster, r, &info);
        json_t *array = json_array();
        if (devices == NULL)
            say_out("%-32s", name);
        for (uint32_t i = 0; i < shown; i++) {
            if (devices == NULL)
                printf(" %g", (double)values[i]);
            json_array_append_new(array, json_real((double)values[i]));
        }
        if (devices == NULL)
            printf("\n");
        else
            json_array_append_new(devices, json_pack("{s:s, s:O}", "device", name, "values", array));
        json_decref(array);
    }
    if (devices != NULL)
        kernel_print_object(json_pack("{s:s, s:I, s:f, s:o}", "op", ops[options->op], "count",
                                      (json_int_t)options->count, "seconds", job->seconds, "devices", devices));
    else
        printf("%s of %u floats on each device in %.3f ms\n", ops[options->op], options->count, job->seconds * 1e3);
    return EXIT_DONE;
}

int cluster_reduce(int argc, char **argv)
{
    job job = {0};
    int end = parse(argc, argv, &job.options);
    if (end == -1)
        end = cluster_open(job.options.devices, &job.cluster);
    if (job.cluster != NULL) {
        slr_status status = fill(&job);
        if (status == SLR_OK)
            status = run(&job);
        end = status == SLR_OK ? show(&job) : cluster_say_status(status, ops[job.options.op]);
    }
    for (uint32_t i = 0; i < SLR_CLUSTER_MOST_DEVICES; i++)
        slr_buffer_destroy(job.buffers[i]);
    slr_buffer_destroy(job.all);
    slr_cluster_destroy(job.cluster);
    return end;
}
