// SPDX-License-Identifier: Apache-2.0
// The trace: what is in the file, what is not and said to be missing, and what a process that is killed leaves.
// With an argument: so many events in the long test (CI: 20,000).
#include "observe/observe_test.h"

#include "base/thread.h"
#include "observe/events.h"
#include "observe/names.h"
#include "observe/observe.h"

#include <signal.h>
#include <sys/wait.h>

#define DEVICE "cpu?engine=interpreted&threads=2&unified=0" // as slipring writes it

static uint64_t most_events = 20000;

static void start(const char *path, uint32_t room)
{
    slr_trace_desc desc = SLR_TRACE_DESC_INIT;
    desc.events_per_thread = room;
    must(slr_trace_start(path, &desc));
}

static slr_trace_stats stop(void)
{
    slr_trace_stats stats;
    must(slr_trace_stop(&stats));
    return stats;
}

// As long as it says, in ticks of the clock.
static void add(const char *name, uint64_t begin, uint64_t ticks)
{
    struct slri_row *row = slri_row(SLR_PROFILE_REGION, slri_name(name), 0, 0);
    slri_observe_slice(row, 0, slri_tick_line.tick + begin, slri_tick_line.tick + begin + ticks, 0);
}

// The first and the last line, and whether each is whole.
static void read_lines(const char *path, char first[256], char last[256])
{
    char line[4096];
    FILE *file = fopen(path, "r");
    holds(file);
    *first = *last = '\0';
    while (fgets(line, sizeof line, file)) {
        holds(line[strlen(line) - 1] == '\n');
        if (*first == '\0')
            snprintf(first, 256, "%.255s", line);
        else if (line[0] == '{')
            holds(strcmp(line + strlen(line) - 3, "},\n") == 0 || strcmp(line + strlen(line) - 2, "}\n") == 0);
        snprintf(last, 256, "%.255s", line);
    }
    fclose(file);
}

static bool ends_with_a_line(const char *path)
{
    FILE *file = fopen(path, "r");
    bool is = file && fseek(file, -1, SEEK_END) == 0 && fgetc(file) == '\n';
    if (file)
        fclose(file);
    return is;
}

// ---- first, while this process has one thread ----------------------------------------------------------------------

static void a_process_that_is_killed_leaves_what_it_had(void **state)
{
    (void)state;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        if (slr_trace_start(file_in_folder("killed.json"), NULL) != SLR_OK)
            _exit(1);
        for (uint64_t i = 0; i < 1000; ++i)
            add("before", i, 1);
        // No more: a kill in the midst of a write, which the kernel ends between two pages, would cut a line.
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    uint64_t deadline = slri_deadline_after(LONG);
    while (!(sum_of(file_in_folder("killed.json"), "region", "before").n == 1000 &&
             ends_with_a_line(file_in_folder("killed.json"))) &&
           !slri_passed(deadline))
        slri_sleep_ns(MS);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    char first[256], last[256];
    read_lines(file_in_folder("killed.json"), first, last);
    assert_string_equal(first, "[\n");
    assert_int_equal(sum_of(file_in_folder("killed.json"), "region", "before").n, 1000);
}

static void the_environment_begins_one_and_exit_ends_it(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        char path[160];
        slr_device *device;
        snprintf(path, sizeof path, "%s/env-%%p.json", folder);
        setenv("SLIPRING_TRACE", path, 1);
        snprintf(path, sizeof path, "%s/env-rows.json", folder);
        setenv("SLIPRING_PROFILE", path, 1);
        if (slr_device_open("null", NULL, &device) != SLR_OK)
            _exit(1);
        slr_region_begin("in the child");
        slr_region_end();
        exit(0); // without closing
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    char name[64], first[256], last[256];
    snprintf(name, sizeof name, "env-%d.json", (int)child);
    read_lines(file_in_folder(name), first, last);
    assert_string_equal(last, "]\n");
    assert_int_equal(sum_of(file_in_folder(name), "region", "in the child").n, 1);
    FILE *rows = fopen(file_in_folder("env-rows.json"), "r");
    assert_non_null(rows);
    fclose(rows);
}

