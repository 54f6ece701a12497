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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_finds_no_memory),
        cmocka_unit_test(each_call_finds_the_device_lost),
    };
    return load_vulkan() ? cmocka_run_group_tests(tests, NULL, NULL) : NO_VULKAN;
}
