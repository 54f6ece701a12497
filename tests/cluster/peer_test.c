// SPDX-License-Identifier: Apache-2.0
// Copies between devices: which way they go, and that they are right whichever it is.
#include "tests/cluster/cluster.h"

#define APART "cpu?unified=0&threads=1"
#define CHUNK 4096u

struct pair {
    slr_device *from, *to;
    slr_stream *stream; // of the destination
};

static struct pair pair_of(const char *from, const char *to)
{
    struct pair p;
    must(slr_device_open(from, NULL, &p.from));
    must(slr_device_open(to, NULL, &p.to));
    must(slr_stream_create(p.to, NULL, &p.stream));
    return p;
}

static void pair_end(struct pair *p)
{
    slr_stream_destroy(p->stream);
    slr_device_close(p->from);
    slr_device_close(p->to);
}

static void fill(unsigned char *bytes, uint64_t count, unsigned seed)
{
    for (uint64_t i = 0; i < count; ++i)
        bytes[i] = (unsigned char)((i * 131 + i / 251 + seed) & 0xff);
}

static slr_buffer *bytes_of(slr_device *device, uint64_t count, unsigned seed)
{
    unsigned char *bytes = malloc(count);
    slr_buffer *buffer;
    assert_non_null(bytes);
    fill(bytes, count, seed);
    must(slr_buffer_create(device, count, &buffer));
    must(slr_buffer_write(buffer, 0, bytes, count));
    free(bytes);
    return buffer;
}

// From byte `at` on it has `count` bytes of that seed from its byte `first` on.
static void has_bytes(slr_buffer *buffer, uint64_t at, uint64_t count, unsigned seed, uint64_t first)
{
    unsigned char *got = malloc(count + 1), *want = malloc(first + count + 1);
    assert_non_null(got);
    assert_non_null(want);
    fill(want, first + count, seed);
    must(slr_buffer_read(buffer, at, got, count));
    assert_memory_equal(got, want + first, count);
    free(got);
    free(want);
}

static slr_peer_info info_of(slr_device *from, slr_device *to)
{
    slr_peer_info info;
    must(slr_peer_get_info(from, to, &info));
    return info;
}

static void a_device_is_direct_to_itself_and_to_the_host_and_not_to_memory_apart(void **state)
{
    (void)state;
    struct pair p = pair_of(APART, "cpu?threads=1");
    slr_device *other;
    must(slr_device_open(APART, NULL, &other));
    slr_peer_info info = info_of(p.from, p.from);
    assert_int_equal(info.direct_access, 1);
    assert_int_equal(info.atomics, 1);
    assert_int_equal(info.link, SLR_LINK_SAME);
    info = info_of(p.from, p.to);
    assert_int_equal(info.direct_access, 1);
    assert_int_equal(info.staged, 0);
    assert_int_equal(info.link, SLR_LINK_HOST);
    info = info_of(p.from, other);
    assert_int_equal(info.direct_access, 0);
    assert_int_equal(info.atomics, 0);
    assert_int_equal(info.staged, 1);
    assert_true(strstr(info.reason, "reaches the other's memory") != NULL);
    assert_true(info.bytes_per_second == 0);
    slr_device_close(other);
    pair_end(&p);
}

static void direct_is_refused_where_there_is_none_and_never_staged(void **state)
{
    (void)state;
    struct pair p = pair_of(APART, APART);
    slr_buffer *from = bytes_of(p.from, 100, 1), *to = bytes_of(p.to, 100, 2);
    refuses(slr_peer_copy(p.stream, to, 0, from, 0, 100, SLR_PEER_DIRECT, NULL), UNSUPPORTED, "no direct copy from");
    assert_int_equal(info_of(p.from, p.to).staged_copies, 0);
    has_bytes(to, 0, 100, 2, 0);
    must(slr_peer_copy(p.stream, to, 0, from, 0, 100, SLR_PEER_ANY, NULL)); // and any is staged
    has_bytes(to, 0, 100, 1, 0);
    assert_int_equal(info_of(p.from, p.to).staged_copies, 1);
    assert_int_equal(info_of(p.to, p.from).staged_copies, 0); // each direction by itself
    slr_buffer_destroy(from);
    slr_buffer_destroy(to);
    pair_end(&p);
}

