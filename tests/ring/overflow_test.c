// SPDX-License-Identifier: Apache-2.0
// Mailboxes that drop: whom they drop, that the counts are exact, that dropped messages are handed back and their
// senders told.
#include "ring/ring.h"
#include "tests/ring/ring_test.h"

#include <slipring/dead_letter.h>

enum { LETTERS = 4096 };

static struct handler h;

static slr_ring_desc describe(const char *name, uint32_t overflow, uint32_t queue_size)
{
    h = (struct handler){0};
    slr_ring_desc desc = describe_ring(name, &h);
    desc.overflow = overflow;
    desc.queue_size = queue_size;
    desc.dead_letters = LETTERS;
    return desc;
}

static void wait_for_dropped(slr_ring *ring, uint64_t dropped)
{
    for (uint64_t deadline = slri_deadline_after(LONG); stats_of(ring).dropped != dropped;) {
        if (slri_passed(deadline))
            fail_msg("%u dropped instead of %u after 60 s", (unsigned)stats_of(ring).dropped, (unsigned)dropped);
        slri_sleep_ns(100000);
    }
}

static void wait_for_empty(slr_ring *ring)
{
    for (uint64_t deadline = slri_deadline_after(LONG); stats_of(ring).pending != 0; slri_sleep_ns(100000))
        assert_false(slri_passed(deadline));
}

struct letters {
    uint32_t count;
    slr_dead_letter letter[LETTERS];
    struct message message[LETTERS];
};

static void take_letters(slr_ring *ring, struct letters *out)
{
    must(slr_ring_take_dead_letters(ring, out->letter, out->message, sizeof out->message[0], LETTERS, &out->count));
}

static bool was_handled(uint32_t value, uint32_t from)
{
    for (uint32_t k = from; k < noted(&h); ++k)
        if (h.note[k].value == value)
            return true;
    return false;
}

// ---- whom ----------------------------------------------------------------------------------------------------------

struct policy {
    uint32_t overflow, kept[2], dropped;
    slr_dead_letter_reason reason;
};

static const struct policy policies[] = {
    {SLR_OVERFLOW_DROP_OLDEST, {3, 1}, 255, SLR_DEAD_LETTER_DROPPED_OLDEST},
    {SLR_OVERFLOW_DROP_LOWEST, {255, 3}, 1, SLR_DEAD_LETTER_DROPPED_LOWEST},
};

static void send_three(slr_port *port, slr_address to)
{
    must(send_at(port, to, 255, 255));
    must(send_at(port, to, 1, 1));
    must(send_at(port, to, 3, 3));
}

static void expect_kept(slr_ring *ring, const struct policy *p, uint32_t before)
{
    wait_for_empty(ring);
    assert_int_equal(noted(&h), before + 2);
    assert_int_equal(h.note[before].value, p->kept[0]);
    assert_int_equal(h.note[before + 1].value, p->kept[1]);
    slr_ring_stats stats = stats_of(ring);
    check_sum(&stats);
    assert_int_equal(stats.accepted, before + 3);
    assert_int_equal(stats.handled, before + 2);
    assert_int_equal(stats.dropped, 1);
    assert_int_equal(stats.dropped_oldest, p->overflow == SLR_OVERFLOW_DROP_OLDEST);
    assert_int_equal(stats.dropped_lowest, p->overflow == SLR_OVERFLOW_DROP_LOWEST);
    static struct letters letters;
    take_letters(ring, &letters);
    assert_int_equal(letters.count, 1);
    assert_int_equal(letters.letter[0].reason, p->reason);
    assert_int_equal(letters.letter[0].priority, p->dropped);
    assert_int_equal(letters.letter[0].bytes, sizeof(struct message));
    assert_int_equal(letters.letter[0].correlation, before + 1 + (p->dropped == 1));
    assert_int_equal(letters.message[0].value, p->dropped);
    take_letters(ring, &letters);
    assert_int_equal(letters.count, 0);
}

