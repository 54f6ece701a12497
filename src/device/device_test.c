// SPDX-License-Identifier: Apache-2.0
// Opening devices by name, lists, options; buffers. On the null device, and on the cpu where something must be stored.
#include "base/sim.h"
#include "device/device_test.h"
#include "engine/spec.h"

// ---- names --------------------------------------------------------------------------------------------------------

static const struct refused {
    const char *spec;
    slr_status status;
    const char *says;
} refused[] = {
    {",", SLR_INVALID, "the backend's name is empty"},
    {":0", SLR_INVALID, "the backend's name is empty"},
    {"?threads=1", SLR_INVALID, "the backend's name is empty"},
    {"abcdefghijklmnop", SLR_INVALID, "the backend's name is too long"},
    {"null:", SLR_INVALID, "the number after ':' is empty"},
    {"null:x", SLR_INVALID, "'x' is not a device number (0 to 1023)"},
    {"null:-1", SLR_INVALID, "'-1' is not a device number"},
    {"null: 1", SLR_INVALID, "' 1' is not a device number"},
    {"null:1x", SLR_INVALID, "'1x' is not a device number"},
    {"null:1024", SLR_INVALID, "'1024' is not a device number"},
    {"null:00000000000000", SLR_INVALID, "the number after ':' is too long"},
    {"null:0:1", SLR_INVALID, "'0:1' is not a device number"},
    {"cpu?", SLR_INVALID, "options have the form name=value"},
    {"cpu?threads", SLR_INVALID, "options have the form name=value"},
    {"cpu?threads=", SLR_INVALID, "an option's value is empty"},
    {"cpu?=1", SLR_INVALID, "an option's name is empty"},
    {"cpu?threads=1&", SLR_INVALID, "options have the form name=value"},
    {"cpu?threads=1&threads=2", SLR_INVALID, "option 'threads' is given twice"},
    {"cpu?threads=1&&engine=interpreted", SLR_INVALID, "options have the form name=value"},
    {"cpu?abcdefghijklmnopqrstuvwxyz=1", SLR_INVALID, "an option's name is too long"},
    {"cpu?threads=1234567890123456789012345678901234567890", SLR_INVALID, "an option's value is too long"},
    {"cpu?a=1&b=1&c=1&d=1&e=1&f=1&g=1&h=1&i=1", SLR_INVALID, "more than 8 options"},
    {"cpu?speed=1", SLR_INVALID, "device 'cpu' has no option 'speed'; it has: engine, threads, unified"},
    {"null?threads=1", SLR_INVALID, "device 'null' has no option 'threads'; it has: none"},
    {"cpu?threads=0", SLR_INVALID, "threads '0'; expected 1 to 256"},
    {"cpu?threads=257", SLR_INVALID, "threads '257'; expected 1 to 256"},
    {"cpu?threads=99999999999999999999", SLR_INVALID, "expected 1 to 256"},
    {"cpu?threads=two", SLR_INVALID, "threads 'two'"},
    {"cpu?threads=2x", SLR_INVALID, "threads '2x'"},
    {"cpu?threads=-1", SLR_INVALID, "threads '-1'"},
    {"cpu?unified=2", SLR_INVALID, "unified '2'; expected 0 or 1"},
    {"cpu?engine=fast", SLR_INVALID, "engine 'fast'; expected 'compiled' or 'interpreted'"},
    {"toaster", SLR_NO_DEVICE, "no backend 'toaster'; it has: cpu, cuda, hip, metal, opencl, vulkan, webgpu, null"},
    {"CPU", SLR_NO_DEVICE, "no backend 'CPU'"},
    {"cpu:1", SLR_NO_DEVICE, "the only cpu is cpu:0"},
    {"null:7", SLR_NO_DEVICE, "the only null device is null:0"},
    {"toaster,kettle", SLR_NO_DEVICE, "none of 'toaster,kettle' can be opened: toaster: "},
    {"toaster,null?x=1", SLR_INVALID, "has no option 'x'"}, // a mistake, not a device that is missing
    {"toaster,,null", SLR_INVALID, "the backend's name is empty"},
    {"auto:1", SLR_NO_DEVICE, "no backend 'auto'"},
};

