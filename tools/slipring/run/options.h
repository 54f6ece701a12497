// SPDX-License-Identifier: Apache-2.0
/// The command line of `slipring run`.
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include "remote_option.h"
#include "run/format.h"
#include "tolerance.h"

#include <stdbool.h>
#include <stdint.h>

/// Keys, where --instances says nothing: on a cpu, whose memory becomes real as keys come, and elsewhere.
enum { RUN_INSTANCES_CPU = 1048576, RUN_INSTANCES = 65536, RUN_KEY_BYTES = 60 };

/// Arguments of an option that may be given several times. Points into argv.
typedef struct run_list {
    const char **items;
    uint32_t count;
} run_list;

typedef struct run_options {
    const char *file;
    record_shape shape; // its key is `key`, its keep `keep`
    run_list keep;
    const char *ring, *device, *key; // NULL where not given
    const char *input, *output;      // NULL: standard input, standard output
    const char *record, *replay;     // NULL where not given
    slr_remote_desc where;           // --cluster and what belongs to it
    uint64_t producer;
    const char *state;    // the folder of --state, NULL where not given
    uint32_t sync;        // an slr_sync; 0: not given
    uint64_t snapshot_ns; // likewise
    run_list bindings, defines, includes;
    tolerances tolerances; // of a replay
    const format *input_format, *output_format;
    uint32_t instances; // 0: not given
    uint32_t replies;
    uint32_t batch;                    // 0: the ring kernel's default
    uint32_t key_bytes;                // of the longest key, where keys are evicted
    uint32_t window;                   // 0: not given
    uint64_t fuel, handler_timeout_ns; // likewise
    uint64_t drain_ns;                 // after a signal
    bool evict;                        // at the limit an idle key gives up its instance
    bool ordered, pad_partial, skip_errors, stats, json, debug;
} run_options;

/// Fills `out`. Returns -1 where the verb shall go on, else the exit code to end with: help was printed, or the command
/// line is wrong and that has been said.
int run_options_parse(int argc, char **argv, run_options *out);

/// Prints what --help says.
void run_help(void);

void run_options_free(run_options *options);

/// Appends what an option was given. Returns -1.
int run_list_add(run_list *list, const char *item);

#endif
