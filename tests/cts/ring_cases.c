// SPDX-License-Identifier: Apache-2.0
// Host cases of instances, keys, faults and limits of ring kernels.
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct total {
    int sum, count;
};

// ---- instances ------------------------------------------------------------------------------------------------------

static void each_instance_has_its_own_state(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.instances = 7;
    slr_ring *ring = cts_ring(c, "sum", &desc);
    int wanted[7] = {0};
    for (int i = 0; i < 70; i++) {
        wanted[i * 3 % 7] += i;
        CTS_SAME(c, cts_call_int(c, ring, (uint32_t)(i * 3 % 7), i), wanted[i * 3 % 7]);
    }
}

static void state_begins_as_zero(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.instances = 3;
    slr_ring *ring = cts_ring(c, "sum", &desc);
    for (uint32_t i = 0; i < 3; i++) {
        struct total state = {9, 9};
        CTS_OK(c, slr_ring_snapshot(ring, i, &state, sizeof state, CTS_LONG(c)));
        CTS_SAME(c, state.sum, 0);
        CTS_SAME(c, state.count, 0);
    }
}

static void state_begins_as_given(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    static const struct total first = {1000, 5};
    desc.instances = 2;
    desc.state_bytes = sizeof first;
    desc.initial_state = &first;
    slr_ring *ring = cts_ring(c, "sum", &desc);
    CTS_SAME(c, cts_call_int(c, ring, 1, 7), 1007);
    CTS_SAME(c, cts_call_int(c, ring, 0, 1), 1001);
}

static void a_handler_knows_its_instance(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.instances = 5;
    slr_ring *ring = cts_ring(c, "which", &desc);
    for (uint32_t i = 0; i < 5; i++)
        CTS_SAME(c, cts_call_int(c, ring, i, 3), i * 1000 + 3);
}

static void a_snapshot_is_the_state(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    struct total state;
    slr_ring *ring = cts_ring(c, "sum", &desc);
    cts_call_int(c, ring, 0, 40);
    cts_call_int(c, ring, 0, 2);
    CTS_OK(c, slr_ring_snapshot(ring, 0, &state, sizeof state, CTS_LONG(c)));
    CTS_SAME(c, state.sum, 42);
    CTS_SAME(c, state.count, 2);
}

static void a_restored_state_is_gone_on_with(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    struct total state = {500, 0};
    slr_ring *ring = cts_ring(c, "sum", &desc);
    cts_call_int(c, ring, 0, 40);
    CTS_OK(c, slr_ring_restore(ring, 0, &state, sizeof state, CTS_LONG(c)));
    CTS_SAME(c, cts_call_int(c, ring, 0, 1), 501);
    CTS_OK(c, slr_ring_restore(ring, 0, NULL, 0, CTS_LONG(c)));
    CTS_SAME(c, cts_call_int(c, ring, 0, 1), 1);
}

static void each_port_and_instance_keeps_its_order(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.instances = 4;
    slr_ring *ring = cts_ring(c, "order", &desc);
    slr_port *port = cts_port(c);
    for (int i = 0; i < 400; i++)
        cts_send_int(c, port, cts_address(c, ring, (uint32_t)i % 4), i / 4 + 1, -1);
    for (int i = 0; i < 400; i++)
        CTS_SAME(c, cts_receive_int(c, port, NULL), 0);
}

static void an_instance_beyond_the_last_is_refused(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.instances = 4;
    slr_ring *ring = cts_ring(c, "sum", &desc);
    slr_address to = cts_address(c, ring, 0), none;
    int value = 1;
    to.instance = 4;
    CTS_GIVES(c, SLR_INVALID, slr_send(cts_port(c), to, &value, sizeof value, 0));
    CTS_GIVES(c, SLR_INVALID, slr_ring_get_address(ring, 4, &none));
}

