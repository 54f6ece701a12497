// SPDX-License-Identifier: Apache-2.0
// The counts add up whenever they are read, and never run backwards.
#include "tests/ring/ring_test.h"

#include "base/sim.h"
#include "ring/ring.h"

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

// ---- credits that go back
// ----------------------------------------------------------------------------------------------

struct steady {
    slri_thread thread;
    slr_ring *ring;
    uint64_t accepted;
    uint32_t stop, wrong, samples;
};

// Counts the readings that differ from the one before the senders began.
static void watch_steady(void *arg)
{
    struct steady *s = arg;
    while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
        slr_ring_stats now = stats_of(s->ring);
        s->wrong += now.accepted != s->accepted || now.pending != s->accepted;
        ++s->samples;
    }
}

static void begin_watch(struct steady *s, slr_ring *ring)
{
    *s = (struct steady){.ring = ring, .accepted = stats_of(ring).accepted};
    start_thread(&s->thread, watch_steady, s);
}

static void end_watch(struct steady *s)
{
    __atomic_store_n(&s->stop, 1, __ATOMIC_RELEASE);
    slri_thread_join(&s->thread);
    assert_true(s->samples > 0);
    assert_int_equal(s->wrong, 0);
}

static slr_ring *launch_keyed(slr_device *device, slr_key_limit limit)
{
    slr_ring_desc desc = describe_ring("keys", &h);
    desc.keys = SLR_KEYS_U64;
    desc.key_limit = limit;
    desc.instances = 1;
    desc.queue_size = 64;
    h = (struct handler){0};
    return launch_ring(device, &desc);
}

// All of a call's credits are claimed before the first key is found to have no instance.
static void credits_of_keys_that_are_refused_are_no_messages(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_port *port = open_port(device);
    for (slr_key_limit limit = SLR_KEY_LIMIT_REFUSE; limit <= SLR_KEY_LIMIT_EVICT_IDLE; ++limit) {
        slr_ring *ring = launch_keyed(device, limit);
        slr_address to = address_of(ring, 0);
        struct message messages[32] = {{0}};
        struct steady steady;
        slr_key keys[32];
        uint32_t accepted;
        for (uint32_t k = 0; k < 32; ++k)
            keys[k] = slr_key_u64(100 + k);
        must(slr_send_key(port, to, slr_key_u64(1), messages, sizeof *messages, NULL, 0)); // takes the one instance
        begin_watch(&steady, ring);
        for (uint32_t i = 0; i < 20000; ++i)
            gives(slr_send_many_keys(port, to, keys, messages, sizeof *messages, 32, 0, &accepted), FULL);
        end_watch(&steady);
        must(slr_ring_activate(ring, LONG));
        must(slr_ring_deactivate(ring, LONG));
        assert_int_equal(stats_of(ring).accepted, 1);
        slr_ring_destroy(ring);
    }
    slr_port_close(port);
    slr_device_close(device);
}

struct pair {
    slr_slice first, second;
};

// Found out behind the claim of the credit: until then another thread could have taken the buffer, too.
static void credit_of_a_message_with_a_buffer_twice_is_no_message(void **state)
{
    (void)state;
    static const char source[] = "#include <slipring/ring_slice.h>\n"
                                 "struct pair { struct ring_slice first, second; };\n"
                                 "__ring__ void look(const struct pair *in, unsigned *frames)\n"
                                 "{\n"
                                 "    ring_slice_data(frames, in->first)[0] += 1;\n"
                                 "}\n";
    slr_device *device = open_device("cpu");
    slr_port *port = open_port(device);
    slr_program *program;
    slr_buffer *frames, *buffer;
    slr_pool *pool;
    must(slr_program_from_text(device, "pair.cu", source, NULL, &program));
    must(slr_buffer_create(device, 4096, &frames));
    slr_pool_desc of = SLR_POOL_DESC_INIT;
    of.within = frames;
    must(slr_pool_create(device, &of, &pool));
    must(slr_pool_acquire(pool, 1024, SLR_U32, &buffer));
    const slr_binding binding = {.name = "frames", .buffer = frames};
    const slr_reference reference[] = {SLR_REFERENCE(struct pair, first, "frames", 1),
                                       SLR_REFERENCE(struct pair, second, "frames", 1)};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    desc.bindings = &binding;
    desc.binding_count = 1;
    desc.references = reference;
    desc.reference_count = 2;
    slr_ring *ring = launch_ring(device, &desc);
    struct pair twice;
    must(slr_slice_own(frames, buffer, &twice.first));
    twice.second = twice.first;
    struct steady steady;
    begin_watch(&steady, ring);
    for (uint32_t i = 0; i < 20000; ++i)
        refuses(slr_send(port, address_of(ring, 0), &twice, sizeof twice, 0), WRONG_STATE, "has been sent already");
    end_watch(&steady);
    slr_ring_destroy(ring);
    slr_port_close(port);
    slr_buffer_destroy(buffer);
    slr_pool_destroy(pool);
    slr_buffer_destroy(frames);
    slr_program_destroy(program);
    slr_device_close(device);
}

// Loses its core between the count of its credits in doubt and their claim, and has it again some turns later.
static void doubt_for_some_turns(void *arg)
{
    slr_ring *ring = arg;
    __atomic_fetch_add(&ring->doubt.begun, 64, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; ++i)
        slri_yield();
    __atomic_fetch_add(&ring->doubt.ended, 64, __ATOMIC_RELEASE);
}

static void own_messages_are_counted_beside_a_sender_without_a_core(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        must(slri_sim_begin(seed));
        slr_device *device = open_device("cpu");
        slr_ring_desc desc = describe_ring("ring", &h);
        desc.queue_size = 64;
        h = (struct handler){0};
        slr_ring *ring = launch_ring(device, &desc);
        slr_port *port = open_port(device);
        slri_thread thread;
        struct message message = {0};
        must(slr_send(port, address_of(ring, 0), &message, sizeof message, 0));
        start_thread(&thread, doubt_for_some_turns, ring);
        while (__atomic_load_n(&ring->doubt.begun, __ATOMIC_ACQUIRE) == 0)
            slri_yield();
        slr_ring_stats stats = stats_of(ring);
        assert_int_equal(stats.accepted, 1);
        assert_int_equal(stats.pending, 1);
        slri_thread_join(&thread);
        slr_port_close(port);
        slr_ring_destroy(ring);
        slr_device_close(device);
        assert_int_equal(slri_sim_end(), 0);
    }
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
        cmocka_unit_test(credits_of_keys_that_are_refused_are_no_messages),
        cmocka_unit_test(credit_of_a_message_with_a_buffer_twice_is_no_message),
        cmocka_unit_test(own_messages_are_counted_beside_a_sender_without_a_core),
        cmocka_unit_test(counts_before_launch_are_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
