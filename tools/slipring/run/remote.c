// SPDX-License-Identifier: Apache-2.0
// The feed of --cluster.
#include "run/remote.h"

#include "number.h"
#include "run/durable.h"
#include "say.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAP_NS 200000000ull // until give_up is asked again

static slr_key key_of_text(void *user, uint32_t instance)
{
    run *run = user;
    key_text key = keys_text(&run->keys, instance);
    return slr_key_text(key.text, key.bytes);
}

static bool parse_number(key_text key, uint64_t *number)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)key.bytes, key.text);
    return key.bytes < sizeof text && number_parse(SLR_U64, text, number);
}

// What is no number was refused with its row.
static slr_key key_of_number(void *user, uint32_t instance)
{
    run *run = user;
    uint64_t number = 0;
    if (run->options.key != NULL)
        (void)parse_number(keys_text(&run->keys, instance), &number);
    return slr_key_u64(number);
}

bool run_check_remote_key(run *run, key_text key)
{
    uint64_t number;
    return !run->keys_are_numbers || parse_number(key, &number) ||
           reader_fail(&run->reader, "key '%.*s' is no number, and '%s' is served with numbers as keys",
                       (int)(key.bytes < 64 ? key.bytes : 64), key.text, run->options.where.name);
}

slr_status run_open_remote(run *run)
{
    slr_sender_desc desc = SLR_SENDER_DESC_INIT;
    slr_sender_stats stats;
    slr_ring_desc plain = SLR_RING_DESC_INIT;
    desc.producer = run->options.producer;
    desc.program = run->program;
    desc.handler = run->handler.name;
    feed_allocate(&run->feed, &plain, &run->handler);
    slr_status status = slr_sender_open(&run->options.where, &desc, &run->feed.sender);
    if (status == SLR_OK)
        status = slr_sender_get_stats(run->feed.sender, &stats);
    if (status != SLR_OK)
        return status;
    run->keys_are_numbers = stats.keys == SLR_KEYS_U64;
    run->feed.user = run;
    run->feed.key_of_instance = stats.keys == SLR_KEYS_TEXT ? key_of_text : key_of_number;
    run->output_goes_on = true; // it has no replies, and so no header
    if ((stats.keys != 0) == (run->options.key != NULL))
        return SLR_OK;
    say("--key: '%s' is served %s keys", run->options.where.name, stats.keys != 0 ? "with" : "without");
    return SLR_INVALID;
}

slr_status feed_send_remote(feed *feed, uint32_t first, uint32_t *sent)
{
    slr_status status = SLR_OK;
    while (status == SLR_OK && first + *sent < feed->batched) {
        uint32_t at = first + *sent;
        status = slr_sender_send(feed->sender, feed->key_of_instance(feed->user, feed->instances[at]),
                                 feed->messages + at * feed->message_bytes, feed->message_bytes, NAP_NS);
        *sent += status == SLR_OK;
        feed->accepted += status == SLR_OK;
    }
    return status == SLR_FULL || status == SLR_TIMEOUT ? SLR_OK : status;
}

slr_status feed_flush_remote(feed *feed)
{
    slr_status status;
    do
        status = slr_sender_flush(feed->sender, NAP_NS);
    while ((status == SLR_TIMEOUT || status == SLR_FULL) && !feed->give_up(feed->user));
    return status;
}

void feed_count_remote(const feed *feed, slr_ring_stats *stats)
{
    slr_sender_stats sent;
    memset(stats, 0, sizeof *stats);
    if (slr_sender_get_stats(feed->sender, &sent) != SLR_OK)
        return;
    stats->accepted = sent.accepted + sent.skipped;
    stats->pending = feed->accepted - stats->accepted; // not accepted yet
}
