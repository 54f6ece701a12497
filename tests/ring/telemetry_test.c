// SPDX-License-Identifier: Apache-2.0
// What a ring kernel says of itself equals what a harness counts and times beside it, in every form and on every way
// that a message can end. Times are compared with the harness's own around the same events, never with a limit.
#include "tests/ring/ring_test.h"

#include <slipring/loop.h>

enum { MESSAGES = 3000, LEFT = 60 };

// The harness's own book: what it sent, when, and what became of it.
static struct book {
    uint32_t fail_each, replies, rest_ns;                         // of the handler; 0: never, none, none
    uint64_t before_send[MESSAGES + LEFT], sent[MESSAGES + LEFT]; // by the sender, around the call
    uint64_t begun[MESSAGES + LEFT];                              // by the handler
    uint64_t answered[MESSAGES + LEFT];                           // by the receiver
    uint32_t accepted, handled, faulted, replied, notices, back;
} book;

static uint32_t add(uint32_t *count, uint32_t n)
{
    return __atomic_add_fetch(count, n, __ATOMIC_ACQ_REL);
}

// What every form does with a message.
static slr_status work(const slr_delivery *delivery)
{
    const struct message *message = delivery->message;
    book.begun[message->value] = slri_now_ns();
    if (book.rest_ns)
        slri_sleep_ns(book.rest_ns);
    if (book.fail_each && message->value % book.fail_each == 3) {
        add(&book.faulted, 1);
        return SLR_INVALID;
    }
    for (uint32_t i = 0; i < book.replies; ++i)
        holds(slr_reply_to(delivery, message, sizeof *message) == SLR_OK);
    add(&book.replied, book.replies);
    add(&book.handled, 1);
    return SLR_OK;
}

static slr_status on_message(void *user, const slr_delivery *delivery)
{
    (void)user;
    return work(delivery);
}

static slr_status on_batch(void *user, const slr_delivery *deliveries, uint32_t count)
{
    (void)user;
    for (uint32_t k = 0; k < count; ++k)
        if (work(&deliveries[k]) != SLR_OK)
            slr_fail(&deliveries[k], SLR_INVALID);
    return SLR_OK;
}

// Holds some messages and ends them last first.
static slr_status take_and_end(void *user, slr_context *context)
{
    (void)user;
    slr_delivery held[5];
    uint32_t taken;
    slr_status status;
    while ((status = slr_take(context, held, 5, 100000, LONG, &taken)) == SLR_OK)
        for (uint32_t k = taken; k-- > 0;)
            holds((work(&held[k]) == SLR_OK ? slr_done(&held[k]) : slr_fail(&held[k], SLR_INVALID)) == SLR_OK);
    return status == SLR_END ? SLR_OK : status;
}

static slr_ring_desc describe(const char *name)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.on_message = on_message;
    desc.message_bytes = sizeof(struct message);
    desc.reply_bytes = book.replies ? sizeof(struct message) : 0;
    desc.max_replies = book.replies;
    desc.latency_every = 1;
    return desc;
}

static void begin(uint32_t replies, uint32_t fail_each)
{
    memset(&book, 0, sizeof book);
    book.replies = replies;
    book.fail_each = fail_each;
}

// ---- sending and receiving by the book -----------------------------------------------------------------------------

static void send_by_book(slr_port *port, slr_address to, uint32_t id, bool by_key)
{
    struct message message = {.value = id};
    slr_send_options options = {.priority = id % 5 == 0 ? SLR_PRIORITY(id % 256) : 0, .correlation = id + 1};
    book.before_send[id] = slri_now_ns();
    if (by_key)
        must(slr_send_key(port, to, slr_key_u64(id % 11), &message, sizeof message, &options, LONG));
    else
        must(slr_send_with(port, to, &message, sizeof message, &options, LONG));
    book.sent[id] = slri_now_ns();
    add(&book.accepted, 1);
}

// Takes what has come, or waits for one.
static bool receive_by_book(slr_port *port, uint64_t timeout_ns)
{
    slr_reply reply;
    struct message message;
    slr_status status = slr_receive(port, &reply, &message, sizeof message, timeout_ns);
    if (status != SLR_OK)
        return false;
    book.answered[reply.correlation - 1] = slri_now_ns();
    book.notices += reply.status != SLR_OK;
    return true;
}

// ---- comparing -----------------------------------------------------------------------------------------------------

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void check_within(const char *what, uint64_t found, uint64_t least, uint64_t most)
{
    if (found < least || found > most)
        fail_msg("%s is %llu, the harness says %llu to %llu", what, (unsigned long long)found,
                 (unsigned long long)least, (unsigned long long)most);
}

