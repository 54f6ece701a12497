// SPDX-License-Identifier: Apache-2.0
// Five seconds of everything at once on real threads: launches, pauses, closes and terminations of ring kernels, while
// ports come and go, send, call and receive. Every message is accounted for, and no thread or descriptor is left
// behind. SLIPRING_TEST_SEED=n and SLIPRING_TEST_SECONDS=n set the seed and the length.
#include "tests/ring/ring_test.h"

#include "footprint.h"

enum { RINGS = 3, CLIENTS = 3 };

static uint64_t deadline;
static slr_device *device;
static struct shared {   // what the threads tell each other of ring kernel number i
    slr_address address; // of instance 0, under the lock; place UINT32_MAX: none
    uint32_t instances;
    uint64_t accepted, handled;
} rings[RINGS];
static slri_mutex lock = SLRI_MUTEX_INIT;

static uint32_t pick(uint32_t *seed, uint32_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return (uint32_t)(((uint64_t)*seed * below) >> 32);
}

// A message names the counters of its ring kernel's life, so that a stray one is noticed.
struct job {
    uint32_t ring, generation, value, work;
};

static slr_status do_job(void *user, const slr_delivery *delivery)
{
    struct shared *ring = user;
    const struct job *job = delivery->message;
    holds(job->ring == (uint32_t)(ring - rings));
    __atomic_fetch_add(&ring->handled, 1, __ATOMIC_RELAXED);
    if (job->work == 1)
        slri_sleep_ns(50000);
    if (job->work == 2)
        return SLR_INVALID;
    for (uint32_t i = 0; i < job->work % 3; ++i)
        must(slr_reply_to(delivery, job, sizeof *job));
    return SLR_OK;
}

// ---- the one that makes and ends a ring kernel --------------------------------------------------------------------

struct keeper {
    slri_thread thread;
    uint32_t number, seed, lives;
};

static void announce(uint32_t number, const slr_ring *ring, uint32_t instances)
{
    slri_mutex_lock(&lock);
    rings[number].address = ring ? address_of(ring, 0) : (slr_address){.place = UINT32_MAX};
    rings[number].instances = instances;
    slri_mutex_unlock(&lock);
}

static void count_back(void *user, const slr_undelivered *undelivered)
{
    const struct job *job = undelivered->message;
    holds(undelivered->bytes == sizeof *job && job->value != 0);
    ++*(uint64_t *)user;
}

static void live(slr_ring *ring, uint32_t *seed)
{
    for (uint32_t i = pick(seed, 8); i > 0; --i) {
        slri_sleep_ns(pick(seed, 2000000));
        slr_ring_stats stats = stats_of(ring);
        check_sum(&stats);
        if (pick(seed, 2))
            continue;
        must(slr_ring_deactivate(ring, LONG));
        uint64_t handled = stats_of(ring).handled;
        slri_sleep_ns(pick(seed, 500000));
        holds(stats_of(ring).handled == handled);
        must(slr_ring_reactivate(ring, LONG));
    }
}

static void live_once(struct keeper *k)
{
    struct shared *shared = &rings[k->number];
    char name[16];
    snprintf(name, sizeof name, "ring-%u", k->number);
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.on_message = do_job;
    desc.user = shared;
    desc.message_bytes = desc.reply_bytes = sizeof(struct job);
    desc.max_replies = 2;
    desc.queue_size = 1 + pick(&k->seed, 100);
    desc.instances = 1 + pick(&k->seed, 4);
    desc.overflow = 1 + pick(&k->seed, 2);
    desc.max_ports = CLIENTS + 3;
    __atomic_store_n(&shared->handled, 0, __ATOMIC_RELAXED);
    slr_ring *ring = launch_ring(device, &desc);
    announce(k->number, ring, desc.instances);
    bool activated = pick(&k->seed, 8) != 0;
    if (activated) {
        must(slr_ring_activate(ring, LONG));
        live(ring, &k->seed);
    }
    if (activated && pick(&k->seed, 3) == 0)
        must(slr_ring_close_input(ring));
    uint64_t back = 0;
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, pick(&k->seed, 3) * MS, count_back, &back, &stats));
    announce(k->number, NULL, 0);
    check_sum(&stats);
    holds(stats.pending == 0 && stats.undelivered == back);
    holds(stats.handled + stats.faulted == __atomic_load_n(&shared->handled, __ATOMIC_RELAXED));
    __atomic_fetch_add(&shared->accepted, stats.accepted, __ATOMIC_RELAXED);
    slr_ring_destroy(ring);
    ++k->lives;
}

static void keep(void *arg)
{
    while (!slri_passed(deadline))
        live_once(arg);
}

// ---- those that send ----------------------------------------------------------------------------------------------

struct client {
    slri_thread thread;
    uint32_t seed;
    uint64_t accepted[RINGS], replies, ends, faults, ports;
};

static bool is_expected(slr_status status)
{
    return status == SLR_OK || status == SLR_FULL || status == SLR_TIMEOUT || status == SLR_CLOSED ||
           status == SLR_RING_DEAD || status == SLR_END || status == SLR_HANDLER_FAULT;
}

static void note_status(slr_status status)
{
    if (is_expected(status))
        return;
    fprintf(stderr, "%s: %s\n", slr_status_name(status), slr_error_message());
    abort();
}

