// SPDX-License-Identifier: Apache-2.0
// Queues of command buffers, over a driver that does all it was given when it is waited for.
#include "engine/buffered_queue.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "engine/kept_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST_COPIES = 1024, ROOM = 256 };

struct toy {
    struct slri_buffered_queue base;
    uint32_t opened, recorded, submitted, awaited, settled, timed, grown;
    uint32_t longest; // commands of a submission
    uint32_t in_open;
    bool splits;
    slr_status submit_gives, await_gives, settle_gives;
    struct {
        bool in;
        unsigned char *device;
        uint64_t at, bytes;
    } copy[MOST_COPIES]; // that were submitted or are open
    uint32_t copies;
    uint64_t tick[3][2];                   // that a wait notes, from 1 on; 0: none
    uint64_t of_submit[SLRI_MOST_SUBMITS]; // when the device came to each; 0: it does not say
};

static uint32_t waits; // of all queues

static struct toy *toy_of(struct slri_buffered_queue *queue)
{
    return (struct toy *)queue;
}

static slr_status toy_open(struct slri_buffered_queue *queue)
{
    assert_true(queue->submits < SLRI_MOST_SUBMITS);
    ++toy_of(queue)->opened;
    toy_of(queue)->in_open = 0;
    return SLR_OK;
}

static slr_status toy_time(struct slri_buffered_queue *queue)
{
    assert_int_equal(toy_of(queue)->in_open, 0);
    assert_true(queue->is_timed[queue->submits]);
    return SLR_OK;
}

static slr_status toy_read_ticks(struct slri_buffered_queue *queue, uint32_t submit, uint64_t *from, uint64_t *to)
{
    assert_true(submit < queue->submits && queue->is_timed[submit]);
    if (toy_of(queue)->of_submit[submit] != 0) {
        *from = toy_of(queue)->of_submit[submit];
        *to = *from + 10;
    }
    return SLR_OK;
}

static void note_command(struct toy *toy)
{
    ++toy->recorded;
    ++toy->in_open;
    toy->longest = toy->in_open > toy->longest ? toy->in_open : toy->longest;
}

static slr_status toy_record(struct slri_buffered_queue *queue, const struct slri_command *command,
                             const struct slri_extras *extras)
{
    assert_int_equal(command->op, SLRI_FILL);
    note_command(toy_of(queue));
    toy_of(queue)->timed += extras->wants_times && queue->is_timed[queue->submits];
    return SLR_OK;
}

static slr_status toy_copy(struct slri_buffered_queue *queue, bool in, const void *device, uint64_t at, uint64_t bytes)
{
    struct toy *toy = toy_of(queue);
    assert_int_equal(at % 4, (uintptr_t)device % 4);
    assert_true(at + bytes <= queue->stage.used && queue->stage.used <= queue->stage.bytes);
    note_command(toy);
    toy->copy[toy->copies].in = in;
    toy->copy[toy->copies].device = (unsigned char *)(uintptr_t)device;
    toy->copy[toy->copies].at = at;
    toy->copy[toy->copies++].bytes = bytes;
    return SLR_OK;
}

static slr_status toy_submit(struct slri_buffered_queue *queue)
{
    ++toy_of(queue)->submitted;
    return toy_of(queue)->submit_gives == SLR_OK ? SLR_OK : SLRI_FAIL(NO_MEMORY, "toy: no memory to submit");
}

static slr_status toy_await(struct slri_buffered_queue *queue, uint64_t deadline_ns)
{
    struct toy *toy = toy_of(queue);
    (void)deadline_ns;
    ++toy->awaited;
    ++waits;
    for (uint32_t i = 0; i < toy->copies; ++i) {
        unsigned char *stage = queue->stage.host + toy->copy[i].at;
        if (toy->copy[i].in)
            memcpy(toy->copy[i].device, stage, toy->copy[i].bytes);
        else
            memcpy(stage, toy->copy[i].device, toy->copy[i].bytes);
    }
    toy->copies = 0;
    return toy->await_gives == SLR_OK ? SLR_OK : SLRI_FAIL(NO_MEMORY, "toy: a command failed");
}

static slr_status toy_settle(struct slri_buffered_queue *queue, slr_status status)
{
    ++toy_of(queue)->settled;
    for (uint32_t i = 0; i < 3; ++i)
        if (toy_of(queue)->tick[i][0] != 0)
            slri_buffered_note_ticks(queue, toy_of(queue)->tick[i][0], toy_of(queue)->tick[i][1]);
    if (status == SLR_OK && toy_of(queue)->settle_gives != SLR_OK)
        return SLRI_FAIL(UNSUPPORTED, "toy: a loop was ended");
    return status;
}

