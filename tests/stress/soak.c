// SPDX-License-Identifier: Apache-2.0
// Everything at once for as long as one likes, on real threads: ring kernels are launched, paused, made to fail,
// restarted by hand and by supervisors, closed and terminated, while ports come and go, send, call and receive. Nothing
// may be lost, nobody may hang, and memory, threads and descriptors may not grow.
//
// Time is cut into rounds of a few seconds. Each opens a device, lets all threads at it, and closes it: then every byte
// that came through the allocator hook is back, and threads and descriptors are what they were.
#include "base/clock.h"
#include "base/thread.h"

#include <slipring/slipring.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000ull
#define SECOND 1000000000ull
#define LONG (60 * SECOND) // of calls that are to succeed, on a machine that has other work too
#define HANG (120 * SECOND)

enum { KEEPERS = 3, CLIENTS = 3, STAGES = 2, ACTORS = KEEPERS + CLIENTS };

// ---- what is wrong ends it ------------------------------------------------------------------------------------------

static void stop_with(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, slr_error_message());
    fflush(NULL);
    abort();
}
#define holds(condition) ((condition) ? (void)0 : stop_with(#condition, __FILE__, __LINE__))
#define must(call) holds((call) == SLR_OK)

#include "footprint.h"

// ---- what there is --------------------------------------------------------------------------------------------------

static uint64_t seed = 1, round_ends_ns;
static slr_device *device;
static slri_mutex lock = SLRI_MUTEX_INIT;

static struct target { // what clients may send to: a stage of a keeper's present pair; under the lock
    slr_address address;
    uint32_t instances, users;
    bool open, replies;
    // Of the present life; atomic.
    uint64_t accepted, perhaps; // by clients' own count
    uint64_t begun, returned;   // by the handler's
    uint64_t left;              // likewise, last of all: by each that has begun, also one that was abandoned
} targets[KEEPERS][STAGES];

static struct totals { // atomic
    uint64_t lives, ports, accepted, handled, faulted, dropped, undelivered, routed, replies, calls, pauses, failures,
        restarts, supervised, checkpoints;
} totals;

static void count(uint64_t *what, uint64_t by)
{
    __atomic_fetch_add(what, by, __ATOMIC_RELAXED);
}

static uint64_t get(const uint64_t *what)
{
    return __atomic_load_n(what, __ATOMIC_ACQUIRE);
}

static uint32_t pick(uint64_t *random, uint32_t below)
{
    uint64_t z = *random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((uint64_t)(uint32_t)(z >> 16) * below >> 32);
}

// ---- each actor says that it gets on
// ---------------------------------------------------------------------------------

static uint64_t alive_ns[ACTORS];

static void say_alive(uint32_t actor)
{
    __atomic_store_n(&alive_ns[actor], slri_now_ns(), __ATOMIC_RELAXED);
}

static void look_for_hangs(void)
{
    for (uint32_t i = 0; i < ACTORS; ++i) {
        uint64_t last = __atomic_load_n(&alive_ns[i], __ATOMIC_RELAXED);
        if (last == 0 || slri_now_ns() < last + HANG)
            continue;
        fprintf(stderr, "%s %u hangs\n", i < KEEPERS ? "keeper" : "client", i < KEEPERS ? i : i - KEEPERS);
        abort();
    }
}

// ---- handlers
// ---------------------------------------------------------------------------------------------------------

enum { PLAIN, NAPS, FAULTS, OVERRUNS };
struct job { // a message, and a reply
    uint32_t keeper, stage, generation, what, value;
};

static slr_status work_on(struct target *target, const slr_delivery *delivery)
{
    struct job job = *(const struct job *)delivery->message;
    count(&target->begun, 1);
    if (job.what == NAPS)
        slri_sleep_ns(50000);
    if (job.what == OVERRUNS)
        slri_sleep_ns(12 * MS);
    if (job.what == FAULTS)
        return SLR_UNSUPPORTED;
    if (delivery->state)
        *(uint32_t *)delivery->state += job.value;
    if (target->replies)
        must(slr_reply_to(delivery, &job, sizeof job));
    count(&target->returned, 1);
    return SLR_OK;
}

static slr_status do_job(struct target *target, const slr_delivery *delivery)
{
    slr_status status = work_on(target, delivery);
    __atomic_fetch_add(&target->left, 1, __ATOMIC_RELEASE); // what it did with the target
    return status;
}

