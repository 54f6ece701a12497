// SPDX-License-Identifier: Apache-2.0
// Random use of the public interface from eight threads, on any device. Every message has a number of its own; its
// handler counts it in a bound buffer, a word for each ring kernel and number. At the end of a round each number that
// was accepted must be there exactly once: handled, or among the dead letters.
//
//     clients (4)  send, call and receive, and open and close ports
//     collector    collects all replies of `first` at the port through which it also calls
//     publisher    publishes to whoever has subscribed
//     keeper       pauses, checkpoints, restarts, routes first -> second and takes the route away again, also from a
//                  `second` that is paused and full
//     mayfly       makes ring kernels that live for some messages: their first activation runs beside the keeper's
//                  slr_unroute, and they subscribe or advertise
#include "tests/stress/api_stress.h"

const char *const ring_names[RINGS] = {"first", "second", "alone", "topical", "keyed", "mayfly"};

static const char source[] =
    "struct job { unsigned number, ring, faults_at, value; };\n"
    "struct count { unsigned handled; };\n"
    "__ring__ void work(struct count *self, const struct job *in, unsigned *seen, unsigned me, unsigned numbers)\n"
    "{\n"
    "    struct job out;\n"
    "    if (in->faults_at == me + 1u) {\n"
    "        __trap();\n"
    "        return;\n" // on a device it goes on behind a trap
    "    }\n"
    "    self->handled += 1u;\n"
    "    atomicAdd(&seen[me * numbers + in->number], 1u);\n"
    "    out.number = in->number;\n"
    "    out.ring = me;\n"
    "    out.faults_at = in->faults_at;\n"
    "    out.value = in->value;\n"
    "    ring_reply(&out);\n"
    "}\n";

// ---- what is wrong ends it ------------------------------------------------------------------------------------------

static uint64_t seed = 1, round_number;
static const char *device_name = "cpu";
struct thread threads[THREADS];
const char *const thread_names[THREADS] = {"client 0",  "client 1",  "client 2", "client 3",
                                           "collector", "publisher", "keeper",   "mayfly"};

_Noreturn void stop(const char *format, ...)
{
    va_list list;
    fprintf(stderr, "api_stress: %s, seed %llu, round %llu: ", device_name, (unsigned long long)seed,
            (unsigned long long)round_number);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    fflush(NULL);
    _Exit(1);
}

slr_status expect(slr_status status, uint64_t fine, const char *what)
{
    if (!(fine >> status & 1))
        stop("%s: %s: %s", what, slr_status_name(status), slr_error_message());
    return status;
}

void doing(struct thread *t, const char *what)
{
    __atomic_store_n(&t->since_ns, slri_now_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&t->doing, what, __ATOMIC_RELEASE);
}

static void look_for_hangs(void)
{
    uint64_t now = slri_now_ns();
    for (uint32_t i = 0; i < THREADS; ++i) {
        const char *what = __atomic_load_n(&threads[i].doing, __ATOMIC_ACQUIRE);
        uint64_t since = __atomic_load_n(&threads[i].since_ns, __ATOMIC_RELAXED);
        if (what && now > since + HANG)
            stop("%s waits in %s for %llu s", thread_names[i], what, (unsigned long long)((now - since) / SECOND));
    }
}

uint32_t pick(struct thread *t, uint32_t below)
{
    uint64_t z = t->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((uint64_t)(uint32_t)(z >> 16) * below >> 32);
}

// ---- accounts -------------------------------------------------------------------------------------------------------

uint8_t fate[NUMBERS], copies[NUMBERS], reply_may_go[NUMBERS], replied[NUMBERS], collected[NUMBERS];
static uint8_t target_of[NUMBERS], letters[RINGS][NUMBERS];

struct totals totals;

void count(uint64_t *what, uint64_t by)
{
    __atomic_fetch_add(what, by, __ATOMIC_RELAXED);
}

// ---- the round ------------------------------------------------------------------------------------------------------

slr_device *device;
static slr_program *program;
static slr_buffer *seen;
slr_ring *rings[RINGS];
slr_address addresses[RINGS];
uint32_t queue_sizes[RINGS], instances[RINGS];
slr_topic *topic;
bool keyed, persistent;
uint64_t round_ends_ns;
uint32_t quiet;
uint32_t senders;
slri_mutex lock = SLRI_MUTEX_INIT;
uint32_t mayfly_users;
uint32_t routes_to_resting;

