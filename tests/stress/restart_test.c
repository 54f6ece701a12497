// SPDX-License-Identifier: Apache-2.0
// Restarts under load: senders that do not stop, messages that fault, handlers that overrun now and then, restarts by a
// supervisor and by hand. At each quiet point the counts come out exactly, and nothing that was accepted is lost.
#include "tests/ring/failure_test.h"

enum { SENDERS = 3, INSTANCES = 7 };

struct load {
    slr_device *device;
    slr_ring *ring;
    uint32_t stop;     // atomic
    uint64_t handled;  // by the handler's own count; atomic
    uint32_t disorder; // atomic
    uint32_t slow;     // slow handlers that have not returned; atomic
    struct sender {
        slri_thread thread;
        struct load *load;
        uint32_t number;
        uint64_t accepted, refused, received, notices;
    } sender[SENDERS];
};

// In order for each sender and instance; a poison faults, and a slow one overruns, for longer than the rest of its
// batch.
enum { PLAIN, POISONED, SLOW };
#define SLOW_NS SECOND // the watchdog, at 5 ms, may itself wait for a core for hundreds of them
struct work {
    uint32_t sender, number, what;
};

static slr_status do_work(void *user, const slr_delivery *delivery)
{
    struct load *load = user;
    const struct work work = *(const struct work *)delivery->message;
    uint32_t *last = delivery->state; // of each sender; 0 again after a restart
    if (work.what == SLOW) {
        __atomic_fetch_add(&load->slow, 1, __ATOMIC_RELAXED);
        slri_sleep_ns(SLOW_NS);
        last[work.sender] = UINT32_MAX; // its own, by now
        __atomic_fetch_add(&load->handled, 1, __ATOMIC_RELAXED);
        __atomic_fetch_sub(&load->slow, 1, __ATOMIC_RELEASE); // its last touch of the load
        return SLR_OK;
    }
    if (last[work.sender] >= work.number)
        __atomic_fetch_add(&load->disorder, 1, __ATOMIC_RELAXED);
    last[work.sender] = work.number;
    if (work.what == POISONED)
        return SLR_UNSUPPORTED;
    __atomic_fetch_add(&load->handled, 1, __ATOMIC_RELAXED);
    return slr_reply_to(delivery, &work, sizeof work);
}

static void take_replies(struct sender *s, slr_port *port, uint64_t timeout_ns)
{
    struct work work;
    slr_reply reply;
    slr_status status;
    while ((status = slr_receive(port, &reply, &work, sizeof work, timeout_ns)) == SLR_OK ||
           status == SLR_RING_FAILED) {
        s->received += status == SLR_OK && reply.status == SLR_OK;
        s->notices += status == SLR_OK && reply.status == SLR_HANDLER_FAULT;
    }
}

static void send_all_the_time(void *arg)
{
    struct sender *s = arg;
    struct load *load = s->load;
    slr_port *port = open_port(load->device);
    uint32_t number = 0, random = 12345 + s->number;
    while (!__atomic_load_n(&load->stop, __ATOMIC_RELAXED)) {
        random = random * 1664525u + 1013904223u;
        uint32_t dice = random >> 16;
        struct work work = {s->number, number + 1, dice % 5000 == 0 ? SLOW : dice % 300 == 0 ? POISONED : PLAIN};
        slr_status status = slr_send(port, address_of(load->ring, dice % INSTANCES), &work, sizeof work, MS);
        number += status == SLR_OK;
        s->accepted += status == SLR_OK;
        s->refused += status != SLR_OK;
        if (status == SLR_RING_FAILED)
            slri_sleep_ns(100000);
        take_replies(s, port, 0);
    }
    must(slr_ring_wait(load->ring, SLR_RING_TERMINATED, 3 * LONG));
    take_replies(s, port, 0);
    slr_port_close(port);
}

static void check_quiet_point(struct load *load)
{
    slr_ring_stats stats = stats_of(load->ring);
    check_sum(&stats);
    uint64_t handled = __atomic_load_n(&load->handled, __ATOMIC_RELAXED);
    assert_true(stats.handled <= handled); // published behind its handler
}

