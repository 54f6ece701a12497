// SPDX-License-Identifier: Apache-2.0
// A program with slipring in it that is set-user-id root, called by nobody with everything in the environment that
// could make slipring run, load or write something of the caller's. Needs root, to make such a program.
#define _GNU_SOURCE
#include <slipring/slipring.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, SKIPPED = 77 };

static const char source[] =
    "__global__ void add(float *x) { x[threadIdx.x] += 1.0f; }\n"
    "struct number { int n; };\n__ring__ void echo(const struct number *in) { ring_reply(in); }\n";

// ---- the program with more rights ----------------------------------------------------------------------------------

static int be_the_program(void)
{
    slr_device *device;
    slr_program *program;
    if (getauxval(AT_SECURE) == 0)
        return SKIPPED; // the file system is mounted with nosuid
    for (int i = 0; i < 2; i++) {
        const char *spec = i == 0 ? "cpu" : NULL; // NULL: SLIPRING_DEVICE, which says opencl:0
        if (slr_device_open(spec, NULL, &device) != SLR_OK) {
            fprintf(stderr, "open: %s\n", slr_error_message());
            return 1;
        }
        slr_status status = slr_program_from_text(device, "mine.cu", source, NULL, &program);
        if (status != SLR_OK) { // the machine's own compiler is found
            fprintf(stderr, "load: %s\n", slr_error_message());
            return 1;
        }
        slr_program_destroy(program);
        slr_device_close(device);
    }
    // Vendors' libraries load what variables name.
    for (int i = 0; i < 2; i++) {
        if (slr_device_open(i == 0 ? "opencl:0" : "cuda:0", NULL, &device) != SLR_NO_DEVICE ||
            strstr(slr_error_message(), "more rights") == NULL) {
            fprintf(stderr, "vendor: %s\n", slr_error_message());
            return 1;
        }
    }
    return 0;
}

// ---- its caller ----------------------------------------------------------------------------------------------------

static char root[] = "/tmp/slipring-secure-XXXXXX";

static char *below_root(const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void copy_ourselves(const char *to)
{
    char command[256];
    snprintf(command, sizeof command, "cp /proc/%d/exe '%s'", (int)getpid(), to);
    assert_int_equal(system(command), 0);
    assert_int_equal(chown(to, 0, 0), 0);
    assert_int_equal(chmod(to, 04755), 0);
}

static void plant(const char *name)
{
    FILE *file = fopen(below_root(name), "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\necho \"$0 $*\" >> %s/theirs/ran\nexec /usr/bin/cc \"$@\"\n", root);
    fclose(file);
    assert_int_equal(chmod(below_root(name), 0755), 0);
}

static int call_as_nobody(const char *program)
{
    static const char *const variables[][2] = {
        {"SLIPRING_CC", "cc"},
        {"PATH", ""},
        {"TMPDIR", "tmp"},
        {"HOME", "home"},
        {"XDG_CACHE_HOME", "xdg"},
        {"SLIPRING_CACHE_DIR", "cache"},
        {"SLIPRING_TRACE", "trace"},
        {"SLIPRING_PROFILE", "profile"},
        {"SLIPRING_OPENCL_LIB", "cl.so"},
        {"SLIPRING_CUDA_LIB", "cu.so"},
        {"SLIPRING_DEVICE", "device"},
        {"COMPILER_PATH", ""},
        {"GCC_EXEC_PREFIX", "gcc/"},
    };
    enum { VARIABLES = sizeof variables / sizeof *variables };
    char text[VARIABLES][192], *environment[VARIABLES + 1] = {NULL};
    for (size_t i = 0; i < VARIABLES; i++) {
        snprintf(text[i], sizeof text[i], "%s=%s/theirs/%s", variables[i][0], root, variables[i][1]);
        environment[i] = text[i];
    }
    pid_t child = fork();
    if (child == 0) {
        char *const arguments[] = {(char *)"program", (char *)"inside", NULL};
        if (setgid(NOBODY) == 0 && setuid(NOBODY) == 0)
            execve(program, arguments, environment);
        _exit(SKIPPED);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

static void no_variable_of_the_caller_is_believed(void **state)
{
    static const char *const theirs[] = {"theirs/cc", "theirs/gcc", "theirs/clang", "theirs/as", "theirs/ld"};
    (void)state;
    copy_ourselves(below_root("program"));
    assert_int_equal(mkdir(below_root("theirs"), 0755), 0);
    assert_int_equal(mkdir(below_root("theirs/tmp"), 0777), 0);
    assert_int_equal(mkdir(below_root("theirs/home"), 0777), 0);
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        plant(theirs[i]);
    assert_int_equal(chmod(below_root("theirs/tmp"), 0777), 0);
    assert_int_equal(chown(below_root("theirs"), NOBODY, NOBODY), 0);
    int code = call_as_nobody(below_root("program"));
    if (code == SKIPPED)
        skip();
    assert_int_equal(code, 0);
    static const char *const made[] = {"theirs/ran",   "theirs/cache",   "theirs/xdg",
                                       "theirs/trace", "theirs/profile", "theirs/home/.cache"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (access(below_root(made[i]), F_OK) == 0)
            fail_msg("%s was made", made[i]);
    assert_int_equal(rmdir(below_root("theirs/tmp")), 0); // nothing was put there
}

static int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) && chmod(root, 0755) == 0 ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "inside") == 0)
        return be_the_program();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) // they read variables of their own, and start anew
    return SKIPPED;
#endif
    if (geteuid() != 0) {
        puts("only root can make a set-user-id program of another user");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_variable_of_the_caller_is_believed)};
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
