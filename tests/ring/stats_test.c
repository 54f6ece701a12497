// SPDX-License-Identifier: Apache-2.0
// The counts add up whenever they are read, and never run backwards.
#include "tests/ring/ring_test.h"

static struct handler h;

struct sampler {
    slri_thread thread;
    slr_ring *ring;
    uint32_t stop, samples;
};

static void check_monotonic(const slr_ring_stats *before, const slr_ring_stats *now)
{
    holds(now->accepted >= before->accepted);
    holds(now->handled >= before->handled);
    holds(now->faulted >= before->faulted);
    holds(now->undelivered >= before->undelivered);
    holds(now->replied >= before->replied);
}

static void sample(void *arg)
{
    struct sampler *s = arg;
    slr_ring_stats before = {0};
    while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
        slr_ring_stats now = stats_of(s->ring);
        check_sum(&now);
        holds(now.pending <= 50);
        check_monotonic(&before, &now);
        before = now;
        ++s->samples;
    }
}

struct sender {
    slri_thread thread;
    slr_device *device;
    slr_address to;
    uint64_t accepted, refused;
};

static void count_outcome(struct sender *s, slr_status status)
{
    if (status == SLR_FULL || status == SLR_TIMEOUT)
        ++s->refused;
    else
        must(status);
}

static void send_5000(void *arg)
{
    struct sender *s = arg;
    slr_port *port = open_port(s->device);
    struct message messages[20] = {{0}};
    for (uint32_t i = 0; i < 5000; ++i) {
        s->to.instance = i % 3;
        uint32_t accepted, value;
        slr_status status = slr_send_many(port, s->to, NULL, messages, 8, 1 + i % 20, i % 3 * 100000, &accepted);
        s->accepted += accepted;
        count_outcome(s, status);
        while (i % 4 == 0 && receive_value(port, &value, 0) != SLR_TIMEOUT) {
        }
        if (i % 4)
            continue;
        status = send_value(NULL, s->to, 0, i % 8 * 20000);
        s->accepted += status == SLR_OK;
        count_outcome(s, status);
    }
    slr_port_close(port);
}

static void count_back(void *user, const slr_undelivered *undelivered)
{
    (void)undelivered;
    ++*(uint64_t *)user;
}

static void counts_add_up_at_any_time(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    h = (struct handler){.replies = 2, .fail_each = 7};
    slr_ring_desc desc = describe_ring("counts", &h);
    desc.queue_size = 50;
    desc.instances = 3;
    slr_ring *ring = start_ring(device, &desc);
    struct sampler sampler = {.ring = ring};
    struct sender sender[2];
    start_thread(&sampler.thread, sample, &sampler);
    for (int i = 0; i < 2; ++i) {
        sender[i] = (struct sender){.device = device, .to = address_of(ring, 0)};
        start_thread(&sender[i].thread, send_5000, &sender[i]);
    }
    for (int i = 0; i < 20; ++i) {
        slri_sleep_ns(2 * MS);
        must(slr_ring_deactivate(ring, LONG));
        must(slr_ring_reactivate(ring, LONG));
    }
    for (int i = 0; i < 2; ++i)
        slri_thread_join(&sender[i].thread);
    must(slr_ring_deactivate(ring, LONG)); // some are left
    slr_port *port = open_port(device);
    for (int i = 0; i < 10; ++i)
        sender[0].accepted += send_value(port, address_of(ring, 0), 0, 0) == SLR_OK;
    slr_ring_stats stats;
    uint64_t back = 0;
    slr_ring_stats last = stats_of(ring);
    must(slr_ring_terminate(ring, 0, count_back, &back, &stats));
    __atomic_store_n(&sampler.stop, 1, __ATOMIC_RELEASE);
    slri_thread_join(&sampler.thread);
    check_sum(&stats);
    check_monotonic(&last, &stats);
    assert_int_equal(stats.pending, 0);
    assert_int_equal(stats.undelivered, back);
    assert_int_equal(stats.accepted, sender[0].accepted + sender[1].accepted);
    assert_int_equal(stats.handled + stats.faulted, noted(&h));
    assert_int_equal(stats.faulted, noted(&h) / 7);
    assert_true(sampler.samples > 0);
    print_message("%u samples of %llu messages, %llu faulted, %llu refused, %llu handed back\n", sampler.samples,
                  (unsigned long long)stats.accepted, (unsigned long long)stats.faulted,
                  (unsigned long long)stats.refused, (unsigned long long)stats.undelivered);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void refused_counts_each_send_once_and_is_not_in_the_sum(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    h = (struct handler){0};
    slr_ring_desc desc = describe_ring("refused", &h);
    desc.queue_size = 2;
    slr_ring *ring = launch_ring(device, &desc);
    slr_address to = address_of(ring, 0);
    must(send_value(NULL, to, 1, 0));
    must(send_value(NULL, to, 1, 0));
    for (uint64_t i = 0; i < 10; ++i) {
        assert_int_equal(send_value(NULL, to, 1, i * 200000), i ? SLR_TIMEOUT : SLR_FULL);
        slr_ring_stats stats = stats_of(ring);
        assert_int_equal(stats.refused, i + 1);
        assert_int_equal(stats.accepted, 2);
        assert_int_equal(stats.pending, 2);
        check_sum(&stats);
    }
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void counts_before_launch_are_zero(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe_ring("zero", &h);
    slr_ring *ring;
    must(slr_ring_create(device, &desc, &ring));
    slr_ring_stats stats = stats_of(ring);
    slr_ring_stats zero = {.state = SLR_RING_CREATED, .mode = SLR_RING_ON_HOST};
    memcpy(zero.mode_reason, stats.mode_reason, sizeof zero.mode_reason); // the device's words: tests/opencl
    assert_memory_equal(&stats, &zero, sizeof zero);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_add_up_at_any_time),
        cmocka_unit_test(refused_counts_each_send_once_and_is_not_in_the_sum),
        cmocka_unit_test(counts_before_launch_are_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