// A quantile of the times is not below the same one of their lower limits, nor above that of the upper ones.
static void check_quantile(const char *what, uint64_t found, double part, const uint64_t *lower, const uint64_t *upper,
                           size_t count)
{
    size_t at = (size_t)(part * (double)count);
    at = at > 0 ? at - 1 : 0;
    size_t above = at + 1 < count ? at + 1 : at; // part * count may round to either
    check_within(what, found, lower[at] - lower[at] / 128, upper[above] + upper[above] / 128);
}

// Each message took at least from the end of its send to the handler's beginning, and at most from the beginning of its
// send until its reply was there, or until `end_ns`.
static void check_latency(const slr_latency *latency, uint32_t messages, uint64_t end_ns)
{
    static uint64_t lower[MESSAGES + LEFT], upper[MESSAGES + LEFT];
    uint64_t least = 0, most = 0;
    size_t count = 0;
    for (uint32_t id = 0; id < messages; ++id) {
        if (book.begun[id] == 0)
            continue;
        lower[count] = book.begun[id] > book.sent[id] ? book.begun[id] - book.sent[id] : 0;
        upper[count] = (book.answered[id] ? book.answered[id] : end_ns) - book.before_send[id];
        least += lower[count];
        most += upper[count++];
    }
    assert_int_equal(latency->count, count);
    qsort(lower, count, sizeof lower[0], by_size);
    qsort(upper, count, sizeof upper[0], by_size);
    check_within("mean", latency->mean_ns, least / count, most / count);
    check_within("min", latency->min_ns, lower[0], upper[0]);
    check_within("max", latency->max_ns, lower[count - 1], upper[count - 1]);
    check_quantile("p50", latency->p50_ns, 0.5, lower, upper, count);
    check_quantile("p99", latency->p99_ns, 0.99, lower, upper, count);
    check_quantile("p99.9", latency->p999_ns, 0.999, lower, upper, count);
}

static slr_latency latency_of(slr_ring *ring)
{
    slr_latency latency;
    must(slr_ring_get_latency(ring, &latency));
    return latency;
}

static void check_book(slr_ring *ring, const slr_ring_stats *stats)
{
    check_sum(stats);
    assert_int_equal(stats->accepted, book.accepted);
    assert_int_equal(stats->handled, book.handled);
    assert_int_equal(stats->faulted, book.faulted);
    assert_int_equal(stats->undelivered, book.back);
    assert_int_equal(stats->pending, 0);
    assert_int_equal(latency_of(ring).count, stats->handled + stats->faulted);
    assert_int_equal(latency_of(ring).every, 1);
}

// ---- every form ----------------------------------------------------------------------------------------------------

static void set_handler(slr_ring_desc *desc)
{
    desc->instances = 1;
}

static void set_shards(slr_ring_desc *desc)
{
    desc->instances = 7;
}

static void set_batch(slr_ring_desc *desc)
{
    desc->instances = 7;
    desc->on_message = NULL;
    desc->on_batch = on_batch;
}

static void set_loop(slr_ring_desc *desc)
{
    desc->instances = 7;
    desc->on_message = NULL;
    desc->main = take_and_end;
}

static void set_keys(slr_ring_desc *desc)
{
    desc->instances = 100;
    desc->keys = SLR_KEYS_U64;
}

static void set_watched(slr_ring_desc *desc)
{
    desc->instances = 7;
    desc->handler_timeout_ns = LONG;
}

static void set_stamped(slr_ring_desc *desc)
{
    desc->instances = 7;
    desc->time_stamps = 1;
}

static void set_dropping(slr_ring_desc *desc)
{
    desc->instances = 7;
    desc->overflow = SLR_OVERFLOW_DROP_OLDEST; // never full here: its owners take one at a time, by way of the pool
}

static void set_small(slr_ring_desc *desc)
{
    desc->instances = 7;
    desc->queue_size = 5; // a lane shorter than what lies between two times
    desc->max_batch = 3;
}

static const struct form {
    const char *name;
    void (*set)(slr_ring_desc *desc);
} forms[] = {{"a handler", set_handler},
             {"several shards", set_shards},
             {"batches", set_batch},
             {"a loop", set_loop},
             {"keys", set_keys},
             {"a deadline", set_watched},
             {"time stamps", set_stamped},
             {"dropping", set_dropping},
             {"a small mailbox", set_small}};

