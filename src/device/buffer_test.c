// SPDX-License-Identifier: Apache-2.0
// Buffers: what is moved when, on a device with memory of its own and on one without; maps; slices; imports; order
// among threads and streams. A kernel is a host function here that says which bytes it uses.
#include "device/device_test.h"

#include "base/futex.h"
#include "base/thread.h"
#include "device/stream.h"

#define SEPARATE "cpu?threads=2&unified=0"
#define UNIFIED "cpu?threads=2"

struct fixture {
    slr_device *device;
    slr_stream *stream;
    slr_buffer *buffer;
};

static struct fixture set_up(const char *spec, slr_buffer_mode mode, uint64_t bytes)
{
    struct fixture f = {.device = open_device(spec)};
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    desc.mode = mode;
    desc.bytes = bytes;
    must(slr_stream_create(f.device, NULL, &f.stream));
    must(slr_buffer_create_with(f.device, &desc, &f.buffer));
    return f;
}

static void tear_down(struct fixture *f)
{
    slr_buffer_destroy(f->buffer);
    slr_stream_destroy(f->stream);
    slr_device_close(f->device);
}

// ---- a kernel -------------------------------------------------------------------------------------------------------

struct kernel {
    unsigned char *at;
    uint64_t bytes;
    uint32_t sum;
    unsigned char add;
    uint32_t *wait_for; // NULL, or what must be 1 first
};

static void add_to_each(void *user, slr_status status)
{
    struct kernel *kernel = user;
    holds(status == SLR_OK);
    while (kernel->wait_for && !__atomic_load_n(kernel->wait_for, __ATOMIC_ACQUIRE))
        slri_futex_wait(kernel->wait_for, 0, SLRI_FOREVER);
    kernel->sum = 0;
    for (uint64_t i = 0; i < kernel->bytes; ++i) {
        kernel->sum += kernel->at[i];
        if (kernel->add)
            kernel->at[i] = (unsigned char)(kernel->at[i] + kernel->add);
    }
}

static slr_status launch(slr_stream *stream, slr_buffer *buffer, uint32_t how, struct kernel *kernel, slr_point *out)
{
    struct slri_command command = {.op = SLRI_CALL, .call = {add_to_each, kernel}};
    struct slri_buffer_use use = {buffer, 0, buffer->bytes, how, false};
    struct slri_work work = {.command = &command, .commands = 1, .use = &use, .uses = 1};
    kernel->at = buffer->memory;
    kernel->bytes = buffer->bytes;
    return slri_stream_submit(stream, &work, out);
}

static void open_gate(uint32_t *gate)
{
    __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
    slri_futex_wake(gate, UINT32_MAX);
}

static slr_buffer_info info_of(const slr_buffer *buffer)
{
    slr_buffer_info info;
    must(slr_buffer_get_info(buffer, &info));
    return info;
}

static void write_by_map(slr_buffer *buffer, uint64_t offset, uint64_t bytes, int value)
{
    void *at;
    must(slr_buffer_map(buffer, offset, bytes, SLR_MAP_DISCARD, LONG, &at));
    memset(at, value, bytes);
    must(slr_buffer_unmap(buffer, at));
}

static unsigned char byte_at(slr_buffer *buffer, uint64_t offset)
{
    void *at;
    must(slr_buffer_map(buffer, offset, 1, SLR_MAP_READ, LONG, &at));
    unsigned char byte = *(unsigned char *)at;
    must(slr_buffer_unmap(buffer, at));
    return byte;
}

static void moved_so_far(const slr_buffer *buffer, uint64_t uploads, uint64_t uploaded, uint64_t downloads,
                         uint64_t downloaded)
{
    slr_buffer_info info = info_of(buffer);
    assert_int_equal(info.uploads, uploads);
    assert_int_equal(info.uploaded_bytes, uploaded);
    assert_int_equal(info.downloads, downloads);
    assert_int_equal(info.downloaded_bytes, downloaded);
}

// ---- what is moved --------------------------------------------------------------------------------------------------