static uint32_t new_number(struct thread *t, uint32_t target)
{
    uint32_t number = t->number * OF_ONE + t->sent++;
    target_of[number] = (uint8_t)target;
    return number;
}

bool has_numbers(const struct thread *t, uint32_t count)
{
    return t->sent + count <= OF_ONE;
}

struct job make_job(struct thread *t, uint32_t target)
{
    uint32_t faults_at = 0, dice = pick(t, 600);
    if (dice == 0 && target != KEYED)
        faults_at = 1 + target;
    else if (dice == 1 && target == FIRST)
        faults_at = 1 + SECOND_STAGE;
    else if (dice == 2 && target == FIRST)
        faults_at = 1 + TOPICAL;
    return (struct job){new_number(t, target), target, faults_at, pick(t, 1000)};
}

static void describe(uint32_t r, struct thread *t, slr_ring_desc *desc, slr_binding binding[3])
{
    static const uint32_t sizes[] = {64, 100, 256, 1000};
    static const uint32_t me[RINGS] = {0, 1, 2, 3, 4, 5}, numbers = NUMBERS;
    *desc = (slr_ring_desc)SLR_RING_DESC_INIT;
    binding[0] = (slr_binding){.name = "seen", .buffer = seen};
    binding[1] = (slr_binding){.name = "me", .scalar = &me[r], .bytes = sizeof me[r]};
    binding[2] = (slr_binding){.name = "numbers", .scalar = &numbers, .bytes = sizeof numbers};
    desc->name = ring_names[r];
    desc->program = program;
    desc->bindings = binding;
    desc->binding_count = 3;
    desc->queue_size = sizes[pick(t, 4)];
    desc->instances = 1 + pick(t, 4);
    desc->overflow = 1 + pick(t, 2);
    desc->max_ports = 128;
    desc->dead_letters = 1 << 14;
    desc->fault_policy = r == MAYFLY ? SLR_FAULT_GO_ON : 1 + pick(t, 2);
    if (r == MAYFLY)
        desc->instances = 8; // many owners to start
    if (r == FIRST || r == SECOND_STAGE || r == TOPICAL)
        desc->instances = 1; // a route fits whatever the other has
    if (r == ALONE && !persistent)
        desc->overflow = 1 + pick(t, 4);
    if (r == KEYED) {
        desc->keys = SLR_KEYS_U64;
        desc->key_limit = SLR_KEY_LIMIT_EVICT_IDLE;
        desc->instances = 16;
    }
}

static void look_at_depth(uint32_t r, const slr_ring_stats *s, uint32_t queue_size, bool drops)
{
    if (s->accepted != s->handled + s->faulted + s->dropped + s->undelivered + s->in_doubt + s->pending)
        stop("%s: accepted %llu, but handled %llu, faulted %llu, dropped %llu, undelivered %llu, pending %llu",
             ring_names[r], (unsigned long long)s->accepted, (unsigned long long)s->handled,
             (unsigned long long)s->faulted, (unsigned long long)s->dropped, (unsigned long long)s->undelivered,
             (unsigned long long)s->pending);
    if (!drops && s->pending > queue_size)
        stop("%s: %llu are pending of queue_size %u", ring_names[r], (unsigned long long)s->pending, queue_size);
}

static bool dropping[RINGS];

slr_ring_stats stats_of(uint32_t r, slr_ring *ring)
{
    slr_ring_stats stats;
    must(slr_ring_get_stats(ring, &stats));
    look_at_depth(r, &stats, queue_sizes[r], dropping[r]);
    return stats;
}

slr_ring *make_ring(uint32_t r, struct thread *t)
{
    slr_ring_desc desc;
    slr_binding binding[3];
    slr_ring *ring;
    describe(r, t, &desc, binding);
    queue_sizes[r] = desc.queue_size;
    instances[r] = desc.instances;
    dropping[r] = desc.overflow >= SLR_OVERFLOW_DROP_OLDEST;
    must(slr_ring_create(device, &desc, &ring));
    must(slr_ring_launch(ring));
    return ring;
}

