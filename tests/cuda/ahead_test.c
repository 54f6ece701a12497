// SPDX-License-Identifier: Apache-2.0
// What the driver is given before what is in front of it is done, on a driver that is simulated.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

#include "base/clock.h"

static const char source[] = "__global__ void twice(int *p) { p[threadIdx.x] = 2 * p[threadIdx.x] + 1; }\n"
                             "__global__ void divide(int *p, int by) { p[threadIdx.x] /= by; }\n";

struct ahead {
    slr_device *device;
    slr_stream *stream, *gate;
    slr_buffer *p;
    slr_program *program;
    slr_kernel *twice, *divide;
    uint32_t opened; // atomic: the gate
    slr_point point[4];
};

static void set_up(struct ahead *a)
{
    reset();
    must(slr_device_open("cuda:0", NULL, &a->device));
    must(slr_stream_create(a->device, NULL, &a->stream));
    must(slr_stream_create(a->device, NULL, &a->gate));
    must(slr_buffer_create(a->device, 4, &a->p));
    must(slr_buffer_write(a->p, 0, &(int){0}, 4));
    must(slr_program_from_text(a->device, "ahead.cu", source, NULL, &a->program));
    must(slr_program_get_kernel(a->program, "twice", &a->twice));
    must(slr_program_get_kernel(a->program, "divide", &a->divide));
    must(SLR_LAUNCH(a->stream, a->twice, SLR_GRID(1, 1, 0), a->p)); // it is loaded
    must(SLR_LAUNCH(a->stream, a->divide, SLR_GRID(1, 1, 0), a->p, 1));
    must(slr_stream_finish(a->stream, LONG));
}

static void tear_down(struct ahead *a)
{
    slr_buffer_destroy(a->p);
    slr_kernel_destroy(a->divide);
    slr_kernel_destroy(a->twice);
    slr_program_destroy(a->program);
    slr_stream_destroy(a->gate);
    slr_stream_destroy(a->stream);
    slr_device_close(a->device);
    nothing_is_left("ahead");
}

static void keep_shut(void *user, slr_status status)
{
    struct ahead *a = user;
    (void)status;
    while (!__atomic_load_n(&a->opened, __ATOMIC_ACQUIRE))
        slri_sleep_ns(100000);
}

// What is submitted behind it begins when the gate opens, and is all there then.
static void shut(struct ahead *a)
{
    slr_point at;
    must(slr_stream_call(a->gate, keep_shut, a, &at));
    must(slr_stream_wait(a->stream, at));
}

static void open_gate(struct ahead *a)
{
    __atomic_store_n(&a->opened, 1, __ATOMIC_RELEASE);
}

static void set_waiting(uint32_t keeps)
{
    __atomic_store_n(&fake->keeps_waiting, keeps, __ATOMIC_RELEASE);
}

static void await_wait(uint32_t waits)
{
    uint64_t deadline_ns = slri_deadline_after(LONG);
    while (__atomic_load_n(&fake->waiting, __ATOMIC_ACQUIRE) < waits && !slri_passed(deadline_ns))
        slri_sleep_ns(100000);
    assert_int_equal(__atomic_load_n(&fake->waiting, __ATOMIC_ACQUIRE), waits);
}

static void launch(struct ahead *a, int i)
{
    must(slr_launch(a->stream, a->twice, SLR_GRID(1, 1, 0), (slr_arg[]){slr_arg_buffer(a->p)}, 1, &a->point[i]));
}

static int value_of(struct ahead *a)
{
    int value;
    must(slr_buffer_read(a->p, 0, &value, 4));
    return value;
}

static void launches_of_a_stream_are_given_to_the_driver_before_the_first_is_done(void **state)
{
    (void)state;
    struct ahead a = {0};
    set_up(&a);
    shut(&a);
    for (int i = 0; i < 3; ++i)
        launch(&a, i);
    uint32_t before = fake->commands;
    set_waiting(1);
    open_gate(&a);
    await_wait(1);
    assert_int_equal(fake->commands - before, 3);
    assert_false(slr_point_passed(a.point[0]));
    set_waiting(0);
    must(slr_point_wait(a.point[0], LONG));
    must(slr_stream_finish(a.stream, LONG));
    assert_int_equal(value_of(&a), 15); // 1, 3, 7, 15: in order
    tear_down(&a);
}

