// SPDX-License-Identifier: Apache-2.0
// Pools: what is used again, what is kept, what is refused; random programs against a simple reference.
#include "base/thread.h"
#include "memory/heap_test.h"
#include "memory/watch_test.h"

#include <slipring/pool.h>

static slr_pool_stats stats_of_pool(slr_pool *pool)
{
    slr_pool_stats stats;
    must(slr_pool_get_stats(pool, &stats));
    return stats;
}

static slr_pool *pool_of(slr_device *device, uint64_t max_bytes, uint64_t keep_bytes)
{
    slr_pool_desc desc = SLR_POOL_DESC_INIT;
    desc.name = "test";
    desc.max_bytes = max_bytes;
    desc.keep_bytes = keep_bytes;
    slr_pool *pool = NULL;
    must(slr_pool_create(device, &desc, &pool));
    return pool;
}

static slr_buffer *acquire(slr_pool *pool, uint64_t bytes)
{
    slr_buffer *buffer = NULL;
    must(slr_pool_acquire(pool, bytes, SLR_U8, &buffer));
    return buffer;
}

static void buffer_that_is_let_go_of_serves_the_next_of_its_class(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_pool *pool = pool_of(device, 0, 0);
    slr_buffer *first, *second;
    must(slr_pool_acquire(pool, 250, SLR_F32, &first)); // 1,000 bytes, in a class of 1,024
    assert_int_equal(slr_buffer_size(first), 1000);
    must(slr_buffer_write(first, 0, "left", 4));
    slr_buffer_destroy(first);
    must(slr_pool_acquire(pool, 128, SLR_F64, &second)); // of other scalars, and of another size of the same class
    assert_ptr_equal(first, second);
    assert_int_equal(slr_buffer_size(second), 1024);
    char left[4];
    must(slr_buffer_read(second, 0, left, 4));
    assert_memory_equal(left, "left", 4);
    slr_pool_stats stats = stats_of_pool(pool);
    assert_int_equal(stats.hits, 1);
    assert_int_equal(stats.misses, 1);
    assert_true(stats.hit_rate == 0.5);
    assert_int_equal(stats.live_bytes, 1024);
    assert_int_equal(stats.kept, 0);
    slr_buffer *larger = acquire(pool, 1025);
    assert_ptr_not_equal(larger, second);
    assert_int_equal(stats_of_pool(pool).live_bytes, 1024 + 1280);
    slr_buffer_destroy(larger);
    slr_buffer_destroy(second);
    assert_int_equal(stats_of_pool(pool).peak_bytes, 1024 + 1280); // the high-water mark stays
    assert_int_equal(stats_of_pool(pool).live, 0);
    slr_pool_destroy(pool);
    slr_device_close(device);
}

static void class_wastes_at_most_a_quarter(void **state)
{
    (void)state;
    slr_device *device = open_device("null");
    slr_pool *pool = pool_of(device, 0, 0);
    for (uint64_t bytes = 1; bytes < (uint64_t)1 << 40; bytes += bytes / 7 + 1) {
        uint64_t before = stats_of_pool(pool).live_bytes;
        slr_buffer *buffer = acquire(pool, bytes);
        uint64_t class = stats_of_pool(pool).live_bytes - before;
        assert_true(class >= bytes && class <= (bytes + 63) / 64 * 64 * 5 / 4);
        slr_buffer_destroy(buffer);
    }
    slr_buffer_destroy(acquire(pool, (uint64_t)1 << 40));
    slr_pool_destroy(pool);
    slr_device_close(device);
}

static void limit_names_pool_asked_and_free_and_what_waits_makes_room(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_pool *pool = pool_of(device, 8192, 0);
    slr_buffer *a = acquire(pool, 4096), *b = acquire(pool, 2048), *none;
    slr_buffer_destroy(b);
    refuses(slr_pool_acquire(pool, 5000, SLR_U8, &none), NO_MEMORY,
            "pool 'test': a buffer of 5120 B was asked for; 4096 B are in use and 2048 B free, with a limit of 8192 B");
    assert_int_equal(stats_of_pool(pool).refused, 1);
    assert_int_equal(stats_of_pool(pool).kept, 1);
    slr_buffer *c = acquire(pool, 4096); // for which b has to go
    assert_int_equal(stats_of_pool(pool).kept, 0);
    slr_buffer_destroy(a);
    slr_buffer_destroy(c);
    slr_pool_destroy(pool);
    slr_device_close(device);
}

