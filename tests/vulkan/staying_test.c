// SPDX-License-Identifier: Apache-2.0
// Persistent ring kernels on the Vulkan that is here: refused with the reason where a driver ends loops; where a kernel
// can stay, what becomes of it when a call fails or the device is lost.
#define _POSIX_C_SOURCE 200809L
#include "tests/ring/ring_test.h"
#include "tests/vulkan/vulkan_test.h"

#include <pthread.h>
#include <vulkan/vulkan_core.h>

static const char source[] = "struct message { unsigned value, port; };\n"
                             "struct count { unsigned handled; };\n"
                             "__ring__ void counts(struct count *self, const struct message *in)\n"
                             "{\n"
                             "    self->handled += 1u;\n"
                             "    struct message out = {in->value + 1u, self->handled};\n"
                             "    ring_reply(&out);\n"
                             "}\n";

struct bench {
    slr_device *device;
    slr_program *program;
    slr_ring_desc desc;
    bool stays;
};

static void set_up(struct bench *b, const char *spec)
{
    slr_device_info info;
    *b = (struct bench){.desc = SLR_RING_DESC_INIT};
    must(slr_device_open(spec, NULL, &b->device));
    must(slr_device_get_info(b->device, &info));
    b->stays = strstr(info.features, "persistent_groups=1") != NULL;
    assert_non_null(strstr(info.notes, b->stays ? "not promised by Vulkan's memory model" : "ends loops"));
    must(slr_program_from_text(b->device, "counts.cu", source, NULL, &b->program));
    b->desc.handler = "counts";
    b->desc.program = b->program;
    b->desc.instances = 2;
    b->desc.queue_size = 16;
    b->desc.max_ports = 4;
}

static void tear_down(struct bench *b)
{
    slr_program_destroy(b->program);
    slr_device_close(b->device);
    assert_int_equal(vulkan->live, 0);
}

static uint32_t ask(slr_ring *ring, slr_port *port, uint32_t value)
{
    const struct message message = {.value = value};
    struct message reply = {0};
    must(slr_call(port, address_of(ring, 0), &message, sizeof message, &reply, sizeof reply, LONG));
    assert_int_equal(reply.value, value + 1);
    return reply.port;
}

static void a_driver_that_ends_loops_keeps_no_kernel(void **state)
{
    struct bench b;
    slr_ring *ring;
    (void)state;
    set_up(&b, "vulkan:0?ring=persistent");
    if (b.stays)
        must(slr_ring_create(b.device, &b.desc, &ring));
    else
        refuses(slr_ring_create(b.device, &b.desc, &ring), UNSUPPORTED, "its driver ends loops");
    if (b.stays)
        slr_ring_destroy(ring);
    tear_down(&b);
}

static void unless_it_is_asked_for_a_ring_kernel_is_batched(void **state)
{
    struct bench b;
    slr_ring *ring;
    (void)state;
    set_up(&b, "vulkan:0");
    must(slr_ring_create(b.device, &b.desc, &ring));
    const slr_ring_stats stats = stats_of(ring);
    assert_int_equal(stats.mode, SLR_RING_RELAUNCHED);
    assert_non_null(strstr(stats.mode_reason, "persistent mode was not requested"));
    slr_ring_destroy(ring);
    b.desc.mode = SLR_RING_PERSISTENT;
    const slr_status status = slr_ring_create(b.device, &b.desc, &ring);
    assert_int_equal(status, b.stays ? SLR_OK : SLR_UNSUPPORTED);
    if (b.stays) {
        assert_int_equal(stats_of(ring).mode, SLR_RING_PERSISTENT);
        slr_ring_destroy(ring);
    }
    tear_down(&b);
}

static void who_wants_none_has_none_tried(void **state)
{
    slr_device *device;
    slr_device_info info;
    (void)state;
    must(slr_device_open("vulkan:0?ring=relaunch", NULL, &device));
    const uint64_t submits = metric(device, "submits");
    must(slr_device_get_info(device, &info));
    assert_null(strstr(info.features, "persistent_groups"));
    assert_true(strstr(info.notes, "persistent ring kernels: ring=relaunch") || strstr(info.notes, "ends loops"));
    assert_int_equal(metric(device, "submits") - submits, 1); // a loop's
    slr_device_close(device);
}

// Each call of a launch in turn: it is told, nothing of it is left, and the next launch goes well.
static void a_launch_of_which_a_call_fails_leaves_nothing(void **state)
{
    struct bench b;
    uint32_t k = 0;
    bool came = true;
    (void)state;
    set_up(&b, "vulkan:0?ring=persistent");
    for (; came && b.stays; ++k) {
        slr_ring *ring;
        must(slr_ring_create(b.device, &b.desc, &ring));
        const int32_t live = vulkan->live;
        vulkan->failed = NULL;
        vulkan->result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        vulkan->calls = 0;
        __atomic_store_n(&vulkan->fail_at, k + 1, __ATOMIC_RELEASE);
        const slr_status status = slr_ring_launch(ring);
        __atomic_store_n(&vulkan->fail_at, 0, __ATOMIC_RELEASE);
        came = vulkan->failed != NULL;
        if (came && status != SLR_OK)
            assert_non_null(strstr(slr_error_message(), vulkan->failed));
        if (status != SLR_OK && vulkan->live > live)
            fail_msg("call %u, vk%s, fails: %d objects are left", k + 1, vulkan->failed, vulkan->live - live);
        slr_ring_destroy(ring);
    }
    assert_true(!b.stays || k > 10);
    tear_down(&b);
}

