// SPDX-License-Identifier: Apache-2.0
// Memory of the CUDA backend on a driver that is simulated: pinned, mapped, managed, and copies over themselves.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

// The fake makes memory zero byte by byte: no more of it than a test needs.
static slr_device *open_small(const char *spec)
{
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    slr_device *device = NULL;
    desc.max_memory_bytes = 5 << 19;
    must(slr_device_open(spec, &desc, &device));
    return device;
}

static slr_buffer_desc pinned(uint64_t bytes, void *import)
{
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    desc.bytes = bytes;
    desc.pinned = 1;
    desc.import = import;
    return desc;
}

// Writes by a map, has the device copy it, reads the copy by a map: a copy in and one out.
static void round_trip(slr_device *device, slr_buffer *from, slr_buffer *to)
{
    unsigned char *view;
    slr_stream *stream;
    must(slr_stream_default(device, &stream));
    must(slr_buffer_map(from, 0, 1000, SLR_MAP_DISCARD, LONG, (void **)&view));
    for (int i = 0; i < 1000; ++i)
        view[i] = (unsigned char)(i * 7);
    must(slr_buffer_unmap(from, view));
    must(slr_stream_copy(stream, to, 0, from, 0, 1000, NULL));
    must(slr_buffer_map(to, 0, 1000, SLR_MAP_READ, LONG, (void **)&view));
    for (int i = 0; i < 1000; ++i)
        assert_int_equal(view[i], (unsigned char)(i * 7));
    must(slr_buffer_unmap(to, view));
}

static void copies_of_pinned_buffers_are_of_pinned_memory(void **state)
{
    (void)state;
    reset();
    slr_device *device = open_small("cuda:0");
    slr_buffer_desc desc = pinned(1000, NULL);
    slr_buffer *a, *b;
    slr_buffer_info info;
    for (int is_pinned = 1; is_pinned >= 0; --is_pinned) {
        desc.pinned = (uint32_t)is_pinned;
        must(slr_buffer_create_with(device, &desc, &a));
        must(slr_buffer_create_with(device, &desc, &b));
        fake->pinned = fake->pageable = 0;
        round_trip(device, a, b);
        assert_int_equal(fake->pinned, is_pinned ? 2 : 0);
        assert_int_equal(fake->pageable, is_pinned ? 0 : 2);
        must(slr_buffer_get_info(a, &info));
        assert_int_equal(info.pinned, is_pinned);
        slr_buffer_destroy(a);
        slr_buffer_destroy(b);
    }
    slr_device_close(device);
    nothing_is_left("pinned");
}

static void pinned_memory_is_cut_from_larger_pieces_and_begins_as_zeros(void **state)
{
    (void)state;
    reset();
    slr_device *device = open_small("cuda:0");
    slr_buffer_desc desc = pinned(20000, NULL);
    slr_buffer *buffer[20];
    unsigned char *view;
    uint32_t live = 0;
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < 20; ++i) {
            must(slr_buffer_create_with(device, &desc, &buffer[i]));
            live = i == 0 ? fake->live : live;
            must(slr_buffer_map(buffer[i], 0, 20000, SLR_MAP_READ | SLR_MAP_WRITE, LONG, (void **)&view));
            assert_int_equal((uintptr_t)view % 4096, 0);
            for (int at = 0; at < 20000; at += 999)
                assert_int_equal(view[at], 0);
            memset(view, 0xee, 20000);
            must(slr_buffer_unmap(buffer[i], view));
            if (round == 0 && i == 19)
                for (int each = 0; each < 20; ++each)
                    slr_buffer_destroy(buffer[each]);
        }
    assert_int_equal(fake->live, live); // no further call of the driver
    for (int i = 0; i < 20; ++i)
        slr_buffer_destroy(buffer[i]);
    slr_device_close(device);
    nothing_is_left("pieces");
}

static void released(void *user)
{
    ++*(uint32_t *)user;
}

static void imported_memory_is_pinned_until_it_is_released(void **state)
{
    (void)state;
    static _Alignas(64) unsigned char memory[1000];
    reset();
    slr_device *device = open_small("cuda:0");
    uint32_t releases = 0;
    slr_buffer_desc desc = pinned(1000, memory), plain = pinned(1000, NULL);
    slr_buffer *a, *b, *again;
    desc.release = released;
    desc.user = &releases;
    slr_stream *stream;
    must(slr_stream_default(device, &stream)); // an object of the driver's too
    must(slr_buffer_create_with(device, &plain, &b));
    uint32_t live = fake->live;
    must(slr_buffer_create_with(device, &desc, &a));
    assert_int_equal(fake->live, live + 1);
    fake->pinned = fake->pageable = 0;
    round_trip(device, a, b);
    assert_int_equal(fake->pinned, 2);
    refuses(slr_buffer_create_with(device, &desc, &again), INVALID, "cuMemHostRegister");
    assert_int_equal(releases, 0); // there was no buffer
    slr_buffer_destroy(a);
    assert_int_equal(fake->live, live);
    assert_int_equal(releases, 1);
    slr_buffer_destroy(b);
    slr_device_close(device);
    nothing_is_left("imported");
}

