// SPDX-License-Identifier: Apache-2.0
// Named regions reach a tool that speaks NVTX: a library as such a tool has it, compiled here.
#include "observe/observe_test.h"

// As the interface is published: an export table 1, in it a call that gives a module's table of function pointers.
static const char tool[] =
    "#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n"
    "typedef void (*function)(void);\n"
    "struct callbacks { size_t bytes; int (*get)(uint32_t, function ***, unsigned *); };\n"
    "static int push(const char *name) { FILE *f = fopen(LOG, \"a\"); fprintf(f, \"push %s\\n\", name); fclose(f); "
    "return 0; }\n"
    "static int pop(void) { FILE *f = fopen(LOG, \"a\"); fprintf(f, \"pop\\n\"); fclose(f); return 0; }\n"
    "int InitializeInjectionNvtx2(const void *(*export)(uint32_t));\n"
    "int InitializeInjectionNvtx2(const void *(*export)(uint32_t)) {\n"
    "    const struct callbacks *c = export(1); function **table; unsigned n;\n"
    "    if (!c || c->bytes < sizeof *c || export(3) || c->get(2, &table, &n) || !c->get(1, &table, &n) || n <= 11)\n"
    "        return 0;\n"
    "    *table[9] = (function)push; *table[11] = (function)pop; return 1; }\n";

static void regions_are_passed_on_also_while_nothing_is_watched(void **state)
{
    (void)state;
    char command[512], source[128], text[128] = "";
    snprintf(source, sizeof source, "%s", file_in_folder("tool.c"));
    FILE *file = fopen(source, "w");
    assert_non_null(file);
    fputs(tool, file);
    fclose(file);
    const char *cc = getenv("CC");
    snprintf(command, sizeof command, "%s -shared -fPIC -DLOG='\"%s/log\"' -o %s/tool.so %s", cc ? cc : "cc", folder,
             folder, source);
    assert_int_equal(system(command), 0);
    setenv("NVTX_INJECTION64_PATH", file_in_folder("tool.so"), 1);
    slr_region_begin("outer");
    slr_region_begin("inner");
    slr_region_end();
    slr_region_end();
    slr_region_end(); // of nothing
    file = fopen(file_in_folder("log"), "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "push outer\npush inner\npop\npop\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(regions_are_passed_on_also_while_nothing_is_watched)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