// An abandoned handler outlives its ring kernel, and goes on with the target, which the next life will use.
static void wait_for_abandoned(const struct target *target)
{
    uint64_t deadline = slri_deadline_after(HANG);
    while (get(&target->left) != get(&target->begun)) {
        holds(!slri_passed(deadline));
        slri_sleep_ns(MS / 10);
    }
}

static slr_status on_message(void *user, const slr_delivery *delivery)
{
    return do_job(user, delivery);
}

static slr_status on_batch(void *user, const slr_delivery *deliveries, uint32_t n)
{
    for (uint32_t k = 0; k < n; ++k)
        if (do_job(user, &deliveries[k]) != SLR_OK)
            must(slr_fail(&deliveries[k], SLR_UNSUPPORTED));
    return SLR_OK;
}

static slr_status run_loop(void *user, slr_context *context)
{
    slr_delivery taken[8];
    for (;;) {
        uint32_t n = 0;
        slr_status status = slr_take(context, taken, 8, 0, 10 * MS, &n);
        for (uint32_t k = n; status == SLR_OK && k-- > 0;)
            must(do_job(user, &taken[k]) == SLR_OK ? slr_done(&taken[k]) : slr_fail(&taken[k], SLR_UNSUPPORTED));
        if (status == SLR_END)
            return SLR_OK;
        holds(status == SLR_OK || status == SLR_TIMEOUT);
    }
}

// ---- keepers: each has a pair of ring kernels, the second fed by the first and by clients ---------------------------

struct keeper {
    slri_thread thread;
    uint32_t number;
    uint64_t random;
    slr_ring *ring[STAGES];
    bool loop[STAGES];
    slr_supervisor *supervisor;
};

static slr_ring_desc describe(struct keeper *k, uint32_t stage, char name[16])
{
    static const uint32_t sizes[] = {1, 7, 64, 300};
    uint64_t *r = &k->random;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    uint32_t sort = pick(r, 5);
    snprintf(name, 16, "ring-%u-%u", k->number, stage);
    k->loop[stage] = sort == 0 && stage + 1 == STAGES; // no route leads from a loop
    desc.name = name;
    desc.user = &targets[k->number][stage];
    if (k->loop[stage])
        desc.main = run_loop;
    else if (sort == 1)
        desc.on_batch = on_batch;
    else
        desc.on_message = on_message;
    desc.message_bytes = desc.reply_bytes = sizeof(struct job);
    desc.state_bytes = sizeof(uint32_t);
    desc.instances = 1 + pick(r, 5);
    desc.queue_size = sizes[pick(r, 4)];
    desc.max_ports = 256; // closed ones of which something is pending are not free yet: all of one that never runs
    desc.overflow = 1 + pick(r, k->loop[stage] ? 2 : 4);
    desc.dead_letters = pick(r, 2) * 64;
    if (k->loop[stage])
        return desc;
    desc.fault_policy = pick(r, 4);
    desc.fault_limit = desc.fault_policy == SLR_FAULT_LIMIT ? 1 + pick(r, 5) : 0;
    desc.handler_timeout_ns = sort != 1 && pick(r, 3) == 0 ? 4 * MS : 0;
    return desc;
}

static void announce(struct keeper *k, uint32_t stage, uint32_t instances)
{
    struct target *target = &targets[k->number][stage];
    slr_address address;
    must(slr_ring_get_address(k->ring[stage], 0, &address));
    slri_mutex_lock(&lock);
    *target = (struct target){.address = address, .instances = instances, .open = true, .replies = true};
    slri_mutex_unlock(&lock);
}

// No client knows it any more, and all have noted what was accepted.
static void withdraw(struct target *target)
{
    uint64_t deadline = slri_deadline_after(HANG);
    slri_mutex_lock(&lock);
    target->open = false;
    while (target->users != 0) {
        slri_mutex_unlock(&lock);
        holds(!slri_passed(deadline));
        slri_sleep_ns(MS / 10);
        slri_mutex_lock(&lock);
    }
    slri_mutex_unlock(&lock);
}