static void three_writes_and_a_launch_are_one_upload_and_two_reads_one_download(void **state)
{
    (void)state;
    struct fixture f = set_up(SEPARATE, SLR_BUFFER_AUTOMATIC, 1000);
    struct kernel kernel = {.add = 1};
    write_by_map(f.buffer, 0, 100, 1);
    write_by_map(f.buffer, 500, 100, 2);
    write_by_map(f.buffer, 900, 100, 3);
    moved_so_far(f.buffer, 0, 0, 0, 0);
    must(launch(f.stream, f.buffer, SLRI_WRITES, &kernel, NULL));
    moved_so_far(f.buffer, 1, 1000, 0, 0);
    void *at;
    must(slr_buffer_map(f.buffer, 0, 1000, SLR_MAP_READ, LONG, &at)); // waits for the kernel
    const unsigned char *byte = at;
    assert_int_equal(kernel.sum, 600);
    assert_int_equal(byte[0], 2);
    assert_int_equal(byte[100], 1);
    assert_int_equal(byte[599], 3);
    assert_int_equal(byte[999], 4);
    must(slr_buffer_unmap(f.buffer, at));
    moved_so_far(f.buffer, 1, 1000, 1, 1000);
    assert_int_equal(byte_at(f.buffer, 999), 4);
    moved_so_far(f.buffer, 1, 1000, 1, 1000);
    must(launch(f.stream, f.buffer, SLRI_WRITES, &kernel, NULL)); // the device's bytes are still good
    must(slr_stream_finish(f.stream, LONG));
    moved_so_far(f.buffer, 1, 1000, 1, 1000);
    tear_down(&f);
}

static void kernel_that_only_reads_makes_nothing_invalid(void **state)
{
    (void)state;
    struct fixture f = set_up(SEPARATE, SLR_BUFFER_AUTOMATIC, 64);
    struct kernel kernel = {0};
    write_by_map(f.buffer, 0, 64, 2);
    for (int i = 0; i < 3; ++i)
        must(launch(f.stream, f.buffer, SLRI_READS, &kernel, NULL));
    must(slr_stream_finish(f.stream, LONG));
    assert_int_equal(kernel.sum, 128);
    assert_int_equal(byte_at(f.buffer, 5), 2);
    moved_so_far(f.buffer, 1, 64, 0, 0);
    tear_down(&f);
}

static void write_keeps_what_it_does_not_write(void **state)
{
    (void)state;
    struct fixture f = set_up(SEPARATE, SLR_BUFFER_AUTOMATIC, 100);
    struct kernel kernel = {.add = 7};
    unsigned char *at;
    must(slr_buffer_map(f.buffer, 0, 1, SLR_MAP_READ, LONG, (void **)&at)); // makes the view
    must(slr_buffer_unmap(f.buffer, at));
    must(launch(f.stream, f.buffer, SLRI_WRITES, &kernel, NULL));
    must(slr_buffer_map(f.buffer, 10, 20, SLR_MAP_WRITE, LONG, (void **)&at));
    at[5] = 1; // one of twenty
    must(slr_buffer_unmap(f.buffer, at));
    moved_so_far(f.buffer, 0, 0, 1, 20);
    must(launch(f.stream, f.buffer, SLRI_READS, &kernel, NULL));
    must(slr_stream_finish(f.stream, LONG));
    moved_so_far(f.buffer, 1, 20, 1, 20);
    assert_int_equal(kernel.sum, 99 * 7 + 1);
    tear_down(&f);
}

static void copies_of_the_host_go_through_the_view_once_there_is_one(void **state)
{
    (void)state;
    struct fixture f = set_up(SEPARATE, SLR_BUFFER_AUTOMATIC, 100);
    struct kernel kernel = {.add = 1};
    char back[4] = "";
    must(slr_buffer_write(f.buffer, 0, "abc", 3)); // no view: straight
    must(slr_buffer_read(f.buffer, 0, back, 3));
    assert_string_equal(back, "abc");
    moved_so_far(f.buffer, 1, 3, 1, 3);
    assert_int_equal(byte_at(f.buffer, 1), 'b');
    moved_so_far(f.buffer, 1, 3, 2, 4);
    must(slr_buffer_write(f.buffer, 0, "def", 3));
    must(slr_buffer_write(f.buffer, 3, "ghi", 3));
    must(launch(f.stream, f.buffer, SLRI_WRITES, &kernel, NULL));
    moved_so_far(f.buffer, 2, 9, 2, 4);
    for (int i = 0; i < 2; ++i) {
        must(slr_buffer_read(f.buffer, 2, back, 3));
        assert_string_equal(back, "ghi");
        moved_so_far(f.buffer, 2, 9, 3, 7);
    }
    tear_down(&f);
}