static void a_batch_goes_to_many_instances(cts *c)
{
    enum { COUNT = 200 };
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.instances = 50;
    slr_ring *ring = cts_ring(c, "quiet", &desc);
    slr_port *port = cts_port(c);
    int values[COUNT];
    uint32_t to[COUNT];
    struct total state;
    for (int i = 0; i < COUNT; i++)
        values[i] = i, to[i] = (uint32_t)i % 50;
    CTS_OK(c, slr_send_many(port, cts_address(c, ring, 0), to, values, sizeof *values, COUNT, CTS_LONG(c), NULL));
    CTS_OK(c, slr_ring_close_input(ring));
    CTS_OK(c, slr_ring_wait(ring, SLR_RING_TERMINATED, CTS_LONG(c)));
    CTS_OK(c, slr_ring_snapshot(ring, 7, &state, sizeof state, CTS_LONG(c)));
    CTS_SAME(c, state.count, 4);
    CTS_SAME(c, state.sum, 7 + 57 + 107 + 157);
}

// ---- keys -----------------------------------------------------------------------------------------------------------

static slr_ring *keyed(cts *c, slr_keys keys, slr_key_limit limit, uint32_t instances)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.keys = keys;
    desc.key_limit = limit;
    desc.instances = instances;
    return cts_ring(c, "sum", &desc);
}

static int call_key(cts *c, slr_ring *ring, slr_port *port, slr_key key, int value)
{
    int back = 0;
    CTS_OK(c, slr_call_key(port, cts_address(c, ring, 0), key, &value, sizeof value, &back, sizeof back, CTS_LONG(c)));
    return back;
}

static void each_key_has_its_own_state(cts *c)
{
    slr_ring *ring = keyed(c, SLR_KEYS_U64, SLR_KEY_LIMIT_REFUSE, 100);
    slr_port *port = cts_port(c);
    for (int round = 1; round <= 3; round++)
        for (uint64_t k = 0; k < 40; k++)
            CTS_SAME(c, call_key(c, ring, port, slr_key_u64(k * UINT64_C(0x9e3779b97f4a7c15)), (int)k), round * (int)k);
    CTS_SAME(c, cts_stats_at_rest(c, ring).keys, 40);
}

static void keys_may_be_text(cts *c)
{
    slr_ring *ring = keyed(c, SLR_KEYS_TEXT, SLR_KEY_LIMIT_REFUSE, 10);
    slr_port *port = cts_port(c);
    CTS_SAME(c, call_key(c, ring, port, slr_key_text("anna", 4), 5), 5);
    CTS_SAME(c, call_key(c, ring, port, slr_key_text("bert", 4), 7), 7);
    CTS_SAME(c, call_key(c, ring, port, slr_key_text("anna", 4), 5), 10);
    CTS_SAME(c, call_key(c, ring, port, slr_key_text("ann", 3), 1), 1);
}

static void a_key_too_many_is_refused(cts *c)
{
    slr_ring *ring = keyed(c, SLR_KEYS_U64, SLR_KEY_LIMIT_REFUSE, 3);
    slr_port *port = cts_port(c);
    int value = 1;
    for (uint64_t k = 0; k < 3; k++)
        call_key(c, ring, port, slr_key_u64(k), 1);
    CTS_GIVES(c, SLR_FULL, slr_send_key(port, cts_address(c, ring, 0), slr_key_u64(3), &value, sizeof value, NULL, 0));
    CTS_SAME(c, call_key(c, ring, port, slr_key_u64(1), 1), 2);
}

static void an_idle_key_makes_room(cts *c)
{
    slr_ring *ring = keyed(c, SLR_KEYS_U64, SLR_KEY_LIMIT_EVICT_IDLE, 3);
    slr_port *port = cts_port(c);
    for (uint64_t k = 0; k < 10; k++)
        CTS_SAME(c, call_key(c, ring, port, slr_key_u64(k), 4), 4);
    CTS_SAME(c, cts_stats_at_rest(c, ring).evicted, 7);
    CTS_SAME(c, cts_stats_at_rest(c, ring).keys, 3);
}

