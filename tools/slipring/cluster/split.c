// SPDX-License-Identifier: Apache-2.0
// `slipring cluster split`: who would get how much.
#include "cluster/cluster_verb.h"

#include "kernel/kernel.h"
#include "number.h"
#include "say.h"
#include "verbs.h"

#include <getopt.h>
#include <stdio.h>

static const char help[] = "Usage: slipring cluster split --devices A,B --items N [OPTION]...\n"
                           "Shares items out over devices and prints the part of each.\n"
                           "\n"
                           "  --devices A,B        the devices, with commas between them\n"
                           "  --items N            how many items there are\n"
                           "  --weights W,W        shares by these weights, one for each device\n"
                           "  --balance B          memory: by free memory (default without --weights);\n"
                           "                       round-robin: equal parts; given: by --weights\n"
                           "  --granularity G      all parts but the last are multiples of G (default 1)\n"
                           "  --most N,N           the most items of each device\n"
                           "  --item-bytes N       memory of the device that an item needs: limits parts\n"
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring cluster split --devices cpu?threads=1,cpu?threads=1 --items 7 \\\n"
                           "    --weights 2,1\n"
                           "\n"
                           "'slipring cluster run' shares out by measured throughput.\n"
                           "Exit code: 1 if the limits leave no room for some items.\n";

typedef struct options {
    const char *devices;
    uint64_t items, weights[SLR_CLUSTER_MOST_DEVICES], most[SLR_CLUSTER_MOST_DEVICES];
    uint32_t weight_count, most_count;
    slr_balance balance; // 0: not given
    slr_balance_desc desc;
    bool has_items, json;
} options;

enum { DEVICES = 256, ITEMS, WEIGHTS, BALANCE, GRANULARITY, MOST, ITEM_BYTES, JSON };

static const struct option long_options[] = {
    {"devices", required_argument, NULL, DEVICES},
    {"items", required_argument, NULL, ITEMS},
    {"weights", required_argument, NULL, WEIGHTS},
    {"balance", required_argument, NULL, BALANCE},
    {"most", required_argument, NULL, MOST},
    {"granularity", required_argument, NULL, GRANULARITY},
    {"json", no_argument, NULL, JSON},
    {"item-bytes", required_argument, NULL, ITEM_BYTES},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int take_option(int option, char **argv, options *out)
{
    switch (option) {
    case DEVICES:
        out->devices = optarg;
        return -1;
    case ITEMS:
        out->has_items = true;
        return kernel_take_number("--items", optarg, SLR_U64, &out->items);
    case WEIGHTS:
        return cluster_take_numbers("--weights", optarg, out->weights, &out->weight_count);
    case BALANCE:
        return cluster_take_balance(optarg, &out->balance);
    case GRANULARITY:
        return kernel_take_number("--granularity", optarg, SLR_U64, &out->desc.granularity);
    case MOST:
        return cluster_take_numbers("--most", optarg, out->most, &out->most_count);
    case ITEM_BYTES:
        return kernel_take_number("--item-bytes", optarg, SLR_U64, &out->desc.item_bytes);
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

static int parse(int argc, char **argv, options *out)
{
    *out = (options){.desc = SLR_BALANCE_DESC_INIT};
    for (int option; (option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1;) {
        int end = take_option(option, argv, out);
        if (end != -1)
            return end;
    }
    if (optind < argc)
        return say_usage("'%s' is no option", argv[optind]);
    if (!out->has_items)
        return say_usage("--items is missing");
    if (out->balance == 0)
        out->balance = out->weight_count ? SLR_BALANCE_GIVEN : SLR_BALANCE_MEMORY;
    if ((out->balance == SLR_BALANCE_GIVEN) != (out->weight_count != 0))
        return say_usage("--balance given and --weights need each other");
    if (out->balance == SLR_BALANCE_THROUGHPUT || out->balance == SLR_BALANCE_LEAST_LOADED)
        return say_usage("--balance %s needs launches to measure: see 'slipring cluster run'",
                         cluster_balance_name(out->balance));
    out->desc.weights = out->weights;
    out->desc.most = out->most_count ? out->most : NULL;
    return -1;
}

static void show(const options *options, const slr_cluster *cluster, const slr_part *parts)
{
    if (options->json) {
        kernel_print_object(json_pack("{s:I, s:s, s:o}", "items", (json_int_t)options->items, "balance",
                                      cluster_balance_name(options->balance), "parts",
                                      cluster_parts_json(cluster, parts)));
        return;
    }
    for (uint32_t i = 0; i < slr_cluster_size(cluster); i++) {
        slr_device_info info;
        say_out("%-32s %12llu items from %llu\n", cluster_device_name(cluster, i, &info),
                (unsigned long long)parts[i].items, (unsigned long long)parts[i].offset);
    }
}

int cluster_split(int argc, char **argv)
{
    options options;
    slr_cluster *cluster = NULL;
    slr_part parts[SLR_CLUSTER_MOST_DEVICES];
    int end = parse(argc, argv, &options);
    if (end != -1)
        return end;
    end = cluster_open(options.devices, &cluster);
    if (end != EXIT_DONE)
        return end;
    end = cluster_check_count("--weights", options.weight_count, cluster);
    if (end == -1)
        end = cluster_check_count("--most", options.most_count, cluster);
    if (end == -1) {
        slr_status status = slr_cluster_balance(cluster, options.items, options.balance, &options.desc, parts);
        end = status == SLR_OK ? EXIT_DONE : cluster_say_status(status, "the split");
    }
    if (end == EXIT_DONE)
        show(&options, cluster, parts);
    slr_cluster_destroy(cluster);
    return end;
}