static void point_passes_when_its_own_launch_is_done(void **state)
{
    (void)state;
    struct ahead a = {0};
    set_up(&a);
    shut(&a);
    for (int i = 0; i < 3; ++i)
        launch(&a, i);
    set_waiting(2);
    open_gate(&a);
    await_wait(2);
    must(slr_point_wait(a.point[0], LONG));
    assert_false(slr_point_passed(a.point[1]));
    set_waiting(0);
    must(slr_stream_finish(a.stream, LONG));
    tear_down(&a);
}

static void launch_to_an_idle_stream_is_given_to_the_driver_by_the_caller(void **state)
{
    (void)state;
    struct ahead a = {0};
    set_up(&a);
    uint32_t before = fake->commands;
    launch(&a, 0);
    assert_int_equal(fake->commands - before, 1);
    must(slr_stream_finish(a.stream, LONG));
    tear_down(&a);
}

static void nothing_is_begun_behind_a_kernel_that_may_fault(void **state)
{
    (void)state;
    struct ahead a = {0};
    set_up(&a);
    shut(&a);
    must(SLR_LAUNCH(a.stream, a.divide, SLR_GRID(1, 1, 0), a.p, 0));
    launch(&a, 0);
    uint32_t before = fake->commands;
    open_gate(&a);
    assert_int_equal(slr_stream_finish(a.stream, LONG), SLR_HANDLER_FAULT);
    assert_non_null(strstr(slr_error_message(), "divide"));
    assert_int_equal(fake->commands - before, 1);
    must(slr_stream_recover(a.stream));
    must(slr_stream_finish(a.stream, LONG));
    tear_down(&a);
}

static void loss_of_the_device_fails_all_that_was_begun_and_names_the_first(void **state)
{
    (void)state;
    struct ahead a = {0};
    set_up(&a);
    shut(&a);
    for (int i = 0; i < 3; ++i)
        launch(&a, i);
    fake->fault_at = fake->commands + 2;
    fake->error = 700;
    open_gate(&a);
    assert_int_equal(slr_point_wait(a.point[2], LONG), SLR_DEVICE_LOST);
    assert_int_equal(slr_stream_finish(a.stream, LONG), SLR_DEVICE_LOST);
    tear_down(&a);
}

static void whatever_call_fails_all_ends_and_nothing_is_left(void **state)
{
    (void)state;
    uint32_t failures = 0;
    for (uint32_t k = 1; k < 40; ++k) {
        struct ahead a = {0};
        set_up(&a);
        shut(&a);
        for (int i = 0; i < 3; ++i)
            launch(&a, i);
        fake->fail_at = fake->calls + k;
        open_gate(&a);
        slr_status status = slr_stream_finish(a.stream, LONG);
        slr_status first = slr_point_wait(a.point[0], LONG);
        const char *failed = fake->failed;
        fake->fail_at = 0;
        failures += status != SLR_OK;
        assert_true(status != SLR_OK || value_of(&a) == 15);
        assert_true(first == SLR_OK || status != SLR_OK);
        assert_true(status == SLR_OK || failed);
        tear_down(&a);
    }
    assert_true(failures > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_a_stream_are_given_to_the_driver_before_the_first_is_done),
        cmocka_unit_test(point_passes_when_its_own_launch_is_done),
        cmocka_unit_test(launch_to_an_idle_stream_is_given_to_the_driver_by_the_caller),
        cmocka_unit_test(nothing_is_begun_behind_a_kernel_that_may_fault),
        cmocka_unit_test(whatever_call_fails_all_ends_and_nothing_is_left),
        cmocka_unit_test(loss_of_the_device_fails_all_that_was_begun_and_names_the_first),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}