static void notices_follow_their_ids(slr_port *port[2], slr_address to, uint32_t instances, bool by_key)
{
    uint32_t received = 0;
    for (uint32_t id = 0; id < MESSAGES; ++id) {
        to.instance = by_key ? 0 : id % instances;
        send_by_book(port[id % 2], to, id, by_key);
        for (int p = 0; p < 2; ++p)
            while (receive_by_book(port[p], 0))
                ++received;
    }
    while (received < MESSAGES)
        for (int p = 0; p < 2; ++p)
            received += receive_by_book(port[p], MS);
}

static void run_form(const struct form *form)
{
    print_message("%s\n", form->name);
    begin(1, 10);
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe("form");
    form->set(&desc);
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port[2] = {open_port(device), open_port(device)};
    notices_follow_their_ids(port, address_of(ring, 0), desc.instances, desc.keys != 0);
    assert_int_equal(book.notices, book.faulted);
    assert_int_equal(latency_of(ring).count, MESSAGES); // whose replies are there
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, LONG, NULL, NULL, &stats));
    slr_latency latency = latency_of(ring);
    assert_int_equal(stats.replied, book.replied + book.notices);
    check_book(ring, &stats);
    check_latency(&latency, MESSAGES, slri_now_ns());
    slr_port_close(port[0]);
    slr_port_close(port[1]);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void numbers_equal_the_harness_in_every_form(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i)
        run_form(&forms[i]);
}

// ---- ways to end ---------------------------------------------------------------------------------------------------

static void count_back(void *user, const slr_undelivered *undelivered)
{
    (void)user;
    (void)undelivered;
    ++book.back;
}

static void what_is_handed_back_is_counted_and_not_timed(void **state)
{
    (void)state;
    begin(0, 10);
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe("back");
    desc.instances = 3;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t id = 0; id < 500; ++id)
        send_by_book(port, address_of(ring, id % 3), id, false);
    wait_until_is(&book.handled, 450);
    must(slr_ring_deactivate(ring, LONG));
    for (uint32_t id = 500; id < 500 + LEFT; ++id)
        send_by_book(port, address_of(ring, id % 3), id, false);
    slr_ring_stats stats = stats_of(ring);
    assert_int_equal(stats.pending, LEFT);
    must(slr_ring_terminate(ring, 0, count_back, NULL, &stats));
    check_book(ring, &stats);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void check_drops(slr_device *device, slr_overflow overflow)
{
    begin(0, 0);
    slr_ring_desc desc = describe("drops");
    desc.overflow = overflow;
    desc.queue_size = 16;
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t id = 0; id < 200; ++id)
        send_by_book(port, address_of(ring, 0), id, false);
    must(slr_ring_activate(ring, LONG));
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, LONG, NULL, NULL, &stats));
    check_sum(&stats);
    assert_int_equal(stats.accepted, 200);
    assert_int_equal(stats.handled, book.handled);
    assert_int_equal(stats.handled, 16);
    assert_int_equal(stats.dropped, 184);
    assert_int_equal(stats.dropped_oldest, overflow == SLR_OVERFLOW_DROP_OLDEST ? 184 : 0);
    assert_int_equal(stats.dropped_lowest, overflow == SLR_OVERFLOW_DROP_LOWEST ? 184 : 0);
    slr_latency latency = latency_of(ring);
    check_latency(&latency, 200, slri_now_ns());
    slr_port_close(port);
    slr_ring_destroy(ring);
}

static void what_is_dropped_is_counted_by_reason_and_not_timed(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    check_drops(device, SLR_OVERFLOW_DROP_OLDEST);
    check_drops(device, SLR_OVERFLOW_DROP_LOWEST);
    slr_device_close(device);
}

static void counts_and_times_go_on_behind_a_restart(void **state)
{
    (void)state;
    begin(0, 10);
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("again");
    desc.fault_policy = SLR_FAULT_FAIL;
    slr_ring *ring = launch_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t id = 0; id < 100; ++id)
        send_by_book(port, address_of(ring, 0), id, false);
    must(slr_ring_activate(ring, LONG));
    slr_ring_stats stats;
    for (uint32_t restarts = 0; restarts < 10; ++restarts) {
        must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
        must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG)); // behind which its owner has published
        stats = stats_of(ring);
        assert_true(stats.faulted > restarts);
    }
    must(slr_ring_terminate(ring, LONG, NULL, NULL, &stats));
    check_book(ring, &stats);
    assert_int_equal(stats.restarts, 10);
    assert_int_equal(stats.failures, 10);
    assert_int_equal(stats.faulted, 10);
    slr_latency latency = latency_of(ring);
    check_latency(&latency, book.accepted, slri_now_ns());
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// The first of two stages notes when it passes a message on.
static uint64_t passed_ns[MESSAGES];

