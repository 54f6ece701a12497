// SPDX-License-Identifier: Apache-2.0
// `slipring cluster ring`: a handler over several devices, with messages to its instances or keys, and its counts.
#include "cluster/cluster_verb.h"

#include "kernel/kernel.h"
#include "memory.h"
#include "say.h"
#include "verbs.h"

#include <slipring/cluster_ring.h>
#include <slipring/cluster_route.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] = "Usage: slipring cluster ring FILE.cu [HANDLER] --devices A,B [OPTION]...\n"
                           "Spreads a handler over several devices, sends messages of zeros to its\n"
                           "instances or keys in turn, and shows what each device has handled.\n"
                           "\n"
                           "  --devices A,B        the devices, with commas between them\n"
                           "  --instances N        instances of all devices together (default: one each)\n"
                           "  --keys N             sends to the keys 0 to N - 1; a hash of each key chooses\n"
                           "                       its device\n"
                           "  --messages M         how many messages (default 1000)\n"
                           "  --route HANDLER      each device's replies become messages of this handler of\n"
                           "                       the same file, on the next device\n" SOURCE_HELP
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring cluster ring examples/send/triage.cu note \\\n"
                           "    --devices cpu?threads=1,cpu?threads=1 --keys 100\n"
                           "\n"
                           "Exit code: 1 if the source does not compile, or a message is not handled.\n";

#define TIMEOUT_NS 60000000000ull

typedef struct options {
    const char *file, *handler, *devices, *route;
    uint32_t instances, keys, messages;
    source_options source;
    bool json;
} options;

static int parse(int argc, char **argv, options *out)
{
    *out = (options){.messages = 1000};
    const option_row rows[] = {{"devices", option_take_text, &out->devices},
                               {"instances", option_take_u32, &out->instances},
                               {"keys", option_take_u32, &out->keys},
                               {"messages", option_take_u32, &out->messages},
                               {"route", option_take_text, &out->route},
                               {"json", NULL, &out->json},
                               {0}};
    int end = option_table_read(argc, argv, rows, &out->source, help);
    if (end != -1)
        return end;
    if (argc - optind < 1 || argc - optind > 2)
        return say_usage("expected FILE.cu, and the handler's name if it has several");
    if (out->instances != 0 && out->keys != 0)
        return say_usage("--instances and --keys exclude each other");
    out->file = argv[optind];
    out->handler = argc - optind == 2 ? argv[optind + 1] : NULL;
    return -1;
}

// ---- the job -------------------------------------------------------------------------------------------------------

typedef struct job {
    options options;
    slr_cluster *cluster;
    slr_program *programs[SLR_CLUSTER_MOST_DEVICES];
    slr_cluster_ring *ring;
    slr_cluster_port *port;
    uint64_t message_bytes;
    // With --route: of each device, the ring kernel that the device before it sends to, and the route there.
    slr_ring *targets[SLR_CLUSTER_MOST_DEVICES];
    slr_cluster_route *routes[SLR_CLUSTER_MOST_DEVICES];
} job;

// From the device before it.
static slr_status make_target(job *job, uint32_t index)
{
    uint32_t count = slr_cluster_size(job->cluster), before = (index + count - 1) % count;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_device *device;
    slr_ring *from;
    desc.program = job->programs[index];
    desc.handler = job->options.route;
    slr_status status = slr_cluster_get_device(job->cluster, index, &device);
    if (status == SLR_OK)
        status = slr_ring_create(device, &desc, &job->targets[index]);
    if (status == SLR_OK)
        status = slr_ring_launch(job->targets[index]);
    if (status == SLR_OK)
        status = slr_ring_activate(job->targets[index], TIMEOUT_NS);
    if (status == SLR_OK)
        status = slr_cluster_ring_get(job->ring, before, &from);
    if (status == SLR_OK)
        status = slr_cluster_route_create(from, job->targets[index], NULL, &job->routes[index]);
    return status;
}

// What was sent is passed on and handled.
static slr_status end_targets(job *job)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < SLR_CLUSTER_MOST_DEVICES; i++) {
        slr_cluster_route_destroy(job->routes[i], TIMEOUT_NS, NULL);
        job->routes[i] = NULL;
        if (job->targets[i] != NULL && status == SLR_OK && slr_ring_get_state(job->targets[i]) == SLR_RING_ACTIVE)
            status = slr_ring_close_input(job->targets[i]);
        if (job->targets[i] != NULL && status == SLR_OK)
            status = slr_ring_wait(job->targets[i], SLR_RING_TERMINATED, TIMEOUT_NS);
    }
    return status;
}

static int prepare(job *job)
{
    const options *options = &job->options;
    int end = cluster_open(options->devices, &job->cluster);
    for (uint32_t i = 0; i < slr_cluster_size(job->cluster) && end == EXIT_DONE; i++) {
        slr_device *device;
        if (slr_cluster_get_device(job->cluster, i, &device) == SLR_OK)
            end = kernel_load(device, options->file, &options->source, &job->programs[i]);
    }
    if (end != EXIT_DONE)
        return end;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.handler = options->handler;
    desc.keys = options->keys != 0 ? SLR_KEYS_U64 : 0;
    desc.instances = options->keys != 0 ? 0 : options->instances;
    slr_status status = slr_cluster_ring_create(job->cluster, &desc, job->programs, &job->ring);
    if (status == SLR_OK)
        status = slr_cluster_ring_activate(job->ring, TIMEOUT_NS);
    if (status == SLR_OK)
        status = slr_cluster_port_open(job->ring, &job->port);
    for (uint32_t i = 0; options->route != NULL && i < slr_cluster_size(job->cluster) && status == SLR_OK; i++)
        status = make_target(job, i);
    return status == SLR_OK ? EXIT_DONE : cluster_say_status(status, "the ring kernel");
}

