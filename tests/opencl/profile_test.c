// SPDX-License-Identifier: Apache-2.0
// The profiler on ring kernels of an OpenCL device, persistent and relaunched: all messages in batch rows, time in
// handlers, and latencies where the device has the host's clock. SLIPRING_TEST_RING_DEVICE names another device.
#include "tests/opencl/staying.h"

#include "base/clock.h"

#include <unistd.h>

enum { MESSAGES = 300 };

static const char source[] = "struct m { unsigned value; };\n"
                             "struct s { unsigned sum; };\n"
                             "__ring__ void add(struct s *self, const struct m *in)\n"
                             "{\n"
                             "    self->sum += in->value;\n"
                             "    ring_reply(self);\n"
                             "}\n";

static slr_profile_row row_of(uint32_t kind, const char *name)
{
    slr_profile_row rows[64];
    uint32_t count;
    must(slr_profile_read(rows, 64, &count));
    for (uint32_t i = 0; i < count && i < 64; ++i)
        if (rows[i].kind == kind && strcmp(rows[i].name, name) == 0)
            return rows[i];
    return (slr_profile_row){0};
}

// Calls one after the other; how long all took.
static uint64_t call_all(slr_address to)
{
    uint64_t all_ns = 0;
    for (uint32_t i = 0; i < MESSAGES; ++i) {
        uint32_t one = 1, sum;
        uint64_t begin_ns = slri_now_ns();
        must(slr_call(NULL, to, &one, sizeof one, &sum, sizeof sum, LONG));
        all_ns += slri_now_ns() - begin_ns;
        assert_int_equal(sum % MESSAGES, (i + 1) % MESSAGES);
    }
    return all_ns;
}

struct rig {
    slr_device *device;
    slr_program *program;
    slr_ring *ring;
    slr_address to;
};

static struct rig set_up(slr_device *device)
{
    struct rig rig = {.device = device};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    must(slr_program_from_text(device, "add.cu", source, NULL, &rig.program));
    desc.program = rig.program;
    desc.latency_every = 1;
    must(slr_ring_create(device, &desc, &rig.ring));
    must(slr_ring_launch(rig.ring));
    must(slr_ring_activate(rig.ring, LONG));
    must(slr_ring_get_address(rig.ring, 0, &rig.to));
    return rig;
}

static void finish(struct rig *rig)
{
    must(slr_ring_close_input(rig->ring));
    must(slr_ring_wait(rig->ring, SLR_RING_TERMINATED, LONG));
}

static void tear_down(struct rig *rig)
{
    slr_ring_destroy(rig->ring);
    slr_program_destroy(rig->program);
    slr_device_close(rig->device);
}

// After all calls, `calls` of them in `all_ns`, when the ring kernel has ended. A batch that found no room among the
// records held one message, as each call waited for its reply.
static void check_rows(const struct rig *rig, const char *owner, uint64_t calls, uint64_t all_ns)
{
    slr_profile_row batches = row_of(SLR_PROFILE_BATCH, "add"), group = row_of(SLR_PROFILE_OWNER, owner);
    slr_ring_stats stats = stats_of(rig->ring);
    assert_true(batches.messages != 0);
    assert_int_equal(batches.messages + stats.records_dropped, calls);
    assert_int_equal(row_of(SLR_PROFILE_MISSING, "add").n, stats.records_dropped);
    assert_int_equal(batches.counted, SLR_COUNTED_EXACT);
    assert_in_range(batches.total_ns, 1, all_ns); // each handler within its call
    assert_int_equal(group.messages, batches.messages);
    assert_int_equal(row_of(SLR_PROFILE_REPLY, "add").n, calls);
}

static void dispatches_count_the_time_in_their_handlers_and_their_own(void **state)
{
    (void)state;
    slr_device *device;
    if (SANITIZED || !is_here("opencl:0"))
        skip();
    must(slr_device_open("opencl:0?ring=relaunch", NULL, &device));
    struct rig rig = set_up(device);
    slr_profile_clear();
    must(slr_profile_start());
    uint64_t all_ns = call_all(rig.to);
    finish(&rig);
    slr_profile_stop();
    check_rows(&rig, "dispatches", MESSAGES, all_ns);
    slr_device_info info;
    must(slr_device_get_info(device, &info));
    if (strstr(info.features, "device_clock")) // this handler takes far less than a dispatch
        assert_in_range(row_of(SLR_PROFILE_BATCH, "add").total_ns, 1,
                        row_of(SLR_PROFILE_OWNER, "dispatches").total_ns / 2);
    tear_down(&rig);
}