static void supervise(struct keeper *k)
{
    slr_supervisor_desc desc = SLR_SUPERVISOR_DESC_INIT;
    desc.strategy = 1 + pick(&k->random, 3);
    desc.max_restarts = 1 + pick(&k->random, 1000);
    must(slr_supervisor_create(&desc, &k->supervisor));
    for (uint32_t stage = 0; stage < STAGES; ++stage)
        if (!k->loop[stage])
            must(slr_supervisor_add_ring(k->supervisor, k->ring[stage]));
    must(slr_supervisor_start(k->supervisor));
}

static void begin_life(struct keeper *k)
{
    k->supervisor = NULL;
    for (uint32_t stage = 0; stage < STAGES; ++stage) {
        char name[16];
        slr_ring_desc desc = describe(k, stage, name);
        // Told of before it can handle anything: the handler counts in its target.
        must(slr_ring_create(device, &desc, &k->ring[stage]));
        must(slr_ring_launch(k->ring[stage]));
        announce(k, stage, desc.instances);
    }
    if (pick(&k->random, 2))
        supervise(k);
    slr_route_desc route = SLR_ROUTE_DESC_INIT;
    route.reply_too = pick(&k->random, 2);
    if (pick(&k->random, 2)) {
        slr_status status = slr_route(k->ring[0], k->ring[1], &route);
        holds(status == SLR_OK || status == SLR_INVALID); // more instances than the second has
    }
    for (uint32_t stage = STAGES; stage-- > 0;)
        if (pick(&k->random, 10))
            must(slr_ring_activate(k->ring[stage], LONG));
}

// Any of these may come too late for the state that it is in.
static bool is_allowed(slr_status status)
{
    return status == SLR_OK || status == SLR_WRONG_STATE;
}

static void disturb(struct keeper *k)
{
    slr_ring *ring = k->ring[pick(&k->random, STAGES)];
    slr_ring_stats stats;
    slr_status status = SLR_WRONG_STATE;
    switch (pick(&k->random, 8)) {
    case 0:
    case 1:
        status = slr_ring_deactivate(ring, LONG);
        count(&totals.pauses, status == SLR_OK);
        slri_sleep_ns(pick(&k->random, 2000000));
        break;
    case 2:
    case 3:
        status = slr_ring_reactivate(ring, LONG);
        break;
    case 4:
        status = slr_ring_checkpoint(ring, LONG);
        count(&totals.checkpoints, status == SLR_OK);
        break;
    case 5:
    case 6:
        status = slr_ring_restart(ring, 1 + pick(&k->random, 2), LONG);
        break;
    default:
        status = slr_ring_get_stats(ring, &stats);
        holds(stats.accepted ==
              stats.handled + stats.faulted + stats.dropped + stats.undelivered + stats.in_doubt + stats.pending);
        break;
    }
    holds(is_allowed(status));
}

static void count_back(void *user, const slr_undelivered *undelivered)
{
    holds(undelivered->bytes == sizeof(struct job));
    ++*(uint64_t *)user;
}

static void judge(const struct keeper *k, uint32_t stage, const slr_ring_stats *s, uint64_t back, uint64_t routed)
{
    const struct target *t = &targets[k->number][stage];
    holds(s->state == SLR_RING_TERMINATED && s->pending == 0 && s->undelivered == back);
    holds(s->accepted == s->handled + s->faulted + s->dropped + s->undelivered);
    holds(s->accepted >= get(&t->accepted) + routed);
    holds(s->accepted <= get(&t->accepted) + routed + get(&t->perhaps));
    holds(s->handled <= get(&t->returned)); // one that overran may return behind its fault
    holds(s->handled + s->faulted <= get(&t->begun));
    count(&totals.accepted, s->accepted);
    count(&totals.handled, s->handled);
    count(&totals.faulted, s->faulted);
    count(&totals.dropped, s->dropped);
    count(&totals.undelivered, s->undelivered);
    count(&totals.routed, s->routed);
    count(&totals.failures, s->failures);
    count(&totals.restarts, s->restarts);
}