static void a_forgotten_key_hands_its_state_out(cts *c)
{
    slr_ring *ring = keyed(c, SLR_KEYS_U64, SLR_KEY_LIMIT_REFUSE, 3);
    slr_port *port = cts_port(c);
    struct total state;
    call_key(c, ring, port, slr_key_u64(77), 30);
    CTS_OK(c, slr_ring_forget_key(ring, slr_key_u64(77), &state, sizeof state, CTS_LONG(c)));
    CTS_SAME(c, state.sum, 30);
    CTS_SAME(c, call_key(c, ring, port, slr_key_u64(77), 1), 1);
    CTS_OK(c, slr_ring_forget_key(ring, slr_key_u64(77), NULL, 0, CTS_LONG(c)));
    CTS_OK(c, slr_ring_add_key(ring, slr_key_u64(77), &state, sizeof state, CTS_LONG(c), NULL));
    CTS_SAME(c, call_key(c, ring, port, slr_key_u64(77), 1), 31);
}

static void a_reply_leads_back_to_its_key(cts *c)
{
    slr_ring *ring = keyed(c, SLR_KEYS_U64, SLR_KEY_LIMIT_REFUSE, 8);
    slr_port *port = cts_port(c);
    slr_reply reply;
    slr_key key;
    uint32_t instance = 0;
    int value = 6;
    CTS_OK(c, slr_send_key(port, cts_address(c, ring, 0), slr_key_u64(123456789), &value, sizeof value, NULL,
                           CTS_LONG(c)));
    cts_receive_int(c, port, &reply);
    CTS_OK(c, slr_ring_get_key(ring, reply.from.instance, &key, NULL, 0));
    CTS_TRUE(c, key.number == 123456789);
    CTS_OK(c, slr_ring_find_key(ring, slr_key_u64(123456789), &instance));
    CTS_SAME(c, instance, reply.from.instance);
}

// ---- faults ---------------------------------------------------------------------------------------------------------

static slr_status send_for(cts *c, slr_ring *ring, int value, int *back)
{
    return slr_call(NULL, cts_address(c, ring, 0), &value, sizeof value, back, sizeof *back, CTS_LONG(c));
}

static void a_fault_fails_the_message_and_resets_the_instance(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = cts_ring(c, "divide", &desc);
    int back = 0;
    CTS_SAME(c, cts_call_int(c, ring, 0, 5), 1020);
    CTS_SAME(c, cts_call_int(c, ring, 0, 5), 2020);
    CTS_GIVES(c, SLR_HANDLER_FAULT, send_for(c, ring, 0, &back));
    CTS_SAME(c, cts_call_int(c, ring, 0, 50), 1002);
    CTS_SAME(c, cts_stats_at_rest(c, ring).faulted, 1);
    CTS_TRUE(c, strstr(cts_stats_at_rest(c, ring).last_fault, "division by zero") != NULL);
    CTS_TRUE(c, strstr(cts_stats_at_rest(c, ring).last_fault, ":6: instance 0: ") != NULL);
    cts_check_sum(c, ring);
}

static void an_access_outside_a_buffer_is_a_fault(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_buffer *buffer = cts_buffer(c, 16);
    const slr_binding binding = {.name = "weights", .buffer = buffer};
    int back = 0;
    desc.bindings = &binding;
    desc.binding_count = 1;
    slr_ring *ring = cts_ring(c, "index", &desc);
    CTS_SAME(c, cts_call_int(c, ring, 0, 3), 0);
    CTS_GIVES(c, SLR_HANDLER_FAULT, send_for(c, ring, 4, &back));
    CTS_GIVES(c, SLR_HANDLER_FAULT, send_for(c, ring, -1, &back));
    CTS_SAME(c, cts_stats_at_rest(c, ring).faulted, 2);
}

static void too_many_replies_are_a_fault(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.max_replies = 2;
    slr_ring *ring = cts_ring(c, "several", &desc);
    slr_port *port = cts_port(c);
    slr_reply reply;
    int value = 0;
    cts_send_int(c, port, cts_address(c, ring, 0), 3, -1);
    CTS_OK(c, slr_receive(port, &reply, &value, sizeof value, CTS_LONG(c)));
    CTS_SAME(c, reply.status, SLR_HANDLER_FAULT); // and neither of the two that there was room for
    cts_send_int(c, port, cts_address(c, ring, 0), 2, -1);
    CTS_SAME(c, cts_receive_int(c, port, NULL), 0);
}

