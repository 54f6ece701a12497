// SPDX-License-Identifier: Apache-2.0
// What becomes of a device whose every call may fail: tests/fakes/fake_opencl fails at the k-th, for every k. Each time
// the status says so, nothing is left over, and another device goes on.
#include "tests/fakes/trial.h"

#include "base/clock.h"
#include "base/kept.h"
#include "ring/ring.h"
#include "tests/opencl/fake_library.h"

// ---- libraries that are none ---------------------------------------------------------------------------------------

static void library_that_is_missing_or_is_no_OpenCL_is_named(void **state)
{
    (void)state;
    slr_device *device;
    slr_backend_info info;
    setenv("SLIPRING_OPENCL_LIB", "/nowhere/libOpenCL.so", 1);
    refuses(slr_device_open("opencl:0", NULL, &device), NO_DEVICE, "cannot load /nowhere/libOpenCL.so");
    must(slr_backend_get_info(4, &info));
    assert_string_equal(info.name, "opencl");
    assert_int_equal(info.status, SLR_NO_DEVICE);
    assert_non_null(strstr(info.reason, "/nowhere/libOpenCL.so"));
    setenv("SLIPRING_OPENCL_LIB", "libm.so.6", 1);
    refuses(slr_device_open("opencl:0", NULL, &device), NO_DEVICE,
            "libm.so.6 is not usable as OpenCL 1.2: it lacks clGetPlatformIDs, clGetPlatformInfo");
}

// ---- what is chosen by capability ----------------------------------------------------------------------------------

static void opens_with(const char *spec, const char *memory)
{
    fake->stays = 1; // who asks what a device can do has it tried, and it is soon done
    slr_device_info info;
    slr_device *device = open_device(spec);
    must(slr_device_get_info(device, &info));
    if (!strstr(info.features, memory))
        fail_msg("%s: '%s' has no '%s'", spec, info.features, memory);
    slr_device *again = open_device(info.name); // the name says what was chosen
    slr_device_close(again);
    slr_device_close(device);
    assert_int_equal(fake->live, 0);
}

static void memory_is_chosen_by_what_the_device_can_do(void **state)
{
    (void)state;
    slr_device *device;
    reset();
    opens_with("opencl", "memory=fine");
    opens_with("opencl:0?svm=0", "memory=host");
    opens_with("opencl:0?memory=plain", "memory=plain");
    fake->svm = 1;
    opens_with("opencl:0", "memory=coarse");
    refuses(slr_device_open("opencl:0?memory=fine", NULL, &device), NO_DEVICE, "has no fine memory");
    fake->svm = 0;
    opens_with("opencl:0", "memory=host");
    refuses(slr_device_open("opencl:0?svm=1", NULL, &device), NO_DEVICE, "has no shared virtual memory");
    fake->host_unified = 0;
    opens_with("opencl:0", "memory=plain");
    refuses(slr_device_open("opencl:0?svm=maybe", NULL, &device), INVALID, "0 or 1");
    refuses(slr_device_open("opencl:0?memory=good", NULL, &device), INVALID, "'fine', 'coarse', 'host' or 'plain'");
    refuses(slr_device_open("opencl:0?threads=1", NULL, &device), INVALID, "it has: memory, svm, ring, patience");
    refuses(slr_device_open("opencl:1", NULL, &device), NO_DEVICE, "there is no opencl:1; OpenCL has 1 device");
    fake->available = 0;
    refuses(slr_device_open("opencl:0", NULL, &device), NO_DEVICE, "lacks a device that is available");
    fake->available = 1;
    fake->version = 110;
    refuses(slr_device_open("opencl:0", NULL, &device), NO_DEVICE, "lacks OpenCL 1.2");
    assert_int_equal(fake->live, 0);
    assert_int_equal(fake->wrong, 0);
}

static void groups_that_stay_are_tried_where_they_may(void **state)
{
    static const struct {
        const char *spec;
        bool tried;
    } row[] = {{"opencl:0", true},
               {"opencl:0?ring=relaunch", false},
               {"opencl:0?memory=coarse", false},
               {"opencl:0?memory=plain", false}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; ++i) {
        reset();
        fake->stays = 1;
        slr_device_info info;
        slr_device *device = open_device(row[i].spec);
        must(slr_device_get_info(device, &info));
        if (row[i].tried == (strstr(info.features, "persistent_groups=0") != NULL))
            fail_msg("%s: '%s'", row[i].spec, info.features);
        slr_device_close(device);
    }
}

