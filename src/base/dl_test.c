// SPDX-License-Identifier: Apache-2.0
// Shared libraries: the C library's maths is one that is always there.
#define _POSIX_C_SOURCE 200809L
#include "base/dl.h"

#include "base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

static void symbol_found_can_be_called(void **state)
{
    (void)state;
    slri_dl *library;
    slri_function function;
    assert_int_equal(slri_dl_open("libm.so.6", &library), SLR_OK);
    assert_int_equal(slri_dl_function(library, "fabs", &function), SLR_OK);
    assert_true(((double (*)(double))function)(-2.5) == 2.5);
    slri_dl_close(library);
}

static void missing_symbol_is_named(void **state)
{
    (void)state;
    slri_dl *library;
    slri_function function = NULL;
    assert_int_equal(slri_dl_open("libm.so.6", &library), SLR_OK);
    assert_int_equal(slri_dl_function(library, "no_such_entry", &function), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "no_such_entry"));
    assert_null(function); // set only on success
    slri_dl_close(library);
}

static void every_function_that_is_missing_is_listed(void **state)
{
    (void)state;
    slri_dl *library;
    slri_text missing = SLRI_TEXT_INIT;
    assert_int_equal(slri_dl_open("libm.so.6", &library), SLR_OK);
    slri_function found = slri_dl_find(library, "fabs", &missing);
    assert_non_null(found);
    assert_true(((double (*)(double))found)(-2.5) == 2.5);
    assert_int_equal(slri_dl_all_found(SLR_NO_DEVICE, "libm", "library of maths", &missing), SLR_OK);
    assert_null(slri_dl_find(library, "one_such", &missing));
    assert_null(slri_dl_find(library, "optional", NULL));
    assert_null(slri_dl_find(library, "another_such", &missing));
    assert_int_equal(slri_dl_all_found(SLR_NO_DEVICE, "libm", "library of cars", &missing), SLR_NO_DEVICE);
    assert_string_equal(slr_error_message(), "libm is not usable as library of cars: it lacks one_such, another_such");
    assert_null(missing.data);
    slri_dl_close(library);
}

static void missing_library_is_named(void **state)
{
    (void)state;
    slri_dl *library = NULL;
    assert_int_equal(slri_dl_open("libnosuch.so.9", &library), SLR_NOT_FOUND);
    assert_non_null(strstr(slr_error_message(), "libnosuch.so.9"));
    assert_null(library);
    slri_dl_close(NULL);
}

static void first_that_opens_is_taken_unless_one_is_asked_for(void **state)
{
    (void)state;
    static const char *const places[] = {"/nowhere/a.so", "libm.so.6", "libc.so.6", NULL};
    static const char *const none[] = {"/nowhere/a.so", NULL};
    slri_dl *library;
    const char *path = NULL;
    unsetenv("SLIPRING_TEST_LIB");
    assert_int_equal(slri_dl_open_first(SLR_UNSUPPORTED, "SLIPRING_TEST_LIB", places, "a hint", &library, &path),
                     SLR_OK);
    assert_string_equal(path, "libm.so.6");
    slri_dl_close(library);
    assert_int_equal(slri_dl_open_first(SLR_UNSUPPORTED, "SLIPRING_TEST_LIB", none, "a hint", &library, &path),
                     SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "cannot load /nowhere/a.so"));
    assert_non_null(strstr(slr_error_message(), " (a hint)"));
    setenv("SLIPRING_TEST_LIB", "/nowhere/b.so", 1); // what was asked for is not replaced
    assert_int_equal(slri_dl_open_first(SLR_NO_DEVICE, "SLIPRING_TEST_LIB", places, "a hint", &library, &path),
                     SLR_NO_DEVICE);
    assert_non_null(strstr(slr_error_message(), "cannot load /nowhere/b.so"));
    assert_non_null(strstr(slr_error_message(), " (SLIPRING_TEST_LIB names it)"));
    unsetenv("SLIPRING_TEST_LIB");
}

static uint32_t starts;

static slr_status start_at_second_time(slri_dl *library, const char *path)
{
    assert_string_equal(path, "libm.so.6");
    assert_non_null(slri_dl_find(library, "fabs", NULL));
    return ++starts == 2 ? SLR_OK : slri_fail(SLR_UNSUPPORTED, "%s does not start", path);
}

