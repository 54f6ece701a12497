// SPDX-License-Identifier: Apache-2.0
// The program of the sweep on the wgpu-native that is here, of which the k-th call fails: for some k, or with `all` for
// every one. Each time the program
// hears of it by the call's name, nothing is left, and the device goes on: at once, or when it has been reopened.
#define _POSIX_C_SOURCE 200809L
#include "tests/failures/program.h"
#include "tests/webgpu/webgpu_test.h"

#include "base/purse_test.h"

#include <unistd.h>

enum { LOST = 0, VALIDATION = 2, OUT_OF_MEMORY = 3 }; // WGPUErrorType; the first: none

static slr_status open_it(const struct purse *purse, slr_device **out)
{
    const slr_allocator allocator = {purse_give, purse_take, (void *)(uintptr_t)purse};
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 4096;
    desc.allocator = &allocator;
    desc.on_print = hear;
    return slr_device_open("webgpu:0", &desc, out);
}

static void leave(struct play *p)
{
    let_go(p);
    end_ring(p);
    slr_program_destroy(p->program);
}

static void plays(slr_device *device)
{
    struct play p = {.device = device, .is_mute = true};
    must(play(&p, true));
    leave(&p);
}

static const char *failed_call(void)
{
    return __atomic_load_n(&webgpu->failed, __ATOMIC_RELAXED);
}

// What a heap or a cache asks for without having to have it is made up for.
static bool may_be_unheard(void)
{
    return webgpu->error != 0;
}

static void check_told(slr_status status, uint32_t k)
{
    if (status == SLR_OK && may_be_unheard())
        return;
    if (!strstr(slr_error_message(), failed_call()) && !strstr(slr_error_message(), "was lost"))
        fail_msg("call %u, wgpu%s, fails: %s, which does not say so: '%s'", k, failed_call(), slr_status_name(status),
                 slr_error_message());
}

// False: so many calls there are not.
static bool fail_once(uint32_t error, uint32_t k)
{
    struct purse purse = {.left = UINT64_MAX};
    struct play p = {.is_mute = true};
    webgpu->calls = 0;
    webgpu->failed = NULL;
    webgpu->error = error;
    __atomic_store_n(&webgpu->fail_at, k, __ATOMIC_RELEASE);
    slr_status status = open_it(&purse, &p.device);
    const bool is_open = status == SLR_OK;
    if (is_open)
        status = play(&p, true);
    const bool came = failed_call() != NULL;
    __atomic_store_n(&webgpu->fail_at, 0, __ATOMIC_RELEASE);
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
    if (webgpu->live != 0 || purse.out != 0)
        fail_msg("call %u, wgpu%s, fails: %d objects and %llu B are left", k, came ? failed_call() : "(none)",
                 webgpu->live, (unsigned long long)purse.out);
    return came;
}

static bool each; // call, and not some of them

static void sweep(uint32_t error, uint32_t from, uint32_t step)
{
    uint32_t k = each ? 1 : from;
    alarm(600);
    while (fail_once(error, k))
        k += each ? 1 : step;
    assert_in_range(k, 60, 1000);
    alarm(0);
}

static void each_call_finds_no_memory(void **state)
{
    (void)state;
    sweep(OUT_OF_MEMORY, 2, 9);
}

static void each_call_is_refused(void **state)
{
    (void)state;
    sweep(VALIDATION, 4, 17);
}

static void each_call_finds_the_device_lost(void **state)
{
    (void)state;
    sweep(LOST, 1, 6);
}

// ---- waiting -------------------------------------------------------------------------------------------------------

// A poll that waits has no deadline: what hangs would never come back.
static void waits_ask_again_and_again_and_never_inside_the_library(void **state)
{
    slr_device *device;
    (void)state;
    webgpu->polls = webgpu->waits = 0;
    must(slr_device_open("webgpu:0", NULL, &device));
    plays(device);
    slr_device_close(device);
    assert_int_equal(webgpu->waits, 0);
    assert_true(webgpu->polls > 0);
}

static void complaint_of_a_poll_is_told_once_the_work_has_ended(void **state)
{
    static const uint32_t sent[4] = {1, 2, 3, 4};
    uint32_t seen[4] = {0};
    slr_device *device;
    slr_buffer *buffer;
    (void)state;
    must(slr_device_open("webgpu:0", NULL, &device));
    must(slr_buffer_create(device, sizeof sent, &buffer));
    must(slr_buffer_write(buffer, 0, sent, sizeof sent));
    webgpu->error = VALIDATION;
    webgpu->fail_name = "DevicePoll";
    assert_int_equal(slr_buffer_read(buffer, 0, seen, sizeof seen), SLR_INTERNAL);
    check_message("wgpuDevicePoll is refused", "slr_buffer_read", __FILE__, __LINE__);
    for (int i = 0; i < 20; ++i) { // in the same places, one after the other
        memset(seen, 0, sizeof seen);
        must(slr_buffer_read(buffer, 0, seen, sizeof seen));
        assert_memory_equal(seen, sent, sizeof sent);
    }
    slr_buffer_destroy(buffer);
    slr_device_close(device);
    assert_int_equal(webgpu->live, 0);
}

// ---- adapters and versions -----------------------------------------------------------------------------------------

