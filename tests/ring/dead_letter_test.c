// SPDX-License-Identifier: Apache-2.0
// Dead letters: what is in them, by reason, and what becomes of those for which there is no room.
#include "tests/ring/ring_test.h"

#include "base/thread.h"

#include <slipring/dead_letter.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct handler h;

static slr_ring_desc describe(const char *name, uint32_t dead_letters)
{
    h = (struct handler){0};
    slr_ring_desc desc = describe_ring(name, &h);
    desc.dead_letters = dead_letters;
    desc.time_stamps = 1;
    return desc;
}

static void faulted_messages_are_letters_too(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("faulted", 8);
    h.fail_each = 2;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    for (uint32_t k = 0; k < 6; ++k)
        must(send_at(port, address_of(ring, 0), k, 17));
    wait_until_is(&h.count, 6);
    must(slr_ring_deactivate(ring, LONG));
    slr_dead_letter letter[8];
    struct message message[8];
    uint32_t taken = 9;
    must(slr_ring_take_dead_letters(ring, letter, message, sizeof message[0], 2, &taken)); // two, then the rest
    assert_int_equal(taken, 2);
    must(slr_ring_take_dead_letters(ring, letter + 2, message + 2, sizeof message[0], 6, &taken));
    assert_int_equal(taken, 1);
    for (uint32_t k = 0; k < 3; ++k) {
        assert_int_equal(letter[k].reason, SLR_DEAD_LETTER_FAULTED);
        assert_int_equal(message[k].value, 2 * k + 1);
        assert_int_equal(letter[k].correlation, 2 * k + 2);
        assert_int_equal(letter[k].priority, 17);
        assert_int_equal(letter[k].bytes, sizeof message[k]);
        assert_true(letter[k].sent_ns != 0);
    }
    assert_int_equal(stats_of(ring).dead_letters_lost, 0);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void undelivered_messages_are_letters_after_terminate(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    slr_ring_desc desc = describe("undelivered", 8);
    desc.instances = 2;
    slr_ring *ring = launch_ring(device, &desc); // and not activated: nothing is handled
    slr_port *port = open_port(device);
    for (uint32_t k = 0; k < 4; ++k)
        must(send_value(port, address_of(ring, k % 2), k, 0));
    slr_ring_stats stats;
    must(slr_ring_terminate(ring, 0, NULL, NULL, &stats));
    check_sum(&stats);
    assert_int_equal(stats.undelivered, 4);
    slr_dead_letter letter[8];
    uint32_t taken;
    must(slr_ring_take_dead_letters(ring, letter, NULL, 0, 8, &taken));
    assert_int_equal(taken, 4);
    for (uint32_t k = 0; k < taken; ++k)
        assert_int_equal(letter[k].reason, SLR_DEAD_LETTER_UNDELIVERED);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void without_room_letters_are_counted_and_nothing_waits(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = describe("room", 3);
    h.fail_each = 1;
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    slr_dead_letter letter[8];
    struct message message[8];
    uint32_t taken;
    for (uint32_t round = 0; round < 5; ++round) {
        for (uint32_t k = 0; k < 7; ++k)
            must(send_value(port, address_of(ring, 0), round * 7 + k, LONG));
        wait_until_is(&h.count, round * 7 + 7);
        must(slr_ring_deactivate(ring, LONG));
        must(slr_ring_take_dead_letters(ring, letter, message, sizeof message[0], 8, &taken));
        assert_int_equal(taken, 3); // the first three: what came later found no room
        for (uint32_t k = 0; k < 3; ++k)
            assert_int_equal(message[k].value, round * 7 + k);
        assert_int_equal(stats_of(ring).dead_letters_lost, 4 * (round + 1));
        assert_int_equal(stats_of(ring).faulted, 7 * (round + 1));
        must(slr_ring_reactivate(ring, LONG));
    }
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_device_close(device);
}

static void wrong_calls_say_what_is_wrong(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_dead_letter letter;
    struct message message;
    uint32_t taken = 1;
    slr_ring_desc desc = describe("none", 0);
    slr_ring *ring = start_ring(device, &desc);
    refuses(slr_ring_take_dead_letters(NULL, &letter, NULL, 0, 1, &taken), INVALID, "ring is NULL");
    refuses(slr_ring_take_dead_letters(ring, NULL, NULL, 0, 1, &taken), INVALID, "letters is NULL");
    refuses(slr_ring_take_dead_letters(ring, &letter, NULL, 0, 1, NULL), INVALID, "taken is NULL");
    refuses(slr_ring_take_dead_letters(ring, &letter, NULL, 0, 1, &taken), INVALID, "set slr_ring_desc.dead_letters");
    assert_int_equal(taken, 1);
    slr_ring_destroy(ring);
    desc = describe("some", 1);
    must(slr_ring_create(device, &desc, &ring));
    must(slr_ring_take_dead_letters(ring, &letter, NULL, 0, 1, &taken)); // not launched: there is none
    assert_int_equal(taken, 0);
    refuses(slr_ring_take_dead_letters(ring, &letter, &message, 7, 1, &taken), INVALID, "8 B, the stride is 7 B");
    slr_ring_destroy(ring);
    desc = describe("many", (1u << 20) + 1);
    refuses(slr_ring_create(device, &desc, &ring), INVALID, "dead_letters is 1048577; expected 0 to 1048576");
    assert_string_equal(slr_dead_letter_reason_name(SLR_DEAD_LETTER_DROPPED_LOWEST), "dropped: lowest");
    assert_string_equal(slr_dead_letter_reason_name((slr_dead_letter_reason)9), "?");
    slr_device_close(device);
}

// ---- the faults ----------------------------------------------------------------------------------------------------

static const char mixed[] = "struct task { int what, by; };\n"
                            "struct tally { int runs; };\n"
                            "__ring__ void work(struct tally *tally, const struct task *task, const int *data)\n"
                            "{\n"
                            "    int result = 0;\n"
                            "    if (task->what == 1) result = 100 / task->by;\n"
                            "    if (task->what == 2) result = data[task->by];\n"
                            "    if (task->what == 3) while (task->by != 0) result += 1;\n"
                            "    tally->runs += result;\n"
                            "    ring_reply(&result);\n"
                            "}\n";

struct task {
    int what, by;
};

// The suite also runs with other devices in place of the cpu: these know no indices.
static bool is_on_cpu(const slr_device *device)
{
    slr_device_info info;
    must(slr_device_get_info(device, &info));
    return strcmp(info.backend, "cpu") == 0;
}

static slr_ring *create_mixed(slr_device *device, slr_program **program, slr_buffer **data)
{
    must(slr_program_from_text(device, "mixed.cu", mixed, NULL, program));
    must(slr_buffer_create(device, 4 * sizeof(int), data));
    slr_binding binding = {.name = "data", .buffer = *data};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = *program;
    desc.bindings = &binding;
    desc.binding_count = 1;
    desc.instances = 4;
    desc.fuel = 1000;
    desc.dead_letters = 64;
    return launch_ring(device, &desc);
}

static void end_mixed(slr_device *device, slr_ring *ring, slr_program *program, slr_buffer *data)
{
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    slr_buffer_destroy(data);
    slr_device_close(device);
}

// What message `k` of all is: each fault, and none, on each instance and from each sender.
static struct task task_of(uint32_t k)
{
    const struct task task[] = {{0, 0}, {1, 0}, {2, (int)(100 + k)}, {3, 1}};
    return task[k % 4];
}

static void check_letter(const slr_dead_letter *letter, const struct task *task, const char *spec, bool on_cpu)
{
    char place[64], index[32];
    static const char *const what[] = {NULL, "integer division by zero", "access outside a bound buffer",
                                       "out of fuel"};
    snprintf(place, sizeof place, "mixed.cu:%d: instance %u: ", 5 + task->what, letter->instance);
    snprintf(index, sizeof index, "index %d of 4 in", task->by);
    bool knows_index = on_cpu && strstr(spec, "interpreted") && task->what == 2;
    if (strncmp(letter->fault, place, strlen(place)) != 0 || !strstr(letter->fault, what[task->what]) ||
        (knows_index && !strstr(letter->fault, index)))
        fail_msg("%s: \"%s\" is not \"%s%s\"", spec, letter->fault, place, what[task->what]);
}

// All wait before the first is handled, so that they come in large batches.
static void check_letters_on(const char *spec)
{
    enum { PORTS = 3, EACH = 32 };
    slr_device *device = open_device(spec);
    slr_program *program;
    slr_buffer *data;
    slr_ring *ring = create_mixed(device, &program, &data);
    slr_port *port[PORTS];
    for (uint32_t p = 0; p < PORTS; ++p) {
        port[p] = open_port(device);
        for (uint32_t k = 0; k < EACH; ++k) {
            const struct task task = task_of(p + k);
            must(slr_send(port[p], address_of(ring, (k / 4 + p) % 4), &task, sizeof task, LONG));
        }
    }
    must(slr_ring_activate(ring, LONG));
    assert_int_equal(stats_when_pending(ring, 0).faulted, PORTS * EACH / 4 * 3);
    static slr_dead_letter letter[PORTS * EACH];
    static struct task message[PORTS * EACH];
    uint32_t taken;
    must(slr_ring_take_dead_letters(ring, letter, message, sizeof message[0], PORTS * EACH, &taken));
    assert_int_equal(taken + stats_of(ring).dead_letters_lost, PORTS * EACH / 4 * 3);
    assert_true(taken >= 64);
    for (uint32_t k = 0; k < taken; ++k)
        check_letter(&letter[k], &message[k], spec, is_on_cpu(device));
    for (uint32_t p = 0; p < PORTS; ++p)
        slr_port_close(port[p]);
    end_mixed(device, ring, program, data);
}

static void each_letter_has_its_messages_own_fault(void **state)
{
    (void)state;
    check_letters_on("cpu?engine=compiled");
    check_letters_on("cpu?engine=compiled,threads=1");
    check_letters_on("cpu?engine=interpreted");
}

static void each_letter_has_its_messages_own_fault_on_a_device(void **state)
{
    (void)state;
    static const char *const specs[] = {"opencl:0?ring=persistent", "opencl:0?ring=relaunch", "vulkan:0"};
    EACH_HERE(i, specs)
    check_letters_on(specs[i]);
}

struct reading {
    slr_ring *ring;
    bool on_cpu;
    uint32_t ends, reads, torn; // ends and reads: atomic
    char text[sizeof((slr_ring_stats *)0)->last_fault];
};

// Instance 0 divides by zero, and the others never do: whatever mixes two faults shows here.
static void *read_faults(void *user)
{
    struct reading *r = user;
    while (!__atomic_load_n(&r->ends, __ATOMIC_ACQUIRE)) {
        slr_ring_stats stats;
        must(slr_ring_get_stats(r->ring, &stats));
        const char *text = stats.last_fault;
        bool zero = strstr(text, "instance 0: integer division by zero") && strstr(text, "mixed.cu:6:");
        bool one = strstr(text, "instance 1: access outside") && strstr(text, "mixed.cu:7:") &&
                   (!r->on_cpu || strstr(text, "index 200 of 4 in"));
        bool two = strstr(text, "instance 2: access outside") && strstr(text, "mixed.cu:7:") &&
                   (!r->on_cpu || strstr(text, "index 7 of 4 in"));
        if (text[0] != '\0')
            __atomic_fetch_add(&r->reads, 1, __ATOMIC_RELAXED);
        if (text[0] == '\0' || zero || one || two)
            continue;
        r->torn++;
        memcpy(r->text, text, sizeof r->text);
    }
    return NULL;
}

static void last_fault_is_one_fault_while_others_are_noted(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?engine=interpreted,threads=1"); // which knows indices
    slr_program *program;
    slr_buffer *data;
    slr_ring *ring = create_mixed(device, &program, &data);
    must(slr_ring_activate(ring, LONG));
    slr_port *port = open_port(device);
    struct reading reading = {.ring = ring, .on_cpu = is_on_cpu(device)};
    pthread_t reader;
    assert_int_equal(pthread_create(&reader, NULL, read_faults, &reading), 0);
    const struct task task[] = {{1, 0}, {2, 200}, {2, 7}};
    for (uint32_t k = 0; k < (reading.on_cpu ? 60000u : 600u); ++k) { // a device may be simulated, and slow
        slr_reply notice;
        must(slr_send(port, address_of(ring, k % 3), &task[k % 3], sizeof task[0], LONG));
        while (slr_receive(port, &notice, NULL, 0, 0) == SLR_OK) // so that there is room for the next ones
            assert_int_equal(notice.status, SLR_HANDLER_FAULT);
    }
    stats_when_pending(ring, 0);
    for (uint32_t ms = 0; ms < 10000 && __atomic_load_n(&reading.reads, __ATOMIC_RELAXED) == 0; ++ms)
        slri_sleep_ns(1000000); // on a loaded machine the reader may not have begun
    __atomic_store_n(&reading.ends, 1, __ATOMIC_RELEASE);
    pthread_join(reader, NULL);
    assert_true(reading.reads > 0);
    if (reading.torn)
        fail_msg("%u of %u were mixed: %s", reading.torn, reading.reads, reading.text);
    slr_port_close(port);
    end_mixed(device, ring, program, data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faulted_messages_are_letters_too),
        cmocka_unit_test(undelivered_messages_are_letters_after_terminate),
        cmocka_unit_test(without_room_letters_are_counted_and_nothing_waits),
        cmocka_unit_test(wrong_calls_say_what_is_wrong),
        cmocka_unit_test(each_letter_has_its_messages_own_fault),
        cmocka_unit_test(each_letter_has_its_messages_own_fault_on_a_device),
        cmocka_unit_test(last_fault_is_one_fault_while_others_are_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