static void where_memory_is_one_nothing_is_moved(void **state)
{
    (void)state;
    static const slr_buffer_mode modes[] = {SLR_BUFFER_AUTOMATIC, SLR_BUFFER_EXPLICIT, SLR_BUFFER_UNIFIED};
    for (int i = 0; i < 3; ++i) {
        struct fixture f = set_up(UNIFIED, modes[i], 100);
        struct kernel kernel = {.add = 1};
        write_by_map(f.buffer, 0, 100, 1);
        must(launch(f.stream, f.buffer, SLRI_WRITES, &kernel, NULL));
        assert_int_equal(byte_at(f.buffer, 99), 2);
        char back;
        must(slr_buffer_read(f.buffer, 50, &back, 1));
        assert_int_equal(back, 2);
        moved_so_far(f.buffer, 0, 0, 0, 0);
        assert_int_equal(info_of(f.buffer).unified, 1);
        assert_int_equal(info_of(f.buffer).mode, modes[i]);
        tear_down(&f);
    }
}

static void unified_buffer_is_refused_where_it_would_be_imitated(void **state)
{
    (void)state;
    static const char *const specs[] = {SEPARATE, "null"};
    for (int i = 0; i < 2; ++i) {
        slr_device *device = open_device(specs[i]);
        slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
        slr_buffer *buffer = NULL;
        desc.bytes = 1;
        desc.mode = SLR_BUFFER_UNIFIED;
        refuses(slr_buffer_create_with(device, &desc, &buffer), UNSUPPORTED, "has its own memory");
        desc.mode = (slr_buffer_mode)4;
        refuses(slr_buffer_create_with(device, &desc, &buffer), INVALID, "slr_buffer_desc.mode is 4");
        slr_device_close(device);
    }
}

static void explicit_buffer_moves_when_told_and_only_then(void **state)
{
    (void)state;
    struct fixture f = set_up(SEPARATE, SLR_BUFFER_EXPLICIT, 64);
    struct kernel kernel = {.add = 1};
    unsigned char *at;
    must(slr_buffer_map(f.buffer, 0, 64, SLR_MAP_READ | SLR_MAP_WRITE, LONG, (void **)&at));
    memset(at, 5, 64); // stays mapped all the time
    must(launch(f.stream, f.buffer, SLRI_WRITES, &kernel, NULL));
    must(slr_stream_finish(f.stream, LONG));
    assert_int_equal(kernel.sum, 0);
    must(slr_buffer_sync(f.buffer, 0, 32, SLR_AT_DEVICE, LONG));
    must(launch(f.stream, f.buffer, SLRI_WRITES, &kernel, NULL));
    assert_int_equal(at[40], 5);
    must(slr_buffer_sync(f.buffer, 16, 48, SLR_AT_HOST, LONG)); // waits for the kernel
    assert_int_equal(kernel.sum, 32 * 5 + 32 * 1);
    assert_int_equal(at[0], 5);
    assert_int_equal(at[20], 6);
    assert_int_equal(at[40], 2);
    moved_so_far(f.buffer, 1, 32, 1, 48);
    refuses(slr_stream_prefetch(f.stream, f.buffer, 0, 64, SLR_AT_DEVICE, NULL), WRONG_STATE, "slr_buffer_sync");
    must(slr_buffer_unmap(f.buffer, at));
    tear_down(&f);
    f = set_up(SEPARATE, SLR_BUFFER_AUTOMATIC, 64);
    refuses(slr_buffer_sync(f.buffer, 0, 64, SLR_AT_DEVICE, LONG), WRONG_STATE, "not explicit");
    tear_down(&f);
}

static void prefetch_moves_ahead_in_both_directions(void **state)
{
    (void)state;
    struct fixture f = set_up(SEPARATE, SLR_BUFFER_AUTOMATIC, 64);
    struct kernel kernel = {.add = 1};
    write_by_map(f.buffer, 0, 64, 1);
    must(slr_stream_prefetch(f.stream, f.buffer, 0, 64, SLR_AT_DEVICE, NULL));
    moved_so_far(f.buffer, 1, 64, 0, 0);
    must(launch(f.stream, f.buffer, SLRI_WRITES, &kernel, NULL));
    moved_so_far(f.buffer, 1, 64, 0, 0);
    must(slr_stream_prefetch(f.stream, f.buffer, 0, 32, SLR_AT_HOST, NULL));
    moved_so_far(f.buffer, 1, 64, 1, 32);
    assert_int_equal(byte_at(f.buffer, 3), 2); // waits for the prefetch, and moves nothing itself
    moved_so_far(f.buffer, 1, 64, 1, 32);
    assert_int_equal(byte_at(f.buffer, 33), 2);
    moved_so_far(f.buffer, 1, 64, 2, 33);
    tear_down(&f);
}

