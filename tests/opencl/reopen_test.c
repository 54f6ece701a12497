// SPDX-License-Identifier: Apache-2.0
// A device that is lost and opened again, on a library that is simulated: ring kernels go on where they were, with what
// was pending; what has not ended keeps its memory, and gives it back when somebody says that it has.
#include "tests/fakes/trial.h"

#include "base/kept.h"
#include "base/thread.h"
#include "tests/ring/ring_test.h"
#include "tests/opencl/fake_library.h"

static const char source[] = "struct message { unsigned value, port; };\n"
                             "struct count { unsigned handled; };\n"
                             "__device__ unsigned variable = 3u;\n"
                             "__ring__ void counts(struct count *self, const struct message *in)\n"
                             "{ self->handled += in->value; }\n"
                             "__global__ void fills(unsigned *a) { a[0] = variable; }\n";

static const char *const specs[] = {"opencl:0?ring=persistent&patience=1", "opencl:0?ring=relaunch&patience=1",
                                    "opencl:0?memory=coarse&patience=1",   "opencl:0?memory=host&patience=1",
                                    "opencl:0?memory=plain&patience=1",    "opencl:0?svm=0&patience=1"};
enum { SPECS = sizeof specs / sizeof *specs, WAITING = 5 };

static struct bench {
    slr_device *device;
    slr_program *program;
    slr_kernel *kernel;
    slr_port *port;
    slr_ring *works, *waits; // the second is paused, with WAITING messages
} bench;

static slr_ring *start(const char *name, uint32_t redeliver)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.handler = "counts";
    desc.program = bench.program;
    desc.redeliver = redeliver;
    return start_ring(bench.device, &desc);
}

static slr_ring_stats await(slr_ring *ring, uint64_t handled)
{
    slr_ring_stats stats;
    uint64_t deadline = slri_deadline_after(LONG);
    do {
        assert_false(slri_passed(deadline));
        stats = stats_of(ring);
        assert_int_equal(stats.accepted, stats.handled + stats.faulted + stats.undelivered + stats.dropped +
                                             stats.in_doubt + stats.pending);
    } while (stats.handled < handled);
    assert_int_equal(stats.handled, handled);
    return stats;
}

static void begin(const char *spec)
{
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 4096;
    reset();
    fake->stays = 1;
    fake->units = 4; // three groups stay
    bench = (struct bench){0};
    must(slr_device_open(spec, &desc, &bench.device));
    must(slr_program_from_text(bench.device, "counts.cu", source, NULL, &bench.program));
    must(slr_program_get_kernel(bench.program, "fills", &bench.kernel));
    bench.works = start("works", 0);
    bench.waits = start("waits", 0);
    bench.port = open_port(bench.device);
    must(send_value(bench.port, address_of(bench.works, 0), 1, LONG));
    await(bench.works, 1);
    must(slr_ring_deactivate(bench.waits, LONG));
    for (uint32_t i = 0; i < WAITING; ++i)
        must(send_value(bench.port, address_of(bench.waits, 0), i, LONG));
}

static void end(void)
{
    slr_port_close(bench.port);
    slr_ring_destroy(bench.works);
    slr_ring_destroy(bench.waits);
    slr_kernel_destroy(bench.kernel);
    slr_program_destroy(bench.program);
    slr_device_close(bench.device);
    assert_int_equal(fake->wrong, 0);
}

// By a kernel that never ends, or a driver that does not say any more what has ended.
static void lose(bool hangs)
{
    slr_stream *stream;
    slr_buffer *buffer;
    must(slr_stream_create(bench.device, NULL, &stream));
    must(slr_buffer_create(bench.device, 64, &buffer));
    must(slr_device_park(bench.device, LONG)); // nobody else asks
    __atomic_store_n(hangs ? &fake->hang : &fake->mute, 1, __ATOMIC_RELEASE);
    slr_status status = SLR_LAUNCH(stream, bench.kernel, SLR_GRID(1, 1, 0), buffer);
    gives(status == SLR_OK ? slr_stream_finish(stream, LONG) : status, DEVICE_LOST);
    __atomic_store_n(hangs ? &fake->hang : &fake->mute, 0, __ATOMIC_RELEASE);
    must(slr_device_resume(bench.device));
    refuses(slr_device_reopen(bench.device, LONG), WRONG_STATE, "of the device still exist");
    slr_buffer_destroy(buffer);
    refuses(slr_device_reopen(bench.device, LONG), WRONG_STATE, "streams of the device still exist");
    slr_stream_destroy(stream);
}

static void use_buffers(void)
{
    slr_buffer *buffer;
    slr_stream *stream;
    must(slr_buffer_create(bench.device, 64, &buffer));
    still_works(bench.device, buffer);
    must(slr_stream_default(bench.device, &stream));
    must(SLR_LAUNCH(stream, bench.kernel, SLR_GRID(1, 1, 0), buffer));
    must(slr_stream_finish(stream, LONG));
    slr_buffer_destroy(buffer);
}

