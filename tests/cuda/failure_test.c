// SPDX-License-Identifier: Apache-2.0
// The CUDA backend on a driver whose every call may fail: tests/fakes/fake_cuda fails at the k-th, for every k. Each
// time the status says so, nothing is left over, and other devices go on.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

#include <unistd.h>

// ---- libraries that are none, drivers that do not start ------------------------------------------------------------

static void library_that_is_missing_or_is_no_driver_is_named(void **state)
{
    (void)state;
    slr_device *device;
    slr_backend_info info;
    setenv("SLIPRING_CUDA_LIB", "/nowhere/libcuda.so.1", 1);
    refuses(slr_device_open("cuda:0", NULL, &device), NO_DEVICE, "cannot load /nowhere/libcuda.so.1");
    must(slr_backend_get_info(1, &info));
    assert_string_equal(info.name, "cuda");
    assert_int_equal(info.status, SLR_NO_DEVICE);
    assert_non_null(strstr(info.reason, "/nowhere/libcuda.so.1"));
    setenv("SLIPRING_CUDA_LIB", "libm.so.6", 1);
    refuses(slr_device_open("cuda:0", NULL, &device), NO_DEVICE,
            "libm.so.6 is not usable as driver of CUDA 11 or later: it lacks cuInit, cuDriverGetVersion");
}

static void driver_without_a_GPU_says_what_hides_it(void **state)
{
    (void)state;
    slr_device *device;
    reset();
    fake->fail_at = 1;
    fake->error = 100;
    refuses(slr_device_open("cuda:0", NULL, &device), NO_DEVICE, "finds no GPU");
    setenv("CUDA_VISIBLE_DEVICES", "7", 1);
    reset();
    fake->devices = 0;
    refuses(slr_device_open("cuda:0", NULL, &device), NO_DEVICE, "lists no GPU with CUDA_VISIBLE_DEVICES='7'");
    unsetenv("CUDA_VISIBLE_DEVICES");
    assert_null(getenv("CUDA_MODULE_LOADING"));
    assert_string_equal(getenv("CUDA_DEVICE_MAX_CONNECTIONS"), "32");
}

static void library_of_HIP_that_is_missing_or_another_is_named(void **state)
{
    (void)state;
    slr_device *device;
    setenv("SLIPRING_HIP_LIB", "/nowhere/libamdhip64.so", 1);
    refuses(slr_device_open("hip:0", NULL, &device), NO_DEVICE, "cannot load /nowhere/libamdhip64.so");
    setenv("SLIPRING_HIP_LIB", "libm.so.6", 1);
    refuses(slr_device_open("hip:0", NULL, &device), NO_DEVICE,
            "libm.so.6 is not usable as runtime of HIP 5.2 or later: it lacks hipInit");
    if (access("/dev/kfd", F_OK) == 0)
        return;
    unsetenv("SLIPRING_HIP_LIB");
    refuses(slr_device_open("hip:0", NULL, &device), NO_DEVICE, "there is no /dev/kfd");
    setenv("SLIPRING_HIP_LIB", "", 1); // which names no library
    refuses(slr_device_open("hip:0", NULL, &device), NO_DEVICE, "there is no /dev/kfd");
    unsetenv("SLIPRING_HIP_LIB");
}

static void runtime_of_HIP_without_a_kernel_driver_says_so(void **state)
{
    (void)state;
    slr_device *device;
    if (access("/dev/kfd", F_OK) == 0)
        skip();
    assert_non_null(getenv("SLIPRING_HIP_LIB")); // load_fake has set it
    setenv("HIP_VISIBLE_DEVICES", "7", 1);       // which hides nothing here
    reset();
    fake->fail_at = 1;
    fake->error = 100;
    refuses(slr_device_open("hip:0", NULL, &device), NO_DEVICE, "finds no GPU: there is no /dev/kfd");
    reset();
    unsetenv("HIP_VISIBLE_DEVICES");
}

// ---- which device, and what it is ----------------------------------------------------------------------------------

#define FIRST "a0a1a2a3-a4a5-a6a7-a8a9-aaabacadaeaf"
#define EVERY_OPTION "?context=primary&flags=host&memory=managed&stall_ms=60000&sm_budget=99&ring=relaunch"