static slr_status toy_grow(struct slri_buffered_queue *queue, uint64_t bytes)
{
    assert_int_equal(queue->stage.used, 0);
    free(queue->stage.host);
    queue->stage.host = malloc(bytes);
    queue->stage.bytes = bytes;
    ++toy_of(queue)->grown;
    return queue->stage.host ? SLR_OK : SLRI_FAIL(NO_MEMORY, "toy: no stage");
}

static void toy_free(struct slri_buffered_queue *queue)
{
    free(queue->stage.host);
    slri_buffered_free(queue);
}

#define CALLS                                                                                                          \
    .open = toy_open, .time = toy_time, .read_ticks = toy_read_ticks, .record = toy_record, .submit = toy_submit,      \
    .await = toy_await, .settle = toy_settle, .free = toy_free, .grow = toy_grow, .copy = toy_copy

static unsigned char seen[ROOM]; // what the host sees of a device

static unsigned char *toy_seen(struct slri_buffered_queue *queue, const void *device)
{
    (void)queue;
    return device == seen ? seen : NULL;
}

static slr_status toy_clocks(struct slri_buffered_queue *queue, uint64_t *tick, uint64_t *now_ns)
{
    (void)queue;
    *tick = 0x10; // behind its greatest, 0xff, it begins again
    *now_ns = 1000000;
    return SLR_OK;
}

static const struct slri_buffered_calls calls = {CALLS}, splitting = {.splits_lists = true, CALLS},
                                        seeing = {.seen = toy_seen, CALLS},
                                        clocked = {.read_clocks = toy_clocks, CALLS};

static struct slri_loss loss;

static struct toy *make_toy(const struct slri_buffered_calls *by)
{
    void *queue;
    slri_loss_init(&loss, "toy:0");
    assert_int_equal(slri_buffered_create(by, &loss, NULL, sizeof(struct toy), &queue), SLR_OK);
    return queue;
}

static void end_toy(struct toy *toy)
{
    slri_buffered_destroy(NULL, toy);
    slri_loss_destroy(&loss);
}

static slr_status encode(struct toy *toy, const struct slri_command *command, bool is_last)
{
    const struct slri_extras extras = {.is_last = is_last};
    return slri_buffered_encode(NULL, toy, command, &extras, 1);
}

static const struct slri_command a_fill = {.op = SLRI_FILL};

static slr_status copy(struct toy *toy, bool in, void *device, void *host, uint64_t bytes)
{
    const struct slri_command command = {.op = in ? SLRI_COPY_IN : SLRI_COPY_OUT, .copy = {device, host, bytes}};
    return encode(toy, &command, false);
}

static slr_status wait_for(struct toy *toy)
{
    return slri_buffered_wait(NULL, toy, SLRI_FOREVER, NULL);
}

// ---- submissions ---------------------------------------------------------------------------------------------------

static void last_command_before_a_wait_is_submitted_with_those_before_it(void **state)
{
    struct toy *toy = make_toy(&calls);
    (void)state;
    assert_int_equal(encode(toy, &a_fill, false), SLR_OK);
    assert_int_equal(encode(toy, &a_fill, false), SLR_OK);
    assert_int_equal(toy->submitted, 0);
    assert_int_equal(encode(toy, &a_fill, true), SLR_OK);
    assert_int_equal(toy->submitted, 1);
    assert_int_equal(toy->longest, 3);
    assert_int_equal(wait_for(toy), SLR_OK);
    assert_int_equal(toy->awaited, 1);
    end_toy(toy);
}

static void many_commands_are_submitted_in_parts_and_waited_for_when_there_are_too_many(void **state)
{
    struct toy *toy = make_toy(&calls);
    (void)state;
    for (uint32_t i = 0; i < 64 * SLRI_MOST_SUBMITS; ++i)
        assert_int_equal(encode(toy, &a_fill, false), SLR_OK);
    assert_int_equal(toy->submitted, SLRI_MOST_SUBMITS);
    assert_int_equal(toy->awaited, 0);
    assert_int_equal(encode(toy, &a_fill, false), SLR_OK);
    assert_int_equal(toy->awaited, 1);
    assert_int_equal(toy->longest, 64);
    assert_int_equal(wait_for(toy), SLR_OK);
    assert_int_equal(toy->submitted, SLRI_MOST_SUBMITS + 1);
    end_toy(toy);
}

