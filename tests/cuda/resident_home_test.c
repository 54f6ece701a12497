// SPDX-License-Identifier: Apache-2.0
// An owner's words as they were when it took a batch, and the mailbox as it left it: what slri_resident_recover makes
// of the two is what the owner had itself. The ring kernel is launched and never activated: the test is its owner.
#include "base/share.h"
#include "engine/resident.h"
#include "ring/ring.h"
#include "tests/ring/ring_test.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 6 };

struct owner {
    slr_device *device;
    slr_ring *ring;
    slr_port *port;
    struct slri_shard *shard;
    uint32_t *home; // its words when it took the batch
};

// Takes a batch of so many messages of two priorities, out of the pending set.
static void take_some(struct owner *o, uint32_t most)
{
    static struct handler h;
    h = (struct handler){.replies = 1};
    o->device = open_device("cpu?threads=1");
    slr_ring_desc desc = describe_ring("home", &h);
    desc.dead_letters = 8;
    o->ring = launch_ring(o->device, &desc);
    o->port = open_port(o->device);
    o->shard = &o->ring->shard[0];
    o->shard->own = calloc(o->shard->own_words, sizeof(uint32_t)); // in one piece, as a device's
    mb_open(o->shard->shared, o->shard->own, 0, MBP_LISTS_AT(o->ring->max_ports), MBP_PORT(0), MBP_PORT_WORDS);
    for (uint32_t i = 0; i < MESSAGES; ++i)
        must(send_at(o->port, address_of(o->ring, 0), i, i % 2));
    uint32_t *P = o->shard->own;
    P[MBP_MOST] = most;
    assert_int_equal(mb_begin(o->shard->shared, P), most);
    assert_int_not_equal(P[MBP_BATCH(0) + 2], 0);
    o->home = malloc(o->shard->own_words * sizeof *P);
    memcpy(o->home, P, o->shard->own_words * sizeof *P);
}

static void take(struct owner *o)
{
    take_some(o, MESSAGES);
}

// All that the owner has done since is lost, but for what it has published.
static uint32_t *lose(const struct owner *o)
{
    uint32_t *P = o->shard->own, *was = malloc(o->shard->own_words * sizeof *P);
    memcpy(was, P, o->shard->own_words * sizeof *P);
    memcpy(P, o->home, o->shard->own_words * sizeof *P);
    slri_resident_recover(o->shard);
    return was;
}

static void end(struct owner *o)
{
    uint32_t *own = o->shard->own;
    free(o->home);
    slr_port_close(o->port);
    slr_ring_destroy(o->ring);
    free(own);
    slr_device_close(o->device);
}

// The first `done`, of which the second faults.
static void handle(const struct owner *o, uint32_t done)
{
    uint32_t *S = o->shard->shared, *P = o->shard->own;
    for (uint32_t k = 0; k < done; ++k)
        mb_handled(S, P, k, 1, k == 1 ? MB_FLAG_FAULT : 0);
    P[MBP_BATCH_COUNT] = done;
    mb_finish(S, P);
    if (done < MESSAGES)
        mb_keep_rest(S, P, done, MESSAGES);
}

// Of a list of nodes.
static uint32_t length(const struct owner *o, uint32_t node)
{
    uint32_t count = 0;
    for (; node != 0 && count < 2 * MESSAGES; ++count) // no more than there are
        node = o->shard->shared[mb_node(o->shard->shared, o->shard->own, node)];
    return count;
}

static void batch_that_was_published_is_over(void **state)
{
    (void)state;
    struct owner o;
    take(&o);
    handle(&o, MESSAGES);
    uint32_t *was = lose(&o), *P = o.shard->own, *S = o.shard->shared;
    was[MBP_FREE] = P[MBP_FREE]; // the first of the free nodes may be another
    assert_memory_equal(P, was, MBP_MOST * 4);
    assert_int_equal(P[MBP_LETTERS], 1);
    assert_memory_equal(P + MBP_MOST, was + MBP_MOST, (MBP_TIMED - MBP_MOST) * 4);
    assert_memory_equal(P + MBP_PORT(0), was + MBP_PORT(0), MBQ_NEAR * 4);
    assert_int_equal(length(&o, P[MBP_FREE]), MESSAGES); // its nodes are free
    for (uint32_t i = 0; i < MESSAGES; ++i)
        must(send_at(o.port, address_of(o.ring, 0), i, i % 2));
    assert_int_equal(mb_begin(S, P), MESSAGES);
    assert_int_equal(P[MBP_USED], MESSAGES);
    free(was);
    end(&o);
}

static void batch_that_was_cut_keeps_its_rest(void **state)
{
    (void)state;
    struct owner o;
    take(&o);
    handle(&o, 2);
    uint32_t *was = lose(&o), *P = o.shard->own;
    assert_int_equal(P[MBP_BATCH_COUNT], MESSAGES - 2);
    assert_memory_equal(P + MBP_BATCH(0), was + MBP_BATCH(0), (MESSAGES - 2) * 16);
    assert_int_equal(P[MBP_HANDLED], 1);
    assert_int_equal(P[MBP_FAULTED], 1);
    assert_int_equal(P[MBP_FREE], was[MBP_FREE]);
    assert_int_equal(P[MBP_PORT(0) + MBQ_PUBLISHED], 2);
    free(was);
    end(&o);
}

static void batch_that_was_not_published_is_all_there(void **state)
{
    (void)state;
    struct owner o;
    take(&o);
    mb_handled(o.shard->shared, o.shard->own, 0, 1, 0);
    free(lose(&o));
    assert_int_equal(o.shard->own[MBP_BATCH_COUNT], MESSAGES);
    assert_int_equal(o.shard->own[MBP_HANDLED], 0);
    assert_int_equal(o.shard->own[MBP_PORT(0) + MBQ_REPLIES], 0);
    end(&o);
}

