// SPDX-License-Identifier: Apache-2.0
// Kernels with one fault each are found out at the line that says so ("// finds SLR-C010"), and nothing is found in
// their repaired twins (NAME_fixed.cu), nor any error in the example kernels.
#include <slipring/slipring.h>

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PLANTED SLIPRING_SOURCE_DIR "/tests/check/planted"
#define SLOW SLIPRING_SOURCE_DIR "/tests/check/slow"
#define EXAMPLES SLIPRING_SOURCE_DIR "/examples/kernels"

enum { FILES_MAX = 100, LINES_MAX = 200, LINE_BYTES = 512 };

static slr_device *device;

struct source {
    char line[LINES_MAX][LINE_BYTES]; // counts from 1
    unsigned lines;
};

static void read_source(const char *path, struct source *out)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    out->lines = 0;
    while (out->lines + 1 < LINES_MAX && fgets(out->line[out->lines + 1], LINE_BYTES, file))
        out->lines++;
    fclose(file);
}

// The number behind "finds SLR-C" on a line; 0: none.
static unsigned planted_at(const struct source *source, unsigned line)
{
    const char *mark = line <= source->lines ? strstr(source->line[line], "// finds SLR-C") : NULL;
    return mark ? (unsigned)strtoul(mark + strlen("// finds SLR-C"), NULL, 10) : 0;
}

// "// unset: NAME" in the source: that buffer was never filled.
static uint32_t unset_parameter(const struct source *source, const slr_kernel_info *info)
{
    for (unsigned i = 1; i <= source->lines; i++) {
        const char *mark = strstr(source->line[i], "// unset: ");
        for (uint32_t p = 0; mark && p < info->parameter_count; p++)
            if (strncmp(mark + strlen("// unset: "), info->parameters[p].name, strlen(info->parameters[p].name)) == 0)
                return p;
    }
    return UINT32_MAX;
}

static slr_check *check_kernel(slr_kernel *kernel, const char *path, const struct source *source)
{
    slr_check *check;
    slr_kernel_info info;
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    slr_check_argument unset = {.is_unset = 1};
    assert_int_equal(slr_kernel_get_info(kernel, &info), SLR_OK);
    unset.parameter = source ? unset_parameter(source, &info) : UINT32_MAX;
    desc.arguments = &unset;
    desc.argument_count = unset.parameter != UINT32_MAX;
    if (strcmp(info.name, "nbody") == 0) // its work grows with the square of its threads
        desc.grid[0] = 1;
    if (slr_kernel_check(kernel, &desc, &check) != SLR_OK)
        fail_msg("%s: %s", path, slr_error_message());
    slr_kernel_destroy(kernel);
    return check;
}

static slr_check *check_file(const char *path, const struct source *source)
{
    slr_kernel *kernel;
    if (slr_kernel_load(device, path, NULL, &kernel) != SLR_OK)
        fail_msg("%s", slr_error_message());
    return check_kernel(kernel, path, source);
}

static int each_file(const char *folder, void (*check)(const char *path, const char *name))
{
    char pattern[512];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*.cu", folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    int count = (int)found.gl_pathc;
    assert_in_range(count, 1, FILES_MAX);
    for (int i = 0; i < count; i++)
        check(found.gl_pathv[i], strrchr(found.gl_pathv[i], '/') + 1);
    globfree(&found);
    return count;
}

// ---- planted faults ------------------------------------------------------------------------------------------------

static unsigned faults;

static void expect_planted(const char *path, const char *name)
{
    if (strstr(name, "_fixed.cu"))
        return;
    struct source source;
    read_source(path, &source);
    slr_check *check = check_file(path, &source);
    bool found[LINES_MAX] = {false};
    slr_check_finding finding;
    for (uint32_t i = 0; slr_check_get_finding(check, i, &finding) == SLR_OK; i++)
        if (planted_at(&source, finding.at.line) == finding.code)
            found[finding.at.line] = true;
        else if (finding.other.file && planted_at(&source, finding.other.line) == finding.code)
            found[finding.other.line] = true;
    for (unsigned i = 1; i <= source.lines; i++) {
        if (planted_at(&source, i) && !found[i])
            fail_msg("%s:%u: SLR-C%03u was not found", path, i, planted_at(&source, i));
        faults += planted_at(&source, i) != 0;
    }
    slr_check_destroy(check);
}