static void threads_of_the_host_are_noted_where_they_compute(void **state)
{
    (void)state;
    for (uint32_t type = 2; type <= 4; type += 2) { // a CPU, a GPU
        reset();
        fake->stays = 1;
        fake->type = type;
        slr_device_info info;
        slr_device *device = open_device("opencl:0");
        must(slr_device_get_info(device, &info));
        assert_int_equal(strstr(info.notes, "POCL_MAX_PTHREAD_COUNT") != NULL, type == 2);
        slr_device_close(device);
    }
}

static void warps_are_sub_groups_where_all_that_asks_for_them_goes_well(void **state)
{
    (void)state;
    uint32_t lacked = 0;
    bool came = true;
    for (uint32_t k = 0; came; ++k) {
        reset();
        fake->stays = 1;
        fake->sub_groups = 32;
        slr_device *device;
        slr_device_info info;
        must(slr_device_open("opencl:0", NULL, &device));
        fake->fail_at = k == 0 ? 0 : fake->calls + k;
        must(slr_device_get_info(device, &info));
        bool has = strstr(info.features, " warps=sub_groups ") != NULL;
        assert_true(has || fake->failed);
        lacked += !has;
        came = k == 0 || fake->failed;
        slr_device_close(device);
        if (fake->live != 0 || fake->wrong != 0)
            fail_msg("%s failed at call %u: %u objects are left, %u wrong calls", fake->failed, k, fake->live,
                     fake->wrong);
    }
    assert_true(lacked >= 8); // to build, to ask, to look
    reset();
    fake->sub_groups = 16;
    opens_with("opencl:0", " warps=local_memory ");
}

static void devices_of_all_platforms_are_counted_on(void **state)
{
    (void)state;
    static const char *const says[] = {"a fake 0 (fake 0", "a fake 0 (fake 2", "a fake 1 (fake 2", "a fake 0 (fake 3"};
    slr_device *device[4];
    slr_backend_info backend;
    reset();
    fake->platforms = 4;
    fake->stays = 1;
    must(slr_backend_get_info(4, &backend));
    assert_int_equal(backend.devices, 5);
    for (uint32_t i = 0; i < 4; ++i) {
        char spec[16];
        slr_device_info info;
        snprintf(spec, sizeof spec, "opencl:%u", i);
        device[i] = open_device(spec);
        must(slr_device_get_info(device[i], &info));
        if (!strstr(info.description, says[i]))
            fail_msg("%s: '%s'", spec, info.description);
    }
    for (uint32_t i = 0; i < 4; ++i) {
        slr_buffer *buffer;
        must(slr_buffer_create(device[i], 4, &buffer));
        still_works(device[i], buffer);
        slr_buffer_destroy(buffer);
        slr_device_close(device[i]);
    }
    refuses(slr_device_open("opencl:5", NULL, device), NO_DEVICE, "there is no opencl:5; OpenCL has 5 devices");
    fake->platforms = 2; // of which one has none
    refuses(slr_device_open("opencl:1", NULL, device), NO_DEVICE, "OpenCL has 1 device,");
    assert_int_equal(fake->live, 0);
    assert_int_equal(fake->wrong, 0);
}

// ---- ring kernels --------------------------------------------------------------------------------------------------

static slr_status count_one(void *user, const slr_delivery *delivery)
{
    (void)delivery;
    __atomic_fetch_add((uint32_t *)user, 1, __ATOMIC_RELAXED);
    return SLR_OK;
}