static void staged_copies_are_right_for_every_length_around_a_piece(void **state)
{
    static const uint64_t lengths[] = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 10 * CHUNK};
    (void)state;
    struct pair p = pair_of(APART, APART);
    unsigned char *mine = malloc(2 * CHUNK);
    for (uint32_t own = 0; own < 2; ++own)
        for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; ++i) {
            uint64_t bytes = lengths[i], all = 10 * CHUNK + 30;
            slr_buffer *from = bytes_of(p.from, all, 1), *to = bytes_of(p.to, all, 2);
            slr_peer_desc desc = SLR_PEER_DESC_INIT;
            slr_peer_info before = info_of(p.from, p.to);
            slr_point done;
            desc.way = SLR_PEER_STAGED;
            desc.chunk_bytes = CHUNK;
            desc.staging = own ? mine : NULL;
            must(slr_peer_copy_with(p.stream, to, 7, from, 13, bytes, &desc, &done));
            must(slr_point_wait(done, LONG));
            has_bytes(to, 7, bytes, 1, 13);
            has_bytes(to, 0, 7, 2, 0); // nothing beside it
            has_bytes(to, 7 + bytes, all - 7 - bytes, 2, 7 + bytes);
            has_bytes(from, 0, all, 1, 0);
            assert_int_equal(info_of(p.from, p.to).staged_chunks - before.staged_chunks, (bytes + CHUNK - 1) / CHUNK);
            slr_buffer_destroy(from);
            slr_buffer_destroy(to);
        }
    free(mine);
    pair_end(&p);
}

static void ten_mib_go_in_ten_pieces_of_one(void **state)
{
    const uint64_t mib = 1 << 20;
    (void)state;
    struct pair p = pair_of(APART, APART);
    slr_buffer *from = bytes_of(p.from, 10 * mib, 3), *to = bytes_of(p.to, 10 * mib, 4);
    must(slr_peer_copy(p.stream, to, 0, from, 0, 10 * mib, SLR_PEER_STAGED, NULL));
    has_bytes(to, 0, 10 * mib, 3, 0);
    slr_peer_info info = info_of(p.from, p.to);
    assert_int_equal(info.staged_chunks, 10);
    assert_int_equal(info.staged_bytes, 10 * mib);
    slr_buffer_destroy(from);
    slr_buffer_destroy(to);
    pair_end(&p);
}

static void copies_keep_their_place_among_other_work(void **state)
{
    static const char *const specs[][2] = {
        {APART, APART}, {"cpu?threads=1", APART}, {APART, "cpu?threads=1"}, {"cpu?threads=1", "cpu?threads=1"}};
    const unsigned char one = 1, two = 2;
    (void)state;
    for (uint32_t i = 0; i < sizeof specs / sizeof *specs; ++i) {
        struct pair p = pair_of(specs[i][0], specs[i][1]);
        slr_stream *source;
        slr_buffer *from = bytes_of(p.from, 3 * CHUNK, 5), *to = bytes_of(p.to, 3 * CHUNK, 6);
        unsigned char got[3];
        must(slr_stream_create(p.from, NULL, &source));
        must(slr_stream_fill(source, from, 0, 3 * CHUNK, &one, 1, NULL)); // before the copy reads it
        must(slr_peer_copy(p.stream, to, 0, from, 0, 3 * CHUNK, SLR_PEER_ANY, NULL));
        must(slr_stream_fill(source, from, 0, 3 * CHUNK, &two, 1, NULL));               // and behind that
        must(slr_peer_copy(source, to, CHUNK, from, CHUNK, CHUNK, SLR_PEER_ANY, NULL)); // by the other's stream
        must(slr_buffer_read(to, CHUNK - 1, got, 2));
        assert_int_equal(got[0], 1);
        assert_int_equal(got[1], 2);
        must(slr_buffer_read(to, 2 * CHUNK - 1, got, 2));
        assert_int_equal(got[0], 2);
        assert_int_equal(got[1], 1);
        slr_buffer_destroy(from);
        slr_buffer_destroy(to);
        must(slr_stream_finish(source, LONG));
        slr_stream_destroy(source);
        must(slr_stream_finish(p.stream, LONG));
        pair_end(&p);
    }
}

