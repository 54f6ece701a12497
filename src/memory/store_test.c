// SPDX-License-Identifier: Apache-2.0
// Buffers come from their device's heap: they begin as zeros again, the limit holds, the watcher is told.
#include "device/device_test.h"
#include "memory/watch_test.h"

static slr_heap_stats stats_of(slr_device *device)
{
    slr_heap *heap;
    slr_heap_stats stats;
    must(slr_device_get_heap(device, &heap));
    must(slr_heap_get_stats(heap, &stats));
    return stats;
}

static void buffer_takes_its_memory_from_the_devices_heap(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_buffer *a, *b;
    must(slr_buffer_create(device, 1000, &a));
    must((slr_buffer_create)(device, 64, &b));
    assert_int_equal(stats_of(device).live_bytes, 1024 + 64);
    slr_buffer_destroy(a);
    slr_buffer_destroy(b);
    assert_int_equal(stats_of(device).live_bytes, 0);
    assert_int_equal(stats_of(device).taken, 2);
    slr_heap *heap;
    refuses(slr_device_get_heap(NULL, &heap), INVALID, "device is NULL");
    slr_device_close(device);
}

static void buffer_in_used_memory_begins_as_zeros(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    static unsigned char ones[5000], back[9000], zero[9000];
    memset(ones, 0xFF, sizeof ones);
    slr_buffer *buffer;
    must(slr_buffer_create(device, sizeof ones, &buffer));
    must(slr_buffer_write(buffer, 0, ones, sizeof ones));
    slr_buffer_destroy(buffer);
    must(slr_buffer_create(device, sizeof back, &buffer)); // over it, and beyond
    must(slr_buffer_read(buffer, 0, back, sizeof back));
    assert_memory_equal(back, zero, sizeof back);
    slr_buffer_destroy(buffer);
    slr_device_close(device);
}

static void limit_of_the_device_refuses_the_buffer_beyond_it(void **state)
{
    (void)state;
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 1 << 20;
    slr_device *device;
    slr_buffer *buffer, *none;
    must(slr_device_open("cpu", &desc, &device));
    must(slr_buffer_create(device, 600000, &buffer));
    refuses(slr_buffer_create(device, 600000, &none), NO_MEMORY,
            "heap 'buffers': 600000 B at a multiple of 64 were asked for; 448576 B are free");
    slr_buffer_destroy(buffer);
    must(slr_buffer_create(device, 1 << 20, &buffer));
    slr_buffer_destroy(buffer);
    slr_device_close(device);
    desc.max_memory_bytes = 63;
    refuses(slr_device_open("cpu", &desc, &device), INVALID, "max_bytes is 63; expected a multiple of 64");
}

static void watcher_is_told_of_each_buffer_and_of_what_is_left_at_close(void **state)
{
    (void)state;
    struct watch told = {0};
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 4096;
    desc.on_memory = watch;
    desc.memory_user = &told;
    slr_device *device;
    slr_buffer *a, *b, *none;
    must(slr_device_open("cpu", &desc, &device));
    const uint32_t line = __LINE__;
    must(slr_buffer_create(device, 1024, &a));
    must(slr_buffer_create(device, 100, &b));
    gives(slr_buffer_create(device, 5000, &none), NO_MEMORY);
    slr_buffer_destroy(a);
    slr_device_close(device);
    static const struct {
        uint32_t what, line;
        uint64_t bytes, live, number;
    } expected[] = {{SLR_MEMORY_TAKEN, 1, 1024, 1024, 1},
                    {SLR_MEMORY_TAKEN, 2, 128, 1152, 2},
                    {SLR_MEMORY_REFUSED, 3, 5056, 1152, 3},
                    {SLR_MEMORY_GIVEN, 1, 1024, 128, 4},
                    {SLR_MEMORY_LEAKED, 2, 128, 128, 0}};
    assert_int_equal(told.events, 5);
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(told.event[i].what, expected[i].what);
        assert_int_equal(told.event[i].line, line + expected[i].line);
        assert_string_equal(told.event[i].file, __FILE__);
        assert_string_equal(told.event[i].heap, "buffers");
        assert_int_equal(told.event[i].bytes, expected[i].bytes);
        assert_int_equal(told.event[i].live_bytes, expected[i].live);
        assert_int_equal(told.event[i].number, expected[i].number);
    }
    assert_ptr_equal(told.event[4].memory, told.event[1].memory);
    slr_buffer_destroy(b); // it holds the device
    assert_int_equal(told.events, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer_takes_its_memory_from_the_devices_heap),
        cmocka_unit_test(buffer_in_used_memory_begins_as_zeros),
        cmocka_unit_test(limit_of_the_device_refuses_the_buffer_beyond_it),
        cmocka_unit_test(watcher_is_told_of_each_buffer_and_of_what_is_left_at_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