static void functions_of_the_host_run_and_the_mode_is_told(void **state)
{
    (void)state;
    reset();
    uint32_t calls = 0;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "counts";
    desc.on_message = count_one;
    desc.user = &calls;
    desc.message_bytes = 4;
    slr_device *device = open_device("opencl:0?memory=plain&ring=relaunch");
    slr_device_info info;
    must(slr_device_get_info(device, &info));
    assert_string_equal(info.name, "opencl:0?memory=plain&ring=relaunch");
    assert_int_equal(info.ring_kernels, 1);
    slr_ring *ring;
    slr_address to;
    slr_ring_stats stats;
    must(slr_ring_create(device, &desc, &ring));
    must(slr_ring_launch(ring));
    must(slr_ring_activate(ring, LONG));
    must(slr_ring_get_address(ring, 0, &to));
    must(slr_send(NULL, to, "abc", 4, LONG));
    must(slr_ring_close_input(ring));
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    must(slr_ring_get_stats(ring, &stats));
    assert_int_equal(calls, 1);
    assert_int_equal(stats.mode, SLR_RING_ON_HOST);
    assert_string_equal(stats.mode_reason, "its handler is a C function");
    slr_ring_destroy(ring);
    slr_device_close(device);
    refuses(slr_device_open("opencl:0?ring=always", NULL, &device), INVALID, "'relaunch' or 'persistent'");
    assert_int_equal(fake->live, 0);
}

static void count_back(void *user, const slr_undelivered *undelivered)
{
    *(uint32_t *)user += 1u << (8 * undelivered->instance); // of which there are two
}

// A sender gets no core between its claim and its message for longer than terminate waits. The message is accepted, so
// it is handed back, once, when it has come.
static void message_that_a_starved_sender_publishes_late_is_handed_back(void **state)
{
    (void)state;
    reset();
    uint32_t calls = 0, back = 0, place;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "ends";
    desc.on_message = count_one;
    desc.user = &calls;
    desc.message_bytes = 4;
    desc.instances = 2;
    slr_device *device = open_device("opencl:0?patience=1");
    slr_ring *ring;
    slr_port *port;
    slr_address to;
    slr_ring_stats stats;
    must(slr_ring_create(device, &desc, &ring));
    must(slr_ring_launch(ring));
    must(slr_ring_activate(ring, LONG));
    must(slr_ring_deactivate(ring, LONG));
    must(slr_ring_get_address(ring, 0, &to));
    must(slr_port_open(device, &port));
    must(slr_send(port, to, "abc", 4, LONG));
    must(slr_send(port, to, "def", 4, LONG));
    const struct slri_connection *c = slri_connection_of(port, to);
    uint32_t *S = ring->S, shard = 1 % ring->shards;
    assert_int_equal(mb_claim_place(S, 1, &place), 1);
    refuses(slr_ring_terminate(ring, 0, count_back, &back, NULL), TIMEOUT, "a sender has not returned within 1 s");
    assert_int_equal(back, 2);
    assert_int_not_equal(slr_ring_get_state(ring), SLR_RING_TERMINATED);
    must(slr_ring_get_stats(ring, &stats));
    assert_int_equal(stats.pending, 1);
    slri_lane_fill(c, shard, 1, "ghi", 0, 0, place, 0);
    slri_lane_publish(c, shard);
    must(slr_ring_terminate(ring, 0, count_back, &back, &stats));
    assert_int_equal(back, 2 + 256);
    assert_int_equal(stats.undelivered, 3);
    assert_int_equal(stats.pending, 0);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
    assert_int_equal(fake->live, 0);
}

// ---- kernels that stay ---------------------------------------------------------------------------------------------

static slr_program *make_staying(slr_device *device)
{
    static const char source[] =
        "struct word { unsigned value; };\n"
        "__ring__ void takes(struct word *self, const struct word *in) { self->value += 1u; }\n";
    slr_program *program;
    must(slr_program_from_text(device, "takes.cu", source, NULL, &program));
    return program;
}

static slr_ring *launch_staying(slr_device *device, slr_program *program, const char *name, slr_address *to)
{
    slr_ring *ring;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = name;
    desc.program = program;
    must(slr_ring_create(device, &desc, &ring));
    must(slr_ring_launch(ring));
    must(slr_ring_get_address(ring, 0, to));
    return ring;
}

static slr_device *open_staying(void)
{
    reset();
    fake->stays = 1;
    return open_device("opencl:0?ring=persistent");
}