static void what_is_no_copy_between_two_devices_is_refused(void **state)
{
    (void)state;
    struct pair p = pair_of(APART, APART);
    slr_device *third;
    slr_stream *foreign;
    slr_peer_desc desc = SLR_PEER_DESC_INIT;
    unsigned char mine[8];
    must(slr_device_open("cpu?threads=1", NULL, &third));
    must(slr_stream_create(third, NULL, &foreign));
    slr_buffer *from = bytes_of(p.from, 100, 1), *to = bytes_of(p.to, 100, 2);
    refuses(slr_peer_copy(foreign, to, 0, from, 0, 100, SLR_PEER_ANY, NULL), INVALID, "neither buffer's device");
    refuses(slr_peer_copy(p.stream, to, 1, from, 0, 100, SLR_PEER_ANY, NULL), INVALID, "slr_peer_copy, to");
    refuses(slr_peer_copy(p.stream, to, 0, from, 0, 101, SLR_PEER_ANY, NULL), INVALID, "slr_peer_copy");
    refuses(slr_peer_copy(p.stream, to, 0, from, 0, 1, (slr_peer_way)4, NULL), INVALID, "way 4");
    desc.staging = mine;
    refuses(slr_peer_copy_with(p.stream, to, 0, from, 0, 1, &desc, NULL), INVALID, "chunk_bytes");
    has_bytes(to, 0, 100, 2, 0);
    slr_graph *graph; // recorded, it would be done in another order
    must(slr_graph_create(p.to, &graph));
    must(slr_graph_begin(graph, p.stream));
    refuses(slr_peer_copy(p.stream, to, 0, from, 0, 1, SLR_PEER_ANY, NULL), UNSUPPORTED, "cannot be recorded");
    must(slr_graph_end(graph));
    must(slr_peer_copy(p.stream, to, 0, from, 0, 100, SLR_PEER_ANY, NULL));
    has_bytes(to, 0, 100, 1, 0);
    slr_graph_destroy(graph);
    slr_buffer_destroy(from);
    slr_buffer_destroy(to);
    slr_stream_destroy(foreign);
    slr_device_close(third);
    pair_end(&p);
}

static void a_direction_is_measured_by_itself(void **state)
{
    (void)state;
    struct pair p = pair_of(APART, APART);
    double rate = 0;
    must(slr_peer_measure(p.from, p.to, SLR_PEER_ANY, 1 << 20, LONG, &rate));
    assert_true(rate > 0);
    assert_true(info_of(p.from, p.to).bytes_per_second == rate);
    assert_true(info_of(p.to, p.from).bytes_per_second == 0);
    refuses(slr_peer_measure(p.from, p.to, SLR_PEER_DIRECT, 1 << 20, LONG, NULL), UNSUPPORTED, "no direct copy");
    pair_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_direct_to_itself_and_to_the_host_and_not_to_memory_apart),
        cmocka_unit_test(direct_is_refused_where_there_is_none_and_never_staged),
        cmocka_unit_test(staged_copies_are_right_for_every_length_around_a_piece),
        cmocka_unit_test(ten_mib_go_in_ten_pieces_of_one),
        cmocka_unit_test(copies_keep_their_place_among_other_work),
        cmocka_unit_test(what_is_no_copy_between_two_devices_is_refused),
        cmocka_unit_test(a_direction_is_measured_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