static void null_device_counts_what_would_be_moved(void **state)
{
    (void)state;
    struct fixture f = set_up("null", SLR_BUFFER_AUTOMATIC, 1000);
    for (uint64_t offset = 0; offset < 3; ++offset)
        write_by_map(f.buffer, offset * 300, 10, 1);
    must(slr_stream_prefetch(f.stream, f.buffer, 0, 1000, SLR_AT_DEVICE, NULL));
    moved_so_far(f.buffer, 1, 610, 0, 0);
    must(slr_stream_fill(f.stream, f.buffer, 0, 1000, "x", 1, NULL));
    assert_int_equal(byte_at(f.buffer, 0), 0); // it stores nothing
    moved_so_far(f.buffer, 1, 610, 1, 1);
    tear_down(&f);
}

// ---- order ----------------------------------------------------------------------------------------------------------

static void streams_that_use_the_same_bytes_are_ordered(void **state)
{
    (void)state;
    static const char *const specs[] = {SEPARATE, UNIFIED};
    for (int i = 0; i < 2; ++i) {
        struct fixture f = set_up(specs[i], SLR_BUFFER_AUTOMATIC, 64);
        slr_stream *other;
        uint32_t gate = 0;
        must(slr_stream_create(f.device, NULL, &other));
        struct kernel first = {.add = 1, .wait_for = &gate}, second = {.add = 1}, third = {0};
        slr_point point;
        must(launch(f.stream, f.buffer, SLRI_WRITES, &first, NULL));
        must(launch(other, f.buffer, SLRI_WRITES, &second, NULL)); // behind the first, without a wait of the user's
        must(launch(f.stream, f.buffer, SLRI_READS, &third, &point));
        gives(slr_point_wait(point, 5 * MS), TIMEOUT);
        open_gate(&gate);
        must(slr_point_wait(point, LONG));
        assert_int_equal(first.sum, 0);
        assert_int_equal(second.sum, 64);
        assert_int_equal(third.sum, 128);
        slr_stream_destroy(other);
        tear_down(&f);
    }
}

static void streams_that_use_different_slices_or_only_read_are_not_ordered(void **state)
{
    (void)state;
    struct fixture f = set_up(UNIFIED, SLR_BUFFER_AUTOMATIC, 128);
    slr_buffer *low, *high;
    slr_stream *other;
    uint32_t gate = 0;
    must(slr_buffer_slice(f.buffer, 0, 64, &low));
    must(slr_buffer_slice(f.buffer, 64, 64, &high));
    must(slr_stream_create(f.device, NULL, &other));
    struct kernel held = {.add = 1, .wait_for = &gate}, free_one = {.add = 1};
    must(launch(f.stream, low, SLRI_WRITES, &held, NULL));
    must(launch(other, high, SLRI_WRITES, &free_one, NULL));
    must(slr_stream_finish(other, LONG)); // while the first is held
    open_gate(&gate);
    must(slr_device_finish(f.device, LONG));
    uint32_t second_gate = 0;
    struct kernel reader = {.wait_for = &second_gate}, other_reader = {0};
    must(launch(f.stream, f.buffer, SLRI_READS, &reader, NULL));
    must(launch(other, f.buffer, SLRI_READS, &other_reader, NULL));
    must(slr_stream_finish(other, LONG));
    assert_int_equal(other_reader.sum, 128);
    open_gate(&second_gate);
    slr_buffer_destroy(low);
    slr_buffer_destroy(high);
    slr_stream_destroy(other);
    tear_down(&f);
}

static void maps_wait_for_work_that_stands_against_them(void **state)
{
    (void)state;
    struct fixture f = set_up(UNIFIED, SLR_BUFFER_AUTOMATIC, 128);
    uint32_t gate = 0;
    struct kernel reader = {.wait_for = &gate};
    void *at;
    must(launch(f.stream, f.buffer, SLRI_READS, &reader, NULL));
    assert_int_equal(byte_at(f.buffer, 0), 0); // both only read
    refuses(slr_buffer_map(f.buffer, 0, 1, SLR_MAP_WRITE, 2 * MS, &at), TIMEOUT, "by the deadline");
    gives(slr_buffer_map(f.buffer, 0, 1, SLR_MAP_WRITE, 0, &at), TIMEOUT);
    open_gate(&gate);
    must(slr_buffer_map(f.buffer, 0, 1, SLR_MAP_WRITE, LONG, &at));
    must(slr_buffer_unmap(f.buffer, at));
    tear_down(&f);
}