static slr_ring_stats await(slr_ring *ring, uint64_t handled)
{
    slr_ring_stats stats;
    uint64_t deadline = slri_deadline_after(LONG);
    do {
        assert_false(slri_passed(deadline));
        must(slr_ring_get_stats(ring, &stats));
        assert_int_equal(stats.accepted, stats.handled + stats.faulted + stats.undelivered + stats.dropped +
                                             stats.in_doubt + stats.pending);
    } while (stats.handled < handled);
    assert_int_equal(stats.handled, handled);
    return stats;
}

static void end_staying(slr_ring *ring, slr_program *program, slr_device *device)
{
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    slr_device_close(device);
    assert_int_equal(fake->live, 0);
    assert_int_equal(fake->wrong, 0);
}

// Of a device whose group dies with messages in hand, and which comes back.
static void group_that_is_lost_fails_its_ring_kernel_alone(void **state)
{
    (void)state;
    slr_device *device = open_staying(), *cpu = open_device("cpu");
    slr_buffer *buffer;
    slr_address to;
    slr_program *program = make_staying(device);
    slr_ring *ring = launch_staying(device, program, "dies", &to);
    must(slr_buffer_create(cpu, 4, &buffer));
    must(slr_ring_activate(ring, LONG));
    for (uint32_t i = 0; i < 10; ++i)
        must(slr_send(NULL, to, &i, 4, LONG));
    assert_int_equal(await(ring, 10).mode, SLR_RING_PERSISTENT);
    must(slr_ring_deactivate(ring, LONG));
    __atomic_store_n(&fake->kill, 1, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < 50; ++i)
        must(slr_send(NULL, to, &i, 4, LONG));
    slr_ring_reactivate(ring, LONG); // may not be answered any more
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    slr_ring_stats stats = await(ring, 10);
    assert_non_null(strstr(stats.last_failure, "a persistent kernel"));
    assert_non_null(strstr(stats.last_failure, "CL_OUT_OF_RESOURCES"));
    assert_int_equal(stats.in_doubt, 32); // a batch
    assert_int_equal(stats.pending, 18);
    gives(slr_send(NULL, to, &(uint32_t){0}, 4, 0), RING_FAILED);
    still_works(cpu, buffer);
    __atomic_store_n(&fake->kill, 0, __ATOMIC_RELEASE);
    must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
    await(ring, 28);
    slr_buffer_destroy(buffer);
    slr_device_close(cpu);
    end_staying(ring, program, device);
}

static void group_that_cannot_be_launched_fails_its_ring_kernel(void **state)
{
    (void)state;
    slr_device *device = open_staying();
    slr_program *program = make_staying(device);
    slr_address to, others;
    slr_ring *ring;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_ring_stats stats;
    desc.name = "first";
    desc.program = program;
    must(slr_ring_create(device, &desc, &ring));
    // The driver's compiler is at work in the launch, which has no deadline, and not behind activate, which has one.
    fake->refuse_stay = 1;
    refuses(slr_ring_launch(ring), NO_MEMORY, "EnqueueNDRangeKernel");
    assert_int_equal(slr_ring_get_state(ring), SLR_RING_CREATED);
    fake->refuse_stay = 0;
    must(slr_ring_launch(ring));
    fake->refuse_stay = 1;
    slr_ring_activate(ring, LONG);
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    slr_ring_destroy(ring);
    fake->refuse_stay = 0;
    ring = launch_staying(device, program, "second", &to);
    must(slr_ring_activate(ring, LONG));
    must(slr_send(NULL, to, "abc", 4, LONG));
    await(ring, 1);
    // The one group ends, to be given another shard, and is not launched again. Nothing was in hand.
    slr_ring *other = launch_staying(device, program, "third", &others);
    __atomic_store_n(&fake->refuse_stay, 1, __ATOMIC_RELEASE);
    slr_ring_activate(other, LONG);
    must(slr_ring_wait(other, SLR_RING_IN_FAILURE, LONG));
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    stats = await(ring, 1);
    assert_int_equal(stats.in_doubt, 0);
    assert_non_null(strstr(stats.last_failure, "EnqueueNDRangeKernel"));
    __atomic_store_n(&fake->refuse_stay, 0, __ATOMIC_RELEASE);
    must(slr_ring_restart(ring, SLR_RESTART_INITIAL, LONG));
    must(slr_send(NULL, to, "abc", 4, LONG));
    await(ring, 2);
    slr_ring_destroy(other);
    end_staying(ring, program, device);
}

