// SPDX-License-Identifier: Apache-2.0
// Streams, points and host functions: on the cpu with threads of its own, on the null device, where who submits does
// the work, and on OpenCL where it is.
#include "device/stream_test.h"

#include "device/stream.h"

// ---- order ---------------------------------------------------------------------------------------------------------

struct journal {
    uint32_t at, entry[64];
};
struct line {
    struct journal *journal;
    uint32_t number;
};

static void write_line(void *user, slr_status status)
{
    const struct line *line = user;
    holds(status == SLR_OK);
    line->journal->entry[line->journal->at++] = line->number;
}

static void work_of_a_stream_is_done_in_order_and_its_points_pass(void **state)
{
    (void)state;
    EACH_DEVICE(i)
    {
        slr_device *device = open_device(devices[i]);
        slr_stream *stream = make_stream(device);
        struct journal journal = {0};
        struct line line[64];
        slr_point point[64];
        for (uint32_t k = 0; k < 64; ++k) {
            line[k] = (struct line){&journal, k};
            must(slr_stream_call(stream, write_line, &line[k], &point[k]));
            assert_ptr_equal(point[k].stream, stream);
            assert_int_equal(point[k].value, k + 1);
        }
        must(slr_point_wait(point[63], LONG));
        assert_int_equal(journal.at, 64);
        for (uint32_t k = 0; k < 64; ++k) {
            assert_int_equal(journal.entry[k], k);
            assert_int_equal(slr_point_passed(point[k]), 1);
        }
        slr_stream_destroy(stream);
        slr_device_close(device);
    }
}

static void copies_and_fills_move_the_bytes_in_order(void **state)
{
    (void)state;
    EACH_STORING(i)
    {
        slr_device *device = open_device(storing[i]);
        slr_stream *stream = make_stream(device);
        slr_buffer *a, *b;
        must(slr_buffer_create(device, 100000, &a));
        must(slr_buffer_create(device, 100000, &b));
        unsigned char back[40], want[40];
        must(slr_stream_fill(stream, a, 0, 100000, "\1\2\3\4", 4, NULL));
        must(slr_stream_write(stream, a, 4, "abcd", 4, NULL));
        must(slr_stream_copy(stream, b, 10, a, 0, 20, NULL));
        must(slr_stream_copy(stream, b, 14, b, 10, 20, NULL)); // over itself
        must(slr_stream_read(stream, b, 0, back, 40, NULL));
        must(slr_stream_finish(stream, LONG));
        memcpy(want, "\0\0\0\0\0\0\0\0\0\0\1\2\3\4\1\2\3\4abcd\1\2\3\4\1\2\3\4\1\2\3\4\0\0\0\0\0\0", 40);
        assert_memory_equal(back, want, 40);
        unsigned char *all = malloc(100000);
        must(slr_stream_read(stream, a, 0, all, 100000, NULL));
        must(slr_stream_finish(stream, LONG));
        for (int k = 8; k < 100000; ++k)
            assert_int_equal(all[k], k % 4 + 1);
        must(slr_stream_fill(stream, a, 3, 0, "x", 1, NULL)); // nothing
        must(slr_stream_fill(stream, a, 3, 32, "0123456789abcdef", 16, NULL));
        must(slr_stream_read(stream, a, 2, all, 34, NULL));
        must(slr_stream_finish(stream, LONG));
        assert_memory_equal(all,
                            "\3"
                            "0123456789abcdef0123456789abcdef"
                            "\4",
                            34);
        free(all);
        slr_buffer_destroy(a);
        slr_buffer_destroy(b);
        slr_stream_destroy(stream);
        slr_device_close(device);
    }
}

