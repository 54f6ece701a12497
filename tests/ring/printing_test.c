// SPDX-License-Identifier: Apache-2.0
// printf in handlers: told by a thread of the ring kernel's own, in order for each instance, counted, and never waited
// for.
#include "base/thread.h"
#include "tests/ring/ring_test.h"

#include <stdlib.h>
#include <time.h>

static const char source[] = "#include <slipring/device.h>\n"
                             "struct in { int a; };\n"
                             "struct sum { long long value; };\n"
                             "__device__ void say(int n, double half) { printf(\"%d halves to %g\\n\", n, half); }\n"
                             "__ring__ void one(struct sum *self, const struct in *in)\n"
                             "{\n"
                             "    self->value += in->a;\n"
                             "    printf(\"%d: %lld\\n\", in->a, self->value);\n"
                             "    if (in->a < 0) { printf(\"before\"); self->value = 1 / (in->a + 1); }\n"
                             "    if (in->a == 8) say(in->a, 0.5 * in->a);\n"
                             "    ring_reply(self);\n"
                             "}\n"
                             "__ring__ void flood(const struct in *in)\n"
                             "{\n"
                             "    for (int i = 0; i < in->a; i++) printf(\"%d\\n\", i);\n"
                             "    ring_reply(in);\n"
                             "}\n"
                             "__ring_block__ void __launch_bounds__(4) block(const struct in *in)\n"
                             "{\n"
                             "    int t = threadIdx.x;\n"
                             "    if (t != 2) printf(\"%d of %d\\n\", t, in->a);\n"
                             "    if (t == 0) ring_reply(in);\n"
                             "}\n"
                             "__ring__ void endless(const struct in *in)\n"
                             "{\n"
                             "    printf(\"begins\\n\");\n"
                             "    for (int i = 0; in->a >= 0; i++) if (i == 1999999973) printf(\"%d\\n\", i);\n"
                             "    printf(\"left\\n\");\n"
                             "    ring_reply(in);\n"
                             "}\n"
                             "__global__ void kernel(int *out) { out[threadIdx.x] = 5; }\n";

struct heard {
    slri_mutex lock;
    char text[4096]; // each with its instance in front
    uint64_t calls, lost;
    uint32_t last_thread;
    int late, next[4]; // of the test of order, whose numbers begin at 10
    uint32_t is_slow;  // atomic
    char ring[64], kernel[64];
};

static void hear(void *user, const slr_print *print)
{
    struct heard *heard = user;
    slri_mutex_lock(&heard->lock);
    heard->calls++;
    heard->lost += print->lost;
    heard->last_thread = print->thread;
    snprintf(heard->ring, sizeof heard->ring, "%s", print->ring);
    snprintf(heard->kernel, sizeof heard->kernel, "%s", print->kernel);
    size_t length = strlen(heard->text);
    if (!print->lost && length + print->bytes + 8 < sizeof heard->text)
        snprintf(heard->text + length, sizeof heard->text - length, "%u> %s", print->instance, print->text);
    if (!print->lost && print->instance < 4)
        heard->late += atoi(print->text) != 10 + heard->next[print->instance]++;
    slri_mutex_unlock(&heard->lock);
    if (__atomic_load_n(&heard->is_slow, __ATOMIC_RELAXED))
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

struct world {
    struct heard heard;
    slr_device *device;
    slr_program *program;
    slr_ring *ring;
    slr_port *port;
    size_t reply_bytes;
};

static void begin(struct world *w, const char *spec, const char *handler, uint32_t instances, bool is_heard)
{
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    slr_ring_desc ring = SLR_RING_DESC_INIT;
    memset(w, 0, sizeof *w);
    slri_mutex_init(&w->heard.lock);
    desc.on_print = is_heard ? hear : NULL;
    desc.print_user = &w->heard;
    must(slr_device_open(spec, &desc, &w->device));
    must(slr_program_from_text(w->device, "p.cu", source, NULL, &w->program));
    ring.program = w->program;
    ring.handler = handler;
    ring.instances = instances;
    w->ring = start_ring(w->device, &ring);
    w->port = open_port(w->device);
    w->reply_bytes = strcmp(handler, "one") == 0 ? 8 : 4;
}

static void end(struct world *w)
{
    slr_port_close(w->port);
    slr_ring_destroy(w->ring);
    slr_program_destroy(w->program);
    slr_device_close(w->device);
}

static slr_status give(struct world *w, uint32_t instance, int a)
{
    uint64_t result[2];
    return slr_call(w->port, address_of(w->ring, instance), &a, sizeof a, result, w->reply_bytes, LONG);
}

static const char *const specs[] = {"cpu?engine=compiled", "cpu?engine=interpreted"};

static void handler_prints_and_terminate_has_told_all_of_it(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2; ++s) {
        struct world w;
        begin(&w, specs[s], "one", 2, true);
        must(give(&w, 0, 3));
        must(give(&w, 0, 4));
        assert_int_equal(give(&w, 0, -1), SLR_HANDLER_FAULT); // what it printed before the fault is told, too
        must(give(&w, 0, 8));
        slr_ring_stats stats;
        must(slr_ring_terminate(w.ring, LONG, NULL, NULL, &stats));
        assert_string_equal(w.heard.text, "0> 3: 3\n0> 4: 7\n0> -1: 6\n0> before0> 8: 8\n0> 8 halves to 4\n");
        assert_int_equal(stats.printed, 6);
        assert_int_equal(stats.prints_lost, 0);
        assert_string_equal(w.heard.ring, "one");
        assert_string_equal(w.heard.kernel, "one");
        end(&w);
    }
}