static void pool_keeps_up_to_its_limit_and_trims_the_largest_first(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_pool *pool = pool_of(device, 0, 8192);
    slr_buffer *a = acquire(pool, 1024), *b = acquire(pool, 4096), *c = acquire(pool, 4096);
    slr_buffer_destroy(a);
    slr_buffer_destroy(b);
    slr_buffer_destroy(c); // beyond
    assert_int_equal(stats_of_pool(pool).kept_bytes, 1024 + 4096);
    assert_int_equal(slr_pool_trim(pool, 2000), 4096);
    assert_int_equal(stats_of_pool(pool).kept_bytes, 1024);
    assert_int_equal(slr_pool_trim(pool, 0), 1024);
    assert_int_equal(slr_pool_trim(NULL, 0), 0);
    slr_pool_destroy(pool);
    slr_pool_destroy(NULL);
    slr_device_close(device);
}

static void device_out_of_memory_gets_back_what_waits(void **state)
{
    (void)state;
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 64 * KIB;
    slr_device *device;
    slr_pool *pool;
    slr_buffer *plain, *none;
    must(slr_device_open("cpu", &desc, &device));
    must(slr_device_get_pool(device, &pool));
    slr_buffer_destroy(acquire(pool, 40 * KIB));
    must(slr_buffer_create(device, 40 * KIB, &plain)); // takes what waits in the device's pool
    assert_int_equal(stats_of_pool(pool).kept, 0);
    refuses(slr_pool_acquire(pool, 32 * KIB, SLR_U8, &none), NO_MEMORY,
            "pool 'pool': a buffer of 32768 B was asked for");
    check_message("heap 'buffers': 32768 B", "slr_pool_acquire", __FILE__, __LINE__);
    assert_int_equal(stats_of_pool(pool).live, 0);
    slr_buffer_destroy(plain);
    slr_buffer_destroy(acquire(pool, 24 * KIB));
    slr_buffer_destroy(acquire(pool, 56 * KIB)); // takes what waits in the pool itself
    slr_device_close(device);
}

static void buffer_outlives_its_pool_and_its_device(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_pool *pool = pool_of(device, 0, 0), *devices;
    must(slr_device_get_pool(device, &devices));
    slr_buffer *a = acquire(pool, 100), *b = acquire(devices, 100), *waits = acquire(pool, 100);
    slr_buffer_destroy(waits);
    slr_pool_destroy(pool);
    slr_device_close(device);
    must(slr_buffer_write(a, 0, "still", 5));
    slr_buffer_destroy(a);
    slr_buffer_destroy(b);
}

static void blocked(void *user, slr_status status)
{
    (void)status;
    while (!__atomic_load_n((int *)user, __ATOMIC_ACQUIRE))
        slri_yield();
}

static void buffer_with_work_under_way_does_not_wait_in_the_pool_yet(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_pool *pool;
    slr_stream *stream;
    int go = 0;
    char data[64] = "under way";
    must(slr_device_get_pool(device, &pool));
    must(slr_stream_create(device, NULL, &stream));
    slr_buffer *first = acquire(pool, 64);
    must(slr_stream_call(stream, blocked, &go, NULL));
    must(slr_stream_write(stream, first, 0, data, sizeof data, NULL));
    slr_buffer_destroy(first);
    slr_buffer *other = acquire(pool, 64);
    assert_ptr_not_equal(other, first);
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    must(slr_stream_finish(stream, LONG));
    assert_ptr_equal(acquire(pool, 64), first);
    slr_buffer_destroy(first);
    slr_buffer_destroy(other);
    slr_stream_destroy(stream);
    slr_device_close(device);
}

// On a device whose memory the host has a copy of: the copy is as large as the class.
static void buffer_used_again_with_more_bytes_has_them_in_both_places(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?unified=0");
    slr_pool *pool = pool_of(device, 0, 0);
    char data[8192], back[8192];
    memset(data, 'a', sizeof data);
    slr_buffer *few = acquire(pool, 7169);
    void *view;
    must(slr_buffer_map(few, 0, 7169, SLR_MAP_WRITE, LONG, &view));
    memcpy(view, data, 7169);
    must(slr_buffer_unmap(few, view));
    slr_buffer_destroy(few);
    slr_buffer *more;
    must(slr_pool_acquire(pool, 1024, SLR_F64, &more));
    assert_ptr_equal(few, more);
    must(slr_buffer_write(more, 0, data, sizeof data));
    must(slr_buffer_map(more, 0, sizeof data, SLR_MAP_READ, LONG, &view));
    assert_memory_equal(view, data, sizeof data);
    must(slr_buffer_unmap(more, view));
    must(slr_buffer_read(more, 0, back, sizeof back));
    assert_memory_equal(back, data, sizeof back);
    slr_buffer_destroy(more);
    slr_pool_destroy(pool);
    slr_device_close(device);
}

