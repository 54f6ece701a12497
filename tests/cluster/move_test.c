// SPDX-License-Identifier: Apache-2.0
// Buffers that kernels of another device use: their bytes move by themselves, no more often than needed, and are right.
#include "tests/cluster/cluster.h"

#define APART "cpu?unified=0&threads=1"
enum { N = 100000, BYTES = N * 4, MIB = 1 << 20 };

static const char source[] = "__global__ void saxpy(float a, const float *x, float *y, int n)\n"
                             "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }\n"
                             "__global__ void shift(float *y, const float *x, int n)\n"
                             "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + 1; }\n";

struct moving {
    struct fixture f;
    slr_kernel *saxpy[MOST], *shift[MOST];
    slr_stream *stream[MOST];
};

static struct moving begin_on(const char *names)
{
    struct moving m = {.f = fixture_of(names, source)};
    kernels_of(&m.f, "saxpy", m.saxpy);
    kernels_of(&m.f, "shift", m.shift);
    for (uint32_t i = 0; i < m.f.count; ++i)
        must(slr_stream_create(m.f.device[i], NULL, &m.stream[i]));
    return m;
}

static struct moving begin(void)
{
    return begin_on(APART "," APART);
}

static void end(struct moving *m)
{
    for (uint32_t i = 0; i < m->f.count; ++i)
        slr_stream_destroy(m->stream[i]);
    kernels_end(&m->f, m->saxpy);
    kernels_end(&m->f, m->shift);
    fixture_end(&m->f);
}

static void moved(const struct moving *m, uint32_t from, uint32_t to, uint64_t moves, uint64_t bytes)
{
    slr_peer_info info;
    must(slr_peer_get_info(m->f.device[from], m->f.device[to], &info));
    assert_int_equal(info.moves, moves);
    assert_int_equal(info.moved_bytes, bytes);
}

static void a_kernel_uses_another_devices_buffers_and_only_what_has_changed_moves(void **state)
{
    (void)state;
    struct moving m = begin();
    slr_buffer *x = floats(m.f.device[0], N, 1, 0), *y = floats(m.f.device[0], N, 0, 5);
    const float minus = -1;
    must(SLR_LAUNCH(m.stream[1], m.saxpy[1], SLR_1D(N), 2.0, x, y, N));
    has_floats(y, N, 2, 5); // by a map, which waits
    moved(&m, 0, 1, 2, 2 * BYTES);
    moved(&m, 1, 0, 1, BYTES);
    must(SLR_LAUNCH(m.stream[1], m.saxpy[1], SLR_1D(N), 2.0, x, y, N));
    has_floats(y, N, 4, 5);
    moved(&m, 0, 1, 2, 2 * BYTES); // both were there
    moved(&m, 1, 0, 2, 2 * BYTES);
    must(slr_buffer_write(x, 4 * 70000, &minus, 4));
    must(slr_buffer_write(x, 0, &minus, 4));
    must(SLR_LAUNCH(m.stream[1], m.saxpy[1], SLR_1D(N), 1.0, x, y, N));
    float got;
    must(slr_buffer_read(y, 4 * 70000, &got, 4));
    assert_true(got == 4.0f * 70000 + 5 - 1);
    moved(&m, 0, 1, 4, 2 * BYTES + 8); // the two numbers alone
    slr_buffer_destroy(x);
    slr_buffer_destroy(y);
    end(&m);
}

static void what_is_written_at_home_is_seen_however_it_was_written(void **state)
{
    (void)state;
    struct moving m = begin();
    slr_buffer *x = floats(m.f.device[0], N, 0, 1), *y = floats(m.f.device[1], N, 0, 0);
    float *view;
    const float seven = 7;
    must(SLR_LAUNCH(m.stream[1], m.shift[1], SLR_1D(N), y, x, N));
    has_floats(y, N, 0, 2);
    must(slr_buffer_map(x, 0, BYTES, SLR_MAP_WRITE, LONG, (void **)&view));
    for (int i = 0; i < N; ++i)
        view[i] = 3;
    must(slr_buffer_unmap(x, view));
    must(SLR_LAUNCH(m.stream[1], m.shift[1], SLR_1D(N), y, x, N));
    has_floats(y, N, 0, 4);
    must(slr_stream_fill(m.stream[0], x, 0, BYTES, &seven, 4, NULL));
    must(SLR_LAUNCH(m.stream[1], m.shift[1], SLR_1D(N), y, x, N));
    has_floats(y, N, 0, 8);
    must(SLR_LAUNCH(m.stream[0], m.shift[0], SLR_1D(N), x, x, N)); // by a kernel at home
    must(SLR_LAUNCH(m.stream[1], m.shift[1], SLR_1D(N), y, x, N));
    has_floats(y, N, 0, 9);
    moved(&m, 0, 1, 4, 4 * BYTES);
    must(SLR_LAUNCH(m.stream[1], m.shift[1], SLR_1D(N), y, x, N)); // and not once more
    has_floats(y, N, 0, 9);
    moved(&m, 0, 1, 4, 4 * BYTES);
    slr_buffer_destroy(x);
    slr_buffer_destroy(y);
    end(&m);
}

static void a_chain_over_three_devices_is_in_order(void **state)
{
    (void)state;
    struct moving m = begin_on(APART "," APART ",cpu?threads=1");
    slr_buffer *x = floats(m.f.device[0], N, 1, 0);
    for (int i = 0; i < 30; ++i)
        must(SLR_LAUNCH(m.stream[i % 3], m.shift[i % 3], SLR_1D(N), x, x, N));
    has_floats(x, N, 1, 30);
    slr_buffer_destroy(x);
    end(&m);
}