// What was moved into the lists since then, into nodes that were freed since then, is in its lane.
static void messages_that_were_taken_since_are_taken_again(void **state)
{
    (void)state;
    static const uint32_t by_priority[] = {5, 7, 9, 0, 2, 4, 6, 8};
    enum { LEFT = sizeof by_priority / sizeof *by_priority };
    struct owner o;
    take_some(&o, 2); // 1 and 3
    uint32_t *S = o.shard->shared, *P = o.shard->own;
    mb_handled(S, P, 0, 1, 0);
    mb_handled(S, P, 1, 1, 0);
    mb_finish(S, P);
    for (uint32_t i = MESSAGES; i < MESSAGES + 4; ++i)
        must(send_at(o.port, address_of(o.ring, 0), i, i % 2));
    mb_take_all(S, P);
    assert_int_equal(P[MBP_WAITING], LEFT);
    free(lose(&o));
    assert_int_equal(P[MBP_WAITING], MESSAGES - 2);
    assert_int_equal(P[MBP_HANDLED], 2);
    const uint32_t *list = &P[mb_lists(P, 0)];
    assert_int_equal(length(&o, list[MBL_FIRST(0)]), 3);
    assert_int_equal(length(&o, list[MBL_FIRST(1)]), 1);
    assert_int_equal(length(&o, P[MBP_FREE]), 2);
    P[MBP_MOST] = MB_BATCH;
    assert_int_equal(mb_begin(S, P), LEFT);
    for (uint32_t k = 0; k < LEFT; ++k)
        assert_int_equal(S[P[MBP_BATCH(k) + 1] + MB_PAYLOAD], by_priority[k]);
    assert_int_equal(P[MBP_WAITING], 0);
    assert_int_equal(P[MBP_USED], LEFT); // the two that were freed are used
    end(&o);
}

// Counts follow replies (mb_finish): the device may be lost in between.
static void replies_that_are_out_are_counted_and_not_written_over(void **state)
{
    (void)state;
    struct owner o;
    take(&o);
    uint32_t *S = o.shard->shared, *P = o.shard->own;
    mb_handled(S, P, 0, 1, 0);
    mb_handled(S, P, 1, 1, 0);
    mb_publish_replies(S, P, 0);
    free(lose(&o));
    assert_int_equal(P[MBP_BATCH_COUNT], MESSAGES);
    assert_int_equal(P[MBP_HANDLED], 0);
    assert_int_equal(P[MBP_PORT(0) + MBQ_REPLIES], 2);
    assert_int_equal(P[MBP_PORT(0) + MBQ_PUBLISHED], 2);
    assert_int_equal(P[MBP_REPLIED], 2);
    assert_int_equal(MB_LOAD(P[MBP_OWNER] + MB_REPLIED), 2);
    end(&o);
}

// A port of which nothing is in the batch: what is known of it at home is as old as the last batch that it was in.
static void messages_of_earlier_batches_are_known_to_be_done_with(void **state)
{
    (void)state;
    struct owner o;
    take(&o);
    uint32_t *S = o.shard->shared, *P = o.shard->own, *other = &P[MBP_PORT(1) + MBQ_RETIRED];
    uint32_t lane = mb_reply_lane_of(S, P, 1);
    for (uint32_t k = 0; k < MESSAGES; ++k) // its own are a port's with credits of its own
        S[P[MBP_BATCH(k) + 1] + MB_HEAD] |= MB_FLAG_GRANTED;
    MB_RELEASE(lane + MB_PORT_RETIRED, 7); // by the batch before
    handle(&o, 2);
    uint32_t *was = lose(&o);
    assert_int_equal(*other, 7);
    assert_int_equal(P[MBP_PORT(0) + MBQ_RETIRED], 2);
    assert_int_equal(P[MBP_GRANTED_RETIRED], was[MBP_GRANTED_RETIRED]);
    assert_int_equal(MB_LOAD(lane + MB_PORT_RETIRED), 7);
    MB_RELEASE(lane + MB_PORT_RETIRED, 0); // there is no such port
    free(was);
    end(&o);
}

// A port that collects is in no batch, and its lane may have come round since what is known of it at home.
static void replies_to_a_port_that_collects_are_not_written_over(void **state)
{
    (void)state;
    struct owner o;
    take(&o);
    uint32_t *S = o.shard->shared, *P = o.shard->own, slots = S[MB_REPLY_MASK] + 1;
    uint32_t q = MBP_PORT(1), lane = mb_reply_lane_of(S, P, 1), read = slots + 5;
    MB_RELEASE(mb_lane_of(S, P, 1) + MB_REPLY_READ, read);
    for (uint32_t at = 0; at < read + 3; ++at)
        MB_RELEASE(mb_reply_slot(S, lane, at) + MB_SEQUENCE, at + 1);
    free(lose(&o));
    assert_int_equal(P[q + MBQ_PUBLISHED], read + 3);
    assert_int_equal(P[q + MBQ_REPLIES], read + 3);
    assert_int_equal(P[q + MBQ_READ_SEEN], read); // from which there are fewer than the lane has room for
    end(&o);
}

int main(void)
{
    slri_share_apart(); // P is one piece
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_that_was_published_is_over),
        cmocka_unit_test(batch_that_was_cut_keeps_its_rest),
        cmocka_unit_test(batch_that_was_not_published_is_all_there),
        cmocka_unit_test(messages_that_were_taken_since_are_taken_again),
        cmocka_unit_test(replies_that_are_out_are_counted_and_not_written_over),
        cmocka_unit_test(messages_of_earlier_batches_are_known_to_be_done_with),
        cmocka_unit_test(replies_to_a_port_that_collects_are_not_written_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
