// SPDX-License-Identifier: Apache-2.0
// Ring kernels on a driver that is simulated: each call of it that fails, the loss of the device, and, of kernels that
// stay, what would wait for ever on a GPU, which waits there, too, and is wrong after half a second.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/residence.h"

#include <time.h>

#include "ring/ring.h"

#define PERSISTENT "cuda:0?ring=persistent"
#define PATIENT PERSISTENT "&stall_ms=60000" // in which a thread that waits for a core gets one
#define RELAUNCHED "cuda:0?ring=relaunch"

// ---- what would wait -----------------------------------------------------------------------------------------------

static void what_would_wait_is_done_while_no_kernel_stays(void **state)
{
    (void)state;
    struct residence r = {0}, other = {0};
    reset();
    must(launch(&r, PERSISTENT));
    must(ask(&r, 1));
    slr_device_info info;
    must(slr_device_get_info(r.device, &info));
    uint32_t pauses = info.pauses;

    must(slr_buffer_create(r.device, 128 << 20, &r.buffer)); // more than the heap has
    must(ask(&r, 2));
    slr_buffer_destroy(r.buffer);
    r.buffer = NULL;

    slr_kernel *kernel;
    slr_stream *stream;
    int words[8] = {0};
    must(slr_stream_default(r.device, &stream));
    must(slr_buffer_create(r.device, sizeof words, &r.buffer));
    must(slr_buffer_write(r.buffer, 0, words, sizeof words));
    must(slr_program_get_kernel(r.program, "add", &kernel));
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 8, 0), r.buffer, 5)); // its code is loaded
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(r.buffer, 0, words, sizeof words));
    assert_int_equal(words[7], 5);
    must(ask(&r, 3));
    slr_graph *graph;
    must(slr_graph_create(r.device, &graph));
    must(slr_graph_begin(graph, stream));
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 8, 0), r.buffer, 5));
    must(slr_graph_end(graph));
    must(slr_graph_launch(graph, stream, NULL, 0, NULL)); // an executable graph is made
    must(slr_stream_finish(stream, LONG));
    must(ask(&r, 3));
    slr_graph_destroy(graph);
    slr_kernel_destroy(kernel);

    other.device = r.device; // a second program, which comes and goes
    must(slr_program_from_text(r.device, "again.cu", counts_cu, NULL, &other.program));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "again";
    desc.handler = "counts";
    desc.program = other.program;
    desc.queue_size = 1 << 18; // more than is left of the first memory that is shared
    desc.max_ports = 4;        // but no more than it takes: all of it is pinned, and zeroed
    other.ring = start_ring(r.device, &desc);
    other.port = r.port;
    for (uint32_t i = 0; i < 30; ++i) {
        slr_address to = address_of(other.ring, 0);
        struct message message = {.value = i}, reply;
        must(slr_call(r.port, to, &message, sizeof message, &reply, sizeof reply, LONG));
        assert_int_equal(reply.port, i + 1);
        must(ask(&r, i));
    }
    must(slr_ring_terminate(other.ring, LONG, NULL, NULL, NULL));
    slr_ring_destroy(other.ring);
    slr_program_destroy(other.program);
    must(ask(&r, 4));
    assert_int_equal(stats_when_pending(r.ring, 0).handled, 35);

    must(slr_device_get_info(r.device, &info));
    assert_true(info.pauses > pauses);
    assert_true(fake->stayed >= 4);
    end(&r);
    nothing_is_left("waits");
}

