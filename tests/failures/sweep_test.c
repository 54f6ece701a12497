// SPDX-License-Identifier: Apache-2.0
// A program that uses everything, on a device of which the k-th call of a slot fails: for every slot and every k. Each
// time the program hears of it, nothing is left, nothing is counted twice, and the device goes on: at once, or when it
// has been reopened.
#include "tests/fakes/fake_cuda.h"
#include "tests/fakes/fake_vulkan.h"
#include "tests/fakes/load.h"
#include "tests/fakes/metal/fake_metal.h"
#include "tests/fakes/toy/toy.h"
#include "tests/failures/program.h"

#include "base/clock.h"
#include "base/purse_test.h"
#include "base/thread.h"
#include "engine/loss.h"

#include <unistd.h>

// ---- after the failure ---------------------------------------------------------------------------------------------

static const char *doing; // which failure

static slr_ring_stats await_ring(slr_ring *ring)
{
    slr_ring_stats stats;
    uint64_t deadline = slri_deadline_after(LONG);
    do {
        must(slr_ring_get_stats(ring, &stats));
        holds(!slri_passed(deadline));
        slri_sleep_ns(10000);
    } while (stats.pending != 0 && stats.state != SLR_RING_IN_FAILURE);
    must(slr_ring_get_stats(ring, &stats));
    check_sum(&stats);
    return stats;
}

#define BY_LOSS "its device was lost" // it had nothing to do with the call

// A ring kernel that has failed handles what is pending, and nothing that was in doubt.
static void restart_ring(struct play *p, const char *why)
{
    if (!p->ring || slr_ring_get_state(p->ring) != SLR_RING_IN_FAILURE)
        return;
    slr_ring_stats before = await_ring(p->ring);
    holds(strstr(before.last_failure, why) || (p->was_lost && strstr(before.last_failure, BY_LOSS)));
    must(slr_ring_restart(p->ring, SLR_RESTART_INITIAL, LONG));
    slr_ring_stats after = await_ring(p->ring);
    holds(after.pending == 0 && after.in_doubt == before.in_doubt && after.accepted == before.accepted);
    holds(after.handled + after.in_doubt == after.accepted);
}

static slr_status open_failing(const char *spec, const struct purse *purse, slr_device **out)
{
    const slr_allocator allocator = {purse_give, purse_take, (void *)(uintptr_t)purse};
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 4096; // zeroed as many times as there are calls
    desc.allocator = &allocator;
    desc.on_print = hear;
    return slr_device_open(spec, &desc, out);
}

static void reopen(struct play *p)
{
    if (p->a)
        gives(slr_buffer_write(p->a, 0, "x", 1), DEVICE_LOST);
    let_go(p);
    check_status(slr_device_reopen(p->device, LONG), SLR_OK, doing, __FILE__, __LINE__);
    p->was_lost = true;
    restart_ring(p, FAILING_WORD);
}

struct subject {
    const struct slri_backend *inner;
    const char *spec;
    bool has_handlers; // that are kernels
    slr_status planted;
};

static void check_told(slr_status status, slr_status planted)
{
    if (status != planted && status != SLR_RING_FAILED)
        fail_msg("%s: %s: %s", doing, slr_status_name(status), slr_error_message());
    if (!strstr(slr_error_message(), FAILING_WORD))
        fail_msg("%s: %s, which does not say why: '%s'", doing, slr_status_name(status), slr_error_message());
}

static struct fake_cuda *driver;    // simulated; of the backend that needs one
static struct fake_vulkan *between; // in front of the Vulkan that is here
static struct fake_metal *metal;    // simulated

