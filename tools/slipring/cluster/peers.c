// SPDX-License-Identifier: Apache-2.0
// `slipring cluster peers`: how bytes get from each device to each other.
#include "cluster/cluster_verb.h"

#include "kernel/kernel.h"
#include "say.h"
#include "verbs.h"

#include <slipring/peer.h>

#include <getopt.h>
#include <stdio.h>

static const char help[] = "Usage: slipring cluster peers --devices A,B [OPTION]...\n"
                           "Shows how bytes get from each device to each other device: directly, or staged\n"
                           "through memory of the host.\n"
                           "\n"
                           "  --devices A,B        the devices, with commas between them\n"
                           "  --measure            copies, and shows the rate of each direction\n"
                           "  --bytes N            bytes of each measured copy (default 16 MiB)\n"
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring cluster peers --devices cpu?unified=0,cpu --measure\n"
                           "\n"
                           "Exit code: 1 if a copy fails.\n";

typedef struct options {
    const char *devices;
    uint64_t bytes;
    bool measures, json;
} options;

static int parse(int argc, char **argv, options *out)
{
    *out = (options){0};
    const option_row rows[] = {{"devices", option_take_text, &out->devices},
                               {"measure", NULL, &out->measures},
                               {"bytes", option_take_u64, &out->bytes},
                               {"json", NULL, &out->json},
                               {0}};
    int end = option_table_read(argc, argv, rows, NULL, help);
    if (end != -1)
        return end;
    return optind < argc ? say_usage("'%s' is no option", argv[optind]) : -1;
}

static const char *link_name(uint32_t link)
{
    static const char *const names[] = {"", "same", "nvlink", "pcie", "host"};
    return link < sizeof names / sizeof *names ? names[link] : "";
}

static int show_pair(const slr_cluster *cluster, uint32_t from, uint32_t to, const options *options, json_t *pairs)
{
    slr_device *of = NULL, *at = NULL;
    slr_device_info of_info, at_info;
    slr_peer_info info;
    slr_status status = slr_cluster_get_device(cluster, from, &of);
    if (status == SLR_OK)
        status = slr_cluster_get_device(cluster, to, &at);
    if (status == SLR_OK && options->measures)
        status = slr_peer_measure(of, at, SLR_PEER_ANY, options->bytes, UINT64_MAX, NULL);
    if (status == SLR_OK)
        status = slr_peer_get_info(of, at, &info);
    if (status != SLR_OK)
        return cluster_say_status(status, "the copy");
    const char *of_name = cluster_device_name(cluster, from, &of_info);
    const char *at_name = cluster_device_name(cluster, to, &at_info);
    if (pairs == NULL) {
        say_out("%-24s to %-24s %-6s %-6s", of_name, at_name, info.direct_access ? "direct" : "staged",
                link_name(info.link));
        if (options->measures)
            printf(" %8.3f GB/s", info.bytes_per_second / 1e9);
        say_out("  %s\n", info.reason);
        return EXIT_DONE;
    }
    json_t *pair = json_pack("{s:s, s:s, s:b, s:b, s:b, s:s, s:o}", "from", of_name, "to", at_name, "direct_access",
                             (int)info.direct_access, "staged", (int)info.staged, "atomics", (int)info.atomics, "link",
                             link_name(info.link), "reason", kernel_text(info.reason));
    if (options->measures)
        json_object_set_new(pair, "bytes_per_second", json_real(info.bytes_per_second));
    json_array_append_new(pairs, pair);
    return EXIT_DONE;
}

int cluster_peers(int argc, char **argv)
{
    options options;
    slr_cluster *cluster = NULL;
    int end = parse(argc, argv, &options);
    if (end != -1)
        return end;
    end = cluster_open(options.devices, &cluster);
    if (end != EXIT_DONE)
        return end;
    json_t *pairs = options.json ? json_array() : NULL;
    for (uint32_t from = 0; from < slr_cluster_size(cluster); from++)
        for (uint32_t to = 0; to < slr_cluster_size(cluster) && end == EXIT_DONE; to++)
            if (from != to)
                end = show_pair(cluster, from, to, &options, pairs);
    if (pairs != NULL && end == EXIT_DONE)
        kernel_print_object(json_pack("{s:O}", "pairs", pairs));
    json_decref(pairs);
    slr_cluster_destroy(cluster);
    return end;
}
