// SPDX-License-Identifier: Apache-2.0
// The feed of --state.
#include "run/durable.h"

#include <stdio.h>

enum {
    PRODUCER = 1,  // the name of the input's messages
    OUTPUTS = 256, // taken together
    LINES_KEPT = 1 << 15,
    NAP_NS = 2 * 1000 * 1000 // until give_up is asked again
};

slr_status feed_serve(feed *feed, slr_device *device, const slr_ring_desc *desc, const slr_serve_desc *serve,
                      const slr_handler_info *handler, bool continues, uint64_t *accepted)
{
    slr_ring_desc plain = *desc; // keys are the server's
    plain.keys = 0;
    feed_allocate(feed, &plain, handler);
    slr_status status = slr_serve(device, desc, serve, &feed->server);
    if (status != SLR_OK)
        return status;
    feed->ring = slr_server_get_ring(feed->server);
    status = slr_server_get_producer(feed->server, PRODUCER, accepted);
    feed->skipped = continues ? *accepted : 0;
    return status;
}

slr_status feed_send_durable(feed *feed, uint32_t first, uint64_t timeout_ns, uint32_t *sent)
{
    slr_status status = SLR_OK;
    while (status == SLR_OK && first + *sent < feed->batched) {
        uint32_t at = first + *sent;
        status = slr_server_send(feed->server, PRODUCER, feed->skipped + feed->accepted + 1,
                                 feed->key_of_instance(feed->user, feed->instances[at]),
                                 feed->messages + at * feed->message_bytes, feed->message_bytes, timeout_ns);
        *sent += status == SLR_OK;
        feed->accepted += status == SLR_OK;
    }
    return status == SLR_FULL || status == SLR_TIMEOUT ? SLR_OK : status;
}

// The line of a message of this input, where that is not too long ago.
static uint64_t line_of(const feed *feed, uint64_t number)
{
    if (number < feed->skipped || number - feed->skipped >= feed->accepted ||
        feed->accepted - (number - feed->skipped) > LINES_KEPT)
        return 0;
    return feed->lines[(number - feed->skipped) % feed->line_count];
}

slr_status feed_take_outputs(feed *feed, uint64_t timeout_ns, uint32_t *count)
{
    for (*count = 0; *count < OUTPUTS; ++*count) {
        slr_status status =
            slr_server_receive(feed->server, &feed->output, feed->payloads, feed->reply_stride, timeout_ns);
        if (status == SLR_TIMEOUT)
            return SLR_OK;
        if (status != SLR_OK)
            return status;
        slr_reply reply = {.from = {.instance = feed->output.instance}, .status = feed->output.status};
        uint64_t number = feed->output.message - 1;
        feed->on_reply(feed->user, &reply, feed->payloads, number, line_of(feed, number));
        timeout_ns = 0;
    }
    return SLR_OK;
}

// Calls `wait` until it does not time out, and takes what comes meanwhile.
static slr_status persist(feed *feed, slr_status (*wait)(slr_server *server, uint64_t timeout_ns))
{
    slr_status status;
    do {
        status = wait(feed->server, NAP_NS);
        slr_status taken = feed_take(feed, 0);
        if (taken != SLR_OK && (status == SLR_OK || status == SLR_TIMEOUT))
            return taken;
    } while (status == SLR_TIMEOUT && !feed->give_up(feed->user));
    return status;
}

slr_status feed_accept(feed *feed)
{
    return persist(feed, slr_server_flush);
}

slr_status feed_settle_durable(feed *feed)
{
    return persist(feed, slr_server_settle);
}