static void planted_faults_are_found_at_their_line(void **unused)
{
    (void)unused;
    each_file(PLANTED, expect_planted);
    assert_true(faults >= 20);
}

static void expect_nothing(const char *path, const char *name)
{
    slr_check_finding finding;
    if (!strstr(name, "_fixed.cu"))
        return;
    slr_check *check = check_file(path, NULL);
    for (uint32_t i = 0; slr_check_get_finding(check, i, &finding) == SLR_OK; i++)
        if (finding.level != SLR_CHECK_NOTE)
            fail_msg("%s:%u: SLR-C%03u: %s", path, finding.at.line, finding.code, finding.message);
    slr_check_destroy(check);
}

static void nothing_is_found_in_their_repaired_twins(void **unused)
{
    (void)unused;
    each_file(PLANTED, expect_nothing);
}

static void expect_no_error(const char *path, const char *name)
{
    (void)name;
    slr_program *program;
    slr_function_info function;
    if (slr_program_load(device, path, NULL, &program) != SLR_OK)
        fail_msg("%s", slr_error_message());
    for (uint32_t k = 0; slr_program_get_function(program, k, &function) == SLR_OK; k++) {
        slr_kernel *kernel;
        slr_check_finding finding;
        if (function.kind != SLR_FUNCTION_KERNEL)
            continue;
        assert_int_equal(slr_program_get_kernel(program, function.name, &kernel), SLR_OK);
        slr_check *check = check_kernel(kernel, path, NULL);
        for (uint32_t i = 0; slr_check_get_finding(check, i, &finding) == SLR_OK; i++)
            if (finding.level == SLR_CHECK_ERROR)
                fail_msg("%s:%u: SLR-C%03u: %s", path, finding.at.line, finding.code, finding.message);
        slr_check_destroy(check);
    }
    slr_program_destroy(program);
}

static void example_kernels_have_no_errors(void **unused)
{
    (void)unused;
    assert_true(each_file(EXAMPLES, expect_no_error) >= 14);
}

// ---- speed ---------------------------------------------------------------------------------------------------------

static void expect_notes(const char *path, const char *name)
{
    (void)name;
    struct source source;
    slr_check_finding finding;
    read_source(path, &source);
    slr_check *check = check_file(path, NULL);
    unsigned wanted = 0, found = 0;
    for (unsigned i = 1; i <= source.lines; i++)
        wanted += planted_at(&source, i) != 0;
    for (; slr_check_get_finding(check, found, &finding) == SLR_OK; found++)
        if (planted_at(&source, finding.at.line) != finding.code || finding.level != SLR_CHECK_NOTE)
            fail_msg("%s:%u: SLR-C%03u: %s", path, finding.at.line, finding.code, finding.message);
    if (wanted != found)
        fail_msg("%s: %u notes, not %u", path, found, wanted);
    slr_check_destroy(check);
}

static void what_is_slow_is_noted_and_nothing_else(void **unused)
{
    (void)unused;
    assert_true(each_file(SLOW, expect_notes) >= 6);
}

static slr_check_line line_of(const char *file, unsigned number)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", SLOW, file);
    slr_check *check = check_file(path, NULL);
    slr_check_line line = {0};
    for (uint32_t i = 0; slr_check_get_line(check, i, &line) == SLR_OK && line.line != number; i++)
        ;
    assert_int_equal(line.line, number);
    slr_check_destroy(check);
    return line;
}

static void lines_have_the_figures_of_a_warps_requests(void **unused)
{
    (void)unused;
    slr_check_line line = line_of("records.cu", 7); // reads of 4 in 32 bytes, writes of 4 in 4
    assert_int_equal(line.requests, 32);
    assert_int_equal(line.sectors, 16 * 32 + 16 * 4);
    assert_int_equal(line.least_sectors, 16 * 4 + 16 * 4);
    line = line_of("banks.cu", 8);
    assert_int_equal(line.shared_requests, 128);
    assert_int_equal(line.passes, 128 * 32);
    assert_int_equal(line.least_passes, 128);
    line = line_of("branch.cu", 9); // 16 warps: all split up to s = 16, then two, one and a half of each block's eight
    assert_int_equal(line.branches, 16 * 8);
    assert_int_equal(line.splits, 16 * 5 + 8 + 4 + 2);
}

