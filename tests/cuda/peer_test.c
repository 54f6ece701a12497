// SPDX-License-Identifier: Apache-2.0
// Copies between two GPUs, on a driver that is simulated: with access and without, in each direction, and failing.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

#define BYTES 1000u
#define REACHES(a, b) (1u << (4 * (a) + (b)))

struct pair {
    slr_device *device[2];
    slr_stream *stream; // of the second
    slr_buffer *buffer[2];
    unsigned char first[BYTES], got[BYTES];
};

static slr_status open_pair(struct pair *p)
{
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    slr_status status = SLR_OK;
    desc.max_memory_bytes = 1 << 20;
    for (uint32_t i = 0; i < BYTES; ++i)
        p->first[i] = (unsigned char)(i * 7);
    TRY_EACH(slr_device_open("cuda:0", &desc, &p->device[0]));
    TRY_EACH(slr_device_open("cuda:1", &desc, &p->device[1]));
    TRY_EACH(slr_stream_create(p->device[1], NULL, &p->stream));
    TRY_EACH(slr_buffer_create(p->device[0], BYTES, &p->buffer[0]));
    TRY_EACH(slr_buffer_create(p->device[1], BYTES, &p->buffer[1]));
    TRY_EACH(slr_buffer_write(p->buffer[0], 0, p->first, BYTES));
    return status;
}

static void close_pair(struct pair *p)
{
    slr_buffer_destroy(p->buffer[0]);
    slr_buffer_destroy(p->buffer[1]);
    slr_stream_destroy(p->stream);
    slr_device_close(p->device[0]);
    slr_device_close(p->device[1]);
}

static slr_status copy(struct pair *p, slr_peer_way way)
{
    slr_status status = slr_peer_copy(p->stream, p->buffer[1], 0, p->buffer[0], 0, BYTES, way, NULL);
    TRY_EACH(slr_stream_finish(p->stream, LONG));
    TRY_EACH(slr_buffer_read(p->buffer[1], 0, p->got, BYTES));
    if (status == SLR_OK)
        assert_memory_equal(p->got, p->first, BYTES);
    return status;
}

static slr_peer_info info_of(slr_device *from, slr_device *to)
{
    slr_peer_info info;
    must(slr_peer_get_info(from, to, &info));
    return info;
}

static void gpus_that_reach_each_other_copy_at_once_in_that_direction_alone(void **state)
{
    (void)state;
    struct pair p = {0};
    reset();
    fake->peers = REACHES(1, 0); // the second reads the first's memory
    must(open_pair(&p));
    slr_peer_info info = info_of(p.device[0], p.device[1]);
    assert_int_equal(info.direct_access, 1);
    assert_int_equal(info.atomics, 0);
    assert_int_equal(info.link, SLR_LINK_PCIE);
    must(copy(&p, SLR_PEER_DIRECT)); // access is enabled already: no error
    assert_int_equal(fake->peer_copies, 1);
    info = info_of(p.device[1], p.device[0]);
    assert_int_equal(info.direct_access, 0);
    assert_true(strstr(info.reason, "cuda:0 cannot reach the memory of cuda:1") != NULL);
    refuses(slr_peer_copy(p.stream, p.buffer[0], 0, p.buffer[1], 0, BYTES, SLR_PEER_DIRECT, NULL), UNSUPPORTED,
            "cannot reach");
    must(slr_peer_copy(p.stream, p.buffer[0], 0, p.buffer[1], 0, BYTES, SLR_PEER_ANY, NULL));
    must(slr_stream_finish(p.stream, LONG));
    assert_int_equal(fake->peer_copies, 1);
    assert_int_equal(info_of(p.device[1], p.device[0]).staged_copies, 1);
    close_pair(&p);
    nothing_is_left("direct");
}

static void atomics_are_those_of_the_driver_and_make_the_link(void **state)
{
    (void)state;
    struct pair p = {0};
    reset();
    fake->peers = fake->peer_atomics = REACHES(1, 0);
    must(open_pair(&p));
    slr_peer_info info = info_of(p.device[0], p.device[1]);
    assert_int_equal(info.atomics, 1);
    assert_int_equal(info.link, SLR_LINK_NVLINK);
    fake->peer_atomics = 0;
    info = info_of(p.device[0], p.device[1]);
    assert_int_equal(info.atomics, 0);
    assert_int_equal(info.link, SLR_LINK_PCIE);
    close_pair(&p);
    nothing_is_left("atomics");
}

static void what_only_the_host_has_is_brought_to_the_source_first(void **state)
{
    (void)state;
    struct pair p = {0};
    unsigned char *view;
    reset();
    fake->peers = REACHES(1, 0);
    must(open_pair(&p));
    must(slr_buffer_map(p.buffer[0], 0, BYTES, SLR_MAP_DISCARD, LONG, (void **)&view));
    memcpy(view, p.first, BYTES);
    must(slr_buffer_unmap(p.buffer[0], view));
    must(copy(&p, SLR_PEER_DIRECT));
    must(copy(&p, SLR_PEER_STAGED));
    assert_int_equal(fake->peer_copies, 1);
    close_pair(&p);
    nothing_is_left("from the host");
}

static void a_source_that_is_lost_takes_nothing_else_with_it(void **state)
{
    (void)state;
    struct pair p = {0};
    slr_stream *own;
    slr_device_info info;
    const unsigned char one = 1;
    reset();
    fake->peers = REACHES(1, 0);
    must(open_pair(&p));
    must(slr_stream_create(p.device[0], NULL, &own));
    must(copy(&p, SLR_PEER_DIRECT));
    fake->fault_at = fake->commands + 1;
    must(slr_stream_fill(own, p.buffer[0], 0, BYTES, &one, 1, NULL));
    gives(slr_stream_finish(own, LONG), DEVICE_LOST);
    assert_int_not_equal(copy(&p, SLR_PEER_ANY), SLR_OK);
    must(slr_stream_recover(p.stream));
    must(slr_stream_fill(p.stream, p.buffer[1], 0, BYTES, &one, 1, NULL)); // the destination works on
    must(slr_stream_finish(p.stream, LONG));
    must(slr_device_get_info(p.device[1], &info));
    slr_stream_destroy(own);
    close_pair(&p);
    nothing_is_left("lost");
}

// Whichever call fails: the copy is right or has failed, and nothing is left.
static void whichever_call_fails_the_copy_is_right_or_refused(void **state)
{
    (void)state;
    for (uint32_t way = SLR_PEER_ANY; way <= SLR_PEER_STAGED; ++way)
        for (uint32_t at = 1;; ++at) {
            struct pair p = {0};
            reset();
            fake->peers = REACHES(1, 0);
            slr_status status = open_pair(&p);
            must(status);
            fake->fail_at = fake->calls + at;
            (void)copy(&p, (slr_peer_way)way);
            bool failed = fake->failed != NULL;
            fake->fail_at = 0;
            close_pair(&p);
            nothing_is_left("the k-th call");
            if (!failed)
                break;
            assert_true(at < 200);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_that_reach_each_other_copy_at_once_in_that_direction_alone),
        cmocka_unit_test(atomics_are_those_of_the_driver_and_make_the_link),
        cmocka_unit_test(what_only_the_host_has_is_brought_to_the_source_first),
        cmocka_unit_test(a_source_that_is_lost_takes_nothing_else_with_it),
        cmocka_unit_test(whichever_call_fails_the_copy_is_right_or_refused),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}