// Each shard's states fill a slab of the device's memory. They are taken before any is started: starting is done under
// the ring kernel's lock, which the poller wants for a shard that works, and without the poller no kernel ends.
static void shards_are_started_without_waiting_for_kernels(void **state)
{
    (void)state;
    struct residence r = {0}, other = {0};
    slr_device_info before, after;
    reset();
    must(launch(&r, PATIENT));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "many";
    desc.handler = "counts";
    desc.program = r.program;
    desc.instances = 1 << 21;
    desc.max_ports = 4;
    must(slr_ring_create(r.device, &desc, &other.ring));
    must(slr_ring_launch(other.ring));
    assert_in_range(other.ring->shards, 2, 64);
    for (uint32_t i = 0; i < 64; ++i)
        must(send_value(r.port, address_of(other.ring, i), i, LONG));
    must(ask(&r, 1)); // a kernel runs
    must(slr_device_get_info(r.device, &before));
    must(slr_ring_activate(other.ring, LONG));
    must(slr_device_get_info(r.device, &after));
    assert_int_equal(after.pauses, before.pauses);
    assert_int_equal(stats_when_pending(other.ring, 0).handled, 64);
    must(slr_ring_terminate(other.ring, LONG, NULL, NULL, NULL));
    slr_ring_destroy(other.ring);
    must(slr_ring_create(r.device, &desc, &other.ring)); // one that is never started
    must(slr_ring_launch(other.ring));
    slr_ring_destroy(other.ring);
    end(&r);
    nothing_is_left("many shards");
}

// A kernel says that it is gone before its launch has ended.
static void none_stays(void)
{
    for (int ms = 0; ms < 60000 && __atomic_load_n(&fake->staying, __ATOMIC_ACQUIRE) != 0; ++ms)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(__atomic_load_n(&fake->staying, __ATOMIC_ACQUIRE), 0);
}

static void parked_device_keeps_its_messages(void **state)
{
    (void)state;
    struct residence r = {0};
    reset();
    must(launch(&r, PERSISTENT));
    must(ask(&r, 1));
    must(slr_device_park(r.device, LONG));
    must(slr_device_park(r.device, LONG));
    none_stays();
    uint32_t value, stayed = fake->stayed;
    for (uint32_t i = 0; i < 20; ++i)
        must(send_value(r.port, address_of(r.ring, 0), i, LONG));
    must(slr_device_resume(r.device));
    gives(receive_value(r.port, &value, 20000000), TIMEOUT);
    assert_int_equal(fake->stayed, stayed);
    must(slr_device_resume(r.device));
    for (uint32_t i = 0; i < 20; ++i) {
        must(receive_value(r.port, &value, LONG));
        assert_int_equal(value, i + 1);
    }
    refuses(slr_device_resume(r.device), WRONG_STATE, "no slr_device_park to end");
    slr_device *cpu = open_device("cpu");
    refuses(slr_device_park(cpu, 0), UNSUPPORTED, "device 'cpu' has no persistent kernels");
    slr_device_close(cpu);
    end(&r);
    nothing_is_left("parked");
}

// Code is loaded while nothing stays.
static void launch_while_a_kernel_stays(struct residence *r)
{
    slr_kernel *kernel;
    slr_stream *stream;
    must(slr_stream_default(r->device, &stream));
    must(slr_buffer_create(r->device, 8 * sizeof(int), &r->buffer));
    must(slr_program_get_kernel(r->program, "add", &kernel));
    must(slr_kernel_prepare(kernel, SLR_GRID(1, 8, 0)));
    must(ask(r, 1)); // that kernel stays
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 8, 0), r->buffer, 5));
    must(slr_stream_finish(stream, LONG));
    slr_kernel_destroy(kernel);
}

// Another kernel is launched first while nothing stays: then it takes what memory it needs.
static void first_launch_of_a_kernel_waits_for_none(void **state)
{
    (void)state;
    struct residence r = {0};
    slr_program *program;
    slr_ring *ring;
    slr_device_info info;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    struct message message = {.value = 6}, reply;
    reset();
    fake->most_idle = 1u << 30; // never
    must(launch(&r, PATIENT));
    launch_while_a_kernel_stays(&r);
    must(slr_program_from_text(r.device, "again.cu", counts_cu, NULL, &program));
    desc.name = "again";
    desc.program = program;
    must(slr_ring_create(r.device, &desc, &ring));
    must(slr_ring_launch(ring));
    must(ask(&r, 1)); // that kernel stays
    must(slr_ring_activate(ring, LONG));
    must(slr_call(r.port, address_of(ring, 0), &message, sizeof message, &reply, sizeof reply, LONG));
    assert_int_equal(reply.value, 7);
    must(slr_device_get_info(r.device, &info));
    assert_int_equal(info.stalls, 0);
    must(slr_ring_terminate(ring, LONG, NULL, NULL, NULL));
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    end(&r);
    nothing_is_left("first");
}