static void what_makes_no_sense_is_refused_by_name(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu"), *other = open_device("null");
    slr_stream *stream = make_stream(device);
    slr_buffer *buffer, *foreign;
    must(slr_buffer_create(device, 10, &buffer));
    must(slr_buffer_create(other, 10, &foreign));
    char host[10];
    refuses(slr_stream_write(stream, buffer, 8, host, 3, NULL), INVALID, "3 bytes from byte 8 on were asked for");
    refuses(slr_stream_read(stream, buffer, 0, NULL, 3, NULL), INVALID, "the host's memory is NULL");
    refuses(slr_stream_write(NULL, buffer, 0, host, 3, NULL), INVALID, "stream is NULL");
    refuses(slr_stream_write(stream, NULL, 0, host, 3, NULL), INVALID, "buffer is NULL");
    refuses(slr_stream_write(stream, foreign, 0, host, 3, NULL), INVALID, "to another device");
    refuses(slr_stream_copy(stream, buffer, 0, foreign, 0, 3, NULL), INVALID, "to another device");
    refuses(slr_stream_copy(stream, buffer, 0, buffer, 9, 3, NULL), INVALID,
            "slr_stream_copy, from: 3 bytes from byte 9 on");
    refuses(slr_stream_fill(stream, buffer, 0, 9, "123", 3, NULL), INVALID, "a pattern of 3 bytes");
    refuses(slr_stream_fill(stream, buffer, 0, 9, "12", 2, NULL), INVALID, "9 bytes are not a multiple");
    refuses(slr_stream_call(stream, NULL, NULL, NULL), INVALID, "function is NULL");
    slr_stream_desc desc = SLR_STREAM_DESC_INIT;
    slr_stream *none = NULL;
    desc.priority = SLR_PRIORITY(256);
    refuses(slr_stream_create(device, &desc, &none), INVALID, "slr_stream_desc.priority is 257");
    desc.struct_size = 4;
    refuses(slr_stream_create(device, &desc, &none), INVALID, "struct_size is 4");
    slr_stream_set *set;
    refuses(slr_stream_set_create(device, 65, NULL, &set), INVALID, "65 streams was asked for; expected 1 to 64");
    assert_null(none);
    slr_buffer_destroy(buffer);
    slr_buffer_destroy(foreign);
    slr_stream_destroy(stream);
    slr_stream_destroy(NULL);
    slr_device_close(device);
    slr_device_close(other);
}

// ---- several streams -----------------------------------------------------------------------------------------------

static void stream_waits_for_the_point_of_another_also_across_devices(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2"), *second = open_device("cpu?threads=1"),
               *third = open_device("null");
    slr_stream *first = make_stream(device);
    slr_stream *behind[] = {make_stream(device), make_stream(second), make_stream(third)};
    struct gate gate = {0};
    struct journal journal = {0};
    struct line line[] = {{&journal, 0}, {&journal, 1}, {&journal, 2}, {&journal, 3}};
    slr_point point, last[3];
    must(slr_stream_call(first, hold_up, &gate, NULL));
    must(slr_stream_call(first, write_line, &line[0], &point));
    for (int i = 0; i < 3; ++i) { // a chain through three devices
        must(slr_stream_wait(behind[i], point));
        must(slr_stream_call(behind[i], write_line, &line[i + 1], &last[i]));
        point = last[i];
    }
    gives(slr_point_wait(last[2], 5 * MS), TIMEOUT);
    assert_int_equal(journal.at, 0);
    open_gate(&gate);
    must(slr_point_wait(last[2], LONG));
    assert_int_equal(journal.at, 4);
    for (uint32_t i = 0; i < 4; ++i)
        assert_int_equal(journal.entry[i], i);
    slr_stream_destroy(first);
    for (int i = 0; i < 3; ++i)
        slr_stream_destroy(behind[i]);
    slr_device_close(device);
    slr_device_close(third);
    slr_device_close(second);
}

static void wait_of_another_device_outlives_the_one_it_waits_for(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu"), *other = open_device("cpu");
    slr_stream *first = make_stream(device), *second = make_stream(other);
    struct gate gate = {0};
    slr_point point;
    must(slr_stream_call(second, hold_up, &gate, NULL));
    must(slr_stream_call(first, hold_up, &gate, &point));
    must(slr_stream_wait(second, point)); // looked at only when the gate has been left
    open_gate(&gate);
    slr_stream_destroy(first);
    slr_device_close(device);
    must(slr_stream_finish(second, LONG));
    slr_stream_destroy(second);
    slr_device_close(other);
}

