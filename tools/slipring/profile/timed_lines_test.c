// SPDX-License-Identifier: Apache-2.0
// Samples at known places of a library that the machine's C compiler made.
#define _GNU_SOURCE
#include "profile/timed_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char library[] = "/tmp/slipring-timed-XXXXXX";

// One function of the user, and two of those that slipring's emitter of C adds.
static int build(void **state)
{
    char command[256];
    int descriptor = mkstemp(library);
    (void)state;
    if (descriptor < 0)
        return -1;
    close(descriptor);
    snprintf(command, sizeof command, "cc -O1 -g1 -shared -fPIC -x c - -o '%s'", library);
    FILE *compiler = popen(command, "w");
    if (!compiler)
        return -1;
    fputs("#line 1 \"slipring: helpers\"\nint helper(int a) { return a + 7; }\n"
          "#line 41 \"kernels/k.cu\"\nint users(int a) { return a * 3; }\n"
          "#line 5 \"slipring: kernel\"\nint kernel(int a) { return a - 3; }\n",
          compiler);
    return pclose(compiler);
}

static int clean_up(void **state)
{
    (void)state;
    return unlink(library);
}

static void the_users_lines_are_listed_and_generated_code_is_counted_as_one(void **state)
{
    static const char *const names[] = {"helper", "users", "kernel", "users", "helper"};
    enum { SAMPLES = sizeof names / sizeof *names };
    struct stat file;
    Dl_info at;
    sampling_sample samples[SAMPLES];
    timed_lines lines;
    (void)state;
    void *loaded = dlopen(library, RTLD_NOW);
    assert_non_null(loaded);
    assert_int_equal(stat(library, &file), 0);
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (sampling_sample){.at_ns = 2, .address = (uintptr_t)dlsym(loaded, names[i]), .process = 1};
    assert_true(dladdr(dlsym(loaded, "users"), &at) != 0);
    // The linker puts code into the file as far from its beginning as into memory.
    sampling_map map = {.at_ns = 1,
                        .address = (uintptr_t)at.dli_fbase,
                        .bytes = (uint64_t)file.st_size,
                        .inode = (uint64_t)file.st_ino,
                        .process = 1,
                        .path = library};
    const sampling all = {.maps = &map, .map_count = 1, .samples = samples, .sample_count = SAMPLES};
    timed_lines_make(&all, 1, &lines);
    assert_int_equal(lines.samples, SAMPLES);
    assert_int_equal(lines.generated, 3);
    assert_int_equal(lines.elsewhere, 0);
    assert_int_equal(lines.count, 1);
    assert_string_equal(lines.lines[0].file, "kernels/k.cu");
    assert_int_equal(lines.lines[0].line, 41);
    assert_int_equal(lines.lines[0].samples, 2);
    timed_lines_free(&lines);
    dlclose(loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_users_lines_are_listed_and_generated_code_is_counted_as_one),
    };
    return cmocka_run_group_tests(tests, build, clean_up);
}