// A persistent kernel's memory is made by the backend and given back by its upper layers: there the driver counts.
static void check_nothing_is_left(const struct purse *purse)
{
    if (failing.inner == &slri_backend_cuda) {
        if (driver->live != 0 || driver->staying != 0 || driver->wrong != 0 || purse->out != 0)
            fail_msg("%s: %u objects and %u kernels of the driver and %llu B of the allocator are left, %u wrong calls",
                     doing, driver->live, driver->staying, (unsigned long long)purse->out, driver->wrong);
        return;
    }
    if (failing.inner == &slri_backend_vulkan) { // likewise what goes with a lost device
        if (between->live != 0 || purse->out != 0)
            fail_msg("%s: %d objects of the driver and %llu B of the allocator are left", doing, between->live,
                     (unsigned long long)purse->out);
        return;
    }
    if (failing.inner == &slri_backend_metal) { // likewise
        const uint64_t deadline = slri_deadline_after(LONG);
        while (__atomic_load_n(&metal->live, __ATOMIC_ACQUIRE) != 0 && !slri_passed(deadline))
            slri_sleep_ns(100000); // a command buffer is its queue's thread's, too
        if (metal->live != 0 || metal->wrong != 0 || purse->out != 0)
            fail_msg("%s: %d objects of Metal and %llu B of the allocator are left, %u wrong calls: %s", doing,
                     metal->live, (unsigned long long)purse->out, metal->wrong, metal->first_wrong);
        return;
    }
    if (failing.live != 0 || failing.live_bytes != 0 || purse->out != 0)
        fail_msg("%s: %u objects, %llu B of the device and %llu B of the allocator are left", doing, failing.live,
                 (unsigned long long)failing.live_bytes, (unsigned long long)purse->out);
}

static bool has_failed(void)
{
    return __atomic_load_n(&failing.has_failed, __ATOMIC_ACQUIRE);
}

// From here on nothing fails, so the program does what it should.
static void goes_on(const struct subject *subject, slr_device *device, const struct purse *purse)
{
    struct play again = {.device = device};
    failing.fail_at = 0; // no thread of the device does anything
    must(play(&again, subject->has_handlers));
    let_go(&again);
    end_ring(&again);
    slr_program_destroy(again.program);
    slr_device_close(device);
    check_nothing_is_left(purse);
}

// Plays until a call fails, and sets right what can be. Gives whether it did, and the program did not hear of it.
static bool play_and_mend(const struct subject *subject, slr_device *device)
{
    struct play p = {.device = device};
    slr_status status = play(&p, subject->has_handlers);
    if (status != SLR_OK && !has_failed())
        fail_msg("%s: %s, and nothing had failed: %s", doing, slr_status_name(status), slr_error_message());
    if (status != SLR_OK)
        check_told(status, subject->planted);
    if (status != SLR_OK && subject->planted == SLR_DEVICE_LOST) {
        reopen(&p);
    } else {
        let_go(&p);
        restart_ring(&p, FAILING_WORD);
    }
    end_ring(&p);
    slr_program_destroy(p.program);
    return status == SLR_OK && has_failed();
}

struct outcome {
    uint32_t came, unheard;
};

// False: so many calls there are not.
static bool fail_once(const struct subject *subject, enum failing_slot slot, uint32_t k, struct outcome *outcome)
{
    struct purse purse = {.left = UINT64_MAX};
    slr_device *device = NULL;
    failing_begin(subject->inner, slot, k, subject->planted);
    slr_status status = open_failing(subject->spec, &purse, &device);
    if (status == SLR_OK) {
        outcome->unheard += play_and_mend(subject, device);
    } else {
        check_told(status, subject->planted);
        check_nothing_is_left(&purse);
        must(open_failing(subject->spec, &purse, &device));
    }
    bool came = has_failed();
    outcome->came += came;
    goes_on(subject, device, &purse);
    return came;
}

static char folder[] = "/tmp/slipring-sweep-XXXXXX"; // of stored code

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