static void what_is_mapped_is_refused_to_others(void **state)
{
    (void)state;
    static const char *const specs[] = {SEPARATE, UNIFIED};
    for (int i = 0; i < 2; ++i) {
        struct fixture f = set_up(specs[i], SLR_BUFFER_AUTOMATIC, 128);
        struct kernel kernel = {.add = 1};
        void *at, *second, *third;
        char byte;
        must(slr_buffer_map(f.buffer, 0, 64, SLR_MAP_WRITE, LONG, &at));
        refuses(launch(f.stream, f.buffer, SLRI_READS, &kernel, NULL), WRONG_STATE,
                "bytes 0 to 64 of the buffer are mapped");
        refuses(slr_buffer_map(f.buffer, 63, 2, SLR_MAP_READ, LONG, &second), WRONG_STATE, "slr_buffer_unmap first");
        gives(slr_buffer_read(f.buffer, 0, &byte, 1), WRONG_STATE);
        must(slr_buffer_read(f.buffer, 64, &byte, 1)); // which is not
        must(slr_buffer_unmap(f.buffer, at));
        must(slr_buffer_map(f.buffer, 0, 128, SLR_MAP_READ, LONG, &at));
        must(slr_buffer_map(f.buffer, 32, 64, SLR_MAP_READ, LONG, &second)); // many may read
        must(launch(f.stream, f.buffer, SLRI_READS, &kernel, NULL));
        must(slr_stream_finish(f.stream, LONG));
        gives(launch(f.stream, f.buffer, SLRI_WRITES, &kernel, NULL), WRONG_STATE);
        gives(slr_buffer_map(f.buffer, 0, 1, SLR_MAP_DISCARD, LONG, &third), WRONG_STATE);
        must(slr_buffer_unmap(f.buffer, at));
        must(slr_buffer_unmap(f.buffer, second));
        refuses(slr_buffer_unmap(f.buffer, second), INVALID, "is not the start of a mapping of this buffer");
        refuses(slr_buffer_unmap(f.buffer, NULL), INVALID, "is not the start of a mapping");
        must(launch(f.stream, f.buffer, SLRI_WRITES, &kernel, NULL));
        refuses(slr_buffer_map(f.buffer, 0, 1, 0, LONG, &at), INVALID, "access 0");
        refuses(slr_buffer_map(f.buffer, 0, 1, SLR_MAP_READ | SLR_MAP_DISCARD, LONG, &at), INVALID, "access 5");
        refuses(slr_buffer_map(f.buffer, 0, 0, SLR_MAP_READ, LONG, &at), INVALID, "no bytes");
        refuses(slr_buffer_map(f.buffer, 128, 1, SLR_MAP_READ, LONG, &at), INVALID, "1 bytes from byte 128 on");
        tear_down(&f);
    }
}

static void map_what_its_own_stream_writes(void *user, slr_status status)
{
    slr_buffer *buffer = user;
    void *at;
    (void)status;
    holds(slr_buffer_map(buffer, 0, 1, SLR_MAP_READ, LONG, &at) == SLR_WRONG_STATE);
}

static void host_function_that_maps_what_comes_after_it_is_refused(void **state)
{
    (void)state;
    struct fixture f = set_up(UNIFIED, SLR_BUFFER_AUTOMATIC, 64);
    uint32_t gate = 0;
    struct kernel held = {.wait_for = &gate};
    must(launch(f.stream, f.buffer, SLRI_READS, &held, NULL));
    must(slr_stream_call(f.stream, map_what_its_own_stream_writes, f.buffer, NULL));
    must(slr_stream_fill(f.stream, f.buffer, 0, 64, "x", 1, NULL));
    open_gate(&gate);
    must(slr_stream_finish(f.stream, LONG));
    tear_down(&f);
}

// Four threads, each writing a byte of its own all over the buffer and reading it whole: never a mixture.
struct worker {
    slri_thread thread;
    struct fixture *f;
    unsigned char number;
};

static void write_and_read(void *arg)
{
    struct worker *worker = arg;
    slr_buffer *buffer = worker->f->buffer;
    unsigned char bytes[4096];
    for (int i = 0; i < 300; ++i) {
        memset(bytes, worker->number, sizeof bytes);
        if (i % 3 == 0)
            holds(slr_stream_fill(worker->f->stream, buffer, 0, sizeof bytes, &worker->number, 1, NULL) == SLR_OK);
        else
            holds(slr_buffer_write(buffer, 0, bytes, sizeof bytes) == SLR_OK);
        holds(slr_buffer_read(buffer, 0, bytes, sizeof bytes) == SLR_OK);
        for (size_t k = 1; k < sizeof bytes; ++k)
            holds(bytes[k] == bytes[0]);
        holds(bytes[0] >= 1 && bytes[0] <= 4);
    }
}

