// SPDX-License-Identifier: Apache-2.0
// A child, made by fork(), of a process that has devices: its calls say so, and none of them waits for a thread that
// the child does not have.
#include "src/base/asan.h"
#include "tests/ring/failure_test.h"

#ifdef _WIN32
static void nothing_forks_on_windows(void **state)
{
    (void)state;
    skip();
}
#else
#include <slipring/heap.h>
#include <slipring/pool.h>
#include <slipring/stream.h>
#include <slipring/supervisor.h>
#include <slipring/topic.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NONE UINT64_MAX // no deadline: what waits here waits for ever

static struct counter c;

struct fork_world {
    slr_device *device;
    slr_buffer *buffer;
    slr_stream *stream;
    slr_ring *ring;
    slr_port *port, *fresh; // the first is connected
};

static bool is_refused(slr_status status, const char *what)
{
    if (status == SLR_WRONG_STATE && strstr(slr_error_message(), "fork()"))
        return true;
    fprintf(stderr, "%s: %s: %s\n", what, slr_status_name(status), slr_error_message());
    return false;
}

#define REFUSED(call)                                                                                                  \
    if (!is_refused((call), #call))                                                                                    \
    return 1

// The exit code of a child that uses what its parent has.
static int use_device(struct fork_world *w)
{
    float value = 1;
    REFUSED(slr_buffer_write(w->buffer, 0, &value, sizeof value));
    REFUSED(slr_buffer_read(w->buffer, 0, &value, sizeof value));
    REFUSED(slr_stream_fill(w->stream, w->buffer, 0, 64, &value, sizeof value, NULL));
    slr_buffer_info info;
    slr_point point;
    REFUSED(slr_buffer_get_info(w->buffer, &info));
    REFUSED(slr_stream_signal(w->stream, &point));
    REFUSED(slr_stream_finish(w->stream, NONE));
    REFUSED(slr_stream_recover(w->stream));
    REFUSED(slr_device_finish(w->device, NONE));
    slr_buffer_destroy(w->buffer);
    slr_device_close(w->device);
    return 0;
}

static int use_ring(struct fork_world *w)
{
    uint32_t value = 1, reply;
    slr_reply about;
    slr_address to;
    REFUSED(slr_ring_get_address(w->ring, 0, &to) == SLR_OK ? slr_send(w->fresh, to, &value, sizeof value, NONE)
                                                            : SLR_INVALID);
    REFUSED(slr_call(NULL, to, &value, sizeof value, &reply, sizeof reply, NONE));
    REFUSED(slr_call(w->port, to, &value, sizeof value, &reply, sizeof reply, NONE));
    REFUSED(slr_receive(w->port, &about, &reply, sizeof reply, NONE));
    REFUSED(slr_ring_snapshot(w->ring, 0, &value, sizeof value, NONE));
    REFUSED(slr_ring_checkpoint(w->ring, NONE));
    REFUSED(slr_ring_wait(w->ring, SLR_RING_TERMINATED, NONE));
    REFUSED(slr_ring_deactivate(w->ring, NONE));
    REFUSED(slr_ring_terminate(w->ring, NONE, NULL, NULL, NULL));
    slr_port_close(w->port);
    slr_ring_destroy(w->ring);
    slr_device_close(w->device);
    return 0;
}

static void child_ends_well(struct fork_world *w, int (*use)(struct fork_world *w))
{
    int how;
    const pid_t child = fork();
    if (child == 0) {
        alarm(60); // a call that waits for ever ends the child by a signal
        _exit(use(w));
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
}

static void a_childs_calls_on_a_device_are_refused(const char *spec)
{
    struct fork_world w = {0};
    float value = 2, got = 0;
    if (slr_device_open(spec, NULL, &w.device) == SLR_NO_DEVICE)
        skip();
    must(slr_buffer_create(w.device, 64, &w.buffer));
    must(slr_stream_default(w.device, &w.stream));
    must(slr_buffer_write(w.buffer, 0, &value, sizeof value));
    must(slr_stream_fill(w.stream, w.buffer, 0, 64, &value, sizeof value, NULL));
    must(slr_stream_finish(w.stream, LONG));
    child_ends_well(&w, use_device);
    must(slr_buffer_read(w.buffer, 60, &got, sizeof got)); // the parent goes on
    assert_true(got == 2);
    slr_buffer_destroy(w.buffer);
    slr_device_close(w.device);
}

static void on_a_device_with_its_own_memory(void **state)
{
    (void)state;
    a_childs_calls_on_a_device_are_refused("opencl:0");
}

static void on_vulkan(void **state)
{
    (void)state;
    a_childs_calls_on_a_device_are_refused("vulkan:0");
}

static void a_childs_calls_on_a_ring_kernel_are_refused_and_the_parents_go_on(void **state)
{
    (void)state;
    slr_ring_desc desc = describe_counter("forked", &c);
    struct fork_world w = {.device = open_device("cpu")};
    w.ring = start_ring(w.device, &desc);
    w.port = open_port(w.device);
    w.fresh = open_port(w.device);
    assert_int_equal(call_word(w.port, address_of(w.ring, 0), 1), 1);
    assert_int_equal(call_word(NULL, address_of(w.ring, 0), 1), 2); // the shared port is connected, too
    child_ends_well(&w, use_ring);
    assert_int_equal(call_word(w.port, address_of(w.ring, 0), 1), 3);
    slr_port_close(w.fresh);
    slr_port_close(w.port);
    slr_ring_destroy(w.ring);
    slr_device_close(w.device);
}

static int drop_supervisor(slr_supervisor *root)
{
    if (slr_supervisor_wait_failed(root, NONE) != SLR_WRONG_STATE)
        return 1;
    slr_supervisor_destroy(root);
    return 0;
}

static void a_child_neither_waits_for_a_supervisor_nor_ends_one(void **state)
{
    (void)state;
    slr_supervisor_desc desc = SLR_SUPERVISOR_DESC_INIT;
    slr_ring_desc counter = describe_counter("supervised", &c);
    slr_device *device = open_device("cpu");
    slr_ring *ring = start_ring(device, &counter);
    slr_supervisor *root;
    must(slr_supervisor_create(&desc, &root));
    must(slr_supervisor_add_ring(root, ring));
    must(slr_supervisor_start(root));
    int how;
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(drop_supervisor(root));
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    slr_supervisor_destroy(root);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

// What the child opens itself is its own.
static int open_own(struct fork_world *w)
{
    uint32_t value = 1, reply = 0;
    slr_ring_desc desc = describe_counter("own", &c);
    slr_device *device;
    slr_ring *ring;
    slr_address to;
    (void)w;
    if (slr_device_open("cpu", NULL, &device) != SLR_OK || slr_ring_create(device, &desc, &ring) != SLR_OK ||
        slr_ring_launch(ring) != SLR_OK || slr_ring_activate(ring, LONG) != SLR_OK ||
        slr_ring_get_address(ring, 0, &to) != SLR_OK ||
        slr_call(NULL, to, &value, sizeof value, &reply, sizeof reply, LONG) != SLR_OK || reply != 1)
        return 1;
    slr_ring_destroy(ring);
    slr_device_close(device);
    return 0;
}

// ---- children of a process whose threads hold locks
// ------------------------------------------------------------------

enum { BUSY = 6, CHILDREN = 200 };

// Two ring kernels that a route may join, and what the threads and the children call. `mine`: a thread's number.
struct busy {
    slri_thread thread;
    struct fork_world *world;
    slr_ring *from, *to;
    slr_topic *topic;
    slr_pool *pool;
    slr_heap *heap;
    slr_span span;
    slr_point point; // that has passed
    uint32_t mine;
};

static uint32_t busy_stop;

static slr_ring *start_named(slr_device *device, const char *name)
{
    slr_ring_desc desc = describe_counter(name, &c);
    desc.message_bytes = desc.reply_bytes = sizeof(uint32_t);
    return start_ring(device, &desc);
}

static void keep_ports_busy(const struct busy *b)
{
    slr_port *port;
    slr_address to;
    holds(slr_port_open(b->world->device, &port) == SLR_OK);
    holds(slr_ring_find(b->world->device, "from", &to) == SLR_OK);
    slr_port_close(port);
}

static void keep_counts_busy(const struct busy *b)
{
    slr_ring_stats stats;
    slr_pool_stats pool;
    holds(slr_ring_get_stats(b->from, &stats) == SLR_OK);
    holds(slr_pool_get_stats(b->pool, &pool) == SLR_OK);
}

static void keep_shared_port_busy(const struct busy *b)
{
    uint32_t value = 1;
    slr_status status = slr_send(NULL, address_of(b->from, 0), &value, sizeof value, 0);
    holds(status == SLR_OK || status == SLR_FULL);
}

static void keep_routes_busy(const struct busy *b)
{
    holds(slr_route(b->from, b->to, NULL) == SLR_OK);
    holds(slr_unroute(b->from, b->to) == SLR_OK);
}

static void keep_devices_busy(const struct busy *b)
{
    slr_device *device;
    slr_ring_desc desc = describe_counter("brief", &c);
    slr_ring *ring;
    (void)b;
    holds(slr_device_open("cpu", NULL, &device) == SLR_OK);
    holds(slr_ring_create(device, &desc, &ring) == SLR_OK && slr_ring_launch(ring) == SLR_OK);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void keep_memory_busy(const struct busy *b)
{
    slr_buffer *buffer;
    slr_stream *stream;
    holds(slr_pool_acquire(b->pool, 16, SLR_U32, &buffer) == SLR_OK);
    slr_buffer_destroy(buffer);
    for (int i = 0; i < 100; ++i)
        (void)slr_heap_trim(b->heap);
    holds(slr_stream_create(b->world->device, NULL, &stream) == SLR_OK);
    slr_stream_destroy(stream);
}

static void keep_busy(void *arg)
{
    static void (*const keep[BUSY])(const struct busy *) = {keep_ports_busy,  keep_counts_busy,  keep_shared_port_busy,
                                                            keep_routes_busy, keep_devices_busy, keep_memory_busy};
    const struct busy *b = arg;
    while (!__atomic_load_n(&busy_stop, __ATOMIC_ACQUIRE))
        keep[b->mine](b);
}

static void pass(void *user, const slr_live_span *span)
{
    (void)user, (void)span;
}

// Each of these calls would take a lock.
static int use_all(const struct busy *b, slr_address to)
{
    uint32_t value = 1, taken;
    slr_address found;
    slr_port *port;
    slr_ring *ring;
    slr_buffer *buffer;
    slr_pool *pool;
    slr_stream *stream;
    slr_topic *topic;
    slr_heap *heap;
    slr_span span;
    slr_heap_stats heap_stats;
    slr_ring_stats stats;
    slr_latency latency;
    slr_latency_bucket bucket;
    slr_pool_stats pool_stats;
    slr_ring_desc desc = describe_counter("new", &c);
    struct fork_world *w = b->world;
    REFUSED(slr_port_open(w->device, &port));
    REFUSED(slr_ring_find(w->device, "from", &found));
    REFUSED(slr_ring_create(w->device, &desc, &ring));
    REFUSED(slr_send(NULL, to, &value, sizeof value, 0));
    REFUSED(slr_send(w->fresh, to, &value, sizeof value, 0));
    REFUSED(slr_call(NULL, to, &value, sizeof value, &value, sizeof value, NONE));
    REFUSED(slr_ring_get_stats(b->from, &stats));
    REFUSED(slr_ring_get_latency(b->from, &latency));
    REFUSED(slr_ring_get_latency_buckets(b->from, &bucket, 1, &taken));
    REFUSED(slr_ring_close_input(b->from));
    REFUSED(slr_route(b->from, b->to, NULL));
    REFUSED(slr_unroute(b->from, b->to));
    REFUSED(slr_subscribe(b->to, "news"));
    REFUSED(slr_topic_open(w->device, "news", &topic));
    REFUSED(slr_publish(w->port, b->topic, &value, sizeof value, 0, &taken));
    REFUSED(slr_pool_acquire(b->pool, 16, SLR_U32, &buffer));
    REFUSED(slr_pool_get_stats(b->pool, &pool_stats));
    REFUSED(slr_pool_create(w->device, NULL, &pool));
    REFUSED(slr_buffer_create(w->device, 64, &buffer));
    REFUSED(slr_stream_create(w->device, NULL, &stream));
    REFUSED(slr_heap_create(w->device, NULL, &heap));
    REFUSED(slr_heap_take(b->heap, 64, 0, &span));
    REFUSED(slr_heap_take_on(b->heap, 64, 0, w->stream, &span));
    REFUSED(slr_heap_give(b->heap, &b->span));
    REFUSED(slr_heap_give_behind(b->heap, &b->span, b->point));
    REFUSED(slr_heap_get_stats(b->heap, &heap_stats));
    REFUSED(slr_heap_visit(b->heap, pass, NULL));
    if (slr_heap_trim(b->heap) != 0) // which gives no status
        return 1;
    slr_topic_close(b->topic);
    slr_pool_destroy(b->pool);
    slr_heap_destroy(b->heap);
    slr_port_close(w->port);
    slr_ring_destroy(b->from);
    slr_device_close(w->device);
    return 0;
}

// What the child makes itself takes locks that threads of the parent took.
static int use_own(void)
{
#ifdef SLRI_HAS_ASAN
    return 0; // the allocator of gcc 12's sanitizer does not hold its locks around fork(): a child of busy threads may
              // wait for ever
#else
    struct fork_world own = {.device = open_device("cpu")};
    slr_ring *from = start_named(own.device, "own from"), *to = start_named(own.device, "own to");
    slr_ring_stats stats;
    if (slr_route(from, to, NULL) != SLR_OK || slr_unroute(from, to) != SLR_OK || slr_subscribe(to, "news") != SLR_OK ||
        call_word(NULL, address_of(from, 0), 1) != 1 || slr_ring_get_stats(from, &stats) != SLR_OK)
        return 1;
    slr_ring_destroy(from);
    slr_ring_destroy(to);
    slr_device_close(own.device);
    return 0;
#endif
}

static void children_of_busy_threads_are_refused_and_go_on(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); // which ends a child of threads that starts one
#endif
    struct fork_world w = {.device = open_device("cpu?threads=2")};
    struct busy busy[BUSY] = {{.world = &w, .from = start_named(w.device, "from"), .to = start_named(w.device, "to")}};
    w.port = open_port(w.device);
    w.fresh = open_port(w.device);
    must(slr_topic_open(w.device, "news", &busy->topic));
    must(slr_pool_create(w.device, NULL, &busy->pool));
    must(slr_heap_create(w.device, NULL, &busy->heap));
    must(slr_heap_take(busy->heap, 64, 0, &busy->span));
    must(slr_stream_default(w.device, &w.stream));
    must(slr_stream_signal(w.stream, &busy->point));
    const slr_address to = address_of(busy->from, 0);
    busy_stop = 0;
    for (uint32_t i = 0; i < BUSY; ++i) {
        busy[i] = busy[0];
        busy[i].mine = i;
        start_thread(&busy[i].thread, keep_busy, &busy[i]);
    }
    int how = 0;
    pid_t child = 0, ended = 0;
    for (uint32_t i = 0; i < CHILDREN && child == ended && how == 0; ++i) {
        child = fork();
        if (child == 0) {
            alarm(60); // a lock that nobody will give back
            _exit(use_all(busy, to) != 0 ? 1 : use_own() != 0 ? 2 : 0);
        }
        ended = waitpid(child, &how, 0);
    }
    // An assertion that fails leaves this frame, which the threads use: so they end first.
    __atomic_store_n(&busy_stop, 1, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < BUSY; ++i)
        slri_thread_join(&busy[i].thread);
    assert_int_equal(ended, child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    slr_topic_close(busy->topic);
    slr_pool_destroy(busy->pool);
    slr_heap_destroy(busy->heap);
    slr_port_close(w.port);
    slr_port_close(w.fresh);
    slr_ring_destroy(busy->from);
    slr_ring_destroy(busy->to);
    slr_device_close(w.device);
}

// The first test: nothing has been opened yet.
static void a_child_and_its_parent_each_open_their_first_device(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); // as above
#endif
    struct fork_world w = {0};
    child_ends_well(&w, open_own);
    assert_int_equal(open_own(&w), 0);
}

static void a_child_may_open_a_device_of_its_own(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); // which ends a child of threads that starts one
#endif
    struct fork_world w = {.device = open_device("cpu")};
    child_ends_well(&w, open_own);
    slr_device_close(w.device);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef _WIN32
        cmocka_unit_test(nothing_forks_on_windows),
#else
        cmocka_unit_test(a_child_and_its_parent_each_open_their_first_device),
        cmocka_unit_test(on_a_device_with_its_own_memory),
        cmocka_unit_test(on_vulkan),
        cmocka_unit_test(a_childs_calls_on_a_ring_kernel_are_refused_and_the_parents_go_on),
        cmocka_unit_test(a_child_neither_waits_for_a_supervisor_nor_ends_one),
        cmocka_unit_test(a_child_may_open_a_device_of_its_own),
        cmocka_unit_test(children_of_busy_threads_are_refused_and_go_on),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
