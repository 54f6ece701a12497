// SPDX-License-Identifier: Apache-2.0
// The machine's C compiler and the loader against our reading of the line table.
#define _GNU_SOURCE
#include "profile/line_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/slipring-lines-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

// Two functions, each on a line of its own; the library's path.
static const char *build(const char *flags)
{
    static char source[128], library[128], command[512];
    snprintf(source, sizeof source, "%s/a.c", folder);
    snprintf(library, sizeof library, "%s/a.so", folder);
    FILE *file = fopen(source, "w");
    assert_non_null(file);
    fputs("#line 41 \"kernels/k.cu\"\nint first(int a) { return a * 3; }\n"
          "#line 1007 \"slipring: kernel\"\nint second(int a) { return a - 3; }\n",
          file);
    fclose(file);
    snprintf(command, sizeof command, "cc -O1 %s -shared -fPIC '%s' -o '%s'", flags, source, library);
    assert_int_equal(system(command), 0);
    return library;
}

// Where the library has it, in the file: its code is loaded from there as it is.
static uint64_t offset_of(const char *library, const char *name)
{
    unsigned char code[16];
    static char all[1 << 16];
    void *loaded = dlopen(library, RTLD_NOW);
    assert_non_null(loaded);
    memcpy(code, dlsym(loaded, name), 6);
    FILE *file = fopen(library, "r");
    size_t bytes = fread(all, 1, sizeof all, file);
    fclose(file);
    char *at = memmem(all, bytes, code, 6);
    assert_non_null(at);
    dlclose(loaded);
    return (uint64_t)(at - all);
}

static void each_function_is_on_its_line(void **state)
{
    (void)state;
    static const char *const versions[] = {"-g1 -gdwarf-5", "-g1 -gdwarf-4", "-g1 -gdwarf-3", "-g -gdwarf-5"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const char *library = build(versions[i]), *file = "";
        line_table *table = line_table_open(library);
        assert_non_null(table);
        assert_int_equal(line_table_find(table, offset_of(library, "first"), &file), 41);
        assert_string_equal(file, "kernels/k.cu");
        assert_int_equal(line_table_find(table, offset_of(library, "second"), &file), 1007);
        assert_string_equal(file, "slipring: kernel");
        assert_int_equal(line_table_find(table, 0, &file), 0); // the file's own header
        line_table_free(table);
    }
}

static void a_file_without_a_table_or_cut_short_has_none(void **state)
{
    (void)state;
    const char *library = build("-g0");
    assert_null(line_table_open(library));
    assert_null(line_table_open("/nowhere/a.so"));
    library = build("-g1");
    assert_int_equal(truncate(library, 3000), 0);
    assert_null(line_table_open(library));
}

// Any byte may be anything.
static void a_damaged_table_is_read_to_its_end(void **state)
{
    (void)state;
    static char all[1 << 16], damaged[1 << 16];
    char other[128];
    const char *library = build("-g1"), *name;
    uint32_t random = 1;
    FILE *file = fopen(library, "r");
    size_t bytes = fread(all, 1, sizeof all, file);
    fclose(file);
    snprintf(other, sizeof other, "%s/b.so", folder);
    for (int i = 0; i < 200; i++) {
        memcpy(damaged, all, bytes);
        for (int k = 0; k < 40; k++) {
            random = random * 1664525u + 1013904223u;
            size_t at = bytes / 2 + (random >> 8) % (bytes - bytes / 2);
            damaged[at] = (char)(random >> 3);
        }
        file = fopen(other, "w");
        fwrite(damaged, 1, bytes, file);
        fclose(file);
        line_table *table = line_table_open(other);
        if (table != NULL)
            (void)line_table_find(table, 0x1100, &name);
        line_table_free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_function_is_on_its_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_without_a_table_or_cut_short_has_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_damaged_table_is_read_to_its_end, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("profile/line_table", tests, NULL, NULL);
}