static void devices_are_found_by_number_and_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *spec, *description, *name;
    } good[] = {{"cuda", "Fake GPU 0", "cuda:0"},
                {"cuda:1", "Fake GPU 1", "cuda:1"},
                {"cuda:GPU-" FIRST, "Fake GPU 0", "cuda:GPU-" FIRST},
                {"cuda:MIG-a1", "Fake GPU 1", "cuda:MIG-a1"},
                {"cuda:1?context=primary", "Fake GPU 1", "cuda:1?context=primary"},
                {"cuda:GPU-" FIRST EVERY_OPTION, "Fake GPU 0", "cuda:GPU-" FIRST EVERY_OPTION}};
    slr_device_info info;
    slr_device *device;
    for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
        reset();
        device = open_device(good[i].spec);
        must(slr_device_get_info(device, &info));
        assert_string_equal(info.name, good[i].name);
        assert_non_null(strstr(info.description, good[i].description));
        assert_int_equal(fake->contexts, strstr(good[i].spec, "primary") == NULL);
        slr_device_close(device);
        nothing_is_left(good[i].spec);
    }
    refuses(slr_device_open("cuda:2", NULL, &device), NO_DEVICE, "no cuda:2; the driver lists 2 devices");
    refuses(slr_device_open("cuda:GPU-b", NULL, &device), NO_DEVICE,
            "there is no cuda:GPU-b among the driver's 2 devices");
    refuses(slr_device_open("cuda:GPU-a", NULL, &device), NO_DEVICE, "more than one cuda:GPU-a");
    refuses(slr_device_open("cuda:AMD-a0", NULL, &device), NO_DEVICE, "there is no cuda:AMD-a0");
    refuses(slr_device_open("cuda:0?context=new", NULL, &device), INVALID, "'own' or 'primary'");
    refuses(slr_device_open("cuda:0?memory=fine", NULL, &device), INVALID, "'device', 'mapped' or 'managed'");
    refuses(slr_device_open("cuda:0?threads=1", NULL, &device), INVALID, "it has: context, flags, memory");
    refuses(slr_device_open("cpu:GPU-a0", NULL, &device), INVALID, "'GPU-a0' is not a device number");
    nothing_is_left("refused");
}

static void device_says_what_it_is(void **state)
{
    (void)state;
    reset();
    slr_device_info info;
    slr_device *device = open_device("cuda:0");
    must(slr_device_get_info(device, &info));
    assert_string_equal(info.description, "Fake GPU 0, compute capability 9.0, driver for CUDA 13.0");
    assert_string_equal(info.features,
                        "sm=9.0 sms=132 warp=32 registers=65536 shared_bytes=232448 l2_bytes=52428800 clock_mhz=1980 "
                        "memory_mhz=2619 bus_bits=5120 copy_engines=3 persistent_blocks=66 flags=host id=GPU-" FIRST
                        " priorities");
    const char notes[] = "CUDA_DEVICE_MAX_CONNECTIONS=32; NVRTC 13.0; flags on the host: ";
    assert_memory_equal(info.notes, notes, sizeof notes - 1); // and why
    assert_int_equal(info.kernels, 1);
    assert_int_equal(info.ring_kernels, 1);
    assert_int_equal(info.compute_units, 132);
    assert_int_equal(info.memory_bytes, 1 << 30);
    assert_int_equal(info.unified_memory, 0);
    slr_device_close(device);
}