static void senseless_requests_are_refused(void **state)
{
    (void)state;
    slr_device *device = open_device("null");
    slr_pool *pool = pool_of(device, 0, 0), *none;
    slr_buffer *buffer;
    refuses(slr_pool_acquire(pool, 0, SLR_U8, &buffer), INVALID, "0 scalars of 1 B");
    refuses(slr_pool_acquire(pool, ((uint64_t)1 << 37) + 1, SLR_F64, &buffer), INVALID, "expected 1 to 2^40 B");
    refuses(slr_pool_acquire(pool, 1, (slr_scalar)0, &buffer), INVALID, "0 is not an slr_scalar");
    refuses(slr_pool_acquire(pool, 1, (slr_scalar)99, &buffer), INVALID, "99 is not an slr_scalar");
    refuses(slr_pool_acquire(NULL, 1, SLR_U8, &buffer), INVALID, "pool is NULL");
    refuses(slr_pool_acquire(pool, 1, SLR_U8, NULL), INVALID, "out is NULL");
    refuses(slr_pool_create(NULL, NULL, &none), INVALID, "device is NULL");
    refuses(slr_device_get_pool(device, NULL), INVALID, "out is NULL");
    slr_pool_desc desc = {.struct_size = 4};
    refuses(slr_pool_create(device, &desc, &none), INVALID, "slr_pool_desc.struct_size is 4");
    slr_pool_destroy(pool);
    slr_device_close(device);
}

static void leak_is_told_where_it_was_acquired_last(void **state)
{
    (void)state;
    struct watch told = {0};
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.on_memory = watch;
    desc.memory_user = &told;
    slr_device *device;
    slr_pool *pool;
    slr_buffer *buffer, *leaked;
    must(slr_device_open("cpu", &desc, &device));
    must(slr_device_get_pool(device, &pool));
    must(slr_pool_acquire(pool, 100, SLR_U8, &buffer));
    slr_buffer_destroy(buffer);
    const uint32_t line = __LINE__ + 1;
    must(slr_pool_acquire(pool, 100, SLR_U8, &leaked));
    slr_buffer_destroy(acquire(pool, 1000)); // waits at the end, which is no leak
    told.events = 0;
    slr_device_close(device);
    assert_int_equal(told.events, 2);
    assert_int_equal(told.event[0].what, SLR_MEMORY_GIVEN);
    assert_int_equal(told.event[1].what, SLR_MEMORY_LEAKED);
    assert_int_equal(told.event[1].line, line);
    assert_int_equal(told.event[1].bytes, 128);
    slr_buffer_destroy(leaked);
}

// ---- random programs ----------------------------------------------------------------------------------------------

// The reference: of each class how many wait, and what that makes. Which one is taken is not said.
struct reference {
    uint64_t waiting[200], live_bytes, kept_bytes, hits, misses;
};

static uint64_t
class_bytes(uint64_t bytes) // the slow way: 64, 128, 192, then 4/4, 5/4, 6/4 and 7/4 of each power of two
{
    for (uint64_t power = 64;; power *= 2)
        for (uint64_t quarter = 4; quarter < 8; ++quarter)
            if (power * quarter / 4 % 64 == 0 && power * quarter / 4 >= bytes)
                return power * quarter / 4;
}

static uint64_t *waiting_of(struct reference *reference, uint64_t class)
{
    unsigned at = 0;
    for (uint64_t c = 64; c < class; c = class_bytes(c + 1))
        ++at;
    return &reference->waiting[at];
}

static void run_program(slr_device *device, uint64_t seed)
{
    enum { SLOTS = 40, KEEP = 100000 };
    slr_pool *pool = pool_of(device, 0, KEEP);
    struct reference reference = {{0}, 0, 0, 0, 0};
    slr_buffer *slot[SLOTS] = {0};
    uint64_t size[SLOTS], random = seed * 0x9E3779B97F4A7C15u + 1;
    for (int i = 0; i < 3000; ++i) {
        uint64_t at = next_random(&random) % SLOTS;
        if (slot[at]) {
            slr_buffer_destroy(slot[at]);
            slot[at] = NULL;
            reference.live_bytes -= size[at];
            if (reference.kept_bytes + size[at] <= KEEP) {
                reference.kept_bytes += size[at];
                ++*waiting_of(&reference, size[at]);
            }
        } else {
            uint64_t bytes = next_random(&random) % ((uint64_t)64 << next_random(&random) % 9) + 1;
            slot[at] = acquire(pool, bytes);
            size[at] = class_bytes(bytes);
            reference.live_bytes += size[at];
            uint64_t *waiting = waiting_of(&reference, size[at]);
            if (*waiting > 0) {
                --*waiting;
                ++reference.hits;
                reference.kept_bytes -= size[at];
            } else
                ++reference.misses;
        }
        slr_pool_stats stats = stats_of_pool(pool);
        assert_int_equal(stats.live_bytes, reference.live_bytes);
        assert_int_equal(stats.kept_bytes, reference.kept_bytes);
        assert_int_equal(stats.hits, reference.hits);
        assert_int_equal(stats.misses, reference.misses);
    }
    for (int i = 0; i < SLOTS; ++i)
        slr_buffer_destroy(slot[i]);
    slr_pool_destroy(pool);
}