static bool reaches_few_channels(const char *row_bytes)
{
    char text[256];
    slr_program *program;
    slr_kernel *kernel;
    slr_check *check;
    slr_check_finding finding;
    bool found = false;
    snprintf(text, sizeof text,
             "__global__ void column(const float *x, float *y) {\n"
             "    y[threadIdx.x] = x[threadIdx.x * (%s / 4)];\n}\n",
             row_bytes);
    assert_int_equal(slr_program_from_text(device, "column.cu", text, NULL, &program), SLR_OK);
    assert_int_equal(slr_program_get_kernel(program, NULL, &kernel), SLR_OK);
    assert_int_equal(slr_kernel_check(kernel, NULL, &check), SLR_OK);
    for (uint32_t i = 0; slr_check_get_finding(check, i, &finding) == SLR_OK; i++)
        found |= finding.code == 60 && strstr(finding.message, "few of the memory's channels") != NULL;
    slr_check_destroy(check);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    return found;
}

static void strides_that_reach_few_channels_are_told_from_padded_ones(void **unused)
{
    (void)unused;
    assert_true(reaches_few_channels("4096"));
    assert_true(reaches_few_channels("8192"));
    assert_false(reaches_few_channels("2048"));
    assert_false(reaches_few_channels("4100"));
}

// ---- the interface -------------------------------------------------------------------------------------------------

static const char scale_cu[] = "__global__ void scale(const float *x, float *y, float a, int n, short s) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < n) y[i] = a * x[i] + s;\n"
                               "}\n";

static slr_kernel *load(const char *text)
{
    slr_program *program;
    slr_kernel *kernel = NULL;
    if (slr_program_from_text(device, "text.cu", text, NULL, &program) != SLR_OK ||
        slr_program_get_kernel(program, NULL, &kernel) != SLR_OK)
        fail_msg("%s", slr_error_message());
    slr_program_destroy(program);
    return kernel;
}

static void what_was_given_is_used_and_the_rest_is_generated(void **unused)
{
    (void)unused;
    slr_kernel *kernel = load(scale_cu);
    slr_buffer *x;
    assert_int_equal(slr_buffer_create(device, 100 * sizeof(float), &x), SLR_OK);
    slr_check_argument given[] = {{0, 0, slr_arg_buffer(x)}, {3, 0, slr_arg_signed(101)}};
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    desc.arguments = given;
    desc.argument_count = 2;
    desc.grid[0] = 4;
    desc.block[0] = 32;
    slr_check *check;
    assert_int_equal(slr_kernel_check(kernel, &desc, &check), SLR_OK);
    slr_check_launch launch;
    assert_int_equal(slr_check_get_launch(check, 0, &launch), SLR_OK);
    assert_int_equal(launch.grid[0] * launch.block[0], 128);
    assert_string_equal(launch.arguments[0], "x = as given");
    assert_string_equal(launch.arguments[1], "y = float[101], random (n)");
    assert_int_equal(launch.generated[0], 0);
    assert_int_equal(launch.generated[1], 1);
    assert_int_equal(slr_check_get_launch(check, 1, &launch), SLR_NOT_FOUND); // the size is not ours to change
    slr_check_finding finding;
    assert_int_equal(slr_check_get_finding(check, 0, &finding), SLR_OK);
    assert_int_equal(finding.code, 1);
    assert_int_equal(finding.at.line, 3);
    assert_int_equal(finding.at.block[0], 3);
    assert_int_equal(finding.at.thread[0], 4);
    assert_int_equal(finding.count, 1);
    assert_string_equal(finding.message, "thread 4 of block 3 reads x[100], and x has 100 elements");
    assert_int_equal(slr_check_get_finding(check, 1, &finding), SLR_NOT_FOUND);
    slr_check_destroy(check);
    slr_buffer_destroy(x);
    slr_kernel_destroy(kernel);
}