static void receive_some(struct client *c, slr_port *port)
{
    slr_reply reply[16];
    struct job got[16];
    uint32_t received = 0;
    slr_status status = slr_receive_many(port, reply, got, sizeof got[0], 16, pick(&c->seed, 100000), &received);
    note_status(status);
    c->ends += status == SLR_END;
    for (uint32_t i = 0; i < received && status == SLR_OK; ++i) {
        c->replies += reply[i].status == SLR_OK;
        c->faults += reply[i].status == SLR_HANDLER_FAULT;
        holds(reply[i].status != SLR_OK || got[i].generation == reply[i].from.generation); // of that life
    }
}

static void send_some(struct client *c, slr_port *port, uint32_t number, slr_address to)
{
    struct job job[8];
    uint32_t count = 1 + pick(&c->seed, 8), accepted;
    for (uint32_t i = 0; i < count; ++i)
        job[i] = (struct job){number, to.generation, 1 + pick(&c->seed, 1000), pick(&c->seed, 40)};
    note_status(slr_send_many(port, to, NULL, job, sizeof job[0], count, pick(&c->seed, 200000), &accepted));
    c->accepted[number] += accepted;
}

// Whether the mailbox accepted it shows in its counts alone where a call fails.
static void call_once(struct client *c, slr_port *port, uint32_t number, slr_address to)
{
    struct job job = {number, to.generation, 1 + pick(&c->seed, 1000), 4}, got = {0};
    slr_status status = slr_call(port, to, &job, sizeof job, &got, sizeof got, 1 + pick(&c->seed, 2) * LONG);
    note_status(status);
    holds(status != SLR_OK || memcmp(&job, &got, sizeof job) == 0); // its own reply
}

static void use(struct client *c, slr_port *port)
{
    uint32_t number = pick(&c->seed, RINGS);
    slri_mutex_lock(&lock);
    slr_address to = rings[number].address;
    uint32_t instances = rings[number].instances;
    slri_mutex_unlock(&lock);
    if (to.place == UINT32_MAX)
        return;
    to.instance = pick(&c->seed, instances);
    switch (pick(&c->seed, 8)) {
    case 0:
        call_once(c, port, number, to);
        break;
    case 1:
        call_once(c, NULL, number, to);
        break;
    case 2:
    case 3:
    case 4:
        receive_some(c, port);
        break;
    default:
        send_some(c, port, number, to);
        break;
    }
}

static void be_client(void *arg)
{
    struct client *c = arg;
    while (!slri_passed(deadline)) {
        slr_port *port = open_port(device);
        for (uint32_t i = pick(&c->seed, 300); i > 0; --i)
            use(c, port);
        slr_port_close(port);
        ++c->ports;
    }
}

// ---- all together -------------------------------------------------------------------------------------------------

// A thread that was joined may be on its way out still.
static void check_threads(uint32_t wanted)
{
    uint64_t until = slri_deadline_after(LONG);
    while (entries_of("/proc/self/task") != wanted && !slri_passed(until))
        slri_sleep_ns(MS);
    assert_int_equal(entries_of("/proc/self/task"), wanted);
}

static uint32_t setting(const char *name, uint32_t fallback)
{
    const char *text = getenv(name);
    return text ? (uint32_t)strtoul(text, NULL, 10) : fallback;
}

static void run_all(uint32_t seed)
{
    static struct keeper keeper[RINGS];
    static struct client client[CLIENTS];
    for (uint32_t i = 0; i < RINGS; ++i) {
        keeper[i] = (struct keeper){.number = i, .seed = seed + i + 1};
        announce(i, NULL, 0);
        start_thread(&keeper[i].thread, keep, &keeper[i]);
    }
    for (uint32_t i = 0; i < CLIENTS; ++i) {
        client[i] = (struct client){.seed = seed + 100 + i};
        start_thread(&client[i].thread, be_client, &client[i]);
    }
    uint64_t lives = 0, ports = 0, replies = 0, faults = 0, ends = 0;
    for (uint32_t i = 0; i < RINGS; ++i) {
        slri_thread_join(&keeper[i].thread);
        lives += keeper[i].lives;
    }
    for (uint32_t i = 0; i < CLIENTS; ++i) {
        slri_thread_join(&client[i].thread);
        ports += client[i].ports, replies += client[i].replies, faults += client[i].faults, ends += client[i].ends;
    }
    for (uint32_t i = 0; i < RINGS; ++i) {
        uint64_t sent = 0;
        for (uint32_t k = 0; k < CLIENTS; ++k)
            sent += client[k].accepted[i];
        holds(sent <= rings[i].accepted); // calls come on top
        assert_true(rings[i].accepted > 0);
    }
    print_message("%llu ring kernels, %llu ports, %llu messages, %llu replies, %llu faults, %llu ends\n",
                  (unsigned long long)lives, (unsigned long long)ports,
                  (unsigned long long)(rings[0].accepted + rings[1].accepted + rings[2].accepted),
                  (unsigned long long)replies, (unsigned long long)faults, (unsigned long long)ends);
}

static void everything_at_once_loses_nothing_and_leaves_nothing_behind(void **state)
{
    (void)state;
    start_what_stays();
    uint32_t threads = entries_of("/proc/self/task"), descriptors = entries_of("/proc/self/fd");
    deadline = slri_deadline_after(setting("SLIPRING_TEST_SECONDS", 5) * SECOND);
    device = open_device("cpu?threads=2");
    run_all(setting("SLIPRING_TEST_SEED", 1) * 1000);
    slr_device_close(device);
    check_threads(threads);
    assert_int_equal(entries_of("/proc/self/fd"), descriptors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything_at_once_loses_nothing_and_leaves_nothing_behind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