static int find_message(job *job)
{
    slr_handler_info info;
    for (uint32_t i = 0; slr_program_get_handler(job->programs[0], i, &info) == SLR_OK; i++)
        if (job->options.handler == NULL || strcmp(info.name, job->options.handler) == 0) {
            job->message_bytes = info.message.bytes;
            return EXIT_DONE;
        }
    return say_failure(SLR_NOT_FOUND, job->options.file);
}

// Replies are counted by the ring kernel, and dropped here.
static int send_all(job *job)
{
    const options *options = &job->options;
    uint32_t instances = options->instances ? options->instances : slr_cluster_size(job->cluster);
    void *message = memory_take(job->message_bytes, 1);
    unsigned char *reply = memory_take(1 << 16, 1);
    slr_status status = SLR_OK;
    slr_reply about;
    for (uint32_t i = 0; i < options->messages && status == SLR_OK; i++) {
        do {
            uint64_t wait_ns = status == SLR_OK ? 0 : 1000000;
            status = options->keys != 0
                         ? slr_cluster_send_key(job->port, slr_key_u64(i % options->keys), message, job->message_bytes,
                                                NULL, wait_ns)
                         : slr_cluster_send(job->port, i % instances, message, job->message_bytes, NULL, wait_ns);
            while (slr_cluster_receive(job->port, &about, NULL, NULL, reply, 1 << 16, 0) == SLR_OK)
                continue;
        } while (status == SLR_FULL || status == SLR_TIMEOUT);
    }
    free(message);
    free(reply);
    if (status == SLR_OK)
        status = slr_cluster_ring_drain(job->ring, TIMEOUT_NS);
    if (status == SLR_OK)
        status = end_targets(job);
    return status == SLR_OK ? EXIT_DONE : cluster_say_status(status, "the messages");
}

static json_t *stats_json(const char *name, const slr_ring_stats *stats)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "device", name, "accepted", (json_int_t)stats->accepted,
                     "handled", (json_int_t)stats->handled, "faulted", (json_int_t)stats->faulted, "replied",
                     (json_int_t)stats->replied, "keys", (json_int_t)stats->keys);
}

static void show_line(const char *name, const slr_ring_stats *stats, json_t *devices)
{
    if (devices != NULL)
        json_array_append_new(devices, stats_json(name, stats));
    else
        say_out("%-32s %10llu accepted %10llu handled %6llu faulted %10llu replied\n", name,
                (unsigned long long)stats->accepted, (unsigned long long)stats->handled,
                (unsigned long long)stats->faulted, (unsigned long long)stats->replied);
}

static void show_targets(const job *job, json_t *devices)
{
    for (uint32_t i = 0; i < SLR_CLUSTER_MOST_DEVICES; i++) {
        slr_device_info info;
        slr_ring_stats stats;
        char name[SLR_DEVICE_NAME_BYTES + 64];
        if (job->targets[i] == NULL || slr_ring_get_stats(job->targets[i], &stats) != SLR_OK)
            continue;
        snprintf(name, sizeof name, "%s: %.60s", cluster_device_name(job->cluster, i, &info), job->options.route);
        show_line(name, &stats, devices);
    }
}

static int show(const job *job)
{
    slr_ring_stats stats;
    json_t *devices = job->options.json ? json_array() : NULL, *targets = job->options.json ? json_array() : NULL;
    for (uint32_t i = 0; i < slr_cluster_size(job->cluster); i++) {
        slr_device_info info;
        slr_ring *ring;
        if (slr_cluster_ring_get(job->ring, i, &ring) == SLR_OK && slr_ring_get_stats(ring, &stats) == SLR_OK)
            show_line(cluster_device_name(job->cluster, i, &info), &stats, devices);
    }
    slr_status status = slr_cluster_ring_get_stats(job->ring, &stats);
    if (status == SLR_OK && devices == NULL)
        show_line("all", &stats, NULL);
    show_targets(job, targets);
    if (status == SLR_OK && devices != NULL)
        kernel_print_object(json_pack("{s:o, s:O, s:o, s:O}", "file", kernel_text(job->options.file), "devices",
                                      devices, "all", stats_json("all", &stats), "routed", targets));
    json_decref(devices);
    json_decref(targets);
    if (status != SLR_OK)
        return cluster_say_status(status, "the ring kernel");
    if (stats.handled == stats.accepted)
        return EXIT_DONE;
    say("%llu messages have faulted: %s", (unsigned long long)stats.faulted, stats.first_fault);
    return EXIT_FAILED;
}

int cluster_ring(int argc, char **argv)
{
    job job = {0};
    int end = parse(argc, argv, &job.options);
    if (end == -1) {
        end = prepare(&job);
        if (end == EXIT_DONE)
            end = find_message(&job);
        if (end == EXIT_DONE)
            end = send_all(&job);
        if (end == EXIT_DONE)
            end = show(&job);
    }
    slr_status ended = end_targets(&job);
    if (ended != SLR_OK && end == EXIT_DONE)
        end = cluster_say_status(ended, "--route");
    for (uint32_t i = 0; i < SLR_CLUSTER_MOST_DEVICES; i++)
        slr_ring_destroy(job.targets[i]);
    slr_cluster_port_close(job.port);
    slr_cluster_ring_destroy(job.ring);
    for (uint32_t i = 0; i < SLR_CLUSTER_MOST_DEVICES; i++)
        slr_program_destroy(job.programs[i]);
    slr_cluster_destroy(job.cluster);
    source_options_free(&job.options.source);
    return end;
}