static void arguments_and_shapes_that_cannot_be_are_refused_by_name(void **unused)
{
    (void)unused;
    slr_kernel *kernel = load(scale_cu);
    slr_check *check;
    slr_check_argument given = {4, 0, slr_arg_signed(40000)};
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    desc.arguments = &given;
    desc.argument_count = 1;
    assert_int_equal(slr_kernel_check(kernel, &desc, &check), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "'s'"));
    given.parameter = 9;
    assert_int_equal(slr_kernel_check(kernel, &desc, &check), SLR_INVALID);
    desc.argument_count = 0;
    desc.block[0] = 2000;
    assert_int_equal(slr_kernel_check(kernel, &desc, &check), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "2000"));
    desc.block[0] = 0;
    desc.block[1] = 4;
    assert_int_equal(slr_kernel_check(kernel, &desc, &check), SLR_INVALID);
    desc.struct_size = 1;
    assert_int_equal(slr_kernel_check(kernel, &desc, &check), SLR_INVALID);
    assert_int_equal(slr_kernel_check(NULL, NULL, &check), SLR_INVALID);
    slr_kernel_destroy(kernel);
}

static unsigned count_code(const char *text, const slr_check_desc *desc, unsigned code)
{
    slr_kernel *kernel = load(text);
    slr_check *check;
    slr_check_finding finding;
    unsigned count = 0;
    if (slr_kernel_check(kernel, desc, &check) != SLR_OK)
        fail_msg("%s", slr_error_message());
    for (uint32_t i = 0; slr_check_get_finding(check, i, &finding) == SLR_OK; i++)
        count += finding.code == code;
    slr_check_destroy(check);
    slr_kernel_destroy(kernel);
    return count;
}

static void a_kernel_that_does_not_end_is_stopped_and_said(void **unused)
{
    (void)unused;
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    desc.fuel = 1000;
    assert_int_equal(count_code("__global__ void spin(int *x) { while (x[0] >= 0) x[threadIdx.x] = 0; }", &desc, 50),
                     1);
    desc.fuel = 0;
    desc.steps = 100000;
    assert_int_equal(count_code("__global__ void spin(int *x) { while (x[0] >= 0) x[threadIdx.x] = 0; }", &desc, 50),
                     1);
}

// The lane that holds the lock stands behind those that wait for it.
static void a_lock_among_the_lanes_of_a_warp_is_no_hang(void **unused)
{
    (void)unused;
    static const char text[] = "__global__ void add(int *lock, int *sum, int n) {\n"
                               "    bool done = false;\n"
                               "    while (!done) {\n"
                               "        if (atomicCAS(lock, 0, 1) == 0) {\n"
                               "            __threadfence();\n"
                               "            sum[0] += n;\n"
                               "            __threadfence();\n"
                               "            atomicExch(lock, 0);\n"
                               "            done = true;\n"
                               "        }\n"
                               "    }\n"
                               "}\n";
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    desc.block[0] = 64;
    assert_int_equal(count_code(text, &desc, 50), 0);
    assert_int_equal(count_code(text, &desc, 11), 0); // fences and the lock order the sums
}

static void other_faults_have_numbers_too(void **unused)
{
    (void)unused;
    assert_int_equal(
        count_code("#include <assert.h>\n__global__ void k(int *x, int n) { assert(n < 3); x[0] = n; }", NULL, 51), 1);
    assert_int_equal(count_code("__global__ void k(int *x) { if (x[0] >= 0) __trap(); }", NULL, 52), 1);
    assert_int_equal(count_code("__global__ void k(char *x) { x[0] = (char)*(int *)&x[threadIdx.x]; }", NULL, 3), 1);
    assert_int_equal(count_code("__global__ void k(int *x) { x[0] = 1; }", NULL, 12),
                     1); // the same value, from all threads
}