static void two_streams_run_at_the_same_time(void **state)
{
    (void)state;
    EACH_STORING(i)
    {
        slr_device *device = open_device(storing[i]);
        slr_stream *a = make_stream(device), *b = make_stream(device);
        struct gate gate[2] = {{0}, {0}};
        must(slr_stream_call(a, hold_up, &gate[0], NULL));
        must(slr_stream_call(b, hold_up, &gate[1], NULL));
        await(&gate[0].entered);
        await(&gate[1].entered); // while the other is inside
        open_gate(&gate[0]);
        open_gate(&gate[1]);
        must(slr_device_finish(device, LONG));
        slr_stream_destroy(a);
        slr_stream_destroy(b);
        slr_device_close(device);
    }
}

// The device has one thread: what is ready is taken by priority, in order of arrival where that is equal.
static void higher_priority_begins_first(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    slr_stream_desc desc = SLR_STREAM_DESC_INIT;
    slr_stream *stream[4];
    static const uint32_t priority[4] = {SLR_PRIORITY(0), SLR_PRIORITY(7), SLR_PRIORITY(255), SLR_PRIORITY(7)};
    slr_buffer *buffer;
    must(slr_buffer_create(device, 4 * 64, &buffer));
    slr_event *event[4];
    slr_stream *gatekeeper = make_stream(device);
    struct gate gate = {0};
    slr_point opened;
    must(slr_stream_call(gatekeeper, hold_up, &gate, &opened));
    for (int i = 0; i < 4; ++i) {
        desc.priority = priority[i];
        must(slr_stream_create(device, &desc, &stream[i]));
        must(slr_event_create(device, &event[i]));
        must(slr_stream_wait(stream[i], opened));
        must(slr_stream_fill(stream[i], buffer, (uint64_t)i * 64, 64, "x", 1, NULL)); // none waits for another
        must(slr_event_record(event[i], stream[i], NULL));
    }
    open_gate(&gate);
    must(slr_device_finish(device, LONG));
    int64_t elapsed_ns;
    must(slr_event_elapsed_ns(event[2], event[0], &elapsed_ns));
    assert_true(elapsed_ns > 0);
    must(slr_event_elapsed_ns(event[1], event[0], &elapsed_ns));
    assert_true(elapsed_ns > 0);
    must(slr_event_elapsed_ns(event[2], event[3], &elapsed_ns));
    assert_true(elapsed_ns > 0);
    for (int i = 0; i < 4; ++i) {
        slr_event_destroy(event[i]);
        slr_stream_destroy(stream[i]);
    }
    slr_stream_destroy(gatekeeper);
    slr_buffer_destroy(buffer);
    slr_device_close(device);
}

static void set_gives_its_streams_in_turn(void **state)
{
    (void)state;
    EACH_DEVICE(i)
    {
        slr_device *device = open_device(devices[i]);
        slr_stream_set *set;
        must(slr_stream_set_create(device, 3, NULL, &set));
        slr_stream *stream[3];
        for (int k = 0; k < 3; ++k)
            stream[k] = slr_stream_set_next(set);
        assert_ptr_not_equal(stream[0], stream[1]);
        assert_ptr_not_equal(stream[1], stream[2]);
        for (int k = 0; k < 6; ++k) {
            assert_ptr_equal(slr_stream_set_next(set), stream[k % 3]);
            must(slr_stream_wait(stream[k % 3], (slr_point){stream[(k + 1) % 3], 0}));
        }
        must(slr_stream_set_finish(set, LONG));
        slr_stream_set_destroy(set);
        assert_null(slr_stream_set_next(NULL));
        slr_device_close(device);
    }
}

// ---- waits that would never end ------------------------------------------------------------------------------------

static void point_that_was_not_submitted_is_refused(void **state)
{
    (void)state;
    EACH_DEVICE(i)
    {
        slr_device *device = open_device(devices[i]);
        slr_stream *a = make_stream(device), *b = make_stream(device);
        refuses(slr_stream_wait(a, (slr_point){b, 1}), INVALID,
                "point 1 has not been submitted; the stream's newest is 0");
        refuses(slr_point_wait((slr_point){b, 7}, LONG), INVALID, "point 7 has not been submitted");
        refuses(slr_stream_wait(a, (slr_point){NULL, 0}), INVALID, "the point's stream is NULL");
        assert_int_equal(slr_point_passed((slr_point){b, 1}), 0);
        assert_int_equal(slr_point_passed((slr_point){NULL, 9}), 1);
        slr_stream_destroy(a);
        slr_stream_destroy(b);
        slr_device_close(device);
    }
}

