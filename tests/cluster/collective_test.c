// SPDX-License-Identifier: Apache-2.0
// Collectives over devices with memories of their own and without.
#include "tests/cluster/cluster.h"

#define THREE "cpu?unified=0&threads=1,cpu?threads=1,cpu?unified=0&threads=1"

struct ranks {
    struct fixture f;
    slr_buffer *buffer[MOST];
};

static struct ranks begin(const char *names, uint64_t bytes)
{
    struct ranks r = {.f = fixture_of(names, NULL)};
    for (uint32_t i = 0; i < r.f.count; ++i)
        must(slr_buffer_create(r.f.device[i], bytes, &r.buffer[i]));
    return r;
}

static void end(struct ranks *r)
{
    for (uint32_t i = 0; i < r->f.count; ++i)
        slr_buffer_destroy(r->buffer[i]);
    fixture_end(&r->f);
}

// All ranks get the rows, are reduced, and have the result.
#define REDUCES(type, scalar, ranks_, elements, how, rows, ...)                                                        \
    do {                                                                                                               \
        const type want[] = {__VA_ARGS__};                                                                             \
        type got[elements];                                                                                            \
        struct ranks r = begin(ranks_, sizeof got);                                                                    \
        slr_point done;                                                                                                \
        for (uint32_t i = 0; i < r.f.count; ++i)                                                                       \
            must(slr_buffer_write(r.buffer[i], 0, (rows) + i * (elements), sizeof got));                               \
        must(slr_all_reduce(r.f.cluster, r.buffer, scalar, elements, how, &done));                                     \
        must(slr_point_wait(done, LONG));                                                                              \
        for (uint32_t i = 0; i < r.f.count; ++i) {                                                                     \
            must(slr_buffer_read(r.buffer[i], 0, got, sizeof got));                                                    \
            assert_memory_equal(got, want, sizeof got);                                                                \
        }                                                                                                              \
        end(&r);                                                                                                       \
    } while (0)

static void every_rank_gets_the_same_sum(void **state)
{
    static const int32_t two[] = {1, 2, 10, 20};
    static const double three[] = {1, 2, 3, 4, 5, 10, 20, 30, 40, 50, 100, 200, 300, 400, 500};
    static const uint64_t large[] = {UINT64_MAX, 5, 2, 5};
    static const float one[] = {7, 8};
    (void)state;
    REDUCES(int32_t, SLR_I32, "cpu?threads=1,cpu?threads=1", 2, SLR_REDUCE_SUM, two, 11, 22);
    REDUCES(double, SLR_F64, THREE, 5, SLR_REDUCE_SUM, three, 111, 222, 333, 444, 555);
    REDUCES(uint64_t, SLR_U64, "cpu?threads=1,cpu?unified=0", 2, SLR_REDUCE_SUM, large, 1, 10); // wraps around
    REDUCES(float, SLR_F32, "cpu?threads=1", 2, SLR_REDUCE_SUM, one, 7, 8);                     // one rank
}

static void the_average_divides_once_and_the_others_choose(void **state)
{
    static const int32_t rows[] = {1, -7, 9, 2, -1, 3, 2, -2, 100};
    static const float halves[] = {1, 2, 4, 1, 1, 1};
    (void)state;
    REDUCES(int32_t, SLR_I32, THREE, 3, SLR_REDUCE_AVERAGE, rows, 1, -3, 37); // 5/3, -10/3, 112/3
    REDUCES(int32_t, SLR_I32, THREE, 3, SLR_REDUCE_MIN, rows, 1, -7, 3);
    REDUCES(int32_t, SLR_I32, THREE, 3, SLR_REDUCE_MAX, rows, 2, -1, 100);
    REDUCES(float, SLR_F32, THREE, 2, SLR_REDUCE_AVERAGE, halves, 2, 4.0f / 3);
}

static void a_broadcast_and_a_gather_move_whole_buffers(void **state)
{
    (void)state;
    unsigned char first[3][100], got[300];
    struct ranks r = begin(THREE, 100);
    slr_buffer *all;
    slr_point done;
    must(slr_buffer_create(r.f.device[0], 300, &all));
    for (uint32_t i = 0; i < 3; ++i) {
        memset(first[i], (int)i + 1, 100);
        must(slr_buffer_write(r.buffer[i], 0, first[i], 100));
    }
    must(slr_gather(r.f.cluster, r.buffer, 100, all, &done));
    must(slr_point_wait(done, LONG));
    must(slr_buffer_read(all, 0, got, 300));
    assert_memory_equal(got, first, 300);
    must(slr_broadcast(r.f.cluster, r.buffer, 1, 99, &done));
    must(slr_point_wait(done, LONG));
    for (uint32_t i = 0; i < 3; ++i) {
        must(slr_buffer_read(r.buffer[i], 0, got, 100));
        assert_memory_equal(got, first[1], 99);
        assert_int_equal(got[99], i + 1); // no byte more
    }
    slr_buffer_destroy(all);
    end(&r);
}

static void what_is_no_rank_of_the_cluster_is_refused(void **state)
{
    (void)state;
    struct ranks r = begin(THREE, 64);
    slr_buffer *swapped[] = {r.buffer[1], r.buffer[0], r.buffer[2]};
    refuses(slr_all_reduce(r.f.cluster, swapped, SLR_F32, 1, SLR_REDUCE_SUM, NULL), INVALID, "than rank 0");
    refuses(slr_all_reduce(r.f.cluster, r.buffer, SLR_F32, 17, SLR_REDUCE_SUM, NULL), INVALID, "fewer than 68");
    refuses(slr_all_reduce(r.f.cluster, r.buffer, SLR_U8, 1, SLR_REDUCE_SUM, NULL), INVALID, "32 or 64 bits");
    refuses(slr_all_reduce(r.f.cluster, r.buffer, SLR_F32, 1, (slr_reduce)9, NULL), INVALID, "operation 9");
    refuses(slr_broadcast(r.f.cluster, r.buffer, 3, 1, NULL), INVALID, "root 3 of 3");
    refuses(slr_gather(r.f.cluster, r.buffer, 32, r.buffer[0], NULL), INVALID, "3 times 32");
    must(slr_all_reduce(r.f.cluster, r.buffer, SLR_F32, 16, SLR_REDUCE_SUM, NULL));
    must(slr_cluster_finish(r.f.cluster, LONG));
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_gets_the_same_sum),
        cmocka_unit_test(the_average_divides_once_and_the_others_choose),
        cmocka_unit_test(a_broadcast_and_a_gather_move_whole_buffers),
        cmocka_unit_test(what_is_no_rank_of_the_cluster_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