static void wait_for_nothing_asks_the_driver_nothing(void **state)
{
    struct toy *toy = make_toy(&calls);
    (void)state;
    assert_int_equal(wait_for(toy), SLR_OK);
    assert_int_equal(toy->awaited + toy->settled + toy->submitted, 0);
    end_toy(toy);
}

// ---- lists ---------------------------------------------------------------------------------------------------------

static void run_list_of(uint32_t fills, const struct slri_buffered_calls *by, uint32_t submitted, uint32_t longest)
{
    struct slri_command *command = calloc(fills, sizeof *command);
    struct slri_extras *extras = calloc(fills, sizeof *extras);
    struct toy *toy = make_toy(by);
    void *list;
    toy->base.ticks.mask = UINT64_MAX;
    for (uint32_t i = 0; i < fills; ++i)
        command[i] = a_fill;
    assert_int_equal(slri_kept_list_create("toy:0", NULL, false, command, extras, fills, &list), SLR_OK);
    const struct slri_command whole = {.op = SLRI_LIST, .list = list};
    const struct slri_extras timed = {.wants_times = true};
    assert_int_equal(slri_buffered_encode(NULL, toy, &whole, &timed, 1), SLR_OK);
    assert_int_equal(wait_for(toy), SLR_OK);
    assert_int_equal(toy->recorded, fills);
    assert_int_equal(toy->timed, fills); // the wish is the list's
    assert_int_equal(toy->submitted, submitted);
    assert_int_equal(toy->longest, longest);
    slri_kept_list_destroy(NULL, list);
    end_toy(toy);
    free(extras);
    free(command);
}

static void list_is_one_submission_or_several_as_the_driver_wants_it(void **state)
{
    (void)state;
    run_list_of(640, &calls, 1, 640);
    run_list_of(640, &splitting, 10, 64);
}

// ---- copies --------------------------------------------------------------------------------------------------------

static void copies_go_in_and_come_out_of_any_byte(void **state)
{
    struct toy *toy = make_toy(&calls);
    unsigned char device[ROOM], in[ROOM], out[ROOM] = {0};
    (void)state;
    for (uint32_t i = 0; i < ROOM; ++i)
        in[i] = (unsigned char)(i + 1);
    for (uint32_t lead = 0; lead < 4; ++lead)
        assert_int_equal(copy(toy, true, device + 60 * lead + lead, in + 60 * lead, 50 + lead), SLR_OK);
    for (uint32_t lead = 0; lead < 4; ++lead)
        assert_int_equal(copy(toy, false, device + 60 * lead + lead, out + 60 * lead, 50 + lead), SLR_OK);
    assert_int_equal(out[0], 0); // the host does it at the wait
    assert_int_equal(wait_for(toy), SLR_OK);
    for (uint32_t lead = 0; lead < 4; ++lead)
        assert_memory_equal(out + 60 * lead, in + 60 * lead, 50 + lead);
    end_toy(toy);
}

static void copy_of_memory_that_the_host_sees_is_done_at_once_while_the_queue_is_empty(void **state)
{
    struct toy *toy = make_toy(&seeing);
    unsigned char other[4] = {0}, host[4] = {1, 2, 3, 4}, back[4] = {0};
    (void)state;
    assert_int_equal(copy(toy, true, seen, host, 4), SLR_OK);
    assert_int_equal(copy(toy, false, seen, back, 4), SLR_OK);
    assert_memory_equal(seen, host, 4);
    assert_memory_equal(back, host, 4);
    assert_int_equal(toy->opened, 0);
    assert_int_equal(copy(toy, true, other, host, 4), SLR_OK); // which it does not see
    assert_int_equal(toy->opened, 1);
    assert_int_equal(other[0], 0);
    assert_int_equal(copy(toy, true, seen, other, 4), SLR_OK); // comes behind that
    assert_memory_equal(seen, host, 4);
    assert_int_equal(wait_for(toy), SLR_OK);
    assert_memory_equal(other, host, 4);
    assert_int_equal(seen[0], 0);
    end_toy(toy);
}