// Everything but the states is as it was: addresses, ports, what is pending, a kernel that was made before.
static void restart_all(uint64_t handled)
{
    assert_int_equal(slr_ring_get_state(bench.works), SLR_RING_IN_FAILURE);
    assert_non_null(strstr(stats_of(bench.works).last_failure, "lost"));
    assert_int_equal(stats_of(bench.waits).pending, WAITING);
    must(slr_ring_restart(bench.works, SLR_RESTART_INITIAL, LONG));
    must(send_value(bench.port, address_of(bench.works, 0), 1, LONG));
    assert_int_equal(await(bench.works, handled).in_doubt, 0);
    must(slr_ring_restart(bench.waits, SLR_RESTART_INITIAL, LONG));
    use_buffers();
}

static void finish(void)
{
    must(slr_ring_reactivate(bench.waits, LONG));
    slr_ring_stats stats = await(bench.waits, WAITING);
    assert_int_equal(stats.in_doubt, 0);
    assert_int_equal(stats.failures, stats.restarts);
}

static void device_goes_on_with_all_that_waited(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; ++i) {
        begin(specs[i]);
        assert_int_equal(stats_of(bench.works).mode, i == 0 ? SLR_RING_PERSISTENT : SLR_RING_RELAUNCHED);
        uint64_t kept = slri_kept_bytes();
        refuses(slr_device_reopen(bench.device, LONG), WRONG_STATE, "is not lost");
        for (uint32_t k = 0; k < 3; ++k) {
            lose(false);
            must(slr_device_reopen(bench.device, LONG));
            assert_int_equal(slri_kept_bytes(), kept); // all had ended
            restart_all(2 + k);
        }
        finish();
        end();
        if (fake->live != 0)
            fail_msg("%s: %u objects are left", specs[i], fake->live);
    }
}

// It is opened again all the same, and nobody gets the memory that it may touch.
static void kernel_that_still_hangs_keeps_its_memory_until_it_has_ended(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; ++i) {
        begin(specs[i]);
        uint64_t kept = slri_kept_bytes();
        lose(true);
        must(slr_device_reopen(bench.device, LONG));
        assert_true(slri_kept_bytes() > kept);
        slr_device_info info;
        must(slr_device_get_info(bench.device, &info));
        assert_int_equal(info.kept_bytes, slri_kept_bytes());
        restart_all(2);
        finish();
        if (i % 2 == 0)
            end_hung(); // it ends after all
        end();
        assert_int_equal(fake->live == 0, i % 2 == 0);
        assert_int_equal(slri_kept_bytes() == kept, i % 2 == 0);
        end_hung();
    }
}

// The dispatch is over with the device: what it had is in doubt, or pending where that was asked for.
static void what_a_dispatch_had_is_in_doubt_or_redelivered(void **state)
{
    (void)state;
    for (uint32_t redeliver = 0; redeliver < 2; ++redeliver) {
        begin("opencl:0?memory=plain&patience=1");
        slr_ring *ring = start("doubtful", redeliver);
        must(slr_ring_deactivate(ring, LONG));
        for (uint32_t i = 0; i < WAITING; ++i)
            must(send_value(bench.port, address_of(ring, 0), i, LONG));
        __atomic_store_n(&fake->hang, 1, __ATOMIC_RELEASE);
        must(slr_ring_reactivate(ring, LONG));
        must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
        __atomic_store_n(&fake->hang, 0, __ATOMIC_RELEASE);
        must(slr_device_reopen(bench.device, LONG));
        slr_ring_stats stats = stats_of(ring);
        check_sum(&stats);
        assert_int_equal(stats.in_doubt, redeliver ? 0 : WAITING);
        assert_int_equal(stats.pending, redeliver ? WAITING : 0);
        must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
        must(send_value(bench.port, address_of(ring, 0), 1, LONG));
        stats = await(ring, redeliver ? WAITING + 1 : 1);
        assert_int_equal(stats.redelivered, redeliver ? WAITING : 0);
        restart_all(2);
        finish();
        end_hung();
        slr_ring_destroy(ring);
        end();
        assert_int_equal(fake->live, 0);
    }
}

