// SPDX-License-Identifier: Apache-2.0
// Eight threads with random work on shared streams and buffers: copies, fills, waits, maps, host functions, streams
// made and destroyed while busy. Each 64-byte cell of a buffer is written with one value at a time, so a torn one
// shows.
#include "device/device_test.h"

#include "base/thread.h"

enum { THREADS = 8, STREAMS = 4, BUFFERS = 3, CELLS = 32, CELL = 64 };

struct world {
    slr_device *device;
    slr_stream *stream[STREAMS];
    slr_buffer *buffer[BUFFERS];
    uint32_t steps;
    uint32_t called; // atomic
};

struct actor {
    slri_thread thread;
    struct world *world;
    uint32_t seed, submitted_calls;
};

static uint32_t any(struct actor *actor, uint32_t below)
{
    actor->seed = actor->seed * 1664525u + 1013904223u;
    return (actor->seed >> 8) % below;
}

static bool is_one_of(slr_status status, slr_status a, slr_status b)
{
    if (status == SLR_OK || status == a || status == b)
        return true;
    fprintf(stderr, "%s: %s\n", slr_status_name(status), slr_error_message());
    return false;
}

static void check_cell(const unsigned char *cell)
{
    for (int i = 1; i < CELL; ++i)
        holds(cell[i] == cell[0]);
}

static void count_call(void *user, slr_status status)
{
    holds(status == SLR_OK);
    __atomic_fetch_add(&((struct world *)user)->called, 1, __ATOMIC_RELAXED);
}

static void map_a_cell(struct actor *actor, slr_buffer *buffer, uint64_t at)
{
    unsigned char *cell;
    uint32_t access = any(actor, 2) ? SLR_MAP_READ : SLR_MAP_DISCARD;
    slr_status status = slr_buffer_map(buffer, at, CELL, access, MS, (void **)&cell);
    holds(is_one_of(status, SLR_WRONG_STATE, SLR_TIMEOUT));
    if (status != SLR_OK)
        return;
    if (access == SLR_MAP_DISCARD)
        memset(cell, (int)any(actor, 256), CELL);
    check_cell(cell);
    holds(slr_buffer_unmap(buffer, cell) == SLR_OK);
}

static void use_a_stream_of_its_own(struct actor *actor, slr_buffer *buffer, uint64_t at)
{
    slr_stream *own;
    slr_point point;
    unsigned char value = (unsigned char)any(actor, 256);
    holds(slr_stream_create(actor->world->device, NULL, &own) == SLR_OK);
    holds(slr_stream_signal(actor->world->stream[any(actor, STREAMS)], &point) == SLR_OK);
    holds(slr_stream_wait(own, point) == SLR_OK);
    holds(is_one_of(slr_stream_fill(own, buffer, at, CELL, &value, 1, NULL), SLR_WRONG_STATE, SLR_OK));
    slr_stream_destroy(own); // busy
}

static void step(struct actor *actor)
{
    struct world *world = actor->world;
    slr_stream *stream = world->stream[any(actor, STREAMS)];
    slr_buffer *buffer = world->buffer[any(actor, BUFFERS)], *other = world->buffer[any(actor, BUFFERS)];
    uint64_t at = CELL * any(actor, CELLS), to = CELL * any(actor, CELLS);
    unsigned char cell[CELL], value = (unsigned char)any(actor, 256);
    slr_point point;
    memset(cell, value, CELL);
    switch (any(actor, 9)) {
    case 0:
        holds(is_one_of(slr_buffer_write(buffer, at, cell, CELL), SLR_WRONG_STATE, SLR_OK));
        break;
    case 1:
        if (slr_buffer_read(buffer, at, cell, CELL) == SLR_OK)
            check_cell(cell);
        break;
    case 2:
        holds(is_one_of(slr_stream_fill(stream, buffer, at, CELL, &value, 1, NULL), SLR_WRONG_STATE, SLR_OK));
        break;
    case 3:
        holds(is_one_of(slr_stream_copy(stream, buffer, at, other, to, CELL, NULL), SLR_WRONG_STATE, SLR_OK));
        break;
    case 4:
        holds(slr_stream_call(stream, count_call, world, NULL) == SLR_OK);
        ++actor->submitted_calls;
        break;
    case 5:
        holds(slr_stream_signal(stream, &point) == SLR_OK);
        holds(slr_stream_wait(world->stream[any(actor, STREAMS)], point) == SLR_OK);
        break;
    case 6:
        if (slr_stream_read(stream, buffer, at, cell, CELL, &point) == SLR_OK) {
            holds(slr_point_wait(point, LONG) == SLR_OK);
            check_cell(cell);
        }
        break;
    case 7:
        map_a_cell(actor, buffer, at);
        break;
    default:
        use_a_stream_of_its_own(actor, buffer, at);
        break;
    }
}

static void act(void *arg)
{
    struct actor *actor = arg;
    for (uint32_t i = 0; i < actor->world->steps; ++i)
        step(actor);
}

static void random_work_of_eight_threads_is_whole(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu?threads=2&unified=0", "cpu?threads=2", "null"};
    const char *steps = getenv("SLIPRING_STRESS_STEPS");
    for (int d = 0; d < 3; ++d) {
        struct world world = {.device = open_device(specs[d]), .steps = steps ? (uint32_t)atoi(steps) : 1000};
        struct actor actor[THREADS];
        uint32_t calls = 0;
        for (int i = 0; i < STREAMS; ++i)
            must(slr_stream_create(world.device, NULL, &world.stream[i]));
        for (int i = 0; i < BUFFERS; ++i)
            must(slr_buffer_create(world.device, CELLS * CELL, &world.buffer[i]));
        for (uint32_t i = 0; i < THREADS; ++i) {
            actor[i] = (struct actor){.world = &world, .seed = 77u + i};
            must(slri_thread_start(&actor[i].thread, "actor", act, &actor[i]));
        }
        for (int i = 0; i < THREADS; ++i) {
            slri_thread_join(&actor[i].thread);
            calls += actor[i].submitted_calls;
        }
        must(slr_device_finish(world.device, LONG));
        assert_int_equal(world.called, calls);
        for (int i = 0; i < BUFFERS; ++i)
            slr_buffer_destroy(world.buffer[i]);
        for (int i = 0; i < STREAMS; ++i)
            slr_stream_destroy(world.stream[i]);
        slr_device_close(world.device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_work_of_eight_threads_is_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
