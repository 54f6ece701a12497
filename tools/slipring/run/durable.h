// SPDX-License-Identifier: Apache-2.0
/// A feed whose ring kernel is durable (--state): messages go through a server, which stores them, and outputs come
/// from it, stored.
#ifndef DURABLE_H
#define DURABLE_H

#include "run/feed.h"

/// As feed_open. The ring kernel goes on where it stood: `*accepted` messages of this feed are accepted already.
/// `continues`: the input has none of those; else it has all of them first, and they are skipped.
slr_status feed_serve(feed *feed, slr_device *device, const slr_ring_desc *desc, const slr_serve_desc *serve,
                      const slr_handler_info *handler, bool continues, uint64_t *accepted);

/// Makes what was sent accepted.
slr_status feed_accept(feed *feed);

/// For feed.c: what its functions do where there is a server. And what feed.c does for this.
slr_status feed_send_durable(feed *feed, uint32_t first, uint64_t timeout_ns, uint32_t *sent);
slr_status feed_take_outputs(feed *feed, uint64_t timeout_ns, uint32_t *count);
slr_status feed_settle_durable(feed *feed);
void feed_allocate(feed *feed, const slr_ring_desc *desc, const slr_handler_info *handler);

#endif
