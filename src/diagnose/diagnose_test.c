// SPDX-License-Identifier: Apache-2.0
// Each rule on made-up figures: rows that have the bottleneck, and a near miss.
#include <slipring/slipring.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

enum { ROWS = 4 };

// What slr_diagnose is asked.
struct asked {
    slr_profile_row rows[ROWS];
    slr_timeline timeline;
    slr_diagnose_desc desc;
};

static slr_device *device; // of two workers

static struct asked *make(void)
{
    static struct asked a;
    a = (struct asked){.timeline = SLR_TIMELINE_INIT, .desc = SLR_DIAGNOSE_DESC_INIT};
    a.timeline.span_ns = 1000 * MS;
    a.timeline.busy_ns = 900 * MS;
    a.desc.rows = a.rows;
    a.desc.row_bytes = sizeof *a.rows;
    a.desc.timeline = &a.timeline;
    a.desc.device = device;
    a.desc.no_sources = 1;
    return &a;
}

static slr_profile_row *add(struct asked *a, uint32_t kind, uint64_t n, uint64_t total_ns)
{
    slr_profile_row *row = &a->rows[a->desc.row_count++];
    *row = (slr_profile_row){.kind = kind, .n = n, .total_ns = total_ns, .name = "it", .device = "cpu", .file = ""};
    return row;
}

static slr_diagnosis found[SLR_BOTTLENECKS];

static const slr_diagnosis *find(const struct asked *a, slr_bottleneck bottleneck)
{
    uint32_t count;
    assert_int_equal(slr_diagnose(&a->desc, found, SLR_BOTTLENECKS, &count), SLR_OK);
    assert_in_range(count, 0, SLR_BOTTLENECKS);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(*found[i].text != '\0' && *found[i].change != '\0' && *found[i].measure != '\0');
        assert_string_equal(found[i].name, slr_bottleneck_name(found[i].bottleneck));
        if (found[i].bottleneck == (uint32_t)bottleneck)
            return &found[i];
    }
    return NULL;
}

static bool gives(const struct asked *a, slr_bottleneck bottleneck)
{
    return find(a, bottleneck) != NULL;
}

static void senders_that_waited_long_or_often_are_named(void **state)
{
    (void)state;
    struct asked *a = make();
    slr_profile_row *full = add(a, SLR_PROFILE_FULL, 99, 249 * MS);
    assert_false(gives(a, SLR_BOTTLENECK_QUEUE_SMALL));
    full->total_ns = 1250 * MS; // of all threads together: more than the time traced
    const slr_diagnosis *told = find(a, SLR_BOTTLENECK_QUEUE_SMALL);
    assert_non_null(told);
    assert_true(told->figure == 1.25 && told->limit == 0.25); // the figure that decided, not the 99 of 100
    assert_string_equal(told->measure, "senders' waits / time");
    a->timeline.span_ns = 0; // unknown: nothing is a quarter of it
    assert_false(gives(a, SLR_BOTTLENECK_QUEUE_SMALL));
    full->total_ns = 1;
    full->n = 100;
    told = find(a, SLR_BOTTLENECK_QUEUE_SMALL);
    assert_non_null(told);
    assert_true(told->figure == 100 && told->limit == 100);
}

static void a_mailbox_is_too_large_by_its_depth_and_not_by_time_alone(void **state)
{
    (void)state;
    struct asked *a = make();
    slr_timeline_depth depths[2] = {{"other", 1500}, {"it", 64}};
    slr_profile_row *messages = add(a, SLR_PROFILE_MESSAGE, 1500, 30000 * MS);
    messages->p50_ns = 20 * MS; // as on a machine whose other programs keep this one waiting
    assert_false(gives(a, SLR_BOTTLENECK_QUEUE_LARGE));
    a->timeline.depths = depths;
    a->timeline.depth_count = 2;
    assert_true(gives(a, SLR_BOTTLENECK_QUEUE_LARGE));
    depths[1].median = 63;
    assert_false(gives(a, SLR_BOTTLENECK_QUEUE_LARGE));
    depths[1].median = 64;
    messages->p50_ns = MS - 1;
    assert_false(gives(a, SLR_BOTTLENECK_QUEUE_LARGE));
}