// Code is compiled where none is stored.
static void forget_stored_code(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s/*", folder);
    assert_int_equal(system(command), 0);
    setenv("SLIPRING_CACHE_DIR", folder, 1);
}

// A heap asks once more, for less memory; a graph without a list does its commands one after the other.
static bool may_be_unheard(enum failing_slot slot)
{
    return slot == FAILING_memory_create || slot == FAILING_list_create;
}

// Batched launches, and handlers that the host runs, need no slot of their own.
static bool is_used(const struct subject *subject, enum failing_slot slot)
{
    return failing_has(subject->inner, slot) && (slot < FAILING_plan || strstr(subject->spec, "persistent"));
}

static void sweep(const struct subject *subject)
{
    char what[96];
    doing = what;
    for (enum failing_slot slot = 0; slot < FAILING_COUNT; ++slot) {
        struct outcome outcome = {0};
        bool comes = true;
        if (!is_used(subject, slot) || slot == FAILING_probe || slot == FAILING_reopen)
            continue; // those two have tests of their own
        for (uint32_t k = 1; comes; ++k) {
            snprintf(what, sizeof what, "%s, call %u of %s fails with %s", subject->inner->name, k, failing_name[slot],
                     slr_status_name(subject->planted));
            if (slot == FAILING_code_build)
                forget_stored_code();
            alarm(120); // for what waits without a deadline
            comes = fail_once(subject, slot, k, &outcome);
        }
        if (outcome.came == 0 || (outcome.unheard != 0 && !may_be_unheard(slot)))
            fail_msg("%s: %u came, and %u of them were not heard of", what, outcome.came, outcome.unheard);
    }
    alarm(0);
}

static void each_call_of_each_slot_fails_on_a_device_with_queues(void **state)
{
    (void)state;
    sweep(&(struct subject){&slri_backend_toy, "failing:0", true, SLR_NO_MEMORY});
    sweep(&(struct subject){&slri_backend_toy, "failing:0", true, SLR_SYSTEM});
    sweep(&(struct subject){&slri_backend_toy, "failing:0", true, SLR_DEVICE_LOST});
}

static void each_call_of_each_slot_fails_on_a_device_without_queues(void **state)
{
    (void)state;
    sweep(&(struct subject){&slri_backend_cpu, "failing:0", true, SLR_NO_MEMORY});
    sweep(&(struct subject){&slri_backend_cpu, "failing:0", true, SLR_SYSTEM});
}

// A backend with more slots: words, pinned memory, persistent kernels. Its driver is simulated.
static void each_call_of_each_slot_fails_on_a_device_behind_a_driver(void **state)
{
    static const char *const specs[] = {"failing:0?ring=relaunch", "failing:0?ring=persistent"};
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        *driver = (struct fake_cuda){.devices = 1};
        sweep(&(struct subject){&slri_backend_cuda, specs[i], true, SLR_NO_MEMORY});
#ifndef __SANITIZE_THREAD__ // which takes minutes
        sweep(&(struct subject){&slri_backend_cuda, specs[i], true, SLR_SYSTEM});
        sweep(&(struct subject){&slri_backend_cuda, specs[i], true, SLR_DEVICE_LOST});
#endif
    }
}

// A backend whose driver is none of the tests'; where there is one.
static void each_call_of_each_slot_fails_on_vulkan(void **state)
{
    const char *path = getenv("SLIPRING_FAKE_VULKAN"); // not where slipring is built without Vulkan
    uint32_t devices;
    (void)state;
    if (path)
        setenv("SLIPRING_VULKAN_LIB", path, 1);
    if (!path || slri_backend_vulkan.probe(false, &devices) != SLR_OK)
        skip();
    between = ((struct fake_vulkan * (*)(void)) function_of_fake("SLIPRING_FAKE_VULKAN", "fake_vulkan_words"))();
    sweep(&(struct subject){&slri_backend_vulkan, "failing:0", true, SLR_NO_MEMORY});
#ifndef __SANITIZE_THREAD__
    sweep(&(struct subject){&slri_backend_vulkan, "failing:0", true, SLR_DEVICE_LOST});
#endif
}

// Its kernels are fibres, which ThreadSanitizer does not follow.
static void each_call_of_each_slot_fails_on_metal(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip();
#else
    const char *path = getenv("SLIPRING_FAKE_METAL"); // on Linux alone
    if (!path)
        skip();
    setenv("SLIPRING_METAL_LIB", path, 1);
    metal = ((struct fake_metal * (*)(void)) function_of_fake("SLIPRING_FAKE_METAL", "fake_metal_words"))();
    sweep(&(struct subject){&slri_backend_metal, "failing:0", true, SLR_NO_MEMORY});
    sweep(&(struct subject){&slri_backend_metal, "failing:0", true, SLR_DEVICE_LOST});
#endif
}

// The driver comes from the fake for as long as this process lives.
static int load_driver(void **state)
{
    (void)state;
    driver = ((struct fake_cuda * (*)(void)) function_of_fake("SLIPRING_FAKE_CUDA", "fake_cuda_words"))();
    const char *path = getenv("SLIPRING_FAKE_CUDA");
    return setenv("SLIPRING_CUDA_LIB", path, 1) | setenv("SLIPRING_NVRTC_LIB", path, 1);
}

// ---- reopening -----------------------------------------------------------------------------------------------------

#define FIRST_LOSS "for this test"

// A ring kernel stays failed where its restart fails. False: nothing failed.
static bool restart_fails(const struct subject *subject, struct play *p)
{
    if (slr_ring_get_state(p->ring) != SLR_RING_IN_FAILURE)
        return false;
    slr_status status = slr_ring_restart(p->ring, SLR_RESTART_INITIAL, LONG);
    check_status(status, has_failed() ? subject->planted : SLR_OK, doing, __FILE__, __LINE__);
    if (status == SLR_DEVICE_LOST)
        must(slr_device_reopen(p->device, LONG));
    return has_failed();
}

// A lost device stays lost, and the next try has all that it needs.
static bool fail_while_reopened(const struct subject *subject, enum failing_slot slot, uint32_t k)
{
    struct purse purse = {.left = UINT64_MAX};
    struct play p = {.hosted = !subject->has_handlers};
    failing_begin(subject->inner, slot, 0, subject->planted);
    must(open_failing(subject->spec, &purse, &p.device));
    must(make_all(&p));
    must(launch_ring(&p));
    slri_lose(failing.loss, FIRST_LOSS);
    let_go(&p);
    failing.fail_at = failing.calls[slot] + k;
    slr_status status = slr_device_reopen(p.device, LONG);
    bool came = has_failed();
    check_status(status, came ? subject->planted : SLR_OK, doing, __FILE__, __LINE__);
    if (came) {
        if (!strstr(slr_error_message(), FIRST_LOSS)) // the first reason of a loss stays
            check_message(FAILING_WORD, doing, __FILE__, __LINE__);
        gives(slr_stream_create(p.device, NULL, &p.stream), DEVICE_LOST);
        must(slr_device_reopen(p.device, LONG));
    }
    refuses(slr_device_reopen(p.device, LONG), WRONG_STATE, "is not lost");
    if (!came)
        came = restart_fails(subject, &p);
    restart_ring(&p, BY_LOSS);
    end_ring(&p);
    slr_program_destroy(p.program);
    goes_on(subject, p.device, &purse);
    return came;
}

static void each_call_of_each_slot_fails_while_a_lost_device_is_reopened(void **state)
{
    static const struct subject subjects[] = {
        {&slri_backend_toy, "failing:0", true, SLR_NO_MEMORY},
        {&slri_backend_toy, "failing:0", true, SLR_DEVICE_LOST},
        {&slri_backend_cuda, "failing:0?ring=relaunch", true, SLR_NO_MEMORY},
    };
    char what[96];
    doing = what;
    (void)state;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; ++i) {
        uint32_t came = 0;
        for (enum failing_slot slot = 0; slot < FAILING_COUNT; ++slot)
            for (uint32_t k = 1;; ++k) {
                snprintf(what, sizeof what, "call %u of %s fails with %s", k, failing_name[slot],
                         slr_status_name(subjects[i].planted));
                alarm(120);
                if (!fail_while_reopened(&subjects[i], slot, k))
                    break;
                ++came;
            }
        assert_in_range(came, 3, 100); // the slot itself, a queue, memory, and what a ring kernel needs
    }
    alarm(0);
}

// ---- allocations ---------------------------------------------------------------------------------------------------

// The application's allocator has nothing more to give after `k` allocations, then it has again. False: it was enough.
static bool fail_allocation(const struct subject *subject, uint64_t k)
{
    struct purse purse = {.left = k};
    struct play p = {0};
    failing_begin(subject->inner, FAILING_probe, 0, SLR_NO_MEMORY);
    slr_status status = open_failing(subject->spec, &purse, &p.device);
    bool is_open = status == SLR_OK;
    if (is_open)
        status = play(&p, subject->has_handlers);
    bool ran_out = __atomic_exchange_n(&purse.left, UINT64_MAX, __ATOMIC_RELAXED) == 0;
    if (status != SLR_OK && !(ran_out && (status == SLR_NO_MEMORY || status == SLR_RING_FAILED)))
        fail_msg("%s: %s: %s", doing, slr_status_name(status), slr_error_message());
    if (status != SLR_OK && !strstr(slr_error_message(), "memory"))
        fail_msg("%s: '%s'", doing, slr_error_message());
    let_go(&p);
    end_ring(&p);
    slr_program_destroy(p.program);
    if (!is_open)
        must(open_failing(subject->spec, &purse, &p.device));
    goes_on(subject, p.device, &purse);
    return ran_out;
}

static void each_allocation_fails(void **state)
{
    static const struct subject subjects[] = {{&slri_backend_toy, "failing:0", true, SLR_NO_MEMORY},
                                              {&slri_backend_cpu, "failing:0", true, SLR_NO_MEMORY}};
    char what[96];
    doing = what;
    (void)state;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; ++i) {
        uint64_t k = 0;
        do {
            snprintf(what, sizeof what, "%s, %u allocations", subjects[i].inner->name, (unsigned)k);
            alarm(120);
        } while (fail_allocation(&subjects[i], k++));
        assert_in_range(k, 40, 400);
    }
    alarm(0);
}

// ---- the slot that needs no device ---------------------------------------------------------------------------------

static void probe_that_fails_is_the_reason_that_is_listed(void **state)
{
    slr_backend_info info;
    uint32_t index = 0;
    (void)state;
    failing_begin(&slri_backend_toy, FAILING_probe, 1, SLR_NO_DEVICE);
    do
        must(slr_backend_get_info(index++, &info));
    while (strcmp(info.name, "failing") != 0);
    assert_int_equal(info.status, SLR_NO_DEVICE);
    assert_string_equal(info.reason, "planted in probe");
    must(slr_backend_get_info(index - 1, &info));
    assert_int_equal(info.status, SLR_OK);
    assert_int_equal(info.devices, 1);
}

// Else nothing would ever be left.
static void what_is_alive_is_counted(void **state)
{
    struct purse purse = {.left = UINT64_MAX};
    slr_device *device;
    slr_buffer *buffer;
    (void)state;
    failing_begin(&slri_backend_toy, FAILING_probe, 0, SLR_OK);
    must(open_failing("failing:0", &purse, &device));
    uint32_t live = failing.live;
    uint64_t bytes = failing.live_bytes;
    must(slr_buffer_create(device, 64, &buffer));
    assert_true(live > 0 && failing.live == live + 1);
    assert_true(failing.live_bytes >= bytes + 64);
    assert_true(purse.out > 0);
    slr_buffer_destroy(buffer);
    slr_device_close(device);
    check_nothing_is_left(&purse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_of_each_slot_fails_on_a_device_with_queues),
        cmocka_unit_test(each_call_of_each_slot_fails_on_a_device_without_queues),
        cmocka_unit_test_setup(each_call_of_each_slot_fails_on_a_device_behind_a_driver, load_driver),
        cmocka_unit_test(each_call_of_each_slot_fails_on_vulkan),
        cmocka_unit_test(each_call_of_each_slot_fails_on_metal),
        cmocka_unit_test(each_call_of_each_slot_fails_while_a_lost_device_is_reopened),
        cmocka_unit_test(each_allocation_fails),
        cmocka_unit_test(what_is_alive_is_counted),
        cmocka_unit_test(probe_that_fails_is_the_reason_that_is_listed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