// What host and kernel share lies in the lost device's memory, so the ring kernel goes before that is opened again.
static void a_lost_device_is_reopened_behind_its_ring_kernel(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, "vulkan:0?ring=persistent");
    for (int turn = 0; turn < 2 && b.stays; ++turn) {
        uint32_t words[16] = {0};
        slr_buffer *buffer;
        slr_ring *ring = start_ring(b.device, &b.desc);
        slr_port *port = open_port(b.device);
        assert_int_equal(ask(ring, port, 5), 1);
        must(slr_buffer_create(b.device, sizeof words, &buffer));
        vulkan->failed = NULL;
        vulkan->result = VK_ERROR_DEVICE_LOST;
        vulkan->calls = 0;
        __atomic_store_n(&vulkan->fail_at, 1, __ATOMIC_RELEASE);
        gives(slr_buffer_write(buffer, 0, words, sizeof words), DEVICE_LOST);
        __atomic_store_n(&vulkan->fail_at, 0, __ATOMIC_RELEASE);
        slr_buffer_destroy(buffer);
        refuses(slr_device_reopen(b.device, LONG), WRONG_STATE, "destroy it first");
        slr_port_close(port);
        slr_ring_destroy(ring);
        must(slr_device_reopen(b.device, LONG));
    }
    tear_down(&b);
}

// The next ring kernel takes the group's place. That has said that it goes, and the wait for its end fails.
static void a_failed_wait_for_a_groups_end_is_not_forgotten(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, "vulkan:0?ring=persistent");
    if (b.stays) {
        slr_ring *ring = start_ring(b.device, &b.desc), *next;
        slr_port *port = open_port(b.device);
        assert_int_equal(ask(ring, port, 5), 1);
        slr_port_close(port);
        slr_ring_destroy(ring);
        must(slr_ring_create(b.device, &b.desc, &next));
        vulkan->result = VK_ERROR_DEVICE_LOST;
        __atomic_store_n(&vulkan->fail_wait, 1, __ATOMIC_SEQ_CST);
        gives(slr_ring_launch(next), DEVICE_LOST);
        assert_int_equal(__atomic_exchange_n(&vulkan->fail_wait, 0, __ATOMIC_SEQ_CST), 0);
        slr_ring_destroy(next);
        must(slr_device_reopen(b.device, LONG));
    }
    tear_down(&b);
}

// Its barriers are recorded with it. A group that has had nothing to do for long ends, and the next message has it
// launched again.
static void a_group_that_slept_is_submitted_again_as_it_was_recorded(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b, "vulkan:0?ring=persistent");
    if (b.stays) {
        slr_ring *ring = start_ring(b.device, &b.desc);
        slr_port *port = open_port(b.device);
        uint32_t handled = ask(ring, port, 5);
        const uint64_t submits = metric(b.device, "submits");
        const uint32_t barriers = vulkan->barriers;
        for (int tries = 0; tries < 200 && metric(b.device, "submits") < submits + 10; ++tries) {
            nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
            assert_int_equal(ask(ring, port, 5), ++handled);
        }
        assert_in_range(metric(b.device, "submits"), submits + 10, UINT64_MAX);
        assert_int_equal(vulkan->barriers, barriers);
        slr_port_close(port);
        slr_ring_destroy(ring);
    }
    tear_down(&b);
}

// ---- several queues: the group is in the first ---------------------------------------------------------------------

// A submission to another queue that began before the group was there is made before it comes; a later one has it end.
static void group_comes_behind_what_is_being_submitted_to_any_queue(void **state)
{
    struct bench b;
    slr_stream_desc low = SLR_STREAM_DESC_INIT;
    slr_stream *stream;
    slr_buffer *buffer;
    uint32_t words[16] = {0};
    (void)state;
    vulkan->queues = 3; // the last is for low priorities
    set_up(&b, "vulkan:0?ring=persistent");
    low.priority = SLR_PRIORITY(0);
    must(slr_stream_create(b.device, &low, &stream));
    must(slr_buffer_create(b.device, sizeof words, &buffer));
    vulkan->overtaken = 0;
    __atomic_store_n(&vulkan->holds, b.stays, __ATOMIC_SEQ_CST);
    must(slr_stream_write(stream, buffer, 0, words, sizeof words, NULL));
    while (b.stays && __atomic_load_n(&vulkan->holds, __ATOMIC_SEQ_CST) != 2)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (b.stays) {
        slr_ring *ring = start_ring(b.device, &b.desc);
        slr_port *port = open_port(b.device);
        assert_int_equal(ask(ring, port, 5), 1);
        for (uint32_t i = 0; i < 20; ++i) {
            must(slr_stream_write(stream, buffer, 0, &i, sizeof i, NULL));
            assert_int_equal(ask(ring, port, i), 2 + i);
            must(slr_buffer_read(buffer, 0, words, sizeof words)); // by the other queue
        }
        slr_port_close(port);
        slr_ring_destroy(ring);
    }
    must(slr_stream_finish(stream, LONG));
    assert_int_equal(__atomic_load_n(&vulkan->overtaken, __ATOMIC_SEQ_CST), 0);
    slr_buffer_destroy(buffer);
    slr_stream_destroy(stream);
    tear_down(&b);
    vulkan->queues = vulkan->holds = 0;
}