static void threads_on_one_buffer_never_tear_it(void **state)
{
    (void)state;
    static const char *const specs[] = {SEPARATE, UNIFIED};
    for (int i = 0; i < 2; ++i) {
        struct fixture f = set_up(specs[i], SLR_BUFFER_AUTOMATIC, 4096);
        struct worker worker[4];
        write_by_map(f.buffer, 0, 4096, 1); // with a view from here on
        for (int k = 0; k < 4; ++k) {
            worker[k].f = &f;
            worker[k].number = (unsigned char)(k + 1);
            must(slri_thread_start(&worker[k].thread, "worker", write_and_read, &worker[k]));
        }
        for (int k = 0; k < 4; ++k)
            slri_thread_join(&worker[k].thread);
        must(slr_stream_finish(f.stream, LONG));
        tear_down(&f);
    }
}

// ---- slices, imports, shapes ----------------------------------------------------------------------------------------

static void slice_is_the_same_memory_and_keeps_the_whole(void **state)
{
    (void)state;
    struct fixture f = set_up(SEPARATE, SLR_BUFFER_AUTOMATIC, 256);
    slr_buffer *slice, *part;
    char byte = 0;
    refuses(slr_buffer_slice(f.buffer, 32, 64, &slice), INVALID, "at a multiple of 64");
    refuses(slr_buffer_slice(f.buffer, 192, 65, &slice), INVALID, "65 bytes from byte 192 on");
    must(slr_buffer_slice(f.buffer, 64, 192, &slice));
    must(slr_buffer_slice(slice, 64, 64, &part)); // of a slice: bytes 128 to 192
    assert_int_equal(slr_buffer_size(part), 64);
    must(slr_buffer_write(part, 1, "x", 1));
    must(slr_buffer_read(f.buffer, 129, &byte, 1));
    assert_int_equal(byte, 'x');
    struct kernel kernel = {.add = 1};
    must(launch(f.stream, slice, SLRI_WRITES, &kernel, NULL));
    assert_int_equal(byte_at(f.buffer, 63), 0);
    assert_int_equal(byte_at(f.buffer, 64), 1);
    assert_int_equal(byte_at(part, 1), 'x' + 1);
    slr_buffer_destroy(f.buffer);
    slr_buffer_destroy(slice);
    assert_int_equal(byte_at(part, 1), 'x' + 1);
    f.buffer = part;
    tear_down(&f);
}

static void count_release(void *user)
{
    ++*(int *)user;
}

static void imported_memory_is_used_as_it_is_or_as_the_view(void **state)
{
    (void)state;
    static const char *const specs[] = {UNIFIED, SEPARATE};
    static _Alignas(64) unsigned char memory[128];
    for (int i = 0; i < 2; ++i) {
        slr_device *device = open_device(specs[i]);
        slr_stream *stream;
        slr_buffer *buffer;
        slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
        int released = 0;
        memset(memory, 3, sizeof memory);
        desc.import = memory + 1;
        desc.bytes = sizeof memory;
        desc.release = count_release;
        desc.user = &released;
        refuses(slr_buffer_create_with(device, &desc, &buffer), INVALID, "import is not aligned to 64");
        desc.import = memory;
        must(slr_buffer_create_with(device, &desc, &buffer));
        must(slr_stream_create(device, NULL, &stream));
        struct kernel kernel = {.add = 1};
        must(launch(stream, buffer, SLRI_WRITES, &kernel, NULL));
        void *at;
        must(slr_buffer_map(buffer, 0, 128, SLR_MAP_READ, LONG, &at));
        assert_ptr_equal(at, memory);
        assert_int_equal(kernel.sum, 3 * 128);
        assert_int_equal(memory[127], 4);
        must(slr_buffer_unmap(buffer, at));
        moved_so_far(buffer, (uint64_t)i, 128u * (unsigned)i, (uint64_t)i, 128u * (unsigned)i);
        slr_buffer_destroy(buffer);
        slr_stream_destroy(stream);
        slr_device_close(device);
        assert_int_equal(released, 1);
    }
}