// Where its fault is told is mapped already.
static void stream_of_a_kernel_that_may_fault_lets_kernels_stay(void **state)
{
    (void)state;
    static const char divides[] = "__global__ void divides(int *to, int by) { to[threadIdx.x] = 8 / by; }\n";
    struct residence r = {0};
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    slr_device_info before, info;
    reset();
    fake->most_idle = 1u << 30; // never
    must(launch(&r, PERSISTENT "&stall_ms=0"));
    must(slr_buffer_create(r.device, 64, &r.buffer));
    must(slr_program_from_text(r.device, "divides.cu", divides, NULL, &program));
    must(slr_program_get_kernel(program, "divides", &kernel));
    for (int by = 1; by >= 0; --by) {
        must(ask(&r, 1)); // that kernel stays
        must(slr_device_get_info(r.device, &before));
        must(slr_stream_create(r.device, NULL, &stream));
        must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 8, 0), r.buffer, by));
        slr_status status = slr_stream_finish(stream, LONG);
        slr_stream_destroy(stream);
        must(slr_device_get_info(r.device, &info));
        if (by == 0) { // it is loaded by now
            refuses(status, HANDLER_FAULT, "integer division by zero, at divides.cu:1");
            assert_int_equal(info.pauses, before.pauses);
        }
        must(ask(&r, 2));
    }
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    end(&r);
    nothing_is_left("may fault");
}

// A kernel that stays is there beside one that is relaunched: making and ending the second lets the first end
// meanwhile.
static void both_modes_are_on_one_device(void **state)
{
    (void)state;
    static const char *const source = "struct message { unsigned value, port; };\n"
                                      "__ring__ void one(const struct message *in)\n"
                                      "{ struct message out = {in->value + 1u, 7u}; ring_reply(&out); }\n";
    struct residence r = {0};
    reset();
    must(launch(&r, "cuda:0"));
    must(ask(&r, 1));
    slr_program *program;
    must(slr_program_from_text(r.device, "one.cu", source, NULL, &program));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "one";
    desc.handler = "one";
    desc.program = program;
    desc.mode = SLR_RING_RELAUNCHED;
    slr_ring *one = start_ring(r.device, &desc);
    assert_int_equal(stats_of(r.ring).mode, SLR_RING_PERSISTENT);
    assert_int_equal(stats_of(one).mode, SLR_RING_RELAUNCHED);
    for (uint32_t i = 0; i < 20; ++i) {
        struct message message = {.value = i}, reply = {0};
        must(slr_call(r.port, address_of(one, 0), &message, sizeof message, &reply, sizeof reply, LONG));
        assert_int_equal(reply.value, i + 1);
        must(ask(&r, i));
    }
    slr_ring_destroy(one);
    slr_program_destroy(program);
    end(&r);
    nothing_is_left("both");
}

// ---- failures ------------------------------------------------------------------------------------------------------

static slr_status use(struct residence *r, const char *spec)
{
    slr_status status = launch(r, spec);
    for (uint32_t i = 0; i < 3; ++i)
        TRY_EACH(ask(r, i));
    if (strcmp(spec, PERSISTENT) == 0) {
        TRY_EACH(slr_device_park(r->device, LONG));
        TRY_EACH(slr_device_resume(r->device));
    }
    for (uint32_t i = 0; i < 3; ++i)
        TRY_EACH(ask(r, i));
    return status;
}

// A launch that has failed is tried again, where memory or code were wanted meanwhile: then nothing is told.
static uint32_t fail_at_each(const char *spec, int32_t error, bool lost)
{
    uint32_t told = 0;
    for (uint32_t k = 1;; ++k) {
        struct residence r = {0};
        reset();
        fake->error = error;
        fake->fail_at = k;
        fake->lost = lost;
        slr_status status = use(&r, spec);
        const char *name = __atomic_load_n(&fake->failed, __ATOMIC_RELAXED); // a poller's call may yet
        bool failed = name != NULL;
        told += status != SLR_OK;
        if (status != SLR_OK)
            check_message(strstr(slr_error_message(), "NVRTC")      ? "NVRTC"
                          : strstr(slr_error_message(), "'counts'") ? "'counts'"
                                                                    : "cuda",
                          name, __FILE__, __LINE__);
        end(&r);
        nothing_is_left("k");
        if (!failed) {
            assert_int_equal(status, SLR_OK);
            return told;
        }
    }
}