// Where memory is not shared at a fine grain, or words of it do not reach a kernel that runs, it is dispatched anew.
static void device_that_cannot_keep_a_kernel_relaunches_it(void **state)
{
    (void)state;
    static const struct {
        uint64_t svm; // 1 coarse, 2 fine, 8 with atomics
        const char *why;
    } cases[] = {{0, "not in fine-grained shared memory"},
                 {1, "not in fine-grained shared memory"},
                 {2, "a persistent kernel would block other kernels of the device"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        reset();
        fake->svm = cases[i].svm;
        slr_device *device = open_device("opencl:0");
        slr_program *program = make_staying(device);
        slr_address to;
        slr_ring *ring = launch_staying(device, program, "dispatched", &to);
        must(slr_ring_activate(ring, LONG));
        must(slr_send(NULL, to, "abc", 4, LONG));
        slr_ring_stats stats = await(ring, 1);
        assert_int_equal(stats.mode, SLR_RING_RELAUNCHED);
        assert_non_null(strstr(stats.mode_reason, cases[i].why));
        end_staying(ring, program, device);
        device = open_device("opencl:0?ring=persistent");
        program = make_staying(device);
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        desc.program = program;
        refuses(slr_ring_create(device, &desc, &ring), UNSUPPORTED, cases[i].why);
        end_staying(NULL, program, device);
    }
}

// ---- the k-th call fails -------------------------------------------------------------------------------------------

// The fake's kernels do nothing; here it is how they are built and launched that fails.
static slr_status launch(struct trial *t)
{
    static const char source[] =
        "__global__ void none(unsigned char *a, const unsigned char *b, int n) { a[0] = b[0] / n; }\n";
    const slr_shape shape = {.grid = {2, 1, 1}, .block = {4, 1, 1}};
    slr_status status = slr_program_from_text(t->device, "none.cu", source, NULL, &t->program);
    TRY_EACH(slr_program_get_kernel(t->program, "none", &t->kernel));
    TRY_EACH(SLR_LAUNCH(t->stream, t->kernel, shape, t->a, t->b, 1));
    return status;
}

static slr_status submit_all(struct trial *t)
{
    slr_status status = launch(t);
    TRY_EACH(slr_stream_fill(t->stream, t->a, 0, 64, "\1\2\3\4", 4, NULL));
    TRY_EACH(slr_stream_fill(t->stream, t->a, 3, 16, "abcdefgh", 8, NULL)); // from no multiple of 8
    TRY_EACH(slr_stream_copy(t->stream, t->b, 0, t->a, 0, 64, NULL));
    TRY_EACH(slr_stream_copy(t->stream, t->b, 8, t->b, 0, 32, NULL)); // over itself
    TRY_EACH(slr_stream_write(t->stream, t->b, 62, "yz", 2, NULL));
    TRY_EACH(slr_event_record(t->event, t->stream, NULL));
    TRY_EACH(slr_stream_call(t->stream, trial_note, t, NULL));
    TRY_EACH(slr_stream_read(t->stream, t->b, 0, t->back, 64, NULL));
    return status;
}

static void what_was_asked_for(unsigned char b[64])
{
    unsigned char a[64];
    for (int i = 0; i < 64; ++i)
        a[i] = (unsigned char)(i % 4 + 1);
    memcpy(a + 3, "abcdefghabcdefgh", 16);
    memcpy(b, a, 64);
    memcpy(b + 8, a, 32);
    memcpy(b + 62, "yz", 2);
}

static const char *const specs[] = {"opencl:0?memory=fine", "opencl:0?memory=coarse", "opencl:0?memory=host",
                                    "opencl:0?memory=plain"};

static uint32_t made_up_for; // failures that the caller need not know of

// Nothing is left of a device that was closed, but where nobody has said that what it was given has ended: then its
// memory is kept, and counted.
static void check_what_is_left(const char *spec, uint64_t kept_before)
{
    bool keeps = slri_kept_bytes() != kept_before;
    if ((fake->live != 0) != keeps || fake->wrong != 0)
        fail_msg("%s, %s failed at call %u: %u objects are left, %u wrong calls, memory is %s", spec,
                 fake->failed ? fake->failed : "nothing", fake->fail_at, fake->live, fake->wrong,
                 keeps ? "kept" : "freed");
    assert_true(!keeps || fake->lost);
}

// Runs it with a failure asked for. False: it did not come to that, and all is well.
static bool fails(const char *spec)
{
    uint64_t kept_before = slri_kept_bytes();
    struct trial t = {0};
    unsigned char expected[64];
    slr_status status = trial_run(spec, &t, submit_all);
    if (status != SLR_OK)
        check_message("opencl", spec, __FILE__, __LINE__);
    trial_end(&t);
    check_what_is_left(spec, kept_before);
    if (!fake->failed)
        assert_int_equal(status, SLR_OK);
    if (status == SLR_OK) { // also where the heap asked once more, for less
        what_was_asked_for(expected);
        assert_memory_equal(t.back, expected, 64);
        // Where the driver does not say when, the host looks at its clock.
        made_up_for += fake->failed && strcmp(fake->failed, "GetEventProfilingInfo") != 0;
    }
    return fake->failed;
}

static uint32_t fail_at_each(const char *spec, int32_t error, bool lost, slr_device *cpu, slr_buffer *buffer)
{
    made_up_for = 0;
    for (uint32_t k = 1;; ++k) {
        reset();
        fake->error = error;
        fake->fail_at = k;
        fake->lost = lost;
        if (!fails(spec)) {
            assert_true(made_up_for <= 8); // to make a chunk, zero it, wait for that; to use the cache, or keep in it
            return k;
        }
        still_works(cpu, buffer);
    }
}

static void call_that_fails_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    slr_device *cpu = open_device("cpu");
    slr_buffer *buffer;
    must(slr_buffer_create(cpu, 4, &buffer));
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i) {
        assert_true(fail_at_each(specs[i], -5, false, cpu, buffer) > 30); // out of resources
        assert_true(fail_at_each(specs[i], -2, true, cpu, buffer) > 30);  // lost, from there on
    }
    slr_buffer_destroy(buffer);
    slr_device_close(cpu);
}