static void malformed_or_missing_device_is_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; ++i) {
        slr_device *device = NULL;
        check_status(slr_device_open(refused[i].spec, NULL, &device), refused[i].status, refused[i].spec, __FILE__,
                     __LINE__);
        check_message(refused[i].says, refused[i].spec, __FILE__, __LINE__);
        assert_null(device);
    }
    char endless[400];
    memset(endless, 'a', sizeof endless);
    endless[399] = '\0';
    slr_device *device;
    refuses(slr_device_open(endless, NULL, &device), INVALID, "at most 255 characters, this one has 399");
    refuses(slr_device_open("null", NULL, NULL), INVALID, "out is NULL");
    slr_device_desc desc = {.struct_size = 4};
    refuses(slr_device_open("null", &desc, &device), INVALID, "slr_device_desc.struct_size is 4");
}

static slr_device_info info_of(slr_device *device)
{
    slr_device_info info;
    must(slr_device_get_info(device, &info));
    return info;
}

static void name_in_the_info_opens_the_same_device(void **state)
{
    (void)state;
    static const char *const specs[] = {"null", "cpu?engine=interpreted", "cpu?threads=3",
                                        "cpu?engine=interpreted&threads=2", "cpu?unified=0"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; ++i) {
        slr_device *device = open_device(specs[i]);
        assert_string_equal(info_of(device).name, specs[i]);
        assert_string_equal(info_of(device).chosen, "");
        slr_device_close(device);
    }
    slr_device *device = open_device("cpu:0?threads=5&engine=interpreted");
    slr_device_info info = info_of(device);
    assert_string_equal(info.name, "cpu?engine=interpreted&threads=5");
    assert_string_equal(info.backend, "cpu");
    assert_string_equal(info.engine, "interpreted");
    assert_int_equal(info.workers, 5);
    assert_int_equal(info.ring_kernels, 1);
    assert_true(info.memory_bytes > 0);
    refuses(slr_device_get_info(device, NULL), INVALID, "out is NULL");
    refuses(slr_device_get_info(NULL, &info), INVALID, "device is NULL");
    slr_device_close(device);
}

static void list_opens_the_first_that_can_be_and_says_why(void **state)
{
    (void)state;
    slr_device *device = open_device("toaster,null:3,null,cpu");
    slr_device_info info = info_of(device);
    assert_string_equal(info.backend, "null");
    assert_non_null(strstr(info.chosen, "'toaster,null:3,null,cpu' requested; null opened; before it toaster: "));
    assert_non_null(strstr(info.chosen, "null:3: the only null device"));
    slr_device_close(device);
    assert_int_equal(info.device_class, SLR_DEVICE_NOTHING);
    device = open_device("null,cpu");
    assert_string_equal(info_of(device).chosen, "'null,cpu' requested; null opened first");
    slr_device_close(device);
    device = open_device("auto");
    assert_string_equal(info_of(device).backend, "cpu");
    assert_int_equal(info_of(device).device_class, SLR_DEVICE_CPU);
    assert_non_null(strstr(info_of(device).chosen, "'auto' requested; cpu opened: this machine's cores; not "));
    assert_non_null(strstr(info_of(device).chosen, "cuda: "));
    slr_device_close(device);
}

static void what_a_device_makes_no_use_of_is_no_feature_of_it(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?engine=interpreted");
    assert_string_equal(info_of(device).features, "priorities"); // and no vectors
    slr_device_close(device);
    device = open_device("cpu?engine=compiled");
#if defined(__x86_64__)
    assert_string_equal(info_of(device).features, "vector_width priorities");
#endif
    slr_device_close(device);
    device = open_device("null");
    assert_string_equal(info_of(device).features, "");
    slr_device_close(device);
}

static void what_runs_on_the_threads_of_others_is_not_simulated(void **state)
{
    (void)state;
    slr_device *device;
    must(slri_sim_begin(7));
    refuses(slr_device_open("opencl:0", NULL, &device), NO_DEVICE, "device 'opencl' cannot be simulated");
    device = open_device("cuda,null");
    assert_string_equal(info_of(device).backend, "null");
    slr_device_close(device);
    assert_int_equal(slri_sim_end(), 0);
}

