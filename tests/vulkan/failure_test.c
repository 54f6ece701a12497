// SPDX-License-Identifier: Apache-2.0
// The program of the sweep on the Vulkan that is here, of which the k-th call fails, for every k. Each time the program
// hears of it by the call's name, nothing is left, and the device goes on: at once, or when it has been reopened.
#define _POSIX_C_SOURCE 200809L
#include "tests/failures/program.h"
#include "tests/vulkan/vulkan_test.h"

#include "base/purse_test.h"

#include <unistd.h>
#include <vulkan/vulkan_core.h>

static slr_status open_it(const struct purse *purse, slr_device **out)
{
    const slr_allocator allocator = {purse_give, purse_take, (void *)(uintptr_t)purse};
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 4096;
    desc.allocator = &allocator;
    desc.on_print = hear;
    return slr_device_open("vulkan:0", &desc, out);
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
    return __atomic_load_n(&vulkan->failed, __ATOMIC_RELAXED);
}

// What the calls below a heap or a list refuse for want of memory is made up for.
static bool may_be_unheard(void)
{
    static const char *const made_up[] = {"AllocateMemory", "CreateBuffer", "BindBufferMemory", "MapMemory"};
    for (size_t i = 0; i < sizeof made_up / sizeof *made_up; ++i)
        if (strcmp(failed_call(), made_up[i]) == 0)
            return true;
    return vulkan->result != VK_ERROR_DEVICE_LOST;
}

static void check_told(slr_status status, uint32_t k)
{
    if (status == SLR_OK && may_be_unheard())
        return;
    if (!strstr(slr_error_message(), failed_call()) && !strstr(slr_error_message(), "was lost"))
        fail_msg("call %u, vk%s, fails: %s, which does not say so: '%s'", k, failed_call(), slr_status_name(status),
                 slr_error_message());
}

// False: so many calls there are not.
static bool fail_once(VkResult result, uint32_t k)
{
    struct purse purse = {.left = UINT64_MAX};
    struct play p = {0};
    vulkan->calls = 0;
    vulkan->failed = NULL;
    vulkan->result = result;
    __atomic_store_n(&vulkan->fail_at, k, __ATOMIC_RELEASE);
    slr_status status = open_it(&purse, &p.device);
    const bool is_open = status == SLR_OK;
    if (is_open)
        status = play(&p, true);
    const bool came = failed_call() != NULL;
    __atomic_store_n(&vulkan->fail_at, 0, __ATOMIC_RELEASE);
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
    if (vulkan->live != 0 || purse.out != 0)
        fail_msg("call %u, vk%s, fails: %d objects and %llu B are left", k, came ? failed_call() : "(none)",
                 vulkan->live, (unsigned long long)purse.out);
    return came;
}

static void sweep(VkResult result)
{
    uint32_t k = 1;
    alarm(200);
    while (fail_once(result, k))
        ++k;
    assert_in_range(k, 60, 1000);
    alarm(0);
}

static void each_call_finds_no_memory(void **state)
{
    (void)state;
    sweep(VK_ERROR_OUT_OF_DEVICE_MEMORY);
}

static void each_call_finds_the_device_lost(void **state)
{
    (void)state;
    sweep(VK_ERROR_DEVICE_LOST);
}

// Of a kernel that is new to the process, whose k-th call gives `result`.
static slr_status launch_failing(slr_device *device, VkResult result, uint32_t k)
{
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    must(slr_program_from_text(device, "k.cu", "__global__ void k(unsigned n) {}", NULL, &program));
    must(slr_program_get_kernel(program, "k", &kernel));
    must(slr_stream_create(device, NULL, &stream));
    vulkan->calls = 0;
    vulkan->failed = NULL;
    vulkan->result = result;
    __atomic_store_n(&vulkan->fail_at, k, __ATOMIC_RELEASE);
    slr_status status = SLR_LAUNCH(stream, kernel, SLR_GRID(1, 1, 0), slr_arg_unsigned(1));
    __atomic_store_n(&vulkan->fail_at, 0, __ATOMIC_RELEASE);
    slr_status finished = slr_stream_finish(stream, LONG);
    status = status == SLR_OK ? finished : status;
    slr_stream_destroy(stream);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    return status;
}

// Vulkan has no error for it that all drivers give.
static void a_driver_that_refuses_code_loses_no_device(void **state)
{
    static const VkResult refused[] = {VK_ERROR_UNKNOWN, VK_ERROR_INITIALIZATION_FAILED, VK_ERROR_INVALID_SHADER_NV};
    struct purse purse = {.left = UINT64_MAX};
    slr_device *device;
    uint32_t k = 1;
    (void)state;
    must(open_it(&purse, &device));
    plays(device); // what is tried of a device has been
    for (; !failed_call() || strcmp(failed_call(), "CreateComputePipelines") != 0; ++k)
        (void)launch_failing(device, VK_ERROR_OUT_OF_DEVICE_MEMORY, k);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i)
        refuses(launch_failing(device, refused[i], k - 1), COMPILE, "rejected its SPIR-V");
    plays(device);
    slr_device_close(device);
}

// No device is there any more: what is asked of it says so, and no call reaches the driver without one.
static void a_reopening_that_fails_leaves_a_lost_device(void **state)
{
    struct purse purse = {.left = UINT64_MAX};
    slr_device *device;
    slr_buffer *buffer;
    (void)state;
    must(open_it(&purse, &device));
    plays(device);
    refuses(launch_failing(device, VK_ERROR_DEVICE_LOST, 1), DEVICE_LOST, "was lost");
    vulkan->calls = 0;
    vulkan->result = VK_ERROR_INITIALIZATION_FAILED;
    __atomic_store_n(&vulkan->fail_at, 1, __ATOMIC_RELEASE);
    assert_int_not_equal(slr_device_reopen(device, LONG), SLR_OK);
    __atomic_store_n(&vulkan->fail_at, 0, __ATOMIC_RELEASE);
    refuses(slr_buffer_create(device, 4096, &buffer), DEVICE_LOST, "was lost");
    must(slr_device_reopen(device, LONG));
    plays(device);
    slr_device_close(device);
    assert_int_equal(vulkan->astray, 0);
    assert_int_equal(vulkan->live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_finds_no_memory),
        cmocka_unit_test(each_call_finds_the_device_lost),
        cmocka_unit_test(a_driver_that_refuses_code_loses_no_device),
        cmocka_unit_test(a_reopening_that_fails_leaves_a_lost_device),
    };
    return load_vulkan() ? cmocka_run_group_tests(tests, NULL, NULL) : NO_VULKAN;
}