static void command_that_fails_when_it_is_done_is_told_by_its_own_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i) {
        uint32_t k = 0;
        do {
            reset();
            fake->fail_event = ++k;
            fake->error = -9999; // a vendor's own
        } while (fails(specs[i]));
        assert_true(k > 8);
    }
    reset();
    fake->fail_event = 1;
    fake->error = -5;
    struct trial t = {0};
    assert_int_equal(trial_run("opencl:0?memory=host", &t, submit_all), SLR_NO_MEMORY);
    assert_non_null(strstr(slr_error_message(), "CL_OUT_OF_RESOURCES"));
    assert_int_equal(t.told, SLR_NO_MEMORY);
    trial_end(&t);
}

// ---- kernels that never end ----------------------------------------------------------------------------------------

// Closes a device of which something hangs, and shows that nothing else does.
static void is_lost_alone(slr_device *device)
{
    slr_buffer *buffer;
    slr_device *cpu = open_device("cpu");
    must(slr_buffer_create(cpu, 4, &buffer));
    uint64_t began_ns = slri_now_ns();
    slr_device_close(device);
    assert_true(slri_now_ns() - began_ns < LONG); // it is bounded; how long it takes is no matter
    assert_true(fake->live > 0);
    assert_int_equal(fake->wrong, 0);
    still_works(cpu, buffer);
    slr_buffer_destroy(buffer);
    slr_device_close(cpu);
    __atomic_store_n(&fake->hang, 0, __ATOMIC_RELEASE);
    join_fake(); // what it touches on its way is still there
    uint32_t kept = fake->live;
    struct trial t = {0};
    assert_int_equal(trial_run("opencl:0", &t, submit_all), SLR_OK);
    trial_end(&t);
    assert_int_equal(fake->live, kept);
}