// Senders find both mailboxes full. The one that is deep holds what the handler is behind.
static void of_one_mailbox_either_it_is_too_small_or_too_large(void **state)
{
    (void)state;
    struct asked *a = make();
    slr_timeline_depth depth = {"it", 200};
    slr_profile_row *messages = add(a, SLR_PROFILE_MESSAGE, 1500, 30000 * MS);
    slr_profile_row *full = add(a, SLR_PROFILE_FULL, 900, 1250 * MS);
    messages->p50_ns = 20 * MS;
    assert_true(gives(a, SLR_BOTTLENECK_QUEUE_SMALL)); // nobody knows its depth
    assert_false(gives(a, SLR_BOTTLENECK_QUEUE_LARGE));
    a->timeline.depths = &depth;
    a->timeline.depth_count = 1;
    assert_false(gives(a, SLR_BOTTLENECK_QUEUE_SMALL));
    const slr_diagnosis *told = find(a, SLR_BOTTLENECK_QUEUE_LARGE);
    assert_non_null(told);
    assert_true(told->figure == 200 && told->limit == 64);
    assert_non_null(strstr(told->text, "full 900 times"));
    depth.median = 63; // a burst
    assert_false(gives(a, SLR_BOTTLENECK_QUEUE_LARGE));
    told = find(a, SLR_BOTTLENECK_QUEUE_SMALL);
    assert_non_null(told);
    assert_non_null(strstr(told->text, "held 63 messages"));
    depth.median = 200;
    full->name = "another"; // whose depth is not known
    assert_true(gives(a, SLR_BOTTLENECK_QUEUE_SMALL));
    assert_true(gives(a, SLR_BOTTLENECK_QUEUE_LARGE));
}

// Ring kernels of one name on two devices: a trace has one depth for both, which says nothing of either.
static void a_depth_that_two_devices_share_decides_nothing(void **state)
{
    (void)state;
    struct asked *a = make();
    slr_timeline_depth depth = {"it", 200};
    slr_profile_row *messages = add(a, SLR_PROFILE_MESSAGE, 1500, 30000 * MS);
    (void)add(a, SLR_PROFILE_FULL, 900, 1250 * MS);
    slr_profile_row *other = add(a, SLR_PROFILE_MESSAGE, 1500, 30 * MS);
    messages->p50_ns = 20 * MS;
    other->device = "opencl:0";
    a->timeline.depths = &depth;
    a->timeline.depth_count = 1;
    assert_false(gives(a, SLR_BOTTLENECK_QUEUE_LARGE));
    const slr_diagnosis *told = find(a, SLR_BOTTLENECK_QUEUE_SMALL);
    assert_non_null(told);
    assert_null(strstr(told->text, "held"));
    other->name = "other";
    assert_true(gives(a, SLR_BOTTLENECK_QUEUE_LARGE));
}

static void a_device_that_idles_is_named(void **state)
{
    (void)state;
    struct asked *a = make();
    add(a, SLR_PROFILE_BATCH, 20, 40 * MS);
    a->timeline.busy_ns = 40 * MS;
    const slr_diagnosis *told = find(a, SLR_BOTTLENECK_IDLE);
    assert_non_null(told);
    assert_true(told->figure == 0.04 && told->limit == 0.5);
    a->timeline.busy_ns = 500 * MS;
    assert_false(gives(a, SLR_BOTTLENECK_IDLE));
    a->timeline.busy_ns = 40 * MS;
    slr_profile_row *missing = add(a, SLR_PROFILE_MISSING, 3, 0); // so the busy time is more than what is known
    assert_false(gives(a, SLR_BOTTLENECK_IDLE));
    missing->n = 2;
    assert_true(gives(a, SLR_BOTTLENECK_IDLE));
    add(a, SLR_PROFILE_COMPILE, 1, 930 * MS); // what is left is busy enough
    assert_false(gives(a, SLR_BOTTLENECK_IDLE));
}