static slr_status pass(void *user, const slr_delivery *delivery)
{
    (void)user;
    passed_ns[((const struct message *)delivery->message)->value] = slri_now_ns();
    slri_sleep_ns(50000); // so that the way through both is longer than that through the second
    return slr_reply_to(delivery, delivery->message, delivery->bytes);
}

static void stages_joined_by_a_route_are_each_timed_from_their_own_mailbox(void **state)
{
    (void)state;
    begin(1, 0);
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc first = describe("first"), second = describe("second");
    first.on_message = pass;
    first.time_stamps = second.time_stamps = 1;
    slr_ring *from = launch_ring(device, &first), *to = start_ring(device, &second);
    slr_port *port = open_port(device), *out = open_port(device);
    must(slr_route(from, to, NULL));
    must(slr_route_to_port(to, out, NULL));
    must(slr_ring_activate(from, LONG));
    uint64_t second_stage = 0;
    for (uint32_t id = 0; id < 500; ++id) {
        send_by_book(port, address_of(from, 0), id, false);
        assert_true(receive_by_book(out, LONG));
        second_stage += book.answered[id] - passed_ns[id] - 50000;
    }
    slr_ring_stats stats;
    must(slr_ring_terminate(from, LONG, NULL, NULL, &stats));
    assert_int_equal(stats.routed, 500);
    assert_int_equal(latency_of(from).count, 500);
    must(slr_ring_terminate(to, LONG, NULL, NULL, &stats));
    check_book(to, &stats);
    assert_true(latency_of(from).min_ns >= 50000);
    assert_true(latency_of(to).mean_ns <= second_stage / 500);
    slr_port_close(port);
    slr_port_close(out);
    slr_ring_destroy(from);
    slr_ring_destroy(to);
    slr_device_close(device);
}

// ---- sampling ------------------------------------------------------------------------------------------------------

static void check_sampling(slr_device *device, uint32_t given, uint32_t every)
{
    begin(0, 0);
    slr_ring_desc desc = describe("samples");
    desc.latency_every = given;
    desc.queue_size = 256;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port[2] = {open_port(device), open_port(device)};
    struct message messages[32] = {{0}};
    for (uint32_t i = 0; i < 2000; ++i) // 32,000 a port
        must(slr_send_many(port[i % 2], address_of(ring, 0), NULL, messages, sizeof messages[0], 32, LONG, NULL));
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, LONG, NULL, NULL, &stats));
    slr_latency latency = latency_of(ring);
    assert_int_equal(latency.every, every);
    assert_int_equal(stats.handled, 64000);
    uint64_t expected = every ? 64000 / every : 0;
    check_within("the number of samples", latency.count, expected < 4 ? 0 : expected - 4, every ? expected + 4 : 0);
    for (int p = 0; p < 2; ++p)
        slr_port_close(port[p]);
    slr_ring_destroy(ring);
}

static void one_message_in_so_many_is_timed(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    check_sampling(device, 0, 256);
    for (uint32_t every = 1; every <= 65536; every *= 2)
        check_sampling(device, every, every);
    check_sampling(device, SLR_LATENCY_OFF, 0);
    slr_device_close(device);
}

static void rate_of_sampling_out_of_range_is_refused(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    begin(0, 0);
    slr_ring_desc desc = describe("refused");
    slr_ring *ring;
    desc.latency_every = 3;
    refuses(slr_ring_create(device, &desc, &ring), INVALID,
            "'refused': latency_every is 3; expected a power of two up to 65536");
    desc.latency_every = 131072;
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "latency_every is 131072");
    slr_device_close(device);
}

// ---- reading -------------------------------------------------------------------------------------------------------

static uint64_t count_of(const slr_latency_bucket *buckets, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
        assert_true(buckets[i].count != 0 && buckets[i].first_ns <= buckets[i].last_ns);
        assert_true(i == 0 || buckets[i].first_ns > buckets[i - 1].last_ns);
        sum += buckets[i].count;
    }
    return sum;
}

static void check_near(uint64_t found, uint64_t exact)
{
    check_within("the summary of the buckets", found, exact - exact / 64, exact + exact / 64);
}