// Its ring kernel is over, and the group does not go: nobody may have its mailbox, so the device stays lost until then.
static void group_that_has_not_ended_is_waited_for(void **state)
{
    (void)state;
    begin(specs[0]);
    slr_program *program;
    must(slr_program_from_text(bench.device, "other.cu", source, NULL, &program));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "hangs";
    desc.handler = "counts";
    desc.program = program;
    slr_ring *ring = start_ring(bench.device, &desc);
    slr_ring_stats stats = stats_of(ring);
    if (stats.mode != SLR_RING_PERSISTENT)
        fail_msg("%s", stats.mode_reason);
    slr_port *port = open_port(bench.device);
    must(send_value(port, address_of(ring, 0), 1, LONG));
    await(ring, 1);
    slr_port_close(port); // which would hold the ring kernel, and that its program
    __atomic_store_n(&fake->hang, 1, __ATOMIC_RELEASE);
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    refuses(slr_device_reopen(bench.device, 10 * MS), TIMEOUT, "");
    __atomic_store_n(&fake->hang, 0, __ATOMIC_RELEASE);
    must(slr_device_reopen(bench.device, LONG));
    restart_all(2);
    finish();
    end();
    assert_int_equal(fake->live, 0);
}

// It stays lost, and the next try has all that it needs. So does a restart that fails.
static uint32_t fail_at_each_call(const char *spec)
{
    uint32_t failures = 0;
    begin(spec);
    for (bool failed = true; failed;) {
        uint64_t handled = stats_of(bench.works).handled;
        lose(false);
        must(slr_device_park(bench.device, LONG)); // no call of the poller's between ours
        fake->failed = NULL;
        fake->lost = 0;
        fake->fail_at = fake->calls + failures + 1;
        slr_status reopened = slr_device_reopen(bench.device, LONG);
        slr_status restarted = reopened == SLR_OK ? slr_ring_restart(bench.works, SLR_RESTART_INITIAL, LONG) : reopened;
        failed = fake->failed != NULL;
        const char *call = fake->failed;
        fake->fail_at = 0;
        must(slr_device_resume(bench.device));
        if (reopened != SLR_OK) {
            slr_buffer *buffer;
            refuses(slr_buffer_create(bench.device, 64, &buffer), DEVICE_LOST, "was lost: ");
            must(slr_device_reopen(bench.device, LONG));
        }
        if (restarted != SLR_OK && !failed)
            fail_msg("%s: restarting fails, after no call has", spec);
        if (restarted != SLR_OK)
            must(slr_ring_restart(bench.works, SLR_RESTART_INITIAL, LONG));
        else if (failed && strcmp(call, "GetEventInfo") != 0 && strcmp(call, "GetProgramInfo") != 0 &&
                 strcmp(call, "CreateProgramWithBinary") != 0 && strcmp(call, "BuildProgram") != 0 &&
                 strcmp(call, "Flush") != 0) // which are made up for
            fail_msg("%s: %s fails, and nobody says so", spec, call);
        failures += failed;
        must(send_value(bench.port, address_of(bench.works, 0), 1, LONG));
        await(bench.works, handled + 1);
    }
    must(slr_ring_restart(bench.waits, SLR_RESTART_INITIAL, LONG));
    finish();
    end();
    if (fake->live != 0)
        fail_msg("%s: %u objects are left", spec, fake->live);
    return failures;
}

static void reopening_that_fails_at_any_call_can_be_tried_again(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SPECS; ++i)
        assert_true(fail_at_each_call(specs[i]) > 8);
}

static slr_status open_failing_at(uint32_t call)
{
    slr_device *other = NULL;
    fake->failed = NULL;
    fake->fail_at = fake->calls + call;
    slr_status status = slr_device_open("opencl:0", NULL, &other);
    fake->fail_at = 0;
    if (status == SLR_OK)
        slr_device_close(other);
    return status;
}

// As NVIDIA's, after an access that is illegal: all calls fail with an error of its own.
static void driver_that_is_through_with_the_process_is_told_as_such(void **state)
{
    (void)state;
    begin(specs[0]);
    lose(false);
    must(slr_device_park(bench.device, LONG));
    fake->error = -9999;
    fake->lost = 1;
    fake->fail_at = fake->calls + 1;
    refuses(slr_device_reopen(bench.device, LONG), DEVICE_LOST,
            "gives error -9999. If it stays so, end the process, and open the device in a new one");
    fake->fail_at = fake->lost = 0;
    slr_status status = SLR_OK;
    for (uint32_t call = 1; !fake->failed || strcmp(fake->failed, "CreateContext") != 0; ++call)
        status = open_failing_at(call);
    refuses(status, DEVICE_LOST, "clCreateContext gives error -9999. An OpenCL device of this process was lost before");
    must(slr_device_resume(bench.device));
    must(slr_device_reopen(bench.device, LONG)); // it has come back
    restart_all(2);
    finish();
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(device_goes_on_with_all_that_waited, load_fake),
        cmocka_unit_test(kernel_that_still_hangs_keeps_its_memory_until_it_has_ended),
        cmocka_unit_test(what_a_dispatch_had_is_in_doubt_or_redelivered),
        cmocka_unit_test(group_that_has_not_ended_is_waited_for),
        cmocka_unit_test(reopening_that_fails_at_any_call_can_be_tried_again),
        cmocka_unit_test(driver_that_is_through_with_the_process_is_told_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