// OpenCL's fine-grained buffers are one memory for both, but not the application's, unless the device has its system's.
static void imported_memory_is_copied_where_the_device_cannot_use_it(void **state)
{
    (void)state;
    static const char *const specs[] = {"opencl:0?memory=fine", "opencl:0?memory=coarse"};
    static const char source[] = "__global__ void next(int *x) { x[threadIdx.x] += 1; }\n";
    static _Alignas(64) int memory[32];
    EACH_HERE(i, specs)
    {
        slr_device *device = open_device(specs[i]);
        slr_device_info info;
        slr_program *program;
        slr_kernel *kernel;
        slr_stream *stream;
        slr_buffer *buffer;
        slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
        int released = 0, *at, first;
        must(slr_device_get_info(device, &info));
        bool as_it_is = strstr(info.features, "svm_system") != NULL;
        must(slr_program_from_text(device, "next.cu", source, NULL, &program));
        must(slr_program_get_kernel(program, "next", &kernel));
        must(slr_stream_create(device, NULL, &stream));
        memory[0] = 3;
        memory[31] = 4;
        desc.import = memory;
        desc.bytes = sizeof memory;
        desc.release = count_release;
        desc.user = &released;
        must(slr_buffer_create_with(device, &desc, &buffer));
        assert_int_equal(info_of(buffer).unified, info.unified_memory && as_it_is);
        must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 32, 0), buffer));
        must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 32, 0), buffer));
        must(slr_buffer_map(buffer, 0, sizeof memory, SLR_MAP_WRITE, LONG, (void **)&at));
        assert_ptr_equal(at, memory);
        assert_int_equal(memory[0], 5);
        assert_int_equal(memory[31], 6);
        memory[0] = 10;
        must(slr_buffer_unmap(buffer, at));
        must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 32, 0), buffer));
        must(slr_buffer_read(buffer, 0, &first, sizeof first));
        assert_int_equal(first, 11);
        slr_buffer_destroy(buffer);
        desc.mode = SLR_BUFFER_UNIFIED;
        if (info.unified_memory && !as_it_is)
            refuses(slr_buffer_create_with(device, &desc, &buffer), UNSUPPORTED, "only a copy");
        slr_stream_destroy(stream);
        slr_kernel_destroy(kernel);
        slr_program_destroy(program);
        slr_device_close(device);
        assert_int_equal(released, 1);
    }
}

static void shape_and_dtype_make_the_size_and_must_agree(void **state)
{
    (void)state;
    slr_device *device = open_device("null");
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    slr_buffer *buffer;
    desc.dtype = SLR_F32;
    desc.rank = 2;
    desc.shape[0] = 3;
    desc.shape[1] = 5;
    must(slr_buffer_create_with(device, &desc, &buffer));
    slr_buffer_info info = info_of(buffer);
    assert_int_equal(info.bytes, 60);
    assert_int_equal(info.dtype, SLR_F32);
    assert_int_equal(info.rank, 2);
    assert_int_equal(info.shape[1], 5);
    slr_buffer_destroy(buffer);
    desc.bytes = 64;
    refuses(slr_buffer_create_with(device, &desc, &buffer), INVALID,
            "a buffer of 64 B was asked for, but its dtype and shape need 60 B");
    desc.bytes = 0;
    desc.shape[0] = 0;
    refuses(slr_buffer_create_with(device, &desc, &buffer), INVALID, "dimension 0 of the buffer is 0");
    desc.shape[0] = UINT64_MAX;
    refuses(slr_buffer_create_with(device, &desc, &buffer), INVALID, "dimension 0");
    desc.rank = 9;
    refuses(slr_buffer_create_with(device, &desc, &buffer), INVALID, "9 dimensions was asked for; expected up to 8");
    desc.rank = 1;
    desc.dtype = 0;
    refuses(slr_buffer_create_with(device, &desc, &buffer), INVALID, "a shape but no dtype");
    desc.dtype = (slr_scalar)99;
    refuses(slr_buffer_create_with(device, &desc, &buffer), INVALID, "dtype is 99");
    desc.dtype = SLR_F64;
    desc.rank = 0;
    desc.bytes = 12;
    refuses(slr_buffer_create_with(device, &desc, &buffer), INVALID, "not a multiple of its element size, 8 B");
    slr_device_close(device);
}

