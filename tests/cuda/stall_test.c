// SPDX-License-Identifier: Apache-2.0
// Calls of the driver that do not return while kernels stay, on a driver that is simulated: the call that is named
// waits for them, in whatever thread makes it, and is wrong where it waits for long. Kernels here do not end by being
// idle.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/residence.h"

#include "base/clock.h"

#define DEVICE "cuda:0?ring=persistent&stall_ms=20"

static slr_device_info info_of(const slr_device *device)
{
    slr_device_info info;
    must(slr_device_get_info(device, &info));
    return info;
}

static void begin(struct residence *r, const char *spec)
{
    reset();
    fake->most_idle = UINT32_MAX;
    must(launch(r, spec));
    must(ask(r, 1));
}

// Others may be there too: on a busy machine any call may take 20 ms, and then kernels are parked when the next is
// made.
static bool has_stalled_in(const slr_device *device, const char *call)
{
    return strstr(info_of(device).stalled, call) != NULL;
}

static void wait_for_stall_in(const slr_device *device, const char *call)
{
    uint64_t deadline_ns = slri_deadline_after(LONG);
    while (!has_stalled_in(device, call) && !slri_passed(deadline_ns))
        slri_sleep_ns(1000000);
    if (!has_stalled_in(device, call))
        fail_msg("%s is not among the calls that stalled: %s", call, info_of(device).stalled);
}

// What a program may do beside kernels that stay, without them being parked for it.
static void work(struct residence *r, slr_kernel *kernel)
{
    slr_stream *stream;
    int words[8] = {1};
    must(slr_stream_create(r->device, NULL, &stream));
    must(slr_stream_write(stream, r->buffer, 0, words, sizeof words, NULL));
    must(slr_stream_fill(stream, r->buffer, 0, sizeof words, "\0", 1, NULL));
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 8, 0), r->buffer, 5));
    must(slr_stream_read(stream, r->buffer, 0, words, sizeof words, NULL));
    must(slr_stream_finish(stream, LONG));
    assert_int_equal(words[7], 5);
    slr_stream_destroy(stream);
}

static void call_that_waits_for_kernels_that_stay_returns_and_is_named(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "cuStreamCreateWithPriority", "cuMemcpyHtoDAsync_v2", "cuMemsetD8Async", "cuLaunchKernel",
        "cuMemcpyDtoHAsync_v2",       "cuStreamSynchronize"};
    struct residence r = {0};
    slr_kernel *kernel;
    begin(&r, DEVICE);
    must(slr_program_get_kernel(r.program, "add", &kernel));
    must(slr_buffer_create(r.device, 64, &r.buffer));
    work(&r, kernel); // what is loaded and taken is
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        for (int tries = 0; tries < 50 && !has_stalled_in(r.device, calls[i]); ++tries) {
            must(ask(&r, 2)); // they stay
            __atomic_store_n(&fake->stalls_in, calls[i], __ATOMIC_RELEASE);
            work(&r, kernel);
            __atomic_store_n(&fake->stalls_in, NULL, __ATOMIC_RELEASE);
        }
        wait_for_stall_in(r.device, calls[i]);
    }
    must(ask(&r, 3));
    assert_true(info_of(r.device).pauses >= info_of(r.device).stalls);
    slr_kernel_destroy(kernel);
    end(&r);
    nothing_is_left("stalled");
}

static slr_status multiply(struct residence *r, slr_ops *ops, slr_buffer *result)
{
    slr_stream *stream;
    must(slr_stream_create(r->device, NULL, &stream));
    slr_tensor a = slr_tensor_2d(SLR_F32, r->buffer, 2, 2), c = slr_tensor_2d(SLR_F32, result, 2, 2);
    slr_matmul_desc desc = SLR_MATMUL_DESC_INIT;
    desc.a = &a, desc.b = &a, desc.c = &c;
    slr_status status = slr_ops_matmul(ops, stream, &desc, NULL);
    if (status == SLR_OK)
        status = slr_stream_finish(stream, LONG);
    slr_stream_destroy(stream);
    return status;
}