// Each third message of a batch has more replies than it may have. They come by one port while another one's are the
// last that went well.
static void a_batch_with_faults_gives_the_other_replies(cts *c)
{
    enum { COUNT = 24 };
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.max_replies = 2;
    slr_ring *ring = cts_ring(c, "several", &desc);
    slr_port *well = cts_port(c), *port = cts_port(c);
    slr_reply reply;
    int counts[COUNT], value = 0;
    uint32_t accepted = 0;
    for (int i = 0; i < COUNT; i++)
        counts[i] = 3 - i % 3;
    cts_send_int(c, port, cts_address(c, ring, 0), 1, -1);
    CTS_SAME(c, cts_receive_int(c, port, NULL), 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++) {
            cts_send_int(c, well, cts_address(c, ring, 0), 1, -1);
            CTS_SAME(c, cts_receive_int(c, well, NULL), 0);
        }
        CTS_OK(c, slr_send_many(port, cts_address(c, ring, 0), NULL, counts, sizeof *counts, COUNT, CTS_LONG(c),
                                &accepted));
        for (int i = 0; i < COUNT; i++)
            if (counts[i] <= 2)
                for (int j = 0; j < counts[i]; j++)
                    CTS_SAME(c, cts_receive_int(c, port, NULL), j);
            else {
                CTS_OK(c, slr_receive(port, &reply, &value, sizeof value, CTS_LONG(c)));
                CTS_SAME(c, reply.status, SLR_HANDLER_FAULT);
            }
    }
    CTS_SAME(c, cts_stats_at_rest(c, ring).faulted, COUNT);
    cts_check_sum(c, ring);
}

static void a_handler_runs_out_of_fuel(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    int back = 0;
    desc.fuel = 1000;
    slr_ring *ring = cts_ring(c, "spin", &desc);
    CTS_OK(c, send_for(c, ring, 900, &back));
    CTS_GIVES(c, SLR_HANDLER_FAULT, send_for(c, ring, 2000, &back));
    CTS_TRUE(c, strstr(cts_stats_at_rest(c, ring).last_fault, "fuel") != NULL);
}

// Whether it is taken for all turns of a loop at once or one by one.
static void counted_loops_take_their_fuel_to_the_last(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    int back = 0;
    desc.fuel = 50; // each loop must leave some
    slr_ring *ring = cts_ring(c, "counted", &desc);
    CTS_SAME(c, cts_call_int(c, ring, 0, 54), 3528);                 // 46 turns and 3
    CTS_GIVES(c, SLR_HANDLER_FAULT, send_for(c, ring, 53, &back));   // the second loop's last
    CTS_GIVES(c, SLR_HANDLER_FAULT, send_for(c, ring, 50, &back));   // the first one's
    CTS_GIVES(c, SLR_HANDLER_FAULT, send_for(c, ring, -900, &back)); // long before
    CTS_SAME(c, cts_call_int(c, ring, 0, 200), 9);
    CTS_SAME(c, cts_stats_at_rest(c, ring).faulted, 3);
}

static void a_faulted_message_is_a_dead_letter(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_dead_letter letter;
    uint32_t taken = 0;
    int value = -1, back = 0;
    desc.dead_letters = 4;
    slr_ring *ring = cts_ring(c, "divide", &desc);
    CTS_GIVES(c, SLR_HANDLER_FAULT, send_for(c, ring, 0, &back));
    CTS_OK(c, slr_ring_take_dead_letters(ring, &letter, &value, sizeof value, 1, &taken));
    CTS_SAME(c, taken, 1);
    CTS_SAME(c, value, 0);
    CTS_SAME(c, letter.reason, SLR_DEAD_LETTER_FAULTED);
}

enum { WORDS = 8, LETTERS = 4 };
struct words {
    int word[WORDS]; // of the n-th message the k-th is WORDS * n + k
};