static void of_three_for_two_slots_while_paused_the_policy_says_which_is_dropped(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        slr_device *device = open_device("cpu");
        slr_ring_desc desc = describe("paused", policies[i].overflow, 2);
        slr_ring *ring = start_ring(device, &desc);
        must(slr_ring_deactivate(ring, LONG));
        slr_port *port = open_port(device);
        send_three(port, address_of(ring, 0));
        wait_for_dropped(ring, 1);
        assert_int_equal(stats_of(ring).pending, 2);
        must(slr_ring_reactivate(ring, LONG));
        expect_kept(ring, &policies[i], 0);
        slr_port_close(port);
        slr_ring_destroy(ring);
        slr_device_close(device);
    }
}

static void before_it_is_activated_a_ring_kernel_drops_as_well(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        slr_device *device = open_device("cpu");
        slr_ring_desc desc = describe("launched", policies[i].overflow, 2);
        slr_ring *ring = launch_ring(device, &desc);
        slr_port *port = open_port(device);
        send_three(port, address_of(ring, 0));
        assert_int_equal(stats_of(ring).pending, 2); // at once
        must(slr_ring_activate(ring, LONG));
        expect_kept(ring, &policies[i], 0);
        slr_port_close(port);
        slr_ring_destroy(ring);
        slr_device_close(device);
    }
}

static void what_a_slow_handler_works_on_takes_no_slot_and_is_not_dropped(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        slr_device *device = open_device("cpu");
        slr_ring_desc desc = describe("slow", policies[i].overflow, 2);
        hold(&h, 1);
        slr_ring *ring = start_ring(device, &desc);
        slr_port *port = open_port(device);
        must(send_at(port, address_of(ring, 0), 0, 0));
        wait_until_is(&h.inside, 1);
        send_three(port, address_of(ring, 0));
        hold(&h, 0);
        expect_kept(ring, &policies[i], 1);
        slr_port_close(port);
        slr_ring_destroy(ring);
        slr_device_close(device);
    }
}