// 1,000 ms with launches of 100 ms in all. What the host does meanwhile says what stands between them.
static void an_idle_device_has_the_cause_that_the_hosts_time_shows(void **state)
{
    (void)state;
    struct asked *a = make();
    add(a, SLR_PROFILE_KERNEL, 3000, 100 * MS);
    slr_profile_row *waits = add(a, SLR_PROFILE_WAIT, 2, 900 * MS); // all was submitted ahead
    a->timeline.busy_ns = 100 * MS;
    assert_non_null(strstr(find(a, SLR_BOTTLENECK_IDLE)->text, "what each launch costs stands between"));
    assert_non_null(strstr(find(a, SLR_BOTTLENECK_IDLE)->text, "; the host waited 900.0 ms. "));
    waits->total_ns = 540 * MS; // the host itself works for 460 of the 900 ms
    assert_non_null(strstr(find(a, SLR_BOTTLENECK_IDLE)->text, "The host's own work stands between"));
    waits->n = 3000;
    assert_non_null(strstr(find(a, SLR_BOTTLENECK_IDLE)->text, "Waits of the host stand between"));
    waits->total_ns = 3 * MS; // a wait for each launch, which was done by then
    assert_non_null(strstr(find(a, SLR_BOTTLENECK_IDLE)->text, "The host's own work stands between"));
}

// As a loop over three kernels has it: all pairs are as frequent, and the first is none that can be fused.
static void the_most_frequent_pair_that_could_be_one_is_named(void **state)
{
    (void)state;
    struct asked *a = make();
    const char *const names[] = {"heavy", "damp", "drive"};
    for (int i = 0; i < 3; i++) {
        slr_profile_row *kernel = add(a, SLR_PROFILE_KERNEL, 1000, 100 * MS);
        *kernel = (slr_profile_row){.kind = SLR_PROFILE_KERNEL, .n = 1000, .total_ns = 100 * MS, .name = names[i]};
        kernel->counted = SLR_COUNTED_EXACT;
        kernel->threads = 47500 * 1000;
        kernel->bytes = 1000000;
        kernel->intensity = i == 0 ? 3 : 0.1;
    }
    const slr_timeline_pair pairs[] = {{"heavy", "damp", 1000}, {"damp", "drive", 999}, {"drive", "heavy", 999}};
    a->timeline.following = pairs;
    a->timeline.following_count = 3;
    const slr_diagnosis *told = find(a, SLR_BOTTLENECK_APART);
    assert_non_null(told);
    assert_true(told->figure == 999);
    assert_non_null(strstr(told->text, "'damp' was followed by 'drive' on the same stream 999 times"));
    a->timeline.following_count = 1;
    assert_false(gives(a, SLR_BOTTLENECK_APART));
    a->timeline.first = "damp";
    a->timeline.second = "drive";
    a->timeline.pairs = 20;
    assert_true(find(a, SLR_BOTTLENECK_APART)->figure == 20);
}

static void more_streams_than_workers_can_serve_are_named(void **state)
{
    (void)state;
    struct asked *a = make();
    a->timeline.streams = 8;
    assert_false(gives(a, SLR_BOTTLENECK_OVERSUBSCRIBED));
    a->timeline.streams = 9;
    assert_true(gives(a, SLR_BOTTLENECK_OVERSUBSCRIBED));
    a->desc.device = NULL; // nobody says how many workers there are
    assert_false(gives(a, SLR_BOTTLENECK_OVERSUBSCRIBED));
}

static void a_wait_for_each_launch_is_named(void **state)
{
    (void)state;
    struct asked *a = make();
    add(a, SLR_PROFILE_KERNEL, 150, 75 * MS);
    slr_profile_row *waits = add(a, SLR_PROFILE_WAIT, 120, 80 * MS);
    const slr_diagnosis *told = find(a, SLR_BOTTLENECK_STALLS);
    assert_non_null(told);
    assert_true(told->figure == 0.8 && told->limit == 0.8);
    waits->n = 119;
    assert_false(gives(a, SLR_BOTTLENECK_STALLS));
    a->rows[0].n = 99;
    waits->n = 99; // for each, and too few of them to tell
    assert_false(gives(a, SLR_BOTTLENECK_STALLS));
}