struct waiter {
    slr_device *device;
    slr_stream *own, *other;
    slr_status got;
    char why[200];
};

static void note(struct waiter *waiter, slr_status status)
{
    waiter->got = status;
    snprintf(waiter->why, sizeof waiter->why, "%s", status == SLR_OK ? "" : slr_error_message());
}

static void wait_for_own_stream(void *user, slr_status status)
{
    struct waiter *waiter = user;
    (void)status;
    note(waiter, slr_stream_finish(waiter->own, LONG));
}

static void wait_for_device(void *user, slr_status status)
{
    struct waiter *waiter = user;
    (void)status;
    note(waiter, slr_device_finish(waiter->device, LONG));
}

// Lets the other stream wait for this one, and waits for that.
static void wait_in_a_circle(void *user, slr_status status)
{
    struct waiter *waiter = user;
    slr_point own, other;
    (void)status;
    holds(slr_stream_signal(waiter->own, &own) == SLR_OK);
    holds(slr_stream_wait(waiter->other, own) == SLR_OK);
    holds(slr_stream_signal(waiter->other, &other) == SLR_OK);
    note(waiter, slr_point_wait(other, LONG));
}

static void host_function_that_would_wait_for_itself_is_refused(void **state)
{
    (void)state;
    slr_stream_function *const functions[] = {wait_for_own_stream, wait_for_device, wait_in_a_circle};
    EACH_DEVICE(i)
    {
        for (int f = 0; f < 3; ++f) {
            slr_device *device = open_device(devices[i]);
            struct waiter waiter = {device, make_stream(device), make_stream(device), SLR_OK, ""};
            must(slr_stream_call(waiter.own, functions[f], &waiter, NULL));
            must(slr_device_finish(device, LONG));
            assert_int_equal(waiter.got, SLR_WRONG_STATE);
            assert_non_null(strstr(waiter.why, f == 1 ? "would wait for itself" : "comes after the function"));
            slr_stream_destroy(waiter.own);
            slr_stream_destroy(waiter.other);
            slr_device_close(device);
        }
    }
}

// Two host functions, each waiting for the end of the other's stream: the second to come is refused.
struct pair {
    slr_stream *other;
    uint32_t *arrived; // atomic
    slr_status got;
};

static void wait_for_each_other(void *user, slr_status status)
{
    struct pair *pair = user;
    (void)status;
    __atomic_fetch_add(pair->arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(pair->arrived, __ATOMIC_ACQUIRE) < 2)
        slri_yield();
    pair->got = slr_stream_finish(pair->other, LONG);
}

static void of_two_host_functions_that_wait_for_each_other_one_is_refused(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    slr_stream *a = make_stream(device), *b = make_stream(device);
    uint32_t arrived = 0;
    struct pair pair[2] = {{b, &arrived, SLR_OK}, {a, &arrived, SLR_OK}};
    must(slr_stream_call(a, wait_for_each_other, &pair[0], NULL));
    must(slr_stream_call(b, wait_for_each_other, &pair[1], NULL));
    must(slr_device_finish(device, LONG));
    assert_int_equal(pair[0].got + pair[1].got, SLR_WRONG_STATE); // one of them
    assert_int_equal(pair[0].got * pair[1].got, SLR_OK);
    slr_stream_destroy(a);
    slr_stream_destroy(b);
    slr_device_close(device);
}

// ---- host functions that call slipring -----------------------------------------------------------------------------

struct nested {
    slr_stream *own, *other;
    slr_buffer *buffer;
    uint32_t left;
    char back[4];
};

// Works on another stream and waits for it, and submits itself again.
static void work_on_the_other(void *user, slr_status status)
{
    struct nested *nested = user;
    slr_point point;
    holds(status == SLR_OK);
    holds(slr_stream_write(nested->other, nested->buffer, 0, "1234", 4, NULL) == SLR_OK);
    holds(slr_stream_read(nested->other, nested->buffer, 0, nested->back, 4, &point) == SLR_OK);
    holds(slr_point_wait(point, LONG) == SLR_OK);
    slr_buffer *temporary;
    slr_stream *stream;
    holds(slr_buffer_create(nested->own->device, 8, &temporary) == SLR_OK);
    slr_buffer_destroy(temporary);
    holds(slr_stream_create(nested->own->device, NULL, &stream) == SLR_OK);
    slr_stream_destroy(stream);
    // Release, and acquire where it is read: what was read into `back` goes with it.
    if (__atomic_sub_fetch(&nested->left, 1, __ATOMIC_RELEASE) != 0)
        holds(slr_stream_call(nested->own, work_on_the_other, nested, NULL) == SLR_OK);
}