static void device_of_AMDs_says_what_it_is(void **state)
{
    (void)state;
    reset();
    slr_device_info info;
    slr_device *device = open_device("hip:1");
    must(slr_device_get_info(device, &info));
    assert_string_equal(info.name, "hip:1");
    assert_string_equal(info.description, "Fake GPU 1, gfx90a:sramecc+:xnack-, driver for HIP 6.3");
    assert_string_equal(info.engine, "compiled by HIPRTC");
    assert_string_equal(info.features, "arch=gfx90a:sramecc+:xnack- sms=104 warp=64 registers=65536 shared_bytes=65536 "
                                       "l2_bytes=8388608 clock_mhz=1700 memory_mhz=1600 bus_bits=4096 "
                                       "id=GPU-a1a2a3a4-a5a6-a7a8-a9aa-abacadaeafb0 priorities");
    assert_string_equal(info.notes, "compiled and simulated, not run on a device; HIPRTC 13.0");
    assert_string_equal(info.relaunch_reason, "persistent kernels are built for CUDA alone");
    assert_int_equal(info.compute_units, 104);
    slr_device_close(device);
    refuses(slr_device_open("hip:2", NULL, &device), NO_DEVICE, "no hip:2; the driver lists 2 devices, from hip:0");
    refuses(slr_device_open("hip:GPU-a0", NULL, &device), INVALID, "is not a device number");
    nothing_is_left("hip:1");
}

static void higher_priorities_are_lower_numbers(void **state)
{
    (void)state;
    static const int32_t expected[][2] = {{0, 0}, {128, -3}, {255, -5}};
    reset();
    slr_device *device = open_device("cuda:0");
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        slr_stream_desc desc = SLR_STREAM_DESC_INIT;
        desc.priority = SLR_PRIORITY(expected[i][0]);
        slr_stream *stream;
        must(slr_stream_create(device, &desc, &stream));
        assert_int_equal(fake->last_priority, expected[i][1]);
        slr_stream_destroy(stream);
    }
    slr_device_close(device);
    nothing_is_left("priorities");
}

// ---- the k-th call fails -------------------------------------------------------------------------------------------

static const char kernels_cu[] = "__global__ void add(int *p, int n)\n"
                                 "{\n"
                                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    if (i < 16) p[i] += n;\n"
                                 "}\n"
                                 "__global__ void divide(int *p, int n)\n"
                                 "{\n"
                                 "    p[threadIdx.x] /= n;\n"
                                 "}\n";

// Memory of the host that the driver pins, made and given back.
static slr_status pin_something(slr_device *device)
{
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    slr_buffer *pinned;
    desc.bytes = 64;
    desc.pinned = 1;
    slr_status status = slr_buffer_create_with(device, &desc, &pinned);
    if (status == SLR_OK)
        slr_buffer_destroy(pinned);
    return status;
}

static slr_status submit_all(struct trial *t)
{
    slr_device_info info;
    slr_status status = slr_device_get_info(t->device, &info);
    if (!info.unified_memory)
        TRY_EACH(pin_something(t->device));
    TRY_EACH(slr_program_from_text(t->device, "add.cu", kernels_cu, NULL, &t->program));
    TRY_EACH(slr_program_get_kernel(t->program, "add", &t->kernel));
    TRY_EACH(slr_stream_fill(t->stream, t->a, 0, 64, "\1\2\3\4", 4, NULL));
    TRY_EACH(slr_stream_fill(t->stream, t->a, 3, 16, "abcdefgh", 8, NULL)); // longer than any word, from an odd place
    TRY_EACH(slr_stream_fill(t->stream, t->a, 20, 4, "ij", 2, NULL));
    TRY_EACH(slr_stream_copy(t->stream, t->b, 0, t->a, 0, 64, NULL));
    TRY_EACH(slr_stream_copy(t->stream, t->b, 8, t->b, 0, 32, NULL)); // over itself
    TRY_EACH(slr_stream_write(t->stream, t->b, 62, "yz", 2, NULL));
    TRY_EACH(SLR_LAUNCH(t->stream, t->kernel, SLR_GRID(2, 8, 0), t->b, 3));
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
    memcpy(a + 20, "ijij", 4);
    memcpy(b, a, 64);
    memcpy(b + 8, a, 32);
    memcpy(b + 62, "yz", 2);
    for (int i = 0; i < 64; i += 4) {
        int word;
        memcpy(&word, b + i, 4);
        word += 3;
        memcpy(b + i, &word, 4);
    }
}

static uint32_t made_up_for; // failures that the caller need not know of

