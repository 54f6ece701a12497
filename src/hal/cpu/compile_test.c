// SPDX-License-Identifier: Apache-2.0
// The compiler driver and its cache: which compiler, what it may do wrong, hits and misses, many processes at once.
#include "hal/cpu/library_test.h"
#include "base/file.h"
#include "base/thread.h"
#include "ir/ir_fixture.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char root[256], folder[300], compiler[300];

static int set_up(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/slipring-compile-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(root))
        return -1;
    snprintf(folder, sizeof folder, "%s/cache", root);
    snprintf(compiler, sizeof compiler, "%s/fakecc", root);
    setenv("SLIPRING_CACHE_DIR", folder, 1);
    unsetenv("SLIPRING_CC");
    return 0;
}

static int tear_down(void **state)
{
    char command[400];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

// state[0] = value
static void open_module(struct build *b, int32_t value)
{
    build_open(b, "user.cu");
    build_entry(b, "f", 8, 0);
    b->line = 77;
    build_store_at(b, SLRI_I32, build_state, 0, build_i32(b, value));
}

static int32_t value_of(const struct slri_cpu_library *library)
{
    int32_t state[2] = {0};
    struct slri_call call = {.state = state};
    slri_handler *handler;
    if (slri_cpu_library_symbol(library, "f", &handler) != SLR_OK || handler(NULL, &call) != SLRI_FAULT_NONE)
        return -1;
    return state[0];
}

static void expect(int32_t value, bool was_cached)
{
    struct build b;
    struct slri_cpu_library *library;
    open_module(&b, value);
    if (slri_cpu_compile(b.module, &library) != SLR_OK)
        fail_msg("%s", slr_error_message());
    assert_int_equal(value_of(library), value);
    assert_int_equal(slri_cpu_library_was_cached(library), was_cached);
    slri_cpu_library_close(library);
    build_close(&b);
}

static void expect_failure(slr_status status, const char *part)
{
    struct build b;
    struct slri_cpu_library *library = NULL;
    open_module(&b, 1);
    assert_int_equal(slri_cpu_compile(b.module, &library), status);
    assert_null(library);
    if (!strstr(slr_error_message(), part))
        fail_msg("\"%s\" does not hold \"%s\"", slr_error_message(), part);
    build_close(&b);
}

// The number of files in the cache, but for that with its counts and locks; the path of one of them.
static int entries(char *path, size_t room)
{
    DIR *dir = opendir(folder);
    int count = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || !strcmp(entry->d_name, ".shared"))
            continue;
        count++;
        if (path)
            snprintf(path, room, "%s/%s", folder, entry->d_name);
    }
    if (dir)
        closedir(dir);
    return count;
}

// ---- the cache -----------------------------------------------------------------------------------------------------

static void the_second_compilation_comes_from_the_cache(void **state)
{
    (void)state;
    expect(5, false);
    expect(5, true);
    expect(6, false);
    expect(5, true);
    assert_int_equal(entries(NULL, 0), 2);
}

static void another_source_or_compiler_is_another_entry(void **state)
{
    struct build b;
    struct slri_cpu_library *library;
    (void)state;
    expect(5, false);
    open_module(&b, 5);
    b.module->source_hash[3] = 1;
    assert_int_equal(slri_cpu_compile(b.module, &library), SLR_OK);
    assert_false(slri_cpu_library_was_cached(library));
    slri_cpu_library_close(library);
    build_close(&b);
    FILE *script = fopen(compiler, "w");
    fputs("#!/bin/sh\nexec cc \"$@\"\n", script);
    fclose(script);
    assert_int_equal(chmod(compiler, 0755), 0);
    setenv("SLIPRING_CC", compiler, 1);
    expect(5, false);
    expect(5, true);
    assert_int_equal(entries(NULL, 0), 3);
}

static void a_corrupt_entry_is_compiled_anew_and_replaced(void **state)
{
    char path[600], *content;
    size_t bytes;
    (void)state;
    expect(5, false);
    assert_int_equal(entries(path, sizeof path), 1);
    assert_int_equal(slri_file_read(path, 1 << 26, &content, &bytes), SLR_OK);
    for (int way = 0; way < 3; way++) {
        size_t kept = way == 0 ? bytes / 2 : way == 1 ? 0 : bytes;
        content[bytes / 3] ^= 1;
        assert_int_equal(slri_file_write_atomic(path, content, kept), SLR_OK);
        content[bytes / 3] ^= 1;
        expect(5, false);
        expect(5, true);
    }
    free(content);
}

static void a_folder_that_is_not_safe_is_not_used(void **state)
{
    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    expect(5, false);
    expect(5, false);
    assert_int_equal(entries(NULL, 0), 0);
}

// ---- many processes ------------------------------------------------------------------------------------------------

static pid_t fork_compiler(void)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    struct build b;
    struct slri_cpu_library *library;
    open_module(&b, 5);
    bool good = slri_cpu_compile(b.module, &library) == SLR_OK && value_of(library) == 5;
    if (!good)
        fprintf(stderr, "%s\n", slr_error_message());
    _exit(good ? 0 : 1);
}