// A probing run gives a buffer bytes, not elements: 65,536 of these were 17 GB.
static void buffers_are_bound_by_bytes(void **unused)
{
    (void)unused;
    static const char text[] = "struct page { float cell[65536]; };\n"
                               "__global__ void touch(struct page *pages, const struct page *from, int n) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    if (i < n) pages[i].cell[i] = from[i].cell[0];\n"
                               "}\n";
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    slr_check_launch launch;
    slr_check *check;
    slr_kernel *kernel = load(text);
    desc.block[0] = 32;
    assert_int_equal(slr_kernel_check(kernel, &desc, &check), SLR_OK);
    assert_int_equal(slr_check_get_launch(check, 0, &launch), SLR_OK);
    assert_string_equal(launch.arguments[0], "pages = struct page[64], random (n)");
    slr_check_destroy(check);
    desc.memory_bytes = 20 << 20; // 64 elements of 256 KiB are 16 MiB: room for one of the two
    assert_int_equal(slr_kernel_check(kernel, &desc, &check), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "buffer 'from' would have 64 elements of 262144 bytes"));
    assert_non_null(strstr(slr_error_message(), "20 MiB"));
    slr_kernel_destroy(kernel);
}

// ---- handlers ------------------------------------------------------------------------------------------------------

#define TYPES                                                                                                          \
    "struct in { int id, n; float v; };\n"                                                                             \
    "struct kept { int count; float ring[256]; };\n"

struct handler_case {
    const char *text; // a handler h, behind the types, which are lines 1 and 2
    unsigned code;    // found in line 3; 0: nothing is
    unsigned level;
    const char *message;
};

static void handlers_are_checked_with_made_up_messages(void **unused)
{
    (void)unused;
    static const struct handler_case cases[] = {
        {"__ring__ void h(struct kept *s, const struct in *m, float *out) { s->ring[s->count++ & 255] = m->v; if "
         "(m->id "
         ">= 0 && m->id < 16) out[m->id] = m->v; }",
         0, 0, NULL},
        // what the state leads to is an error, whatever the messages are
        {"__ring__ void h(struct kept *s, const struct in *m) { s->ring[s->count++] = m->v; }", 2, SLR_CHECK_ERROR,
         "message 512 indexes state with 256; the valid range is 0 to 255"},
        {"__ring__ void h(struct kept *s, const struct in *m) { s->ring[m->id] = m->v; }", 2, SLR_CHECK_WARNING,
         "message 0 indexes state with -2147483648; the valid range is 0 to 255 (with messages of the smallest and "
         "largest value of each type)"},
        {"__ring__ void h(struct kept *s, const struct in *m) { s->count = 7 / m->n; }", 42, SLR_CHECK_WARNING,
         "message 0 divides by zero (with messages of zeros)"},
        {"__ring__ void h(struct kept *s, const struct in *m) { for (int i = 0; i < m->n; i++) s->ring[i & 3] += 1; }",
         50, SLR_CHECK_WARNING, NULL},
        {"__ring__ void h(struct kept *s, const struct in *m) { int sum; if (m->n == -9) sum = 1; s->count = sum; }",
         21, SLR_CHECK_ERROR, NULL},
        {"__ring__ void h(struct kept *s, const struct in *m) { for (int i = 0; i < 99; i++) ring_reply(&s->count); }",
         53, SLR_CHECK_ERROR, "message 0 has more than 64 replies"},
        // a buffer that messages index: as long as ordinary messages reach
        {"__ring__ void h(struct kept *s, const struct in *m, float *out) { out[m->id] = m->v; s->count++; }", 1,
         SLR_CHECK_WARNING, NULL},
        {"__ring_block__ void __launch_bounds__(64) h(struct kept *s, const struct in *m) { s->count++; }", 10,
         SLR_CHECK_ERROR,
         "thread 0 of message 0's block writes state.count, and thread 1 of message 0's block reads it: there is no "
         "barrier between them"},
        {"__ring_block__ void __launch_bounds__(64) h(struct kept *s, const struct in *m) { __shared__ float t[64]; "
         "t[threadIdx.x] = 0; t[63 - threadIdx.x] = m->v; __syncthreads(); s->ring[threadIdx.x] = t[threadIdx.x]; }",
         10, SLR_CHECK_ERROR, NULL},
        {"__ring_block__ void __launch_bounds__(64) h(struct kept *s, const struct in *m) { __shared__ float t[64]; "
         "t[threadIdx.x] = m->v; __syncthreads(); s->ring[threadIdx.x] = t[63 - threadIdx.x]; if (threadIdx.x == 0) "
         "s->count++; }",
         0, 0, NULL}, // messages of one instance are in order: no race
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        slr_program *program;
        slr_check *check;
        slr_check_finding finding;
        snprintf(text, sizeof text, TYPES "%s\n", cases[i].text);
        if (slr_program_from_text(device, "h.cu", text, NULL, &program) != SLR_OK ||
            slr_handler_check(program, NULL, NULL, &check) != SLR_OK)
            fail_msg("%s: %s", cases[i].text, slr_error_message());
        bool found = false;
        for (uint32_t k = 0; slr_check_get_finding(check, k, &finding) == SLR_OK; k++) {
            if (finding.code != cases[i].code && finding.level != SLR_CHECK_WARNING)
                fail_msg("%s: SLR-C%03u: %s", cases[i].text, finding.code, finding.message);
            found |= finding.code == cases[i].code && finding.level == cases[i].level && finding.at.line == 3 &&
                     (!cases[i].message || strcmp(cases[i].message, finding.message) == 0);
            if (finding.code == cases[i].code && cases[i].message && strcmp(cases[i].message, finding.message) != 0)
                fail_msg("%s: %s", cases[i].text, finding.message);
        }
        if (found != (cases[i].code != 0))
            fail_msg("%s: SLR-C%03u was not found", cases[i].text, cases[i].code);
        slr_check_destroy(check);
        slr_program_destroy(program);
    }
}

