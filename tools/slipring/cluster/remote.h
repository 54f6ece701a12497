// SPDX-License-Identifier: Apache-2.0
/// The verbs of `slipring cluster` that talk to other machines: their options.
#ifndef CLUSTER_REMOTE_H
#define CLUSTER_REMOTE_H

#include "remote_option.h"

enum {
    REMOTE_JSON = 256,
    REMOTE_RAW,
    REMOTE_FOLLOW,
    REMOTE_RELEASE,
    REMOTE_WORKER,
    REMOTE_TIMEOUT,
    REMOTE_FOLDER,
    REMOTE_REPLICAS,
    REMOTE_KEY,
    REMOTE_MESSAGE
};

typedef struct remote_options {
    slr_remote_desc where;
    const char *worker, *folder, *key, *message;
    uint64_t timeout_ns;
    bool json, raw, follow, release;
    bool has_keys; // of the name that outputs are read of
} remote_options;

/// Reads what `known` lists. `needs_name`: --cluster and --name must be there; else --cluster. -1, or an exit code.
int remote_parse(int argc, char **argv, const char *help, const struct option *known, bool needs_name,
                 remote_options *out);

#endif