static void parts_of_a_buffer_move_by_themselves(void **state)
{
    (void)state;
    struct moving m = begin();
    slr_buffer *x = floats(m.f.device[0], N, 1, 0), *low, *high, *most;
    must(slr_buffer_slice(x, 0, BYTES / 4, &low));
    must(slr_buffer_slice(x, BYTES / 2, BYTES / 4, &high));
    must(slr_buffer_slice(x, 64, BYTES / 2, &most));
    must(SLR_LAUNCH(m.stream[1], m.shift[1], SLR_1D(N / 4), low, high, N / 4));
    has_floats(low, N / 4, 1, 1 + N / 2);
    moved(&m, 0, 1, 2, BYTES / 2);
    moved(&m, 1, 0, 1, BYTES / 4);
    refuses(SLR_LAUNCH(m.stream[1], m.shift[1], SLR_1D(16), low, most, 16), INVALID, "overlapping part");
    must(SLR_LAUNCH(m.stream[1], m.shift[1], SLR_1D(N / 4), low, low, N / 4));
    has_floats(low, N / 4, 1, 2 + N / 2);
    slr_buffer_destroy(low);
    slr_buffer_destroy(high);
    slr_buffer_destroy(most);
    slr_buffer_destroy(x);
    end(&m);
}

static void explicit_buffers_do_not_move_by_themselves(void **state)
{
    (void)state;
    struct moving m = begin();
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    slr_buffer *x, *y = floats(m.f.device[1], N, 0, 0);
    desc.bytes = BYTES;
    desc.mode = SLR_BUFFER_EXPLICIT;
    must(slr_buffer_create_with(m.f.device[0], &desc, &x));
    refuses(SLR_LAUNCH(m.stream[1], m.shift[1], SLR_1D(N), y, x, N), INVALID, "belongs to another device");
    moved(&m, 0, 1, 0, 0);
    slr_buffer_destroy(x);
    slr_buffer_destroy(y);
    end(&m);
}

static void copies_that_nothing_uses_make_room_for_others(void **state)
{
    (void)state;
    slr_device *home, *small;
    slr_program *program;
    slr_kernel *shift;
    slr_stream *stream;
    slr_heap *heap;
    slr_heap_stats stats;
    slr_buffer *x[4];
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 2 * MIB;
    must(slr_device_open(APART, NULL, &home));
    must(slr_device_open(APART, &desc, &small));
    must(slr_program_from_text(small, "cluster.cu", source, NULL, &program));
    must(slr_program_get_kernel(program, "shift", &shift));
    must(slr_stream_create(small, NULL, &stream));
    for (int i = 0; i < 4; ++i)
        x[i] = floats(home, 200000, 1, 0); // 800,000 B: two have room
    for (int pass = 1; pass <= 2; ++pass)
        for (int i = 0; i < 4; ++i) {
            must(SLR_LAUNCH(stream, shift, SLR_1D(200000), x[i], x[i], 200000));
            has_floats(x[i], 200000, 1, (float)pass);
        }
    must(slr_device_get_heap(small, &heap));
    must(slr_heap_get_stats(heap, &stats));
    assert_true(stats.live_bytes > 0);
    for (int i = 0; i < 4; ++i)
        slr_buffer_destroy(x[i]); // and with them their copies
    must(slr_heap_get_stats(heap, &stats));
    assert_int_equal(stats.live_bytes, 0);
    slr_stream_destroy(stream);
    slr_kernel_destroy(shift);
    slr_program_destroy(program);
    slr_device_close(small);
    slr_device_close(home);
}

static void a_split_launch_on_memories_apart_is_right_in_every_pass(void **state)
{
    static const char *const names[] = {APART "," APART, "cpu?threads=1," APART ",cpu?threads=1", APART ",opencl:0",
                                        "cpu?threads=1,opencl:0?memory=plain"};
    (void)state;
    for (uint32_t k = 0; k < sizeof names / sizeof *names; ++k) {
        if (strstr(names[k], "opencl") && (SANITIZED || !is_here("opencl:0"))) // OpenCL's compilers leak
            continue;
        struct moving m = begin_on(names[k]);
        slr_part parts[MOST];
        slr_buffer *x = floats(m.f.device[0], N, 1, 0), *y = floats(m.f.device[m.f.count - 1], N, 0, 5);
        const slr_arg args[] = {slr_arg_float(2), slr_arg_split(x, 0), slr_arg_split(y, 0), slr_arg_items()};
        for (int pass = 1; pass <= 4; ++pass) {
            must(slr_cluster_balance(m.f.cluster, N, SLR_BALANCE_THROUGHPUT, NULL, parts));
            must(slr_cluster_launch(m.f.cluster, m.saxpy, parts, args, 4, NULL));
            must(slr_cluster_finish(m.f.cluster, LONG));
            has_floats(y, N, 2 * (float)pass, 5);
        }
        has_floats(x, N, 1, 0);
        slr_buffer_destroy(x);
        slr_buffer_destroy(y);
        end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_uses_another_devices_buffers_and_only_what_has_changed_moves),
        cmocka_unit_test(what_is_written_at_home_is_seen_however_it_was_written),
        cmocka_unit_test(a_chain_over_three_devices_is_in_order),
        cmocka_unit_test(parts_of_a_buffer_move_by_themselves),
        cmocka_unit_test(explicit_buffers_do_not_move_by_themselves),
        cmocka_unit_test(copies_that_nothing_uses_make_room_for_others),
        cmocka_unit_test(a_split_launch_on_memories_apart_is_right_in_every_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