// Runs it with a failure asked for. False: it did not come to that, and all is well.
static bool fails(const char *spec)
{
    struct trial t = {0};
    unsigned char expected[64];
    slr_status status = trial_run(spec, &t, submit_all);
    if (status != SLR_OK)
        check_message(strstr(slr_error_message(), "RTC 13.0") ? "RTC"
                      : strncmp(spec, "hip", 3) == 0          ? "hip"
                                                              : "cuda",
                      spec, __FILE__, __LINE__);
    trial_end(&t);
    nothing_is_left(spec);
    if (!fake->failed)
        assert_int_equal(status, SLR_OK);
    if (status == SLR_OK) { // also where the heap asked once more, for less
        what_was_asked_for(expected);
        assert_memory_equal(t.back, expected, 64);
        made_up_for += fake->failed != NULL;
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
            // To make a chunk, zero or pin it; to enter a context only to free something; to ask what only later
            // drivers know. And to free an event, of which a stream makes as many as it needs, up to 8.
            assert_true(made_up_for <= 15 + 8);
            return k;
        }
        still_works(cpu, buffer);
    }
}

static void call_that_fails_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    static const char by_name[] = "cuda:GPU-" FIRST;
    static const char *const specs[] = {"cuda:0",
                                        by_name,
                                        "cuda:1?context=primary",
                                        "cuda:0?memory=mapped",
                                        "cuda:0?memory=managed",
                                        "hip:0",
                                        "hip:1?context=primary",
                                        "hip:0?memory=mapped"};
    slr_device *cpu = open_device("cpu");
    slr_buffer *buffer;
    must(slr_buffer_create(cpu, 4, &buffer));
    for (size_t i = 0; i < sizeof specs / sizeof *specs; ++i)
        assert_true(fail_at_each(specs[i], 2, false, cpu, buffer) > 50); // out of memory
    assert_true(fail_at_each("cuda:0", 700, true, cpu, buffer) > 50);    // lost, from there on
    assert_true(fail_at_each("hip:0", 700, true, cpu, buffer) > 50);
    assert_true(fail_at_each("cuda:0", 999, false, cpu, buffer) > 50);
    slr_buffer_destroy(buffer);
    slr_device_close(cpu);
}

// ---- the context is lost -------------------------------------------------------------------------------------------

// `same`: the device, `other`: another one. `told`: what is told of a fault.
static void fault_at_each(const char *same_spec, const char *other_spec, const char *const told[2])
{
    reset();
    slr_device *other = open_device(other_spec), *same = open_device(same_spec);
    slr_buffer *of_other, *of_same;
    must(slr_buffer_create(other, 4, &of_other));
    must(slr_buffer_create(same, 4, &of_same));
    still_works(other, of_other);
    still_works(same, of_same);
    uint32_t live = fake->live, lost = 0;
    for (uint32_t k = 1; k < 40; ++k) {
        fake->commands = 0;
        fake->fault_at = k;
        fake->failed = NULL;
        struct trial t = {0};
        slr_status status = trial_run(same_spec, &t, submit_all);
        if (fake->failed) {
            assert_int_equal(status, SLR_DEVICE_LOST);
            check_message(told[0], "run", __FILE__, __LINE__);
            check_message(told[1], "run", __FILE__, __LINE__);
            ++lost;
        } else {
            assert_int_equal(status, SLR_OK);
        }
        trial_end(&t);
        fake->fault_at = 0;
        assert_int_equal(fake->live, live);
        still_works(other, of_other);
        still_works(same, of_same); // it has a context of its own
    }
    assert_in_range(lost, 10, 30);
    slr_buffer_destroy(of_other);
    slr_buffer_destroy(of_same);
    slr_device_close(other);
    slr_device_close(same);
    nothing_is_left("lost");
}

static void command_that_faults_loses_its_device_and_no_other(void **state)
{
    static const char *const told[] = {"'cuda:0' was lost: device 'cuda:0': cu", "CUDA_ERROR_ILLEGAL_ADDRESS"},
                             *const told_by_hip[] = {"'hip:0' was lost: device 'hip:0': hip", "hipErrorIllegalAddress"};
    (void)state;
    fault_at_each("cuda:0", "cuda:1", told);
    fault_at_each("hip:0", "hip:1", told_by_hip);
}