static void copy_in_of_what_is_still_to_come_out_waits_for_it(void **state)
{
    struct toy *toy = make_toy(&calls);
    unsigned char a[16] = "from the device", b[16] = {0}, host[16] = {0};
    (void)state;
    assert_int_equal(copy(toy, false, a, host, sizeof host), SLR_OK);
    assert_int_equal(copy(toy, true, b, host + 15, 1), SLR_OK); // the last byte of those
    assert_int_equal(toy->awaited, 1);
    assert_int_equal(copy(toy, true, b, host, sizeof host), SLR_OK);
    assert_int_equal(toy->awaited, 1);
    assert_int_equal(wait_for(toy), SLR_OK);
    assert_string_equal((const char *)b, "from the device");
    end_toy(toy);
}

static void long_copy_goes_part_by_part_through_a_stage_that_grows_once(void **state)
{
    const uint64_t bytes = SLRI_STAGE_PART + 5;
    struct toy *toy = make_toy(&calls);
    unsigned char *device = calloc(1, bytes), *host = calloc(1, bytes);
    (void)state;
    assert_true(device && host);
    host[0] = 1;
    host[bytes - 1] = 77;
    assert_int_equal(copy(toy, true, device, host, bytes), SLR_OK);
    assert_int_equal(toy->recorded, 2);
    assert_int_equal(toy->grown, 1);
    assert_int_equal(toy->base.stage.bytes, SLRI_STAGE_PART);
    assert_int_equal(wait_for(toy), SLR_OK);
    assert_memory_equal(device, host, bytes);
    free(host);
    free(device);
    end_toy(toy);
}

static void more_copies_out_than_are_kept_are_completed_in_the_midst(void **state)
{
    struct toy *toy = make_toy(&calls);
    unsigned char device = 5, host[SLRI_MOST_BACKS + 1] = {0};
    (void)state;
    for (uint32_t i = 0; i <= SLRI_MOST_BACKS; ++i)
        assert_int_equal(copy(toy, false, &device, host + i, 1), SLR_OK);
    assert_int_equal(toy->awaited, 1);
    assert_int_equal(host[SLRI_MOST_BACKS - 1], 5);
    assert_int_equal(host[SLRI_MOST_BACKS], 0);
    assert_int_equal(wait_for(toy), SLR_OK);
    assert_int_equal(host[SLRI_MOST_BACKS], 5);
    end_toy(toy);
}

// ---- failures ------------------------------------------------------------------------------------------------------

// The first was submitted, and comes out; the second was not.
static void what_was_not_submitted_does_not_come_out(void **state)
{
    struct toy *toy = make_toy(&calls);
    unsigned char device = 5, host[2] = {0};
    (void)state;
    assert_int_equal(copy(toy, false, &device, host, 1), SLR_OK);
    assert_int_equal(encode(toy, &a_fill, true), SLR_OK);
    assert_int_equal(copy(toy, false, &device, host + 1, 1), SLR_OK);
    toy->submit_gives = SLR_NO_MEMORY;
    assert_int_equal(wait_for(toy), SLR_NO_MEMORY);
    assert_int_equal(host[0], 5);
    assert_int_equal(host[1], 0);
    toy->submit_gives = SLR_OK;
    assert_int_equal(copy(toy, false, &device, host + 1, 1), SLR_OK);
    assert_int_equal(wait_for(toy), SLR_OK);
    assert_int_equal(host[1], 5);
    end_toy(toy);
}

static void nothing_comes_out_where_a_command_failed(void **state)
{
    struct toy *toy = make_toy(&calls);
    unsigned char device = 5, host = 0;
    (void)state;
    toy->await_gives = SLR_NO_MEMORY;
    assert_int_equal(copy(toy, false, &device, &host, 1), SLR_OK);
    assert_int_equal(wait_for(toy), SLR_NO_MEMORY);
    assert_int_equal(host, 0);
    assert_int_equal(toy->settled, 1);
    toy->await_gives = SLR_OK;
    assert_int_equal(wait_for(toy), SLR_OK);
    assert_int_equal(host, 0);
    end_toy(toy);
}

static void failure_that_shows_at_the_end_is_given(void **state)
{
    struct toy *toy = make_toy(&calls);
    (void)state;
    toy->settle_gives = SLR_UNSUPPORTED;
    assert_int_equal(encode(toy, &a_fill, true), SLR_OK);
    assert_int_equal(wait_for(toy), SLR_UNSUPPORTED);
    end_toy(toy);
}