static void instance_is_heard_in_order_and_is_named(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2; ++s) {
        struct world w;
        begin(&w, specs[s], "one", 4, true);
        for (int i = 0; i < 2000; ++i)
            must(give(&w, (uint32_t)i % 4, 10 + i / 4));
        must(slr_ring_terminate(w.ring, LONG, NULL, NULL, NULL));
        assert_int_equal(w.heard.calls, 2000);
        assert_int_equal(w.heard.late, 0);
        end(&w);
    }
}

static void what_finds_no_room_is_counted_and_the_handler_goes_on(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2; ++s) {
        struct world w;
        begin(&w, specs[s], "flood", 1, true);
        __atomic_store_n(&w.heard.is_slow, 1, __ATOMIC_RELAXED); // 5,000 a second at most
        must(give(&w, 0, 100000));                               // of 3 words; there is room for 43,690
        slr_ring_stats stats;
        __atomic_store_n(&w.heard.is_slow, 0, __ATOMIC_RELAXED);
        must(slr_ring_terminate(w.ring, LONG, NULL, NULL, &stats));
        assert_int_equal(stats.printed + stats.prints_lost, 100000);
        assert_true(stats.printed >= 43690 && stats.prints_lost > 0);
        assert_int_equal(w.heard.lost, stats.prints_lost);
        end(&w);
    }
}

static void block_names_its_threads(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2; ++s) {
        struct world w;
        begin(&w, specs[s], "block", 1, true);
        must(give(&w, 0, 7));
        must(slr_ring_terminate(w.ring, LONG, NULL, NULL, NULL));
        assert_string_equal(w.heard.text, "0> 0 of 7\n0> 1 of 7\n0> 3 of 7\n");
        assert_int_equal(w.heard.last_thread, 3);
        end(&w);
    }
}

static void what_nobody_hears_costs_no_thread_and_is_lost_silently(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2; ++s) {
        struct world w;
        begin(&w, specs[s], "one", 1, false);
        must(give(&w, 0, 3));
        slr_ring_stats stats;
        must(slr_ring_terminate(w.ring, LONG, NULL, NULL, &stats));
        assert_int_equal(stats.printed + stats.prints_lost, 0);
        end(&w);
    }
}

static void handler_that_is_abandoned_has_told_how_far_it_came(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2; ++s) {
        struct world w;
        slr_device_desc desc = SLR_DEVICE_DESC_INIT;
        slr_ring_desc ring = SLR_RING_DESC_INIT;
        memset(&w, 0, sizeof w);
        slri_mutex_init(&w.heard.lock);
        desc.on_print = hear;
        desc.print_user = &w.heard;
        must(slr_device_open(specs[s], &desc, &w.device));
        must(slr_program_from_text(w.device, "p.cu", source, NULL, &w.program));
        ring.program = w.program;
        ring.handler = "endless";
        ring.handler_timeout_ns = 200000000;
        ring.fuel = s == 0 ? 3000000000 : 100000000; // more than a second
        w.ring = start_ring(w.device, &ring);
        w.port = open_port(w.device);
        int a = 1;
        must(slr_send(w.port, address_of(w.ring, 0), &a, sizeof a, LONG));
        must(slr_ring_wait(w.ring, SLR_RING_IN_FAILURE, LONG));
        must(slr_ring_restart(w.ring, SLR_RESTART_INITIAL, LONG));
        a = -1;
        must(slr_send(w.port, address_of(w.ring, 0), &a, sizeof a, LONG));
        slr_ring_stats stats = stats_when_pending(w.ring, 0);
        must(slr_ring_terminate(w.ring, LONG, NULL, NULL, &stats));
        slri_mutex_lock(&w.heard.lock);
        assert_non_null(strstr(w.heard.text, "0> begins\n0> begins\n0> left\n"));
        slri_mutex_unlock(&w.heard.lock);
        end(&w);
    }
}

static void device_whose_handlers_cannot_print_says_so_and_runs_the_rest_of_the_file(void **state)
{
    (void)state;
    static const char *const device_specs[] = {"opencl:0?ring=persistent", "opencl:0?ring=relaunch"};
    EACH_HERE(i, device_specs)
    {
        slr_device *device = open_device(device_specs[i]);
        slr_program *program;
        slr_kernel *kernel;
        slr_stream *stream;
        slr_buffer *out;
        slr_ring *made;
        slr_ring_desc ring = SLR_RING_DESC_INIT;
        must(slr_program_from_text(device, "p.cu", source, NULL, &program));
        ring.program = program;
        ring.handler = "one";
        refuses(slr_ring_create(device, &ring, &made), UNSUPPORTED, "its handler calls printf, which device");
        must(slr_buffer_create(device, 4 * sizeof(int), &out));
        must(slr_program_get_kernel(program, "kernel", &kernel));
        must(slr_stream_default(device, &stream));
        must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 4, 0), out));
        must(slr_stream_finish(stream, LONG));
        slr_kernel_destroy(kernel);
        slr_program_destroy(program);
        slr_buffer_destroy(out);
        slr_device_close(device);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handler_prints_and_terminate_has_told_all_of_it),
        cmocka_unit_test(instance_is_heard_in_order_and_is_named),
        cmocka_unit_test(what_finds_no_room_is_counted_and_the_handler_goes_on),
        cmocka_unit_test(block_names_its_threads),
        cmocka_unit_test(what_nobody_hears_costs_no_thread_and_is_lost_silently),
        cmocka_unit_test(handler_that_is_abandoned_has_told_how_far_it_came),
        cmocka_unit_test(device_whose_handlers_cannot_print_says_so_and_runs_the_rest_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