static void kernel_that_never_ends_loses_its_device_alone(void **state)
{
    (void)state;
    static const char *const of[] = {"opencl:0?memory=fine&patience=1", "opencl:0?memory=plain&patience=1"};
    for (size_t i = 0; i < 2; ++i) {
        reset();
        struct trial t = {0};
        slr_device_info info;
        t.device = open_device(of[i]);
        must(slr_device_get_info(t.device, &info));
        assert_string_equal(info.name, of[i]);
        must(slr_buffer_create(t.device, 64, &t.a));
        must(slr_buffer_create(t.device, 64, &t.b));
        must(slr_stream_create(t.device, NULL, &t.stream));
        fake->hang = 1;
        must(launch(&t));
        gives(slr_stream_finish(t.stream, 1000000), TIMEOUT);
        refuses(slr_stream_finish(t.stream, LONG), DEVICE_LOST, "did not end in time");
        refuses(slr_buffer_write(t.a, 0, "abc", 4), DEVICE_LOST, "");
        slr_kernel_destroy(t.kernel);
        slr_program_destroy(t.program);
        slr_buffer_destroy(t.a);
        slr_buffer_destroy(t.b);
        slr_stream_destroy(t.stream);
        is_lost_alone(t.device);
    }
    slr_device *device;
    refuses(slr_device_open("opencl:0?patience=soon", NULL, &device), INVALID, "a whole number of seconds");
}

static void dispatch_that_never_ends_leaves_its_messages_in_doubt(void **state)
{
    (void)state;
    reset();
    slr_device *device = open_device("opencl:0?memory=plain&ring=relaunch&patience=1");
    slr_program *program = make_staying(device);
    slr_address to;
    slr_ring *ring = launch_staying(device, program, "hangs", &to);
    slr_ring_stats stats;
    must(slr_ring_activate(ring, LONG));
    __atomic_store_n(&fake->hang, 1, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < 10; ++i)
        must(slr_send(NULL, to, &i, 4, LONG));
    must(slr_ring_wait(ring, SLR_RING_IN_FAILURE, LONG));
    must(slr_ring_get_stats(ring, &stats));
    assert_non_null(strstr(stats.last_failure, "did not end in time"));
    assert_true(stats.in_doubt > 0);
    assert_int_equal(stats.in_doubt + stats.pending, 10);
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    is_lost_alone(device);
}

// Its ring kernel is over, and the group does not go. What it comes to when it goes after all is still there.
static void group_that_never_ends_keeps_what_it_may_touch(void **state)
{
    (void)state;
    slr_device *device = open_staying();
    slr_program *program = make_staying(device);
    slr_address to;
    slr_ring *ring = launch_staying(device, program, "stays", &to);
    must(slr_ring_activate(ring, LONG));
    must(slr_send(NULL, to, "abc", 4, LONG));
    await(ring, 1);
    __atomic_store_n(&fake->hang, 1, __ATOMIC_RELEASE);
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    is_lost_alone(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_that_is_missing_or_is_no_OpenCL_is_named),
        cmocka_unit_test_setup(memory_is_chosen_by_what_the_device_can_do, load_fake),
        cmocka_unit_test(groups_that_stay_are_tried_where_they_may),
        cmocka_unit_test(threads_of_the_host_are_noted_where_they_compute),
        cmocka_unit_test(warps_are_sub_groups_where_all_that_asks_for_them_goes_well),
        cmocka_unit_test(functions_of_the_host_run_and_the_mode_is_told),
        cmocka_unit_test(message_that_a_starved_sender_publishes_late_is_handed_back),
        cmocka_unit_test(group_that_is_lost_fails_its_ring_kernel_alone),
        cmocka_unit_test(devices_of_all_platforms_are_counted_on),
        cmocka_unit_test(device_that_cannot_keep_a_kernel_relaunches_it),
        cmocka_unit_test(group_that_cannot_be_launched_fails_its_ring_kernel),
        cmocka_unit_test(kernel_that_never_ends_loses_its_device_alone),
        cmocka_unit_test(dispatch_that_never_ends_leaves_its_messages_in_doubt),
        cmocka_unit_test(group_that_never_ends_keeps_what_it_may_touch),
        cmocka_unit_test(call_that_fails_is_told_and_leaves_nothing),
        cmocka_unit_test(command_that_fails_when_it_is_done_is_told_by_its_own_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