static void pool_does_what_the_reference_does(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {1, 2, 3, 5, 8, 13, 21, 34};
    slr_device *device = open_device("cpu");
    slr_heap *heap;
    must(slr_device_get_heap(device, &heap));
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; ++i)
        run_program(device, seeds[i]);
    const char *more = getenv("SLIPRING_SEED");
    if (more)
        run_program(device, strtoull(more, NULL, 0));
    assert_int_equal(stats_of(heap).live_bytes, 0);
    slr_device_close(device);
}

static void let_go(void *buffer)
{
    slr_buffer_destroy(buffer);
}

// Whichever is last frees the pool, whose lock the other may just be giving back: for the sanitizers to watch.
static void pool_and_its_last_buffer_can_go_at_once(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_heap *heap;
    must(slr_device_get_heap(device, &heap));
    for (int i = 0; i < 200; ++i) {
        slri_thread thread;
        slr_pool *pool = pool_of(device, 0, 0);
        must(slri_thread_start(&thread, "lets go", let_go, acquire(pool, 64)));
        slr_pool_destroy(pool);
        slri_thread_join(&thread);
    }
    assert_int_equal(stats_of(heap).live_bytes, 0);
    slr_device_close(device);
}

// A pool within a buffer: its buffers are that one's bytes, none overlaps another, and what is let go of makes room for
// other sizes.
static void pool_within_a_buffer_gives_its_slices(void **state)
{
    (void)state;
    static const char *const devices[] = {"cpu", "cpu?unified=0"};
    for (size_t d = 0; d < 2; ++d) {
        slr_device *device = open_device(devices[d]), *other = open_device("cpu");
        slr_buffer *whole, *elsewhere, *four[4], *buffer = NULL;
        must(slr_buffer_create(device, 4096, &whole));
        must(slr_buffer_create(other, 4096, &elsewhere));
        slr_pool_desc desc = SLR_POOL_DESC_INIT;
        desc.name = "within";
        desc.within = elsewhere;
        slr_pool *pool = NULL;
        refuses(slr_pool_create(device, &desc, &pool), INVALID,
                "'within': slr_pool_desc.within is a buffer of another");
        desc.within = whole;
        must(slr_pool_create(device, &desc, &pool));
        for (uint32_t k = 0; k < 4; ++k) {
            unsigned char bytes[1024];
            memset(bytes, (int)k + 1, sizeof bytes);
            four[k] = acquire(pool, 1024);
            must(slr_buffer_write(four[k], 0, bytes, sizeof bytes));
        }
        refuses(slr_pool_acquire(pool, 1, SLR_U8, &buffer), NO_MEMORY, "the buffer that it is in, of 4096 B");
        uint32_t seen = 0;
        for (uint32_t k = 0; k < 4; ++k) {
            unsigned char bytes[1024];
            must(slr_buffer_read(whole, k * 1024, bytes, sizeof bytes));
            for (uint32_t i = 1; i < 1024; ++i)
                assert_int_equal(bytes[i], bytes[0]);
            seen |= 1u << bytes[0];
        }
        assert_int_equal(seen, 30);
        for (uint32_t k = 0; k < 4; ++k)
            slr_buffer_destroy(four[k]);
        assert_int_equal(stats_of_pool(pool).kept, 4);
        buffer = acquire(pool, 4096); // those that wait make room
        assert_int_equal(stats_of_pool(pool).kept, 0);
        slr_buffer_destroy(whole);
        slr_pool_destroy(pool);
        slr_buffer_destroy(buffer);
        slr_buffer_destroy(elsewhere);
        slr_device_close(other);
        slr_device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer_that_is_let_go_of_serves_the_next_of_its_class),
        cmocka_unit_test(class_wastes_at_most_a_quarter),
        cmocka_unit_test(limit_names_pool_asked_and_free_and_what_waits_makes_room),
        cmocka_unit_test(pool_keeps_up_to_its_limit_and_trims_the_largest_first),
        cmocka_unit_test(device_out_of_memory_gets_back_what_waits),
        cmocka_unit_test(buffer_outlives_its_pool_and_its_device),
        cmocka_unit_test(buffer_with_work_under_way_does_not_wait_in_the_pool_yet),
        cmocka_unit_test(buffer_used_again_with_more_bytes_has_them_in_both_places),
        cmocka_unit_test(senseless_requests_are_refused),
        cmocka_unit_test(leak_is_told_where_it_was_acquired_last),
        cmocka_unit_test(pool_does_what_the_reference_does),
        cmocka_unit_test(pool_and_its_last_buffer_can_go_at_once),
        cmocka_unit_test(pool_within_a_buffer_gives_its_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