// Takes what there is. `last` is the latest letter's correlation: each comes once, and behind those before it.
static uint32_t take_letters(cts *c, slr_ring *ring, uint64_t *last)
{
    slr_dead_letter letter[LETTERS];
    struct words message[LETTERS];
    uint32_t taken = 0;
    CTS_OK(c, slr_ring_take_dead_letters(ring, letter, message, sizeof *message, LETTERS, &taken));
    for (uint32_t i = 0; i < taken; i++) {
        CTS_SAME(c, letter[i].reason, SLR_DEAD_LETTER_FAULTED);
        CTS_SAME(c, letter[i].bytes, sizeof *message);
        CTS_TRUE(c, letter[i].correlation > *last);
        *last = letter[i].correlation;
        for (uint64_t k = 0; k < WORDS; k++)
            CTS_SAME(c, message[i].word[k], (*last - 1) * WORDS + k);
    }
    return taken;
}

// Many more faults than there are places. Letters are taken while the owner writes further ones, and nothing is sent
// meanwhile: that the letters have been read is all that tells the owner that it may use their places again.
static void places_of_dead_letters_are_used_again(cts *c)
{
    enum { ROUNDS = 4, EACH = 64 }; // more than the owner claims at once
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    struct words message[EACH];
    uint64_t last = 0, lost = 0;
    desc.dead_letters = LETTERS;
    slr_ring *ring = cts_ring(c, "never", &desc);
    slr_port *port = cts_port(c);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < EACH * WORDS; i++)
            message[i / WORDS].word[i % WORDS] = round * EACH * WORDS + i;
        CTS_OK(c,
               slr_send_many(port, cts_address(c, ring, 0), NULL, message, sizeof *message, EACH, CTS_LONG(c), NULL));
        uint64_t taken = 0, end = cts_now_ns() + CTS_LONG(c);
        while (cts_stats(c, ring).pending != 0 && cts_now_ns() < end)
            taken += take_letters(c, ring, &last);
        const slr_ring_stats stats = cts_stats_at_rest(c, ring);
        taken += take_letters(c, ring, &last);
        CTS_SAME(c, stats.faulted, (round + 1) * EACH);
        CTS_SAME(c, taken + stats.dead_letters_lost - lost, EACH);
        CTS_TRUE(c, taken >= LETTERS); // all places were free when the round began
        lost = stats.dead_letters_lost;
    }
    cts_check_sum(c, ring);
}

static slr_ring *failing(cts *c, slr_ring_desc *desc)
{
    desc->fault_policy = SLR_FAULT_FAIL;
    return cts_ring(c, "divide", desc);
}

static void a_policy_fails_the_ring_kernel(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = failing(c, &desc);
    slr_port *port = cts_port(c);
    int value = 1;
    cts_send_int(c, port, cts_address(c, ring, 0), 0, -1);
    CTS_OK(c, slr_ring_wait(ring, SLR_RING_IN_FAILURE, CTS_LONG(c)));
    CTS_GIVES(c, SLR_RING_FAILED, slr_send(port, cts_address(c, ring, 0), &value, sizeof value, 0));
    CTS_SAME(c, cts_stats(c, ring).failures, 1);
}

static void a_restart_begins_with_the_initial_state(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = failing(c, &desc);
    slr_port *port = cts_port(c);
    cts_call_int(c, ring, 0, 5);
    cts_send_int(c, port, cts_address(c, ring, 0), 0, -1);
    CTS_OK(c, slr_ring_wait(ring, SLR_RING_IN_FAILURE, CTS_LONG(c)));
    CTS_OK(c, slr_ring_restart(ring, SLR_RESTART_INITIAL, CTS_LONG(c)));
    CTS_SAME(c, cts_call_int(c, ring, 0, 5), 1020);
    CTS_SAME(c, cts_stats(c, ring).restarts, 1);
}

