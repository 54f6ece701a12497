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
                           "Divides items between devices, and prints the part of each device.\n"
                           "\n"
                           "  --devices A,B        the devices, with commas between them\n"
                           "  --items N            how many items there are\n"
                           "  --weights W,W        shares by these weights, one for each device\n"
                           "  --balance B          memory: by free memory (default without --weights);\n"
                           "                       round-robin: equal parts; given: by --weights\n"
                           "  --granularity G      all parts but the last are multiples of G (default 1)\n"
                           "  --most N,N           maximum items of each device\n"
                           "  --item-bytes N       memory that an item needs on its device: limits parts\n"
                           "  --json               prints one JSON object\n"
                           "\n"
                           "Example:\n"
                           "  slipring cluster split --devices cpu?threads=1,cpu?threads=1 --items 7 \\\n"
                           "    --weights 2,1\n"
                           "\n"
                           "'slipring cluster run' divides by measured throughput.\n"
                           "Exit code: 1 if the limits leave no room for some items.\n";

typedef struct options {
    const char *devices;
    cluster_items items;
    cluster_numbers weights, most;
    slr_balance balance; // 0: not given
    slr_balance_desc desc;
    bool json;
} options;

static int parse(int argc, char **argv, options *out)
{
    *out = (options){.desc = SLR_BALANCE_DESC_INIT};
    const option_row rows[] = {{"devices", option_take_text, &out->devices},
                               {"items", cluster_take_items, &out->items},
                               {"weights", cluster_take_numbers, &out->weights},
                               {"balance", cluster_take_balance, &out->balance},
                               {"granularity", option_take_u64, &out->desc.granularity},
                               {"most", cluster_take_numbers, &out->most},
                               {"item-bytes", option_take_u64, &out->desc.item_bytes},
                               {"json", NULL, &out->json},
                               {0}};
    int end = option_table_read(argc, argv, rows, NULL, help);
    if (end != -1)
        return end;
    if (optind < argc)
        return say_usage("'%s' is no option", argv[optind]);
    if (!out->items.is_given)
        return say_usage("--items is missing");
    if (out->balance == 0)
        out->balance = out->weights.count ? SLR_BALANCE_GIVEN : SLR_BALANCE_MEMORY;
    end = cluster_check_weights(&out->weights, out->balance);
    if (end != -1)
        return end;
    if (out->balance == SLR_BALANCE_THROUGHPUT || out->balance == SLR_BALANCE_LEAST_LOADED)
        return say_usage("--balance %s needs launches to measure: see 'slipring cluster run'",
                         cluster_balance_name(out->balance));
    out->desc.weights = out->weights.values;
    out->desc.most = out->most.count ? out->most.values : NULL;
    return -1;
}

static void show(const options *options, const slr_cluster *cluster, const slr_part *parts)
{
    if (options->json) {
        kernel_print_object(json_pack("{s:I, s:s, s:o}", "items", (json_int_t)options->items.count, "balance",
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
    end = cluster_check_count("--weights", options.weights.count, cluster);
    if (end == -1)
        end = cluster_check_count("--most", options.most.count, cluster);
    if (end == -1) {
        slr_status status = slr_cluster_balance(cluster, options.items.count, options.balance, &options.desc, parts);
        end = status == SLR_OK ? EXIT_DONE : cluster_say_status(status, "the split");
    }
    if (end == EXIT_DONE)
        show(&options, cluster, parts);
    slr_cluster_destroy(cluster);
    return end;
}
