// SPDX-License-Identifier: Apache-2.0
// Compilers that are there and do not work: programs run all the same, interpreted, and say why. A kernel that a good
// compiler refuses stays an error.
#include "device/device_test.h"

#include "base/thread.h"

#include <sys/stat.h>
#include <unistd.h>

static char root[256], said[300];

static const char source[] = "struct in { int a; };\n"
                             "__ring__ void twice(const struct in *in) { int b = 2 * in->a; ring_reply(&b); }\n"
                             "__global__ void fill(int *to) { to[threadIdx.x] = 7; }\n";

// Answers --version, then does `body`; $real is a compiler that works.
static void make_compiler(const char *name, const char *body)
{
    char path[300];
    const char *real = getenv("CC");
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\nreal='%s'\n[ \"$1\" = --version ] && exec $real --version\n%s\n",
            real && *real ? real : "cc", body);
    fclose(file);
    chmod(path, 0755);
    setenv("SLIPRING_CC", path, 1);
}

static int set_up(void **state)
{
    char cache[300];
    (void)state;
    snprintf(root, sizeof root, "/tmp/slipring-broken-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    snprintf(cache, sizeof cache, "%s/cache", root);
    snprintf(said, sizeof said, "%s/said", root);
    setenv("SLIPRING_CACHE_DIR", cache, 1);
    return freopen(said, "a", stderr) ? 0 : -1; // what the process says, all of it
}

static int tear_down(void **state)
{
    char command[700];
    (void)state;
    fflush(stderr);
    unsetenv("SLIPRING_CC");
    snprintf(command, sizeof command, "cat '%s'; rm -rf '%s'", said, root);
    return system(command);
}

static int lines_said(const char *part)
{
    char line[1024];
    int count = 0;
    fflush(stderr);
    FILE *file = fopen(said, "r");
    while (file && fgets(line, sizeof line, file))
        count += strstr(line, part) != NULL;
    if (file)
        fclose(file);
    return count;
}

static slr_program *program_of(slr_device *device)
{
    slr_program *program;
    must(slr_program_from_text(device, "broken.cu", source, NULL, &program));
    return program;
}

static void assert_replies(slr_device *device, slr_program *program)
{
    slr_ring *ring;
    slr_address twice;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    int a = 21, b = 0;
    desc.program = program;
    must(slr_ring_create(device, &desc, &ring));
    must(slr_ring_launch(ring));
    must(slr_ring_activate(ring, LONG));
    must(slr_ring_get_address(ring, 0, &twice));
    must(slr_call(NULL, twice, &a, sizeof a, &b, sizeof b, LONG));
    assert_int_equal(b, 42);
    slr_ring_destroy(ring);
}

static void assert_fills(slr_device *device, slr_program *program)
{
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *buffer;
    int to[4] = {0};
    must(slr_program_get_kernel(program, "fill", &kernel));
    must(slr_stream_default(device, &stream));
    must(slr_buffer_create(device, 4096, &buffer));
    must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 4, 0), buffer));
    must(slr_stream_finish(stream, LONG));
    must(slr_buffer_read(buffer, 0, to, sizeof to));
    assert_int_equal(to[3], 7);
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(kernel);
}

static slr_device_info info_of(slr_device *device)
{
    slr_device_info info;
    must(slr_device_get_info(device, &info));
    return info;
}

static void a_compiler_that_does_not_work_is_replaced_by_the_interpreter(void **state)
{
    (void)state;
    static const struct {
        const char *name, *body, *why;
    } broken[] = {
        {"cc-fails", "echo 'cannot execute cc1'; exit 1", "cannot execute cc1"},
        {"cc-crashes", "kill -SEGV $$", "crashed (signal 11)"},
        {"cc-killed", "kill -KILL $$", "crashed (signal 9)"},
        {"cc-leaves-nothing", "exit 0", "made no library"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        make_compiler(broken[i].name, broken[i].body);
        slr_device *device = open_device("cpu");
        slr_program *program = program_of(device);
        slr_device_info info = info_of(device);
        assert_non_null(
            strstr(info.engine, "interpreted: the C compiler does not work (set SLIPRING_CC to use another): "));
        assert_non_null(strstr(info.engine_reason, broken[i].name));
        assert_non_null(strstr(info.engine_reason, broken[i].why));
        assert_replies(device, program);
        assert_fills(device, program);
        slr_program_destroy(program);
        slr_device_close(device);
    }
    assert_int_equal(lines_said("slipring: kernels are interpreted, which is many times slower: the C compiler"), 1);
}

// Handlers are compiled when the program is made, a kernel at its first launch: in between the compiler breaks.
static void a_compiler_that_breaks_later_is_found_out_at_the_launch(void **state)
{
    (void)state;
    make_compiler("cc-breaks", "exec $real \"$@\"");
    slr_device *device = open_device("cpu");
    slr_program *program = program_of(device);
    assert_string_equal(info_of(device).engine_reason, "");
    make_compiler("cc-breaks", "exit 1");
    assert_fills(device, program);
    assert_replies(device, program);
    assert_non_null(strstr(info_of(device).engine_reason, "cc-breaks"));
    slr_program_destroy(program);
    slr_device_close(device);
}

static void a_kernel_that_a_good_compiler_refuses_is_an_error(void **state)
{
    (void)state;
    slr_program *program;
    make_compiler("cc-refuses", "for f in \"$@\"; do :; done; grep -q slri_trial $f && exec $real \"$@\"; "
                                "echo 'not this one'; exit 1");
    slr_device *device = open_device("cpu");
    refuses(slr_program_from_text(device, "other.cu", source, NULL, &program), COMPILE, "not this one");
    assert_string_equal(info_of(device).engine_reason, "");
    slr_device_close(device);
}

static void what_asks_for_a_compiler_gets_its_failure(void **state)
{
    (void)state;
    slr_program *program;
    make_compiler("cc-asked", "echo 'cannot execute cc1'; exit 1");
    slr_device *device = open_device("cpu?engine=compiled");
    refuses(slr_program_from_text(device, "asked.cu", source, NULL, &program), COMPILE, "cannot execute cc1");
    slr_device_close(device);
    device = open_device("cpu?compiler=tried");
    assert_non_null(strstr(info_of(device).engine_reason, "cannot execute cc1"));
    slr_device_close(device);
    make_compiler("cc-hangs", "exec sleep 1000");
    device = open_device("cpu?compiler=tried");
    assert_non_null(strstr(info_of(device).engine_reason, "cc-hangs was killed: it did not finish in 10 s"));
    slr_device_close(device);
    refuses(slr_device_open("cpu?compiler=none", NULL, &device), INVALID, "expected 'tried'");
}

static void a_wish_that_names_no_compiler_is_said(void **state)
{
    (void)state;
    setenv("SLIPRING_CC", "/nowhere/cc", 1);
    slr_device *device = open_device("cpu");
    assert_string_equal(info_of(device).engine_reason,
                        "SLIPRING_CC names /nowhere/cc, which is not a program on this machine");
    slr_device_close(device);
    assert_int_equal(lines_said("slipring: kernels are interpreted"), 1); // once a process, whatever the reason
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compiler_that_does_not_work_is_replaced_by_the_interpreter),
        cmocka_unit_test(a_compiler_that_breaks_later_is_found_out_at_the_launch),
        cmocka_unit_test(a_kernel_that_a_good_compiler_refuses_is_an_error),
        cmocka_unit_test(what_asks_for_a_compiler_gets_its_failure),
        cmocka_unit_test(a_wish_that_names_no_compiler_is_said),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