static void buckets_say_what_the_summary_says(void **state)
{
    (void)state;
    static slr_latency_bucket buckets[SLR_LATENCY_BUCKETS];
    begin(0, 0);
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe("buckets");
    desc.instances = 2;
    slr_ring *ring = launch_ring(device, &desc);
    uint32_t count = 7;
    must(slr_ring_get_latency_buckets(ring, buckets, SLR_LATENCY_BUCKETS, &count));
    assert_int_equal(count, 0);
    for (uint32_t id = 0; id < 200; ++id)
        send_by_book(NULL, address_of(ring, id % 2), id, false);
    must(slr_ring_activate(ring, LONG));
    must(slr_ring_terminate(ring, LONG, NULL, NULL, NULL));
    slr_latency exact = latency_of(ring), made;
    must(slr_ring_get_latency_buckets(ring, buckets, SLR_LATENCY_BUCKETS, &count));
    assert_int_equal(count_of(buckets, count), 200);
    must(slr_latency_summarise(buckets, count, &made));
    assert_int_equal(made.count, 200);
    assert_int_equal(made.every, 0);
    check_near(made.min_ns, exact.min_ns);
    check_near(made.mean_ns, exact.mean_ns);
    check_near(made.max_ns, exact.max_ns);
    check_near(made.p50_ns, exact.p50_ns);
    check_near(made.p99_ns, exact.p99_ns);
    char says[80];
    snprintf(says, sizeof says, "%u buckets are not empty; the array has %u", count, count - 1);
    refuses(slr_ring_get_latency_buckets(ring, buckets, count - 1, &count), INVALID, says);
    must(slr_latency_summarise(buckets, 0, &made));
    assert_int_equal(made.count + made.max_ns + made.min_ns + made.p50_ns, 0);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void rate_is_what_was_done_over_the_time_between_two_readings(void **state)
{
    (void)state;
    begin(0, 10);
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("rate");
    slr_ring *ring = launch_ring(device, &desc);
    slr_ring_stats launched = stats_of(ring), first, second, last;
    assert_int_equal(launched.running_ns, 0);
    assert_true(slr_ring_rate(NULL, &launched) == 0);
    uint64_t before = slri_now_ns();
    must(slr_ring_activate(ring, LONG));
    for (uint32_t id = 0; id < 100; ++id)
        send_by_book(NULL, address_of(ring, 0), id, false);
    wait_until_is(&book.handled, 90);
    slri_sleep_ns(MS);
    first = stats_of(ring);
    check_within("running_ns", first.running_ns, MS, slri_now_ns() - before);
    for (uint32_t id = 100; id < 150; ++id)
        send_by_book(NULL, address_of(ring, 0), id, false);
    must(slr_ring_terminate(ring, LONG, NULL, NULL, &second));
    assert_true(slr_ring_rate(NULL, &first) == 100 * 1e9 / (double)first.running_ns);
    assert_true(slr_ring_rate(&first, &second) == 50 * 1e9 / (double)(second.running_ns - first.running_ns));
    assert_true(slr_ring_rate(&second, &first) == 0);
    slri_sleep_ns(2 * MS);
    last = stats_of(ring);
    assert_int_equal(last.running_ns, second.running_ns); // it has ended
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void before_launch_there_is_nothing(void **state)
{
    (void)state;
    begin(0, 0);
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("nothing");
    slr_ring *ring;
    must(slr_ring_create(device, &desc, &ring));
    slr_latency latency = latency_of(ring), zero = {.every = 1};
    assert_memory_equal(&latency, &zero, sizeof zero);
    refuses(slr_ring_get_latency(NULL, &latency), INVALID, "ring is NULL");
    refuses(slr_ring_get_latency(ring, NULL), INVALID, "out is NULL");
    slr_ring_destroy(ring);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_equal_the_harness_in_every_form),
        cmocka_unit_test(what_is_handed_back_is_counted_and_not_timed),
        cmocka_unit_test(what_is_dropped_is_counted_by_reason_and_not_timed),
        cmocka_unit_test(counts_and_times_go_on_behind_a_restart),
        cmocka_unit_test(stages_joined_by_a_route_are_each_timed_from_their_own_mailbox),
        cmocka_unit_test(one_message_in_so_many_is_timed),
        cmocka_unit_test(rate_of_sampling_out_of_range_is_refused),
        cmocka_unit_test(buckets_say_what_the_summary_says),
        cmocka_unit_test(rate_is_what_was_done_over_the_time_between_two_readings),
        cmocka_unit_test(before_launch_there_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