static void end_life(struct keeper *k)
{
    uint64_t routed = 0;
    if (pick(&k->random, 2))
        slr_supervisor_destroy(k->supervisor), k->supervisor = NULL;
    for (uint32_t stage = 0; stage < STAGES; ++stage) { // the first ends first: then it sends no more
        slr_ring_stats stats;
        uint64_t back = 0;
        slr_status closed = pick(&k->random, 3) ? SLR_WRONG_STATE : slr_ring_close_input(k->ring[stage]);
        holds(is_allowed(closed));
        slr_status status = slr_ring_terminate(k->ring[stage], pick(&k->random, 4) * 5 * MS, count_back, &back, &stats);
        must(status);
        withdraw(&targets[k->number][stage]);
        if (stats.state == SLR_RING_TERMINATED)
            judge(k, stage, &stats, back, routed);
        routed = stats.routed;
    }
    slr_supervisor_destroy(k->supervisor);
    for (uint32_t stage = 0; stage < STAGES; ++stage)
        slr_ring_destroy(k->ring[stage]);
    for (uint32_t stage = 0; stage < STAGES; ++stage)
        wait_for_abandoned(&targets[k->number][stage]);
    count(&totals.lives, STAGES);
}

static void keep(void *arg)
{
    struct keeper *k = arg;
    while (!slri_passed(round_ends_ns)) {
        begin_life(k);
        for (uint32_t i = pick(&k->random, 40); i > 0; --i) {
            say_alive(k->number);
            disturb(k);
            slri_sleep_ns(pick(&k->random, 2000000));
        }
        end_life(k);
        say_alive(k->number);
    }
    __atomic_store_n(&alive_ns[k->number], 0, __ATOMIC_RELAXED);
}

// ---- clients
// ------------------------------------------------------------------------------------------------------------

struct client {
    slri_thread thread;
    uint32_t number;
    uint64_t random;
};

static struct target *choose(struct client *c, uint32_t *keeper, uint32_t *stage, slr_address *to)
{
    *keeper = pick(&c->random, KEEPERS);
    *stage = pick(&c->random, STAGES);
    struct target *target = &targets[*keeper][*stage];
    slri_mutex_lock(&lock);
    bool open = target->open;
    target->users += open;
    *to = target->address;
    to->instance = open ? pick(&c->random, target->instances) : 0;
    slri_mutex_unlock(&lock);
    return open ? target : NULL;
}

static void leave(struct target *target)
{
    slri_mutex_lock(&lock);
    --target->users;
    slri_mutex_unlock(&lock);
}

static struct job make_job(struct client *c, uint32_t keeper, uint32_t stage, slr_address to)
{
    uint32_t dice = pick(&c->random, 4000);
    return (struct job){keeper, stage, to.generation,
                        dice < 4     ? OVERRUNS
                        : dice < 200 ? FAULTS
                        : dice < 260 ? NAPS
                                     : PLAIN,
                        1 + pick(&c->random, 1000)};
}

static bool is_refusal(slr_status status)
{
    return status == SLR_FULL || status == SLR_TIMEOUT || status == SLR_CLOSED || status == SLR_RING_DEAD ||
           status == SLR_RING_FAILED;
}

static void send_some(struct client *c, slr_port *port, struct target *target, const struct job *job, slr_address to)
{
    struct job jobs[32];
    uint32_t n = 1 + pick(&c->random, 32), accepted = 0;
    for (uint32_t i = 0; i < n; ++i)
        jobs[i] = (struct job){job->keeper, job->stage, job->generation, i == 0 ? job->what : PLAIN, job->value};
    slr_send_options options = {.priority = SLR_PRIORITY(pick(&c->random, 3))};
    slr_status status;
    if (n == 1) {
        status = slr_send_with(port, to, jobs, sizeof *jobs, &options, pick(&c->random, 3) * MS);
        accepted = status == SLR_OK;
    } else {
        status = slr_send_many(port, to, NULL, jobs, sizeof *jobs, n, pick(&c->random, 3) * MS, &accepted);
    }
    holds(status == SLR_OK || is_refusal(status));
    count(&target->accepted, accepted);
}

static void call_once(struct client *c, slr_port *port, struct target *target, const struct job *job, slr_address to)
{
    struct job got = {0};
    slr_status status = slr_call(port, to, job, sizeof *job, &got, sizeof got, 1 + pick(&c->random, 20) * MS);
    bool known = status == SLR_OK || status == SLR_HANDLER_FAULT || status == SLR_DROPPED;
    bool refused = status == SLR_FULL || status == SLR_CLOSED || status == SLR_RING_DEAD;
    holds(known || refused || status == SLR_TIMEOUT || status == SLR_RING_FAILED || status == SLR_END);
    holds(status != SLR_OK || memcmp(job, &got, sizeof got) == 0); // its own reply
    count(known ? &target->accepted : &target->perhaps, !refused);
    count(&totals.calls, known);
}