void take_letters(uint32_t r, slr_ring *ring)
{
    for (uint32_t taken = 1; taken != 0;) {
        slr_dead_letter letter[64];
        struct job job[64];
        must(slr_ring_take_dead_letters(ring, letter, job, sizeof job[0], 64, &taken));
        for (uint32_t i = 0; i < taken; ++i) {
            if (job[i].number >= NUMBERS)
                stop("%s: a dead letter has number %u, which nobody wrote", ring_names[r], job[i].number);
            __atomic_fetch_add(&letters[r][job[i].number], 1, __ATOMIC_RELAXED);
        }
        count(&totals.letters, taken);
    }
}

// Its counts, all of it being over.
void end_ring(uint32_t r, slr_ring *ring)
{
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, 0, NULL, NULL, &stats));
    look_at_depth(r, &stats, queue_sizes[r], dropping[r]);
    if (stats.pending != 0 || stats.in_doubt != 0 || stats.dead_letters_lost != 0)
        stop("%s has ended with %llu pending, %llu in doubt, %llu dead letters lost", ring_names[r],
             (unsigned long long)stats.pending, (unsigned long long)stats.in_doubt,
             (unsigned long long)stats.dead_letters_lost);
    if (stats.unrouted != 0)
        stop("%s: %llu replies were unrouted, and no destination had ended", ring_names[r],
             (unsigned long long)stats.unrouted);
    take_letters(r, ring);
    count(&totals.routed, stats.routed);
    count(&totals.restarts, stats.restarts);
    slr_ring_destroy(ring);
}
// ---- the end of a round: nothing is under way any more, and accounts add up -----------------------------------------

// A thread that is kept from the processor for long may send well behind the end of the round.
static void wait_for_senders(void)
{
    while (__atomic_load_n(&senders, __ATOMIC_ACQUIRE) != 0) {
        look_for_hangs();
        slri_sleep_ns(MS);
    }
}

static void settle(void)
{
    uint64_t deadline = slri_deadline_after(HANG);
    uint32_t last = keyed ? MAYFLY : KEYED;
    for (uint32_t calm = 0; calm < 3;) {
        ++calm;
        for (uint32_t r = 0; r < last; ++r) {
            slr_ring_state state = slr_ring_get_state(rings[r]);
            if (state == SLR_RING_IN_FAILURE)
                expect(slr_ring_restart(rings[r], SLR_RESTART_INITIAL, LONG), WRONG_STATE_TOO, "the last restart");
            if (state == SLR_RING_PAUSED || state == SLR_RING_IN_FAILURE)
                expect(slr_ring_reactivate(rings[r], LONG), WRONG_STATE_TOO, "the last reactivate");
            slr_ring_stats stats = stats_of(r, rings[r]);
            if (stats.pending != 0 || stats.state != SLR_RING_ACTIVE)
                calm = 0;
            if (slri_passed(deadline))
                stop("%s is %s and has %llu pending for %llu s, and nobody sends", ring_names[r],
                     slr_ring_state_name(stats.state), (unsigned long long)stats.pending,
                     (unsigned long long)(HANG / SECOND));
        }
        slri_sleep_ns(MS);
    }
}

// The subscriber is there and has room: one message reaches it, whatever happened to it before. Through the topic that
// was used all the while: one that is opened anew looks its subscribers up anew.
static void publish_once_more(void)
{
    slr_port *port;
    uint32_t accepted = 0;
    struct job job = {(uint32_t)(SENDERS - 1) * OF_ONE + OF_ONE - 1, TOPICAL, 0, 0};
    must(slr_port_open(device, &port));
    must(slr_publish(port, topic, &job, sizeof job, LONG, &accepted));
    if (accepted != 1)
        stop("topical has subscribed and runs, but of a message published %u were accepted", accepted);
    target_of[job.number] = TOPICAL;
    fate[job.number] = ACCEPTED;
    copies[job.number] = 1;
    reply_may_go[job.number] = 1;
    settle();
    slr_port_close(port);
}