// What a library calls of the driver nobody sees: so its call is watched as a whole.
static void call_of_a_library_that_waits_for_kernels_that_stay_returns(void **state)
{
    (void)state;
    static const char *const calls[] = {"cublasLtCreate", "cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul"};
    assert_int_equal(setenv("SLIPRING_CUBLASLT_LIB", getenv("SLIPRING_FAKE_CUDA"), 1), 0);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        struct residence r = {0};
        slr_ops *ops;
        slr_buffer *result;
        begin(&r, DEVICE);
        must(slr_buffer_create(r.device, 16, &r.buffer));
        must(slr_buffer_create(r.device, 16, &result));
        must(slr_ops_create(r.device, NULL, &ops));
        must(ask(&r, 2));
        __atomic_store_n(&fake->stalls_in, calls[i], __ATOMIC_RELEASE);
        must(multiply(&r, ops, result));
        __atomic_store_n(&fake->stalls_in, NULL, __ATOMIC_RELEASE);
        wait_for_stall_in(r.device, "a library's");
        must(ask(&r, 3));
        slr_ops_destroy(ops);
        slr_buffer_destroy(result);
        end(&r);
        nothing_is_left(calls[i]);
    }
    unsetenv("SLIPRING_CUBLASLT_LIB");
}

// Who ends kernels otherwise is itself in the call.
static void poller_that_waits_for_its_kernels_goes_on(void **state)
{
    (void)state;
    struct residence r = {0};
    begin(&r, DEVICE);
    for (uint32_t i = 0; i < 3; ++i) {
        must(ask(&r, i));
        __atomic_store_n(&fake->stalls_in, "cuStreamQuery", __ATOMIC_RELEASE);
        wait_for_stall_in(r.device, "cuStreamQuery");
        __atomic_store_n(&fake->stalls_in, NULL, __ATOMIC_RELEASE);
    }
    must(ask(&r, 3));
    end(&r);
    nothing_is_left("poller");
}

// It is parked for once, in vain; then ring kernels go on, though the call has not returned.
static void call_that_waits_for_something_else_is_let_be(void **state)
{
    (void)state;
    struct residence r = {0};
    slr_stream *stream;
    begin(&r, DEVICE);
    must(slr_buffer_create(r.device, 64, &r.buffer));
    must(slr_stream_create(r.device, NULL, &stream));
    must(ask(&r, 2));
    __atomic_store_n(&fake->held, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&fake->stalls_in, "cuMemsetD8Async", __ATOMIC_RELEASE);
    must(slr_stream_fill(stream, r.buffer, 0, 64, "a", 1, NULL));
    wait_for_stall_in(r.device, "cuMemsetD8Async 1");
    for (uint32_t i = 0; i < 20; ++i) {
        must(ask(&r, i));
        slri_sleep_ns(1000000);
    }
    assert_non_null(strstr(info_of(r.device).stalled, "cuMemsetD8Async 1"));
    __atomic_store_n(&fake->stalls_in, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&fake->held, 0, __ATOMIC_RELEASE);
    must(slr_stream_finish(stream, LONG));
    slr_stream_destroy(stream);
    end(&r);
    nothing_is_left("let be");
}

static void watchdog_has_a_limit_that_can_be_chosen(void **state)
{
    (void)state;
    struct residence r = {0};
    slr_stream *stream;
    slr_device *device;
    reset();
    refuses(slr_device_open("cuda:0?stall_ms=x", NULL, &device), INVALID,
            "stall_ms 'x'; expected 0 (no watchdog) to 60000");
    refuses(slr_device_open("cuda:0?stall_ms=60001", NULL, &device), INVALID, "stall_ms '60001'");
    refuses(slr_device_open("cuda:0?stall_ms=5s", NULL, &device), INVALID, "stall_ms '5s'");
    begin(&r, "cuda:0?ring=persistent&stall_ms=0");
    assert_string_equal(info_of(r.device).name, "cuda:0?stall_ms=0&ring=persistent");
    must(slr_buffer_create(r.device, 64, &r.buffer));
    must(slr_stream_create(r.device, NULL, &stream));
    __atomic_store_n(&fake->held, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&fake->stalls_in, "cuMemsetD8Async", __ATOMIC_RELEASE);
    must(slr_stream_fill(stream, r.buffer, 0, 64, "a", 1, NULL));
    slri_sleep_ns(20000000);
    __atomic_store_n(&fake->held, 0, __ATOMIC_RELEASE);
    must(slr_stream_finish(stream, LONG));
    assert_int_equal(info_of(r.device).stalls, 0);
    slr_stream_destroy(stream);
    end(&r);
    nothing_is_left("no watchdog");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(call_that_waits_for_kernels_that_stay_returns_and_is_named, load_fake),
        cmocka_unit_test(call_of_a_library_that_waits_for_kernels_that_stay_returns),
        cmocka_unit_test(poller_that_waits_for_its_kernels_goes_on),
        cmocka_unit_test(call_that_waits_for_something_else_is_let_be),
        cmocka_unit_test(watchdog_has_a_limit_that_can_be_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