// On devices that have no memory apart from the host's, or none that they share with it.
static void private_buffer_is_copied_and_never_mapped(void **state)
{
    static const char *const specs[] = {UNIFIED, SEPARATE};
    (void)state;
    for (size_t i = 0; i < 2; ++i) {
        slr_device *device = open_device(specs[i]);
        slr_stream *stream;
        slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
        slr_buffer *buffer;
        slr_buffer_info info;
        char back[8] = "";
        void *mapped;
        must(slr_stream_create(device, NULL, &stream));
        desc.bytes = 64;
        desc.mode = SLR_BUFFER_EXPLICIT;
        desc.storage = SLR_STORAGE_PRIVATE;
        must(slr_buffer_create_with(device, &desc, &buffer));
        must(slr_buffer_get_info(buffer, &info));
        assert_int_equal(info.storage, SLR_STORAGE_PRIVATE);
        must(slr_buffer_write(buffer, 8, "private", 8));
        must(slr_buffer_read(buffer, 8, back, sizeof back));
        assert_string_equal(back, "private");
        refuses(slr_buffer_map(buffer, 0, 8, SLR_MAP_READ, LONG, &mapped), WRONG_STATE,
                "slr_buffer_map: the buffer is private");
        refuses(slr_buffer_sync(buffer, 0, 8, SLR_AT_HOST, LONG), WRONG_STATE,
                "slr_buffer_sync: the buffer is private");
        slr_buffer_destroy(buffer);
        desc.mode = SLR_BUFFER_AUTOMATIC;
        must(slr_buffer_create_with(device, &desc, &buffer));
        refuses(slr_stream_prefetch(stream, buffer, 0, 8, SLR_AT_HOST, NULL), WRONG_STATE,
                "slr_stream_prefetch: the buffer is private");
        slr_buffer_destroy(buffer);
        slr_stream_destroy(stream);
        slr_device_close(device);
    }
}

static void storage_that_cannot_be_is_refused(void **state)
{
    static unsigned char memory[64] __attribute__((aligned(64)));
    slr_device *unified = open_device(UNIFIED), *separate = open_device(SEPARATE);
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    slr_buffer *buffer;
    slr_buffer_info info;
    (void)state;
    desc.bytes = 64;
    desc.storage = SLR_STORAGE_SHARED;
    refuses(slr_buffer_create_with(separate, &desc, &buffer), UNSUPPORTED,
            "device 'cpu' shares no memory with the host: a buffer cannot be shared");
    must(slr_buffer_create_with(unified, &desc, &buffer));
    must(slr_buffer_get_info(buffer, &info));
    assert_int_equal(info.storage, SLR_STORAGE_SHARED);
    slr_buffer_destroy(buffer);
    desc.storage = (slr_storage)3;
    refuses(slr_buffer_create_with(unified, &desc, &buffer), INVALID, "slr_buffer_desc.storage is 3");
    desc.storage = SLR_STORAGE_PRIVATE;
    desc.pinned = 1;
    refuses(slr_buffer_create_with(unified, &desc, &buffer), INVALID, "a private buffer cannot be pinned");
    desc.pinned = 0;
    desc.mode = SLR_BUFFER_UNIFIED;
    refuses(slr_buffer_create_with(unified, &desc, &buffer), INVALID, "a private buffer cannot be unified");
    desc.mode = 0;
    desc.import = memory;
    refuses(slr_buffer_create_with(unified, &desc, &buffer), INVALID, "a private buffer cannot be imported");
    slr_device_close(separate);
    slr_device_close(unified);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_buffer_is_copied_and_never_mapped),
        cmocka_unit_test(storage_that_cannot_be_is_refused),
        cmocka_unit_test(three_writes_and_a_launch_are_one_upload_and_two_reads_one_download),
        cmocka_unit_test(kernel_that_only_reads_makes_nothing_invalid),
        cmocka_unit_test(write_keeps_what_it_does_not_write),
        cmocka_unit_test(copies_of_the_host_go_through_the_view_once_there_is_one),
        cmocka_unit_test(where_memory_is_one_nothing_is_moved),
        cmocka_unit_test(unified_buffer_is_refused_where_it_would_be_imitated),
        cmocka_unit_test(explicit_buffer_moves_when_told_and_only_then),
        cmocka_unit_test(prefetch_moves_ahead_in_both_directions),
        cmocka_unit_test(null_device_counts_what_would_be_moved),
        cmocka_unit_test(streams_that_use_the_same_bytes_are_ordered),
        cmocka_unit_test(streams_that_use_different_slices_or_only_read_are_not_ordered),
        cmocka_unit_test(maps_wait_for_work_that_stands_against_them),
        cmocka_unit_test(what_is_mapped_is_refused_to_others),
        cmocka_unit_test(host_function_that_maps_what_comes_after_it_is_refused),
        cmocka_unit_test(threads_on_one_buffer_never_tear_it),
        cmocka_unit_test(slice_is_the_same_memory_and_keeps_the_whole),
        cmocka_unit_test(imported_memory_is_used_as_it_is_or_as_the_view),
        cmocka_unit_test(imported_memory_is_copied_where_the_device_cannot_use_it),
        cmocka_unit_test(shape_and_dtype_make_the_size_and_must_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
