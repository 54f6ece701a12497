// SPDX-License-Identifier: Apache-2.0
/// `slipring run --cluster`: rows become messages to a name that machines share. Nothing is handled here, and no
/// replies come: `slipring cluster outputs` has them.
#ifndef RUN_REMOTE_H
#define RUN_REMOTE_H

#include "run/run.h"

/// Opens the feed on the name of --cluster.
slr_status run_open_remote(run *run);

/// Whether the name can have this key; else the row is bad.
bool run_check_remote_key(run *run, key_text key);

/// For feed.c: what its functions do where there is a sender.
slr_status feed_send_remote(feed *feed, uint32_t first, uint32_t *sent);
slr_status feed_flush_remote(feed *feed);
void feed_count_remote(const feed *feed, slr_ring_stats *stats);

#endif
