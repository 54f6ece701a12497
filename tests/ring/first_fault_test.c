// SPDX-License-Identifier: Apache-2.0
// What is told of a fault: the buffer or array, the index and its size; and the first fault, whatever comes after it.
#include "tests/ring/ring_test.h"

#include <time.h>

static const char source[] = "#include <slipring/device.h>\n"
                             "struct task { int what, at; };\n"
                             "struct pair { float a, b; };\n"
                             "struct tally { int runs; int table[8]; int grid[4][5]; };\n"
                             "__device__ float twice(const float *from, int at) { return 2 * from[at]; }\n"
                             "__ring__ void work(struct tally *self, const struct task *in, const float *weights,\n"
                             "                   struct pair *pairs)\n"
                             "{\n"
                             "    float sum = 0;\n"
                             "    int local[3] = {1, 2, 3};\n"
                             "    if (in->what == 1) sum += self->table[in->at];\n"
                             "    if (in->what == 2) sum += self->grid[1][in->at];\n"
                             "    if (in->what == 3) sum += weights[in->at];\n"
                             "    if (in->what == 4) sum += twice(weights, in->at);\n"
                             "    if (in->what == 5) pairs[in->at].b = 1;\n"
                             "    if (in->what == 6) sum += local[in->at];\n"
                             "    if (in->what == 7) sum = 1 / in->at;\n"
                             "    ring_reply(&sum);\n"
                             "}\n";

struct task {
    int what, at;
};

static const struct told {
    struct task task;
    const char *place, *what;
} cases[] = {
    {{3, 70}, "work.cu:13:43: ", "access outside a bound buffer: index 70 of 64 in buffer 'weights'"},
    {{1, 8}, "work.cu:11:47: ", "index outside its array: index 8 of 8 in 'table'"},
    {{1, -2}, "work.cu:11:47: ", "index outside its array: index -2 of 8 in 'table'"},
    {{2, 5}, "work.cu:12:49: ", "index outside its array: index 5 of 5 in 'grid'"},
    {{3, -1}, "work.cu:13:43: ", "access outside a bound buffer: index -1 of 64 in buffer 'weights'"},
    {{4, 64}, "work.cu:5:", "access outside a bound buffer: index 64 of 64 in buffer 'weights'"},
    {{5, 1000}, "work.cu:15:", "access outside a bound buffer: index 1000 of 2 in buffer 'pairs'"},
    {{6, 3}, "work.cu:16:41: ", "index outside its array: index 3 of 3 in 'local'"},
    {{7, 0}, "work.cu:17:32: ", "integer division by zero"},
};
#define CASES (sizeof cases / sizeof *cases)

struct work {
    slr_device *device;
    slr_buffer *weights, *pairs;
    slr_ring *ring;
    slr_port *port;
};

static struct work open_work(const char *spec, slr_fault_policy policy)
{
    struct work w = {.device = open_device(spec)};
    slr_program *program;
    must(slr_program_from_text(w.device, "work.cu", source, NULL, &program));
    must(slr_buffer_create(w.device, 64 * sizeof(float), &w.weights));
    must(slr_buffer_create(w.device, 2 * 8, &w.pairs));
    slr_binding bindings[] = {{.name = "weights", .buffer = w.weights}, {.name = "pairs", .buffer = w.pairs}};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    desc.bindings = bindings;
    desc.binding_count = 2;
    desc.fault_policy = policy;
    w.ring = start_ring(w.device, &desc);
    w.port = open_port(w.device);
    slr_program_destroy(program);
    return w;
}

static void close_work(struct work *w)
{
    slr_port_close(w->port);
    slr_ring_destroy(w->ring);
    slr_buffer_destroy(w->weights);
    slr_buffer_destroy(w->pairs);
    slr_device_close(w->device);
}

static void give(struct work *w, struct task task, slr_status expected)
{
    float result;
    slr_status status = slr_call(w->port, address_of(w->ring, 0), &task, sizeof task, &result, sizeof result, LONG);
    assert_int_equal(status, expected);
}

static void says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not say \"%s\"", text, part);
}

static void fault_names_what_was_indexed_and_how_far(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu?engine=compiled", "cpu?engine=interpreted"};
    for (size_t s = 0; s < 2; ++s)
        for (size_t i = 0; i < CASES; ++i) {
            struct work w = open_work(specs[s], SLR_FAULT_GO_ON);
            give(&w, cases[i].task, SLR_HANDLER_FAULT);
            slr_ring_stats stats = stats_when_pending(w.ring, 0);
            says(stats.last_fault, cases[i].what);
            says(stats.first_fault, cases[i].what);
            says(stats.first_fault, cases[i].place);
            close_work(&w);
        }
}