static void fewer_blocks_than_workers_are_named(void **state)
{
    (void)state;
    struct asked *a = make();
    slr_profile_row *kernel = add(a, SLR_PROFILE_KERNEL, 5, 500 * MS);
    kernel->counted = SLR_COUNTED_EXACT;
    kernel->instructions = 5 * 1000000;
    kernel->blocks = 9; // in five launches on two workers
    const slr_diagnosis *told = find(a, SLR_BOTTLENECK_FEW_BLOCKS);
    assert_non_null(told);
    assert_true(told->figure == 1.8 && told->limit == 2);
    kernel->blocks = 10;
    assert_false(gives(a, SLR_BOTTLENECK_FEW_BLOCKS));
    kernel->blocks = 9;
    kernel->instructions = 5 * 1000; // short: small launches are what is wrong
    assert_false(gives(a, SLR_BOTTLENECK_FEW_BLOCKS));
}

static void a_quarter_of_the_time_with_too_much_work_is_contention(void **state)
{
    (void)state;
    struct asked *a = make();
    a->timeline.contended_ns = 250 * MS;
    assert_true(gives(a, SLR_BOTTLENECK_CONTENTION));
    a->timeline.contended_ns = 249 * MS;
    assert_false(gives(a, SLR_BOTTLENECK_CONTENTION));
}

static void a_run_that_compiles_is_named(void **state)
{
    (void)state;
    struct asked *a = make();
    slr_profile_row *compile = add(a, SLR_PROFILE_COMPILE, 3, 99 * MS);
    assert_false(gives(a, SLR_BOTTLENECK_COMPILING));
    compile->total_ns = 101 * MS;
    assert_true(gives(a, SLR_BOTTLENECK_COMPILING));
    assert_non_null(strstr(find(a, SLR_BOTTLENECK_COMPILING)->text, "in 3 compilations. "));
    compile->n = 1;
    assert_non_null(strstr(find(a, SLR_BOTTLENECK_COMPILING)->text, "in 1 compilation. "));
    a->timeline.span_ns = 2000 * MS;
    assert_false(gives(a, SLR_BOTTLENECK_COMPILING));
    a->timeline.span_ns = 0; // unknown
    assert_false(gives(a, SLR_BOTTLENECK_COMPILING));
}

static void a_heap_in_pieces_is_named(void **state)
{
    (void)state;
    struct asked *a = make();
    add(a, SLR_PROFILE_MEMORY, 1, 0);
    assert_false(gives(a, SLR_BOTTLENECK_FRAGMENTED));
    add(a, SLR_PROFILE_FRAGMENTED, 1, 0)->bytes = 2048;
    assert_true(gives(a, SLR_BOTTLENECK_FRAGMENTED));
}

static void a_kernel_far_from_its_roof_is_named(void **state)
{
    (void)state;
    struct asked *a = make();
    const slr_ceilings ceilings = {
        .bytes_per_second = 10e9, .flops_per_second = 50e9, .flops64_per_second = 25e9, .launch_ns = 1000};
    slr_profile_row *kernel = add(a, SLR_PROFILE_KERNEL, 10, 500 * MS);
    kernel->counted = SLR_COUNTED_EXACT;
    kernel->instructions = 1000000000;
    kernel->bytes = 350 * 1000 * 1000; // 0.7 GB/s of 10: a transpose computes nothing
    a->desc.ceilings = &ceilings;
    assert_true(gives(a, SLR_BOTTLENECK_ROOF));
    kernel->bytes *= 5;
    assert_false(gives(a, SLR_BOTTLENECK_ROOF));
}

static slr_profile_row *add_caller(struct asked *a, const char *what, uint64_t n, uint64_t offset)
{
    slr_profile_row *row = add(a, SLR_PROFILE_CALLER, n, 1);
    row->name = what;
    row->file = "program";
    row->offset = offset;
    return row;
}

