// SPDX-License-Identifier: Apache-2.0
// Emitted MSL, compiled by the host's C++ compiler against tests/shim/metal/metal_stdlib, and run. `all` as an argument
// compiles each kernel that the tree has.
#include "tests/shim/image.h"
#include "tests/shim/lanes.h"

#include "base/status.h"
#include "emit/msl/emit_msl.h"
#include "ir/blame.h"
#include "ir/pass/handler_kernel.h"
#include "lang/kernel.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct slri_module *compile(const char *path, const char *text)
{
    static const char *const folders[] = {SLIPRING_SOURCE_DIR "/src", SLIPRING_SOURCE_DIR "/include"};
    struct slri_source source = {.path = path, .text = text, .include = folders, .includes = 2};
    struct slri_module *module = NULL;
    if (slri_kernel_compile(&source, &module) != SLR_OK)
        print_error("%s\n", slr_error_message());
    assert_non_null(module);
    return module;
}

static bool all;
static uint32_t compiled;

// ---- every kernel --------------------------------------------------------------------------------------------------

static uint32_t complaints_of(const struct slri_module *module, const struct slri_entry *entry)
{
    slri_text text = SLRI_TEXT_INIT;
    char *said = NULL;
    uint32_t count = 0;
    slr_status status = slri_emit_msl(module, entry, NULL, &text);
    const struct shim_text one = {.text = slri_text_view(&text)};
    if (status != SLR_OK) {
        assert_int_equal(status, SLR_UNSUPPORTED);
        assert_non_null(strstr(slr_error_message(), ": "));
        if (all)
            print_message("%s refused: %s\n", entry->name, slr_error_message());
    } else if (compiled++, !shim_compile(&one, &said)) {
        print_error("%s of %s: %.3000s\n", entry->name, module->name, said);
        count = 1;
    }
    free(said);
    slri_text_free(&text);
    return count;
}

static uint32_t complaints_of_file(const char *path)
{
    struct slri_module *module = compile(path, NULL);
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->entries; i++) {
        struct slri_module *batched = NULL;
        if (module->entry[i].kind == SLRI_ENTRY_KERNEL) {
            count += complaints_of(module, &module->entry[i]);
        } else if (slri_handler_kernel(module, &module->entry[i], &batched) == SLR_OK) {
            count += complaints_of(batched, batched->entry);
            slri_module_destroy(batched);
        }
    }
    slri_module_destroy(module);
    return count;
}

static uint32_t complaints_of_files(const char *pattern)
{
    glob_t found;
    uint32_t count = 0;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        count += complaints_of_file(found.gl_pathv[i]);
    globfree(&found);
    return count;
}

static void every_kernel_is_text_that_compiles(void **state)
{
    (void)state;
    static const char *const pattern[] = {SLIPRING_SOURCE_DIR "/examples/*/*.cu", SLIPRING_SOURCE_DIR "/tests/*/*.cu",
                                          SLIPRING_SOURCE_DIR "/src/*/*/*.cu"};
    uint32_t count = 0;
    for (size_t i = 0; i < (all ? sizeof pattern / sizeof *pattern : 0); i++)
        count += complaints_of_files(pattern[i]);
    count += complaints_of_files(SLIPRING_SOURCE_DIR "/examples/kernels/s*.cu");
    if (all)
        print_message("%u texts\n", compiled);
    assert_int_equal(count, 0);
}

int main(int argc, char **argv)
{
    all = argc > 1 && strcmp(argv[1], "all") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kernel_is_text_that_compiles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
