// SPDX-License-Identifier: Apache-2.0
// Handlers and kernels that do not end, beside ring kernels that stay: on whatever OpenCL is here (PoCL in CI). Each
// looks for a word of the host's, which comes when it is too late.
#include "tests/opencl/staying.h"

#include "ring/ring.h"

static const char source[] =
    "struct message { unsigned value, port; };\n"
    "__ring__ void first(const struct message *in) { struct message out = *in; ring_reply(&out); }\n"
    "__ring__ void second(const struct message *in) { struct message out = *in; ring_reply(&out); }\n"
    "__ring__ void spins(const struct message *in, unsigned *stop)\n"
    "{ atomicExch(&stop[1], 1u); while (atomicAdd(&stop[0], 0u) == 0u) ; }\n"
    "__global__ void waits(unsigned *stop) { while (atomicAdd(&stop[0], 0u) == 0u) ; }\n"
    "__global__ void lasts(unsigned *to)\n" // longer than the devices below have patience: a nanosecond each at least
    "{ while (atomicAdd(&to[0], 1u) < 3000000000u) ; while (atomicAdd(&to[1], 1u) < 3000000000u) ; }\n";

static struct bench {
    slr_device *device;
    slr_program *program;
    slr_buffer *buffer;
    uint32_t *stop; // in it; and behind it whether a handler has begun
} bench;

static slr_ring *start(const char *handler)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_binding stop = {.name = "stop", .buffer = bench.buffer};
    desc.name = desc.handler = handler;
    desc.program = bench.program;
    desc.bindings = &stop;
    desc.binding_count = strcmp(handler, "spins") == 0;
    return start_ring(bench.device, &desc);
}

static bool begin(const char *spec)
{
    bench.device = open_where_kernels_stay(spec);
    if (!bench.device)
        return false;
    must(slr_program_from_text(bench.device, "lost.cu", source, NULL, &bench.program));
    must(slr_buffer_create(bench.device, 8, &bench.buffer));
    must(slr_buffer_map(bench.buffer, 0, 8, SLR_MAP_READ | SLR_MAP_WRITE, LONG, (void **)&bench.stop));
    must(slr_buffer_unmap(bench.buffer, bench.stop)); // its memory is the host's, too
    return true;
}

static void end(void)
{
    slr_buffer_destroy(bench.buffer);
    slr_program_destroy(bench.program);
    slr_device_close(bench.device);
}

// The driver takes longer to compile than the devices below have patience: it does before.
static void begin_with_handlers(const char *first, const char *second)
{
    if (SANITIZED || !is_here("opencl:0") || !begin("opencl:0"))
        skip();
    slr_ring_destroy(start(first));
    slr_ring_destroy(start(second));
    end();
    begin("opencl:0?ring=persistent&patience=5");
}

static void is_refused(slr_status status) // it may have noticed: its group was to be launched again
{
    assert_true(status == SLR_DEVICE_LOST || status == SLR_WRONG_STATE);
}

static void handler_is_waited_for_as_long_as_the_device_is_patient(void **state)
{
    (void)state;
    begin_with_handlers("spins", "first");
    slr_ring *ring = start("spins"), *next = start("first");
    slr_ring_stats stats;
    must(send_value(NULL, address_of(ring, 0), 1, LONG));
    wait_until_is(bench.stop + 1, 1);
    refuses(slr_ring_terminate(ring, 0, NULL, NULL, NULL), TIMEOUT,
            "ring kernel 'spins': a handler has not returned within 5 s of the deadline");
    __atomic_store_n(bench.stop, 1, __ATOMIC_RELEASE);
    must(slr_ring_terminate(ring, LONG, NULL, NULL, &stats));
    check_sum(&stats);
    assert_int_equal(stats.handled, 1);
    slr_ring_destroy(ring);
    slr_ring_destroy(next);
    end();
}