static void queue_of_a_lost_device_takes_and_waits_for_nothing(void **state)
{
    struct toy *toy = make_toy(&calls);
    void *other;
    (void)state;
    assert_int_equal(encode(toy, &a_fill, true), SLR_OK);
    assert_int_equal(slri_lose_hung(&loss, NULL), SLR_DEVICE_LOST);
    assert_string_equal(slr_error_message(), "device 'toy:0' was lost: a command did not end in time");
    assert_int_equal(encode(toy, &a_fill, true), SLR_DEVICE_LOST);
    assert_int_equal(wait_for(toy), SLR_DEVICE_LOST);
    assert_int_equal(slri_buffered_create(&calls, &loss, NULL, sizeof(struct toy), &other), SLR_DEVICE_LOST);
    waits = 0;
    end_toy(toy);
    assert_int_equal(waits, 0); // it hangs
}

static void end_of_a_queue_waits_for_what_a_lost_device_still_does(void **state)
{
    struct toy *toy = make_toy(&calls);
    (void)state;
    assert_int_equal(encode(toy, &a_fill, true), SLR_OK);
    slri_lose(&loss, "its bus is cut");
    waits = 0;
    end_toy(toy);
    assert_int_equal(waits, 1);
}

// ---- times ---------------------------------------------------------------------------------------------------------

static struct slri_times times_of(struct toy *toy)
{
    struct slri_times times = {0};
    assert_int_equal(encode(toy, &a_fill, true), SLR_OK);
    assert_int_equal(slri_buffered_wait(NULL, toy, SLRI_FOREVER, &times), SLR_OK);
    return times;
}

static void times_are_from_the_earliest_tick_to_the_last_on_the_hosts_clock(void **state)
{
    struct toy *toy = make_toy(&clocked);
    const uint64_t tick[3][2] = {{0xf2, 0xf4}, {0xf0, 0xf6}, {0xf8, 0x08}}; // the last ends in the next round
    (void)state;
    toy->base.ticks.ns_a_tick = 2.5;
    toy->base.ticks.mask = 0xff;
    memcpy(toy->tick, tick, sizeof tick);
    struct slri_times times = times_of(toy);
    assert_int_equal(times.from_ns, 1000000 - 80); // 0x20 ticks ago
    assert_int_equal(times.to_ns, 1000000 - 20);
    end_toy(toy);
}

static void times_end_now_where_no_clock_is_read(void **state)
{
    struct toy *toy = make_toy(&calls);
    (void)state;
    toy->base.ticks.ns_a_tick = 1;
    toy->base.ticks.mask = UINT64_MAX;
    toy->tick[0][0] = 5000;
    toy->tick[0][1] = 7000;
    const uint64_t before_ns = slri_now_ns();
    struct slri_times times = times_of(toy);
    assert_true(times.to_ns >= before_ns && times.to_ns <= slri_now_ns());
    assert_int_equal(times.to_ns - times.from_ns, 2000);
    end_toy(toy);
}

static void a_pair_of_ticks_that_ends_before_it_begins_tells_nothing(void **state)
{
    struct toy *toy = make_toy(&calls);
    (void)state;
    toy->base.ticks.ns_a_tick = 1;
    toy->base.ticks.mask = UINT64_MAX;
    toy->tick[0][0] = 7000;
    toy->tick[0][1] = 10; // the counter was reset
    struct slri_times times = times_of(toy);
    assert_int_equal(times.from_ns + times.to_ns, 0);
    toy->tick[1][0] = 20;
    toy->tick[1][1] = 50;
    times = times_of(toy);
    assert_int_equal(times.to_ns - times.from_ns, 30);
    end_toy(toy);
}

static void times_are_of_what_came_since_the_last_wait(void **state)
{
    struct toy *toy = make_toy(&clocked);
    (void)state;
    toy->base.ticks.ns_a_tick = 1;
    toy->base.ticks.mask = 0xff;
    toy->tick[0][0] = 0x01;
    toy->tick[0][1] = 0x02;
    assert_int_equal(encode(toy, &a_fill, true), SLR_OK);
    assert_int_equal(wait_for(toy), SLR_OK); // nobody wants them
    toy->tick[0][0] = 0x05;
    toy->tick[0][1] = 0x06;
    struct slri_times times = times_of(toy);
    assert_int_equal(times.from_ns, 1000000 - 0x0b);
    assert_int_equal(times.to_ns, 1000000 - 0x0a);
    toy->tick[0][0] = 0;
    times = times_of(toy); // nothing was timed
    assert_int_equal(times.from_ns + times.to_ns, 0);
    end_toy(toy);
}