static void call_that_fails_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    static const char *const specs[] = {PERSISTENT, RELAUNCHED};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i) {
        assert_true(fail_at_each(specs[i], 2, false) > 40);
        assert_true(fail_at_each(specs[i], 700, true) > 40);
        assert_true(fail_at_each(specs[i], 999, false) > 40);
    }
}

// The linker is a library of its own, which a container may lack. Who did not ask for a mode is told why.
static void driver_without_a_linker_has_ring_kernels_relaunched(void **state)
{
    (void)state;
    static const char *const specs[] = {"cuda:0", PERSISTENT};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i) {
        bool linked = false;
        for (uint32_t k = 1; !linked; ++k) {
            struct residence r = {0};
            reset();
            fake->error = 221;
            fake->fail_at = k;
            slr_status status = launch(&r, specs[i]);
            assert_non_null(fake->failed);
            linked = strcmp(fake->failed, "LinkCreate_v2") == 0;
            if (linked && i == 1)
                refuses(status, UNSUPPORTED, "cuLinkCreate gives");
            if (linked && i == 0) {
                assert_int_equal(status, SLR_OK);
                assert_int_equal(stats_of(r.ring).mode, SLR_RING_RELAUNCHED);
                assert_non_null(strstr(stats_of(r.ring).mode_reason, "cuLinkCreate gives"));
                must(ask(&r, 1));
            }
            end(&r);
        }
    }
}

static void lose(const char *spec)
{
    struct residence r = {0}, other = {0};
    reset();
    must(launch(&r, spec));
    must(launch(&other, spec)); // of the same GPU, in a context of its own
    must(ask(&r, 1));
    must(ask(&other, 1));
    slr_stream *stream;
    must(slr_stream_default(r.device, &stream));
    must(slr_buffer_create(r.device, 64, &r.buffer));
    for (uint32_t i = 0; i < 20; ++i)
        must(send_value(r.port, address_of(r.ring, i % 3), i, LONG));
    // The pollers give commands meanwhile: it may be theirs that faults, on this device.
    __atomic_store_n(&fake->fault_at, __atomic_load_n(&fake->commands, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    slr_stream_fill(stream, r.buffer, 0, 64, "a", 1, NULL);
    gives(slr_stream_finish(stream, LONG), DEVICE_LOST);
    uint64_t sent = 20; // where the kernel had gone to sleep meanwhile, the next message finds the loss
    for (uint32_t i = 0; i < 3; ++i)
        sent += send_value(r.port, address_of(r.ring, i), i, 0) == SLR_OK;
    must(slr_ring_wait(r.ring, SLR_RING_IN_FAILURE, LONG));
    slr_ring_stats stats = stats_of(r.ring);
    check_sum(&stats);
    assert_int_equal(stats.accepted, 1 + sent);
    assert_int_equal(stats.handled + stats.pending + stats.in_doubt, 1 + sent);
    gives(send_value(r.port, address_of(r.ring, 0), 1, 0), RING_FAILED);
    for (uint32_t i = 0; i < 10; ++i)
        must(ask(&other, i));
    end(&r);
    must(ask(&other, 1));
    end(&other);
    nothing_is_left("lost");
}

static void lost_device_fails_its_ring_kernels_and_no_others(void **state)
{
    (void)state;
    lose(PERSISTENT);
    lose(RELAUNCHED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_would_wait_is_done_while_no_kernel_stays, load_fake),
        cmocka_unit_test(shards_are_started_without_waiting_for_kernels),
        cmocka_unit_test(parked_device_keeps_its_messages),
        cmocka_unit_test(first_launch_of_a_kernel_waits_for_none),
        cmocka_unit_test(stream_of_a_kernel_that_may_fault_lets_kernels_stay),
        cmocka_unit_test(both_modes_are_on_one_device),
        cmocka_unit_test(call_that_fails_is_told_and_leaves_nothing),
        cmocka_unit_test(driver_without_a_linker_has_ring_kernels_relaunched),
        cmocka_unit_test(lost_device_fails_its_ring_kernels_and_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