static void host_function_may_submit_wait_and_create(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu?threads=1", "cpu?threads=2", "null"}; // 1: another thread takes its place
    for (int i = 0; i < 3; ++i) {
        slr_device *device = open_device(specs[i]);
        struct nested nested = {.own = make_stream(device), .other = make_stream(device), .left = 10};
        must(slr_buffer_create(device, 4, &nested.buffer));
        must(slr_stream_call(nested.own, work_on_the_other, &nested, NULL));
        do
            must(slr_device_finish(device, LONG));
        while (__atomic_load_n(&nested.left, __ATOMIC_ACQUIRE) != 0);
        if (strcmp(specs[i], "null") != 0)
            assert_memory_equal(nested.back, "1234", 4);
        slr_buffer_destroy(nested.buffer);
        slr_stream_destroy(nested.own);
        slr_stream_destroy(nested.other);
        slr_device_close(device);
    }
}

static void destroy_own_stream_and_close(void *user, slr_status status)
{
    struct waiter *waiter = user;
    (void)status;
    slr_stream_destroy(waiter->own);
    slr_device_close(waiter->device); // does nothing here
}

static void host_function_may_destroy_its_stream_but_not_close_the_device(void **state)
{
    (void)state;
    EACH_DEVICE(i)
    {
        slr_device *device = open_device(devices[i]);
        struct waiter waiter = {device, make_stream(device), NULL, SLR_OK, ""};
        must(slr_stream_call(waiter.own, destroy_own_stream_and_close, &waiter, NULL));
        must(slr_device_finish(device, LONG));
        slr_stream *stream = make_stream(device);
        must(slr_stream_finish(stream, LONG));
        slr_stream_destroy(stream);
        slr_device_close(device);
    }
}

// ---- deadlines, destroying -----------------------------------------------------------------------------------------

static void waits_end_at_their_deadline(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_stream *stream = make_stream(device);
    struct gate gate = {0};
    slr_point point;
    must(slr_stream_call(stream, hold_up, &gate, &point));
    refuses(slr_point_wait(point, 0), TIMEOUT, "the stream has not reached point 1");
    uint64_t before_ns = slri_now_ns();
    refuses(slr_point_wait(point, 2 * MS), TIMEOUT, "point 1 by the deadline");
    gives(slr_stream_finish(stream, 2 * MS), TIMEOUT);
    gives(slr_device_finish(device, 2 * MS), TIMEOUT);
    assert_true(slri_now_ns() - before_ns >= 6 * MS);
    open_gate(&gate);
    must(slr_device_finish(device, LONG));
    must(slr_point_wait(point, 0));
    slr_stream_destroy(stream);
    slr_device_close(device);
}

static void stream_destroyed_while_busy_does_its_work(void **state)
{
    (void)state;
    EACH_STORING(i)
    {
        slr_device *device = open_device(storing[i]);
        struct gate gate = {0};
        struct journal journal = {0};
        struct line line = {&journal, 5};
        slr_buffer *buffer;
        must(slr_buffer_create(device, 1000, &buffer));
        slr_stream *stream = make_stream(device), *behind = make_stream(device);
        slr_point point;
        must(slr_stream_call(stream, hold_up, &gate, NULL));
        must(slr_stream_fill(stream, buffer, 0, 1000, "x", 1, &point));
        must(slr_stream_wait(behind, point));
        must(slr_stream_call(behind, write_line, &line, NULL));
        slr_buffer_destroy(buffer); // the fill holds it
        slr_stream_destroy(stream);
        slr_stream_destroy(behind);
        open_gate(&gate);
        slr_device_close(device); // waits for both
        assert_int_equal(journal.at, 1);
        assert_int_equal(journal.entry[0], 5);
    }
}