static void receive_some(struct client *c, slr_port *port, uint64_t timeout_ns)
{
    slr_reply reply[16];
    struct job got[16];
    uint32_t received = 0;
    slr_status status = slr_receive_many(port, reply, got, sizeof got[0], 16, timeout_ns, &received);
    holds(status == SLR_OK || status == SLR_TIMEOUT || status == SLR_END || status == SLR_RING_FAILED);
    for (uint32_t i = 0; i < received && status == SLR_OK; ++i)
        holds(reply[i].status != SLR_OK || got[i].generation == reply[i].from.generation); // of that life
    count(&totals.replies, status == SLR_OK ? received : 0);
    (void)c;
}

static void use(struct client *c, slr_port *port)
{
    uint32_t keeper, stage;
    slr_address to;
    if (pick(&c->random, 3) == 0) {
        receive_some(c, port, pick(&c->random, 100000));
        return;
    }
    struct target *target = choose(c, &keeper, &stage, &to);
    if (!target)
        return;
    struct job job = make_job(c, keeper, stage, to);
    uint32_t what = pick(&c->random, 12);
    if (what < 2)
        call_once(c, what ? port : NULL, target, &job, to);
    else
        send_some(c, port, target, &job, to);
    leave(target);
}

static void be_client(void *arg)
{
    struct client *c = arg;
    while (!slri_passed(round_ends_ns)) {
        slr_port *port;
        must(slr_port_open(device, &port));
        for (uint32_t i = pick(&c->random, 500); i > 0 && !slri_passed(round_ends_ns); --i) {
            use(c, port);
            say_alive(KEEPERS + c->number);
        }
        slr_port_close(port);
        count(&totals.ports, 1);
    }
    __atomic_store_n(&alive_ns[KEEPERS + c->number], 0, __ATOMIC_RELAXED);
}

// ---- what may not grow
// ------------------------------------------------------------------------------------------------

static uint64_t allocated; // through the hook; atomic

static void *take(void *user, size_t bytes, size_t alignment)
{
    (void)user;
    void *memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory)
        count(&allocated, bytes);
    return memory;
}

static void give(void *user, void *memory, size_t bytes)
{
    (void)user;
    count(&allocated, (uint64_t)0 - bytes);
    free(memory);
}