// The device is full only when something is written to it.
static void what_does_not_fit_on_the_disk_is_said_at_exit(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    pid_t child = fork();
    if (child == 0) {
        slr_device *device;
        setenv("SLIPRING_TRACE", "/dev/full", 1);
        if (!freopen(file_in_folder("said"), "w", stderr) || slr_device_open("null", NULL, &device) != SLR_OK)
            _exit(1);
        exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    char first[256], last[256];
    read_lines(file_in_folder("said"), first, last);
    assert_string_equal(last, "slipring: the trace could not be written completely: is the disk full?\n");
}

static void a_file_that_cannot_be_written_keeps_the_device_closed(void **state)
{
    (void)state;
    slr_device *device;
    setenv("SLIPRING_TRACE", "/nowhere/at/all.json", 1);
    refuses(slr_device_open("null", NULL, &device), INVALID,
            "SLIPRING_TRACE: the trace cannot be written to "
            "'/nowhere/at/all.json'");
    unsetenv("SLIPRING_TRACE");
}

// ---- what is in it -------------------------------------------------------------------------------------------------

static void slices_add_up_to_the_profilers_sums(void **state)
{
    (void)state;
    slr_device *device;
    slr_stream *stream[2];
    slr_buffer *buffer[2];
    slr_program *program;
    slr_kernel *kernel;
    static char bytes[4096];
    slr_profile_clear();
    must(slr_profile_start());
    start(file_in_folder("sums.json"), 0);
    must(slr_device_open(DEVICE, NULL, &device));
    must(slr_program_from_text(device, "k.cu", "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n", NULL,
                               &program));
    must(slr_program_get_kernel(program, NULL, &kernel));
    for (int i = 0; i < 2; ++i) {
        must(slr_stream_create(device, NULL, &stream[i]));
        must(slr_buffer_create(device, sizeof bytes, &buffer[i]));
    }
    for (int i = 0; i < 100; ++i) {
        must(slr_stream_write(stream[i % 2], buffer[i % 2], 0, bytes, sizeof bytes, NULL));
        must(SLR_LAUNCH(stream[i % 2], kernel, SLR_GRID(2, 32, 0), buffer[i % 2]));
        slr_region_begin("read");
        must(slr_buffer_read(buffer[i % 2], 0, bytes, sizeof bytes));
        slr_region_end();
    }
    must(slr_device_finish(device, LONG));
    slr_profile_stop();
    slr_trace_stats stats = stop();
    assert_int_equal(stats.dropped, 0);

    slr_profile_row rows[64];
    uint32_t count;
    uint64_t n = 0;
    must(slr_profile_read(rows, 64, &count));
    for (uint32_t i = 0; i < count; ++i) {
        if (rows[i].kind == SLR_PROFILE_MEMORY || rows[i].kind == SLR_PROFILE_CALLER) // no time; no events of its own
            continue;
        struct sum sum = sum_of(file_in_folder("sums.json"), slr_profile_kind_name(rows[i].kind), rows[i].name);
        assert_int_equal(sum.n, rows[i].n);
        assert_int_equal(sum.ns, rows[i].total_ns);
        n += sum.n;
    }
    assert_true(n >= 100 + 100 + 100 + 100);
    assert_int_equal(row_of(SLR_PROFILE_KERNEL, "twice").n, 100);
    for (int i = 0; i < 2; ++i) {
        slr_buffer_destroy(buffer[i]);
        slr_stream_destroy(stream[i]);
    }
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_device_close(device);
}

static void tracks_are_named_before_their_first_event(void **state)
{
    (void)state;
    slr_device *device;
    slr_stream *stream;
    slr_buffer *buffer;
    start(file_in_folder("tracks.json"), 0);
    must(slr_device_open(DEVICE, NULL, &device));
    must(slr_stream_create(device, NULL, &stream));
    must(slr_buffer_create(device, 64, &buffer));
    must(slr_stream_fill(stream, buffer, 0, 64, "x", 1, NULL));
    must(slr_stream_finish(stream, LONG));
    stop();
    char line[1024];
    unsigned long long named = 0, used = 0;
    FILE *file = fopen(file_in_folder("tracks.json"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (strstr(line, "thread_name") && strstr(line, "(" DEVICE ")"))
            named = strtoull(strstr(line, "\"tid\":") + 6, NULL, 10);
        if (strstr(line, "\"cat\":\"fill\"") && named != 0)
            used = strtoull(strstr(line, "\"tid\":") + 6, NULL, 10);
    }
    fclose(file);
    assert_true(named != 0);
    assert_int_equal(used, named);
    slr_buffer_destroy(buffer);
    slr_stream_destroy(stream);
    slr_device_close(device);
}

static slr_status echo(void *user, const slr_delivery *delivery)
{
    (void)user, (void)delivery;
    return SLR_OK;
}

static void ring_kernels_have_spans_and_a_depth_and_heaps_their_bytes(void **state)
{
    (void)state;
    slr_device *device;
    slr_buffer *buffer;
    slr_ring *ring;
    slr_address to;
    uint32_t word = 7;
    slr_profile_clear();
    must(slr_profile_start());
    start(file_in_folder("ring.json"), 0);
    must(slr_device_open(DEVICE, NULL, &device));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "echo";
    desc.on_message = echo;
    desc.message_bytes = sizeof word;
    desc.queue_size = 8;
    desc.latency_every = 1;
    must(slr_ring_create(device, &desc, &ring));
    must(slr_ring_launch(ring));
    must(slr_ring_get_address(ring, 0, &to));
    for (int i = 0; i < 8; ++i)
        must(slr_send(NULL, to, &word, sizeof word, LONG));
    refuses(slr_send(NULL, to, &word, sizeof word, 0), FULL, "full"); // not activated yet
    must(slr_ring_activate(ring, LONG));
    for (int i = 0; i < 92; ++i)
        must(slr_send(NULL, to, &word, sizeof word, LONG));
    must(slr_buffer_create(device, 6400, &buffer));
    must(slr_ring_close_input(ring));
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    slr_ring_destroy(ring);
    slr_buffer_destroy(buffer);
    slr_device_close(device);
    slr_profile_stop();
    stop();
    struct count {
        const char *what;
        int n;
    } counts[] = {{"\"ph\":\"b\"", 0},
                  {"\"ph\":\"e\"", 0},
                  {"\"depth: echo\"", 0},
                  {"live bytes: buffers of " DEVICE "\",\"args\":{\"value\":6400}", 0},
                  {"\"name\":\"taken\",\"args\":{\"bytes\":6400,\"at\":\"", 0}};
    char line[1024];
    FILE *file = fopen(file_in_folder("ring.json"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        for (size_t i = 0; i < 5; ++i)
            counts[i].n += strstr(line, counts[i].what) != NULL;
    fclose(file);
    assert_int_equal(counts[0].n, 100);
    assert_int_equal(counts[1].n, 100);
    assert_int_equal(counts[2].n, 100);
    assert_int_equal(counts[3].n, 1);
    assert_int_equal(counts[4].n, 1);
    assert_int_equal(row_of(SLR_PROFILE_MESSAGE, "echo").n, 100);
    assert_true(row_of(SLR_PROFILE_FULL, "echo").n >= 1);
}

static void what_finds_no_room_is_counted_in_the_file(void **state)
{
    (void)state;
    slri_row(SLR_PROFILE_REGION, slri_name("burst"), 0, 0);
    start(file_in_folder("burst.json"), 1024);
    for (uint64_t i = 0; i < 50000; ++i)
        add("burst", i, 1);
    slr_trace_stats stats = stop();
    assert_true(stats.dropped > 0);
    assert_int_equal(stats.events + stats.dropped, 50000);
    assert_int_equal(sum_of(file_in_folder("burst.json"), "region", "burst").n, stats.events);
    char first[256], last[256], line[256], wanted[96];
    read_lines(file_in_folder("burst.json"), first, last);
    snprintf(wanted, sizeof wanted, "{\"events\":%llu,\"dropped\":%llu,", (unsigned long long)stats.events,
             (unsigned long long)stats.dropped);
    bool said = false;
    FILE *file = fopen(file_in_folder("burst.json"), "r");
    while (fgets(line, sizeof line, file))
        said = said || strstr(line, wanted);
    fclose(file);
    assert_true(said);

    start(file_in_folder("after.json"), 1024); // does not begin with what was left
    add("after", 1, 1);
    stats = stop();
    assert_int_equal(stats.events, 1);
    assert_int_equal(stats.dropped, 0);
}

// ---- threads -------------------------------------------------------------------------------------------------------

static void add_thousand(void *arg)
{
    (void)arg;
    for (uint64_t i = 0; i < 1000; ++i)
        add("of threads", i, 3);
}

static void threads_that_come_and_go_lose_nothing(void **state)
{
    (void)state;
    slri_thread thread[8];
    start(file_in_folder("threads.json"), 65536);
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 8; ++i)
            must(slri_thread_start(&thread[i], "adds", add_thousand, NULL));
        for (int i = 0; i < 8; ++i)
            slri_thread_join(&thread[i]);
    }
    slr_trace_stats stats = stop();
    assert_int_equal(stats.events + stats.dropped, 40000);
    struct sum sum = sum_of(file_in_folder("threads.json"), "region", "of threads");
    assert_int_equal(sum.n, stats.events);
    assert_int_equal(stats.dropped, 0);
}

// Many events, as fast as the writer writes, so that none is dropped.
static void a_long_trace_is_whole(void **state)
{
    (void)state;
    slr_profile_clear();
    must(slr_profile_start());
    start(file_in_folder("long.json"), 1 << 20);
    for (uint64_t i = 0; i < most_events; ++i)
        add(i % 2 ? "odd" : "even", 1000 * i, i % 900);
    slr_profile_stop();
    slr_trace_stats stats = stop();
    assert_int_equal(stats.events, most_events);
    assert_int_equal(stats.dropped, 0);
    const char *const names[] = {"odd", "even"};
    for (int i = 0; i < 2; ++i) {
        struct sum sum = sum_of(file_in_folder("long.json"), "region", names[i]);
        slr_profile_row row = row_of(SLR_PROFILE_REGION, names[i]);
        assert_int_equal(sum.n, row.n);
        assert_int_equal(sum.ns, row.total_ns);
    }
}

// ---- refusals ------------------------------------------------------------------------------------------------------

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    slr_trace_desc desc = SLR_TRACE_DESC_INIT;
    refuses(slr_trace_start(NULL, NULL), INVALID, "path");
    refuses(slr_trace_stop(NULL), WRONG_STATE, "no trace");
    refuses(slr_trace_start(file_in_folder("none/t.json"), NULL), SYSTEM, "none/t.json");
    desc.events_per_thread = 3000;
    refuses(slr_trace_start(file_in_folder("t.json"), &desc), INVALID, "3000");
    desc.struct_size = 1;
    refuses(slr_trace_start(file_in_folder("t.json"), &desc), INVALID, "struct_size");
    start(file_in_folder("t.json"), 0);
    refuses(slr_trace_start(file_in_folder("u.json"), NULL), WRONG_STATE, "already");
    stop();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        most_events = strtoull(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_is_killed_leaves_what_it_had),
        cmocka_unit_test(the_environment_begins_one_and_exit_ends_it),
        cmocka_unit_test(what_does_not_fit_on_the_disk_is_said_at_exit),
        cmocka_unit_test(a_file_that_cannot_be_written_keeps_the_device_closed),
        cmocka_unit_test(slices_add_up_to_the_profilers_sums),
        cmocka_unit_test(tracks_are_named_before_their_first_event),
        cmocka_unit_test(ring_kernels_have_spans_and_a_depth_and_heaps_their_bytes),
        cmocka_unit_test(what_finds_no_room_is_counted_in_the_file),
        cmocka_unit_test(threads_that_come_and_go_lose_nothing),
        cmocka_unit_test(a_long_trace_is_whole),
        cmocka_unit_test(what_is_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