static uint32_t given_up(slr_device *device)
{
    uint32_t count = 0;
    for (const struct slri_link *link = device->given_up.after; link != &device->given_up; link = link->after)
        ++count;
    return count;
}

// Whoever makes or destroys a stream looks at those that were given up while busy alone, and at few of them at once.
static void streams_given_up_while_busy_go_by_and_by(void **state)
{
    (void)state;
    enum { IDLE = 200, BUSY = 40 };
    slr_device *device = open_device("cpu?threads=2");
    slr_stream *idle[IDLE], *busy[BUSY], *gatekeeper = make_stream(device);
    struct gate gate = {0};
    slr_point opened;
    must(slr_stream_call(gatekeeper, hold_up, &gate, &opened));
    for (int i = 0; i < IDLE; ++i)
        idle[i] = make_stream(device);
    for (int i = 0; i < BUSY; ++i) {
        busy[i] = make_stream(device);
        must(slr_stream_wait(busy[i], opened));
    }
    assert_int_equal(given_up(device), 0);
    for (int i = 0; i < BUSY; ++i)
        slr_stream_destroy(busy[i]);
    assert_int_equal(given_up(device), BUSY);
    for (int i = 0; i < IDLE; ++i) {
        slr_stream_destroy(idle[i]);
        assert_int_equal(given_up(device), BUSY); // an idle one goes at once
    }
    open_gate(&gate);
    must(slr_device_finish(device, LONG));
    for (int i = 0; i < BUSY + IDLE; ++i)
        slr_stream_destroy(make_stream(device));
    assert_int_equal(given_up(device), 0);
    slr_stream_destroy(gatekeeper);
    slr_device_close(device);
}

static void default_stream_is_one_and_goes_with_the_device(void **state)
{
    (void)state;
    EACH_DEVICE(i)
    {
        slr_device *device = open_device(devices[i]);
        slr_stream *a, *b;
        must(slr_stream_default(device, &a));
        slr_stream_destroy(a); // nothing
        must(slr_stream_default(device, &b));
        assert_ptr_equal(a, b);
        must(slr_stream_finish(a, LONG));
        slr_device_close(device);
    }
}

// ---- failures ------------------------------------------------------------------------------------------------------

static void note_status(void *user, slr_status status)
{
    *(slr_status *)user = status;
}

// Both streams are made to fail by hand: no command of these devices does.
static void behind_a_failure_nothing_is_done_until_the_stream_recovers(void **state)
{
    (void)state;
    EACH_STORING(i)
    {
        slr_device *device = open_device(storing[i]);
        slr_stream *stream = make_stream(device), *behind = make_stream(device);
        slr_buffer *buffer;
        must(slr_buffer_create(device, 4, &buffer));
        slr_point before, point;
        must(slr_stream_fill(stream, buffer, 0, 4, "a", 1, &before));
        must(slr_point_wait(before, LONG));
        slri_queues_lock();
        stream->queue.failed = SLR_HANDLER_FAULT;
        stream->queue.failed_value = 2;
        snprintf(stream->queue.why, sizeof stream->queue.why, "kernel 'f' divided by zero");
        slri_queues_unlock();
        slr_status told = SLR_OK, told_behind = SLR_OK;
        must(slr_stream_fill(stream, buffer, 0, 4, "b", 1, NULL));
        must(slr_stream_call(stream, note_status, &told, &point));
        must(slr_stream_wait(behind, point));
        must(slr_stream_call(behind, note_status, &told_behind, NULL));
        refuses(slr_stream_finish(behind, LONG), HANDLER_FAULT, "kernel 'f' divided by zero");
        refuses(slr_point_wait(point, LONG), HANDLER_FAULT, "kernel 'f' divided by zero");
        must(slr_point_wait(before, LONG)); // which was good
        assert_int_equal(told, SLR_HANDLER_FAULT);
        assert_int_equal(told_behind, SLR_HANDLER_FAULT);
        char back[5] = "";
        refuses(slr_buffer_read(buffer, 0, back, 4), HANDLER_FAULT,
                "kernel 'f'"); // its bytes are not what was asked for
        must(slr_stream_recover(stream));
        must(slr_buffer_read(buffer, 0, back, 4));
        assert_string_equal(back, "aaaa");
        must(slr_stream_fill(stream, buffer, 0, 4, "c", 1, NULL));
        must(slr_stream_finish(stream, LONG));
        must(slr_buffer_read(buffer, 0, back, 4));
        assert_string_equal(back, "cccc");
        slr_buffer_destroy(buffer);
        slr_stream_destroy(stream);
        slr_stream_destroy(behind);
        slr_device_close(device);
    }
}