static void device_that_tells_a_line_alone_names_what_is_indexed_there(void **state)
{
    (void)state;
    static const char *const specs[] = {"opencl:0?ring=persistent", "opencl:0?ring=relaunch"};
    EACH_HERE(s, specs)
    {
        struct work w = open_work(specs[s], SLR_FAULT_GO_ON);
        give(&w, (struct task){0, 0}, SLR_OK);
        give(&w, cases[0].task, SLR_HANDLER_FAULT);
        give(&w, cases[1].task, SLR_HANDLER_FAULT);
        slr_ring_stats stats = stats_when_pending(w.ring, 0);
        assert_string_equal(stats.first_fault,
                            "work.cu:13: instance 0: access outside a bound buffer: buffer 'weights'");
        assert_int_equal(stats.first_fault_message, 2);
        says(stats.last_fault, "index outside its array: 'table'");
        close_work(&w);
    }
}

static void first_fault_stays_after_thousands(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu?engine=compiled", "cpu?engine=interpreted"};
    for (size_t s = 0; s < 2; ++s) {
        struct work w = open_work(specs[s], SLR_FAULT_GO_ON);
        slr_ring_stats stats = stats_when_pending(w.ring, 0);
        assert_string_equal(stats.first_fault, "");
        for (int i = 0; i < 6; ++i)
            give(&w, (struct task){0, 0}, SLR_OK);
        give(&w, cases[0].task, SLR_HANDLER_FAULT);
        slr_ring_stats first = stats_when_pending(w.ring, 0);
        assert_string_equal(first.first_fault, "work.cu:13:43: instance 0: access outside a bound buffer: index 70 of "
                                               "64 in buffer 'weights'");
        assert_int_equal(first.first_fault_message, 7);
        assert_int_equal(first.first_fault_instance, 0);
        assert_true(first.first_fault_ns > 0 && first.first_fault_ns <= first.running_ns);
        for (int i = 0; i < 2000; ++i)
            give(&w, cases[7].task, SLR_HANDLER_FAULT);
        give(&w, cases[8].task, SLR_HANDLER_FAULT);
        stats = stats_when_pending(w.ring, 0);
        assert_int_equal(stats.faulted, 2002);
        assert_string_equal(stats.first_fault, first.first_fault);
        assert_int_equal(stats.first_fault_ns, first.first_fault_ns);
        assert_int_equal(stats.first_fault_message, 7);
        says(stats.last_fault, "integer division by zero");
        close_work(&w);
    }
}

static void first_fault_stays_over_restarts(void **state)
{
    (void)state;
    struct work w = open_work("cpu", SLR_FAULT_FAIL);
    char first[sizeof(((slr_ring_stats *)0)->first_fault)] = "";
    for (int i = 0; i < 20; ++i) {
        const struct task *task = &cases[i % (int)CASES].task;
        must(slr_send(w.port, address_of(w.ring, 0), task, sizeof *task, LONG));
        must(slr_ring_wait(w.ring, SLR_RING_IN_FAILURE, LONG));
        slr_ring_stats stats = stats_when_pending(w.ring, 0);
        if (i == 0)
            snprintf(first, sizeof first, "%s", stats.first_fault);
        assert_string_equal(stats.first_fault, first);
        must(slr_ring_restart(w.ring, SLR_RESTART_INITIAL, LONG));
    }
    says(first, "index 70 of 64 in buffer 'weights'");
    assert_int_equal(stats_when_pending(w.ring, 0).restarts, 20);
    close_work(&w);
}

static void last_fault_is_the_latest_of_all_shards(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=2");
    slr_program *program;
    must(slr_program_from_text(device, "d.cu",
                               "struct in { int by; };\n"
                               "__ring__ void d(const struct in *in) { int x = 1 / in->by; ring_reply(&x); }\n",
                               NULL, &program));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    desc.instances = 2; // a shard each
    slr_ring *ring = start_ring(device, &desc);
    slr_port *port = open_port(device);
    int zero = 0, result;
    for (uint32_t i = 0; i < 6; ++i) {
        char who[32];
        snprintf(who, sizeof who, "instance %u: ", i % 2);
        gives(slr_call(port, address_of(ring, i % 2), &zero, sizeof zero, &result, sizeof result, LONG), HANDLER_FAULT);
        says(stats_when_pending(ring, 0).last_fault, who);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); // longer than a unit of their times
    }
    assert_int_equal(stats_when_pending(ring, 0).first_fault_instance, 0);
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault_names_what_was_indexed_and_how_far),
        cmocka_unit_test(device_that_tells_a_line_alone_names_what_is_indexed_there),
        cmocka_unit_test(first_fault_stays_after_thousands),
        cmocka_unit_test(first_fault_stays_over_restarts),
        cmocka_unit_test(last_fault_is_the_latest_of_all_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
