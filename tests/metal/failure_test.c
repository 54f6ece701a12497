// SPDX-License-Identifier: Apache-2.0
// The program of the sweep on a Metal of which the k-th call gives nothing, or loses the device: for some k, or with
// `all` for every one. Each time the program hears of it by the call's name, nothing is left, no call was wrong, and
// the device goes on: at once, or when it has been reopened.
#define _POSIX_C_SOURCE 200809L
#include "tests/failures/program.h"
#include "tests/metal/metal_test.h"

#include "base/clock.h"
#include "base/purse_test.h"
#include "hal/metal/metal.h"

#include <unistd.h>

enum { NOTHING = 0, LOST = 1 }; // fake_metal.error

static slr_status open_it(const struct purse *purse, slr_device **out)
{
    const slr_allocator allocator = {purse_give, purse_take, (void *)(uintptr_t)purse};
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 4096;
    desc.allocator = &allocator;
    desc.on_print = hear;
    return slr_device_open("metal:0", &desc, out);
}

static void leave(struct play *p)
{
    let_go(p);
    end_ring(p);
    slr_program_destroy(p->program);
}

static void plays(slr_device *device)
{
    struct play p = {.device = device};
    must(play(&p, true));
    leave(&p);
}

static const char *failed_call(void)
{
    return __atomic_load_n(&metal->failed, __ATOMIC_RELAXED);
}

// What a heap or a cache asks for without having to have it is made up for; of a loss nobody hears who asks no more.
static void check_told(slr_status status, uint32_t k)
{
    char name[16];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(failed_call(), ":"), failed_call());
    if (status == SLR_OK || strstr(slr_error_message(), name) || strstr(slr_error_message(), "a command buffer failed"))
        return;
    if (!strstr(slr_error_message(), "was lost"))
        fail_msg("call %u, %s, fails: %s, which does not say so: '%s'", k, failed_call(), slr_status_name(status),
                 slr_error_message());
}

static void begin(uint32_t error, uint32_t k)
{
    metal->calls = 0;
    metal->failed = NULL;
    metal->error = error;
    __atomic_store_n(&metal->fail_at, k, __ATOMIC_RELEASE);
}

static void end(void)
{
    __atomic_store_n(&metal->fail_at, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&metal->lost, 0, __ATOMIC_RELEASE);
}

// False: so many calls there are not.
static bool fail_once(uint32_t error, uint32_t k)
{
    struct purse purse = {.left = UINT64_MAX};
    struct play p = {0};
    begin(error, k);
    slr_status status = open_it(&purse, &p.device);
    const bool is_open = status == SLR_OK;
    if (is_open)
        status = play(&p, true);
    const bool came = failed_call() != NULL;
    end();
    if (status != SLR_OK && !came)
        fail_msg("call %u: %s, and nothing had failed: %s", k, slr_status_name(status), slr_error_message());
    if (came)
        check_told(status, k);
    leave(&p);
    if (is_open && slr_device_reopen(p.device, LONG) != SLR_OK)
        check_message("is not lost", "slr_device_reopen", __FILE__, __LINE__);
    if (!is_open)
        must(open_it(&purse, &p.device));
    plays(p.device);
    slr_device_close(p.device);
    if (!all_has_gone() || purse.out != 0)
        fail_msg("call %u, %s, fails: %d objects and %llu B are left, %u calls were wrong: %s", k,
                 came ? failed_call() : "(none)", metal->live, (unsigned long long)purse.out, metal->wrong,
                 metal->first_wrong);
    return came;
}

static bool each; // call, and not some of them

static void sweep(uint32_t error, uint32_t from, uint32_t step)
{
    uint32_t k = each ? 1 : from;
    alarm(900);
    do
        forget_stored(); // so that all is compiled first, and found then
    while (fail_once(error, k) && (k += each ? 1 : step) != 0);
    assert_in_range(k, 40, 1000);
    alarm(0);
}

static void each_call_gives_nothing(void **state)
{
    (void)state;
    sweep(NOTHING, 2, 7);
}

static void each_call_loses_the_device(void **state)
{
    (void)state;
    sweep(LOST, 1, 9);
}

// ---- command buffers -----------------------------------------------------------------------------------------------

struct bench {
    slr_device *device;
    slr_stream *stream;
    slr_buffer *buffer;
};

