// SPDX-License-Identifier: Apache-2.0
// Kernels compiled ahead, in the background, by compilers that are shell scripts: they count what they are asked, and
// one of them never ends.
#include "base/thread.h"
#include "device/device_test.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[256];

static const char source[] = "__global__ void one(int *to) { to[threadIdx.x] = 1; }\n"
                             "__global__ void two(int *to) { to[threadIdx.x] = 2; }\n";

// A compiler of that name: answers --version, notes each other call in "calls", then does `body`.
static void make_compiler(const char *name, const char *body)
{
    char path[300];
    const char *real = getenv("CC");
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\nreal='%s'\n[ \"$1\" = --version ] && exec $real --version\necho $$ >> '%s/calls'\n%s\n",
            real && *real ? real : "cc", root, body);
    fclose(file);
    chmod(path, 0755);
    setenv("SLIPRING_CC", path, 1);
}

static int set_up(void **state)
{
    char cache[300];
    (void)state;
    snprintf(root, sizeof root, "/tmp/slipring-prefetch-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(cache, sizeof cache, "%s/cache", root);
    setenv("SLIPRING_CACHE_DIR", cache, 1);
    return 0;
}

static int tear_down(void **state)
{
    char command[300];
    (void)state;
    unsetenv("SLIPRING_CC");
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

// How often a compiler was called; the last one's process.
static int calls(int *process)
{
    char path[300];
    int count = 0;
    snprintf(path, sizeof path, "%s/calls", root);
    FILE *file = fopen(path, "r");
    while (file && fscanf(file, "%d", process) == 1)
        ++count;
    if (file)
        fclose(file);
    return count;
}

static int count_calls(void)
{
    int process;
    return calls(&process);
}

// Until the compiler runs once more.
static int await_call(int before)
{
    uint64_t deadline_ns = slri_deadline_after(LONG);
    int process = 0;
    while (calls(&process) == before) {
        assert_false(slri_passed(deadline_ns));
        slri_sleep_ns(MS);
    }
    return process;
}

static slr_program *program_of(slr_device *device)
{
    slr_program *program;
    must(slr_program_from_text(device, "ahead.cu", source, NULL, &program));
    return program;
}

static slr_prefetch_desc block_of(const char *kernel, const slr_shape *shape)
{
    slr_prefetch_desc desc = SLR_PREFETCH_DESC_INIT;
    desc.kernel = kernel;
    desc.shapes = shape;
    desc.shape_count = 1;
    return desc;
}

static int launched(slr_device *device, slr_program *program, const char *name, slr_shape shape)
{
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *buffer;
    int first = 0;
    must(slr_program_get_kernel(program, name, &kernel));
    must(slr_stream_default(device, &stream));
    must(slr_buffer_create(device, 4096, &buffer));
    must(SLR_LAUNCH(stream, kernel, shape, buffer));
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(buffer, 0, &first, sizeof first));
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(kernel);
    return first;
}

static void what_was_compiled_ahead_is_there_at_the_launch(void **state)
{
    (void)state;
    const slr_shape shape = SLR_GRID(1, 64, 0);
    make_compiler("cc-ahead", "exec $real \"$@\"");
    slr_device *device = open_device("cpu");
    slr_program *program = program_of(device);
    slr_prefetch_desc all = block_of(NULL, &shape);
    slr_point point;
    must(slr_program_prefetch(program, &all, &point));
    must(slr_point_wait(point, LONG));
    assert_int_equal(count_calls(), 2); // both kernels
    assert_int_equal(launched(device, program, "one", shape), 1);
    assert_int_equal(launched(device, program, "two", shape), 2);
    assert_int_equal(count_calls(), 2);
    slr_prefetch_desc both = block_of("one", &shape);
    both.optimize = SLR_OPTIMIZE_BOTH;
    must(slr_program_prefetch(program, &both, &point));
    must(slr_point_wait(point, LONG));
    assert_int_equal(count_calls(), 3); // the other level
    slr_program_destroy(program);
    slr_device_close(device);
}

static void launch_waits_for_what_is_being_compiled_ahead(void **state)
{
    (void)state;
    const slr_shape shape = SLR_GRID(1, 32, 0);
    make_compiler("cc-slow", "sleep 0.2; exec $real \"$@\"");
    slr_device *device = open_device("cpu");
    slr_program *program = program_of(device);
    slr_prefetch_desc desc = block_of("one", &shape);
    slr_point point;
    int before = count_calls();
    must(slr_program_prefetch(program, &desc, &point));
    await_call(before);
    assert_int_equal(launched(device, program, "one", shape), 1);
    must(slr_point_wait(point, LONG));
    assert_int_equal(count_calls(), before + 1);
    slr_program_destroy(program);
    slr_device_close(device);
}

static void failure_is_told_at_its_own_point(void **state)
{
    (void)state;
    const slr_shape shape = SLR_GRID(1, 16, 0);
    make_compiler("cc-refuses", "echo 'no kernels today'; exit 1");
    slr_device *device = open_device("cpu");
    slr_program *program = program_of(device);
    slr_prefetch_desc bad = block_of("two", &shape), all = block_of(NULL, &shape), good = block_of("one", &shape);
    slr_point failing, of_all, fine;
    must(slr_program_prefetch(program, &bad, &failing));
    refuses(slr_point_wait(failing, LONG), COMPILE, "no kernels today");
    must(slr_program_prefetch(program, &all, &of_all));
    gives(slr_point_wait(of_all, LONG), COMPILE);
    make_compiler("cc-again", "exec $real \"$@\"");
    must(slr_program_prefetch(program, &good, &fine));
    must(slr_point_wait(fine, LONG));
    refuses(slr_point_wait(failing, LONG), COMPILE, "no kernels today"); // still
    slr_program_destroy(program);
    slr_device_close(device);
}

static void close_ends_the_compiler_and_what_waits_behind_it(void **state)
{
    (void)state;
    make_compiler("cc-for-ever", "exec sleep 1000");
    slr_device *device = open_device("cpu");
    slr_program *program = program_of(device);
    int before = count_calls();
    slr_point point;
    must(slr_program_prefetch(program, NULL, &point)); // both kernels, four blocks each
    must(slr_program_prefetch(program, NULL, NULL));
    int process = await_call(before);
    gives(slr_point_wait(point, 0), TIMEOUT);
    slr_program_destroy(program); // work in progress keeps it
    slr_device_close(device);
    assert_int_equal(count_calls(), before + 1);
    assert_int_equal(kill(process, 0), -1);
}

static void what_can_not_be_is_refused_at_once(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?engine=interpreted");
    slr_program *program = program_of(device);
    slr_shape shape = SLR_GRID(1, 2000, 0);
    slr_prefetch_desc desc = block_of("three", &shape);
    slr_point point;
    refuses(slr_program_prefetch(NULL, NULL, &point), INVALID, "program is NULL");
    refuses(slr_program_prefetch(program, &desc, &point), NOT_FOUND, "no kernel 'three'");
    desc.kernel = "one";
    refuses(slr_program_prefetch(program, &desc, &point), INVALID, "one");
    desc.shapes = NULL;
    refuses(slr_program_prefetch(program, &desc, &point), INVALID, "shapes is NULL");
    desc.shape_count = 0;
    desc.optimize = 4;
    refuses(slr_program_prefetch(program, &desc, &point), INVALID, "optimize is 4");
    must(slr_program_prefetch(program, NULL, &point)); // the interpreter needs nothing
    must(slr_point_wait(point, LONG));
    slr_program_destroy(program);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_compiled_ahead_is_there_at_the_launch),
        cmocka_unit_test(launch_waits_for_what_is_being_compiled_ahead),
        cmocka_unit_test(failure_is_told_at_its_own_point),
        cmocka_unit_test(close_ends_the_compiler_and_what_waits_behind_it),
        cmocka_unit_test(what_can_not_be_is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