static void copy_over_itself_takes_no_memory(void **state)
{
    (void)state;
    enum { BYTES = 5 << 19 };
    static const uint64_t apart[] = {77, (1 << 20) - 1, 1 << 20, (1 << 20) + 77};
    unsigned char *before = malloc(BYTES), *expected = malloc(BYTES), *after = malloc(BYTES);
    reset();
    slr_device *device = open_small("cuda:0");
    slr_buffer *buffer;
    slr_stream *stream;
    must(slr_buffer_create(device, BYTES, &buffer));
    must(slr_stream_create(device, NULL, &stream));
    for (uint32_t i = 0; i < BYTES; ++i)
        before[i] = (unsigned char)((i * 2654435761u) >> 24);
    for (size_t i = 0; i < 2 * sizeof apart / sizeof *apart; ++i) {
        uint64_t way = apart[i / 2], from = i % 2 ? way : 0, to = i % 2 ? 0 : way;
        memcpy(expected, before, BYTES);
        memmove(expected + to, expected + from, BYTES - way);
        must(slr_buffer_write(buffer, 0, before, BYTES));
        uint32_t allocations = fake->allocations;
        must(slr_stream_copy(stream, buffer, to, buffer, from, BYTES - way, NULL));
        must(slr_stream_finish(stream, LONG));
        assert_int_equal(fake->allocations, allocations);
        must(slr_buffer_read(buffer, 0, after, BYTES));
        assert_memory_equal(after, expected, BYTES);
    }
    slr_stream_destroy(stream);
    slr_buffer_destroy(buffer);
    slr_device_close(device);
    nothing_is_left("overlapping ranges");
    free(before);
    free(expected);
    free(after);
}

static void mapped_and_managed_memory_are_the_hosts_too(void **state)
{
    (void)state;
    static const char *const specs[] = {"cuda:0?memory=mapped", "cuda:0?context=primary&memory=managed"};
    for (int i = 0; i < 2; ++i) {
        reset();
        slr_device *device = open_small(specs[i]);
        slr_buffer *a, *b;
        slr_buffer_info info;
        slr_device_info what;
        slr_buffer_desc desc = pinned(1000, NULL);
        must(slr_device_get_info(device, &what));
        assert_string_equal(what.name, specs[i]);
        assert_int_equal(what.unified_memory, 1);
        must(slr_buffer_create(device, 1000, &b));
        if (i == 0)
            must(slr_buffer_create_with(device, &desc, &a));
        else {
            refuses(slr_buffer_create_with(device, &desc, &a), UNSUPPORTED, "cannot be pinned");
            must(slr_buffer_create(device, 1000, &a));
        }
        round_trip(device, a, b);
        assert_int_equal(fake->pinned + fake->pageable, 0); // the device's bytes are the host's
        must(slr_buffer_get_info(a, &info));
        assert_int_equal(info.unified, 1);
        assert_int_equal(info.pinned, i == 0);
        slr_buffer_destroy(a);
        slr_buffer_destroy(b);
        slr_device_close(device);
        nothing_is_left(specs[i]);
    }
}

static void memory_that_the_device_has_not_is_refused(void **state)
{
    (void)state;
    slr_device *device;
    reset();
    fake->separate = 1;
    refuses(slr_device_open("cuda:0?memory=mapped", NULL, &device), UNSUPPORTED,
            "addresses that host and device share");
    refuses(slr_device_open("cuda:0?memory=managed", NULL, &device), UNSUPPORTED,
            "cannot access memory 'managed' while");
    nothing_is_left("separate");
    reset();
    device = open_small("cuda:0?memory=mapped");
    fake->separate = 1; // and only says so now
    slr_buffer *buffer;
    refuses(slr_buffer_create(device, 64, &buffer), NO_MEMORY, "maps host memory at other addresses");
    slr_device_close(device);
    nothing_is_left("elsewhere");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_of_pinned_buffers_are_of_pinned_memory),
        cmocka_unit_test(pinned_memory_is_cut_from_larger_pieces_and_begins_as_zeros),
        cmocka_unit_test(imported_memory_is_pinned_until_it_is_released),
        cmocka_unit_test(copy_over_itself_takes_no_memory),
        cmocka_unit_test(mapped_and_managed_memory_are_the_hosts_too),
        cmocka_unit_test(memory_that_the_device_has_not_is_refused),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}