static void judge_number(const uint32_t *words, uint32_t k)
{
    uint32_t there[RINGS], target = target_of[k], arrived = 0;
    for (uint32_t r = 0; r < RINGS; ++r)
        there[r] = words[(size_t)r * NUMBERS + k] + letters[r][k];
    uint32_t sender = k / OF_ONE;
    bool published = copies[k] != 0;
    const char *who = thread_names[sender < THREADS ? sender : MAYFLIES];
    uint32_t direct = there[target];
    if (published) // `topical` and a mayfly
        direct = there[TOPICAL] + there[MAYFLY];
    uint32_t must_be = published ? copies[k] : fate[k] == ACCEPTED;
    if (fate[k] == PERHAPS ? direct > 1 : direct != must_be)
        stop("%s: number %u of %s was %s and is there %u times (handled %u, dead letters %u)", ring_names[target], k,
             who,
             fate[k] == ACCEPTED  ? "accepted"
             : fate[k] == PERHAPS ? "perhaps accepted"
                                  : "refused",
             direct, words[(size_t)target * NUMBERS + k], letters[target][k]);
    for (uint32_t r = 0; r < RINGS; ++r) {
        if (r == target || (published && (r == TOPICAL || r == MAYFLY)) || there[r] == 0)
            continue;
        bool fits = (r == SECOND_STAGE || r == TOPICAL) && (target == FIRST || target == MAYFLY || published);
        if (!fits || there[r] > 1)
            stop("%s: number %u of %s, sent to %s, is there %u times (handled %u, dead letters %u)", ring_names[r], k,
                 who, ring_names[target], there[r], words[(size_t)r * NUMBERS + k], letters[r][k]);
        arrived += there[r];
    }
    uint32_t handled = words[(size_t)target * NUMBERS + k];
    if (collected[k] > 1 || replied[k] > 1u + (sender == COLLECTOR) + (published ? copies[k] : 0u))
        stop("%s: number %u of %s has %u replies and was collected %u times", ring_names[target], k, who, replied[k],
             collected[k]);
    if (handled == 1 && !published && !reply_may_go[k] && replied[k] + collected[k] + arrived == 0)
        stop("%s: the reply to number %u of %s is lost", ring_names[target], k, who);
}

static void judge(void)
{
    const uint64_t bytes = sizeof(uint32_t) * RINGS * NUMBERS;
    void *mapped;
    must(slr_buffer_map(seen, 0, bytes, SLR_MAP_READ, LONG, &mapped));
    for (uint32_t k = 0; k < NUMBERS; ++k)
        judge_number(mapped, k);
    for (size_t k = 0; k < (size_t)RINGS * NUMBERS; ++k)
        totals.handled += ((const uint32_t *)mapped)[k];
    must(slr_buffer_unmap(seen, mapped));
}

// ---- rounds ---------------------------------------------------------------------------------------------------------

static void open_all(void)
{
    const uint64_t bytes = sizeof(uint32_t) * RINGS * NUMBERS;
    void *mapped;
    must(slr_device_open(device_name, NULL, &device));
    must(slr_program_from_text(device, "api_stress.cu", source, NULL, &program));
    must(slr_buffer_create(device, bytes, &seen));
    must(slr_buffer_map(seen, 0, bytes, SLR_MAP_WRITE | SLR_MAP_DISCARD, LONG, &mapped));
    memset(mapped, 0, bytes);
    must(slr_buffer_unmap(seen, mapped));
    must(slr_topic_open(device, "told.mayfly", &topic));
    persistent = strstr(device_name, "persistent") != NULL;
    keyed = !persistent;
    struct thread *t = &threads[KEEPER]; // its randomness
    for (uint32_t r = 0; r < (keyed ? MAYFLY : KEYED); ++r) {
        rings[r] = make_ring(r, t);
        must(slr_ring_get_address(rings[r], 0, &addresses[r]));
    }
    must(slr_subscribe(rings[TOPICAL], "#"));
    if (pick(t, 2))
        must(slr_advertise(rings[FIRST], "first.said"));
    for (uint32_t r = 0; r < (keyed ? MAYFLY : KEYED); ++r)
        must(slr_ring_activate(rings[r], LONG));
}

// The sources first: what they have sent arrives.
static void close_all(void)
{
    for (uint32_t r = 0; r < (keyed ? MAYFLY : KEYED); ++r)
        end_ring(r, rings[r]);
    judge();
    slr_topic_close(topic);
    slr_buffer_destroy(seen);
    slr_program_destroy(program);
    slr_device_close(device);
}

static void wait_for(uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to;) {
        look_for_hangs();
        if (__atomic_load_n(&threads[i].doing, __ATOMIC_ACQUIRE))
            slri_sleep_ns(5 * MS);
        else
            slri_thread_join(&threads[i++].thread);
    }
}