static void no_device_says(const char *words)
{
    slr_device *device = NULL;
    assert_int_equal(slr_device_open("webgpu:0", NULL, &device), SLR_NO_DEVICE);
    check_message(words, "slr_device_open", __FILE__, __LINE__);
}

static void null_adapter_is_refused_and_another_is_not(void **state)
{
    slr_device *device;
    (void)state;
    webgpu->backend = 1;
    no_device_says("is a Null adapter, which computes nothing");
    webgpu->backend = UINT32_MAX;
    no_device_says("has a backend that is not known (0)");
    webgpu->backend = 77;
    no_device_says("has a backend that is not known (77)");
    webgpu->backend = 0;
    must(slr_device_open("webgpu:0", NULL, &device));
    slr_device_close(device);
}

// ---- the compiler --------------------------------------------------------------------------------------------------

static const char wrong[] = "__global__ void set(unsigned *to)\n"
                            "{\n"
                            "    to[0] = 1;\n"
                            "    to[1] = 2;\n"
                            "    to[2] = 3;\n"
                            "}\n";

// The number of the line of the emitted text that holds these words.
static int line_of(const char *text, const char *words)
{
    int line = 1;
    const char *end = strstr(text, words);
    assert_non_null(end);
    for (; text < end; ++text)
        line += *text == '\n';
    return line;
}

static void message_of_the_compiler_names_the_line_of_the_source(void **state)
{
    struct play p = {0};
    char words[96];
    slr_kernel *set;
    (void)state;
    must(slr_device_open("webgpu:0", NULL, &p.device));
    must(slr_stream_create(p.device, NULL, &p.stream));
    must(slr_buffer_create(p.device, 64, &p.a));
    must(slr_program_from_text(p.device, "wrong.cu", wrong, NULL, &p.program));
    must(slr_program_get_kernel(p.program, "set", &set));
    must(SLR_LAUNCH(p.stream, set, SLR_GRID(1, 64, 0), p.a)); // and with it, what the device is asked at first
    must(slr_stream_finish(p.stream, LONG));
    const int line = line_of(webgpu->source, "wrong.cu:4") + 1; // the statement below
    snprintf(words, sizeof words, "Caused by:\n  made up\n  wgsl:%d:3\n", line);
    webgpu->words = words;
    webgpu->error = VALIDATION;
    webgpu->fail_name = "DeviceCreateShaderModule";
    assert_int_equal(SLR_LAUNCH(p.stream, set, SLR_GRID(1, 32, 0), p.a), SLR_COMPILE);
    check_message("wrong.cu:4: kernel set: the compiler of device 'webgpu:0' rejected its WGSL: made up", "launch",
                  __FILE__, __LINE__);
    webgpu->words = NULL;
    must(SLR_LAUNCH(p.stream, set, SLR_GRID(1, 32, 0), p.a));
    slr_kernel_destroy(set);
    leave(&p);
    slr_device_close(p.device);
}

static void grid_of_too_many_parts_is_refused_with_its_size_and_what_to_do(void **state)
{
    static const char text[] =
        "__global__ void last(unsigned *to) { if (blockIdx.x + 1 == gridDim.x) to[0] = gridDim.x; }\n";
    struct play p = {0};
    slr_kernel *last;
    uint32_t seen;
    (void)state;
    must(slr_device_open("webgpu:0", NULL, &p.device));
    must(slr_stream_create(p.device, NULL, &p.stream));
    must(slr_buffer_create(p.device, 64, &p.a));
    must(slr_program_from_text(p.device, "last.cu", text, NULL, &p.program));
    must(slr_program_get_kernel(p.program, "last", &last));
    slr_status status = SLR_LAUNCH(p.stream, last, SLR_GRID(2000000000, 1, 0), p.a);
    if (status == SLR_OK)
        status = slr_stream_finish(p.stream, LONG);
    assert_int_equal(status, SLR_UNSUPPORTED);
    check_message("kernel last: a grid of 2000000000 x 1 x 1 blocks; device 'webgpu:0' has 65535 along an axis, and a "
                  "launch at most ",
                  "launch", __FILE__, __LINE__);
    check_message("launch several smaller grids", "launch", __FILE__, __LINE__);
    must(slr_stream_recover(p.stream));
    must(SLR_LAUNCH(p.stream, last, SLR_GRID(200000, 1, 0), p.a)); // four parts
    must(slr_buffer_read(p.a, 0, &seen, sizeof seen));
    assert_int_equal(seen, 200000);
    slr_kernel_destroy(last);
    leave(&p);
    slr_device_close(p.device);
}

int main(int argc, char **argv)
{
    each = argc > 1 && strcmp(argv[1], "all") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_finds_no_memory),
        cmocka_unit_test(each_call_is_refused),
        cmocka_unit_test(each_call_finds_the_device_lost),
        cmocka_unit_test(waits_ask_again_and_again_and_never_inside_the_library),
        cmocka_unit_test(complaint_of_a_poll_is_told_once_the_work_has_ended),
        cmocka_unit_test(null_adapter_is_refused_and_another_is_not),
        cmocka_unit_test(message_of_the_compiler_names_the_line_of_the_source),
        cmocka_unit_test(grid_of_too_many_parts_is_refused_with_its_size_and_what_to_do),
    };
    return load_webgpu() ? cmocka_run_group_tests(tests, NULL, NULL) : NO_WEBGPU;
}