// ---- who sleeps ----------------------------------------------------------------------------------------------------

static void take_a_millisecond(void *user, slr_status status)
{
    (void)user, (void)status;
    slri_sleep_ns(1000000);
}

static void who_waits_for_the_last_of_many_is_not_woken_for_each(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    slr_stream *stream = make_stream(device);
    for (int i = 0; i < 40; ++i)
        must(slr_stream_call(stream, take_a_millisecond, NULL, NULL));
    must(slr_stream_finish(stream, LONG));
    assert_in_range(stream->queue.changes, 0, 2);
    slr_stream_destroy(stream);
    slr_device_close(device);
}

struct sleeper {
    slri_thread thread;
    slr_point point;
    uint32_t woken; // atomic
};

static void wait_for_point(void *arg)
{
    struct sleeper *sleeper = arg;
    holds(slr_point_wait(sleeper->point, LONG) == SLR_OK);
    __atomic_store_n(&sleeper->woken, 1, __ATOMIC_RELEASE);
}

// Those of later points are asleep first, and stay so.
static void each_sleeper_is_woken_when_its_own_point_passes(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    slr_stream *stream = make_stream(device);
    struct gate gate[3] = {{0, 0}, {0, 0}, {0, 0}};
    struct sleeper sleeper[3];
    memset(sleeper, 0, sizeof sleeper);
    for (int i = 0; i < 3; ++i)
        must(slr_stream_call(stream, hold_up, &gate[i], &sleeper[i].point));
    for (int i = 3; i-- != 0;) {
        assert_int_equal(slri_thread_start(&sleeper[i].thread, "waiter", wait_for_point, &sleeper[i]), SLR_OK);
        slri_sleep_ns(20000000);
    }
    for (int i = 0; i < 3; ++i) {
        open_gate(&gate[i]);
        await(&sleeper[i].woken);
        for (int k = i + 1; k < 3; ++k)
            assert_int_equal(__atomic_load_n(&sleeper[k].woken, __ATOMIC_ACQUIRE), 0);
    }
    for (int i = 0; i < 3; ++i)
        slri_thread_join(&sleeper[i].thread);
    slr_stream_destroy(stream);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_for_the_last_of_many_is_not_woken_for_each),
        cmocka_unit_test(each_sleeper_is_woken_when_its_own_point_passes),
        cmocka_unit_test(work_of_a_stream_is_done_in_order_and_its_points_pass),
        cmocka_unit_test(copies_and_fills_move_the_bytes_in_order),
        cmocka_unit_test(what_makes_no_sense_is_refused_by_name),
        cmocka_unit_test(stream_waits_for_the_point_of_another_also_across_devices),
        cmocka_unit_test(wait_of_another_device_outlives_the_one_it_waits_for),
        cmocka_unit_test(two_streams_run_at_the_same_time),
        cmocka_unit_test(higher_priority_begins_first),
        cmocka_unit_test(set_gives_its_streams_in_turn),
        cmocka_unit_test(point_that_was_not_submitted_is_refused),
        cmocka_unit_test(host_function_that_would_wait_for_itself_is_refused),
        cmocka_unit_test(of_two_host_functions_that_wait_for_each_other_one_is_refused),
        cmocka_unit_test(host_function_may_submit_wait_and_create),
        cmocka_unit_test(host_function_may_destroy_its_stream_but_not_close_the_device),
        cmocka_unit_test(waits_end_at_their_deadline),
        cmocka_unit_test(stream_destroyed_while_busy_does_its_work),
        cmocka_unit_test(streams_given_up_while_busy_go_by_and_by),
        cmocka_unit_test(default_stream_is_one_and_goes_with_the_device),
        cmocka_unit_test(behind_a_failure_nothing_is_done_until_the_stream_recovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