static void no_name_takes_SLIPRING_DEVICE_or_auto(void **state)
{
    (void)state;
    static const struct {
        const char *set, *backend;
    } cases[] = {{"null", "null"}, {"cpu?threads=1", "cpu"}, {"", "cpu"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        setenv("SLIPRING_DEVICE", cases[i].set, 1);
        slr_device *device = open_device(NULL);
        assert_string_equal(info_of(device).backend, cases[i].backend);
        slr_device_close(device);
    }
    setenv("SLIPRING_DEVICE", "toaster", 1);
    slr_device *device;
    gives(slr_device_open(NULL, NULL, &device), NO_DEVICE); // asking for one never gives another
    gives(slr_device_open("", NULL, &device), INVALID);     // a name that is empty is a mistake
    device = open_device("null");                           // which is said goes before what is set
    slr_device_close(device);
    unsetenv("SLIPRING_DEVICE");
    device = open_device(NULL);
    assert_string_equal(info_of(device).backend, "cpu");
    slr_device_close(device);
}

static void sixty_four_devices_are_the_most(void **state)
{
    (void)state;
    slr_device *devices[65];
    for (int i = 0; i < 64; ++i)
        devices[i] = open_device("null");
    refuses(slr_device_open("null", NULL, &devices[64]), INVALID, "64 devices are open already");
    slr_device_close(devices[10]);
    devices[10] = open_device("null");
    for (int i = 0; i < 64; ++i)
        slr_device_close(devices[i]);
}

static void backends_are_listed_with_their_state(void **state)
{
    (void)state;
    slr_backend_info info;
    must(slr_backend_get_info(0, &info));
    assert_string_equal(info.name, "cpu");
    assert_int_equal(info.status, SLR_OK);
    assert_int_equal(info.devices, 1);
    static const char *const driven[] = {"cuda", "hip", "metal", "opencl", "vulkan", "webgpu"};
    enum { DRIVEN = sizeof driven / sizeof *driven };
    for (uint32_t i = 0; i < DRIVEN; ++i) { // which may not be here; then the reason says what is missing
        must(slr_backend_get_info(1 + i, &info));
        assert_string_equal(info.name, driven[i]);
        assert_int_equal(info.status == SLR_OK, info.devices != 0);
        assert_int_equal(info.status == SLR_OK, *info.reason == '\0');
    }
    must(slr_backend_get_info(1 + DRIVEN, &info));
    assert_string_equal(info.name, "null");
    refuses(slr_backend_get_info(8, &info), NOT_FOUND, "there is no backend 8; this library has 8");
    refuses(slr_backend_get_info(0, NULL), INVALID, "out is NULL");
}

static void spec_is_taken_apart(void **state)
{
    (void)state;
    static const char text[] = "cuda:12?sm=90&graph=no,cpu";
    struct slri_spec spec;
    must(slri_spec_parse(text, strcspn(text, ","), &spec));
    assert_string_equal(spec.backend, "cuda");
    assert_int_equal(spec.index, 12);
    assert_int_equal(spec.options, 2);
    assert_string_equal(slri_spec_option(&spec, "sm"), "90");
    assert_string_equal(slri_spec_option(&spec, "graph"), "no");
    assert_null(slri_spec_option(&spec, "none"));
    char name[64], uuid[37];
    slri_spec_put_name(&spec, "cuda", name, sizeof name);
    assert_string_equal(name, "cuda:12");
    must(slri_spec_parse("vulkan:llvmpipe", strlen("vulkan:llvmpipe"), &spec));
    slri_spec_put_name(&spec, "vulkan", name, sizeof name);
    assert_string_equal(name, "vulkan:llvmpipe");
    slri_spec_put_uuid((const unsigned char *)"\x6d\x65\x73\x61"
                                              "2222"
                                              "ABCD\x01\x02\xfe\xff",
                       uuid);
    assert_string_equal(uuid, "6d657361-3232-3232-4142-43440102feff");
}

// ---- buffers ------------------------------------------------------------------------------------------------------

static void buffer_is_zeroed_aligned_and_keeps_what_is_written(void **state)
{
    (void)state;
    static const char *const specs[] = {
        "cpu", "opencl:0", "opencl:0?memory=coarse", "opencl:0?memory=host", "opencl:0?memory=plain", "cuda:0"};
    EACH_HERE(i, specs)
    {
        slr_device *device = open_device(specs[i]);
        slr_buffer *buffer;
        must(slr_buffer_create(device, 1000, &buffer));
        assert_int_equal(slr_buffer_size(buffer), 1000);
        assert_int_equal(slr_buffer_size(NULL), 0);
        unsigned char zero[1000] = {0}, back[1000];
        memset(back, 1, sizeof back);
        must(slr_buffer_read(buffer, 0, back, 1000));
        assert_memory_equal(back, zero, 1000);
        must(slr_buffer_write(buffer, 990, "0123456789", 10));
        must(slr_buffer_read(buffer, 991, back, 9));
        assert_memory_equal(back, "123456789", 9);
        must(slr_buffer_read(buffer, 989, back, 1));
        assert_int_equal(back[0], 0);
        must(slr_buffer_write(buffer, 1000, NULL, 0)); // nothing, at the end
        slr_device_close(device);                      // the buffer holds it
        slr_buffer_destroy(buffer);
    }
}

static void range_that_leaves_the_buffer_names_both(void **state)
{
    (void)state;
    static const char *const specs[] = {"null", "cpu"};
    for (int i = 0; i < 2; ++i) {
        slr_device *device = open_device(specs[i]);
        slr_buffer *buffer;
        char host[16] = {0};
        must(slr_buffer_create(device, 10, &buffer));
        refuses(slr_buffer_write(buffer, 8, host, 3), INVALID,
                "3 bytes from byte 8 on were asked for, the buffer has 10");
        refuses(slr_buffer_read(buffer, 11, host, 0), INVALID, "0 bytes from byte 11 on were asked for");
        refuses(slr_buffer_write(buffer, UINT64_MAX - 3, host, 8), INVALID,
                "8 bytes from byte 18446744073709551612 on were asked for");                 // their sum is over 2^64
        refuses(slr_buffer_read(buffer, 1, host, UINT64_MAX), INVALID, "the buffer has 10"); // whose end wraps
        refuses(slr_buffer_read(buffer, UINT64_MAX, host, 2), INVALID, "the buffer has 10");
        refuses(slr_buffer_read(buffer, 0, NULL, 1), INVALID, "the host's memory is NULL");
        refuses(slr_buffer_write(NULL, 0, host, 1), INVALID, "buffer is NULL");
        slr_buffer_destroy(buffer);
        refuses(slr_buffer_create(device, 0, &buffer), INVALID, "a buffer of 0 B was asked for; expected 1 to 2^40");
        refuses(slr_buffer_create(device, ((uint64_t)1 << 40) + 1, &buffer), INVALID, "of 1099511627777 B");
        refuses(slr_buffer_create(NULL, 1, &buffer), INVALID, "device is NULL");
        refuses(slr_buffer_create(device, 1, NULL), INVALID, "out is NULL");
        slr_device_close(device);
    }
}

static void null_device_checks_and_counts_and_stores_nothing(void **state)
{
    (void)state;
    slr_device *device = open_device("null");
    slr_buffer *buffer;
    char host[8] = "1234567";
    must(slr_buffer_create(device, (uint64_t)1 << 40, &buffer));
    must(slr_buffer_write(buffer, 1000, host, 8));
    must(slr_buffer_read(buffer, 1000, host, 8));
    assert_memory_equal(host, "\0\0\0\0\0\0\0", 8);
    slr_device_info info = info_of(device);
    assert_string_equal(info.description, "executes nothing; 2 commands of 16 B so far");
    assert_string_equal(info.engine, "none");
    assert_int_equal(info.ring_kernels, 0);
    assert_int_equal(info.workers, 0);
    slr_buffer_destroy(buffer);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_or_missing_device_is_refused_by_name),
        cmocka_unit_test(name_in_the_info_opens_the_same_device),
        cmocka_unit_test(list_opens_the_first_that_can_be_and_says_why),
        cmocka_unit_test(what_a_device_makes_no_use_of_is_no_feature_of_it),
        cmocka_unit_test(what_runs_on_the_threads_of_others_is_not_simulated),
        cmocka_unit_test(no_name_takes_SLIPRING_DEVICE_or_auto),
        cmocka_unit_test(sixty_four_devices_are_the_most),
        cmocka_unit_test(backends_are_listed_with_their_state),
        cmocka_unit_test(spec_is_taken_apart),
        cmocka_unit_test(buffer_is_zeroed_aligned_and_keeps_what_is_written),
        cmocka_unit_test(range_that_leaves_the_buffer_names_both),
        cmocka_unit_test(null_device_checks_and_counts_and_stores_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