static void set_up(struct bench *b)
{
    must(slr_device_open("metal:0", NULL, &b->device));
    must(slr_stream_create(b->device, NULL, &b->stream));
    must(slr_buffer_create(b->device, 256, &b->buffer));
}

static void tear_down(struct bench *b)
{
    slr_buffer_destroy(b->buffer);
    slr_stream_destroy(b->stream);
    slr_device_close(b->device);
}

static void command_buffer_without_memory_fails_its_stream_and_no_more(void **state)
{
    struct bench b;
    uint32_t back = 0;
    (void)state;
    set_up(&b);
    metal->error = NOTHING;
    metal->fail_name = "commit";
    must(slr_stream_fill(b.stream, b.buffer, 0, 256, "\7\0\0\0", 4, NULL));
    assert_int_equal(slr_stream_finish(b.stream, LONG), SLR_NO_MEMORY);
    check_message("device 'metal:0': a command buffer failed: insufficient memory", "finish", __FILE__, __LINE__);
    must(slr_stream_recover(b.stream));
    must(slr_stream_fill(b.stream, b.buffer, 0, 256, "\7\0\0\0", 4, NULL));
    must(slr_stream_finish(b.stream, LONG));
    must(slr_buffer_read(b.buffer, 252, &back, sizeof back));
    assert_int_equal(back, 7);
    tear_down(&b);
}

static void lost_device_says_why_and_is_opened_again(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b);
    metal->error = LOST;
    metal->fail_name = "commit";
    must(slr_stream_fill(b.stream, b.buffer, 0, 256, "\7\0\0\0", 4, NULL));
    assert_int_equal(slr_stream_finish(b.stream, LONG), SLR_DEVICE_LOST);
    check_message("a command buffer failed: the device was removed", "finish", __FILE__, __LINE__);
    slr_buffer_destroy(b.buffer);
    slr_stream_destroy(b.stream);
    must(slr_device_reopen(b.device, LONG));
    must(slr_stream_create(b.device, NULL, &b.stream));
    must(slr_buffer_create(b.device, 256, &b.buffer));
    must(slr_stream_fill(b.stream, b.buffer, 0, 256, "\7\0\0\0", 4, NULL));
    must(slr_stream_finish(b.stream, LONG));
    tear_down(&b);
}

// By the backend's own slots: the engine waits for minutes.
static void what_does_not_end_in_time_loses_the_device_and_stays(void **state)
{
    const struct slri_spec spec = {.backend = "metal"};
    struct slri_command fill = {.op = SLRI_FILL, .fill = {.bytes = 64, .pattern_bytes = 1}};
    const struct slri_extras none = {0};
    void *device, *queue, *memory;
    (void)state;
    must(slri_backend_metal.open(&spec, NULL, &device));
    must(slri_mt_queue_create(device, SLR_DEFAULT_PRIORITY, &queue));
    must(slri_mt_memory_create(device, SLRI_MEMORY_DEVICE, 64, &memory));
    __atomic_store_n(&metal->hangs, 1, __ATOMIC_RELAXED);
    fill.fill.device = memory;
    must(slri_mt_encode(device, queue, &fill, &none, 1));
    assert_int_equal(slri_mt_wait(device, queue, slri_deadline_after(20000000), NULL), SLR_DEVICE_LOST);
    check_message("a command did not end in time", "wait", __FILE__, __LINE__);
    assert_int_equal(slri_mt_encode(device, queue, &fill, &none, 1), SLR_DEVICE_LOST);
    const int32_t live = metal->live;
    slri_mt_queue_destroy(device, queue);
    slri_backend_metal.close(device);
    assert_int_equal(metal->live, live); // nothing that it may still touch was given up
    assert_true(live > 0);
    metal->live = 0; // they stay
    __atomic_store_n(&metal->hangs, 0, __ATOMIC_RELAXED);
}

// ---- the compiler --------------------------------------------------------------------------------------------------