// ---- one group, many that want it ----------------------------------------------------------------------------------

struct launcher {
    slr_ring *ring;
    slr_status status;
    char why[256];
};

static void *launch(void *of)
{
    struct launcher *launcher = of;
    launcher->status = slr_ring_launch(launcher->ring);
    snprintf(launcher->why, sizeof launcher->why, "%s", launcher->status != SLR_OK ? slr_error_message() : "");
    return NULL;
}

static slr_ring *create_named(struct bench *b, int number)
{
    slr_ring *ring;
    b->desc.name = number == 0 ? "one" : "other";
    must(slr_ring_create(b->device, &b->desc, &ring));
    return ring;
}

// Both were planned while the group was free.
static void of_two_launches_at_once_one_is_refused_with_the_reason(void **state)
{
    struct bench b;
    struct launcher launcher[2] = {{0}};
    pthread_t thread[2];
    (void)state;
    set_up(&b, "vulkan:0?ring=persistent");
    for (int i = 0; i < 2 && b.stays; ++i)
        launcher[i].ring = create_named(&b, i);
    for (int i = 0; i < 2 && b.stays; ++i)
        assert_int_equal(pthread_create(&thread[i], NULL, launch, &launcher[i]), 0);
    for (int i = 0; i < 2 && b.stays; ++i)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    if (b.stays) {
        const int won = launcher[0].status == SLR_OK ? 0 : 1;
        slr_port *port = open_port(b.device);
        assert_int_equal(launcher[won].status, SLR_OK);
        assert_int_equal(launcher[1 - won].status, SLR_UNSUPPORTED);
        assert_non_null(strstr(launcher[1 - won].why, "the device's only resident work-group has another ring kernel"));
        must(slr_ring_activate(launcher[won].ring, LONG));
        assert_int_equal(ask(launcher[won].ring, port, 7), 1);
        slr_ring_destroy(launcher[won].ring);
        must(slr_ring_launch(launcher[1 - won].ring)); // it waits for nothing else
        must(slr_ring_activate(launcher[1 - won].ring, LONG));
        assert_int_equal(ask(launcher[1 - won].ring, port, 8), 1);
        slr_port_close(port);
        slr_ring_destroy(launcher[1 - won].ring);
    }
    tear_down(&b);
}

static void who_launches_first_has_the_group_whoever_was_created_last(void **state)
{
    struct bench b;
    slr_ring *ring[2], *late;
    (void)state;
    set_up(&b, "vulkan:0?ring=persistent");
    for (int i = 0; i < 2 && b.stays; ++i)
        ring[i] = create_named(&b, i);
    if (b.stays) {
        must(slr_ring_launch(ring[0]));
        refuses(slr_ring_launch(ring[1]), UNSUPPORTED, "has another ring kernel");
        b.desc.name = "late";
        refuses(slr_ring_create(b.device, &b.desc, &late), UNSUPPORTED, "has another ring kernel");
        slr_ring_destroy(ring[0]);
        slr_ring_destroy(ring[1]);
    }
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_driver_that_ends_loops_keeps_no_kernel),
        cmocka_unit_test(unless_it_is_asked_for_a_ring_kernel_is_batched),
        cmocka_unit_test(who_wants_none_has_none_tried),
        cmocka_unit_test(a_launch_of_which_a_call_fails_leaves_nothing),
        cmocka_unit_test(a_lost_device_is_reopened_behind_its_ring_kernel),
        cmocka_unit_test(a_failed_wait_for_a_groups_end_is_not_forgotten),
        cmocka_unit_test(a_group_that_slept_is_submitted_again_as_it_was_recorded),
        cmocka_unit_test(group_comes_behind_what_is_being_submitted_to_any_queue),
        cmocka_unit_test(of_two_launches_at_once_one_is_refused_with_the_reason),
        cmocka_unit_test(who_launches_first_has_the_group_whoever_was_created_last),
    };
    return load_vulkan() ? cmocka_run_group_tests(tests, NULL, NULL) : NO_VULKAN;
}