static uint32_t mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    holds(file != NULL);
    uint32_t lines = 0;
    for (int c; (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

struct size {
    uint64_t resident_bytes;
    uint32_t threads, descriptors, mappings;
};

static struct size measure(void)
{
    return (struct size){resident_bytes(), entries_of("/proc/self/task") - 2, entries_of("/proc/self/fd") - 3,
                         mappings()};
}

// ---- rounds --------------------------------------------------------------------------------------------------------

static uint32_t threads_at_start;

// This thread, and one that a sanitizer starts with the first other.
static uint32_t threads_of_nothing(void)
{
    start_what_stays();
    return measure().threads;
}

// Until the last abandoned handlers have returned, which hold what they may touch, and their threads, which let go of
// it before they end, are gone.
static void wait_for_zombies(void)
{
    uint64_t deadline = slri_deadline_after(LONG);
    while ((get(&allocated) != 0 || measure().threads != threads_at_start) && !slri_passed(deadline))
        slri_sleep_ns(MS);
    holds(get(&allocated) == 0);
}

static struct size play_round(uint64_t number, uint64_t duration_ns)
{
    static struct keeper keeper[KEEPERS];
    static struct client client[CLIENTS];
    slr_allocator hook = {.allocate = take, .release = give};
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.allocator = &hook;
    must(slr_device_open("cpu?engine=interpreted&threads=2", &desc, &device));
    round_ends_ns = slri_deadline_after(duration_ns);
    for (uint32_t i = 0; i < ACTORS; ++i)
        say_alive(i);
    for (uint32_t i = 0; i < KEEPERS; ++i) {
        keeper[i] = (struct keeper){.number = i, .random = seed * 1000003 + number * 101 + i};
        must(slri_thread_start(&keeper[i].thread, "keeper", keep, &keeper[i]));
    }
    for (uint32_t i = 0; i < CLIENTS; ++i) {
        client[i] = (struct client){.number = i, .random = seed * 7919 + number * 977 + i};
        must(slri_thread_start(&client[i].thread, "client", be_client, &client[i]));
    }
    for (uint32_t busy = 1; busy != 0;) {
        slri_sleep_ns(50 * MS);
        look_for_hangs();
        busy = 0;
        for (uint32_t i = 0; i < ACTORS; ++i)
            busy += __atomic_load_n(&alive_ns[i], __ATOMIC_RELAXED) != 0;
    }
    for (uint32_t i = 0; i < KEEPERS; ++i)
        slri_thread_join(&keeper[i].thread);
    for (uint32_t i = 0; i < CLIENTS; ++i)
        slri_thread_join(&client[i].thread);
    slr_device_close(device);
    wait_for_zombies();
    return measure();
}

static void report(uint64_t seconds, const struct size *size)
{
    const struct totals *t = &totals;
    printf(
        "%5llu s  %llu lives, %llu ports, %llu messages: %llu handled, %llu faulted, %llu dropped, %llu handed back, "
        "0 lost; %llu routed, %llu calls, %llu replies; %llu pauses, %llu failures, %llu restarts, %llu "
        "checkpoints; %.1f MiB, %u threads, %u descriptors, %u mappings\n",
        (unsigned long long)seconds, (unsigned long long)get(&t->lives), (unsigned long long)get(&t->ports),
        (unsigned long long)get(&t->accepted), (unsigned long long)get(&t->handled),
        (unsigned long long)get(&t->faulted), (unsigned long long)get(&t->dropped),
        (unsigned long long)get(&t->undelivered), (unsigned long long)get(&t->routed),
        (unsigned long long)get(&t->calls), (unsigned long long)get(&t->replies), (unsigned long long)get(&t->pauses),
        (unsigned long long)get(&t->failures), (unsigned long long)get(&t->restarts),
        (unsigned long long)get(&t->checkpoints), (double)size->resident_bytes / (1 << 20), size->threads,
        size->descriptors, size->mappings);
    fflush(stdout);
}

static const char help[] = "usage: soak [SECONDS [SEED]]\n"
                           "\n"
                           "Launches, pauses, fails, restarts and ends ring kernels under load for so long (60 s); a "
                           "line for each ten seconds.\n"
                           "Exit code: 0 nothing was lost, nobody hung, nothing grew; 1 something did, or by a signal: "
                           "it says what; 2 usage.\n";

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if !defined SANITIZED && (defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__)
#define SANITIZED 1
#elif !defined SANITIZED
#define SANITIZED 0
#endif

#define ROUND_NS (4 * SECOND)
#define WARM_ROUNDS 3 // until stacks and heaps are as large as they get

int main(int argc, char **argv)
{
    char *end = NULL;
    uint64_t seconds = argc > 1 ? strtoull(argv[1], &end, 10) : 60;
    if (argc > 3 || (end && *end != '\0') || seconds == 0) {
        fputs(help, argc > 1 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
        return argc > 1 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
    }
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    threads_at_start = threads_of_nothing();
    uint64_t start_ns = slri_now_ns(), end_ns = start_ns + seconds * SECOND, said = 0;
    struct size first = {0}, last = {0};
    for (uint64_t number = 0; slri_now_ns() < end_ns || number <= WARM_ROUNDS; ++number) {
        uint64_t left = end_ns > slri_now_ns() ? end_ns - slri_now_ns() : SECOND / 10;
        last = play_round(number, number < WARM_ROUNDS ? SECOND / 2 : left < ROUND_NS ? left : ROUND_NS);
        if (number < WARM_ROUNDS)
            first = last;
        holds(last.threads == first.threads);
        holds(last.descriptors == first.descriptors);
        if ((slri_now_ns() - start_ns) / (10 * SECOND) != said)
            report((slri_now_ns() - start_ns) / SECOND, &last);
        said = (slri_now_ns() - start_ns) / (10 * SECOND);
    }
    report((slri_now_ns() - start_ns) / SECOND, &last);
    if (!SANITIZED) {                                // a sanitizer keeps what was freed
        holds(last.mappings <= first.mappings + 16); // heaps of threads come and go
        holds(last.resident_bytes <= first.resident_bytes + first.resident_bytes / 2 + (16u << 20));
    }
    printf("nothing was lost, nobody hung, nothing grew\n");
    return 0;
}