static void a_restart_from_a_checkpoint(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = failing(c, &desc);
    slr_port *port = cts_port(c);
    cts_call_int(c, ring, 0, 5);
    CTS_OK(c, slr_ring_checkpoint(ring, CTS_LONG(c)));
    cts_call_int(c, ring, 0, 5);
    cts_send_int(c, port, cts_address(c, ring, 0), 0, -1);
    CTS_OK(c, slr_ring_wait(ring, SLR_RING_IN_FAILURE, CTS_LONG(c)));
    CTS_OK(c, slr_ring_restart(ring, SLR_RESTART_CHECKPOINT, CTS_LONG(c)));
    CTS_SAME(c, cts_call_int(c, ring, 0, 5), 2020);
}

// More messages than the queue has room for, one after the other, each of which gives its room back.
static void room_comes_back_from_each_message_of_a_policy_that_fails(cts *c)
{
    enum { ROUNDS = 3, QUEUE = 4 };
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.queue_size = QUEUE;
    slr_ring *ring = failing(c, &desc);
    slr_port *port = cts_port(c);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < QUEUE; i++)
            CTS_SAME(c, cts_call_int(c, ring, 0, 5), 1020 + 1000 * i);
        cts_send_int(c, port, cts_address(c, ring, 0), 0, -1);
        CTS_OK(c, slr_ring_wait(ring, SLR_RING_IN_FAILURE, CTS_LONG(c)));
        CTS_OK(c, slr_ring_restart(ring, SLR_RESTART_INITIAL, CTS_LONG(c)));
    }
    CTS_OK(c, slr_ring_close_input(ring));
    CTS_OK(c, slr_ring_wait(ring, SLR_RING_TERMINATED, CTS_LONG(c)));
    CTS_SAME(c, cts_stats(c, ring).handled, ROUNDS * QUEUE);
    CTS_SAME(c, cts_stats(c, ring).faulted, ROUNDS);
    cts_check_sum(c, ring);
}

static void a_failed_stream_recovers(cts *c)
{
    slr_buffer *buffer = cts_buffer(c, 64);
    slr_stream *stream = cts_stream(c);
    slr_kernel *scale = cts_kernel(c, "scale"), *zero = cts_kernel(c, "divide_by");
    int data[16] = {0};
    CTS_OK(c, SLR_LAUNCH(stream, zero, SLR_GRID(1, 16, 0), buffer, 0));
    CTS_GIVES(c, SLR_HANDLER_FAULT, slr_stream_finish(stream, CTS_LONG(c)));
    CTS_OK(c, slr_stream_recover(stream));
    for (int i = 0; i < 16; i++)
        data[i] = i;
    CTS_OK(c, slr_stream_write(stream, buffer, 0, data, sizeof data, NULL));
    slr_buffer *to = cts_buffer(c, 64);
    CTS_OK(c, SLR_LAUNCH(stream, scale, SLR_GRID(1, 16, 0), buffer, to, 16, 3));
    CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
    cts_read_ints(c, to, data, 16);
    CTS_SAME(c, data[15], 45);
}

static void source_that_is_wrong_is_refused_with_its_place(cts *c)
{
    slr_program *program = NULL;
    slr_status status =
        slr_program_from_text(c->device, "bad.cu", "__global__ void k(int *a)\n{\n    a[0] = b;\n}\n", NULL, &program);
    CTS_SAME(c, status, SLR_COMPILE);
    CTS_TRUE(c, strstr(slr_error_message(), "bad.cu:3:") != NULL);
    CTS_TRUE(c, strstr(slr_error_message(), "SLR-K") != NULL);
}

// ---- limits ---------------------------------------------------------------------------------------------------------

static void ten_thousand_instances(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.instances = 10000;
    slr_ring *ring = cts_ring(c, "sum", &desc);
    for (uint32_t i = 0; i < 10000; i += 999)
        CTS_SAME(c, cts_call_int(c, ring, i, (int)i), (int)i);
}

static void the_most_replies(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.max_replies = 64;
    slr_ring *ring = cts_ring(c, "several", &desc);
    slr_port *port = cts_port(c);
    cts_send_int(c, port, cts_address(c, ring, 0), 64, -1);
    for (int i = 0; i < 64; i++)
        CTS_SAME(c, cts_receive_int(c, port, NULL), i);
}