// Restarts it by hand where nobody else does, and pauses, takes checkpoints; every call may be refused.
static void disturb(struct load *load, bool restart, uint64_t until_ns)
{
    uint64_t last_ns = slri_deadline_after(LONG); // until something has failed
    for (uint32_t k = 0; !slri_passed(until_ns) || (stats_of(load->ring).restarts == 0 && !slri_passed(last_ns)); ++k) {
        slr_ring_state state = slr_ring_get_state(load->ring);
        if (restart && state == SLR_RING_IN_FAILURE) {
            slr_ring_restart(load->ring, k % 2 ? SLR_RESTART_CHECKPOINT : SLR_RESTART_INITIAL, 100 * MS);
            continue;
        }
        if (k % 16 == 0 && slr_ring_deactivate(load->ring, 100 * MS) == SLR_OK) {
            check_quiet_point(load);
            slr_ring_reactivate(load->ring, 100 * MS);
        }
        if (state == SLR_RING_PAUSED) // it failed while it was being paused: a restart leaves it so
            slr_ring_reactivate(load->ring, 100 * MS);
        if (k % 16 == 8)
            check_quiet_point(load);
        slri_sleep_ns(MS);
    }
}

static void end_load(struct load *load)
{
    __atomic_store_n(&load->stop, 1, __ATOMIC_RELEASE);
    for (uint64_t deadline = slri_deadline_after(LONG); slr_ring_get_state(load->ring) != SLR_RING_TERMINATED;) {
        assert_false(slri_passed(deadline));
        slr_ring_restart(load->ring, SLR_RESTART_INITIAL, 100 * MS);
        slr_ring_reactivate(load->ring, 100 * MS);
        slr_ring_close_input(load->ring);
        slr_ring_wait(load->ring, SLR_RING_TERMINATED | SLR_RING_IN_FAILURE, 10 * MS);
    }
    slr_ring_stats stats = stats_of(load->ring);
    uint64_t accepted = 0, received = 0, notices = 0;
    for (uint32_t i = 0; i < SENDERS; ++i) {
        slri_thread_join(&load->sender[i].thread);
        accepted += load->sender[i].accepted;
        received += load->sender[i].received;
        notices += load->sender[i].notices;
    }
    check_sum(&stats);
    assert_int_equal(stats.accepted, accepted);
    assert_int_equal(stats.handled + stats.faulted, accepted);
    assert_int_equal(stats.pending, 0);
    assert_int_equal(received, stats.handled);
    assert_int_equal(notices, stats.faulted);
    assert_true(__atomic_load_n(&load->handled, __ATOMIC_RELAXED) >=
                stats.handled); // one that lost its core for too long was abandoned behind its count
    assert_int_equal(load->disorder, 0);
    assert_true(stats.failures > 0 && stats.restarts > 0);
    print_message("%llu accepted, %llu faulted, %llu failures, %llu restarts\n", (unsigned long long)accepted,
                  (unsigned long long)stats.faulted, (unsigned long long)stats.failures,
                  (unsigned long long)stats.restarts);
}

static void run_load(bool supervised, uint32_t policy)
{
    static struct load load;
    memset(&load, 0, sizeof load);
    load.device = open_device("cpu?threads=2");
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "load";
    desc.on_message = do_work;
    desc.user = &load;
    desc.message_bytes = desc.reply_bytes = sizeof(struct work);
    desc.state_bytes = SENDERS * sizeof(uint32_t);
    desc.instances = INSTANCES;
    desc.queue_size = 256;
    desc.fault_policy = policy;
    desc.fault_limit = policy == SLR_FAULT_LIMIT ? 5 : 0;
    desc.handler_timeout_ns = 5 * MS;
    load.ring = start_ring(load.device, &desc);
    must(slr_ring_checkpoint(load.ring, LONG)); // while its states are zero
    slr_supervisor *supervisor = NULL;
    if (supervised) {
        slr_supervisor_desc s = SLR_SUPERVISOR_DESC_INIT;
        s.max_restarts = 65536;
        must(slr_supervisor_create(&s, &supervisor));
        must(slr_supervisor_add_ring(supervisor, load.ring));
        must(slr_supervisor_start(supervisor));
    }
    for (uint32_t i = 0; i < SENDERS; ++i) {
        load.sender[i] = (struct sender){.load = &load, .number = i};
        start_thread(&load.sender[i].thread, send_all_the_time, &load.sender[i]);
    }
    const char *seconds = getenv("SLIPRING_STRESS_SECONDS");
    disturb(&load, !supervised, slri_deadline_after(seconds ? strtoull(seconds, NULL, 10) * SECOND : 1500 * MS));
    end_load(&load);
    slr_supervisor_destroy(supervisor);
    slr_ring_destroy(load.ring);
    slr_device_close(load.device);
    wait_until_is(&load.slow, 0);
}

static void counts_come_out_with_restarts_by_hand(void **state)
{
    (void)state;
    run_load(false, SLR_FAULT_LIMIT);
}

static void counts_come_out_with_restarts_by_a_supervisor(void **state)
{
    (void)state;
    run_load(true, SLR_FAULT_FAIL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_come_out_with_restarts_by_hand),
        cmocka_unit_test(counts_come_out_with_restarts_by_a_supervisor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