static void words_of_the_compiler_are_told(void **state)
{
    static const char source_of_it[] = "__global__ void set(unsigned *to) { to[0] = 1; }\n";
    struct bench b;
    slr_program *program;
    slr_kernel *set;
    (void)state;
    set_up(&b);
    forget_stored();
    must(slr_program_from_text(b.device, "wrong.cu", source_of_it, NULL, &program));
    must(slr_program_get_kernel(program, "set", &set));
    metal->error = NOTHING;
    metal->words = "wrong.cu:1:41: error: made up";
    metal->fail_name = "newLibraryWithSource:options:error:";
    assert_int_equal(SLR_LAUNCH(b.stream, set, SLR_GRID(1, 1, 0), b.buffer), SLR_COMPILE);
    check_message("kernel set: the compiler of device 'metal:0' rejected its MSL: wrong.cu:1:41: error: made up",
                  "launch", __FILE__, __LINE__);
    metal->words = NULL;
    must(SLR_LAUNCH(b.stream, set, SLR_GRID(1, 1, 0), b.buffer));
    must(slr_stream_finish(b.stream, LONG));
    slr_kernel_destroy(set);
    slr_program_destroy(program);
    tear_down(&b);
}

// ---- devices and systems -------------------------------------------------------------------------------------------

static void system_without_metal_3_is_refused(void **state)
{
    slr_device *device = NULL;
    (void)state;
    metal->system_major = 12;
    assert_int_equal(slr_device_open("metal:0", NULL, &device), SLR_NO_DEVICE);
    check_message("device 'metal:0' (Simulated Metal device) lacks Metal 3", "open", __FILE__, __LINE__);
    metal->system_major = 0;
    assert_int_equal(slr_device_open("metal:1", NULL, &device), SLR_NO_DEVICE);
    check_message("device 'metal:1': there are only 1", "open", __FILE__, __LINE__);
    must(slr_device_open("metal:0", NULL, &device));
    slr_device_close(device);
}

static slr_status prepare(const char *text, uint32_t threads)
{
    struct bench b;
    slr_program *program;
    slr_kernel *kernel;
    set_up(&b);
    forget_stored();
    must(slr_program_from_text(b.device, "asks.cu", text, NULL, &program));
    must(slr_program_get_kernel(program, "asks", &kernel));
    slr_status status = SLR_LAUNCH(b.stream, kernel, SLR_GRID(1, threads, 0), b.buffer);
    char said[256];
    snprintf(said, sizeof said, "%s", slr_error_message());
    if (status == SLR_OK)
        must(slr_stream_finish(b.stream, LONG));
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    tear_down(&b);
    return status == SLR_OK ? status : slri_fail(status, "%s", said);
}

static void order_between_threads_takes_macos_15(void **state)
{
    static const char text[] = "__global__ void asks(unsigned *to) { to[0] = 1; __threadfence(); to[1] = 2; }\n";
    (void)state;
    must(prepare(text, 1));
    metal->system_major = 14;
    assert_int_equal(prepare(text, 1), SLR_UNSUPPORTED);
    check_message("asks.cu:1", "launch", __FILE__, __LINE__);
    metal->system_major = 0;
}

static void warps_take_simdgroups_of_32(void **state)
{
    static const char text[] = "__global__ void asks(unsigned *to) { to[0] = __ballot_sync(0xffffffffu, 1); }\n";
    (void)state;
    metal->width = 16;
    assert_int_equal(prepare(text, 32), SLR_UNSUPPORTED);
    check_message("kernel asks: device 'metal:0' has warps of 16 threads, and it counts on 32", "launch", __FILE__,
                  __LINE__);
    metal->width = 0;
    must(prepare(text, 32));
}

int main(int argc, char **argv)
{
    each = argc > 1 && strcmp(argv[1], "all") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_call_gives_nothing, nothing_is_left),
        cmocka_unit_test_teardown(each_call_loses_the_device, nothing_is_left),
        cmocka_unit_test_teardown(command_buffer_without_memory_fails_its_stream_and_no_more, nothing_is_left),
        cmocka_unit_test_teardown(lost_device_says_why_and_is_opened_again, nothing_is_left),
        cmocka_unit_test_teardown(words_of_the_compiler_are_told, nothing_is_left),
        cmocka_unit_test_teardown(system_without_metal_3_is_refused, nothing_is_left),
        cmocka_unit_test_teardown(order_between_threads_takes_macos_15, nothing_is_left),
        cmocka_unit_test_teardown(warps_take_simdgroups_of_32, nothing_is_left),
        cmocka_unit_test_teardown(what_does_not_end_in_time_loses_the_device_and_stays, nothing_is_left),
    };
    return cmocka_run_group_tests(tests, make_cache, remove_cache);
}
