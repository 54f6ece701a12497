// SPDX-License-Identifier: Apache-2.0
// Dead letters: what is in them, by reason, and what becomes of those for which there is no room.
#include "tests/ring/ring_test.h"

#include <slipring/dead_letter.h>

static struct handler h;

static slr_ring_desc describe(const char *name, uint32_t dead_letters)
{
    h = (struct handler){0};
    slr_ring_desc desc = describe_ring(name, &h);
    desc.dead_letters = dead_letters;
    desc.time_stamps = 1;
    return desc;
}

static void faulted_messages_are_letters_too(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("faulted", 8);
    h.fail_each = 2;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t k = 0; k < 6; ++k)
        must(send_at(port, address_of(ring, 0), k, 17));
    wait_until_is(&h.count, 6);
    must(slr_ring_deactivate(ring, LONG));
    slr_dead_letter letter[8];
    struct message message[8];
    uint32_t taken = 9;
    must(slr_ring_take_dead_letters(ring, letter, message, sizeof message[0], 2, &taken)); // two, then the rest
    assert_int_equal(taken, 2);
    must(slr_ring_take_dead_letters(ring, letter + 2, message + 2, sizeof message[0], 6, &taken));
    assert_int_equal(taken, 1);
    for (uint32_t k = 0; k < 3; ++k) {
        assert_int_equal(letter[k].reason, SLR_DEAD_LETTER_FAULTED);
        assert_int_equal(message[k].value, 2 * k + 1);
        assert_int_equal(letter[k].correlation, 2 * k + 2);
        assert_int_equal(letter[k].priority, 17);
        assert_int_equal(letter[k].bytes, sizeof message[k]);
        assert_true(letter[k].sent_ns != 0);
    }
    assert_int_equal(stats_of(ring).dead_letters_lost, 0);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void undelivered_messages_are_letters_after_terminate(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe("undelivered", 8);
    desc.instances = 2;
    slr_ring *ring = launch_ring(device, &desc); // and not activated: nothing is handled
    slr_port *port = open_port(device);
    for (uint32_t k = 0; k < 4; ++k)
        must(send_value(port, address_of(ring, k % 2), k, 0));
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, 0, NULL, NULL, &stats));
    check_sum(&stats);
    assert_int_equal(stats.undelivered, 4);
    slr_dead_letter letter[8];
    uint32_t taken;
    must(slr_ring_take_dead_letters(ring, letter, NULL, 0, 8, &taken));
    assert_int_equal(taken, 4);
    for (uint32_t k = 0; k < taken; ++k)
        assert_int_equal(letter[k].reason, SLR_DEAD_LETTER_UNDELIVERED);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void without_room_letters_are_counted_and_nothing_waits(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("room", 3);
    h.fail_each = 1;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    slr_dead_letter letter[8];
    struct message message[8];
    uint32_t taken;
    for (uint32_t round = 0; round < 5; ++round) {
        for (uint32_t k = 0; k < 7; ++k)
            must(send_value(port, address_of(ring, 0), round * 7 + k, LONG));
        wait_until_is(&h.count, round * 7 + 7);
        must(slr_ring_deactivate(ring, LONG));
        must(slr_ring_take_dead_letters(ring, letter, message, sizeof message[0], 8, &taken));
        assert_int_equal(taken, 3); // the first three: what came later found no room
        for (uint32_t k = 0; k < 3; ++k)
            assert_int_equal(message[k].value, round * 7 + k);
        assert_int_equal(stats_of(ring).dead_letters_lost, 4 * (round + 1));
        assert_int_equal(stats_of(ring).faulted, 7 * (round + 1));
        must(slr_ring_reactivate(ring, LONG));
    }
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void wrong_calls_say_what_is_wrong(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_dead_letter letter;
    struct message message;
    uint32_t taken = 1;
    slr_ring_desc desc = describe("none", 0);
    slr_ring *ring = start_ring(device, &desc);
    refuses(slr_ring_take_dead_letters(NULL, &letter, NULL, 0, 1, &taken), INVALID, "ring is NULL");
    refuses(slr_ring_take_dead_letters(ring, NULL, NULL, 0, 1, &taken), INVALID, "letters is NULL");
    refuses(slr_ring_take_dead_letters(ring, &letter, NULL, 0, 1, NULL), INVALID, "taken is NULL");
    refuses(slr_ring_take_dead_letters(ring, &letter, NULL, 0, 1, &taken), INVALID, "set slr_ring_desc.dead_letters");
    assert_int_equal(taken, 1);
    slr_ring_destroy(ring);
    desc = describe("some", 1);
    must(slr_ring_create(device, &desc, &ring));
    must(slr_ring_take_dead_letters(ring, &letter, NULL, 0, 1, &taken)); // not launched: there is none
    assert_int_equal(taken, 0);
    refuses(slr_ring_take_dead_letters(ring, &letter, &message, 7, 1, &taken), INVALID, "8 B, the stride is 7 B");
    slr_ring_destroy(ring);
    desc = describe("many", (1u << 20) + 1);
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "dead_letters is 1048577; expected 0 to 1048576");
    assert_string_equal(slr_dead_letter_reason_name(SLR_DEAD_LETTER_DROPPED_LOWEST), "dropped: lowest");
    assert_string_equal(slr_dead_letter_reason_name((slr_dead_letter_reason)9), "?");
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faulted_messages_are_letters_too),
        cmocka_unit_test(undelivered_messages_are_letters_after_terminate),
        cmocka_unit_test(without_room_letters_are_counted_and_nothing_waits),
        cmocka_unit_test(wrong_calls_say_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