static void a_place_with_many_small_launches_is_named_and_recorded_ones_are_not(void **state)
{
    (void)state;
    struct asked *a = make();
    slr_profile_row *kernel = add(a, SLR_PROFILE_KERNEL, 500, MS); // of which nothing is known but that it is short
    kernel->p50_ns = 2000;
    slr_profile_row *place = add_caller(a, "launch", 500, 0x1234);
    add_caller(a, "launch", 3, 0x9999);
    const slr_diagnosis *told = find(a, SLR_BOTTLENECK_LAUNCH_LOOP);
    assert_non_null(told);
    assert_true(told->figure == 500 && told->offset == 0x1234 && told->line == 0);
    assert_string_equal(told->file, "program");
    place->n = 499;
    assert_false(gives(a, SLR_BOTTLENECK_LAUNCH_LOOP));
    place->n = 500;
    place->name = "recorded launch";
    assert_false(gives(a, SLR_BOTTLENECK_LAUNCH_LOOP));
    place->name = "launch";
    kernel->p50_ns = 20000; // the kernel's own work is what takes the time
    assert_false(gives(a, SLR_BOTTLENECK_LAUNCH_LOOP));
}

static void allocations_at_one_line_are_named_with_it(void **state)
{
    (void)state;
    struct asked *a = make();
    add(a, SLR_PROFILE_MEMORY, 100, 0);
    slr_profile_row *place = add_caller(a, "allocation", 50, 0);
    place->lines[0].line = 12;
    const slr_diagnosis *told = find(a, SLR_BOTTLENECK_ALLOCATION);
    assert_non_null(told);
    assert_int_equal(told->line, 12);
    place->n = 49; // from here and there
    assert_false(gives(a, SLR_BOTTLENECK_ALLOCATION));
}

static void half_gradients_need_a_scaler_and_others_do_not(void **state)
{
    (void)state;
    struct asked *a = make();
    slr_profile_row *gradient = add(a, SLR_PROFILE_KERNEL, 10, MS);
    gradient->name = "softmax_backward";
    gradient->file = "ops/f16/rows.cu";
    assert_true(gives(a, SLR_BOTTLENECK_UNSCALED));
    gradient->file = "ops/bf16/rows.cu";
    assert_false(gives(a, SLR_BOTTLENECK_UNSCALED));
    gradient->file = "ops/f16/rows.cu";
    gradient->name = "softmax";
    assert_false(gives(a, SLR_BOTTLENECK_UNSCALED));
    gradient->name = "convolution_weights";
    assert_true(gives(a, SLR_BOTTLENECK_UNSCALED));
    slr_profile_row *scaler = add(a, SLR_PROFILE_KERNEL, 1, MS);
    scaler->name = "unscale";
    scaler->file = "ops/f16/each.cu";
    assert_false(gives(a, SLR_BOTTLENECK_UNSCALED));
}

static void deterministic_mode_is_named_from_a_fifth_of_the_time_on(void **state)
{
    (void)state;
    struct asked *a = make();
    slr_profile_row *used = add(a, SLR_PROFILE_ALGORITHM, 1, 121), *kept_out = add(a, SLR_PROFILE_KEPT_OUT, 1, 100);
    used->min_ns = 121;
    kept_out->min_ns = 100;
    const slr_diagnosis *told = find(a, SLR_BOTTLENECK_DETERMINISTIC);
    assert_non_null(told);
    assert_true(told->figure == 1.21);
    used->min_ns = 120;
    assert_false(gives(a, SLR_BOTTLENECK_DETERMINISTIC));
    used->min_ns = 500;
    kept_out->name = "another"; // operation
    assert_false(gives(a, SLR_BOTTLENECK_DETERMINISTIC));
}

static void the_number_found_is_told_though_there_is_room_for_fewer(void **state)
{
    (void)state;
    struct asked *a = make();
    uint32_t count;
    add(a, SLR_PROFILE_FULL, 100, 1);
    add(a, SLR_PROFILE_FRAGMENTED, 1, 0);
    assert_int_equal(slr_diagnose(&a->desc, NULL, 0, &count), SLR_OK);
    assert_int_equal(count, 2);
    memset(found, 0, sizeof found);
    assert_int_equal(slr_diagnose(&a->desc, found, 1, &count), SLR_OK);
    assert_int_equal(count, 2);
    assert_int_equal(found[0].bottleneck, SLR_BOTTLENECK_QUEUE_SMALL);
    assert_int_equal(found[1].bottleneck, 0);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    struct asked *a = make();
    uint32_t count;
    assert_int_equal(slr_diagnose(&a->desc, NULL, 1, &count), SLR_INVALID);
    assert_int_equal(slr_diagnose(&a->desc, found, 1, NULL), SLR_INVALID);
    a->desc.row_bytes = 0;
    assert_int_equal(slr_diagnose(&a->desc, found, 1, &count), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "slr_profile_row"));
    a->desc.rows = NULL;
    a->desc.row_count = 1;
    assert_int_equal(slr_diagnose(&a->desc, found, 1, &count), SLR_INVALID);
    a->desc.struct_size = 7;
    assert_int_equal(slr_diagnose(&a->desc, found, 1, &count), SLR_INVALID);
    assert_null(slr_bottleneck_name(0));
    assert_null(slr_bottleneck_name(SLR_BOTTLENECKS + 1));
    for (uint32_t i = 1; i <= SLR_BOTTLENECKS; i++)
        assert_non_null(slr_bottleneck_name(i));
}