static void times_are_those_of_submissions_without_other_commands(void **state)
{
    static const struct slri_extras extras[] = {{0}, {.wants_times = true}, {.wants_times = true}, {0}};
    const struct slri_command fills[] = {a_fill, a_fill, a_fill, a_fill};
    struct slri_times times = {0};
    struct toy *toy = make_toy(&clocked);
    (void)state;
    toy->base.ticks.ns_a_tick = 1;
    toy->base.ticks.mask = 0xff;
    toy->of_submit[0] = 1000; // nobody asks
    toy->of_submit[1] = 0xe0;
    assert_int_equal(slri_buffered_encode(NULL, toy, fills, extras, 4), SLR_OK);
    assert_int_equal(slri_buffered_wait(NULL, toy, SLRI_FOREVER, &times), SLR_OK);
    assert_int_equal(toy->submitted, 3);
    assert_int_equal(toy->timed, 2);
    assert_int_equal(times.from_ns, 1000000 - 0x30);
    assert_int_equal(times.to_ns, 1000000 - 0x26);
    end_toy(toy);
}

static void submission_that_failed_is_not_asked_for_its_times(void **state)
{
    static const struct slri_extras timed = {.wants_times = true, .is_last = true};
    struct slri_times times = {0};
    struct toy *toy = make_toy(&clocked);
    (void)state;
    toy->base.ticks.mask = 0xff;
    toy->of_submit[0] = 0xe0;
    toy->submit_gives = SLR_NO_MEMORY;
    assert_int_equal(slri_buffered_encode(NULL, toy, &a_fill, &timed, 1), SLR_NO_MEMORY);
    assert_int_equal(slri_buffered_wait(NULL, toy, SLRI_FOREVER, &times), SLR_OK);
    assert_int_equal(times.from_ns + times.to_ns, 0);
    end_toy(toy);
}

static void queue_without_a_clock_times_nothing(void **state)
{
    static const struct slri_extras extras[] = {{0}, {.wants_times = true}};
    const struct slri_command fills[] = {a_fill, a_fill};
    struct toy *toy = make_toy(&calls);
    (void)state;
    assert_int_equal(slri_buffered_encode(NULL, toy, fills, extras, 2), SLR_OK);
    assert_int_equal(wait_for(toy), SLR_OK);
    assert_int_equal(toy->submitted, 1);
    assert_int_equal(toy->timed, 0);
    end_toy(toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_from_the_earliest_tick_to_the_last_on_the_hosts_clock),
        cmocka_unit_test(times_end_now_where_no_clock_is_read),
        cmocka_unit_test(a_pair_of_ticks_that_ends_before_it_begins_tells_nothing),
        cmocka_unit_test(times_are_of_what_came_since_the_last_wait),
        cmocka_unit_test(times_are_those_of_submissions_without_other_commands),
        cmocka_unit_test(submission_that_failed_is_not_asked_for_its_times),
        cmocka_unit_test(queue_without_a_clock_times_nothing),
        cmocka_unit_test(last_command_before_a_wait_is_submitted_with_those_before_it),
        cmocka_unit_test(many_commands_are_submitted_in_parts_and_waited_for_when_there_are_too_many),
        cmocka_unit_test(wait_for_nothing_asks_the_driver_nothing),
        cmocka_unit_test(list_is_one_submission_or_several_as_the_driver_wants_it),
        cmocka_unit_test(copies_go_in_and_come_out_of_any_byte),
        cmocka_unit_test(copy_of_memory_that_the_host_sees_is_done_at_once_while_the_queue_is_empty),
        cmocka_unit_test(copy_in_of_what_is_still_to_come_out_waits_for_it),
        cmocka_unit_test(long_copy_goes_part_by_part_through_a_stage_that_grows_once),
        cmocka_unit_test(more_copies_out_than_are_kept_are_completed_in_the_midst),
        cmocka_unit_test(what_was_not_submitted_does_not_come_out),
        cmocka_unit_test(nothing_comes_out_where_a_command_failed),
        cmocka_unit_test(failure_that_shows_at_the_end_is_given),
        cmocka_unit_test(queue_of_a_lost_device_takes_and_waits_for_nothing),
        cmocka_unit_test(end_of_a_queue_waits_for_what_a_lost_device_still_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
