// SPDX-License-Identifier: Apache-2.0
/// `slipring cluster`: what its verbs have in common. Each of them gets its own argc and argv; argv[0] is its name.
#ifndef CLUSTER_VERB_H
#define CLUSTER_VERB_H

#include "kernel/option_table.h"

#include <slipring/cluster.h>

#include <jansson.h>

int cluster_call(int argc, char **argv);
int cluster_dead(int argc, char **argv);
int cluster_drain(int argc, char **argv);
int cluster_ls(int argc, char **argv);
int cluster_outputs(int argc, char **argv);
int cluster_peers(int argc, char **argv);
int cluster_reduce(int argc, char **argv);
int cluster_restore(int argc, char **argv);
int cluster_ring(int argc, char **argv);
int cluster_run(int argc, char **argv);
int cluster_show(int argc, char **argv);
int cluster_snapshot(int argc, char **argv);
int cluster_split(int argc, char **argv);

/// Opens the devices that --devices lists (NULL: says that it is missing). Returns an exit code; what is not EXIT_DONE
/// has been said.
int cluster_open(const char *names, slr_cluster **out);

/// Says why a library call failed. What cannot be is a wrong command line.
int cluster_say_status(slr_status status, const char *what);

/// The name of a device of the cluster, for people.
const char *cluster_device_name(const slr_cluster *cluster, uint32_t index, slr_device_info *room);

/// For option tables. A slr_balance: "throughput", "memory", "round-robin", "least-loaded" or "given".
option_take cluster_take_balance;
const char *cluster_balance_name(slr_balance balance);

/// A cluster_numbers: whole numbers with commas between them, one for each of the devices.
typedef struct cluster_numbers {
    uint64_t values[SLR_CLUSTER_MOST_DEVICES];
    uint32_t count;
} cluster_numbers;
option_take cluster_take_numbers;

/// A cluster_items: a number, which may be 0, and that it was given.
typedef struct cluster_items {
    uint64_t count;
    bool is_given;
} cluster_items;
option_take cluster_take_items;

/// As many numbers as devices, where the option was given. Returns -1, or the exit code of a mistake.
/// -1 where --balance and --weights go together, and a weight is not 0; else an exit code.
int cluster_check_weights(const cluster_numbers *weights, slr_balance balance);
int cluster_check_count(const char *option, uint32_t numbers, const slr_cluster *cluster);

/// The parts of a split, as an array.
json_t *cluster_parts_json(const slr_cluster *cluster, const slr_part *parts);

#endif