static void routes_of_a_lost_device_go_and_no_new_ones_come(void **state)
{
    (void)state;
    begin_with_handlers("first", "second");
    slr_kernel *kernel;
    slr_stream *stream;
    uint32_t value;
    must(slr_program_get_kernel(bench.program, "waits", &kernel));
    slr_ring *from = start("first"), *to = start("second");
    assert_int_equal(stats_of(from).mode, SLR_RING_PERSISTENT);
    slr_port *port = open_port(bench.device), *last = open_port(bench.device);
    must(slr_route(from, to, NULL));
    must(slr_route_to_port(to, last, NULL));
    must(send_value(port, address_of(from, 0), 7, LONG));
    must(receive_value(last, &value, LONG));
    assert_int_equal(value, 7);
    must(slr_stream_create(bench.device, NULL, &stream));
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 1, 0), bench.buffer));
    gives(slr_stream_finish(stream, LONG), DEVICE_LOST);
    must(slr_unroute(from, to));
    gives(slr_unroute(from, to), NOT_FOUND);
    assert_int_equal(to->grants.credits, 0);
    is_refused(slr_route(from, to, NULL));
    is_refused(slr_route_to_port(from, port, NULL));
    assert_int_equal(to->grants.credits, 0);
    slr_ring_stats stats;
    must(slr_ring_terminate(from, LONG, NULL, NULL, &stats));
    check_sum(&stats);
    assert_int_equal(stats.routed, 1);
    must(slr_ring_terminate(to, LONG, NULL, NULL, &stats));
    check_sum(&stats);
    assert_int_equal(stats.accepted, 1);
    __atomic_store_n(bench.stop, 1, __ATOMIC_RELEASE); // the process shall end
    slr_port_close(port);
    slr_port_close(last);
    slr_ring_destroy(from);
    slr_ring_destroy(to);
    slr_kernel_destroy(kernel);
    slr_stream_destroy(stream);
    end();
}

// What is pending is handled when the device is opened again. The kernel that lost it runs on, on memory that the
// device gives nobody else.
static void device_is_opened_again_beside_what_hangs(const char *spec, const char *kernel)
{
    static const char warm_up[] = "opencl:0?ring=%s%s";
    char warm[64];
    snprintf(warm, sizeof warm, warm_up, strstr(spec, "persistent") ? "persistent" : "relaunch",
             strstr(spec, "plain") ? "&memory=plain" : "");
    if (!begin(warm))
        skip();
    slr_ring_destroy(start("first"));
    end();
    bench.device = open_device(spec);
    must(slr_program_from_text(bench.device, "lost.cu", source, NULL, &bench.program));
    must(slr_buffer_create(bench.device, 8, &bench.buffer));
    uint32_t *stop = NULL;
    bool hangs = strcmp(kernel, "waits") == 0;
    if (hangs)
        must(slr_buffer_map(bench.buffer, 0, 8, SLR_MAP_READ | SLR_MAP_WRITE, LONG, (void **)&stop));
    if (hangs)
        must(slr_buffer_unmap(bench.buffer, stop));
    slr_kernel *lost;
    slr_stream *stream;
    must(slr_program_get_kernel(bench.program, kernel, &lost));
    slr_port *port = open_port(bench.device);
    slr_ring *ring = start("first");
    struct message message = {.value = 1}, reply;
    must(slr_call(port, address_of(ring, 0), &message, sizeof message, &reply, sizeof reply, LONG));
    must(slr_ring_deactivate(ring, LONG));
    for (uint32_t i = 0; i < 5; ++i)
        must(send_value(port, address_of(ring, 0), i, LONG));
    must(slr_stream_create(bench.device, NULL, &stream));
    must(SLR_LAUNCH(stream, lost, SLR_GRID(1, 1, 0), bench.buffer));
    gives(slr_stream_finish(stream, LONG), DEVICE_LOST);
    slr_stream_destroy(stream);
    slr_buffer_destroy(bench.buffer);
    bench.buffer = NULL;
    must(slr_device_reopen(bench.device, LONG));
    must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
    must(slr_ring_reactivate(ring, LONG));
    for (uint32_t i = 0; i < 5; ++i) {
        uint32_t value;
        slr_status status;
        while ((status = receive_value(port, &value, LONG)) == SLR_RING_FAILED) // it is told once
            ;
        must(status);
        assert_int_equal(value, i);
    }
    slr_ring_stats stats = stats_when_pending(ring, 0);
    check_sum(&stats);
    assert_int_equal(stats.handled, 6);
    assert_int_equal(stats.in_doubt, 0);
    if (hangs)
        __atomic_store_n(stop, 1, __ATOMIC_RELEASE); // it is there until the kernel has ended
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_kernel_destroy(lost);
    end();
}

static void lost_device_goes_on_when_it_is_opened_again(void **state)
{
    (void)state;
    if (SANITIZED || !is_here("opencl:0"))
        skip();
    device_is_opened_again_beside_what_hangs("opencl:0?ring=persistent&patience=5", "waits");
    device_is_opened_again_beside_what_hangs("opencl:0?ring=relaunch&patience=5", "waits");
    device_is_opened_again_beside_what_hangs("opencl:0?ring=relaunch&memory=plain&patience=5", "lasts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handler_is_waited_for_as_long_as_the_device_is_patient),
        cmocka_unit_test(routes_of_a_lost_device_go_and_no_new_ones_come),
        cmocka_unit_test(lost_device_goes_on_when_it_is_opened_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