static void a_mailbox_of_one(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.queue_size = 1;
    slr_ring *ring = cts_ring(c, "sum", &desc);
    for (int i = 1; i <= 100; i++)
        CTS_SAME(c, cts_call_int(c, ring, 0, 1), i);
}

static void many_ring_kernels_side_by_side(cts *c)
{
    enum { COUNT = 12 };
    slr_ring *ring[COUNT];
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        snprintf(name, sizeof name, "sum%d", i);
        desc.name = name;
        ring[i] = cts_ring(c, "sum", &desc);
    }
    for (int round = 1; round <= 3; round++)
        for (int i = 0; i < COUNT; i++)
            CTS_SAME(c, cts_call_int(c, ring[i], 0, i), i * round);
}

static void fields_out_of_range_are_refused(cts *c)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring *ring = NULL;
    desc.program = cts_program(c, "echo");
    desc.queue_size = 1048577;
    CTS_GIVES(c, SLR_INVALID, slr_ring_create(c->device, &desc, &ring));
    CTS_TRUE(c, strstr(slr_error_message(), "1048577") != NULL);
    desc.queue_size = 0;
    desc.max_replies = 65;
    CTS_GIVES(c, SLR_INVALID, slr_ring_create(c->device, &desc, &ring));
    desc.max_replies = 0;
    desc.message_bytes = 5;
    CTS_GIVES(c, SLR_LAYOUT, slr_ring_create(c->device, &desc, &ring));
}

// clang-format off
const cts_case cts_ring_cases[] = {
    CTS_HOST("instances", each_instance_has_its_own_state),
    CTS_HOST("instances", state_begins_as_zero),
    CTS_HOST("instances", state_begins_as_given),
    CTS_HOST("instances", a_handler_knows_its_instance),
    CTS_HOST("instances", a_snapshot_is_the_state),
    CTS_HOST("instances", a_restored_state_is_gone_on_with),
    CTS_HOST("instances", each_port_and_instance_keeps_its_order),
    CTS_HOST("instances", an_instance_beyond_the_last_is_refused),
    CTS_HOST("instances", a_batch_goes_to_many_instances),
    CTS_HOST("keys", each_key_has_its_own_state),
    CTS_HOST("keys", keys_may_be_text),
    CTS_HOST("keys", a_key_too_many_is_refused),
    CTS_HOST("keys", an_idle_key_makes_room),
    CTS_HOST("keys", a_forgotten_key_hands_its_state_out),
    CTS_HOST("keys", a_reply_leads_back_to_its_key),
    CTS_HOST("faults", a_fault_fails_the_message_and_resets_the_instance),
    CTS_HOST("faults", an_access_outside_a_buffer_is_a_fault),
    CTS_HOST("faults", too_many_replies_are_a_fault),
    CTS_HOST("faults", a_batch_with_faults_gives_the_other_replies),
    CTS_HOST("faults", a_handler_runs_out_of_fuel),
    CTS_HOST("faults", counted_loops_take_their_fuel_to_the_last),
    CTS_HOST("faults", a_faulted_message_is_a_dead_letter),
    CTS_HOST("faults", places_of_dead_letters_are_used_again),
    CTS_HOST("faults", a_policy_fails_the_ring_kernel),
    CTS_HOST("faults", a_restart_begins_with_the_initial_state),
    CTS_HOST("faults", a_restart_from_a_checkpoint),
    CTS_HOST("faults", room_comes_back_from_each_message_of_a_policy_that_fails),
    CTS_HOST("faults", a_failed_stream_recovers),
    CTS_HOST("faults", source_that_is_wrong_is_refused_with_its_place),
    CTS_HOST("limits", ten_thousand_instances),
    CTS_HOST("limits", the_most_replies),
    CTS_HOST("limits", a_mailbox_of_one),
    CTS_HOST("limits", many_ring_kernels_side_by_side),
    CTS_HOST("limits", fields_out_of_range_are_refused),
};
// clang-format on
const size_t cts_ring_case_count = sizeof cts_ring_cases / sizeof *cts_ring_cases;