// ---- the parts of a dispatch ---------------------------------------------------------------------------------------

enum { INSTANCES = 32, ROUNDS = 20, MOST_SLICES = 4096 };

static uint64_t ns_behind(const char *line, const char *member)
{
    const char *at = strstr(line, member);
    return at ? (uint64_t)(strtod(at + strlen(member), NULL) * 1000 + 0.5) : 0;
}

static int by_begin(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

// The time in which at least one slice of a batch is open. `sum`: of all of them.
static uint64_t busy_ns(const char *path, uint64_t *sum, uint32_t *slices)
{
    static uint64_t slice[MOST_SLICES][2]; // begin, duration
    static char line[4096];
    uint64_t busy = 0, seen = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (*sum = *slices = 0; fgets(line, sizeof line, file);) {
        if (!strstr(line, "\"cat\":\"batch\""))
            continue;
        assert_true(*slices < MOST_SLICES);
        slice[*slices][0] = ns_behind(line, "\"ts\":");
        slice[*slices][1] = ns_behind(line, "\"dur\":");
        *sum += slice[(*slices)++][1];
    }
    fclose(file);
    qsort(slice, *slices, sizeof *slice, by_begin);
    for (uint32_t i = 0; i < *slices; ++i) {
        uint64_t from = slice[i][0] > seen ? slice[i][0] : seen, to = slice[i][0] + slice[i][1];
        busy += to > from ? to - from : 0;
        seen = to > seen ? to : seen;
    }
    return busy;
}

// A dispatch has messages of many shards, and the trace a slice of each: the device is busy as long as the dispatch is.
static void the_parts_of_a_dispatch_together_are_as_long_as_it(void **state)
{
    (void)state;
    if (SANITIZED || !is_here("opencl:0"))
        skip();
    slr_device *device;
    slr_port *port;
    slr_address to[INSTANCES];
    char path[] = "/tmp/slipring-parts-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    must(slr_device_open("opencl:0?ring=relaunch", NULL, &device));
    struct rig rig = {.device = device};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    must(slr_program_from_text(device, "add.cu", source, NULL, &rig.program));
    desc.program = rig.program;
    desc.instances = INSTANCES;
    must(slr_ring_create(device, &desc, &rig.ring));
    must(slr_ring_launch(rig.ring));
    for (uint32_t i = 0; i < INSTANCES; ++i)
        must(slr_ring_get_address(rig.ring, i, &to[i]));
    must(slr_port_open(device, &port));
    slr_profile_clear();
    must(slr_profile_start());
    must(slr_trace_start(path, NULL));
    for (uint32_t round = 0; round < ROUNDS; ++round) { // all are there before the first is handled
        uint32_t one = 1, sum;
        slr_reply reply;
        for (uint32_t i = 0; i < INSTANCES; ++i)
            must(slr_send(port, to[i], &one, sizeof one, LONG));
        if (round == 0)
            must(slr_ring_activate(rig.ring, LONG));
        for (uint32_t i = 0; i < INSTANCES; ++i)
            must(slr_receive(port, &reply, &sum, sizeof sum, LONG));
    }
    slr_port_close(port);
    finish(&rig);
    slr_profile_stop();
    must(slr_trace_stop(NULL));
    uint64_t sum_ns;
    uint32_t slices;
    uint64_t all_ns = busy_ns(path, &sum_ns, &slices), owner_ns = row_of(SLR_PROFILE_OWNER, "dispatches").total_ns;
    unlink(path);
    assert_in_range(slices, 2 * ROUNDS, INSTANCES * ROUNDS);       // dispatches had several parts
    assert_in_range(sum_ns, owner_ns - slices, owner_ns + slices); // the file's times are rounded
    assert_in_range(all_ns, owner_ns - slices * 2, owner_ns + slices * 2);
    tear_down(&rig);
}

static void persistent_groups_count_it_by_the_devices_clock(void **state)
{
    (void)state;
    slr_latency latency;
    slr_device_info info;
    const char *instead = getenv("SLIPRING_TEST_RING_DEVICE"), *spec = instead ? instead : "opencl:0?ring=persistent";
    if ((SANITIZED && !instead) || !is_here(spec))
        skip();
    slr_device *device = open_where_kernels_stay(spec);
    if (!device)
        skip();
    must(slr_device_get_info(device, &info));
    slr_profile_clear();
    must(slr_profile_start());
    struct rig rig = set_up(device);
    uint64_t calls = 0, all_ns = 0;
    do { // until the host knows how the device's clock goes
        all_ns += call_all(rig.to);
        calls += MESSAGES;
        must(slr_ring_get_latency(rig.ring, &latency));
    } while (latency.count == 0 && latency.every != 0 && calls < 1000000);
    finish(&rig);
    slr_profile_stop();
    bool has_clock = strstr(info.features, "device_clock") != NULL;
    assert_int_equal(latency.every, has_clock ? 1 : 0);
    must(slr_ring_get_latency(rig.ring, &latency));
    if (has_clock) {
        check_rows(&rig, "group 0", calls, all_ns);
        assert_in_range(latency.count, 1, calls);
        assert_true(latency.mean_ns <= all_ns + latency.off_ns);
        slr_profile_row messages = row_of(SLR_PROFILE_MESSAGE, "add"); // the same times
        assert_int_equal(messages.n, latency.count);
        assert_int_equal(messages.mean_ns, latency.mean_ns);
        assert_int_equal(messages.min_ns, latency.min_ns);
        assert_int_equal(messages.max_ns, latency.max_ns);
        assert_int_equal(messages.p50_ns, latency.p50_ns);
        assert_int_equal(messages.p99_ns, latency.p99_ns);
    } else {
        assert_int_equal(row_of(SLR_PROFILE_BATCH, "add").n, 0);
        assert_int_equal(row_of(SLR_PROFILE_MESSAGE, "add").n, 0);
        assert_int_equal(row_of(SLR_PROFILE_UNTIMED, "add").n, calls);
    }
    tear_down(&rig);
}

// A driver such as PoCL compiles for a shape of block when it is first enqueued, also behind slr_kernel_prepare.
static void drivers_compiling_at_a_first_launch_is_no_kernel_time(void **state)
{
    (void)state;
    if (SANITIZED || getenv("SLIPRING_TEST_RING_DEVICE") || !is_here("opencl:0"))
        skip();
    char text[256];
    slr_device *device = open_device("opencl:0");
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *buffer;
    // One that no cache of the driver's has.
    snprintf(text, sizeof text,
             "__global__ void first(float *x) {\n"
             "    float a = x[threadIdx.x] + %lluu;\n"
             "    for (int i = 0; i < 9; i++) a = sinf(a) * cosf(a);\n"
             "    x[threadIdx.x] = a;\n"
             "}\n",
             (unsigned long long)(slri_now_ns() % 1000000007u));
    must(slr_profile_start());
    must(slr_program_from_text(device, "first.cu", text, NULL, &program));
    must(slr_program_get_kernel(program, "first", &kernel));
    must(slr_buffer_create(device, 4096, &buffer));
    must(slr_stream_create(device, NULL, &stream));
    must(slr_kernel_prepare(kernel, SLR_GRID(1, 32, 0)));
    uint64_t begin_ns = slri_now_ns();
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 32, 0), buffer));
    must(slr_stream_finish(stream, LONG));
    uint64_t whole_ns = slri_now_ns() - begin_ns;
    slr_profile_row row = row_of(SLR_PROFILE_KERNEL, "first");
    slr_profile_stop();
    assert_int_equal(row.n, 1);
    if (whole_ns > 20 * MS && row.total_ns > whole_ns / 2)
        fail_msg("of %.3f ms, %.3f are said to be the kernel's", (double)whole_ns / 1e6, (double)row.total_ns / 1e6);
    slr_stream_destroy(stream);
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drivers_compiling_at_a_first_launch_is_no_kernel_time),
        cmocka_unit_test(dispatches_count_the_time_in_their_handlers_and_their_own),
        cmocka_unit_test(the_parts_of_a_dispatch_together_are_as_long_as_it),
        cmocka_unit_test(persistent_groups_count_it_by_the_devices_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