static void processes_that_compile_the_same_at_once_all_succeed(void **state)
{
    enum { PROCESSES = 8, KILLED = 3 };
    pid_t child[PROCESSES];
    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        child[i] = fork_compiler();
        assert_true(child[i] > 0);
    }
    slri_sleep_ns(20000000); // into the middle of its work, wherever that is
    kill(child[KILLED], SIGKILL);
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        if (i != KILLED)
            assert_int_equal(status, 0);
    }
    expect(5, true);
}

// ---- compilers that fail -------------------------------------------------------------------------------------------

static void compiler_errors_name_the_users_line(void **state)
{
    struct build b;
    struct slri_cpu_library *library = NULL;
    (void)state;
    open_module(&b, 1);
    slri_reg reg = build_reg(&b, SLRI_I32, "good");
    b.line = 88;
    build_to(&b, reg, SLRI_OP_MATH, SLRI_I32, SLRI_NO_REG, SLRI_NO_REG);
    b.block->instr[b.block->count - 1].imm = 0; // fabsf without an argument, into an integer: no verified module has it
    assert_int_equal(slri_cpu_compile(b.module, &library), SLR_COMPILE);
    assert_null(library);
    assert_non_null(strstr(slr_error_message(), "user.cu:88:"));
    build_close(&b);
    assert_int_equal(entries(NULL, 0), 0);
}

// A compiler that says its version, then does `action` with its arguments.
static void fake_compiler(const char *action)
{
    FILE *script = fopen(compiler, "w");
    fprintf(script,
            "#!/bin/sh\n[ \"$1\" = --version ] && { echo fake 1.0; exit 0; }\n"
            "while [ \"$1\" != -o ]; do shift; done\n%s\n",
            action);
    fclose(script);
    assert_int_equal(chmod(compiler, 0755), 0);
    setenv("SLIPRING_CC", compiler, 1);
}

static void what_a_broken_compiler_does_is_said(void **state)
{
    static const struct {
        const char *action;
        slr_status status;
        const char *part;
    } broken[] = {
        {"kill -SEGV $$", SLR_SYSTEM, "crashed (signal 11)"},
        {"echo no room; exit 3", SLR_COMPILE, "(exit code 3): no room"},
        {"exit 0", SLR_SYSTEM, "made no library"},
        {": > \"$2\"", SLR_SYSTEM, "made no library"},
        {"echo garbage > \"$2\"", SLR_SYSTEM, "cannot be loaded"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        fake_compiler(broken[i].action);
        expect_failure(broken[i].status, broken[i].part);
        assert_non_null(strstr(slr_error_message(), compiler));
        assert_int_equal(entries(NULL, 0), 0);
    }
}

static void a_compilers_flood_of_words_is_cut(void **state)
{
    (void)state;
    fake_compiler("i=0; while [ $i -lt 3000 ]; do echo 'error: a line of words'; i=$((i + 1)); done; exit 1");
    expect_failure(SLR_COMPILE, "(and more)");
    assert_true(strlen(slr_error_message()) < 20000);
}

static void a_wish_for_a_compiler_is_never_replaced(void **state)
{
    (void)state;
    setenv("SLIPRING_CC", "/nowhere/cc", 1);
    expect_failure(SLR_NOT_FOUND, "SLIPRING_CC names /nowhere/cc");
    setenv("SLIPRING_CC", "/bin/false", 1);
    expect_failure(SLR_UNSUPPORTED, "/bin/false is not a C compiler");
}

static void without_a_compiler_the_message_says_what_was_tried(void **state)
{
    (void)state;
    char *path = strdup(getenv("PATH"));
    const char *found, *version;
    setenv("PATH", root, 1);
    expect_failure(SLR_NOT_FOUND, "neither cc, gcc nor clang");
    assert_int_equal(slri_cpu_compiler(&found, &version), SLR_NOT_FOUND);
    setenv("PATH", path, 1);
    assert_int_equal(slri_cpu_compiler(&found, &version), SLR_OK);
    assert_int_equal(found[0], '/');
    assert_true(strlen(version) > 3);
    free(path);
}

static void an_unknown_entry_is_not_found(void **state)
{
    struct build b;
    struct slri_cpu_library *library;
    slri_handler *handler;
    (void)state;
    open_module(&b, 1);
    assert_int_equal(slri_cpu_compile(b.module, &library), SLR_OK);
    assert_int_equal(slri_cpu_library_symbol(library, "g", &handler), SLR_NOT_FOUND);
    slri_cpu_library_close(library);
    slri_cpu_library_close(NULL);
    build_close(&b);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_second_compilation_comes_from_the_cache),
        CASE(another_source_or_compiler_is_another_entry),
        CASE(a_corrupt_entry_is_compiled_anew_and_replaced),
        CASE(a_folder_that_is_not_safe_is_not_used),
        CASE(processes_that_compile_the_same_at_once_all_succeed),
        CASE(compiler_errors_name_the_users_line),
        CASE(what_a_broken_compiler_does_is_said),
        CASE(a_compilers_flood_of_words_is_cut),
        CASE(a_wish_for_a_compiler_is_never_replaced),
        CASE(without_a_compiler_the_message_says_what_was_tried),
        CASE(an_unknown_entry_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