static void vendors_library_is_started_until_that_is_well(void **state)
{
    (void)state;
    static struct slri_dl_vendor vendor = {.variable = "SLIPRING_TEST_LIB",
                                           .places = {"libm.so.6"},
                                           .absent = SLR_NO_DEVICE,
                                           .start = start_at_second_time,
                                           .lock = SLRI_MUTEX_INIT};
    setenv("SLIPRING_TEST_LIB", "/nowhere/b.so", 1);
    assert_int_equal(slri_dl_load(&vendor), SLR_NO_DEVICE);
    unsetenv("SLIPRING_TEST_LIB");
    assert_int_equal(starts, 0);
    assert_int_equal(slri_dl_load(&vendor), SLR_UNSUPPORTED);
    assert_int_equal(slri_dl_load(&vendor), SLR_OK);
    assert_int_equal(slri_dl_load(&vendor), SLR_OK);
    assert_int_equal(starts, 2);
}

#ifndef _WIN32
static uint32_t goes_on; // atomic; 0: `start_slowly` was not reached; 1: it waits; 2: it may end

static slr_status start_slowly(slri_dl *library, const char *path)
{
    (void)library, (void)path;
    __atomic_store_n(&goes_on, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&goes_on, __ATOMIC_ACQUIRE) != 2)
        slri_yield();
    return SLR_OK;
}

static void load_one(void *vendor)
{
    (void)slri_dl_load(vendor);
}

static slr_status start_at_once(slri_dl *library, const char *path)
{
    (void)library, (void)path;
    return SLR_OK;
}

// A thread of the parent is loading a library. The child is told so, and does not wait for that thread.
static void a_child_waits_for_no_loading_of_its_parent(void **state)
{
    (void)state;
    static struct slri_dl_vendor slow = {
        .places = {"libm.so.6"}, .absent = SLR_NO_DEVICE, .start = start_slowly, .lock = SLRI_MUTEX_INIT};
    static struct slri_dl_vendor other = {
        .places = {"libm.so.6"}, .absent = SLR_NO_DEVICE, .start = start_at_once, .lock = SLRI_MUTEX_INIT};
    slri_thread thread;
    int how;
    slow.variable = other.variable = "SLIPRING_TEST_LIB";
    assert_int_equal(slri_thread_start(&thread, "loads", load_one, &slow), SLR_OK);
    while (__atomic_load_n(&goes_on, __ATOMIC_ACQUIRE) != 1)
        slri_yield();
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        for (int i = 0; i < 2; ++i) // also when it is asked for again
            if (slri_dl_load(&slow) != SLR_NO_DEVICE || !strstr(slr_error_message(), "libm.so.6 is not loaded") ||
                !strstr(slr_error_message(), "fork()"))
                _exit(1);
        _exit(slri_dl_load(&other) == SLR_OK ? 0 : 2);
    }
    __atomic_store_n(&goes_on, 2, __ATOMIC_RELEASE);
    slri_thread_join(&thread);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    assert_int_equal(slri_dl_load(&slow), SLR_OK); // the parent has it
}
#endif

static void place_is_a_file_and_an_offset_in_it(void **state)
{
    (void)state;
    slri_dl *library;
    slri_function function;
    char path[4096], tiny[2];
    uint64_t own = 0, other = 0;
    const char here = 0; // on the stack, which is of no file
    assert_int_equal(slri_dl_open("libm.so.6", &library), SLR_OK);
    assert_int_equal(slri_dl_function(library, "hypot", &function), SLR_OK);
    assert_true(slri_dl_find_place((const void *)(uintptr_t)function, path, sizeof path, &other));
    assert_non_null(strstr(path, "/libm"));
    assert_true(*path == '/' && other != 0);
    assert_true(slri_dl_find_place((const void *)(uintptr_t)&missing_symbol_is_named, path, sizeof path, &own));
    assert_non_null(strstr(path, "dl_test")); // the program, however it was called
    assert_true(own != 0);
    assert_false(slri_dl_find_place((const void *)(uintptr_t)function, tiny, sizeof tiny, &other));
    assert_false(slri_dl_find_place(&here, path, sizeof path, &other));
    slri_dl_close(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(symbol_found_can_be_called),
        cmocka_unit_test(missing_symbol_is_named),
        cmocka_unit_test(every_function_that_is_missing_is_listed),
        cmocka_unit_test(missing_library_is_named),
        cmocka_unit_test(first_that_opens_is_taken_unless_one_is_asked_for),
        cmocka_unit_test(vendors_library_is_started_until_that_is_well),
#ifndef _WIN32
        cmocka_unit_test(a_child_waits_for_no_loading_of_its_parent),
#endif
        cmocka_unit_test(place_is_a_file_and_an_offset_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
