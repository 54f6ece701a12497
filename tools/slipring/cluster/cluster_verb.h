// SPDX-License-Identifier: Apache-2.0
/// `slipring cluster`: what its verbs have in common. Each of them gets its own argc and argv; argv[0] is its name.
#ifndef CLUSTER_VERB_H
#define CLUSTER_VERB_H

#include <slipring/cluster.h>

#include <jansson.h>

int cluster_outputs(int argc, char **argv);
int cluster_peers(int argc, char **argv);
int cluster_reduce(int argc, char **argv);
int cluster_ring(int argc, char **argv);
int cluster_run(int argc, char **argv);
int cluster_show(int argc, char **argv);
int cluster_split(int argc, char **argv);

/// Opens the devices that --devices lists (NULL: says that it is missing). Returns an exit code; what is not EXIT_DONE
/// has been said.
int cluster_open(const char *names, slr_cluster **out);

/// Says why a library call failed. What cannot be is a wrong command line.
int cluster_say_status(slr_status status, const char *what);

/// The name of a device of the cluster, for people.
const char *cluster_device_name(const slr_cluster *cluster, uint32_t index, slr_device_info *room);

/// "throughput", "memory", "round-robin", "least-loaded" or "given". Returns -1, or the exit code of a mistake.
int cluster_take_balance(const char *text, slr_balance *out);
const char *cluster_balance_name(slr_balance balance);

/// Whole numbers with commas between them, one for each of up to SLR_CLUSTER_MOST_DEVICES devices. `*count` gets how
/// many. Returns -1, or the exit code of a mistake.
int cluster_take_numbers(const char *option, const char *text, uint64_t *to, uint32_t *count);

/// As many numbers as devices, where the option was given. Returns -1, or the exit code of a mistake.
int cluster_check_count(const char *option, uint32_t numbers, const slr_cluster *cluster);

/// The parts of a split, as an array.
json_t *cluster_parts_json(const slr_cluster *cluster, const slr_part *parts);

#endif