static void forget(void)
{
    memset(fate, UNSENT, sizeof fate);
    memset(target_of, 0, sizeof target_of);
    memset(copies, 0, sizeof copies);
    memset(reply_may_go, 0, sizeof reply_may_go);
    memset(replied, 0, sizeof replied);
    memset(collected, 0, sizeof collected);
    memset(letters, 0, sizeof letters);
    memset(rings, 0, sizeof rings);
    quiet = 0;
    senders = KEEPER;
    routes_to_resting = 0;
}

static void play_round(uint64_t duration_ns)
{
    static void (*const bodies[THREADS])(void *) = {be_client,    be_client,    be_client, be_client,
                                                    be_collector, be_publisher, be_keeper, be_mayfly};
    forget();
    for (uint32_t i = 0; i < THREADS; ++i)
        threads[i] = (struct thread){.number = i, .random = seed * 1000003 + round_number * 101 + i};
    open_all();
    round_ends_ns = slri_deadline_after(duration_ns);
    for (uint32_t i = 0; i < THREADS; ++i) {
        doing(&threads[i], "its start");
        must(slri_thread_start(&threads[i].thread, thread_names[i], bodies[i], &threads[i]));
    }
    wait_for(KEEPER, THREADS); // the others receive until all is quiet
    wait_for_senders();
    settle();
    publish_once_more();
    __atomic_store_n(&quiet, 1, __ATOMIC_RELEASE);
    wait_for(0, KEEPER);
    close_all();
}

static void report(uint64_t start_ns)
{
    const struct totals *t = &totals;
    printf(
        "%5llu s  %s: %llu rounds; %llu messages sent, %llu published, %llu sends failed, %llu handled, %llu routed, "
        "%llu replies received, %llu collected, %llu calls answered, %llu dead letters; %llu pauses, %llu restarts, "
        "%llu unroutes, %llu mayflies, %llu ports\n",
        (unsigned long long)((slri_now_ns() - start_ns) / SECOND), device_name, (unsigned long long)round_number,
        (unsigned long long)t->sent, (unsigned long long)t->published, (unsigned long long)t->refused,
        (unsigned long long)t->handled, (unsigned long long)t->routed, (unsigned long long)t->replied,
        (unsigned long long)t->collected, (unsigned long long)t->calls, (unsigned long long)t->letters,
        (unsigned long long)t->pauses, (unsigned long long)t->restarts, (unsigned long long)t->unroutes,
        (unsigned long long)t->mayflies, (unsigned long long)t->ports);
    fflush(stdout);
}

static const char help[] = "usage: api_stress [SECONDS [DEVICE [SEED]]]\n"
                           "\n"
                           "Random use of the public interface from eight threads, in rounds (60 s, cpu, 1); a line "
                           "for each ten seconds.\n"
                           "Exit code: 0 every message is accounted for, nobody hung; 1 what is not, or by a signal; "
                           "2 usage; 77 no such device.\n";

#define ROUND_NS SECOND

int main(int argc, char **argv)
{
    char *end = NULL;
    bool asked = argc > 1 && strcmp(argv[1], "--help") == 0;
    uint64_t seconds = argc > 1 ? strtoull(argv[1], &end, 10) : 60;
    if (argc > 4 || (end && *end != '\0') || seconds == 0) {
        fputs(help, asked ? stdout : stderr);
        return asked ? 0 : 2;
    }
    device_name = argc > 2 ? argv[2] : "cpu";
    seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    slr_status status = slr_device_open(device_name, NULL, &device);
    if (status != SLR_OK) {
        fprintf(stderr, "%s\n", slr_error_message());
        return status == SLR_NO_DEVICE ? 77 : 1;
    }
    slr_device_close(device);
    uint64_t start_ns = slri_now_ns(), said = 0;
    while (slri_now_ns() < start_ns + seconds * SECOND) {
        play_round(ROUND_NS);
        ++round_number;
        if ((slri_now_ns() - start_ns) / (10 * SECOND) != said)
            report(start_ns);
        said = (slri_now_ns() - start_ns) / (10 * SECOND);
    }
    report(start_ns);
    printf("nothing was lost, nothing came twice, no queue was too long\n");
    return 0;
}