// The profiler's own rows, with nothing else given.
static void the_rows_of_this_process_are_diagnosed(void **state)
{
    (void)state;
    static const char source[] = "__global__ void small(int *x) { x[threadIdx.x] += 1; }\n";
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *buffer;
    uint32_t count;
    assert_int_equal(slr_program_from_text(device, "small.cu", source, NULL, &program), SLR_OK);
    assert_int_equal(slr_program_get_kernel(program, NULL, &kernel), SLR_OK);
    assert_int_equal(slr_stream_default(device, &stream), SLR_OK);
    assert_int_equal(slr_buffer_create(device, 64 * sizeof(int), &buffer), SLR_OK);
    assert_int_equal(slr_profile_start(), SLR_OK);
    slr_profile_clear();
    for (int launches = 0; launches < 2; launches++) {
        for (int i = 0; i < (launches == 0 ? 99 : 1); i++)
            assert_int_equal(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 64, 0), buffer), SLR_OK);
        assert_int_equal(slr_stream_finish(stream, 60000 * MS), SLR_OK);
        assert_int_equal(slr_diagnose(NULL, found, SLR_BOTTLENECKS, &count), SLR_OK);
        bool is_there = false;
        for (uint32_t i = 0; i < count; i++)
            is_there |= found[i].bottleneck == SLR_BOTTLENECK_LAUNCHES;
        assert_int_equal(is_there, launches == 1); // 100 small ones
    }
    slr_profile_stop();
    slr_profile_clear();
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
}

static int begin(void **state)
{
    (void)state;
    return slr_device_open("cpu?engine=interpreted&threads=2", NULL, &device) == SLR_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    slr_device_close(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(senders_that_waited_long_or_often_are_named),
        cmocka_unit_test(a_mailbox_is_too_large_by_its_depth_and_not_by_time_alone),
        cmocka_unit_test(of_one_mailbox_either_it_is_too_small_or_too_large),
        cmocka_unit_test(a_depth_that_two_devices_share_decides_nothing),
        cmocka_unit_test(a_device_that_idles_is_named),
        cmocka_unit_test(an_idle_device_has_the_cause_that_the_hosts_time_shows),
        cmocka_unit_test(the_most_frequent_pair_that_could_be_one_is_named),
        cmocka_unit_test(more_streams_than_workers_can_serve_are_named),
        cmocka_unit_test(a_wait_for_each_launch_is_named),
        cmocka_unit_test(fewer_blocks_than_workers_are_named),
        cmocka_unit_test(a_quarter_of_the_time_with_too_much_work_is_contention),
        cmocka_unit_test(a_run_that_compiles_is_named),
        cmocka_unit_test(a_heap_in_pieces_is_named),
        cmocka_unit_test(a_kernel_far_from_its_roof_is_named),
        cmocka_unit_test(a_place_with_many_small_launches_is_named_and_recorded_ones_are_not),
        cmocka_unit_test(allocations_at_one_line_are_named_with_it),
        cmocka_unit_test(half_gradients_need_a_scaler_and_others_do_not),
        cmocka_unit_test(deterministic_mode_is_named_from_a_fifth_of_the_time_on),
        cmocka_unit_test(the_number_found_is_told_though_there_is_room_for_fewer),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(the_rows_of_this_process_are_diagnosed),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