static void a_burst_while_a_handler_runs_is_accepted_without_waiting(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("burst", SLR_OVERFLOW_DROP_OLDEST, 2);
    hold(&h, 1);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    slr_address to = address_of(ring, 0);
    must(send_value(port, to, 0, 0));
    wait_until_is(&h.inside, 1);
    for (uint32_t k = 1; k <= 257; ++k)
        must(send_value(port, to, k, 0));
    // Past the reserve it is the owner that has to look.
    gives(send_value(port, to, 258, 0), FULL);
    gives(send_value(port, to, 258, MS), TIMEOUT);
    hold(&h, 0);
    must(send_value(port, to, 258, LONG));
    wait_until_is(&h.inside, 0);
    wait_for_empty(ring);
    slr_ring_stats stats = stats_of(ring);
    check_sum(&stats);
    assert_int_equal(stats.accepted, 259);
    assert_int_equal(stats.refused, 2);
    assert_int_equal(stats.handled + stats.dropped, 259);
    assert_true(stats.dropped >= 255);
    assert_true(was_handled(0, 0));
    assert_true(was_handled(257, 0) && was_handled(258, 0));
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void the_earliest_accepted_is_the_earliest_of_all_ports(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("ports", SLR_OVERFLOW_DROP_OLDEST, 3);
    slr_ring *ring = start_ring(device, &desc);
    must(slr_ring_deactivate(ring, LONG));
    slr_port *a = open_port(device), *b = open_port(device);
    slr_address to = address_of(ring, 0);
    slr_port *const from[] = {a, b, b, a, a, b, a};
    for (uint32_t k = 0; k < 7; ++k)
        must(send_at(from[k], to, k, k % 2 ? 9 : 7));
    wait_for_dropped(ring, 4);
    must(slr_ring_reactivate(ring, LONG));
    wait_for_empty(ring);
    assert_int_equal(noted(&h), 3);
    assert_true(was_handled(4, 0) && was_handled(5, 0) && was_handled(6, 0));
    slr_port_close(a);
    slr_port_close(b);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void of_the_lowest_priority_the_earliest_goes_first_and_an_arrival_below_all_others_itself(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("lowest", SLR_OVERFLOW_DROP_LOWEST, 3);
    slr_ring *ring = start_ring(device, &desc);
    must(slr_ring_deactivate(ring, LONG));
    slr_port *a = open_port(device), *b = open_port(device);
    slr_address to = address_of(ring, 0);
    must(send_at(a, to, 0, 40));
    must(send_at(b, to, 1, 40)); // dropped by 3
    must(send_at(a, to, 2, 41));
    must(send_at(b, to, 3, 40)); // drops 0
    must(send_at(a, to, 4, 39)); // drops itself
    wait_for_dropped(ring, 2);
    static struct letters letters;
    take_letters(ring, &letters);
    assert_int_equal(letters.count, 2);
    assert_int_equal(letters.message[0].value + letters.message[1].value, 0 + 4);
    must(send_at(b, to, 5, 200)); // drops 1
    wait_for_dropped(ring, 3);
    take_letters(ring, &letters);
    assert_int_equal(letters.message[0].value, 1);
    slr_port_close(a);
    slr_port_close(b);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void one_slot_keeps_the_newest_or_the_highest(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        slr_device *device = open_device("cpu");
        slr_ring_desc desc = describe("one", policies[i].overflow, 1);
        slr_ring *ring = start_ring(device, &desc);
        must(slr_ring_deactivate(ring, LONG));
        slr_port *port = open_port(device);
        static const uint32_t priorities[] = {7, 9, 9, 8};
        for (uint32_t k = 0; k < 4; ++k)
            must(send_at(port, address_of(ring, 0), k, priorities[k]));
        wait_for_dropped(ring, 3);
        must(slr_ring_reactivate(ring, LONG));
        wait_for_empty(ring);
        assert_int_equal(noted(&h), 1);
        assert_int_equal(h.note[0].value, policies[i].overflow == SLR_OVERFLOW_DROP_OLDEST ? 3 : 2);
        slr_port_close(port);
        slr_ring_destroy(ring);
        slr_device_close(device);
    }
}

static void shards_share_one_capacity(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    for (size_t i = 0; i < 2; ++i) {
        slr_ring_desc desc = describe("shards", policies[i].overflow, 5);
        desc.instances = 2;
        slr_ring *ring = start_ring(device, &desc);
        must(slr_ring_deactivate(ring, LONG));
        slr_port *port = open_port(device);
        for (uint32_t k = 0; k < 40; ++k)
            must(send_value(port, address_of(ring, k < 20 ? k % 2 : 1), k, LONG));
        wait_for_dropped(ring, 35);
        slri_sleep_ns(2 * MS); // an owner that evicted too much would go on
        assert_int_equal(stats_of(ring).pending, 5);
        must(slr_ring_reactivate(ring, LONG));
        wait_for_empty(ring);
        assert_int_equal(noted(&h), 5);
        slr_port_close(port);
        slr_ring_destroy(ring);
    }
    slr_device_close(device);
}

// A look before sleeping claims a message that no handler has begun. What comes meanwhile is weighed against it.
static void a_claimed_message_that_has_not_begun_can_still_be_dropped(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("claimed", SLR_OVERFLOW_DROP_OLDEST, 2);
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    must(send_value(port, address_of(ring, 0), 1, 0));
    must(send_value(port, address_of(ring, 0), 2, 0));
    uint32_t *S = ring->S, *P = ring->shard[0].own; // this thread is the owner
    assert_int_equal(mb_begin(S, P), 1);
    assert_int_equal(S[P[MBP_BATCH(0) + 1] + MB_PAYLOAD], 1);
    assert_int_equal(S[MB_KEPT], 1);
    must(send_value(port, address_of(ring, 0), 3, 0));
    assert_int_equal(mb_begin(S, P), 1);
    assert_int_equal(S[P[MBP_BATCH(0) + 1] + MB_PAYLOAD], 2);
    assert_int_equal(stats_of(ring).dropped, 1);
    static struct letters letters;
    take_letters(ring, &letters);
    assert_int_equal(letters.count, 1);
    assert_int_equal(letters.message[0].value, 1);
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, 0, NULL, NULL, &stats));
    check_sum(&stats);
    assert_int_equal(stats.undelivered, 2);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void order_of_acceptance_holds_where_its_numbers_begin_anew(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("wrap", SLR_OVERFLOW_DROP_OLDEST, 4);
    slr_ring *ring = launch_ring(device, &desc);
    uint32_t *S = ring->S, *P = ring->shard[0].own, before = MB_COUNT - 5; // as if so many had been handled
    S[MB_ACCEPTED] = S[MB_RETIRED_SEEN] = S[P[MBP_OWNER] + MB_RETIRED] = P[MBP_HANDLED] = before;
    S[P[MBP_OWNER] + MB_HANDLED] = before;
    slr_port *port[2] = {open_port(device), open_port(device)};
    for (uint32_t k = 0; k < 12; ++k)
        must(send_at(port[k % 2], address_of(ring, 0), k, k % 3));
    assert_true(S[MB_ACCEPTED] < 12);
    static struct letters letters;
    take_letters(ring, &letters);
    assert_int_equal(letters.count, 8);
    for (uint32_t k = 0; k < 8; ++k)
        assert_int_equal(letters.message[k].value, k);
    slr_port_close(port[0]);
    slr_port_close(port[1]);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void unknown_policy_is_refused(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("unknown", 5, 2);
    slr_ring *ring = NULL;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "overflow (an slr_overflow) is 5; expected 1 to 4");
    assert_null(ring);
    slr_device_close(device);
}

// ---- notices -------------------------------------------------------------------------------------------------------

struct caller {
    slr_device *device;
    slr_address to;
    bool shared;
    slr_status status;
    uint32_t done;
    char message[128];
};

static void call(void *arg)
{
    struct caller *c = arg;
    slr_port *port = c->shared ? NULL : open_port(c->device);
    struct message message = {.value = 7}, reply;
    c->status = slr_call(port, c->to, &message, sizeof message, &reply, sizeof reply, 10 * LONG);
    snprintf(c->message, sizeof c->message, "%s", slr_error_message());
    __atomic_store_n(&c->done, 1, __ATOMIC_RELEASE);
    slr_port_close(port);
}

static void who_calls_and_who_receives_is_told_of_a_drop(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("notice", SLR_OVERFLOW_DROP_OLDEST, 1);
    h.replies = 1;
    desc.reply_bytes = sizeof(struct message);
    desc.max_replies = 1;
    desc.time_stamps = 1;
    slr_ring *ring = start_ring(device, &desc);
    must(slr_ring_deactivate(ring, LONG));
    slr_address to = address_of(ring, 0);
    slr_port *port = open_port(device);
    for (uint32_t shared = 0; shared < 2; ++shared) {
        struct caller caller = {.device = device, .to = to, .shared = shared};
        uint64_t accepted = stats_of(ring).accepted;
        slri_thread thread;
        start_thread(&thread, call, &caller);
        while (stats_of(ring).accepted == accepted)
            slri_sleep_ns(100000);
        slri_sleep_ns(20 * MS); // it sleeps by now, and has to be woken
        must(send_value(port, to, 8, LONG));
        wait_until_is(&caller.done, 1); // long before its deadline
        slri_thread_join(&thread);
        assert_int_equal(caller.status, SLR_DROPPED);
        assert_non_null(strstr(caller.message, "dropped"));
    }
    // The first 8 was dropped by the second call.
    slr_reply reply;
    struct message got;
    must(slr_receive(port, &reply, &got, sizeof got, LONG));
    assert_int_equal(reply.status, SLR_DROPPED);
    assert_int_equal(reply.bytes, 0);
    assert_int_equal(reply.correlation, 1);
    assert_true(reply.sent_ns != 0);
    must(slr_ring_reactivate(ring, LONG));
    must(slr_receive(port, &reply, &got, sizeof got, LONG));
    assert_int_equal(reply.status, SLR_OK);
    assert_int_equal(got.value, 8);
    assert_int_equal(stats_when_pending(ring, 0).replied, 4); // three notices and a reply
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void a_port_that_reads_nothing_keeps_nobody_from_dropping(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("deaf", SLR_OVERFLOW_DROP_OLDEST, 1);
    desc.reply_bytes = sizeof(struct message);
    desc.max_replies = 1;
    slr_ring *ring = start_ring(device, &desc);
    must(slr_ring_deactivate(ring, LONG));
    slr_port *deaf = open_port(device);
    for (uint32_t k = 0; k < 3000; ++k)
        must(send_value(deaf, address_of(ring, 0), k, LONG));
    wait_for_dropped(ring, 2999);
    assert_int_equal(stats_of(ring).replied, 512); // as many notices as its lane holds
    slr_port_close(deaf);
    slr_port *next = open_port(device); // and its lane is usable by another
    must(send_value(next, address_of(ring, 0), 3000, LONG));
    wait_for_dropped(ring, 3000);
    slr_port_close(next);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// ---- counts under load ---------------------------------------------------------------------------------------------

enum { SENDERS = 3, EACH = 20000 };

struct sender {
    slr_device *device;
    slr_address to;
    uint32_t number, notices;
    slri_thread thread;
};

static void send_each(void *arg)
{
    struct sender *s = arg;
    slr_port *port = open_port(s->device);
    slr_address to = s->to;
    for (uint32_t k = 0; k < EACH; ++k) {
        to.instance = k % 4;
        struct message message = {.value = k, .port = s->number};
        slr_send_options options = {.priority = SLR_PRIORITY(k % 5)};
        must(slr_send_with(port, to, &message, sizeof message, &options, LONG));
    }
    slr_port_close(port);
}

struct sampler {
    slr_ring *ring;
    uint32_t stop, letters;
};

static void sample(void *arg)
{
    struct sampler *s = arg;
    static struct letters letters;
    slr_ring_stats last = {0};
    while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
        slr_ring_stats stats = stats_of(s->ring);
        check_sum(&stats);
        assert_true(stats.accepted >= last.accepted && stats.dropped >= last.dropped && stats.handled >= last.handled);
        assert_true(stats.pending <= 8 + 256);
        last = stats;
        take_letters(s->ring, &letters);
        s->letters += letters.count;
    }
}

static void counts_are_exact_at_any_time(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    for (size_t i = 0; i < 2; ++i) {
        slr_ring_desc desc = describe("load", policies[i].overflow, 8);
        desc.instances = 4;
        slr_ring *ring = start_ring(device, &desc);
        struct sampler sampler = {.ring = ring};
        slri_thread sampling;
        start_thread(&sampling, sample, &sampler);
        struct sender senders[SENDERS];
        for (uint32_t k = 0; k < SENDERS; ++k) {
            senders[k] = (struct sender){.device = device, .to = address_of(ring, 0), .number = k};
            start_thread(&senders[k].thread, send_each, &senders[k]);
        }
        for (uint32_t k = 0; k < SENDERS; ++k)
            slri_thread_join(&senders[k].thread);
        must(slr_ring_close_input(ring));
        must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
        __atomic_store_n(&sampler.stop, 1, __ATOMIC_RELEASE);
        slri_thread_join(&sampling);
        static struct letters letters;
        do { // a slow sampler leaves more than fit at once: each shard keeps as many
            take_letters(ring, &letters);
            sampler.letters += letters.count;
        } while (letters.count != 0);
        slr_ring_stats stats = stats_of(ring);
        check_sum(&stats);
        assert_int_equal(stats.accepted, SENDERS * EACH);
        assert_int_equal(stats.handled, noted(&h));
        assert_int_equal(stats.handled + stats.dropped, SENDERS * EACH);
        assert_int_equal(stats.pending, 0);
        assert_int_equal(stats.dropped, sampler.letters + stats.dead_letters_lost);
        slr_ring_destroy(ring);
    }
    slr_device_close(device);
}

// ---- against a model -----------------------------------------------------------------------------------------------

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

struct entry {
    uint32_t value, priority;
};

struct model { // what waits, in the order of acceptance
    uint32_t overflow, capacity, count, dropped;
    struct entry entry[64];
    uint32_t drop[NOTES];
};

static void model_accept(struct model *m, struct entry entry)
{
    m->entry[m->count++] = entry;
    if (m->count <= m->capacity)
        return;
    uint32_t victim = 0;
    for (uint32_t k = 1; m->overflow == SLR_OVERFLOW_DROP_LOWEST && k < m->count; ++k)
        if (m->entry[k].priority < m->entry[victim].priority)
            victim = k;
    m->drop[m->dropped++] = m->entry[victim].value;
    memmove(&m->entry[victim], &m->entry[victim + 1], (--m->count - victim) * sizeof m->entry[0]);
}

// What is handled, once nothing is pending any more: the model's entries, highest priority first.
static void expect_handled(struct model *m, slr_ring *ring, uint32_t from)
{
    wait_for_empty(ring);
    assert_int_equal(noted(&h), from + m->count);
    uint32_t last = 255;
    for (uint32_t k = from; k < noted(&h); ++k) {
        uint32_t i = 0;
        while (i < m->count && m->entry[i].value != h.note[k].value)
            ++i;
        assert_true(i < m->count);
        assert_true(m->entry[i].priority <= last);
        last = m->entry[i].priority;
    }
    m->count = 0;
}

static void expect_dropped(const struct model *m, slr_ring *ring)
{
    static struct letters letters;
    wait_for_dropped(ring, m->dropped);
    take_letters(ring, &letters);
    for (uint32_t k = 0; k < letters.count; ++k) { // the order within one look of the owner is its own
        uint32_t i = m->dropped - letters.count;
        while (i < m->dropped && m->drop[i] != letters.message[k].value)
            ++i;
        assert_true(i < m->dropped);
    }
}

static void run_seed(slr_device *device, uint64_t seed)
{
    static struct model m;
    m = (struct model){.overflow = seed % 2 ? SLR_OVERFLOW_DROP_OLDEST : SLR_OVERFLOW_DROP_LOWEST};
    m.capacity = 1 + next_random(&seed) % 40;
    slr_ring_desc desc = describe("model", m.overflow, m.capacity);
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port[4];
    for (uint32_t k = 0; k < 4; ++k)
        port[k] = open_port(device);
    uint32_t spread = 1 + next_random(&seed) % 256, value = 0;
    for (uint32_t round = 0; round < 6; ++round) {
        uint32_t handled = noted(&h);
        for (uint32_t n = next_random(&seed) % 120; n-- > 0; ++value) {
            struct entry entry = {value, next_random(&seed) % spread};
            must(send_at(port[next_random(&seed) % 4], address_of(ring, 0), value, entry.priority));
            model_accept(&m, entry);
        }
        expect_dropped(&m, ring);
        must(round == 0 ? slr_ring_activate(ring, LONG) : slr_ring_reactivate(ring, LONG));
        expect_handled(&m, ring, handled);
        must(slr_ring_deactivate(ring, LONG));
    }
    slr_ring_stats stats = stats_of(ring);
    check_sum(&stats);
    assert_int_equal(stats.accepted, value);
    assert_int_equal(stats.pending, 0);
    for (uint32_t k = 0; k < 4; ++k)
        slr_port_close(port[k]);
    slr_ring_destroy(ring);
}

static void random_sends_are_kept_and_dropped_as_a_simple_model_says(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    for (uint64_t seed = 1; seed <= 200; ++seed)
        run_seed(device, seed);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_three_for_two_slots_while_paused_the_policy_says_which_is_dropped),
        cmocka_unit_test(before_it_is_activated_a_ring_kernel_drops_as_well),
        cmocka_unit_test(what_a_slow_handler_works_on_takes_no_slot_and_is_not_dropped),
        cmocka_unit_test(a_burst_while_a_handler_runs_is_accepted_without_waiting),
        cmocka_unit_test(the_earliest_accepted_is_the_earliest_of_all_ports),
        cmocka_unit_test(of_the_lowest_priority_the_earliest_goes_first_and_an_arrival_below_all_others_itself),
        cmocka_unit_test(one_slot_keeps_the_newest_or_the_highest),
        cmocka_unit_test(shards_share_one_capacity),
        cmocka_unit_test(a_claimed_message_that_has_not_begun_can_still_be_dropped),
        cmocka_unit_test(order_of_acceptance_holds_where_its_numbers_begin_anew),
        cmocka_unit_test(unknown_policy_is_refused),
        cmocka_unit_test(who_calls_and_who_receives_is_told_of_a_drop),
        cmocka_unit_test(a_port_that_reads_nothing_keeps_nobody_from_dropping),
        cmocka_unit_test(counts_are_exact_at_any_time),
        cmocka_unit_test(random_sends_are_kept_and_dropped_as_a_simple_model_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