static void handlers_of_the_examples_have_no_findings(void **unused)
{
    (void)unused;
    static const char *const files[] = {"ward/ward.cu", "pipeline/pipeline.cu", "send/triage.cu"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[512];
        slr_program *program;
        slr_handler_info handler;
        slr_check *check;
        slr_check_finding finding;
        snprintf(path, sizeof path, "%s/examples/%s", SLIPRING_SOURCE_DIR, files[i]);
        assert_int_equal(slr_program_load(device, path, NULL, &program), SLR_OK);
        for (uint32_t h = 0; slr_program_get_handler(program, h, &handler) == SLR_OK; h++) {
            assert_int_equal(slr_handler_check(program, handler.name, NULL, &check), SLR_OK);
            if (slr_check_get_finding(check, 0, &finding) == SLR_OK)
                fail_msg("%s: SLR-C%03u: %s", handler.name, finding.code, finding.message);
            slr_check_destroy(check);
        }
        assert_int_equal(slr_handler_check(program, "absent", NULL, &check), SLR_NOT_FOUND);
        slr_program_destroy(program);
    }
}

static int open_device(void **state)
{
    (void)state;
    return slr_device_open("cpu?engine=interpreted", NULL, &device) == SLR_OK ? 0 : -1;
}

static int close_device(void **state)
{
    (void)state;
    slr_device_close(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_faults_are_found_at_their_line),
        cmocka_unit_test(nothing_is_found_in_their_repaired_twins),
        cmocka_unit_test(example_kernels_have_no_errors),
        cmocka_unit_test(what_is_slow_is_noted_and_nothing_else),
        cmocka_unit_test(lines_have_the_figures_of_a_warps_requests),
        cmocka_unit_test(strides_that_reach_few_channels_are_told_from_padded_ones),
        cmocka_unit_test(what_was_given_is_used_and_the_rest_is_generated),
        cmocka_unit_test(arguments_and_shapes_that_cannot_be_are_refused_by_name),
        cmocka_unit_test(a_kernel_that_does_not_end_is_stopped_and_said),
        cmocka_unit_test(a_lock_among_the_lanes_of_a_warp_is_no_hang),
        cmocka_unit_test(other_faults_have_numbers_too),
        cmocka_unit_test(buffers_are_bound_by_bytes),
        cmocka_unit_test(handlers_are_checked_with_made_up_messages),
        cmocka_unit_test(handlers_of_the_examples_have_no_findings),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