static void lost_device_says_what_happened_first(void **state)
{
    (void)state;
    reset();
    slr_device *device = open_device("cuda:0");
    slr_stream *stream;
    slr_buffer *buffer, *none;
    must(slr_stream_create(device, NULL, &stream));
    must(slr_buffer_create(device, 64, &buffer));
    fake->fault_at = fake->commands + 1;
    must(slr_stream_fill(stream, buffer, 0, 64, "a", 1, NULL));
    refuses(slr_stream_finish(stream, LONG), DEVICE_LOST, "cuStreamSynchronize gives CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    must(slr_stream_recover(stream));
    must(slr_stream_fill(stream, buffer, 0, 64, "a", 1, NULL));
    refuses(slr_stream_finish(stream, LONG), DEVICE_LOST, "was lost: device 'cuda:0': cuStreamSynchronize gives");
    refuses(slr_buffer_create(device, 1 << 28, &none), DEVICE_LOST, "was lost");
    slr_buffer_destroy(buffer);
    slr_stream_destroy(stream);
    slr_device_close(device);
    nothing_is_left("lost");
    slr_device *again = open_device("cuda:0"); // a new context
    must(slr_buffer_create(again, 4, &buffer));
    still_works(again, buffer);
    slr_buffer_destroy(buffer);
    slr_device_close(again);
    nothing_is_left("again");
}

// ---- kernels -------------------------------------------------------------------------------------------------------

struct loaded {
    slr_device *device;
    slr_stream *stream;
    slr_buffer *buffer;
    slr_program *program;
    slr_kernel *kernel;
};

static struct loaded load(const char *kernel)
{
    struct loaded l;
    l.device = open_device("cuda:0");
    must(slr_stream_create(l.device, NULL, &l.stream));
    must(slr_buffer_create(l.device, 64, &l.buffer));
    must(slr_program_from_text(l.device, "two.cu", kernels_cu, NULL, &l.program));
    must(slr_program_get_kernel(l.program, kernel, &l.kernel));
    return l;
}

static void unload(struct loaded *l)
{
    slr_buffer_destroy(l->buffer);
    slr_kernel_destroy(l->kernel);
    slr_program_destroy(l->program);
    slr_stream_destroy(l->stream);
    slr_device_close(l->device);
    nothing_is_left("kernels");
}

static void block_that_has_too_many_registers_is_refused(void **state)
{
    (void)state;
    reset();
    fake->most_threads = 256;
    struct loaded l = load("add");
    refuses(SLR_LAUNCH(l.stream, l.kernel, SLR_GRID(1, 512, 0), l.buffer, 1), UNSUPPORTED, "allow at most 256");
    must(SLR_LAUNCH(l.stream, l.kernel, SLR_GRID(1, 256, 0), l.buffer, 1));
    must(slr_stream_finish(l.stream, LONG));
    unload(&l);
}

static void kernel_that_reaches_beyond_memory_loses_its_device_and_is_named(void **state)
{
    (void)state;
    reset();
    struct loaded l = load("divide");
    must(SLR_LAUNCH(l.stream, l.kernel, SLR_GRID(1, 8, 0), (slr_buffer *)NULL, 1));
    refuses(slr_stream_finish(l.stream, LONG), DEVICE_LOST, "after kernel divide");
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_that_is_missing_or_is_no_driver_is_named),
        cmocka_unit_test(library_of_HIP_that_is_missing_or_another_is_named),
        cmocka_unit_test_setup(driver_without_a_GPU_says_what_hides_it, load_fake),
        cmocka_unit_test(runtime_of_HIP_without_a_kernel_driver_says_so),
        cmocka_unit_test(devices_are_found_by_number_and_by_name),
        cmocka_unit_test(device_says_what_it_is),
        cmocka_unit_test(device_of_AMDs_says_what_it_is),
        cmocka_unit_test(higher_priorities_are_lower_numbers),
        cmocka_unit_test(call_that_fails_is_told_and_leaves_nothing),
        cmocka_unit_test(command_that_faults_loses_its_device_and_no_other),
        cmocka_unit_test(lost_device_says_what_happened_first),
        cmocka_unit_test(block_that_has_too_many_registers_is_refused),
        cmocka_unit_test(kernel_that_reaches_beyond_memory_loses_its_device_and_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
